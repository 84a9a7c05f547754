import type { VerifiedCheckpoint } from './types.ts';

/** The result of a successful verification. */
export interface Proved {
  readonly verified: VerifiedCheckpoint;
  /** The result as rows of text. */
  readonly shown: readonly (readonly [heading: string, text: string])[];
  /** The same as data. */
  readonly json: Readonly<Record<string, unknown>>;
}
