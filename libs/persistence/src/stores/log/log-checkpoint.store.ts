import { columns, type Columns } from '../../sql/columns';
import type { Sql } from '../../sql/sql';
import { type NoParameters, statement } from '../../sql/statement';
import { FACT_AT, FACT_OF_KEYS, OWN_FACT_AT, OWN_FACT_OF_KEYS } from './log-facts';

/** A published checkpoint. */
export interface LogCheckpoint {
  origin: string;
  /** Leaves of the tree that it is of. */
  size: number;
  /** The signed note, cosignatures included (C2SP tlog-checkpoint). */
  note: string;
  signedAt: Date;
}

/** A verifier key of the log, with the time for which it signed. */
export interface LogKey {
  /** C2SP signed-note: `<name>+<hash>+<key>`. */
  vkey: string;
  /** Null for an announced key that has not signed yet. */
  from: Date | null;
  /** Null until the key is ended. */
  until: Date | null;
}

const CHECKPOINT: Columns<LogCheckpoint> = {
  origin: 'c.origin',
  size: 'c.size::float8',
  note: 'c.note',
  signedAt: 'c.signed_at',
};

const NEWEST = statement<NoParameters, LogCheckpoint>(
  'log_checkpoint_newest',
  `SELECT ${columns(CHECKPOINT)} FROM log_checkpoints c WHERE c.marked_at IS NULL ORDER BY (-c.checkpoint_id) LIMIT 1`,
);

const OF_SIZE = statement<{ size: number }, LogCheckpoint>(
  'log_checkpoint_of_size',
  `WITH c AS MATERIALIZED (SELECT * FROM log_checkpoints WHERE size = :size::bigint)
SELECT ${columns(CHECKPOINT)} FROM c WHERE c.marked_at IS NULL ORDER BY c.checkpoint_id DESC LIMIT 1`,
);

const MARKED = statement<{ size: number }, { note: string }>(
  'log_checkpoints_marked',
  'SELECT c.note FROM log_checkpoints c WHERE c.size = :size::bigint AND c.marked_at IS NOT NULL',
);

/** A statement of its own: what comes after it in the transaction sees whatever was published before. */
const PUBLISH_TURN = statement(
  'log_checkpoint_turn',
  `SELECT pg_advisory_xact_lock(hashtextextended('log/checkpoints', 0))`,
);

/** A checkpoint that may be published, and the time before which whatever was committed is in it. */
type CheckpointToPublish = Omit<LogCheckpoint, 'signedAt'> & { completeAt: Date };

/** Of several processes that sign, one may be late: what is published never shrinks. */
const PUBLISH = statement<CheckpointToPublish, { size: number }>(
  'log_checkpoint_publish',
  `INSERT INTO log_checkpoints (origin, size, note, complete_at)
SELECT :origin, :size::bigint, :note, :completeAt::timestamptz
 WHERE coalesce((SELECT c.size FROM log_checkpoints c WHERE c.marked_at IS NULL
                  ORDER BY (-c.checkpoint_id) LIMIT 1), 0) <= :size::bigint
RETURNING size::float8 AS size`,
);

/** Whoever looks back further than a day finds one an hour. Marked ones stay. */
const THIN = statement<{ limit: number }, { deleted: number }>(
  'log_checkpoint_thin',
  `WITH old AS MATERIALIZED (
  SELECT c.checkpoint_id, date_trunc('hour', c.signed_at) AS hour,
         (SELECT date_trunc('hour', later.signed_at) FROM log_checkpoints later
           WHERE later.checkpoint_id > c.checkpoint_id AND (later.marked_at IS NULL) IS TRUE
           ORDER BY later.checkpoint_id LIMIT 1) AS next_hour
    FROM log_checkpoints c
   WHERE c.signed_at < now() - interval '1 day' AND c.signed_at > now() - interval '3 days' AND (c.marked_at IS NULL) IS TRUE
   ORDER BY c.signed_at
), deleted AS (
  DELETE FROM log_checkpoints WHERE checkpoint_id = ANY (ARRAY(
    SELECT checkpoint_id FROM old WHERE hour = next_hour ORDER BY checkpoint_id LIMIT :limit))
  RETURNING 1
)
SELECT count(*)::int AS deleted FROM deleted`,
);

