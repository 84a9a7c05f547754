import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  CREDENTIAL_PROFILES,
  type CredentialProfile,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  vctOf,
} from '@iss/domain';
import { SDJwtVcInstance } from '@sd-jwt/sd-jwt-vc';
import Ajv from 'ajv/dist/2020';
import addFormats from 'ajv-formats';
import { compactVerify, createLocalJWKSet } from 'jose';
import { createIssuingKey, type IssuingKey, publicJwkOf } from './issuing-key';
import { signProfile } from './issue-profile';
import { profileClaims } from './profile-claims';
import { PROFILES } from './profiles';
import { COMPANY, companyContent } from './testing/company';

const FILES: Readonly<Record<CredentialProfile, string>> = {
  ...{ ownership: 'ownership', ubo: 'ubo', control: 'control', company_info: 'company-info' },
};
const schemaOf = (profile: CredentialProfile): JsonObject =>
  JSON.parse(readFileSync(join(__dirname, `testing/we-build/${FILES[profile]}-sd-jwt.json`), 'utf8'));

const ISSUER = 'https://identity.example.com/tenants/acme';
const URI = 'https://identity.example.com/v1/status-lists/1';
const HOLDER_KEY = { kty: 'OKP', crv: 'Ed25519', x: 'KBqqqvdd5FQQiTPg9uAwtVJ2fJTqwCl1O5OzyBtO4I0' };
const CLAIMS = {
  ...{ issuer: ISSUER, issuedAt: new Date('2026-01-15T10:00:00Z'), expiresAt: new Date('2099-01-15T10:00:00Z') },
  ...{ status: { uri: URI, idx: 7 }, holderKey: HOLDER_KEY, log: null },
};

let key: IssuingKey;
beforeAll(async () => {
  key = await createIssuingKey();
});

const sign = (profile: CredentialProfile, content: JsonObject = companyContent()): Promise<string> =>
  signProfile(profile, profileClaims(profile, content), CLAIMS, key);

/** Returns all claims, as another implementation reads them. */
async function readByOthers(credential: string): Promise<JsonObject> {
  const keys = createLocalJWKSet({ keys: [publicJwkOf(key)] });
  const instance = new SDJwtVcInstance({
    hasher: (data: string | ArrayBuffer, alg: string) =>
      createHash(alg.replace('-', ''))
        .update(typeof data === 'string' ? data : Buffer.from(data))
        .digest(),
    verifier: (data: string, signature: string) =>
      compactVerify(`${data}.${signature}`, keys).then(
        () => true,
        () => false,
      ),
    statusListFetcher: async () => '',
    statusValidator: async () => undefined,
  });
  const decoded = await instance.decode(credential);
  if (!(await compactVerify(credential.split('~')[0] ?? '', keys))) throw new Error('not signed');
  return JSON.parse(JSON.stringify(await decoded.getClaims(async (data: string | ArrayBuffer) => hashOf(data))));
}

const hashOf = (data: string | ArrayBuffer): Uint8Array =>
  createHash('sha256')
    .update(typeof data === 'string' ? data : Buffer.from(data))
    .digest();

/** The two differences from the schemas (docs/decisions/0044-credentials-that-wallets-take.md). */
function asPublished(profile: CredentialProfile, { status, cnf, ...claims }: JsonObject): JsonObject {
  if (!isJsonObject(status) || cnf === undefined) throw new Error('no status or no holder');
  const { status_list: standard, ...published } = status;
  expect(standard).toEqual({ uri: URI, idx: 7 });
  return { ...claims, status: published, ...(profile === 'ubo' ? {} : { cnf }) };
}

describe.each(CREDENTIAL_PROFILES)('an attestation of the profile %s', (profile) => {
  it('matches the published schema', async () => {
    const ajv = new Ajv({ strict: false, allErrors: true });
    addFormats(ajv);
    const validate = ajv.compile(schemaOf(profile));
    const claims = await readByOthers(await sign(profile));
    validate(asPublished(profile, claims));
    expect(validate.errors).toBeNull();
    expect(claims['vct']).toBe(vctOf(profile));
  });

  it('has each property of the schema, except those that the model lacks', () => {
    const { claims } = profileClaims(profile, companyContent());
    const found = new Set([...namesIn(claims), ...Object.keys(PROFILES[profile].plain)]);
    const missing = [...propertiesIn(schemaOf(profile))].filter((name) => !found.has(name) && !LACKING.includes(name));
    expect(missing).toEqual([]);
  });

  it('uses only code lists of the schema', () => {
    const codes = new Set(codesIn(schemaOf(profile)).map((list) => JSON.stringify(list.toSorted())));
    expect(codesIn(PROFILES[profile].claims).filter((list) => !codes.has(JSON.stringify(list.toSorted())))).toEqual([]);
  });

  it('hides each claim with a new salt each time', async () => {
    const [first = '', ...disclosures] = (await sign(profile)).split('~');
    const payload = Buffer.from(first.split('.')[1] ?? '', 'base64url').toString();
    expect(payload).not.toMatch(/Anna|Example|1250|2018/);
    const others = (await sign(profile)).split('~');
    expect(disclosures.filter((one) => one !== '' && others.includes(one))).toEqual([]);
  });
});

