import { randomUUID } from 'node:crypto';
import { Members } from '@iss/proof';
import { verifyMapAnswer } from '@iss/proof/complete';
import { parsePolicy, type Policy } from '@iss/tlog';
import { TEST_VRF_KEY, TEST_VRF_SECRET } from '../../../tools/testing/vrf-key';
import { envelope, startGateway, type TestGateway, type User } from './gateway';
import { publishLog } from './publish-log';

const TENANT = '/v1/tenants/acme';
const KIND = 'organization';

let gateway: TestGateway;
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
  await publish();
}, 60_000);
afterAll(() => gateway?.close());
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

it('proves the newest version, also as of an older size', async () => {
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

it('proves which streams of a subject and a tenant have ended', async () => {
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
