// Bounds of this library; docs/client.md names each, and limits.spec.ts holds the two together.

/** A call with all its retries, unless `timeoutMs` says otherwise. */
export const DEFAULT_TIMEOUT_MS = 30_000;

/** Attempts of one call. */
export const MAX_ATTEMPTS = 5;

/** Versions whose hashes are remembered; the oldest are forgotten first. */
export const MAX_KNOWN_VERSIONS = 20_000;

/** Characters of a line of a stream: an envelope of a megabyte with its proof, and room to spare. */
export const MAX_LINE_LENGTH = 16_777_216;

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

/** How far a clock may be ahead of this one. */
export const CLOCK_SKEW_MS = 300_000;
