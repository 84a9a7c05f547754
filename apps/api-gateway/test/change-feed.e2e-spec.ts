import { randomUUID } from 'node:crypto';
import type { Response } from 'supertest';
import { envelope, type User } from './gateway';
import { GrantWorld, places } from './grant-world';
import { publishLog } from './publish-log';
import type { Subject } from './read-world';

let world: GrantWorld;
let subject: Subject;
let grantId: string;

const changes = (query = '', user: User | null = 'alice', tenant = 'acme') =>
  world.gateway.as(user, 'get', `/v1/tenants/${tenant}/changes${query}`);
const typesOf = ({ body }: Response): string[] => body.items.map(({ type }: { type: string }) => type);
const logged = () => publishLog(world.gateway.databaseUrl);

beforeAll(async () => {
  world = await GrantWorld.open();
  subject = await world.addSubject();
  grantId = await world.grantOn(subject);
  await logged();
}, 60_000);
afterAll(() => world?.close());

it('shows the owner what it owns, the grantee what it may read, nobody else anything of it', async () => {
  const { body } = await changes().expect(200);
  const [founded, created, granted] = body.items;
  expect(founded).toMatchObject({ type: 'tenant.owner_changed', tenant_id: 'acme', principal_id: 'oidc:test#alice' });
  expect(created).toMatchObject({
    type: 'snapshot.created',
    subject,
    ...subject,
    snapshot_version: 1,
    prev_hash: null,
  });
  expect(Object.keys(created)).not.toEqual(expect.arrayContaining(['envelope', 'attributes', 'salt']));
  expect(granted).toMatchObject({
    type: 'grant.created',
    ...subject,
    grant_id: grantId,
    tenant_id: 'acme',
    grantee_tenant_id: 'beta',
    scopes: ['read_latest'],
    expires_at: null,
  });
  expect(body).toMatchObject({ has_more: false, next_after: granted.log_index });
  const ofGrantee = await changes('', 'bob', 'beta').expect(200);
  expect(typesOf(ofGrantee)).toEqual(['tenant.owner_changed', 'snapshot.created', 'grant.created']);
  expect(ofGrantee.body.items[1]).toEqual(created);
  expect(typesOf(await changes('', 'o1', 'gamma').expect(200))).toEqual(['tenant.owner_changed']);
  // Who may not use grants sees that there is one.
  expect(typesOf(await changes('', 'zoe', 'beta').expect(200))).toEqual(['tenant.owner_changed', 'grant.created']);
});

it('has the members of the entry that its proof shows', async () => {
  const { body } = await changes('?type=snapshot.created').expect(200);
  const [item] = body.items;
  const path = `/v1/tenants/acme/snapshots/${item.snapshot_id}/log-proof`;
  const { body: proof } = await world.gateway.as('alice', 'get', path).expect(200);
  const { entry_version, salt, ...members } = JSON.parse(proof.entry);
  expect([entry_version, proof.log_index]).toEqual(['iss_log_entry_v1', item.log_index]);
  expect(item).toMatchObject(members);
  expect(JSON.stringify(item)).not.toContain(salt);
});

it('pages by place, without a gap or a repeat while more is written', async () => {
  const seen: number[] = [];
  let after = '';
  for (let round = 0; round < 12; round++) {
    if (round < 6) {
      await world.addSubject();
      if (round % 2 === 0) await logged();
    }
    const { body } = await changes(`?limit=${1 + (round % 3)}${after}`).expect(200);
    seen.push(...body.items.map(({ log_index }: { log_index: number }) => log_index));
    after = `&after=${body.next_after}`;
  }
  await logged();
  const rest = await changes(`?${after.slice(1)}`).expect(200);
  seen.push(...rest.body.items.map(({ log_index }: { log_index: number }) => log_index));
  const all = await changes('?limit=1000').expect(200);
  expect(seen).toEqual(all.body.items.map(({ log_index }: { log_index: number }) => log_index));
});

it('shows nothing of a subject once its grant is revoked, and both sides that it was', async () => {
  const other = await world.addSubject();
  const revoked = await world.grantOn(other, { scopes: ['read_lineage'] });
  await logged();
  const of = async (user: User, tenant: string) => {
    const { body } = await changes('?limit=1000', user, tenant).expect(200);
    return body.items.filter((item: Subject) => item.subject_id === other.subject_id);
  };
  expect(typesOf({ body: { items: await of('bob', 'beta') } } as Response)).toEqual([
    'snapshot.created',
    'grant.created',
  ]);
  await world.revoke(revoked).expect(200);
  const [left, ...none] = await of('bob', 'beta');
  expect([left.type, none]).toEqual(['grant.created', []]);
  await logged();
  for (const [user, tenant] of [
    ['alice', 'acme'],
    ['bob', 'beta'],
  ] as const) {
    expect((await of(user, tenant)).at(-1)).toMatchObject({ type: 'grant.revoked', grant_id: revoked, ...other });
  }
  // And again by another grant, from its first version on.
  await world.grantOn(other);
  const next = envelope({ snapshot_version: 2, snapshot_id: randomUUID(), subject: other });
  await world.gateway.as('alice', 'post', '/v1/tenants/acme/entity-states').send(next).expect(201);
  await logged();
  expect((await of('bob', 'beta')).map(({ type }: { type: string }) => type)).toEqual([
    'snapshot.created',
    'grant.created',
    'grant.revoked',
    'grant.created',
    'snapshot.created',
  ]);
});

it.each([
  ['limit=0', '/query/limit'],
  ['limit=1001', '/query/limit'],
  ['after=-1', '/query/after'],
  ['after=1.5', '/query/after'],
  ['type=snapshot.deleted', '/query/type'],
  ['subject_type=company', '/query/subject_type'],
  ['cursor=x', '/query/cursor'],
])('refuses %s', async (query, place) => {
  expect(places(await changes(`?${query}`).expect(400))).toEqual([place]);
});

it('goes on from any place, also one beyond the log', async () => {
  const { body } = await changes('?after=999999').expect(200);
  expect(body).toEqual({ items: [], next_after: 999_999, has_more: false });
});

it('asks one statement', async () => {
  world.gateway.sent.length = 0;
  await changes().expect(200);
  expect(world.gateway.sent).toEqual(['changes']);
});
