import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { before, type PagePosition } from '../../sql/page';
import { statement } from '../../sql/statement';
import { rowsRead } from '../../testing/rows-read';
import { addTenant, openWorld, type World } from '../../testing/world';
import { type AttemptResult, DeliveryStore } from './delivery.store';
import { DeliveryLogStore } from './delivery-log.store';
import { WebhookSubscriptionStore } from './webhook-subscription.store';

let world: World;
let log: DeliveryLogStore;
let deliveries: DeliveryStore;
let subscriptions: WebhookSubscriptionStore;

beforeAll(async () => {
  world = await openWorld();
  const { sql } = world.database;
  log = new DeliveryLogStore(sql);
  deliveries = new DeliveryStore(sql, { leaseMs: 60_000, disableAfterMs: 86_400_000 });
  subscriptions = new WebhookSubscriptionStore(sql);
  await addTenant(world, 'acme');
});

afterAll(async () => {
  await world?.close();
});

const BY = { principalId: 'tenant_admin', requestId: 'r' };

async function subscribe(): Promise<string> {
  const subscriptionId = randomUUID();
  await subscriptions.create(BY, {
    subscriptionId,
    tenantId: 'acme',
    targetUrl: 'https://hooks.example.com/',
    eventTypes: ['identity.snapshot.created'],
    paths: null,
    secretSealed: 'sealed',
    secretFingerprint: 'f',
  });
  return subscriptionId;
}

async function addTest(subscriptionId: string): Promise<string> {
  const deliveryId = randomUUID();
  const [eventId, requestId] = [randomUUID(), 'req-1'];
  const test = { deliveryId, eventId, eventType: 'webhook.test', body: '{"a":1.0}', requestId, traceparent: '00-1' };
  expect(await log.addTest(subscriptionId, test)).toBe(true);
  return deliveryId;
}

async function fail(deliveryId: string, status: 'pending' | 'dead'): Promise<{ attempt: number; scheduled: number }> {
  const claimed = await deliveries.claim(deliveryId);
  if (claimed === null) throw new Error('nothing to claim');
  const result: AttemptResult = {
    deliveryId,
    targetUrl: claimed.targetUrl,
    attempt: claimed.attempt,
    startedAt: new Date(),
    latencyMs: 3,
    statusCode: 500,
    errorPhase: 'status',
    error: 'The answer was 500.',
    status,
    retryInMs: status === 'pending' ? 0 : null,
  };
  expect(await deliveries.record(result)).toMatchObject({ isRecorded: true });
  return { attempt: claimed.attempt, scheduled: claimed.scheduledAttempt };
}

it('continues the attempt numbers of a redelivery and restarts its schedule', async () => {
  const subscriptionId = await subscribe();
  const deliveryId = await addTest(subscriptionId);
  expect(await log.redeliver(subscriptionId, deliveryId)).toBe(false);
  expect(await fail(deliveryId, 'pending')).toEqual({ attempt: 1, scheduled: 1 });
  expect(await fail(deliveryId, 'dead')).toEqual({ attempt: 2, scheduled: 2 });
  expect(await log.redeliver(subscriptionId, deliveryId)).toBe(true);
  expect(await fail(deliveryId, 'pending')).toEqual({ attempt: 3, scheduled: 1 });
  expect(await fail(deliveryId, 'dead')).toEqual({ attempt: 4, scheduled: 2 });
  const { delivery } = await log.find({ subscriptionId, principalId: 'tenant_reader' }, deliveryId);
  expect(delivery?.attempts.map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4]);
  expect(delivery?.body).toBe('{"a":1.0}');
});

it('refuses the late result of an attempt that began before the redelivery', async () => {
  const subscriptionId = await subscribe();
  const deliveryId = await addTest(subscriptionId);
  const late = await deliveries.claim(deliveryId);
  if (late === null) throw new Error('nothing to claim');
  await world.database.sql.run(
    statement<{ deliveryId: string }>(
      'spec_give_up',
      `UPDATE deliveries SET status = 'dead', lease_until = NULL WHERE delivery_id = :deliveryId`,
    ),
    { deliveryId },
  );
  expect(await log.redeliver(subscriptionId, deliveryId)).toBe(true);
  const result = {
    targetUrl: late.targetUrl,
    startedAt: new Date(),
    latencyMs: 1,
    statusCode: 200,
    errorPhase: null,
    error: null,
    retryInMs: null,
  };
  expect(await deliveries.record({ ...result, deliveryId, attempt: late.attempt, status: 'succeeded' })).toMatchObject({
    isRecorded: false,
  });
  expect(await fail(deliveryId, 'pending')).toEqual({ attempt: 2, scheduled: 1 });
});

