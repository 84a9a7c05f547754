import type { Test } from 'supertest';
import { envelope, startGateway, type TestGateway } from './gateway';

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startGateway();
  for (const tenantId of ['open', 'resolved', 'fresh']) {
    const tenant = { tenant_id: tenantId, name: tenantId, evidence_policy: tenantId };
    await gateway.as('alice', 'post', '/v1/tenants').send(tenant).expect(201);
  }
});
afterAll(() => gateway?.close());

const REF = { evidence_id: 'ev-1', evidence_type: 'extract' };
const ITEM = { ...REF, source: 'register', captured_at: '2026-01-15T09:00:00Z' };
const NAME = '/attributes/name';
const at = (path: string, ...refs: object[]) => ({ [path]: refs });
/** Evidence for every value that the patch changes. */
const backed = (change: object = {}) => ({
  attributes: { name: 'A' },
  evidence: [ITEM],
  attribute_paths: at(NAME, REF),
  ...change,
});
const subjectOf = (subjectId: string) => ({ subject: { subject_type: 'entity', subject_id: subjectId } });
let count = 0;

const write = (tenantId: string, change: object): Test =>
  gateway
    .as('alice', 'post', `/v1/tenants/${tenantId}/entity-states`)
    .send(envelope({ ...subjectOf(`s${count++}`), ...change }));

const details = ({ body }: { body: { error: { details: { path: string; code: string }[] } } }) =>
  body.error.details.map(({ path, code }) => `${path} ${code}`);

const DANGLING = backed({ attribute_paths: at(NAME, { ...REF, evidence_id: 'ev-9' }) });
const ASTRAY = backed({ attribute_paths: { ...at(NAME, REF), ...at('/attributes/nothing', REF) } });
const UNBACKED = backed({ attributes: { name: 'A', more: { of: 'it' } } });

test.each<[string, object, Record<string, string[]>]>([
  ['evidence for every value', backed(), { open: [], resolved: [], fresh: [] }],
  ['a reference to missing evidence', DANGLING, {
    open: [],
    resolved: ['/attribute_paths/~1attributes~1name/0 unknown_evidence'],
    fresh: ['/attribute_paths/~1attributes~1name/0 unknown_evidence', '/attributes/name no_fresh_evidence', '/evidence/0 unreferenced_evidence'],
  }],
  ['a path to a missing value', ASTRAY, {
    open: [],
    resolved: ['/attribute_paths/~1attributes~1nothing unknown_path'],
    fresh: ['/attribute_paths/~1attributes~1nothing unknown_path'],
  }],
  ['a value without evidence', UNBACKED, { open: [], resolved: [], fresh: ['/attributes/more/of no_fresh_evidence'] }],
])('each policy accepts or refuses a first version with %s', async (_, change, expected) => {
  for (const [policy, problems] of Object.entries(expected)) {
    const answer = await write(policy, change).expect(problems.length === 0 ? 201 : 400);
    if (problems.length > 0) expect(details(answer)).toEqual(problems);
  }
}); // prettier-ignore

describe('later versions', () => {
  const SECOND = { ...ITEM, evidence_id: 'ev-2' };
  const SECOND_REF = { ...REF, evidence_id: 'ev-2' };
  const corroborating = { ...REF, role: 'corroborating' };
  const cases: [string, object, Record<string, string[]>][] = [
    ['that changes nothing', backed(), { open: [], resolved: [], fresh: [] }],
    ['with a new value on old evidence', backed({ attributes: { name: 'B' } }), { open: [], resolved: [], fresh: [`${NAME} no_fresh_evidence`] }],
    ['with a new value on new evidence', { attributes: { name: 'B' }, evidence: [ITEM, SECOND], attribute_paths: at(NAME, SECOND_REF) }, { fresh: [] }],
    ['with a new value on old evidence that corroborates it', backed({ attributes: { name: 'B' }, attribute_paths: at(NAME, corroborating) }), { fresh: [] }],
    ['with new evidence that is not named for the new value', backed({ attributes: { name: 'B' }, evidence: [ITEM, SECOND] }), { fresh: [`${NAME} no_fresh_evidence`, '/evidence/1 unreferenced_evidence'] }],
    ['with the same evidence captured again', backed({ attributes: { name: 'B' }, evidence: [{ ...ITEM, captured_at: '2026-03-01T00:00:00Z' }] }), { fresh: [] }],
    ['without a previous value', backed({ attributes: {}, attribute_paths: {} }), { open: [], resolved: [], fresh: ['/attributes no_fresh_evidence'] }],
    ['without a previous value, with new evidence for its parent', { attributes: {}, evidence: [ITEM, SECOND], attribute_paths: at('/attributes', SECOND_REF) }, { fresh: [] }],
    ['without a previous value, but with its path in attribute_paths', backed({ attributes: {} }), { open: [], resolved: ['/attribute_paths/~1attributes~1name unknown_path'] }],
  ]; // prettier-ignore

  test.each(cases)('each policy accepts or refuses a direct write %s', async (_, change, expected) => {
    for (const [policy, problems] of Object.entries(expected)) {
      const subject = subjectOf(`s${count++}`);
      await write(policy, { ...backed(), ...subject }).expect(201);
      const answer = await write(policy, { ...change, ...subject, snapshot_version: 2 }).expect(problems.length === 0 ? 201 : 400);
      if (problems.length > 0) expect(details(answer)).toEqual(problems);
    }
  }); // prettier-ignore
});

async function patchable(tenantId: string): Promise<string> {
  const subject = subjectOf(`s${count++}`);
  await write(tenantId, { ...backed(), ...subject }).expect(201);
  return `/v1/tenants/${tenantId}/subjects/entity/${subject.subject.subject_id}/updates`;
}
const propose = (updates: string, ops: object[]): Test =>
  gateway.as('alice', 'post', updates).send({
    subject_id: updates.split('/').at(-2),
    base_snapshot_version: 1,
    patch_ops: ops,
  });
