import fc from 'fast-check';
import { DomainError, type ErrorDetail } from '../errors';
import { parseJson } from '../json/parse';
import type { JsonObject, JsonValue } from '../json/value';
import { subjectProblems, validateEnvelope } from './envelope';

function envelope(changes: JsonObject = {}): JsonObject {
  return {
    envelope_version: 'entity_state_envelope_v1',
    snapshot_id: '4f2c7a1e-9a3b-4c5d-8e6f-0123456789ab',
    snapshot_version: 1,
    generated_at: '2026-01-31T12:00:00Z',
    subject: { subject_type: 'organization', subject_id: 'acme' },
    attributes: { legal: { legal_name: 'Acme Ltd' } },
    evidence: [
      {
        evidence_id: 'e1',
        evidence_type: 'registry',
        source: 'register',
        captured_at: '2026-01-30T12:00:00+01:00',
        hash: { alg: 'sha256', value: 'ab' },
      },
    ],
    audit: { created_by: 'oidc:p#u', created_at: '2026-01-31T12:00:00Z', source: 'import' },
    attribute_paths: {
      '/attributes/legal/legal_name': [{ evidence_id: 'e1', evidence_type: 'registry', role: 'primary' }],
    },
    diff: { format: 'rfc6902', ops: [{ op: 'add', path: '/attributes/x', value: null }] },
    ...changes,
  };
}

function problemsOf(value: JsonValue): readonly ErrorDetail[] {
  try {
    validateEnvelope(value);
    return [];
  } catch (error) {
    if (error instanceof DomainError && error.code === 'validation_error') return error.details ?? [];
    throw error;
  }
}

function places(value: JsonValue): string[] {
  return problemsOf(value).map(({ path, code }) => `${path} ${code}`);
}

/** Every required field, as its keys from the root. */
const REQUIRED = [
  'envelope_version',
  'snapshot_id',
  'snapshot_version',
  'generated_at',
  'subject',
  'subject/subject_type',
  'subject/subject_id',
  'attributes',
  'evidence',
  'evidence/0/evidence_id',
  'evidence/0/evidence_type',
  'evidence/0/source',
  'evidence/0/captured_at',
  'evidence/0/hash/alg',
  'evidence/0/hash/value',
  'audit',
  'audit/created_by',
  'audit/created_at',
  'audit/source',
  'attribute_paths/~1attributes~1legal~1legal_name/0/evidence_id',
  'attribute_paths/~1attributes~1legal~1legal_name/0/evidence_type',
  'diff/format',
  'diff/ops',
  'diff/ops/0/op',
  'diff/ops/0/path',
  'diff/ops/0/value',
  'attributes/legal/legal_name',
];

function change(value: JsonValue, place: string, edit: (parent: object, key: string) => void): JsonValue {
  const tokens = place.split('/').map((token) => token.replaceAll('~1', '/'));
  const key = tokens.pop() ?? '';
  const parent = tokens.reduce<unknown>((at, token) => Reflect.get(Object(at), token), value);
  edit(Object(parent), key);
  return value;
}

