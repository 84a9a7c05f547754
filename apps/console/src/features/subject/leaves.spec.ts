import { leavesOf } from './leaves.ts';

it.each<[string, object, string[]]>([
  ['values', { b: 1, a: null }, ['/attributes/a', '/attributes/b']],
  ['groups', { a: { c: 1, b: 2 } }, ['/attributes/a/b', '/attributes/a/c']],
  ['lists', { a: [2, [1]] }, ['/attributes/a/0', '/attributes/a/1/0']],
  ['what is empty', { a: {}, b: [] }, ['/attributes/a', '/attributes/b']],
  ['nothing at all', {}, []],
  ['names that are escaped', { '/': 1, '~1': 2 }, ['/attributes/~1', '/attributes/~01']],
])('leaves of %s in canonical order', (_what, attributes, paths) => {
  expect(leavesOf(attributes).map(({ path }) => path)).toEqual(paths);
});

it('leaves are of any depth', () => {
  const deep = Array.from({ length: 20_000 }).reduce<object>((inner) => ({ a: inner }), {});
  expect(leavesOf(deep)).toHaveLength(1);
});
