import { columns, type Columns } from '../../sql/columns';
import type { Sql } from '../../sql/sql';
import { type NoParameters, statement } from '../../sql/statement';
import { FACT_AT, FACT_OF_KEYS } from './log-facts';

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
  from: Date;
  /** Null while it signs. */
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
  `SELECT ${columns(CHECKPOINT)} FROM log_checkpoints c ORDER BY c.checkpoint_id DESC LIMIT 1`,
);

const OF_SIZE = statement<{ size: number }, LogCheckpoint>(
  'log_checkpoint_of_size',
  `WITH c AS MATERIALIZED (SELECT * FROM log_checkpoints WHERE size = :size::bigint)
SELECT ${columns(CHECKPOINT)} FROM c ORDER BY c.checkpoint_id DESC LIMIT 1`,
);

/** A statement of its own: what comes after it in the transaction sees whatever was published before. */
const PUBLISH_TURN = statement(
  'log_checkpoint_turn',
  `SELECT pg_advisory_xact_lock(hashtextextended('log/checkpoints', 0))`,
);

/** Of several processes that sign, one may be late: what is published never shrinks. */
const PUBLISH = statement<Omit<LogCheckpoint, 'signedAt'>, { size: number }>(
  'log_checkpoint_publish',
  `INSERT INTO log_checkpoints (origin, size, note)
SELECT :origin, :size::bigint, :note
 WHERE coalesce((SELECT c.size FROM log_checkpoints c ORDER BY c.checkpoint_id DESC LIMIT 1), 0) <= :size::bigint
RETURNING size::float8 AS size`,
);

/** Whoever looks back further than a day finds one an hour. */
const THIN = statement<{ limit: number }, { deleted: number }>(
  'log_checkpoint_thin',
  `WITH old AS MATERIALIZED (
  SELECT c.checkpoint_id, date_trunc('hour', c.signed_at) AS hour,
         (SELECT date_trunc('hour', later.signed_at) FROM log_checkpoints later
           WHERE later.checkpoint_id > c.checkpoint_id ORDER BY later.checkpoint_id LIMIT 1) AS next_hour
    FROM log_checkpoints c
   WHERE c.signed_at < now() - interval '1 day' AND c.signed_at > now() - interval '3 days'
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
  'SELECT vkey, used_at AS "from", until_at AS until FROM log_keys ORDER BY used_at, vkey',
);

const USE_KEYS = statement<{ vkeys: readonly string[] }>(
  'log_keys_use',
  `WITH ended AS (
  UPDATE log_keys SET until_at = now() WHERE until_at IS NULL AND vkey <> ALL (:vkeys::text[])
)
INSERT INTO log_keys (vkey) SELECT unnest(:vkeys::text[])
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
  FROM (SELECT t.size, coalesce((SELECT c.size FROM log_checkpoints c ORDER BY c.checkpoint_id DESC LIMIT 1), 0) AS published
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
                            coalesce(e.erasure_id, w.erasure_id) AS erasure_id) k ON true
  ${FACT_OF_KEYS}
 CROSS JOIN LATERAL (SELECT ${FACT_AT} AS at) f`,
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

  /** Publishes a checkpoint; false where a larger one is published. */
  publish(checkpoint: Omit<LogCheckpoint, 'signedAt'>): Promise<boolean> {
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

  /** Every key that ever signed, in the order in which they came. */
  keys(): Promise<LogKey[]> {
    return this.sql.run(KEYS, {});
  }

  /** Tells that these keys, and no others, sign from now on. */
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