describe('validateEnvelope', () => {
  it('returns the same object', () => {
    const value = envelope();
    expect(validateEnvelope(value)).toBe(value);
  });

  it('accepts empty attributes, no evidence, and unknown members', () => {
    expect(
      places({
        ...envelope({ attributes: {}, evidence: [], extra: { any: [null] } }),
        subject: { subject_type: 'entity', subject_id: '😀'.repeat(512), region: 1 },
      }),
    ).toEqual([]);
  });

  it.each(REQUIRED)('names only the missing %s', (place) => {
    const value = change(envelope(), place, (parent, key) => Reflect.deleteProperty(parent, key));
    expect(places(value)).toEqual([`/${place} required`]);
  });

  it('names only the field with a value of the wrong type', () => {
    // Without attributes, so that no rule on their content applies. The value of an operation can be anything.
    const fields = REQUIRED.filter((place) => !place.startsWith('attributes/') && place !== 'diff/ops/0/value');
    fc.assert(
      fc.property(fc.constantFrom(...fields), fc.constantFrom(null, true), (place, wrong) => {
        const value = change(envelope({ attributes: {} }), place, (parent, key) => Reflect.set(parent, key, wrong));
        expect(places(value)).toEqual([`/${place} invalid_type`]);
      }),
    );
  });

  it('accepts null for optional members and keeps it', () => {
    const nothing = envelope({
      attribute_paths: null,
      diff: null,
      evidence: [
        {
          evidence_id: 'e1',
          evidence_type: 'registry',
          source: 'register',
          captured_at: '2026-01-30T12:00:00+01:00',
          retrieved_at: null,
          hash: null,
          locator: null,
          notes: null,
        },
      ],
      attributes: { legal: null },
    });
    expect(validateEnvelope(nothing)).toBe(nothing);
  });

  it('lists all problems at once', () => {
    expect(
      places(envelope({ snapshot_id: 'x', snapshot_version: 0, generated_at: 'yesterday', evidence: [{}], audit: [] })),
    ).toEqual([
      '/snapshot_id invalid_format',
      '/snapshot_version invalid_value',
      '/generated_at invalid_format',
      '/evidence/0/evidence_id required',
      '/evidence/0/evidence_type required',
      '/evidence/0/source required',
      '/evidence/0/captured_at required',
      '/audit invalid_type',
    ]);
  });

  it('lists at most 100 problems', () => {
    expect(problemsOf(envelope({ evidence: Array.from({ length: 5000 }, () => ({})) }))).toHaveLength(100);
    const paths = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`no pointer ${index}`, 1]));
    expect(problemsOf(envelope({ attribute_paths: paths }))).toHaveLength(100);
  });

  it.each<[string, JsonObject, string]>([
    ['another envelope version', { envelope_version: 'v2' }, '/envelope_version invalid_value'],
    ['a fraction as version', { snapshot_version: 1.5 }, '/snapshot_version invalid_type'],
    ['a version beyond 32 bits', { snapshot_version: 2_147_483_648 }, '/snapshot_version invalid_value'],
    ['a version as text', { snapshot_version: '1' }, '/snapshot_version invalid_type'],
    ['an array as attributes', { attributes: [] }, '/attributes invalid_type'],
    ['an object as evidence', { evidence: {} }, '/evidence invalid_type'],
    [
      'two spellings of a scheme',
      { attributes: { identifiers: { LEI: 'a', lei: 'b' } } },
      '/attributes/identifiers/lei conflict',
    ],
    ['a key that is not a JSON Pointer', { attribute_paths: { 'a/b': [] } }, '/attribute_paths/a~1b invalid_format'],
    ['a bad escape in a key', { attribute_paths: { '/~2': [] } }, '/attribute_paths/~1~02 invalid_format'],
    [
      'an unknown role',
      { attribute_paths: { '/a': [{ evidence_id: 'e', evidence_type: 't', role: 'main' }] } },
      '/attribute_paths/~1a/0/role invalid_value',
    ],
    ['another diff format', { diff: { format: 'merge', ops: [] } }, '/diff/format invalid_value'],
    [
      'an unknown operation',
      { diff: { format: 'rfc6902', ops: [{ op: 'put', path: '' }] } },
      '/diff/ops/0/op invalid_value',
    ],
    [
      'a move without from',
      { diff: { format: 'rfc6902', ops: [{ op: 'move', path: '' }] } },
      '/diff/ops/0/from required',
    ],
    [
      'an empty legal name',
      { attributes: { legal: { legal_name: '' } } },
      '/attributes/legal/legal_name invalid_value',
    ],
    ['a legal group that is not an object', { attributes: { legal: 'Acme' } }, '/attributes/legal invalid_type'],
  ])('refuses %s', (_, changes, place) => expect(places(envelope(changes))).toEqual([place]));

  it.each<[string, JsonValue, string[]]>([
    ['no name', {}, ['/attributes/biographic/name required']],
    ['a name without parts', { name: { title: 'Dr' } }, ['/attributes/biographic/name required']],
    ['empty name parts', { name: { given_name: '', family_name: 1 } }, ['/attributes/biographic/name required']],
    ['a name as text', { name: 'Ada' }, ['/attributes/biographic/name invalid_type']],
    ['one name part', { name: { family_name: 'Lovelace' } }, []],
  ])('checks an individual with %s', (_, biographic, expected) => {
    const subject = { subject_type: 'individual', subject_id: 'ada' };
    expect(places(envelope({ subject, attributes: { biographic } }))).toEqual(expected);
  });

  it('requires a legal name only of an organization', () => {
    for (const subject_type of ['individual', 'entity']) {
      expect(places(envelope({ subject: { subject_type, subject_id: 'a' }, attributes: { legal: {} } }))).toEqual([]);
    }
  });

  it('ignores inherited members', () => {
    const { subject, ...others } = envelope();
    const text = JSON.stringify({ ...others, placeholder: { subject } }).replace('"placeholder"', '"__proto__"');
    expect(places(parseJson(Buffer.from(text)))).toEqual(['/subject required']);
    expect(places(Object.setPrototypeOf({ ...others }, { subject }))).toEqual(['/subject required']);
  });

  it.each<JsonValue>([null, true, 1, 'text', []])('refuses %j', (value) =>
    expect(places(value)).toEqual([' invalid_type']),
  );
});

describe('subjectProblems', () => {
  it.each(['a', 'ACME-1', 'é', 'e\u0301', '😀'.repeat(512), '../x', 'a b', '\u2028'])('accepts the id %j', (id) =>
    expect(subjectProblems('entity', id, '')).toEqual([]),
  );

  it.each(['', 'a'.repeat(513), '😀'.repeat(513), 'a\u0000', 'a\n', '\u007f', '\u0085', '\ud800', null, 7, undefined])(
    'refuses the id %j',
    (id) => expect(subjectProblems('entity', id, '/path').map(({ path }) => path)).toEqual(['/path/subject_id']),
  );

  it.each(['Entity', 'person', '', undefined, null, ['entity']])('refuses the type %j', (type) =>
    expect(subjectProblems(type, 'a', '/path').map(({ path }) => path)).toEqual(['/path/subject_type']),
  );
});
