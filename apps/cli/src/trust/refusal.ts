import { RefusedError, UnreadableError } from '@identity-state/client/bundle';
import { Failure, UsageError } from '../errors';

/** Does it, and says what proofs are refused for as a command says it: exit code 1, or 2 for what is no proof at all. */
export function told<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw sentenceOf(error);
  }
}

/** {@link told} for what takes its time. */
export async function toldLater<T>(work: () => Promise<T>): Promise<T> {
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
