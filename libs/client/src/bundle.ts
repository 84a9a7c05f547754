/**
 * Verifies bundles and proofs of single entries without the service. This is a separate entry point, so that programs
 * that only call the service do not load it.
 */
export {
  BundleVerifier,
  type Floor,
  floorOf,
  type HashText,
  judged,
  judgedLater,
  type KindOfFile,
  kindOfFile,
  MAX_ENTRY_LENGTH,
  MAX_LINE_BYTES,
  Members,
  type Proved,
  type ProvedFacts,
  type ProvedVersion,
  readPolicy,
  readProofAnswer,
  readProofFile,
  type Report,
  reportAsJson,
  reportOf,
  requireCheckpoint,
  type ShownCheckpoint,
  shownCheckpoint,
  type Since,
  UnreadableError,
  VerificationError as RefusedError,
  verifyEntryProof,
} from '@iss/proof';
export type {
  Checkpoint,
  Cosignature,
  LogProof,
  Policy,
  PolicyGroup,
  PolicyLog,
  PolicyWitness,
  VerifiedCheckpoint,
  VerifiedSignature,
  VerifierKey,
} from '@iss/tlog';
export type { JsonObject, JsonValue } from '@iss/domain/pure';
