import { DomainError } from '../errors';
import { covers, intersectionOf, MAX_PATHS, normalizePaths, touches, unionOf } from './paths';

it('sorts paths, and keeps the wider one of two', () => {
  const paths = ['/attributes/legal/legal_name', '/attributes/contact', '/attributes/legal', '/attributes/contact'];
  expect(normalizePaths(paths)).toEqual(['/attributes/contact', '/attributes/legal']);
  expect(normalizePaths(['/attributes/legal_name', '/attributes/legal'])).toEqual([
    '/attributes/legal',
    '/attributes/legal_name',
  ]);
});

it.each<[string, string[], string]>([
  ['no path', [], '/paths'],
  ['too many', Array.from({ length: MAX_PATHS + 1 }, (_, index) => `/attributes/a${index}`), '/paths'],
  ['no pointer', ['/attributes/a', 'legal'], '/paths/1'],
  ['a wrong escape', ['/attributes/~2'], '/paths/0'],
  ['all attributes', ['/attributes'], '/paths/0'],
  ['another root', ['/evidence/0'], '/paths/0'],
  ['a root that only starts alike', ['/attributes_/a'], '/paths/0'],
  ['a very long path', [`/attributes/${'a'.repeat(1024)}`], '/paths/0'],
])('refuses %s', (_, paths, place) => {
  try {
    normalizePaths(paths);
    throw new Error('accepted');
  } catch (error) {
    expect(error).toBeInstanceOf(DomainError);
    expect(error).toMatchObject({ code: 'validation_error', details: [{ path: place }] });
  }
});

it('accepts the longest path, and no longer one', () => {
  const path = (length: number): string => '/attributes/'.padEnd(length, 'a');
  expect(normalizePaths([path(1024)])).toEqual([path(1024)]);
  expect(() => normalizePaths([path(1025)])).toThrow(DomainError);
});

it('accepts the largest number of paths', () => {
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
])('%j covers and touches %s: %p, %p', (visible, pointer, isCovered, isTouched) => {
  expect([covers(visible, pointer), touches(visible, pointer)]).toEqual([isCovered, isTouched]);
});

it('adds up what grants show', () => {
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
])('both %j and %j show %j', (visible, paths, both) => {
  expect(intersectionOf(visible, paths)).toEqual(both);
});
