import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { DependencyCheck, Readiness } from './process/readiness';
import { within } from './within';

/** Histogram buckets for requests and deliveries, in seconds: from a cached read to a receiver that times out. */
export const DURATION_BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
/** A metric that takes longer is left out, because a scrape has ten seconds in total. */
const READ_TIMEOUT_MS = 2_000;

/** prom-client's gauges with names of counters. Prometheus warns about each, and their rate is meaningless. */
const MISNAMED = ['nodejs_active_resources_total', 'nodejs_active_handles_total', 'nodejs_active_requests_total'];

/** Creates a registry with the process's metrics (CPU, memory, event loop) and the label `service` on every metric. */
export function createRegistry(service: string): Registry {
  const registry = new Registry();
  registry.setDefaultLabels({ service });
  collectDefaultMetrics({ register: registry });
  for (const name of MISNAMED) registry.removeSingleMetric(name);
  return registry;
}

/** A metric that is read at each scrape. */
export interface WatchedFigure {
  name: string;
  help: string;
  /** Returns one number, or one for each value of the label `of`. */
  read: () => Promise<number | Readonly<Record<string, number>>>;
}

/**
 * Registers a metric that is read at each scrape. It is left out if it cannot be read within two seconds, and not read
 * again while a reading is in progress.
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

/** The process's connections by state, and the requests that wait for one. */
export type PoolLoad = Readonly<Record<'busy' | 'idle' | 'waiting', number>>;

/** The properties that both apps report. */
interface Process {
  build: { gitSha: string | undefined };
  load: () => PoolLoad;
  readiness: () => Promise<Readiness<string>>;
}

/** The values of the metric for the status of a dependency. */
const STATUS_FIGURES = { ok: 1, degraded: 0.5, failed: 0 } as const satisfies Record<DependencyCheck['status'], number>;

/** Registers the metrics of a process: its build, its connections and its readiness. */
export function watchProcess(registry: Registry, { build, load, readiness }: Process): void {
  new Gauge({
    name: 'build_info',
    help: 'Always 1; the labels say what runs',
    labelNames: ['git_sha', 'node'],
    registers: [registry],
  }).set({ git_sha: build.gitSha ?? 'unknown', node: process.version }, 1);
  watchFigure(registry, {
    name: 'database_connections',
    help: 'Connections of this process, busy and idle, and requests that wait for one',
    read: async () => load(),
  });
  watchFigure(registry, {
    name: 'service_ready',
    help: '1 if this process should get work, as /v1/ops/readiness says, else 0',
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

/** Pending deliveries. Ages are in milliseconds, and 0 if nothing is pending. */
export interface Backlog {
  oldestEventMs: () => Promise<number>;
  oldestDeliveryMs: () => Promise<number>;
}

/** The number of jobs per queue. */
export interface JobCounts {
  depth: () => Promise<Readonly<Record<string, number>>>;
}

/** Registers metrics of delivery lag for both apps: outbox lag, oldest due delivery and queue depth. */
export function watchBacklog(registry: Registry, backlog: Backlog, queue: JobCounts): void {
  watchFigure(registry, {
    name: 'webhook_outbox_lag_seconds',
    help: 'Age of the oldest event that was not fanned out',
    read: async () => (await backlog.oldestEventMs()) / 1_000,
  });
  watchFigure(registry, {
    name: 'webhook_oldest_due_delivery_seconds',
    help: 'How long the oldest delivery has been due without being processed',
    read: async () => (await backlog.oldestDeliveryMs()) / 1_000,
  });
  watchFigure(registry, { name: 'webhook_queue_jobs', help: 'Jobs in the queue, by queue', read: () => queue.depth() });
}
