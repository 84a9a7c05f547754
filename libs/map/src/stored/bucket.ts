import { concatBytes } from '@iss/tlog';
import { MapError } from '../errors';
import { KEY_SIZE } from '../limits';
import { requireIndexes } from '../tree/indexes';
import { compareKeys, type MapLeaf, requireKey, valueOf } from '../tree/hashes';

/** Keys of a bucket. A larger one is split at its next bit. */
export const MAX_BUCKET_KEYS = 48;

/** A key with the log indexes of the entries that carry it. */
export interface StoredKey {
  readonly key: Uint8Array;
  readonly logIndexes: readonly number[];
}

/** Writes the keys of a bucket, ascending: 32 bytes, then a varint of index · 2 + 1 for each log index but the last, which has + 0. */
export function formatBucket(keys: readonly StoredKey[]): Uint8Array {
  return concatBytes(
    ...keys.flatMap(({ key, logIndexes }) => [
      key,
      ...logIndexes.map((index, at) => varint(BigInt(index) * 2n + (at < logIndexes.length - 1 ? 1n : 0n))),
    ]),
  );
}

/**
 * Parses the keys of a bucket.
 *
 * @throws MapError `malformed`
 */
export function parseBucket(content: Uint8Array): StoredKey[] {
  const keys: StoredKey[] = [];
  for (let at = 0; at < content.length;) {
    const key = requireKey(content.slice(at, at + KEY_SIZE));
    at += KEY_SIZE;
    const logIndexes: number[] = [];
    for (let hasMore = true; hasMore;) {
      const { value, next } = readVarint(content, at);
      logIndexes.push(Number(value >> 1n));
      hasMore = (value & 1n) === 1n;
      at = next;
    }
    requireIndexes(logIndexes, Number.MAX_SAFE_INTEGER);
    const previous = keys.at(-1);
    if (previous !== undefined && compareKeys(previous.key, key) >= 0) throw malformed('its keys do not ascend');
    keys.push({ key, logIndexes });
  }
  return keys;
}

/** Returns the leaves of the map for the keys of a bucket. */
export function leavesOf(keys: readonly StoredKey[]): MapLeaf[] {
  return keys.map(({ key, logIndexes }) => ({ key, value: valueOf(logIndexes) }));
}

function varint(value: bigint): Uint8Array {
  const bytes: number[] = [];
  for (let rest = value; ; rest >>= 7n) {
    if (rest < 0x80n) return Uint8Array.from([...bytes, Number(rest)]);
    bytes.push(Number(rest & 0x7fn) | 0x80);
  }
}

function readVarint(content: Uint8Array, from: number): { value: bigint; next: number } {
  let value = 0n;
  for (let at = from; at < from + 8; at++) {
    const byte = content[at];
    if (byte === undefined) throw malformed('it ends within a number');
    value |= BigInt(byte & 0x7f) << BigInt(7 * (at - from));
    if (byte < 0x80) return { value, next: at + 1 };
  }
  throw malformed('a number is too long');
}

function malformed(why: string): MapError {
  return new MapError('malformed', `A bucket of the map is malformed: ${why}.`);
}
