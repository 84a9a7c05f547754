import { Client } from 'pg';
import { type NoParameters, SnapshotWriteStore, statement } from '@iss/persistence';
import { addTenant, snapshot } from '../../../libs/persistence/src/testing/world';
import { waitFor } from '../../../tools/testing/wait-for';
import { startWorkers, type TestWorkers } from './worker';

const TYPES = [
  ...['grant.expired', 'grant.expiring', 'grant.started'],
  ...['refresh_request.created', 'refresh_request.expired', 'refresh_request.overdue'],
];
const ROWS = [
  `INSERT INTO webhook_subscriptions
     (subscription_id, tenant_id, target_url, event_types, secret_sealed, secret_fingerprint, created_at)
   VALUES (gen_random_uuid(), 'owner', 'http://127.0.0.1:9', '{${TYPES.join()}}', 'sealed', 'f', now() - interval '1 year')`,
  `UPDATE webhook_subscription_types SET created_at = now() - interval '1 year'`,
  `INSERT INTO grants (grant_id, grantor_tenant_id, grantee_tenant_id, subject_key, scopes, granted_by, expires_at)
   SELECT gen_random_uuid(), 'owner', grantee, subject_key, '{read_latest}', 'p', now() + until::interval
     FROM subjects, (VALUES ('bank', '1 day'), ('broker', '-1 minute')) AS given (grantee, until)`,
  `UPDATE grants SET starts_at = now() - interval '1 minute' WHERE grantee_tenant_id = 'bank'`,
  `INSERT INTO refresh_requests (refresh_request_id, subject_key, requesting_tenant_id, requested_by, origin_type, due_at, expires_at)
   SELECT gen_random_uuid(), subject_key, 'owner', 'p', 'owner', now() - interval '1 hour', now() + until::interval
     FROM subjects, (VALUES ('1 day'), ('-1 minute')) AS given (until)`,
  `INSERT INTO refresh_requests (refresh_request_id, subject_key, requesting_tenant_id, requested_by, origin_type, status, closed_at,
                                 every, series_id, next_at)
   SELECT gen_random_uuid(), subject_key, 'bank', 'p', 'counterparty', 'declined', now() - interval '1 day', 'P1D',
          gen_random_uuid(), now() - interval '1 minute'
     FROM subjects`,
  `INSERT INTO idempotency_keys (key_hash, body_hash, started_at)
   VALUES (sha256('key'), sha256('body'), now() - interval '2 days')`,
  `INSERT INTO rate_limits VALUES ('nobody', now() - interval '3 days', 1)`,
];
const EVENTS = statement<NoParameters, { type: string }>(
  'test_deadline_events',
  `SELECT DISTINCT event_type AS type FROM outbox_events WHERE event_type ~ 'started|expir|overdue|^refresh_request.created' ORDER BY 1`,
);
const LEFT = statement<NoParameters, { left: number }>(
  'test_remaining_rows',
  `SELECT (SELECT count(*)::int FROM idempotency_keys) + (SELECT count(*)::int FROM rate_limits) AS left`,
);

let workers: TestWorkers;
beforeAll(async () => {
  workers = await startWorkers();
});
afterAll(() => workers?.close());

it('announces passed deadlines, opens the next request of a series, and deletes old rows', async () => {
  const { sql } = workers.database;
  for (const tenant of ['owner', 'bank', 'broker']) await addTenant(workers, tenant);
  await new SnapshotWriteStore(sql).create(snapshot({ tenantId: 'owner' }));
  const superuser = new Client({ connectionString: workers.env['DATABASE_URL'] });
  await superuser.connect();
  for (const text of ROWS) await superuser.query(text);
  await superuser.end();
  const worker = await workers.start();
  const announced = async (): Promise<string[]> => (await sql.run(EVENTS, {})).map(({ type }) => type);
  await waitFor(async () => (await announced()).length === TYPES.length, { what: 'an event for each deadline' });
  expect(await announced()).toEqual(TYPES);
  // A round that fails, or meets rows that another worker holds, is repeated a minute later.
  await waitFor(async () => (await sql.one(LEFT, {})).left === 0, { what: 'the deletion of old rows' });
  await worker.stop();
});
