import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { statement } from '@iss/persistence';
import { ProductProcess } from '../../../tools/testing/product-process';
import { type Receiver, startReceiver } from '../../../tools/testing/receiver';
import { testRedisUrl } from '../../../tools/testing/test-redis';
import { waitFor } from '../../../tools/testing/wait-for';
import { startWorkers, type TestWorkers } from './worker';

/** A first step of 16 deliveries, one of 256, and another. */
const AUDIENCE = 290;
/** The delivery, in the order of the fan-out, that the third step cannot make for a while. */
const STOPPED_AT = 280;

const PROGRESS = statement<{ eventId: string }, { is_done: boolean; made: number; open: number; audience: number }>(
  'test_progress',
  `SELECT o.fanned_out_at IS NOT NULL AS is_done, count(d)::int AS made,
          (count(d) FILTER (WHERE d.status = 'pending'))::int AS open,
          count(DISTINCT d.subscription_id)::int AS audience
     FROM outbox_events o LEFT JOIN deliveries d ON d.event_id = o.event_id
    WHERE o.event_id = :eventId GROUP BY o.event_id`,
);
/** Skips deliveries that the killed worker still records: waiting for them would be a deadlock where both lock several. */
const END_LEASES = statement(
  'test_end_leases',
  `UPDATE deliveries SET lease_until = now(), next_at = now() - interval '1 minute'
    WHERE delivery_id IN (SELECT d.delivery_id FROM deliveries d WHERE d.lease_until IS NOT NULL FOR UPDATE SKIP LOCKED)`,
);

/** Stops the fan-out at one subscription, until its end: an insertion of that delivery which is never committed. */
async function barrier(workers: TestWorkers, eventId: string, subscriptionId: string) {
  const client = new Client({ connectionString: workers.env['DATABASE_URL'] });
  await client.connect();
  await client.query('BEGIN');
  await client.query(
    `INSERT INTO deliveries (delivery_id, event_id, subscription_id, tenant_id, event_type, status)
     VALUES ($1, $2, $3, 'acme', 'identity.snapshot.created', 'pending')`,
    [randomUUID(), eventId, subscriptionId],
  );
  return { lift: () => client.end() };
}

describe.each(['Redis', 'PostgreSQL'])('fan-out with the queue on %s', (backend) => {
  let workers: TestWorkers;
  let receiver: Receiver;
  let subscriptionIds: string[];

  beforeAll(async () => {
    receiver = await startReceiver();
    workers = await startWorkers(backend === 'Redis' ? await testRedisUrl() : undefined);
    const targets = Array.from({ length: AUDIENCE }, (_, index) => ({ targetUrl: `${receiver.url}/${index}` }));
    subscriptionIds = (await workers.subscribeAll(targets)).map(({ subscriptionId }) => subscriptionId).sort();
  });

  afterEach(async () => {
    await workers.stopAll();
    receiver.clear();
  });

  afterAll(async () => {
    await workers?.close();
    await receiver?.stop();
  });

  const progress = async (eventId: string) => {
    const [row] = await workers.database.sql.run(PROGRESS, { eventId });
    if (row === undefined) throw new Error('no such event');
    return row;
  };
  const whole = async (eventId: string): Promise<void> => {
    const isWhole = async (): Promise<boolean> => {
      const { is_done: isDone, open } = await progress(eventId);
      return isDone && open === 0;
    };
    await waitFor(isWhole, { what: 'the end of the fan-out' });
    expect(await progress(eventId)).toEqual({ is_done: true, made: AUDIENCE, open: 0, audience: AUDIENCE });
    expect(new Set(receiver.requests.map(({ path }) => path)).size).toBe(AUDIENCE);
  };

  it('delivers before it is complete, and completes after its worker is killed between steps', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'iss-fanout-'));
    const worker = await ProductProcess.prepare({ app: 'webhook-worker', name: 'worker', folder, env: workers.env });
    const { eventId } = await workers.publish();
    const { lift } = await barrier(workers, eventId, subscriptionIds[STOPPED_AT] ?? '');
    try {
      await worker.start();
      await receiver.waitForRequests(200);
      const halfway = await progress(eventId);
      expect(halfway.is_done).toBe(false);
      expect(halfway.made).toBeLessThanOrEqual(STOPPED_AT);
      await worker.kill();
      await lift();
      await workers.database.sql.run(END_LEASES, {});
      await workers.start();
      await whole(eventId);
    } finally {
      await worker.stop(10_000);
      rmSync(folder, { recursive: true });
    }
  });

  it('creates each delivery once with two workers, and none for later subscriptions', async () => {
    const { eventId } = await workers.publish({ wake: false });
    await workers.subscribe(`${receiver.url}/late`);
    await Promise.all([workers.start(), workers.start()]);
    await Promise.all([workers.queue.wakeFanout([eventId]), workers.queue.wakeFanout([eventId])]);
    await whole(eventId);
    expect(receiver.requests).toHaveLength(AUDIENCE);
    expect(receiver.requests.map(({ path }) => path)).not.toContain('/late');
  });
});
