import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import addFormats from 'ajv-formats';
import Ajv2020, { type ErrorObject, type ValidateFunction } from 'ajv/dist/2020';
import type { Response } from 'supertest';
import { times } from '../../../tools/testing/hostile/client';
import { isJson, list, member, type Operation, operationsOf, resolved } from '../../../tools/testing/conformance';
import { idOf, parametersOf, requestsOf, requestTypeOf } from './examples/documented';
import { EXAMPLE_KEY_RING, ExampleWorld, type Stage } from './examples/world';
import { startGateway, type TestGateway } from './gateway';

type Json = Record<string, unknown>;

const AT_ONCE = 8;

/** Bodies of an operation. Each is a change of its first example; a member that is undefined is omitted. */
interface Bodies {
  stage: Stage;
  caller?: 'bob';
  /** Bodies that the document and the service accept. */
  good: readonly Json[];
  /** Bodies that both refuse at this place, and the service with this code. */
  bad: readonly (readonly [pointer: string, change: Json, code?: string])[];
}

const ORGANIZATION = { subject_type: 'organization', subject_id: 'acme-corp' };
const INDIVIDUAL = { subject_type: 'individual', subject_id: 'jane' };
const EVIDENCE = { evidence_id: 'ev-1', evidence_type: 'passport', source: 'x', captured_at: '2026-01-15T09:00:00Z' };
const AUDIT = { created_by: 'x', created_at: '2026-01-15T09:00:00Z', source: 'x' };
const RENAME = { op: 'replace', path: '/attributes/legal/legal_name', value: 'Acme Holding AG' };
const patch = (operation: Json): Json => ({ patch_ops: [operation] });
const wrongPatches = (...others: Bodies['bad']): Bodies['bad'] => [
  ['/patch_ops', { patch_ops: undefined }],
  ['/patch_ops', { patch_ops: null }],
  ['/patch_ops', { patch_ops: 'replace' }],
  ['/patch_ops/0', { patch_ops: ['replace'] }],
  ['/patch_ops/0/op', patch({ ...RENAME, op: 'upsert' })],
  ['/patch_ops/0/op', patch({ path: RENAME.path, value: 1 })],
  ['/patch_ops/0/path', patch({ op: 'remove' })],
  ['/patch_ops/0/path', patch({ ...RENAME, path: 'attributes' })],
  ['/patch_ops/0/value', patch({ op: 'add', path: '/attributes/x' })],
  ['/base_snapshot_version', { base_snapshot_version: 0 }],
  ['/base_snapshot_version', { base_snapshot_version: '1' }],
  ['/base_snapshot_version', { base_snapshot_version: 1.5 }],
  ['/base_snapshot_version', { base_snapshot_version: 2_147_483_648 }],
  ['/base_snapshot_version', { base_snapshot_version: undefined }],
  ['/subject_id', { subject_id: '' }],
  ['/subject_id', { subject_id: 5 }],
  ['/request_id', { request_id: '' }],
  ['/request_id', { request_id: 7 }],
  ['/request_id', { request_id: 'a\u0000b' }],
  ['/unknown', { unknown: 1 }],
  ...others,
];

