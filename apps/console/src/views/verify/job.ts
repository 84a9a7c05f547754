import type { ProvedVersion, Report } from '@identity-state/client/bundle';
import type { ProofStep, VersionProof } from '../proof/steps.ts';

/** A bundle or a proof, to be verified by somebody's keys. */
export interface FileJob {
  readonly is: 'file';
  readonly file: Blob;
  /** A policy, or a log's verifier key. */
  readonly trusted: string;
  /** Of a proof that does not hold it. */
  readonly entry: string | null;
}

/** One version with its proof, step by step. */
export interface VersionJob {
  readonly is: 'version';
  readonly proof: VersionProof;
}

export type VerifyJob = FileJob | VersionJob;

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

export type VerifyResult = FileOutcome | { readonly is: 'steps'; readonly steps: readonly ProofStep[] };
