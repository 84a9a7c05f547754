import { join } from 'node:path';
import { type ResourceLimits, Worker } from 'node:worker_threads';
import { DomainError } from '@iss/domain';
import type { Charged } from './asker';
import type { TaskName } from './tasks';
import type { Order, Outcome, Report } from './thread-messages';

/**
 * What a thread runs. Compiled, whoever starts it: a thread knows nothing of what Jest does to load sources. Both `src` and
 * `dist` stand beside it.
 */
const THREAD_FILE = join(__dirname, '../../dist/work/thread.js');

/** Why a task is refused: the threads have no place for it, or it took longer than it may. */
export const REFUSALS = ['full', 'late'] as const;
type Refusal = (typeof REFUSALS)[number];

export interface ThreadPoolOptions {
  threads: number;
  /** Orders that may wait. */
  queue: number;
  /** For so long an order may wait, and for so long run. */
  deadlineMs: number;
  resourceLimits: ResourceLimits;
  /** Is told of each order that ran, with the processor time that it took: all of the deadline where it was ended. */
  onRun: (asker: Charged, task: TaskName, processorMs: number) => void;
  /** Is told of each order that was refused a place, and of each that took too long. */
  onRefused: (why: Refusal) => void;
}

interface Job {
  asker: Charged;
  order: Order;
  deadline: NodeJS.Timeout | undefined;
  resolve: (outcome: Outcome) => void;
  reject: (error: Error) => void;
}

/** The orders of one principal that wait. */
interface Line {
  principalId: string;
  jobs: Job[];
}

interface Thread {
  worker: Worker;
  job: Job | undefined;
}

/**
 * A few threads for what would keep the one waiting that serves everybody. They start when there is something to do.
 * Principals take turns, and one of them holds half of the places at most, and half of the threads while another one waits.
 */
export class ThreadPool {
  private readonly threads: Thread[] = [];
  /** Whose turn it is stands first; no line is empty. */
  private readonly lines: Line[] = [];
  private isClosed = false;

  constructor(private readonly options: ThreadPoolOptions) {}

  get running(): number {
    return this.threads.filter(({ job }) => job !== undefined).length;
  }

  get waiting(): number {
    return this.lines.reduce((sum, { jobs }) => sum + jobs.length, 0);
  }

  /** What becomes of an order. Rejects with `unavailable` where it finds no place, or takes longer than it may. */
  run(asker: Charged, order: Order): Promise<Outcome> {
    const line = this.lines.find(({ principalId }) => principalId === asker.principalId);
    const isFull = this.waiting >= this.options.queue;
    if (this.isClosed || isFull || (line?.jobs.length ?? 0) >= Math.ceil(this.options.queue / 2)) {
      this.options.onRefused('full');
      return Promise.reject(isFull || this.isClosed ? busy() : tooMany());
    }
    return new Promise((resolve, reject) => {
      const job: Job = { asker, order, deadline: undefined, resolve, reject };
      this.limit(job, () => this.leave(job));
      if (line === undefined) this.lines.push({ principalId: asker.principalId, jobs: [job] });
      else line.jobs.push(job);
      this.assign();
    });
  }

  /** Ends all threads. What runs or waits is rejected. */
  async close(): Promise<void> {
    this.isClosed = true;
    for (const { jobs } of this.lines.splice(0)) for (const job of jobs) this.settle(job, () => job.reject(busy()));
    await Promise.all(this.threads.splice(0).map((thread) => this.end(thread, busy())));
  }

  private assign(): void {
    while (this.lines.length > 0) {
      const thread = this.threads.find(({ job }) => job === undefined) ?? this.start();
      if (thread === undefined) return;
      const job = this.next();
      if (job === undefined) return;
      this.limit(job, () => this.expire(thread, job));
      thread.job = job;
      thread.worker.postMessage(job.order);
    }
  }

