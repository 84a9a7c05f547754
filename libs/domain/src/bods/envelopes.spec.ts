import { canonicalize } from '../json/canonicalize';
import type { JsonObject } from '../json/value';
import { validateEnvelope } from '../envelope/envelope';
import { envelopesOfBods } from './envelopes';
import { BodsStatements } from './statements';

const SOURCE = { type: ['officialRegister'], description: 'Register', retrievedAt: '2026-01-05' };

const entity = (recordId: string, date: string, details: JsonObject, more: JsonObject = {}): JsonObject => ({
  ...{ recordId, recordType: 'entity', statementDate: date, source: SOURCE, ...more },
  recordDetails: { isComponent: false, entityType: { type: 'registeredEntity' }, ...details },
});
const relation = (
  recordId: string,
  date: string,
  interestedParty: JsonObject | string,
  interest: JsonObject,
  more: JsonObject = {},
) => ({
  ...{ recordId, recordType: 'relationship', statementDate: date, source: SOURCE, ...more },
  recordDetails: { isComponent: false, subject: 'c-1', interestedParty, interests: [interest] },
});
const person = (recordId: string, date: string, details: JsonObject): JsonObject => ({
  ...{
    recordId,
    recordType: 'person',
    statementDate: date,
    recordDetails: { isComponent: false, personType: 'knownPerson', ...details },
  },
});

const STATEMENTS = [
  entity('c-1', '2026-01-05', {
    name: 'Acme',
    identifiers: [{ id: 'X1', scheme: 'XI-LEI' }],
    jurisdiction: { name: 'Ireland', code: 'IE' },
  }),
  person('p-1', '2026-01-05', {
    names: [{ fullName: 'Ada Lovelace', givenName: 'Ada', familyName: 'Lovelace' }],
    birthDate: '1990-01-02',
  }),
  relation('r-1', '2026-01-05', 'p-1', { type: 'shareholding', directOrIndirect: 'direct', share: { exact: 60 } }),
  relation('r-2', '2026-01-05', 'p-1', { type: 'boardMember' }),
  relation('r-3', '2026-01-06T10:00:00Z', { reason: 'unknown' }, { type: 'votingRights' }),
  relation('r-1', '2026-01-07', 'p-1', {}, { recordStatus: 'closed' }),
];

it('envelopesOfBods returns a subject per record and puts relationships into their entity', () => {
  const envelopes = envelopesOfBods(STATEMENTS, 'acme:');
  for (const envelope of envelopes) expect(() => validateEnvelope(envelope)).not.toThrow();
  expect(
    envelopes.map(({ subject, snapshot_version, generated_at }) => [
      Object(subject).subject_id,
      snapshot_version,
      generated_at,
    ]),
  ).toEqual([
    ['acme:c-1', 1, '2026-01-05T00:00:00Z'],
    ['acme:p-1', 1, '2026-01-05T00:00:00Z'],
    ['acme:c-1', 2, '2026-01-06T10:00:00Z'],
    ['acme:c-1', 3, '2026-01-07T00:00:00Z'],
  ]);
  expect(envelopes[0]).toMatchObject({
    subject: { subject_type: 'organization' },
    attributes: {
      legal: { legal_name: 'Acme' },
      identifiers: { lei: 'X1' },
      jurisdiction: { country: 'IE' },
      owners: { 'r-1': { subject: 'individual/acme:p-1', kind: 'direct', percent: '60' } },
      officers: { 'r-2': { subject: 'individual/acme:p-1', role: 'director' } },
    },
    evidence: [{ evidence_type: 'registry_extract', source: 'Register', captured_at: '2026-01-05T00:00:00Z' }],
  });
  expect(envelopes[1]).toMatchObject({
    attributes: { biographic: { name: { given_name: 'Ada', family_name: 'Lovelace' }, date_of_birth: '1990-01-02' } },
  });
  expect(Object(envelopes[3]).attributes.owners).toEqual({ 'r-3': { reason: 'unknown', kind: 'votes' } });
});

/** Returns the attributes of a subject in its newest version. */
function attributesOf(subjectId: string, ...statements: readonly JsonObject[]): JsonObject {
  const versions = envelopesOfBods([...statements], '').filter(
    ({ subject }) => Object(subject).subject_id === subjectId,
  );
  return Object(versions.at(-1)?.['attributes']);
}

const GB = { name: 'United Kingdom', code: 'GB' };

