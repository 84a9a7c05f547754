import { randomUUID } from 'node:crypto';
import type { Response } from 'supertest';
import { BAD_LIMITS, GrantWorld, places, principalOf, walk } from './grant-world';
import type { User } from './gateway';
import type { Subject } from './read-world';

let world: GrantWorld;

beforeAll(async () => {
  world = await GrantWorld.open();
});

afterAll(() => world?.close());

const statuses = async (tests: Promise<Response>[]): Promise<Record<number, number>> => {
  const counts: Record<number, number> = {};
  for (const { status } of await Promise.all(tests)) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
};

describe('a grant on all subjects with grant_confirmation', () => {
  const DEMANDED = { grant_confirmation: 'required' };
  const ON_ALL = { subject_type: '*', grantee_tenant_id: 'acme', scopes: ['read_latest'] };
  const TENANT = '/v1/tenants/delta';
  const PENDING = `${TENANT}/pending-grants`;
  let subject: Subject;
  const setting = (user: User, body: object) => world.gateway.as(user, 'patch', TENANT).send(body).expect(200);
  const end = (user: User, grantId: string, how: 'confirm' | 'cancel') =>
    world.gateway.as(user, 'post', `${PENDING}/${grantId}/${how}`);
  const request = async (change: object = {}): Promise<string> =>
    (await world.create({ ...ON_ALL, ...change }, 'o1', 'delta').expect(202)).body.grant_id;
  const statusesOf = async (): Promise<string[]> => {
    const { body } = await world.gateway.as('o2', 'get', PENDING).expect(200);
    return body.items.map(({ status }: { status: string }) => status);
  };
  const read = () =>
    world.gateway.as('alice', 'get', `/v1/tenants/acme/subjects/organization/${subject.subject_id}/snapshots/latest`);

  beforeAll(async () => {
    await world.gateway.as('o1', 'post', '/v1/tenants').send({ tenant_id: 'delta', name: 'Delta' }).expect(201);
    subject = await world.addSubject(undefined, 'o1', 'delta');
    await world.setMember('o1', 'delta', 'o2', { api_functional_role: 'tenant_admin' });
    await world.setMember('o1', 'delta', 'editor', { api_functional_role: 'tenant_editor' });
    await world.setMember('alice', 'acme', 'alice', { allow_counterparty_access: true });
    await setting('o2', DEMANDED);
  });

  it('gives no rights until another human confirms it', async () => {
    const { body } = await world.create({ ...ON_ALL, purpose: 'Audit' }, 'o1', 'delta').expect(202);
    const expected = { grantor_tenant_id: 'delta', ...ON_ALL, subject_id: '*', purpose: 'Audit', status: 'pending' };
    expect(body).toMatchObject({
      ...expected,
      requested_by: principalOf('o1'),
      confirmed_by: null,
      cancelled_by: null,
    });
    expect(Date.parse(body.confirm_by) - Date.parse(body.created_at)).toBe(86_400_000);
    await read().expect(403);
    expect((await world.list('', 'o1', 'delta').expect(200)).body.items).toEqual([]);

    await end('o1', body.grant_id, 'confirm').expect(403);
    const machine = await world.gateway.issuer.mint('o2', { principal_type: 'ai_agent' });
    await world.gateway.withToken(machine, 'post', `${PENDING}/${body.grant_id}/confirm`).expect(422);
    await end('editor', body.grant_id, 'confirm').expect(403);
    const { body: grant } = await end('o2', body.grant_id, 'confirm').expect(200);
    expect(grant).toMatchObject({
      grant_id: body.grant_id,
      status: 'active',
      granted_by: principalOf('o1'),
      purpose: 'Audit',
    });
    expect((await world.list('', 'o1', 'delta').expect(200)).body.items).toEqual([grant]);
    await read().expect(200);
    for (const how of ['confirm', 'cancel'] as const) await end('o2', body.grant_id, how).expect(409);
    const { body: pending } = await world.gateway.as('o2', 'get', PENDING).expect(200);
    expect(pending.items).toMatchObject([
      { status: 'confirmed', confirmed_by: principalOf('o2'), confirmed_at: expect.any(String), cancelled_by: null },
    ]);
    // The grantee has requested none.
    const ofGrantee = await world.gateway.as('alice', 'get', '/v1/tenants/acme/pending-grants').expect(200);
    expect(ofGrantee.body.items).toEqual([]);
  });

  it('cannot be widened by one person, but can be narrowed', async () => {
    const { body } = await world.list('?limit=1', 'o1', 'delta').expect(200);
    const grantId: string = body.items[0].grant_id;
    await world.change(grantId, { scopes: ['read_latest', 'read_diff'] }, 'o1', 'delta').expect(409);
    const until = { expires_at: '2099-01-01T00:00:00Z' };
    await world.change(grantId, until, 'o1', 'delta').expect(200);
    await world.change(grantId, { purpose: 'Review' }, 'o1', 'delta').expect(200);
    // The grant has the scopes that were confirmed.
    await world.change(grantId, { expires_at: null }, 'o1', 'delta').expect(200);
    await world.create(ON_ALL, 'o1', 'delta').expect(409);
    await world.revoke(grantId, 'o1', 'delta').expect(200);

    const ending = await request({ expires_at: '2098-01-01T00:00:00Z' });
    await end('o2', ending, 'confirm').expect(200);
    const change = (expiresAt: string | null) => world.change(ending, { expires_at: expiresAt }, 'o1', 'delta');
    await change('2098-01-01T00:00:01Z').expect(409);
    await change(null).expect(409);
    await change('2097-01-01T00:00:00Z').expect(200);
    await world.revoke(ending, 'o1', 'delta').expect(200);
  });

  it.each(['confirm_by', 'expires_at'])('can be cancelled by one person, and expires at its %s', async (time) => {
    const cancelled = await request();
    const { body } = await end('o2', cancelled, 'cancel').expect(200);
    expect(body).toMatchObject({
      requested_by: principalOf('o1'),
      cancelled_by: principalOf('o2'),
      cancelled_at: expect.any(String),
      confirmed_at: null,
    });
    const overdue = await request();
    await world.superuser.query('SET session_replication_role = replica');
    await world.superuser.query(`UPDATE pending_grants SET ${time} = now() WHERE grant_id = $1`, [overdue]);
    await world.superuser.query('RESET session_replication_role');
    await end('o2', overdue, 'confirm').expect(409);
    expect((await statusesOf()).slice(0, 2)).toEqual(['expired', 'cancelled']);
    await end('o2', randomUUID(), 'confirm').expect(404);
    await read().expect(403);
  });

  it('is confirmed once, and not while another one to the same tenant is live', async () => {
    const [one, other] = [await request(), await request()];
    expect(await statuses(Array.from({ length: 4 }, () => end('o2', one, 'confirm')))).toEqual({ 200: 1, 409: 3 });
    await end('o2', other, 'confirm').expect(409);
    expect((await statusesOf()).slice(0, 2)).toEqual(['pending', 'confirmed']);
    await world.revoke(one, 'o1', 'delta').expect(200);
    await end('o2', other, 'confirm').expect(200);
    await world.revoke(other, 'o1', 'delta').expect(200);
  });

  it('is pending in a batch too, while a grant on a single subject is created immediately', async () => {
    const { body } = await world.createMany([ON_ALL, { ...ON_ALL, ...subject }], 'o1', 'delta').expect(200);
    expect(body.items).toMatchObject([
      { status: 202, pending_grant: { status: 'pending' } },
      { status: 201, grant: { status: 'active' } },
    ]);
  });

  it('is refused by PostgreSQL without the confirmation of a second human', async () => {
    await world.superuser.query('SET ROLE iss_gateway');
    try {
      const make = `INSERT INTO grants (grant_id, grantor_tenant_id, grantee_tenant_id, subject_key, scopes)
                    VALUES ($1, 'delta', 'acme', 0, '{read_latest}')`;
      const grantId = await request();
      await expect(world.superuser.query(make, [grantId])).rejects.toThrow('a second human has to confirm');
      const confirm = `UPDATE pending_grants SET confirmed_by = requested_by, confirmed_at = now() WHERE grant_id = $1`;
      await expect(world.superuser.query(confirm, [grantId])).rejects.toThrow('pending_grants_two_people');
    } finally {
      await world.superuser.query('RESET ROLE');
    }
  });

  it('notifies subscribers of pending grants and of the request to switch the setting off', async () => {
    const event_types = ['grant.requested', 'tenant.change_requested'];
    const hook = { tenant_id: 'delta', target_url: 'https://hooks.example.com/', event_types };
    await world.gateway.as('o1', 'post', '/v1/webhook-subscriptions').send(hook).expect(201);
    const pending = await world.create({ ...ON_ALL, purpose: 'secret words' }, 'o1', 'delta').expect(202);
    await world.createMany([ON_ALL, { ...ON_ALL, grantee_tenant_id: 'beta' }], 'o1', 'delta').expect(200);
    await setting('o1', { name: 'Delta 2' });
    const { body: tenant } = await setting('o1', { grant_confirmation: 'off' });
    // If the request is repeated, no new grant is created.
    await setting('o1', { grant_confirmation: 'off' });
    await setting('o2', DEMANDED);
    const { rows } = await world.superuser.query<{ event_type: string; body: string; request_id: string | null }>(
      `SELECT event_type, body, request_id FROM outbox_events WHERE tenant_id = 'delta' AND event_type = ANY ($1) ORDER BY created_at`,
      [event_types],
    );
    const events = rows.map(({ event_type: type, body }) => ({ type, data: JSON.parse(body).data }));
    const granted = {
      owner_tenant_id: 'delta',
      subject: { subject_type: '*', subject_id: '*' },
      scopes: ['read_latest'],
    };
    expect(events).toEqual([
      {
        type: 'grant.requested',
        data: {
          ...granted,
          grant_id: pending.body.grant_id,
          grantee_tenant_id: 'acme',
          paths: null,
          starts_at: null,
          expires_at: null,
          requested_by: principalOf('o1'),
          confirm_by: pending.body.confirm_by,
        },
      },
      { type: 'grant.requested', data: expect.objectContaining({ ...granted, grantee_tenant_id: 'acme' }) },
      { type: 'grant.requested', data: expect.objectContaining({ ...granted, grantee_tenant_id: 'beta' }) },
      { type: 'tenant.change_requested', data: tenant.pending_changes[0] },
    ]);
    expect(rows.every(({ request_id: id }) => id !== null)).toBe(true);
  });

  it('needs no confirmation after two humans switched the setting off', async () => {
    await setting('o1', { grant_confirmation: 'off' });
    await request();
    await setting('o2', { grant_confirmation: 'off' });
    const { body } = await world.create(ON_ALL, 'o1', 'delta').expect(201);
    await world.revoke(body.grant_id, 'o1', 'delta').expect(200);
  });
});

