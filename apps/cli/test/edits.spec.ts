import { contentChanges } from '../src/service/changes';
import { applyEdits, removalOf, settingOf } from '../src/service/edits';
import { coveringRefs } from '../src/service/evidence';
import { leavesOf } from '../src/service/leaves';

const envelope = {
  envelope_version: 'entity_state_envelope_v1' as const,
  snapshot_id: '2f6c1a7e-5d0b-4a8e-9b53-6f1f1f0a0001',
  snapshot_version: 1,
  generated_at: '2025-03-01T09:00:00Z',
  subject: { subject_type: 'organization' as const, subject_id: 'harbour' },
  attributes: { legal: { legal_name: 'Harbour' }, officers: ['ann', 'bob'], 'a/b': 1 },
  evidence: [],
  attribute_paths: {
    '/attributes/legal': [{ evidence_id: 'a', evidence_type: 't' }],
    '/attributes/legal/form': [{ evidence_id: 'b', evidence_type: 't' }],
  },
  audit: { created_by: 'a', created_at: '2025-03-01T09:00:00Z', source: 's' },
};
const attributesAfter = (...changes: Parameters<typeof applyEdits>[1]) => applyEdits(envelope, changes).attributes;

it.each([
  ['/attributes/legal/legal_name="plc"', { legal: { legal_name: 'plc' } }],
  ['/attributes/contact/email/work="a=b"', { contact: { email: { work: 'a=b' } } }],
  ['/attributes/officers/-="eve"', { officers: ['ann', 'bob', 'eve'] }],
  ['/attributes/officers/0=null', { officers: [null, 'bob'] }],
  ['/attributes/a~1b={"c":[1]}', { 'a/b': { c: [1] } }],
])('applyEdits sets a value: --set %s', (text, changed) => {
  expect(attributesAfter(settingOf(text))).toEqual({ ...envelope.attributes, ...changed });
});

it('applyEdits sets __proto__ as an own member', () => {
  const draft: unknown = applyEdits(envelope, [settingOf('/attributes/__proto__={"is_admin":true}')]).attributes;
  expect(Object.keys(Object(draft))).toContain('__proto__');
  expect(Object.prototype).not.toHaveProperty('is_admin');
});

it('applyEdits removes members and array items', () => {
  const removed = attributesAfter(removalOf('/attributes/officers/0'), removalOf('/attributes/a~1b'));
  expect(removed).toEqual({ legal: { legal_name: 'Harbour' }, officers: ['bob'] });
});

it.each([
  removalOf('/attributes/none'),
  removalOf('/attributes/officers/2'),
  removalOf('/attributes/officers/-'),
  settingOf('/attributes/officers/3="x"'),
  settingOf('/attributes/officers/ann="x"'),
  settingOf('/attributes/legal/legal_name/first="x"'),
])('applyEdits refuses a path that does not exist: %j', (change) => {
  expect(() => attributesAfter(change)).toThrow(/^The latest version has no \/attributes/);
});

it('contentChanges returns each changed value, and a changed array as a whole', () => {
  const draft = applyEdits(envelope, [
    settingOf('/attributes/officers/-="eve"'),
    settingOf('/attributes/legal/legal_name="plc"'),
    removalOf('/attributes/officers/0'),
    settingOf('/attributes/legal/form="PLC"'),
  ]);
  expect(contentChanges(envelope, draft)).toEqual([
    { path: '/attributes/legal/form', before: undefined, after: 'PLC' },
    { path: '/attributes/legal/legal_name', before: 'Harbour', after: 'plc' },
    { path: '/attributes/officers', before: ['ann', 'bob'], after: ['bob', 'eve'] },
  ]);
});

it('coveringRefs returns the evidence of the nearest attributed path', () => {
  const idsFor = (path: string) => coveringRefs(envelope, path).map(({ evidence_id: id }) => id);
  expect(idsFor('/attributes/legal/form/code')).toEqual(['b']);
  expect(idsFor('/attributes/legal/legal_name')).toEqual(['a']);
  expect(idsFor('/attributes/legalese')).toEqual([]);
});

it('leavesOf returns all leaves, including null and empty objects', () => {
  expect(leavesOf({ 'a/b': [1, {}], c: null }, '/x')).toEqual([
    { path: '/x/a~1b/0', value: 1 },
    { path: '/x/a~1b/1', value: {} },
    { path: '/x/c', value: null },
  ]);
});
