import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { envelope, startGateway, type TestGateway, type User } from './gateway';

let gateway: TestGateway;
let superuser: Client;

const member = (user: string, tenant = 'acme'): string =>
  `/v1/tenants/${tenant}/members/${encodeURIComponent(`oidc:test#${user}`)}`;

beforeAll(async () => {
  gateway = await startGateway();
  superuser = new Client({ connectionString: gateway.databaseUrl });
  await superuser.connect();
  await gateway.as('alice', 'post', '/v1/tenants').send({ tenant_id: 'acme', name: 'Acme', slug: 'acme' }).expect(201);
  for (const role of ['reader', 'editor', 'admin']) {
    await gateway
      .as('alice', 'put', member(role))
      .send({ role: `tenant_${role}` })
      .expect(200);
  }
});

afterAll(async () => {
  await superuser?.end();
  await gateway?.close();
});

describe('a tenant', () => {
  it('is returned flat and wrapped, with the caller’s role', async () => {
    const { body } = await gateway.as('reader', 'get', '/v1/tenants/acme').expect(200);
    const fields = {
      tenant_id: 'acme',
      name: 'Acme',
      slug: 'acme',
      chain_enforced: true,
      evidence_policy: 'open',
      erasure_confirmation: 'required',
      grant_confirmation: 'off',
      pending_changes: [],
      created_at: expect.any(String),
    };
    expect(body).toEqual({
      ...fields,
      tenant: fields,
      api_functional_role: 'tenant_reader',
      role: 'tenant_reader',
      tenancy_role: 'member',
    });
  });

  it('is refused to strangers alike, whether or not it exists', async () => {
    const there = await gateway.as('stranger', 'get', '/v1/tenants/acme').expect(403);
    const notThere = await gateway.as('stranger', 'get', '/v1/tenants/nowhere').expect(403);
    expect(there.body.error.message).toBe(notThere.body.error.message);
    const malformed = await gateway.as('alice', 'get', '/v1/tenants/-acme').expect(400);
    expect(malformed.body.error.details[0].path).toBe('/path/tenant_id');
  });

  it.each([
    [{}, '/tenant_id'],
    [{ tenant_id: 'x', name: 'X', owner: 'me' }, '/owner'],
  ])('is not created from %j', async (body, path) => {
    const answer = await gateway.as('zoe', 'post', '/v1/tenants').send(body).expect(400);
    expect(answer.body.error.details[0].path).toBe(path);
  });

  it('is created once when requests race', async () => {
    const create = (user: User) => gateway.as(user, 'post', '/v1/tenants').send({ tenant_id: 'raced', name: 'Raced' });
    const users = ['o1', 'zoe'] as const;
    const raced = await Promise.all(Array.from({ length: 12 }, async (_, index) => create(users[index % 2] ?? 'zoe')));
    expect(raced.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(raced.filter(({ status }) => status === 409)).toHaveLength(11);
    const { rows } = await superuser.query(`SELECT FROM memberships WHERE tenant_id = 'raced'`);
    expect(rows).toHaveLength(1);
  });

  describe('a change of a tenant', () => {
    const patch = (user: User, body: Record<string, unknown>) =>
      gateway.as(user, 'patch', '/v1/tenants/acme').send(body);

    it('sets the given fields and keeps the others', async () => {
      const renamed = await patch('admin', { name: 'Acme AG' }).expect(200);
      expect(renamed.body).toMatchObject({ name: 'Acme AG', slug: 'acme', chain_enforced: true });
      expect(renamed.body.tenant).toMatchObject({ name: 'Acme AG', slug: 'acme' });
      const relaxed = await patch('alice', { chain_enforced: false, slug: null }).expect(200);
      expect(relaxed.body).toMatchObject({ name: 'Acme AG', slug: null, chain_enforced: false });
      await patch('alice', { name: 'Acme', slug: 'acme', chain_enforced: true }).expect(200);
      const { body } = await gateway.as('reader', 'get', '/v1/tenants/acme').expect(200);
      expect(body).toMatchObject({ name: 'Acme', slug: 'acme', chain_enforced: true });
    });

    it.each<[Record<string, unknown>, string, string]>([
      [{}, '', 'required'],
      [{ name: null }, '', 'required'],
      [{ chain_enforced: null }, '', 'required'],
      [{ tenant_id: 'other' }, '/tenant_id', 'unknown_field'],
    ])('refuses %j', async (body, path, code) => {
      const answer = await patch('alice', body).expect(400);
      expect(answer.body.error.code).toBe('validation_error');
      expect(answer.body.error.details).toEqual([{ path, code, message: expect.any(String) }]);
    });

    it('refuses the slug of another tenant', async () => {
      await gateway.as('bob', 'post', '/v1/tenants').send({ tenant_id: 'beta', name: 'B', slug: 'beta' }).expect(201);
      const answer = await patch('alice', { slug: 'beta' }).expect(409);
      expect(answer.body.error).toMatchObject({ code: 'conflict', message: expect.stringContaining('slug') });
      await gateway.as('zoe', 'post', '/v1/tenants').send({ tenant_id: 'z', name: 'Z', slug: 'beta' }).expect(409);
      await gateway.as('zoe', 'get', '/v1/tenants/z').expect(403);
    });

    it('gives a free slug to one of several concurrent requests', async () => {
      const tenants = await Promise.all(
        Array.from({ length: 6 }, async (_, index) => {
          const tenant_id = `racer-${index}`;
          await gateway.as('o1', 'post', '/v1/tenants').send({ tenant_id, name: 'R' }).expect(201);
          return tenant_id;
        }),
      );
      const raced = await Promise.all(
        tenants.map(async (id) => gateway.as('o1', 'patch', `/v1/tenants/${id}`).send({ slug: 'prize' })),
      );
      expect(raced.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409, 409]);
    });
  });
});

