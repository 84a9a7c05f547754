/** Bytes of a key of the map, of a hash, and of a VRF public key. */
export const KEY_SIZE = 32;

/** The largest number in a stream. */
export const MAX_NEWEST = 2 ** 31 - 1;

/** The largest number that a ladder asks for: the next power of two. */
export const MAX_NUMBER = 2 ** 31;

/** Look-ups of one proof. A ladder to the largest number has fewer. */
export const MAX_LOOK_UPS = 64;

/** Look-ups of the records that one answer shows. */
export const MAX_RECORD_LOOK_UPS = 1_024;

/** Log indexes of one key. Honest logs have one. */
export const MAX_LOG_INDEXES = 16;

/** Levels of a path: one for each bit of a key. */
export const MAX_PATH_LEVELS = 256;

/** Characters of the checkpoint in a proof (as `MAX_NOTE_LENGTH` of `@iss/tlog`). */
export const MAX_CHECKPOINT_LENGTH = 1_000_000;
