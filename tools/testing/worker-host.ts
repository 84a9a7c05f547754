import { randomBytes, randomUUID } from 'node:crypto';
import { buildEventBody, newWebhookSecret } from '@iss/domain';
import { type Database, openDatabase, statement } from '@iss/persistence';
import { APP_ROLES, createLogger, createRegistry, SecretBox, workerEnv } from '@iss/platform';
import { type EventQueue, openQueue } from '@iss/queue';
import type { Registry } from 'prom-client';
import { createWorker } from '../../apps/webhook-worker/dist/app.js';
import { createTestDatabase } from './test-database.ts';
import { waitFor } from './wait-for.ts';

const KEY_RING = `test:${randomBytes(32).toString('base64')}`;
const TENANT = 'acme';

export interface DeliveryState {
  deliveryId: string;
  status: string;
  attempt: number;
  attempts: { attempt: number; statusCode: number | null; errorPhase: string | null }[];
}

export interface TestSubscription {
  subscriptionId: string;
  secret: string;
}

/** A database with one tenant, the gateway's side of the queue, and the workers that a test starts. */
export interface TestWorkers {
  database: Database;
  /** The gateway's side of the queue. */
  queue: EventQueue;
  /** The variables for a worker in a separate process. */
  env: Readonly<Record<string, string>>;
  /** Starts a worker. Returns the URL of its probes, its metrics, and a function that stops it. */
  start(env?: Record<string, string>): Promise<{ url: string; metrics: Registry; stop(): Promise<void> }>;
  /** Adds tenants by id, each with its founder. */
  addTenants(founders: Readonly<Record<string, string | null>>): Promise<void>;
  subscribe(targetUrl: string, tenantId?: string): Promise<TestSubscription>;
  /** Adds many subscriptions in one statement, and returns them in the same order. */
  subscribeAll(targets: readonly { targetUrl: string; tenantId?: string }[]): Promise<TestSubscription[]>;
  /** Commits an event. With `wake: false` it does not use the queue, like a gateway that was killed after the commit. */
  publish(options?: {
    wake?: boolean;
    data?: string;
    traceparent?: string;
    tenantId?: string;
  }): Promise<{ eventId: string; body: string }>;
  delivery(eventId: string): Promise<DeliveryState>;
  /** The log lines of the workers. */
  logs: readonly string[];
  /** Waits until the event's only delivery has this status. */
  settled(eventId: string, status: string): Promise<DeliveryState>;
  stopAll(): Promise<void>;
  close(): Promise<void>;
}

const STATE = statement<
  { eventId: string },
  { delivery_id: string; status: string; attempt: number; attempts: DeliveryState['attempts'] | null }
>(
  'test_delivery',
  `SELECT d.delivery_id, d.status, d.attempt,
          (SELECT json_agg(json_build_object('attempt', a.attempt, 'statusCode', a.status_code, 'errorPhase', a.error_phase)
                           ORDER BY a.attempt)
             FROM delivery_attempts a WHERE a.delivery_id = d.delivery_id) AS attempts
     FROM deliveries d WHERE d.event_id = :eventId`,
);

