import { randomUUID } from 'node:crypto';
import type { Client } from 'pg';
import { addTenant, openSharedWorld, type SharedWorld, snapshot } from '../../testing/world';
import { type SnapshotToWrite, SnapshotWriteStore } from '../snapshots/snapshot-write.store';
import { RefreshDeadlineStore } from './refresh-deadline.store';
import { RefreshRequestStore } from './refresh-request.store';

let world: SharedWorld;
let admin: Client;
let deadlines: RefreshDeadlineStore;
let subject: SnapshotToWrite;

const TYPES = ['refresh_request.created', 'refresh_request.overdue', 'refresh_request.expired'];

beforeAll(async () => {
  world = await openSharedWorld();
  ({ admin } = world);
});

afterAll(() => world?.close());

beforeEach(async () => {
  await world.empty();
  deadlines = new RefreshDeadlineStore(world.database.sql);
  for (const tenant of ['acme', 'bank']) await addTenant(world, tenant);
  subject = snapshot({ tenantId: 'acme' });
  await new SnapshotWriteStore(world.database.sql).create(subject);
  await admin.query(
    `INSERT INTO grants (grant_id, grantor_tenant_id, grantee_tenant_id, subject_key, scopes, granted_by)
     SELECT gen_random_uuid(), 'acme', 'bank', subject_key, '{read_latest}', 'p' FROM subjects`,
  );
  await admin.query(
    `INSERT INTO webhook_subscriptions
       (subscription_id, tenant_id, target_url, event_types, secret_sealed, secret_fingerprint, created_at)
     SELECT gen_random_uuid(), tenant_id, 'https://example.com/hook', $1, 'sealed', 'f', now() - interval '1 year'
       FROM unnest('{acme,bank}'::text[]) tenant_id`,
    [TYPES],
  );
  await admin.query(`UPDATE webhook_subscription_types SET created_at = now() - interval '1 year'`);
});

/** A request with these columns, which SQL gives. */
async function ask(requestingTenantId: string, columns: Readonly<Record<string, string>>): Promise<string> {
  const refreshRequestId = randomUUID();
  const { subjectType, subjectId } = subject;
  const made = await new RefreshRequestStore(world.database.sql).create(
    {
      refreshRequestId,
      requestingTenantId,
      principalId: 'tenant_owner',
      subjectType,
      subjectId,
      reasonCode: null,
      message: null,
      requestedPaths: [],
      expiresAt: null,
      dueAt: null,
    },
    (_, tenantId) => ({
      eventId: randomUUID(),
      tenantId,
      eventType: 'refresh_request.created',
      eventBody: '{}',
      requestId: 'r',
      traceparent: 't',
    }),
  );
  expect(made).toMatchObject({ kind: 'written' });
  const changes = Object.entries(columns).map(([name, value]) => `${name} = ${value}`);
  await admin.query(`UPDATE refresh_requests SET ${changes.join()} WHERE refresh_request_id = $1`, [refreshRequestId]);
  return refreshRequestId;
}

/** Takes every step, as several workers at once. */
async function announce(): Promise<void> {
  const worker = async (): Promise<void> => {
    while ((await deadlines.announceOverdue(2)).isMore);
    while ((await deadlines.announceExpired(2)).isMore);
  };
  await Promise.all([worker(), worker(), worker()]);
}

async function events(): Promise<unknown[]> {
  const { rows } = await admin.query<{ tenant_id: string; type: string; id: string; status: string }>(
    `SELECT tenant_id || ' ' || substr(event_type, 17) AS told, body::json -> 'data' ->> 'refresh_request_id' AS id,
            body::json -> 'data' ->> 'status' AS status
       FROM outbox_events WHERE event_type IN ('refresh_request.overdue', 'refresh_request.expired')
      ORDER BY created_at, tenant_id`,
  );
  return rows;
}

const AGO = (interval: string): string => `now() - interval '${interval}'`;

it('announces to both sides, once each, that a request is overdue and that it has expired', async () => {
  const late = await ask('bank', { due_at: AGO('2 days'), expires_at: `now() + interval '1 day'` });
  const over = await ask('bank', { due_at: AGO('3 days'), expires_at: AGO('1 day') });
  const own = await ask('acme', { due_at: AGO('1 hour') });
  // Neither has a deadline that has passed while it was pending.
  await ask('bank', { due_at: `now() + interval '1 day'` });
  await ask('bank', {
    due_at: AGO('1 day'),
    expires_at: AGO('2 days'),
    status: `'cancelled'`,
    closed_at: AGO('3 days'),
  });
  const all = [
    { told: 'acme overdue', id: over, status: 'pending' },
    { told: 'bank overdue', id: over, status: 'pending' },
    { told: 'acme overdue', id: late, status: 'pending' },
    { told: 'bank overdue', id: late, status: 'pending' },
    { told: 'acme expired', id: over, status: 'expired' },
    { told: 'bank expired', id: over, status: 'expired' },
    { told: 'acme overdue', id: own, status: 'pending' },
  ];
  await announce();
  expect(await events()).toEqual(all);
  await announce();
  expect(await events()).toEqual(all);
  const { rows } = await admin.query(
    `SELECT refresh_request_id AS id, closed_at = expires_at AS "isAtEnd" FROM refresh_requests WHERE status = 'expired'`,
  );
  expect(rows).toEqual([{ id: over, isAtEnd: true }]);
});

it('announces nothing of a step that is broken off, and all of it in the next one', async () => {
  const over = await ask('acme', { expires_at: AGO('1 day') });
  await admin.query('REVOKE INSERT ON outbox_events FROM iss_app, iss_gateway, iss_worker');
  await expect(deadlines.announceExpired(2)).rejects.toThrow('permission denied');
  await admin.query('GRANT INSERT ON outbox_events TO iss_app, iss_gateway, iss_worker');
  await announce();
  expect(await events()).toEqual([{ told: 'acme expired', id: over, status: 'expired' }]);
});

it('is silent about an overdue request that expired before it was due', async () => {
  await ask('acme', { due_at: AGO('1 hour'), expires_at: AGO('2 hours') });
  await announce();
  expect(await events()).toMatchObject([{ told: 'acme expired' }]);
});
