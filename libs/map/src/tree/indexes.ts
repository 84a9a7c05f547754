import { MapError } from '../errors';
import { MAX_LOG_INDEXES } from '../limits';

/**
 * Checks the log indexes of a key: at least one, at most `MAX_LOG_INDEXES`, ascending, none above `last`.
 *
 * @throws MapError `malformed`
 */
export function requireIndexes(logIndexes: readonly number[], last: number): void {
  const isValid =
    logIndexes.length > 0 &&
    logIndexes.length <= MAX_LOG_INDEXES &&
    logIndexes.every(
      (index, at) => Number.isSafeInteger(index) && index >= 0 && index <= last && index > (logIndexes[at - 1] ?? -1),
    );
  if (isValid) return;
  throw new MapError(
    'malformed',
    `The log indexes of a key are not 1 to ${MAX_LOG_INDEXES} ascending numbers up to ${last}.`,
  );
}
