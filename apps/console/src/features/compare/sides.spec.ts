import { common, changeKindOf, otherPlace, rowsOf } from './sides.tsx';

/** Returns this number of unchanged lines around changes. */
const lines = (...changes: readonly number[]): Int32Array => Int32Array.from(changes);
const same = (count: number): number[] => Array.from({ length: count }, () => -1);
const shapes = (changeOf: Int32Array, unfolded: readonly number[] = []): string[] =>
  rowsOf(changeOf, new Set(unfolded)).map((row) =>
    row.is === 'pair' ? `${row.line}` : row.is === 'head' ? `change ${row.change}` : `fold ${row.line} of ${row.count}`,
  );

it('rowsOf returns a head for each change, even for adjacent ones', () => {
  expect(shapes(lines(-1, 0, 0, 1, -1))).toEqual(['0', 'change 0', '1', '2', 'change 1', '3', '4']);
});

it('rowsOf folds unchanged lines, except some around each change', () => {
  const rows = shapes(lines(...same(40), 0, ...same(40)));
  const folds = rows.filter((row) => row.startsWith('fold'));
  expect(folds).toHaveLength(2);
  expect(rows[0]).toMatch(/^fold 0 of/);
  expect(rows.at(-1)).toMatch(/^fold \d+ of/);
  const counted = folds.reduce((sum, fold) => sum + Number(fold.split(' ').at(-1)), 0);
  expect(rows.length - folds.length - 1 + counted).toBe(81);
  const at = Number(folds[1]?.split(' ')[1]);
  expect(shapes(lines(...same(40), 0, ...same(40)), [0, at])).toHaveLength(82);
});

it.each([
  ['abc', 'abd', [2, 0]],
  ['abc', 'xbc', [0, 2]],
  ['aa', 'aaa', [2, 0]],
  ['', 'a', [0, 0]],
  ['same', 'same', [4, 0]],
])('common returns the shared start and end of "%s" and "%s"', (one, other, expected) => {
  expect(common(one, other)).toEqual(expected);
});

it.each([
  ['add', null, 'added', null],
  ['remove', null, 'removed', null],
  ['replace', null, 'changed', null],
  ['add', 0, 'moved', 'from A'],
  ['remove', 0, 'moved', 'to A'],
] as const)('changeKindOf %s with movedWith %s is %s', (op, movedWith, kind, other) => {
  const change = { op, path: '/b', movedWith };
  const first = { op, path: '/a', movedWith: null };
  expect(changeKindOf(change)).toBe(kind);
  expect(otherPlace([first], change)).toBe(other);
});
