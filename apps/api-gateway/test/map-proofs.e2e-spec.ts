import { randomUUID } from 'node:crypto';
import { Members } from '@iss/proof';
import { verifyMapAnswer } from '@iss/proof/complete';
import { parsePolicy, type Policy } from '@iss/tlog';
import { Client } from 'pg';
import { TEST_VRF_KEY, TEST_VRF_SECRET, vrfSecretOf } from '../../../tools/testing/vrf-key';
import { waitFor } from '../../../tools/testing/wait-for';
import { envelope, startGateway, type TestGateway, type User } from './gateway';
import { publishLog } from './publish-log';

const TENANT = '/v1/tenants/acme';
const KIND = 'organization';

let gateway: TestGateway;
let sql: Client;
let policy: Policy;
let subjectId: string;

const publish = async (): Promise<number> => {
  const { vkey, size } = await publishLog(gateway.databaseUrl, TEST_VRF_SECRET);
  policy = parsePolicy(`log ${vkey}\nquorum none\n`);
  return size;
};

beforeAll(async () => {
  gateway = await startGateway({ LOG_VRF_KEY: TEST_VRF_SECRET });
  await gateway.as('alice', 'post', '/v1/tenants').send({ tenant_id: 'acme', name: 'Acme' }).expect(201);
  await gateway.as('bob', 'post', '/v1/tenants').send({ tenant_id: 'bank', name: 'Bank' }).expect(201);
  sql = new Client({ connectionString: gateway.databaseUrl });
  await sql.connect();
  // A test removes rows that triggers protect.
  await sql.query('SET session_replication_role = replica');
  await publish();
});
afterAll(async () => {
  await sql?.end();
  await gateway?.close();
});
beforeEach(() => {
  subjectId = `subject-${randomUUID()}`;
});

async function write(version: number): Promise<void> {
  const sent = envelope({ snapshot_version: version, subject: { subject_type: KIND, subject_id: subjectId } });
  await gateway.as('alice', 'post', `${TENANT}/entity-states`).send(sent).expect(201);
}

const subject = (tenant = TENANT): string => `${tenant}/subjects/${KIND}/${subjectId}`;
const get = (path: string, user: User = 'alice') => gateway.as(user, 'get', path);
const verify = async (body: unknown) =>
  (await verifyMapAnswer(Members.parse('The answer', JSON.stringify(body)), { policy, vrfKey: TEST_VRF_KEY })).json;

it('latest-proof proves the newest version, also as of an older log size', async () => {
  await write(1);
  const before = await publish();
  for (let version = 2; version <= 5; version++) await write(version);
  await get(`${subject()}/latest-proof`).expect(404);
  const size = await publish();
  const { body } = await get(`${subject()}/latest-proof`).expect(200);
  expect(body).toMatchObject({ subject_type: KIND, subject_id: subjectId, snapshot_version: 5, as_of_size: size });
  expect(body.head.keys).toHaveLength(1);
  expect(await verify(body)).toMatchObject({ kind: 'latest', snapshot_version: 5 });
  const older = (await get(`${subject()}/latest-proof?as_of_size=${before}`).expect(200)).body;
  expect(older).toMatchObject({ snapshot_version: 1, as_of_size: before });
  expect(await verify(older)).toMatchObject({ kind: 'latest', snapshot_version: 1, as_of_size: before });
});

it('latest-proof repeats a proof with one statement until a newer version or checkpoint', async () => {
  await write(1);
  await publish();
  const path = `${subject()}/latest-proof`;
  const { text } = await get(path).expect(200);
  gateway.sent.length = 0;
  expect((await get(path).expect(200)).text).toBe(text);
  const shared = ['log_checkpoint_newest', 'map_state'];
  expect(gateway.sent.filter((name) => !shared.includes(name))).toEqual(['map_latest']);
  await get(path, 'bob').expect(403);

  await write(2);
  await get(path).expect(404);
  const size = await publish();
  const { body } = await get(path).expect(200);
  expect(await verify(body)).toMatchObject({ snapshot_version: 2, as_of_size: size });
  // The entry is known, and the checkpoint is newer.
  await gateway.as('alice', 'post', `${TENANT}/entity-states`).send(envelope()).expect(201);
  const larger = await publish();
  const later = (await get(path).expect(200)).body;
  expect(await verify(later)).toMatchObject({ snapshot_version: 2, as_of_size: larger });
  expect(larger).toBeGreaterThan(size);
});