/** Claims of JWTs that others set, and what has no place in the model. */
const LACKING = [
  ...['vct', 'iss', 'iat', 'exp', 'nbf', 'sub', 'jti', 'cnf', 'status'],
  ...['schema_version', 'trust_anchor_url', 'issuing_entity', 'url', 'data'],
  ...['contact_address', 'person_unique_identifier', 'identifier_unique', 'identifier_issuing_authority'],
];

function namesIn(value: JsonValue): string[] {
  if (Array.isArray(value)) return value.flatMap(namesIn);
  return isJsonObject(value) ? Object.entries(value).flatMap(([name, part]) => [name, ...namesIn(part)]) : [];
}

function propertiesIn(schema: JsonValue): string[] {
  if (Array.isArray(schema)) return schema.flatMap(propertiesIn);
  if (!isJsonObject(schema)) return [];
  const { properties = {} } = schema;
  const names = isJsonObject(properties) ? Object.keys(properties) : [];
  const inside = Object.entries(schema).filter(([name]) => name !== 'cnf' && name !== 'status');
  return [...names, ...inside.flatMap(([, part]) => propertiesIn(part))];
}

/** Returns the lists of codes, in a schema or in a mapping. */
function codesIn(value: unknown): string[][] {
  if (Array.isArray(value)) return value.flatMap(codesIn);
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([name, part]) => {
    const isCodes = (name === 'as' || name === 'enum') && Array.isArray(part);
    return isCodes ? [part.map(String)] : codesIn(part);
  });
}

/** The company with another value at a place. */
function changed(path: readonly string[], value: JsonValue | undefined): JsonObject {
  const company: JsonObject = JSON.parse(JSON.stringify(COMPANY));
  const at = path
    .slice(0, -1)
    .reduce<JsonValue>((part, name) => (isJsonObject(part) ? (part[name] ?? null) : null), company);
  if (!isJsonObject(at)) throw new Error('no such place');
  const name = path.at(-1) ?? '';
  if (value === undefined) delete at[name];
  else at[name] = value;
  return companyContent(company);
}

it.each<[CredentialProfile, string, JsonValue | undefined]>([
  ['ownership', '/owners', undefined],
  ['ownership', '/owners', []],
  ['ownership', '/owners/p-1/since', undefined],
  ['ownership', '/owners/p-1/since', '2018-02-30'],
  ['ownership', '/owners/p-1/percent', '101'],
  ['ownership', '/owners/p-1/percent', 'half'],
  ['ownership', '/owners/p-1/shares', '1.5'],
  ['ownership', '/owners/p-1/kind', 'somehow'],
  ['ownership', '/owners/p-1/interests', []],
  ['ownership', '/owners/p-1/address/country', 'de'],
  ['ownership', '/owners/t-2/entity/arrangement', undefined],
  ['ownership', '/owners/t-2/entity/identifiers', {}],
  ['control', '/controllers/p-1/basis', null],
  ['ubo', '/beneficial_owners/p-1/document/expires_on', undefined],
  ['company_info', '/identifiers/euid', undefined],
  ['company_info', '/identifiers/lei', 'short'],
  ['company_info', '/legal/employees', '-1'],
])('%s requires a valid %s and refuses %j', (profile, path, value) => {
  const { faults } = profileClaims(profile, changed(path.slice(1).split('/'), value));
  expect(faults).toEqual([{ path: `/attributes${path}`, message: expect.any(String) }]);
});

it('an owner needs either a person or an entity, and a beneficial owner needs evidence', () => {
  const both = changed(['owners', 'p-1', 'entity'], {});
  expect(profileClaims('ownership', both).faults[0]?.path).toBe('/attributes/owners/p-1');
  const bare = { ...companyContent(), attribute_paths: {} };
  expect(profileClaims('ubo', bare).faults).toEqual([
    { path: '/attribute_paths/~1attributes~1beneficial_owners~1p-1', message: 'must name evidence' },
  ]);
});

it('company_info omits an absent optional claim', () => {
  const { claims, faults } = profileClaims('company_info', changed(['financials'], undefined));
  expect([faults, 'financial_statements' in claims]).toEqual([[], false]);
});
