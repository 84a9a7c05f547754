import { Unfit } from '@iss/platform';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { reservePort } from '../../../tools/processes';
import { type OwnRedis, startOwnRedis } from '../../../tools/redis';
import { MovingAddress } from '../../../tools/testing/moving-address';
import {
  command,
  kill,
  makeCertificates,
  type RedisGroup,
  startCluster,
  startSentinelGroup,
} from '../../../tools/testing/redis-groups';
import { waitFor } from '../../../tools/testing/wait-for';
import { type EventQueue, openQueue } from './event-queue';

const closings: (() => unknown)[] = [];
const rejections: unknown[] = [];
const onRejection = (reason: unknown): void => void rejections.push(reason);

beforeAll(() => void process.on('unhandledRejection', onRejection));
afterEach(async () => {
  for (const close of closings.splice(0).reverse()) await close();
  expect(rejections).toEqual([]);
});
afterAll(() => void process.off('unhandledRejection', onRejection));

/** A producer, a consumer as in another process, and the jobs that the consumer received. */
class Pair {
  readonly received: string[] = [];
  readonly warnings: string[] = [];
  readonly producer: EventQueue;

  constructor(queueUrl: string) {
    const warn = (message: string): void => void this.warnings.push(message);
    const [producer, consumer] = [1, 2].map(() =>
      openQueue({ queueUrl, databaseUrl: 'postgres://nobody@nowhere', warn }),
    );
    if (producer === undefined || consumer === undefined) throw new Error('No queue');
    consumer.consume('fanout', async ({ eventIds }) => void this.received.push(...eventIds), { concurrency: 1 });
    closings.push(() => Promise.all([producer.close(), consumer.close()]));
    this.producer = producer;
  }

  /** Waits until new jobs arrive. */
  async works(what: string): Promise<void> {
    const arrives = async (): Promise<boolean> => {
      await this.producer.ping();
      const id = randomUUID();
      await this.producer.wakeFanout([id]);
      await waitFor(() => this.received.includes(id), { deadlineMs: 2_000 });
      return true;
    };
    await waitFor(arrives, { deadlineMs: 30_000, what });
  }

  async fails(): Promise<unknown> {
    return waitFor(
      () =>
        this.producer.ping().then(
          () => false,
          (error: unknown) => error,
        ),
      { what: 'the queue to fail' },
    );
  }
}

async function server(options: Parameters<typeof startOwnRedis>[0] = {}): Promise<OwnRedis> {
  const started = await startOwnRedis(options);
  closings.push(() => kill(started));
  return started;
}

describe('a Redis server with TLS', () => {
  const folder = mkdtempSync(join(tmpdir(), 'iss-redis-tls-'));
  let url: string;
  let authority: string;

  beforeAll(async () => {
    const made = makeCertificates(folder);
    ({ authority } = made);
    const files = ['--tls-cert-file', made.certificate, '--tls-key-file', made.key, '--tls-ca-cert-file', authority];
    const port = String(await reservePort());
    const started = await startOwnRedis({ settings: ['--tls-port', port, '--tls-auth-clients', 'no', ...files] });
    stop = () => kill(started);
    url = `rediss://127.0.0.1:${port}/0`;
  });
  let stop: (() => Promise<void>) | undefined;
  afterAll(async () => {
    await stop?.();
    rmSync(folder, { recursive: true, force: true });
  });

  it('is trusted if its authority is in cacert', () => new Pair(`${url}?cacert=${authority}`).works('TLS'));

  it('is refused without its authority', async () => {
    const pair = new Pair(url);
    await waitFor(() => pair.warnings.includes('Redis cannot be reached'));
    await expect(pair.producer.ping()).rejects.toThrow();
  });
});

it.each<[string, () => Promise<RedisGroup>]>([
  ['Sentinel', startSentinelGroup],
  ['Cluster', startCluster],
])('uses the promoted replica of a %s group after its primary is killed', async (_name, start) => {
  const group = await start();
  closings.push(() => group.stop());
  const pair = new Pair(group.queueUrl);
  await pair.works('the first primary');
  await kill(await group.primary());
  await pair.fails();
  await pair.works('the replica that was promoted');
});

it('warns of a Redis that evicts keys', async () => {
  // BullMQ prints a warning of its own.
  const printed = jest.spyOn(console, 'warn').mockImplementation();
  closings.push(() => printed.mockRestore());
  const { url } = await server({ settings: ['--maxmemory-policy', 'allkeys-lru'] });
  const pair = new Pair(url);
  await waitFor(() => pair.warnings.some((warning) => warning.includes('maxmemory-policy allkeys-lru')));
});

it('leaves a demoted Redis for the new one at the same address', async () => {
  const [first, second] = [await server(), await server()];
  const address = new MovingAddress(first.url);
  await address.start();
  closings.push(() => address.stop());
  const pair = new Pair(address.url);
  await pair.works('the first server');

  address.move(second.url);
  await command(first, 'replicaof', '127.0.0.1', String(second.port));
  const refused = await pair.fails();
  expect(refused).toBeInstanceOf(Unfit);
  expect(refused).toMatchObject({ message: 'Redis accepts no writes: it is a replica' });
  await pair.works('the second server');
});

it('retries a Redis replica with growing pauses until it accepts writes', async () => {
  const [first, second] = [await server(), await server()];
  const pair = new Pair(first.url);
  await pair.works('the server');
  await command(first, 'replicaof', '127.0.0.1', String(second.port));
  const connections = async (): Promise<number> => {
    const stats = String(await command(first, 'info', 'stats'));
    return Number(/total_connections_received:(\d+)/.exec(stats)?.[1]);
  };
  const before = await connections();
  const until = performance.now() + 1_500;
  while (performance.now() < until) await pair.fails();
  // There are three connections, and those that ask for their number. Without longer pauses, each connection would have
  // been made 15 times.
  expect((await connections()) - before).toBeLessThan(25);
  await command(first, 'replicaof', 'no', 'one');
  await pair.works('the server that is a primary again');
});

it('fails fast while Redis hangs, and uses it again after it resumes or restarts empty', async () => {
  const redis = await server();
  const pair = new Pair(redis.url);
  await pair.works('the server');
  process.kill(redis.process.pid, 'SIGSTOP');
  await expect(pair.producer.wakeFanout([randomUUID()])).rejects.toThrow(/took longer|timed out|timeout/i);
  // The client then closes the connection. New calls fail immediately, and the client queues nothing for a server that
  // does not answer.
  const toldAtOnce = async (): Promise<boolean> => {
    const askedAt = performance.now();
    await expect(pair.producer.wakeFanout([randomUUID()])).rejects.toThrow();
    return performance.now() - askedAt < 100;
  };
  await waitFor(toldAtOnce, { deadlineMs: 10_000, what: 'the connection to be cut' });
  process.kill(redis.process.pid, 'SIGCONT');
  await pair.works('the server that goes on');

  await kill(redis);
  await pair.fails();
  await server({ port: redis.port });
  await pair.works('the server that came back empty');
});

it.each([
  ['redis://one,two', 'QUEUE_URL must start with redis+sentinel:// or redis+cluster://'],
  ['rediss://one?cacert=/nowhere/ca.crt', 'QUEUE_URL names a file that cannot be read: ENOENT'],
])('refuses %s and reports the reason', (queueUrl, message) => {
  const settings = { queueUrl, databaseUrl: 'postgres://nobody@nowhere', warn: () => undefined };
  expect(() => openQueue(settings)).toThrow(message);
});
