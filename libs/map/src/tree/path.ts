import { concatBytes, equalBytes } from '@iss/tlog';
import { MapError } from '../errors';
import { KEY_SIZE, MAX_PATH_LEVELS } from '../limits';
import { bitOf, emptyMapRoot, innerHash, type MapLeaf, mapLeafHash, requireKey } from './hashes';

const LEVEL_SIZE = 1 + KEY_SIZE;

/** One level of a path: the bit at which the children of a node differ, and the hash of the child off the path. */
export interface PathLevel {
  readonly bit: number;
  readonly sibling: Uint8Array;
}

/** The way from a leaf up to the root, so the bits descend. `leaf` is null only in the empty map. */
export interface MapPath {
  readonly leaf: MapLeaf | null;
  readonly levels: readonly PathLevel[];
}

/** Writes levels as bit ‖ sibling, from the leaf up. */
export function formatLevels(levels: readonly PathLevel[]): Uint8Array {
  return concatBytes(...levels.flatMap(({ bit, sibling }) => [Uint8Array.of(bit), sibling]));
}

/**
 * Parses the levels of a path.
 *
 * @throws MapError `malformed` unless they are whole and the bits descend
 */
export function parseLevels(bytes: Uint8Array): PathLevel[] {
  if (bytes.length % LEVEL_SIZE !== 0 || bytes.length > MAX_PATH_LEVELS * LEVEL_SIZE) {
    throw new MapError('malformed', `A path of the map has at most ${MAX_PATH_LEVELS} levels of ${LEVEL_SIZE} bytes.`);
  }
  const levels: PathLevel[] = [];
  for (let at = 0; at < bytes.length; at += LEVEL_SIZE) {
    const bit = bytes[at] ?? 0;
    if (bit >= (levels.at(-1)?.bit ?? MAX_PATH_LEVELS)) {
      throw new MapError('malformed', 'The bits of a path of the map must descend.');
    }
    levels.push({ bit, sibling: bytes.slice(at + 1, at + LEVEL_SIZE) });
  }
  return levels;
}

/**
 * Verifies that the map with this root contains the key with this value. For an absent key (`value` null) the path ends
 * at another leaf, to which the bits of the key lead, or the map is empty.
 *
 * @throws MapError `path_refused`
 */
export function verifyPath(root: Uint8Array, key: Uint8Array, value: Uint8Array | null, path: MapPath): void {
  requireKey(key);
  const { leaf, levels } = path;
  if (value === null ? leaf !== null && equalBytes(leaf.key, key) : leaf === null || !equalBytes(leaf.key, key)) {
    throw refused(value === null ? 'the other leaf has the key itself' : 'it starts at another key');
  }
  if (value !== null && leaf !== null && !equalBytes(leaf.value, value)) throw refused('it starts at another value');
  if (!equalBytes(rootOf(key, leaf, levels), root)) throw refused('it leads to another root');
}

function rootOf(key: Uint8Array, leaf: MapLeaf | null, levels: readonly PathLevel[]): Uint8Array {
  if (leaf === null) {
    if (levels.length > 0) throw refused('the empty map has no levels');
    return emptyMapRoot();
  }
  let above = MAX_PATH_LEVELS;
  let hash = mapLeafHash(leaf);
  for (const { bit, sibling } of levels) {
    if (bit >= above) throw refused('its bits do not descend');
    above = bit;
    if (bitOf(leaf.key, bit) !== bitOf(key, bit)) throw refused('the other leaf is not on the way of the key');
    hash = bitOf(key, bit) === 0 ? innerHash(hash, sibling, bit) : innerHash(sibling, hash, bit);
  }
  return hash;
}

function refused(why: string): MapError {
  return new MapError('path_refused', `The path does not prove the key of the map: ${why}.`);
}
