import { requireInteger } from '../encoding/decimal';
import { equalBytes } from '../encoding/bytes';
import { TlogError } from '../errors';
import { emptyRoot, nodeHash, requireHash } from './hashes';
import { requireTreeSize } from './subtrees';

/** A tree as stated by a checkpoint. */
export interface TreeHead {
  readonly size: number;
  readonly root: Uint8Array;
}

/**
 * Verifies that the leaf with this hash is at `index` in the tree (RFC 9162 section 2.1.3.2).
 *
 * @throws TlogError `proof_refused` if it is not; `out_of_range` if the tree has no such index; `malformed` for an
 *   invalid hash
 */
export function verifyInclusion(leaf: Uint8Array, index: number, tree: TreeHead, proof: readonly Uint8Array[]): void {
  requireTreeSize(tree.size, 'size of the tree', 1);
  requireInteger(index, 'index of the leaf', 0, tree.size - 1);
  requireHash(leaf, 'leaf hash');
  requireHash(tree.root, 'root');

  let hash = leaf;
  climb('inclusion', index, tree.size - 1, proof, (sibling, isLeft) => {
    hash = isLeft ? nodeHash(sibling, hash) : nodeHash(hash, sibling);
  });
  if (!equalBytes(hash, tree.root)) throw refused('inclusion', 'it leads to another root');
}

/**
 * Verifies that the newer tree begins with all leaves of the older one, unchanged and in order (RFC 9162 section
 * 2.1.4.2). The proof is empty if the older tree has no leaves; its root is `emptyRoot()`.
 *
 * @throws TlogError `proof_refused` if it does not; `out_of_range` if the older tree is larger; `malformed` for an
 *   invalid hash
 */
export function verifyConsistency(older: TreeHead, newer: TreeHead, proof: readonly Uint8Array[]): void {
  requireTreeSize(newer.size, 'newer size');
  requireInteger(older.size, 'older size', 0, newer.size);
  requireHash(older.root, 'older root');
  requireHash(newer.root, 'newer root');

  for (const tree of [older, newer]) {
    if (tree.size === 0 && !equalBytes(tree.root, emptyRoot()))
      throw refused('consistency', 'no leaves have another root');
  }
  if (older.size === 0 || older.size === newer.size) {
    if (proof.length !== 0) throw refused('consistency', 'it is too long');
    if (older.size === newer.size && !equalBytes(older.root, newer.root)) {
      throw refused('consistency', 'two roots are given for one size');
    }
    return;
  }

  let node = older.size - 1;
  let last = newer.size - 1;
  while (isOdd(node)) {
    node = half(node);
    last = half(last);
  }
  // If the older tree is a perfect subtree of the newer one, the proof does not contain its hash.
  const [seed, ...path] = node === 0 ? [older.root, ...proof] : proof;
  if (seed === undefined) throw refused('consistency', 'it is too short');
  requireHash(seed, 'hash of the proof');
  let olderHash = seed;
  let newerHash = seed;
  climb('consistency', node, last, path, (sibling, isLeft) => {
    if (isLeft) olderHash = nodeHash(sibling, olderHash);
    newerHash = isLeft ? nodeHash(sibling, newerHash) : nodeHash(newerHash, sibling);
  });
  if (!equalBytes(olderHash, older.root)) throw refused('consistency', 'it leads to another older root');
  if (!equalBytes(newerHash, newer.root)) throw refused('consistency', 'it leads to another newer root');
}

/**
 * Climbs from a node to the root. Calls `join` with each hash of the proof and its side.
 *
 * @param node,last fn and sn of RFC 9162: the indexes of the node and of the last node on the current level
 */
function climb(
  kind: ProofKind,
  node: number,
  last: number,
  path: readonly Uint8Array[],
  join: (sibling: Uint8Array, isLeft: boolean) => void,
): void {
  for (const sibling of path) {
    if (last === 0) throw refused(kind, 'it is too long');
    const isLeft = isOdd(node) || node === last;
    join(sibling, isLeft);
    // A node without a right sibling is its own parent, until it is a right child.
    while (isLeft && !isOdd(node) && node !== 0) {
      node = half(node);
      last = half(last);
    }
    node = half(node);
    last = half(last);
  }
  if (last !== 0) throw refused(kind, 'it is too short');
}

// Sizes have up to 53 bits, which is too many for bitwise operators.
const isOdd = (value: number): boolean => value % 2 === 1;
const half = (value: number): number => Math.floor(value / 2);

type ProofKind = 'inclusion' | 'consistency';

function refused(kind: ProofKind, why: string): TlogError {
  return new TlogError(
    'proof_refused',
    `The ${kind} proof does not hold: ${why}. Request it again, and keep both ` + `checkpoints as evidence.`,
  );
}
