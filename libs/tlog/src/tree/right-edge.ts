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
 * All that a tree needs to grow and to know its root: its size, and the hashes of its perfect subtrees, left to right (of
 * `perfectSubtrees({from: 0, to: size})`), one for each bit that is set in the size, 53 at most. Also called a compact range.
 */
export interface RightEdge {
  readonly size: number;
  readonly hashes: readonly Uint8Array[];
}

/** What adding leaves to a tree makes. */
export interface GrownTree {
  readonly edge: RightEdge;
  readonly root: Uint8Array;
  /** What comes into tiles, by level, then by index; a tile that was begun before gets more at its end. */
  readonly added: readonly TileHashesAdded[];
}

/** The right edge of the tree without leaves. */
export const EMPTY_EDGE: RightEdge = { size: 0, hashes: [] };

/**
 * The root of a tree, RFC 6962 section 2.1.
 *
 * @throws TlogError `malformed` when the hashes are not those of a tree of that size
 */
export function rootOfEdge(edge: RightEdge): Uint8Array {
  requireEdge(edge);
  return foldRight(edge.hashes);
}

/** The hash above perfect subtrees that stand beside one another, the largest first. */
export function foldRight(hashes: readonly Uint8Array[]): Uint8Array {
  return hashes.length === 0 ? emptyRoot() : hashes.reduceRight((right, left) => nodeHash(left, right));
}

/**
 * The root of the tree over these leaf hashes.
 *
 * @throws TlogError `malformed` when one of them is not a hash
 */
export function rootOfLeaves(leafHashes: readonly Uint8Array[]): Uint8Array {
  const stack: Uint8Array[] = [];
  leafHashes.forEach((hash, index) => pushLeaf(stack, index, hash));
  return foldRight(stack);
}

/**
 * Adds leaves at the end of a tree. Costs as much as the leaves and log2 of the size: nothing of the tree is read but its
 * edge.
 *
 * @throws TlogError `malformed` when the edge is not one or a leaf hash has not 32 bytes, `out_of_range` when the tree would
 *   grow above 2^53 - 1 leaves
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

/** Puts a leaf on the stack of perfect subtrees and joins those that it completes, each of which `completed` is told. */
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
