import * as fc from 'fast-check';
import type { JsonObject, JsonValue } from '../json/value';
import { anyText } from './any-text';
import { anyKey, jsonValues } from './json-values';

/** Keys that an attacker might send: long ones, large integers, ones with a long common prefix, hazards. */
const hostileKey = fc.oneof(
  anyKey,
  fc.integer({ min: 0, max: 2 ** 32 }).map(String),
  fc.tuple(fc.integer({ min: 1, max: 3000 }), anyKey).map(([length, end]) => 'k'.repeat(length) + end),
);

const scalar = fc.oneof(
  fc.constantFrom<JsonValue>(null, true, 0, 1, 2, 0.5, 1e308, '', 'x'),
  fc.string({ maxLength: 4 }),
);

/** Generates arrays of small values that differ in keys, in values, or not at all. */
export const alikeJson: fc.Arbitrary<JsonValue> = fc.array(
  fc.dictionary(fc.constantFrom('a', 'b'), fc.oneof(fc.nat(1), fc.array(fc.nat(1), { maxLength: 2 }))),
  { maxLength: 40 },
);

/** Generates documents that are deep, wide or repetitive, with at most a few thousand values. */
export const hostileJson: fc.Arbitrary<JsonValue> = fc.oneof(
  jsonValues(hostileKey),
  fc
    .tuple(jsonValues(anyKey), fc.integer({ min: 1, max: 90 }), fc.array(fc.boolean(), { minLength: 1, maxLength: 5 }), hostileKey)
    .map(([inner, depth, isArray, key]) => nested(inner, depth, isArray, key)),
  fc.tuple(hostileKey, fc.integer({ min: 0, max: 400 }), jsonValues(anyKey)).map(([prefix, count, value]) =>
    Object.fromEntries(Array.from({ length: count }, (_, at): [string, JsonValue] => [prefix + at, at % 7 === 0 ? value : at])),
  ),
  fc.array(scalar, { maxLength: 300 }),
  alikeJson,
  fc.array(fc.record({ id: fc.nat(9), [`k${'k'.repeat(100)}`]: scalar, list: fc.array(scalar, { maxLength: 20 }) }), { maxLength: 60 }),
); // prettier-ignore

function nested(inner: JsonValue, depth: number, isArray: readonly boolean[], key: string): JsonValue {
  let value = inner;
  for (let at = 0; at < depth; at++) value = isArray[at % isArray.length] === true ? [at, value] : { [key]: value };
  return value;
}

/**
 * Generates a document and an edited version of it. They share no objects, as if each had been parsed from its text.
 */
export const editedJson: fc.Arbitrary<[JsonValue, JsonValue]> = fc
  .tuple(hostileJson, fc.array(fc.tuple(fc.array(fc.nat(), { maxLength: 12 }), fc.nat(3), jsonValues(anyKey)), { maxLength: 30 }))
  .map(([value, edits]) => [value, edits.reduce((edited, [way, kind, put]) => edit(edited, way, kind, put), shuffled(value))]); // prettier-ignore

/** Makes one change at a path: replaces, inserts or removes a value, or reverses the order. */
function edit(value: JsonValue, way: readonly number[], kind: number, put: JsonValue): JsonValue {
  const [step = 0, ...rest] = way;
  if (value === null || typeof value !== 'object') return put;
  const entries = Object.entries(value);
  const at = step % (entries.length + 1);
  const [key, member] = entries[at] ?? [String(step), null];
  if (rest.length > 0) entries[at] = [key, edit(member, rest, kind, put)];
  else if (kind === 0) entries[at] = [key, put];
  else if (kind === 1) entries.splice(at, 0, [`new ${step}`, put]);
  else if (kind === 2) entries.splice(at, 1);
  else entries.reverse();
  return Array.isArray(value) ? entries.map(([, element]) => element) : Object.fromEntries(entries);
}

/** Generates texts that are almost JSON, as decoded from UTF-8. */
export const nearlyJsonText: fc.Arbitrary<string> = fc
  .oneof(
    fc
      .tuple(hostileJson, fc.boolean(), fc.array(fc.tuple(fc.nat(), fc.nat(3), anyText(3)), { maxLength: 3 }))
      .map(([value, isWide, cuts]) =>
        cuts.reduce((text, [at, length, put]) => {
          const start = at % (text.length + 1);
          return text.slice(0, start) + put + text.slice(start + length);
        }, JSON.stringify(value, null, isWide ? 1 : 0)),
      ),
    fc
      .array(fc.constantFrom('{', '}', '[', ']', ':', ',', '"a":', '"', '\\', '\\u', 'd800', '1', '-', '0', '.', 'e', '99999', 'true', ' ', 'null', '"b"', '{"1000":0}'))
      .map((tokens) => tokens.join('')),
  )
  .map((text) => Buffer.from(text).toString()); // prettier-ignore

/** Returns an equal value with the members of all objects in another order. */
export function shuffled(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(shuffled);
  if (value === null || typeof value !== 'object') return value;
  const entries = Object.entries(value).reverse();
  return Object.fromEntries(entries.map(([key, member]): [string, JsonValue] => [key, shuffled(member)]));
}

/** Returns the nesting depth of arrays and objects. */
export function depthOf(value: JsonValue): number {
  if (value === null || typeof value !== 'object') return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

/** Returns the pointer tokens of all places in a document. */
export function placesIn(value: JsonValue, at: readonly string[] = []): string[][] {
  const children = value === null || typeof value !== 'object' ? [] : Object.entries<JsonValue>(value as JsonObject);
  return [[...at], ...children.flatMap(([token, child]) => placesIn(child, [...at, token]))];
}
