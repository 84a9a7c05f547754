import { DomainError } from '../errors';
import type { JsonValue } from './value';

/**
 * The RFC 8785 (JSON Canonicalization Scheme) text of a JSON value: own members only, sorted by UTF-16 code units;
 * numbers as ECMAScript writes them, `-0` as `0`; strings with the fewest escapes; no space. Never calls `toJSON`.
 * Throws `DomainError('validation_error')` for what is not JSON: a number that is not finite, half of a surrogate pair.
 */
export function canonicalize(value: JsonValue): string {
  switch (typeof value) {
    case 'string':
      return quote(value);
    case 'number':
      if (!Number.isFinite(value)) throw notJson(`${value} is not a JSON number.`);
      return String(value);
    case 'boolean':
      return value ? 'true' : 'false';
    case 'object':
      break;
    default:
      throw notJson(`A JSON document cannot hold a value of type ${typeof value}.`);
  }
  if (value === null) return 'null';
  let text = '';
  if (Array.isArray(value)) {
    for (const element of value) text += text === '' ? canonicalize(element) : ',' + canonicalize(element);
    return '[' + text + ']';
  }
  for (const key of sorted(Object.keys(value))) {
    const member = value[key];
    if (member === undefined) throw notJson('A JSON document cannot hold undefined.');
    text += (text === '' ? '' : ',') + quoteKey(key) + canonicalize(member);
  }
  return '{' + text + '}';
}

// Documents repeat their keys. The bound keeps callers who make up keys from filling the memory.
const MAX_QUOTED_KEYS = 4096;
const quotedKeys = new Map<string, string>();

function quoteKey(key: string): string {
  let quoted = quotedKeys.get(key);
  if (quoted === undefined) {
    quoted = quote(key) + ':';
    if (quotedKeys.size >= MAX_QUOTED_KEYS) quotedKeys.clear();
    if (key.length <= 64) quotedKeys.set(key, quoted);
  }
  return quoted;
}

function quote(string: string): string {
  if (!/["\\\u0000-\u001f\ud800-\udfff]/.test(string)) return '"' + string + '"';
  if (/\p{Surrogate}/u.test(string)) throw notJson('A string holds half of a surrogate pair.');
  return JSON.stringify(string);
}

/** Sorts in place. Keys are few and often in order already: then insertion takes a fraction of what the built-in sort does. */
function sorted(keys: string[]): string[] {
  if (keys.length > 32) return keys.sort();
  for (let end = 1; end < keys.length; end++) {
    const key = keys[end]!;
    let at = end;
    for (; at > 0 && keys[at - 1]! > key; at--) keys[at] = keys[at - 1]!;
    keys[at] = key;
  }
  return keys;
}

function notJson(message: string): DomainError {
  return new DomainError('validation_error', message, [{ path: '', message, code: 'not_json' }]);
}
