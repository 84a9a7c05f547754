import { envelope, startGateway, type TestGateway } from './gateway';
import type { Method } from './conformance';

let gateway: TestGateway;
const subjectId = 'counted';
const SUBJECT = `/v1/tenants/acme/subjects/organization/${subjectId}`;
const first = envelope({ subject: { subject_type: 'organization', subject_id: subjectId } });
const third = { subject: first['subject'], snapshot_version: 3 };
let updateId = '';

beforeAll(async () => {
  gateway = await startGateway();
  await gateway.as('alice', 'post', '/v1/tenants').send({ tenant_id: 'acme', name: 'Acme' }).expect(201);
  await gateway.as('alice', 'post', '/v1/tenants/acme/entity-states').send(first).expect(201);
});

afterAll(() => gateway?.close());

const OPS = [{ op: 'add', path: '/attributes/x', value: 1 }];
const proposal = { subject_id: subjectId, base_snapshot_version: 1, patch_ops: OPS };

// A guard against regressions that no machine's speed can hide: a hot read is one statement, a write at most two.
it.each<[string, number, () => [Method, string, object?]]>([
  ['latest', 1, () => ['get', `${SUBJECT}/snapshots/latest`]],
  ['latest, header only', 1, () => ['get', `${SUBJECT}/snapshots/latest?view=header`]],
  ['latest, in the global form', 1, () => ['get', `/v1/subjects/organization/${subjectId}/snapshots/latest`]],
  ['a version', 1, () => ['get', `${SUBJECT}/snapshots/1`]],
  ['an id', 1, () => ['get', `/v1/tenants/acme/snapshots/${String(first['snapshot_id'])}`]],
  ['a proof', 1, () => ['get', `/v1/tenants/acme/snapshots/${String(first['snapshot_id'])}/proof`]],
  ['a summary', 1, () => ['get', SUBJECT]],
  ['a verified hash', 1, () => ['get', `${SUBJECT}/snapshots/1?verify=hash`]],
  ['a history', 1, () => ['get', `${SUBJECT}/history`]],
  ['a diff', 1, () => ['get', `${SUBJECT}/diff?from_version=1&to_version=1`]],
  ['a provenance', 2, () => ['get', `${SUBJECT}/provenance`]],
  ['owned subjects', 1, () => ['get', '/v1/tenants/acme/subjects']],
  ['owners', 1, () => ['get', `${SUBJECT}/owners`]],
  ['usage', 1, () => ['get', '/v1/tenants/acme/usage']],
  ['grants of a subject', 1, () => ['get', `${SUBJECT}/grants`]],
  ['updates of a subject', 1, () => ['get', `${SUBJECT}/updates`]],
  ['a create', 1, () => ['post', '/v1/tenants/acme/entity-states', envelope()]],
  ['a proposal', 2, () => ['post', `${SUBJECT}/updates`, proposal]],
  ['an application', 2, () => ['post', `${SUBJECT}/updates/${updateId}/apply`]],
  ['a direct write of a later version', 2, () => ['post', '/v1/tenants/acme/entity-states', envelope({ ...third })]],
])('%s takes %i statement(s)', async (_, expected, make) => {
  const [method, path, body] = make();
  gateway.sent.length = 0;
  const request = gateway.as('alice', method, path);
  const answer = await (body === undefined ? request : request.send(body));
  expect(answer.status).toBeLessThan(300);
  if (typeof answer.body.update_id === 'string') updateId = answer.body.update_id;
  expect(gateway.sent).toHaveLength(expected);
});

it('an application by an unknown id writes nothing and still takes one statement', async () => {
  gateway.sent.length = 0;
  await gateway.as('alice', 'post', `${SUBJECT}/updates/${String(first['snapshot_id'])}/apply`).expect(404);
  expect(gateway.sent).toHaveLength(1);
});
