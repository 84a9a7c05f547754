import { randomUUID } from 'node:crypto';
import { buildEventBody } from '@iss/domain';
import { Client } from 'pg';
import { createTestDatabase, type TestDatabase } from '../../../../../tools/testing/test-database';
import { type Database, openDatabase } from '../../database';
import { type NoParameters, statement } from '../../sql/statement';
import { BacklogStore } from './backlog.store';
import type { Page, PagePosition } from '../../sql/page';
import { OutboxStore } from './outbox.store';
import type { SearchBounds } from './pending-delivery';

const TYPE = 'identity.snapshot.created';
const ADD_TENANT = statement<{ tenantId: string; founder: string | null }>(
  'spec_tenant',
  'INSERT INTO tenants (tenant_id, name, founded_by) VALUES (:tenantId, :tenantId, :founder)',
);
const ADD_EVENTS = statement<{ tenantIds: string[]; count: number; ageSeconds: number }>(
  'spec_events',
  `INSERT INTO outbox_events (event_id, tenant_id, event_type, body, created_at)
   SELECT gen_random_uuid(), (:tenantIds::text[])[1 + n % 2], '${TYPE}', '{}', now() - :ageSeconds::int * interval '1 second'
     FROM generate_series(1, :count) n`,
);
const DELETE_EVENTS = statement('spec_delete_events', 'DELETE FROM outbox_events WHERE fanned_out_at IS NULL');
const ADD_SUBSCRIPTIONS = statement<{
  tenantId: string;
  types: string[];
  paths: readonly string[] | null;
  status: string;
  deletedAt: Date | null;
  count: number;
}>(
  'spec_subscriptions',
  `INSERT INTO webhook_subscriptions (subscription_id, tenant_id, target_url, event_types, paths, status, secret_sealed,
                                      secret_fingerprint, deleted_at)
   SELECT gen_random_uuid(), :tenantId, 'https://example.com/', :types, :paths::text[], :status, 's', 'f', :deletedAt
     FROM generate_series(1, :count)`,
);
const ADD_EVENT = statement<{ eventId: string; tenantId: string; type: string; ageSeconds: number }>(
  'spec_event',
  `INSERT INTO outbox_events (event_id, tenant_id, event_type, body, created_at)
   VALUES (:eventId, :tenantId, :type, '{}', now() - :ageSeconds * interval '1 second')`,
);
/** Adds an event as writes do, for a snapshot that exists or not. */
const ADD_SNAPSHOT_EVENT = statement<
  { eventId: string; tenantId: string; snapshotId: string; isWritten: boolean; changedPaths: string | null },
  { created_at: Date }
>(
  'spec_snapshot_event',
  `WITH subject AS (
     INSERT INTO subjects (subject_type, subject_id, owner_tenant_id)
     SELECT 'organization', 'Zürich "Öl" \\ 🏔 ' || :snapshotId::text, :tenantId WHERE :isWritten::boolean
     RETURNING subject_key
   ), snapshot AS (
     INSERT INTO snapshots (subject_key, snapshot_version, snapshot_id, tenant_id, generated_at, envelope_hash, envelope)
     SELECT subject_key, 1, :snapshotId::uuid, :tenantId, '2026-01-15T09:30:00Z', sha256('{}'), '{}' FROM subject
   ), provenance AS (
     INSERT INTO snapshot_provenance (subject_key, snapshot_version, changed_by, changed_paths)
     SELECT subject_key, 1, '""', :changedPaths::text::json FROM subject
   )
   INSERT INTO outbox_events (event_id, tenant_id, event_type, snapshot_id)
   VALUES (:eventId, :tenantId, '${TYPE}', :snapshotId::uuid) RETURNING created_at`,
);
const BODY = statement<{ eventId: string }, { body: string | null }>(
  'spec_body',
  'SELECT body FROM outbox_events WHERE event_id = :eventId',
);
const DELIVERIES = statement<{ tenantId: string }, { event_id: string; status: string }>(
  'spec_deliveries',
  'SELECT event_id, status FROM deliveries WHERE tenant_id = :tenantId',
);

const IS_FANNED_OUT = statement<{ eventId: string }, { is_done: boolean }>(
  'spec_fanned_out',
  'SELECT fanned_out_at IS NOT NULL AS is_done FROM outbox_events WHERE event_id = :eventId',
);
const PER_SUBSCRIPTION = statement<{ tenantId: string }, { deliveries: number }>(
  'spec_per_subscription',
  `SELECT (SELECT count(*) FROM deliveries d WHERE d.subscription_id = s.subscription_id)::int AS deliveries
     FROM webhook_subscriptions s WHERE s.tenant_id = :tenantId`,
);
const DELETE_SUBSCRIPTIONS = statement<{ tenantId: string }>(
  'spec_delete_subscriptions',
  'UPDATE webhook_subscriptions SET deleted_at = now() WHERE tenant_id = :tenantId',
);

