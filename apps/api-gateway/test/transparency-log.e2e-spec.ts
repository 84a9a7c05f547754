import { createHash, randomUUID } from 'node:crypto';
import { canonicalize, isJsonObject, parseStoredJson } from '@iss/domain';
import {
  createVerifier,
  decodeBase64,
  leafHash,
  openNote,
  parseCheckpoint,
  parseLogProof,
  TileHashes,
  tileHashReader,
  readRoot,
  toHex,
  verifyConsistency,
  verifyInclusion,
} from '@iss/tlog';
import request from 'supertest';
import { waitFor } from '../../../tools/testing/wait-for';
import { envelope, startGateway, type TestGateway } from './gateway';
import { publishLog } from './publish-log';

const ORGANIZATION = '/v1/tenants/acme/subjects/organization';

let gateway: TestGateway;
let subjectId: string;
let vkey: string;
const ids: string[] = [];

beforeAll(async () => {
  gateway = await startGateway();
  await gateway.as('alice', 'post', '/v1/tenants').send({ tenant_id: 'acme', name: 'Acme' }).expect(201);
  await gateway.as('bob', 'post', '/v1/tenants').send({ tenant_id: 'bank', name: 'Bank' }).expect(201);
  subjectId = `subject-${randomUUID()}`;
  for (const version of [1, 2, 3]) ids.push(await write(version));
  ({ vkey } = await publishLog(gateway.databaseUrl));
});
afterAll(() => gateway?.close());

async function write(version: number): Promise<string> {
  const sent = envelope({
    snapshot_version: version,
    subject: { subject_type: 'organization', subject_id: subjectId },
    attributes: { legal: { legal_name: `Name ${version}` } },
  });
  await gateway.as('alice', 'post', '/v1/tenants/acme/entity-states').send(sent).expect(201);
  return String(sent['snapshot_id']);
}

const open = async (note: string) => parseCheckpoint((await openNote(note, [createVerifier(vkey)])).text);
const plain = async (path: string): Promise<Buffer> => {
  const { body } = await request(gateway.url).get(path).responseType('blob').expect(200);
  return body;
};

it('log-proof proves every snapshot against the published checkpoint', async () => {
  for (const id of ids) {
    const { body } = await gateway.as('alice', 'get', `/v1/tenants/acme/snapshots/${id}/log-proof`).expect(200);
    const checkpoint = await open(body.checkpoint);
    expect([checkpoint.size, checkpoint.origin]).toEqual([body.tree_size, body.log_origin]);
    const leaf = leafHash(body.entry);
    expect(toHex(leaf)).toBe(body.leaf_hash);
    verifyInclusion(
      leaf,
      body.log_index,
      checkpoint,
      body.inclusion.map((hash: string) => decodeBase64(hash, 'hash')),
    );
    const entry = JSON.parse(body.entry);
    const read = await gateway.as('alice', 'get', `/v1/tenants/acme/snapshots/${id}`).expect(200);
    for (const name of [
      'snapshot_id',
      'snapshot_version',
      'envelope_hash',
      'prev_hash',
      'created_at',
      'written_by',
      'write_request_id',
    ]) {
      expect(entry[name]).toBe(read.body[name]);
    }
    expect(entry).toMatchObject({ written_by: 'oidc:test#alice', write_request_id: expect.any(String) });
  }
});

it('log-proof returns a C2SP proof file as text/plain', async () => {
  const path = `/v1/snapshots/${ids[0]}/log-proof`;
  const { text } = await gateway.as('alice', 'get', path).set('Accept', 'text/plain').expect(200);
  const proof = parseLogProof(text);
  verifyInclusion(
    leafHash(proof.extra ?? new Uint8Array(0)),
    proof.index,
    await open(proof.checkpoint),
    proof.inclusion,
  );
});

it('the log serves tiles that hash to the root, and 404 for other tile paths', async () => {
  const { root, size } = await open((await plain('/log/checkpoint')).toString());
  const bytes = await plain(`/log/tile/0/000.p/${size}`);
  expect(
    await readRoot(
      size,
      tileHashReader(size, async () => [new TileHashes(bytes)]),
    ),
  ).toEqual(root);
  for (const path of [
    `0/000.p/${size + 1}`,
    '0/000',
    '0/001.p/1',
    '1/000.p/1',
    '0/0',
    '0/000.p/0',
    'x',
    'entries/000',
  ]) {
    const { text, headers } = await request(gateway.url).get(`/log/tile/${path}`).expect(404);
    expect([headers['content-type'], headers['cache-control']]).toEqual(['text/plain; charset=utf-8', 'no-store']);
    expect(text).not.toContain('{');
  }
});

