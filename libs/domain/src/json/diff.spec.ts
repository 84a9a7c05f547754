import * as fc from 'fast-check';
import { anyKey, jsonValues, plainKey } from '../testing/json-values';
import { canonicalize } from './canonicalize';
import { diff, type DiffOperation } from './diff';
import { applyPatch } from './patch';
import type { JsonValue } from './value';
import { runs } from '../../../../tools/testing/runs';

function shuffled(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(shuffled);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).reverse().map(([key, member]) => [key, shuffled(member)])); // prettier-ignore
}

const text = (value: unknown): string => canonicalize(value as JsonValue);

describe('diff of any two documents', () => {
  const pairsOf = (from: fc.Arbitrary<JsonValue>): fc.Arbitrary<[JsonValue, JsonValue]> => fc.tuple(from, from);
  const scalarArrays = fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 40 });
  const recordArrays = fc.array(fc.record({ id: fc.integer({ min: 0, max: 9 }), v: fc.integer({ min: 0, max: 1 }) }), {
    maxLength: 20,
  });

  test.each<[string, fc.Arbitrary<[JsonValue, JsonValue]>]>([
    ['objects with any keys', pairsOf(jsonValues(anyKey))],
    ['documents with much in common', pairsOf(jsonValues(plainKey))],
    [
      'objects with shared hazardous keys',
      pairsOf(jsonValues(fc.constantFrom('__proto__', '', 'a/b', 'm~n', 'length', '0', '10'))),
    ],
    ['arrays of few different scalars', pairsOf(scalarArrays)],
    ['arrays of arrays', pairsOf(fc.array(fc.array(scalarArrays, { maxLength: 4 }), { maxLength: 4 }))],
    ['deeply nested arrays', pairsOf(fc.array(fc.array(fc.array(fc.array(fc.array(fc.integer({ min: 0, max: 1 }), { maxLength: 3 }), { maxLength: 3 }), { maxLength: 3 }), { maxLength: 3 }), { maxLength: 3 }))], // prettier-ignore
    ['arrays of records', pairsOf(recordArrays.map((items) => ({ items })))],
  ])('turns one into the other: %s', (_name, pairs) => {
    fc.assert(
      fc.property(pairs, ([from, to]) => {
        const before = text([from, to]);
        const operations = diff(from, to);
        expect(text(applyPatch(from, operations))).toBe(text(to));
        expect(text([from, to])).toBe(before);
        expect(text(diff(shuffled(from), shuffled(to)))).toBe(text(operations));
        expect(operations.length === 0).toBe(text(from) === text(to));
      }),
      { numRuns: runs(1000) },
    );
  });
});

const record = (id: number, status = 'new'): JsonValue => ({ id, name: `Name ${id}`, status });
const records = (...ids: number[]): JsonValue[] => ids.map((id) => record(id));

