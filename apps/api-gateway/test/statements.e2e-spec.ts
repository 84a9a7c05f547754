import { randomUUID } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { PRE_AUTHORIZED_GRANT } from '@iss/contract';
import type { Method } from '../../../tools/testing/conformance';
import { addLineage } from '../../../tools/testing/lineage';
import { waitFor } from '../../../tools/testing/wait-for';
import { encrypted, issued, makeKeys, presented, readRequest } from './foreign-wallet';
import { envelope, startGateway, type User } from './gateway';
import { GrantWorld } from './grant-world';
import { publishLog } from './publish-log';
import { newSubject, pathOf, type Subject } from './read-world';

/** A request that must succeed. Alice owns `acme`, Bob owns `beta` and may use its grants. */
interface Request {
  path: string;
  /** The default is GET, or POST if there is a body. */
  method?: Method;
  body?: object;
  /** Parameters of a form instead of a body. */
  form?: object;
  /** Defaults to Alice. */
  as?: User;
  headers?: Record<string, string>;
}

/** The name of the case, its request, and the statements that the request sends, in order. */
type Row = [name: string, make: () => Request | Promise<Request>, statements: readonly string[]];

const TENANT = '/v1/tenants/acme';
const STATES = `${TENANT}/entity-states`;
const OPS = [{ op: 'add', path: '/attributes/x', value: 1 }];
const TO_BETA = { grantee_tenant_id: 'beta', scopes: ['read_latest'] };
const EVERY = ['read_latest', 'read_lineage', 'read_snapshot_by_id', 'read_diff'];

let world: GrantWorld;
/** A subject of acme with two versions, on which beta holds every scope. */
let subject: Subject;
let ids: string[] = [];
/**
 * Subjects of acme that were written by SQL: with 300 small versions, 8 versions of a megabyte, and 40 versions of a
 * megabyte.
 */
const long = newSubject();
const large = newSubject();
const huge = newSubject();

const of = (one: Subject = subject, tenant = 'acme'): string => pathOf(`/v1/tenants/${tenant}`, one);
const global = (one: Subject = subject): string => pathOf('/v1', one);
const byId = (version: number): string => `/snapshots/${ids[version - 1] ?? ''}`;
const proposal = (one: Subject): object => ({
  subject_id: one.subject_id,
  base_snapshot_version: 1,
  patch_ops: OPS,
});
const ask = async (request: Request) => {
  const { path, body, form, method = body === undefined ? 'get' : 'post', as = 'alice', headers = {} } = request;
  const test = world.gateway.as(as, method, path).set(headers);
  if (form !== undefined) void test.type('form');
  const sent = form ?? body;
  const answer = await (sent === undefined ? test : test.send(sent));
  if (answer.status >= 300) throw new Error(`${method} ${path} was answered ${answer.status}: ${answer.text}`);
  return answer;
};
const proposed = async (): Promise<{ path: string; updateId: string }> => {
  const one = await world.addSubject();
  const { body } = await ask({ path: `${of(one)}/updates`, body: proposal(one) });
  return { path: `${of(one)}/updates`, updateId: body.update_id };
};

const pendingGrant = async (): Promise<string> => {
  const grantId = randomUUID();
  await world.superuser.query(
    `INSERT INTO pending_grants (grant_id, grantor_tenant_id, grantee_tenant_id, scopes, requested_by)
     VALUES ($1, 'acme', 'gamma', '{read_latest}', 'oidc:test#admin')`,
    [grantId],
  );
  return `${TENANT}/pending-grants/${grantId}`;
};

beforeAll(async () => {
  world = await GrantWorld.open();
  const { gateway, superuser } = world;
  subject = await world.addSubject();
  const second = envelope({ subject, snapshot_version: 2 });
  await ask({ path: STATES, body: second });
  await world.grantOn(subject, { scopes: EVERY });
  const { body } = await ask({ path: `${of()}/history?order=asc` });
  ids = body.items.map((item: { snapshot_id: string }) => item.snapshot_id);
  for (const [one, versions, padding] of [
    [long, 300, 100],
    [large, 8, 1_000_000],
    [huge, 40, 1_000_000],
  ] as const) {
    const owner = { tenantId: 'acme', subjectType: one.subject_type, subjectId: one.subject_id };
    await addLineage(superuser, owner, versions, padding);
  }
  for (const evidence_policy of ['open', 'fresh']) {
    await ask({ path: '/v1/tenants', body: { tenant_id: evidence_policy, name: 'x', evidence_policy } });
  }
  await publishLog(gateway.databaseUrl);
});

