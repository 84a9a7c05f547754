import { TlogError } from '../errors';
import { TILE_WIDTH } from './new-tiles';
import { formatTilePath, parseTilePath, type Tile } from './tile-path';

/** Entry bundles lie beside the tiles of level 0, and have the same index and width. */
const PREFIX = 'tile/entries/';
const LEVEL_0 = 'tile/0/';

/** The largest entry: its length has two bytes. */
const MAX_ENTRY_BYTES = 0xffff;
const LENGTH_BYTES = 2;

/** An entry bundle of C2SP tlog-tiles: `width` entries from `index` · 256 on. A full bundle has 256. */
export type EntryBundle = Pick<Tile, 'index' | 'width'>;

/**
 * Returns the path of an entry bundle below the log's prefix (C2SP tlog-tiles "Log Entries"): `tile/entries/<N>[.p/<W>]`.
 *
 * @throws TlogError `out_of_range`
 */
export function formatEntryBundlePath(bundle: EntryBundle): string {
  return PREFIX + formatTilePath({ ...bundle, level: 0 }).slice(LEVEL_0.length);
}

/**
 * Parses the path of an entry bundle. It must be exactly the path that `formatEntryBundlePath` returns.
 *
 * @throws TlogError `malformed` or `out_of_range`
 */
export function parseEntryBundlePath(path: string): EntryBundle {
  if (!path.startsWith(PREFIX))
    throw new TlogError('malformed', `Not an entry bundle: its path is ${PREFIX}<N>[.p/<W>].`);
  const { index, width } = parseTilePath(LEVEL_0 + path.slice(PREFIX.length));
  return { index, width };
}

/**
 * Returns the content of an entry bundle: each entry after its length as a big-endian uint16.
 *
 * @throws TlogError `out_of_range` for an entry of more than 65,535 bytes, and for no or more than 256 entries
 */
export function formatEntryBundle(entries: readonly Uint8Array[]): Uint8Array {
  if (entries.length === 0 || entries.length > TILE_WIDTH)
    throw new TlogError('out_of_range', `An entry bundle has 1 to ${TILE_WIDTH} entries, not ${entries.length}.`);
  const bundle = new Uint8Array(entries.reduce((size, { length }) => size + LENGTH_BYTES + length, 0));
  const view = new DataView(bundle.buffer);
  let at = 0;
  for (const entry of entries) {
    if (entry.length > MAX_ENTRY_BYTES)
      throw new TlogError('out_of_range', `An entry has at most ${MAX_ENTRY_BYTES} bytes, not ${entry.length}.`);
    view.setUint16(at, entry.length);
    bundle.set(entry, at + LENGTH_BYTES);
    at += LENGTH_BYTES + entry.length;
  }
  return bundle;
}

/**
 * Returns the entries of a bundle, as views into it.
 *
 * @throws TlogError `malformed` if the bundle is cut off or has another number of entries than `width`
 */
export function parseEntryBundle(bundle: Uint8Array, width: number): Uint8Array[] {
  const view = new DataView(bundle.buffer, bundle.byteOffset, bundle.byteLength);
  const entries: Uint8Array[] = [];
  let at = 0;
  while (at < bundle.length && entries.length <= width) {
    const start = at + LENGTH_BYTES;
    at = start > bundle.length ? Infinity : start + view.getUint16(at);
    if (at > bundle.length) throw new TlogError('malformed', 'The entry bundle is cut off.');
    entries.push(bundle.subarray(start, at));
  }
  if (entries.length !== width)
    throw new TlogError(
      'malformed',
      `The entry bundle must have ${width} entries, but has ${countText(entries.length, width)}.`,
    );
  return entries;
}

function countText(found: number, width: number): string {
  return found > width ? 'more' : String(found);
}