const KEYS = statement<NoParameters, LogKey>(
  'log_keys',
  `SELECT vkey, used_at AS "from", until_at AS until FROM log_keys
 UNION ALL
SELECT a.vkey, NULL, NULL FROM log_key_announcements a
 WHERE a.ended_at IS NULL AND (SELECT true FROM log_keys k WHERE k.vkey = a.vkey LIMIT 1) IS NULL
 ORDER BY "from" NULLS LAST, vkey`,
);

const LIVE_ANNOUNCEMENT = `SELECT * FROM log_key_announcements a WHERE a.vkey = i.vkey AND a.ended_at IS NULL LIMIT 1`;

const UNANNOUNCED = statement<{ vkeys: readonly string[]; size: number }, { vkey: string }>(
  'log_keys_unannounced',
  `SELECT i.vkey
  FROM unnest(:vkeys::text[]) WITH ORDINALITY AS i(vkey, ord)
  LEFT JOIN LATERAL (${LIVE_ANNOUNCEMENT}) a ON true
  LEFT JOIN LATERAL (SELECT * FROM log_entries e WHERE e.announcement_id = a.announcement_id LIMIT 1) e ON true
 WHERE (a.is_first OR e.log_index < :size::bigint) IS NOT TRUE
 ORDER BY i.ord`,
);

const ANNOUNCE_FIRST = statement<{ vkeys: readonly string[] }, { isFirst: boolean }>(
  'log_keys_announce_first',
  'SELECT announce_first_log_keys(:vkeys::text[]) AS "isFirst"',
);

/** A key that was ended meanwhile does not come back. */
const USE_KEYS = statement<{ vkeys: readonly string[] }>(
  'log_keys_use',
  `INSERT INTO log_keys (vkey)
SELECT a.vkey FROM unnest(:vkeys::text[]) AS i(vkey) CROSS JOIN LATERAL (${LIVE_ANNOUNCEMENT}) a
    ON CONFLICT (vkey) DO UPDATE SET until_at = NULL WHERE log_keys.until_at IS NOT NULL`,
);

const POLICY = statement<NoParameters, { policy: string }>('log_policy', 'SELECT policy FROM log_policy WHERE is_one');

const USE_POLICY = statement<{ policy: string | null }>(
  'log_policy_use',
  `WITH gone AS (
  DELETE FROM log_policy WHERE is_one AND :policy::text IS NULL
)
INSERT INTO log_policy (policy) SELECT :policy::text WHERE :policy::text IS NOT NULL
    ON CONFLICT (is_one) DO UPDATE SET policy = excluded.policy`,
);

const RESTARTS = statement<NoParameters, { origin: string; previousOrigin: string }>(
  'log_restarts',
  'SELECT origin, previous_origin AS "previousOrigin" FROM log_restarts ORDER BY restart_id',
);

/** The fact that is the next one to be published: the tree's first entry beyond the newest checkpoint, else what waits longest. */
const LAG = statement<NoParameters, { ageMs: number }>(
  'log_lag',
  `SELECT coalesce(extract(epoch FROM clock_timestamp() - f.at) * 1000, 0)::float8 AS "ageMs"
  FROM (SELECT t.size, coalesce((SELECT c.size FROM log_checkpoints c WHERE c.marked_at IS NULL
                                    ORDER BY (-c.checkpoint_id) LIMIT 1), 0) AS published
          FROM log_tree t WHERE t.is_one) tree
 CROSS JOIN LATERAL (SELECT tree.size - tree.published AS entries) p
  LEFT JOIN LATERAL (SELECT * FROM log_entries e WHERE e.log_index = tree.published LIMIT 1) e ON p.entries > 0
  LEFT JOIN LATERAL (SELECT * FROM log_waiting ORDER BY waiting_id LIMIT 1) w ON p.entries <= 0
  LEFT JOIN LATERAL (SELECT coalesce(e.subject_key, w.subject_key) AS subject_key,
                            coalesce(e.snapshot_version, w.snapshot_version) AS snapshot_version,
                            coalesce(e.grant_id, w.grant_id) AS grant_id,
                            coalesce(e.entry_type, w.entry_type) AS entry_type,
                            coalesce(e.grant_change_id, w.grant_change_id) AS grant_change_id,
                            coalesce(e.owner_change_id, w.owner_change_id) AS owner_change_id,
                            coalesce(e.erasure_id, w.erasure_id) AS erasure_id,
                            coalesce(e.restart_id, w.restart_id) AS restart_id,
                            coalesce(e.announcement_id, w.announcement_id) AS announcement_id) k ON true
  ${FACT_OF_KEYS}
  ${OWN_FACT_OF_KEYS}
 CROSS JOIN LATERAL (SELECT coalesce(${FACT_AT}, ${OWN_FACT_AT}) AS at) f`,
);

