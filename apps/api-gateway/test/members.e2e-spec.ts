import { Client } from 'pg';
import type { Test } from 'supertest';
import type { Method } from './conformance';
import { startGateway, type TestGateway, type User } from './gateway';

let gateway: TestGateway;
let superuser: Client;
let machine: string;

const principal = (user: string): string => `oidc:test#${user}`;
const under = (kind: 'members' | 'principals', user: string, tenant = 'acme'): string =>
  `/v1/tenants/${tenant}/${kind}/${encodeURIComponent(principal(user))}`;

/** Calls with a token that claims to be a service account's, called `machine`. */
const asMachine = (method: Method, path: string): Test =>
  gateway.as(null, method, path).set('Authorization', `Bearer ${machine}`);
const putMember = (by: User, user: string, role: string, tenant = 'acme'): Test =>
  gateway.as(by, 'put', under('members', user, tenant)).send({ role });
const putPrincipal = (by: User, user: string, body: Record<string, unknown>, tenant = 'acme'): Test =>
  gateway.as(by, 'put', under('principals', user, tenant)).send(body);
const remove = (by: User, user: string, tenant = 'acme'): Test =>
  gateway.as(by, 'delete', under('members', user, tenant));

async function recordOf(user: string, tenant = 'acme'): Promise<Record<string, unknown> | undefined> {
  const { rows } = await superuser.query(`SELECT * FROM memberships WHERE tenant_id = $1 AND principal_id = $2`, [
    tenant,
    principal(user),
  ]);
  return rows[0];
}

beforeAll(async () => {
  gateway = await startGateway();
  machine = await gateway.issuer.mint('machine', { principal_type: 'service_account' });
  superuser = new Client({ connectionString: gateway.databaseUrl });
  await superuser.connect();
});

afterAll(async () => {
  await superuser?.end();
  await gateway?.close();
});

/** alice owns acme, and is its only account_admin; admin, editor and reader have their roles in it. */
beforeEach(async () => {
  await superuser.query('TRUNCATE tenants CASCADE');
  await gateway.as('alice', 'post', '/v1/tenants').send({ tenant_id: 'acme', name: 'Acme' }).expect(201);
  for (const role of ['reader', 'editor', 'admin']) await putMember('alice', role, `tenant_${role}`).expect(200);
});

describe('the member upsert', () => {
  it('makes a member with the least, and changes its role alone', async () => {
    const made = await putMember('admin', 'zoe', 'tenant_proposer').expect(200);
    expect(made.body).toEqual({
      tenant_id: 'acme',
      principal_id: 'oidc:test#zoe',
      api_functional_role: 'tenant_proposer',
      status: 'active',
    });
    await putPrincipal('alice', 'zoe', { allow_counterparty_access: true, principal_type: 'ai_agent' }).expect(200);
    await putMember('admin', 'zoe', 'tenant_reader').expect(200);
    expect(await recordOf('zoe')).toMatchObject({
      api_functional_role: 'tenant_reader',
      tenancy_role: 'member',
      principal_type: 'ai_agent',
      allow_counterparty_access: true,
    });
  });

  it.each<[Record<string, unknown>, string, string]>([
    [{}, '/role', 'required'],
    [{ role: 'owner' }, '/role', 'invalid_value'],
    [{ role: null }, '/role', 'invalid_value'],
    [{ role: 'tenant_reader', tenancy_role: 'account_admin' }, '/tenancy_role', 'unknown_field'],
  ])('refuses %j', async (body, path, code) => {
    const answer = await gateway.as('alice', 'put', under('members', 'zoe')).send(body).expect(400);
    expect(answer.body.error.details).toEqual([{ path, code, message: expect.any(String) }]);
  });

  it.each(['zoe', 'oidc:test', 'oidc:#zoe', 'oidc:test#', 'oidc:test#a\u0000'])(
    'refuses the principal %j',
    async (id) => {
      const path = `/v1/tenants/acme/members/${encodeURIComponent(id)}`;
      const answer = await gateway.as('alice', 'put', path).send({ role: 'tenant_reader' }).expect(400);
      expect(answer.body.error.details[0].path).toBe('/path/principal_id');
      await gateway.as('alice', 'delete', path).expect(400);
    },
  );

  it.each<[User, number]>([
    ['admin', 200],
    ['editor', 403],
    ['reader', 403],
    ['stranger', 403],
  ])('by %s: %d', async (user, status) => {
    await putMember(user, 'zoe', 'tenant_reader').expect(status);
    expect((await recordOf('zoe')) === undefined).toBe(status !== 200);
    await gateway
      .as(user, 'put', under('members', 'zoe', 'nowhere'))
      .send({ role: 'tenant_reader' })
      .expect(403);
  });

  it('assigns no role above the caller’s own, to others or to itself', async () => {
    for (const user of ['zoe', 'admin', 'reader']) {
      const answer = await putMember('admin', user, 'tenant_owner').expect(403);
      expect(answer.body.error.code).toBe('forbidden');
    }
    await putMember('editor', 'editor', 'tenant_admin').expect(403);
  });

  it('leaves owners to owners, and one of them at least', async () => {
    await putMember('admin', 'alice', 'tenant_reader').expect(403);
    await putPrincipal('admin', 'alice', { principal_type: 'ai_agent' }).expect(403);
    const last = await putMember('alice', 'alice', 'tenant_admin').expect(409);
    expect(last.body.error.message).toContain('last tenant_owner');
    await putMember('alice', 'alice', 'tenant_owner').expect(200);
    await putMember('alice', 'bob', 'tenant_owner').expect(200);
    await putMember('bob', 'alice', 'tenant_admin').expect(200);
    await putMember('bob', 'bob', 'tenant_admin').expect(409);
  });

  it('keeps one owner when owners step down at once', async () => {
    const owners = ['bob', 'o1', 'o2'] as const;
    for (const user of owners) await putMember('alice', user, 'tenant_owner').expect(200);
    const raced = await Promise.all(
      (['alice', ...owners] as const).map(async (user) => putMember(user, user, 'tenant_reader')),
    );
    expect(raced.map(({ status }) => status).sort()).toEqual([200, 200, 200, 409]);
  });

  it('does not undo an owner’s record that appears meanwhile', async () => {
    const raced = await Promise.all(
      Array.from({ length: 10 }, async (_, index) =>
        index % 2 === 0 ? putMember('alice', 'bob', 'tenant_owner') : putMember('admin', 'bob', 'tenant_reader'),
      ),
    );
    expect(raced.filter((_, index) => index % 2 === 0).every(({ status }) => status === 200)).toBe(true);
    expect(await recordOf('bob')).toMatchObject({ api_functional_role: 'tenant_owner' });
  });
});

