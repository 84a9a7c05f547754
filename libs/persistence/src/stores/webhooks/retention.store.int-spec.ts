import { randomUUID } from 'node:crypto';
import type { PagePosition } from '../../sql/page';
import { statement } from '../../sql/statement';
import { openWorld, type World } from '../../testing/world';
import { RetentionStore } from './retention.store';

let world: World;
let store: RetentionStore;

beforeAll(async () => {
  world = await openWorld();
  store = new RetentionStore(world.database.sql);
});

afterAll(async () => {
  await world?.close();
});

const run = (name: string, text: string, parameters: Record<string, unknown> = {}) =>
  world.database.sql.run(statement<Record<string, unknown>>(`spec_retention_${name}`, text), parameters);

/** Adds an event that was fanned out `ageDays` ago (null: not yet). */
async function addEvent(ageDays: number | null): Promise<string> {
  const eventId = randomUUID();
  await run(
    'event',
    `INSERT INTO outbox_events (event_id, tenant_id, event_type, body, fanned_out_at)
     VALUES (:eventId, 'acme', 'identity.snapshot.created', '{}', now() - :ageDays::float8 * interval '1 day')`,
    { eventId, ageDays },
  );
  return eventId;
}

/** Adds a delivery of the event with one attempt that ended `ageDays` ago (null: not yet). */
async function addDelivery(eventId: string, ageDays: number | null, status = 'succeeded'): Promise<string> {
  const deliveryId = randomUUID();
  await run(
    'delivery',
    `WITH d AS (INSERT INTO deliveries (delivery_id, event_id, subscription_id, tenant_id, event_type, status, finished_at)
                VALUES (:deliveryId, :eventId, gen_random_uuid(), 'acme', 'identity.snapshot.created', :status,
                        now() - :ageDays::float8 * interval '1 day'))
     INSERT INTO delivery_attempts (delivery_id, attempt, started_at, latency_ms) VALUES (:deliveryId, 1, now(), 1)`,
    { deliveryId, eventId, status, ageDays },
  );
  return deliveryId;
}

const exists = async (table: 'outbox_events' | 'deliveries' | 'delivery_attempts', id: string): Promise<boolean> => {
  const key = table === 'outbox_events' ? 'event_id' : 'delivery_id';
  return (await run(`exists_${table}`, `SELECT 1 FROM ${table} WHERE ${key} = :id`, { id })).length > 0;
};

async function deleteAllEvents(days: number): Promise<number> {
  let deleted = 0;
  let after: PagePosition | null = null;
  do {
    const page: Awaited<ReturnType<RetentionStore['deleteEvents']>> = await store.deleteEvents(days, {
      limit: 3,
      after,
    });
    deleted += page.deleted;
    after = page.next;
  } while (after !== null);
  return deleted;
}

