import { setTimeout as wait } from 'node:timers/promises';

const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 5_000;

/**
 * Repeats work that fails, after pauses that double. Returns null if it still fails when the next pause would end after the
 * deadline, a time of `Date.now()`.
 */
export async function untilDeadline<T>(
  work: () => Promise<T>,
  deadlineMs: number,
  onFailure: (error: unknown) => void,
): Promise<T | null> {
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)) {
    try {
      return await work();
    } catch (error) {
      onFailure(error);
      if (Date.now() + pauseMs > deadlineMs) return null;
      await wait(pauseMs);
    }
  }
}
