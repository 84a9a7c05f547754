import { APPLICATION_ROLE, type DatabaseRole, rarely, type Warn, within } from '@iss/platform';
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import {
  type Backend,
  type ConsumerWorker,
  PostgresBackend,
  type ProducerQueue,
  type Processor,
  RedisBackend,
} from './backend';
import { COMMAND_TIMEOUT_MS } from './redis-client';
import { type DeliveryRef, inRuns, type Jobs, MAX_IDS_PER_JOB, type QueueName } from './jobs';

export interface QueueSettings {
  /**
   * The URL in the format of the platform's `readQueueUrl`. Undefined for BullMQ's PostgreSQL backend on `databaseUrl`.
   */
  queueUrl?: string | undefined;
  databaseUrl: string;
  /** The role of database connections; undefined for {@link APPLICATION_ROLE}. */
  role?: DatabaseRole;
  /** Called for failures that the service survives, at most once in ten seconds. */
  warn: Warn;
}

export interface ConsumeOptions {
  /** Jobs that this process runs concurrently. */
  concurrency: number;
}

const CLOSE_TIMEOUT_MS = 5_000;
const CONSUMER_PAUSE_MS = 1_000;
const FIRST_CONNECTION_MS = 100;
const PING_PAUSE_MS = 50;

/**
 * Wakes the worker. It only saves time: all pending work is in PostgreSQL, and the worker's sweep finds work whose job
 * was never added or was lost. Producers fail fast while the queue is down, and consumers reconnect for ever.
 */
export class EventQueue {
  private readonly queues = new Map<QueueName, ProducerQueue>();
  private readonly workers = new Set<ConsumerWorker>();
  private isConsuming = true;

  constructor(
    private readonly backend: Backend,
    private readonly warn: Warn,
  ) {}

  /** Wakes the fan-out of these events in `delayMs`. Rejects within two seconds if the queue is down. */
  wakeFanout(eventIds: readonly string[], delayMs = 0): Promise<void> {
    return this.add(
      'fanout',
      inRuns(eventIds, MAX_IDS_PER_JOB).map((run) => ({ eventIds: run })),
      delayMs,
    );
  }

  /** Wakes these deliveries in `delayMs`. Rejects within two seconds if the queue is down. */
  wakeDelivery(deliveries: readonly DeliveryRef[], delayMs = 0): Promise<void> {
    return this.add(
      'delivery',
      inRuns(deliveries, MAX_IDS_PER_JOB).map((run) => ({ deliveries: run })),
      delayMs,
    );
  }

  /** Starts to process jobs. If a processor throws, its job is dropped, but the sweep repeats the work. */
  consume<Name extends QueueName>(name: Name, processor: Processor<Name>, options: ConsumeOptions): void {
    const process: Processor<Name> = async (data) => {
      try {
        await processor(data);
      } catch (error) {
        this.warn(`A ${name} job failed; the sweep will repeat its work`, error);
      }
    };
    this.run(name, () => this.backend.worker(name, process, options.concurrency)).catch((error: unknown) =>
      this.warn(`The ${name} consumer has ended; the sweep does its work`, error),
    );
  }

  /** Returns the number of waiting jobs per queue. Rejects within two seconds if the queue is down. */
  async depth(): Promise<Record<QueueName, number>> {
    const count = (name: QueueName): Promise<number> =>
      this.bounded(name, 'Counting jobs', (queue) => queue.getJobCountByTypes('waiting', 'active', 'delayed'));
    const [fanout, delivery] = await Promise.all([count('fanout'), count('delivery')]);
    return { fanout, delivery };
  }

  /** Resolves if the queue accepts jobs. Otherwise rejects within two seconds, with `Unfit` if the reason is known. */
  async ping(): Promise<void> {
    await within(COMMAND_TIMEOUT_MS, this.backend.takesWrites(), 'A ping');
    await this.bounded('fanout', 'A ping', (queue) => queue.getVersion());
  }

