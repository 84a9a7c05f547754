import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import type { Test } from 'supertest';
import type { Method } from '../../../tools/testing/conformance';
import { startGateway, type TestGateway, type User } from './gateway';
import { deleteTenants } from './without-tenants';

let gateway: TestGateway;
let superuser: Client;

const OFFERS = '/v1/tenants/acme/transfer-offers';
const principal = (user: string): string => `oidc:test#${user}`;
const principalPath = (user: string): string => `/v1/tenants/acme/principals/${encodeURIComponent(principal(user))}`;

const put = (by: User, user: string, body: Record<string, unknown>): Test =>
  gateway.as(by, 'put', principalPath(user)).send(body);
const post = (by: User, body: Record<string, unknown>): Test => gateway.as(by, 'post', OFFERS).send(body);
const move = (by: User, offerId: string, how: 'accept' | 'decline' | 'cancel'): Test =>
  gateway.as(by, 'post', `${OFFERS}/${offerId}/${how}`);
const statusOf = async (test: Test): Promise<number> => (await test).status;

/** Creates an offer of alice. */
async function offer(to = 'bob', more: Record<string, unknown> = {}): Promise<string> {
  const { body } = await post('alice', { to_principal_id: principal(to), ...more }).expect(201);
  return body.transfer_offer.transfer_offer_id;
}

async function roles(): Promise<Record<string, string>> {
  const { rows } = await superuser.query<{ principal_id: string; role: string }>(
    `SELECT principal_id, api_functional_role || ' ' || tenancy_role AS role FROM memberships
      WHERE tenant_id = 'acme' AND status = 'active'`,
  );
  return Object.fromEntries(rows.map((row) => [row.principal_id.split('#')[1], row.role]));
}

beforeAll(async () => {
  gateway = await startGateway();
  superuser = new Client({ connectionString: gateway.databaseUrl });
  await superuser.connect();
});

afterAll(async () => {
  await superuser?.end();
  await gateway?.close();
});

/** alice owns acme. admin and reader have the roles of their names there. bob and zoe are not members. */
beforeEach(async () => {
  await deleteTenants(superuser);
  await gateway.as('alice', 'post', '/v1/tenants').send({ tenant_id: 'acme', name: 'Acme' }).expect(201);
  for (const role of ['reader', 'admin'])
    await put('alice', role, { api_functional_role: `tenant_${role}` }).expect(200);
});

describe('a transfer offer', () => {
  it('can be made by the owner to any principal', async () => {
    const expires_at = '2999-01-01T00:00:00+02:00';
    const { body } = await post('alice', { to_principal_id: principal('bob'), message: 'Over to you.\n', expires_at });
    const { transfer_offer } = body;
    expect(transfer_offer).toEqual({
      transfer_offer_id: expect.any(String),
      offer_id: transfer_offer.transfer_offer_id,
      tenant_id: 'acme',
      from_principal_id: 'oidc:test#alice',
      to_principal_id: 'oidc:test#bob',
      message: 'Over to you.\n',
      status: 'pending',
      created_at: expect.any(String),
      expires_at: '2998-12-31T22:00:00.000Z',
      resolved_at: null,
    });
    for (const user of ['alice', 'admin', 'bob'] as const) {
      const one = await gateway.as(user, 'get', `${OFFERS}/${transfer_offer.offer_id}`).expect(200);
      expect(one.body).toEqual(body);
    }
    expect(await roles()).not.toHaveProperty('bob');
  });

  it.each<[Record<string, unknown>, string, string]>([
    [{}, '/to_principal_id', 'required'],
    [{ to_principal_id: principal('alice') }, '/to_principal_id', 'invalid_value'],
    [{ to_principal_id: principal('bob'), expires_at: '2020-01-01T00:00:00Z' }, '/expires_at', 'invalid_value'],
    [{ to_principal_id: principal('bob'), status: 'accepted' }, '/status', 'unknown_field'],
  ])('is refused for %j', async (body, path, code) => {
    const answer = await post('alice', body).expect(400);
    expect(answer.body.error.details[0]).toMatchObject({ path, code });
  });

  it('can only be made by a human', async () => {
    await put('alice', 'o1', { api_functional_role: 'tenant_owner', principal_type: 'service_account' }).expect(200);
    const answer = await post('o1', { to_principal_id: principal('zoe') }).expect(422);
    expect(answer.body.error.code).toBe('human_principal_required');
  });

  it('is the only pending one in its tenant, even when requests race', async () => {
    await put('alice', 'o1', { api_functional_role: 'tenant_owner' }).expect(200);
    const raced = await Promise.all(
      Array.from({ length: 12 }, async (_, index) =>
        statusOf(post(index % 2 === 0 ? 'alice' : 'o1', { to_principal_id: principal('bob') })),
      ),
    );
    expect(raced.filter((status) => status === 201)).toHaveLength(1);
    expect(raced.filter((status) => status === 409)).toHaveLength(11);
    const answer = await post('alice', { to_principal_id: principal('zoe') }).expect(409);
    expect(answer.body.error.message).toContain('pending transfer offer');
  });

  it('expires, and then does not block a new offer', async () => {
    const first = await offer('bob', { expires_at: '2999-01-01T00:00:00Z' });
    await post('alice', { to_principal_id: principal('zoe') }).expect(409);
    await superuser.query(`UPDATE transfer_offers SET expires_at = date_trunc('milliseconds', now())`);
    const read = await gateway.as('bob', 'get', `${OFFERS}/${first}`).expect(200);
    expect(read.body.transfer_offer).toMatchObject({
      status: 'expired',
      resolved_at: read.body.transfer_offer.expires_at,
    });
    for (const [user, how] of [
      ['bob', 'accept'],
      ['bob', 'decline'],
      ['alice', 'cancel'],
    ] as const) {
      const answer = await move(user, first, how).expect(409);
      expect(answer.body.error.message).toContain('expired');
    }
    const second = await offer('bob');
    expect((await gateway.as('bob', 'get', `${OFFERS}/${first}`).expect(200)).body).toEqual(read.body);
    await move('bob', second, 'accept').expect(200);
  });
});