  /** The first of the principal whose turn it is; of one that has its share of the threads only if all have theirs. */
  private next(): Job | undefined {
    const share = Math.max(1, Math.floor(this.options.threads / 2));
    const below = this.lines.findIndex(({ principalId }) => this.runningOf(principalId) < share);
    const [line] = this.lines.splice(Math.max(0, below), 1);
    const job = line?.jobs.shift();
    if (line !== undefined && line.jobs.length > 0) this.lines.push(line);
    if (job?.asker.isGone !== true) return job;
    this.settle(job, () => job.reject(gone()));
    return this.next();
  }

  private runningOf(principalId: string): number {
    return this.threads.filter(({ job }) => job?.asker.principalId === principalId).length;
  }

  /** Undefined where there are as many as there may be. */
  private start(): Thread | undefined {
    const { threads, resourceLimits } = this.options;
    if (this.threads.length >= threads) return undefined;
    const thread: Thread = { worker: new Worker(THREAD_FILE, { resourceLimits }), job: undefined };
    this.threads.push(thread);
    thread.worker.unref();
    thread.worker.on('message', ({ outcome, processorMs }: Report) => {
      const { job } = thread;
      if (job === undefined) return;
      thread.job = undefined;
      this.options.onRun(job.asker, job.order.task, processorMs);
      this.settle(job, () => job.resolve(outcome));
      this.assign();
    });
    const fail = (error: Error): void => {
      this.replace(thread, outOfMemory(error) ? tooLarge() : error);
    };
    thread.worker.on('error', fail).on('messageerror', fail);
    thread.worker.on('exit', (code) => fail(new Error(`a thread ended with ${code}`)));
    return thread;
  }

  private limit(job: Job, act: () => void): void {
    clearTimeout(job.deadline);
    job.deadline = setTimeout(act, this.options.deadlineMs);
  }

  private settle(job: Job, act: () => void): void {
    clearTimeout(job.deadline);
    act();
  }

  /** A job has waited for too long. */
  private leave(job: Job): void {
    const line = this.lines.find(({ jobs }) => jobs.includes(job));
    if (line === undefined) return;
    line.jobs.splice(line.jobs.indexOf(job), 1);
    if (line.jobs.length === 0) this.lines.splice(this.lines.indexOf(line), 1);
    this.options.onRefused('late');
    job.reject(busy());
  }

  /** A job has run for too long: nothing but the end of its thread stops it. */
  private expire(thread: Thread, job: Job): void {
    const { deadlineMs } = this.options;
    this.options.onRefused('late');
    this.options.onRun(job.asker, job.order.task, deadlineMs);
    this.replace(thread, tooLong(deadlineMs));
  }

  /** The next job starts another thread. */
  private replace(thread: Thread, error: Error): void {
    const at = this.threads.indexOf(thread);
    if (at < 0) return;
    this.threads.splice(at, 1);
    // It has ended, or does before it does anything else.
    this.end(thread, error).catch(() => undefined);
    this.assign();
  }

  private async end(thread: Thread, error: Error): Promise<void> {
    const { worker, job } = thread;
    thread.job = undefined;
    if (job !== undefined) this.settle(job, () => job.reject(error));
    await worker.terminate();
  }
}

function outOfMemory(error: Error): boolean {
  return 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
}

function busy(): DomainError {
  return new DomainError(
    'unavailable',
    'Too much heavy work is waiting in this process. Wait for the seconds in Retry-After and try again.',
  );
}

function tooMany(): DomainError {
  return new DomainError(
    'unavailable',
    'Half of the heavy work that may wait here is yours. Wait for its responses, then try again with fewer ' +
      'requests.',
  );
}

function tooLong(deadlineMs: number): DomainError {
  return new DomainError(
    'unavailable',
    `The work was stopped after ${deadlineMs} ms. Send a smaller document, or ask for less at once.`,
  );
}

function tooLarge(): DomainError {
  return new DomainError(
    'unavailable',
    'The work was stopped because it needed too much memory. Send a smaller document, or ask for less at once.',
  );
}

function gone(): DomainError {
  return new DomainError('unavailable', 'The caller hung up before its work began.');
}
