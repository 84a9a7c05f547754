import { randomUUID } from 'node:crypto';
import { createTestDatabase, type TestDatabase } from '../../../../tools/testing/test-database';
import { type Database, openDatabase } from '../database';
import { statement } from '../sql';
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

let testDatabase: TestDatabase;
let database: Database;
let store: OutboxStore;

beforeAll(async () => {
  testDatabase = await createTestDatabase({ migrated: true });
  database = await openDatabase({ url: testDatabase.url, poolSize: 10, applicationName: 'outbox-spec' });
  store = new OutboxStore(database.sql);
});

afterAll(async () => {
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

describe('OutboxStore.fanOut', () => {
  it('makes one delivery for each fitting subscription of the tenant', async () => {
    const [tenantId, otherTenantId] = [await addTenant(), await addTenant()];
    await addSubscriptions(tenantId, { count: 2 });
    await addSubscriptions(tenantId, { types: ['refresh_request.created'] });
    await addSubscriptions(tenantId, { deletedAt: new Date() });
    await addSubscriptions(otherTenantId);
    const eventId = await addEvent(tenantId);

    const result = await store.fanOut([eventId], 1_000);

    expect(result).toMatchObject({ skipped: 0, left: 0 });
    expect(result.pending).toHaveLength(2);
    expect(result.pending.every((delivery) => delivery.tenantId === tenantId)).toBe(true);
    expect(await database.sql.run(DELIVERIES, [tenantId])).toEqual([
      { event_id: eventId, status: 'pending' },
      { event_id: eventId, status: 'pending' },
    ]);
    expect(await database.sql.run(DELIVERIES, [otherTenantId])).toEqual([]);
  });

  it('records a disabled subscription as skipped', async () => {
    const tenantId = await addTenant();
    await addSubscriptions(tenantId, { status: 'disabled' });
    const eventId = await addEvent(tenantId);
    expect(await store.fanOut([eventId], 1_000)).toEqual({ pending: [], skipped: 1, left: 0 });
    expect(await database.sql.run(DELIVERIES, [tenantId])).toEqual([{ event_id: eventId, status: 'skipped' }]);
  });

  it('does an event once, also when many ask at the same time', async () => {
    const tenantId = await addTenant();
    await addSubscriptions(tenantId, { count: 3 });
    const eventIds = await Promise.all(Array.from({ length: 10 }, () => addEvent(tenantId)));
    const results = await Promise.all(Array.from({ length: 8 }, () => store.fanOut(eventIds, 1_000)));
    expect(results.flatMap((result) => result.pending)).toHaveLength(30);
    expect(await database.sql.run(DELIVERIES, [tenantId])).toHaveLength(30);
    expect(await store.fanOut(eventIds, 1_000)).toEqual({ pending: [], skipped: 0, left: 0 });
  });

  it('takes events up to its budget and says how many it left', async () => {
    const tenantId = await addTenant();
    await addSubscriptions(tenantId, { count: 5 });
    const eventIds = [await addEvent(tenantId), await addEvent(tenantId), await addEvent(tenantId)];
    const first = await store.fanOut(eventIds, 10);
    expect(first.pending).toHaveLength(10);
    expect(first.left).toBe(1);
    const second = await store.fanOut(eventIds, 10);
    expect(second.pending).toHaveLength(5);
    expect(second.left).toBe(0);
  });

  it('does an event whole that has thousands of subscriptions', async () => {
    const tenantId = await addTenant();
    await addSubscriptions(tenantId, { count: 5_000 });
    const result = await store.fanOut([await addEvent(tenantId)], 100);
    expect(result.pending).toHaveLength(5_000);
    expect(result.left).toBe(0);
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
    await store.fanOut([older, old], 1_000);
    expect(await store.waiting(100_000, 10)).toEqual([]);
  });
});