describe('the principal upsert', () => {
  it('takes fields alone, and answers the record', async () => {
    const made = await putPrincipal('alice', 'zoe', { principal_type: 'service_account' }).expect(200);
    expect(made.body).toEqual({
      tenant_id: 'acme',
      principal_id: 'oidc:test#zoe',
      tenancy_role: 'member',
      api_functional_role: 'tenant_reader',
      principal_type: 'service_account',
      allow_counterparty_access: false,
      status: 'active',
      created_at: expect.any(String),
    });
    const flagged = await putPrincipal('alice', 'zoe', { allow_counterparty_access: true }).expect(200);
    expect(flagged.body).toEqual({ ...made.body, allow_counterparty_access: true });
    const raised = await putPrincipal('admin', 'zoe', { api_functional_role: 'tenant_admin' }).expect(200);
    expect(raised.body).toEqual({ ...flagged.body, api_functional_role: 'tenant_admin' });
    const closed = await putPrincipal('admin', 'zoe', { allow_counterparty_access: false }).expect(200);
    expect(closed.body).toEqual({ ...raised.body, allow_counterparty_access: false });
  });

  it.each<[Record<string, unknown>, string, string]>([
    [{}, '', 'required'],
    [{ api_functional_role: 'admin' }, '/api_functional_role', 'invalid_value'],
    [{ principal_type: 'robot' }, '/principal_type', 'invalid_value'],
    [{ allow_counterparty_access: 'true' }, '/allow_counterparty_access', 'invalid_type'],
    [{ tenancy_role: 'root' }, '/tenancy_role', 'invalid_value'],
    [{ status: 'removed' }, '/status', 'unknown_field'],
    [{ role: 'tenant_reader' }, '/role', 'unknown_field'],
  ])('refuses %j', async (body, path, code) => {
    const answer = await putPrincipal('alice', 'zoe', body).expect(400);
    expect(answer.body.error.details).toEqual([{ path, code, message: expect.any(String) }]);
  });

  it('leaves the flag, tenancy_role and a machine’s way to be human to account_admins', async () => {
    await putPrincipal('alice', 'zoe', { principal_type: 'ai_agent', tenancy_role: 'member' }).expect(200);
    const bodies = [
      { allow_counterparty_access: true },
      { tenancy_role: 'account_admin' },
      { principal_type: 'human' },
    ];
    for (const body of bodies) {
      await putPrincipal('admin', 'zoe', body).expect(403);
      if (!('principal_type' in body)) await putPrincipal('admin', 'admin', body).expect(403);
    }
    await putPrincipal('alice', 'admin', { tenancy_role: 'account_admin' }).expect(200);
    for (const body of bodies) await putPrincipal('admin', 'zoe', body).expect(200);
  });

  it.each<[Record<string, unknown>]>([
    [{ allow_counterparty_access: true }],
    [{ tenancy_role: 'account_admin' }],
    [{ api_functional_role: 'tenant_owner' }],
    [{ principal_type: 'human' }],
  ])('takes a human for %j, by its stored type', async (body) => {
    await putPrincipal('alice', 'zoe', { principal_type: 'ai_agent' }).expect(200);
    await putPrincipal('alice', 'bob', {
      api_functional_role: 'tenant_owner',
      tenancy_role: 'account_admin',
      principal_type: 'service_account',
    }).expect(200);
    // bob's token claims nothing, so that by itself it would be taken for a human's.
    const answer = await putPrincipal('bob', 'zoe', body).expect(422);
    expect(answer.body.error.code).toBe('human_principal_required');
    await putPrincipal('alice', 'bob', { principal_type: 'human' }).expect(200);
    await putPrincipal('bob', 'zoe', body).expect(200);
  });

  it('lets a machine do the rest: no flag, a downgrade from owner, other roles', async () => {
    await putPrincipal('alice', 'bob', { api_functional_role: 'tenant_owner', principal_type: 'ai_agent' }).expect(200);
    await putPrincipal('alice', 'zoe', { api_functional_role: 'tenant_owner' }).expect(200);
    await putPrincipal('bob', 'zoe', { allow_counterparty_access: false }).expect(200);
    await putPrincipal('bob', 'zoe', { api_functional_role: 'tenant_admin' }).expect(200);
    await putMember('bob', 'o1', 'tenant_admin').expect(200);
  });

  it('says 403 to a machine that could not do it as a human either', async () => {
    await putPrincipal('alice', 'admin', { principal_type: 'service_account' }).expect(200);
    await putPrincipal('admin', 'zoe', { api_functional_role: 'tenant_owner' }).expect(403);
    await putPrincipal('admin', 'zoe', { allow_counterparty_access: true }).expect(403);
  });

  it('makes nobody human by itself', async () => {
    await putPrincipal('alice', 'admin', { principal_type: 'service_account', tenancy_role: 'account_admin' }).expect(
      200,
    );
    await putPrincipal('admin', 'admin', { principal_type: 'human' }).expect(403);
    await putPrincipal('admin', 'admin', { principal_type: 'ai_agent' }).expect(200);
    await putPrincipal('admin', 'admin', { principal_type: 'human' }).expect(403);
    // Nor through another that it makes for that.
    await putMember('admin', 'zoe', 'tenant_admin').expect(200);
    await putPrincipal('zoe', 'admin', { principal_type: 'human' }).expect(403);
  });
});

