// docs/client.md lists these limits, and limits.spec.ts of the client compares the values.

/** How long a log can be behind: facts this much older than a checkpoint may be logged after it. */
export const MAX_LOG_DELAY_MS = 3_600_000;

/** How far another clock may be ahead of the local one. */
export const CLOCK_SKEW_MS = 300_000;
