import { DomainError } from '../errors';
import { MAX_GRANT_PATHS } from '../limits';
import { requireGrantPaths, widestPaths } from './paths';

it.each([
  [[], []],
  [
    ['/b', '/a', '/b'],
    ['/a', '/b'],
  ],
  [
    ['/a/b/c', '/a', '/a/b', '/ab'],
    ['/a', '/ab'],
  ],
  [
    ['/a-b/c', '/a/c', '/a'],
    ['/a', '/a-b/c'],
  ],
  [
    ['/a/', '/a//x', '/a~1b'],
    ['/a/', '/a~1b'],
  ],
])('of %j, %j remain', (paths, expected) => {
  expect(widestPaths(paths)).toEqual(expected);
});

it('keeps valid paths of a grant, sorted', () => {
  expect(requireGrantPaths(null)).toBeNull();
  expect(requireGrantPaths(['/attributes/legal/legal_name', '/attributes/legal', '/attributes/a~1b'])).toEqual([
    '/attributes/a~1b',
    '/attributes/legal',
  ]);
});

const numbered = (count: number, text = ''): string[] =>
  Array.from({ length: count }, (_, index) => `/attributes/${index}${text}`);

it.each([
  ['no path', [], ['/paths']],
  ['too many', numbered(MAX_GRANT_PATHS + 1), ['/paths']],
  ['too long together', numbered(MAX_GRANT_PATHS, 'x'.repeat(200)), ['/paths']],
  ['everything', ['/attributes'], ['/paths/0']],
  ['another root', ['/attributes/a', '/evidence/0', '/attributesx/a'], ['/paths/1', '/paths/2']],
  [
    'no pointer',
    ['/attributes/~2', 'attributes/a', '', 7, null],
    ['/paths/0', '/paths/1', '/paths/2', '/paths/3', '/paths/4'],
  ],
  ['control characters', ['/attributes/a\u0000', '/attributes/\ud800'], ['/paths/0', '/paths/1']],
])('refuses %s', (_, paths, places) => {
  const refuse = (): unknown => requireGrantPaths(paths);
  expect(refuse).toThrow(DomainError);
  try {
    refuse();
  } catch (error) {
    expect(error instanceof DomainError && error.details?.map(({ path }) => path)).toEqual(places);
  }
});
