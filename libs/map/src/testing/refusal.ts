import { TlogError, type TlogErrorCode } from '@iss/tlog';
import { MapError, type MapErrorCode } from '../index';

/** Returns the code of the error that `run` throws. Fails the test for an error of another class, or none. */
export function refusal(run: () => unknown): MapErrorCode | TlogErrorCode {
  try {
    run();
  } catch (error) {
    if (error instanceof MapError || error instanceof TlogError) return error.code;
    throw error;
  }
  throw new Error('It was not refused.');
}
