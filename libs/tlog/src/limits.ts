// What is read from others has bounds; docs/limits.md names each, and limits.spec.ts holds the two together.

/** The most leaves that a tree of this library has: sizes and indexes are exact JavaScript numbers. */
export const MAX_TREE_SIZE = Number.MAX_SAFE_INTEGER;

/** Signatures of a note: as many as Go's `sumdb/note` reads. */
export const MAX_SIGNATURES = 100;

/** Characters of a note: a hundred post-quantum signatures and a text, with room to spare. */
export const MAX_NOTE_LENGTH = 1_000_000;

/** Hashes of a proof: a tree has no more levels (C2SP tlog-witness). */
export const MAX_PROOF_HASHES = 63;

/** Characters of a proof file: a note, and an entry of a few megabytes beside it. */
export const MAX_PROOF_LENGTH = 8_000_000;

/** Bytes of a policy file: some hundred ML-DSA-44 keys. */
export const MAX_POLICY_SIZE = 1_000_000;
