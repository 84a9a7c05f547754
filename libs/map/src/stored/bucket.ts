import { MapError } from '../errors';
import { KEY_SIZE } from '../limits';
import { requireIndexes } from '../tree/indexes';
import { compareKeys, type MapLeaf, valueOf } from '../tree/hashes';

/** Keys of a bucket. A larger one is split at its next bit. */
export const MAX_BUCKET_KEYS = 24;

/** A key with the log indexes of the entries that carry it. */
export interface StoredKey {
  readonly key: Uint8Array;
  readonly logIndexes: readonly number[];
}

/** Bytes of a log index in a bucket. */
const INDEX_SIZE = 5;
const RECORD_SIZE = KEY_SIZE + INDEX_SIZE;
const MAX_INDEX = 2 ** (8 * INDEX_SIZE) - 1;

/** Writes the keys of a bucket, ascending. Each log index of a key is a record: the key, and the index as 5 big-endian bytes. */
export function formatBucket(keys: readonly StoredKey[]): Uint8Array {
  const content = new Uint8Array(RECORD_SIZE * keys.reduce((count, { logIndexes }) => count + logIndexes.length, 0));
  const view = new DataView(content.buffer);
  let at = 0;
  for (const { key, logIndexes } of keys) {
    for (const index of logIndexes) {
      if (index > MAX_INDEX) throw malformed(`a log index is above ${MAX_INDEX}`);
      content.set(key, at);
      view.setUint8(at + KEY_SIZE, Math.floor(index / 2 ** 32));
      view.setUint32(at + KEY_SIZE + 1, index % 2 ** 32);
      at += RECORD_SIZE;
    }
  }
  return content;
}

/**
 * Parses the keys of a bucket.
 *
 * @throws MapError `malformed`
 */
export function parseBucket(content: Uint8Array): StoredKey[] {
  if (content.length % RECORD_SIZE !== 0) throw malformed('it ends within a record');
  const keys: { key: Uint8Array; logIndexes: number[] }[] = [];
  for (let at = 0; at < content.length; at += RECORD_SIZE) {
    const key = content.slice(at, at + KEY_SIZE);
    const logIndex = readIndex(content, at + KEY_SIZE);
    const previous = keys.at(-1);
    const order = previous === undefined ? -1 : compareKeys(previous.key, key);
    if (order > 0) throw malformed('its keys do not ascend');
    if (order === 0) previous?.logIndexes.push(logIndex);
    else keys.push({ key, logIndexes: [logIndex] });
  }
  for (const { logIndexes } of keys) if (logIndexes.length > 1) requireIndexes(logIndexes, MAX_INDEX);
  return keys;
}

/** Finds the key that begins with these bytes and has this log index, without a look at the others. */
export function findInBucket(content: Uint8Array, prefix: Uint8Array, logIndex: number): Uint8Array | undefined {
  for (let at = 0; at + RECORD_SIZE <= content.length; at += RECORD_SIZE) {
    const isWanted = content[at] === prefix[0] && prefix.every((byte, place) => content[at + place] === byte);
    if (isWanted && readIndex(content, at + KEY_SIZE) === logIndex) return content.slice(at, at + KEY_SIZE);
  }
  return undefined;
}

/** Returns the leaves of the map for the keys of a bucket. */
export function mapLeavesOf(keys: readonly StoredKey[]): MapLeaf[] {
  return keys.map(({ key, logIndexes }) => ({ key, value: valueOf(logIndexes) }));
}

function readIndex(content: Uint8Array, at: number): number {
  const view = new DataView(content.buffer, content.byteOffset + at, INDEX_SIZE);
  return view.getUint8(0) * 2 ** 32 + view.getUint32(1);
}

function malformed(why: string): MapError {
  return new MapError('malformed', `A bucket of the map is malformed: ${why}.`);
}
