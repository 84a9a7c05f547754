import type { TransactionSql } from '../../sql/sql';
import { type NoParameters, statement } from '../../sql/statement';
import type { LogTree } from './log-integration.store';

/** What an operator is to know before a log is begun anew. */
export interface LogBeforeRestart extends LogTree {
  /** The name under which the log is published; null where it never was. */
  origin: string | null;
  /** Of the newest checkpoint in the database; null where there is none. */
  publishedSize: number | null;
  /** Whether marks of an earlier restart, or of before the log, are still to be integrated. */
  isBusy: boolean;
}

/** How a log is begun anew. */
export interface LogRestart {
  /** Its name from now on. */
  origin: string;
  previousOrigin: string;
  previousSize: number;
  previousRoot: Buffer;
  /** The signed note of that size. */
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

/** Begins the log anew, for whoever owns the tables. */
export class LogRestartStore {
  constructor(private readonly sql: TransactionSql) {}

  before(): Promise<LogBeforeRestart> {
    return this.sql.one(BEFORE, {});
  }

  /** Whether the log once went on under this name. */
  async isFormer(origin: string): Promise<boolean> {
    return (await this.sql.one(FORMER, { origin })).isFormer;
  }

  /**
   * Moves the tree aside, and has all of its entries, `entries` in number, wait behind the restart itself; all of it or
   * nothing. Whether that is right is for its caller to know.
   */
  restart(restart: LogRestart): Promise<{ restartId: number; entries: number }> {
    return this.sql.one(RESTART, restart);
  }
}
