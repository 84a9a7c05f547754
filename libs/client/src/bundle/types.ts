/**
 * Copies of the types of the log library and the JSON library that the entry point `bundle` exports. The published package contains neither
 * library, so its declarations cannot import them. The compiler checks that both have the same structure.
 */

/** A JSON value (RFC 8259) as plain data. */
export type JsonValue = null | boolean | number | string | JsonValue[] | JsonObject;
export interface JsonObject {
  [key: string]: JsonValue;
}

/** A public key with its name. */
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
  /** Its name in groups and quorum of the policy. */
  readonly name: string;
}

/** A group that counts as a witness if at least `threshold` of its members do. Members are witnesses and earlier groups. */
export interface PolicyGroup {
  readonly name: string;
  readonly threshold: number;
  readonly members: readonly string[];
}

/** The keys and the quorum that make a checkpoint valid (C2SP tlog-policy). */
export interface Policy {
  readonly logs: readonly PolicyLog[];
  readonly witnesses: readonly PolicyWitness[];
  readonly groups: readonly PolicyGroup[];
  /** The witness or group that must have witnessed a checkpoint; null if none must. */
  readonly quorum: string | null;
}

/** A signed state of a log (C2SP tlog-checkpoint). */
export interface Checkpoint {
  /** The log's name. */
  readonly origin: string;
  /** The number of entries. */
  readonly size: number;
  readonly root: Uint8Array;
  readonly extensionLines: readonly string[];
}

/** A verified signature of a known key. */
export interface VerifiedSignature {
  /** The key name in the signature line. */
  readonly name: string;
  readonly keyId: number;
  readonly signature: Uint8Array;
  readonly key: VerifierKey;
  /** The time that the signer claims, in seconds since 1970; null for a type without time. */
  readonly time: number | null;
}

/** The statement of a witness that it saw this checkpoint and no contradiction. */
export interface Cosignature {
  readonly witness: PolicyWitness;
  readonly signature: VerifiedSignature;
}

/** A valid checkpoint with the signatures that the policy counts. */
export interface VerifiedCheckpoint {
  readonly checkpoint: Checkpoint;
  /** Signatures of log keys in the policy, at least one. */
  readonly logSignatures: readonly VerifiedSignature[];
  /** Signatures of witnesses in the policy. */
  readonly cosignatures: readonly Cosignature[];
}

/** A proof of one entry (C2SP tlog-proof). */
export interface LogProof {
  /** The entry, which is proved only by its hash. Null if the file has none. */
  readonly extra: Uint8Array | null;
  readonly index: number;
  /** Ordered from the sibling of the leaf to the child of the root. */
  readonly inclusion: readonly Uint8Array[];
  /** The signed note. */
  readonly checkpoint: string;
}
