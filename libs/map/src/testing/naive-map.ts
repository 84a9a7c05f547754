import { createHash } from 'node:crypto';

/** A key with the log indexes that carry it. */
export interface NaiveKey {
  readonly key: Buffer;
  readonly logIndexes: readonly number[];
}

const sha256 = (...parts: readonly Uint8Array[]): Buffer =>
  parts.reduce((hash, part) => hash.update(part), createHash('sha256')).digest();

/** RFC 6962 section 2.1 over log indexes, transcribed literally. */
function naiveValue(indexes: readonly number[]): Buffer {
  if (indexes.length === 1) {
    const data = Buffer.alloc(8);
    data.writeBigUInt64BE(BigInt(indexes[0]!));
    return sha256(Buffer.of(0), data);
  }
  let k = 1;
  while (2 * k < indexes.length) k *= 2;
  return sha256(Buffer.of(1), naiveValue(indexes.slice(0, k)), naiveValue(indexes.slice(k)));
}

const bit = (key: Buffer, at: number): number => (key[at >> 3]! >> (7 - (at % 8))) % 2;

/** The root of the map, bit by bit from the first, by its definition. Tests compare the library with it. */
export function naiveRoot(keys: readonly NaiveKey[], at = 0): Buffer {
  if (keys.length === 0) return sha256();
  if (keys.length === 1) return sha256(keys[0]!.key, naiveValue(keys[0]!.logIndexes));
  const zeros = keys.filter(({ key }) => bit(key, at) === 0);
  const ones = keys.filter(({ key }) => bit(key, at) === 1);
  if (zeros.length === 0 || ones.length === 0) return naiveRoot(keys, at + 1);
  return sha256(naiveRoot(zeros, at + 1), naiveRoot(ones, at + 1), Buffer.of(at));
}
