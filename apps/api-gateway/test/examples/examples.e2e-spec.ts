import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseStoredJson, seal, validateEnvelope } from '@iss/domain';
import type { Response } from 'supertest';
import { APPLIED_ENVELOPE, ENVELOPE_EXAMPLE, LOG_KEYS_EXAMPLE } from '@iss/contract';
import { Members } from '@iss/proof';
import { verifyMapAnswer } from '@iss/proof/complete';
import { parsePolicy } from '@iss/tlog';
import { ARCHIVES_EVERYTHING } from '../../../../tools/testing/archive-mode';
import { isJson, list, member, type Operation, operationsOf } from '../../../../tools/testing/conformance';
import { TEST_VRF_KEY, TEST_VRF_SECRET } from '../../../../tools/testing/vrf-key';
import { startGateway, type TestGateway } from '../gateway';
import { byKind, byType, SEALED } from './comparison';
import {
  contentOf,
  exampleOf,
  exampleQuery,
  examplesOf,
  executionsOf,
  idOf,
  JSON_TYPE,
  objectsOf,
  parametersOf,
  queryValuesOf,
  requestTypeOf,
  successesOf,
} from './documented';
import { EXAMPLE_KEY_RING, ExampleWorld, type Stage, STAGES } from './world';

type Json = Record<string, unknown>;
type Caller = 'alice' | 'bob' | 'carol';

/** The stage and the caller of an operation. */
interface Setting {
  stage: Stage;
  /** Null means without a token. */
  caller: Caller | null;
}

const USUAL: Setting = { stage: 'in use', caller: 'alice' };
/**
 * Operations that need another setting than the usual one: by operationId, and by status if several statuses are
 * successes.
 */
const SETTINGS: Readonly<Record<string, Partial<Setting>>> = {
  createTenant: { stage: 'before all' },
  createEntityState: { stage: 'tenants' },
  importEntityStates: { stage: 'tenants' },
  createLegacyEntityState: { stage: 'tenants', caller: null },
  'proposeUpdate 201': { stage: 'first version' },
  'proposeSubjectUpdate 201': { stage: 'first version' },
  diffVersions: { stage: 'second version' },
  diffVersionsAcrossTenants: { stage: 'second version' },
  diffSnapshots: { stage: 'second version' },
  diffSnapshotsAcrossTenants: { stage: 'second version' },
  createGrant: { stage: 'first version' },
  'createGrant 202': { stage: 'to be erased' },
  listPendingGrants: { stage: 'to be erased' },
  confirmGrant: { stage: 'to be erased', caller: 'carol' },
  cancelPendingGrant: { stage: 'to be erased' },
  listSubjects: { stage: 'second version' },
  createGrants: { stage: 'first version' },
  listAccessibleSubjects: { caller: 'bob' },
  acceptGrant: { caller: 'bob' },
  listDisclosures: { caller: 'bob' },
  createRefreshRequest: { caller: 'bob' },
  cancelRefreshRequest: { caller: 'bob' },
  createTransferOffer: { stage: 'first version' },
  getCheckpoint: { stage: 'logged', caller: null },
  getJwtVcIssuer: { caller: null },
  getIssuer: { caller: null },
  getCredentialIssuer: { caller: null },
  getAuthorizationServer: { caller: null },
  createWalletToken: { caller: null },
  createNonce: { caller: null },
  issueOfferedCredential: { caller: null },
  createPresentation: { caller: null },
  getStatusList: { caller: null },
  getLogKeys: { stage: 'logged', caller: null },
  getConsistencyProof: { stage: 'logged', caller: null },
  getSnapshotLogProof: { stage: 'logged' },
  getSnapshotLogProofAcrossTenants: { stage: 'logged' },
  getGrantLogProof: { stage: 'logged' },
  getOwnerLogProof: { stage: 'logged' },
  listAccessHistory: { stage: 'logged' },
  listOwnerHistory: { stage: 'logged' },
  listChanges: { stage: 'logged' },
  requestErasure: { stage: 'logged' },
  listErasures: { stage: 'to be erased' },
  listTenantErasures: { stage: 'to be erased' },
  getErasure: { stage: 'to be erased' },
  confirmErasure: { stage: 'to be erased', caller: 'carol' },
  cancelErasure: { stage: 'to be erased' },
  getErasureLogProof: { stage: 'erased' },
  getLatestProof: { stage: 'mapped' },
  getAbsenceProof: { stage: 'mapped' },
  getTenantAbsenceProof: { stage: 'mapped' },
  getGrantStateProof: { stage: 'mapped' },
  listInvitations: { caller: 'carol' },
  listBlockedTenants: { caller: 'carol' },
  acceptInvitation: { caller: 'carol' },
  leaveTenant: { caller: 'carol' },
  blockTenant: { caller: 'carol' },
  acceptTransferOffer: { caller: 'carol' },
  declineTransferOffer: { caller: 'carol' },
};
/** Answers of which a test can predict only the members, because they describe the running process or are random. */
const OF_THE_PROCESS = [
  ...['getMeta', 'getProtectedResource', 'createIssuingKey', 'issueCredential', 'createCredentialOffer'],
  ...['createWalletToken', 'createNonce', 'getCredentialIssuer', 'createPresentationRequest'],
];
/**
 * Parameters with which the answer is not the one of the example: a bundle, a past moment, or a part of the items. Of
 * several searches, a request sends only one.
 */