const FLUSH_STATISTICS = statement('spec_flush_statistics', 'SELECT pg_stat_force_next_flush()');
const ROWS_READ = statement<NoParameters, { read: number }>(
  'spec_delivery_rows_read',
  `SELECT sum(idx_tup_read)::int AS read FROM pg_stat_user_indexes WHERE relname = 'deliveries'`,
);

const SIZES = { first: 16, next: 50 };

let testDatabase: TestDatabase;
let database: Database;
/** A connection whose plans were made for empty tables, as after the first start. */
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

async function addTenant(founder: string | null = null): Promise<string> {
  const tenantId = `t-${randomUUID()}`;
  await database.sql.run(ADD_TENANT, { tenantId, founder });
  return tenantId;
}

async function addSubscriptions(
  tenantId: string,
  {
    count = 1,
    types = [TYPE],
    paths = null as readonly string[] | null,
    status = 'active',
    deletedAt = null as Date | null,
  } = {},
): Promise<void> {
  await database.sql.run(ADD_SUBSCRIPTIONS, { tenantId, types, paths, status, deletedAt, count });
}

async function addEvent(tenantId: string, { type = TYPE, ageSeconds = 0 } = {}): Promise<string> {
  const eventId = randomUUID();
  await database.sql.run(ADD_EVENT, { eventId, tenantId, type, ageSeconds });
  return eventId;
}

/** Takes steps until the event is done. Returns the number of deliveries that each step created. */
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
  const [event] = await database.sql.run(IS_FANNED_OUT, { eventId });
  return event?.is_done ?? false;
}

/** Returns the number of deliveries per subscription of the tenant. */
async function deliveriesPerSubscription(tenantId: string): Promise<number[]> {
  return (await database.sql.run(PER_SUBSCRIPTION, { tenantId })).map(({ deliveries }) => deliveries);
}

/** Returns the number of index entries of deliveries that the early bird has read. */
async function rowsRead(): Promise<number> {
  await earlyBird.sql.run(FLUSH_STATISTICS, {});
  const [row] = await earlyBird.sql.run(ROWS_READ, {});
  return row?.read ?? 0;
}

