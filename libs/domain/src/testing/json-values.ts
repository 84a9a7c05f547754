import * as fc from 'fast-check';
import type { JsonValue } from '../json/value';
import { anyText } from './any-text';

/** Keys that ordinary objects inherit or treat in a special way, and keys whose order or form is easily got wrong. */
export const HAZARD_KEYS = [
  '__proto__', 'constructor', 'prototype', 'toJSON', 'toString', 'length', 'hasOwnProperty',
  '', '0', '1', '10', '9', '-', '01', '~', '/', '~0', '~1', 'a/b', 'é', 'e\u0301', '\u0000', '€', '😂', '\ufb33', '"', '\\',
]; // prettier-ignore

/** Arbitrary JSON values: strings of any code points and finite numbers, `-0` left out, with keys as `key` gives them. */
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

/** Any key, hazards often. */
export const anyKey = fc.oneof(fc.constantFrom(...HAZARD_KEYS), fc.constantFrom('a', 'b', 'c', 'id'), anyText(4));

/** Few and harmless keys, so that two documents have much in common. */
export const plainKey = fc.constantFrom('a', 'b', 'c', 'd', 'id', 'x/y', 'm~n');