describe('the list of the caller’s tenants', () => {
  const list = (query: string) => gateway.as('o2', 'get', `/v1/tenants${query}`);
  const ids = ({ body }: { body: { items: { tenant_id: string }[] } }): string[] =>
    body.items.map((item) => item.tenant_id);

  beforeAll(async () => {
    await superuser.query(
      `INSERT INTO tenants (tenant_id, name) SELECT 'many-' || n, 'Many' FROM generate_series(10, 69) n`,
    );
    await superuser.query(
      `INSERT INTO memberships (tenant_id, principal_id, api_functional_role)
       SELECT 'many-' || n, 'oidc:test#o2', 'tenant_editor' FROM generate_series(10, 69) n`,
    );
  });

  it('returns the tenants where the caller is active, with its role, in pages', async () => {
    const first = await list('').expect(200);
    expect(first.body).toMatchObject({ has_more: true, page: { limit: 50, next_cursor: first.body.next_cursor } });
    expect(first.body.items[0]).toMatchObject({
      tenant_id: 'many-10',
      name: 'Many',
      role: 'tenant_editor',
      api_functional_role: 'tenant_editor',
      tenancy_role: 'member',
    });
    expect(first.headers['link']).toContain('rel="next"');
    // Meanwhile a shown one disappears, a new one appears, and one that was not shown disappears.
    await superuser.query(`UPDATE memberships SET status = 'removed' WHERE tenant_id IN ('many-11', 'many-65')`);
    await superuser.query(`INSERT INTO tenants (tenant_id, name) VALUES ('many-60a', 'Late')`);
    await superuser.query(
      `INSERT INTO memberships (tenant_id, principal_id, api_functional_role)
       VALUES ('many-60a', 'oidc:test#o2', 'tenant_reader')`,
    );
    const second = await list(`?cursor=${first.body.next_cursor}`).expect(200);
    expect(second.body).toMatchObject({ next_cursor: null, has_more: false });
    expect(ids(second)).toEqual(['60', '60a', '61', '62', '63', '64', '66', '67', '68', '69'].map((n) => `many-${n}`));
    expect(ids(await list('?limit=200').expect(200))).toHaveLength(59);
  });

  it('is empty for a stranger', async () => {
    const { body } = await gateway.as('stranger', 'get', '/v1/tenants').expect(200);
    expect(body).toEqual({ items: [], next_cursor: null, has_more: false, page: { limit: 50, next_cursor: null } });
  });

  it.each(['limit=0', 'limit=-1', 'limit=1001', 'limit=abc', 'cursor=x', 'cursor=', 'name=x'])(
    'refuses ?%s',
    async (query) => {
      const answer = await list(`?${query}`).expect(400);
      expect(answer.body.error.details[0].path).toBe(`/query/${query.split('=')[0]}`);
    },
  );

  it('refuses an edited cursor, and one of another list', async () => {
    const { body } = await list('?limit=1').expect(200);
    const cursor: string = body.next_cursor;
    await list(`?cursor=${cursor.slice(0, -8)}AAAAAAAA`).expect(400);
    const other = await gateway.as('alice', 'get', `/v1/tenants/acme/principals?cursor=${cursor}`).expect(400);
    expect(other.body.error.details[0].path).toBe('/query/cursor');
  });
});

