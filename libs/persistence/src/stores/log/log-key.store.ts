import type { TransactionSql } from '../../sql/sql';
import { type NoParameters, statement } from '../../sql/statement';
import { END_USE } from './log-checkpoint.store';

/** A stored checkpoint that can be marked. */
export interface MarkableCheckpoint {
  checkpointId: number;
  size: number;
  note: string;
}

const LIVE = statement<NoParameters, { vkey: string }>('log_key_live');

const ANNOUNCE = statement<{ vkey: string }, { isNew: boolean }>('log_key_announce');

const END = statement<{ vkey: string }, { vkey: string }>('log_key_end');

const OF_SIZES = statement<{ from: number; to: number; after: number; limit: number }, MarkableCheckpoint>(
  'log_key_checkpoints',
);

const MARK = statement<{ checkpointIds: readonly number[] }, { marked: number }>('log_key_mark');

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
    const ended = await this.sql.run(END, { vkey });
    const unused = await this.sql.run(END_USE, { vkeys: [vkey] });
    return ended.length > 0 || unused.length > 0;
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