it('absence-proof proves where streams end, and state-proof proves a grant’s state', async () => {
  await write(1);
  const { body: grant } = await gateway
    .as('alice', 'post', `${TENANT}/grants`)
    .send({
      grantee_tenant_id: 'bank',
      subject_type: KIND,
      subject_id: subjectId,
      scopes: ['read_latest'],
    })
    .expect(201);
  await publish();
  const ends = async (path: string, user: User = 'alice'): Promise<unknown[]> => {
    const { body } = await get(path, user).expect(200);
    expect(await verify(body)).toMatchObject({ kind: 'absence', number: body.number });
    return [body.stream, body.number];
  };
  expect(await ends(`${subject()}/absence-proof?stream=v`)).toEqual(['v', 2]);
  expect(await ends(`${subject()}/absence-proof?stream=a`)).toEqual(['a', 2]);
  expect(await ends(`${subject()}/absence-proof?stream=p`)).toEqual(['p', 1]);
  expect(await ends(`${subject('/v1/tenants/bank')}/absence-proof?stream=p`, 'bob')).toEqual(['p', 2]);
  expect(await ends(`${subject()}/absence-proof?stream=r`)).toEqual(['r', 1]);
  expect(await ends(`${TENANT}/absence-proof?stream=o`)).toEqual(['o', 2]);
  expect(await ends(`${TENANT}/absence-proof?stream=w`)).toEqual(['w', 1]);
  expect(await ends(`${TENANT}/absence-proof?stream=p`)).toEqual(['p', 1]);
  expect((await ends(`${TENANT}/absence-proof?stream=d`))[0]).toBe('d');

  const { grant_id: grantId } = grant;
  const state = `${TENANT}/grants/${grantId}/state-proof`;
  const live = (await get(state).expect(200)).body;
  expect(live).toMatchObject({ grant_id: grantId, state: 'live', number: 1 });
  expect(await verify(live)).toMatchObject({ kind: 'grant_state', state: 'live' });
  await gateway.as('alice', 'post', `${TENANT}/grants/${grantId}/revoke`).expect(200);
  await get(state).expect(404);
  await publish();
  const revoked = (await get(state.replace('acme', 'bank'), 'bob').expect(200)).body;
  expect(revoked).toMatchObject({ state: 'revoked', number: 2 });
  expect(await verify(revoked)).toMatchObject({ kind: 'grant_state', state: 'revoked' });
});

