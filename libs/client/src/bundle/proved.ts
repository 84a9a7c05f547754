import type { VerifiedCheckpoint } from './types.ts';

/** What a file proves; the verification of it throws for one that proves nothing. */
export interface Proved {
  readonly verified: VerifiedCheckpoint;
  /** What it is, in words, under their headings. */
  readonly shown: readonly (readonly [heading: string, text: string])[];
  /** The same for machines. */
  readonly json: Readonly<Record<string, unknown>>;
}
