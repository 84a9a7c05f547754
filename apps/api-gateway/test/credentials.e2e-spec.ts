import { createHash, randomUUID } from 'node:crypto';
import { verifyCredential } from '@iss/attestation';
import { canonicalize } from '@iss/domain';
import { getListFromStatusListJWT } from '@sd-jwt/jwt-status-list';
import { SDJwtVcInstance } from '@sd-jwt/sd-jwt-vc';
import { compactVerify, createLocalJWKSet, decodeJwt, exportJWK, generateKeyPair } from 'jose';
import { Client } from 'pg';
import type { Response, Test } from 'supertest';
import { untilBlocks } from '../../../tools/testing/until-blocks';
import { isVerifiedByOthers } from './foreign-verifier';
import { envelope } from './gateway';
import { GrantWorld } from './grant-world';
import { publishLog } from './publish-log';

const KEYS = '/v1/tenants/acme/issuing-keys';
const CREDENTIALS = '/v1/tenants/acme/credentials';
const ISSUER = '/.well-known/jwt-vc-issuer/tenants/acme';
const NAME = '/attributes/legal/legal_name';
const HIDDEN = 'h1dden';

let world: GrantWorld;
beforeAll(async () => {
  world = await GrantWorld.open();
  await world.gateway.as('alice', 'post', KEYS).expect(201);
});
afterAll(() => world?.close());

const post = (path: string, body: object = {}): Test => world.gateway.as('alice', 'post', path).send(body);
const get = (path: string): Test => world.gateway.as('alice', 'get', path);

/** Writes a version of a subject, the first one of a new subject by default, and returns the path of its credentials. */
async function write(id: string = randomUUID(), version = 1): Promise<string> {
  const body = envelope({
    subject: { subject_type: 'organization', subject_id: id },
    snapshot_version: version,
    attributes: {
      legal: { legal_name: `Acme AG ${version}`, form: HIDDEN },
      owners: [{ name: 'Ada' }, { name: HIDDEN }],
    },
  });
  await post('/v1/tenants/acme/entity-states', body).expect(201);
  return `/v1/tenants/acme/snapshots/${String(body['snapshot_id'])}/credentials`;
}

async function issue(body: object = {}, path?: string): Promise<Response> {
  return post(path ?? (await write()), body).expect(201);
}

const statusOf = async (credentialId: string): Promise<string> =>
  (await get(`${CREDENTIALS}/${credentialId}`)).body.status;

async function jwks() {
  const { body } = await world.gateway.as(null, 'get', ISSUER).expect(200);
  return body;
}

/** The foreign implementation that verifies. It gets keys and statuses from the service. */
const foreign = async () => {
  const keys = createLocalJWKSet((await jwks()).jwks);
  return new SDJwtVcInstance({
    hasher: (data: string | ArrayBuffer, alg: string) =>
      createHash(alg.replace('-', ''))
        .update(typeof data === 'string' ? data : Buffer.from(data))
        .digest(),
    verifier: (data: string, signature: string) =>
      compactVerify(`${data}.${signature}`, keys).then(
        () => true,
        () => false,
      ),
    statusListFetcher: async (uri: string) => {
      const { text } = await world.gateway.as(null, 'get', new URL(uri).pathname).expect(200);
      await compactVerify(text, keys);
      return text;
    },
    statusValidator: async (status: number) => {
      if (status !== 0) throw new Error(`status ${status}`);
    },
  });
};

it('another implementation verifies a credential, its keys and its status', async () => {
  const { body } = await issue({ paths: [NAME, '/attributes/owners/0'] });
  expect(body).toMatchObject({ status: 'valid', format: 'dc+sd-jwt', invalid_reason: null, has_holder_key: false });
  const { payload, header } = await (await foreign()).verify(body.credential);
  expect(header).toMatchObject({ typ: 'dc+sd-jwt', alg: 'EdDSA', kid: body.kid });
  expect(payload).toMatchObject({
    iss: `${world.gateway.url}/tenants/acme`,
    vct: 'urn:identity-state:entity-state:1',
    attributes: { legal: { legal_name: 'Acme AG 1' }, owners: [{ name: 'Ada' }] },
    status: { status_list: body.status_list },
  });
  expect(JSON.stringify(payload) + decoded(body.credential)).not.toContain(HIDDEN);
  const ours = await verifyCredential(
    body.credential,
    { issuer: body.issuer, jwks: (await jwks()).jwks.keys, roots: [] },
    null,
    new Date(),
  );
  expect(ours).toMatchObject({ vct: payload.vct, status: body.status_list, expiresAt: new Date(body.expires_at) });
});

