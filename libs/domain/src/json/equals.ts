import type { JsonValue } from './value';

/**
 * Compares two JSON values as RFC 6902 section 4.6 does: numbers by value, arrays element by element, objects by their
 * own members in any order. An absent value equals only another absent value.
 */
export function jsonEquals(a: JsonValue | undefined, b: JsonValue | undefined): boolean {
  if (a === b) return true;
  if (!a || !b || typeof a !== 'object' || typeof b !== 'object') return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
    for (let at = 0; at < a.length; at++) if (!jsonEquals(a[at], b[at])) return false;
    return true;
  }
  const keys = Object.keys(a);
  const others = Object.keys(b);
  if (keys.length !== others.length) return false;
  for (let at = 0; at < keys.length; at++) {
    const key = keys[at]!;
    if (key !== others[at] && !Object.hasOwn(b, key)) return false;
    if (!jsonEquals(a[key], b[key])) return false;
  }
  return true;
}
