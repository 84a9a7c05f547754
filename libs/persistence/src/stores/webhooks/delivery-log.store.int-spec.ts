import { randomUUID } from 'node:crypto';
import { statement } from '../../sql/statement';
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

async function subscribe(): Promise<string> {
  const subscriptionId = randomUUID();
  await subscriptions.create({
    subscriptionId,
    tenantId: 'acme',
    targetUrl: 'https://hooks.example.com/',
    eventTypes: ['identity.snapshot.created'],
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
    attempt: claimed.attempt,
    startedAt: new Date(),
    latencyMs: 3,
    statusCode: 500,
    errorPhase: 'status',
    error: 'The answer was 500.',
    status,
    retryInMs: status === 'pending' ? 0 : null,
  };
  expect(await deliveries.record(result)).toMatchObject({ held: true });
  return { attempt: claimed.attempt, scheduled: claimed.scheduledAttempt };
}

it('numbers the attempts of a redelivery on and starts its schedule anew', async () => {
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

it('does not take the late result of an attempt before the redelivery', async () => {
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
    startedAt: new Date(),
    latencyMs: 1,
    statusCode: 200,
    errorPhase: null,
    error: null,
    retryInMs: null,
  };
  expect(await deliveries.record({ ...result, deliveryId, attempt: late.attempt, status: 'succeeded' })).toMatchObject({
    held: false,
  });
  expect(await fail(deliveryId, 'pending')).toEqual({ attempt: 2, scheduled: 1 });
});

it('makes nothing due for a subscription that is disabled or deleted', async () => {
  for (const end of [
    (id: string) => subscriptions.update(id, { status: 'disabled' }),
    (id: string) => subscriptions.delete(id),
  ]) {
    const subscriptionId = await subscribe();
    const deliveryId = await addTest(subscriptionId);
    await fail(deliveryId, 'dead');
    await end(subscriptionId);
    expect(await log.redeliver(subscriptionId, deliveryId)).toBe(false);
    const replay = { from: new Date(0), to: null, statuses: ['dead'], limit: 10 } as const;
    expect(await log.replay(subscriptionId, replay)).toEqual({ deliveryIds: [], nextFrom: null });
    const test = { deliveryId: randomUUID(), eventId: randomUUID(), eventType: 'webhook.test', body: '{}' };
    expect(await log.addTest(subscriptionId, { ...test, requestId: 'r', traceparent: 't' })).toBe(false);
  }
});

it('shows a removed member nothing', async () => {
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