afterAll(() => world?.close());

/** Reads of one version or of several, in both forms. */
const READS: readonly Row[] = [
  ['the latest snapshot', () => ({ path: `${of()}/snapshots/latest` }), ['snapshot_latest_tenant']],
  ['the latest snapshot, header only', () => ({ path: `${of()}/snapshots/latest?view=header` }), ['snapshot_latest_tenant']],
  ['the latest snapshot, global', () => ({ path: `${global()}/snapshots/latest` }), ['snapshot_latest_global']],
  ['the latest snapshot as of a moment', () => ({ path: `${of()}/snapshots/latest?as_of=2099-01-01T00:00:00Z` }), ['version_as_of_recorded_tenant', 'snapshot_version_tenant']],
  ['the latest snapshot as of a moment, global', () => ({ path: `${global()}/snapshots/latest?as_of=2099-01-01T00:00:00Z` }), ['version_as_of_recorded_global', 'snapshot_version_global']],
  ['a version', () => ({ path: `${of()}/snapshots/1` }), ['snapshot_version_tenant']],
  ['a version with its hash verified', () => ({ path: `${of()}/snapshots/1?verify=hash` }), ['snapshot_version_tenant']],
  ['a snapshot by id', () => ({ path: TENANT + byId(1) }), ['snapshot_id_tenant']],
  ['a proof of a snapshot', () => ({ path: `${TENANT}${byId(1)}/proof` }), ['snapshot_id_tenant']],
  ['a summary', () => ({ path: of() }), ['snapshot_latest_tenant']],
  ['a history', () => ({ path: `${of()}/history` }), ['snapshot_lineage_desc_tenant']],
  ['a provenance', () => ({ path: `${of()}/provenance` }), ['provenance_latest_tenant', 'provenance_versions']],
  ['a diff of versions', () => ({ path: `${of()}/diff?from_version=1&to_version=2` }), ['snapshot_pair_versions_tenant']],
  ['a diff of versions, global', () => ({ path: `${global()}/diff?from_version=1&to_version=2` }), ['snapshot_pair_versions_global']],
  ['a diff of ids', () => ({ path: `${TENANT}${byId(1)}/diff/${ids[1] ?? ''}` }), ['snapshot_pair_ids_tenant']],
  ['a diff of ids, global', () => ({ path: `/v1${byId(1)}/diff/${ids[1] ?? ''}` }), ['snapshot_pair_ids_global']],
  ['an export', () => ({ path: `${of()}/export` }), ['snapshot_lineage_asc_tenant']],
  ['an export, global', () => ({ path: `${global()}/export` }), ['snapshot_lineage_asc_global']],
  ['an export in lines, 256 versions per statement', () => ({ path: `${of(long)}/export.ndjson` }), ['snapshot_lineage_asc_tenant', 'snapshot_lineage_asc_tenant']],
  ['an export in lines, global', () => ({ path: `${global(long)}/export.ndjson` }), ['snapshot_lineage_asc_global', 'snapshot_lineage_asc_global']],
  ['an export of large envelopes, three per statement', () => ({ path: `${of(large)}/export` }), ['snapshot_lineage_asc_tenant', 'snapshot_lineage_asc_tenant', 'snapshot_lineage_asc_tenant']],
]; // prettier-ignore

const OF_TENANTS: readonly Row[] = [
  ['changes that were already read', async () => { await ask({ path: `${TENANT}/changes` }); return { path: `${TENANT}/changes` }; }, ['change_places', 'changes_of_versions']],
  ['owned subjects', () => ({ path: `${TENANT}/subjects` }), ['subjects_owned']],
  ['the owner of a subject', () => ({ path: `${of()}/owners` }), ['subject_owner']],
  ['usage', () => ({ path: `${TENANT}/usage` }), ['usage_by_day']],
]; // prettier-ignore

