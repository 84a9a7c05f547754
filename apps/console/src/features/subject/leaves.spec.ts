import { leavesOf } from './leaves.ts';

it.each<[string, object, string[]]>([
  ['values', { b: 1, a: null }, ['/attributes/a', '/attributes/b']],
  ['groups', { a: { c: 1, b: 2 } }, ['/attributes/a/b', '/attributes/a/c']],
  ['lists', { a: [2, [1]] }, ['/attributes/a/0', '/attributes/a/1/0']],
  ['empty objects and lists', { a: {}, b: [] }, ['/attributes/a', '/attributes/b']],
  ['an empty object', {}, []],
  ['escaped names', { '/': 1, '~1': 2 }, ['/attributes/~1', '/attributes/~01']],
])('leavesOf returns the leaves of %s in canonical order', (_what, attributes, paths) => {
  expect(leavesOf(attributes).map(({ path }) => path)).toEqual(paths);
});

it('leavesOf reads objects of any depth', () => {
  const deep = Array.from({ length: 20_000 }).reduce<object>((inner) => ({ a: inner }), {});
  expect(leavesOf(deep)).toHaveLength(1);
});
