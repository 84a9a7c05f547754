import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Ajv from 'ajv/dist/2020';
import addFormats from 'ajv-formats';
import { getAt } from '../json/pointer';
import type { JsonObject } from '../json/value';
import { BodsStatements } from './statements';

// The validator refuses URNs without a namespace, so that the schemas get other ids.
const schemaOf = (name: string): object =>
  JSON.parse(
    readFileSync(join(__dirname, 'testing', `${name}.json`), 'utf8').replaceAll('urn:', 'https://bods.example/'),
  );

const ajv = new Ajv({ strict: false, allErrors: true });
addFormats(ajv);
for (const name of ['entity-record', 'person-record', 'relationship-record', 'components'])
  ajv.addSchema(schemaOf(name));
const isValid = ajv.compile(schemaOf('statement'));

const ACME = { subjectType: 'organization', subjectId: 'acme:c-77' };

const ATTRIBUTES = {
  legal: { legal_name: 'Harbour Works Ltd', legal_form: 'Private limited company', founded: '2001-02-03' },
  jurisdiction: { country: 'IE' },
  address: { street: '1 Quay', postal_code: 'H91', city: 'Galway', country: 'IE' },
  identifiers: { lei: '000000FICT0000000038', registration: 'IE 999777', odd: 7 },
  officers: {
    'p-1042': { subject: 'individual/acme:p-1042', role: 'director', since: '2021-05-01' },
    'p-1043': { subject: 'individual/acme:p-1043', role: 'company_secretary', since: '2023-01-15' },
  },
  owners: {
    'p-1042': { subject: 'individual/acme:p-1042', kind: 'direct', percent: '62.5', since: '2021-05-01' },
    'a/b': { name: 'Somebody', percent: 37.5 },
  },
};

function envelope(attributes: JsonObject): string {
  return JSON.stringify({
    attributes,
    evidence: [
      {
        evidence_id: 'e-1',
        evidence_type: 'registry_extract',
        source: 'Register',
        captured_at: '2026-03-02T09:10:00Z',
      },
      {
        evidence_id: 'e-2',
        evidence_type: 'ownership_declaration',
        source: 'Board',
        captured_at: '2026-02-20T12:00:00Z',
      },
    ],
    attribute_paths: {
      '/attributes/legal': [{ evidence_id: 'e-1', evidence_type: 'registry_extract' }],
      '/attributes/owners/p-1042': [{ evidence_id: 'e-2', evidence_type: 'ownership_declaration' }],
    },
  });
}

const versionOf = (number: number, attributes: JsonObject) => ({
  snapshotId: `00000000-0000-4000-8000-00000000000${number}`,
  generatedAt: `2026-03-0${number}T10:00:00Z`,
  text: envelope(attributes),
});

/** Returns the statements of each version, after the schema of the standard accepted them. */
function stated(ref: typeof ACME, ...versions: readonly JsonObject[]): JsonObject[][] {
  const statements = new BodsStatements(ref);
  return versions.map((attributes, index) => {
    const found = statements.next(versionOf(index + 1, attributes));
    isValid(found);
    expect(isValid.errors).toBeNull();
    return found;
  });
}

const short = ({ recordId, recordStatus }: JsonObject): string => `${String(recordStatus)} ${String(recordId)}`;

