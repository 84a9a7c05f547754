import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { createTestDatabase, type TestDatabase } from '../../../../../tools/testing/test-database';
import { type Database, openDatabase } from '../../database';
import { type NoParameters, statement } from '../../sql/statement';
import { type AttemptResult, type DeliveryAttempt, DeliveryStore } from './delivery.store';
import type { Page, PagePosition } from '../../sql/page';
import { BacklogStore } from './backlog.store';
import { OutboxStore } from './outbox.store';
import type { PendingDelivery } from './pending-delivery';

const SETTINGS = { leaseMs: 60_000, disableAfterMs: 5 * 86_400_000 };
const ADD_SUBSCRIPTION = statement<{ subscriptionId: string }>(
  'spec_subscription',
  `WITH t AS (INSERT INTO tenants (tenant_id, name) VALUES ('acme', 'Acme') ON CONFLICT DO NOTHING)
   INSERT INTO webhook_subscriptions (subscription_id, tenant_id, target_url, event_types, secret_sealed,
                                      secret_fingerprint)
   VALUES (:subscriptionId, 'acme', 'https://example.com/hook', '{identity.snapshot.created}', 'sealed', 'f')`,
);
const ADD_DELIVERY = statement<{
  eventId: string;
  deliveryId: string;
  subscriptionId: string;
  dueSinceMs: number;
}>(
  'spec_delivery',
  `WITH e AS (INSERT INTO outbox_events (event_id, tenant_id, event_type, body, request_id, traceparent, fanned_out_at)
              VALUES (:eventId, 'acme', 'identity.snapshot.created', '{"é":1}', 'req-1',
                      '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01', now()))
   INSERT INTO deliveries (delivery_id, event_id, subscription_id, tenant_id, event_type, status, next_at)
   VALUES (:deliveryId, :eventId, :subscriptionId, 'acme', 'identity.snapshot.created', 'pending',
           now() - :dueSinceMs * interval '1 millisecond')`,
);
const DELIVERY = statement<
  { id: string },
  { status: string; attempt: number; wait_s: number; leased: boolean; finished: boolean }
>(
  'spec_read_delivery',
  `SELECT status, attempt, extract(epoch FROM next_at - now())::float8 AS wait_s, lease_until > now() AS leased,
          finished_at IS NOT NULL AS finished FROM deliveries WHERE delivery_id = :id`,
);
const SUBSCRIPTION = statement<
  { id: string },
  { status: string; disabled_reason: string | null; disabled: boolean; failing: boolean }
>(
  'spec_read_subscription',
  `SELECT status, disabled_reason, disabled_at IS NOT NULL AS disabled, failing_since IS NOT NULL AS failing
     FROM webhook_subscriptions WHERE subscription_id = :id`,
);
const ATTEMPTS = statement<
  { deliveryId: string },
  { attempt: number; latency_ms: number; status_code: number | null; error_phase: string | null }
>(
  'spec_read_attempts',
  'SELECT attempt, latency_ms, status_code, error_phase FROM delivery_attempts WHERE delivery_id = :deliveryId ORDER BY attempt',
);

let testDatabase: TestDatabase;
let database: Database;
let store: DeliveryStore;

beforeAll(async () => {
  testDatabase = await createTestDatabase({ migrated: 'service' });
  database = await openDatabase({ url: testDatabase.url, poolSize: 10, applicationName: 'delivery-spec' });
  store = new DeliveryStore(database.sql, SETTINGS);
});

afterAll(async () => {
  await database?.close();
  await testDatabase?.drop();
});

const run = (name: string, text: string, parameters: Record<string, unknown> = {}) =>
  database.sql.run(statement<Record<string, unknown>>(name, text), parameters);

async function addSubscription(): Promise<string> {
  const subscriptionId = randomUUID();
  await database.sql.run(ADD_SUBSCRIPTION, { subscriptionId });
  return subscriptionId;
}

async function addDelivery(subscriptionId: string, dueSinceMs = 0): Promise<string> {
  const deliveryId = randomUUID();
  await database.sql.run(ADD_DELIVERY, { eventId: randomUUID(), deliveryId, subscriptionId, dueSinceMs });
  return deliveryId;
}

async function claimed(deliveryId: string): Promise<DeliveryAttempt> {
  const attempt = await store.claim(deliveryId);
  if (attempt === null) throw new Error('nothing to claim');
  return attempt;
}