const MAKING_ANOTHER_ANSWER = [
  'proofs',
  'format',
  'after',
  'type',
  'from_as_of',
  'as_of',
  'overdue',
  'evidence_status',
  'evidence_id',
  'subject_id_prefix',
  'identifier',
  'q',
];
/**
 * Values for queries that exist in this story: the grant is the second entry of the log, and the owner the fourth. A
 * bundle consists of lines, each side of a diff is named by its version, and the log has no map for these reads.
 */
const NOT_IN_THE_STORY = [
  'listGrants subject_type *',
  'listAudit subject_type *',
  'getGrantLogProof tree_size 1',
  'getGrantLogProof fact changed',
  'getOwnerLogProof tree_size 1',
  'getErasureLogProof tree_size 1',
  // The example of the stream has no records.
  'getAbsenceProof records_from 2147483647',
  'getTenantAbsenceProof records_from 2147483647',
  'exportSnapshots proofs log',
  'exportSnapshotsAcrossTenants proofs log',
  ...['diffVersions', 'diffVersionsAcrossTenants'].flatMap((id) =>
    ['from_as_of', 'as_of'].map((name) => `${id} ${name} 2026-01-31T12:00:00Z`),
  ),
  ...['getSubject', 'getLatestSnapshot', 'getSnapshotVersion', 'getSnapshot', 'listSnapshots', 'listHistory'].flatMap(
    (id) => [`${id} verify complete`, `${id}AcrossTenants verify complete`],
  ),
];

/** Requests that do not lead to this success. */
const NOT_ANSWERED_SO = [
  ...['createGrant 202 latest', 'createGrant 202 part'],
  // A proof is signed for the moment.
  'issueOfferedCredential 200 proof',
  'createPresentation 200 answer',
  // The documented gateway has no archive.
  ...(ARCHIVES_EVERYTHING ? ['getReadiness 200 no body'] : []),
];

const document: unknown = JSON.parse(readFileSync(resolve(__dirname, '../../../../openapi.json'), 'utf8'));
const operations = operationsOf(document);

let gateway: TestGateway;
let world: ExampleWorld;
const tokens = new Map<Caller, string>();

beforeAll(async () => {
  gateway = await startGateway({
    OIDC_PROJECT_ID: 'dev',
    LOG_VRF_KEY: TEST_VRF_SECRET,
    SECRETS_KEYS: EXAMPLE_KEY_RING,
  });
  world = await ExampleWorld.open(gateway.databaseUrl);
  for (const caller of ['alice', 'bob', 'carol'] as const) tokens.set(caller, await gateway.issuer.mint(caller));
});
afterAll(async () => {
  await world?.close();
  await gateway?.close();
});