const ENVELOPES: Bodies = {
  stage: 'tenants',
  good: [
    {},
    { attributes: {} },
    { attribute_paths: undefined },
    { evidence: [], attribute_paths: undefined },
    { extension: { any: 'thing' } },
    { subject: INDIVIDUAL, attributes: { biographic: { name: { family_name: 'Doe' } } } },
    { subject: INDIVIDUAL, attributes: { contact: {} } },
    { subject: { ...ORGANIZATION, subject_type: 'entity' }, attributes: { legal: {} } },
    { evidence: [{ ...EVIDENCE, hash: { alg: 'sha256', value: 'x' }, notes: 'seen' }] },
  ],
  bad: [
    ...['envelope_version', 'snapshot_id', 'snapshot_version', 'generated_at', 'subject', 'attributes', 'audit'].map(
      (name) => [`/${name}`, { [name]: undefined }] as const,
    ),
    ['/evidence', { evidence: undefined }],
    ['/envelope_version', { envelope_version: 'v2' }],
    ['/snapshot_id', { snapshot_id: 'one' }],
    ['/snapshot_version', { snapshot_version: 0 }],
    ['/snapshot_version', { snapshot_version: 1.5 }],
    ['/generated_at', { generated_at: 'yesterday' }],
    ['/subject/subject_type', { subject: { ...ORGANIZATION, subject_type: 'person' } }],
    ['/subject/subject_id', { subject: { ...ORGANIZATION, subject_id: '' } }],
    ['/subject/subject_id', { subject: { ...ORGANIZATION, subject_id: '.' } }],
    ['/subject/subject_id', { subject: { ...ORGANIZATION, subject_id: '..' } }],
    ['/subject/subject_id', { subject: { ...ORGANIZATION, subject_id: 'a\u0000b' } }],
    ['/subject/subject_id', { subject: { subject_type: 'organization' } }],
    ['/attributes', { attributes: [] }],
    ['/attributes/legal/legal_name', { attributes: { legal: {} } }],
    ['/attributes/legal/legal_name', { attributes: { legal: { legal_name: '' } } }],
    ['/attributes/legal', { attributes: { legal: 'Acme' } }],
    ['/attributes/biographic/name', { subject: INDIVIDUAL, attributes: { biographic: {} } }],
    ['/attributes/biographic/name', { subject: INDIVIDUAL, attributes: { biographic: { name: {} } } }],
    ['/evidence', { evidence: {} }],
    ['/evidence/0/source', { evidence: [{ ...EVIDENCE, source: undefined }] }],
    ['/evidence/0/captured_at', { evidence: [{ ...EVIDENCE, captured_at: 'then' }] }],
    ['/evidence/0/hash/value', { evidence: [{ ...EVIDENCE, hash: { alg: 'sha256' } }] }],
    ['/audit/created_by', { audit: { ...AUDIT, created_by: undefined } }],
    ['/attribute_paths', { attribute_paths: [] }],
    ['/attribute_paths/~1attributes', { attribute_paths: { '/attributes': {} } }],
    [
      '/attribute_paths/~1attributes/0/role',
      { attribute_paths: { '/attributes': [{ evidence_id: 'ev-1', evidence_type: 'passport', role: 'witness' }] } },
    ],
  ],
};

const SUBSCRIPTION_FAULTS: Bodies['bad'] = [
  ['/event_types', { event_types: [] }],
  ['/event_types', { event_types: ['snapshot'] }],
  ['/event_types', { event_types: 'identity.snapshot.created' }],
  ['/target_url', { target_url: 'hooks' }],
  ['/unknown', { unknown: 1 }],
];

