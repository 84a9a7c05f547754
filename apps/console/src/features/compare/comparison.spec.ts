import type { JsonObject } from '@iss/domain/pure';
import { comparisonOf } from './comparison.ts';

const compared = (before: JsonObject, after: JsonObject) => comparisonOf({ attributes: before }, { attributes: after });
/** Returns both sides of each change, with its number. */
const pairs = (before: JsonObject, after: JsonObject): string[] => {
  const { left, right, changeOf } = compared(before, after);
  const lines = right.split('\n');
  return left
    .split('\n')
    .map((line, index) => `${line.trim()} | ${lines[index]?.trim()} | ${changeOf[index]}`)
    .slice(2, -2);
};

it.each([
  ['equal values', { a: 1 }, { a: 1 }, ['"a": 1 | "a": 1 | -1']],
  ['a value that changed', { a: 1 }, { a: 2 }, ['"a": 1 | "a": 2 | 0']],
  ['an added member', { a: 1 }, { a: 1, b: [] }, ['"a": 1 | "a": 1 | -1', '| "b": [] | 0']],
  ['a removed member', { a: 1, b: {} }, { a: 1 }, ['"a": 1 | "a": 1 | -1', '"b": {} | | 0']],
  ['a text replaced by an object', { a: 'x' }, { a: { b: 1 } }, ['"a": "x" | "a": { | 0', '| "b": 1 | 0', '| } | 0']],
  [
    'a removed element',
    { a: [1, 2, 3] },
    { a: [1, 3] },
    ['"a": [ | "a": [ | -1', '1 | 1 | -1', '2 | | 0', '3 | 3 | -1', '] | ] | -1'],
  ],
  [
    'an added element',
    { a: [1, 3] },
    { a: [1, 2, 3] },
    ['"a": [ | "a": [ | -1', '1 | 1 | -1', '| 2 | 0', '3 | 3 | -1', '] | ] | -1'],
  ],
])('comparisonOf aligns the lines of %s', (_what, before, after, expected) => {
  expect(pairs(before, after)).toEqual(
    expected.map((line) => (line.startsWith('|') ? ` ${line}` : line.replace('| |', '|  |'))),
  );
});

it('a change contains the previous value', () => {
  expect(compared({ a: 1, b: 2 }, { a: 3, c: 4 }).changes).toEqual([
    { op: 'replace', path: '/attributes/a', value: 3, before: 1, movedWith: null },
    { op: 'remove', path: '/attributes/b', before: 2, movedWith: null },
    { op: 'add', path: '/attributes/c', value: 4, movedWith: null },
  ]);
});

it.each([
  ['a long value that is removed and added elsewhere is a move', 'a street', [1, 0]],
  ['a short value that is removed and added elsewhere is not a move', 1, [null, null]],
])('%s', (_what, value, expected) => {
  const { changes } = compared({ seat: value }, { office: value });
  expect(changes.map(({ movedWith }) => movedWith)).toEqual(expected);
});

it('two moves of the same value are separate', () => {
  const { changes } = compared({ a: 'a street', b: 'a street' }, { c: 'a street', d: 'a street' });
  expect(changes.map(({ movedWith }) => movedWith).sort()).toEqual([0, 1, 2, 3]);
});

it('members that only the service sets are not compared', () => {
  const header = (version: number): JsonObject => ({
    snapshot_version: version,
    generated_at: `${version}`,
    attributes: {},
  });
  expect(comparisonOf(header(1), header(2)).changes).toEqual([]);
});