interface Call {
  query?: Json;
  body?: unknown;
  headers?: Record<string, string>;
}

/** Sends the request with the examples of its path, at its stage. The answer must conform to the document. */
async function execute(
  operation: Operation,
  status: string,
  { query = {}, body, headers = {} }: Call,
): Promise<Response> {
  const setting = settingOf(operation, status);
  await prepare(operation, setting);
  return send(operation, setting.caller, { query, body, headers });
}

/** A read does not change the world, unless a grantee reads, which the service records as a disclosure. */
async function prepare({ method }: Operation, { stage, caller }: Setting): Promise<void> {
  if (method === 'get' && caller !== 'bob') return world.show(stage);
  return world.reset(stage);
}

function settingOf(operation: Operation, status: string): Setting {
  const id = idOf(operation);
  return { ...USUAL, ...SETTINGS[id], ...SETTINGS[`${id} ${status}`] };
}

function send(
  operation: Operation,
  caller: Caller | null,
  { query = {}, body, headers = {} }: Call,
): Promise<Response> {
  const examples = new Map(parametersOf(operation, 'path').map(({ name, example }) => [name, String(example)]));
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(examples.get(name) ?? ''));
  const search = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)])).toString();
  const token = caller === null ? null : (tokens.get(caller) ?? '');
  const request = gateway.withToken(token, operation.method, search === '' ? path : `${path}?${search}`).set(headers);
  if (body === undefined) return request.then();
  const type = requestTypeOf(operation);
  return request
    .type(type)
    .send(type === JSON_TYPE ? JSON.stringify(body) : isJson(body) ? body : String(body))
    .then();
}

/** Parses an answer by its media type: as one document, or one per line. */
function readAnswer(type: string, { text, body }: Response): unknown {
  if (type === 'text/plain' || type === 'application/statuslist+jwt') return text;
  if (type !== 'application/x-ndjson') return body;
  const lines = text.split('\n');
  expect(lines.pop()).toBe('');
  expect(lines).toHaveLength(1);
  return JSON.parse(lines.join());
}

/** Reads of one stage run concurrently, because they do not change the world. */
const inTurn = operations.toSorted((one, other) => turnOf(one) - turnOf(other));

function turnOf(operation: Operation): number {
  const { stage } = settingOf(operation, successesOf(operation)[0] ?? '');
  return operation.method === 'get' ? STAGES.indexOf(stage) : STAGES.length;
}