it('redelivers nothing to a disabled or deleted subscription', async () => {
  for (const end of [
    (id: string) => subscriptions.update(BY, id, { status: 'disabled' }),
    (id: string) => subscriptions.delete(BY, id),
  ]) {
    const subscriptionId = await subscribe();
    const deliveryId = await addTest(subscriptionId);
    await fail(deliveryId, 'dead');
    await end(subscriptionId);
    expect(await log.redeliver(subscriptionId, deliveryId)).toBe(false);
    const replay = { from: new Date(0), to: null, statuses: ['dead'], limit: 10, look: 100 } as const;
    expect(await log.replay(subscriptionId, replay)).toEqual({ deliveryIds: [], nextFrom: null });
    const test = { deliveryId: randomUUID(), eventId: randomUUID(), eventType: 'webhook.test', body: '{}' };
    expect(await log.addTest(subscriptionId, { ...test, requestId: 'r', traceparent: 't' })).toBe(false);
  }
});

it('shows nothing to a removed member', async () => {
  const subscriptionId = await subscribe();
  await addTest(subscriptionId);
  const readers = { reader: 'tenant_reader', nobody: 'nobody' };
  const filter = { status: null, eventType: null, from: null, to: null };
  const read = (principalId: string) => log.page({ subscriptionId, principalId }, filter, { limit: 10, after: null });
  expect((await read(readers.reader)).page.items).toHaveLength(1);
  expect(await read(readers.nobody)).toMatchObject({ facts: { membership: null }, page: { items: [] } });
  await world.database.sql.run(
    statement<{ reader: string }>(
      'spec_remove_member',
      `UPDATE memberships SET status = 'removed' WHERE principal_id = :reader`,
    ),
    { reader: readers.reader },
  );
  expect(await read(readers.reader)).toMatchObject({
    facts: { membership: { status: 'removed' } },
    page: { items: [] },
  });
});

describe('DeliveryLogStore with 25,000 deliveries', () => {
  const COUNT = 25_000;
  let subscriptionId: string;

  beforeAll(async () => {
    subscriptionId = await subscribe();
    const owner = new Client({ connectionString: world.url });
    await owner.connect();
    // The oldest one is dead, and all others succeeded.
    await owner.query(
      `WITH e AS (
         INSERT INTO outbox_events (event_id, tenant_id, event_type, body, created_at, fanned_out_at)
         SELECT gen_random_uuid(), 'acme', 't', '{}', timestamptz '2026-01-15' + n * interval '1 second', now()
           FROM generate_series(1, $2::int) n RETURNING event_id, created_at)
       INSERT INTO deliveries (delivery_id, event_id, subscription_id, tenant_id, event_type, status, created_at, finished_at)
       SELECT gen_random_uuid(), event_id, $1, 'acme', 't',
              CASE WHEN created_at = min(created_at) OVER () THEN 'dead' ELSE 'succeeded' END, created_at, now() FROM e`,
      [subscriptionId, COUNT],
    );
    await owner.end();
  });

  const reader = () => ({ subscriptionId, principalId: 'tenant_owner' });
  const filter = (status: 'dead' | null) => ({ status, eventType: null, from: null, to: null });

  it('examines at most ten thousand deliveries per page and continues on the next one', async () => {
    const [found, counts]: [number[], number[]] = [[], []];
    let after: PagePosition | null = null;
    do {
      const request = { limit: 50, after };
      counts.push(await rowsRead(world, 'delivery_log_page', { ...reader(), ...filter('dead'), ...before(request) }));
      const { page } = await log.page(reader(), filter('dead'), request);
      found.push(page.items.length);
      after = page.next;
    } while (after !== null);
    expect(found).toEqual([0, 0, 1]);
    expect(Math.max(...counts)).toBeLessThanOrEqual(2 * 10_000 + 10);
  });

  it('reads only the rows of one page without a filter', async () => {
    const request = { limit: 50, after: null };
    expect(
      await rowsRead(world, 'delivery_log_page', { ...reader(), ...filter(null), ...before(request) }),
    ).toBeLessThanOrEqual(3 * 51 + 10);
  });

  it('examines a limited number of deliveries per replay, and returns where to continue', async () => {
    const replay = { to: null, statuses: ['succeeded'], limit: 10, look: 1_000 } as const;
    const dead = { ...replay, statuses: ['dead'] } as const;
    expect(await log.replay(subscriptionId, { ...dead, from: new Date('2026-01-15T01:00:00Z') })).toEqual({
      deliveryIds: [],
      nextFrom: new Date('2026-01-15T01:16:40Z'),
    });
    const first = await log.replay(subscriptionId, { ...dead, from: new Date('2026-01-15T00:00:00Z') });
    expect(first).toEqual({ deliveryIds: [expect.any(String)], nextFrom: new Date('2026-01-15T00:16:41Z') });
    const some = await log.replay(subscriptionId, { ...replay, from: new Date('2026-01-15T00:00:10Z') });
    expect(some.deliveryIds).toHaveLength(10);
    expect(some.nextFrom).toEqual(new Date('2026-01-15T00:00:20Z'));
  });
});