describe('creating a grant', () => {
  it('returns the grant, flat and wrapped', async () => {
    const subject = await world.addSubject();
    const { body } = await world
      .create({
        ...subject,
        scopes: ['read_diff', 'read_latest'],
        expires_at: '2999-01-01T00:00:00+02:00',
        purpose: 'Onboarding\nof 2026',
      })
      .expect(201);
    const { grant, ...flat } = body;
    expect(flat).toEqual({
      grant_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      grantor_tenant_id: 'acme',
      grantee_tenant_id: 'beta',
      ...subject,
      scopes: ['read_diff', 'read_latest'],
      paths: null,
      starts_at: null,
      expires_at: '2998-12-31T22:00:00.000Z',
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      revoked_at: null,
      status: 'active',
      granted_by: principalOf('alice'),
      purpose: 'Onboarding\nof 2026',
      accepted_at: null,
    });
    expect(grant).toEqual(flat);
    expect((await world.ofSubject(subject).expect(200)).body.items).toEqual([{ ...flat, name: 'Zürich Öl AG' }]);
  });

  it('sets no expiry if expires_at is absent or null', async () => {
    for (const change of [{}, { expires_at: null }]) {
      const { body } = await world.create({ ...(await world.addSubject()), ...change }).expect(201);
      expect(body.expires_at).toBeNull();
    }
  });

  it('accepts the longest subject_id that a snapshot may have', async () => {
    await world.grantOn(await world.addSubject(`${'😀'.repeat(511)}\u2028`));
  });

  it.each<[object, string]>([
    [{ grantee_tenant_id: undefined }, '/grantee_tenant_id'],
    [{ grantee_tenant_id: null }, '/grantee_tenant_id'],
    [{ grantee_tenant_id: '-beta' }, '/grantee_tenant_id'],
    [{ grantee_tenant_id: 'acme' }, '/grantee_tenant_id'],
    [{ subject_type: undefined }, '/subject_type'],
    [{ subject_type: 'person' }, '/subject_type'],
    [{ subject_type: '*' }, '/subject_id'],
    [{ subject_id: null }, '/subject_id'],
    [{ purpose: 'x'.repeat(501) }, '/purpose'],
    [{ purpose: 'a\u0000' }, '/purpose'],
    [{ subject_id: undefined }, '/subject_id'],
    [{ subject_id: '' }, '/subject_id'],
    [{ subject_id: 'a\u0000' }, '/subject_id'],
    [{ subject_id: 'a\n' }, '/subject_id'],
    [{ subject_id: '\u0085' }, '/subject_id'],
    [{ subject_id: 7 }, '/subject_id'],
    [{ scopes: undefined }, '/scopes'],
    [{ scopes: null }, '/scopes'],
    [{ scopes: 'read_latest' }, '/scopes'],
    [{ scopes: { 0: 'read_latest', length: 1 } }, '/scopes'],
    [{ scopes: [] }, '/scopes'],
    [{ scopes: ['read_all'] }, '/scopes'],
    [{ scopes: ['read_latest', 'read_latest'] }, '/scopes'],
    [{ scopes: ['read_latest', 'READ_DIFF'] }, '/scopes'],
    [{ scopes: [null] }, '/scopes'],
    [{ expires_at: '2020-01-01T00:00:00Z' }, '/expires_at'],
    [{ expires_at: '2999-01-01' }, '/expires_at'],
    [{ expires_at: '2999-02-30T00:00:00Z' }, '/expires_at'],
    [{ expires_at: '2999-01-01T00:00:00' }, '/expires_at'],
    [{ expires_at: 32503680000 }, '/expires_at'],
    [{ expires_at: '' }, '/expires_at'],
    [{ status: 'active' }, '/status'],
    [{ grant_id: '5b1f3f4e-1c5e-4a0e-9d0c-2f6f3f0f7a10' }, '/grant_id'],
  ])('refuses %j and names %s', async (change, path) => {
    const answer = await world.create({ subject_type: 'organization', subject_id: 'a', ...change }).expect(400);
    expect(answer.body.error.code).toBe('validation_error');
    expect(places(answer)).toEqual([path]);
  });

  it('refuses a too long subject_id, too many scopes and an empty body', async () => {
    const subject = { subject_type: 'organization', subject_id: 'a' };
    expect(places(await world.create({ ...subject, subject_id: '😀'.repeat(513) }).expect(400))).toEqual([
      '/subject_id',
    ]);
    const scopes = Array.from({ length: 140_000 }, (_, index) => index);
    expect(places(await world.create({ ...subject, scopes }).expect(400))).toEqual(['/scopes']);
    expect(places(await world.create({}).expect(400))).toEqual(['/subject_type', '/subject_id']);
  });

  it('refuses missing subjects and subjects of other owners with the same message', async () => {
    const subject = await world.addSubject();
    const ofBeta = await world.addSubject(undefined, 'bob', 'beta');
    // A refused request leaves no grant, as the list below shows.
    for (const user of ['editor', 'bob'] as const) await world.create(subject, user).expect(403);
    await world.create({ ...subject, grantee_tenant_id: 'no-such-tenant' }, 'editor').expect(403);
    await world.create({ ...subject, grantee_tenant_id: 'gamma' }, 'zoe', 'beta').expect(403);
    const others = await world.create(ofBeta, 'admin').expect(403);
    const nothing = await world.create({ ...subject, subject_id: 'none' }, 'admin').expect(403);
    expect(others.body.error).toMatchObject({ code: 'forbidden', message: nothing.body.error.message });
    expect((await world.ofSubject(subject).expect(200)).body.items).toEqual([]);
    await world.create(subject, 'admin').expect(201);
  });

  it('returns 409 for a grantee that does not exist', async () => {
    const answer = await world
      .create({ ...(await world.addSubject()), grantee_tenant_id: 'no-such-tenant' })
      .expect(409);
    expect(answer.body.error).toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('does not exist'),
      details: [{ path: '/grantee_tenant_id' }],
    });
  });

  it('returns 409 for a live grant of the pair, but not for an ended one or another pair', async () => {
    const subject = await world.addSubject();
    const first = await world.grantOn(subject);
    const answer = await world.create({ ...subject, scopes: ['read_diff'] }).expect(409);
    expect(answer.body.error).toMatchObject({ code: 'conflict', message: expect.stringContaining('revoke it first') });
    await world.grantOn(subject, { grantee_tenant_id: 'gamma' });
    await world.revoke(first).expect(200);
    const second = await world.grantOn(subject);
    await world.create(subject).expect(409);
    await world.expire(second);
    await world.grantOn(subject, { expires_at: '2999-01-01T00:00:00Z' });
    await world.create(subject).expect(409);
  });

  it('succeeds once for fifty concurrent requests', async () => {
    const subject = await world.addSubject();
    const race = Array.from({ length: 50 }, async (_, index) =>
      world.create(subject, index % 2 === 0 ? 'alice' : 'admin'),
    );
    expect(await statuses(race)).toEqual({ 201: 1, 409: 49 });
    expect((await world.ofSubject(subject).expect(200)).body.items).toHaveLength(1);
  });
});

