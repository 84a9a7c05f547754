import { canonicalize } from '../json/canonicalize';
import { parseStoredJson } from '../json/parse';
import type { PatchOperation } from '../json/patch';
import { isJsonObject, type JsonObject, type JsonValue } from '../json/value';
import { applyUpdate, readPatch, tryPatch } from './patched-envelope';

const AT = '/patch_ops';
const BASE = {
  envelope_version: 'entity_state_envelope_v1',
  snapshot_id: '5b1f3f4e-1c5e-4a0e-9d0c-2f6f3f0f7a10',
  snapshot_version: 1,
  generated_at: '2026-01-15T09:30:00Z',
  subject: { subject_type: 'organization', subject_id: 'acme' },
  attributes: { name: 'x'.repeat(100), list: [{ a: 1 }, { a: 2 }] },
  evidence: [],
  audit: { created_by: 'a', created_at: '2026-01-15T09:30:00Z', source: 'test' },
  diff: { format: 'rfc6902', ops: [] },
};
const NEXT = {
  snapshotVersion: 2,
  generatedAt: '2026-01-16T09:30:00Z',
  changeKind: 'change' as const,
  audit: { created_by: 'b', created_at: '2026-01-16T09:30:00Z', source: 'entity_state_update' },
  id: { subject_type: 'organization', subject_id: 'acme', base_snapshot_id: BASE.snapshot_id },
  idSecret: 'secret',
};

const toPatch = (operations: readonly PatchOperation[], maxBytes = 1_048_576) => ({
  base: canonicalize(BASE),
  patchOps: readPatch({ ops: operations.map((one) => ({ ...one })), at: AT, maxOperations: 100 }),
  at: AT,
  limits: { maxOperations: 100, maxDepth: 64, maxBytes },
  policy: 'open' as const,
});

describe('the size limit of a patched envelope', () => {
  const add = (value: string): PatchOperation[] => [{ op: 'add', path: '/attributes/note', value }];
  const copies: PatchOperation[] = Array.from({ length: 20 }, (_, index) => ({
    op: 'copy',
    from: '/attributes/name',
    path: `/attributes/copy${index}`,
  }));

  test.each<[string, PatchOperation[]]>([
    ['an added value', add('y'.repeat(5_000))],
    ['an added value with characters of several bytes', add('€'.repeat(5_000))],
    ['copied values', copies],
  ])('counts %s', (_name, operations) => {
    const applied = parseStoredJson(
      applyUpdate({ ...toPatch(operations), next: NEXT, baseOrigins: { origins: null } }).text,
    );
    const lasting: Record<string, JsonValue> = { ...BASE, attributes: attributesOf(applied) };
    delete lasting['diff'];
    const size = Buffer.byteLength(canonicalize(lasting));
    expect(() => tryPatch(toPatch(operations, size))).not.toThrow();
    expect(() => tryPatch(toPatch(operations, size - 1))).toThrow(
      expect.objectContaining({ code: 'validation_error', details: [expect.objectContaining({ path: AT })] }),
    );
  });
});

describe('a problem of a patched envelope', () => {
  const dropEvidence: PatchOperation = { op: 'remove', path: '/evidence' };

  it.each([
    ['by tryPatch', () => tryPatch(toPatch([dropEvidence]))],
    ['by applyUpdate', () => applyUpdate({ ...toPatch([dropEvidence]), next: NEXT, baseOrigins: { origins: null } })],
  ])('is reported at the operation that caused it, %s', (_when, act) => {
    const detail = { path: `${AT}/0`, message: 'in the result, /evidence is required', code: 'required' };
    expect(act).toThrow(expect.objectContaining({ code: 'validation_error', details: [detail] }));
  });

  it('is reported at the operation that added an element, even if later operations moved it', () => {
    const evidence = { evidence_id: 'e', evidence_type: 't', source: 's', captured_at: '2026-01-15T09:30:00Z' };
    const operations: PatchOperation[] = [
      { op: 'add', path: '/evidence/-', value: {} },
      { op: 'add', path: '/evidence/0', value: evidence },
      { op: 'add', path: '/evidence/0', value: evidence },
    ];
    const act = (): void => tryPatch(toPatch(operations));
    expect(act).toThrow(
      expect.objectContaining({
        details: expect.arrayContaining([
          { path: `${AT}/0`, message: 'in the result, /evidence/2/evidence_id is required', code: 'required' },
        ]),
      }),
    );
  });
});

describe('a pointer that lacks /attributes', () => {
  test.each<[operation: PatchOperation, hint: string]>([
    [{ op: 'remove', path: '/list/0' }, ' Did you mean "/attributes/list/0"?'],
    [{ op: 'copy', from: '/list/0', path: '/attributes/copy' }, ' Did you mean "/attributes/list/0"?'],
    [{ op: 'remove', path: '/list' }, ''],
    [{ op: 'remove', path: '/unknown/0' }, ''],
    [{ op: 'remove', path: '/evidence/0' }, ''],
  ])('is refused in %j with the hint %p', (operation, hint) => {
    const act = (): void => tryPatch(toPatch([{ op: 'test', path: '/evidence', value: [] }, operation]));
    const message = expect.stringMatching(hint === '' ? /^(?!.*Did you mean)/ : /\? *$/);
    const detail = expect.objectContaining({ path: `${AT}/1`, message });
    expect(act).toThrow(expect.objectContaining({ code: 'validation_error', message, details: [detail] }));
    expect(act).toThrow(expect.objectContaining({ message: expect.stringContaining(hint) }));
  });
});

function attributesOf(envelope: unknown): JsonObject {
  const attributes = isJsonObject(envelope) ? envelope['attributes'] : null;
  if (!isJsonObject(attributes ?? null)) throw new Error('no attributes');
  return Object(attributes);
}

it('applyUpdate marks a correction, and not the version after it', () => {
  const rename: PatchOperation[] = [{ op: 'add', path: '/attributes/note', value: 'x' }];
  const made = (change: object, base = canonicalize(BASE)) =>
    applyUpdate({ ...toPatch(rename), base, next: { ...NEXT, ...change }, baseOrigins: { origins: null } });
  const correction = made({ changeKind: 'correction' });
  expect(correction.header.changeKind).toBe('correction');
  expect(parseStoredJson(correction.text)).toMatchObject({ change_kind: 'correction' });
  const change = made({ snapshotVersion: 3 }, correction.text);
  expect(change.header.changeKind).toBe('change');
  expect(parseStoredJson(change.text)).not.toHaveProperty('change_kind');
});
