import type { JsonObject } from '@iss/domain/pure';
import type { ProvedVersion, Report, Step, VersionEvidence } from '@iss/proof';
import type { NewestAnswer } from '@iss/proof/complete';

/** A bundle or a proof. */
export interface NamedFile {
  readonly name: string;
  readonly blob: Blob;
  /** The entry, for a proof that does not contain it. */
  readonly entry: string | null;
  /** Members that the entry of a proof must have. */
  readonly expected?: JsonObject;
  /** An older checkpoint that the reader kept. */
  readonly since?: string;
}

/** Verifies a file. */
export interface FileJob {
  readonly is: 'file';
  readonly file: NamedFile;
  /** A policy, or a log's verifier key. */
  readonly trusted: string;
}

/** Reads a version of a verified bundle. */
export interface ValuesJob {
  readonly is: 'values';
  readonly blob: Blob;
  readonly version: number;
  /** The hash that the verification computed. */
  readonly envelopeHash: string;
}

/** The content of a version, and the members of its line that no hash covers. */
export interface VersionValues {
  readonly is: 'values';
  readonly attributes: JsonObject;
  readonly unhashed: JsonObject;
}

/** Verifies a version and its proof step by step. */
export interface VersionJob {
  readonly is: 'version';
  readonly evidence: VersionEvidence;
  /** The proof of the newest version; null if the log has no map. */
  readonly newest: NewestAnswer | null;
}

export type VerifyJob = FileJob | VersionJob | ValuesJob;

/** The versions verified so far. */
export interface VerifyProgress {
  readonly versions: readonly ProvedVersion[];
  /** The count in the first line. */
  readonly of: number;
}

export type FileOutcome =
  | { readonly is: 'proved'; readonly report: Report; readonly json: object }
  /** `line` counts from 1; null if the fault is not in a line. */
  | { readonly is: 'refused' | 'unreadable'; readonly message: string; readonly line: number | null };

export type VerifyResult = FileOutcome | VersionValues | { readonly is: 'steps'; readonly steps: readonly Step[] };
