import type { Sql } from '../../sql/sql';
import { type NoParameters, statement } from '../../sql/statement';

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

const NEWEST = statement<NoParameters, LogCheckpoint>('log_checkpoint_newest');

const OF_SIZE = statement<{ size: number }, LogCheckpoint>('log_checkpoint_of_size');

const MARKED = statement<{ size: number }, { note: string }>('log_checkpoints_marked');

const PUBLISH_TURN = statement('log_checkpoint_turn');

/** A checkpoint to publish. Everything that was committed before `completeAt` is in it. */
type CheckpointToPublish = Omit<LogCheckpoint, 'signedAt'> & { completeAt: Date };

const PUBLISH = statement<CheckpointToPublish, { size: number }>('log_checkpoint_publish');

const THIN = statement<{ limit: number }, { deleted: number }>('log_checkpoint_thin');

const KEYS = statement<NoParameters, LogKey>('log_keys');

const UNANNOUNCED = statement<{ vkeys: readonly string[]; size: number }, { vkey: string }>('log_keys_unannounced');

const ANNOUNCE_FIRST = statement<{ vkeys: readonly string[] }, { isFirst: boolean }>('log_keys_announce_first');

const USE_KEYS = statement<{ vkeys: readonly string[] }>('log_keys_use');

/** Ends the use of those keys that are not announced. */
export const END_USE = statement<{ vkeys: readonly string[] }, { vkey: string }>('log_keys_end_use');

const POLICY = statement<NoParameters, { policy: string }>('log_policy');

const USE_POLICY = statement<{ policy: string | null }>('log_policy_use');

const RESTARTS = statement<NoParameters, { origin: string; previousOrigin: string }>('log_restarts');

const LAG = statement<NoParameters, { ageMs: number }>('log_lag');

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

  /** Publishes a checkpoint. Returns false if a larger one is published, or the log has another name by now. */
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

  /** Records that these keys sign from now on. Skips those that are not announced, and those that end meanwhile. */
  async useKeys(vkeys: readonly string[]): Promise<void> {
    await this.sql.run(USE_KEYS, { vkeys });
    await this.sql.run(END_USE, { vkeys });
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
