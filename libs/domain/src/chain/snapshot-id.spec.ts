import fc from 'fast-check';
import { parse, v5 } from 'uuid';
import { deriveSnapshotId, uuidV5 } from './snapshot-id';

const input = {
  subject_type: 'entity',
  subject_id: 'acme',
  base_snapshot_id: '4f2c7a1e-9a3b-4c5d-8e6f-0123456789ab',
  patch_ops: [{ op: 'add', path: '/attributes/a', value: 1 }],
};

describe('uuidV5', () => {
  it('returns the example of RFC 9562 appendix A.4', () => {
    expect(uuidV5(parse('6ba7b810-9dad-11d1-80b4-00c04fd430c8'), 'www.example.com')).toBe(
      '2ed6657d-e927-568b-95e1-2665a8aea6a2',
    );
  });

  it('agrees with the uuid package', () => {
    fc.assert(
      fc.property(fc.uuid(), fc.string({ unit: 'grapheme' }), (namespace, name) =>
        expect(uuidV5(parse(namespace), name)).toBe(v5(name, namespace)),
      ),
    );
  });
});

describe('deriveSnapshotId', () => {
  it('returns the same id for the same input with its members in another order', () => {
    const reordered = { ...input, patch_ops: [{ value: 1, path: '/attributes/a', op: 'add' }] };
    expect(deriveSnapshotId('secret', reordered)).toBe(deriveSnapshotId('secret', input));
  });

  it.each([
    { subject_type: 'individual' },
    { subject_id: 'Acme' },
    { base_snapshot_id: '4f2c7a1e-9a3b-4c5d-8e6f-0123456789ac' },
    { patch_ops: [] },
  ])('returns another id with %j', (change) =>
    expect(deriveSnapshotId('secret', { ...input, ...change })).not.toBe(deriveSnapshotId('secret', input)),
  );

  it('returns another id with another secret, and accepts text or bytes as the secret', () => {
    expect(deriveSnapshotId('other', input)).not.toBe(deriveSnapshotId('secret', input));
    expect(deriveSnapshotId(Buffer.from('secret'), input)).toBe(deriveSnapshotId('secret', input));
  });
});
