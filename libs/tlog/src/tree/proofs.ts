import { requireInteger } from '../encoding/decimal';
import { TlogError } from '../errors';
import { requireHash } from './hashes';
import { foldRight, type RightEdge } from './right-edge';
import { perfectSubtrees, requireTreeSize, splitPoint, type LeafRange, type TreeNode } from './subtrees';

/**
 * Reads the hashes of nodes in the requested order. Each function here calls it once, so that a database needs only one
 * statement. `tileHashReader` makes one from tiles.
 */
export type HashReader = (nodes: readonly TreeNode[]) => Promise<readonly Uint8Array[]>;

/**
 * Reads the right edge of a tree of `size` leaves.
 *
 * @throws TlogError `out_of_range`; `unreadable` if the reader does not return one hash per node; and anything that the
 *   reader throws
 */
export async function readRightEdge(size: number, read: HashReader): Promise<RightEdge> {
  requireTreeSize(size, 'size of the tree');
  return { size, hashes: await readNodes(perfectSubtrees({ from: 0, to: size }), read) };
}

/**
 * Reads the root of a tree of `size` leaves.
 *
 * @throws TlogError as `readRightEdge`
 */
export async function readRoot(size: number, read: HashReader): Promise<Uint8Array> {
  return foldRight((await readRightEdge(size, read)).hashes);
}

/**
 * Reads the inclusion proof of a leaf in the tree of the first `size` leaves, from the leaf's sibling to the root's
 * child (RFC 6962 section 2.1.1, RFC 9162 section 2.1.3.1).
 *
 * @throws TlogError `out_of_range` unless `index` is below `size`; else as `readRightEdge`
 */
export async function readInclusionProof(index: number, size: number, read: HashReader): Promise<Uint8Array[]> {
  requireTreeSize(size, 'size of the tree', 1);
  requireInteger(index, 'index of the leaf', 0, size - 1);
  return readRanges(inclusionRanges(index, size), read);
}

/**
 * Computes the inclusion proofs of several leaves, as `readInclusionProof` returns them, from available nodes. Hashes
 * that proofs share are computed once and are the same objects.
 *
 * @throws TlogError `out_of_range` unless each index is below `size`; and anything that `nodeOf` throws
 */
export function inclusionProofs(
  indexes: readonly number[],
  size: number,
  nodeOf: (node: TreeNode) => Uint8Array,
): Uint8Array[][] {
  requireTreeSize(size, 'size of the tree', 1);
  const known = new Map<string, Uint8Array>();
  const hashOf = (range: LeafRange): Uint8Array => {
    const name = `${range.from}-${range.to}`;
    const hash = known.get(name) ?? foldRight(perfectSubtrees(range).map(nodeOf));
    known.set(name, hash);
    return hash;
  };
  return indexes.map((index) => {
    requireInteger(index, 'index of the leaf', 0, size - 1);
    return inclusionRanges(index, size).map(hashOf);
  });
}

/**
 * Reads the consistency proof between the trees of the first `from` and the first `to` leaves (RFC 6962 section 2.1.2,
 * RFC 9162 section 2.1.4.1). It is empty if the trees are equal or `from` is 0, because every tree is consistent with
 * the empty one.
 *
 * @throws TlogError `out_of_range` unless `from` is at most `to`; else as `readRightEdge`
 */
export async function readConsistencyProof(from: number, to: number, read: HashReader): Promise<Uint8Array[]> {
  requireTreeSize(to, 'newer size');
  requireInteger(from, 'older size', 0, to);
  return readRanges(from === 0 ? [] : consistencyRanges(from, to), read);
}

/** Returns the ranges of an inclusion proof's hashes: each sibling on the path from the leaf to the root. */
function inclusionRanges(index: number, size: number): LeafRange[] {
  const siblings: LeafRange[] = [];
  for (let from = 0, to = size; to - from > 1;) {
    const middle = from + splitPoint(to - from);
    siblings.push(index < middle ? { from: middle, to } : { from, to: middle });
    if (index < middle) to = middle;
    else from = middle;
  }
  return siblings.reverse();
}

/** Returns the ranges of a consistency proof's hashes: SUBPROOF of RFC 9162, from the inside out. */
function consistencyRanges(older: number, newer: number): LeafRange[] {
  const ranges: LeafRange[] = [];
  let from = 0;
  let to = newer;
  while (to !== older) {
    const middle = from + splitPoint(to - from);
    ranges.push(older <= middle ? { from: middle, to } : { from, to: middle });
    if (older <= middle) to = middle;
    else from = middle;
  }
  // If the whole older tree is a perfect subtree, it is left out: its hash is the older root.
  if (from > 0) ranges.push({ from, to });
  return ranges.reverse();
}

async function readRanges(ranges: readonly LeafRange[], read: HashReader): Promise<Uint8Array[]> {
  const parts = ranges.map(perfectSubtrees);
  const hashes = await readNodes(parts.flat(), read);
  let taken = 0;
  return parts.map((nodes) => foldRight(hashes.slice(taken, (taken += nodes.length))));
}

async function readNodes(nodes: readonly TreeNode[], read: HashReader): Promise<readonly Uint8Array[]> {
  if (nodes.length === 0) return [];
  const hashes = await read(nodes);
  if (hashes.length !== nodes.length) {
    throw new TlogError(
      'unreadable',
      `The reader returned ${hashes.length} of ${nodes.length} hashes: return one each.`,
    );
  }
  for (const hash of hashes) requireHash(hash, 'hash that was read');
  return hashes;
}
