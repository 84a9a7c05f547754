import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { Agent, get } from 'node:http';
import { Client } from 'pg';
import type { Response } from 'supertest';
import { waitFor } from '../../../tools/testing/wait-for';
import { envelope, startGateway, type User } from './gateway';
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
});
afterAll(() => world?.close());

it('the feed shows changes to the owner and the grantee, and not to other tenants', async () => {
  const { body } = await changes().expect(200);
  const [founded, created, granted] = body.items;
  expect(founded).toMatchObject({ type: 'tenant.owner_changed', tenant_id: 'acme', principal_id: 'oidc:test#alice' });
  expect(created).toMatchObject({
    type: 'snapshot.created',
    subject,
    ...subject,
    snapshot_version: 1,
    prev_hash: null,
    written_by: 'oidc:test#alice',
    write_request_id: expect.any(String),
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
  expect(body).toMatchObject({ has_more: false, next_after: expect.stringMatching(SEALED) });
  const { log_index: last } = granted;
  expect((await changes(`?after=${last}`).expect(200)).body).toMatchObject({ items: [], next_after: body.next_after });
  const ofGrantee = await changes('', 'bob', 'beta').expect(200);
  expect(typesOf(ofGrantee)).toEqual(['tenant.owner_changed', 'snapshot.created', 'grant.created']);
  expect(ofGrantee.body.items[1]).toEqual(created);
  expect(typesOf(await changes('', 'o1', 'gamma').expect(200))).toEqual(['tenant.owner_changed']);
  // A member that may not use grants sees that there is a grant.
  expect(typesOf(await changes('', 'zoe', 'beta').expect(200))).toEqual(['tenant.owner_changed', 'grant.created']);
});

it('the feed is filtered by subject, time, type and paths', async () => {
  const other = await world.addSubject();
  await logged();
  const all = (await changes().expect(200)).body.items;
  const named = `?subject_type=organization&subject_id=${other.subject_id}`;
  const { body } = await changes(named).expect(200);
  expect(body.items).toEqual(all.filter(({ subject_id: id }: Subject) => id === other.subject_id));
  expect(body.items).toHaveLength(1);
  const [{ created_at: from }] = body.items;
  expect((await changes(`?from=${from}`).expect(200)).body.items).toEqual(body.items);
  expect((await changes(`${named}&from=${from}&type=grant.created`).expect(200)).body.items).toEqual([]);
  expect((await changes(`?from=${from.slice(0, 10)}&after=${body.items[0].log_index}`).expect(200)).body.items).toEqual(
    [],
  );
  expect((await changes('?from=2020-01-01').expect(200)).body.items).toEqual(all);
  // A date is the beginning of its day.
  expect((await changes(`?from=${from.slice(0, 10)}`).expect(200)).body.items.at(-1)).toEqual(body.items[0]);
  const ofType = await changes('?subject_type=individual').expect(200);
  expect([ofType.body.items, ofType.headers['vary']]).toEqual([[], expect.stringContaining('Accept')]);
  expect((await changes('?from=2999-01-01').expect(200)).body).toMatchObject({ items: [], has_more: false });
  expect(places(await changes('?subject_id=a').expect(400))).toEqual(['/query/subject_type']);
  expect(places(await changes('?from=yesterday').expect(400))).toEqual(['/query/from']);
  // The first version may have changed everything.
  const paths = '/attributes/legal/legal_name,/attributes/identifiers/a,b';
  expect((await changes(`${named}&paths=${paths}`).expect(200)).body.items).toEqual(body.items);
  expect(places(await changes('?paths=').expect(400))).toEqual(['/query/paths/0']);
  expect(places(await changes('?paths=/attributes/a,/legal').expect(400))).toEqual(['/query/paths/1']);
});

it('an item has the members of its log entry, without the salt', async () => {
  const { body } = await changes('?type=snapshot.created').expect(200);
  const [item] = body.items;
  const path = `/v1/tenants/acme/snapshots/${item.snapshot_id}/log-proof`;
  const { body: proof } = await world.gateway.as('alice', 'get', path).expect(200);
  const { entry_version, salt, ...members } = JSON.parse(proof.entry);
  expect([entry_version, proof.log_index]).toEqual(['iss_log_entry_v1', item.log_index]);
  expect(item).toMatchObject(members);
  expect(JSON.stringify(item)).not.toContain(salt);
});

it('pages have no gaps and no repetitions while changes are written', async () => {
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

it('a revoked grant hides the versions from the grantee, and both tenants see grant.revoked', async () => {
  const other = await world.addSubject();
  const revoked = await world.grantOn(other, { scopes: ['read_snapshot_by_id', 'read_lineage'] });
  await logged();
  const of = async (user: User, tenant: string) => {
    const { body } = await changes('?limit=1000', user, tenant).expect(200);
    return body.items.filter((item: Subject) => item.subject_id === other.subject_id);
  };
  expect(typesOf({ body: { items: await of('bob', 'beta') } } as Response)).toEqual([
    'snapshot.created',
    'grant.created',
  ]);
  expect((await of('bob', 'beta')).at(-1)).toMatchObject({ scopes: ['read_lineage', 'read_snapshot_by_id'] });
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
  // The versions appear again for another grant, from its first version on.
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

/** A place with its key, nonce, text and tag. */
const SEALED = /^\w+\.[\w-]{16}\.[\w-]{20}\.[\w-]{22}$/;

it.each([
  ['limit=0', '/query/limit'],
  ['limit=1001', '/query/limit'],
  ['after=-1', '/query/after'],
  ['after=1.5', '/query/after'],
  ['after=k.a.b.c', '/query/after'],
  ['type=snapshot.deleted', '/query/type'],
  ['subject_type=company', '/query/subject_type'],
  ['cursor=x', '/query/cursor'],
])('refuses %s', async (query, place) => {
  expect(places(await changes(`?${query}`).expect(400))).toEqual([place]);
});

it('a position beyond the log returns an empty page', async () => {
  const { body } = await changes('?after=999999').expect(200);
  expect(body).toEqual({
    items: [],
    next_after: expect.stringMatching(SEALED),
    has_more: false,
    complete: true,
  });
});

it('next_after passes hidden entries without revealing their position', async () => {
  const hidden = await world.addSubject();
  const grantId = await world.grantOn(hidden, { scopes: ['read_latest'] });
  await logged();
  const { body: before } = await changes('?limit=1000', 'bob', 'beta').expect(200);
  const next = envelope({ snapshot_version: 2, snapshot_id: randomUUID(), subject: hidden });
  await world.gateway.as('alice', 'post', '/v1/tenants/acme/entity-states').send(next).expect(201);
  await logged();
  await world.revoke(grantId).expect(200);
  // The new version is in the feed of beta, which may no longer read it.
  const { body: after } = await changes(`?after=${before.next_after}`, 'bob', 'beta').expect(200);
  expect(after).toMatchObject({ items: [], has_more: false, next_after: expect.stringMatching(SEALED) });
  expect(after.next_after).not.toBe(before.next_after);
  expect(after.next_after).toHaveLength(before.next_after.length);
  const again = await changes(`?after=${after.next_after}`, 'bob', 'beta').expect(200);
  expect(again.body).toEqual(after);
  // Another tenant cannot compare this place with its own.
  expect(places(await changes(`?after=${after.next_after}`).expect(400))).toEqual(['/query/after']);
  await logged();
});

describe('the feed with wait', () => {
  it('returns to all waiting callers when a change is logged', async () => {
    const { next_after: after } = (await changes('?limit=1000').expect(200)).body;
    const waiting = Promise.all(Array.from({ length: 8 }, () => changes(`?after=${after}&wait=30`).expect(200)));
    await waitFor(async () => (await followers()) === 8);
    const created = await world.addSubject();
    await logged();
    for (const { body } of await waiting) expect(body.items).toMatchObject([created]);
    await waitFor(async () => (await followers()) === 0);
  });

  it('returns an empty page on timeout, and frees its slot if the caller disconnects', async () => {
    const { next_after: after } = (await changes('?limit=1000').expect(200)).body;
    expect((await changes(`?after=${after}&wait=1`).expect(200)).body).toEqual({
      items: [],
      next_after: after,
      has_more: false,
      complete: true,
    });
    const gone = changes(`?after=${after}&wait=30`);
    gone.end(() => undefined);
    await waitFor(async () => (await followers()) === 1);
    gone.abort();
    await waitFor(async () => (await followers()) === 0);
  });

  it.each(['31', '-1', 'x', '1.5'])('refuses %s seconds', async (wait) => {
    expect(places(await changes(`?wait=${wait}`).expect(400))).toEqual(['/query/wait']);
  });
});

const followers = async (): Promise<number | undefined> => {
  const metric = await world.gateway.metrics.getSingleMetric('feed_followers')?.get();
  return metric?.values[0]?.value;
};

/** The items that arrive on a stream. */
class Stream {
  text = '';
  isOver = false;
  status = 0;
  private constructor(private readonly request: ReturnType<typeof get>) {}

  static async open(
    token: string,
    query = '',
    headers: Record<string, string> = {},
    url = world.gateway.url,
    tenant = 'acme',
  ): Promise<Stream> {
    const request = get(`${url}/v1/tenants/${tenant}/changes${query}`, {
      headers: { Accept: 'text/event-stream', Authorization: `Bearer ${token}`, ...headers },
      agent: new Agent(),
    });
    const stream = new Stream(request);
    const [response] = await once(request, 'response');
    stream.status = response.statusCode;
    response.setEncoding('utf8').on('data', (text: string) => (stream.text += text));
    response.on('close', () => (stream.isOver = true));
    response.on('error', () => undefined);
    return stream;
  }

  get ids(): number[] {
    return [...this.text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));
  }

  close(): void {
    this.request.destroy();
  }
}

describe('the feed as a stream', () => {
  const all = async (): Promise<number[]> =>
    (await changes('?limit=1000').expect(200)).body.items.map(({ log_index }: { log_index: number }) => log_index);

  it('sends existing and new changes, and continues after Last-Event-ID', async () => {
    const token = await world.gateway.issuer.mint('alice');
    const stream = await Stream.open(token, '?limit=2');
    await waitFor(async () => stream.ids.length === (await all()).length);
    await world.addSubject();
    await logged();
    await waitFor(async () => stream.ids.length === (await all()).length);
    expect(stream.ids).toEqual(await all());
    const [, block = ''] = stream.text.split('\n\n');
    const [, name, data = ''] = block.split('\n');
    const { body } = await changes('?limit=1').expect(200);
    expect([name, JSON.parse(data.slice('data: '.length))]).toEqual(['event: tenant.owner_changed', body.items[0]]);
    stream.close();
    await world.addSubject();
    await logged();
    const last = stream.ids.at(-1) ?? 0;
    const again = await Stream.open(token, '', { 'Last-Event-ID': String(last) });
    await waitFor(async () => again.ids.length > 0);
    expect([...stream.ids, ...again.ids]).toEqual(await all());
    again.close();
    await waitFor(async () => (await followers()) === 0);
  });

  it('reports, like a page, that earlier entries are still being added', async () => {
    await world.grantOnAll();
    await logged();
    const whole = await changes('?limit=1000', 'bob', 'beta').expect(200);
    expect(whole.body.complete).toBe(true);
    const client = new Client({ connectionString: world.gateway.databaseUrl });
    await client.connect();
    await client.query('UPDATE granted_feeds SET next_index = 0, turn = 1');
    await client.end();
    const { body } = await changes('?limit=1000', 'bob', 'beta').expect(200);
    expect(body).toEqual({ ...whole.body, complete: false });
    const { gateway } = world;
    const stream = await Stream.open(await gateway.issuer.mint('bob'), '', {}, gateway.url, 'beta');
    await waitFor(() => stream.text.includes('\n\n: incomplete\n\n'));
    stream.close();
    await logged();
    expect((await changes('?limit=1000', 'bob', 'beta').expect(200)).body).toEqual(whole.body);
  });

  it('ends when its token expires or its reader is no longer a member', async () => {
    const { gateway } = world;
    // The gateway allows for clocks that differ by a minute, so five seconds remain.
    const exp = Math.floor(Date.now() / 1000) - 55;
    const short = await Stream.open(await gateway.issuer.mint('alice', { iat: exp - 60, exp }));
    await world.setMember('alice', 'acme', 'o2', { api_functional_role: 'tenant_reader' });
    const removed = await Stream.open(await gateway.issuer.mint('o2'));
    await waitFor(() => short.ids.length > 0 && removed.ids.length > 0);
    const member = `/v1/tenants/acme/members/${encodeURIComponent('oidc:test#o2')}`;
    await gateway.as('alice', 'delete', member).expect(204);
    await waitFor(() => Date.now() >= (exp + 60) * 1000, { what: 'the token to expire' });
    await world.addSubject();
    await logged();
    await waitFor(() => short.isOver && removed.isOver, { what: 'both streams to end' });
    const [seen, created] = [removed.ids.length, (await all()).length];
    expect(seen).toBeLessThan(created);
  });

  it('refuses strangers, an invalid Last-Event-ID, and a 21st stream of a principal', async () => {
    const { gateway } = world;
    const stranger = await Stream.open(await gateway.issuer.mint('stranger'));
    const token = await gateway.issuer.mint('alice');
    const misplaced = await Stream.open(token, '', { 'Last-Event-ID': 'x' });
    expect([stranger.status, misplaced.status]).toEqual([403, 400]);
    const streams = await Promise.all(Array.from({ length: 21 }, () => Stream.open(token)));
    expect(streams.map(({ status }) => status).sort()).toEqual([...Array.from({ length: 20 }, () => 200), 503]);
    streams.forEach((stream) => stream.close());
    await waitFor(async () => (await followers()) === 0);
  });

  it('ends when the gateway stops', async () => {
    const beside = await startGateway({}, world.gateway);
    const stream = await Stream.open(await beside.issuer.mint('alice'), '', {}, beside.url);
    await waitFor(() => stream.ids.length > 0);
    await beside.close();
    await waitFor(() => stream.isOver);
  });
});
