import { type DatabaseRole, failureOf, Unfit, type Warn } from '@iss/platform';
import {
  createPostgresBackend,
  createRedisBackend,
  type Job,
  Queue,
  type QueueOptions,
  Worker,
  type WorkerOptions,
} from 'bullmq';
import { makeStringsFast } from './fast-strings';
import type { Jobs, QueueName } from './jobs';
import { QUEUES } from './jobs';
import { type OpenRedis, RedisClients } from './redis-client';

makeStringsFast();

/** The schema of BullMQ's tables in PostgreSQL. */
export const POSTGRES_SCHEMA = 'bullmq';

/** The part of BullMQ's queue that producers use, on either backend. */
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

/** The queue's backend: Redis or PostgreSQL. */
export interface Backend {
  /** False if a command would certainly fail; none is sent then. */
  isReachable(): boolean;
  /** Rejects if the backend responds but cannot accept jobs. */
  takesWrites(): Promise<void>;
  queue(name: QueueName): ProducerQueue;
  /** Processes no job until it is run. */
  worker<Name extends QueueName>(name: Name, processor: Processor<Name>, concurrency: number): ConsumerWorker;
  close(): void;
}

const CONNECT_TIMEOUT_MS = 5_000;

/** The braces make all keys hash to one slot of a Redis Cluster, as BullMQ's scripts require. */
const REDIS_PREFIX = '{iss}';

/** Written to test whether Redis accepts writes. It is in the slot of the queues. */
const WRITTEN_KEY = `${REDIS_PREFIX}:written`;
const WRITTEN_SECONDS = 60;

/** How long a refused write explains a missing connection. */
const REFUSED_MS = 5_000;

/** The reason why Redis refuses writes, by the first word of its error. */
const REFUSALS: Readonly<Record<string, string>> = {
  READONLY: 'Redis accepts no writes: it is a replica',
  OOM: 'Redis accepts no writes: its memory is full',
  MISCONF: 'Redis accepts no writes: it cannot save to its disk',
  NOREPLICAS: 'Redis accepts no writes: too few replicas follow it',
  CLUSTERDOWN: 'Redis accepts no writes: its cluster is down',
  NOPERM: 'This Redis login may not write keys that begin with {iss}:',
};

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
  private readonly clients: RedisClients;
  private readonly producer: OpenRedis;
  private refused: { why: Unfit; atMs: number } | undefined;

  /** @throws EnvError that describes the fault of the URL */
  constructor(queueUrl: string, warn: Warn) {
    this.clients = new RedisClients(queueUrl, warn);
    this.producer = this.clients.open('fails');
    this.producer.client.once('ready', () => void this.warnOfEviction(warn).catch(() => undefined));
  }

  isReachable(): boolean {
    return this.producer.client.status === 'ready';
  }

  async takesWrites(): Promise<void> {
    try {
      await this.producer.client.set(WRITTEN_KEY, '1', 'EX', WRITTEN_SECONDS);
      this.refused = undefined;
    } catch (error) {
      const [word = ''] = failureOf(error).message.split(' ');
      const refusal = REFUSALS[word];
      const nowMs = performance.now();
      if (refusal !== undefined) this.refused = { why: new Unfit(refusal, { cause: error }), atMs: nowMs };
      // Between two connections to a replica there is no connection, but the last refusal is still the reason.
      throw this.refused !== undefined && nowMs - this.refused.atMs < REFUSED_MS ? this.refused.why : error;
    }
  }

  queue(name: QueueName): ProducerQueue {
    return new Queue(
      QUEUES[name],
      { ...queueOptions, connection: this.producer.client, prefix: REDIS_PREFIX },
      createRedisBackend,
    );
  }

  worker<Name extends QueueName>(name: Name, processor: Processor<Name>, concurrency: number): ConsumerWorker {
    const { client, close } = this.clients.open('waits');
    const worker = new Worker(
      QUEUES[name],
      (job: Job<Jobs[Name]>) => processor(job.data),
      { ...workerOptions(concurrency), connection: client, prefix: REDIS_PREFIX },
      createRedisBackend,
    );
    return {
      waitUntilReady: () => worker.waitUntilReady(),
      run: () => worker.run(),
      on: (event, listener) => worker.on(event, listener),
      async close(isForced) {
        // Otherwise commands that wait for an unreachable Redis would continue to wait.
        if (isForced === true) close();
        await worker.close(isForced).finally(close);
      },
    };
  }

  close(): void {
    this.producer.close();
  }

  private async warnOfEviction(warn: Warn): Promise<void> {
    const policy = /maxmemory_policy:(\S+)/.exec(await this.producer.client.info('memory'))?.[1];
    if (policy !== undefined && policy !== 'noeviction') {
      warn(`Redis evicts keys when its memory is full (maxmemory-policy ${policy}): set noeviction, or jobs get lost`);
    }
  }
}

/** BullMQ on the service's own database: no additional server, but a quarter of the speed. */
export class PostgresBackend implements Backend {
  constructor(
    private readonly databaseUrl: string,
    private readonly role: DatabaseRole,
  ) {}

  isReachable(): boolean {
    return true;
  }

  /** The database's own readiness check covers this. */
  takesWrites(): Promise<void> {
    return Promise.resolve();
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
      options: `-c role=${this.role}`,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      keepAlive: true,
      max,
    };
  }
}