describe.each(inTurn.map((operation) => [idOf(operation), operation] as const))('%s', (id, operation) => {
  const query = Object.fromEntries(
    Object.entries(exampleQuery(operation)).filter(([name]) => !MAKING_ANOTHER_ANSWER.includes(name)),
  );

  it('has valid examples', () => {
    for (const [at, example] of examplesOf(operation)) gateway.checkValue(at, example);
  });

  const executions = executionsOf(operation).filter(
    ({ status, name }) => !NOT_ANSWERED_SO.includes(`${id} ${status} ${name}`),
  );
  if (executions.length === 0) return;
  it.each(executions)('returns $status $type for $name as documented', async ({ status, type, body, isFirst }) => {
    const headers = type === '' ? {} : { Accept: type };
    const answer = await execute(operation, status, { query, body, headers });
    expect([answer.status, answer.text]).toEqual([Number(status), answer.text]);
    if (type === '') return;
    const documented = member(contentOf(operation, status), type)['example'];
    const given = readAnswer(type, answer);
    // The documented answer is that to the first request.
    if (!isFirst || OF_THE_PROCESS.includes(id)) expect(byType(given, documented)).toEqual(byType(documented, given));
    else if (operation.method === 'get') expect(byKind(given, SEALED)).toEqual(byKind(documented, SEALED));
    else expect(byKind(given)).toEqual(byKind(documented));
  });

  const values = queryValuesOf(operation).filter(
    ({ name, value }) => !NOT_IN_THE_STORY.includes(`${id} ${name} ${String(value)}`),
  );
  if (values.length > 0) {
    it('accepts the documented values of its query, and refuses others', async () => {
      const [status = ''] = successesOf(operation);
      const setting = settingOf(operation, status);
      const { caller } = setting;
      await prepare(operation, setting);
      for (const { name, value, isTaken } of values) {
        const answer = await send(operation, caller, { query: { ...query, [name]: value } });
        const expected = isTaken ? [Number(status), []] : [400, [`/query/${name}`]];
        expect([name, value, answer.status, pathsOf(answer)]).toEqual([name, value, ...expected]);
      }
    });
  }

  const condition = parametersOf(operation, 'header').find(({ name }) => name === 'If-None-Match');
  if (condition !== undefined) {
    it('returns 304 for the ETag of its example', async () => {
      const answer = await execute(operation, '200', {
        query,
        headers: { 'If-None-Match': String(exampleOf(condition)) },
      });
      expect([answer.status, answer.headers['etag']]).toEqual([304, exampleOf(condition)]);
    });
  }

  const key = parametersOf(operation, 'header').find(({ name }) => name === 'Idempotency-Key');
  if (key !== undefined) {
    it('returns the same answer again for its Idempotency-Key', async () => {
      const status = successesOf(operation).at(-1) ?? '';
      const body = executions.find((one) => one.status === status)?.body;
      const call = { body, headers: { 'Idempotency-Key': String(exampleOf(key)) } };
      const first = await execute(operation, status, call);
      const again = await send(operation, settingOf(operation, status).caller, call);
      expect([first.status, again.status, again.text]).toEqual([Number(status), Number(status), first.text]);
      expect(again.headers['idempotency-replayed']).toBe('true');
    });
  }
});

function pathsOf({ body }: Response): unknown[] {
  return list(member(body, 'error')['details']).map(({ path }) => path);
}

it('the hashes in the examples match their envelopes', () => {
  const [first, second] = [ENVELOPE_EXAMPLE, APPLIED_ENVELOPE].map(
    (example) => seal(validateEnvelope(parseStoredJson(JSON.stringify(example)))).hash,
  );
  const shown = objectsOf(document).filter(
    (value) => 'envelope_hash' in value && typeof value['snapshot_id'] === 'string',
  );
  expect(shown.length).toBeGreaterThan(20);
  for (const { snapshot_id, envelope_hash, prev_hash } of shown) {
    const isFirst = snapshot_id === ENVELOPE_EXAMPLE.snapshot_id;
    expect([envelope_hash, prev_hash]).toEqual(isFirst ? [first, null] : [second, first]);
  }
});

it.each(Object.keys(member(document, 'webhooks')))('the webhook %s has a valid example', (type) => {
  const at = ['webhooks', type, 'post', 'requestBody', 'content', 'application/json'];
  const media = at.reduce(member, { webhooks: member(document, 'webhooks') });
  gateway.checkValue([...at, 'schema'], media['example']);
});

it('the map proofs in the examples are valid', async () => {
  const trust = { policy: parsePolicy(LOG_KEYS_EXAMPLE.policy ?? ''), vrfKey: TEST_VRF_KEY };
  const shown = objectsOf(document).filter((value) => 'map' in value && 'checkpoint' in member(value, 'map'));
  expect(shown).toHaveLength(4);
  for (const one of shown) await verifyMapAnswer(Members.parse('The example', JSON.stringify(one)), trust);
});

it('every setting belongs to an operation', () => {
  const ids = operations.map(idOf);
  const named = [...Object.keys(SETTINGS), ...OF_THE_PROCESS].map((name) => name.split(' ')[0]);
  expect(named.filter((name) => name === undefined || !ids.includes(name))).toEqual([]);
});
