import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { createTestDatabase, type TestDatabase } from '../../../../../tools/testing/test-database';
import { type Database, openDatabase } from '../../database';
import { statement } from '../../sql/sql';
import { BacklogStore } from './backlog.store';
import { OutboxStore } from './outbox.store';

const TYPE = 'identity.snapshot.created';
const ADD_TENANT = statement('spec_tenant', 'INSERT INTO tenants (tenant_id, name) VALUES ($1, $1)');
const ADD_SUBSCRIPTIONS = statement(
  'spec_subscriptions',
  `INSERT INTO webhook_subscriptions (subscription_id, tenant_id, target_url, event_types, status, secret_sealed,
                                      secret_fingerprint, deleted_at)
   SELECT gen_random_uuid(), $1, 'https://example.com/', $2, $3, 's', 'f', $4 FROM generate_series(1, $5)`,
);
const ADD_EVENT = statement(
  'spec_event',
  `INSERT INTO outbox_events (event_id, tenant_id, event_type, body, created_at)
   VALUES ($1, $2, $3, '{}', now() - $4 * interval '1 second')`,
);
const DELIVERIES = statement<{ event_id: string; status: string }>(
  'spec_deliveries',
  'SELECT event_id, status FROM deliveries WHERE tenant_id = $1',
);

const IS_FANNED_OUT = statement<{ is_done: boolean }>(
  'spec_fanned_out',
  'SELECT fanned_out_at IS NOT NULL AS is_done FROM outbox_events WHERE event_id = $1',
);
const PER_SUBSCRIPTION = statement<{ deliveries: number }>(
  'spec_per_subscription',
  `SELECT (SELECT count(*) FROM deliveries d WHERE d.subscription_id = s.subscription_id)::int AS deliveries
     FROM webhook_subscriptions s WHERE s.tenant_id = $1`,
);
const DELETE_SUBSCRIPTIONS = statement(
  'spec_delete_subscriptions',
  'UPDATE webhook_subscriptions SET deleted_at = now() WHERE tenant_id = $1',
);

const FLUSH_STATISTICS = statement('spec_flush_statistics', 'SELECT pg_stat_force_next_flush()');
const ROWS_READ = statement<{ read: number }>(
  'spec_delivery_rows_read',
  `SELECT sum(idx_tup_read)::int AS read FROM pg_stat_user_indexes WHERE relname = 'deliveries'`,
);

const SIZES = { first: 16, next: 50 };

let testDatabase: TestDatabase;
let database: Database;
/** One connection, whose plans were made for tables that PostgreSQL knew to be empty, as after the first start. */
let earlyBird: Database;
let store: OutboxStore;

beforeAll(async () => {
  testDatabase = await createTestDatabase({ migrated: 'service' });
  const client = new Client({ connectionString: testDatabase.url });
  await client.connect();
  await client.query('ANALYZE');
  await client.end();
  earlyBird = await openDatabase({ url: testDatabase.url, poolSize: 1, applicationName: 'outbox-early-spec' });
  await new OutboxStore(earlyBird.sql).fanOut([randomUUID()], SIZES);
  database = await openDatabase({ url: testDatabase.url, poolSize: 10, applicationName: 'outbox-spec' });
  store = new OutboxStore(database.sql);
});

afterAll(async () => {
  await earlyBird?.close();
  await database?.close();
  await testDatabase?.drop();
});

async function addTenant(): Promise<string> {
  const tenantId = `t-${randomUUID()}`;
  await database.sql.run(ADD_TENANT, [tenantId]);
  return tenantId;
}

async function addSubscriptions(
  tenantId: string,
  { count = 1, types = [TYPE], status = 'active', deletedAt = null as Date | null } = {},
): Promise<void> {
  await database.sql.run(ADD_SUBSCRIPTIONS, [tenantId, types, status, deletedAt, count]);
}

