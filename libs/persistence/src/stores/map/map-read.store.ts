import type { Sql } from '../../sql/sql';
import { type NoParameters, statement } from '../../sql/statement';

/** The map of the log. */
export interface MapState {
  /** The log's origin, which each key depends on. */
  origin: string;
  /** `VRF+<base64>`. */
  vrfKey: string;
  /** The log index from which on entries carry their keys. */
  startsAt: number;
  /** The entries before this log index have keys in `map.backfill` entries. */
  backfilledTo: number;
  keyCount: number;
  /** The root over all entries of the log; 32 bytes. */
  root: Buffer;
  /** The entries in the log. */
  size: number;
}

/** A row of the map's tiles or buckets. */
export interface MapRow {
  path: Buffer;
  content: Buffer;
}

const STATE = statement<NoParameters, MapState>('map_state');
const TILES = statement<{ paths: readonly Buffer[] }, MapRow>('map_tiles_read');
const BUCKETS = statement<{ paths: readonly Buffer[] }, MapRow>('map_buckets_read');
const TILES_AT = statement<{ paths: readonly Buffer[]; size: number }, MapRow>('map_tiles_read_at');
const BUCKETS_AT = statement<{ paths: readonly Buffer[]; size: number }, MapRow>('map_buckets_read_at');
const PREFIXES = statement<
  { logIndex: number },
  { prefixes: Buffer | null; isOwn: boolean; counts: Buffer | null; from: number | null }
>('map_entry_prefixes');
const PREFIXES_OF_ENTRIES = statement<{ logIndexes: readonly number[] }, { logIndex: number; prefixes: Buffer }>(
  'map_prefixes_of_entries',
);
const ROOT_AT = statement<{ logIndex: number }, { root: Buffer }>('map_root_at');
const STREAM = statement<{ stream: string }, { last: number }>('map_stream');
const STREAMS = statement<{ streams: readonly string[] }, { stream: string; last: number }>('map_streams_read');

/** The bytes of a key that its entry stores. */
export const KEY_PREFIX_BYTES = 7;
/** The bytes of a number of keys in a `map.backfill` entry. */
const COUNT_BYTES = 2;

/** Reads the map. */
export class MapReadStore {
  constructor(private readonly sql: Pick<Sql, 'run'>) {}

  /** Returns null while the map is off. */
  async state(): Promise<MapState | null> {
    return (await this.sql.run(STATE, {}))[0] ?? null;
  }

  /** Returns the existing tiles at these paths, in any order. */
  tiles(paths: readonly Uint8Array[]): Promise<MapRow[]> {
    return this.sql.run(TILES, { paths: paths.map(toBuffer) });
  }

  /** Returns the existing buckets at these paths, in any order. */
  buckets(paths: readonly Uint8Array[]): Promise<MapRow[]> {
    return this.sql.run(BUCKETS, { paths: paths.map(toBuffer) });
  }

  /**
   * Returns a reader of the map as it was when the log had this size and ended with a `map.root` entry. The rows of the newest
   * published size are kept, and of those being published.
   */
  at(size: number): Pick<MapReadStore, 'tiles' | 'buckets'> {
    return {
      tiles: (paths) => this.sql.run(TILES_AT, { paths: paths.map(toBuffer), size }),
      buckets: (paths) => this.sql.run(BUCKETS_AT, { paths: paths.map(toBuffer), size }),
    };
  }

  /**
   * Returns the first 7 bytes of each key of an entry, in their order. Null if the entry has no keys yet, or does not exist.
   * A key is the one in its bucket with this start and the log index of the entry. `isOwn` is true if the leaf of the entry
   * contains the keys.
   */
  async keyPrefixes(logIndex: number): Promise<{ prefixes: Buffer[]; isOwn: boolean } | null> {
    const [row] = await this.sql.run(PREFIXES, { logIndex });
    if (row === undefined || row.prefixes === null) return null;
    const all = prefixesIn(row.prefixes);
    if (row.isOwn) return { prefixes: all, isOwn: true };
    const counts = countsIn(row.counts ?? Buffer.alloc(0));
    const place = logIndex - (row.from ?? 0);
    const count = counts[place];
    if (count === undefined) return null;
    const before = counts.slice(0, place).reduce((sum, one) => sum + one, 0);
    return { prefixes: all.slice(before, before + count), isOwn: false };
  }

  /** Returns the same for many entries, by log index. Entries whose leaves contain no keys are missing. */
  async ownKeyPrefixes(logIndexes: readonly number[]): Promise<Map<number, Buffer[]>> {
    const rows = await this.sql.run(PREFIXES_OF_ENTRIES, { logIndexes });
    return new Map(rows.map(({ logIndex, prefixes }) => [logIndex, prefixesIn(prefixes)]));
  }

  /** Returns the root in the `map.root` entry at this log index; null if another entry is there. */
  async rootAt(logIndex: number): Promise<Buffer | null> {
    return (await this.sql.run(ROOT_AT, { logIndex }))[0]?.root ?? null;
  }

  /** Returns the last number of a stream; 0 if it has none. Versions of a subject are not counted here. */
  async lastNumber(stream: string): Promise<number> {
    return (await this.sql.run(STREAM, { stream }))[0]?.last ?? 0;
  }

  /** Returns the last number of each of these streams that has one. */
  async lastNumbers(streams: readonly string[]): Promise<Map<string, number>> {
    if (streams.length === 0) return new Map();
    return new Map((await this.sql.run(STREAMS, { streams })).map(({ stream, last }) => [stream, last]));
  }
}

/** Splits the stored bytes of an entry into the first bytes of each key. */
export function prefixesIn(all: Buffer): Buffer[] {
  return Array.from({ length: all.length / KEY_PREFIX_BYTES }, (_, place) =>
    all.subarray(KEY_PREFIX_BYTES * place, KEY_PREFIX_BYTES * (place + 1)),
  );
}

/** Reads how many keys a `map.backfill` entry gives to each of its entries. */
export function countsIn(all: Buffer): number[] {
  return Array.from({ length: all.length / COUNT_BYTES }, (_, place) => all.readUInt16BE(COUNT_BYTES * place));
}

/** Returns the same bytes as a Buffer, which parameters of statements must be. */
export function toBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