const GRANTS: readonly Row[] = [
  ['accessible subjects', () => ({ path: '/v1/tenants/beta/accessible-subjects', as: 'bob' }), ['subjects_accessible']],
  ['accessible subjects by bare identifier', () => ({ path: '/v1/tenants/beta/accessible-subjects?identifier=lei1', as: 'bob' }), ['subjects_accessible_by_bare_identifier']],
  ['accessible subjects by identifier', () => ({ path: '/v1/tenants/beta/accessible-subjects?identifier=LEI:lei1', as: 'bob' }), ['subjects_accessible_by_identifier']],
  ['accessible subjects by name', () => ({ path: '/v1/tenants/beta/accessible-subjects?q=ag', as: 'bob' }), ['subjects_accessible_by_name']],
  ['grants of a tenant', () => ({ path: `${TENANT}/grants` }), ['grants_issued']],
  ['grants to a tenant', () => ({ path: `${TENANT}/grants?grantee_tenant_id=beta` }), ['grants_issued_to']],
  ['a grant', async () => ({ path: `${TENANT}/grants/${await world.grantOn(await world.addSubject())}` }), ['grant_find']],
  ['grants of a subject', () => ({ path: `${of()}/grants` }), ['grants_of_subject']],
  ['a new grant', async () => ({ path: `${TENANT}/grants`, body: { ...TO_BETA, ...(await world.addSubject()) } }), ['grant_lock_subjects', 'grant_create']],
  ['a changed grant', async () => ({ method: 'patch', path: `${TENANT}/grants/${await world.grantOn(await world.addSubject())}`, body: { scopes: ['read_diff'] } }), ['grant_lock_own', 'grant_change']],
  ['a revoked grant', async () => ({ method: 'post', path: `${TENANT}/grants/${await world.grantOn(await world.addSubject())}/revoke` }), ['grant_revoke']],
  ['pending grants', () => ({ path: `${TENANT}/pending-grants` }), ['pending_grants_of_tenant']],
  ['a confirmed grant', async () => ({ method: 'post', path: `${await pendingGrant()}/confirm` }), ['lock_tenant', 'pending_grant_find', 'pending_grant_confirm', 'grant_lock_subjects', 'grant_create']],
  ['a cancelled pending grant', async () => ({ method: 'post', path: `${await pendingGrant()}/cancel` }), ['lock_tenant', 'pending_grant_find', 'pending_grant_cancel']],
  ['a grantee’s first read of the day', () => ({ path: `${of(subject, 'beta')}/snapshots/latest`, as: 'bob' }), ['snapshot_latest_tenant', 'disclosure_record']],
  ['the first read of another member of the grantee', () => ({ path: `${of(subject, 'beta')}/snapshots/latest`, as: 'proposer' }), ['snapshot_latest_tenant', 'disclosure_record']],
  ['a repeated read of a grantee', () => ({ path: `${of(subject, 'beta')}/snapshots/latest`, as: 'bob' }), ['snapshot_latest_tenant']],
  ['a repeated read of a grantee, global', () => ({ path: `${global()}/snapshots/latest`, as: 'bob' }), ['snapshot_latest_global']],
]; // prettier-ignore

const WRITES: readonly Row[] = [
  ['a create', () => ({ path: STATES, body: envelope() }), ['snapshot_create']],
  ['a later version', async () => ({ path: STATES, body: envelope({ subject: await world.addSubject(), snapshot_version: 2 }) }), ['snapshot_parent', 'snapshot_append']],
  ['a create under the policy open', () => ({ path: '/v1/tenants/open/entity-states', body: envelope() }), ['snapshot_create']],
  ['a create under the policy fresh', () => ({ path: '/v1/tenants/fresh/entity-states', body: envelope({ attributes: {} }) }), ['snapshot_create', 'snapshot_create']],
  ['a proposal', async () => { const one = await world.addSubject(); return { path: `${of(one)}/updates`, body: proposal(one) }; }, ['snapshot_latest_tenant', 'update_propose']],
  ['updates of a subject', () => ({ path: `${of()}/updates` }), ['updates_of_subject']],
  ['an application of an update', async () => { const { path, updateId } = await proposed(); return { method: 'post', path: `${path}/${updateId}/apply` }; }, ['update_for_apply', 'snapshot_append']],
]; // prettier-ignore

/** Returns the path of credentials of a version that is not in the log. */
const credentialsOfNew = async (): Promise<string> => {
  const { body } = await ask({ path: STATES, body: envelope() });
  return `${TENANT}/snapshots/${String(body.snapshot_id)}/credentials`;
};
const offersOfNew = async (): Promise<string> => (await credentialsOfNew()).replace(/s$/, '-offers');
const offeredCode = async (): Promise<object> => {
  const { body } = await ask({ method: 'post', path: await offersOfNew() });
  const code = body.credential_offer.grants[PRE_AUTHORIZED_GRANT]['pre-authorized_code'];
  return { grant_type: PRE_AUTHORIZED_GRANT, 'pre-authorized_code': code, tx_code: body.tx_code };
};

