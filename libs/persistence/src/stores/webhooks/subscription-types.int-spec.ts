import { randomUUID } from 'node:crypto';
import { newEventId } from '@iss/domain';
import { Client } from 'pg';
import '../../index';
import { migrationText } from '../../migrations';
import { rowsRead } from '../../testing/rows-read';
import { addTenant, openWorld, snapshot, type World } from '../../testing/world';
import { WebhookSubscriptionStore } from './webhook-subscription.store';

/** A statement that read all of them would read a thousand rows instead of a handful. */
const CROWD = 1_000;
const SNAPSHOT = 'identity.snapshot.created';
const REFRESH = 'refresh_request.created';
const FULFILLED = 'refresh_request.fulfilled';

let world: World;
let owner: Client;

beforeAll(async () => {
  world = await openWorld();
  owner = new Client({ connectionString: world.url });
  await owner.connect();
});

afterAll(async () => {
  await owner?.end();
  await world?.close();
});

const subscribe = (tenantId: string, eventTypes: string[], count: number) =>
  owner.query(
    `INSERT INTO webhook_subscriptions (subscription_id, tenant_id, target_url, event_types, secret_sealed, secret_fingerprint)
     SELECT gen_random_uuid(), $1, 'https://example.com/', $2, '', '' FROM generate_series(1, $3::int)`,
    [tenantId, eventTypes, count],
  );

const kept = async (tenantId: string): Promise<string[]> => {
  const { rows } = await owner.query<{ row: string }>(
    `SELECT concat_ws(' ', event_type, subscription_id, created_at) AS row FROM webhook_subscription_types
      WHERE tenant_id = $1 ORDER BY 1`,
    [tenantId],
  );
  return rows.map(({ row }) => row);
};
const derived = async (tenantId: string): Promise<string[]> => {
  const { rows } = await owner.query<{ row: string }>(
    `SELECT DISTINCT concat_ws(' ', event_type, subscription_id, created_at) AS row
       FROM webhook_subscriptions CROSS JOIN unnest(event_types) AS event_type
      WHERE tenant_id = $1 AND deleted_at IS NULL ORDER BY 1`,
    [tenantId],
  );
  return rows.map(({ row }) => row);
};

const BY = { principalId: 'tenant_admin', requestId: 'r' };

describe('webhook_subscription_types', () => {
  const store = () => new WebhookSubscriptionStore(world.database.sql);
  const created = (tenantId: string) =>
    store().create(BY, {
      subscriptionId: randomUUID(),
      tenantId,
      targetUrl: 'https://example.com/',
      eventTypes: [SNAPSHOT, REFRESH, SNAPSHOT],
      paths: null,
      secretSealed: 's',
      secretFingerprint: 'f',
    });

  it('matches the subscriptions after each change', async () => {
    await addTenant(world, 'changes');
    const [one, other, third] = [await created('changes'), await created('changes'), await created('changes')];
    expect(await kept('changes')).toHaveLength(6);
    expect(await kept('changes')).toEqual(await derived('changes'));
    await store().update(BY, one.subscriptionId, { eventTypes: [FULFILLED, REFRESH] });
    await store().update(BY, other.subscriptionId, { status: 'disabled', targetUrl: 'https://example.org/' });
    await store().delete(BY, third.subscriptionId);
    expect(await kept('changes')).toHaveLength(4);
    expect(await kept('changes')).toEqual(await derived('changes'));
    await owner.query(`DELETE FROM webhook_subscriptions WHERE tenant_id = 'changes'`);
    expect(await kept('changes')).toEqual([]);
  });

  it('keeps its rows when other columns of a subscription change', async () => {
    await addTenant(world, 'unchanged');
    const { subscriptionId } = await created('unchanged');
    const version = async () =>
      (await owner.query(`SELECT xmin::text FROM webhook_subscription_types WHERE tenant_id = 'unchanged'`)).rows;
    const before = await version();
    await store().update(BY, subscriptionId, { status: 'disabled' });
    expect(await version()).toEqual(before);
  });

  it('cannot be changed by the application role', async () => {
    const application = new Client({ connectionString: world.url, options: '-c role=iss_app' });
    await application.connect();
    try {
      for (const change of [
        `INSERT INTO webhook_subscription_types VALUES ('t', 'x', gen_random_uuid(), now())`,
        'DELETE FROM webhook_subscription_types',
        'TRUNCATE webhook_subscription_types',
      ])
        await expect(application.query(change)).rejects.toThrow(/permission denied/);
    } finally {
      await application.end();
    }
  });

  it('contains subscriptions from before the migration, which can be reverted', async () => {
    await addTenant(world, 'earlier');
    const { subscriptionId } = await created('earlier');
    await created('earlier');
    await store().delete(BY, subscriptionId);
    await owner.query('BEGIN');
    await owner.query(migrationText('7-subscriptions-by-type.down'));
    await owner.query(migrationText('7-subscriptions-by-type'));
    expect(await kept('earlier')).toHaveLength(2);
    expect(await kept('earlier')).toEqual(await derived('earlier'));
    await owner.query('ROLLBACK');
  });
});

describe('a write among many subscriptions', () => {
  const read = (tenantId: string): Promise<number> =>
    rowsRead(world, 'snapshot_create', {
      inputs: [snapshot({ tenantId })],
      eventIds: [newEventId()],
      appliedEventIds: [null],
      names: [null],
      displayNames: [null],
      namePaths: [null],
      identifiers: [],
    });
  const record = (tenantId: string): Promise<number> =>
    rowsRead(world, 'outbox_record', {
      inputs: [
        {
          ...{ eventId: randomUUID(), tenantId, type: SNAPSHOT, body: '{}', snapshotId: null },
          ...{ at: new Date().toISOString(), requestId: 'r', traceparent: null },
        },
      ],
    });
  const fanOut = async (tenantId: string): Promise<number> => {
    const eventId = randomUUID();
    await owner.query(
      `INSERT INTO outbox_events (event_id, tenant_id, event_type, body) VALUES ($1, $2, '${SNAPSHOT}', '{}')`,
      [eventId, tenantId],
    );
    return rowsRead(world, 'outbox_fan_out', {
      ...{ eventIds: [eventId], bodies: [null], changedPaths: [null] },
      ...{ first: 16, next: 256 },
    });
  };

  it('reads as many rows as without subscriptions, and one more if the event has a subscriber', async () => {
    await Promise.all(['none', 'others', 'same'].map((tenantId) => addTenant(world, tenantId)));
    await subscribe('others', [REFRESH], CROWD);
    await subscribe('same', [SNAPSHOT], CROWD);
    await owner.query('ANALYZE');
    const none = await read('none');
    expect(await read('others')).toBe(none);
    expect(await read('same')).toBe(none + 1);
    expect([await record('none'), await record('others'), await record('same')]).toEqual([0, 0, 1]);
    const idle = await fanOut('none');
    expect(await fanOut('others')).toBe(idle);
    expect((await fanOut('same')) - idle).toBeLessThanOrEqual(5 * 16);
  });
});