it('a bundle of entries is refused as not public, and a malformed path as unknown', async () => {
  for (const path of ['entries/000', 'entries/x001/234.p/5']) {
    const { text } = await request(gateway.url).get(`/log/tile/${path}`).expect(404);
    expect(text).toContain('Entries are not public.');
  }
  for (const path of ['entries/0', 'entries/000.p/256', 'entries/x000/001', 'entries/']) {
    const { text } = await request(gateway.url).get(`/log/tile/${path}`).expect(404);
    expect(text).toContain('no such tile');
  }
});

it('export returns a bundle that proves each version against one checkpoint', async () => {
  const path = `${ORGANIZATION}/${subjectId}/export?proofs=log`;
  const { text } = await gateway.as('alice', 'get', path).set('Accept', 'application/x-ndjson').expect(200);
  const [head, ...lines] = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(head).toMatchObject({ bundle: 'iss_bundle_v1', versions: 3, head_version: 3, vkeys: [vkey] });
  const checkpoint = await open(head.checkpoint);
  expect(lines.map(({ snapshot }) => snapshot.snapshot_version)).toEqual([1, 2, 3]);
  let previous: string | null = null;
  for (const { snapshot, entry, log_index, inclusion } of lines) {
    const hashes = inclusion.map((hash: string) => decodeBase64(hash, 'hash'));
    verifyInclusion(leafHash(entry), log_index, checkpoint, hashes);
    const logged = parseStoredJson(entry);
    if (!isJsonObject(logged)) throw new Error('an entry is an object');
    const hash = createHash('sha256').update(canonicalize(snapshot.envelope)).digest('hex');
    expect([logged['envelope_hash'], logged['prev_hash']]).toEqual([hash, previous]);
    previous = hash;
  }
});

it.each([
  ['another value of proofs', '?proofs=all', 'application/x-ndjson', 400],
  ['a JSON document with proofs', '?proofs=log', 'application/json', 406],
])('export refuses %s', async (_, query, accept, status) => {
  const path = `${ORGANIZATION}/${subjectId}/export${query}`;
  await gateway.as('alice', 'get', path).set('Accept', accept).expect(status);
});

it('log-proof returns not_logged_yet before publication, or waits for it', async () => {
  const id = await write(4);
  const path = `/v1/tenants/acme/snapshots/${id}/log-proof`;
  const early = await gateway.as('alice', 'get', path).expect(404);
  expect([early.body.error.code, early.headers['retry-after']]).toEqual(['not_logged_yet', '1']);
  const [waited] = await Promise.all([
    // A busy machine may publish after the ten seconds for which one request waits.
    waitFor(
      async () => {
        const answer = await gateway.as('alice', 'get', `${path}?wait=10`);
        return answer.status === 200 ? answer : null;
      },
      { what: 'the proof' },
    ),
    publishLog(gateway.databaseUrl),
  ]);
  const before = await gateway.as('alice', 'get', `/v1/snapshots/${ids[0]}/log-proof`).expect(200);
  const { tree_size: size, log_index: index } = waited.body;
  await gateway.as('alice', 'get', `${path}?tree_size=${index}`).expect(400);
  await gateway.as('alice', 'get', `${path}?tree_size=${size + 1}`).expect(400);
  await gateway.as('alice', 'get', `${path}?wait=11`).expect(400);
  await gateway.as('alice', 'get', `/v1/tenants/acme/snapshots/${randomUUID()}/log-proof?wait=10`).expect(404);
  const older = await gateway.as('alice', 'get', `/v1/snapshots/${ids[0]}/log-proof?tree_size=${size - 1}`).expect(200);
  const proof = await gateway.as(null, 'get', `/log/consistency?from=${size - 1}&to=${size}`).expect(200);
  const { body: keys } = await gateway.as(null, 'get', '/log/keys').expect(200);
  expect(keys).toMatchObject({ witnesses: [], quorum: 0, policy: null });
  const verifiers = keys.vkeys.map(({ vkey: text }: { vkey: string }) => createVerifier(text));
  const note = async (text: string) => parseCheckpoint((await openNote(text, verifiers)).text);
  const [from, to] = [await note(older.body.checkpoint), await note(before.body.checkpoint)];
  verifyConsistency(
    from,
    to,
    proof.body.proof.map((hash: string) => decodeBase64(hash, 'hash')),
  );
  await gateway.as(null, 'get', '/log/consistency?from=0&to=1').expect(400);
  await gateway.as(null, 'get', `/log/consistency?from=1&to=${size + 1}`).expect(400);
  await gateway.as(null, 'get', '/log/consistency?from=2&to=1').expect(400);
});

