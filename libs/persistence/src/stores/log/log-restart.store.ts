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

const BEFORE = statement<NoParameters, LogBeforeRestart>('log_restart_before');

const FORMER = statement<{ origin: string }, { isFormer: boolean }>('log_restart_former');

const RESTART = statement<LogRestart, { restartId: number; entries: number }>('log_restart_begin');

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
