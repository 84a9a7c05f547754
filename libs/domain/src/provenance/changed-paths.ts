import { MAX_CHANGED_PATHS_BYTES } from '../limits';
import { jsonEquals } from '../json/equals';
import { formatPointer, getMember } from '../json/pointer';
import { isJsonObject, type JsonValue } from '../json/value';
import { ATTRIBUTES_ROOT, covers, MAX_PATHS, touches, type Visible } from '../view/paths';
import { attributesOf } from './leaves';

/**
 * Marks a stored path that stands for changed values below it, and not for its own value. No JSON Pointer ends so, because
 * `0` or `1` follows each `~` (RFC 6901, section 3).
 */
const BELOW = '~';

/** Claim names that RFC 9901 reserves. No part of a version contains members with these names. */
const RESERVED = ['_sd', '...'];

/** The changed members of an object, by escaped key. A member without members of its own changed as a whole. */
interface Changed {
  readonly members: ReadonlyMap<string, Changed>;
}

const WHOLE: Changed = { members: new Map() };

/**
 * Returns the JSON Pointers of the attributes that differ between two versions, sorted. An array counts as one value,
 * because its indexes may move. At most {@link MAX_PATHS} paths with {@link MAX_CHANGED_PATHS_BYTES} are returned. If
 * more values changed, the path of their common parent replaces theirs, and ends in `~`.
 */
export function changesBetween(base: JsonValue, next: JsonValue): string[] {
  const changed = changesOf(attributesOf(base), attributesOf(next));
  if (changed === null) return [];
  const paths: string[] = [];
  let [count, bytes] = [1, bytesOf(ATTRIBUTES_ROOT)];
  let level = [{ path: ATTRIBUTES_ROOT, changed }];
  while (level.length > 0) {
    const below: typeof level = [];
    for (const {
      path,
      changed: { members },
    } of level) {
      const parts = [...members].map(([key, part]) => ({ path: `${path}/${key}`, changed: part }));
      const more = parts.slice(0, MAX_PATHS).reduce((sum, part) => sum + bytesOf(part.path), -bytesOf(path));
      if (parts.length === 0) paths.push(path);
      else if (count + parts.length - 1 > MAX_PATHS || bytes + more > MAX_CHANGED_PATHS_BYTES) paths.push(path + BELOW);
      else {
        count += parts.length - 1;
        bytes += more;
        below.push(...parts);
      }
    }
    level = below;
  }
  return paths.sort();
}

/** Returns the size of a path in a JSON array. */
function bytesOf(path: string): number {
  return Buffer.byteLength(JSON.stringify(path)) + 1;
}

/** A value; undefined if there is none. */
type Found = JsonValue | undefined;

/** Returns null if the values are equal. */
function changesOf(before: Found, after: Found): Changed | null {
  if (before === after) return null;
  const [old, now] = [before, after].map((value) => (isJsonObject(value) ? value : undefined));
  if (old === undefined && now === undefined) return jsonEquals(before, after) ? null : WHOLE;
  const members = new Map<string, Changed>();
  for (const key of new Set([...Object.keys(old ?? {}), ...Object.keys(now ?? {})])) {
    const changed = changesOf(old && getMember(old, key), now && getMember(now, key));
    if (changed !== null) members.set(formatPointer([key]).slice(1), changed);
  }
  if (members.size > 0) return { members };
  return old === undefined || now === undefined ? WHOLE : null;
}

/**
 * Returns the changed paths that a reader may see: those that `visible` covers. If a path replaces those of values
 * below it, these are the visible paths below it. Null if everything may have changed.
 */
export function shownChanges(stored: readonly string[] | null, visible: Visible): readonly string[] | null {
  if (stored === null) return null;
  const shown = stored.flatMap((entry) => {
    const isParent = entry.endsWith(BELOW);
    const path = isParent ? entry.slice(0, -BELOW.length) : entry;
    if (visible === null) return path;
    if (path.split('/').some((key) => RESERVED.includes(key))) return [];
    if (covers(visible, path)) return path;
    return isParent ? visible.filter((one) => one.startsWith(`${path}/`)) : [];
  });
  const bytes = shown.reduce((sum, path) => sum + bytesOf(path), 0);
  return shown.length > MAX_PATHS || bytes > MAX_CHANGED_PATHS_BYTES ? null : shown.sort();
}

/** Checks whether something at, below or above the wanted paths changed. */
export function touchesChanges(wanted: Visible, shown: readonly string[] | null): boolean {
  return shown === null || shown.some((path) => touches(wanted, path));
}
