import { setTimeout as pause } from 'node:timers/promises';
import { isLockRefused } from './sql/db-errors';

/**
 * The longest wait for a lock. It is short because later transactions, readers included, queue behind a waiting one. It is
 * shorter than the applications' timeout of any statement.
 */
export const LOCK_TIMEOUT_MS = 500;

/** The pause between two tries. It doubles each time, so that the queued transactions go first. */
const PAUSE_MS = { first: 200, longest: 5_000 };
/** The limit for all tries of one piece of work together. A backup may hold a lock on a table for long. */
const PATIENCE_MS = 10 * 60_000;

/**
 * Runs `work` again while it cannot acquire a lock in time. Its connection must have the `lock_timeout` {@link LOCK_TIMEOUT_MS},
 * and `work` must leave nothing behind when it fails. Calls `onRefused` after each failed try. After ten minutes, it throws the
 * last error.
 */
export async function untilLocked<T>(work: () => Promise<T>, onRefused: () => Promise<void>): Promise<T> {
  const startedAtMs = performance.now();
  for (let pauseMs = PAUSE_MS.first; ; pauseMs = Math.min(2 * pauseMs, PAUSE_MS.longest)) {
    try {
      return await work();
    } catch (error) {
      if (!isLockRefused(error) || performance.now() - startedAtMs > PATIENCE_MS) throw error;
      await onRefused();
      await pause(pauseMs);
    }
  }
}