const BODIES: Readonly<Record<string, Bodies>> = {
  'POST /v1/tenants': {
    stage: 'before all',
    good: [{}, { slug: undefined }, { chain_enforced: false }],
    bad: [
      ['/tenant_id', { tenant_id: undefined }],
      ['/tenant_id', { tenant_id: '-acme' }, 'invalid_value'],
      ['/tenant_id', { tenant_id: 'x y' }, 'invalid_value'],
      ['/name', { name: undefined }, 'required'],
      ['/name', { name: '' }, 'invalid_value'],
      ['/name', { name: 'a\u0000b' }, 'invalid_value'],
      ['/name', { name: null }],
      ['/name', { name: 1 }, 'invalid_type'],
      ['/slug', { slug: '' }, 'invalid_value'],
      ['/slug', { slug: 'a b' }, 'invalid_value'],
      ['/chain_enforced', { chain_enforced: 'yes' }],
      ['/unknown', { unknown: 1 }],
    ],
  },
  'PATCH /v1/tenants/{tenant_id}': {
    stage: 'in use',
    good: [{}, { name: undefined, slug: 'other' }, { name: undefined, slug: null }, { chain_enforced: false }],
    bad: [
      ['/name', { name: '' }, 'invalid_value'],
      ['/name', { name: 'x'.repeat(257) }, 'invalid_value'],
      ['/slug', { slug: '' }, 'invalid_value'],
      ['/slug', { slug: 'a b' }, 'invalid_value'],
      ['/slug', { slug: 7 }, 'invalid_type'],
      ['/chain_enforced', { chain_enforced: 1 }, 'invalid_type'],
      ['/unknown', { unknown: 1 }, 'unknown_field'],
    ],
  },
  'PUT /v1/tenants/{tenant_id}/members/{principal_id}': {
    stage: 'in use',
    good: [{}, { role: 'tenant_admin' }],
    bad: [
      ['/role', { role: undefined }, 'required'],
      ['/role', { role: 'king' }, 'invalid_value'],
      ['/role', { role: null }, 'invalid_value'],
      ['/principal_type', { principal_type: 'robot' }, 'invalid_value'],
      ['/unknown', { unknown: 1 }, 'unknown_field'],
    ],
  },
  'PUT /v1/tenants/{tenant_id}/principals/{principal_id}': {
    stage: 'in use',
    good: [{}, { principal_type: 'human' }, { tenancy_role: 'member' }, { api_functional_role: 'tenant_editor' }],
    bad: [
      ['/principal_type', { principal_type: 'robot' }, 'invalid_value'],
      ['/tenancy_role', { tenancy_role: 'owner' }, 'invalid_value'],
      ['/api_functional_role', { api_functional_role: 'editor' }, 'invalid_value'],
      ['/allow_counterparty_access', { allow_counterparty_access: 'true' }, 'invalid_type'],
      ['/unknown', { unknown: 1 }, 'unknown_field'],
    ],
  },
  'POST /v1/tenants/{tenant_id}/entity-states': ENVELOPES,
  'POST /v1/entity-states': ENVELOPES,
  'POST /v1/tenants/{tenant_id}/entity-state-updates': {
    stage: 'first version',
    good: [
      {},
      { patch_ops: undefined, operations: [RENAME] },
      { patch_ops: undefined, ops: [RENAME] },
      { patch_ops: [RENAME], ops: [RENAME] },
      { patch_ops: null, operations: [RENAME] },
      { initiated_by: 'registry-sync', initiator: null },
      { initiated_by: 'registry-sync' },
      { initiator: 'registry-sync' },
      patch({ op: 'move', from: '/attributes/legal', path: '/attributes/juridical' }),
      patch({ op: 'copy', from: '/attributes/legal', path: '/attributes/juridical' }),
      patch({ op: 'test', path: '/attributes/jurisdiction', value: { country: 'CH' } }),
    ],
    bad: wrongPatches(
      ['/patch_ops/0/from', patch({ op: 'move', path: '/attributes/x' })],
      ['/base_snapshot_id', { base_snapshot_id: 'one' }],
      ['/subject_id', { subject_id: 'a\u0007' }],
      ['/initiated_by', { initiated_by: '' }],
    ),
  },
  'POST /v1/tenants/{tenant_id}/subjects/{subject_type}/{subject_id}/updates': {
    stage: 'first version',
    good: [{}, patch({ op: 'remove', path: '/attributes/jurisdiction' }), { request_id: undefined }],
    bad: wrongPatches(
      ['/patch_ops/0/op', patch({ op: 'move', from: '/attributes/legal', path: '/attributes/juridical' })],
      ['/subject_id', { subject_id: undefined }],
    ),
  },
  'POST /v1/tenants/{tenant_id}/subjects/{subject_type}/{subject_id}/erasure': {
    stage: 'logged',
    good: [{}, { reference: undefined }],
    bad: [
      ['/versions', { versions: undefined }],
      ['/versions', { versions: [] }],
      ['/versions', { versions: 'some' }],
      ['/versions/0', { versions: [0] }],
      ['/versions/1', { versions: [1, 1.5] }],
      ['/reason', { reason: undefined }],
      ['/reason', { reason: 'x'.repeat(501) }],
      ['/reference', { reference: 'x'.repeat(201) }],
      ['/unknown', { unknown: 1 }],
    ],
  },
  'POST /v1/tenants/{tenant_id}/transfer-offers': {
    stage: 'first version',
    good: [{}, { message: undefined, expires_at: undefined }],
    bad: [
      ['/to_principal_id', { to_principal_id: undefined }, 'required'],
      ['/to_principal_id', { to_principal_id: 'carol' }, 'invalid_value'],
      ['/to_principal_id', { to_principal_id: 'oidc:dev#a\u0000' }],
      ['/message', { message: 'x'.repeat(2_001) }, 'invalid_value'],
      ['/message', { message: 'a\u0000' }, 'invalid_value'],
      ['/expires_at', { expires_at: 'never' }, 'invalid_value'],
      ['/expires_at', { expires_at: 7 }, 'invalid_type'],
      ['/unknown', { unknown: 1 }, 'unknown_field'],
    ],
  },
  'POST /v1/tenants/{tenant_id}/grants': {
    stage: 'first version',
    good: [
      {},
      { expires_at: '2099-01-01T00:00:00Z' },
      { scopes: ['read_diff', 'read_lineage'] },
      { subject_type: '*', subject_id: undefined },
      { subject_type: '*', subject_id: null },
      { subject_type: '*', subject_id: '*', purpose: 'All of it' },
    ],
    bad: [
      ['/subject_id', { subject_id: undefined }],
      ['/subject_id', { subject_id: null }],
      ['/subject_id', { subject_type: '*' }],
      ['/purpose', { purpose: 1 }],
      ['/grantee_tenant_id', { grantee_tenant_id: undefined }],
      ['/grantee_tenant_id', { grantee_tenant_id: '' }],
      ['/subject_type', { subject_type: 'person' }],
      ['/subject_id', { subject_id: '' }],
      ['/subject_id', { subject_id: 'a\u0085' }],
      ['/scopes', { scopes: undefined }],
      ['/scopes', { scopes: [] }],
      ['/scopes', { scopes: ['read_latest', 'read_latest'] }],
      ['/scopes', { scopes: ['write'] }],
      ['/expires_at', { expires_at: 'soon' }],
      ['/unknown', { unknown: 1 }],
    ],
  },
  'POST /v1/tenants/{tenant_id}/grants/batch': {
    stage: 'first version',
    good: [{}],
    bad: [
      ['/grants', { grants: undefined }],
      ['/grants', { grants: {} }],
      ['/unknown', { unknown: 1 }],
    ],
  },
  'PATCH /v1/tenants/{tenant_id}/grants/{grant_id}': {
    stage: 'in use',
    good: [{}, { expires_at: null }, { purpose: null }, { scopes: undefined, purpose: 'x', reason: null }],
    bad: [
      ['/scopes', { scopes: [] }],
      ['/scopes', { scopes: ['write'] }],
      ['/expires_at', { expires_at: 'soon' }],
      ['/purpose', { purpose: 1 }],
      ['/reason', { reason: 'a\u0000' }],
      ['/subject_id', { subject_id: 'acme-corp' }],
    ],
  },
  'POST /v1/subjects/{subject_type}/{subject_id}/refresh-requests': {
    stage: 'in use',
    caller: 'bob',
    good: [{}, { expires_at: '2099-01-01T00:00:00Z' }, { requested_paths: ['/attributes/a~1b'] }],
    bad: [
      ['/requesting_tenant_id', { requesting_tenant_id: undefined }, 'required'],
      ['/requesting_tenant_id', { requesting_tenant_id: '-' }, 'invalid_value'],
      ['/requesting_tenant_id', { requesting_tenant_id: 7 }, 'invalid_type'],
      ['/reason_code', { reason_code: '' }, 'invalid_value'],
      ['/reason_code', { reason_code: 'x'.repeat(129) }, 'invalid_value'],
      ['/reason_code', { reason_code: 'a\nb' }, 'invalid_value'],
      ['/message', { message: 'x'.repeat(2_001) }, 'invalid_value'],
      ['/message', { message: 'a\u0000b' }, 'invalid_value'],
      ['/requested_paths', { requested_paths: '/attributes' }, 'invalid_type'],
      ['/requested_paths/0', { requested_paths: ['attributes'] }, 'invalid_pointer'],
      ['/requested_paths/0', { requested_paths: [''] }, 'invalid_pointer'],
      ['/requested_paths/0', { requested_paths: ['/a~2'] }, 'invalid_pointer'],
      ['/requested_paths/0', { requested_paths: ['/a~'] }, 'invalid_pointer'],
      ['/requested_paths/0', { requested_paths: [7] }, 'invalid_pointer'],
      ['/requested_paths/0', { requested_paths: ['/a\u0000'] }, 'invalid_pointer'],
      ['/requested_paths/0', { requested_paths: [`/${'x'.repeat(1024)}`] }, 'invalid_pointer'],
      ['/expires_at', { expires_at: 'soon' }, 'invalid_value'],
      ['/expires_at', { expires_at: '2999-01-01T00:00:00' }, 'invalid_value'],
      ['/unknown', { unknown: 1 }, 'unknown_field'],
    ],
  },
  'POST /v1/subjects/{subject_type}/{subject_id}/refresh-requests/{refresh_request_id}/fulfill': {
    stage: 'in use',
    good: [
      {},
      { resolved_snapshot_id: undefined, snapshot_id: '5b1f3f4e-1c5e-4a0e-9d0c-2f6f3f0f7a10' },
      { resolved_snapshot_id: null, snapshot_id: '5b1f3f4e-1c5e-4a0e-9d0c-2f6f3f0f7a10' },
    ],
    bad: [
      ['/resolved_snapshot_id', { resolved_snapshot_id: undefined }],
      ['/resolved_snapshot_id', { resolved_snapshot_id: null }],
      ['/resolved_snapshot_id', { resolved_snapshot_id: 'latest' }],
      ['/unknown', { unknown: 1 }],
    ],
  },
  'POST /v1/subjects/{subject_type}/{subject_id}/refresh-requests/{refresh_request_id}/decline': {
    stage: 'in use',
    good: [{}, { reason: '' }, { reason: 'x'.repeat(500) }],
    bad: [
      ['/reason', { reason: undefined }],
      ['/reason', { reason: null }],
      ['/reason', { reason: 'x'.repeat(501) }],
      ['/reason', { reason: 1 }],
      ['/unknown', { unknown: 1 }],
    ],
  },
  'POST /v1/webhook-subscriptions': {
    stage: 'tenants',
    good: [
      {},
      { event_types: undefined, subscribed_event_types: ['refresh_request.created'] },
      { event_types: null, subscribed_event_types: ['refresh_request.created'] },
    ],
    bad: [
      ['/tenant_id', { tenant_id: undefined }],
      ['/tenant_id', { tenant_id: '' }],
      ['/target_url', { target_url: undefined }],
      ['/event_types', { event_types: undefined }],
      ['/event_types', { event_types: null }],
      ...SUBSCRIPTION_FAULTS,
    ],
  },
  'PUT /v1/tenants/{tenant_id}/trusted-issuers/{issuer}': {
    stage: 'in use',
    good: [{}, { vcts: ['one', 'other'] }],
    bad: [
      ['/vcts', { vcts: undefined }],
      ['/vcts', { vcts: 'one' }],
      ['/keys', { keys: {} }],
      ['/roots', { roots: 'one' }],
      ['/unknown', { unknown: 1 }],
    ],
  },
  'POST /v1/tenants/{tenant_id}/attestations': {
    stage: 'in use',
    good: [{}],
    bad: [
      ['/credential', { credential: undefined }],
      ['/credential', { credential: '' }],
      ['/key_binding', { key_binding: 'nonce' }],
      ['/key_binding/nonce', { key_binding: { audience: 'a' } }],
      ['/unknown', { unknown: 1 }],
    ],
  },
  'POST /v1/tenants/{tenant_id}/presentation-requests': {
    stage: 'in use',
    good: [{}, { claims: null, expires_in: 60 }, { vcts: ['a', 'b'], claims: ['/a/0/*/b'] }],
    bad: [
      ['/vcts', { vcts: undefined }],
      ['/vcts', { vcts: 'a' }],
      ['/claims', { claims: 'a' }],
      ['/expires_in', { expires_in: 59 }],
      ['/expires_in', { expires_in: 3_601 }],
      ['/unknown', { unknown: 1 }],
    ],
  },
  'POST /v1/tenants/{tenant_id}/snapshots/{snapshot_id}/credentials': {
    stage: 'in use',
    good: [
      {},
      { paths: null, expires_in: 60 },
      { format: 'dc+sd-jwt', holder_key: null },
      { paths: null, format: 'eddsa-jcs-2022' },
    ],
    bad: [
      ['/paths', { paths: '/attributes' }],
      ['/format', { format: 'jwt' }],
      ['/holder_key', { holder_key: 'key' }],
      ['/expires_in', { expires_in: 59 }],
      ['/expires_in', { expires_in: '60' }],
      ['/profile', { profile: 'owners' }],
      ['/unknown', { unknown: 1 }],
    ],
  },
  'POST /v1/tenants/{tenant_id}/snapshots/{snapshot_id}/credential-offers': {
    stage: 'in use',
    good: [{}, { paths: null, expires_in: 60 }, { has_tx_code: false, profile: null }],
    bad: [
      ['/paths', { paths: '/attributes' }],
      ['/profile', { profile: 'owners' }],
      ['/has_tx_code', { has_tx_code: 'no' }],
      ['/expires_in', { expires_in: 59 }],
      ['/unknown', { unknown: 1 }],
    ],
  },
  'PATCH /v1/webhook-subscriptions/{subscription_id}': {
    stage: 'in use',
    good: [
      {},
      { status: undefined, event_types: ['refresh_request.created'] },
      { event_types: null },
      { status: 'active' },
    ],
    bad: [['/status', { status: 'dead' }], ...SUBSCRIPTION_FAULTS],
  },
  'POST /v1/webhook-subscriptions/{subscription_id}/rotate-secret': {
    stage: 'in use',
    good: [{}, { grace_seconds: 0 }, { grace_seconds: 604_800 }],
    bad: [
      ['/grace_seconds', { grace_seconds: -1 }],
      ['/grace_seconds', { grace_seconds: 604_801 }],
      ['/grace_seconds', { grace_seconds: 1.5 }],
      ['/grace_seconds', { grace_seconds: '60' }],
      ['/unknown', { unknown: 1 }],
    ],
  },
  'POST /v1/webhook-subscriptions/{subscription_id}/deliveries/replay': {
    stage: 'in use',
    good: [{}, { to: '2026-01-16T00:00:00Z', status: 'skipped' }],
    bad: [
      ['/from', { from: undefined }],
      ['/from', { from: 'yesterday' }],
      ['/to', { to: 'now' }],
      ['/status', { status: 'pending' }],
      ['/unknown', { unknown: 1 }],
    ],
  },
};