const decoded = (credential: string): string =>
  credential
    .split('~')
    .map((part) => Buffer.from(part, 'base64url').toString())
    .join();

it('the payload of a credential is the view that the log proves', async () => {
  const path = await write();
  await publishLog(world.gateway.databaseUrl);
  const { body } = await issue({}, path);
  const { log, ...claims } = decodeJwt(body.credential.split('~')[0]);
  const added = ['iss', 'iat', 'exp', 'vct', 'status', 'cnf', 'log'];
  const view = Object.fromEntries(Object.entries(claims).filter(([name]) => !added.includes(name)));
  const { rows } = await world.superuser.query(
    `SELECT encode(v.view_hash, 'hex') AS hash, e.log_index::int AS index FROM snapshots n
       JOIN snapshot_views v USING (subject_key, snapshot_version)
       JOIN log_entries e USING (subject_key, snapshot_version) WHERE n.snapshot_id = $1 AND e.names_view`,
    [body.snapshot_id],
  );
  expect(
    createHash('sha256')
      .update(canonicalize(JSON.parse(JSON.stringify(view))))
      .digest('hex'),
  ).toBe(rows[0].hash);
  expect(log).toEqual({ origin: expect.any(String), index: rows[0].index });
});

it('a credential with holder_key is bound to that key', async () => {
  const { x, crv, kty } = await exportJWK((await generateKeyPair('EdDSA', { extractable: true })).publicKey);
  const { body } = await issue({ holder_key: { kty, crv, x } });
  expect(body.has_holder_key).toBe(true);
  expect(decodeJwt(body.credential.split('~')[0])).toMatchObject({ cnf: { jwk: { kty, crv, x } } });
});

it.each([
  ['/holder_key', { holder_key: { kty: 'OKP', crv: 'Ed25519', x: 'AA', d: 'AA' } }],
  ['/holder_key', { holder_key: { kty: 'oct', k: 'AAAA' } }],
  ['/paths/0', { paths: ['/evidence'] }],
  ['/paths', { paths: [] }],
  ['/paths', { paths: Array.from({ length: 101 }, (_, index) => `/attributes/a${index}`) }],
  ['/expires_in', { expires_in: 59 }],
  ['/expires_in', { expires_in: 31_536_001 }],
  ['/format', { format: 'jwt' }],
  ['/paths', { format: 'eddsa-jcs-2022', paths: [NAME] }],
  ['/holder_key', { format: 'eddsa-jcs-2022', holder_key: { kty: 'OKP', crv: 'Ed25519', x: 'A'.repeat(43) } }],
])('a request with an invalid %s is refused', async (path, body) => {
  const answer = await post(await write(), body).expect(400);
  expect(answer.body.error.details).toEqual([expect.objectContaining({ path })]);
});

const WHOLE = { format: 'eddsa-jcs-2022' };

const verifyProof = (credential: string): Promise<boolean> =>
  isVerifiedByOthers(credential, async (url) => {
    const { body } = await world.gateway.as(null, 'get', new URL(url).pathname).expect(200);
    return body;
  });