/** Makes a request to a wallet, and returns its path and the right answer. */
const requested = async (): Promise<{ method: 'post'; path: string; form: object }> => {
  const [issuer, vct, keys] = ['https://registry.example', 'vct', await makeKeys()];
  const trusted = `${TENANT}/trusted-issuers/${encodeURIComponent(issuer)}`;
  await ask({ method: 'put', path: trusted, body: { vcts: [vct], keys: [keys.publicJwk] } });
  const { body } = await ask({ path: `${TENANT}/presentation-requests`, body: { vcts: [vct] } });
  const { payload, key } = await readRequest(body.link);
  const credential = await issued(keys, {
    iss: issuer,
    vct,
    cnf: { jwk: { ...keys.publicJwk } },
  });
  const presentation = await presented(credential, keys, { nonce: payload.nonce, aud: String(payload.client_id) }, {});
  const response = await encrypted({ vp_token: { attestation: [presentation] } }, key);
  return { method: 'post', path: new URL(String(payload.response_uri)).pathname, form: { response } };
};

const CREDENTIALS: readonly Row[] = [
  ['a request to a wallet', () => ({ path: `${TENANT}/presentation-requests`, body: { vcts: ['vct'] } }), ['member_facts', 'lock_tenant', 'presentation_request_create']],
  ['a credential from a wallet', requested, ['presentation_request_awaiting', 'trusted_issuer_find', 'lock_tenant', 'attestation_add', 'presentation_request_receive']],
  ['an error from a wallet', async () => ({ ...(await requested()), form: { error: 'access_denied' } }), ['presentation_request_awaiting', 'presentation_request_refuse']],
  ['an issuing key', () => ({ method: 'post', path: `${TENANT}/issuing-keys` }), ['member_facts', 'lock_tenant', 'issuing_key_replace', 'issuing_key_create']],
  ['the first credential of a version without a view', async () => ({ method: 'post', path: await credentialsOfNew() }), ['credential_source', 'views_commit', 'views_find', 'credentials_lock', 'credential_issue', 'status_list_open', 'credential_issue']],
  ['a later credential of a version', async () => { const path = await credentialsOfNew(); await ask({ method: 'post', path }); return { method: 'post', path }; }, ['credential_source', 'credentials_lock', 'credential_issue']],
  ['a credential of a whole envelope', async () => ({ method: 'post', path: await credentialsOfNew(), body: { format: 'eddsa-jcs-2022' } }), ['credential_source', 'credentials_lock', 'credential_issue']],
  ['an offer of a credential', async () => ({ method: 'post', path: await offersOfNew() }), ['credential_source', 'lock_tenant', 'credential_offer_create']],
  ['the exchange of an offer’s code', async () => ({ method: 'post', path: '/tenants/acme/token', form: await offeredCode() }), ['credential_offer_by_code', 'credential_offer_redeem']],
  ['a nonce', () => ({ method: 'post', path: '/tenants/acme/nonce' }), []],
  ['the credential issuer metadata for wallets', () => ({ path: '/.well-known/openid-credential-issuer/tenants/acme' }), ['issuing_keys_needed']],
  ['the authorization server metadata for wallets', () => ({ path: '/.well-known/oauth-authorization-server/tenants/acme' }), ['issuing_keys_needed']],
  ['credentials of a tenant', () => ({ path: `${TENANT}/credentials` }), ['credentials_of_tenant']],
  ['the keys of an issuer', () => ({ path: '/.well-known/jwt-vc-issuer/tenants/acme' }), ['issuing_keys_needed']],
  ['the keys of an issuer of W3C credentials', () => ({ path: '/tenants/acme' }), ['issuing_keys_needed']],
  ['a status list', async () => { const { body } = await ask({ path: `${TENANT}/credentials` }); return { path: new URL(body.items[0].status_list.uri).pathname }; }, ['status_list_find']],
]; // prettier-ignore

