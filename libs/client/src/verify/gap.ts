import { VerificationError } from '../errors.ts';

/** Returns the error for versions that are missing in a history. */
export function gap(subjectId: string, from: number | string, to: number | string): VerificationError {
  return new VerificationError('gap', `Versions of ${subjectId} are missing, from ${from} to ${to}.`);
}
