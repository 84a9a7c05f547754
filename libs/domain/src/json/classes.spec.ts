import * as fc from 'fast-check';
import { anyKey, jsonValues, plainKey } from '../testing/json-values';
import { shuffled } from '../testing/hostile-json';
import { canonicalize } from './canonicalize';
import { Classes } from './classes';
import type { JsonValue } from './value';

test('Classes.of returns the same class exactly for equal values', () => {
  const small = fc.array(fc.dictionary(fc.constantFrom('a', 'b'), fc.nat(1)), { maxLength: 3 });
  fc.assert(
    fc.property(fc.array(fc.oneof(small, jsonValues(anyKey), jsonValues(plainKey)), { maxLength: 20 }), (values) => {
      const classes = new Classes();
      const byText = new Map(values.map((value) => [canonicalize(value), classes.of(value)]));
      for (const value of values) expect(classes.of(shuffled(value))).toBe(byText.get(canonicalize(value)));
      expect(new Set(byText.values()).size).toBe(byText.size);
    }),
  );
});

test('Classes.of distinguishes values beyond 65,535 classes, and long values', () => {
  const classes = new Classes();
  const long = (last: number): JsonValue => Array.from({ length: 70_000 }, (_, at) => (at === 69_999 ? last : at / 2));
  expect(classes.of(long(-1))).toBe(classes.of(long(-1)));
  expect(classes.of(long(-1))).not.toBe(classes.of(long(-2)));
  const pairs: JsonValue[] = [[65_534.5, 1], [-1, 1], [65_534.5, 1, 0], ['65534.5', 1], { a: 1 }, { b: 1 }, ['a', 1]]; // prettier-ignore
  expect(new Set(pairs.map((pair) => classes.of(pair))).size).toBe(pairs.length);
});
