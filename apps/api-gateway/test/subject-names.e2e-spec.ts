import type { User } from './gateway';
import { GrantWorld } from './grant-world';
import type { Subject } from './read-world';
import { RENAME } from './updates';

const NAME = 'Zürich Öl AG';

let world: GrantWorld;
let subject: Subject;
beforeAll(async () => {
  world = await GrantWorld.open();
});
afterAll(() => world.close());
beforeEach(async () => {
  await world.revokeAll();
  subject = await world.addSubject();
});

const pathOf = (tenant: string): string => `/v1/tenants/${tenant}/subjects/organization/${subject.subject_id}`;
const get = (path: string, user: User = 'alice') => world.gateway.as(user, 'get', path).expect(200);

/** Returns the names of the subject in a list; undefined if there is none. */
async function namesIn(path: string, user: User = 'alice'): Promise<unknown[]> {
  const { items } = (await get(path, user)).body;
  return items.flatMap((item: { subject_id: string; name?: string }) =>
    item.subject_id === subject.subject_id ? [item.name] : [],
  );
}

const REQUESTS = '/v1/tenants/beta/refresh-requests?direction=outgoing';
async function ask(): Promise<void> {
  const path = `/v1/subjects/organization/${subject.subject_id}/refresh-requests`;
  await world.gateway.as('bob', 'post', path).send({ requesting_tenant_id: 'beta' }).expect(201);
}

it('the owner’s lists show the name from the latest version', async () => {
  const grantId = await world.grantOn(subject);
  await ask();
  const update = { subject_id: subject.subject_id, base_snapshot_version: 1, patch_ops: RENAME };
  const made = await world.gateway
    .as('alice', 'post', `${pathOf('acme')}/updates`)
    .send(update)
    .expect(201);
  const lists = [
    '/v1/tenants/acme/grants?limit=100',
    `${pathOf('acme')}/grants`,
    '/v1/tenants/acme/entity-state-updates',
    `${pathOf('acme')}/updates`,
    '/v1/tenants/acme/refresh-requests',
    `/v1/tenants/acme/refresh-requests?subject_type=organization&subject_id=${subject.subject_id}`,
    `/v1/subjects/organization/${subject.subject_id}/refresh-requests`,
    `/v1/tenants/acme/subjects?subject_id_prefix=${subject.subject_id}`,
    '/v1/tenants/acme/subjects?q=zurich%20OL&limit=200',
  ];
  for (const list of lists) expect([list, await namesIn(list)]).toEqual([list, [NAME]]);
  expect((await get(`/v1/tenants/acme/grants/${grantId}`)).body).not.toHaveProperty('name');
  await world.gateway.as('alice', 'post', `${pathOf('acme')}/updates/${made.body.update_id}/apply`).expect(200);
  for (const list of lists.slice(0, -1)) expect([list, await namesIn(list)]).toEqual([list, ['Neu AG']]);
});

it('a grant on all subjects and a grantee’s list of grants show no name', async () => {
  const onAll = await world.grantOnAll();
  await world.grantOn(subject);
  const { items } = (await world.list('?limit=100').expect(200)).body;
  expect(items.find(({ grant_id: id }: { grant_id: string }) => id === onAll)).not.toHaveProperty('name');
  expect((await world.ofSubject(subject).expect(200)).body.items.map(({ name }: { name?: string }) => name)).toEqual([
    NAME,
    undefined,
  ]);
  expect(await namesIn('/v1/tenants/beta/grants?direction=received&limit=100', 'bob')).toEqual([undefined]);
});

describe('a requesting tenant', () => {
  const disclosed = async (): Promise<unknown[]> =>
    (await get(`${pathOf('acme')}/disclosures`, 'admin')).body.items.map(
      ({ via, principal_id: principal }: { via: string; principal_id: string }) => `${principal} ${via}`,
    );

  it.each<[string, () => Promise<unknown>]>([
    ['a grant on the subject', () => world.grantOn(subject)],
    ['an accepted grant on all subjects', () => world.grantOnAll()],
  ])('sees the name by %s, and the disclosure is recorded', async (_what, grant) => {
    await grant();
    await ask();
    expect(await namesIn(REQUESTS, 'bob')).toEqual([NAME]);
    expect(await namesIn(`${REQUESTS}&subject_type=organization&subject_id=${subject.subject_id}`, 'bob')).toEqual([
      NAME,
    ]);
    expect(await disclosed()).toEqual(['oidc:test#bob name']);
  });

  it.each<[string, User, () => Promise<unknown>]>([
    ['without read_latest', 'bob', () => world.grantOn(subject, { scopes: ['read_lineage', 'read_diff'] })],
    ['with an unaccepted grant on all subjects', 'bob', () => world.create({ subject_type: '*' }).expect(201)],
    ['whose member may not use grants', 'zoe', () => world.grantOn(subject)],
  ])('%s sees no name', async (_what, user, grant) => {
    await grant();
    await ask();
    expect(await namesIn(REQUESTS, user)).toEqual([undefined]);
    expect(await disclosed()).toEqual([]);
  });

  it('sees no name after its grant has ended', async () => {
    const grantId = await world.grantOn(subject);
    await ask();
    await world.revoke(grantId).expect(200);
    expect(await namesIn(REQUESTS, 'bob')).toEqual([undefined]);
    expect(await disclosed()).toEqual([]);
  });
});

it('a grantee sees a subject’s name only in search results', async () => {
  await world.grantOn(subject);
  expect(await namesIn('/v1/tenants/beta/accessible-subjects?q=zurich', 'bob')).toEqual([NAME]);
  expect(await namesIn('/v1/tenants/beta/accessible-subjects', 'bob')).toEqual([undefined]);
});
