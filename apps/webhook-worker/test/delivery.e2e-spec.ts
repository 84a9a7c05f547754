import { createHmac, randomBytes } from 'node:crypto';
import { verifyWebhook } from '@iss/domain';
import { LogCheckpointStore, type NoParameters, statement } from '@iss/persistence';
import { createVerifier, generateKeys, openNote } from '@iss/tlog';
import { type Receiver, startReceiver } from '../../../tools/testing/receiver';
import { testRedisUrl } from '../../../tools/testing/test-redis';
import { waitFor } from '../../../tools/testing/wait-for';
import { startWorkers, type TestWorkers } from './worker';

const SUBSCRIPTION = statement<{ subscriptionId: string }, { status: string; disabled_reason: string | null }>(
  'test_subscription',
  'SELECT status, disabled_reason FROM webhook_subscriptions WHERE subscription_id = :subscriptionId',
);
/** Events without deliveries count as well. */
const OPEN = statement<NoParameters, { open: number }>(
  'test_open',
  `SELECT (SELECT count(*)::int FROM deliveries WHERE status = 'pending')
        + (SELECT count(*)::int FROM outbox_events WHERE fanned_out_at IS NULL) AS open`,
);
const EVENTS = 50;
const FREE = statement('test_free', 'UPDATE webhook_subscriptions SET deleted_at = now()');

