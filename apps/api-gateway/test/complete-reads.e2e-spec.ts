import { randomUUID } from 'node:crypto';
import { BundleVerifier } from '@iss/proof';
import { verifyMapAnswer } from '@iss/proof/complete';
import { parsePolicy } from '@iss/tlog';
import { Client } from 'pg';
import { TEST_VRF_KEY, TEST_VRF_SECRET } from '../../../tools/testing/vrf-key';
import { envelope, startGateway, type TestGateway } from './gateway';
import { publishLog } from './publish-log';

const ACME = '/v1/tenants/acme';
const NDJSON = 'application/x-ndjson';

let gateway: TestGateway;
let superuser: Client;
let vkey: string;

beforeAll(async () => {
  gateway = await startGateway({ LOG_VRF_KEY: TEST_VRF_SECRET });
  superuser = new Client({ connectionString: gateway.databaseUrl });
  await superuser.connect();
  await gateway.as('alice', 'post', '/v1/tenants').send({ tenant_id: 'acme', name: 'Acme' }).expect(201);
  await gateway
    .as('alice', 'put', `${ACME}/members/${encodeURIComponent('oidc:test#admin')}`)
    .send({ role: 'tenant_admin' })
    .expect(200);
});
afterAll(async () => {
  await superuser?.end();
  await gateway?.close();
});

/** Creates a subject of acme with this number of versions. */
async function subjectOf(versions: number): Promise<string> {
  const subjectId = `subject-${randomUUID()}`;
  for (let version = 1; version <= versions; version++) await write(subjectId, version);
  return subjectId;
}

async function write(subjectId: string, version: number): Promise<void> {
  const sent = envelope({
    snapshot_version: version,
    subject: { subject_type: 'organization', subject_id: subjectId },
    attributes: { legal: { legal_name: `Name ${version}` } },
  });
  await gateway.as('alice', 'post', `${ACME}/entity-states`).send(sent).expect(201);
}

async function publish(): Promise<number> {
  const published = await publishLog(gateway.databaseUrl, TEST_VRF_SECRET);
  ({ vkey } = published);
  return published.size;
}

const pathOf = (subjectId: string): string => `${ACME}/subjects/organization/${subjectId}`;

async function bundleOf(subjectId: string): Promise<string[]> {
  const path = `${pathOf(subjectId)}/export?proofs=log`;
  const { text } = await gateway.as('alice', 'get', path).set('Accept', NDJSON).expect(200);
  return text.trimEnd().split('\n');
}

/** Verifies a bundle like a reader who trusts the keys of the log. */
async function verify(lines: readonly string[], vrfKey = TEST_VRF_KEY) {
  const policy = parsePolicy(`log ${vkey}\nquorum none\n`);
  const [head = '', ...rest] = lines;
  const verifier = await BundleVerifier.open(Buffer.from(head), policy);
  for (const line of rest) verifier.add(Buffer.from(line));
  return verifier.end((answer) => verifyMapAnswer(answer, { policy, vrfKey }));
}

const erase = async (subjectId: string, versions: number[]): Promise<void> => {
  const request = { versions, reason: 'Letter', reference: 'R-1' };
  const { body } = await gateway
    .as('alice', 'post', `${pathOf(subjectId)}/erasure`)
    .send(request)
    .expect(201);
  await gateway.as('admin', 'post', `${pathOf(subjectId)}/erasures/${body.erasure_id}/confirm`).expect(200);
};

async function completeOf(subjectId: string, version: number | 'latest') {
  const path = `${pathOf(subjectId)}/snapshots/${version}?verify=complete`;
  const { body, headers } = await gateway.as('alice', 'get', path).expect(200);
  expect(headers['etag']).toBeUndefined();
  expect(body.verification).toMatchObject({ mode: 'complete', hash: { valid: true }, chain: { valid: null } });
  return body.verification.complete;
}

