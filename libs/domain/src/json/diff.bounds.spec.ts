import { DIFF_BUDGET, DIFF_OPERATION_COST, MAX_RECURSION } from '../limits';
import { countValues, Counted } from '../testing/counted';
import { IS_EXHAUSTIVE, IS_FULL } from '../../../../tools/testing/runs';
import { canonicalize } from './canonicalize';
import { diff, type DiffOperation } from './diff';
import { applyPatch } from './patch';
import type { JsonObject, JsonValue } from './value';

const size = (value: JsonValue): number => Buffer.byteLength(canonicalize(value));

function price(operations: readonly DiffOperation[]): number {
  return operations.reduce(
    (sum, one) => sum + (one.op === 'remove' ? 0 : size(one.value)) + 2 * (size(one.path) - 2) + DIFF_OPERATION_COST,
    0,
  );
}

const list = <Item>(length: number, item: (index: number) => Item): Item[] =>
  Array.from({ length }, (_, at) => item(at));
const members = (length: number, member: (index: number) => JsonValue, prefix = 'k'): JsonObject =>
  Object.fromEntries(list(length, (at) => [`${prefix}${at}`, member(at)]));
const around = (depth: number, inner: JsonValue, level: (inner: JsonValue, at: number) => JsonValue): JsonValue =>
  list(depth, (at) => at).reduce((value, at) => level(value, at), inner);
const alternately = (inner: JsonValue, at: number): JsonValue => (at % 2 === 0 ? [inner] : { in: inner });

/** The document of each shape, before and after. */
const shapes: [string, (is: 'before' | 'after') => JsonValue][] = [
  ['changes below a long key', (is) => ({ ['k'.repeat(100_000)]: members(1000, () => is) })],
  ['changes below many long keys', (is) => around(50, members(500, () => is, 'p'.repeat(900)), (inner) => ({ ['q'.repeat(8000)]: inner }))],
  ['a large object and many small ones', (is) => ({ a: is === 'before' ? [members(60_000, (at) => at)] : list(256, (at) => ({ [`k${at}`]: at, b: 1 })) })],
  ['16 large objects that changed', (is) => list(16 - (is === 'after' ? 1 : 0), (at) => members(400, (key) => (key % 10 === 0 ? `${is} ${at}` : key)))],
  ['some members deep inside', (is) => around(58, members(60_000, (at) => (at % 5 === 0 ? is : at)), alternately)],
  ['all members deep inside', (is) => around(58, members(3000, () => is), alternately)],
  ['members at all levels', (is) => around(29, 1, (inner) => [{ ...members(1000, (at) => (at < 100 ? is : at)), in: inner }])],
  ['members at all levels, beside other elements', (is) => around(29, 1, (inner) => [is, { ...members(1000, (at) => (at < 100 ? is : at)), in: inner }])],
  ['elements at all levels', (is) => around(60, is, (inner, at) => [...list(1000, (one) => one + at), inner])],
  ['elements at all levels, moved', (is) => around(60, 1, (inner, at) => (is === 'before' ? [...list(500, (one) => one + at), inner] : [inner, ...list(500, (one) => one + at)]))],
  ['nested arrays', (is) => list(60, (row) => list(60, (column) => list(10, (at) => (row * column + at + is.length) % 13)))],
  ['nested arrays at the maximum depth of recursion', (is) => around(638, is, (inner, at) => [at, inner, at])],
  ['near-equal elements', (is) => list(10_000, (at) => ({ id: at + (is === 'after' && at % 3 === 0 ? 1 : 0), text: 'x'.repeat(20) })).slice(is.length - 5)],
  ['scalars that all changed', (is) => list(20_000, (at) => (at % 7) + is.length)],
  ['one of many numbers removed', (is) => list(20_000, (at) => at * 7919 + 0.5).slice(is.length - 5)],
  ['big strings', (is) => list(is.length + 10, (at) => 'x'.repeat(50_000) + is + at)],
  ['characters of many bytes', (is) => members(3000, () => `${is}\u0001€😂"`, '€~/"')],
  ['an object that became an array', (is) => (is === 'before' ? members(20_000, (at) => at) : list(20_000, (at) => at))],
]; // prettier-ignore

/** Documents that take ten seconds, which only an exhaustive run compares. */
const LARGEST = new Set(['a large object and many small ones', 'some members deep inside']);
/** Expensive documents, which only `npm run test:all` compares. */
const LARGE = new Set([
  'a large object and many small ones', 'some members deep inside', 'all members deep inside', 'members at all levels',
  'members at all levels, beside other elements', 'elements at all levels', 'elements at all levels, moved', 'nested arrays', 'near-equal elements',
  '16 large objects that changed', 'one of many numbers removed',
]); // prettier-ignore

describe.each(shapes.filter(([name]) => IS_EXHAUSTIVE || !(IS_FULL ? LARGEST : LARGE).has(name)))(
  'diff with %s',
  (_name, shape) => {
    test.each(['forward', 'backward'])('%s: is exact and within the budget and the work limit', (direction) => {
      const [before, after] = [shape('before'), shape('after')];
      const [from, to] = direction === 'forward' ? [before, after] : [after, before];
      const operations = diff(from, to);
      const patched = applyPatch(from, operations, '', { maxDepth: MAX_RECURSION, maxShifted: Infinity });
      expect(canonicalize(patched) === canonicalize(to)).toBe(true);
      expect(price(operations)).toBeLessThanOrEqual(Math.max(DIFF_BUDGET, size(to) + DIFF_OPERATION_COST));

      const counted = new Counted();
      diff(counted.of(from), counted.of(to));
      expect(counted.looks).toBeLessThan(WORK * (countValues(from) + countValues(to)));
    });
  },
);

/** The maximum number of look-ups per value of both documents. */
const WORK = 48;

describe('the budget of diff', () => {
  const from = { a: { b: { c: 1, d: 1, e: 'x'.repeat(1000) }, f: [1, 2, 3] }, g: 1 };
  const to = { a: { b: { c: 2, d: 2, e: 'x'.repeat(1000) }, f: [4, 5, 6, 7] }, g: 2 };
  const fine = diff(from, to, Infinity);

  test('is exact to the byte', () => {
    expect(fine).toHaveLength(7);
    expect(diff(from, to, price(fine))).toEqual(fine);
    expect(diff(from, to, price(fine) - 1)).not.toEqual(fine);
  });

  test('makes diff replace a value or describe its changes, by the lower cost', () => {
    expect(diff(from, to, 0)).toEqual([
      { op: 'replace', path: '/a/b/c', value: 2 },
      { op: 'replace', path: '/a/b/d', value: 2 },
      { op: 'replace', path: '/a/f', value: [4, 5, 6, 7] },
      { op: 'replace', path: '/g', value: 2 },
    ]);
  });

  test('is not needed for equal documents', () => expect(diff(to, structuredClone(to), 0)).toEqual([]));
});

test('diff replaces a document that is nested too deep for recursion', () => {
  const deep = (leaf: number): JsonValue => around(5000, leaf, alternately);
  const to = deep(2);
  expect(diff(deep(1), deep(1))).toEqual([]);
  const [operation, ...more] = diff(deep(1), to);
  expect(more).toEqual([]);
  expect(operation?.path).toBe('');
  expect(operation?.op === 'replace' && operation.value === to).toBe(true);
});