describe('revoking a grant', () => {
  it('ends all access of the grantee immediately', async () => {
    const subject = await world.addSubject();
    const grantId = await world.grantOn(subject);
    await world.readLatest(subject).expect(200);
    const { body } = await world.revoke(grantId, 'admin').expect(200);
    expect(body).toMatchObject({ grant_id: grantId, status: 'revoked', ...subject });
    expect(Date.parse(body.revoked_at)).toBeGreaterThanOrEqual(Date.parse(body.created_at));
    await world.readLatest(subject).expect(403);
    const left: Subject[] = (await world.accessible('?limit=200').expect(200)).body.items;
    expect(left.map(({ subject_id }) => subject_id)).not.toContain(subject.subject_id);
    expect((await world.ofSubject(subject).expect(200)).body.items).toEqual([{ ...body, name: 'Zürich Öl AG' }]);
  });

  it('returns 409 for a grant that is not active', async () => {
    const revoked = await world.grantOn(await world.addSubject());
    const expired = await world.grantOn(await world.addSubject());
    await world.revoke(revoked).expect(200);
    await world.expire(expired);
    for (const [grantId, status] of [
      [revoked, 'revoked'],
      [expired, 'expired'],
    ] as const) {
      const answer = await world.revoke(grantId).expect(409);
      expect(answer.body.error).toMatchObject({ code: 'conflict', message: expect.stringContaining(status) });
    }
    const { rows } = await world.superuser.query('SELECT revoked_at FROM grants WHERE grant_id = $1', [expired]);
    expect(rows).toEqual([{ revoked_at: null }]);
  });

  it('accepts only ids of grants of this tenant, in upper or lower case', async () => {
    const grantId = await world.grantOn(await world.addSubject());
    await world.gateway.as('alice', 'post', '/v1/tenants').send({ tenant_id: 'acme-two', name: 'Two' }).expect(201);
    for (const unknown of [
      await world.revoke(randomUUID()).expect(404),
      await world.revoke(grantId, 'alice', 'acme-two').expect(404),
    ]) {
      expect(unknown.body.error.code).toBe('not_found');
    }
    await world.revoke(grantId, 'bob', 'beta').expect(404);
    expect(places(await world.revoke('abc').expect(400))).toEqual(['/path/grant_id']);
    await world.revoke(grantId.toUpperCase()).expect(200);
  });

  it('is refused to callers that are not admins, also for unknown ids, and the grant stays', async () => {
    const grantId = await world.grantOn(await world.addSubject());
    for (const user of ['editor', 'bob'] as const) {
      for (const id of [grantId, randomUUID()]) await world.revoke(id, user).expect(403);
    }
    await world.revoke(grantId).expect(200);
  });

  it('succeeds once for twenty concurrent requests', async () => {
    const grantId = await world.grantOn(await world.addSubject());
    const race = Array.from({ length: 20 }, async () => world.revoke(grantId));
    expect(await statuses(race)).toEqual({ 200: 1, 409: 19 });
  });
});