function result(attempt: DeliveryAttempt, changes: Partial<AttemptResult>): AttemptResult {
  return {
    deliveryId: attempt.deliveryId,
    targetUrl: attempt.targetUrl,
    attempt: attempt.attempt,
    startedAt: new Date(),
    latencyMs: 12.4,
    statusCode: 500,
    errorPhase: 'status',
    error: 'answered 500',
    status: 'pending',
    retryInMs: 30_000,
    ...changes,
  };
}

const success: Partial<AttemptResult> = {
  status: 'succeeded',
  statusCode: 200,
  errorPhase: null,
  error: null,
  retryInMs: null,
};

async function only<Row>(rows: Promise<Row[]>): Promise<Row> {
  const [row] = await rows;
  if (row === undefined) throw new Error('no row');
  return row;
}
const delivery = (id: string) => only(database.sql.run(DELIVERY, { id }));
const subscription = (id: string) => only(database.sql.run(SUBSCRIPTION, { id }));

describe('DeliveryStore.claim', () => {
  it('returns the data of the attempt and leases the delivery', async () => {
    const subscriptionId = await addSubscription();
    const deliveryId = await addDelivery(subscriptionId);
    expect(await store.claim(deliveryId)).toEqual({
      deliveryId,
      subscriptionId,
      tenantId: 'acme',
      eventId: expect.any(String),
      eventType: 'identity.snapshot.created',
      requestId: 'req-1',
      traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
      body: '{"é":1}',
      attempt: 1,
      scheduledAttempt: 1,
      targetUrl: 'https://example.com/hook',
      targetHost: 'example.com',
      secretSealed: 'sealed',
      previousSecretSealed: null,
    });
    expect(await delivery(deliveryId)).toMatchObject({ status: 'pending', attempt: 1, leased: true });
    expect(await store.claim(deliveryId)).toBeNull();
  });

  it('lets one of many callers claim a delivery', async () => {
    const subscriptionId = await addSubscription();
    const ids = await Promise.all(Array.from({ length: 30 }, () => addDelivery(subscriptionId)));
    const others = Array.from({ length: 4 }, () => new DeliveryStore(database.sql, SETTINGS));
    const claims = await Promise.all(others.flatMap((other) => ids.map((id) => other.claim(id))));
    const got = claims.filter((claim) => claim !== null).map((claim) => claim.deliveryId);
    expect(got).toHaveLength(30);
    expect(new Set(got).size).toBe(30);
  });

  it('lets the delivery be claimed again after the lease has expired', async () => {
    const deliveryId = await addDelivery(await addSubscription());
    const first = await claimed(deliveryId);
    await run(
      'spec_expire',
      `UPDATE deliveries SET lease_until = now() - interval '1 ms' WHERE delivery_id = :deliveryId`,
      {
        deliveryId,
      },
    );
    expect(await store.claim(deliveryId)).toMatchObject({ attempt: 2 });
    expect(await store.record(result(first, success))).toEqual({ isRecorded: false, disabledReason: null });
    expect(await delivery(deliveryId)).toMatchObject({ status: 'pending', attempt: 2, leased: true });
  });

  it('claims nothing before it is due', async () => {
    const deliveryId = await addDelivery(await addSubscription(), -60_000);
    expect(await store.claim(deliveryId)).toBeNull();
  });

  it.each([
    ['disabled', `UPDATE webhook_subscriptions SET status = 'disabled' WHERE subscription_id = :subscriptionId`],
    ['deleted', `UPDATE webhook_subscriptions SET deleted_at = now() WHERE subscription_id = :subscriptionId`],
  ])('skips the delivery of a subscription that has been %s', async (name, change) => {
    const subscriptionId = await addSubscription();
    const deliveryId = await addDelivery(subscriptionId);
    await run(`spec_${name}`, change, { subscriptionId });
    expect(await store.claim(deliveryId)).toBeNull();
    expect(await delivery(deliveryId)).toMatchObject({ status: 'skipped', attempt: 0, finished: true });
  });

  it('returns the previous secret only during its grace period', async () => {
    const subscriptionId = await addSubscription();
    const rotate = (until: string) =>
      run(
        `spec_rotate_${until}`,
        `UPDATE webhook_subscriptions SET previous_secret_sealed = 'old',
           previous_secret_until = now() ${until} WHERE subscription_id = :subscriptionId`,
        { subscriptionId },
      );
    await rotate(`+ interval '1 minute'`);
    expect(await store.claim(await addDelivery(subscriptionId))).toMatchObject({ previousSecretSealed: 'old' });
    await rotate(`- interval '1 minute'`);
    expect(await store.claim(await addDelivery(subscriptionId))).toMatchObject({ previousSecretSealed: null });
  });
});

