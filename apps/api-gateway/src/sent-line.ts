import type { DomainError } from '@iss/domain';

/** What became of something that was asked for in company: why not, and for programs when to try again. */
export interface LineRefusal {
  error: DomainError;
  retryAfterSeconds?: number;
  /** Replaces the status of the error's code. */
  status?: number;
}

/** A line of a batch, numbered from 1 as its sender counts them: what it says, or why it was not even looked at. */
export type SentLine = { line: number } & ({ bytes: Uint8Array } | { refusal: LineRefusal });