/** Opens the database and the queue: the one at this URL, or one in PostgreSQL. */
export async function startWorkers(queueUrl?: string): Promise<TestWorkers> {
  const created = await createTestDatabase({ migrated: 'service and queue' });
  const database = await openDatabase({ url: created.url, poolSize: 4, applicationName: 'test' });
  const warn = (): void => undefined;
  const queue = openQueue({ queueUrl, databaseUrl: created.url, warn });
  const stops = new Set<() => Promise<void>>();
  const stopAll = async (): Promise<void> => {
    for (const stop of [...stops]) await stop();
  };
  const close = async (): Promise<void> => {
    await stopAll();
    await queue.close();
    await database.close();
    await created.drop();
  };
  await waitFor(() => queue.ping().then(() => true), { what: 'the queue' }).catch(async (error: unknown) => {
    await close();
    throw error;
  });
  const secretBox = SecretBox.fromKeyRing(KEY_RING);
  const run = (name: string, text: string, parameters: Record<string, unknown>) =>
    database.sql.run(statement<Record<string, unknown>>(name, text), parameters);
  const addTenants = async (founders: Readonly<Record<string, string | null>>): Promise<void> => {
    await run(
      'test_tenants',
      `INSERT INTO tenants (tenant_id, name, founded_by)
       SELECT t, t, f FROM unnest(:tenantIds::text[], :founderIds::text[]) AS given (t, f)`,
      { tenantIds: Object.keys(founders), founderIds: Object.values(founders) },
    );
  };
  await addTenants({ [TENANT]: null });
  const subscribeAll = async (
    targets: readonly { targetUrl: string; tenantId?: string }[],
  ): Promise<TestSubscription[]> => {
    const made = targets.map(({ targetUrl, tenantId = TENANT }) => {
      const [subscriptionId, secret] = [randomUUID(), newWebhookSecret()];
      return { subscriptionId, secret, tenantId, targetUrl, sealed: secretBox.seal(secret, subscriptionId) };
    });
    await run(
      'test_subscribe',
      `INSERT INTO webhook_subscriptions (subscription_id, tenant_id, target_url, event_types, secret_sealed,
                                          secret_fingerprint)
       SELECT s, t, u, '{identity.snapshot.created}', b, 'f'
         FROM unnest(:subscriptionIds::uuid[], :tenants::text[], :targetUrls::text[], :sealed::text[]) AS given (s, t, u, b)`,
      {
        subscriptionIds: made.map(({ subscriptionId }) => subscriptionId),
        tenants: made.map(({ tenantId }) => tenantId),
        targetUrls: made.map(({ targetUrl }) => targetUrl),
        sealed: made.map(({ sealed }) => sealed),
      },
    );
    return made.map(({ subscriptionId, secret }) => ({ subscriptionId, secret }));
  };
  const logs: string[] = [];

  const delivery = async (eventId: string): Promise<DeliveryState> => {
    const [row, ...others] = await database.sql.run(STATE, { eventId });
    if (row === undefined || others.length > 0)
      throw new Error(`${row === undefined ? 0 : 1 + others.length} deliveries`);
    return { deliveryId: row.delivery_id, status: row.status, attempt: row.attempt, attempts: row.attempts ?? [] };
  };

  const common = {
    APP_ENV: 'local',
    DATABASE_URL: created.url,
    ...(queueUrl !== undefined && { QUEUE_URL: queueUrl }),
    SECRETS_KEYS: KEY_RING,
    WEBHOOK_ALLOW_PRIVATE_TARGETS: 'true',
    WEBHOOK_RETRY_SCHEDULE_MS: '50,100,200',
    // Long, since a busy machine is slow. Only tests of the timeout set a shorter one.
    WEBHOOK_HEADERS_TIMEOUT_MS: '60000',
    WEBHOOK_TOTAL_TIMEOUT_MS: '60000',
    SWEEP_INTERVAL_MS: '200',
  };

  return {
    database,
    queue,
    env: common,
    logs,
    delivery,
    addTenants,
    subscribeAll,
    async start(env = {}) {
      const settings = workerEnv({ ...common, ...env });
      const role = APP_ROLES.worker;
      const own = await openDatabase({ url: created.url, role, poolSize: 4, applicationName: 'test-worker' });
      const ownQueue = openQueue({ queueUrl: settings.queueUrl, databaseUrl: created.url, role, warn });
      const logger = createLogger(
        { name: 'test-worker', level: settings.logLevel },
        { write: (line) => void logs.push(line) },
      );
      const metrics = createRegistry('test-worker');
      const worker = await createWorker({ settings, database: own, queue: ownQueue, metrics, logger });
      const url = await worker.start(0);
      const stop = async (): Promise<void> => {
        stops.delete(stop);
        await worker.stop();
        await ownQueue.close();
        await own.close();
      };
      stops.add(stop);
      return { url, metrics, stop };
    },
    async subscribe(targetUrl, tenantId = TENANT) {
      const [made] = await subscribeAll([{ targetUrl, tenantId }]);
      if (made === undefined) throw new Error('no subscription was made');
      return made;
    },
    async publish({ wake = true, data = 'Zürich 🏔', traceparent, tenantId = TENANT } = {}) {
      const eventId = randomUUID();
      const body = buildEventBody({
        eventId,
        type: 'identity.snapshot.created',
        createdAt: new Date(),
        tenantId,
        data: {
          subject: { subject_type: 'organization', subject_id: data },
          snapshot_id: randomUUID(),
          snapshot_version: 1,
          envelope_hash: 'ab'.repeat(32),
          prev_hash: null,
          change_kind: 'change',
          changed_paths: null,
        },
      });
      await run(
        'test_publish',
        `INSERT INTO outbox_events (event_id, tenant_id, event_type, body, request_id, traceparent)
         VALUES (:eventId, :tenant, 'identity.snapshot.created', :body, 'req-1', :traceparent)`,
        { eventId, tenant: tenantId, body, traceparent },
      );
      if (wake) await queue.wakeFanout([eventId]);
      return { eventId, body };
    },
    settled: (eventId, status) =>
      waitFor(
        async () => {
          const state = await delivery(eventId);
          return state.status === status ? state : null;
        },
        { what: `the delivery to be ${status}` },
      ),
    stopAll,
    close,
  };
}