describe('RetentionStore', () => {
  it('deletes deliveries that ended before the retention period, with their attempts', async () => {
    const eventId = await addEvent(100);
    const old = await addDelivery(eventId, 31);
    const kept = [
      await addDelivery(eventId, 29),
      await addDelivery(eventId, null, 'pending'),
      await addDelivery(eventId, 0),
    ];
    expect(await store.deleteDeliveries(30, 100)).toBe(1);
    expect(await exists('deliveries', old)).toBe(false);
    expect(await exists('delivery_attempts', old)).toBe(false);
    for (const id of kept) {
      expect(await exists('deliveries', id)).toBe(true);
      expect(await exists('delivery_attempts', id)).toBe(true);
    }
    expect(await store.deleteDeliveries(30, 100)).toBe(0);
  });

  it('deletes an event only when it has no deliveries left', async () => {
    const [without, withOne, young, waiting] = [
      await addEvent(31),
      await addEvent(31),
      await addEvent(29),
      await addEvent(null),
    ];
    const deliveryId = await addDelivery(withOne, 40);
    await deleteAllEvents(30);
    expect(await exists('outbox_events', without)).toBe(false);
    expect(await exists('outbox_events', withOne)).toBe(true);
    await store.deleteDeliveries(30, 100);
    expect(await exists('deliveries', deliveryId)).toBe(false);
    await deleteAllEvents(30);
    expect(await exists('outbox_events', withOne)).toBe(false);
    expect(await exists('outbox_events', young)).toBe(true);
    expect(await exists('outbox_events', waiting)).toBe(true);
  });

  it('continues after events that remain, even if many ended at the same time', async () => {
    const ids = await Promise.all(Array.from({ length: 20 }, () => addEvent(60)));
    const [oldest, ...others] = ids;
    const kept = ids.slice(0, 10);
    for (const id of kept) await addDelivery(id, null, 'pending');
    await run(
      'same',
      `UPDATE outbox_events SET fanned_out_at = '2020-01-15T09:00:00.123456Z' WHERE event_id = ANY (:ids::uuid[])`,
      { ids },
    );
    expect(await deleteAllEvents(30)).toBeGreaterThanOrEqual(10);
    expect(await Promise.all([oldest ?? '', ...others].map((id) => exists('outbox_events', id)))).toEqual(
      ids.map((id) => kept.includes(id)),
    );
  });

  it('deletes in batches, oldest first', async () => {
    const eventId = await addEvent(1);
    const ids: string[] = [];
    for (let age = 40; age > 35; age -= 1) ids.push(await addDelivery(eventId, age));
    expect(await store.deleteDeliveries(30, 2)).toBe(2);
    expect(await Promise.all(ids.map((id) => exists('deliveries', id)))).toEqual([false, false, true, true, true]);
    expect(await store.deleteDeliveries(30, 2)).toBe(2);
    expect(await store.deleteDeliveries(30, 2)).toBe(1);
  });

  it('skips a locked row, and keeps a delivery that became pending again', async () => {
    const eventId = await addEvent(1);
    const [locked, other] = [await addDelivery(eventId, 50), await addDelivery(eventId, 49)];
    await world.database.sql.transaction(async (writer) => {
      await writer.run(
        statement<{ locked: string }>(
          'spec_retention_redeliver',
          `UPDATE deliveries SET status = 'pending', finished_at = NULL WHERE delivery_id = :locked`,
        ),
        { locked },
      );
      expect(await store.deleteDeliveries(30, 100)).toBe(1);
      expect(await exists('deliveries', other)).toBe(false);
    });
    expect(await store.deleteDeliveries(30, 100)).toBe(0);
    expect(await exists('deliveries', locked)).toBe(true);
  });

  it('deletes each row once with several concurrent processes', async () => {
    const eventId = await addEvent(1);
    await Promise.all(Array.from({ length: 40 }, () => addDelivery(eventId, 33)));
    let total = 0;
    for (let deleted = 1; deleted > 0;) {
      const counts = await Promise.all(Array.from({ length: 4 }, () => store.deleteDeliveries(30, 7)));
      deleted = counts.reduce((sum, count) => sum + count, 0);
      total += deleted;
    }
    expect(total).toBe(40);
  });

  it('deletes old rate-limit windows', async () => {
    await run(
      'windows',
      `INSERT INTO rate_limits VALUES ('old', now() - interval '25 hours', 1), ('older', now() - interval '26 hours', 1),
                                      ('now', date_trunc('minute', now()), 1), ('today', now() - interval '23 hours', 1)`,
    );
    expect(await store.deleteRateWindows(1)).toBe(1);
    expect(await store.deleteRateWindows(10)).toBe(1);
    expect(await run('left', 'SELECT principal_id FROM rate_limits ORDER BY 1')).toEqual([
      { principal_id: 'now' },
      { principal_id: 'today' },
    ]);
  });

  it('deletes credential offers that expired more than ten minutes ago', async () => {
    await run('tenant', `INSERT INTO tenants (tenant_id, name) VALUES ('acme', 'Acme')`);
    await run(
      'offers',
      `INSERT INTO credential_offers (offer_id, tenant_id, subject_key, snapshot_version, snapshot_id, kid, code_hash, created_by, expires_at)
       SELECT gen_random_uuid(), 'acme', 1, 1, gen_random_uuid(), 'kid', sha256(minutes::text::bytea), minutes::text,
              now() - minutes * interval '1 minute'
         FROM unnest(ARRAY[-5, 9, 11, 12]) minutes`,
    );
    expect(await store.deleteOffers(1)).toBe(1);
    expect(await store.deleteOffers(10)).toBe(1);
    expect(await run('offers_left', 'SELECT created_by FROM credential_offers ORDER BY 1')).toEqual([
      { created_by: '-5' },
      { created_by: '9' },
    ]);
  });

  it('deletes presentation requests that expired an hour ago, with any status', async () => {
    await run(
      'tenant_of_requests',
      `INSERT INTO tenants (tenant_id, name) VALUES ('acme', 'Acme') ON CONFLICT DO NOTHING`,
    );
    await run(
      'requests',
      `INSERT INTO presentation_requests (presentation_request_id, tenant_id, vcts, claims, sealed, status, created_by, expires_at)
       SELECT gen_random_uuid(), 'acme', '{vct}', '{}', CASE WHEN minutes < 62 THEN 'sealed' END,
              CASE WHEN minutes < 62 THEN 'pending' ELSE 'refused' END, minutes::text, now() - minutes * interval '1 minute'
         FROM unnest(ARRAY[-5, 59, 61, 62]) minutes`,
    );
    expect(await store.deletePresentationRequests(1)).toBe(1);
    expect(await store.deletePresentationRequests(10)).toBe(1);
    expect(await run('requests_left', 'SELECT created_by FROM presentation_requests ORDER BY 1')).toEqual([
      { created_by: '-5' },
      { created_by: '59' },
    ]);
  });
});
