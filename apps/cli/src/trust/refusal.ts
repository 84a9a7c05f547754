import { RefusedError, UnreadableError } from '@identity-state/client/bundle';
import { Failure, UsageError } from '../errors';

/** Runs work on a proof. Throws Failure (exit code 1) if the proof is refused, UsageError (2) if it is not a proof. */
export function explained<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw sentenceOf(error);
  }
}

/** The same for asynchronous work. */
export async function explainedAsync<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw sentenceOf(error);
  }
}

function sentenceOf(error: unknown): unknown {
  if (error instanceof RefusedError) return new Failure(error.message);
  if (error instanceof UnreadableError) return new UsageError(error.message);
  return error;
}
