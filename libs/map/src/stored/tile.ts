import { concatBytes } from '@iss/tlog';
import { MapError } from '../errors';
import { KEY_SIZE } from '../limits';
import { innerHash } from '../tree/hashes';

/** The bits that a tile covers. */
export const TILE_BITS = 6;

/**
 * A region within a tile: split at its next bit, or stored in a bucket of its own (`hash` null if that is empty), or
 * stored in a tile below, which begins at the region.
 */
export type Region =
  | { readonly kind: 'split'; readonly zero: Region; readonly one: Region }
  | { readonly kind: 'bucket'; readonly hash: Uint8Array | null }
  | { readonly kind: 'tile'; readonly hash: Uint8Array };

/** The region of an empty map. Without a row, the top tile is this. */
export const EMPTY_REGION: Region = { kind: 'bucket', hash: null };

const SPLIT = 0;
const BUCKET = 1;
const EMPTY = 2;
const TILE = 3;

/** Writes a tile: its regions in preorder, each a byte for its kind and the hash, if it has one. */
export function formatTile(region: Region): Uint8Array {
  const parts: (number | Uint8Array)[] = [];
  const add = (part: Region): void => {
    if (part.kind === 'split') {
      parts.push(SPLIT);
      add(part.zero);
      add(part.one);
    } else if (part.hash === null) parts.push(EMPTY);
    else parts.push(part.kind === 'bucket' ? BUCKET : TILE, part.hash);
  };
  add(region);
  return concatBytes(...parts.map((part) => (typeof part === 'number' ? Uint8Array.of(part) : part)));
}

/**
 * Parses a tile.
 *
 * @throws MapError `malformed`
 */
export function parseTile(content: Uint8Array): Region {
  let at = 0;
  const parse = (depth: number): Region => {
    const kind = content[at++];
    if (kind === SPLIT && depth < TILE_BITS) {
      const zero = parse(depth + 1);
      return { kind: 'split', zero, one: parse(depth + 1) };
    }
    if (kind === EMPTY) return EMPTY_REGION;
    const hash = content.slice(at, at + KEY_SIZE);
    at += KEY_SIZE;
    if (hash.length === KEY_SIZE && kind === BUCKET) return { kind: 'bucket', hash };
    if (hash.length === KEY_SIZE && kind === TILE && depth === TILE_BITS) return { kind: 'tile', hash };
    throw new MapError('malformed', 'A tile of the map is malformed.');
  };
  const region = parse(0);
  if (at !== content.length) throw new MapError('malformed', 'A tile of the map has bytes after its end.');
  return region;
}

/** Returns whether a region has no keys. */
export function isEmptyRegion(region: Region): boolean {
  return region.kind === 'split' ? isEmptyRegion(region.zero) && isEmptyRegion(region.one) : region.hash === null;
}

/** Returns the hash of a region that begins at this bit, or null if it has no keys. */
export function hashOfRegion(region: Region, bit: number): Uint8Array | null {
  if (region.kind !== 'split') return region.hash;
  const zero = hashOfRegion(region.zero, bit + 1);
  const one = hashOfRegion(region.one, bit + 1);
  return zero !== null && one !== null ? innerHash(zero, one, bit) : (zero ?? one);
}
