import { DomainError, type ErrorDetail } from '../errors';
import { MAX_POINTER_SHOWN } from '../limits';
import { isPointer, parsePointer, shortPointer } from '../json/pointer';

/** The parts of a subject that a caller may see: null for everything, else JSON Pointers below `/attributes`. */
export type Visible = readonly string[] | null;

export const ATTRIBUTES_ROOT = '/attributes';

/** Paths of one grant or one credential. */
export const MAX_PATHS = 100;

const MAX_PATH_LENGTH = 1024;

/**
 * Returns paths sorted, without duplicates and without paths below another one. Throws `validation_error` unless there
 * are 1 to {@link MAX_PATHS} JSON Pointers (RFC 6901) below `/attributes`. Details name places below `at`.
 */
export function normalizePaths(paths: readonly string[], at = '/paths'): readonly string[] {
  const details: ErrorDetail[] = [];
  if (paths.length < 1 || paths.length > MAX_PATHS) {
    details.push({ path: at, message: `must contain 1 to ${MAX_PATHS} paths`, code: 'out_of_range' });
  }
  for (const [index, path] of paths.slice(0, MAX_PATHS).entries()) {
    const message = problemOf(path);
    if (message !== null) details.push({ path: `${at}/${index}`, message, code: 'invalid_value' });
  }
  if (details.length > 0) throw new DomainError('validation_error', 'The paths are not valid. See details.', details);
  return widest(paths);
}

function problemOf(path: string): string | null {
  if (!isPointer(path)) return 'must be a JSON Pointer (RFC 6901)';
  if (path.length > MAX_PATH_LENGTH) return `must have at most ${MAX_PATH_LENGTH} characters`;
  if (path.startsWith(`${ATTRIBUTES_ROOT}/`)) return null;
  const hint = path === '' || path === ATTRIBUTES_ROOT ? `${ATTRIBUTES_ROOT}/legal` : ATTRIBUTES_ROOT + path;
  return `must lead below ${ATTRIBUTES_ROOT}, such as ${shortPointer(hint)}`.slice(0, MAX_POINTER_SHOWN);
}

/** Returns the paths sorted by code units, without those at or below another one. */
function widest(paths: readonly string[]): readonly string[] {
  const all = new Set(paths);
  return [...all].filter((path) => !hasAncestor(all, path)).sort();
}

function hasAncestor(paths: ReadonlySet<string>, path: string): boolean {
  for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
    if (paths.has(path.slice(0, end))) return true;
  }
  return false;
}

/** Returns the union of what several grants show. */
export function unionOf(grants: readonly Visible[]): Visible {
  const paths: string[] = [];
  for (const one of grants) {
    if (one === null) return null;
    paths.push(...one);
  }
  return widest(paths);
}

/** Returns the paths that both show. */
export function intersectionOf(visible: Visible, paths: readonly string[]): readonly string[] {
  if (visible === null) return paths;
  return widest([...paths.filter((path) => covers(visible, path)), ...visible.filter((path) => covers(paths, path))]);
}

/** Checks whether `visible` covers the whole value at a JSON Pointer. */
export function covers(visible: Visible, pointer: string): boolean {
  return visible === null || visible.some((path) => pointer === path || pointer.startsWith(`${path}/`));
}

/** Checks whether something at, below or above a JSON Pointer is visible. */
export function touches(visible: Visible, pointer: string): boolean {
  return visible === null || covers(visible, pointer) || visible.some((path) => path.startsWith(`${pointer}/`));
}

/** Selected places as a tree of reference tokens. `all` selects a value with everything below it. */
export interface Selection {
  readonly all: boolean;
  readonly members: ReadonlyMap<string, Selection>;
}

/** Returns the selection below `/attributes`. */
export function selectionOf(visible: Visible): Selection {
  type Growing = { all: boolean; members: Map<string, Growing> };
  const grow = (all: boolean): Growing => ({ all, members: new Map() });
  const root = grow(visible === null);
  for (const path of visible ?? []) {
    let node = root;
    for (const token of parsePointer(path).slice(1)) {
      const next = node.members.get(token) ?? grow(false);
      node.members.set(token, next);
      node = next;
    }
    node.all = true;
  }
  return root;
}
