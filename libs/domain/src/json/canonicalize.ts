import { DomainError } from '../errors';
import { MAX_RECURSION } from '../limits';
import { setMember } from './pointer';
import { hasEscapedSurrogate } from './surrogates';
import { type JsonObject, type JsonValue, sortKeys } from './value';

/**
 * Returns the RFC 8785 (JSON Canonicalization Scheme) text of a JSON value: own members only, sorted by UTF-16 code
 * units; numbers as ECMAScript writes them, `-0` as `0`; strings with as few escapes as possible; no whitespace. A
 * member named `toJSON` is treated like any other. Throws `DomainError('validation_error')` for anything that is not
 * JSON, such as a number that is not finite or half of a surrogate pair.
 */
export function canonicalize(value: JsonValue): string {
  const ordered = inOrder(value, MAX_RECURSION);
  if (ordered !== undefined) {
    const text = JSON.stringify(ordered);
    if (!hasEscapedSurrogate(text)) return text;
  }
  return write(value);
}

/**
 * Returns the value with its members in the order of RFC 8785, section 3.2.3. `JSON.stringify` then gives the canonical
 * text, because section 3.2.2 writes everything else as ECMAScript does. Parts that are in order are not copied.
 * Returns undefined if the value is not JSON, if it is nested more than `levels` deep, or if no object can have this
 * order because integer keys always come first.
 */
function inOrder(value: JsonValue, levels: number): JsonValue | undefined {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      return Number.isFinite(value) ? value : undefined;
    case 'object':
      break;
    default:
      return undefined;
  }
  if (value === null) return value;
  if (levels === 0) return undefined;
  return Array.isArray(value) ? elementsInOrder(value, levels - 1) : membersInOrder(value, levels - 1);
}

function elementsInOrder(array: JsonValue[], levels: number): JsonValue[] | undefined {
  let copy: JsonValue[] | undefined;
  for (let index = 0; index < array.length; index++) {
    const element = array[index]!;
    const ordered = inOrder(element, levels);
    if (ordered === undefined) return undefined;
    if (ordered !== element) (copy ??= array.slice())[index] = ordered;
  }
  return copy ?? array;
}

function membersInOrder(object: JsonObject, levels: number): JsonObject | undefined {
  const keys = Object.keys(object);
  // An integer key comes first.
  if (/^[0-9]/.test(keys[0] ?? '')) return undefined;
  let copy: JsonObject | undefined = sortKeys(keys) ? {} : undefined;
  for (let at = 0; at < keys.length; at++) {
    const key = keys[at]!;
    const member = object[key];
    const ordered = member === undefined ? undefined : inOrder(member, levels);
    if (ordered === undefined) return undefined;
    if (copy === undefined && ordered !== member) {
      copy = {};
      for (const before of keys.slice(0, at)) setMember(copy, before, object[before]!);
    }
    if (copy !== undefined) setMember(copy, key, ordered);
  }
  return copy ?? object;
}

/** An array or object that is being written, with the number of its children that have been written. */
type Open = { at: number } & (
  { elements: JsonValue[]; members?: never } | { members: JsonObject; keys: string[]; elements?: never }
);

/** Writes the canonical text for any keys and any depth, and throws for anything that is not JSON. */
function write(value: JsonValue): string {
  const open: Open[] = [];
  let text = writeStart(value, open);
  for (let inner = open.at(-1); inner !== undefined; inner = open.at(-1)) {
    const at = inner.at++;
    const isOver = at === (inner.elements ?? inner.keys).length;
    if (isOver) {
      open.pop();
      text += inner.elements ? ']' : '}';
      continue;
    }
    if (at > 0) text += ',';
    if (inner.elements) {
      text += writeStart(inner.elements[at]!, open);
    } else {
      const key = inner.keys[at]!;
      text += quote(key) + ':';
      text += writeStart(inner.members[key]!, open);
    }
  }
  return text;
}

/** Writes a scalar, or the opening bracket of an array or object, which then becomes the innermost open one. */
function writeStart(value: JsonValue, open: Open[]): string {
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
  if (Array.isArray(value)) {
    open.push({ at: 0, elements: value });
    return '[';
  }
  const keys = Object.keys(value);
  sortKeys(keys);
  open.push({ at: 0, members: value, keys });
  return '{';
}

function quote(string: string): string {
  if (/\p{Surrogate}/u.test(string)) throw notJson('A string holds half of a surrogate pair.');
  return JSON.stringify(string);
}

function notJson(message: string): DomainError {
  return new DomainError('validation_error', message, [{ path: '', message, code: 'not_json' }]);
}
