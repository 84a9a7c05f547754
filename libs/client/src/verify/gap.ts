import { VerificationError } from '../errors.ts';

/** Says between which places of a history versions are left out. */
export function gap(subjectId: string, from: number | string, to: number | string): VerificationError {
  return new VerificationError('gap', `Versions of ${subjectId} are left out, from ${from} to ${to}.`);
}
