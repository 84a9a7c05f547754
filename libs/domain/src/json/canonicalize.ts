import { DomainError } from '../errors';
import { MAX_RECURSION } from '../limits';
import { setMember } from './pointer';
import { hasEscapedSurrogate } from './surrogates';
import { type JsonObject, type JsonValue, sortKeys } from './value';

/**
 * The RFC 8785 (JSON Canonicalization Scheme) text of a JSON value: own members only, sorted by UTF-16 code units;
 * numbers as ECMAScript writes them, `-0` as `0`; strings with the fewest escapes; no space. A `toJSON` in it is a member
 * like any other. Throws `DomainError('validation_error')` for what is not JSON: a number that is not finite, half of a
 * surrogate pair.
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
 * The value with its members in the order of RFC 8785, section 3.2.3: what `JSON.stringify` makes of it is the canonical
 * text, since section 3.2.2 writes everything else as ECMAScript does. What is in order is not copied. Undefined for what
 * no object holds in order, since integer keys always come first in one, for what is nested more than `levels` deep, and
 * for what is not JSON.
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
  // An integer key would be the first.
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

/** An array or object that is being written: what it holds, and how much of that is. */
type Open = { at: number } & (
  { elements: JsonValue[]; members?: never } | { members: JsonObject; keys: string[]; elements?: never }
);

/** Writes the text itself, whatever the keys and however deep, and says what is not JSON. */
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

/** A value that holds nothing, or the bracket of one that does, which is then the innermost that is open. */
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