it('a bundle ends with a proof by the map that its last version is the newest', async () => {
  const subjectId = await subjectOf(3);
  await publish();
  const lines = await bundleOf(subjectId);
  const [head, ...versions] = lines.map((line) => JSON.parse(line));
  const last = versions.pop();
  expect(head).toMatchObject({ bundle: 'iss_bundle_v2', versions: 3, head_version: 3 });
  expect(versions.map(({ keys }) => keys)).toEqual([1, 2, 3].map(() => [expect.stringMatching(/^[\w-]{43}$/)]));
  expect(last).toMatchObject({ complete: { snapshot_version: 3, map: { checkpoint: head.checkpoint } } });
  await expect(verify(lines)).resolves.toMatchObject({ isNewest: true });
  await expect(verify(lines.slice(0, -1))).rejects.toThrow(/The last line, complete, is missing/);
});

it('a bundle with erased versions proves that its last version is the newest', async () => {
  const subjectId = await subjectOf(3);
  await publish();
  await erase(subjectId, [1, 2]);
  await publish();
  await expect(verify(await bundleOf(subjectId))).resolves.toMatchObject({
    isNewest: true,
    json: { versions: 3, erased_versions: [1, 2] },
  });
  await erase(subjectId, [3]);
  await publish();
  await expect(verify(await bundleOf(subjectId))).resolves.toMatchObject({ isNewest: true });
});

it('a bundle of 260 versions, more than one read returns, is verified', async () => {
  const subjectId = `subject-${randomUUID()}`;
  const lines = Array.from({ length: 260 }, (_, at) =>
    JSON.stringify(
      envelope({ snapshot_version: at + 1, subject: { subject_type: 'organization', subject_id: subjectId } }),
    ),
  );
  const batch = gateway.as('alice', 'post', `${ACME}/entity-states/batch`).type(NDJSON);
  expect((await batch.send(`${lines.join('\n')}\n`).expect(200)).text.match(/"status":201/g)).toHaveLength(260);
  await publish();
  await expect(verify(await bundleOf(subjectId))).resolves.toMatchObject({ isNewest: true, json: { versions: 260 } });
});

it('verify=complete reports whether a version is the newest in the log', async () => {
  const subjectId = await subjectOf(2);
  const size = await publish();
  const latest = await completeOf(subjectId, 'latest');
  expect(latest).toEqual({ is_newest: true, newest_version: 2, as_of_size: size, log_index: expect.any(Number) });
  expect(await completeOf(subjectId, 1)).toEqual({ ...latest, is_newest: false });
  await write(subjectId, 3);
  expect(await completeOf(subjectId, 'latest')).toEqual({ ...latest, is_newest: null });
  const { body } = await gateway.as('alice', 'get', `${pathOf(subjectId)}/snapshots?verify=complete`).expect(200);
  const verdicts = body.items.map((item: { verification: { complete: { is_newest: unknown } } }) => item.verification);
  expect(verdicts.map(({ complete }: { complete: { is_newest: unknown } }) => complete.is_newest)).toEqual([
    null,
    true,
    false,
  ]);
});

it('verify=complete detects a version that was deleted from the database', async () => {
  const subjectId = await subjectOf(2);
  await publish();
  await superuser.query('SET session_replication_role = replica');
  await superuser.query(
    `DELETE FROM snapshots USING subjects WHERE snapshots.subject_key = subjects.subject_key AND subject_id = $1 AND snapshot_version = 2`,
    [subjectId],
  );
  await superuser.query('RESET session_replication_role');
  expect(await completeOf(subjectId, 'latest')).toMatchObject({ is_newest: false, newest_version: 2 });
});

it('verify=complete returns 404 if the log has no map', async () => {
  const other = await startGateway();
  try {
    await other.as('alice', 'post', '/v1/tenants').send({ tenant_id: 'acme', name: 'Acme' }).expect(201);
    const sent = envelope();
    await other.as('alice', 'post', `${ACME}/entity-states`).send(sent).expect(201);
    const path = `${ACME}/snapshots/${sent['snapshot_id']}?verify=complete`;
    const { body } = await other.as('alice', 'get', path).expect(404);
    expect(body.error).toMatchObject({ code: 'not_found', message: expect.stringMatching(/^This log has no map/) });
  } finally {
    await other.close();
  }
});
