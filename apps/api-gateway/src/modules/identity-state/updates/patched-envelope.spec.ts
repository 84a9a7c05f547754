import { canonicalize, type PatchOperation } from '@iss/domain';
import { DEFAULT_LIMITS } from '@iss/platform';
import { patchEnvelope } from './patched-envelope';

describe('a patch may not make an envelope that is larger than a body may be', () => {
  const base = { attributes: { name: 'x'.repeat(100) }, diff: { format: 'rfc6902', ops: [] } };
  const add = (value: string): PatchOperation[] => [{ op: 'add', path: '/attributes/note', value }];
  const copies: PatchOperation[] = Array.from({ length: 20 }, (_, index) => ({
    op: 'copy',
    from: '/attributes/name',
    path: `/attributes/copy${index}`,
  }));

  // Each makes so many bytes, without the diff of the base.
  test.each<[string, PatchOperation[], number]>([
    ['what it adds', add('y'.repeat(500)), 636],
    ['what it adds, in characters of several bytes', add('€'.repeat(500)), 1636],
    ['what it copies', copies, 2356],
  ])('%s', (_name, operations, size) => {
    const patch = (bodyBytes: number): unknown =>
      patchEnvelope(canonicalize(base), operations, '/patch_ops', { ...DEFAULT_LIMITS, bodyBytes });
    const { diff, ...lasting } = patch(1_048_576) as typeof base;
    expect(diff).toEqual(base.diff);
    expect(Buffer.byteLength(canonicalize(lasting))).toBe(size);
    expect(patch(size)).toEqual({ ...lasting, diff });
    expect(() => patch(size - 1)).toThrow(
      expect.objectContaining({ code: 'validation_error', details: [expect.objectContaining({ path: '/patch_ops' })] }),
    );
  });
});