it('a W3C credential contains the whole envelope, a proof, a status and its log index', async () => {
  const path = await write();
  await publishLog(world.gateway.databaseUrl);
  const { body } = await issue(WHOLE, path);
  expect(body).toMatchObject({ format: 'eddsa-jcs-2022', paths: null, has_holder_key: false, status: 'valid' });
  const credential = JSON.parse(body.credential);
  expect(await verifyProof(body.credential)).toBe(true);
  const { text } = await world.gateway.as('alice', 'get', path.replace(/[/]credentials$/, ''));
  const snapshot = JSON.parse(text);
  expect(credential).toMatchObject({
    id: `urn:uuid:${String(body.credential_id).slice('cred_'.length)}`,
    type: ['VerifiableCredential', 'EntityStateCredential'],
    issuer: body.issuer,
    validUntil: body.expires_at.replace('.000', ''),
    credentialStatus: { type: 'TokenStatusListEntry', status_list: body.status_list },
    credentialSubject: { envelope_hash: snapshot.envelope_hash, log: { index: expect.any(Number) } },
    proof: { type: 'DataIntegrityProof', cryptosuite: 'eddsa-jcs-2022', proofPurpose: 'assertionMethod' },
  });
  const { envelope: whole, envelope_hash } = credential.credentialSubject;
  expect(createHash('sha256').update(canonicalize(whole)).digest('hex')).toBe(envelope_hash);
  expect(whole.attributes.legal).toEqual({ legal_name: 'Acme AG 1', form: HIDDEN });
  expect(credential['@context'][0]).toBe('https://www.w3.org/ns/credentials/v2');
});

it.each([
  ['the envelope', { credentialSubject: { envelope: {} } }],
  ['the end', { validUntil: '2099-01-01T00:00:00Z' }],
  ['the status', { credentialStatus: undefined }],
])('the proof of a W3C credential fails if %s changes', async (_, change) => {
  const { body } = await issue(WHOLE);
  expect(await verifyProof(JSON.stringify({ ...JSON.parse(body.credential), ...change }))).toBe(false);
});

it('a grantee gets a W3C credential only if its grants cover the whole envelope', async () => {
  const id = randomUUID();
  const path = (await write(id)).replace('/acme/', '/beta/');
  const grantId = await world.grantOn(
    { subject_type: 'organization', subject_id: id },
    { scopes: ['issue_view'], paths: [NAME] },
  );
  const ask = () => world.gateway.as('bob', 'post', path).send(WHOLE);
  const refused = await ask().expect(403);
  expect(refused.body.error.message).toContain('dc+sd-jwt');
  expect(refused.text).not.toMatch(/h1dden|Ada/);
  await post(`/v1/tenants/acme/grants/${grantId}/revoke`).expect(200);
  await world.grantOn({ subject_type: 'organization', subject_id: id }, { scopes: ['issue_view'] });
  const { body } = await ask().expect(201);
  expect(await verifyProof(body.credential)).toBe(true);
  const shown = await get(`/v1/tenants/acme/subjects/organization/${id}/disclosures`).expect(200);
  expect(shown.body.items).toMatchObject([{ via: 'credential', paths: null }]);
});

it('a credential is superseded in the transaction of the newer version', async () => {
  const id = randomUUID();
  const first = await write(id);
  const { body } = await issue({}, first);
  const other = await issue();
  await write(id, 2);
  expect(await statusOf(body.credential_id)).toBe('superseded');
  expect(await statusOf(other.body.credential_id)).toBe('valid');
  expect((await issue({}, first)).body.status).toBe('superseded');
  await post(`${CREDENTIALS}/${body.credential_id}/withdraw`).expect(200);
});

/** Issues while another transaction holds what `begin` did, and ends it after the request began to wait. */
async function issueWhile(begin: string, path: string): Promise<Response> {
  const client = new Client({ connectionString: world.gateway.databaseUrl });
  await client.connect();
  try {
    await client.query('BEGIN');
    await client.query(begin);
    const answer = post(path).then((done) => done);
    await untilBlocks(client);
    await client.query('COMMIT');
    return await answer;
  } finally {
    await client.end();
  }
}

it('a credential waits for other changes of its tenant', async () => {
  const answer = await issueWhile(`SELECT FROM tenants WHERE tenant_id = 'acme' FOR NO KEY UPDATE`, await write());
  expect(answer.status).toBe(201);
});

it('a credential issued while a newer version is being written is superseded', async () => {
  const path = await write();
  const snapshotId = path.split('/')[5];
  const begin = `INSERT INTO snapshots (subject_key, snapshot_version, snapshot_id, tenant_id, generated_at, change_kind, envelope_hash, prev_hash, envelope)
    SELECT subject_key, 2, gen_random_uuid(), tenant_id, generated_at, change_kind, sha256('{}'), envelope_hash, '{}' FROM snapshots WHERE snapshot_id = '${snapshotId}'`;
  const { body } = await issueWhile(begin, path);
  expect(body.status).toBe('superseded');
});

