import { DomainError } from '../errors';
import { covers, intersectionOf, MAX_PATHS, normalizePaths, touches, unionOf } from './paths';

it('normalizePaths sorts paths, and drops those below another one', () => {
  const paths = ['/attributes/legal/legal_name', '/attributes/contact', '/attributes/legal', '/attributes/contact'];
  expect(normalizePaths(paths)).toEqual(['/attributes/contact', '/attributes/legal']);
  expect(normalizePaths(['/attributes/legal_name', '/attributes/legal'])).toEqual([
    '/attributes/legal',
    '/attributes/legal_name',
  ]);
});

it.each<[string, string[], string]>([
  ['an empty list', [], '/paths'],
  ['too many paths', Array.from({ length: MAX_PATHS + 1 }, (_, index) => `/attributes/a${index}`), '/paths'],
  ['a path that is not a pointer', ['/attributes/a', 'legal'], '/paths/1'],
  ['a wrong escape', ['/attributes/~2'], '/paths/0'],
  ['all attributes', ['/attributes'], '/paths/0'],
  ['another root', ['/evidence/0'], '/paths/0'],
  ['a root with the same prefix', ['/attributes_/a'], '/paths/0'],
  ['a very long path', [`/attributes/${'a'.repeat(1024)}`], '/paths/0'],
])('normalizePaths refuses %s', (_, paths, place) => {
  try {
    normalizePaths(paths);
    throw new Error('accepted');
  } catch (error) {
    expect(error).toBeInstanceOf(DomainError);
    expect(error).toMatchObject({ code: 'validation_error', details: [{ path: place }] });
  }
});

it('normalizePaths accepts the longest path, and refuses a longer one', () => {
  const path = (length: number): string => '/attributes/'.padEnd(length, 'a');
  expect(normalizePaths([path(1024)])).toEqual([path(1024)]);
  expect(() => normalizePaths([path(1025)])).toThrow(DomainError);
});

it('normalizePaths accepts the largest number of paths', () => {
  expect(normalizePaths(Array.from({ length: MAX_PATHS }, (_, index) => `/attributes/a${index}`))).toHaveLength(
    MAX_PATHS,
  );
});

it.each<[string[] | null, string, boolean, boolean]>([
  [null, '/attributes/a', true, true],
  [['/attributes/a'], '/attributes/a', true, true],
  [['/attributes/a'], '/attributes/a/b', true, true],
  [['/attributes/a'], '/attributes/ab', false, false],
  [['/attributes/a/b'], '/attributes/a', false, true],
  [['/attributes/a/b'], '/attributes', false, true],
  [['/attributes/a/b'], '/attributes/a/c', false, false],
  [[], '/attributes', false, false],
])('covers and touches of %j and %s are %p and %p', (visible, pointer, isCovered, isTouched) => {
  expect([covers(visible, pointer), touches(visible, pointer)]).toEqual([isCovered, isTouched]);
});

it('unionOf returns the paths of all grants', () => {
  expect(unionOf([['/attributes/a/b'], ['/attributes/c', '/attributes/a']])).toEqual([
    '/attributes/a',
    '/attributes/c',
  ]);
  expect(unionOf([['/attributes/a'], null])).toBeNull();
});

it.each<[string[] | null, string[], string[]]>([
  [null, ['/attributes/b', '/attributes/a'], ['/attributes/b', '/attributes/a']],
  [['/attributes/a/b', '/attributes/c'], ['/attributes/a'], ['/attributes/a/b']],
  [['/attributes/a'], ['/attributes/a/b', '/attributes/a/c', '/attributes/d'], ['/attributes/a/b', '/attributes/a/c']],
  [['/attributes/ab'], ['/attributes/a'], []],
])('intersectionOf(%j, %j) is %j', (visible, paths, both) => {
  expect(intersectionOf(visible, paths)).toEqual(both);
});