async function addEvent(tenantId: string, { type = TYPE, ageSeconds = 0 } = {}): Promise<string> {
  const eventId = randomUUID();
  await database.sql.run(ADD_EVENT, [eventId, tenantId, type, ageSeconds]);
  return eventId;
}

/** Takes steps until the event is done, and gives the sizes of what each of them created. */
async function finish(eventId: string, sizes = SIZES): Promise<number[]> {
  const created: number[] = [];
  for (let isDone = false; !isDone;) {
    const { pending, skipped, unfinished } = await store.fanOut([eventId], sizes);
    created.push(pending.length + skipped);
    isDone = unfinished.length === 0;
  }
  return created;
}

async function isFannedOut(eventId: string): Promise<boolean> {
  const [event] = await database.sql.run(IS_FANNED_OUT, [eventId]);
  return event?.is_done ?? false;
}

/** How many deliveries each subscription of the tenant has. */
async function deliveriesPerSubscription(tenantId: string): Promise<number[]> {
  return (await database.sql.run(PER_SUBSCRIPTION, [tenantId])).map(({ deliveries }) => deliveries);
}

/** Entries of the indexes of deliveries that the early bird has read. */
async function rowsRead(): Promise<number> {
  await earlyBird.sql.run(FLUSH_STATISTICS, []);
  const [row] = await earlyBird.sql.run(ROWS_READ, []);
  return row?.read ?? 0;
}

