import { setTimeout as pause } from 'node:timers/promises';
import { isLockRefused } from './sql/db-errors';

/**
 * A lock that is not had by then is not waited for: whoever comes after it waits behind it, writers and readers alike.
 * Shorter than the applications' patience with any statement.
 */
export const LOCK_TIMEOUT_MS = 500;

/** Between two tries, doubled each time: those who queued go first. */
const PAUSE_MS = { first: 200, longest: 5_000 };
/** For all tries of one piece of work together: a backup may hold a table for long. */
const PATIENCE_MS = 10 * 60_000;

/**
 * Does `work` again and again while a lock that it needs is not had in time ({@link LOCK_TIMEOUT_MS}, which its connection
 * has to be set to): it must leave nothing behind then. `onRefused` hears of each try. Fails as the last one after ten minutes.
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
