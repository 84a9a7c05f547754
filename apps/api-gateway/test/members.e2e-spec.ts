import { Client } from 'pg';
import type { Test } from 'supertest';
import type { Method } from '../../../tools/testing/conformance';
import { startGateway, type TestGateway, type User } from './gateway';
import { deleteTenants } from './without-tenants';

let gateway: TestGateway;
let superuser: Client;
let machine: string;

const principal = (user: string): string => `oidc:test#${user}`;
const under = (kind: 'members' | 'principals', user: string, tenant = 'acme'): string =>
  `/v1/tenants/${tenant}/${kind}/${encodeURIComponent(principal(user))}`;

/** Sends requests with a token that claims to belong to a service account, called `machine`. */
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

/** alice owns acme, and is its only account_admin. admin, editor and reader have the roles of their names there. */
beforeEach(async () => {
  await deleteTenants(superuser);
  await gateway.as('alice', 'post', '/v1/tenants').send({ tenant_id: 'acme', name: 'Acme' }).expect(201);
  for (const role of ['reader', 'editor', 'admin']) await putMember('alice', role, `tenant_${role}`).expect(200);
});

describe('the member upsert', () => {
  it('creates a member with minimal rights, and later changes only its role', async () => {
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

  it('refuses a role above the caller’s own, for others and for itself', async () => {
    for (const user of ['admin', 'reader']) {
      const answer = await putMember('admin', user, 'tenant_owner').expect(403);
      expect(answer.body.error.code).toBe('forbidden');
    }
    await putMember('editor', 'editor', 'tenant_admin').expect(403);
  });

  it('lets only owners change an owner, and keeps at least one owner', async () => {
    await putMember('admin', 'alice', 'tenant_reader').expect(403);
    await putPrincipal('admin', 'alice', { principal_type: 'ai_agent' }).expect(403);
    const last = await putMember('alice', 'alice', 'tenant_admin').expect(409);
    expect(last.body.error.message).toContain('last tenant_owner');
    await putMember('alice', 'alice', 'tenant_owner').expect(200);
    await putMember('alice', 'bob', 'tenant_owner').expect(200);
    await putMember('bob', 'alice', 'tenant_admin').expect(200);
    await putMember('bob', 'bob', 'tenant_admin').expect(409);
  });

  it('keeps one owner when all owners step down concurrently', async () => {
    const owners = ['bob', 'o1', 'o2'] as const;
    for (const user of owners) await putMember('alice', user, 'tenant_owner').expect(200);
    const raced = await Promise.all(
      (['alice', ...owners] as const).map(async (user) => putMember(user, user, 'tenant_reader')),
    );
    expect(raced.map(({ status }) => status).sort()).toEqual([200, 200, 200, 409]);
  });

  it('does not let an admin undo a concurrent promotion to owner', async () => {
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
  it('changes only the fields that are sent, and returns the record', async () => {
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
    [{ allow_counterparty_access: null }, '', 'required'],
    [{ status: 'removed' }, '/status', 'unknown_field'],
    [{ role: 'tenant_reader' }, '/role', 'unknown_field'],
  ])('refuses %j', async (body, path, code) => {
    const answer = await putPrincipal('alice', 'zoe', body).expect(400);
    expect(answer.body.error.details).toEqual([{ path, code, message: expect.any(String) }]);
  });

  it('lets only account_admins set the flag, tenancy_role and principal_type human', async () => {
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
  ])('requires a caller whose stored type is human for %j', async (body) => {
    await putPrincipal('alice', 'zoe', { principal_type: 'ai_agent' }).expect(200);
    await putPrincipal('alice', 'bob', {
      api_functional_role: 'tenant_owner',
      tenancy_role: 'account_admin',
      principal_type: 'service_account',
    }).expect(200);
    // bob's token has no claim of a type, so by itself it counts as a human's.
    const answer = await putPrincipal('bob', 'zoe', body).expect(422);
    expect(answer.body.error.code).toBe('human_principal_required');
    await putPrincipal('alice', 'bob', { principal_type: 'human' }).expect(200);
    await putPrincipal('bob', 'zoe', body).expect(200);
  });

  it('lets a machine clear the flag, downgrade an owner and assign other roles', async () => {
    await putPrincipal('alice', 'bob', { api_functional_role: 'tenant_owner', principal_type: 'ai_agent' }).expect(200);
    await putPrincipal('alice', 'zoe', { api_functional_role: 'tenant_owner' }).expect(200);
    await putPrincipal('bob', 'zoe', { allow_counterparty_access: false }).expect(200);
    await putPrincipal('bob', 'zoe', { api_functional_role: 'tenant_admin' }).expect(200);
    await putMember('bob', 'o1', 'tenant_admin').expect(200);
  });

  it('returns 403 instead of 422 to a machine that also lacks the role', async () => {
    await putPrincipal('alice', 'admin', { principal_type: 'service_account' }).expect(200);
    await putPrincipal('admin', 'zoe', { api_functional_role: 'tenant_owner' }).expect(403);
    await putPrincipal('admin', 'zoe', { allow_counterparty_access: true }).expect(403);
  });

  it('refuses a machine that sets its own type to human', async () => {
    await putPrincipal('alice', 'admin', { principal_type: 'service_account', tenancy_role: 'account_admin' }).expect(
      200,
    );
    await putPrincipal('admin', 'admin', { principal_type: 'human' }).expect(403);
    await putPrincipal('admin', 'admin', { principal_type: 'ai_agent' }).expect(200);
    await putPrincipal('admin', 'admin', { principal_type: 'human' }).expect(403);
    // It cannot do so through another member that it adds for that purpose.
    await putMember('admin', 'zoe', 'tenant_admin').expect(200);
    await putPrincipal('zoe', 'admin', { principal_type: 'human' }).expect(403);
  });
});

describe('the type of a principal', () => {
  it('comes from the request, or else its last token, and defaults to human', async () => {
    const token = async (user: string, principal_type?: string): Promise<string> =>
      gateway.issuer.mint(user, principal_type === undefined ? {} : { principal_type });
    const call = (bearer: string): Test => gateway.withToken(bearer, 'get', '/v1/tenants').expect(200);
    const typeOf = async (user: string): Promise<unknown> => (await recordOf(user))?.['principal_type'];

    await call(await token('agent', 'ai_agent'));
    await putMember('admin', 'agent', 'tenant_reader').expect(200);
    expect(await typeOf('agent')).toBe('ai_agent');
    await call(await token('robot', 'service_account'));
    expect((await putPrincipal('admin', 'robot', { allow_counterparty_access: false })).body.principal_type).toBe(
      'service_account',
    );
    await call(await token('changed', 'service_account'));
    await call(await token('changed'));
    await putMember('admin', 'changed', 'tenant_reader').expect(200);
    expect(await typeOf('changed')).toBe('human');
    await putMember('admin', 'zoe', 'tenant_reader').expect(200);
    expect(await typeOf('zoe')).toBe('human');

    const path = under('members', 'o1');
    const body = { role: 'tenant_editor', principal_type: 'service_account' };
    await gateway.as('admin', 'put', path).send(body).expect(200);
    expect(await typeOf('o1')).toBe('service_account');
    // The recorded type stays. Only a human account_admin can set it back to human.
    await putMember('admin', 'o1', 'tenant_reader').expect(200);
    expect(await typeOf('o1')).toBe('service_account');
    const human = { role: 'tenant_reader', principal_type: 'human' };
    await gateway.as('admin', 'put', path).send(human).expect(403);
    await gateway.as('alice', 'put', path).send(human).expect(200);
    expect(await typeOf('o1')).toBe('human');
  });

  it('is not human if its token claims a machine, even if the record says human', async () => {
    await putPrincipal('alice', 'machine', {
      api_functional_role: 'tenant_admin',
      tenancy_role: 'account_admin',
      principal_type: 'human',
    }).expect(200);
    const zoe = under('principals', 'zoe');
    for (const body of [
      { allow_counterparty_access: true },
      { api_functional_role: 'tenant_owner' },
      { tenancy_role: 'account_admin' },
    ]) {
      const answer = await asMachine('put', zoe).send(body).expect(422);
      expect(answer.body.error.code).toBe('human_principal_required');
    }
    await asMachine('put', zoe).send({ api_functional_role: 'tenant_editor' }).expect(200);
  });
});

describe('a human account_admin', () => {
  beforeEach(async () => {
    await putPrincipal('alice', 'reader', { tenancy_role: 'account_admin' }).expect(200);
  });

  it('can assign any role and the flag, whatever its own role', async () => {
    for (const role of ['tenant_reader', 'tenant_admin', 'tenant_owner']) {
      await putMember('reader', `new-${role}`, role).expect(200);
    }
    await putPrincipal('reader', 'zoe', { allow_counterparty_access: true }).expect(200);
    await putPrincipal('reader', 'admin', { allow_counterparty_access: true }).expect(200);
    await putPrincipal('reader', 'editor', { api_functional_role: 'tenant_admin' }).expect(200);
    await putPrincipal('reader', 'reader', { api_functional_role: 'tenant_owner' }).expect(200);
    expect(await recordOf('reader')).toMatchObject({ api_functional_role: 'tenant_owner' });
  });

  it('can change only the flag in an owner’s record', async () => {
    await putMember('reader', 'alice', 'tenant_admin').expect(403);
    await putPrincipal('reader', 'alice', { tenancy_role: 'member' }).expect(403);
    await putPrincipal('reader', 'alice', { principal_type: 'ai_agent' }).expect(403);
    await putPrincipal('reader', 'alice', { allow_counterparty_access: true, tenancy_role: 'member' }).expect(403);
    await remove('reader', 'alice').expect(403);
    await putPrincipal('reader', 'alice', { allow_counterparty_access: true }).expect(200);
    await putPrincipal('reader', 'alice', { allow_counterparty_access: false }).expect(200);
    expect(await recordOf('alice')).toMatchObject({ api_functional_role: 'tenant_owner' });
  });

  it('has only the rights of its own role once it is a machine', async () => {
    await putPrincipal('alice', 'reader', { principal_type: 'ai_agent' }).expect(200);
    await putMember('reader', 'zoe', 'tenant_reader').expect(422);
    await putPrincipal('reader', 'alice', { allow_counterparty_access: false }).expect(422);
    await putMember('reader', 'alice', 'tenant_reader').expect(403);
    await putMember('alice', 'reader', 'tenant_admin').expect(200);
    await putMember('reader', 'zoe', 'tenant_admin').expect(200);
    await putMember('reader', 'zoe', 'tenant_owner').expect(422);
  });
});

describe('the list of principals', () => {
  it('is filtered by status, and paged', async () => {
    await putMember('alice', 'zoe', 'tenant_reader').expect(200);
    for (const user of ['editor', 'zoe']) await remove('alice', user).expect(204);
    const list = async (query: string): Promise<{ ids: string[]; next: string | null }> => {
      const { body } = await gateway.as('reader', 'get', `/v1/tenants/acme/principals${query}`).expect(200);
      return { ids: body.items.map((item: { principal_id: string }) => item.principal_id), next: body.next_cursor };
    };
    expect((await list('?status=removed')).ids).toEqual(['editor', 'zoe'].map(principal));
    expect((await list('?status=active')).ids).toEqual(['admin', 'alice', 'reader'].map(principal));
    expect((await list('')).ids).toHaveLength(5);
    const first = await list('?status=removed&limit=1');
    expect(first.ids).toEqual([principal('editor')]);
    const cursor = encodeURIComponent(first.next ?? '');
    expect(await list(`?status=removed&limit=1&cursor=${cursor}`)).toEqual({ ids: [principal('zoe')], next: null });
    for (const query of [`?status=active&cursor=${cursor}`, '?status=gone']) {
      await gateway.as('reader', 'get', `/v1/tenants/acme/principals${query}`).expect(400);
    }
  });
});

describe('a tenant founder that is a machine', () => {
  it('becomes admin and account_admin, but cannot do what requires a human', async () => {
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
    await asMachine('put', own).send({ api_functional_role: 'tenant_owner' }).expect(422);
    await asMachine('put', own).send({ principal_type: 'human' }).expect(403);
    await asMachine('put', under('members', 'zoe', 'auto'))
      .send({ role: 'tenant_admin' })
      .expect(200);
  });
});

describe('a removal', () => {
  it('ends a membership immediately, and returns 404 when repeated', async () => {
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

  it('is refused for the last owner, and to a removed admin', async () => {
    const last = await remove('alice', 'alice').expect(409);
    expect(last.body.error.message).toContain('last tenant_owner');
    await putMember('alice', 'bob', 'tenant_owner').expect(200);
    await remove('alice', 'alice').expect(204);
    await remove('bob', 'bob').expect(409);
    await remove('admin', 'admin').expect(204);
    await remove('admin', 'reader').expect(403);
  });

  it('succeeds once when requests race, and never removes all owners', async () => {
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

  it('clears role and flag for a later return, but keeps the principal type', async () => {
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
  it('is paged for members while others are added, and refused to strangers', async () => {
    const list = (query = '', user: User = 'reader') => gateway.as(user, 'get', `/v1/tenants/acme/principals${query}`);
    const all = await list().expect(200);
    expect(all.body.items).toHaveLength(4);
    expect(all.body).toMatchObject({ next_cursor: null, page: { limit: 50, next_cursor: null } });
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
    for (const query of ['?limit=0', '?limit=1001', '?limit=abc', '?cursor=x']) await list(query).expect(400);
  });
});

describe('consent', () => {
  let asking: TestGateway;
  const invite = (user: string, body: object = { role: 'tenant_editor' }): Test =>
    asking.as('alice', 'put', under('members', user)).send(body);
  const move = (user: User, name: 'accept' | 'leave', tenant = 'acme'): Test =>
    gateway.as(user, 'post', `/v1/tenants/${tenant}/membership/${name}`);
  const block = (user: User, method: 'put' | 'delete', tenant = 'acme'): Test =>
    gateway.as(user, method, `/v1/tenants/${tenant}/membership/block`);
  const itemsOf = async (user: User, path: string): Promise<Record<string, unknown>[]> =>
    (await gateway.as(user, 'get', path).expect(200)).body.items;
  /** Returns the tenants of all pages, with one on each page. */
  const walk = async (user: User, path: string): Promise<string[]> => {
    const found: string[] = [];
    for (let query = '?limit=1'; ;) {
      const { body } = await gateway.as(user, 'get', path + query).expect(200);
      found.push(...body.items.map((item: { tenant_id: string }) => item.tenant_id));
      if (body.next_cursor === null) return found;
      query = `?limit=1&cursor=${encodeURIComponent(body.next_cursor)}`;
    }
  };

  beforeAll(async () => {
    asking = await startGateway({ MEMBERSHIP_CONSENT: 'required' }, gateway);
  });
  afterAll(() => asking?.close());

  it('is required before a principal becomes a member', async () => {
    const { body } = await invite('zoe').expect(200);
    expect(body).toMatchObject({ api_functional_role: 'tenant_editor', status: 'pending' });
    const { body: flagged } = await asking
      .as('alice', 'put', under('principals', 'zoe'))
      .send({ allow_counterparty_access: true })
      .expect(200);
    expect(flagged).toMatchObject({ api_functional_role: 'tenant_editor', status: 'pending' });
    // Another admin changes the invitation, which keeps its author.
    await asking.as('admin', 'put', under('members', 'zoe')).send({ role: 'tenant_editor' }).expect(200);

    const { body: refused } = await gateway.as('zoe', 'get', '/v1/tenants/acme').expect(403);
    expect(refused.error.message).toContain('membership/accept');
    expect(await itemsOf('zoe', '/v1/tenants')).toEqual([]);
    expect(await itemsOf('zoe', '/v1/invitations')).toEqual([
      {
        tenant_id: 'acme',
        name: 'Acme',
        api_functional_role: 'tenant_editor',
        tenancy_role: 'member',
        invited_by: principal('alice'),
        invited_at: expect.any(String),
      },
    ]);
    expect(await itemsOf('stranger', '/v1/invitations')).toEqual([]);

    const { body: joined } = await move('zoe', 'accept').expect(200);
    expect(joined).toMatchObject({ status: 'active', allow_counterparty_access: true });
    await move('zoe', 'accept').expect(200);
    expect(await itemsOf('zoe', '/v1/invitations')).toEqual([]);
    expect(await itemsOf('zoe', '/v1/tenants')).toMatchObject([{ tenant_id: 'acme', role: 'tenant_editor' }]);
    expect((await invite('zoe', { role: 'tenant_reader' }).expect(200)).body.status).toBe('active');
  });

  it('lists invitations by tenant, in pages', async () => {
    await invite('zoe').expect(200);
    for (const tenant of ['b2', 'a1']) {
      await gateway.as('bob', 'post', '/v1/tenants').send({ tenant_id: tenant, name: tenant }).expect(201);
      const path = under('members', 'zoe').replace('acme', tenant);
      await asking.as('bob', 'put', path).send({ role: 'tenant_reader' }).expect(200);
    }
    expect(await walk('zoe', '/v1/invitations')).toEqual(['a1', 'acme', 'b2']);
  });

  it('is not required for principals of the trusted identity project', async () => {
    await invite('zoe').expect(200);
    expect((await putMember('alice', 'zoe', 'tenant_reader').expect(200)).body.status).toBe('active');
    for (const other of ['oidc:another#zoe', 'oidc:testing#zoe']) {
      const path = `/v1/tenants/acme/members/${encodeURIComponent(other)}`;
      const { body } = await gateway.as('alice', 'put', path).send({ role: 'tenant_reader' }).expect(200);
      expect(body.status).toBe('pending');
    }
  });

  it('can be declined, requested again and withdrawn', async () => {
    await move('zoe', 'accept').expect(404);
    await move('zoe', 'leave').expect(404);
    await invite('zoe').expect(200);
    expect((await move('zoe', 'leave').expect(200)).body.status).toBe('removed');
    await move('zoe', 'accept').expect(404);
    const again = asking.as('admin', 'put', under('members', 'zoe')).send({ role: 'tenant_reader' });
    expect((await again.expect(200)).body.status).toBe('pending');
    expect(await itemsOf('zoe', '/v1/invitations')).toMatchObject([{ invited_by: principal('admin') }]);
    await remove('admin', 'zoe').expect(204);
    await move('zoe', 'accept').expect(404);
  });

  it('ends when a member leaves, but the last owner cannot leave', async () => {
    await move('editor', 'leave').expect(200);
    await gateway.as('editor', 'get', '/v1/tenants/acme').expect(403);
    expect((await move('alice', 'leave').expect(409)).body.error.message).toContain('last tenant_owner');
    await block('alice', 'put').expect(409);
  });

  it('cannot be requested while the principal blocks the tenant', async () => {
    await block('zoe', 'put', 'no-such-tenant').expect(404);
    await invite('zoe').expect(200);
    await block('zoe', 'put').expect(204);
    await block('zoe', 'put').expect(204);
    expect(await itemsOf('zoe', '/v1/invitations')).toEqual([]);
    expect(await itemsOf('zoe', '/v1/blocked-tenants')).toEqual([
      { tenant_id: 'acme', blocked_at: expect.any(String) },
    ]);
    for (const tenant of ['b2', 'a1']) {
      await gateway.as('bob', 'post', '/v1/tenants').send({ tenant_id: tenant, name: tenant }).expect(201);
      await block('zoe', 'put', tenant).expect(204);
    }
    expect(await walk('zoe', '/v1/blocked-tenants')).toEqual(['a1', 'acme', 'b2']);
    await block('zoe', 'delete', 'b2').expect(204);
    expect(await walk('zoe', '/v1/blocked-tenants')).toEqual(['a1', 'acme']);
    for (const attempt of [invite('zoe'), putMember('alice', 'zoe', 'tenant_reader')]) {
      expect((await attempt.expect(409)).body.error.message).toContain('blocks the tenant');
    }
    await block('editor', 'put').expect(204);
    await gateway.as('editor', 'get', '/v1/tenants/acme').expect(403);
    // A principal can block a tenant before the tenant knows that principal.
    await block('bob', 'put').expect(204);
    await invite('bob').expect(409);
    await block('bob', 'delete').expect(204);
    await block('zoe', 'delete').expect(204);
    await putMember('alice', 'zoe', 'tenant_reader').expect(200);
  });

  it('gives an invited owner no rights, and only owners can withdraw the invitation', async () => {
    await invite('bob', { role: 'tenant_owner' }).expect(200);
    await remove('admin', 'bob').expect(403);
    await move('alice', 'leave').expect(409);
    await move('bob', 'accept').expect(200);
    await move('alice', 'leave').expect(200);
  });

  it('counts invitations toward the member limit', async () => {
    const small = await startGateway({ MEMBERSHIP_CONSENT: 'required', MAX_MEMBERS_PER_TENANT: '5' }, gateway);
    try {
      const add = (user: string): Test =>
        small.as('alice', 'put', under('members', user)).send({ role: 'tenant_reader' });
      await add('zoe').expect(200);
      expect((await add('bob').expect(403)).body.error.code).toBe('limit_reached');
      await move('zoe', 'accept').expect(200);
    } finally {
      await small.close();
    }
  });
});
