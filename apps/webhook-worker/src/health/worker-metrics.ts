import { DURATION_BUCKETS_SECONDS } from '@iss/platform';
import type { DeliveryStore, OutboxStore } from '@iss/persistence';
import type { EventQueue } from '@iss/queue';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { FailurePhase } from '../delivery/delivery-failure';
import type { Dispatcher } from '../delivery/dispatcher';

/** The worker's own figures. */
export class WorkerMetrics {
  private readonly attempts: Histogram<'error_phase'>;
  private readonly results: Counter<'status'>;

  constructor(readonly registry: Registry) {
    this.attempts = new Histogram({
      name: 'webhook_attempt_duration_seconds',
      help: 'Time of one delivery attempt, by the phase in which it failed ("none": it did not)',
      labelNames: ['error_phase'],
      buckets: DURATION_BUCKETS_SECONDS,
      registers: [registry],
    });
    this.results = new Counter({
      name: 'webhook_attempts_total',
      help: 'Recorded attempts, by what the delivery is after them: succeeded, pending (to be retried) or dead',
      labelNames: ['status'],
      registers: [registry],
    });
  }

  /** One attempt was made. */
  attempt(errorPhase: FailurePhase | 'none', latencyMs: number): void {
    this.attempts.observe({ error_phase: errorPhase }, latencyMs / 1_000);
  }

  /** One attempt was recorded. */
  delivered(status: 'succeeded' | 'pending' | 'dead'): void {
    this.results.inc({ status });
  }

  /** Figures that are read when they are asked for. One that cannot be read is left out. */
  watch(parts: { outbox: OutboxStore; deliveries: DeliveryStore; queue: EventQueue; dispatcher: Dispatcher }): void {
    const { outbox, deliveries, queue, dispatcher } = parts;
    this.gauge('webhook_outbox_lag_seconds', 'Age of the oldest event that was not fanned out', async (gauge) =>
      gauge.set((await outbox.lagMs()) / 1_000),
    );
    this.gauge(
      'webhook_oldest_due_delivery_seconds',
      'For how long the oldest delivery has been due without anybody working on it',
      async (gauge) => gauge.set((await deliveries.oldestDueMs()) / 1_000),
    );
    this.gauge('webhook_queue_jobs', 'Jobs in the queue, by queue', async (gauge) => {
      for (const [name, jobs] of Object.entries(await queue.depth())) gauge.set({ of: name }, jobs);
    });
    this.gauge('webhook_deliveries_in_process', 'Deliveries in this process, running and waiting', async (gauge) => {
      for (const [name, count] of Object.entries(dispatcher.load())) gauge.set({ of: name }, count);
    });
  }

  private gauge(name: string, help: string, read: (gauge: Gauge<'of'>) => Promise<void>): void {
    const gauge: Gauge<'of'> = new Gauge({
      name,
      help,
      labelNames: ['of'],
      registers: [this.registry],
      collect: async () => {
        gauge.reset();
        await read(gauge).catch(() => gauge.reset());
      },
    });
  }
}
