import { join } from 'node:path';
import { type ResourceLimits, Worker } from 'node:worker_threads';
import { DomainError } from '@iss/domain';
import type { Charged } from './asker';
import type { TaskName } from './tasks';
import type { Order, TaskOutcome, Report } from './thread-messages';

/**
 * The compiled file that a thread runs, also under Jest, because a thread lacks Jest's loader for sources. The path is
 * correct from `src` and from `dist`.
 */
const THREAD_FILE = join(__dirname, '../../dist/runtime/thread.js');

/** Why a task is refused: the pool has no place for it, or the task exceeded its deadline. */
export const REFUSALS = ['full', 'late'] as const;
type Refusal = (typeof REFUSALS)[number];

export interface ThreadPoolOptions {
  threads: number;
  /** How many orders may wait. */
  queue: number;
  /** Limits how long an order may wait, and then how long it may run. */
  deadlineMs: number;
  resourceLimits: ResourceLimits;
  /** Called for each order that ran, with its processor time, or with the whole deadline if it was stopped. */
  onRun: (asker: Charged, task: TaskName, processorMs: number) => void;
  /** Called for each order that found no place or exceeded its deadline. */
  onRefused: (why: Refusal) => void;
}

interface Job {
  asker: Charged;
  order: Order;
  deadline: NodeJS.Timeout | undefined;
  resolve: (outcome: TaskOutcome) => void;
  reject: (error: Error) => void;
}

/** The waiting orders of one principal. */
interface Line {
  principalId: string;
  jobs: Job[];
}

interface Thread {
  worker: Worker;
  job: Job | undefined;
}

/**
 * A few threads for work that would block the main thread. They start on demand. Principals take turns. Each principal
 * holds at most half of the places, and at most half of the threads while another principal waits.
 */
export class ThreadPool {
  private readonly threads: Thread[] = [];
  /** The first line has the next turn. No line is empty. */
  private readonly lines: Line[] = [];
  private isClosed = false;

  constructor(private readonly options: ThreadPoolOptions) {}

  get running(): number {
    return this.threads.filter(({ job }) => job !== undefined).length;
  }

  get waiting(): number {
    return this.lines.reduce((sum, { jobs }) => sum + jobs.length, 0);
  }

  /**
   * Returns the outcome of an order. Rejects with `unavailable` if it finds no place or exceeds its deadline or memory.
   */
  run(asker: Charged, order: Order): Promise<TaskOutcome> {
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

  /** Ends all threads. Rejects all running and waiting orders. */
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

  /** Returns the first order of the next principal. Principals that use their share of the threads come last. */
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

  /** Returns undefined if the maximum number of threads runs. */
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
    thread.worker.on('exit', (code) => fail(new Error(`a thread ended with exit code ${code}`)));
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

  /** Rejects a job that has waited too long. */
  private leave(job: Job): void {
    const line = this.lines.find(({ jobs }) => jobs.includes(job));
    if (line === undefined) return;
    line.jobs.splice(line.jobs.indexOf(job), 1);
    if (line.jobs.length === 0) this.lines.splice(this.lines.indexOf(line), 1);
    this.options.onRefused('late');
    job.reject(busy());
  }

  /** Stops a job that has run too long. Only ending its thread can stop it. */
  private expire(thread: Thread, job: Job): void {
    const { deadlineMs } = this.options;
    this.options.onRefused('late');
    this.options.onRun(job.asker, job.order.task, deadlineMs);
    this.replace(thread, tooLong(deadlineMs));
  }

  /** Removes a thread. The next job starts another one. */
  private replace(thread: Thread, error: Error): void {
    const at = this.threads.indexOf(thread);
    if (at < 0) return;
    this.threads.splice(at, 1);
    // The thread has already ended, or ends before it does anything else.
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
    'Half of the places for heavy work are yours. Wait for those responses, then try again with fewer ' + 'requests.',
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
  return new DomainError('unavailable', 'The client disconnected before its work began.');
}
