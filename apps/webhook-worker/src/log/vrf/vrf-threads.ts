import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';

/** The compiled file that a thread runs. The path is correct from `src` and from `dist`. */
const THREAD_FILE = join(__dirname, '../../../dist/log/vrf/vrf-thread.js');

/** Outputs per order: some ten milliseconds, so that the threads end at about the same time. */
const ORDER = 32;

/** The data of a thread. */
export interface VrfSecret {
  readonly origin: string;
  readonly secret: string;
}

/** A number of a stream, which has one key. */
export interface NumberedPlace {
  readonly stream: string;
  readonly number: number;
}

export type VrfOrder = readonly NumberedPlace[];

/** The reply of a thread. */
export interface VrfReport {
  readonly keys: readonly Uint8Array[];
  readonly processorSeconds: number;
}

/** Notes a number of outputs, and the processor time that they took. */
export type NoteOutputs = (outputs: number, processorSeconds: number) => void;

interface Job {
  readonly order: VrfOrder;
  readonly resolve: (keys: readonly Uint8Array[]) => void;
  readonly reject: (error: unknown) => void;
}

interface Thread {
  readonly worker: Worker;
  job: Job | undefined;
}

/** Computes keys of the map in threads, one for each core. They start when they are needed. */
export class VrfThreads {
  private readonly threads: Thread[] = [];
  private readonly waiting: Job[] = [];

  constructor(
    private readonly secret: VrfSecret,
    private readonly note: NoteOutputs,
  ) {}

  async keysOf(places: VrfOrder): Promise<Uint8Array[]> {
    const orders = Array.from({ length: Math.ceil(places.length / ORDER) }, (_, at) =>
      places.slice(ORDER * at, ORDER * (at + 1)),
    );
    return (await Promise.all(orders.map((order) => this.run(order)))).flat();
  }

  async close(): Promise<void> {
    await Promise.all(this.threads.map(({ worker }) => worker.terminate()));
  }

  private run(order: VrfOrder): Promise<readonly Uint8Array[]> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ order, resolve, reject });
      this.assign();
    });
  }

  private assign(): void {
    while (this.waiting.length > 0) {
      const thread = this.threads.find(({ job }) => job === undefined) ?? this.start();
      if (thread === undefined) return;
      thread.job = this.waiting.shift();
      thread.worker.postMessage(thread.job?.order);
    }
  }

  /** Returns undefined if there is a thread for each core. */
  private start(): Thread | undefined {
    if (this.threads.length >= availableParallelism()) return undefined;
    const thread: Thread = { worker: new Worker(THREAD_FILE, { workerData: this.secret }), job: undefined };
    this.threads.push(thread);
    thread.worker.unref();
    thread.worker.on('message', ({ keys, processorSeconds }: VrfReport) => {
      const { job } = thread;
      thread.job = undefined;
      this.note(keys.length, processorSeconds);
      job?.resolve(keys);
      this.assign();
    });
    let failure: unknown;
    thread.worker.on('error', (error) => (failure = error));
    thread.worker.on('exit', (code) => {
      this.threads.splice(this.threads.indexOf(thread), 1);
      thread.job?.reject(failure ?? new Error(`a thread for keys of the map ended with exit code ${code}`));
      this.assign();
    });
    return thread;
  }
}
