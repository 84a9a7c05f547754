import type { JsonObject } from '@iss/domain/pure';
import type { ProvedVersion, Report } from '@identity-state/client/bundle';
import type { ProofStep, VersionProof } from '../proof/steps.ts';

/** A bundle or a proof. */
export interface NamedFile {
  readonly name: string;
  readonly blob: Blob;
  /** The entry, for a proof that does not hold it. */
  readonly entry: string | null;
  /** Members that the entry of a proof must have: the fact that was asked about. */
  readonly expected?: JsonObject;
  /** The note of an older checkpoint that the reader kept. */
  readonly since?: string;
}

/** A file, to be verified by somebody's keys. */
export interface FileJob {
  readonly is: 'file';
  readonly file: NamedFile;
  /** A policy, or a log's verifier key. */
  readonly trusted: string;
}

/** A version of a bundle that was verified, to be read. */
export interface ValuesJob {
  readonly is: 'values';
  readonly blob: Blob;
  readonly version: number;
  /** The hash that the verification computed. */
  readonly envelopeHash: string;
}

/** The content of a version, and the members beside it that no hash covers. */
export interface VersionValues {
  readonly is: 'values';
  readonly attributes: JsonObject;
  readonly unhashed: JsonObject;
}

/** One version with its proof, step by step. */
export interface VersionJob {
  readonly is: 'version';
  readonly proof: VersionProof;
}

export type VerifyJob = FileJob | VersionJob | ValuesJob;

/** Versions that hold, as they come. */
export interface VerifyProgress {
  readonly versions: readonly ProvedVersion[];
  /** As the first line says. */
  readonly of: number;
}

export type FileOutcome =
  | { readonly is: 'proved'; readonly report: Report; readonly json: object }
  /** `line`: of the file, from 1; null where it is no matter of a line. */
  | { readonly is: 'refused' | 'unreadable'; readonly message: string; readonly line: number | null };

export type VerifyResult = FileOutcome | VersionValues | { readonly is: 'steps'; readonly steps: readonly ProofStep[] };
