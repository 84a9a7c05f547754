import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import type { Test } from 'supertest';
import { envelope, startGateway, type TestGateway, type User } from './gateway';

let gateway: TestGateway;
let superuser: Client;

/**
 * alice, editor and reader are members of acme, the owner. bob and o1 are members of beta, the counterparty, and zoe of
 * gamma.
 */
beforeAll(async () => {
  gateway = await startGateway();
  superuser = new Client({ connectionString: gateway.databaseUrl });
  await superuser.connect();
  for (const [user, tenant] of [
    ['alice', 'acme'],
    ['bob', 'beta'],
    ['zoe', 'gamma'],
  ] as const) {
    await gateway.as(user, 'post', '/v1/tenants').send({ tenant_id: tenant, name: tenant }).expect(201);
  }
  await join('alice', 'acme', 'editor', 'tenant_editor');
  await join('alice', 'acme', 'reader', 'tenant_reader');
  await join('bob', 'beta', 'o1', 'tenant_reader');
});

afterAll(async () => {
  await superuser?.end();
  await gateway?.close();
});

const join = (by: User, tenant: string, user: User, role: string): Test =>
  gateway
    .as(by, 'put', `/v1/tenants/${tenant}/members/${encodeURIComponent(`oidc:test#${user}`)}`)
    .send({ role })
    .expect(200);

interface Subject {
  subject_type: string;
  subject_id: string;
  /** The first snapshot. */
  snapshotId: string;
  path: string;
}

async function makeSubject(): Promise<Subject> {
  const sent = envelope();
  const answer = await gateway.as('editor', 'post', '/v1/tenants/acme/entity-states').send(sent).expect(201);
  const { subject_type, subject_id } = answer.body.subject;
  return {
    subject_type,
    subject_id,
    snapshotId: answer.body.snapshot_id,
    path: `/v1/subjects/${subject_type}/${subject_id}/refresh-requests`,
  };
}

async function grant({ subject_type, subject_id }: Subject, grantee = 'beta'): Promise<string> {
  const body = { grantee_tenant_id: grantee, subject_type, subject_id, scopes: ['read_diff'] };
  return (await gateway.as('alice', 'post', '/v1/tenants/acme/grants').send(body).expect(201)).body.grant_id;
}

const revoke = (grantId: string): Test =>
  gateway.as('alice', 'post', `/v1/tenants/acme/grants/${grantId}/revoke`).expect(200);

const ask = (user: User | null, subject: Pick<Subject, 'path'>, tenant: string, change: object = {}): Test =>
  gateway.as(user, 'post', subject.path).send({ requesting_tenant_id: tenant, ...change });

const fulfil = (user: User | null, subject: Pick<Subject, 'path'>, id: string, body: object): Test =>
  gateway.as(user, 'post', `${subject.path}/${id}/fulfill`).send(body);

/** Creates a pending request of the requesting tenant, to which beta has a grant. */
async function makeRequest(
  user: User = 'bob',
  tenant = 'beta',
): Promise<{ subject: Subject; id: string; grantId: string }> {
  const subject = await makeSubject();
  const grantId = await grant(subject);
  const answer = await ask(user, subject, tenant).expect(201);
  return { subject, id: answer.body.refresh_request.refresh_request_id, grantId };
}

interface Event {
  tenant_id: string;
  event_type: string;
  body: string;
  request_id: string;
}

/** Returns the events about one refresh request, oldest first. */
async function eventsOf(id: string): Promise<Event[]> {
  const { rows } = await superuser.query<Event>(
    `SELECT tenant_id, event_type, body, request_id FROM outbox_events
      WHERE event_type LIKE 'refresh_request.%' AND strpos(body, $1) > 0 ORDER BY created_at`,
    [id],
  );
  return rows;
}

const subscribe = async (user: User, tenant: string, eventTypes: string[]): Promise<string> => {
  const body = { tenant_id: tenant, target_url: 'https://hooks.example.com/iss', event_types: eventTypes };
  const answer = await gateway.as(user, 'post', '/v1/webhook-subscriptions').send(body).expect(201);
  return answer.body.webhook_subscription.subscription_id;
};

/** Events for a subscription of another test do not matter here. */
const unsubscribeAll = () => superuser.query('UPDATE webhook_subscriptions SET deleted_at = now()');

describe('a new refresh request', () => {
  it('is pending, with both names of every field', async () => {
    const subject = await makeSubject();
    await grant(subject);
    const sent = {
      requesting_tenant_id: 'beta',
      reason_code: 'stale_data',
      message: 'Zürich?\n\tPlease confirm.',
      requested_paths: ['/attributes/legal', '/a~1b/~0', '/attributes/legal', '/'],
      expires_at: '2999-01-01T00:00:00+02:00',
    };
    const answer = await gateway.as('o1', 'post', subject.path).send(sent).expect(201);
    const { refresh_request: made } = answer.body;
    const { subject_type, subject_id } = subject;
    expect(made).toEqual({
      due_at: null,
      overdue_at: null,
      every: null,
      series_id: null,
      previous_request_id: null,
      next_request_id: null,
      next_at: null,
      series_end_reason: null,
      closed_at: null,
      decline_reason: null,
      refresh_request_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      request_id: made.refresh_request_id,
      subject: { subject_type, subject_id },
      subject_type,
      subject_id,
      requesting_tenant_id: 'beta',
      origin_type: 'counterparty',
      status: 'pending',
      reason_code: 'stale_data',
      message: sent.message,
      requested_paths: ['/attributes/legal', '/a~1b/~0', '/'],
      created_at: expect.stringMatching(/Z$/),
      expires_at: '2998-12-31T22:00:00.000Z',
      resolved_at: null,
      fulfilled_at: null,
      resolved_snapshot_id: null,
      fulfilled_snapshot_id: null,
      resolved_snapshot_version: null,
    });
    const read = await gateway.as('bob', 'get', `${subject.path}/${made.refresh_request_id}`).expect(200);
    expect(read.body).toEqual(answer.body);
  });

  it('can be made by the owner with only the tenant, or with null in optional fields', async () => {
    const subject = await makeSubject();
    const made = await ask('reader', subject, 'acme').expect(201);
    expect(made.body.refresh_request).toMatchObject({
      origin_type: 'owner',
      reason_code: null,
      message: null,
      requested_paths: [],
      expires_at: null,
    });
    const nulls = { reason_code: null, message: null, requested_paths: null, expires_at: null };
    await ask('reader', subject, 'acme', nulls).expect(201);
  });

  it('is refused with the place and code of each fault', async () => {
    const subject = await makeSubject();
    for (const [change, path, code] of [
      [{ requesting_tenant_id: undefined }, '/requesting_tenant_id', 'required'],
      [{ origin_type: 'owner' }, '/origin_type', 'invalid_value'],
      [{ origin_type: null }, '/origin_type', 'invalid_value'],
      [{ status: 'fulfilled' }, '/status', 'unknown_field'],
      [{ requested_paths: ['/a', 'b'] }, '/requested_paths/1', 'invalid_pointer'],
      [{ requested_paths: [''] }, '/requested_paths/0', 'invalid_pointer'],
      [{ requested_paths: ['/a\n'] }, '/requested_paths/0', 'invalid_pointer'],
      [{ requested_paths: [`/${'x'.repeat(1024)}`] }, '/requested_paths/0', 'invalid_pointer'],
      [{ requested_paths: Array.from({ length: 101 }, (_, n) => `/${n}`) }, '/requested_paths', 'too_many'],
      [{ expires_at: '2020-01-01T00:00:00Z' }, '/expires_at', 'invalid_value'],
      [{ every: 'P0D' }, '/every', 'invalid_value'],
      [{ every: 'P5Y1D' }, '/every', 'invalid_value'],
      [{ every: 'PT24H' }, '/every', 'invalid_value'],
      [{ every: 'P' }, '/every', 'invalid_value'],
      [{ every: 'P1D1M' }, '/every', 'invalid_value'],
      [{ every: 'P1.5Y' }, '/every', 'invalid_value'],
    ] as const) {
      const answer = await ask('alice', subject, 'acme', change).expect(400);
      expect(answer.body.error.code).toBe('validation_error');
      expect([change, answer.body.error.details[0]]).toMatchObject([change, { path, code }]);
    }
    const most = Array.from({ length: 100 }, (_, n) => `/${n}`);
    const all = { message: '𝄞'.repeat(2000), requested_paths: [...most.slice(1), `/${'x'.repeat(1023)}`] };
    await ask('alice', subject, 'acme', all).expect(201);
    const sets = await ask('alice', subject, 'acme', { origin_type: 'owner' }).expect(400);
    expect(sets.body.error.details[0].message).toMatch(/set by the server/);
    const elsewhere = await ask('alice', { path: '/v1/subjects/planet/mars/refresh-requests' }, 'acme').expect(400);
    expect(elsewhere.body.error.details[0].path).toBe('/path/subject_type');
  });

  it('requires membership of a tenant that owns the subject or has a live grant', async () => {
    const subject = await makeSubject();
    const none = { path: `/v1/subjects/organization/none-${randomUUID()}/refresh-requests` };
    const refusal = async (user: User, at: Pick<Subject, 'path'>, tenant: string): Promise<string> => {
      const { body } = await ask(user, at, tenant).expect(403);
      expect(body.error.code).toBe('forbidden');
      return body.error.message;
    };
    expect(await refusal('bob', subject, 'beta')).toBe(await refusal('bob', none, 'beta'));
    expect(await refusal('bob', subject, 'acme')).toBe(await refusal('bob', none, 'acme'));
    expect(await refusal('alice', none, 'acme')).toMatch(/^Owner or grant required/);

    const grantId = await grant(subject);
    await ask('bob', subject, 'beta').expect(201);
    await refusal('alice', subject, 'beta');
    await refusal('zoe', subject, 'gamma');
    await revoke(grantId);
    await refusal('bob', subject, 'beta');

    const expiring = await grant(subject);
    await ask('bob', subject, 'beta').expect(201);
    await superuser.query('UPDATE grants SET expires_at = now() WHERE grant_id = $1', [expiring]);
    await refusal('bob', subject, 'beta');
  });
});

describe('one refresh request', () => {
  it('is not found under another subject or by another id', async () => {
    const { subject, id } = await makeRequest();
    const other = await makeSubject();
    for (const path of [
      `${other.path}/${id}`,
      `${subject.path.replace('organization', 'entity')}/${id}`,
      `${subject.path}/${randomUUID()}`,
    ]) {
      const answer = await gateway.as('alice', 'get', path).expect(404);
      expect(answer.body.error.code).toBe('not_found');
    }
    const malformed = await gateway.as('alice', 'get', `${subject.path}/7`).expect(400);
    expect(malformed.body.error.details[0].path).toBe('/path/refresh_request_id');
    await gateway.as('alice', 'get', `${subject.path}/${id.toUpperCase()}`).expect(200);
  });
});

describe('the list of refresh requests', () => {
  it('returns all or one tenant’s requests to the owner, and to others their own', async () => {
    const subject = await makeSubject();
    const grantId = await grant(subject);
    await grant(subject, 'gamma');
    const ids: string[] = [];
    for (const [user, tenant] of [
      ['bob', 'beta'],
      ['reader', 'acme'],
      ['zoe', 'gamma'],
      ['o1', 'beta'],
    ] as const) {
      ids.unshift((await ask(user, subject, tenant).expect(201)).body.refresh_request.refresh_request_id);
    }
    const list = async (user: User, query: string): Promise<unknown[]> => {
      const { body } = await gateway.as(user, 'get', `${subject.path}${query}`).expect(200);
      expect(body).toMatchObject({ next_cursor: null, has_more: false, page: { limit: 50, next_cursor: null } });
      return body.items.map((item: { refresh_request_id: string }) => item.refresh_request_id);
    };
    const mine = '?requesting_tenant_id=beta';
    expect(await list('reader', '')).toEqual(ids);
    expect(await list('alice', mine)).toEqual([ids[0], ids[3]]);
    expect(await list('alice', '?requesting_tenant_id=nobody')).toEqual([]);
    expect(await list('bob', mine)).toEqual([ids[0], ids[3]]);
    expect(await list('zoe', '?requesting_tenant_id=gamma')).toEqual([ids[1]]);

    const refusal = async (user: User, path: string): Promise<string> =>
      (await gateway.as(user, 'get', path).expect(403)).body.error.message;
    const none = `/v1/subjects/organization/none-${randomUUID()}/refresh-requests`;
    expect(await refusal('bob', subject.path)).toMatch(/requesting_tenant_id/);
    expect(await refusal('bob', subject.path)).toBe(await refusal('bob', none));
    expect(await refusal('alice', none)).toBe(await refusal('bob', none));
    expect(await refusal('bob', `${subject.path}?requesting_tenant_id=gamma`)).toMatch(/^Owner or grant required/);
    await refusal('bob', `${subject.path}?requesting_tenant_id=acme`);
    await revoke(grantId);
    expect(await refusal('bob', subject.path + mine)).toBe(await refusal('bob', none + mine));
  });

  it('returns each request once on its pages while requests are added', async () => {
    const subject = await makeSubject();
    await grant(subject);
    const made: string[] = [];
    for (let n = 0; n < 7; n += 1) {
      const tenant = n % 2 === 0 ? 'beta' : 'acme';
      const answer = await ask(n % 2 === 0 ? 'bob' : 'alice', subject, tenant).expect(201);
      made.unshift(answer.body.refresh_request.refresh_request_id);
    }
    // They have the same time, so only the id orders them.
    await superuser.query(
      `UPDATE refresh_requests SET created_at = '2026-01-01T00:00:00.123456Z' WHERE refresh_request_id = ANY ($1)`,
      [made.slice(2, 5)],
    );
    const walk = async (query: string): Promise<string[]> => {
      const seen: string[] = [];
      let cursor: string | null = null;
      do {
        const next: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
        const { body, headers } = await gateway
          .as('alice', 'get', `${subject.path}?limit=2${query}${next}`)
          .expect(200);
        seen.push(...body.items.map((item: { refresh_request_id: string }) => item.refresh_request_id));
        cursor = body.page.next_cursor;
        expect(body.next_cursor).toBe(cursor);
        expect(body.has_more).toBe(cursor !== null);
        expect(headers['link'] === undefined).toBe(cursor === null);
        await ask('bob', subject, 'beta').expect(201);
      } while (cursor !== null);
      return seen;
    };
    const all = await walk('');
    expect(all.toSorted()).toEqual(made.toSorted());
    expect(all.slice(0, 2)).toEqual(made.slice(0, 2));
    const own = await walk('&requesting_tenant_id=acme');
    expect(own.toSorted()).toEqual([made[1], made[3], made[5]].toSorted());
  });

  it('refuses limits out of range, and edited or foreign cursors', async () => {
    const subject = await makeSubject();
    const other = await makeSubject();
    for (let n = 0; n < 3; n += 1) await ask('alice', subject, 'acme').expect(201);
    const { body } = await gateway.as('alice', 'get', `${subject.path}?limit=1`).expect(200);
    const cursor = encodeURIComponent(body.next_cursor);
    await gateway.as('alice', 'get', `${subject.path}?limit=200&cursor=${cursor}`).expect(200);
    for (const [path, place] of [
      [`${subject.path}?limit=0`, '/query/limit'],
      [`${subject.path}?limit=-1`, '/query/limit'],
      [`${subject.path}?limit=201`, '/query/limit'],
      [`${subject.path}?limit=abc`, '/query/limit'],
      [`${subject.path}?limit=1&limit=2`, '/query/limit'],
      [`${subject.path}?cursor=${cursor.slice(0, -2)}`, '/query/cursor'],
      [`${subject.path}?cursor=${cursor}&requesting_tenant_id=acme`, '/query/cursor'],
      [`${other.path}?cursor=${cursor}`, '/query/cursor'],
      [`${subject.path}?requesting_tenant_id=-`, '/query/requesting_tenant_id'],
      [`${subject.path}?origin_type=owner`, '/query/origin_type'],
    ]) {
      const answer = await gateway.as('alice', 'get', path ?? '').expect(400);
      expect([path, answer.body.error.details[0].path]).toEqual([path, place]);
    }
  });
});

describe('the fulfilment of a refresh request', () => {
  it.each(['resolved_snapshot_id', 'snapshot_id'])('links the snapshot that is named by %s', async (name) => {
    const { subject, id } = await makeRequest();
    const answer = await fulfil('reader', subject, id, { [name]: subject.snapshotId.toUpperCase() }).expect(200);
    const { refresh_request: done } = answer.body;
    expect(done).toMatchObject({
      refresh_request_id: id,
      status: 'fulfilled',
      resolved_at: expect.stringMatching(/Z$/),
      fulfilled_at: done.resolved_at,
      resolved_snapshot_id: subject.snapshotId,
      fulfilled_snapshot_id: subject.snapshotId,
      resolved_snapshot_version: 1,
    });
    const read = await gateway.as('alice', 'get', `${subject.path}/${id}`).expect(200);
    expect(read.body).toEqual(answer.body);
  });

  it('accepts a later snapshot, and both names if they agree', async () => {
    const { subject, id } = await makeRequest('reader', 'acme');
    const { subject_type, subject_id } = subject;
    const next = envelope({ subject: { subject_type, subject_id }, snapshot_version: 2 });
    await gateway.as('editor', 'post', '/v1/tenants/acme/entity-states').send(next).expect(201);
    const body = { resolved_snapshot_id: next['snapshot_id'], snapshot_id: next['snapshot_id'] };
    const answer = await fulfil('reader', subject, id, body).expect(200);
    expect(answer.body.refresh_request).toMatchObject({ origin_type: 'owner', resolved_snapshot_version: 2 });
  });

  it('is refused with the place and code of each fault', async () => {
    const { subject, id } = await makeRequest();
    for (const [body, path, code] of [
      [{}, '/resolved_snapshot_id', 'required'],
      [{ resolved_snapshot_id: null }, '/resolved_snapshot_id', 'required'],
      [{ resolved_snapshot_id: '7' }, '/resolved_snapshot_id', 'invalid_value'],
      [{ snapshot_id: 7 }, '/snapshot_id', 'invalid_value'],
      [{ resolved_snapshot_id: subject.snapshotId, snapshot_id: randomUUID() }, '/snapshot_id', 'mismatch'],
      [{ resolved_snapshot_id: subject.snapshotId, status: 'fulfilled' }, '/status', 'unknown_field'],
    ] as const) {
      const answer = await fulfil('alice', subject, id, body).expect(400);
      expect([body, answer.body.error.details[0]]).toMatchObject([body, { path, code }]);
    }
    const malformed = await fulfil('alice', subject, '7', { snapshot_id: subject.snapshotId }).expect(400);
    expect(malformed.body.error.details[0].path).toBe('/path/refresh_request_id');
  });

  it('requires a request and a snapshot of the same subject', async () => {
    const { subject, id } = await makeRequest();
    const other = await makeSubject();
    const body = { snapshot_id: subject.snapshotId };
    const refused = await fulfil('bob', subject, id, { snapshot_id: randomUUID() }).expect(403);
    expect(refused.body.error.message).toMatch(/^Owner required/);
    await fulfil('alice', subject, randomUUID(), body).expect(404);
    await fulfil('alice', other, id, { snapshot_id: other.snapshotId }).expect(404);
    const foreign = await fulfil('alice', subject, id, { snapshot_id: other.snapshotId }).expect(409);
    const unknown = await fulfil('alice', subject, id, { snapshot_id: randomUUID() }).expect(404);
    expect(foreign.body.error).toMatchObject({ code: 'conflict', details: [{ path: '/resolved_snapshot_id' }] });
    expect(unknown.body.error).toMatchObject({ code: 'not_found', details: [{ path: '/resolved_snapshot_id' }] });
    const read = await gateway.as('alice', 'get', `${subject.path}/${id}`).expect(200);
    expect(read.body.refresh_request).toMatchObject({ status: 'pending', resolved_at: null });
  });

  it('succeeds once when callers race with different snapshots', async () => {
    const { subject, id } = await makeRequest();
    const { subject_type, subject_id, snapshotId } = subject;
    const next = envelope({ subject: { subject_type, subject_id }, snapshot_version: 2 });
    await gateway.as('editor', 'post', '/v1/tenants/acme/entity-states').send(next).expect(201);
    await subscribe('bob', 'beta', ['refresh_request.fulfilled']);
    const answers = await Promise.all(
      Array.from({ length: 20 }, async (_, n) =>
        fulfil(n % 2 === 0 ? 'alice' : 'reader', subject, id, {
          snapshot_id: n % 3 === 0 ? next['snapshot_id'] : snapshotId,
        }),
      ),
    );
    const won = answers.filter((answer) => answer.status === 200);
    expect(won).toHaveLength(1);
    expect(answers.filter((answer) => answer.status === 409)).toHaveLength(19);
    const read = await gateway.as('alice', 'get', `${subject.path}/${id}`).expect(200);
    expect(read.body).toEqual(won[0]?.body);
    expect(await eventsOf(id)).toHaveLength(1);
    await fulfil('alice', subject, id, { snapshot_id: read.body.refresh_request.resolved_snapshot_id }).expect(409);
    await unsubscribeAll();
  });
});

describe('refresh request events', () => {
  afterEach(unsubscribeAll);

  it('notify the owner of a request and the requester of its accepted answer, without the message', async () => {
    await subscribe('alice', 'acme', ['refresh_request.created']);
    await subscribe('bob', 'beta', ['refresh_request.fulfilled']);
    const subject = await makeSubject();
    await grant(subject);
    const made = await ask('bob', subject, 'beta', {
      message: 'confidential',
      reason_code: 'stale',
      requested_paths: ['/a'],
    })
      .set('X-Request-Id', 'create-1')
      .expect(201);
    const id: string = made.body.refresh_request.refresh_request_id;
    await fulfil('alice', subject, id, { snapshot_id: randomUUID() }).expect(404);
    const done = await fulfil('alice', subject, id, { snapshot_id: subject.snapshotId })
      .set('X-Request-Id', 'fulfil-1')
      .expect(200);

    const events = await eventsOf(id);
    const common = { id: expect.stringMatching(/^evt_[0-9a-f-]{36}$/), created_at: expect.stringMatching(/Z$/) };
    const told = (
      tenant_id: string,
      type: string,
      { message, decline_reason, suggested_fulfilment: _, ...data }: Record<string, unknown>,
    ): unknown => {
      expect([message, decline_reason]).toEqual(['confidential', null]);
      return { ...common, tenant_id, type, data };
    };
    expect(events.map((event) => JSON.parse(event.body))).toEqual([
      told('acme', 'refresh_request.created', made.body.refresh_request),
      told('beta', 'refresh_request.fulfilled', done.body.refresh_request),
    ]);
    expect(events).toMatchObject([
      { tenant_id: 'acme', event_type: 'refresh_request.created', request_id: 'create-1' },
      { tenant_id: 'beta', event_type: 'refresh_request.fulfilled', request_id: 'fulfil-1' },
    ]);
    expect(events.map(({ body }) => body).join()).not.toContain('confidential');
  });

  it('notify an owner that asks itself only of the answer', async () => {
    const types = ['created', 'fulfilled', 'declined', 'cancelled'].map((type) => `refresh_request.${type}`);
    await subscribe('alice', 'acme', types);
    for (const how of ['decline', 'cancel']) {
      const { subject, id } = await makeRequest('reader', 'acme');
      const end = gateway.as('alice', 'post', `${subject.path}/${id}/${how}`);
      await (how === 'decline' ? end.send({ reason: '' }) : end).expect(200);
      expect(await eventsOf(id)).toEqual([]);
    }
    const { subject, id } = await makeRequest('reader', 'acme');
    await fulfil('alice', subject, id, { snapshot_id: subject.snapshotId }).expect(200);
    const [event, ...others] = await eventsOf(id);
    expect(event).toMatchObject({ tenant_id: 'acme', event_type: 'refresh_request.fulfilled' });
    expect(others).toEqual([]);
  });

  it('are not stored for a tenant that does not subscribe to them', async () => {
    await subscribe('alice', 'acme', ['refresh_request.fulfilled']);
    await subscribe('bob', 'beta', ['refresh_request.created']);
    await subscribe('zoe', 'gamma', ['refresh_request.created', 'refresh_request.fulfilled']);
    const { subject, id } = await makeRequest();
    await fulfil('alice', subject, id, { snapshot_id: subject.snapshotId }).expect(200);
    expect(await eventsOf(id)).toEqual([]);
  });
});

describe('a declined or cancelled refresh request', () => {
  afterEach(unsubscribeAll);

  const end = (user: User, subject: Pick<Subject, 'path'>, id: string, how: 'decline' | 'cancel'): Test => {
    const request = gateway.as(user, 'post', `${subject.path}/${id}/${how}`);
    return how === 'decline' ? request.send({ reason: 'confidential' }) : request;
  };

  it.each([
    ['decline', 'declined', 'alice', 'beta', 'confidential'],
    ['cancel', 'cancelled', 'bob', 'acme', null],
  ] as const)(
    '%s: is %s once, and the other party is notified without the reason',
    async (how, status, user, told, reason) => {
      await subscribe('alice', 'acme', [`refresh_request.${status}`]);
      await subscribe('bob', 'beta', [`refresh_request.${status}`]);
      const { subject, id } = await makeRequest();
      const { body } = await end(user, subject, id, how).expect(200);
      expect(body.refresh_request).toMatchObject({
        status,
        closed_at: expect.stringMatching(/Z$/),
        decline_reason: reason,
        resolved_at: null,
        series_end_reason: null,
      });
      const { body: read } = await gateway.as('alice', 'get', `${subject.path}/${id}`).expect(200);
      expect(read.refresh_request).toEqual({ ...body.refresh_request, suggested_fulfilment: null });
      for (const again of ['decline', 'cancel'] as const) {
        const refused = await end(again === 'decline' ? 'alice' : 'bob', subject, id, again).expect(409);
        expect(refused.body.error.message).toMatch(status);
      }
      await fulfil('alice', subject, id, { snapshot_id: subject.snapshotId }).expect(409);
      const events = await eventsOf(id);
      expect(events).toMatchObject([{ tenant_id: told, event_type: `refresh_request.${status}` }]);
      expect(JSON.parse(events[0]?.body ?? '').data).toMatchObject({ refresh_request_id: id, status });
      expect(events[0]?.body).not.toContain('confidential');
    },
  );

  it('is declined only by the owner, and cancelled only by the requester, even without a grant', async () => {
    const { subject, id, grantId } = await makeRequest();
    await end('bob', subject, id, 'decline').expect(403);
    await end('alice', subject, id, 'cancel').expect(403);
    await end('zoe', subject, id, 'cancel').expect(403);
    await end('bob', subject, randomUUID(), 'cancel').expect(404);
    await end('alice', await makeSubject(), id, 'decline').expect(404);
    await gateway
      .as('alice', 'post', `${subject.path}/${id}/decline`)
      .send({ reason: 'x'.repeat(501) })
      .expect(400);
    await revoke(grantId);
    await end('o1', subject, id, 'cancel').expect(200);
  });

  it('is ended once when both parties race', async () => {
    const { subject, id } = await makeRequest();
    const ends = Array.from({ length: 10 }, (_, index) =>
      index % 2 === 0 ? end('alice', subject, id, 'decline') : end('bob', subject, id, 'cancel'),
    );
    const statuses = (await Promise.all(ends)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(statuses.filter((status) => status === 409)).toHaveLength(9);
  });
});

describe('a deadline that has passed', () => {
  const inbox = async (query: string): Promise<unknown[]> => {
    const { body } = await gateway
      .as('alice', 'get', `/v1/tenants/acme/refresh-requests?limit=200&${query}`)
      .expect(200);
    return body.items.map((item: { refresh_request_id: string }) => item.refresh_request_id);
  };

  // The worker stores it some seconds later, and no caller can notice whether it has done so.
  it.each([
    ['before', 'SELECT $1::uuid'],
    [
      'after',
      `UPDATE refresh_requests SET status = 'expired', closed_at = expires_at, overdue_told_at = now() WHERE refresh_request_id = $1`,
    ],
  ])('expires the request %s the worker stores the expiry', async (_, worker) => {
    const { subject, id } = await makeRequest();
    await superuser.query(
      `UPDATE refresh_requests SET due_at = created_at, expires_at = created_at + interval '1 microsecond'
        WHERE refresh_request_id = $1`,
      [id],
    );
    await superuser.query(worker, [id]);
    const { body } = await gateway.as('bob', 'get', `${subject.path}/${id}`).expect(200);
    const { expires_at, due_at, overdue_at, closed_at, status } = body.refresh_request;
    expect([status, closed_at, overdue_at]).toEqual(['expired', expires_at, due_at]);
    expect(await inbox('status=expired')).toContain(id);
    expect(await inbox('status=pending')).not.toContain(id);
    expect((await inbox('')).filter((one) => one === id)).toHaveLength(1);
    const answers = [
      fulfil('alice', subject, id, { snapshot_id: subject.snapshotId }),
      gateway.as('alice', 'post', `${subject.path}/${id}/decline`).send({ reason: '' }),
      gateway.as('bob', 'post', `${subject.path}/${id}/cancel`),
    ];
    for (const answer of answers) expect((await answer.expect(409)).body.error.message).toContain('is expired');
  });

  it('makes a pending request overdue, and keeps overdue_at after it is fulfilled', async () => {
    const { subject, id } = await makeRequest();
    await superuser.query('UPDATE refresh_requests SET due_at = created_at WHERE refresh_request_id = $1', [id]);
    const { body } = await gateway.as('bob', 'get', `${subject.path}/${id}`).expect(200);
    expect(body.refresh_request).toMatchObject({ status: 'pending', overdue_at: body.refresh_request.created_at });
    const done = await fulfil('alice', subject, id, { snapshot_id: subject.snapshotId }).expect(200);
    expect(done.body.refresh_request).toMatchObject({ status: 'fulfilled', overdue_at: body.refresh_request.due_at });
  });

  it('never makes an answered or declined request overdue', async () => {
    for (const how of ['fulfill', 'decline']) {
      const { subject, id } = await makeRequest();
      const answer = how === 'decline' ? { reason: '' } : { snapshot_id: subject.snapshotId };
      await gateway.as('alice', 'post', `${subject.path}/${id}/${how}`).send(answer).expect(200);
      await superuser.query(
        `UPDATE refresh_requests SET due_at = coalesce(resolved_at, closed_at) + interval '1 microsecond'
          WHERE refresh_request_id = $1`,
        [id],
      );
      const { body } = await gateway.as('bob', 'get', `${subject.path}/${id}`).expect(200);
      expect(body.refresh_request).toMatchObject({ due_at: expect.any(String), overdue_at: null });
    }
  });
});

describe('a recurring refresh request', () => {
  afterEach(unsubscribeAll);

  it('plans the next request when it is answered, until its tenant cancels', async () => {
    await subscribe('alice', 'acme', ['refresh_request.cancelled']);
    const subject = await makeSubject();
    await grant(subject);
    const made = await ask('bob', subject, 'beta', { every: 'P1Y' }).expect(201);
    const { refresh_request_id: id, created_at } = made.body.refresh_request;
    expect(made.body.refresh_request).toMatchObject({ every: 'P1Y', series_id: id, next_at: null });
    const done = await fulfil('alice', subject, id, { snapshot_id: subject.snapshotId }).expect(200);
    const [year = '', rest = ''] = [created_at.slice(0, 4), created_at.slice(4)];
    expect(done.body.refresh_request.next_at).toBe(`${Number(year) + 1}${rest}`);

    const path = `${subject.path}/${id}/cancel`;
    await gateway.as('alice', 'post', path).expect(403);
    const cancelled = await gateway.as('bob', 'post', path).expect(200);
    const ended = { status: 'fulfilled', next_at: null, series_end_reason: 'cancelled' };
    expect(cancelled.body.refresh_request).toMatchObject(ended);
    await gateway.as('bob', 'post', path).expect(409);
    expect(await eventsOf(id)).toEqual([]);
  });

  it('keeps the decline reason of its last request when its tenant cancels', async () => {
    const subject = await makeSubject();
    const { body } = await ask('alice', subject, 'acme', { every: 'P1Y' }).expect(201);
    const path = `${subject.path}/${body.refresh_request.refresh_request_id}`;
    await gateway.as('alice', 'post', `${path}/decline`).send({ reason: 'Not now.' }).expect(200);
    const cancelled = await gateway.as('alice', 'post', `${path}/cancel`).expect(200);
    const ended = { status: 'declined', decline_reason: 'Not now.', series_end_reason: 'cancelled' };
    expect(cancelled.body.refresh_request).toMatchObject(ended);
  });

  it('counts toward the limit of pending requests while the next one is planned', async () => {
    const subject = await makeSubject();
    for (let count = 0; count < 10; count++) {
      const { body } = await ask('alice', subject, 'acme', { every: 'P5Y' }).expect(201);
      const id: string = body.refresh_request.refresh_request_id;
      await gateway.as('alice', 'post', `${subject.path}/${id}/decline`).send({ reason: '' }).expect(200);
    }
    expect((await ask('alice', subject, 'acme').expect(403)).body.error.code).toBe('limit_reached');
    // Neither the planned requests of another tenant nor expired ones count toward the limit of a tenant.
    await grant(subject);
    for (let count = 0; count < 10; count++) await ask('bob', subject, 'beta').expect(201);
    await ask('bob', subject, 'beta').expect(403);
    await superuser.query(
      `UPDATE refresh_requests SET expires_at = created_at
        WHERE requesting_tenant_id = 'beta' AND subject_key = (SELECT subject_key FROM subjects WHERE subject_id = $1)`,
      [subject.subject_id],
    );
    await ask('bob', subject, 'beta').expect(201);
  });

  it('does not count toward the limit of another tenant', async () => {
    const subject = await makeSubject();
    await grant(subject);
    for (let count = 0; count < 10; count++) await ask('bob', subject, 'beta').expect(201);
    await ask('alice', subject, 'acme').expect(201);
  });

  it('ends when it is cancelled, even if its expiry is not yet stored', async () => {
    const { subject, id } = await makeRequest();
    await superuser.query(
      `UPDATE refresh_requests SET every = 'P1D', series_id = refresh_request_id, expires_at = created_at
        WHERE refresh_request_id = $1`,
      [id],
    );
    const { body } = await gateway.as('bob', 'post', `${subject.path}/${id}/cancel`).expect(200);
    expect(body.refresh_request).toMatchObject({ status: 'expired', series_end_reason: 'cancelled', next_at: null });
  });
});

describe('the refresh requests of a tenant', () => {
  const list = (user: User, tenant: string, query = ''): Test =>
    gateway.as(user, 'get', `/v1/tenants/${tenant}/refresh-requests${query}`);
  const idsOf = (body: { items: { refresh_request_id: string }[] }): string[] =>
    body.items.map(({ refresh_request_id }) => refresh_request_id);

  it('are listed by direction and status, newest first', async () => {
    for (const [user, tenant] of [
      ['alice', 'asked'],
      ['bob', 'asking'],
    ] as const) {
      // prettier-ignore
      await gateway.as(user, 'post', '/v1/tenants').send({ tenant_id: tenant, name: tenant }).expect(201);
    }
    const ids: string[] = [];
    for (const status of ['pending', 'declined', 'pending', 'cancelled']) {
      const sent = envelope();
      const { body } = await gateway.as('alice', 'post', '/v1/tenants/asked/entity-states').send(sent).expect(201);
      const path = `/v1/subjects/${body.subject.subject_type}/${body.subject.subject_id}/refresh-requests`;
      const scopes = ['read_diff'];
      await gateway
        .as('alice', 'post', '/v1/tenants/asked/grants')
        .send({ grantee_tenant_id: 'asking', ...body.subject, scopes })
        .expect(201);
      const made = await ask('bob', { path }, 'asking', { due_at: '2099-01-01T00:00:00Z' }).expect(201);
      expect(made.body.refresh_request.due_at).toBe('2099-01-01T00:00:00.000Z');
      const id: string = made.body.refresh_request.refresh_request_id;
      if (status === 'declined') {
        await gateway.as('alice', 'post', `${path}/${id}/decline`).send({ reason: '' }).expect(200);
      }
      if (status === 'cancelled') await gateway.as('bob', 'post', `${path}/${id}/cancel`).expect(200);
      ids.unshift(id);
    }
    const [cancelled = '', pending = '', declined = '', first = ''] = ids;
    expect(idsOf((await list('alice', 'asked').expect(200)).body)).toEqual(ids);
    expect(idsOf((await list('bob', 'asking', '?direction=outgoing').expect(200)).body)).toEqual(ids);
    expect(idsOf((await list('bob', 'asking').expect(200)).body)).toEqual([]);
    expect(idsOf((await list('alice', 'asked', '?direction=outgoing').expect(200)).body)).toEqual([]);
    const inState = async (status: string): Promise<string[]> =>
      idsOf((await list('alice', 'asked', `?status=${status}`).expect(200)).body);
    expect(await inState('pending')).toEqual([pending, first]);
    expect(await inState('declined')).toEqual([declined]);
    expect(await inState('cancelled')).toEqual([cancelled]);
    expect(await inState('fulfilled')).toEqual([]);
    expect(idsOf((await list('alice', 'asked', '?subject_type=organization').expect(200)).body)).toEqual(ids);
    expect(idsOf((await list('alice', 'asked', '?subject_type=individual').expect(200)).body)).toEqual([]);

    const paged: string[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const query: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
      const { body }: { body: { items: { refresh_request_id: string }[]; next_cursor: string | null } } = await list(
        'alice',
        'asked',
        `?limit=3${query}`,
      ).expect(200);
      paged.push(...idsOf(body));
      cursor = body.next_cursor;
    }
    expect(paged).toEqual(ids);
  });

  it('can be filtered by subject and by overdue', async () => {
    const one = await makeRequest();
    const other = await makeRequest();
    const { body: shown } = await gateway.as('bob', 'get', `${one.subject.path}/${one.id}`).expect(200);
    const { subject_type, subject_id } = shown.refresh_request.subject;
    const named = `subject_type=${subject_type}&subject_id=${encodeURIComponent(subject_id)}`;
    const { body: grantee } = await gateway.as('bob', 'get', `${other.subject.path}/${other.id}`).expect(200);
    const asker: string = grantee.refresh_request.requesting_tenant_id;
    const asked = async (query: string) => idsOf((await list('alice', 'acme', `?${query}`).expect(200)).body);
    const made = async (query: string) =>
      idsOf((await list('bob', asker, `?direction=outgoing&${query}`).expect(200)).body);
    expect([await asked(named), await made(named)]).toEqual([[one.id], [one.id]]);
    expect([await asked(`${named}&status=fulfilled`), await asked(`${named}&overdue=true`)]).toEqual([[], []]);
    expect(await asked('subject_type=entity&subject_id=none')).toEqual([]);
    const due = `UPDATE refresh_requests SET due_at = now() - make_interval(days => $2) WHERE refresh_request_id = $1`;
    await superuser.query(due, [one.id, -1]);
    expect([await asked(`${named}&overdue=true`), await made(`${named}&overdue=true`)]).toEqual([[], []]);
    await superuser.query(due, [one.id, 1]);
    await superuser.query(due, [other.id, 2]);
    const both = (ids: string[]) => ids.filter((id) => id === one.id || id === other.id);
    // The requests with the latest due date come first.
    expect([both(await asked('overdue=true')), both(await made('overdue=true'))]).toEqual([
      [one.id, other.id],
      [one.id, other.id],
    ]);
    expect(await asked(`${named}&overdue=true`)).toEqual([one.id]);
    expect(both(await asked('overdue=true&subject_type=organization'))).toEqual([one.id, other.id]);
    expect(both(await asked('overdue=true&subject_type=individual'))).toEqual([]);
    const all: string[] = [];
    for (let cursor = ''; ;) {
      const { body } = await list('alice', 'acme', `?overdue=true&limit=1${cursor}`).expect(200);
      all.push(...idsOf(body));
      if (body.next_cursor === null) break;
      cursor = `&cursor=${body.next_cursor}`;
    }
    expect(both(all)).toEqual([one.id, other.id]);
    await superuser.query('UPDATE refresh_requests SET expires_at = now() WHERE refresh_request_id = $1', [one.id]);
    expect(both(await asked('overdue=true'))).toEqual([other.id]);
    await list('alice', 'acme', '?subject_id=x').expect(400);
    await list('alice', 'acme', '?overdue=false').expect(400);
  });

  it('refuse unknown query parameters and values', async () => {
    await list('alice', 'acme', '?direction=sideways').expect(400);
    await list('alice', 'acme', '?status=open').expect(400);
    await list('alice', 'acme', '?state=pending').expect(400);
  });

  it('refuse a due_at in the past', async () => {
    const subject = await makeSubject();
    const { body } = await ask('alice', subject, 'acme', { due_at: '2020-01-01T00:00:00Z' }).expect(400);
    expect(body.error.details).toMatchObject([{ path: '/due_at' }]);
  });
});

describe('suggested_fulfilment', () => {
  const NAME = '/attributes/legal/legal_name';
  const get = async (user: User, subject: Subject, id: string): Promise<Record<string, unknown>> =>
    (await gateway.as(user, 'get', `${subject.path}/${id}`).expect(200)).body.refresh_request;
  const askFor = async (user: User, subject: Subject, tenant: string, paths: string[]): Promise<string> => {
    const { body } = await ask(user, subject, tenant, { requested_paths: paths }).expect(201);
    return body.refresh_request.refresh_request_id;
  };

  /** Changes the name, with evidence from the version that `evidence` names. */
  async function write(subject: Subject, version: number, name: string, evidence: string): Promise<string> {
    const { subject_type, subject_id } = subject;
    const ref = { evidence_id: evidence, evidence_type: 'registry_extract' };
    const sent = envelope({
      subject: { subject_type, subject_id },
      snapshot_version: version,
      attributes: { legal: { legal_name: name, legal_form: 'AG' } },
      evidence: [{ ...ref, source: 'register', captured_at: '2026-01-10T08:00:00Z' }],
      attribute_paths: { [NAME]: [ref] },
    });
    await gateway.as('editor', 'post', '/v1/tenants/acme/entity-states').send(sent).expect(201);
    return String(sent['snapshot_id']);
  }

  async function begin(): Promise<Subject> {
    const subject = await makeSubject();
    await grant(subject);
    await write(subject, 2, 'Acme', 'ev-2');
    return subject;
  }

  it('names the latest version once requested paths have new evidence, only to the owner', async () => {
    const subject = await begin();
    const id = await askFor('bob', subject, 'beta', [NAME, '/attributes']);
    expect(await get('alice', subject, id)).toMatchObject({ suggested_fulfilment: null });
    await write(subject, 3, 'Acme Holding', 'ev-2');
    expect(await get('alice', subject, id)).toMatchObject({ suggested_fulfilment: null });
    const snapshot_id = await write(subject, 4, 'Acme Holding', 'ev-4');
    const suggested_fulfilment = { snapshot_id, snapshot_version: 4 };
    expect(await get('reader', subject, id)).toMatchObject({ suggested_fulfilment });
    const late = await askFor('bob', subject, 'beta', [NAME]);
    expect(await get('alice', subject, late)).toMatchObject({ suggested_fulfilment: null });

    const incoming = await gateway.as('alice', 'get', '/v1/tenants/acme/refresh-requests?limit=2').expect(200);
    expect(incoming.body.items).toMatchObject([
      { refresh_request_id: late, suggested_fulfilment: null },
      { refresh_request_id: id, suggested_fulfilment },
    ]);
    const ofSubject = await gateway.as('alice', 'get', subject.path).expect(200);
    expect(ofSubject.body.items).toEqual(incoming.body.items);

    const others = [
      await get('bob', subject, id),
      ...(await gateway.as('bob', 'get', `${subject.path}?requesting_tenant_id=beta`).expect(200)).body.items,
      ...(await gateway.as('bob', 'get', '/v1/tenants/beta/refresh-requests?direction=outgoing').expect(200)).body
        .items,
    ];
    expect(others.length).toBeGreaterThanOrEqual(5);
    for (const seen of others) expect(seen).not.toHaveProperty('suggested_fulfilment');

    const done = await fulfil('alice', subject, id, { snapshot_id }).expect(200);
    expect(done.body.refresh_request.suggested_fulfilment).toBeNull();
    expect(await get('alice', subject, id)).toEqual(done.body.refresh_request);
  });

  it('is null without paths, for paths outside attributes, and for values without evidence', async () => {
    const subject = await begin();
    const ids = [];
    for (const paths of [
      [],
      ['/evidence'],
      [NAME, '/evidence'],
      ['/attributes/legal/legal_form'],
      ['/attributes/none'],
    ]) {
      ids.push(await askFor('reader', subject, 'acme', paths));
    }
    await write(subject, 3, 'Acme Holding', 'ev-3');
    for (const id of ids) expect(await get('alice', subject, id)).toMatchObject({ suggested_fulfilment: null });
  });

  it('is null if the latest version was erased, and absent without stored provenance', async () => {
    const [erased, unknown] = [await begin(), await begin()];
    const ids = [await askFor('alice', erased, 'acme', [NAME]), await askFor('alice', unknown, 'acme', [NAME])];
    for (const subject of [erased, unknown]) await write(subject, 3, 'Acme Holding', 'ev-3');
    const keyOf = 'SELECT subject_key FROM subjects WHERE subject_id = $1';
    await superuser.query('SET session_replication_role = replica');
    await superuser.query(
      `UPDATE snapshots SET envelope = NULL, erasure_id = 1 WHERE snapshot_version = 3 AND subject_key = (${keyOf})`,
      [erased.subject_id],
    );
    await superuser.query(`DELETE FROM snapshot_provenance WHERE subject_key = (${keyOf})`, [unknown.subject_id]);
    await superuser.query('SET session_replication_role = origin');
    expect(await get('alice', erased, ids[0] ?? '')).toMatchObject({ suggested_fulfilment: null });
    expect(await get('alice', unknown, ids[1] ?? '')).not.toHaveProperty('suggested_fulfilment');
  });

  it('is computed for at most 50 requests per page, and for each request read by id', async () => {
    const made: { subject: Subject; id: string }[] = [];
    for (let count = 0; count < 52; count++) {
      const subject = await makeSubject();
      made.push({ subject, id: await askFor('alice', subject, 'acme', [NAME]) });
      await write(subject, 2, 'Acme Holding', 'ev-2');
    }
    const { body } = await gateway.as('alice', 'get', '/v1/tenants/acme/refresh-requests?limit=52').expect(200);
    const seen: Record<string, unknown>[] = body.items;
    expect(seen.filter((one) => one['suggested_fulfilment'] !== undefined)).toHaveLength(50);
    const [first] = made;
    if (first === undefined) throw new Error('nothing was made');
    expect(seen.at(-1)).toMatchObject({ refresh_request_id: first.id });
    expect(seen.at(-1)).not.toHaveProperty('suggested_fulfilment');
    const alone = await get('alice', first.subject, first.id);
    expect(alone).toMatchObject({ suggested_fulfilment: { snapshot_version: 2 } });
  });

  it('examines at most two megabytes of versions per page', async () => {
    const ids: string[] = [];
    for (let count = 0; count < 3; count++) {
      const subject = await begin();
      ids.unshift(await askFor('alice', subject, 'acme', [NAME]));
      await write(subject, 3, 'n'.repeat(900_000), 'ev-3');
    }
    const { body } = await gateway.as('alice', 'get', '/v1/tenants/acme/refresh-requests?limit=3').expect(200);
    const suggested_fulfilment = { snapshot_version: 3 };
    expect(body.items).toMatchObject([
      { refresh_request_id: ids[0], suggested_fulfilment },
      { refresh_request_id: ids[1], suggested_fulfilment },
      { refresh_request_id: ids[2] },
    ]);
    expect(body.items[2]).not.toHaveProperty('suggested_fulfilment');
  });
});
