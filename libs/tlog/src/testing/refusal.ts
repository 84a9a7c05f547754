import { TlogError, type TlogErrorCode } from '../index';

/** Returns the code of the TlogError that `run` throws. Fails the test for another error or none. */
export function refusal(run: () => unknown): TlogErrorCode {
  try {
    run();
  } catch (error) {
    if (error instanceof TlogError) return error.code;
    throw error;
  }
  throw new Error('It was not refused.');
}

/** Does the same for a promise. */
export async function refusalOf(promise: Promise<unknown>): Promise<TlogErrorCode> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof TlogError) return error.code;
    throw error;
  }
  throw new Error('It was not refused.');
}