describe('DeliveryStore.record', () => {
  it('records a result once', async () => {
    const deliveryId = await addDelivery(await addSubscription());
    const outcome = result(await claimed(deliveryId), {});
    expect(await store.record(outcome)).toMatchObject({ isRecorded: true });
    expect(await store.record(outcome)).toMatchObject({ isRecorded: false });
    expect(await database.sql.run(ATTEMPTS, { deliveryId })).toHaveLength(1);
  });

  it('finishes a delivery after a success', async () => {
    const subscriptionId = await addSubscription();
    const deliveryId = await addDelivery(subscriptionId);
    expect(await store.record(result(await claimed(deliveryId), success))).toEqual({
      isRecorded: true,
      disabledReason: null,
    });
    expect(await delivery(deliveryId)).toMatchObject({ status: 'succeeded', finished: true });
    expect(await database.sql.run(ATTEMPTS, { deliveryId })).toEqual([
      { attempt: 1, latency_ms: 12, status_code: 200, error_phase: null },
    ]);
    expect(await subscription(subscriptionId)).toMatchObject({ status: 'active', failing: false });
  });

  it('reschedules after a failure, and marks the subscription as failing until the next success', async () => {
    const subscriptionId = await addSubscription();
    const deliveryId = await addDelivery(subscriptionId);
    await store.record(result(await claimed(deliveryId), {}));
    const after = await delivery(deliveryId);
    expect(after).toMatchObject({ status: 'pending', leased: null, finished: false });
    expect(after.wait_s).toBeGreaterThan(20);
    expect(after.wait_s).toBeLessThanOrEqual(30);
    expect(await subscription(subscriptionId)).toMatchObject({ failing: true, status: 'active' });

    await store.record(result(await claimed(await addDelivery(subscriptionId)), success));
    expect(await subscription(subscriptionId)).toMatchObject({ failing: false });
  });

  it('ends a delivery after its last retry', async () => {
    const deliveryId = await addDelivery(await addSubscription());
    await store.record(result(await claimed(deliveryId), { status: 'dead', retryInMs: null, statusCode: null }));
    expect(await delivery(deliveryId)).toMatchObject({ status: 'dead', finished: true });
  });

  it('disables the subscription on 410', async () => {
    const subscriptionId = await addSubscription();
    const attempt = await claimed(await addDelivery(subscriptionId));
    expect(await store.record(result(attempt, { status: 'dead', statusCode: 410, retryInMs: null }))).toEqual({
      isRecorded: true,
      disabledReason: 'gone',
    });
    expect(await subscription(subscriptionId)).toEqual({
      status: 'disabled',
      disabled_reason: 'gone',
      disabled: true,
      failing: false,
    });
  });

  it('does not disable the subscription on 410 from its previous target', async () => {
    const subscriptionId = await addSubscription();
    const attempt = await claimed(await addDelivery(subscriptionId));
    await run(
      'spec_move_target',
      `UPDATE webhook_subscriptions SET target_url = 'https://next.example/' WHERE subscription_id = :subscriptionId`,
      { subscriptionId },
    );
    expect(await store.record(result(attempt, { status: 'dead', statusCode: 410, retryInMs: null }))).toEqual({
      isRecorded: true,
      disabledReason: null,
    });
    expect(await subscription(subscriptionId)).toMatchObject({ status: 'active' });
  });

  it('disables a subscription that has failed for five days without a success', async () => {
    const subscriptionId = await addSubscription();
    const failedSince = (interval: string) =>
      run(
        `spec_failing_${interval}`,
        `UPDATE webhook_subscriptions SET failing_since = now() - interval '${interval}'
           WHERE subscription_id = :subscriptionId`,
        { subscriptionId },
      );
    const first = await claimed(await addDelivery(subscriptionId));
    await failedSince('119 hours');
    expect(await store.record(result(first, {}))).toMatchObject({ disabledReason: null });
    const [second, third] = [
      await claimed(await addDelivery(subscriptionId)),
      await claimed(await addDelivery(subscriptionId)),
    ];
    await failedSince('121 hours');
    expect(await store.record(result(second, success))).toMatchObject({ disabledReason: null });
    expect(await subscription(subscriptionId)).toMatchObject({ status: 'active', failing: false });
    await failedSince('121 hours');
    expect(await store.record(result(third, {}))).toMatchObject({ disabledReason: 'failing' });
    expect(await subscription(subscriptionId)).toMatchObject({ status: 'disabled', disabled_reason: 'failing' });
  });

  it('does not count failures of the egress proxy, and restarts the failing period after one', async () => {
    const subscriptionId = await addSubscription();
    const notOut = { errorPhase: 'proxy', statusCode: null } as const;
    const next = async (change: Partial<AttemptResult>): Promise<unknown> =>
      store.record(result(await claimed(await addDelivery(subscriptionId)), change));
    await next(notOut);
    expect(await subscription(subscriptionId)).toMatchObject({ status: 'active', failing: false });
    await next({});
    await run(
      'spec_failing_long',
      `UPDATE webhook_subscriptions SET failing_since = now() - interval '121 hours' WHERE subscription_id = :subscriptionId`,
      { subscriptionId },
    );
    expect(await next(notOut)).toMatchObject({ isRecorded: true, disabledReason: null });
    expect(await subscription(subscriptionId)).toMatchObject({ status: 'active', failing: false });
    expect(await next({})).toMatchObject({ disabledReason: null });
    expect(await subscription(subscriptionId)).toMatchObject({ status: 'active', failing: true });
  });

  it('does not update the subscription if its failing state stays the same', async () => {
    const subscriptionId = await addSubscription();
    const version = () =>
      only(
        database.sql.run(
          statement<{ subscriptionId: string }, { xmin: string }>(
            'spec_xmin',
            'SELECT xmin::text FROM webhook_subscriptions WHERE subscription_id = :subscriptionId',
          ),
          { subscriptionId },
        ),
      );
    const before = await version();
    await store.record(result(await claimed(await addDelivery(subscriptionId)), success));
    expect(await version()).toEqual(before);
    await store.record(result(await claimed(await addDelivery(subscriptionId)), {}));
    const failing = await version();
    await store.record(result(await claimed(await addDelivery(subscriptionId)), {}));
    expect(await version()).toEqual(failing);
  });
});