describe('a founder that is no human', () => {
  it('is admin and account_admin, and does nothing that takes a human', async () => {
    await asMachine('post', '/v1/tenants').send({ tenant_id: 'auto', name: 'Auto' }).expect(201);
    expect(await recordOf('machine', 'auto')).toMatchObject({
      api_functional_role: 'tenant_admin',
      tenancy_role: 'account_admin',
      principal_type: 'service_account',
      allow_counterparty_access: false,
    });
    const own = under('principals', 'machine', 'auto');
    const flag = await asMachine('put', own).send({ allow_counterparty_access: true }).expect(422);
    expect(flag.body.error.code).toBe('human_principal_required');
    await asMachine('put', own).send({ api_functional_role: 'tenant_owner' }).expect(403);
    await asMachine('put', under('members', 'zoe', 'auto'))
      .send({ role: 'tenant_admin' })
      .expect(200);
  });
});

describe('a removal', () => {
  it('ends a membership at once, and only once', async () => {
    await gateway.as('editor', 'get', '/v1/tenants/acme').expect(200);
    const answer = await remove('admin', 'editor').expect(204);
    expect(answer.text).toBe('');
    await gateway.as('editor', 'get', '/v1/tenants/acme').expect(403);
    expect((await gateway.as('editor', 'get', '/v1/tenants').expect(200)).body.items).toEqual([]);
    const again = await remove('admin', 'editor').expect(404);
    expect(again.body.error.code).toBe('not_found');
    await remove('admin', 'nobody').expect(404);
    const { body } = await gateway.as('reader', 'get', '/v1/tenants/acme/principals').expect(200);
    const statuses = body.items.map((item: { principal_id: string; status: string }) => [
      item.principal_id,
      item.status,
    ]);
    expect(statuses).toEqual([
      ['oidc:test#admin', 'active'],
      ['oidc:test#alice', 'active'],
      ['oidc:test#editor', 'removed'],
      ['oidc:test#reader', 'active'],
    ]);
  });

  it('is for admins; of owners for owners; of the last owner for nobody', async () => {
    for (const user of ['editor', 'reader', 'stranger'] as const) {
      await remove(user, 'reader').expect(403);
      await remove(user, 'nobody').expect(403);
    }
    await remove('admin', 'alice').expect(403);
    const last = await remove('alice', 'alice').expect(409);
    expect(last.body.error.message).toContain('last tenant_owner');
    await putMember('alice', 'bob', 'tenant_owner').expect(200);
    await remove('alice', 'alice').expect(204);
    await remove('bob', 'bob').expect(409);
    await remove('admin', 'admin').expect(204);
    await remove('admin', 'reader').expect(403);
  });

  it('happens once, whoever races, and never to all owners', async () => {
    const raced = await Promise.all(
      Array.from({ length: 10 }, async (_, index) => remove(index % 2 === 0 ? 'alice' : 'admin', 'editor')),
    );
    expect(raced.filter(({ status }) => status === 204)).toHaveLength(1);
    expect(raced.filter(({ status }) => status === 404)).toHaveLength(9);
    await putMember('alice', 'bob', 'tenant_owner').expect(200);
    const statuses = await Promise.all(
      [remove('alice', 'bob'), remove('bob', 'alice')].map(async (test) => (await test).status),
    );
    expect(statuses.sort()).toEqual([204, 403]);
  });

  it('leaves nothing that comes back by itself but what kind of caller it was', async () => {
    await putPrincipal('alice', 'bob', {
      api_functional_role: 'tenant_owner',
      tenancy_role: 'account_admin',
      principal_type: 'service_account',
      allow_counterparty_access: true,
    }).expect(200);
    await remove('alice', 'bob').expect(204);
    const back = await putPrincipal('admin', 'bob', { allow_counterparty_access: false }).expect(200);
    expect(back.body).toMatchObject({
      api_functional_role: 'tenant_reader',
      tenancy_role: 'member',
      principal_type: 'service_account',
      allow_counterparty_access: false,
      status: 'active',
    });
    await remove('alice', 'bob').expect(204);
    await putPrincipal('admin', 'bob', { tenancy_role: 'account_admin' }).expect(403);
    await putPrincipal('admin', 'bob', { allow_counterparty_access: true }).expect(403);
    await putPrincipal('admin', 'bob', { principal_type: 'human' }).expect(403);
    await putMember('admin', 'bob', 'tenant_owner').expect(403);
    await gateway.as('bob', 'get', '/v1/tenants/acme').expect(403);
    await putMember('admin', 'bob', 'tenant_admin').expect(200);
    await gateway.as('bob', 'get', '/v1/tenants/acme').expect(200);
  });
});

