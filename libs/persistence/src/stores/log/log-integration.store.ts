import { LOG_SALT_BYTES, type LogFact, type LogOwnFact } from '@iss/domain';
import { requireNothingHidden } from '../../schema-faults';
import type { Sql } from '../../sql/sql';
import { type NoParameters, statement } from '../../sql/statement';
import {
  FACT_OF_ENTRY,
  FACT_OF_KEYS,
  factOf,
  type FactRow,
  LOG_ENTRY_NUMBERS,
  OWN_FACT,
  OWN_FACT_OF_KEYS,
  ownFactOf,
  type OwnFactRow,
} from './log-facts';

/** The concatenated hashes of one tile (C2SP tlog-tiles). */
export interface LogTile {
  readonly level: number;
  readonly index: number;
  readonly hashes: Uint8Array;
}

/** Hashes that are appended to a tile, at `offset`. If `offset` is 0, the tile is new. */
export interface LogTileAddition extends LogTile {
  readonly offset: number;
}

/** The log's tree: the number of leaves, and the RFC 6962 root hash. */
export interface LogTree {
  size: number;
  root: Buffer;
}

/** A fact that becomes an entry. */
export type LoggedFact = LogFact | LogOwnFact;

/** The growth of the tree by a batch of facts. */
export interface LogGrowth {
  /** 16 bytes for each fact, in their order. */
  salts: Buffer;
  added: readonly LogTileAddition[];
  tree: LogTree;
}

/** The length of a SHA-256 hash. */
const HASH_BYTES = 32;

/** Locks the tree. Only one process integrates at a time; the others skip it. */
const TAKE_TREE = statement<NoParameters, LogTree & { takenAt: Date; isBackfilled: boolean }>(
  'log_tree_take',
  `SELECT size::float8 AS size, root, statement_timestamp() AS "takenAt", (SELECT true FROM log_backfill b WHERE b.is_one LIMIT 1) IS NULL AS "isBackfilled"
  FROM log_tree WHERE is_one FOR UPDATE SKIP LOCKED`,
);

const TREE = statement<NoParameters, LogTree>(
  'log_tree',
  'SELECT size::float8 AS size, root FROM log_tree WHERE is_one',
);

/** Reads the incomplete tiles: the last one of each level that has one, according to the tree's size. */
const EDGE = statement<{ size: number }, LogTile>(
  'log_tiles_edge',
  `SELECT t.level::int AS level, t.tile_index::float8 AS index, t.hashes
  FROM generate_series(0, 7) AS l(level)
 CROSS JOIN LATERAL (SELECT * FROM log_tiles t
                      WHERE t.level = l.level::smallint AND t.tile_index = :size::bigint >> 8 * (l.level + 1) LIMIT 1) t
 WHERE (:size::bigint >> 8 * l.level) % 256 > 0
 ORDER BY t.level`,
);

const WAITING = statement<{ limit: number }, FactRow & OwnFactRow & { waitingId: number }>(
  'log_waiting_take',
  `SELECT k.waiting_id::float8 AS "waitingId",
  ${FACT_OF_ENTRY},
  ${OWN_FACT}
  FROM (SELECT *, true AS names_writer, true AS names_versions FROM log_waiting ORDER BY waiting_id LIMIT :limit) k
  ${FACT_OF_KEYS}
  ${OWN_FACT_OF_KEYS}
 ORDER BY k.waiting_id`,
);

/** Turns waiting facts into entries, in their order, and stores the tree, in one statement. */
const APPEND = statement<
  {
    size: number;
    waitingIds: readonly number[];
    salts: Buffer;
    /** Complete contents. A trigger refuses a tile that does not start with its existing hashes. */
    tiles: readonly LogTile[];
    newSize: number;
    root: Buffer;
  },
  { entries: number; isNext: boolean }