const document: unknown = JSON.parse(readFileSync(resolve(__dirname, '../../../openapi.json'), 'utf8'));
const nameOf = ({ method, path }: Operation): string => `${method.toUpperCase()} ${path}`;
const operations = operationsOf(document).filter(
  (operation) =>
    'requestBody' in operation.description &&
    requestTypeOf(operation) === 'application/json' &&
    // Wallets may send more, and get errors of another form.
    idOf(operation) !== 'issueOfferedCredential',
);

const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats(ajv);
ajv.addSchema(isJson(document) ? document : {}, 'openapi');
const validators = new Map<string, ValidateFunction>();

let gateway: TestGateway;
let world: ExampleWorld;
const tokens = new Map<string, string>();

beforeAll(async () => {
  gateway = await startGateway({ OIDC_PROJECT_ID: 'dev', SECRETS_KEYS: EXAMPLE_KEY_RING });
  world = await ExampleWorld.open(gateway.databaseUrl);
  for (const caller of ['alice', 'bob']) tokens.set(caller, await gateway.issuer.mint(caller));
});
afterAll(async () => {
  await world.close();
  await gateway.close();
});

it('BODIES has an entry for every operation with a JSON body', () => {
  expect(Object.keys(BODIES).sort()).toEqual(operations.map(nameOf).sort());
});

