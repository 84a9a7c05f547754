import { DomainError } from '../errors';
import { isPointer } from '../json/pointer';
import type { JsonValue } from '../json/value';
import { MAX_GRANT_PATHS, MAX_GRANT_PATHS_BYTES } from '../limits';

/** The parent of all paths of grants. */
const ATTRIBUTES = '/attributes/';

/** Returns distinct paths, sorted, without those below another one. */
export function widestPaths(paths: readonly string[]): string[] {
  const all = new Set(paths);
  return [...all].filter((path) => !parentsOf(path).some((parent) => all.has(parent))).sort();
}

function parentsOf(path: string): string[] {
  const parents: string[] = [];
  for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) parents.push(path.slice(0, end));
  return parents;
}

/**
 * Returns the paths of a grant as they are stored; null for a grant of everything. Throws `validation_error` unless they
 * are JSON Pointers below `/attributes`.
 */
export function requireGrantPaths(paths: readonly JsonValue[] | null): string[] | null {
  if (paths === null) return null;
  if (paths.length === 0 || paths.length > MAX_GRANT_PATHS) {
    throw invalid('/paths', `must contain 1 to ${MAX_GRANT_PATHS} paths; leave it out, or send null, for everything`);
  }
  const valid = paths.filter(isGrantPath);
  if (valid.length < paths.length) {
    const problems = paths.flatMap((path, index) => (isGrantPath(path) ? [] : [detail(`/paths/${index}`, NOT_A_PATH)]));
    throw new DomainError('validation_error', `A path ${NOT_A_PATH}.`, problems);
  }
  const widest = widestPaths(valid);
  if (Buffer.byteLength(JSON.stringify(widest)) > MAX_GRANT_PATHS_BYTES) {
    throw invalid('/paths', `must together have at most ${MAX_GRANT_PATHS_BYTES.toLocaleString('en')} bytes`);
  }
  return widest;
}

const NOT_A_PATH =
  'must be a JSON Pointer below /attributes without control characters, for example /attributes/legal/legal_name';

const isGrantPath = (path: JsonValue): path is string =>
  typeof path === 'string' && isPointer(path) && path.startsWith(ATTRIBUTES) && !/[\p{Cc}\p{Cs}]/u.test(path);

const detail = (path: string, message: string) => ({ path, message, code: 'invalid_value' as const });

function invalid(path: string, message: string): DomainError {
  return new DomainError('validation_error', `${path.slice(1)} ${message}.`, [detail(path, message)]);
}