describe('the grants that a tenant issued', () => {
  it('are listed newest first and completely while others are created and revoked', async () => {
    const made: string[] = [];
    for (let count = 0; count < 5; count += 1) made.unshift(await world.grantOn(await world.addSubject()));
    const later: string[] = [];
    const shown = await walk(
      (query) => world.list(query),
      2,
      async (ids) => {
        later.push(await world.grantOn(await world.addSubject()));
        if (later.length === 1) await world.revoke(ids.at(-1) ?? '').expect(200);
      },
    );
    expect(shown.flat().slice(0, 5)).toEqual(made);
    expect(new Set(shown.flat()).size).toBe(shown.flat().length);
    expect(shown.flat().filter((id) => later.includes(id))).toEqual([]);
  });

  it('are each listed once if they were created in the same microsecond', async () => {
    const ids: string[] = [];
    for (let count = 0; count < 5; count += 1) {
      const subject = await world.addSubject(undefined, 'o1', 'gamma');
      ids.push((await world.create(subject, 'o1', 'gamma').expect(201)).body.grant_id);
    }
    await world.superuser.query(
      `SET session_replication_role = replica;
       UPDATE grants SET created_at = '2026-01-01T00:00:00.000001Z' WHERE grantor_tenant_id = 'gamma';
       RESET session_replication_role`,
    );
    const pages = await walk(
      (query) => world.list(query, 'o1', 'gamma'),
      1,
      async () => undefined,
    );
    expect(pages.flat()).toEqual(ids.sort().reverse());
    expect(pages).toHaveLength(5);
  });

  it('are listed in pages of 50, or at most 100', async () => {
    expect((await world.list().expect(200)).body.page.limit).toBe(50);
    expect((await world.list('?limit=100').expect(200)).body.page.limit).toBe(100);
    for (const limit of [...BAD_LIMITS, '101']) {
      expect(places(await world.list(`?limit=${limit}`).expect(400))).toEqual(['/query/limit']);
    }
    expect(places(await world.list('?cursor=abc').expect(400))).toEqual(['/query/cursor']);
    const { next_cursor: cursor } = (await world.list('?limit=1').expect(200)).body;
    expect(places(await world.list(`?cursor=${cursor}`, 'bob', 'beta').expect(400))).toEqual(['/query/cursor']);
    expect(places(await world.accessible(`?cursor=${cursor}`).expect(400))).toEqual(['/query/cursor']);
  });

  it('do not include those that it received', async () => {
    await world.list('', 'stranger', 'no-such-tenant').expect(403);
    expect((await world.list('', 'proposer', 'beta').expect(200)).body.items).toEqual([]);
  });
});