/** Pages of versions, and verified reads. */
const LINEAGES: readonly Row[] = [
  ['a history, global', () => ({ path: `${global()}/history` }), ['snapshot_lineage_desc_global']],
  ['a history with each hash verified', () => ({ path: `${of(long)}/history?verify=hash&limit=3` }), ['snapshot_lineage_desc_tenant']],
  ['a history with each chain verified, newest first', () => ({ path: `${of(long)}/history?verify=chain&depth=3&limit=3` }), ['snapshot_lineage_desc_tenant', 'snapshot_lineage_below']],
  ['a history with each chain verified, oldest first', () => ({ path: `${of(long)}/history?verify=chain&depth=3&limit=3&order=asc` }), ['snapshot_lineage_asc_tenant', 'snapshot_lineage_below']],
  ['a history of large envelopes, newest first', () => ({ path: `${of(large)}/history?view=full&limit=7&verify=hash` }), ['snapshot_lineage_desc_tenant', 'snapshot_lineage_desc_tenant', 'snapshot_lineage_desc_tenant']],
  ['a history of large envelopes, oldest first', () => ({ path: `${of(large)}/history?view=full&limit=7&verify=hash&order=asc` }), ['snapshot_lineage_asc_tenant', 'snapshot_lineage_asc_tenant', 'snapshot_lineage_asc_tenant']],
  ['a chain proof', () => ({ path: `${of()}/chain-proof` }), ['snapshot_lineage_desc_tenant', 'snapshot_lineage_below']],
  ['a chain proof, global', () => ({ path: `${global()}/chain-proof` }), ['snapshot_lineage_desc_global', 'snapshot_lineage_below']],
  ['a deep chain of large envelopes', () => ({ path: `${of(large)}/snapshots/latest?verify=chain&depth=7&view=header` }), ['snapshot_latest_tenant', 'snapshot_latest_tenant', 'snapshot_lineage_below', 'snapshot_lineage_below', 'snapshot_lineage_below']],
  ['a summary, global', () => ({ path: global() }), ['snapshot_latest_global']],
  ['a snapshot by id, global', () => ({ path: `/v1${byId(1)}` }), ['snapshot_id_global']],
  ['a provenance of an older version', () => ({ path: `${of()}/provenance?version=1` }), ['provenance_version_tenant', 'provenance_versions']],
]; // prettier-ignore

const KEYED = { 'Idempotency-Key': 'counted' };
const keyed = (as: User, body: object, path: string): Request => ({ path, body, as, headers: KEYED });
const newTenant = { tenant_id: 'keyed', name: 'Keyed' };
const sentAgain = envelope();
const REFRESH = (): string => `${global()}/refresh-requests`;
const refreshRequest = async (): Promise<string> => {
  const { body } = await ask({ path: REFRESH(), body: { requesting_tenant_id: 'beta' }, as: 'bob' });
  return `${REFRESH()}/${String(body.refresh_request.refresh_request_id)}`;
};

/** Requests that take turns with others, and lists of tenants. */
const OTHERS: readonly Row[] = [
  ['tenants of the caller', () => ({ path: '/v1/tenants' }), ['tenants_of_principal']],
  ['owned subjects by bare identifier', () => ({ path: `${TENANT}/subjects?identifier=1` }), ['subjects_by_bare_identifier']],
  ['owned subjects by identifier', () => ({ path: `${TENANT}/subjects?identifier=lei:1` }), ['subjects_by_identifier']],
  ['owned subjects by name', () => ({ path: `${TENANT}/subjects?q=acme` }), ['subjects_by_name']],
  ['owned subjects with missing evidence', () => ({ path: `${TENANT}/subjects?evidence=missing` }), ['subjects_evidence_missing']],
  ['updates of a tenant', () => ({ path: `${TENANT}/entity-state-updates` }), ['updates_of_tenant']],
  ['a new tenant with an idempotency key', () => keyed('alice', newTenant, '/v1/tenants'), ['rate_limit_reserve', 'idempotency_begin', 'tenant_lock_founder', 'tenant_create', 'idempotency_keep']],
  ['the same new tenant again with that key', () => keyed('alice', newTenant, '/v1/tenants'), ['idempotency_begin']],
  ['a create with an idempotency key', () => keyed('editor', sentAgain, STATES), ['rate_limit_reserve', 'idempotency_begin', 'snapshot_create', 'idempotency_keep']],
  ['the same create again with that key', () => keyed('editor', sentAgain, STATES), ['idempotency_begin', 'member_facts']],
  ['a new refresh request', () => ({ path: REFRESH(), body: { requesting_tenant_id: 'beta' }, as: 'bob' }), ['refresh_request_lock_requester', 'refresh_request_create', 'outbox_record']],
  ['one refresh request', async () => ({ path: await refreshRequest(), as: 'bob' }), ['refresh_request_find']],
  ['refresh requests of a grantee', () => ({ path: `${REFRESH()}?requesting_tenant_id=beta`, as: 'bob' }), ['refresh_requests_of_tenant']],
  ['refresh requests of a subject', () => ({ path: REFRESH() }), ['refresh_requests_of_subject']],
  ['refresh requests to a tenant', () => ({ path: `${TENANT}/refresh-requests` }), ['refresh_requests_incoming']],
  ['a fulfilled refresh request', async () => ({ path: `${await refreshRequest()}/fulfill`, body: { snapshot_id: ids[0] } }), ['refresh_request_fulfil', 'outbox_record']],
  ['a refresh request that a later version may answer', async () => {
    const one = await world.addSubject();
    const path = `${global(one)}/refresh-requests`;
    const { body } = await ask({ path, body: { requesting_tenant_id: 'acme', requested_paths: ['/attributes/legal/legal_name'] } });
    await ask({ path: STATES, body: envelope({ subject: one, snapshot_version: 2 }) });
    return { path: `${path}/${String(body.refresh_request.refresh_request_id)}` };
  }, ['refresh_request_find', 'refresh_request_later_versions', 'refresh_request_version_texts']],
]; // prettier-ignore

