// docs/client.md lists these limits, and limits.spec.ts compares the values.

/** The default deadline of a call with its retries. */
export const DEFAULT_TIMEOUT_MS = 30_000;

/** The default number of attempts per call, and per import record without a result. */
export const MAX_ATTEMPTS = 5;

/** Remembered versions. The oldest are forgotten first. */
export const MAX_KNOWN_VERSIONS = 20_000;

/** The default limit of an answer, or of a line or event of a stream, after decompression. */
export const MAX_ANSWER_BYTES = 67_108_864;

/** Consecutive empty pages of a list. */
export const MAX_EMPTY_PAGES = 1_000;

/** The longest wait that the service can request. */
export const MAX_RETRY_AFTER_MS = 600_000;

/** The nesting depth of an answer: the largest depth that a deployment can allow (512), plus the surrounding members. */
export const MAX_DEPTH = 640;

/** A stream without data for this time is broken. The service sends a heartbeat every ten seconds. */
export const STREAM_IDLE_MS = 30_000;

/** Records, and approximate characters, per import request. */
export const IMPORT_LINES = 1_000;
export const IMPORT_CHARACTERS = 4_194_304;

/** Refusals listed in an import report. All are counted. */
export const MAX_REFUSALS_KEPT = 1_000;

/** How often a change is repeated on a newer version. */
export const MAX_CHANGE_ROUNDS = 8;
