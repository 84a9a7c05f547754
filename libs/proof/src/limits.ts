// docs/client.md lists these limits, and limits.spec.ts of the client compares the values.

/**
 * The maximum delay of a log. A fact that is older than a checkpoint by no more than this may be logged after that
 * checkpoint.
 */
export const MAX_LOG_DELAY_MS = 3_600_000;

/** How far another clock may be ahead of the local one. */
export const CLOCK_SKEW_MS = 300_000;
