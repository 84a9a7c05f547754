import type { TransactionSql } from '../../sql/sql';
import { type NoParameters, statement } from '../../sql/statement';

/** A stored checkpoint that can be marked. */
export interface MarkableCheckpoint {
  checkpointId: number;
  size: number;
  note: string;
}

const LIVE = statement<NoParameters, { vkey: string }>(
  'log_key_live',
  'SELECT vkey FROM log_key_announcements WHERE ended_at IS NULL ORDER BY vkey',
);

const ANNOUNCE = statement<{ vkey: string }, { isNew: boolean }>(
  'log_key_announce',
  `INSERT INTO log_key_announcements (vkey) VALUES (:vkey)
    ON CONFLICT (vkey) WHERE ended_at IS NULL DO NOTHING RETURNING true AS "isNew"`,
);

const END = statement<{ vkey: string }, { isEnded: boolean }>(
  'log_key_end',
  `WITH announced AS (
  UPDATE log_key_announcements SET ended_at = now(), ended_by = session_user
   WHERE vkey = :vkey AND ended_at IS NULL RETURNING 1
), used AS (
  UPDATE log_keys SET until_at = now() WHERE vkey = :vkey AND (until_at IS NULL) IS TRUE RETURNING 1
)
SELECT EXISTS (SELECT FROM announced) OR EXISTS (SELECT FROM used) AS "isEnded"`,
);

const OF_SIZES = statement<{ from: number; to: number; after: number; limit: number }, MarkableCheckpoint>(
  'log_key_checkpoints',
  `WITH c AS MATERIALIZED (
  SELECT * FROM log_checkpoints WHERE size BETWEEN :from::bigint AND :to::bigint
)
SELECT c.checkpoint_id::float8 AS "checkpointId", c.size::float8 AS size, c.note FROM c
 WHERE c.marked_at IS NULL AND c.checkpoint_id > :after::bigint
 ORDER BY c.checkpoint_id LIMIT :limit`,
);

const MARK = statement<{ checkpointIds: readonly number[] }, { marked: number }>(
  'log_key_mark',
  `WITH marked AS (
  UPDATE log_checkpoints SET marked_at = now(), marked_by = session_user
   WHERE checkpoint_id = ANY (:checkpointIds::bigint[]) AND (marked_at IS NULL) IS TRUE RETURNING 1
)
SELECT count(*)::int AS marked FROM marked`,
);

/** Announces and ends keys of the log, and marks checkpoints. For the owner of the tables. */
export class LogKeyStore {
  constructor(private readonly sql: TransactionSql) {}

  /** Returns the keys that may sign. */
  async live(): Promise<string[]> {
    return (await this.sql.run(LIVE, {})).map(({ vkey }) => vkey);
  }

  /** Announces a key, which the log then records. Returns false if it is announced already. */
  async announce(vkey: string): Promise<boolean> {
    return (await this.sql.run(ANNOUNCE, { vkey })).length > 0;
  }

  /** Ends a key, so that no worker signs with it any more. Returns false if it is unknown or has ended. */
  async end(vkey: string): Promise<boolean> {
    return (await this.sql.one(END, { vkey })).isEnded;
  }

  /** Returns up to `limit` unmarked checkpoints with sizes from `from` to `to` inclusive and ids larger than `after`. */
  checkpoints(from: number, to: number, after: number, limit: number): Promise<MarkableCheckpoint[]> {
    return this.sql.run(OF_SIZES, { from, to, after, limit });
  }

  /** Marks checkpoints as signed by mistake. Returns the number of new marks. */
  async mark(checkpointIds: readonly number[]): Promise<number> {
    return (await this.sql.one(MARK, { checkpointIds })).marked;
  }
}
