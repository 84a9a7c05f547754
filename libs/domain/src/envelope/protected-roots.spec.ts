import { DomainError } from '../errors';
import type { PatchOperation } from '../json/patch';
import { PROTECTED_ROOTS, requirePatchAllowed } from './protected-roots';

function refused(operations: PatchOperation[]): string[] {
  try {
    requirePatchAllowed(operations, '/patch_ops');
    return [];
  } catch (error) {
    if (error instanceof DomainError && error.code === 'validation_error')
      return (error.details ?? []).map(({ path }) => path);
    throw error;
  }
}

describe('requirePatchAllowed', () => {
  it.each([...PROTECTED_ROOTS.map((root) => `/${root}`), '/subject/subject_id', '/audit/', '/diff/ops/0', ''])(
    'refuses every change of %j',
    (path) => {
      expect(
        refused([
          { op: 'add', path, value: 1 },
          { op: 'replace', path, value: 1 },
          { op: 'remove', path },
          { op: 'move', from: '/attributes/a', path },
          { op: 'move', from: path, path: '/attributes/a' },
          { op: 'copy', from: '/attributes/a', path },
          { op: 'copy', from: path, path: '/attributes/a' },
          { op: 'test', path, value: 1 },
        ]),
      ).toEqual([0, 1, 2, 3, 4, 5].map((index) => `/patch_ops/${index}`));
    },
  );

  it.each([
    '/attributes',
    '/attributes/subject',
    '/evidence/-',
    '/attribute_paths/~1subject',
    '/subjects',
    '/extra',
    '/',
  ])('allows %s', (path) => expect(refused([{ op: 'add', path, value: 1 }])).toEqual([]));
});
