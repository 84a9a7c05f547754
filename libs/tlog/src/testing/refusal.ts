import { TlogError, type TlogErrorCode } from '../index';

/** The code of the library's error that this throws; another error, or none, fails the test. */
export function refusal(run: () => unknown): TlogErrorCode {
  try {
    run();
  } catch (error) {
    if (error instanceof TlogError) return error.code;
    throw error;
  }
  throw new Error('It was not refused.');
}

/** The same of a promise. */
export async function refusalOf(promise: Promise<unknown>): Promise<TlogErrorCode> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof TlogError) return error.code;
    throw error;
  }
  throw new Error('It was not refused.');
}
