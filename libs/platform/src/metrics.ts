import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { within } from './within';

/** Upper bounds in seconds for histograms of requests and deliveries: from a cached read to a receiver that times out. */
export const DURATION_BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
/** A figure that takes longer is left out: a scrape has ten seconds for all of them. */
const READ_TIMEOUT_MS = 2_000;

/** A registry of its own, with the process's figures (CPU, memory, event loop) and the label `service` on every figure. */
export function createRegistry(service: string): Registry {
  const registry = new Registry();
  registry.setDefaultLabels({ service });
  collectDefaultMetrics({ register: registry });
  return registry;
}

/** A figure that is read when it is asked for. */
export interface WatchedFigure {
  name: string;
  help: string;
  /** One number, or several by what they count (label `of`). */
  read: () => Promise<number | Readonly<Record<string, number>>>;
}

/**
 * Registers a figure that is read at each scrape, in two seconds at most: one that cannot be read by then, or at all, is
 * left out, and it is not asked for again while it is still being read.
 */
export function watchFigure(registry: Registry, { name, help, read }: WatchedFigure): void {
  let reading: ReturnType<WatchedFigure['read']> | undefined;
  new Gauge({
    name,
    help,
    labelNames: ['of'],
    registers: [registry],
    async collect() {
      reading ??= read().finally(() => (reading = undefined));
      const figure = await within(READ_TIMEOUT_MS, reading).catch(() => ({}));
      this.reset();
      if (typeof figure === 'number') this.set(figure);
      else for (const [of, value] of Object.entries(figure)) this.set({ of }, value);
    },
  });
}

/** What waits for delivery. Ages in milliseconds, 0 when nothing does. */
export interface Backlog {
  oldestEventMs: () => Promise<number>;
  oldestDeliveryMs: () => Promise<number>;
}

/** Jobs by queue. */
export interface JobCounts {
  depth: () => Promise<Readonly<Record<string, number>>>;
}

/** Registers what says how far behind the deliveries are, for both apps: outbox lag, oldest due delivery, queue depth. */
export function watchBacklog(registry: Registry, backlog: Backlog, queue: JobCounts): void {
  watchFigure(registry, {
    name: 'webhook_outbox_lag_seconds',
    help: 'Age of the oldest event that was not fanned out',
    read: async () => (await backlog.oldestEventMs()) / 1_000,
  });
  watchFigure(registry, {
    name: 'webhook_oldest_due_delivery_seconds',
    help: 'For how long the oldest delivery has been due without anybody working on it',
    read: async () => (await backlog.oldestDeliveryMs()) / 1_000,
  });
  watchFigure(registry, { name: 'webhook_queue_jobs', help: 'Jobs in the queue, by queue', read: () => queue.depth() });
}
