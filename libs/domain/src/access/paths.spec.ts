import { DomainError } from '../errors';
import { MAX_GRANT_PATHS_BYTES } from '../limits';
import { MAX_PATHS } from '../view/paths';
import { requireStorablePaths } from './paths';

it('keeps valid paths of a grant, sorted', () => {
  expect(requireStorablePaths(null)).toBeNull();
  const sent = ['/attributes/legal/legal_name', '/attributes/legal', '/attributes/a~1b'];
  expect(requireStorablePaths(sent)).toEqual(['/attributes/a~1b', '/attributes/legal']);
});

const numbered = (count: number, text = ''): string[] =>
  Array.from({ length: count }, (_, index) => `/attributes/${index}${text}`);

it('accepts the largest size, and no byte more', () => {
  const pathsOf = (bytes: number): string[] => {
    const paths = numbered(20, 'x'.repeat(950));
    return [...paths, `/attributes/y${'y'.repeat(bytes - Buffer.byteLength(JSON.stringify(paths)) - 16)}`];
  };
  expect(Buffer.byteLength(JSON.stringify(pathsOf(MAX_GRANT_PATHS_BYTES)))).toBe(MAX_GRANT_PATHS_BYTES);
  expect(requireStorablePaths(pathsOf(MAX_GRANT_PATHS_BYTES))).toHaveLength(21);
  expect(() => requireStorablePaths(pathsOf(MAX_GRANT_PATHS_BYTES + 1))).toThrow(DomainError);
});

it.each([
  ['no path', [], ['/paths']],
  ['too many', numbered(MAX_PATHS + 1), ['/paths']],
  ['too long together', numbered(MAX_PATHS, 'x'.repeat(200)), ['/paths']],
  ['another root', ['/attributes/a', '/evidence/0', '/attributesx/a'], ['/paths/1', '/paths/2']],
  ['no text', ['/attributes/a', 7, null], ['/paths/1', '/paths/2']],
  ['control characters', ['/attributes/a\u0000', '/attributes/\ud800'], ['/paths/0', '/paths/1']],
])('refuses %s', (_, paths, places) => {
  const refuse = (): unknown => requireStorablePaths(paths);
  expect(refuse).toThrow(DomainError);
  try {
    refuse();
  } catch (error) {
    expect(error instanceof DomainError && error.details?.map(({ path }) => path)).toEqual(places);
  }
});
