import { APPLICATION_ROLE } from '@iss/platform';
import {
  createPostgresBackend,
  createRedisBackend,
  type Job,
  Queue,
  type QueueOptions,
  Worker,
  type WorkerOptions,
} from 'bullmq';
import type { Warn } from '@iss/platform';
import { Redis } from 'ioredis';
import { makeStringsFast } from './fast-strings';
import type { Jobs, QueueName } from './jobs';
import { QUEUES } from './jobs';

makeStringsFast();

/** BullMQ's tables on PostgreSQL. */
export const POSTGRES_SCHEMA = 'bullmq';

/** The part of BullMQ's queue that producers use, whatever it stands on. */
export type ProducerQueue = Pick<
  Queue,
  'addBulk' | 'getJobCountByTypes' | 'getVersion' | 'waitUntilReady' | 'close'
> & {
  on(event: 'error', listener: (error: Error) => void): unknown;
};

/** The part of BullMQ's worker that consumers use. */
export type ConsumerWorker = Pick<Worker, 'waitUntilReady' | 'run' | 'close'> & {
  on(event: 'error', listener: (error: Error) => void): unknown;
};

export type Processor<Name extends QueueName> = (data: Jobs[Name]) => Promise<void>;

/** What the queue stands on. */
export interface Backend {
  /** False when a command would certainly fail: nothing is sent then. */
  isReachable(): boolean;
  queue(name: QueueName): ProducerQueue;
  /** Takes no job before it is told to run. */
  worker<Name extends QueueName>(name: Name, processor: Processor<Name>, concurrency: number): ConsumerWorker;
  close(): void;
}

const CONNECT_TIMEOUT_MS = 5_000;
/** A producer's command that takes longer than this has failed. */
export const COMMAND_TIMEOUT_MS = 2_000;
const MAX_RECONNECT_DELAY_MS = 2_000;

/** The braces make all keys hash to one slot of a Redis Cluster, which BullMQ's scripts need. */
const REDIS_PREFIX = '{iss}';

const reconnectDelayMs = (tries: number): number => Math.min(100 * tries, MAX_RECONNECT_DELAY_MS);

const queueOptions = {
  defaultJobOptions: { removeOnComplete: true, removeOnFail: true, attempts: 1 },
  streams: { events: { maxLen: 100 } },
} satisfies Partial<QueueOptions>;

function workerOptions(concurrency: number) {
  return {
    concurrency,
    autorun: false,
    removeOnComplete: { count: 0 },
    removeOnFail: { count: 0 },
    lockDuration: 60_000,
    runRetryDelay: 1_000,
  } satisfies Partial<WorkerOptions>;
}

export class RedisBackend implements Backend {
  private readonly client: Redis;

  constructor(
    private readonly url: string,
    warn: Warn,
  ) {
    // Fails fast: a request must not wait for a queue that is down.
    this.client = new Redis(url, {
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      commandTimeout: COMMAND_TIMEOUT_MS,
      connectTimeout: CONNECT_TIMEOUT_MS,
      retryStrategy: reconnectDelayMs,
    });
    this.client.on('error', (error) => warn('Redis cannot be reached', error));
    this.client.once('ready', () => void this.warnOfEviction(warn).catch(() => undefined));
  }

  isReachable(): boolean {
    return this.client.status === 'ready';
  }

  queue(name: QueueName): ProducerQueue {
    return new Queue(
      QUEUES[name],
      { ...queueOptions, connection: this.client, prefix: REDIS_PREFIX },
      createRedisBackend,
    );
  }

  worker<Name extends QueueName>(name: Name, processor: Processor<Name>, concurrency: number): ConsumerWorker {
    // Never gives up: its commands wait until Redis is back.
    const connection = {
      url: this.url,
      maxRetriesPerRequest: null,
      connectTimeout: CONNECT_TIMEOUT_MS,
      retryStrategy: reconnectDelayMs,
    };
    return new Worker(
      QUEUES[name],
      (job: Job<Jobs[Name]>) => processor(job.data),
      { ...workerOptions(concurrency), connection, prefix: REDIS_PREFIX },
      createRedisBackend,
    );
  }

  close(): void {
    this.client.disconnect();
  }

  private async warnOfEviction(warn: Warn): Promise<void> {
    const policy = /maxmemory_policy:(\S+)/.exec(await this.client.info('memory'))?.[1];
    if (policy !== undefined && policy !== 'noeviction') {
      warn(`Redis evicts keys when its memory is full (maxmemory-policy ${policy}): set noeviction, or jobs get lost`);
    }
  }
}

/** BullMQ on the service's own database: no further server, and a quarter of the speed. */
export class PostgresBackend implements Backend {
  constructor(private readonly databaseUrl: string) {}

  isReachable(): boolean {
    return true;
  }

  queue(name: QueueName): ProducerQueue {
    return new Queue(QUEUES[name], { ...queueOptions, connection: this.connection(2) }, createPostgresBackend);
  }

  worker<Name extends QueueName>(name: Name, processor: Processor<Name>, concurrency: number): ConsumerWorker {
    return new Worker(
      QUEUES[name],
      (job: Job<Jobs[Name]>) => processor(job.data),
      { ...workerOptions(concurrency), connection: this.connection(2) },
      createPostgresBackend,
    );
  }

  close(): void {
    // Each queue and worker owns its connections.
  }

  private connection(max: number) {
    return {
      connectionString: this.databaseUrl,
      schema: POSTGRES_SCHEMA,
      options: `-c role=${APPLICATION_ROLE}`,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      keepAlive: true,
      max,
    };
  }
}
