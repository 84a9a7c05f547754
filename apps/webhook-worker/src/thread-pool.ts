import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';

interface Job<Order, Report> {
  readonly order: Order;
  readonly resolve: (report: Report) => void;
  readonly reject: (error: unknown) => void;
}

interface Thread<Order, Report> {
  readonly worker: Worker;
  job: Job<Order, Report> | undefined;
}

/**
 * Passes orders to threads that run the same file. There is at most one thread per core, and each starts when it is
 * needed.
 */
export class ThreadPool<Order, Report> {
  private readonly threads: Thread<Order, Report>[] = [];
  private readonly waiting: Job<Order, Report>[] = [];

  /** `file` is compiled JavaScript; `purpose` names its work in errors. */
  constructor(
    private readonly file: string,
    private readonly purpose: string,
    private readonly data?: unknown,
  ) {}

  run(order: Order): Promise<Report> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ order, resolve, reject });
      this.assign();
    });
  }

  async close(): Promise<void> {
    await Promise.all(this.threads.map(({ worker }) => worker.terminate()));
  }

  private assign(): void {
    while (this.waiting.length > 0) {
      const thread = this.threads.find(({ job }) => job === undefined) ?? this.start();
      if (thread === undefined) return;
      thread.job = this.waiting.shift();
      thread.worker.postMessage(thread.job?.order);
    }
  }

  /** Returns undefined if each core has a thread already. */
  private start(): Thread<Order, Report> | undefined {
    if (this.threads.length >= availableParallelism()) return undefined;
    const worker = new Worker(this.file, { workerData: this.data });
    const thread: Thread<Order, Report> = { worker, job: undefined };
    this.threads.push(thread);
    worker.unref();
    worker.on('message', (report: Report) => {
      const { job } = thread;
      thread.job = undefined;
      job?.resolve(report);
      this.assign();
    });
    let failure: unknown;
    worker.on('error', (error) => (failure = error));
    worker.on('exit', (code) => {
      this.threads.splice(this.threads.indexOf(thread), 1);
      thread.job?.reject(failure ?? new Error(`a thread for ${this.purpose} ended with exit code ${code}`));
      this.assign();
    });
    return thread;
  }
}
