import { rootOfLeaves, sha256 } from '@iss/tlog';
import { MapError } from '../errors';
import { KEY_SIZE } from '../limits';

/** A key with its value. */
export interface MapLeaf {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
}

// Messages, each shared by all calls: a call hashes its message before it ends.
const indexMessage = new Uint8Array(9);
const indexView = new DataView(indexMessage.buffer);
const leafMessage = new Uint8Array(64);
const innerMessage = new Uint8Array(65);

/**
 * Returns the value of a key: the RFC 6962 root of the list of log indexes that carry it, ascending. Each leaf's data is
 * an index as a big-endian uint64.
 */
export function valueOf(logIndexes: readonly number[]): Uint8Array {
  const [first, ...others] = logIndexes;
  if (first !== undefined && others.length === 0) return indexHash(first);
  return rootOfLeaves(logIndexes.map(indexHash));
}

/** Returns the RFC 6962 leaf hash of a log index. */
function indexHash(index: number): Uint8Array {
  indexView.setUint32(1, Math.floor(index / 2 ** 32));
  indexView.setUint32(5, index % 2 ** 32);
  return sha256(indexMessage);
}

/** Returns SHA-256(key ‖ value). */
export function mapLeafHash({ key, value }: MapLeaf): Uint8Array {
  leafMessage.set(requireKey(key));
  leafMessage.set(requireHash(value), KEY_SIZE);
  return sha256(leafMessage);
}

/** Returns SHA-256(left ‖ right ‖ bit), where the children differ first at this bit of their keys. */
export function innerHash(left: Uint8Array, right: Uint8Array, bit: number): Uint8Array {
  innerMessage.set(requireHash(left));
  innerMessage.set(requireHash(right), 32);
  innerMessage[64] = bit;
  return sha256(innerMessage);
}

/** Returns the root of the empty map: SHA-256 of the empty string. */
export function emptyMapRoot(): Uint8Array {
  return sha256(new Uint8Array(0));
}

/** Returns a bit of a key. Bit 0 is the most significant bit of the first byte. */
export function bitOf(key: Uint8Array, bit: number): 0 | 1 {
  return ((key[bit >> 3] ?? 0) >> (7 - (bit & 7))) & 1 ? 1 : 0;
}

/** Returns the first bit at which two keys differ, or 256 if they are equal. */
export function firstDifference(one: Uint8Array, other: Uint8Array): number {
  for (let at = 0; at < KEY_SIZE; at++) {
    const difference = (one[at] ?? 0) ^ (other[at] ?? 0);
    if (difference !== 0) return 8 * at + Math.clz32(difference) - 24;
  }
  return 8 * KEY_SIZE;
}

/** Compares keys as byte strings. */
export function compareKeys(one: Uint8Array, other: Uint8Array): number {
  const bit = firstDifference(one, other);
  return bit === 8 * KEY_SIZE ? 0 : bitOf(one, bit) - bitOf(other, bit);
}

/**
 * Refuses a hash of another length. The shared working memory would otherwise fill it up with bytes of an earlier hash.
 */
function requireHash(hash: Uint8Array): Uint8Array {
  if (hash.length === KEY_SIZE) return hash;
  throw new MapError('malformed', `A hash of the map has ${KEY_SIZE} bytes, not ${hash.length}.`);
}

/** @throws MapError `malformed` */
export function requireKey(key: Uint8Array): Uint8Array {
  if (key.length === KEY_SIZE) return key;
  throw new MapError('malformed', `A key of the map has ${KEY_SIZE} bytes, not ${key.length}.`);
}