  /** Pings repeatedly for up to `timeoutMs`, because a newly opened queue is not connected yet. */
  async pingFor(timeoutMs: number): Promise<void> {
    const until = performance.now() + timeoutMs;
    for (;;) {
      try {
        return await this.ping();
      } catch (error) {
        if (performance.now() >= until) throw error;
      }
      await wait(PING_PAUSE_MS);
    }
  }

  /** Stops taking jobs and waits up to five seconds for running ones. Jobs can still be added. */
  async stopConsuming(): Promise<void> {
    this.isConsuming = false;
    // While Redis is down, closing a worker gracefully would wait for it.
    const force = !this.backend.isReachable();
    await this.ended([...this.workers].map((worker) => worker.close(force)));
    this.workers.clear();
  }

  /** Stops taking jobs and disconnects, within ten seconds even while Redis is down. */
  async close(): Promise<void> {
    await this.stopConsuming();
    await this.ended([...this.queues.values()].map((queue) => queue.close()));
    this.backend.close();
  }

  /**
   * Runs a worker once it is ready, and replaces it if its first connection fails. BullMQ never clears that failure:
   * such a worker would loop without yielding to the event loop.
   */
  private async run(name: QueueName, open: () => ConsumerWorker): Promise<void> {
    while (this.isConsuming) {
      const worker = open();
      worker.on('error', (error) => this.warn(`The ${name} consumer has lost the queue; reconnecting`, error));
      this.workers.add(worker);
      try {
        await worker.waitUntilReady();
        return await worker.run();
      } catch (error) {
        this.warn(`The ${name} consumer cannot use the queue; retrying`, error);
      }
      this.workers.delete(worker);
      await worker.close(true).catch(() => undefined);
      await wait(CONSUMER_PAUSE_MS, undefined, { ref: false });
    }
  }

  private async ended(closing: Promise<void>[]): Promise<void> {
    await within(CLOSE_TIMEOUT_MS, Promise.allSettled(closing), 'Closing the queue').catch((error: unknown) =>
      this.warn('The queue could not be closed properly', error),
    );
  }

  private async add<Name extends QueueName>(name: Name, jobs: Jobs[Name][], delayMs: number): Promise<void> {
    if (jobs.length === 0) return;
    // The id is random: BullMQ silently drops a job whose id exists, in any state.
    const bulk = jobs.map((data) => ({ name, data, opts: { jobId: `${name}-${randomUUID()}`, delay: delayMs } }));
    await this.bounded(name, 'Adding jobs', (queue) => queue.addBulk(bulk));
  }

  private async bounded<T>(name: QueueName, what: string, work: (queue: ProducerQueue) => Promise<T>): Promise<T> {
    if (!this.backend.isReachable()) throw new Error('The queue cannot be reached');
    const queue = this.queue(name);
    try {
      return await within(COMMAND_TIMEOUT_MS, work(queue), what);
    } catch (error) {
      await this.discardUnlessReady(name, queue);
      throw error;
    }
  }

  private queue(name: QueueName): ProducerQueue {
    let queue = this.queues.get(name);
    if (queue === undefined) {
      queue = this.backend.queue(name);
      queue.on('error', (error) => this.warn('The queue reports an error', error));
      this.queues.set(name, queue);
    }
    return queue;
  }

  /** Replaces a queue whose first connection failed, because BullMQ never clears that failure. */
  private async discardUnlessReady(name: QueueName, queue: ProducerQueue): Promise<void> {
    try {
      await within(FIRST_CONNECTION_MS, queue.waitUntilReady());
    } catch {
      if (this.queues.get(name) === queue) this.queues.delete(name);
      void queue.close().catch(() => undefined);
    }
  }
}

/**
 * Opens the queue on Redis, or on PostgreSQL without `queueUrl`. Does not wait for a connection.
 *
 * @throws EnvError that describes the fault of `queueUrl`
 */
export function openQueue(settings: QueueSettings): EventQueue {
  const warn = rarely(settings.warn);
  const backend: Backend =
    settings.queueUrl === undefined
      ? new PostgresBackend(settings.databaseUrl, settings.role ?? APPLICATION_ROLE)
      : new RedisBackend(settings.queueUrl, warn);
  return new EventQueue(backend, warn);
}