describe.each(['Redis', 'PostgreSQL'])('webhook worker with its queue on %s', (backend) => {
  /** Defines a test of code that does not use the queue. `npm test` runs it with one queue, `npm run test:all` with both. */
  const itWithAnyQueue = (name: string, test: () => Promise<void>): void => {
    if (backend === 'PostgreSQL' || process.env['ISS_TEST_ALL'] === 'true') it(name, test);
  };
  let workers: TestWorkers;
  let receiver: Receiver;

  beforeAll(async () => {
    workers = await startWorkers(backend === 'Redis' ? await testRedisUrl() : undefined);
  });

  beforeEach(async () => {
    receiver = await startReceiver();
    await workers.database.sql.run(FREE, {});
  });

  afterEach(async () => {
    await receiver?.stop();
  });

  afterAll(async () => {
    await workers?.close();
  });

  describe('with one worker', () => {
    let worker: Awaited<ReturnType<TestWorkers['start']>>;

    beforeAll(async () => {
      worker = await workers.start();
    });

    afterAll(async () => {
      await worker?.stop();
    });

    it('delivers the stored bytes with both signatures', async () => {
      const { secret } = await workers.subscribe(`${receiver.url}/hooks/acme?x=1`);
      const { eventId, body } = await workers.publish();
      const [request] = await receiver.waitForRequests(1);
      expect(request).toMatchObject({ method: 'POST', path: '/hooks/acme?x=1' });
      expect(request?.body.toString()).toBe(body);
      expect(request?.headers).toMatchObject({
        'content-type': 'application/json',
        'user-agent': expect.stringContaining('identity-state-service'),
        'x-request-id': 'req-1',
        'webhook-id': `evt_${eventId}`,
        'x-service-signature': createHmac('sha256', secret).update(body).digest('hex'),
      });
      const event = verifyWebhook({ secret, headers: request?.headers ?? {}, body: request?.body ?? Buffer.alloc(0) });
      expect(event).toMatchObject({ id: `evt_${eventId}`, type: 'identity.snapshot.created', tenant_id: 'acme' });
      const state = await workers.settled(eventId, 'succeeded');
      expect(state.attempts).toEqual([{ attempt: 1, statusCode: 204, errorPhase: null }]);
      expect(receiver.requests).toHaveLength(1);
    });

    itWithAnyQueue('sends the newest checkpoint of the log in a header', async () => {
      const { signingKey, verifierKey } = await generateKeys('log.example', 'ed25519');
      const signing = await workers.start({ LOG_ORIGIN: 'log.example', LOG_SIGNING_KEY: signingKey });
      const checkpoints = new LogCheckpointStore(workers.database.sql);
      await waitFor(() => checkpoints.newest(), { what: 'a checkpoint' });
      await workers.subscribe(receiver.url);
      const header = await waitFor(async () => {
        await workers.publish();
        return receiver.requests.at(-1)?.headers['x-iss-log-checkpoint'];
      });
      await signing.stop();
      const { text } = await openNote(Buffer.from(String(header), 'base64').toString(), [createVerifier(verifierKey)]);
      expect(text).toMatch(/^log\.example\n/);
    });

    itWithAnyQueue(
      'continues the trace of the request, and logs each attempt once without its body or secret',
      async () => {
        const traceId = randomBytes(16).toString('hex');
        receiver.script({ status: 503 }, { status: 200 });
        const { secret, subscriptionId } = await workers.subscribe(`${receiver.url}/hooks?token=hidden`);
        const { eventId } = await workers.publish({ traceparent: `00-${traceId}-00f067aa0ba902b7-01`, data: 'Nobody' });
        const { deliveryId } = await workers.settled(eventId, 'succeeded');
        const headers = receiver.requests.map((request) => request.headers['traceparent']);
        expect(headers).toEqual([1, 2].map(() => expect.stringMatching(new RegExp(`^00-${traceId}-[0-9a-f]{16}-01$`))));
        expect(new Set([...headers, `00-${traceId}-00f067aa0ba902b7-01`]).size).toBe(3);

        const linesOf = (): string[] => workers.logs.filter((line) => line.includes(eventId));
        await waitFor(() => linesOf().length >= 2);
        const facts = {
          trace_id: traceId,
          request_id: 'req-1',
          event_id: `evt_${eventId}`,
          event_type: 'identity.snapshot.created',
          delivery_id: deliveryId,
          subscription_id: subscriptionId,
          tenant_id: 'acme',
          target_host: new URL(receiver.url).host,
          latency_ms: expect.any(Number),
        };
        expect(linesOf().map((line): unknown => JSON.parse(line))).toMatchObject([
          { ...facts, level: 40, attempt: 1, status: 'pending', status_code: 503, error_phase: 'status' },
          { ...facts, level: 30, attempt: 2, status: 'succeeded', status_code: 200, error_phase: null },
        ]);
        for (const kept of [secret, secret.replace('whsec_', ''), 'hidden', 'Nobody']) {
          expect(workers.logs.join('')).not.toContain(kept);
        }
      },
    );

    itWithAnyQueue('delivers a body of a megabyte', async () => {
      const { secret } = await workers.subscribe(receiver.url);
      const { body } = await workers.publish({ data: 'ä'.repeat(500_000) });
      const [request] = await receiver.waitForRequests(1);
      expect(request?.body.equals(Buffer.from(body))).toBe(true);
      expect(() =>
        verifyWebhook({ secret, headers: request?.headers ?? {}, body: request?.body ?? Buffer.alloc(0) }),
      ).not.toThrow();
    });

    it('retries a failed delivery under the same id until it succeeds', async () => {
      receiver.script({ status: 500 }, 'reset', { status: 200 });
      await workers.subscribe(receiver.url);
      const { eventId } = await workers.publish();
      const state = await workers.settled(eventId, 'succeeded');
      expect(state.attempts).toEqual([
        { attempt: 1, statusCode: 500, errorPhase: 'status' },
        { attempt: 2, statusCode: null, errorPhase: 'response' },
        { attempt: 3, statusCode: 200, errorPhase: null },
      ]);
      expect(new Set(receiver.requests.map((request) => request.headers['webhook-id']))).toEqual(
        new Set([`evt_${eventId}`]),
      );
    });

    itWithAnyQueue('marks a delivery dead at the end of the retry schedule', async () => {
      receiver.always({ status: 302, headers: { location: receiver.url } });
      await workers.subscribe(receiver.url);
      const { eventId } = await workers.publish();
      const state = await workers.settled(eventId, 'dead');
      expect(state.attempts).toHaveLength(4);
      expect(receiver.requests).toHaveLength(4);
    });

    itWithAnyQueue('disables the subscription on 410 and skips later deliveries', async () => {
      receiver.always({ status: 410 });
      const { subscriptionId } = await workers.subscribe(receiver.url);
      const { eventId } = await workers.publish();
      await workers.settled(eventId, 'dead');
      expect(await workers.database.sql.run(SUBSCRIPTION, { subscriptionId })).toEqual([
        { status: 'disabled', disabled_reason: 'gone' },
      ]);
      const next = await workers.publish();
      expect((await workers.settled(next.eventId, 'skipped')).attempts).toEqual([]);
      expect(receiver.requests).toHaveLength(1);
      const counted = await worker.metrics.getSingleMetricAsString('webhook_subscriptions_disabled_total');
      expect(counted).toMatch(/reason="gone".*\} 1$/m);
    });

    it('delivers events that were not queued', async () => {
      await workers.subscribe(receiver.url);
      const { eventId } = await workers.publish({ wake: false });
      await workers.settled(eventId, 'succeeded');
      expect(receiver.requests).toHaveLength(1);
    });

    itWithAnyQueue('blocks targets that are not public', async () => {
      await workers.subscribe(receiver.url.replace('127.0.0.1', '169.254.169.254'));
      const { eventId } = await workers.publish();
      const state = await workers.settled(eventId, 'dead');
      expect(state.attempts[0]).toEqual({ attempt: 1, statusCode: null, errorPhase: 'blocked' });
    });

    itWithAnyQueue('signs with both secrets during the grace period of a rotation', async () => {
      const { secret, subscriptionId } = await workers.subscribe(receiver.url);
      const rotate = statement<{ subscriptionId: string }>(
        'test_rotate',
        `UPDATE webhook_subscriptions SET previous_secret_sealed = secret_sealed, previous_secret_until = now() + interval '1 hour'
          WHERE subscription_id = :subscriptionId`,
      );
      await workers.database.sql.run(rotate, { subscriptionId });
      await workers.publish();
      const [request] = await receiver.waitForRequests(1);
      expect(String(request?.headers['webhook-signature']).split(' ')).toHaveLength(2);
      verifyWebhook({ secret, headers: request?.headers ?? {}, body: request?.body ?? Buffer.alloc(0) });
    });

    itWithAnyQueue('refuses a secret that was sealed for another subscription', async () => {
      const [one, other] = [await workers.subscribe(receiver.url), await workers.subscribe(receiver.url)];
      await workers.database.sql.run(
        statement<{ one: string; other: string }>(
          'test_swap',
          `UPDATE webhook_subscriptions SET deleted_at = CASE WHEN subscription_id = :one THEN NULL ELSE now() END,
             secret_sealed = (SELECT secret_sealed FROM webhook_subscriptions WHERE subscription_id = :other)
           WHERE subscription_id IN (:one, :other)`,
        ),
        { one: one.subscriptionId, other: other.subscriptionId },
      );
      const { eventId } = await workers.publish();
      const state = await workers.settled(eventId, 'dead');
      expect(state.attempts[0]).toMatchObject({ errorPhase: 'signing' });
      expect(receiver.requests).toHaveLength(0);
    });

    it('is not delayed by an endpoint that never answers', async () => {
      const dead = await startReceiver();
      dead.always('hang');
      try {
        await workers.subscribe(dead.url);
        for (let count = 0; count < 20; count += 1) await workers.publish();
        await dead.waitForRequests(1);
        await workers.database.sql.run(FREE, {});
        await workers.subscribe(receiver.url);
        const { eventId } = await workers.publish();
        await workers.settled(eventId, 'succeeded');
        expect(dead.requests.length).toBeLessThanOrEqual(8);
      } finally {
        await dead.stop();
      }
    });

    it('answers probes and serves its metrics', async () => {
      expect(await (await fetch(`${worker.url}/health`)).json()).toEqual({ status: 'ok' });
      const readiness = await fetch(`${worker.url}/v1/ops/readiness`);
      expect(readiness.status).toBe(200);
      expect(await readiness.json()).toEqual({
        status: 'ready',
        checks: {
          clock: { status: 'ok' },
          database: { status: 'ok' },
          schema: { status: 'ok' },
          migrations: { status: 'ok' },
          queue: { status: 'ok' },
          outbox: { status: 'ok' },
          deliveries: { status: 'ok' },
          egress: { status: 'ok' },
          log: { status: 'degraded', reason: 'unsigned', detail: expect.stringContaining('LOG_SIGNING_KEY') },
          feed: { status: 'ok' },
        },
      });
      const figures = await worker.metrics.metrics();
      for (const name of [
        'webhook_attempts_total{status="succeeded"',
        'webhook_attempt_duration_seconds_bucket',
        'webhook_outbox_lag_seconds{',
        'webhook_oldest_due_delivery_seconds{',
        'webhook_runnable_delivery_seconds{',
        'webhook_queue_jobs{of="fanout"',
        'webhook_deliveries_in_process{of="running"',
        'webhook_slots_held{of="unproven"',
        'webhook_turns_skipped{of="proven"',
      ]) {
        expect(figures).toContain(name);
      }
    });
  });

  describe('with workers that start and stop', () => {
    afterEach(async () => {
      await workers.stopAll();
    });

    it('delivers events that were committed while no worker ran', async () => {
      await workers.subscribe(receiver.url);
      const events = [await workers.publish(), await workers.publish({ wake: false })];
      const worker = await workers.start();
      for (const { eventId } of events) await workers.settled(eventId, 'succeeded');
      expect(receiver.requests).toHaveLength(2);
      await worker.stop();
    });

    it('sends each delivery once when two workers share the work', async () => {
      await workers.subscribe(receiver.url);
      await Promise.all([workers.start(), workers.start()]);
      for (let count = 0; count < EVENTS; count += 1) await workers.publish();
      await waitFor(async () => (await workers.database.sql.one(OPEN, {})).open === 0, {
        what: 'every delivery to be settled',
      });
      const ids = receiver.requests.map((request) => request.headers['webhook-id']);
      expect(ids).toHaveLength(EVENTS);
      expect(new Set(ids).size).toBe(EVENTS);
    });

    it('retries a delivery whose worker died during the attempt', async () => {
      await workers.subscribe(receiver.url);
      const { eventId } = await workers.publish({ wake: false });
      await workers.database.sql.run(
        statement<{ eventId: string }>(
          'test_abandon',
          `WITH e AS (UPDATE outbox_events SET fanned_out_at = now() WHERE event_id = :eventId RETURNING *)
           INSERT INTO deliveries (delivery_id, event_id, subscription_id, tenant_id, event_type, status, attempt, next_at,
                                   lease_until)
           SELECT gen_random_uuid(), e.event_id, s.subscription_id, e.tenant_id, e.event_type, 'pending', 1,
                  now() - interval '1 minute', now() - interval '1 second'
             FROM e JOIN webhook_subscriptions s ON s.tenant_id = e.tenant_id AND s.deleted_at IS NULL`,
        ),
        { eventId },
      );
      const worker = await workers.start();
      const state = await workers.settled(eventId, 'succeeded');
      expect(state.attempt).toBe(2);
      await worker.stop();
    });

    itWithAnyQueue('finishes and records running attempts when it is stopped', async () => {
      await workers.subscribe(receiver.url);
      receiver.always('slow-body');
      const worker = await workers.start({ WEBHOOK_TOTAL_TIMEOUT_MS: '2000' });
      const { eventId } = await workers.publish();
      await receiver.waitForRequests(1);
      await worker.stop();
      expect((await workers.delivery(eventId)).status).toBe('succeeded');
    });

    itWithAnyQueue('aborts and records an attempt that would outlast the shutdown, for a later retry', async () => {
      await workers.subscribe(receiver.url);
      receiver.always('hang');
      const worker = await workers.start({ SHUTDOWN_TIMEOUT_MS: '400' });
      const { eventId } = await workers.publish();
      await receiver.waitForRequests(1);
      await worker.stop();
      expect(await workers.delivery(eventId)).toMatchObject({
        status: 'pending',
        attempts: [{ attempt: 1, statusCode: null, errorPhase: 'response' }],
      });
      receiver.always({ status: 200 });
      const next = await workers.start();
      await workers.settled(eventId, 'succeeded');
      await next.stop();
    });

    itWithAnyQueue('deletes only events and deliveries that ended before the retention period', async () => {
      await workers.subscribe(receiver.url);
      const worker = await workers.start({ WEBHOOK_RETENTION_DAYS: '0' });
      const [old, young] = [await workers.publish(), await workers.publish()];
      for (const { eventId } of [old, young]) await workers.settled(eventId, 'succeeded');
      await worker.stop();
      await workers.database.sql.run(
        statement<{ eventId: string }>(
          'test_age',
          `WITH e AS (UPDATE outbox_events SET fanned_out_at = now() - interval '3 days' WHERE event_id = :eventId)
           UPDATE deliveries SET finished_at = now() - interval '3 days' WHERE event_id = :eventId`,
        ),
        { eventId: old.eventId },
      );
      const left = (): Promise<{ event_id: string }[]> =>
        workers.database.sql.run(
          statement<{ eventIds: string[] }, { event_id: string }>(
            'test_remaining_deliveries',
            `SELECT event_id FROM outbox_events WHERE event_id = ANY (:eventIds::uuid[]) UNION ALL
             SELECT event_id FROM deliveries WHERE event_id = ANY (:eventIds::uuid[])`,
          ),
          { eventIds: [old.eventId, young.eventId] },
        );
      const forever = await workers.start({ WEBHOOK_RETENTION_DAYS: '0' });
      await forever.stop();
      expect(await left()).toHaveLength(4);
      await Promise.all([1, 2].map(() => workers.start({ WEBHOOK_RETENTION_DAYS: '2' })));
      // While one worker deletes the delivery, the other may hold its event. Then the next round deletes it, a minute later.
      const isGone = async (): Promise<boolean> => (await left()).length === 2;
      await waitFor(isGone, { what: 'the old event to be gone' });
      expect(await left()).toEqual([{ event_id: young.eventId }, { event_id: young.eventId }]);
    });
  });
});

describe('webhook worker without its queue', () => {
  it('delivers and retries by sweeping', async () => {
    // Nothing listens on the discard port.
    const workers = await startWorkers();
    const receiver = await startReceiver();
    try {
      receiver.script({ status: 500 });
      await workers.subscribe(receiver.url);
      await workers.start({ QUEUE_URL: 'redis://127.0.0.1:9' });
      const { eventId } = await workers.publish({ wake: false });
      const state = await workers.settled(eventId, 'succeeded');
      expect(state.attempts).toHaveLength(2);
    } finally {
      await receiver.stop();
      await workers.close();
    }
  });
});