it('envelopesOfBods keeps all details of an entity, and says when its record was closed', () => {
  const details = {
    entityType: { type: 'stateBody', details: 'Agency' },
    name: 'Agency of Works',
    jurisdiction: { name: 'Atlantis' },
    identifiers: [
      { id: '1', scheme: 'XX-REG' },
      { id: '2', scheme: 'XX-TAX', schemeName: 'tax' },
      { scheme: 'XX-NONE' },
    ],
    addresses: [
      { type: 'business', address: '2 Quay', country: GB },
      { type: 'registered', address: '1 Quay', postCode: 'EH6', country: GB },
      { type: 'alternative', address: '3 Quay' },
    ],
    foundingDate: '2001-02-03',
    dissolutionDate: '2020-03-04',
  };
  const statement = entity('c-1', '2026-01-05', details);
  expect(attributesOf('c-1', statement)).toEqual({
    legal: { legal_name: 'Agency of Works', legal_form: 'Agency', founded: '2001-02-03', dissolved: '2020-03-04' },
    jurisdiction: { country: 'Atlantis' },
    identifiers: { 'XX-REG': '1', tax: '2' },
    address: { street: '1 Quay', postal_code: 'EH6', country: 'GB' },
    contact: { address: { street: '2 Quay', country: 'GB' } },
  });
  const closed = { ...statement, recordStatus: 'closed', statementDate: '2026-02-01' };
  expect(attributesOf('c-1', statement, closed)['record']).toEqual({ status: 'closed', since: '2026-02-01T00:00:00Z' });
});

it('envelopesOfBods keeps all details of a person', () => {
  const details = {
    names: [{ fullName: 'Dr Ada L', givenName: 'Ada', familyName: 'L' }, { fullName: 'Another' }],
    nationalities: [GB, { name: 'Atlantis' }],
    identifiers: [{ id: '7', schemeName: 'passport' }],
    addresses: [{ type: 'residence', address: 'There' }],
    birthDate: '1990-01-02',
    deathDate: '2020-03-04',
  };
  expect(attributesOf('p-1', person('p-1', '2026-01-05', details))).toEqual({
    biographic: {
      name: { formatted_name: 'Dr Ada L', given_name: 'Ada', family_name: 'L' },
      date_of_birth: '1990-01-02',
      date_of_death: '2020-03-04',
      nationality: ['GB', 'Atlantis'],
    },
    identifiers: { passport: '7' },
    residence: { street: 'There' },
  });
});

it('envelopesOfBods keeps all details of a relationship, with a member for each interest', () => {
  const { recordDetails, ...relationship } = relation('r-1', '2026-01-05', 'p-1', {});
  const interests = [
    { type: 'shareholding', directOrIndirect: 'unknown', startDate: '2021-01-01', endDate: '2022-01-01' },
    { type: 'votingRights', share: { exact: 10 } },
    { type: 'controlByLegalFramework' },
    { type: 'boardMember', details: 'chair of the audit committee' },
  ];
  const statement = { ...relationship, recordDetails: { ...recordDetails, interests } };
  const link = { subject: 'entity/p-1' };
  expect(attributesOf('c-1', statement)).toEqual({
    owners: {
      'r-1': { ...link, since: '2021-01-01', until: '2022-01-01' },
      'r-1-2': { ...link, kind: 'votes', percent: '10' },
      'r-1-3': { ...link, kind: 'controlByLegalFramework' },
    },
    officers: { 'r-1-4': { ...link, role: 'chair of the audit committee' } },
  });
  const named = relation('r-2', '2026-01-05', { reason: 'unknown', description: 'Named B C, without a record' }, {});
  expect(attributesOf('c-1', named)['owners']).toEqual({ 'r-2': { name: 'B C', reason: 'unknown' } });
});

it.each<[string, JsonObject, JsonObject]>([
  [
    'a declaration',
    { type: ['selfDeclaration'], assertedBy: [{ name: 'Board' }], url: 'https://b.example', retrievedAt: '2026-01-02' },
    {
      evidence_type: 'ownership_declaration',
      source: 'Board',
      locator: 'https://b.example',
      captured_at: '2026-01-02T00:00:00Z',
    },
  ],
  ['a verified source', { type: ['verified'] }, { evidence_type: 'attestation', source: 'unknown' }],
  ['a source without a type', {}, { evidence_type: 'third_party_report', captured_at: '2026-01-05T00:00:00Z' }],
])('envelopesOfBods keeps %s as evidence', (_, source, item) => {
  const [envelope] = envelopesOfBods([entity('c-1', '2026-01-05', { name: 'A' }, { source })], '');
  expect(envelope).toMatchObject({
    evidence: [item],
    attribute_paths: { '/attributes/legal': [{ evidence_type: item['evidence_type'] }] },
  });
});

it('envelopesOfBods drops the evidence of a value whose new statement has no source', () => {
  const statement = entity('c-1', '2026-01-05', { name: 'A' });
  const again = entity('c-1', '2026-01-06', { name: 'B' }, { source: null });
  expect(envelopesOfBods([statement, again], '').at(-1)).toMatchObject({ evidence: [], attribute_paths: {} });
});