it('BodsStatements returns a company, its owners, and the officers that BODS can express', () => {
  const [statements = []] = stated(ACME, ATTRIBUTES);
  expect(statements.map(short)).toEqual([
    'new organization/acme:c-77',
    'new organization/acme:c-77#/owners/p-1042',
    'new organization/acme:c-77#/owners/a~1b',
    'new organization/acme:c-77#/officers/p-1042',
  ]);
  const [company, owner, unlinked] = statements;
  expect(company).toMatchObject({
    declarationSubject: 'organization/acme:c-77',
    recordType: 'entity',
    source: { type: ['officialRegister'], description: 'Register', retrievedAt: '2026-03-02T09:10:00Z' },
    recordDetails: {
      entityType: { type: 'registeredEntity', details: 'Private limited company' },
      name: 'Harbour Works Ltd',
      foundingDate: '2001-02-03',
      jurisdiction: { name: 'Ireland', code: 'IE' },
      identifiers: [
        { id: '000000FICT0000000038', scheme: 'XI-LEI', schemeName: 'lei' },
        { id: 'IE 999777', schemeName: 'registration' },
      ],
      addresses: [{ type: 'registered', address: '1 Quay, Galway', postCode: 'H91' }],
    },
  });
  expect(owner).toMatchObject({
    source: { type: ['selfDeclaration'] },
    recordDetails: {
      subject: 'organization/acme:c-77',
      interestedParty: 'individual/acme:p-1042',
      interests: [
        { type: 'shareholding', directOrIndirect: 'direct', share: { exact: 62.5 }, startDate: '2021-05-01' },
      ],
    },
  });
  expect(unlinked).toMatchObject({ recordDetails: { interestedParty: { reason: 'unknown' } } });
});

it.each([
  [0, { exact: 0 }],
  ['100', { exact: 100 }],
  [-1, undefined],
  [100.5, undefined],
  ['most', undefined],
])('BodsStatements states %j percent as the share %j', (percent, share) => {
  const [[, owner] = []] = stated(ACME, { ...ATTRIBUTES, owners: { a: { name: 'A', percent } } });
  expect(getAt(owner ?? {}, ['recordDetails', 'interests', '0', 'share'])).toEqual(share);
});

const UK = { name: 'United Kingdom', code: 'GB' };

it('BodsStatements states all attributes of an entity that BODS has', () => {
  const [[statement] = []] = stated(
    { subjectType: 'entity', subjectId: 't' },
    {
      legal: { legal_name: 'T', form: 'Trust', incorporated_on: '2001-02-03', dissolution_date: '2020-02-30' },
      address: 'At home',
      contact: { address: { street: '1 Quay', region: 'North', city: 'Leith', postal_code: 'EH6', country: 'GB' } },
    },
  );
  expect(statement?.['recordDetails']).toEqual({
    isComponent: false,
    entityType: { type: 'legalEntity', details: 'Trust' },
    name: 'T',
    addresses: [
      { type: 'registered', address: 'At home' },
      { type: 'business', address: '1 Quay, Leith, North', postCode: 'EH6', country: UK },
    ],
    // No calendar has the day of the dissolution.
    foundingDate: '2001-02-03',
  });
});

it('BodsStatements states all attributes of a person that BODS has', () => {
  const [[statement] = []] = stated(
    { subjectType: 'individual', subjectId: 'p' },
    {
      biographic: {
        name: { formatted_name: 'Dr Ada L', given_name: 'Ada', family_name: 'L' },
        birth_date: '1990-01-02',
        death_date: '2020-03-04',
        nationality: ['GB'],
      },
      contact: { address: 'There' },
      identifiers: { LEI: '1' },
    },
  );
  expect(statement?.['recordDetails']).toEqual({
    isComponent: false,
    personType: 'knownPerson',
    names: [{ type: 'legal', fullName: 'Dr Ada L', givenName: 'Ada', familyName: 'L' }],
    nationalities: [UK],
    identifiers: [{ id: '1', scheme: 'XI-LEI', schemeName: 'LEI' }],
    addresses: [{ type: 'residence', address: 'There' }],
    birthDate: '1990-01-02',
    deathDate: '2020-03-04',
  });
});

it.each<[string, JsonObject, JsonObject | undefined]>([
  ['owners', { kind: 'indirect', until: '2026-01-01' }, { type: 'shareholding', directOrIndirect: 'indirect', endDate: '2026-01-01' }], // prettier-ignore
  ['owners', { kind: 'voting' }, { type: 'votingRights', directOrIndirect: 'unknown' }],
  ['owners', { kind: 'trustee' }, { type: 'trustee', directOrIndirect: 'unknown' }],
  ['officers', { role: 'chair' }, { type: 'boardChair', directOrIndirect: 'unknown', details: 'chair' }],
  ['officers', { role: 'auditor' }, undefined],
])('BodsStatements states one of the %s, %j, as %j', (group, member, interest) => {
  const [[, relation] = []] = stated(ACME, { [group]: { a: { name: 'A', ...member } } });
  expect(getAt(relation ?? {}, ['recordDetails', 'interests', '0'])).toEqual(interest);
});