describe('accepting a transfer offer', () => {
  it('makes the recipient owner and account_admin, and the offerer admin', async () => {
    const id = await offer();
    const { body } = await move('bob', id, 'accept').expect(200);
    expect(body.transfer_offer).toMatchObject({ status: 'accepted', resolved_at: expect.any(String) });
    expect(await roles()).toEqual({
      alice: 'tenant_admin account_admin',
      bob: 'tenant_owner account_admin',
      admin: 'tenant_admin member',
      reader: 'tenant_reader member',
    });
    for (const [user, how] of [
      ['bob', 'accept'],
      ['bob', 'decline'],
      ['alice', 'cancel'],
    ] as const) {
      await move(user, id, how).expect(409);
    }
    await post('alice', { to_principal_id: principal('zoe') }).expect(403);
    await post('bob', { to_principal_id: principal('alice') }).expect(201);
  });

  it('records one change of owner, and only the loss if the recipient already is an owner', async () => {
    const changes = async (): Promise<unknown[]> => {
      const { rows } = await superuser.query<Record<string, string | null>>(
        'SELECT from_principal_id, principal_id FROM owner_changes ORDER BY owner_change_id',
      );
      return rows.map((row) => [row['from_principal_id'], row['principal_id']]);
    };
    const before = await changes();
    await move('bob', await offer(), 'accept').expect(200);
    await put('bob', 'alice', { api_functional_role: 'tenant_owner' }).expect(200);
    await move('bob', await offer(), 'accept').expect(200);
    expect((await changes()).slice(before.length)).toEqual([
      [principal('alice'), principal('bob')],
      [null, principal('alice')],
      [principal('alice'), null],
    ]);
  });

  it('keeps the other fields of a member’s record', async () => {
    await put('alice', 'reader', { allow_counterparty_access: true }).expect(200);
    await move('reader', await offer('reader'), 'accept').expect(200);
    const { body } = await gateway.as('alice', 'get', '/v1/tenants/acme/principals').expect(200);
    expect(
      body.items.find((item: { principal_id: string }) => item.principal_id === principal('reader')),
    ).toMatchObject({
      api_functional_role: 'tenant_owner',
      tenancy_role: 'account_admin',
      principal_type: 'human',
      allow_counterparty_access: true,
      status: 'active',
    });
  });

  it.each(['removed', 'pending'])('restores a %s member with only the rights from the offer', async (status) => {
    await put('alice', 'reader', { allow_counterparty_access: true }).expect(200);
    await superuser.query('UPDATE memberships SET status = $1 WHERE principal_id = $2', [status, principal('reader')]);
    await move('reader', await offer('reader'), 'accept').expect(200);
    const { body } = await gateway.as('reader', 'get', '/v1/tenants/acme/principals').expect(200);
    expect(
      body.items.find((item: { principal_id: string }) => item.principal_id === principal('reader')),
    ).toMatchObject({
      api_functional_role: 'tenant_owner',
      allow_counterparty_access: false,
      status: 'active',
    });
  });

  it('is allowed only to the recipient, as is declining', async () => {
    const id = await offer();
    const unknown = randomUUID();
    for (const how of ['accept', 'decline'] as const) {
      for (const user of ['alice', 'admin', 'reader'] as const) await move(user, unknown, how).expect(404);
      const there = await move('stranger', id, how).expect(403);
      const notThere = await move('stranger', unknown, how).expect(403);
      expect(there.body.error.message).toBe(notThere.body.error.message);
      await move('bob', unknown, how).expect(403);
      const malformed = await gateway.as('bob', 'post', `${OFFERS}/7/${how}`).expect(400);
      expect(malformed.body.error.details[0].path).toBe('/path/offer_id');
    }
    await gateway.as('zoe', 'post', '/v1/tenants').send({ tenant_id: 'zoes', name: 'Z' }).expect(201);
    await gateway.as('zoe', 'post', `/v1/tenants/zoes/transfer-offers/${id}/cancel`).expect(404);
    await gateway.as('zoe', 'get', `/v1/tenants/zoes/transfer-offers/${id}`).expect(404);
    await move('bob', id, 'accept').expect(200);
  });

  it('requires a recipient that is human by its record and its token', async () => {
    const token = await gateway.issuer.mint('machine', { principal_type: 'service_account' });
    const asMachine = (method: Method, path: string): Test =>
      gateway.as(null, method, path).set('Authorization', `Bearer ${token}`);
    const toMachine = await offer('machine');
    await asMachine('get', `${OFFERS}/${toMachine}`).expect(200);
    for (const how of ['accept', 'decline']) {
      const answer = await asMachine('post', `${OFFERS}/${toMachine}/${how}`).expect(422);
      expect(answer.body.error.code).toBe('human_principal_required');
    }
    await put('alice', 'machine', { principal_type: 'human' }).expect(200);
    await asMachine('post', `${OFFERS}/${toMachine}/decline`).expect(422);
    await gateway.withToken(await gateway.issuer.mint('machine'), 'post', `${OFFERS}/${toMachine}/decline`).expect(200);

    await put('alice', 'reader', { principal_type: 'ai_agent' }).expect(200);
    const toReader = await offer('reader');
    await move('reader', toReader, 'accept').expect(422);
    // A removal does not make the member human.
    await move('alice', toReader, 'cancel').expect(200);
    await gateway.as('alice', 'delete', principalPath('reader').replace('principals', 'members')).expect(204);
    await move('reader', await offer('reader'), 'accept').expect(422);
    expect(await roles()).toMatchObject({ alice: 'tenant_owner account_admin' });
  });

  it('requires that the offerer is still an owner', async () => {
    await put('alice', 'o1', { api_functional_role: 'tenant_owner' }).expect(200);
    const id = await offer();
    await put('o1', 'alice', { api_functional_role: 'tenant_admin' }).expect(200);
    await move('bob', id, 'accept').expect(409);
    expect(await roles()).not.toHaveProperty('bob');
    // This is true even if the offer was not closed, for example by a change outside of the service.
    await superuser.query(`UPDATE transfer_offers SET status = 'pending', resolved_at = NULL`);
    const answer = await move('bob', id, 'accept').expect(409);
    expect(answer.body.error.message).toContain('may no longer transfer the tenant');
  });

  it('excludes cancelling and declining when they race', async () => {
    for (let round = 0; round < 5; round += 1) {
      const id = await offer();
      const raced = await Promise.all([
        statusOf(move('bob', id, 'accept')),
        statusOf(move('alice', id, 'cancel')),
        statusOf(move('bob', id, 'accept')),
        statusOf(move('bob', id, 'decline')),
      ]);
      expect(raced.filter((status) => status === 200)).toHaveLength(1);
      expect(raced.filter((status) => status === 409)).toHaveLength(3);
      const owners = Object.values(await roles()).filter((role) => role.startsWith('tenant_owner'));
      expect(owners).toHaveLength(1);
      const { body } = await gateway.as('alice', 'get', `${OFFERS}/${id}`).expect(200);
      const isAccepted = body.transfer_offer.status === 'accepted';
      expect((await roles())['alice']?.startsWith('tenant_owner')).toBe(!isAccepted);
      if (isAccepted) {
        const back = await post('bob', { to_principal_id: principal('alice') }).expect(201);
        await move('alice', back.body.transfer_offer.offer_id, 'accept').expect(200);
      }
    }
  });

  it('keeps an owner and consistent roles when the offerer is downgraded concurrently', async () => {
    for (let round = 0; round < 5; round += 1) {
      await put('alice', 'o1', { api_functional_role: 'tenant_owner' }).expect(200);
      const id = await offer();
      const [accepted, removed] = await Promise.all([
        statusOf(move('bob', id, 'accept')),
        statusOf(put('o1', 'alice', { api_functional_role: 'tenant_reader' })),
      ]);
      expect(removed).toBe(200);
      expect([200, 409]).toContain(accepted);
      const now = await roles();
      expect(now['alice']).toBe('tenant_reader account_admin');
      expect(now['bob']?.startsWith('tenant_owner') ?? false).toBe(accepted === 200);
      await put('o1', 'alice', { api_functional_role: 'tenant_owner' }).expect(200);
      await put('o1', 'bob', { api_functional_role: 'tenant_reader' }).expect(200);
    }
  });
});

