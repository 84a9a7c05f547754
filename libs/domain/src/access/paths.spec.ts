import { DomainError } from '../errors';
import { MAX_GRANT_PATHS_BYTES } from '../limits';
import { MAX_PATHS } from '../view/paths';
import { requireStorablePaths } from './paths';

it('requireStorablePaths sorts valid paths and drops those below another one', () => {
  expect(requireStorablePaths(null)).toBeNull();
  const sent = ['/attributes/legal/legal_name', '/attributes/legal', '/attributes/a~1b'];
  expect(requireStorablePaths(sent)).toEqual(['/attributes/a~1b', '/attributes/legal']);
});

const numbered = (count: number, text = ''): string[] =>
  Array.from({ length: count }, (_, index) => `/attributes/${index}${text}`);

it('requireStorablePaths accepts the largest size, and refuses one more byte', () => {
  const pathsOf = (bytes: number): string[] => {
    const paths = numbered(20, 'x'.repeat(950));
    return [...paths, `/attributes/y${'y'.repeat(bytes - Buffer.byteLength(JSON.stringify(paths)) - 16)}`];
  };
  expect(Buffer.byteLength(JSON.stringify(pathsOf(MAX_GRANT_PATHS_BYTES)))).toBe(MAX_GRANT_PATHS_BYTES);
  expect(requireStorablePaths(pathsOf(MAX_GRANT_PATHS_BYTES))).toHaveLength(21);
  expect(() => requireStorablePaths(pathsOf(MAX_GRANT_PATHS_BYTES + 1))).toThrow(DomainError);
});

it.each([
  ['an empty list', [], ['/paths']],
  ['too many paths', numbered(MAX_PATHS + 1), ['/paths']],
  ['paths that are too long in total', numbered(MAX_PATHS, 'x'.repeat(200)), ['/paths']],
  ['paths outside /attributes', ['/attributes/a', '/evidence/0', '/attributesx/a'], ['/paths/1', '/paths/2']],
  ['paths that are not text', ['/attributes/a', 7, null], ['/paths/1', '/paths/2']],
  [
    'paths with control characters or lone surrogates',
    ['/attributes/a\u0000', '/attributes/\ud800'],
    ['/paths/0', '/paths/1'],
  ],
])('requireStorablePaths refuses %s', (_, paths, places) => {
  const refuse = (): unknown => requireStorablePaths(paths);
  expect(refuse).toThrow(DomainError);
  try {
    refuse();
  } catch (error) {
    expect(error instanceof DomainError && error.details?.map(({ path }) => path)).toEqual(places);
  }
});
