import { createHash } from 'node:crypto';

/** The tree of RFC 6962 section 2.1, transcribed literally with Node's SHA-256. Tests compare the library with it. */
const sha256 = (...parts: readonly (Uint8Array | string)[]): Buffer => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
};

export const naiveLeaf = (entry: Uint8Array | string): Buffer => sha256(Uint8Array.of(0), entry);

/** Returns k, the largest power of two smaller than n. */
function largestPowerBelow(n: number): number {
  let k = 1;
  while (2 * k < n) k *= 2;
  return k;
}

/** A tree over leaf hashes by the definitions of MTH, PATH and SUBPROOF. Each subtree is hashed once. */
export class NaiveTree {
  private readonly known = new Map<string, Buffer>();

  constructor(readonly leaves: readonly Buffer[]) {}

  /** MTH(D[from:to]), over the leaf hashes of D. */
  root(from: number, to: number): Buffer {
    if (from === to) return sha256();
    if (to - from === 1) return this.leaves[from]!;
    const name = `${from}-${to}`;
    const known = this.known.get(name);
    if (known !== undefined) return known;
    const k = largestPowerBelow(to - from);
    const hash = sha256(Uint8Array.of(1), this.root(from, from + k), this.root(from + k, to));
    this.known.set(name, hash);
    return hash;
  }

  /** PATH(m, D[from:to]), RFC 6962 section 2.1.1. */
  path(m: number, from: number, to: number): Buffer[] {
    const n = to - from;
    if (n === 1) return [];
    const k = largestPowerBelow(n);
    return m < k
      ? [...this.path(m, from, from + k), this.root(from + k, to)]
      : [...this.path(m - k, from + k, to), this.root(from, from + k)];
  }

  /** PROOF(m, D[0:n]), RFC 6962 section 2.1.2. */
  proof(m: number, n: number): Buffer[] {
    return this.subproof(m, 0, n, true);
  }

  private subproof(m: number, from: number, to: number, whole: boolean): Buffer[] {
    const n = to - from;
    if (m === n) return whole ? [] : [this.root(from, to)];
    const k = largestPowerBelow(n);
    return m <= k
      ? [...this.subproof(m, from, from + k, whole), this.root(from + k, to)]
      : [...this.subproof(m - k, from + k, to, false), this.root(from, from + k)];
  }
}

/** Makes a tree of this many different leaves. */
export function naiveTree(size: number): NaiveTree {
  return new NaiveTree(Array.from({ length: size }, (_, index) => naiveLeaf(`leaf ${index}`)));
}

/** Returns the side of each hash in PATH(m, D[n]). Trees of the same shape differ only in their roots. */
export function pathShape(m: number, n: number): string {
  if (n === 1) return '';
  const k = largestPowerBelow(n);
  return m < k ? `${pathShape(m, k)}R` : `${pathShape(m - k, n - k)}L`;
}

/** Returns the same for PROOF(m, D[n]), and whether it begins with a hash of its own. */
export function proofShape(m: number, n: number, whole = true): string {
  if (m === n) return whole ? '' : '=';
  const k = largestPowerBelow(n);
  return m <= k ? `${proofShape(m, k, whole)}R` : `${proofShape(m - k, n - k, false)}L`;
}