describe('the list of principals', () => {
  it('is for members, page by page', async () => {
    const list = (query = '', user: User = 'reader') => gateway.as(user, 'get', `/v1/tenants/acme/principals${query}`);
    const all = await list().expect(200);
    expect(all.body.items).toHaveLength(4);
    expect(all.body).toMatchObject({ next_cursor: null, page: { limit: 200, next_cursor: null } });
    const first = await list('?limit=2').expect(200);
    await putMember('alice', 'zoe', 'tenant_reader').expect(200);
    await putMember('alice', 'adam', 'tenant_reader').expect(200);
    const second = await list(`?limit=2&cursor=${first.body.next_cursor}`).expect(200);
    const third = await list(`?limit=2&cursor=${second.body.next_cursor}`).expect(200);
    const seen = [first, second, third].flatMap(({ body }) =>
      body.items.map((item: { principal_id: string }) => item.principal_id.split('#')[1]),
    );
    expect(seen).toEqual(['admin', 'alice', 'editor', 'reader', 'zoe']);
    expect(third.body.next_cursor).toBeNull();
    await list(`?limit=2&cursor=${first.body.next_cursor}`, 'stranger').expect(403);
    await list('', 'stranger').expect(403);
    for (const query of ['?limit=0', '?limit=201', '?limit=abc', '?cursor=x']) await list(query).expect(400);
  });
});
