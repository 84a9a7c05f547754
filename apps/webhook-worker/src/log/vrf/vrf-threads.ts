import { join } from 'node:path';
import { ThreadPool } from '../../thread-pool';

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

/** Computes keys of the map in threads. */
export class VrfThreads {
  private readonly threads: ThreadPool<VrfOrder, VrfReport>;

  constructor(
    secret: VrfSecret,
    private readonly note: NoteOutputs,
  ) {
    this.threads = new ThreadPool(THREAD_FILE, 'keys of the map', secret);
  }

  async keysOf(places: VrfOrder): Promise<Uint8Array[]> {
    const orders = Array.from({ length: Math.ceil(places.length / ORDER) }, (_, at) =>
      places.slice(ORDER * at, ORDER * (at + 1)),
    );
    return (await Promise.all(orders.map((order) => this.run(order)))).flat();
  }

  close(): Promise<void> {
    return this.threads.close();
  }

  private async run(order: VrfOrder): Promise<readonly Uint8Array[]> {
    const { keys, processorSeconds } = await this.threads.run(order);
    this.note(keys.length, processorSeconds);
    return keys;
  }
}
