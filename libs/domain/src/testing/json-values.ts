import * as fc from 'fast-check';
import type { JsonValue } from '../json/value';
import { anyText } from './any-text';

/** Keys that ordinary objects inherit or treat specially, and keys whose order or form is error-prone. */
export const HAZARD_KEYS = [
  '__proto__', 'constructor', 'prototype', 'toJSON', 'toString', 'length', 'hasOwnProperty',
  '', '0', '1', '10', '9', '-', '01', '~', '/', '~0', '~1', 'a/b', 'é', 'e\u0301', '\u0000', '€', '😂', '\ufb33', '"', '\\',
]; // prettier-ignore

/** Generates any JSON value: strings of any code points, finite numbers except `-0`, and keys from `key`. */
export function jsonValues(key: fc.Arbitrary<string>): fc.Arbitrary<JsonValue> {
  const number = fc
    .oneof(
      fc.integer({ min: -5, max: 5 }),
      fc.integer(),
      fc.maxSafeInteger(),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
    )
    .map((value) => (value === 0 ? 0 : value));
  const leaf = fc.oneof(fc.constant(null), fc.boolean(), number, anyText(8));
  const { value } = fc.letrec<{ value: JsonValue }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      leaf,
      fc.array(tie('value'), { maxLength: 6 }),
      fc.array(fc.tuple(key, tie('value')), { maxLength: 6 }).map((entries) => Object.fromEntries(entries)),
    ),
  }));
  return value;
}

/** Generates any key, often a hazard. */
export const anyKey = fc.oneof(fc.constantFrom(...HAZARD_KEYS), fc.constantFrom('a', 'b', 'c', 'id'), anyText(4));

/** Generates few and harmless keys, so that two documents have much in common. */
export const plainKey = fc.constantFrom('a', 'b', 'c', 'd', 'id', 'x/y', 'm~n');