describe('OutboxStore.fanOut', () => {
  it('makes one delivery for each fitting subscription of the tenant', async () => {
    const [tenantId, otherTenantId] = [await addTenant(), await addTenant()];
    await addSubscriptions(tenantId, { count: 2 });
    await addSubscriptions(tenantId, { types: ['refresh_request.created'] });
    await addSubscriptions(tenantId, { deletedAt: new Date() });
    await addSubscriptions(otherTenantId);
    const eventId = await addEvent(tenantId);

    const result = await store.fanOut([eventId], SIZES);

    expect(result).toMatchObject({ skipped: 0, unfinished: [] });
    expect(result.pending).toHaveLength(2);
    expect(result.pending.every((delivery) => delivery.tenantId === tenantId)).toBe(true);
    expect(await database.sql.run(DELIVERIES, [tenantId])).toEqual([
      { event_id: eventId, status: 'pending' },
      { event_id: eventId, status: 'pending' },
    ]);
    expect(await database.sql.run(DELIVERIES, [otherTenantId])).toEqual([]);
    expect(await isFannedOut(eventId)).toBe(true);
  });

  it('records a disabled subscription as skipped', async () => {
    const tenantId = await addTenant();
    await addSubscriptions(tenantId, { status: 'disabled' });
    const eventId = await addEvent(tenantId);
    expect(await store.fanOut([eventId], SIZES)).toEqual({ pending: [], skipped: 1, unfinished: [] });
    expect(await database.sql.run(DELIVERIES, [tenantId])).toEqual([{ event_id: eventId, status: 'skipped' }]);
  });

  it('makes none for a subscription that came after the event, also between two steps', async () => {
    const tenantId = await addTenant();
    await addSubscriptions(tenantId, { count: 10 });
    const eventId = await addEvent(tenantId);
    await addSubscriptions(tenantId, { count: 20 });
    await store.fanOut([eventId], { first: 5, next: 5 });
    await addSubscriptions(tenantId, { count: 20 });
    await finish(eventId);
    expect((await deliveriesPerSubscription(tenantId)).sort()).toEqual([...Array(40).fill(0), ...Array(10).fill(1)]);
  });

  it('does many events in one statement, each once, also when many ask at the same time', async () => {
    const tenantId = await addTenant();
    await addSubscriptions(tenantId, { count: 3 });
    const eventIds = await Promise.all(Array.from({ length: 10 }, () => addEvent(tenantId)));
    const results = await Promise.all(Array.from({ length: 8 }, () => store.fanOut(eventIds, SIZES)));
    expect(results.flatMap((result) => result.pending)).toHaveLength(30);
    expect(await database.sql.run(DELIVERIES, [tenantId])).toHaveLength(30);
    expect(await store.fanOut(eventIds, SIZES)).toEqual({ pending: [], skipped: 0, unfinished: [] });
  });

  it('takes a small first step and larger ones after it, each event for itself', async () => {
    const [large, small, none] = [await addTenant(), await addTenant(), await addTenant()];
    await addSubscriptions(large, { count: 100 });
    await addSubscriptions(small, { count: 3 });
    const eventIds = [await addEvent(large), await addEvent(small), await addEvent(none)] as const;
    const first = await store.fanOut(eventIds, SIZES);
    expect(first.pending).toHaveLength(SIZES.first + 3);
    expect(first.unfinished).toEqual([eventIds[0]]);
    expect(await Promise.all(eventIds.map(isFannedOut))).toEqual([false, true, true]);
    expect(await finish(eventIds[0])).toEqual([SIZES.next, 100 - SIZES.first - SIZES.next]);
    expect(await isFannedOut(eventIds[0])).toBe(true);
    expect(await deliveriesPerSubscription(large)).toEqual(Array(100).fill(1));
  });

  it('finds by key how far an event came, also with a plan that was made when there were no deliveries', async () => {
    const tenantId = await addTenant();
    await addSubscriptions(tenantId, { count: 300 });
    for (const eventId of [await addEvent(tenantId), await addEvent(tenantId)]) await finish(eventId);
    const eventId = await addEvent(tenantId);
    const early = new OutboxStore(earlyBird.sql);
    const before = await rowsRead();
    for (let steps = 0; steps < 2; steps += 1) await early.fanOut([eventId], SIZES);
    expect((await rowsRead()) - before).toBeLessThan(50);
  });

  it('is done when the last step finds nothing more', async () => {
    const tenantId = await addTenant();
    await addSubscriptions(tenantId, { count: 20 });
    expect(await finish(await addEvent(tenantId), { first: 10, next: 10 })).toEqual([10, 10, 0]);
  });

  it('passes over what was deleted between two steps', async () => {
    const tenantId = await addTenant();
    await addSubscriptions(tenantId, { count: 20 });
    const eventId = await addEvent(tenantId);
    await store.fanOut([eventId], { first: 5, next: 5 });
    await database.sql.run(DELETE_SUBSCRIPTIONS, [tenantId]);
    expect(await finish(eventId)).toEqual([0]);
    expect(await database.sql.run(DELIVERIES, [tenantId])).toHaveLength(5);
  });

  it('makes each delivery once when several workers take the steps of one event', async () => {
    const tenantId = await addTenant();
    await addSubscriptions(tenantId, { count: 1_500 });
    const eventId = await addEvent(tenantId);
    const worker = async (): Promise<number> => {
      let created = 0;
      // A worker that finds the event in another's hands leaves it; here it comes back until the event is done.
      while (!(await isFannedOut(eventId)))
        created += (await store.fanOut([eventId], { first: 16, next: 50 })).pending.length;
      return created;
    };
    const created = await Promise.all(Array.from({ length: 4 }, worker));
    expect(created.reduce((sum, count) => sum + count, 0)).toBe(1_500);
    expect(await deliveriesPerSubscription(tenantId)).toEqual(Array(1_500).fill(1));
  });
});

describe('OutboxStore.waiting', () => {
  it('gives old events that were not fanned out, oldest first', async () => {
    const tenantId = await addTenant();
    const [older, old] = [await addEvent(tenantId, { ageSeconds: 300 }), await addEvent(tenantId, { ageSeconds: 200 })];
    await addEvent(tenantId);
    expect(await store.waiting(100_000, 10)).toEqual([older, old]);
    expect(await store.waiting(100_000, 1)).toEqual([older]);
    expect(await new BacklogStore(database.sql).oldestEventMs()).toBeGreaterThanOrEqual(300_000);
    await store.fanOut([older, old], SIZES);
    expect(await store.waiting(100_000, 10)).toEqual([]);
  });
});