>(
  'log_append',
  `WITH taken AS (
  DELETE FROM log_waiting WHERE waiting_id = ANY (:waitingIds::bigint[]) RETURNING *
), added AS (
  INSERT INTO log_entries (log_index, entry_type, subject_key, snapshot_version, grant_id, owner_change_id, grant_change_id,
                           erasure_id, restart_id, announcement_id, is_late, names_writer, names_versions, salt)
  SELECT :size::bigint + place - 1, entry_type, subject_key, snapshot_version, grant_id, owner_change_id, grant_change_id,
         erasure_id, restart_id, announcement_id, is_late,
         CASE entry_type WHEN ${LOG_ENTRY_NUMBERS['snapshot.created']} THEN true END,
         CASE entry_type WHEN ${LOG_ENTRY_NUMBERS['subject.erased']} THEN true END,
         substr(:salts::bytea, (${LOG_SALT_BYTES} * (place - 1) + 1)::int, ${LOG_SALT_BYTES})
    FROM (SELECT *, row_number() OVER (ORDER BY waiting_id) AS place FROM taken) t
   ORDER BY place
  RETURNING 1
), tiled AS (
  INSERT INTO log_tiles (level, tile_index, hashes)
  SELECT * FROM unnest(:tiles.level::int[], :tiles.index::bigint[], :tiles.hashes::bytea[])
      ON CONFLICT (level, tile_index) DO UPDATE SET hashes = excluded.hashes
), grown AS (
  UPDATE log_tree SET size = :newSize, root = :root WHERE is_one AND (size = :size::bigint) IS TRUE RETURNING 1
)
SELECT (SELECT count(*)::int FROM added) AS entries, EXISTS (SELECT FROM grown) AS "isNext"`,
);

/** Deletes marks of facts that are missing from their tables or already have an entry. */
const DROP = statement<{ waitingIds: readonly number[] }>(
  'log_waiting_drop',
  'DELETE FROM log_waiting WHERE waiting_id = ANY (:waitingIds::bigint[])',
);

/** The result of one round of {@link LogIntegrationStore.integrate}. */
export interface LogRound {
  tree: LogTree;
  /** If a round leaves nothing waiting, everything that was committed before this moment is integrated. */
  takenAt: Date;
  integrated: number;
  /** The number of marks without a fact. */
  dropped: number;
  /** True while snapshots older than the log lack marks. They come first, so nothing is integrated until then. */
  awaitsBackfill: boolean;
}

/** Turns facts into entries of the tree. */
export class LogIntegrationStore {
  constructor(private readonly sql: Sql) {}

  /**
   * Appends up to `limit` waiting facts in one transaction. Returns null while another process does so. `grow` receives the tree,
   * its incomplete tiles and the facts; it may be called more than once.
   */
  integrate(
    limit: number,
    grow: (tree: LogTree, edge: readonly LogTile[], facts: readonly LoggedFact[]) => Promise<LogGrowth>,
  ): Promise<LogRound | null> {
    return this.sql.transaction(async (sql) => {
      const [taken] = await sql.run(TAKE_TREE, {});
      if (taken === undefined) return null;
      const { isBackfilled, takenAt, ...tree } = taken;
      if (!isBackfilled) return { tree, takenAt, integrated: 0, dropped: 0, awaitsBackfill: true };
      const waiting = await sql.run(WAITING, { limit });
      const [facts, waitingIds, orphaned]: [LoggedFact[], number[], number[]] = [[], [], []];
      for (const row of waiting) {
        const fact = factOf(row) ?? ownFactOf(row);
        if (fact === null) orphaned.push(row.waitingId);
        else {
          facts.push(fact);
          waitingIds.push(row.waitingId);
        }
      }
      if (orphaned.length > 0) {
        await requireNothingHidden(sql);
        await sql.run(DROP, { waitingIds: orphaned });
      }
      if (facts.length === 0) return { tree, takenAt, integrated: 0, dropped: orphaned.length, awaitsBackfill: false };
      const { size } = tree;
      const edge = await sql.run(EDGE, { size });
      const { salts, added, tree: next } = await grow(tree, edge, facts);
      const { entries, isNext } = await sql.one(APPEND, {
        size,
        waitingIds,
        salts,
        tiles: added.map((addition) => wholeTile(edge, addition)),
        newSize: next.size,
        root: next.root,
      });
      if (entries !== facts.length || !isNext || next.size !== size + entries)
        throw new Error(`the log of ${size} took ${entries} of ${facts.length} entries`);
      return { tree: next, takenAt, integrated: entries, dropped: orphaned.length, awaitsBackfill: false };
    });
  }

  /** Returns the tree after the last complete round. */
  tree(): Promise<LogTree> {
    return this.sql.one(TREE, {});
  }
}

function wholeTile(edge: readonly LogTile[], { level, index, offset, hashes }: LogTileAddition): LogTile {
  const existing = edge.find((tile) => tile.level === level && tile.index === index)?.hashes ?? new Uint8Array(0);
  if (existing.length !== offset * HASH_BYTES)
    throw new Error(`tile ${level}/${index} has ${existing.length / HASH_BYTES} hashes and not ${offset}`);
  return { level, index, hashes: Buffer.concat([existing, hashes]) };
}
