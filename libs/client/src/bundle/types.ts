/**
 * The types of the log's and of the JSON library that the entry `bundle` shows, told anew: the published package holds neither
 * library, so that its declarations must not lead there. They are the libraries' own by structure, which the compiler checks
 * wherever this code calls those with them.
 */

/** A JSON value (RFC 8259) as plain data. */
export type JsonValue = null | boolean | number | string | JsonValue[] | JsonObject;
export interface JsonObject {
  [key: string]: JsonValue;
}

/** A public key with its name: what verifies a signer's lines. */
export interface VerifierKey {
  readonly name: string;
  readonly keyId: number;
  /** C2SP signed-note. */
  readonly type: 'ed25519' | 'ed25519-cosignature' | 'ml-dsa-44-cosignature';
  readonly publicKey: Uint8Array;
}

export interface PolicyLog {
  readonly key: VerifierKey;
  readonly url: string | null;
}
export interface PolicyWitness extends PolicyLog {
  /** What the policy calls it, in groups and quorum. */
  readonly name: string;
}

/** Witnesses a checkpoint when at least `threshold` of its members do; these are witnesses and groups before it. */
export interface PolicyGroup {
  readonly name: string;
  readonly threshold: number;
  readonly members: readonly string[];
}

/** Whose signatures make a checkpoint valid (C2SP tlog-policy). */
export interface Policy {
  readonly logs: readonly PolicyLog[];
  readonly witnesses: readonly PolicyWitness[];
  readonly groups: readonly PolicyGroup[];
  /** The witness or group that must have witnessed a checkpoint; null: none must. */
  readonly quorum: string | null;
}

/** What a log states of its tree (C2SP tlog-checkpoint). */
export interface Checkpoint {
  /** The log's name. */
  readonly origin: string;
  /** Entries. */
  readonly size: number;
  readonly root: Uint8Array;
  readonly extensionLines: readonly string[];
}

/** A line of a known key that verifies. */
export interface VerifiedSignature {
  /** Of the key, as the line has it. */
  readonly name: string;
  readonly keyId: number;
  readonly signature: Uint8Array;
  readonly key: VerifierKey;
  /** When it was made, by its signer's own word, in seconds since 1970; null for a type without time. */
  readonly time: number | null;
}

/** A witness's word that it saw this checkpoint, and nothing that contradicts it. */
export interface Cosignature {
  readonly witness: PolicyWitness;
  readonly signature: VerifiedSignature;
}

/** A checkpoint that a policy takes as valid, and by whose signatures. */
export interface VerifiedCheckpoint {
  readonly checkpoint: Checkpoint;
  /** Of the log's keys in the policy, at least one. */
  readonly logSignatures: readonly VerifiedSignature[];
  /** Of the policy's witnesses. */
  readonly cosignatures: readonly Cosignature[];
}

/** A proof of one entry (C2SP tlog-proof). */
export interface LogProof {
  /** Proved by nothing before it is hashed: here the entry. Null where there is none. */
  readonly extra: Uint8Array | null;
  readonly index: number;
  /** From the leaf's sibling to the root's child. */
  readonly inclusion: readonly Uint8Array[];
  /** The signed note. */
  readonly checkpoint: string;
}