/** What the log has published. */
export class LogCheckpointStore {
  constructor(private readonly sql: Sql) {}

  /** The checkpoint that is served; null before the first one. */
  async newest(): Promise<LogCheckpoint | null> {
    const [newest = null] = await this.sql.run(NEWEST, {});
    return newest;
  }

  /** The newest one of exactly this size, where it is kept; else null. */
  async ofSize(size: number): Promise<LogCheckpoint | null> {
    const [found = null] = await this.sql.run(OF_SIZE, { size });
    return found;
  }

  /** The notes of this size that are marked as signed by mistake. */
  async marked(size: number): Promise<string[]> {
    return (await this.sql.run(MARKED, { size })).map(({ note }) => note);
  }

  /** Publishes a checkpoint; false where a larger one is published. */
  publish(checkpoint: CheckpointToPublish): Promise<boolean> {
    return this.sql.transaction(async (sql) => {
      await sql.run(PUBLISH_TURN, {});
      return (await sql.run(PUBLISH, checkpoint)).length > 0;
    });
  }

  /** Deletes up to `limit` of those that are older than a day, but for the last one of each hour; answers how many. */
  async thin(limit: number): Promise<number> {
    return (await this.sql.one(THIN, { limit })).deleted;
  }

  /** For how many milliseconds the oldest fact that is not published has been committed; 0 when all are. */
  async lagMs(): Promise<number> {
    return Math.max(0, (await this.sql.one(LAG, {})).ageMs);
  }

  /** Every key that ever signed, in the order in which they came, and those that are announced to sign. */
  keys(): Promise<LogKey[]> {
    return this.sql.run(KEYS, {});
  }

  /**
   * Returns those of the keys that may not sign a tree of this size: no announcement of them is live, or its entry is not in
   * that tree.
   */
  async unannounced(vkeys: readonly string[], size: number): Promise<string[]> {
    return (await this.sql.run(UNANNOUNCED, { vkeys, size })).map(({ vkey }) => vkey);
  }

  /** Announces the keys that a log begins with. Returns false where the log has begun. */
  async announceFirst(vkeys: readonly string[]): Promise<boolean> {
    return (await this.sql.one(ANNOUNCE_FIRST, { vkeys })).isFirst;
  }

  /** Records that these keys sign from now on; those that are not announced are left out. */
  async useKeys(vkeys: readonly string[]): Promise<void> {
    await this.sql.run(USE_KEYS, { vkeys });
  }

  /** Under which names the log was begun anew, each with the one before, in their order. */
  restarts(): Promise<{ origin: string; previousOrigin: string }[]> {
    return this.sql.run(RESTARTS, {});
  }

  /** Whose cosignatures published checkpoints have (C2SP tlog-policy); null where none is asked for. */
  async policy(): Promise<string | null> {
    const [found] = await this.sql.run(POLICY, {});
    return found?.policy ?? null;
  }

  /** Tells whose cosignatures checkpoints have from now on. */
  async usePolicy(policy: string | null): Promise<void> {
    await this.sql.run(USE_POLICY, { policy });
  }
}