/** Returns the statement that erases the version of these credentials, which the log must have. */
async function erasureOf(path: string): Promise<string> {
  await publishLog(world.gateway.databaseUrl);
  const { rows } = await world.superuser.query(
    `INSERT INTO erasures (public_id, tenant_id, subject_key, versions, requested_by, confirmed_by, confirmed_at)
     SELECT gen_random_uuid(), 'acme', subject_key, '{1}', 'oidc:test#alice', 'oidc:test#admin', now() FROM snapshots
      WHERE snapshot_id = $1 RETURNING erasure_id`,
    [path.split('/')[5]],
  );
  return `SELECT erase_versions(${String(rows[0].erasure_id)})`;
}

it('a credential becomes invalid when its version is erased, not when another one is', async () => {
  const id = randomUUID();
  const path = await write(id);
  const { body } = await issue({}, path);
  const later = (await issue({}, await write(id, 2))).body.credential_id;
  await world.superuser.query(await erasureOf(path));
  expect(await statusOf(later)).toBe('valid');
  const { body: found } = await get(`${CREDENTIALS}/${body.credential_id}`).expect(200);
  expect(found).toMatchObject({ status: 'invalid', invalid_reason: 'erased' });
  await post(path).expect(410);
});

it('a credential is not issued while its version is being erased', async () => {
  const path = await write();
  const answer = await issueWhile(await erasureOf(path), path);
  expect([answer.status, answer.body.error?.code]).toEqual([503, 'unavailable']);
  await post(path).expect(410);
});

it('the database keeps status indexes unique and refuses other changes of credentials', async () => {
  const { body } = await issue();
  const id = body.credential_id.slice('cred_'.length);
  const copy = `INSERT INTO credentials SELECT (jsonb_populate_record(c, jsonb_build_object('credential_id', gen_random_uuid()))).*
    FROM credentials c WHERE c.credential_id = '${id}'`;
  await expect(world.superuser.query(copy)).rejects.toThrow('credentials_place');
  await post(`${CREDENTIALS}/${id}/withdraw`).expect(200);
  await post(KEYS).expect(201);
  for (const change of [
    `UPDATE credentials SET status = 'valid', invalid_reason = NULL WHERE credential_id = '${id}'`,
    `UPDATE credentials SET status_idx = 1 WHERE credential_id = '${id}'`,
    'DELETE FROM credentials',
    'TRUNCATE credentials CASCADE',
    `UPDATE status_lists SET signed_at = signed_at - interval '1 second'`,
    'DELETE FROM status_lists',
    `UPDATE issuing_keys SET replaced_at = NULL, sealed = 'x' WHERE replaced_at IS NOT NULL`,
    'DELETE FROM issuing_keys',
  ]) {
    await expect(world.superuser.query(change)).rejects.toThrow(/is refused/);
  }
});

it('a page of credentials ends at 8 MiB', async () => {
  const { body } = await issue();
  const id = body.credential_id.slice('cred_'.length);
  await world.superuser.query(
    `INSERT INTO credentials SELECT (jsonb_populate_record(c, jsonb_build_object(
       'credential_id', gen_random_uuid(), 'status_idx', unused.idx, 'paths', ARRAY[repeat('p', 1000000)]))).*
       FROM credentials c CROSS JOIN LATERAL (
         SELECT idx FROM generate_series(0, 65535) idx
          WHERE NOT EXISTS (SELECT FROM credentials o WHERE o.list_id = c.list_id AND o.status_idx = idx) LIMIT 10) unused
      WHERE c.credential_id = '${id}'`,
  );
  const first = (await get(`${CREDENTIALS}?limit=11`).expect(200)).body;
  expect(first.items.length).toBeLessThan(10);
  const next = (await get(`${CREDENTIALS}?limit=${11 - first.items.length}&cursor=${first.next_cursor}`).expect(200))
    .body;
  expect(new Set([...first.items, ...next.items].map(({ credential_id }) => credential_id)).size).toBe(11);
});

