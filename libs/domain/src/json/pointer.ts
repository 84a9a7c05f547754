import { DomainError } from '../errors';
import { MAX_POINTER_SHOWN } from '../limits';
import type { JsonObject, JsonValue } from './value';

/** The syntax of RFC 6901 section 3 as a pattern for schemas. {@link isPointer} checks the same. */
export const POINTER_PATTERN = '^(?:/(?:[^~/]|~[01])*)*$';

/**
 * Checks the syntax of a JSON Pointer (RFC 6901 section 3): empty, or starting with `/`, with `0` or `1` after each
 * `~`.
 */
export function isPointer(text: string): boolean {
  return text === '' || (text.startsWith('/') && !/~(?![01])/.test(text));
}

/**
 * Returns the unescaped reference tokens of a JSON Pointer (RFC 6901 section 4). The whole document has no tokens.
 * Throws `DomainError('validation_error')` if `text` is not a JSON Pointer.
 */
export function parsePointer(text: string): string[] {
  if (!isPointer(text)) {
    const message = 'Not a JSON Pointer (RFC 6901): start with "/", and write "~" as "~0" and "/" as "~1" in names.';
    throw new DomainError('validation_error', message, [{ path: '', message, code: 'invalid_pointer' }]);
  }
  const tokens = text.split('/').slice(1);
  return text.includes('~') ? tokens.map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~')) : tokens;
}

/** Returns the JSON Pointer for these reference tokens (RFC 6901 section 3). Inverse of `parsePointer`. */
export function formatPointer(tokens: readonly (string | number)[]): string {
  let text = '';
  for (const token of tokens) text += '/' + String(token).replaceAll('~', '~0').replaceAll('/', '~1');
  return text;
}

/** Shortens a JSON Pointer for messages and details: more than 256 characters are cut and end in `…`. */
export function shortPointer(pointer: string): string {
  if (pointer.length <= MAX_POINTER_SHOWN) return pointer;
  // Do not cut a surrogate pair in half.
  return pointer.slice(0, MAX_POINTER_SHOWN - 1).replace(/[\ud800-\udbff]$/, '') + '…';
}

/**
 * Returns the value at the reference tokens in `document`, or undefined if there is none (RFC 6901 section 4). Reads
 * own members only, so that `constructor` or `length` exist only if the document has such a key.
 */
export function getAt(document: JsonValue, tokens: readonly string[]): JsonValue | undefined {
  let value: JsonValue | undefined = document;
  for (const token of tokens) {
    if (value === undefined) return undefined;
    value = getMember(value, token);
  }
  return value;
}

/** Returns the own member or array element of `value` for one reference token, or undefined (RFC 6901 section 4). */
export function getMember(value: JsonValue, token: string): JsonValue | undefined {
  if (value === null || typeof value !== 'object') return undefined;
  if (Array.isArray(value)) return value[arrayIndex(token, value.length)];
  return Object.hasOwn(value, token) ? value[token] : undefined;
}

/** Sets an own member of any name. A plain assignment to `__proto__` would change the prototype. */
export function setMember(object: JsonObject, key: string, value: JsonValue): void {
  if (key === '__proto__') {
    Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
    return;
  }
  if (isIndexWithGap(key) && !Object.hasOwn(object, key)) storeSparsely(object);
  object[key] = value;
}

/** Checks whether a key is an integer of at least two digits, so that lower indexes may be missing. */
function isIndexWithGap(key: string): boolean {
  const first = key.charCodeAt(0);
  return first >= 0x31 && first <= 0x39 && key.length > 1 && key.length <= 10 && /^[0-9]+$/.test(key);
}

/** The largest index of V8. */
const LARGEST_INDEX = '4294967294';

/**
 * Makes V8 store integer keys in a table. Otherwise `{"1000":0}` would allocate room for 1,500 elements, a thousand
 * times the size of the input. A very large index causes this, and the table remains after the index is deleted.
 */
function storeSparsely(object: JsonObject): void {
  if (Object.hasOwn(object, LARGEST_INDEX)) return;
  object[LARGEST_INDEX] = null;
  delete object[LARGEST_INDEX];
}

/**
 * Returns the array index below `length` for a reference token of decimal digits without leading zeros (RFC 6901
 * section 4), or -1.
 */
export function arrayIndex(token: string, length: number): number {
  if (!/^(?:0|[1-9][0-9]*)$/.test(token)) return -1;
  const index = Number(token);
  return index < length ? index : -1;
}
