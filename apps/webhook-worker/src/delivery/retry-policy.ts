/** Nobody is waited for longer than this, whatever Retry-After says. */
const MAX_WAIT_MS = 86_400_000;
/** Deliveries that failed together are not repeated together. */
const JITTER = 0.2;

export interface FailedAttempt {
  /** Place of the attempt in the schedule, from 1. */
  attempt: number;
  /** What the answer's Retry-After asks for. */
  retryAfterMs: number | null;
  /** The answer was 410: the receiver wants no more. */
  isGone: boolean;
}

/** When to try again: in so many milliseconds, or never. */
export type RetryDecision = { retry: true; inMs: number } | { retry: false };

/**
 * The wait after attempt n is the schedule's nth entry, give or take a fifth, or Retry-After where that is longer (a day
 * at most). After the schedule's end, or a 410, there is no further attempt.
 *
 * @param random from [0, 1)
 */
export function decideRetry(
  { attempt, retryAfterMs, isGone }: FailedAttempt,
  scheduleMs: readonly number[],
  random: number,
): RetryDecision {
  const scheduledMs = scheduleMs[attempt - 1];
  if (isGone || scheduledMs === undefined) return { retry: false };
  const jitteredMs = scheduledMs * (1 - JITTER + 2 * JITTER * random);
  return { retry: true, inMs: Math.round(Math.min(Math.max(jitteredMs, retryAfterMs ?? 0), MAX_WAIT_MS)) };
}

/** Retry-After, RFC 9110 section 10.2.3 (seconds, or an HTTP date), in milliseconds from `nowMs`; null when it is neither. */
export function parseRetryAfter(value: string | undefined, nowMs: number): number | null {
  if (value === undefined) return null;
  const text = value.trim();
  if (/^\d{1,10}$/.test(text)) return Number(text) * 1_000;
  // Dates only: Date.parse takes much else for one.
  const atMs = /^[A-Z][a-z]{2,8},? .*\d{2}:\d{2}:\d{2}/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(atMs) ? null : Math.max(0, atMs - nowMs);
}
