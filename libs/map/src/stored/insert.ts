import { MapError } from '../errors';
import { bitOf, compareKeys, emptyMapRoot, requireKey } from '../tree/hashes';
import { requireIndexes } from '../tree/indexes';
import { hashOfSorted } from '../tree/sorted';
import { formatBucket, mapLeavesOf, MAX_BUCKET_KEYS, parseBucket, type StoredKey } from './bucket';
import { distinctPaths, rowName, regionPath, type RowReader, type MapTableRow } from './rows';
import { EMPTY_REGION, formatTile, hashOfRegion, parseTile, type Region, TILE_BITS } from './tile';

/** A key and the log index of an entry that carries it. */
export interface NewKey {
  readonly key: Uint8Array;
  readonly logIndex: number;
}

/** The rows to write so that the stored map contains the new keys. A split bucket's row is deleted. */
export interface MapChange {
  readonly root: Uint8Array;
  readonly tiles: readonly MapTableRow[];
  readonly buckets: readonly MapTableRow[];
  readonly deletedBuckets: readonly Uint8Array[];
  /** The number of keys that the map did not contain. */
  readonly added: number;
}

/** The rows on the ways of a batch, by name. */
interface Loaded {
  readonly tiles: Map<string, Region>;
  readonly buckets: Map<string, StoredKey[]>;
}

/**
 * Inserts keys. Reads only the rows on their ways: one call per level of tiles, and one for all buckets. A log index
 * that a key has already is ignored.
 *
 * @throws MapError `malformed` for an invalid key, log index or row
 */
export async function insertKeys(added: readonly NewKey[], reader: RowReader): Promise<MapChange> {
  const keys = sort(added);
  return new Insertion(await load(keys, reader)).run(keys);
}

async function load(keys: readonly StoredKey[], reader: RowReader): Promise<Loaded> {
  const loaded: Loaded = { tiles: new Map(), buckets: new Map() };
  const bucketPaths = new Map<string, Uint8Array>();
  let waiting: readonly StoredKey[] = keys;
  for (let bit = 0; waiting.length > 0 || bit === 0; bit += TILE_BITS) {
    const rows = await reader.tiles(
      distinctPaths(bit === 0 ? [regionPath(new Uint8Array(0), 0)] : waiting.map(({ key }) => regionPath(key, bit))),
    );
    for (const { path, content } of rows) loaded.tiles.set(rowName(path), parseTile(content));
    waiting = waiting.filter(({ key }) => {
      const { region, depth } = regionOf(tileAt(loaded, key, bit), key, bit);
      if (region.kind === 'tile') return true;
      const path = regionPath(key, depth);
      bucketPaths.set(rowName(path), path);
      return false;
    });
  }
  for (const { path, content } of await reader.buckets([...bucketPaths.values()])) {
    loaded.buckets.set(rowName(path), parseBucket(content));
  }
  return loaded;
}

/** Returns a tile that the loader has read. Only the top tile may be missing. */
function tileAt({ tiles }: Loaded, key: Uint8Array, bit: number): Region {
  const tile = tiles.get(rowName(regionPath(key, bit)));
  if (tile === undefined && bit > 0) throw new MapError('malformed', `The map lacks its tile at bit ${bit} of a key.`);
  return tile ?? EMPTY_REGION;
}

/** Returns the region of a key within a tile, and the bit at which the region begins. */
function regionOf(tile: Region, key: Uint8Array, bit: number): { region: Region; depth: number } {
  let region = tile;
  let depth = bit;
  while (region.kind === 'split') region = bitOf(key, depth++) === 0 ? region.zero : region.one;
  return { region, depth };
}

/** Changes loaded rows and collects those that must be written. */
class Insertion {
  private readonly tiles: MapTableRow[] = [];
  private readonly buckets: MapTableRow[] = [];
  private readonly deleted: Uint8Array[] = [];
  private added = 0;

  constructor(private readonly loaded: Loaded) {}

  run(keys: readonly StoredKey[]): MapChange {
    const hash =
      keys.length === 0 ? hashOfRegion(tileAt(this.loaded, new Uint8Array(32), 0), 0) : this.insertInTile(keys, 0);
    return {
      root: hash ?? emptyMapRoot(),
      tiles: this.tiles,
      buckets: this.buckets,
      deletedBuckets: this.deleted,
      added: this.added,
    };
  }

  /** Inserts keys, which share the tile's bits, and returns the tile's hash. */
  private insertInTile(keys: readonly StoredKey[], bit: number): Uint8Array | null {
    const key = firstKey(keys);
    return this.writeTile(this.insertInRegion(tileAt(this.loaded, key, bit), keys, bit, bit + TILE_BITS), key, bit);
  }