describe('a tenant founded by a machine', () => {
  const AUTO = '/v1/tenants/auto/transfer-offers';
  let machine: string;
  const asMachine = (method: Method, path: string, body?: object): Test => {
    const request = gateway.withToken(machine, method, path);
    return body === undefined ? request : request.send(body);
  };
  const member = (user: string): string => `/v1/tenants/auto/members/${encodeURIComponent(principal(user))}`;
  const idOf = ({ body }: { body: { transfer_offer: { offer_id: string } } }): string => body.transfer_offer.offer_id;
  const members = async (): Promise<Record<string, string>> => {
    const { body } = await gateway.as('reader', 'get', '/v1/tenants/auto/principals').expect(200);
    return Object.fromEntries(
      body.items.map((item: Record<string, string>) => [
        item['principal_id']?.split('#')[1],
        `${item['api_functional_role']} ${item['tenancy_role']} ${item['principal_type']}`,
      ]),
    );
  };

  beforeEach(async () => {
    machine = await gateway.issuer.mint('machine', { principal_type: 'service_account' });
    await asMachine('post', '/v1/tenants', { tenant_id: 'auto', name: 'Auto' }).expect(201);
    for (const [user, role] of [
      ['reader', 'tenant_reader'],
      ['admin', 'tenant_admin'],
    ] as const) {
      await asMachine('put', member(user), { role }).expect(200);
    }
  });

  it('gets a human owner by an offer of its account_admin', async () => {
    await gateway
      .as('admin', 'post', AUTO)
      .send({ to_principal_id: principal('bob') })
      .expect(403);
    const id = idOf(await asMachine('post', AUTO, { to_principal_id: principal('bob') }).expect(201));
    // The machine's own record may change meanwhile.
    await asMachine('put', member('machine'), { role: 'tenant_admin' }).expect(200);
    await gateway.as('bob', 'post', `${AUTO}/${id}/accept`).expect(200);
    expect(await members()).toEqual({
      machine: 'tenant_admin account_admin service_account',
      bob: 'tenant_owner account_admin human',
      reader: 'tenant_reader member human',
      admin: 'tenant_admin member human',
    });
    // From now on, only the new owner can transfer it.
    await asMachine('post', AUTO, { to_principal_id: principal('zoe') }).expect(403);
    await gateway
      .as('bob', 'post', AUTO)
      .send({ to_principal_id: principal('zoe') })
      .expect(201);
  });

  it('cannot get a machine as its owner', async () => {
    const toAgent = idOf(await asMachine('post', AUTO, { to_principal_id: principal('agent') }).expect(201));
    const agent = await gateway.issuer.mint('agent', { principal_type: 'ai_agent' });
    await gateway.withToken(agent, 'post', `${AUTO}/${toAgent}/accept`).expect(422);
    await asMachine('post', `${AUTO}/${toAgent}/cancel`).expect(200);
    await asMachine('post', AUTO, { to_principal_id: principal('machine') }).expect(400);
    const record = member('machine').replace('members', 'principals');
    await asMachine('put', record, { principal_type: 'human' }).expect(403);
    await asMachine('put', record, { api_functional_role: 'tenant_owner' }).expect(422);
    expect(await members()).toMatchObject({ machine: 'tenant_admin account_admin service_account' });
  });

  it('requires that the offerer is still its account_admin', async () => {
    const id = idOf(await asMachine('post', AUTO, { to_principal_id: principal('bob') }).expect(201));
    await superuser.query(`UPDATE memberships SET tenancy_role = 'member' WHERE principal_id = $1`, [
      principal('machine'),
    ]);
    await gateway.as('bob', 'post', `${AUTO}/${id}/accept`).expect(409);
    await gateway.as('admin', 'delete', member('machine')).expect(204);
    const { body } = await gateway.as('admin', 'get', `${AUTO}/${id}`).expect(200);
    expect(body.transfer_offer.status).toBe('cancelled');
  });

  it('cancels the pending offer when it gets an owner by another way', async () => {
    const id = idOf(await asMachine('post', AUTO, { to_principal_id: principal('bob') }).expect(201));
    await superuser.query(`UPDATE memberships SET tenancy_role = 'account_admin' WHERE principal_id = $1`, [
      principal('admin'),
    ]);
    await gateway.as('admin', 'put', member('admin')).send({ role: 'tenant_owner' }).expect(200);
    const { body } = await gateway.as('bob', 'get', `${AUTO}/${id}`).expect(200);
    expect(body.transfer_offer.status).toBe('cancelled');
  });
});

