import { MapError } from '../errors';
import { bitOf, emptyMapRoot, compareKeys } from '../tree/hashes';
import { type MapPath, type PathLevel } from '../tree/path';
import { pathInSorted } from '../tree/sorted';
import { findInBucket, mapLeavesOf, parseBucket } from './bucket';
import { distinctPaths, rowName, regionPath, type RowReader, type MapTableRow } from './rows';
import { EMPTY_REGION, hashOfRegion, isEmptyRegion, parseTile, type Region, TILE_BITS } from './tile';

/** The path of a key in the stored map. An absent key has no log indexes, and its path ends at another leaf. */
export interface StoredPath extends MapPath {
  readonly logIndexes: readonly number[];
}

/** The place where the way of a key ends: a bucket, and the levels above, from the root down. */
interface Place {
  readonly bucket: Uint8Array;
  readonly levels: PathLevel[];
}

/** The way of a key, which the reader follows. `prefix` has the key's bits, changed where one side is empty. */
interface Way {
  readonly key: Uint8Array;
  readonly prefix: Uint8Array;
  readonly levels: PathLevel[];
  bucket: Uint8Array | undefined;
}

/**
 * Reads the paths of keys, in their order. Reads one row per level of tiles and one bucket for each key: at most 5 for
 * 4 · 10^8 keys. All keys share the calls.
 *
 * @throws MapError `malformed` if a row is missing or malformed
 */
export async function readPaths(keys: readonly Uint8Array[], reader: RowReader): Promise<StoredPath[]> {
  const places = await findPlaces(keys, reader);
  const buckets = byName(await reader.buckets(distinctPaths(places.map(({ bucket }) => bucket))));
  return places.map(({ bucket, levels }, at) => {
    const stored = parseBucket(buckets.get(rowName(bucket)) ?? new Uint8Array(0));
    if (stored.length === 0 && levels.length > 0) throw new MapError('malformed', 'The map lacks a bucket.');
    const key = keys[at] ?? new Uint8Array(0);
    const within = pathInSorted(mapLeavesOf(stored), key);
    return {
      leaf: within.leaf,
      levels: [...within.levels, ...levels.toReversed()],
      logIndexes: stored.find((candidate) => compareKeys(candidate.key, key) === 0)?.logIndexes ?? [],
    };
  });
}

/** Reads the path of one key. */
export async function readPath(key: Uint8Array, reader: RowReader): Promise<StoredPath> {
  const [path] = await readPaths([key], reader);
  if (path === undefined) throw new MapError('malformed', 'No path was read.');
  return path;
}

/**
 * Finds whole keys by their first bytes and a log index that they carry. A key that is not in the map is undefined.
 *
 * @throws MapError `malformed` if a row is malformed
 */
export async function findKeys(
  wanted: readonly { readonly prefix: Uint8Array; readonly logIndex: number }[],
  reader: RowReader,
): Promise<(Uint8Array | undefined)[]> {
  const places = await findPlaces(
    wanted.map(({ prefix }) => padded(prefix)),
    reader,
    false,
  );
  const buckets = byName(await reader.buckets(distinctPaths(places.map(({ bucket }) => bucket))));
  return wanted.map(({ prefix, logIndex }, at) => {
    const content = buckets.get(rowName(places[at]?.bucket ?? new Uint8Array(0)));
    return findInBucket(content ?? new Uint8Array(0), prefix, logIndex);
  });
}

/** Reads the root of the stored map: one row. */
export async function readMapRoot(reader: RowReader): Promise<Uint8Array> {
  const [top] = await reader.tiles([regionPath(new Uint8Array(0), 0)]);
  return (top === undefined ? null : hashOfRegion(parseTile(top.content), 0)) ?? emptyMapRoot();
}

/** Finds the places of keys. Without `withLevels`, no hash is computed. */
async function findPlaces(keys: readonly Uint8Array[], reader: RowReader, withLevels = true): Promise<Place[]> {
  const ways: Way[] = keys.map((key) => ({ key, prefix: key.slice(), levels: [], bucket: undefined }));
  for (let bit = 0, open = ways; open.length > 0; bit += TILE_BITS) {
    const rows = await reader.tiles(distinctPaths(open.map(({ prefix }) => regionPath(prefix, bit))));
    const tiles = new Map(rows.map(({ path, content }) => [rowName(path), parseTile(content)]));
    for (const way of open) {
      const tile = tiles.get(rowName(regionPath(way.prefix, bit)));
      if (tile === undefined && bit > 0) throw new MapError('malformed', 'The map lacks a tile.');
      follow(way, tile ?? EMPTY_REGION, bit, withLevels);
    }
    open = open.filter(({ bucket }) => bucket === undefined);
  }
  return ways.map(({ bucket, levels }) => ({ bucket: bucket ?? new Uint8Array(0), levels }));
}

/** Follows a way through a tile. If one side is empty, the path continues on the other side, because the tree has no node there. */
function follow(way: Way, tile: Region, from: number, withLevels: boolean): void {
  let region = tile;
  let bit = from;
  for (; region.kind === 'split'; bit++) {
    const wanted = bitOf(way.key, bit);
    const [near, far]: [Region, Region] = wanted === 0 ? [region.zero, region.one] : [region.one, region.zero];
    const isEmpty = isEmptyRegion(near);
    const sibling = withLevels && !isEmpty ? hashOfRegion(far, bit + 1) : null;
    if (isEmpty) way.prefix[bit >> 3] = (way.prefix[bit >> 3] ?? 0) ^ (0x80 >> (bit & 7));
    else if (sibling !== null) way.levels.push({ bit, sibling });
    region = isEmpty ? far : near;
  }
  if (region.kind === 'bucket') way.bucket = regionPath(way.prefix, bit);
}

function padded(prefix: Uint8Array): Uint8Array {
  const key = new Uint8Array(32);
  key.set(prefix);
  return key;
}

function byName(rows: readonly MapTableRow[]): Map<string, Uint8Array> {
  return new Map(rows.map(({ path, content }) => [rowName(path), content]));
}
