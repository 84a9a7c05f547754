import type { SubjectRef } from '@iss/domain';
import type { TransactionSql } from '../../sql/sql';
import { type NoParameters, statement } from '../../sql/statement';
import { type MapRow, MapReadStore, toBuffer } from './map-read.store';

/** The log's name and the public VRF key, which every key of the map depends on. */
export interface MapIdentity {
  readonly origin: string;
  /** `VRF+<base64>`. */
  readonly vrfKey: string;
}

/** Why a worker cannot continue a map: it has no VRF key, or another origin or key. */
export type MapRefusal = 'no_vrf_key' | 'unknown_vrf_key';

interface Row {
  readonly path: Uint8Array;
  readonly content: Uint8Array;
}

/** Changed rows of the map. */
export interface MapRows {
  readonly root: Uint8Array;
  readonly tiles: readonly Row[];
  readonly buckets: readonly Row[];
  /** The paths of buckets that were split. */
  readonly deletedBuckets: readonly Uint8Array[];
  /** The number of new keys. */
  readonly added: number;
}

/** Returns no row if the log has another name. */
export const SWITCH_ON = statement<MapIdentity & { startsAt: number }, { isOn: boolean }>('map_switch_on');
const NUMBERS = statement<{ streams: readonly { stream: string; count: number }[] }, { stream: string; last: number }>(
  'map_numbers_take',
);
const WRITE = statement<{
  root: Buffer;
  tiles: readonly MapRow[];
  buckets: readonly MapRow[];
  deletedBuckets: readonly Buffer[];
  added: number;
}>('map_write');
const FORMER_DROP = statement<NoParameters>('map_former_drop');
const FORMER_THIN = statement<{ paths: readonly Buffer[] }>('map_former_thin');
const APPEND_ROOT = statement<{ logIndex: number; root: Buffer }>('map_root_append');

/** The map within one transaction that holds the tree. */
export class MapRound {
  private readonly reads: MapReadStore;

  private constructor(
    private readonly sql: TransactionSql,
    readonly origin: string,
    /** False while entries from before the map lack keys. The map has no root until then. */
    readonly isComplete: boolean,
  ) {
    this.reads = new MapReadStore(sql);
  }

  /**
   * Opens the map, and switches it on if the log has no entries. Returns null while the map is off, or why this worker cannot
   * continue it. `identity` is null for a worker without a VRF key. The caller must have taken the
   * tree in an earlier statement, because a statement does not see what is committed while it waits.
   */
  static async open(
    sql: TransactionSql,
    identity: MapIdentity | null,
    size: number,
  ): Promise<MapRound | MapRefusal | null> {
    const reads = new MapReadStore(sql);
    let state = await reads.state();
    if (identity === null) return state === null ? null : 'no_vrf_key';
    if (state === null) {
      if (size > 0 || (await sql.run(SWITCH_ON, { ...identity, startsAt: 0 })).length === 0) return null;
      state = await reads.state();
    }
    if (state?.origin !== identity.origin || state.vrfKey !== identity.vrfKey) return 'unknown_vrf_key';
    return new MapRound(sql, identity.origin, state.backfilledTo === state.startsAt);
  }

  /** Returns true unless the last entry of the tree is a `map.root` entry. */
  async needsRoot(size: number): Promise<boolean> {
    return size > 0 && (await this.reads.rootAt(size - 1)) === null;
  }

  tiles(paths: readonly Uint8Array[]): Promise<MapRow[]> {
    return this.reads.tiles(paths);
  }

  buckets(paths: readonly Uint8Array[]): Promise<MapRow[]> {
    return this.reads.buckets(paths);
  }

  /** Takes this many new numbers of each stream. Returns the last number of each. */
  takeNumbers(counts: ReadonlyMap<string, number>): Promise<Map<string, number>> {
    return takeNumbers(this.sql, counts);
  }

  /** Stores changed rows, and the `map.root` entry if it has a place. */
  async write(rows: MapRows, rootIndex: number | null): Promise<void> {
    const { tiles, buckets, deletedBuckets, added } = rows;
    const root = toBuffer(rows.root);
    const written = { root, added, tiles: tiles.map(toRow), buckets: buckets.map(toRow) };
    if (tiles.length > 0) {
      await this.sql.run(WRITE, { ...written, deletedBuckets: deletedBuckets.map(toBuffer) });
      await this.sql.run(FORMER_THIN, { paths: [...written.tiles, ...written.buckets].map(({ path }) => path) });
    }
    if (rootIndex !== null) {
      await this.sql.run(APPEND_ROOT, { logIndex: rootIndex, root });
      await this.sql.run(FORMER_DROP, {});
    }
  }
}

/** Takes this many new numbers of each stream. Returns the last number of each. */
export async function takeNumbers(
  sql: TransactionSql,
  counts: ReadonlyMap<string, number>,
): Promise<Map<string, number>> {
  if (counts.size === 0) return new Map();
  // In one order, so that a statement on another connection never waits for half of them.
  const streams = [...counts]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([stream, count]) => ({ stream, count }));
  return new Map((await sql.run(NUMBERS, { streams })).map(({ stream, last }) => [stream, last]));
}

function toRow({ path, content }: Row): MapRow {
  return { path: toBuffer(path), content: toBuffer(content) };
}

/** The part of a batch of facts that concerns the map. */
export interface MapBatch {
  readonly map: MapRound;
  /** The subject of each fact about a grant; null for other facts. */
  readonly granted: readonly (SubjectRef | null)[];
  /** True if the batch must end with a `map.root` entry, because nothing else waits. */
  readonly endsWithRoot: boolean;
}

/** The growth of the map by a batch of facts. */
export interface MapGrowth {
  /** For each fact, the first 7 bytes of its keys. */
  readonly prefixes: readonly Buffer[];
  readonly rows: MapRows;
}