// Detects regressions that a fast machine would hide. No other suite asserts statements.
it.each<Row>([...READS, ...LINEAGES, ...OF_TENANTS, ...GRANTS, ...WRITES, ...CREDENTIALS, ...OTHERS])(
  'sends the expected statements for %s',
  async (_, make, statements) => {
    const request = await make();
    world.gateway.sent.length = 0;
    await ask(request);
    expect(world.gateway.sent).toEqual(statements);
  },
);

describe('a read without access sends the same statements whether or not the data exists', () => {
  const AS_OF = 'as_of=2099-01-01T00:00:00Z';
  /** Reads of a subject by the end of their path, each with its statement without the form. */
  const OF_SUBJECTS: readonly (readonly [path: string, statement: string])[] = [
    ['', 'snapshot_latest'],
    [`?${AS_OF}`, 'version_as_of_recorded'],
    ['/snapshots/latest', 'snapshot_latest'],
    [`/snapshots/latest?${AS_OF}&basis=effective`, 'version_as_of_effective'],
    ['/snapshots/1', 'snapshot_version'],
    ['/snapshots/1?verify=chain&depth=all', 'snapshot_version'],
    ['/history?view=full', 'snapshot_lineage_desc'],
    ['/history?view=full&from=2020-01-01', 'versions_recorded_within'],
    ['/chain-proof', 'snapshot_lineage_desc'],
    ['/export', 'snapshot_lineage_asc'],
    ['/export.ndjson', 'snapshot_lineage_asc'],
    ['/diff?from_version=1&to_version=2', 'snapshot_pair_versions'],
    [`/diff?from_version=1&${AS_OF}`, 'version_as_of_recorded'],
    ['/provenance', 'provenance_latest'],
    ['/provenance?version=1', 'provenance_version'],
  ];
  const BUNDLE = ['/export?proofs=log', 'snapshot_lineage_desc'] as const;

  /** Sends bob's requests below beta, which has no access to the subject, and in the global form. Returns the statements. */
  const sentBy = async (paths: { tenant: string; global: string }, statuses: { tenant: number; global: number }) => {
    const all: string[] = [];
    for (const form of ['tenant', 'global'] as const) {
      world.gateway.sent.length = 0;
      const accept = paths[form].includes('proofs=log') ? 'application/x-ndjson' : 'application/json';
      await world.gateway.as('bob', 'get', paths[form]).set('Accept', accept).expect(statuses[form]);
      all.push(...world.gateway.sent.filter((name) => name !== 'log_checkpoint_newest'));
    }
    return all;
  };

  it.each([...OF_SUBJECTS, BUNDLE])('by subject: %s', async (path, statement) => {
    for (const one of [large, long, newSubject()]) {
      const paths = { tenant: of(one, 'beta') + path, global: global(one) + path };
      expect(await sentBy(paths, { tenant: 403, global: 404 })).toEqual([`${statement}_tenant`, `${statement}_global`]);
    }
  });

  it.each([
    ['', 'snapshot_id'],
    ['/proof', 'snapshot_id'],
    ['/log-proof', 'log_entry_of_snapshot'],
    ['/diff/', 'snapshot_pair_ids'],
  ])('by snapshot id: %s', async (path, statement) => {
    const { rows } = await world.superuser.query<{ id: string }>(
      `SELECT n.snapshot_id AS id FROM snapshots n JOIN subjects s USING (subject_key) WHERE s.subject_id = $1 LIMIT 1`,
      [large.subject_id],
    );
    // An id cannot be guessed, so an unknown id returns 404.
    for (const [id, tenant] of [[rows[0]?.id ?? '', 403], [randomUUID(), 404]] as const) {
      const behind = `/snapshots/${id}${path}${path === '/diff/' ? id : ''}`;
      const paths = { tenant: `/v1/tenants/beta${behind}`, global: `/v1${behind}` };
      expect(await sentBy(paths, { tenant, global: 404 })).toEqual([`${statement}_tenant`, `${statement}_global`]);
    }
  }); // prettier-ignore
});

