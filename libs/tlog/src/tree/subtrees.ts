import { requireInteger } from '../encoding/decimal';
import { MAX_TREE_SIZE } from '../limits';

/**
 * A perfect subtree: the root above the leaves from `index` · 2^`level` to (`index` + 1) · 2^`level`, exclusive. Its
 * hash never changes once the tree has those leaves.
 */
export interface TreeNode {
  readonly level: number;
  readonly index: number;
}

/** The leaves from `from` to `to`, exclusive. */
export interface LeafRange {
  readonly from: number;
  readonly to: number;
}

/** @throws TlogError `out_of_range` */
export function requireTreeSize(size: number, what: string, least = 0): void {
  requireInteger(size, what, least, MAX_TREE_SIZE);
}

/**
 * Returns the perfect subtrees of a range of leaves, left to right, the largest first. The range must begin at a
 * multiple of the largest, as every range in the proofs of RFC 6962 does. For `{from: 0, to: size}` they are the tree's
 * right edge.
 */
export function perfectSubtrees({ from, to }: LeafRange): TreeNode[] {
  const nodes: TreeNode[] = [];
  for (let at = from; at < to;) {
    const level = floorLog2(to - at);
    nodes.push({ level, index: at / 2 ** level });
    at += 2 ** level;
  }
  return nodes;
}

/**
 * Returns the number of leaves left of the root's split: the largest power of two below `size` (k in RFC 6962 section
 * 2.1).
 */
export function splitPoint(size: number): number {
  return 2 ** floorLog2(size - 1);
}

/** Returns the exponent of the largest power of two that is at most `value`, an integer ≥ 1. */
function floorLog2(value: number): number {
  const upper = Math.floor(value / 2 ** 32);
  return upper === 0 ? 31 - Math.clz32(value) : 63 - Math.clz32(upper);
}