it('envelopesOfBods returns the same versions for any order of the statements, and other ids for another prefix', () => {
  const byId = (statements: JsonObject[], prefix: string): JsonObject[] =>
    envelopesOfBods(statements, prefix).sort((one, other) =>
      String(one['snapshot_id']) < String(other['snapshot_id']) ? -1 : 1,
    );
  const first = byId(STATEMENTS, '');
  expect(byId(STATEMENTS.toReversed(), '')).toEqual(first);
  expect(byId(STATEMENTS, 'x:').map(({ snapshot_id }) => snapshot_id)).not.toEqual(
    first.map(({ snapshot_id }) => snapshot_id),
  );
});

it('export after import, and import after export, keep all facts', () => {
  const envelopes = envelopesOfBods(STATEMENTS, '');
  const company = envelopes.filter(({ subject }) => Object(subject).subject_id === 'c-1');
  const statesOf = (versions: readonly JsonObject[]): JsonObject[] => {
    const statements = new BodsStatements({ subjectType: 'organization', subjectId: 'c-1' });
    return versions.flatMap((envelope) =>
      statements.next({
        snapshotId: String(envelope['snapshot_id']),
        generatedAt: String(envelope['generated_at']),
        text: canonicalize(envelope),
      }),
    );
  };
  const exported = statesOf(company);
  const again = envelopesOfBods(exported, '').filter(({ subject }) => Object(subject).subject_id === 'c-1');
  expect(again.map(({ attributes }) => attributes)).toEqual(company.map(({ attributes }) => attributes));
  const facts = (statements: readonly JsonObject[]) =>
    statements.map(({ recordId, recordStatus, recordDetails, statementDate }) => [
      ...[recordId, recordStatus, statementDate, recordDetails],
    ]);
  expect(facts(statesOf(again))).toEqual(facts(exported));
});

const ENTITY = { recordId: 'c-9', recordType: 'entity', recordDetails: {}, statementDate: '2026-01-05' };

it('envelopesOfBods merges records that name the same subject', () => {
  const registered = { ...ENTITY, recordDetails: { entityType: { type: 'registeredEntity' }, name: 'Nine' } };
  const renamed = {
    ...ENTITY,
    recordId: 'organization/c-9',
    statementDate: '2026-01-06',
    recordDetails: { name: 'Ten' },
  };
  const versions = envelopesOfBods([registered, renamed], '').map((envelope) => envelope['snapshot_version']);
  expect(versions).toEqual([1, 2]);
});

it('envelopesOfBods returns a valid envelope for an identifier __proto__ and an incomplete time', () => {
  const identifiers = [{ id: '7', schemeName: '__proto__' }];
  const source = { type: ['verified'], retrievedAt: '2026' };
  const [envelope] = envelopesOfBods([{ ...ENTITY, recordDetails: { identifiers }, source }], '');
  expect(JSON.stringify(envelope)).toContain('"identifiers":{"__proto__":"7"}');
  expect(validateEnvelope(envelope ?? null)).toBe(envelope);
});

it('envelopesOfBods refuses too many relationships on too many dates of one subject', () => {
  const relation = (index: number) => ({
    ...{ recordId: `r-${index}`, recordType: 'relationship' },
    recordDetails: { subject: 'c-9', interestedParty: `p-${index}`, interests: [{ type: 'shareholding' }] },
    statementDate: new Date(Date.UTC(2000, 0, 1 + index)).toISOString().slice(0, 10),
  });
  const statements = Array.from({ length: 300 }, (_, index) => relation(index));
  expect(envelopesOfBods(statements.slice(0, 100), '', 1_000_000)).toHaveLength(100);
  expect(() => envelopesOfBods(statements, '', 1_000_000)).toThrow(
    expect.objectContaining({ code: 'payload_too_large' }),
  );
  // Repetitions of one statement create no version, but take as long.
  const again = statements.map((statement) => ({ ...relation(0), statementDate: statement.statementDate }));
  expect(() => envelopesOfBods(again, '', 100_000)).toThrow(expect.objectContaining({ code: 'payload_too_large' }));
});

it.each<[string, unknown, string]>([
  ['an object instead of a list', {}, ''],
  ['a statement without an id', [{}], '/0/recordId'],
  ['an unknown record type', [{ recordId: 'a', recordType: 'x' }], '/0/recordType'],
  ['a statement without details', [{ recordId: 'a', recordType: 'entity' }], '/0/recordDetails'],
  ['a statement without a date', [{ recordId: 'a', recordType: 'entity', recordDetails: {} }], '/0/statementDate'],
  ['a date in another format', [{ ...ENTITY, statementDate: 'Jan 5 2026 (see there)' }], '/0/statementDate'],
  ['a day that does not exist', [{ ...ENTITY, statementDate: '2026-02-30' }], '/0/statementDate'],
])('envelopesOfBods refuses %s, and names the place', (_, statements, path) => {
  expect(() => envelopesOfBods(JSON.parse(JSON.stringify(statements)), '')).toThrow(
    expect.objectContaining({ code: 'validation_error', details: [expect.objectContaining({ path })] }),
  );
});
