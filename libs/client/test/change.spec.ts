import type { api, Envelope, Evidence } from '../src/index.ts';
import { patchOf, requireWritten } from '../src/versions/compare.ts';

const extract: Evidence = {
  evidence_id: 'ex-2',
  evidence_type: 'extract',
  source: 'register',
  captured_at: '2026-01-01T00:00:00Z',
};
const reference = { evidence_id: 'ex-2', evidence_type: 'extract' };
const old: api.EvidenceRef[] = [{ evidence_id: 'ex-1', evidence_type: 'extract' }];

type Attributes = { legal: { legal_name: string; form?: string }; names: string[] };
const base = (): Envelope<Attributes> => ({
  envelope_version: 'entity_state_envelope_v1',
  snapshot_id: '5b1f3f4e-1c5e-4a0e-9d0c-2f6f3f0f7a10',
  snapshot_version: 1,
  generated_at: '2026-01-01T00:00:00Z',
  subject: { subject_type: 'organization', subject_id: 'a' },
  attributes: { legal: { legal_name: 'Old', form: 'AG' }, names: ['a', 'b', 'c'] },
  evidence: [],
  audit: { created_by: 'x', created_at: '2026-01-01T00:00:00Z', source: 'x' },
  attribute_paths: { '/attributes/legal/legal_name': old },
});
function edited(edit: (draft: Envelope<Attributes>) => void): Envelope<Attributes> {
  const draft = structuredClone(base());
  edit(draft);
  return draft;
}

it('patchOf returns a minimal patch', () => {
  expect(patchOf(base(), base(), [])).toEqual([]);
  expect(patchOf(base(), base(), [extract])).toEqual([{ op: 'add', path: '/evidence/0', value: extract }]);
  const draft = edited(({ attributes }) => {
    attributes.names.splice(1, 1);
    delete attributes.legal.form;
    attributes.legal.legal_name = 'New';
  });
  expect(patchOf(base(), draft, [])).toEqual([
    { op: 'remove', path: '/attributes/legal/form' },
    { op: 'replace', path: '/attributes/legal/legal_name', value: 'New' },
    { op: 'remove', path: '/attributes/names/1' },
  ]);
});

it('patchOf attributes new evidence only to changed values', () => {
  const draft = edited(({ attributes }) => {
    attributes.legal.legal_name = 'New';
    attributes.names.push('d');
  });
  expect(patchOf(base(), draft, [extract])).toEqual(
    expect.arrayContaining([
      { op: 'add', path: '/attribute_paths/~1attributes~1names~13', value: [reference] },
      { op: 'replace', path: '/attribute_paths/~1attributes~1legal~1legal_name/0/evidence_id', value: 'ex-2' },
      { op: 'add', path: '/evidence/0', value: extract },
    ]),
  );
  // Values that no longer exist have no origin.
  const without = edited(({ attributes }) => void Reflect.deleteProperty(attributes, 'legal'));
  expect(patchOf(base(), without, [extract])).toContainEqual({
    op: 'remove',
    path: '/attribute_paths/~1attributes~1legal~1legal_name',
  });
});

it('patchOf moves attribution with elements, and attributes a removal to the array', () => {
  const at = (index: number, ...ids: string[]) => ({
    [`/attributes/names/${index}`]: ids.map((id) => ({ evidence_id: id, evidence_type: 'extract' })),
  });
  const start = { ...base(), attribute_paths: { ...at(0, 'a'), ...at(2, 'c') } };
  const draft = structuredClone(start);
  draft.attributes.names.shift();
  expect(patchOf(start, draft, [])).toEqual([
    { op: 'remove', path: '/attribute_paths/~1attributes~1names~10' },
    { op: 'add', path: '/attribute_paths/~1attributes~1names~11', value: at(1, 'c')['/attributes/names/1'] },
    { op: 'remove', path: '/attribute_paths/~1attributes~1names~12' },
    { op: 'remove', path: '/attributes/names/0' },
  ]);
  // The name has no evidence, and does not get the evidence of the removal.
  const expected = { '/attributes/names': [reference], ...at(0), ...at(1, 'c') };
  const patch = patchOf(start, draft, [extract]);
  expect(patch).toEqual(patchOf(start, { ...draft, evidence: [extract], attribute_paths: expected }, []));
  expect(patch).toContainEqual({ op: 'add', path: '/attribute_paths/~1attributes~1names', value: [reference] });
});

it('patchOf keeps the attribution that the draft sets', () => {
  const own = [{ evidence_id: 'ex-9', evidence_type: 'extract' }];
  const draft = edited((one) => {
    one.attributes.legal.legal_name = 'New';
    one.attribute_paths = { '/attributes/legal/legal_name': own };
  });
  const patch = patchOf(base(), draft, [extract]);
  expect(patch).toContainEqual({
    op: 'replace',
    path: '/attribute_paths/~1attributes~1legal~1legal_name/0/evidence_id',
    value: 'ex-9',
  });
});

it('patchOf refuses to change members that the service sets, and values that are not JSON', () => {
  expect(() =>
    patchOf(
      base(),
      edited((draft) => void (draft.audit.created_by = 'me')),
      [],
    ),
  ).toThrow('Only the service sets audit.');
  expect(() =>
    patchOf(
      base(),
      edited((draft) => void (draft.attributes.names = ['\ud800'])),
      [],
    ),
  ).toThrow('/attributes/names/0');
});

it('requireWritten refuses a version that differs from the patch', () => {
  const draft = edited(({ attributes }) => void (attributes.legal.legal_name = 'New'));
  const patch = patchOf(base(), draft, []);
  const asWritten = { ...draft, snapshot_version: 2, diff: null };
  requireWritten(base(), patch, asWritten);
  const other = structuredClone(asWritten);
  other.attributes.names.pop();
  expect(() => requireWritten(base(), patch, other)).toThrow('differs from the patch');
});