it('an application of an unknown update sends one statement', async () => {
  world.gateway.sent.length = 0;
  await world.gateway.as('alice', 'post', `${of()}/updates/${randomUUID()}/apply`).expect(404);
  expect(world.gateway.sent).toEqual(['update_for_apply']);
});

it('a log proof sends one statement, besides the shared query for the newest checkpoint', async () => {
  const { gateway } = world;
  const proof = { path: `${TENANT}${byId(1)}/log-proof` };
  // The gateway reads the tiles only once.
  await ask(proof);
  gateway.sent.length = 0;
  await ask(proof);
  expect(gateway.sent.filter((name) => name !== 'log_checkpoint_newest')).toEqual(['log_entry_of_snapshot_tenant']);
});

it('a request without a token sends no statement, with or without an idempotency key', async () => {
  world.gateway.sent.length = 0;
  for (const headers of [{}, KEYED]) {
    await world.gateway.as(null, 'post', '/v1/tenants').set(headers).send(newTenant).expect(401);
  }
  expect(world.gateway.sent).toEqual([]);
});

it('the first request of a token that claims a type sends one more statement', async () => {
  const { gateway } = world;
  const token = await gateway.issuer.mint('new', { principal_type: 'ai_agent' });
  for (const first of [['claimed_type_put'], []]) {
    gateway.sent.length = 0;
    await gateway.withToken(token, 'get', '/v1/tenants').expect(200);
    expect(gateway.sent).toEqual([...first, 'tenants_of_principal']);
  }
});

describe('a rate limit', () => {
  const list = '/v1/tenants';

  it('sends one statement for many requests, and none once it is reached', async () => {
    const gateway = await startGateway({ RATE_LIMIT_PER_MINUTE: '6000' });
    const limited = await startGateway({ RATE_LIMIT_PER_MINUTE: '3' }, gateway);
    try {
      gateway.sent.length = 0;
      for (let count = 0; count < 30; count += 1) await gateway.as('alice', 'get', list).expect(200);
      // One statement per share: another one if the previous share ends here, and again if the minute ends.
      expect(gateway.sent.filter((name) => name === 'rate_limit_reserve').length).toBeLessThan(10);
      await waitFor(async () => (await limited.as('bob', 'get', list)).status === 429, { what: 'the limit' });
      limited.sent.length = 0;
      const again = await limited.as('bob', 'get', list);
      // If the minute ends now, a new limit begins.
      expect([again.status, limited.sent]).toEqual(again.status === 429 ? [429, []] : [200, expect.any(Array)]);
    } finally {
      await limited.close();
      await gateway.close();
    }
  });

  it('sends no statement when it is per address', async () => {
    const gateway = await startGateway({ RATE_LIMIT_PER_MINUTE_ANONYMOUS: '6' });
    try {
      gateway.sent.length = 0;
      for (let count = 0; count < 10; count += 1) await gateway.withToken('none.of.ours', 'get', list);
      expect(gateway.sent).toEqual([]);
    } finally {
      await gateway.close();
    }
  });
});

it('a write with an invalid body sends no statement', async () => {
  world.gateway.sent.length = 0;
  await world.gateway
    .as('alice', 'post', STATES)
    .send(envelope({ evidence: 1 }))
    .expect(400);
  expect(world.gateway.sent).toEqual([]);
});

