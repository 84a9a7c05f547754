import { columns, type Columns } from '../../sql/columns';
import type { Sql } from '../../sql/sql';
import { type NoParameters, statement } from '../../sql/statement';
import { FACT_AT, FACT_OF_KEYS, OWN_FACT_AT, OWN_FACT_OF_KEYS } from './log-facts';

/** A published checkpoint. */
export interface LogCheckpoint {
  origin: string;
  /** The number of leaves in its tree. */
  size: number;
  /** The signed note with its cosignatures (C2SP tlog-checkpoint). */
  note: string;
  signedAt: Date;
}

/** A verifier key of the log, and the time during which it signed. */
export interface LogKey {
  /** C2SP signed-note: `<name>+<hash>+<key>`. */
  vkey: string;
  /** Null for an announced key that has not signed yet. */
  from: Date | null;
  /** Null until the key ends. */
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

/** A separate statement, so that later statements of the transaction see everything that was published before. */
const PUBLISH_TURN = statement(
  'log_checkpoint_turn',
  `SELECT pg_advisory_xact_lock(hashtextextended('log/checkpoints', 0))`,
);

/** A checkpoint to publish. Everything that was committed before `completeAt` is in it. */
type CheckpointToPublish = Omit<LogCheckpoint, 'signedAt'> & { completeAt: Date };

/** Publishes a checkpoint unless a larger one is published, because one of several signing processes may be late. */
const PUBLISH = statement<CheckpointToPublish, { size: number }>(
  'log_checkpoint_publish',
  `INSERT INTO log_checkpoints (origin, size, note, complete_at)
SELECT :origin, :size::bigint, :note, :completeAt::timestamptz
 WHERE coalesce((SELECT c.size FROM log_checkpoints c WHERE c.marked_at IS NULL
                  ORDER BY (-c.checkpoint_id) LIMIT 1), 0) <= :size::bigint
RETURNING size::float8 AS size`,
);

/** Deletes checkpoints of the second and third day, except for the last one of each hour. Marked ones stay. */
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

/** Records keys in use. A key that ended meanwhile stays ended. */
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

/**
 * Returns the age of the next fact to publish: the tree's first entry after the newest checkpoint, else the oldest waiting fact.
 */
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

/** Published checkpoints, keys and policies of the log. */
export class LogCheckpointStore {
  constructor(private readonly sql: Sql) {}

  /** Returns the newest checkpoint; null before the first one. */
  async newest(): Promise<LogCheckpoint | null> {
    const [newest = null] = await this.sql.run(NEWEST, {});
    return newest;
  }

  /** Returns the newest stored checkpoint of exactly this size, or null. */
  async ofSize(size: number): Promise<LogCheckpoint | null> {
    const [found = null] = await this.sql.run(OF_SIZE, { size });
    return found;
  }

  /** Returns the notes of this size that are marked as signed by mistake. */
  async marked(size: number): Promise<string[]> {
    return (await this.sql.run(MARKED, { size })).map(({ note }) => note);
  }

  /** Publishes a checkpoint. Returns false if a larger one is published. */
  publish(checkpoint: CheckpointToPublish): Promise<boolean> {
    return this.sql.transaction(async (sql) => {
      await sql.run(PUBLISH_TURN, {});
      return (await sql.run(PUBLISH, checkpoint)).length > 0;
    });
  }

  /** Deletes up to `limit` checkpoints that are older than a day, except for the last one of each hour. Returns their number. */
  async thin(limit: number): Promise<number> {
    return (await this.sql.one(THIN, { limit })).deleted;
  }

  /** Returns the age in milliseconds of the oldest unpublished fact; 0 if all are published. */
  async lagMs(): Promise<number> {
    return Math.max(0, (await this.sql.one(LAG, {})).ageMs);
  }

  /** Returns every key that has signed, in the order of first use, and then those that are announced. */
  keys(): Promise<LogKey[]> {
    return this.sql.run(KEYS, {});
  }

  /**
   * Returns the keys that may not sign a tree of this size, because they have no live announcement or its entry is not in that
   * tree.
   */
  async unannounced(vkeys: readonly string[], size: number): Promise<string[]> {
    return (await this.sql.run(UNANNOUNCED, { vkeys, size })).map(({ vkey }) => vkey);
  }

  /** Announces the first keys of a log. Returns false if the log has checkpoints or announced keys already. */
  async announceFirst(vkeys: readonly string[]): Promise<boolean> {
    return (await this.sql.one(ANNOUNCE_FIRST, { vkeys })).isFirst;
  }

  /** Records that these keys sign from now on. Skips those that are not announced. */
  async useKeys(vkeys: readonly string[]): Promise<void> {
    await this.sql.run(USE_KEYS, { vkeys });
  }

  /** Returns the name of each restarted log with the previous name, in their order. */
  restarts(): Promise<{ origin: string; previousOrigin: string }[]> {
    return this.sql.run(RESTARTS, {});
  }

  /** Returns the policy that published checkpoints satisfy with their cosignatures (C2SP tlog-policy); null if there is none. */
  async policy(): Promise<string | null> {
    const [found] = await this.sql.run(POLICY, {});
    return found?.policy ?? null;
  }

  /** Sets the policy for the cosignatures of later checkpoints. */
  async usePolicy(policy: string | null): Promise<void> {
    await this.sql.run(USE_POLICY, { policy });
  }
}