describe('the grants on a subject', () => {
  it('include active, revoked and expired ones, newest first', async () => {
    const subject = await world.addSubject();
    const revoked = await world.grantOn(subject);
    await world.revoke(revoked).expect(200);
    await world.superuser.query('SET session_replication_role = replica');
    await world.expire(revoked);
    await world.superuser.query('RESET session_replication_role');
    const expired = await world.grantOn(subject);
    await world.expire(expired);
    const active = await world.grantOn(subject);
    const elsewhere = await world.grantOn(subject, { grantee_tenant_id: 'gamma' });
    await world.grantOn(await world.addSubject());
    const { body } = await world.ofSubject(subject).expect(200);
    const found = body.items.map((item: { grant_id: string; status: string }) => [item.grant_id, item.status]);
    expect(found).toEqual([
      [elsewhere, 'active'],
      [active, 'active'],
      [expired, 'expired'],
      [revoked, 'revoked'],
    ]);
    const pages = await walk(
      (query) => world.ofSubject(subject, 'admin', 'acme', query),
      3,
      async () => undefined,
    );
    expect(pages).toEqual([[elsewhere, active, expired], [revoked]]);
    expect(places(await world.ofSubject(subject, 'admin', 'acme', '?limit=1001').expect(400))).toEqual([
      '/query/limit',
    ]);
  });

  it('are refused with the same message for missing subjects and those of other owners', async () => {
    const subject = await world.addSubject();
    await world.grantOn(subject);
    const others = await world.ofSubject(subject, 'bob', 'beta').expect(403);
    const nothing = await world.ofSubject({ ...subject, subject_id: 'none' }, 'bob', 'beta').expect(403);
    expect(others.body.error.message).toBe(nothing.body.error.message);
    expect(places(await world.ofSubject({ ...subject, subject_id: '\u0001' }).expect(400))).toEqual([
      '/path/subject_id',
    ]);
  });
});

