import { randomUUID } from 'node:crypto';
import type { Client } from 'pg';
import { addTenant, openSharedWorld, type SharedWorld, snapshot } from '../../testing/world';
import { type SnapshotToWrite, SnapshotWriteStore } from '../snapshots/snapshot-write.store';
import { BacklogStore } from '../webhooks/backlog.store';
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

/** Adds a request with these columns, given as SQL. */
async function ask(
  requestingTenantId: string,
  columns: Readonly<Record<string, string>>,
  every: string | null = null,
): Promise<string> {
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
      every,
    },
    { requestId: 'r', traceparent: 't' },
  );
  expect(made).toMatchObject({ kind: 'written' });
  const changes = Object.entries(columns).map(([name, value]) => `${name} = ${value}`);
  await admin.query(`UPDATE refresh_requests SET ${changes.join()} WHERE refresh_request_id = $1`, [refreshRequestId]);
  return refreshRequestId;
}

/** Takes every step with several concurrent workers. */
async function announce(): Promise<void> {
  const worker = async (): Promise<void> => {
    while ((await deadlines.announceOverdue(2)).isMore);
    while ((await deadlines.announceExpired(2)).isMore);
    while ((await deadlines.openNext(2)).isMore);
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

it('announces overdue and expired requests to both tenants once', async () => {
  const late = await ask('bank', { due_at: AGO('2 days'), expires_at: `now() + interval '1 day'` });
  const over = await ask('bank', { due_at: AGO('3 days'), expires_at: AGO('1 day') });
  const own = await ask('acme', { due_at: AGO('1 hour') });
  // Neither of them passed a deadline while it was pending.
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

it('BacklogStore measures the oldest deadline and counts pending grants and overdue requests', async () => {
  const backlog = new BacklogStore(world.database.sql);
  await ask('bank', { due_at: AGO('3 hours') });
  await ask('bank', { due_at: AGO('1 hour'), expires_at: AGO('2 hours') });
  const pending = `INSERT INTO pending_grants (grant_id, grantor_tenant_id, grantee_tenant_id, scopes, requested_by, confirm_by)
                   VALUES (gen_random_uuid(), 'acme', 'bank', '{read_latest}', 'p', now() + $1::interval)`;
  for (const left of ['1 hour', '-1 hour']) await admin.query(pending, [left]);
  const hours = async (): Promise<number> => Math.floor((await backlog.oldestDeadlineMs()) / 3_600_000);
  expect([await hours(), await backlog.waitingForPeople()]).toEqual([
    3,
    { pendingGrants: 1, overdueRefreshRequests: 2 },
  ]);
  await deadlines.announceOverdue(10);
  expect(await hours()).toBe(2);
  await deadlines.announceExpired(10);
  expect([await hours(), await backlog.waitingForPeople()]).toEqual([
    0,
    { pendingGrants: 1, overdueRefreshRequests: 1 },
  ]);
  await admin.query(`UPDATE grants SET expires_at = now() - interval '4 hours'`);
  expect(await hours()).toBe(4);
  // A founder's lists that wait for its other lists are not late.
  await admin.query(
    `INSERT INTO attestation_lists (tenant_id, issuer, uri, due_at, asked_at)
     VALUES ('acme', 'i', 'a', now() - interval '6 hours', NULL), ('acme', 'i', 'b', NULL, now())`,
  );
  expect(await hours()).toBe(4);
  await admin.query(`UPDATE attestation_lists SET asked_at = now() - interval '2 minutes'`);
  expect(await hours()).toBe(6);
  await admin.query(
    `INSERT INTO status_lists (list_id, tenant_id, issuer, uri, token, signed_at, due_at)
     VALUES (gen_random_uuid(), 'acme', 'i', 'u', 't', now(), now() - interval '7 hours')`,
  );
  expect(await hours()).toBe(7);
  await admin.query(
    `INSERT INTO status_list_waiting (list_id, marked_at) VALUES (gen_random_uuid(), now() - interval '8 hours')`,
  );
  expect(await hours()).toBe(8);
});

it('announces requests of a failed step in the next step', async () => {
  const over = await ask('acme', { expires_at: AGO('1 day') });
  await admin.query('REVOKE INSERT ON outbox_events FROM iss_app, iss_gateway, iss_worker');
  await expect(deadlines.announceExpired(2)).rejects.toThrow('permission denied');
  await admin.query('GRANT INSERT ON outbox_events TO iss_app, iss_gateway, iss_worker');
  await announce();
  expect(await events()).toEqual([{ told: 'acme expired', id: over, status: 'expired' }]);
});

it('does not announce a request as overdue if it expired before it was due', async () => {
  await ask('acme', { due_at: AGO('1 hour'), expires_at: AGO('2 hours') });
  await announce();
  expect(await events()).toMatchObject([{ told: 'acme expired' }]);
});

describe('a series', () => {
  const COLUMNS = `refresh_request_id AS id, status, every, series_id, previous_request_id AS previous, next_request_id AS next,
    next_at, series_end_reason AS end, message, created_at, due_at - created_at AS due, expires_at - created_at AS expires`;

  /** Returns the requests of the series that starts with this one, oldest first. */
  async function seriesOf(id: string): Promise<Record<string, unknown>[]> {
    const { rows } = await admin.query<Record<string, unknown>>(
      `SELECT ${COLUMNS} FROM refresh_requests WHERE series_id = $1 ORDER BY created_at`,
      [id],
    );
    return rows;
  }

  /** Adds a monthly request from 100 days ago that was due after ten days and expired after twenty. */
  const begin = (requestingTenantId: string): Promise<string> =>
    ask(
      requestingTenantId,
      {
        created_at: AGO('100 days'),
        due_at: AGO('90 days'),
        expires_at: AGO('80 days'),
        message: `'Still so?'`,
        requested_paths: `'{/attributes/legal}'`,
      },
      'P1M',
    );

  const close = (id: string, change: string): Promise<unknown> =>
    admin.query(`UPDATE refresh_requests SET ${change} WHERE refresh_request_id = $1`, [id]);

  it('continues once with the same content and durations under several workers', async () => {
    const id = await begin('bank');
    await announce();
    const [first, second, ...others] = await seriesOf(id);
    expect(others).toEqual([]);
    expect(first).toMatchObject({ id, status: 'expired', series_id: id, previous: null, next_at: null, end: null });
    expect(first?.['next']).toBe(second?.['id']);
    const { message, every, due, expires } = first ?? {};
    expect(second).toMatchObject({ status: 'pending', previous: id, message, every, due, expires, next: null });
    const { rows } = await admin.query(
      `SELECT tenant_id, body::json -> 'data' ->> 'previous_request_id' AS previous, origin_type
         FROM outbox_events o JOIN refresh_requests r ON r.refresh_request_id = (o.body::json -> 'data' ->> 'refresh_request_id')::uuid
        WHERE event_type = 'refresh_request.created' AND request_id IS NULL`,
    );
    expect(rows).toEqual([{ tenant_id: 'acme', previous: id, origin_type: 'counterparty' }]);

    // Late, as after a long outage: missed repetitions are skipped.
    await close(String(second?.['id']), `status = 'declined', closed_at = now()`);
    await announce();
    expect(await seriesOf(id)).toMatchObject([{}, { status: 'declined', next: null, next_at: expect.any(Date) }]);
  });

  it.each([
    ['2024-01-31T12:00Z', 'P1M', '2024-01-31T13:00Z', '2024-02-29T12:00Z'],
    ['2024-01-31T12:00Z', 'P1M', '2024-02-29T12:00Z', '2024-03-31T12:00Z'],
    ['2024-02-29T12:00Z', 'P1Y', '2024-03-01T00:00Z', '2025-02-28T12:00Z'],
    ['2024-02-29T12:00Z', 'P1Y', '2027-03-01T00:00Z', '2028-02-29T12:00Z'],
    ['2024-01-01T00:00Z', 'P1D', '2033-12-31T23:59Z', '2034-01-01T00:00Z'],
    ['2024-01-01T00:00Z', 'P1Y2M2W3D', '2024-01-01T00:00Z', '2025-03-18T00:00Z'],
    // UTC has no daylight saving, whatever time zone the session has.
    ['2024-02-29T01:30Z', 'P1M', '2024-03-01T00:00Z', '2024-03-29T01:30Z'],
  ])('that began at %s with every %s continues after %s at %s', async (began, every, after, expected) => {
    await admin.query(`SET timezone = 'Europe/Paris'`);
    const { rows } = await admin.query<{ at: Date }>('SELECT next_recurrence($1, $2, $3) AS at', [began, every, after]);
    await admin.query('RESET timezone');
    expect(rows).toEqual([{ at: new Date(expected) }]);
  });

  it('plans the next request within a month when a monthly one is fulfilled', async () => {
    const id = await begin('acme');
    await close(
      id,
      `status = 'fulfilled', resolved_at = now(), resolved_snapshot_id = gen_random_uuid(), resolved_snapshot_version = 1`,
    );
    await announce();
    const { rows } = await admin.query(
      `SELECT next_at > now() AND next_at <= now() + interval '31 days' AS "isNext" FROM refresh_requests`,
    );
    expect(rows).toEqual([{ isNext: true }]);
    await close(id, 'next_at = now()');
    await announce();
    expect(await seriesOf(id)).toMatchObject([{ status: 'fulfilled' }, { status: 'pending' }]);
    // An owner is not notified of its own requests.
    const { rowCount } = await admin.query(`SELECT FROM outbox_events WHERE event_type = 'refresh_request.created'`);
    expect(rowCount).toBe(0);
  });

  it('ends with a reason when it is cancelled or its tenant loses access', async () => {
    const cancelled = await begin('bank');
    await close(cancelled, `status = 'cancelled', closed_at = now()`);
    const lost = await begin('bank');
    await admin.query('UPDATE grants SET revoked_at = now()');
    await announce();
    expect(await seriesOf(cancelled)).toMatchObject([{ status: 'cancelled', end: 'cancelled', next_at: null }]);
    expect(await seriesOf(lost)).toMatchObject([{ status: 'expired', end: 'access_lost', next_at: null, next: null }]);
  });
});
