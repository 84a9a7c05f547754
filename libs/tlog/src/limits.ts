// Limits for external input. docs/limits.md describes each, and limits.spec.ts compares the two.

/** The maximum number of leaves in a tree: sizes and indexes are exact JavaScript numbers. */
export const MAX_TREE_SIZE = Number.MAX_SAFE_INTEGER;

/** Signatures of a note: the same limit as in Go's `sumdb/note`. */
export const MAX_SIGNATURES = 100;

/** Characters of a note. There is room for a hundred post-quantum signatures and a text. */
export const MAX_NOTE_LENGTH = 1_000_000;

/** Hashes of a proof: a tree has at most this many levels (C2SP tlog-witness). */
export const MAX_PROOF_HASHES = 63;

/** Characters of a proof file. There is room for a note and an entry of a few megabytes. */
export const MAX_PROOF_LENGTH = 8_000_000;

/** Bytes of a policy file. There is room for some hundred ML-DSA-44 keys. */
export const MAX_POLICY_SIZE = 1_000_000;
