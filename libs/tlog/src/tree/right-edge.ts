import { TlogError } from '../errors';
import { HASH_SIZE } from '../hash/sha256';
import {
  cutIntoTiles,
  hashesAtTileLevel,
  newHashesByTileLevel,
  TILE_HEIGHT,
  type TileHashesAdded,
} from '../tiles/new-tiles';
import { emptyRoot, nodeHash, requireHash } from './hashes';
import { perfectSubtrees, requireTreeSize } from './subtrees';

/**
 * The data that a tree needs to grow and to compute its root, also called a compact range: its size and the hashes of
 * its perfect subtrees, left to right (`perfectSubtrees({from: 0, to: size})`). There is one hash for each bit that is
 * set in the size, and at most 53.
 */
export interface RightEdge {
  readonly size: number;
  readonly hashes: readonly Uint8Array[];
}

/** The result of adding leaves to a tree. */
export interface GrownTree {
  readonly edge: RightEdge;
  readonly root: Uint8Array;
  /** The new hashes of tiles, by level, then by index. A tile that exists already is extended. */
  readonly added: readonly TileHashesAdded[];
}

/** The right edge of the tree without leaves. */
export const EMPTY_EDGE: RightEdge = { size: 0, hashes: [] };

/**
 * Computes the root of a tree (RFC 6962 section 2.1).
 *
 * @throws TlogError `malformed` if the hashes are not those of a tree of that size
 */
export function rootOfEdge(edge: RightEdge): Uint8Array {
  requireEdge(edge);
  return foldRight(edge.hashes);
}

/** Returns the hash above adjacent perfect subtrees, the largest first. */
export function foldRight(hashes: readonly Uint8Array[]): Uint8Array {
  return hashes.length === 0 ? emptyRoot() : hashes.reduceRight((right, left) => nodeHash(left, right));
}

/**
 * Computes the root of the tree over these leaf hashes.
 *
 * @throws TlogError `malformed` if one of them is not a hash
 */
export function rootOfLeaves(leafHashes: readonly Uint8Array[]): Uint8Array {
  const stack: Uint8Array[] = [];
  leafHashes.forEach((hash, index) => pushLeaf(stack, index, hash));
  return foldRight(stack);
}

/**
 * Adds leaves at the end of a tree. The cost is proportional to the number of leaves plus log2 of the size, because
 * only the edge of the tree is read.
 *
 * @throws TlogError `malformed` if the edge is invalid or a leaf hash does not have 32 bytes; `out_of_range` if the
 *   tree would exceed 2^53 - 1 leaves
 */
export function appendLeaves(edge: RightEdge, leafHashes: readonly Uint8Array[]): GrownTree {
  requireEdge(edge);
  const size = edge.size + leafHashes.length;
  requireTreeSize(size, 'size of the grown tree');

  const levels = newHashesByTileLevel(edge.size, size);
  const filled = levels.map(() => 0);
  const stack = [...edge.hashes];
  leafHashes.forEach((hash, offset) =>
    pushLeaf(stack, edge.size + offset, hash, (level, subtree) => {
      if (level % TILE_HEIGHT !== 0) return;
      const tileLevel = level / TILE_HEIGHT;
      levels[tileLevel]!.set(subtree, filled[tileLevel]);
      filled[tileLevel]! += HASH_SIZE;
    }),
  );
  const added = levels.flatMap((hashes, level) => cutIntoTiles(level, hashesAtTileLevel(edge.size, level), hashes));
  return { edge: { size, hashes: stack }, root: foldRight(stack), added };
}

/** Pushes a leaf on the stack of perfect subtrees and merges those that it completes. Calls `completed` for each. */
function pushLeaf(
  stack: Uint8Array[],
  size: number,
  hash: Uint8Array,
  completed?: (level: number, subtree: Uint8Array) => void,
): void {
  requireHash(hash, 'leaf hash');
  completed?.(0, hash);
  let subtree = hash;
  for (let level = 1, rest = size; rest % 2 === 1; level++, rest = (rest - 1) / 2) {
    subtree = nodeHash(stack.pop()!, subtree);
    completed?.(level, subtree);
  }
  stack.push(subtree);
}

function requireEdge({ size, hashes }: RightEdge): void {
  requireTreeSize(size, 'size of the edge');
  const expected = perfectSubtrees({ from: 0, to: size }).length;
  if (hashes.length !== expected) {
    throw new TlogError(
      'malformed',
      `A tree of ${size} leaves has ${expected} hashes at its right edge, not ${hashes.length}: read the edge of that size.`,
    );
  }
  for (const hash of hashes) requireHash(hash, 'hash at the right edge');
}