const RENAME = { op: 'replace', path: NAME, value: 'B' };

test('a proposal that breaks the policy is refused with the operation that breaks it', async () => {
  const updates = await patchable('fresh');
  const answer = await propose(updates, [{ op: 'add', path: '/source', value: 'x' }, RENAME]).expect(400);
  expect(details(answer)).toEqual(['/patch_ops/1 no_fresh_evidence']);
  const unnamed = { op: 'add', path: '/evidence/-', value: { ...ITEM, evidence_id: 'ev-2' } };
  expect(details(await propose(updates, [RENAME, unnamed]).expect(400))).toEqual([
    '/patch_ops/0 no_fresh_evidence',
    '/patch_ops/1 unreferenced_evidence',
  ]);
  const renewed = { op: 'replace', path: '/evidence/0/captured_at', value: '2026-03-01T00:00:00Z' };
  const { body } = await propose(updates, [RENAME, renewed]).expect(201);
  await gateway.as('alice', 'post', `${updates}/${body.update_id}/apply`).expect(200);
});

test('a removed element loses its evidence, and its removal needs new evidence', async () => {
  const owners = [
    { id: 'a', share: 60 },
    { id: 'b', share: 40 },
  ];
  const share = (index: number) => `/attributes/owners/${index}/share`;
  const items = ['all', 'a', 'b'].map((id) => ({ ...ITEM, evidence_id: id }));
  const [all, ofA, ofB] = items.map(({ evidence_id }) => ({ ...REF, evidence_id })) as [object, object, object];
  const subject = subjectOf(`s${count++}`);
  const attribute_paths = { ...at('/attributes/owners', all), ...at(share(0), ofA), ...at(share(1), ofB) };
  await write('fresh', { ...subject, attributes: { owners }, evidence: items, attribute_paths }).expect(201);
  const base = `/v1/tenants/fresh/subjects/entity/${subject.subject.subject_id}`;
  const escaped = (path: string) => `/attribute_paths/${path.replaceAll('/', '~1')}`;

  const remove = { op: 'remove', path: '/attributes/owners/0' };
  const dangling = { op: 'remove', path: escaped(share(1)) };
  const { body } = await propose(`${base}/updates`, [remove, dangling]).expect(400);
  expect(body.error.details).toEqual([
    {
      path: '/patch_ops',
      message: `in the result, ${share(0)} moved in its array without its evidence: move its path in attribute_paths too`,
      code: 'shifted_evidence',
    },
    {
      path: '/patch_ops/0',
      message: expect.stringContaining(
        '/attributes/owners lost a value without new evidence: in attribute_paths, name',
      ),
      code: 'no_fresh_evidence',
    },
  ]);

  const letter = { ...REF, evidence_id: 'letter' };
  const added = { op: 'add', path: '/evidence/-', value: { ...ITEM, ...letter } };
  const named = { op: 'add', path: `${escaped('/attributes/owners')}/-`, value: letter };
  const moved = { op: 'replace', path: escaped(share(0)), value: [ofB] };
  const proposed = await propose(`${base}/updates`, [remove, dangling, moved, added, named]).expect(201);
  await gateway.as('alice', 'post', `${base}/updates/${proposed.body.update_id}/apply`).expect(200);

  const provenance = await gateway.as('alice', 'get', `${base}/provenance?path=${share(0)}`).expect(200);
  expect(provenance.body.items).toMatchObject([
    { since_version: 1, evidence_status: 'current', evidence: [{ evidence_id: 'b' }] },
  ]);
  const diff = await gateway.as('alice', 'get', `${base}/diff?from_version=1&to_version=2`).expect(200);
  expect(diff.body).toMatchObject({
    attribution: [
      { path: '/attributes/owners/0', inherited: { from: '/attributes/owners', to: '/attributes/owners' } },
    ],
    inherited_evidence: { from: { '/attributes/owners': [all] }, to: { '/attributes/owners': [all, letter] } },
  });
});

test('an application follows the current policy, and a changed policy takes effect immediately', async () => {
  const updates = await patchable('open');
  const { body: proposed } = await propose(updates, [RENAME]).expect(201);
  const change = (evidence_policy: string) =>
    gateway.as('alice', 'patch', '/v1/tenants/open').send({ evidence_policy });
  expect((await change('fresh').expect(200)).body).toMatchObject({ evidence_policy: 'fresh', chain_enforced: true });
  const apply = () => gateway.as('alice', 'post', `${updates}/${proposed.update_id}/apply`);
  expect(details(await apply().expect(400))).toEqual(['/patch_ops/0 no_fresh_evidence']);
  await write('open', UNBACKED).expect(400);
  await change('open').expect(200);
  await apply().expect(200);
  await write('open', UNBACKED).expect(201);
});

test('a caller that may not write gets 403, not the findings of the policy', async () => {
  const body = envelope({ ...subjectOf(`s${count++}`), ...UNBACKED });
  await gateway.as('bob', 'post', '/v1/tenants/fresh/entity-states').send(body).expect(403);
});

test('a tenant returns its policy, and refuses an unknown one', async () => {
  expect((await gateway.as('alice', 'get', '/v1/tenants/resolved').expect(200)).body).toMatchObject({ evidence_policy: 'resolved' });
  const { body } = await gateway.as('alice', 'patch', '/v1/tenants/resolved').send({ evidence_policy: 'strict' }).expect(400);
  expect(body.error.details[0].path).toBe('/evidence_policy');
}); // prettier-ignore
