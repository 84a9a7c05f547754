import { DomainError, type ErrorDetail } from '../errors';
import type { JsonValue } from '../json/value';
import { MAX_GRANT_PATHS_BYTES } from '../limits';
import { MAX_PATHS, normalizePaths } from '../view/paths';

/**
 * Returns sent paths as they are stored; null for everything. Throws `validation_error` for paths
 * that {@link normalizePaths} refuses, and for control characters.
 */
export function requireStorablePaths(sent: readonly JsonValue[] | null): readonly string[] | null {
  if (sent === null) return null;
  const texts = sent.filter(isText);
  if (texts.length < sent.length && sent.length <= MAX_PATHS) {
    throw invalid(
      sent.flatMap((path, index) => (isText(path) ? [] : [`/paths/${index}`])),
      NOT_A_TEXT,
    );
  }
  const paths = normalizePaths(texts);
  if (Buffer.byteLength(JSON.stringify(paths)) > MAX_GRANT_PATHS_BYTES) {
    throw invalid(['/paths'], `must together have at most ${MAX_GRANT_PATHS_BYTES.toLocaleString('en')} bytes`);
  }
  return paths;
}

const NOT_A_TEXT = 'must be a text without control characters';

const isText = (path: JsonValue): path is string => typeof path === 'string' && !/[\p{Cc}\p{Cs}]/u.test(path);

function invalid(places: readonly string[], message: string): DomainError {
  const details = places.map((path): ErrorDetail => ({ path, message, code: 'invalid_value' }));
  return new DomainError('validation_error', 'The paths are not valid. See details.', details);
}