it('BodsStatements joins the sources of a record, with the latest time', () => {
  const item = (id: string, type: string, source: string, times: JsonObject) => ({
    ...{ evidence_id: id, evidence_type: type, source, captured_at: '2026-01-01T00:00:00Z', ...times },
  });
  const text = JSON.stringify({
    attributes: { legal: { legal_name: 'A' } },
    evidence: [
      item('e-1', 'invoice', 'B', { retrieved_at: '2026-01-03T00:00:00Z' }),
      item('e-2', 'registry_extract', 'A', { captured_at: '2026-01-02T00:00:00Z' }),
      item('e-3', 'attestation', 'C', { captured_at: '2026-01-09T00:00:00Z' }),
    ],
    attribute_paths: { '/attributes/legal': [{ evidence_id: 'e-1' }, { evidence_id: 'e-2' }] },
  });
  const [statement] = new BodsStatements(ACME).next({ ...versionOf(1, {}), text });
  expect(statement?.['source']).toEqual({
    type: ['officialRegister', 'thirdParty'],
    description: 'B; A',
    retrievedAt: '2026-01-03T00:00:00Z',
    assertedBy: [{ name: 'B' }, { name: 'A' }],
  });
});

it('BodsStatements repeats a record only if it changed, and closes it if it was removed', () => {
  const { 'p-1042': first } = ATTRIBUTES.owners;
  const versions = stated(
    ACME,
    ATTRIBUTES,
    { ...ATTRIBUTES, contact: { email: 'a@b' } },
    { ...ATTRIBUTES, owners: { 'p-1042': { ...first, percent: '70' } } },
    { ...ATTRIBUTES, owners: { 'p-1042': { ...first, percent: '70' } }, officers: {} },
  );
  expect(versions.map((statements) => statements.map(short))).toEqual([
    expect.any(Array),
    [],
    ['updated organization/acme:c-77#/owners/p-1042', 'closed organization/acme:c-77#/owners/a~1b'],
    ['closed organization/acme:c-77#/officers/p-1042'],
  ]);
});

it('BodsStatements returns equal statements for equal versions, and new ids for a change', () => {
  expect(stated(ACME, ATTRIBUTES)).toEqual(stated(ACME, ATTRIBUTES));
  const ids = stated(ACME, ATTRIBUTES, { legal: { legal_name: 'Other' } })
    .flat()
    .map(({ statementId }) => statementId);
  expect(new Set(ids).size).toBe(ids.length);
});

it.each<[string, JsonObject, JsonObject]>([
  [
    'a person with a name',
    { biographic: { name: { given_name: 'Ada', family_name: 'L' }, date_of_birth: '1990-01-02', nationality: 'CH' } },
    { personType: 'knownPerson', names: [{ type: 'legal', fullName: 'Ada L' }], birthDate: '1990-01-02' },
  ],
  ['a person without a name', {}, { personType: 'unknownPerson' }],
  [
    'values of unexpected types',
    {
      biographic: { name: 'x', date_of_birth: 'soon', nationality: ['CH', 7, 'Atlantis'] },
      residence: 'Here',
      identifiers: [],
    },
    {
      personType: 'unknownPerson',
      nationalities: [{ code: 'CH' }, { name: 'Atlantis' }],
      addresses: [{ address: 'Here' }],
    },
  ],
])('BodsStatements returns a person record for %s', (_, attributes, details) => {
  const [[statement] = []] = stated({ subjectType: 'individual', subjectId: 'p' }, attributes);
  expect(statement).toMatchObject({ recordType: 'person', recordDetails: details });
});