it('absence-proof proves that disclosures and the audit trail are complete', async () => {
  await sql.query(`UPDATE memberships SET allow_counterparty_access = true WHERE tenant_id = 'bank'`);
  const other = `other-${randomUUID()}`;
  for (const id of [subjectId, other]) {
    const named = { subject_type: KIND, subject_id: id };
    const sent = envelope({ snapshot_version: 1, subject: named });
    await gateway.as('alice', 'post', `${TENANT}/entity-states`).send(sent).expect(201);
    const grant = { grantee_tenant_id: 'bank', ...named, scopes: ['read_latest'] };
    await gateway.as('alice', 'post', `${TENANT}/grants`).send(grant).expect(201);
  }
  await publish();
  const known = subject('/v1/tenants/bank');
  // One entry has two records of the subject and one of another one.
  await get(known.replace(subjectId, other) + '/snapshots/latest', 'bob').expect(200);
  await get(`${known}/snapshots/latest`, 'bob').expect(200);
  await get(`${known}/latest-proof`, 'bob').expect(200);
  await publish();
  await gateway
    .as('alice', 'post', `${TENANT}/entity-states`)
    .send(envelope({ snapshot_version: 2, subject: { subject_type: KIND, subject_id: subjectId } }))
    .expect(201);
  await get(`${known}/snapshots/latest`, 'bob').expect(200);
  await publish();

  const path = `${subject()}/absence-proof?stream=r&records_from=`;
  const { body } = await get(`${path}1`).expect(200);
  const { items } = (await get(`${subject()}/disclosures`).expect(200)).body;
  const shown = { subject_id: subjectId, principal_id: items[0].principal_id, grantee_tenant_id: 'bank' };
  expect(await verify(body)).toMatchObject({
    number: items.length + 1,
    records: [
      { ...shown, number: 1, via: 'snapshot', to_version: 1 },
      { ...shown, number: 2, via: 'proof', to_version: 1 },
      { ...shown, number: 3, via: 'snapshot', to_version: 2 },
    ],
  });
  // An answer has whole entries.
  expect((await get(`${path}2`).expect(200)).body).toEqual(body);
  const last = (await get(`${path}3`).expect(200)).body;
  expect(await verify(last)).toMatchObject({ records: [{ number: 3 }] });
  expect(await verify((await get(`${path}4`).expect(200)).body)).toMatchObject({ records: [] });
  await get(`${path}1`, 'bob').expect(403);

  const trail = async (from: number) =>
    (await get(`${TENANT}/absence-proof?stream=d&records_from=${from}`).expect(200)).body;
  const records: unknown[] = [];
  for (let from = 1, count = 1; from <= count; from = records.length + 1) {
    const answer = await trail(from);
    count = answer.number - 1;
    records.push(...((await verify(answer))['records'] as unknown[]));
  }
  const { rows } = await sql.query(
    `SELECT audit_id::int, action FROM audit_records WHERE tenant_id = 'acme' ORDER BY audit_id`,
  );
  expect(records).toHaveLength(rows.length);
  expect(records).toEqual(expect.arrayContaining(rows.map((row) => expect.objectContaining(row))));

  for (const stream of ['v', 'a', 'p']) {
    const { error } = (await get(`${subject()}/absence-proof?stream=${stream}&records_from=1`).expect(400)).body;
    expect(error).toMatchObject({ details: [{ path: '/query/records_from', code: 'invalid_value' }] });
  }
  await get(`${TENANT}/absence-proof?stream=o&records_from=1`).expect(400);

  // A superuser changes or deletes a record: the service then shows an entry that is not the one in the log.
  for (const forged of [
    `UPDATE disclosures SET principal_id = 'oidc:p#nobody' WHERE to_version = 1 AND via = 'proof'`,
    `DELETE FROM disclosures WHERE via = 'proof'`,
  ]) {
    await sql.query(forged);
    const { body: wrong } = await get(`${path}1`).expect(200);
    await expect(verify(wrong)).rejects.toMatchObject({ failure: expect.stringMatching(/^(not_in_log|gap)$/) });
  }
});

it('proofs use the published map while newer rows are written', async () => {
  await write(1);
  const size = await publish();
  const lines = Array.from({ length: 150 }, () => `${JSON.stringify(envelope())}\n`).join('');
  const batch = gateway.as('alice', 'post', `${TENANT}/entity-states/batch`);
  await batch.type('application/x-ndjson').send(lines).expect(200);
  await publish();
  await write(2);
  await publish();
  await sql.query('DELETE FROM log_checkpoints WHERE size > $1', [size]);
  await waitFor(async () => (await get('/log/checkpoint')).text.split('\n')[1] === String(size));
  const { body } = await get(`${subject()}/latest-proof?as_of_size=${size}`).expect(200);
  expect(body).toMatchObject({ snapshot_version: 1, map: { map_root: { log_index: size - 1 } } });
  expect(await verify(body)).toMatchObject({ snapshot_version: 1 });
  const { body: none } = await get(`${subject()}/absence-proof?stream=v`).expect(200);
  expect(none.number).toBe(2);
  expect(await verify(none)).toMatchObject({ number: 2 });
  expect((await get(`${subject()}/latest-proof`).expect(404)).body.error.code).toBe('not_logged_yet');
  await publish();
  await waitFor(async () => (await get(`${subject()}/latest-proof`)).body.snapshot_version === 2);
});

it('latest-proof refuses a log size at which versions are missing or out of order', async () => {
  for (let version = 1; version <= 3; version++) await write(version);
  // An import may log a version before its previous version.
  const waiting = `FROM log_waiting WHERE subject_key = (SELECT subject_key FROM subjects WHERE subject_id = $1)`;
  await sql.query(`CREATE TEMP TABLE early AS SELECT * FROM log_waiting LIMIT 0`);
  await sql.query(`INSERT INTO early SELECT * ${waiting} AND snapshot_version < 3`, [subjectId]);
  await sql.query(`DELETE ${waiting} AND snapshot_version < 3`, [subjectId]);
  const middle = await publish();
  const { body: early } = await get(`${subject()}/latest-proof`).expect(404);
  expect(early.error.code).toBe('not_logged_yet');
  await sql.query('INSERT INTO log_waiting OVERRIDING SYSTEM VALUE SELECT * FROM early');
  const size = await publish();
  const { body } = await get(`${subject()}/latest-proof`).expect(200);
  expect(await verify(body)).toMatchObject({ snapshot_version: 3, as_of_size: size });
  const refused = async (as: number, message: string): Promise<void> => {
    const { error } = (await get(`${subject()}/latest-proof?as_of_size=${as}`).expect(400)).body;
    expect(error).toMatchObject({
      code: 'validation_error',
      details: [{ path: '/query/as_of_size', code: 'out_of_range' }],
    });
    expect(error.message).toContain(message);
  };
  await refused(middle, 'the first size that has a version');
  await refused(1, 'the first size that has a version');
  await refused(size - 1, 'in another order');
  await refused(size + 1, `at most ${size}`);
});

