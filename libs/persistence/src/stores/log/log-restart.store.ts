import type { TransactionSql } from '../../sql/sql';
import { type NoParameters, statement } from '../../sql/statement';
import type { LogTree } from './log-integration.store';

/** The state of a log that an operator sees before a restart. */
export interface LogBeforeRestart extends LogTree {
  /** The name of the published log; null if it was never published. */
  origin: string | null;
  /** The size of the newest checkpoint; null if there is none. */
  publishedSize: number | null;
  /** True while marks of an earlier restart, or of facts older than the log, await integration. */
  isBusy: boolean;
}

/** A restart of the log under a new name. */
export interface LogRestart {
  /** The new name. */
  origin: string;
  previousOrigin: string;
  previousSize: number;
  previousRoot: Buffer;
  /** The signed note of the previous size. */
  previousCheckpoint: string;
  reason: string;
}

const BEFORE = statement<NoParameters, LogBeforeRestart>(
  'log_restart_before',
  `SELECT t.size::float8 AS size, t.root, c.size::float8 AS "publishedSize",
  coalesce((SELECT r.origin FROM log_restarts r WHERE r.restart_id > 0 ORDER BY r.restart_id DESC LIMIT 1), c.origin) AS origin,
  (SELECT true FROM log_backfill b WHERE b.is_one LIMIT 1) IS TRUE
    OR (SELECT true FROM log_waiting w WHERE w.waiting_id < 0 ORDER BY w.waiting_id LIMIT 1) IS TRUE AS "isBusy"
  FROM log_tree t
  LEFT JOIN LATERAL (SELECT * FROM log_checkpoints c WHERE c.marked_at IS NULL ORDER BY (-c.checkpoint_id) LIMIT 1) c ON true
 WHERE t.is_one`,
);

const FORMER = statement<{ origin: string }, { isFormer: boolean }>(
  'log_restart_former',
  `SELECT (SELECT true FROM log_restarts r WHERE r.origin = :origin LIMIT 1) IS TRUE AS "isFormer"`,
);

const RESTART = statement<LogRestart, { restartId: number; entries: number }>(
  'log_restart_begin',
  `SELECT id::float8 AS "restartId", entries::float8 AS entries
  FROM restart_log(:origin, :previousOrigin, :previousSize::bigint, :previousRoot::bytea, :previousCheckpoint, :reason)`,
);

/** Restarts the log. For the owner of the tables. */
export class LogRestartStore {
  constructor(private readonly sql: TransactionSql) {}

  before(): Promise<LogBeforeRestart> {
    return this.sql.one(BEFORE, {});
  }

  /** Returns true if the log was once published under this name. */
  async isFormer(origin: string): Promise<boolean> {
    return (await this.sql.one(FORMER, { origin })).isFormer;
  }

  /**
   * Sets the tree aside, and queues all of its entries after the entry of the restart, in one transaction. Returns the number of
   * queued entries. The caller must know that a restart is justified.
   */
  restart(restart: LogRestart): Promise<{ restartId: number; entries: number }> {
    return this.sql.one(RESTART, restart);
  }
}