  private writeTile(region: Region, key: Uint8Array, bit: number): Uint8Array | null {
    this.tiles.push({ path: regionPath(key, bit), content: formatTile(region) });
    return hashOfRegion(region, bit);
  }

  /** Inserts keys into a region that begins at `bit`, of a tile that ends at `end`. */
  private insertInRegion(region: Region, keys: readonly StoredKey[], bit: number, end: number): Region {
    if (keys.length === 0) return region;
    if (region.kind === 'split') {
      const [zeros, ones] = parts(keys, bit);
      return {
        kind: 'split',
        zero: this.insertInRegion(region.zero, zeros, bit + 1, end),
        one: this.insertInRegion(region.one, ones, bit + 1, end),
      };
    }
    if (region.kind === 'tile') return { kind: 'tile', hash: required(this.insertInTile(keys, bit)) };

    const path = regionPath(firstKey(keys), bit);
    const before = this.loaded.buckets.get(rowName(path)) ?? [];
    if ((before.length === 0) !== (region.hash === null)) {
      throw new MapError('malformed', `The map lacks its bucket at bit ${bit} of a key.`);
    }
    const after = union(before, keys);
    this.added += after.length - before.length;
    if (after.length > MAX_BUCKET_KEYS && before.length > 0) this.deleted.push(path);
    return this.writeRegion(after, bit, end);
  }

  /** Writes keys that are in no row: as one bucket, or split. */
  private writeRegion(keys: readonly StoredKey[], bit: number, end: number): Region {
    const [first] = keys;
    if (first === undefined) return EMPTY_REGION;
    if (keys.length <= MAX_BUCKET_KEYS) {
      this.buckets.push({ path: regionPath(first.key, bit), content: formatBucket(keys) });
      return { kind: 'bucket', hash: hashOfSorted(mapLeavesOf(keys)) };
    }
    if (bit === end) {
      const region = this.writeRegion(keys, bit, end + TILE_BITS);
      return { kind: 'tile', hash: required(this.writeTile(region, first.key, bit)) };
    }
    const [zeros, ones] = parts(keys, bit);
    return { kind: 'split', zero: this.writeRegion(zeros, bit + 1, end), one: this.writeRegion(ones, bit + 1, end) };
  }
}

/** Returns new keys in ascending order, each once. */
function sort(added: readonly NewKey[]): StoredKey[] {
  const byName = new Map<string, StoredKey>();
  for (const { key, logIndex } of added) {
    const name = rowName(requireKey(key));
    const logIndexes = joined(byName.get(name)?.logIndexes ?? [], [logIndex]);
    byName.set(name, { key, logIndexes });
  }
  return [...byName.values()].sort((one, other) => compareKeys(one.key, other.key));
}

/** Returns the keys of two ascending lists in ascending order, each once. */
function union(before: readonly StoredKey[], added: readonly StoredKey[]): StoredKey[] {
  const all: StoredKey[] = [];
  let place = 0;
  for (const next of added) {
    for (let old = before[place]; old !== undefined && compareKeys(old.key, next.key) < 0; old = before[place]) {
      all.push(old);
      place++;
    }
    const same = before[place];
    const isSame = same !== undefined && compareKeys(same.key, next.key) === 0;
    all.push(isSame ? { key: same.key, logIndexes: joined(same.logIndexes, next.logIndexes) } : next);
    if (isSame) place++;
  }
  all.push(...before.slice(place));
  return all;
}

/** Returns log indexes in ascending order, each once. */
function joined(before: readonly number[], added: readonly number[]): number[] {
  const logIndexes = [...new Set([...before, ...added])].sort((one, other) => one - other);
  requireIndexes(logIndexes, Number.MAX_SAFE_INTEGER);
  return logIndexes;
}

/** Separates sorted keys by a bit. */
function parts(keys: readonly StoredKey[], bit: number): [zeros: readonly StoredKey[], ones: readonly StoredKey[]] {
  const middle = keys.findIndex(({ key }) => bitOf(key, bit) === 1);
  return middle < 0 ? [keys, []] : [keys.slice(0, middle), keys.slice(middle)];
}

function firstKey([first]: readonly StoredKey[]): Uint8Array {
  if (first === undefined) throw new MapError('malformed', 'A region of the map without keys was to be changed.');
  return first.key;
}

function required(hash: Uint8Array | null): Uint8Array {
  if (hash === null) throw new MapError('malformed', 'A tile of the map has no keys.');
  return hash;
}
