/** A virtual client. Each call runs an iteration. */
export type Client = () => Promise<unknown>;

/** The latencies of the iterations that ended within the measured time. */
export class Latencies {
  readonly endAt: number;
  private readonly startAt: number;
  private readonly values: number[] = [];
  /** All iterations, including the warm-up. */
  total = 0;

  constructor(startAt: number, endAt: number) {
    this.startAt = startAt;
    this.endAt = endAt;
  }

  add(from: number, to: number): void {
    this.total += 1;
    if (to >= this.startAt && to < this.endAt) this.values.push(to - from);
  }

  get counted(): number {
    return this.values.length;
  }

  /** Returns the percentiles for these shares. */
  percentiles(...shares: number[]): number[] {
    return percentiles(this.values, shares);
  }
}

export function percentiles(values: readonly number[], shares: readonly number[]): number[] {
  const sorted = Float64Array.from(values).sort();
  return shares.map((share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0);
}

/** Runs all clients at once, each as fast as the server answers. */
export async function flatOut(clients: readonly Client[], latencies: Latencies): Promise<void> {
  await Promise.all(
    clients.map(async (client) => {
      for (let from = performance.now(); from < latencies.endAt;) {
        await client();
        const to = performance.now();
        latencies.add(from, to);
        from = to;
      }
    }),
  );
}

/** The resolution of timers. Between ticks, each response is an occasion to read the clock. */
const TICK_MS = 1;

/**
 * Runs iterations at a fixed rate, each with the next free client.
 *
 * - An iteration is planned for a tick. Its latency counts from its start, or from the end of its tick if it starts later.
 * - An iteration that waits for a free client waits for the server. Its latency counts from the time at which it was due.
 *
 * Returns, for the other iterations, the delay after their ticks in milliseconds. This process or the machine caused it, not
 * the server.
 */
export function paced(clients: readonly Client[], perSecond: number, latencies: Latencies): Promise<number[]> {
  const intervalMs = 1000 / perSecond;
  const free = [...clients];
  const lateness: number[] = [];
  let due = performance.now();
  let isShort = false;
  return new Promise((resolve, reject) => {
    const ticks = setInterval(() => begin(), TICK_MS);
    const stop = (settle: () => void): void => {
      clearInterval(ticks);
      settle();
    };
    const run = async (client: Client, from: number): Promise<void> => {
      await client();
      latencies.add(from, performance.now());
      free.push(client);
      begin();
    };
    const begin = (): void => {
      const now = performance.now();
      for (; due <= now && due < latencies.endAt; due += intervalMs) {
        const client = free.shift();
        if (client === undefined) {
          isShort = true;
          return;
        }
        const from = isShort ? due : Math.min(now, due + TICK_MS);
        if (!isShort) lateness.push(now - from);
        run(client, from).catch((error: unknown) => stop(() => reject(error instanceof Error ? error : new Error(String(error)))));
      }
      isShort = false;
      if (due >= latencies.endAt && free.length === clients.length) stop(() => resolve(lateness));
    };
    begin();
  });
}
