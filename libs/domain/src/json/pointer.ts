import { DomainError } from '../errors';
import { MAX_POINTER_SHOWN } from '../limits';
import type { JsonObject, JsonValue } from './value';

/** The syntax of RFC 6901 section 3, for readers of a schema: what {@link isPointer} says without a regular expression. */
export const POINTER_PATTERN = '^(?:/(?:[^~/]|~[01])*)*$';

/** Whether `text` has the syntax of a JSON Pointer (RFC 6901 section 3): empty, or `/` first and every `~` followed by `0` or `1`. */
export function isPointer(text: string): boolean {
  return text === '' || (text.startsWith('/') && !/~(?![01])/.test(text));
}

/**
 * The unescaped reference tokens of a JSON Pointer (RFC 6901 section 4); none for the whole document.
 * Throws `DomainError('validation_error')` when `text` is not a JSON Pointer.
 */
export function parsePointer(text: string): string[] {
  if (!isPointer(text)) {
    const message = 'Not a JSON Pointer (RFC 6901): start with "/", and write "~" as "~0" and "/" as "~1" in names.';
    throw new DomainError('validation_error', message, [{ path: '', message, code: 'invalid_pointer' }]);
  }
  const tokens = text.split('/').slice(1);
  return text.includes('~') ? tokens.map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~')) : tokens;
}

/** The JSON Pointer for these reference tokens: the inverse of `parsePointer` (RFC 6901 section 3). */
export function formatPointer(tokens: readonly (string | number)[]): string {
  let text = '';
  for (const token of tokens) text += '/' + String(token).replaceAll('~', '~0').replaceAll('/', '~1');
  return text;
}

/** A JSON Pointer as messages and details show it: one of more than 256 characters is cut, and ends in `…`. */
export function shortPointer(pointer: string): string {
  if (pointer.length <= MAX_POINTER_SHOWN) return pointer;
  // Half of a surrogate pair is no character.
  return pointer.slice(0, MAX_POINTER_SHOWN - 1).replace(/[\ud800-\udbff]$/, '') + '…';
}

/**
 * The value that the reference tokens name in `document`, or undefined when there is none (RFC 6901 section 4).
 * Sees own members only, so `constructor` or `length` name nothing unless the document holds such a key.
 */
export function getAt(document: JsonValue, tokens: readonly string[]): JsonValue | undefined {
  let value: JsonValue | undefined = document;
  for (const token of tokens) {
    if (value === undefined) return undefined;
    value = getMember(value, token);
  }
  return value;
}

/** The own member or the array element that one reference token names in `value`, or undefined (RFC 6901 section 4). */
export function getMember(value: JsonValue, token: string): JsonValue | undefined {
  if (value === null || typeof value !== 'object') return undefined;
  if (Array.isArray(value)) return value[arrayIndex(token, value.length)];
  return Object.hasOwn(value, token) ? value[token] : undefined;
}

/** Sets an own member, whatever its name: assigning to `__proto__` would change the prototype instead. */
export function setMember(object: JsonObject, key: string, value: JsonValue): void {
  if (key === '__proto__') {
    Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
    return;
  }
  if (isIndexWithGap(key) && !Object.hasOwn(object, key)) storeSparsely(object);
  object[key] = value;
}

/** Whether a key is an integer, of two digits or more, before which others may be missing. */
function isIndexWithGap(key: string): boolean {
  const first = key.charCodeAt(0);
  return first >= 0x31 && first <= 0x39 && key.length > 1 && key.length <= 10 && /^[0-9]+$/.test(key);
}

/** The largest that V8 takes for an index. */
const LARGEST_INDEX = '4294967294';

/**
 * Has V8 keep integer keys in a table: for `{"1000":0}` it would make room for 1,500 elements, a thousand times what was
 * sent. An index far off decides it, and the table stays when that is gone.
 */
function storeSparsely(object: JsonObject): void {
  if (Object.hasOwn(object, LARGEST_INDEX)) return;
  object[LARGEST_INDEX] = null;
  delete object[LARGEST_INDEX];
}

/** The array index below `length` that a reference token names: decimal digits without leading zeros (RFC 6901 section 4); else -1. */
export function arrayIndex(token: string, length: number): number {
  if (!/^(?:0|[1-9][0-9]*)$/.test(token)) return -1;
  const index = Number(token);
  return index < length ? index : -1;
}