it('log-proof proves a grant and its revocation to both tenants', async () => {
  const { body: grant } = await gateway
    .as('alice', 'post', '/v1/tenants/acme/grants')
    .send({ grantee_tenant_id: 'bank', subject_type: 'organization', subject_id: subjectId, scopes: ['read_latest'] })
    .expect(201);
  const of = (tenant: string, fact: string): string =>
    `/v1/tenants/${tenant}/grants/${grant.grant_id}/log-proof?fact=${fact}&wait=10`;
  await gateway.as('alice', 'get', of('acme', 'revoked')).expect(404);
  await gateway.as('alice', 'post', `/v1/tenants/acme/grants/${grant.grant_id}/revoke`).expect(200);
  ({ vkey } = await publishLog(gateway.databaseUrl));
  for (const fact of ['created', 'revoked']) {
    const { body } = await gateway.as('bob', 'get', of('bank', fact)).expect(200);
    expect((await gateway.as('alice', 'get', of('acme', fact)).expect(200)).body).toEqual(body);
    expect(JSON.parse(body.entry)).toMatchObject({
      type: `grant.${fact}`,
      tenant_id: 'acme',
      grant_id: grant.grant_id,
    });
    const hashes = body.inclusion.map((hash: string) => decodeBase64(hash, 'hash'));
    verifyInclusion(leafHash(body.entry), body.log_index, await open(body.checkpoint), hashes);
  }
  const history = `${ORGANIZATION}/${subjectId}/access-history`;
  const { body } = await gateway.as('alice', 'get', history).expect(200);
  expect(body.items).toMatchObject([{ grant_id: grant.grant_id, grantee_tenant_id: 'bank', ended_by: 'revoked' }]);
  const [{ from, until, granted, ended }] = body.items;
  expect(ended.log_index).toBeGreaterThan(granted.log_index);
  const at = async (moment: string): Promise<number> =>
    (await gateway.as('alice', 'get', `${history}?at=${encodeURIComponent(moment)}`).expect(200)).body.items.length;
  const before = new Date(Date.parse(from) - 1).toISOString();
  expect([await at(before), await at(from), await at(until)]).toEqual([0, 1, 0]);
  await gateway.as('alice', 'get', `${history}?at=yesterday`).expect(400);
});

it('owner-history returns the owners of a tenant with their indexes in the log', async () => {
  const path = '/v1/tenants/acme/owner-history';
  const { body } = await gateway.as('alice', 'get', path).expect(200);
  expect(body.items).toEqual([
    { principal_id: 'oidc:test#alice', from_principal_id: null, changed_at: expect.any(String), log_index: 0 },
  ]);
  const proof = await gateway.as('alice', 'get', `${path}/0/log-proof`).expect(200);
  const hashes = proof.body.inclusion.map((hash: string) => decodeBase64(hash, 'hash'));
  verifyInclusion(leafHash(proof.body.entry), 0, await open(proof.body.checkpoint), hashes);
  expect(JSON.parse(proof.body.entry)).toMatchObject({ tenant_id: 'acme', principal_id: 'oidc:test#alice' });
  // The index of an entry of another tenant, that of a snapshot, and values that are not an index.
  await gateway.as('bob', 'get', '/v1/tenants/bank/owner-history/0/log-proof').expect(404);
  await gateway.as('alice', 'get', `${path}/2/log-proof`).expect(404);
  await gateway.as('alice', 'get', `${path}/x/log-proof`).expect(400);
});

it('log-proof checks access each time, and uses the newest checkpoint', async () => {
  const { body: grant } = await gateway
    .as('alice', 'post', '/v1/tenants/acme/grants')
    .send({
      ...{ grantee_tenant_id: 'bank', subject_type: 'organization', subject_id: subjectId },
      scopes: ['read_snapshot_by_id'],
    })
    .expect(201);
  const path = `/v1/tenants/bank/snapshots/${ids[1]}/log-proof`;
  await gateway
    .as('bob', 'put', '/v1/tenants/bank/principals/oidc%3Atest%23bob')
    .send({ allow_counterparty_access: true });
  const first = await gateway.as('bob', 'get', path).expect(200);
  expect((await gateway.as('bob', 'get', path).expect(200)).body).toEqual(first.body);
  ({ vkey } = await publishLog(gateway.databaseUrl));
  const newer = await waitFor(
    async () => {
      const { body } = await gateway.as('bob', 'get', path).expect(200);
      return body.tree_size > first.body.tree_size ? body : null;
    },
    { what: 'the newer checkpoint' },
  );
  expect([newer.entry, newer.log_index]).toEqual([first.body.entry, first.body.log_index]);
  const hashes = newer.inclusion.map((hash: string) => decodeBase64(hash, 'hash'));
  verifyInclusion(leafHash(newer.entry), newer.log_index, await open(newer.checkpoint), hashes);
  await gateway.as('alice', 'post', `/v1/tenants/acme/grants/${grant.grant_id}/revoke`).expect(200);
  await gateway.as('bob', 'get', path).expect(403);
  await gateway.as('bob', 'get', `/v1/snapshots/${ids[1]}/log-proof`).expect(404);
});