describe('declining and cancelling', () => {
  it('end the offer and change no roles', async () => {
    const before = await roles();
    for (const [user, how, status] of [
      ['bob', 'decline', 'declined'],
      ['alice', 'cancel', 'cancelled'],
    ] as const) {
      const id = await offer();
      const { body } = await move(user, id, how).expect(200);
      expect(body.transfer_offer).toMatchObject({ status, resolved_at: expect.any(String) });
      await move('bob', id, 'accept').expect(409);
      await move('bob', id, 'decline').expect(409);
      await move('alice', id, 'cancel').expect(409);
    }
    expect(await roles()).toEqual(before);
  });

  it('only the offerer can cancel', async () => {
    await put('alice', 'o1', { api_functional_role: 'tenant_owner' }).expect(200);
    const id = await offer();
    await move('o1', id, 'cancel').expect(403);
    await move('admin', randomUUID(), 'cancel').expect(404);
    await move('stranger', randomUUID(), 'cancel').expect(403);
    await move('alice', id, 'cancel').expect(200);
  });

  it('an offer is cancelled when a party is removed or the offerer loses ownership', async () => {
    await put('alice', 'o1', { api_functional_role: 'tenant_owner' }).expect(200);
    const remove = (by: User, user: string): Test =>
      gateway.as(by, 'delete', principalPath(user).replace('principals', 'members')).expect(204);
    const status = async (id: string): Promise<string> =>
      (await gateway.as('o1', 'get', `${OFFERS}/${id}`).expect(200)).body.transfer_offer.status;

    await gateway.as('alice', 'post', '/v1/tenants').send({ tenant_id: 'other', name: 'Other' }).expect(201);
    const elsewhere = '/v1/tenants/other/transfer-offers';
    await gateway
      .as('alice', 'post', elsewhere)
      .send({ to_principal_id: principal('reader') })
      .expect(201);

    const toReader = await offer('reader');
    await put('alice', 'reader', { api_functional_role: 'tenant_editor' }).expect(200);
    expect(await status(toReader)).toBe('pending');
    await remove('o1', 'reader');
    expect(await status(toReader)).toBe('cancelled');
    await move('reader', toReader, 'accept').expect(409);

    const downgraded = await offer();
    await put('alice', 'alice', { allow_counterparty_access: true }).expect(200);
    expect(await status(downgraded)).toBe('pending');
    await put('o1', 'alice', { api_functional_role: 'tenant_admin' }).expect(200);
    expect(await status(downgraded)).toBe('cancelled');

    await put('o1', 'alice', { api_functional_role: 'tenant_owner' }).expect(200);
    const overdue = await offer('bob', { expires_at: '2999-01-01T00:00:00Z' });
    await superuser.query('UPDATE transfer_offers SET expires_at = now() WHERE offer_id = $1', [overdue]);
    await put('o1', 'alice', { api_functional_role: 'tenant_admin' }).expect(200);
    expect(await status(overdue)).toBe('expired');

    await put('o1', 'alice', { api_functional_role: 'tenant_owner' }).expect(200);
    const orphaned = await offer();
    await remove('o1', 'alice');
    expect(await status(orphaned)).toBe('cancelled');
    const { body: others } = await gateway.as('alice', 'get', elsewhere).expect(200);
    expect(others.items).toMatchObject([{ status: 'pending' }]);
    await post('o1', { to_principal_id: principal('bob') }).expect(201);
  });
});

