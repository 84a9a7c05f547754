/**
 * Verifies bundles and proofs of single entries without the service. `iss verify` and the page Verify of the console use it. It is a
 * separate entry point, so that callers of the service do not load it.
 */
export { type HashText, BundleVerifier, type ProvedFacts, type ProvedVersion } from './bundle/bundle-verifier.ts';
export { requireCheckpoint, type ShownCheckpoint, shownCheckpoint } from './bundle/checkpoint.ts';
export { readProofAnswer, readProofFile, verifyEntryProof } from './bundle/entry-proof.ts';
export { judged, judgedLater, RefusedError, UnreadableError } from './bundle/errors.ts';
export { type KindOfFile, kindOfFile, MAX_ENTRY_LENGTH, MAX_LINE_BYTES } from './bundle/kind-of-file.ts';
export { Members } from './bundle/members.ts';
export { readPolicy } from './bundle/policy.ts';
export { type Floor, floorOf } from './verify/floor.ts';
export type { Proved } from './bundle/proved.ts';
export type * from './bundle/types.ts';
export { type Report, reportAsJson, reportOf, type Since } from './bundle/report.ts';