describe('the statements of a delivery', () => {
  it('find their rows by key among many others', async () => {
    const one = await openDatabase({ url: testDatabase.url, poolSize: 1, applicationName: 'delivery-plan-spec' });
    const rowsRead = async (): Promise<number> => {
      await one.sql.run(statement('spec_flush', 'SELECT pg_stat_force_next_flush()'), {});
      const { read } = await only(
        one.sql.run(
          statement<NoParameters, { read: number }>(
            'spec_rows_read',
            `SELECT sum(idx_tup_read)::int AS read FROM pg_stat_user_indexes
              WHERE indexrelname IN ('deliveries_due', 'deliveries_log', 'outbox_events_waiting')`,
          ),
          {},
        ),
      );
      return read;
    };
    try {
      const subscriptionId = await addSubscription();
      for (let count = 0; count < 200; count += 1) await addDelivery(subscriptionId);
      const [deliveryId, eventId] = [await addDelivery(subscriptionId), randomUUID()];
      const [plain, outbox] = [new DeliveryStore(one.sql, SETTINGS), new OutboxStore(one.sql)];
      const before = await rowsRead();
      const attempt = await plain.claim(deliveryId);
      if (attempt === null) throw new Error('nothing to claim');
      await plain.record(result(attempt, success));
      await outbox.fanOut([eventId], { first: 16, next: 100 });
      expect((await rowsRead()) - before).toBeLessThan(50);
    } finally {
      await one.close();
    }
  });
});