it.each([
  ['a small write', STATES, 1, 'snapshot_create'],
  ['a large write', STATES, 300_000, 'member_facts'],
  ['a large write to an unknown tenant', '/v1/tenants/nobody/entity-states', 300_000, 'member_facts'],
  ['a large proposal to an unknown tenant', '/v1/tenants/nobody/entity-state-updates', 300_000, 'member_facts'],
])('%s by a caller who may not write sends one statement', async (_, path, size, statement) => {
  const body = envelope({ attributes: { x: 'x'.repeat(size) } });
  world.gateway.sent.length = 0;
  await world.gateway.as('reader', 'post', path).send(body).expect(403);
  expect(world.gateway.sent).toEqual([statement]);
});

it('a batch of 200 versions sends fewer than 100 statements', async () => {
  const subjects = Array.from({ length: 40 }, newSubject);
  // The versions are written by number, so that the versions of one subject are apart.
  const lines = [1, 2, 3, 4, 5].flatMap((snapshot_version) =>
    subjects.map((one) => `${JSON.stringify(envelope({ subject: one, snapshot_version }))}\n`),
  );
  world.gateway.sent.length = 0;
  const batch = world.gateway.as('alice', 'post', `${STATES}/batch`).type('application/x-ndjson');
  const { text } = await batch.send(lines.join('')).expect(200);
  expect(text.match(/"status":201/g)).toHaveLength(200);
  expect(world.gateway.sent.filter((name) => name.startsWith('snapshot_')).length).toBeLessThan(100);
});

it('a batch of grants sends two statements per 64 grants', async () => {
  const subjects = await world.addSubjects(70);
  world.gateway.sent.length = 0;
  await world.createMany(subjects.map((one) => ({ ...TO_BETA, ...one }))).expect(200);
  const lot = ['grant_lock_subjects', 'grant_create'];
  expect(world.gateway.sent).toEqual(['member_facts', ...lot, ...lot]);
});

it('callers that wait for changes share the query for new rows', async () => {
  const { body } = await ask({ path: `${TENANT}/changes?limit=1000` });
  const wait = { path: `${TENANT}/changes?after=${body.next_after}&wait=30` };
  const waiting = Promise.all(Array.from({ length: 8 }, () => ask(wait)));
  await waitFor(async () => (await figureOf('feed_followers')) === 8);
  world.gateway.sent.length = 0;
  await world.addSubject();
  await publishLog(world.gateway.databaseUrl);
  await waiting;
  const count = (name: string): number => world.gateway.sent.filter((one) => one === name).length;
  // Each of them reads new rows once.
  expect(count('change_places')).toBe(8);
  expect(count('feed_news')).toBeLessThanOrEqual(2);
});

it('concurrent readiness probes share statements', async () => {
  world.gateway.sent.length = 0;
  // A busy machine may answer 503. The test counts only statements.
  const probe = async (): Promise<string> => (await fetch(`${world.gateway.url}/v1/ops/readiness`)).text();
  await Promise.all(Array.from({ length: 50 }, probe));
  expect(world.gateway.sent.length).toBeLessThan(50);
});

/** Returns a figure of the gateway with a single value, or with this label. */
async function figureOf(name: string, label = ''): Promise<number> {
  const text = await world.gateway.metrics.getSingleMetricAsString(name);
  return Number(new RegExp(`^${name}(?:\\{[^}]*${label}[^}]*\\})? (\\S+)`, 'm').exec(text)?.[1] ?? 0);
}

// Complete, each of them takes fourteen statements.
it.each([
  ['an export', 'snapshot_lineage_asc_tenant', () => `${of(huge)}/export.ndjson`],
  [
    'a verification of a chain',
    'snapshot_lineage_below',
    () => `${of(huge)}/snapshots/latest?verify=chain&depth=all&view=header`,
  ],
])('%s stops when its caller disconnects', async (_, statement, pathOf) => {
  const count = (): number => world.gateway.sent.filter((name) => name === statement).length;
  world.gateway.sent.length = 0;
  const token = await world.gateway.issuer.mint('alice');
  const asking = httpRequest(world.gateway.url + pathOf(), { headers: { Authorization: `Bearer ${token}` } });
  asking.on('error', () => undefined).end();
  await waitFor(() => count() >= 1);
  asking.destroy();
  let before = -1;
  await waitFor(async () => {
    const isStill = count() === before && (await figureOf('work_tasks', 'state="running"')) === 0;
    before = count();
    await ask({ path: `${of()}/snapshots/latest` });
    return isStill;
  });
  expect(count()).toBeLessThan(10);
});