it('a credential can be withdrawn only once', async () => {
  const { body } = await issue();
  const path = `${CREDENTIALS}/${body.credential_id}`;
  const withdrawn = await post(`${path}/withdraw`).expect(200);
  expect(withdrawn.body).toMatchObject({ status: 'invalid', invalid_reason: 'withdrawn' });
  await post(`${path}/withdraw`).expect(409);
  expect((await get(path).expect(200)).body).toEqual(withdrawn.body);
  expect((await get(CREDENTIALS).expect(200)).body.items[0]).toEqual(withdrawn.body);
});

it('a status list is public, cacheable, and contains each credential', async () => {
  const { body } = await issue();
  const path = new URL(body.status_list.uri).pathname;
  const { text, headers } = await world.gateway.as(null, 'get', path).expect(200);
  expect(headers).toMatchObject({
    'content-type': 'application/statuslist+jwt',
    'cache-control': 'public, max-age=60',
    'access-control-allow-origin': '*',
  });
  expect(decodeJwt(text)).toMatchObject({ sub: body.status_list.uri, ttl: 60 });
  expect(getListFromStatusListJWT(text).getStatus(body.status_list.idx)).toBe(0);
  await world.gateway.as(null, 'get', path).set('If-None-Match', String(headers['etag'])).expect(304);
  await world.gateway.as(null, 'get', `/v1/status-lists/${randomUUID()}`).expect(404);
});

it('a replaced key still verifies its credentials but signs no new ones', async () => {
  const before = (await issue()).body;
  const { body: second } = await post(KEYS).expect(201);
  const after = (await issue()).body;
  expect(after.kid).toBe(second.kid);
  for (const { credential } of [before, after]) await (await foreign()).verify(credential);
  const { rows } = await world.superuser.query('SELECT kid FROM issuing_keys WHERE sealed IS NOT NULL');
  expect(rows).toEqual([{ kid: second.kid }]);
});

it('a replaced key without credentials stays published for a day, for cached status lists', async () => {
  const { body: unused } = await post(KEYS).expect(201);
  await post(KEYS).expect(201);
  const published = async () => (await jwks()).jwks.keys.map(({ kid }: { kid: string }) => kid);
  expect(await published()).toContain(unused.kid);
  await world.superuser.query('SET session_replication_role = replica');
  const age = `UPDATE issuing_keys SET replaced_at = now() - interval '25 hours' WHERE kid = $1`;
  await world.superuser.query(age, [unused.kid]);
  await world.superuser.query('RESET session_replication_role');
  expect(await published()).not.toContain(unused.kid);
});

it('a retired key is no longer published, and its credentials are invalid', async () => {
  const { body } = await issue();
  const { body: retired } = await post(`${KEYS}/${body.kid}/retire`).expect(200);
  expect(retired).toMatchObject({ kid: body.kid, retired_at: expect.any(String), replaced_at: expect.any(String) });
  await post(`${KEYS}/${body.kid}/retire`).expect(409);
  await post(`${KEYS}/${'a'.repeat(43)}/retire`).expect(404);
  await expect((await foreign()).verify(body.credential)).rejects.toThrow();
  expect(await get(`${CREDENTIALS}/${body.credential_id}`).then((found) => found.body)).toMatchObject({
    status: 'invalid',
    invalid_reason: 'key_retired',
  });
  const published = (await jwks()).jwks.keys.map(({ kid }: { kid: string }) => kid);
  expect(published).not.toContain(body.kid);
  await (await foreign()).verify((await issue()).body.credential);
  const listed = await get(KEYS).expect(200);
  expect(listed.body.items.find(({ kid }: { kid: string }) => kid === body.kid)).toEqual(retired);
  expect(listed.text).not.toMatch(/"d":|sealed/);
});