describe('filters of the grants of a tenant', () => {
  const idsOf = async (query: string, user: User = 'reader', tenant = 'acme'): Promise<string[]> =>
    (await world.list(`?limit=100&${query}`, user, tenant).expect(200)).body.items.map(
      (grant: { grant_id: string }) => grant.grant_id,
    );
  const [subject, other] = ['filtered', 'filtered-too'].map((id) => ({ subject_type: 'organization', subject_id: id }));
  const made: Record<'expired' | 'revoked' | 'active' | 'toGamma' | 'onOther' | 'onAll' | 'ofGamma', string> = {
    expired: '',
    revoked: '',
    active: '',
    toGamma: '',
    onOther: '',
    onAll: '',
    ofGamma: '',
  };

  beforeAll(async () => {
    if (subject === undefined || other === undefined) throw new Error('there are two');
    await world.superuser.query('UPDATE grants SET revoked_at = now() WHERE revoked_at IS NULL AND subject_key = 0');
    for (const { subject_id } of [subject, other]) await world.addSubject(subject_id);
    made.expired = await world.grantOn(subject);
    await world.expire(made.expired);
    made.revoked = await world.grantOn(subject);
    await world.revoke(made.revoked).expect(200);
    made.active = await world.grantOn(subject);
    made.toGamma = await world.grantOn(subject, { grantee_tenant_id: 'gamma' });
    made.onOther = await world.grantOn(other);
    made.onAll = await world.grantOnAll();
    const ofGamma = await world.addSubject(undefined, 'o1', 'gamma');
    made.ofGamma = (await world.create(ofGamma, 'o1', 'gamma').expect(201)).body.grant_id;
  });

  it('select by subject, status and the other tenant, alone and together', async () => {
    const on = 'subject_type=organization&subject_id=filtered';
    const { expired, revoked, active, toGamma, onAll, ofGamma } = made;
    expect(await idsOf(on)).toEqual([toGamma, active, revoked, expired]);
    expect(await idsOf(`${on}&grantee_tenant_id=beta`)).toEqual([active, revoked, expired]);
    expect(await idsOf(`${on}&status=expired`)).toEqual([expired]);
    expect(await idsOf(`${on}&status=revoked`)).toEqual([revoked]);
    expect(await idsOf('grantee_tenant_id=gamma&status=active')).toContain(toGamma);
    expect(await idsOf('grantee_tenant_id=gamma&status=active')).not.toContain(active);
    expect(await idsOf('status=active&grantee_tenant_id=nobody')).toEqual([]);
    expect(await idsOf('subject_type=*&status=active')).toEqual([onAll]);
    expect(await idsOf('subject_type=entity&subject_id=none')).toEqual([]);
    expect(await idsOf('grantor_tenant_id=gamma')).toEqual([]);
    const toBeta = async (query: string) => idsOf(`direction=received&${query}`, 'bob', 'beta');
    expect(await toBeta(on)).toEqual([active, revoked, expired]);
    expect(await toBeta('grantor_tenant_id=gamma&status=active')).toContain(ofGamma);
    expect(await toBeta('grantor_tenant_id=gamma')).not.toContain(active);
    expect(await toBeta('subject_type=*&status=active')).toEqual([onAll]);
    expect(await idsOf(`direction=received&${on}`)).toEqual([]);
  });

  it('bind the cursor, and pages of a filtered list are complete', async () => {
    const on = 'subject_type=organization&subject_id=filtered&grantee_tenant_id=beta';
    const pages = await walk((query) => world.list(`${query}&${on}`), 1);
    expect(pages).toEqual([[made.active], [made.revoked], [made.expired]]);
    const { next_cursor: cursor } = (await world.list(`?limit=1&${on}`).expect(200)).body;
    expect(places(await world.list(`?cursor=${cursor}&${on}&status=active`).expect(400))).toEqual(['/query/cursor']);
  });

  it.each([
    ['subject_id=a', '/query/subject_type'],
    ['subject_type=organization', '/query/subject_id'],
    ['subject_type=*&subject_id=a', '/query/subject_id'],
    ['grantee_tenant_id=-', '/query/grantee_tenant_id'],
    ['status=live', '/query/status'],
  ])('refuse %s', async (query, place) => {
    expect(places(await world.list(`?${query}`).expect(400))).toEqual([place]);
  });

  it('can be omitted for one grant, which only its grantor and grantee can read', async () => {
    const one = (grantId: string, user: User, tenant: string) =>
      world.gateway.as(user, 'get', `/v1/tenants/${tenant}/grants/${grantId}`);
    const { body } = await one(made.expired, 'reader', 'acme').expect(200);
    expect(body).toMatchObject({ grant_id: made.expired, status: 'expired', subject_id: 'filtered' });
    expect((await one(made.expired, 'proposer', 'beta').expect(200)).body).toEqual(body);
    expect((await one(made.onAll, 'reader', 'acme').expect(200)).body).toMatchObject({ subject_type: '*' });
    await one(made.expired, 'o1', 'gamma').expect(404);
    await one(made.expired, 'o1', 'acme').expect(403);
    await one(randomUUID(), 'reader', 'acme').expect(404);
  });
});
