import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { Check, Readiness } from './readiness';
import { within } from './within';

/** Upper bounds in seconds for histograms of requests and deliveries: from a cached read to a receiver that times out. */
export const DURATION_BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
/** A figure that takes longer is left out: a scrape has ten seconds for all of them. */
const READ_TIMEOUT_MS = 2_000;

/** Gauges of prom-client that are called as counters are: Prometheus warns of each, and a rate of them means nothing. */
const MISNAMED = ['nodejs_active_resources_total', 'nodejs_active_handles_total', 'nodejs_active_requests_total'];

/** A registry of its own, with the process's figures (CPU, memory, event loop) and the label `service` on every figure. */
export function createRegistry(service: string): Registry {
  const registry = new Registry();
  registry.setDefaultLabels({ service });
  collectDefaultMetrics({ register: registry });
  for (const name of MISNAMED) registry.removeSingleMetric(name);
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

/** Connections of this process by what they do, and requests that wait for one. */
export type PoolLoad = Readonly<Record<'busy' | 'idle' | 'waiting', number>>;

/** What both apps say of themselves. */
interface Process {
  build: { gitSha: string | undefined };
  load: () => PoolLoad;
  readiness: () => Promise<Readiness<string>>;
}

/** How a dependency is, as a number. */
const STATUS_FIGURES = { ok: 1, degraded: 0.5, failed: 0 } as const satisfies Record<Check['status'], number>;

/** Registers what says how a process is: its build, its connections, its readiness. */
export function watchProcess(registry: Registry, { build, load, readiness }: Process): void {
  new Gauge({
    name: 'build_info',
    help: 'Always 1; the labels say what runs',
    labelNames: ['git_sha', 'node'],
    registers: [registry],
  }).set({ git_sha: build.gitSha ?? 'unknown', node: process.version }, 1);
  watchFigure(registry, {
    name: 'database_connections',
    help: 'Connections of this process: busy and idle; and requests that are waiting for one',
    read: async () => load(),
  });
  watchFigure(registry, {
    name: 'service_ready',
    help: 'Whether this process should get work (1), as /v1/ops/readiness says',
    read: async () => ((await readiness()).status === 'ready' ? 1 : 0),
  });
  watchFigure(registry, {
    name: 'dependency_status',
    help: 'Each dependency of readiness: 1 ok, 0.5 degraded, 0 failed',
    read: async () => {
      const { checks } = await readiness();
      return Object.fromEntries(Object.entries(checks).map(([name, { status }]) => [name, STATUS_FIGURES[status]]));
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