test.each<[string, JsonValue, JsonValue, DiffOperation[]]>([
  ['equal documents', { a: [1, { b: null }] }, { a: [1, { b: null }] }, []],
  ['another order of keys', { a: 1, b: 2 }, { b: 2, a: 1 }, []],
  ['another root', 1, 'x', [{ op: 'replace', path: '', value: 'x' }]],
  ['an object replaced by an array', { a: {} }, { a: [] }, [{ op: 'replace', path: '/a', value: [] }]],
  ['keys in sorted order', { z: 1, m: 1, b: 1 }, { a: 2, z: 2, b: 1, c: 2 }, [
    { op: 'add', path: '/a', value: 2 }, { op: 'add', path: '/c', value: 2 }, { op: 'remove', path: '/m' }, { op: 'replace', path: '/z', value: 2 },
  ]],
  ['escaped names', { 'a/b': { '~': 1 } }, { 'a/b': { '~': 2 } }, [{ op: 'replace', path: '/a~1b/~0', value: 2 }]],
  ['a value replaced by null', { a: 1 }, { a: null }, [{ op: 'replace', path: '/a', value: null }]],
  ['a name that objects inherit', {}, { constructor: 1 }, [{ op: 'add', path: '/constructor', value: 1 }]],
  ['an element inserted first', [1, 2, 3], [0, 1, 2, 3], [{ op: 'add', path: '/0', value: 0 }]],
  ['an element inserted in the middle', [1, 2, 3], [1, 9, 2, 3], [{ op: 'add', path: '/1', value: 9 }]],
  ['an element appended', [1, 2], [1, 2, 3], [{ op: 'add', path: '/2', value: 3 }]],
  ['the first element removed', [1, 2, 3], [2, 3], [{ op: 'remove', path: '/0' }]],
  ['an element removed and another inserted elsewhere', [1, 2, 3, 4, 5], [2, 3, 4, 9, 5], [{ op: 'remove', path: '/0' }, { op: 'add', path: '/3', value: 9 }]],
  ['two elements removed', [1, 2, 3, 4, 5], [1, 3, 5], [{ op: 'remove', path: '/1' }, { op: 'remove', path: '/2' }]],
  ['one of several repeated values removed', [0, 0, 1, 0, 0], [0, 0, 0, 0], [{ op: 'remove', path: '/2' }]],
  ['an array emptied', [1, 2], [], [{ op: 'remove', path: '/0' }, { op: 'remove', path: '/0' }]],
  ['a scalar changed in place', [1, 2, 3], [1, 9, 3], [{ op: 'replace', path: '/1', value: 9 }]],
  ['an object with a single member changed in place', [{ a: 1 }], [{ a: 2 }], [{ op: 'replace', path: '/0/a', value: 2 }]],
  ['an element changed in place', records(1, 2, 3), [record(1), record(2, 'old'), record(3)], [{ op: 'replace', path: '/1/status', value: 'old' }]],
  ['an element changed after one was inserted', records(1, 2, 3, 4), [record(0), record(1), record(2), record(3, 'old'), record(4)], [
    { op: 'add', path: '/0', value: record(0) }, { op: 'replace', path: '/3/status', value: 'old' },
  ]],
  ['an element changed next to an inserted one', records(1, 2, 3), [record(1), record(9), record(2, 'old'), record(3)], [
    { op: 'add', path: '/1', value: record(9) }, { op: 'replace', path: '/2/status', value: 'old' },
  ]],
  ['an element changed next to a removed one', records(1, 2, 3, 4), [record(1), record(3, 'old'), record(4)], [
    { op: 'remove', path: '/1' }, { op: 'replace', path: '/1/status', value: 'old' },
  ]],
  ['an element replaced by one with no common members', [1, { a: 1 }, 3], [1, { b: 2 }, 3], [{ op: 'replace', path: '/1', value: { b: 2 } }]],
  ['an element replaced by a mostly different one', records(1, 2, 3), [record(1), { id: 8, name: 'Other', status: 'old' }, record(3)], [
    { op: 'replace', path: '/1', value: { id: 8, name: 'Other', status: 'old' } },
  ]],
  ['an element changed deep inside', [{ id: 1, items: [1, 2, 3, 4, 5] }], [{ id: 2, items: [1, 2, 9, 4] }], [
    { op: 'replace', path: '/0/id', value: 2 }, { op: 'replace', path: '/0/items/2', value: 9 }, { op: 'remove', path: '/0/items/4' },
  ]],
  ['an element moved to the end', records(1, 2, 3, 4), records(2, 3, 4, 1), [{ op: 'remove', path: '/0' }, { op: 'add', path: '/3', value: record(1) }]],
  ['an element moved to the front', records(1, 2, 3, 4), records(4, 1, 2, 3), [{ op: 'add', path: '/0', value: record(4) }, { op: 'remove', path: '/4' }]],
  ['every member of an object changed', { a: { b: 1, c: 2 } }, { a: { b: 3, c: 4 } }, [
    { op: 'replace', path: '/a/b', value: 3 }, { op: 'replace', path: '/a/c', value: 4 },
  ]],
  ['numeric keys in the order of code units', { 2: 1, 10: 1 }, { 2: 2, 10: 2 }, [{ op: 'replace', path: '/10', value: 2 }, { op: 'replace', path: '/2', value: 2 }]],
  ['nested arrays', [[1, 2], [3, 4]], [[1, 2], [3, 5, 4]], [{ op: 'add', path: '/1/1', value: 5 }]],
])('diff returns minimal operations for %s', (_name, from, to, operations) => expect(diff(from, to)).toEqual(operations)); // prettier-ignore

describe('diff of long arrays', () => {
  const long = (count: number): number[] => Array.from({ length: count }, (_, index) => index % 7);

  test('finds a few edits far apart', () => {
    const from = long(20_000);
    const to = [...from];
    to.splice(15_000, 1);
    to.splice(100, 0, 9);
    expect(diff(from, to)).toEqual([{ op: 'add', path: '/100', value: 9 }, { op: 'remove', path: '/15001' }]); // prettier-ignore
  });

  test('finds a hundred inserted elements', () => {
    const from = Array.from({ length: 5000 }, (_, index) => index);
    const to = from.flatMap((value) => (value % 50 === 0 ? [-value - 1, value] : [value]));
    const operations = diff(from, to);
    expect(operations).toHaveLength(100);
    expect(operations.every((operation) => operation.op === 'add')).toBe(true);
  });

  test('describes changes inside elements, even if half of them changed', () => {
    const people = Array.from({ length: 800 }, (_, id) => ({ id, name: `Person ${id}`, address: { street: `${id}` } }));
    const moved = people.map((person) => (person.id % 2 === 0 ? person : { ...person, address: { street: 'x' } }));
    const operations = diff(people, moved);
    expect(operations).toHaveLength(400);
    expect(operations[0]).toEqual({ op: 'replace', path: '/1/address/street', value: 'x' });
  });

  test('is exact after many different arrays exhaust the search', () => {
    const arrays = (shift: number): JsonValue =>
      Array.from({ length: 60 }, (_, row) => Array.from({ length: 300 }, (_, index) => (row * index + shift) % 97));
    const [from, to] = [arrays(0), arrays(1)];
    expect(text(applyPatch({ from }, diff({ from }, { from: to })))).toBe(text({ from: to }));
  });

  test('compares arrays without common elements by position', () => {
    const from = long(200_000);
    const to = from.slice(1).map((value) => value + 10);
    const operations = diff(from, to, Infinity);
    expect(operations).toHaveLength(200_000);
    expect(operations.at(-1)).toEqual({ op: 'remove', path: '/199999' });
  });
});
