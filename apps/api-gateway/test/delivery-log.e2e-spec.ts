import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import type { DeliveryRef, EventQueue } from '@iss/queue';
import { waitFor } from '../../../tools/testing/wait-for';
import { startGateway, type TestGateway, type User } from './gateway';

const PATH = '/v1/webhook-subscriptions';
const TRACEPARENT = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

let gateway: TestGateway;
let superuser: Client;
/** A subscription for requests that the service refuses. */
let shared: Log;

beforeAll(async () => {
  gateway = await startGateway();
  superuser = new Client({ connectionString: gateway.databaseUrl });
  await superuser.connect();
  for (const [user, tenantId] of [
    ['alice', 'acme'],
    ['bob', 'beta'],
  ] as const) {
    await gateway.as(user, 'post', '/v1/tenants').send({ tenant_id: tenantId, name: tenantId }).expect(201);
  }
  const reader = encodeURIComponent(`oidc:${gateway.issuer.projectId}#reader`);
  await gateway.as('alice', 'put', `/v1/tenants/acme/members/${reader}`).send({ role: 'tenant_reader' }).expect(200);
  shared = await subscribe();
});

afterAll(async () => {
  await superuser?.end();
  await gateway?.close();
});

interface Log {
  id: string;
  uuid: string;
  path: string;
  deliveries: string;
}

async function subscribe(user: User = 'alice', tenantId = 'acme'): Promise<Log> {
  const body = {
    tenant_id: tenantId,
    target_url: 'https://hooks.example.com/iss',
    event_types: ['identity.snapshot.created'],
  };
  const answer = await gateway.as(user, 'post', PATH).send(body).expect(201);
  const id: string = answer.body.webhook_subscription.subscription_id;
  const path = `${PATH}/${id}`;
  return { id, uuid: id.slice('wsub_'.length), path, deliveries: `${path}/deliveries` };
}

interface Made {
  status: string;
  type?: string;
  /** A PostgreSQL timestamp. */
  at?: string;
  attempts?: number;
}

/** Adds a delivery as the worker leaves it, with attempts that were answered 500. */
async function add({ uuid }: Log, made: Made): Promise<{ deliveryId: string; eventId: string }> {
  const [deliveryId, eventId] = [randomUUID(), randomUUID()];
  const { status, type = 'identity.snapshot.created', at = 'now()', attempts = 0 } = made;
  const isFinished = status !== 'pending';
  await superuser.query(
    `INSERT INTO outbox_events (event_id, tenant_id, event_type, body, request_id, traceparent, created_at, fanned_out_at)
     VALUES ($1, 'acme', $2, $3, 'req-1', $4, $5::text::timestamptz, now())`,
    [
      eventId,
      type,
      `{"id":"evt_${eventId}","type":"${type}","created_at":"2026-01-01T00:00:00.000Z",` +
        '"tenant_id":"acme","data":{"é\\u0000":1.0,"__proto__":{"b":2,"a":1}}}',
      TRACEPARENT,
      at,
    ],
  );
  await superuser.query(
    `INSERT INTO deliveries (delivery_id, event_id, subscription_id, tenant_id, event_type, status, attempt, created_at, finished_at)
     VALUES ($1, $2, $3, 'acme', $4, $5, $6, $7::text::timestamptz, $8)`,
    [deliveryId, eventId, uuid, type, status, attempts, at, isFinished ? new Date() : null],
  );
  await superuser.query(
    `INSERT INTO delivery_attempts (delivery_id, attempt, started_at, latency_ms, status_code, error_phase, error)
     SELECT $1, n, '2026-01-01T00:00:00.5Z'::timestamptz + n * interval '1 minute', 12, 500, 'status', 'The answer was 500.'
       FROM generate_series(1, $2) n`,
    [deliveryId, attempts],
  );
  return { deliveryId, eventId };
}

const list = async (log: Log, query = '') =>
  (await gateway.as('reader', 'get', `${log.deliveries}${query}`).expect(200)).body;
