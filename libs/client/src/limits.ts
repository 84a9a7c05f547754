// Bounds of this library; docs/client.md names each, and limits.spec.ts holds the two together.

/** A call with all its retries, unless `timeoutMs` says otherwise. */
export const DEFAULT_TIMEOUT_MS = 30_000;

/** Attempts of one call. */
export const MAX_ATTEMPTS = 5;

/** Versions whose hashes are remembered; the oldest are forgotten first. */
export const MAX_KNOWN_VERSIONS = 20_000;

/** Bytes of an answer, of a line or an event of a stream, as decompressed, unless `maxAnswerBytes` says otherwise. */
export const MAX_ANSWER_BYTES = 67_108_864;

/** Pages of a list one after the other that have no items. */
export const MAX_EMPTY_PAGES = 1_000;

/** As long as a service is waited for that asks for it. */
export const MAX_RETRY_AFTER_MS = 600_000;

/** How deep an answer may be nested: what a deployment may let in (512) with what is around it. */
export const MAX_DEPTH = 640;

/** Nothing came on a stream for so long, in which the service says every ten seconds that it lives: it is broken. */
export const STREAM_IDLE_MS = 30_000;

/** Lines, and about as many characters, that an import sends in one request. */
export const IMPORT_LINES = 1_000;
export const IMPORT_CHARACTERS = 4_194_304;

/** Refusals that a report of an import keeps; all are counted. */
export const MAX_REFUSALS_KEPT = 1_000;

/** How often a change is made again on a newer version. */
export const MAX_CHANGE_ROUNDS = 8;

/** How long before a checkpoint something may have been written that its log does not have yet. */
export const MAX_LOG_DELAY_MS = 3_600_000;

/** How far a clock may be ahead of this one. */
export const CLOCK_SKEW_MS = 300_000;