it('other tenants cannot read, withdraw or issue credentials of a tenant', async () => {
  const path = await write();
  const { body } = await issue({}, path);
  const elsewhere = path.replace('/acme/', '/beta/');
  await world.gateway.as('bob', 'post', '/v1/tenants/beta/issuing-keys').expect(201);
  await world.gateway.as('bob', 'post', elsewhere).expect(403);
  await world.gateway
    .as('bob', 'post', '/v1/tenants/beta/snapshots/5b1f3f4e-1c5e-4a0e-9d0c-2f6f3f0f7a11/credentials')
    .expect(404);
  await world.gateway.as('bob', 'get', `/v1/tenants/beta/credentials/${body.credential_id}`).expect(404);
  await world.gateway.as('bob', 'post', `/v1/tenants/beta/credentials/${body.credential_id}/withdraw`).expect(404);
  await world.gateway.as('bob', 'post', `/v1/tenants/beta/issuing-keys/${body.kid}/retire`).expect(404);
  const { body: gamma } = await world.gateway
    .as('o1', 'post', '/v1/tenants/gamma/entity-states')
    .send(envelope())
    .expect(201);
  await world.gateway.as('o1', 'post', `/v1/tenants/gamma/snapshots/${gamma.snapshot_id}/credentials`).expect(409);
  await world.gateway.as(null, 'get', ISSUER.replace('acme', 'gamma')).expect(404);
  await world.gateway.as('editor', 'post', path).expect(403);
});

it('a grantee with issue_view issues credentials of exactly the paths of its grant', async () => {
  const id = randomUUID();
  const path = (await write(id)).replace('/acme/', '/beta/');
  const of = { subject_type: 'organization', subject_id: id };
  const ask = (body: object = {}) => world.gateway.as('bob', 'post', path).send(body);
  const grantId = await world.grantOn(of, { scopes: ['read_latest', 'read_lineage'] });
  await ask().expect(403);
  await world.change(grantId, { scopes: ['issue_view'], paths: [NAME] }).expect(200);
  const refused = await ask({ paths: ['/attributes/owners'] }).expect(400);
  expect(refused.body.error.details).toEqual([expect.objectContaining({ path: '/paths' })]);
  const { body } = await ask().expect(201);
  expect(body).toMatchObject({
    tenant_id: 'acme',
    grantee_tenant_id: 'beta',
    paths: [NAME],
    issued_by: 'oidc:test#bob',
  });
  const { payload } = await (await foreign()).verify(body.credential);
  expect(payload).toMatchObject({
    iss: `${world.gateway.url}/tenants/acme`,
    attributes: { legal: { legal_name: 'Acme AG 1' } },
  });
  expect(JSON.stringify(payload) + decoded(body.credential)).not.toMatch(/h1dden|Ada/);
  const shown = await get(`/v1/tenants/acme/subjects/organization/${id}/disclosures`).expect(200);
  expect(shown.body.items).toMatchObject([{ via: 'credential', paths: [NAME], grant_id: grantId, from_version: 1 }]);
  await world.gateway.as('zoe', 'post', path).expect(403);
  for (const [user, tenant] of [
    ['bob', 'beta'],
    ['alice', 'acme'],
  ] as const) {
    const list = await world.gateway.as(user, 'get', `/v1/tenants/${tenant}/credentials`).expect(200);
    expect(list.body.items[0].credential_id).toBe(body.credential_id);
  }
  await post(`/v1/tenants/acme/grants/${grantId}/revoke`).expect(200);
  await ask().expect(403);
  const own = `/v1/tenants/beta/credentials/${body.credential_id}`;
  await world.gateway.as('bob', 'post', `${own}/withdraw`).expect(200);
  expect(await statusOf(body.credential_id)).toBe('invalid');
});

it('issued credentials are counted per format', async () => {
  const count = async () => {
    const metric = await world.gateway.metrics.getSingleMetric('credentials_issued_total')?.get();
    return metric?.values.find(({ labels }) => labels.format === 'eddsa-jcs-2022')?.value ?? NaN;
  };
  const before = await count();
  await issue(WHOLE);
  await issue();
  expect(await count()).toBe(before + 1);
});

it('a credential is stored without its text', async () => {
  await issue();
  const { rows } = await world.superuser.query(`SELECT row_to_json(c)::text AS row FROM credentials c`);
  for (const { row } of rows) expect(row).not.toMatch(/Acme AG|eyJ|h1dden/);
});