describe.each(operations.map((operation) => [nameOf(operation), operation] as const))('%s', (name, operation) => {
  const { stage, caller = 'alice', good, bad } = BODIES[name] ?? { stage: 'in use', good: [], bad: [] };
  const example = requestsOf(operation)[0]?.body;
  const changed = (change: Json): Json =>
    isJson(example) ? JSON.parse(JSON.stringify({ ...example, ...change })) : {};
  const schema = ['paths', operation.path, operation.method, 'requestBody', 'content', 'application/json', 'schema'];
  const path = operation.path.replace(/\{(\w+)\}/g, (_, parameter: string) => {
    const described = parametersOf(operation, 'path').find((one) => one['name'] === parameter);
    return encodeURIComponent(String(described?.['example']));
  });
  const send = (body: Json): Promise<Response> =>
    gateway
      .withToken(tokens.get(caller) ?? '', operation.method, path)
      .send(body)
      .then();

  /** For an optional member, null means the same as absent. */
  const body = resolved(
    document,
    member(member(member(operation.description['requestBody'], 'content'), 'application/json'), 'schema'),
  );
  const required = Array.isArray(body['required']) ? body['required'] : [];
  const isFixed = body['additionalProperties'] === false;
  // Another name of the same member, or a member that another one requires.
  const namesAnother = new Set(['patch_ops', 'resolved_snapshot_id', 'event_types', 'subject_id', 'keys']);
  const optional = Object.keys(member(body, 'properties')).filter(
    (property) => isFixed && !required.includes(property) && !namesAnother.has(property),
  );
  // A body without required members must have at least one. There, each member is null alone, without the example.
  const nulls =
    required.length > 0
      ? [Object.fromEntries(optional.map((property) => [property, null]))]
      : optional
          .map((property) => ({ [property]: null }))
          .filter((change) => Object.values(changed(change)).some((value) => value !== null));

  it.each([...good, ...nulls].map((change) => [JSON.stringify(change), change] as const))(
    'accepts %s',
    async (_, change) => {
      await world.reset(stage);
      const answer = await send(changed(change));
      expect({
        document: faultsOf(schema, changed(change)),
        service: [Math.floor(answer.status / 100), answer.text],
      }).toEqual({
        document: [],
        service: [2, answer.text],
      });
    },
  );

  it('refuses each wrong body, and names the place of its fault', async () => {
    await world.reset(stage);
    await times(bad.length, AT_ONCE, async (index) => {
      const [pointer, change, code = expect.any(String)] = bad[index] ?? ['', {}];
      const answer = await send(changed(change));
      const details = list(member(answer.body, 'error')['details']);
      const place = placesAt(pointer, schema, changed(change));
      expect({ change, document: place, service: [answer.status, details] }).toEqual({
        change,
        document: expect.arrayContaining([pointer]),
        service: [400, expect.arrayContaining([expect.objectContaining({ path: pointer, code })])],
      });
    });
  });
});

/** Replaces the pointer and those below it by the pointer itself, because the service names a set and not its items. */
function placesAt(pointer: string, schema: readonly string[], body: Json): string[] {
  return faultsOf(schema, body).map((place) => (place.startsWith(`${pointer}/`) ? pointer : place));
}

/** Returns the places of a body that the document's schema refuses, as JSON Pointers. */
function faultsOf(schema: readonly string[], body: Json): string[] {
  const tokens = schema.map((token) => encodeURIComponent(token.replaceAll('~', '~0').replaceAll('/', '~1')));
  const $ref = `openapi#/${tokens.join('/')}`;
  const validate = validators.get($ref) ?? ajv.compile({ $ref });
  validators.set($ref, validate);
  return validate(body) ? [] : [...new Set((validate.errors ?? []).map(placeOf))];
}

function placeOf({ instancePath, params }: ErrorObject): string {
  const name: unknown = params['missingProperty'] ?? params['additionalProperty'];
  return typeof name === 'string' ? `${instancePath}/${name}` : instancePath;
}
