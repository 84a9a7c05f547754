/** The longest wait, whatever Retry-After says. */
const MAX_WAIT_MS = 86_400_000;
/** Spreads the retries of deliveries that failed together. */
const JITTER = 0.2;

export interface FailedAttempt {
  /** The position of the attempt in the schedule, from 1. */
  attempt: number;
  /** The delay that the response's Retry-After asks for. */
  retryAfterMs: number | null;
  /** True if the status was 410: the receiver wants no more deliveries. */
  isGone: boolean;
}

/** When to retry: after this many milliseconds, or never. */
export type RetryDecision = { retry: true; inMs: number } | { retry: false };

/**
 * Decides the wait after attempt n: the schedule's nth entry plus or minus a fifth, or Retry-After if that is longer,
 * at most a day. After the end of the schedule, or after a 410, there is no further attempt.
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

/**
 * Returns the delay that Retry-After asks for (RFC 9110, section 10.2.3: seconds, or an HTTP date), in milliseconds
 * from `nowMs`. Returns null for anything else.
 */
export function parseRetryAfter(value: string | undefined, nowMs: number): number | null {
  if (value === undefined) return null;
  const text = value.trim();
  if (/^\d{1,10}$/.test(text)) return Number(text) * 1_000;
  // Accepts only dates, because Date.parse accepts much else.
  const atMs = /^[A-Z][a-z]{2,8},? .*\d{2}:\d{2}:\d{2}/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(atMs) ? null : Math.max(0, atMs - nowMs);
}
