/** One virtual client: one iteration after the other. */
export type Client = () => Promise<unknown>;

/** Latencies of the iterations that ended within the time that counts. */
export class Latencies {
  readonly endAt: number;
  private readonly startAt: number;
  private readonly values: number[] = [];
  /** Iterations in all, those of the warm-up included. */
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

  /** The latencies that these shares of all do not exceed. */
  percentiles(...shares: number[]): number[] {
    return percentiles(this.values, shares);
  }
}

export function percentiles(values: readonly number[], shares: readonly number[]): number[] {
  const sorted = Float64Array.from(values).sort();
  return shares.map((share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0);
}

/** Every client at once, each as fast as it is answered. */
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

/** Timers have milliseconds; in between, each answer is an occasion to look at the clock. */
const TICK_MS = 1;

/**
 * So many iterations a second whatever the answers take, each by a client that is free, or as soon as one is. An iteration
 * is planned for a tick, not for a point in time: its latency counts from its beginning, but from the end of its tick at
 * the latest; one that had to wait for a free client waited for the server, and counts from when it was due. Gives by how
 * many ms the others were begun after their tick: that is this process, or the machine, and not the server.
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
