import type { DomainError } from '@iss/domain';

/** Why one line of a batch was refused, and when to retry. */
export interface LineRefusal {
  error: DomainError;
  retryAfterSeconds?: number;
  /** Replaces the status of the error's code. */
  status?: number;
}

/** One line of a batch, numbered from 1: its bytes, or why it was refused before parsing. */
export type SentLine = { line: number } & ({ bytes: Uint8Array } | { refusal: LineRefusal });