describe('usage', () => {
  const path = '/v1/tenants/acme/usage';
  const usage = (query: Record<string, string>, user: User = 'admin') => gateway.as(user, 'get', path).query(query);
  const write = (createdAt: string, tenant = 'acme') =>
    superuser.query(
      `INSERT INTO snapshots (subject_key, snapshot_version, snapshot_id, tenant_id, generated_at, created_at, envelope)
       SELECT coalesce(min(subject_key), 0) - 1, 1, $1, $2, '', $3, '{}' FROM snapshots`,
      [randomUUID(), tenant, createdAt],
    );

  beforeAll(async () => {
    for (const at of [
      '2024-02-28T23:59:59.999999Z',
      '2024-02-29T00:00:00Z',
      '2024-02-29T12:00:00Z',
      '2024-02-29T23:59:59.999999Z',
      '2024-03-02T00:00:00Z',
    ]) {
      await write(at);
    }
    await write('2024-02-29T12:00:00Z', 'beta');
  });

  it('has one row per UTC day, including zeros, and includes whole plain dates', async () => {
    const { body } = await usage({ from: '2024-02-28', to: '2024-03-01' }).expect(200);
    expect(body).toEqual({
      tenant_id: 'acme',
      window: { from: '2024-02-28T00:00:00.000Z', to: '2024-03-01T23:59:59.999Z' },
      usage: [
        { date: '2024-02-28', snapshot_writes: 1 },
        { date: '2024-02-29', snapshot_writes: 3 },
        { date: '2024-03-01', snapshot_writes: 0 },
      ],
    });
    const oneDay = await usage({ from: '2024-02-29', to: '2024-02-29' }).expect(200);
    expect(oneDay.body.usage).toEqual([{ date: '2024-02-29', snapshot_writes: 3 }]);
  });

  it('counts writes between the instants of the window, in any time zone', async () => {
    const { body } = await usage({ from: '2024-02-29T13:00:00+01:00', to: '2024-03-02T01:00:00+01:00' }).expect(200);
    expect(body.window).toEqual({ from: '2024-02-29T12:00:00.000Z', to: '2024-03-02T00:00:00.000Z' });
    expect(body.usage).toEqual([
      { date: '2024-02-29', snapshot_writes: 2 },
      { date: '2024-03-01', snapshot_writes: 0 },
      { date: '2024-03-02', snapshot_writes: 1 },
    ]);
    const instant = await usage({ from: '2024-02-29T12:00:00Z', to: '2024-02-29T12:00:00Z' }).expect(200);
    expect(instant.body.usage).toEqual([{ date: '2024-02-29', snapshot_writes: 1 }]);
  });

  it('defaults to the 30 days before now', async () => {
    const before = Date.now();
    await gateway.as('editor', 'post', '/v1/tenants/acme/entity-states').send(envelope()).expect(201);
    const { body } = await usage({}).expect(200);
    const from = Date.parse(body.window.from);
    const to = Date.parse(body.window.to);
    expect(to - from).toBe(30 * 86_400_000);
    expect(to).toBeGreaterThanOrEqual(before);
    expect(body.usage).toHaveLength(31);
    expect(body.usage[0].date).toBe(body.window.from.slice(0, 10));
    expect(body.usage.at(-1).date).toBe(body.window.to.slice(0, 10));
    const writes = body.usage.map((day: { snapshot_writes: number }) => day.snapshot_writes);
    expect(writes.reduce((sum: number, n: number) => sum + n)).toBe(1);
  });

  it('extends a plain date to the whole day before it compares the bounds', async () => {
    const { body } = await usage({ from: '2024-01-01T12:00:00Z', to: '2024-01-01' }).expect(200);
    expect(body.window).toEqual({ from: '2024-01-01T12:00:00.000Z', to: '2024-01-01T23:59:59.999Z' });
    expect(body.usage).toHaveLength(1);
    await usage({ from: '2024-01-02T00:00:00Z', to: '2024-01-01' }).expect(400);
    await usage({ from: '2024-01-01', to: '2025-01-01' }).expect(400);
  });

  it('spans at most 366 days', async () => {
    const year = await usage({ from: '2024-01-01', to: '2024-12-31' }).expect(200);
    expect(year.body.usage).toHaveLength(366);
    await usage({ from: '2024-01-01T00:00:00Z', to: '2025-01-01T00:00:00Z' }).expect(200);
    const answer = await usage({ from: '2024-01-01T00:00:00Z', to: '2025-01-01T00:00:00.001Z' }).expect(400);
    expect(answer.body.error.details).toEqual([
      { path: '/query/from', message: 'must be at most 366 days before to', code: 'out_of_range' },
    ]);
  });

  it.each<[Record<string, string>, string, string]>([
    [{ from: '2024-01-01' }, '/query/to', 'required'],
    [{ to: '2024-01-01' }, '/query/from', 'required'],
    [{ from: '2024-01-02', to: '2024-01-01' }, '/query/from', 'out_of_range'],
    [{ from: '2024-01-01T00:00:00', to: '2024-01-02' }, '/query/from', 'invalid_format'],
    [{ from: '2024-01-01', to: 'now' }, '/query/to', 'invalid_format'],
    [{ from: '2023-02-29', to: '2023-03-01' }, '/query/from', 'invalid_format'],
    [{ from: '', to: '2023-03-01' }, '/query/from', 'invalid_format'],
    [{ day: '2023-03-01' }, '/query/day', 'unknown_field'],
  ])('refuses %j', async (query, place, code) => {
    const answer = await usage(query).expect(400);
    expect(answer.body.error.code).toBe('validation_error');
    expect(answer.body.error.details[0]).toMatchObject({ path: place, code });
  });

  it('refuses a bound given twice', async () => {
    const answer = await gateway
      .as('admin', 'get', `${path}?from=2024-01-01&from=2024-01-02&to=2024-01-03`)
      .expect(400);
    expect(answer.body.error.details[0].path).toBe('/query/from');
  });
});
