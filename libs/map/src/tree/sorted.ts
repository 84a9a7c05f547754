import { MapError } from '../errors';
import { bitOf, compareKeys, emptyMapRoot, firstDifference, innerHash, type MapLeaf, mapLeafHash } from './hashes';
import type { MapPath, PathLevel } from './path';

/**
 * Returns the root of the map with these leaves.
 *
 * @throws MapError `malformed` unless the keys ascend
 */
export function rootOfSorted(leaves: readonly MapLeaf[]): Uint8Array {
  leaves.forEach(({ key }, at) => {
    const previous = leaves[at - 1];
    if (previous !== undefined && compareKeys(previous.key, key) >= 0) {
      throw new MapError('malformed', 'The keys of the map must ascend.');
    }
  });
  return hashOfSorted(leaves) ?? emptyMapRoot();
}

/** Returns the hash above these leaves, whose keys ascend, or null without leaves. */
export function hashOfSorted(leaves: readonly MapLeaf[]): Uint8Array | null {
  const [first] = leaves;
  if (first === undefined) return null;
  return leaves.length === 1 ? mapLeafHash(first) : subtreeHash(leaves, 0, leaves.length);
}

/** Returns the path of a key, present or absent, among leaves whose keys ascend. */
export function pathInSorted(leaves: readonly MapLeaf[], key: Uint8Array): MapPath {
  const levels: PathLevel[] = [];
  let from = 0;
  let to = leaves.length;
  while (to - from > 1) {
    const { bit, middle } = split(leaves, from, to);
    if (bitOf(key, bit) === 0) {
      levels.push({ bit, sibling: subtreeHash(leaves, middle, to) });
      to = middle;
    } else {
      levels.push({ bit, sibling: subtreeHash(leaves, from, middle) });
      from = middle;
    }
  }
  return { leaf: leaves[from] ?? null, levels: levels.reverse() };
}

function subtreeHash(leaves: readonly MapLeaf[], from: number, to: number): Uint8Array {
  if (to - from === 1) return mapLeafHash(leafAt(leaves, from));
  const { bit, middle } = split(leaves, from, to);
  return innerHash(subtreeHash(leaves, from, middle), subtreeHash(leaves, middle, to), bit);
}

/** Returns the first bit at which keys of a range differ, and the index of the first key in which it is 1. */
function split(leaves: readonly MapLeaf[], from: number, to: number): { bit: number; middle: number } {
  const bit = firstDifference(leafAt(leaves, from).key, leafAt(leaves, to - 1).key);
  let low = from;
  let high = to - 1;
  while (low < high) {
    const at = (low + high) >> 1;
    if (bitOf(leafAt(leaves, at).key, bit) === 0) low = at + 1;
    else high = at;
  }
  return { bit, middle: low };
}

function leafAt(leaves: readonly MapLeaf[], at: number): MapLeaf {
  const leaf = leaves[at];
  if (leaf === undefined) throw new MapError('out_of_range', `The map has no leaf ${at}.`);
  return leaf;
}