describe('the list of transfer offers', () => {
  const list = (user: User, query = ''): Test => gateway.as(user, 'get', `${OFFERS}${query}`);
  const ids = ({ body }: { body: { items: { offer_id: string }[] } }): string[] =>
    body.items.map((item) => item.offer_id);

  it('returns all offers to admins, and to a recipient only its own', async () => {
    const toBob = await offer();
    await move('bob', toBob, 'decline').expect(200);
    const toReader = await offer('reader');
    await move('alice', toReader, 'cancel').expect(200);
    const again = await offer();
    for (const user of ['alice', 'admin'] as const) {
      expect(ids(await list(user).expect(200))).toEqual([again, toReader, toBob]);
    }
    // An offer of another tenant is not one of this tenant.
    await gateway.as('alice', 'post', '/v1/tenants').send({ tenant_id: 'other', name: 'Other' }).expect(201);
    const elsewhere = '/v1/tenants/other/transfer-offers';
    for (const user of ['bob', 'zoe']) {
      const made = gateway.as('alice', 'post', elsewhere).send({ to_principal_id: principal(user) });
      const { body } = await made.expect(201);
      const path = `${elsewhere}/${body.transfer_offer.offer_id}/cancel`;
      await gateway.as('alice', 'post', path).expect(200);
    }
    await list('zoe').expect(403);
    expect(ids(await list('bob').expect(200))).toEqual([again, toBob]);
    expect(ids(await list('reader').expect(200))).toEqual([toReader]);
    await move('alice', again, 'cancel').expect(200);
    const toAdmin = await offer('admin');
    await gateway.as('alice', 'delete', principalPath('admin').replace('principals', 'members')).expect(204);
    expect(ids(await list('admin').expect(200))).toEqual([toAdmin]);
    await put('alice', 'admin', { api_functional_role: 'tenant_admin' }).expect(200);

    await gateway.as('bob', 'get', `${OFFERS}/${toReader}`).expect(403);
    await gateway.as('reader', 'get', `${OFFERS}/${toBob}`).expect(403);
    await gateway.as('stranger', 'get', `${OFFERS}/${randomUUID()}`).expect(403);
    await gateway.as('reader', 'get', `${OFFERS}/${randomUUID()}`).expect(404);
    await gateway.as('admin', 'get', `${OFFERS}/${randomUUID()}`).expect(404);
    await gateway.as('admin', 'get', `${OFFERS}/x`).expect(400);
  });

  it('is paged, newest first, while offers are added', async () => {
    const made: string[] = [];
    for (let count = 0; count < 5; count += 1) {
      made.unshift(await offer());
      await move('bob', made[0] ?? '', 'decline').expect(200);
    }
    for (const user of ['admin', 'bob'] as const) {
      const seen: string[] = [];
      let query = '?limit=2';
      for (;;) {
        const page = await list(user, query).expect(200);
        seen.push(...ids(page));
        expect(page.body.has_more).toBe(page.body.next_cursor !== null);
        if (page.body.next_cursor === null) break;
        await move('alice', await offer('zoe'), 'cancel').expect(200);
        query = `?limit=2&cursor=${encodeURIComponent(page.body.next_cursor)}`;
      }
      expect(seen.filter((id) => made.includes(id))).toEqual(made);
    }
    for (const query of ['?limit=0', '?limit=-1', '?limit=1001', '?limit=abc', '?cursor=x', '?status=pending']) {
      const answer = await list('admin', query).expect(400);
      expect(answer.body.error.details[0].path).toBe(`/query/${query.slice(1).split('=')[0]}`);
    }
  });
});