describe('DeliveryStore.overdue', () => {
  const FIRST = { overdueMs: 1_800_000, rows: 100, limit: 10, after: null };

  it('returns each delivery once over all pages, even if several are due at the same time', async () => {
    const subscriptionId = await addSubscription();
    const ids = await Promise.all(Array.from({ length: 7 }, () => addDelivery(subscriptionId)));
    const due = `UPDATE deliveries SET next_at = '2026-01-15T09:00:00.123456Z' WHERE subscription_id = :subscriptionId`;
    await run('spec_due_together', due, { subscriptionId });
    const found: string[] = [];
    let after: PagePosition | null = null;
    do {
      const page: Page<PendingDelivery> = await store.overdue({ ...FIRST, rows: 3, after });
      expect(page.items.length).toBeLessThanOrEqual(3);
      found.push(...page.items.map((item) => item.deliveryId));
      after = page.next;
    } while (after !== null);
    expect(found.filter((id) => ids.includes(id)).sort()).toEqual([...ids].sort());
    await run('spec_undue', `UPDATE deliveries SET status = 'dead' WHERE subscription_id = :subscriptionId`, {
      subscriptionId,
    });
  });

  it('returns overdue deliveries that no worker has claimed', async () => {
    const subscriptionId = await addSubscription();
    const lost = await addDelivery(subscriptionId, 3_600_000);
    const running = await addDelivery(subscriptionId, 3_600_000);
    const recent = await addDelivery(subscriptionId);
    await claimed(running);
    const overdue = async () => (await store.overdue(FIRST)).items.map((row) => row.deliveryId);
    expect(await overdue()).toEqual([lost]);
    expect((await store.overdue(FIRST)).items[0]?.dueForMs).toBeGreaterThanOrEqual(3_600_000);
    expect(await new BacklogStore(database.sql).oldestDeliveryMs()).toBeGreaterThanOrEqual(3_600_000);

    await claimed(lost);
    expect(await overdue()).toEqual([]);
    expect((await delivery(recent)).wait_s).toBeLessThanOrEqual(0);
  });

  it('reaches a delivery behind 10,000 others of a hundred founders within 21 pages', async () => {
    const owner = new Client({ connectionString: testDatabase.url });
    await owner.connect();
    await owner.query(`INSERT INTO tenants (tenant_id, name, founded_by)
       SELECT 'crowd-' || n, 'x', 'founder-' || n FROM generate_series(0, 99) n`);
    await owner.query(`INSERT INTO webhook_subscriptions
         (subscription_id, tenant_id, target_url, event_types, secret_sealed, secret_fingerprint)
       SELECT md5('crowd-' || n)::uuid, 'crowd-' || n, 'https://example.com:8443/x', '{t}', '', ''
         FROM generate_series(0, 99) n`);
    await owner.query(`INSERT INTO deliveries
         (delivery_id, event_id, subscription_id, tenant_id, event_type, status, next_at)
       SELECT gen_random_uuid(), gen_random_uuid(), md5('crowd-' || n % 100)::uuid, 'crowd-' || n % 100, 't', 'pending',
              now() - interval '2 hours' + n * interval '1 millisecond'
         FROM generate_series(1, 10000) n`);
    const subscriptionId = await addSubscription();
    const victim = await addDelivery(subscriptionId, 3_600_000);
    const seen: PendingDelivery[][] = [];
    let after: PagePosition | null = null;
    do {
      const page: Page<PendingDelivery> = await store.overdue({ ...FIRST, rows: 500, limit: 200, after });
      seen.push(page.items);
      after = page.next;
    } while (after !== null);
    expect(seen).toHaveLength(21);
    // A page has the same number of deliveries per founder, regardless of the examined ones.
    expect(new Set(seen[0]?.map(({ founderId }) => founderId)).size).toBe(100);
    expect(seen.at(-1)?.map(({ deliveryId }) => deliveryId)).toEqual([victim]);
    expect(seen[0]?.[0]).toMatchObject({ tenantId: 'crowd-1', founderId: 'founder-1', targetHost: 'example.com:8443' });

    await run(
      'spec_crowd_hurry',
      `UPDATE deliveries SET next_at = (SELECT min(next_at) FROM deliveries WHERE tenant_id = 'crowd-7') + interval '400 milliseconds'
       WHERE delivery_id = :victim`,
      { victim },
    );
    const page = await store.overdue({ ...FIRST, rows: 500, limit: 200 });
    expect(page.items.map(({ deliveryId }) => deliveryId)).toContain(victim);
    await owner.end();
  });
});