const idsOf = (body: { items: { delivery_id: string }[] }) => body.items.map((item) => item.delivery_id);
const redeliver = (log: Log, deliveryId: string, user: User = 'reader') =>
  gateway.as(user, 'post', `${log.deliveries}/${deliveryId}/redeliver`);
const replay = (log: Log, body: object, user: User = 'reader') =>
  gateway.as(user, 'post', `${log.deliveries}/replay`).send(body);
const test = (log: Log, user: User = 'reader') => gateway.as(user, 'post', `${log.path}/test`);
const setStatus = (log: Log, status: string) => gateway.as('alice', 'patch', log.path).send({ status }).expect(200);

async function rowOf(deliveryId: string): Promise<Record<string, unknown>> {
  const { rows } = await superuser.query('SELECT * FROM deliveries WHERE delivery_id = $1', [deliveryId]);
  return rows[0];
}

describe('the delivery log', () => {
  it('shows each delivery with its attempts, newest first', async () => {
    const log = await subscribe();
    const dead = await add(log, { status: 'dead', attempts: 2, at: '2026-01-01T00:00:00.123456Z' });
    const pending = await add(log, { status: 'pending', at: '2026-01-02T00:00:00Z' });
    const body = await list(log);
    expect(body).toMatchObject({ next_cursor: null, has_more: false, page: { limit: 50, next_cursor: null } });
    expect(idsOf(body)).toEqual([pending.deliveryId, dead.deliveryId]);
    expect(body.items[1]).toEqual({
      delivery_id: dead.deliveryId,
      event_id: `evt_${dead.eventId}`,
      event_type: 'identity.snapshot.created',
      subscription_id: log.id,
      status: 'dead',
      attempt_count: 2,
      next_attempt_at: null,
      created_at: '2026-01-01T00:00:00.123Z',
      finished_at: expect.stringMatching(/Z$/),
      skipped_reason: null,
      request_id: 'req-1',
      traceparent: TRACEPARENT,
      attempts: [1, 2].map((attempt) => ({
        attempt,
        started_at: `2026-01-01T00:0${attempt}:00.500Z`,
        latency_ms: 12,
        status_code: 500,
        error_phase: 'status',
        error: 'The answer was 500.',
      })),
    });
    expect(body.items[0]).toMatchObject({
      status: 'pending',
      next_attempt_at: expect.stringMatching(/Z$/),
      finished_at: null,
      attempt_count: 0,
      attempts: [],
    });
    expect(await list({ ...log, deliveries: `${PATH}/${log.uuid}/deliveries` })).toEqual(body);
  });

  it('shows the last fifty attempts', async () => {
    const log = await subscribe();
    await add(log, { status: 'dead', attempts: 60 });
    const [{ attempts, attempt_count }] = (await list(log)).items;
    expect(attempt_count).toBe(60);
    expect(attempts.map(({ attempt }: { attempt: number }) => attempt)).toEqual(
      Array.from({ length: 50 }, (_, index) => index + 11),
    );
  });

  it('is filtered by status, event type and time', async () => {
    const log = await subscribe();
    const made: Record<string, string> = {};
    for (const [day, status] of ['pending', 'succeeded', 'dead', 'skipped'].entries()) {
      made[status] = (await add(log, { status, at: `2026-01-0${day + 1}T00:00:00.123999Z` })).deliveryId;
    }
    const tested = (await add(log, { status: 'dead', type: 'webhook.test', at: '2026-01-05T00:00:00Z' })).deliveryId;
    const { pending, succeeded, dead, skipped } = made;
    for (const [query, expected] of [
      ['?status=pending', [pending]],
      ['?status=succeeded', [succeeded]],
      ['?status=dead', [tested, dead]],
      ['?status=skipped', [skipped]],
      ['?event_type=webhook.test', [tested]],
      ['?event_type=refresh_request.created', []],
      ['?status=dead&event_type=identity.snapshot.created', [dead]],
      ['?from=2026-01-03T00:00:00Z', [tested, skipped, dead]],
      ['?to=2026-01-02T00:00:00.123Z', [succeeded, pending]],
      ['?from=2026-01-02T00:00:00.123Z&to=2026-01-02T00:00:00.123Z', [succeeded]],
      ['?from=2026-01-03T01:00:00%2B01:00&to=2026-01-04T00:00:00Z', [dead]],
      ['?to=0001-01-01T00:00:00Z', []],
      ['?from=9999-12-31T23:59:59Z', []],
      ['?to=0001-01-01T00:00:00%2B23:59', []],
      ['?from=9999-12-31T23:59:59-23:59', []],
    ] as const) {
      expect([query, idsOf(await list(log, query))]).toEqual([query, expected]);
    }
  });

  it.each([
    ['status=failed', '/query/status'],
    ['status=', '/query/status'],
    ['event_type=identity', '/query/event_type'],
    ['from=yesterday', '/query/from'],
    ['from=2026-01-01', '/query/from'],
    ['from=2026-02-30T00:00:00Z', '/query/from'],
    ['to=2026-01-01T00:00:00', '/query/to'],
    ['from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z', '/query/to'],
    ['limit=0', '/query/limit'],
    ['limit=-1', '/query/limit'],
    ['limit=1001', '/query/limit'],
    ['limit=abc', '/query/limit'],
    ['cursor=abc', '/query/cursor'],
    ['from=9999-12-31T23:59:59-23:59&to=0001-01-01T00:00:00Z', '/query/to'],
    ['since=2026-01-01T00:00:00Z', '/query/since'],
  ])('refuses ?%s', async (query, path) => {
    const answer = await gateway.as('reader', 'get', `${shared.deliveries}?${query}`).expect(400);
    expect(answer.body.error.code).toBe('validation_error');
    expect(answer.body.error.details[0].path).toBe(path);
  });

  it('returns each delivery once, in pages, while deliveries are added and deleted', async () => {
    const log = await subscribe();
    const made: string[] = [];
    // Some of them have the same time, as after one fan-out.
    for (let count = 0; count < 9; count += 1) {
      made.push(
        (await add(log, { status: 'dead', at: `2026-01-01T00:00:00.00000${Math.floor(count / 3)}Z` })).deliveryId,
      );
    }
    const seen: string[] = [];
    let cursor = '';
    for (;;) {
      const body = await list(
        log,
        `?limit=2&status=dead${cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`}`,
      );
      seen.push(...idsOf(body));
      if (body.next_cursor === null) break;
      cursor = body.next_cursor;
      await add(log, { status: 'dead' });
      await superuser.query('DELETE FROM deliveries WHERE delivery_id = $1', [seen.at(-1)]);
    }
    expect(seen).toHaveLength(9);
    expect(new Set(seen)).toEqual(new Set(made));
    const other = await subscribe();
    for (const path of [
      `${log.deliveries}?limit=2`,
      `${log.deliveries}?status=skipped`,
      `${other.deliveries}?status=dead`,
    ]) {
      const answer = await gateway
        .as('reader', 'get', `${path}${path.includes('?') ? '&' : '?'}cursor=${encodeURIComponent(cursor)}`)
        .expect(400);
      expect(answer.body.error.details[0].path).toBe('/query/cursor');
    }
  });

  it('returns one delivery with its payload exactly as it is sent', async () => {
    const log = await subscribe();
    const { deliveryId, eventId } = await add(log, { status: 'succeeded', attempts: 1 });
    const answer = await gateway.as('reader', 'get', `${log.deliveries}/${deliveryId}`).expect(200);
    const { payload, ...delivery } = answer.body;
    expect(delivery).toEqual((await list(log)).items[0]);
    expect(payload.id).toBe(`evt_${eventId}`);
    expect(answer.text).toContain('"data":{"é\\u0000":1.0,"__proto__":{"b":2,"a":1}}}');
  });

  it('stays readable after the subscription is deleted, but refuses redeliveries, replays and tests', async () => {
    const log = await subscribe();
    const { deliveryId } = await add(log, { status: 'dead' });
    await gateway.as('alice', 'delete', log.path).expect(204);
    expect(idsOf(await list(log))).toEqual([deliveryId]);
    await gateway.as('reader', 'get', `${log.deliveries}/${deliveryId}`).expect(200);
    for (const refused of [redeliver(log, deliveryId), replay(log, { from: '2026-01-01T00:00:00Z' }), test(log)]) {
      expect((await refused.expect(404)).body.error.code).toBe('not_found');
    }
    expect(await rowOf(deliveryId)).toMatchObject({ status: 'dead' });
  });

  it('refuses callers who are not members, and changes nothing', async () => {
    const log = await subscribe();
    const { deliveryId } = await add(log, { status: 'dead' });
    await gateway.as('bob', 'get', `${log.deliveries}/${randomUUID()}`).expect(403);
    await redeliver(log, deliveryId, 'bob').expect(403);
    await replay(log, { from: '2026-01-01T00:00:00Z' }, 'bob').expect(403);
    await test(log, 'bob').expect(403);
    expect(idsOf(await list(log))).toEqual([deliveryId]);
    expect(await rowOf(deliveryId)).toMatchObject({ status: 'dead' });
  });

  it("returns 404 for another subscription's deliveries, and 400 for invalid ids", async () => {
    const [log, other] = [await subscribe(), await subscribe()];
    const { deliveryId } = await add(other, { status: 'dead' });
    for (const id of [deliveryId, randomUUID()]) {
      await gateway.as('reader', 'get', `${log.deliveries}/${id}`).expect(404);
      await redeliver(log, id).expect(404);
    }
    const nowhere = { ...log, path: `${PATH}/${randomUUID()}`, deliveries: `${PATH}/${randomUUID()}/deliveries` };
    await gateway.as('reader', 'get', nowhere.deliveries).expect(404);
    await redeliver(nowhere, deliveryId).expect(404);
    await replay(nowhere, { from: '2026-01-01T00:00:00Z' }).expect(404);
    await test(nowhere).expect(404);
    for (const [path, place] of [
      [`${log.deliveries}/x`, '/path/delivery_id'],
      [`${PATH}/x/deliveries`, '/path/subscription_id'],
    ] as const) {
      expect((await gateway.as('reader', 'get', path).expect(400)).body.error.details[0].path).toBe(place);
    }
  });
});

describe('a redelivery', () => {
  it.each(['succeeded', 'dead', 'skipped'])(
    'makes a %s delivery pending again and restarts its schedule',
    async (status) => {
      const log = await subscribe();
      const { deliveryId, eventId } = await add(log, { status, attempts: 9 });
      const answer = await redeliver(log, deliveryId).expect(202);
      expect(answer.body).toMatchObject({
        delivery_id: deliveryId,
        event_id: `evt_${eventId}`,
        status: 'pending',
        attempt_count: 9,
        finished_at: null,
        next_attempt_at: expect.stringMatching(/Z$/),
      });
      expect(answer.body).not.toHaveProperty('payload');
      expect(await rowOf(deliveryId)).toMatchObject({
        attempt: 9,
        retries_from: 9,
        lease_until: null,
        finished_at: null,
      });
      const again = await redeliver(log, deliveryId).expect(409);
      expect(again.body.error).toMatchObject({ code: 'conflict', message: expect.stringContaining('pending') });
    },
  );

  it('is refused while the subscription is disabled, and the message says how to fix it', async () => {
    const log = await subscribe();
    const { deliveryId } = await add(log, { status: 'skipped' });
    await setStatus(log, 'disabled');
    const answer = await redeliver(log, deliveryId).expect(409);
    expect(answer.body.error).toMatchObject({ code: 'conflict', message: expect.stringContaining('"active"') });
    expect(await rowOf(deliveryId)).toMatchObject({ status: 'skipped' });
    await setStatus(log, 'active');
    await redeliver(log, deliveryId).expect(202);
  });

  it('succeeds once for concurrent requests', async () => {
    const log = await subscribe();
    const { deliveryId } = await add(log, { status: 'dead', attempts: 3 });
    const statuses = await Promise.all(
      Array.from({ length: 20 }, async () => (await redeliver(log, deliveryId)).status),
    );
    expect(statuses.sort()).toEqual([202, ...Array.from({ length: 19 }, () => 409)]);
  });
});

describe('a replay', () => {
  const statuses = async (log: Log) =>
    Object.fromEntries(
      (await list(log)).items.map((item: { delivery_id: string; status: string }) => [item.delivery_id, item.status]),
    );

  it('makes undelivered events of one period pending again', async () => {
    const log = await subscribe();
    const other = await subscribe();
    const days: string[] = [];
    for (const [day, status] of ['dead', 'dead', 'skipped', 'succeeded', 'pending', 'dead'].entries()) {
      days.push((await add(log, { status, at: `2026-01-0${day + 1}T00:00:00.000500Z` })).deliveryId);
    }
    const elsewhere = (await add(other, { status: 'dead', at: '2026-01-03T00:00:00Z' })).deliveryId;
    const answer = await replay(log, { from: '2026-01-02T00:00:00Z', to: '2026-01-05T23:59:59Z' }).expect(202);
    expect(answer.body).toEqual({ count: 2, has_more: false, next_from: null });
    // Null means that it is absent.
    const nothing = { from: '2026-01-02T00:00:00Z', to: null, status: null };
    expect((await replay(await subscribe(), nothing).expect(202)).body.count).toBe(0);
    const expected = ['dead', 'pending', 'pending', 'succeeded', 'pending', 'dead'];
    expect(await statuses(log)).toEqual(Object.fromEntries(days.map((id, index) => [id, expected[index]])));
    expect(await rowOf(elsewhere)).toMatchObject({ status: 'dead' });
    expect((await replay(log, { from: '2026-01-01T00:00:00Z', status: 'skipped' }).expect(202)).body.count).toBe(0);
    expect((await replay(log, { from: '2026-01-01T00:00:00Z', status: 'succeeded' }).expect(202)).body.count).toBe(1);
    expect((await replay(log, { from: '2026-01-01T00:00:00Z', status: 'dead' }).expect(202)).body.count).toBe(2);
    expect((await replay(log, { from: '2026-01-01T00:00:00Z' }).expect(202)).body.count).toBe(0);
  });

  it('makes up to 1,000 deliveries pending, oldest first, and returns where to continue', async () => {
    const log = await subscribe();
    await superuser.query(
      `WITH e AS (INSERT INTO outbox_events (event_id, tenant_id, event_type, body, fanned_out_at)
                  SELECT gen_random_uuid(), 'acme', 'identity.snapshot.created', '{}', now()
                    FROM generate_series(1, 1500) RETURNING event_id)
       INSERT INTO deliveries (delivery_id, event_id, subscription_id, tenant_id, event_type, status, created_at)
       SELECT gen_random_uuid(), event_id, $1, 'acme', 'identity.snapshot.created', 'succeeded',
              '2026-01-01T00:00:00.0005Z'::timestamptz + row_number() OVER () * interval '1 second' FROM e`,
      [log.uuid],
    );
    const request = { from: '2026-01-01T00:00:00Z', status: 'succeeded' };
    const first = await replay(log, request).expect(202);
    expect(first.body).toEqual({ count: 1000, has_more: true, next_from: '2026-01-01T00:16:41.000Z' });
    const second = await replay(log, { ...request, from: first.body.next_from }).expect(202);
    expect(second.body).toEqual({ count: 500, has_more: false, next_from: null });
    expect((await list(log, '?status=succeeded')).items).toEqual([]);
  });

  it('takes each delivery once for concurrent requests', async () => {
    const log = await subscribe();
    for (let count = 0; count < 20; count += 1) await add(log, { status: 'dead', attempts: 1 });
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => replay(log, { from: '2026-01-01T00:00:00Z' }).expect(202)),
    );
    expect(answers.reduce((sum, answer) => sum + answer.body.count, 0)).toBe(20);
  });

  it.each([
    [{}, '/from'],
    [{ from: null }, '/from'],
    [{ from: 'yesterday' }, '/from'],
    [{ from: '2026-01-02T00:00:00Z', to: 'today' }, '/to'],
    [{ from: '2026-01-02T00:00:00Z', to: '2026-01-01T00:00:00Z' }, '/to'],
    [{ from: '2026-01-02T00:00:00Z', status: 'pending' }, '/status'],
    [{ from: '2026-01-02T00:00:00Z', limit: 5 }, '/limit'],
  ])('refuses %j', async (body, path) => {
    const answer = await replay(shared, body).expect(400);
    expect(answer.body.error.details[0].path).toBe(path);
  });

  it('is refused while the subscription is disabled', async () => {
    const log = await subscribe();
    const { deliveryId } = await add(log, { status: 'skipped' });
    await setStatus(log, 'disabled');
    const answer = await replay(log, { from: '2026-01-01T00:00:00Z' }).expect(409);
    expect(answer.body.error).toMatchObject({ code: 'conflict', message: expect.stringContaining('"active"') });
    expect(await rowOf(deliveryId)).toMatchObject({ status: 'skipped' });
  });
});

describe('a test event', () => {
  it('is sent only to its subscription', async () => {
    const [log, other] = [await subscribe(), await subscribe()];
    const answer = await test(log).set('X-Request-Id', 'req-test').set('traceparent', TRACEPARENT).expect(202);
    expect(answer.body).toMatchObject({
      event_type: 'webhook.test',
      subscription_id: log.id,
      status: 'pending',
      attempt_count: 0,
      attempts: [],
      request_id: 'req-test',
      traceparent: expect.stringContaining('4bf92f3577b34da6a3ce929d0e0e4736'),
    });
    const { delivery_id: deliveryId, event_id: eventId } = answer.body;
    const one = await gateway.as('reader', 'get', `${log.deliveries}/${deliveryId}`).expect(200);
    expect(one.body.payload).toEqual({
      id: eventId,
      type: 'webhook.test',
      created_at: expect.stringMatching(/Z$/),
      tenant_id: 'acme',
      data: { subscription_id: log.id },
    });
    expect((await list(other)).items).toEqual([]);
    const { rows } = await superuser.query(
      'SELECT fanned_out_at IS NOT NULL AS done FROM outbox_events WHERE event_id = $1',
      [eventId.slice('evt_'.length)],
    );
    expect(rows).toEqual([{ done: true }]);
  });

  it('is refused while the subscription is disabled', async () => {
    const log = await subscribe();
    await setStatus(log, 'disabled');
    expect((await test(log).expect(409)).body.error).toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('"active"'),
    });
    expect((await list(log)).items).toEqual([]);
  });
});

describe('the worker', () => {
  const woken: DeliveryRef[] = [];
  let queue: EventQueue;

  beforeAll(async () => {
    const { openQueue } = await productHost();
    queue = openQueue({ databaseUrl: gateway.databaseUrl, warn: () => undefined });
    queue.consume('delivery', async ({ deliveries }) => void woken.push(...deliveries), { concurrency: 1 });
  });

  afterAll(() => queue?.close());

  it('is notified of every redelivered, replayed or test delivery', async () => {
    const log = await subscribe();
    const refs = await Promise.all(
      ['dead', 'skipped'].map(async (status) => {
        const { deliveryId } = await add(log, { status });
        const whose = { tenantId: 'acme', founderId: expect.any(String), targetHost: 'hooks.example.com' };
        return { deliveryId, subscriptionId: log.uuid, ...whose };
      }),
    );
    const [first] = refs;
    await redeliver(log, first?.deliveryId ?? '').expect(202);
    await replay(log, { from: '2026-01-01T00:00:00Z' }).expect(202);
    const tested = await test(log).expect(202);
    const expected = [...refs, { ...first, deliveryId: tested.body.delivery_id }];
    // Earlier tests have left their own jobs.
    const ours = (): DeliveryRef[] => woken.filter(({ subscriptionId }) => subscriptionId === log.uuid);
    await waitFor(() => ours().length === expected.length, { what: 'every delivery to be woken' });
    expect(ours()).toEqual(expect.arrayContaining(expected));
  });
});