describe('OutboxStore.fanOut', () => {
  it('creates one delivery for each matching subscription of the tenant', async () => {
    const [tenantId, otherTenantId] = [await addTenant('oidc:p#founder'), await addTenant()];
    await addSubscriptions(tenantId, { count: 2 });
    await addSubscriptions(tenantId, { types: ['refresh_request.created'] });
    await addSubscriptions(tenantId, { deletedAt: new Date() });
    await addSubscriptions(otherTenantId);
    const eventId = await addEvent(tenantId);

    const result = await store.fanOut([eventId], SIZES);

    expect(result).toMatchObject({ skipped: 0, unfinished: [] });
    expect(result.pending).toHaveLength(2);
    const whose = { tenantId, founderId: 'oidc:p#founder', targetHost: 'example.com' };
    expect(result.pending).toEqual([expect.objectContaining(whose), expect.objectContaining(whose)]);
    expect(await database.sql.run(DELIVERIES, { tenantId })).toEqual([
      { event_id: eventId, status: 'pending' },
      { event_id: eventId, status: 'pending' },
    ]);
    expect(await database.sql.run(DELIVERIES, { tenantId: otherTenantId })).toEqual([]);
    expect(await isFannedOut(eventId)).toBe(true);
  });

  it('records a disabled subscription as skipped', async () => {
    const tenantId = await addTenant();
    await addSubscriptions(tenantId, { status: 'disabled' });
    const eventId = await addEvent(tenantId);
    expect(await store.fanOut([eventId], SIZES)).toEqual({ pending: [], skipped: 1, unfinished: [] });
    expect(await database.sql.run(DELIVERIES, { tenantId })).toEqual([{ event_id: eventId, status: 'skipped' }]);
  });

  it('creates no delivery for a subscription newer than the event, even between two steps', async () => {
    const tenantId = await addTenant();
    await addSubscriptions(tenantId, { count: 10 });
    const eventId = await addEvent(tenantId);
    await addSubscriptions(tenantId, { count: 20 });
    await store.fanOut([eventId], { first: 5, next: 5 });
    await addSubscriptions(tenantId, { count: 20 });
    await finish(eventId);
    expect((await deliveriesPerSubscription(tenantId)).sort()).toEqual([...Array(40).fill(0), ...Array(10).fill(1)]);
  });

  it('fans out each event of a batch once under concurrency', async () => {
    const tenantId = await addTenant();
    await addSubscriptions(tenantId, { count: 3 });
    const eventIds = await Promise.all(Array.from({ length: 10 }, () => addEvent(tenantId)));
    const results = await Promise.all(Array.from({ length: 8 }, () => store.fanOut(eventIds, SIZES)));
    expect(results.flatMap((result) => result.pending)).toHaveLength(30);
    expect(await database.sql.run(DELIVERIES, { tenantId })).toHaveLength(30);
    expect(await store.fanOut(eventIds, SIZES)).toEqual({ pending: [], skipped: 0, unfinished: [] });
  });

  it('creates a small first step and then larger steps for each event', async () => {
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

  it('finds the progress of an event by key with a plan for empty tables', async () => {
    const tenantId = await addTenant();
    await addSubscriptions(tenantId, { count: 300 });
    for (const eventId of [await addEvent(tenantId), await addEvent(tenantId)]) await finish(eventId);
    const eventId = await addEvent(tenantId);
    const early = new OutboxStore(earlyBird.sql);
    const before = await rowsRead();
    for (let steps = 0; steps < 2; steps += 1) await early.fanOut([eventId], SIZES);
    expect((await rowsRead()) - before).toBeLessThan(50);
  });

  it('finishes an event when a step finds no more subscriptions', async () => {
    const tenantId = await addTenant();
    await addSubscriptions(tenantId, { count: 20 });
    expect(await finish(await addEvent(tenantId), { first: 10, next: 10 })).toEqual([10, 10, 0]);
  });

  it('skips subscriptions that were deleted between two steps', async () => {
    const tenantId = await addTenant();
    await addSubscriptions(tenantId, { count: 20 });
    const eventId = await addEvent(tenantId);
    await store.fanOut([eventId], { first: 5, next: 5 });
    await database.sql.run(DELETE_SUBSCRIPTIONS, { tenantId });
    expect(await finish(eventId)).toEqual([0]);
    expect(await database.sql.run(DELIVERIES, { tenantId })).toHaveLength(5);
  });

  it('creates each delivery once when several workers fan out the same event', async () => {
    const tenantId = await addTenant();
    await addSubscriptions(tenantId, { count: 1_500 });
    const eventId = await addEvent(tenantId);
    const worker = async (): Promise<number> => {
      let created = 0;
      // A worker skips an event that another one has claimed. Here it repeats until the event is done.
      while (!(await isFannedOut(eventId)))
        created += (await store.fanOut([eventId], { first: 16, next: 50 })).pending.length;
      return created;
    };
    const created = await Promise.all(Array.from({ length: 4 }, worker));
    expect(created.reduce((sum, count) => sum + count, 0)).toBe(1_500);
    expect(await deliveriesPerSubscription(tenantId)).toEqual(Array(1_500).fill(1));
  });
});

describe('the body of an event', () => {
  const bodyOf = async (eventId: string) => (await database.sql.one(BODY, { eventId })).body;

  async function addSnapshotEvent(tenantId: string, isWritten = true, changed: readonly string[] | null = null) {
    const [eventId, snapshotId] = [randomUUID(), randomUUID()];
    const changedPaths = changed === null ? null : JSON.stringify(changed);
    const event = { eventId, tenantId, snapshotId, isWritten, changedPaths };
    const [row] = await database.sql.run(ADD_SNAPSHOT_EVENT, event);
    if (row === undefined) throw new Error('no event');
    const body = buildEventBody({
      eventId,
      type: TYPE,
      createdAt: row.created_at,
      tenantId,
      data: {
        subject: { subject_type: 'organization', subject_id: `Zürich "Öl" \\ 🏔 ${snapshotId}` },
        snapshot_id: snapshotId,
        snapshot_version: 1,
        envelope_hash: '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a',
        prev_hash: null,
        change_kind: 'change',
        changed_paths: changed?.map((path) => path.replace('~', '')) ?? null,
      },
    });
    return { eventId, body };
  }

  it('is built once, in the first step, by one of many workers', async () => {
    const tenantId = await addTenant();
    await addSubscriptions(tenantId, { count: 20 });
    const { eventId, body } = await addSnapshotEvent(tenantId);
    expect(await bodyOf(eventId)).toBeNull();
    const steps = await Promise.all(Array.from({ length: 4 }, () => store.fanOut([eventId], { first: 5, next: 5 })));
    expect(steps.some(({ pending }) => pending.length === 5)).toBe(true);
    expect(await bodyOf(eventId)).toBe(body);
    await finish(eventId);
    expect(await bodyOf(eventId)).toBe(body);
    expect(await deliveriesPerSubscription(tenantId)).toEqual(Array(20).fill(1));
  });

  it('is stored with the first deliveries, together with events that have a body', async () => {
    const tenantId = await addTenant();
    await addSubscriptions(tenantId);
    const stored = await addEvent(tenantId);
    const [one, other] = [await addSnapshotEvent(tenantId), await addSnapshotEvent(tenantId)];
    const { pending } = await store.fanOut([one.eventId, stored, other.eventId], SIZES);
    expect(pending).toHaveLength(3);
    expect(await Promise.all([one.eventId, stored, other.eventId].map(bodyOf))).toEqual([one.body, '{}', other.body]);
  });

  it('is required before an event can be marked as fanned out', async () => {
    const tenantId = await addTenant();
    await addSubscriptions(tenantId);
    const { eventId } = await addSnapshotEvent(tenantId, false);
    expect(await store.fanOut([eventId], SIZES)).toEqual({ pending: [], skipped: 0, unfinished: [] });
    expect(await isFannedOut(eventId)).toBe(false);
    const done = statement<{ eventId: string }>(
      'spec_done_without_body',
      'UPDATE outbox_events SET fanned_out_at = now() WHERE event_id = :eventId',
    );
    await expect(database.sql.run(done, { eventId })).rejects.toThrow(/outbox_events_body_check/);
    expect((await store.waiting({ overdueMs: 0, rows: 100, limit: 10, after: null })).items).toContain(eventId);
  });

  it.each<[what: string, changed: string[] | null, deliveries: number]>([
    ['the changed paths, their parents and their children', ['/attributes/a/b', '/attributes/c'], 26],
    ['a parent of many changes', ['/attributes/a~'], 16],
    ['keys that PostgreSQL cannot store', ['/attributes/a/\u0000/x'], 16],
    ['no path', [], 6],
    ['any path if the changes are unknown', null, 36],
  ])('is delivered to subscriptions without paths and those with %s', async (_, changed, deliveries) => {
    const tenantId = await addTenant();
    await addSubscriptions(tenantId, { count: 6 });
    await addSubscriptions(tenantId, { count: 10, paths: ['/attributes/a', '/attributes/x'] });
    await addSubscriptions(tenantId, { count: 10, paths: ['/attributes/c/d'] });
    await addSubscriptions(tenantId, { count: 10, paths: ['/attributes/ab'] });
    const { eventId, body } = await addSnapshotEvent(tenantId, true, changed);
    const steps = await finish(eventId, { first: 5, next: 5 });
    expect(steps.reduce((sum, step) => sum + step, 0)).toBe(deliveries);
    expect(await bodyOf(eventId)).toBe(body);
  });
});

describe('OutboxStore.waiting', () => {
  const look = async (change: Partial<SearchBounds> = {}) =>
    store.waiting({ overdueMs: 100_000, rows: 100, limit: 10, after: null, ...change });

  it('returns old events that have not been fanned out, oldest first', async () => {
    const tenantId = await addTenant();
    const [older, old] = [await addEvent(tenantId, { ageSeconds: 300 }), await addEvent(tenantId, { ageSeconds: 200 })];
    await addEvent(tenantId);
    expect(await look()).toEqual({ items: [older, old], next: null });
    expect((await look({ limit: 1 })).items).toEqual([older]);
    const first = await look({ rows: 1 });
    expect(first.items).toEqual([older]);
    expect((await look({ rows: 1, after: first.next })).items).toEqual([old]);
    expect(await new BacklogStore(database.sql).oldestEventMs()).toBeGreaterThanOrEqual(300_000);
    await store.fanOut([older, old], SIZES);
    expect((await look()).items).toEqual([]);
  });

  it('alternates between founders, so that events of one do not hide those of another', async () => {
    const [one, another, other] = [await addTenant('founder'), await addTenant('founder'), await addTenant()];
    await database.sql.run(ADD_EVENTS, { tenantIds: [one, another], count: 10_000, ageSeconds: 900 });
    const late = await addEvent(other, { ageSeconds: 200 });
    let after: PagePosition | null = null;
    for (const isThere of [false, false, true]) {
      const page: Page<string> = await look({ rows: 5_000, limit: 2, after });
      expect(page.items.includes(late)).toBe(isThere);
      after = page.next;
    }
    expect(after).toBeNull();
    await database.sql.run(DELETE_EVENTS, {});
  });
});
