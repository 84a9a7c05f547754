import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { Client } from 'pg';
import { createTestDatabase, type TestDatabase } from '../../../tools/testing/test-database';
import { MovingAddress } from '../../../tools/testing/moving-address';
import { testRedisUrl } from '../../../tools/testing/test-redis';
import { waitFor } from '../../../tools/testing/wait-for';
import { type EventQueue, openQueue, type QueueSettings } from './event-queue';
import { migrateQueue } from './migrate-queue';
import type { DeliveryRef } from './jobs';

let database: TestDatabase;
let redisUrl: string;
const open: EventQueue[] = [];

beforeAll(async () => {
  redisUrl = await testRedisUrl();
  database = await createTestDatabase({ migrated: 'service' });
  await migrateQueue(database.url);
  await migrateQueue(database.url);
});

afterEach(async () => {
  await Promise.all(open.splice(0).map((queue) => queue.close()));
});

afterAll(async () => {
  await database?.drop();
});

function opened(settings: Partial<QueueSettings> = {}): EventQueue {
  const queue = openQueue({ databaseUrl: database.url, warn: () => undefined, ...settings });
  open.push(queue);
  return queue;
}

/** Producers fail fast, so that a test waits for the connection first. */
async function ready(queue: EventQueue): Promise<EventQueue> {
  await waitFor(() => queue.ping().then(() => true), { what: 'the queue' });
  return queue;
}

/** Counts the jobs of deliveries in any state. */
async function keptJobs(backend: string): Promise<number> {
  if (backend === 'Redis') {
    const redis = new Redis(redisUrl);
    const keys = await redis.keys('{iss}:webhook-delivery:delivery-*');
    redis.disconnect();
    return keys.length;
  }
  const client = new Client({ connectionString: database.url });
  await client.connect();
  const { rows } = await client.query<{ count: number }>('SELECT count(*)::int AS count FROM bullmq.job');
  await client.end();
  return rows[0]?.count ?? 0;
}

describe.each(['Redis', 'PostgreSQL'])('EventQueue on %s', (backend) => {
  const settings = (): Partial<QueueSettings> => (backend === 'Redis' ? { queueUrl: redisUrl } : {});

  it('delivers every id to the consumers once, in batches', async () => {
    const [producer, consumer] = [await ready(opened(settings())), opened(settings())];
    const sent = Array.from({ length: 250 }, () => randomUUID());
    const batches: string[][] = [];
    consumer.consume('fanout', async ({ eventIds }) => void batches.push(eventIds), { concurrency: 2 });
    await producer.wakeFanout(sent);
    await waitFor(() => batches.flat().length >= sent.length);
    expect(batches.flat().sort()).toEqual([...sent].sort());
    expect(batches).toHaveLength(3);
  });

  it('delivers delayed jobs when they are due, and removes finished and failed jobs', async () => {
    const warnings: string[] = [];
    const warn = (message: string): void => void warnings.push(message);
    const [producer, consumer] = [await ready(opened(settings())), opened({ ...settings(), warn })];
    const ref: DeliveryRef = {
      deliveryId: randomUUID(),
      subscriptionId: randomUUID(),
      tenantId: 'acme',
      founderId: 'oidc:p#founder',
      targetHost: 'example.com',
    };
    const received: { refs: DeliveryRef[]; atMs: number }[] = [];
    const sentAtMs = performance.now();
    await producer.wakeDelivery([ref], 300);
    // There is no consumer yet, so the job remains however long the query takes.
    expect((await producer.depth()).delivery).toBe(1);
    consumer.consume(
      'delivery',
      async ({ deliveries }) => {
        received.push({ refs: deliveries, atMs: performance.now() });
        throw new Error('a processor may fail');
      },
      { concurrency: 1 },
    );
    await waitFor(() => received.length === 1);
    expect(received[0]?.refs).toEqual([ref]);
    expect((received[0]?.atMs ?? 0) - sentAtMs).toBeGreaterThanOrEqual(295);
    await waitFor(async () => (await producer.depth()).delivery === 0);
    await waitFor(async () => (await keptJobs(backend)) === 0, { what: 'the end of the job' });
    expect(warnings).toEqual(['A delivery job failed; the sweep will repeat its work']);
  });

  it('adds no job for an empty list', async () => {
    const producer = await ready(opened(settings()));
    await producer.wakeFanout([]);
    expect(await producer.depth()).toEqual({ fanout: 0, delivery: 0 });
  });
});

describe('EventQueue on PostgreSQL', () => {
  it('acts as the application role', async () => {
    const producer = await ready(opened());
    await producer.wakeFanout([randomUUID()]);
    const client = new Client({ connectionString: database.url });
    await client.connect();
    try {
      const owners = await client.query(
        "SELECT DISTINCT relowner::regrole::text FROM pg_class WHERE relname LIKE 'bullmq_jid_%'",
      );
      expect(owners.rows).toEqual([{ relowner: 'iss_app' }]);
      await client.query('SET ROLE iss_app');
      await expect(client.query('DROP TABLE bullmq.job')).rejects.toThrow(/must be owner/);
    } finally {
      await client.end();
    }
  });
});

describe('EventQueue on PostgreSQL before its migration', () => {
  it('rejects calls without ending the process, and works after the migration', async () => {
    const created = await createTestDatabase({ migrated: 'service' });
    const warnings: string[] = [];
    const queue = opened({ databaseUrl: created.url, warn: (message) => void warnings.push(message) });
    const received: string[] = [];
    queue.consume('fanout', async ({ eventIds }) => void received.push(...eventIds), { concurrency: 1 });
    await waitFor(() => warnings.length > 0);
    await expect(queue.wakeFanout(['lost'])).rejects.toThrow();

    await migrateQueue(created.url);
    await ready(queue);
    await queue.wakeFanout(['kept']);
    await waitFor(() => received.includes('kept'));
    await queue.close();
    await created.drop();
  });
});

describe('EventQueue while Redis is down', () => {
  it('fails fast with few warnings, recovers, and can be closed', async () => {
    const proxy = new MovingAddress(redisUrl);
    await proxy.start();
    const warnings: string[] = [];
    const queue = opened({ queueUrl: proxy.url, warn: (message) => void warnings.push(message) });
    const received: string[] = [];
    queue.consume('fanout', async ({ eventIds }) => void received.push(...eventIds), { concurrency: 1 });
    await ready(queue);

    await proxy.stop();
    await waitFor(() =>
      queue.wakeFanout(['lost']).then(
        () => false,
        () => true,
      ),
    );
    await Promise.all(Array.from({ length: 50 }, () => expect(queue.wakeFanout(['lost'])).rejects.toThrow()));
    await expect(queue.ping()).rejects.toThrow();
    expect(warnings.length).toBeLessThanOrEqual(2);

    await proxy.start();
    await ready(queue);
    await queue.wakeFanout(['back']);
    await waitFor(() => received.includes('back'));

    await proxy.stop();
    await queue.close();
  });

  it('can be opened before Redis has started', async () => {
    const proxy = new MovingAddress(redisUrl);
    await proxy.start();
    await proxy.stop();
    const queue = opened({ queueUrl: proxy.url });
    await expect(queue.wakeFanout(['lost'])).rejects.toThrow();
    await queue.wakeFanout([]);
    await proxy.start();
    await ready(queue);
    await queue.wakeFanout(['x']);
    await queue.close();
    await proxy.stop();
  });
});