it('proofs reveal nothing about a subject to a tenant without access', async () => {
  await write(1);
  await publish();
  const known = subject('/v1/tenants/bank');
  const unknown = known.replace(subjectId, `subject-${randomUUID()}`);
  const answer = async (path: string): Promise<unknown> => {
    const { status, body } = await get(path, 'bob');
    return [status, body.error?.message, body.number, body.map?.look_ups.length];
  };
  for (const path of ['latest-proof', 'absence-proof?stream=p', 'absence-proof?stream=a', 'absence-proof?stream=r']) {
    expect(await answer(`${known}/${path}`)).toEqual(await answer(`${unknown}/${path}`));
  }
  expect(await answer(`${known}/absence-proof?stream=v`)).toEqual([403, expect.any(String), undefined, undefined]);
  await get(`${subject()}/absence-proof?stream=p`, 'bob').expect(403);

  const { body: grant } = await gateway
    .as('alice', 'post', `${TENANT}/grants`)
    .send({ grantee_tenant_id: 'bank', subject_type: KIND, subject_id: subjectId, scopes: ['read_latest'] })
    .expect(201);
  await sql.query(`UPDATE memberships SET allow_counterparty_access = true WHERE tenant_id = 'bank'`);
  await get(`${known}/latest-proof`, 'bob').expect(200);
  const { body: read } = await get(`${subject()}/disclosures`).expect(200);
  expect(read.items).toMatchObject([{ via: 'proof', from_version: 1, to_version: 1, grantee_tenant_id: 'bank' }]);
  await gateway.as('alice', 'post', `${TENANT}/grants/${grant.grant_id}/revoke`).expect(200);
  await get(`${known}/latest-proof`, 'bob').expect(403);
});

it('absence-proof returns 404 without a map, and 503 with another LOG_VRF_KEY', async () => {
  const without = await startGateway({ LOG_VRF_KEY: TEST_VRF_SECRET });
  try {
    await without.as('alice', 'post', '/v1/tenants').send({ tenant_id: 'acme', name: 'Acme' }).expect(201);
    await publishLog(without.databaseUrl);
    const { body } = await without.as('alice', 'get', `${TENANT}/absence-proof?stream=o`).expect(404);
    expect(body.error).toMatchObject({ code: 'not_found', message: expect.stringContaining('This log has no map') });
  } finally {
    await without.close();
  }
  const other = await startGateway({ LOG_VRF_KEY: vrfSecretOf(2) }, gateway);
  try {
    await other.as('alice', 'get', `${TENANT}/absence-proof?stream=o`).expect(503);
    const { body } = await other.as(null, 'get', '/v1/ops/readiness');
    expect(body.checks.map).toMatchObject({
      status: 'degraded',
      detail: expect.stringContaining('another LOG_VRF_KEY'),
    });
  } finally {
    await other.close();
  }
});

it('latest-proof returns 410 after an erasure, and absence-proof still proves the count', async () => {
  await write(1);
  await write(2);
  await publish();
  await get(`${subject()}/latest-proof`).expect(200);
  await sql.query(`UPDATE tenants SET erasure_confirmation = 'off' WHERE tenant_id = 'acme'`);
  const asked = { versions: 'all', reason: 'Asked for.' };
  await gateway.as('alice', 'post', `${subject()}/erasure`).send(asked).expect(201);
  await publish();
  const { body } = await get(`${subject()}/latest-proof`).expect(410);
  expect(body.error).toMatchObject({ code: 'erased', erased: { snapshot_version: 2 } });
  const { body: none } = await get(`${subject()}/absence-proof?stream=v`).expect(200);
  expect(none.number).toBe(3);
  expect(await verify(none)).toMatchObject({ kind: 'absence', number: 3 });
});
