import {
  BacklogStore,
  type Database,
  DeliveryStore,
  IdempotencyStore,
  OutboxStore,
  PersistenceModule,
  RetentionStore,
} from '@iss/persistence';
import { type Logger, watchBacklog, type WorkerEnv } from '@iss/platform';
import { EventQueue } from '@iss/queue';
import { type DynamicModule, Module } from '@nestjs/common';
import { Registry } from 'prom-client';
import { DeliveryService } from './delivery/delivery.service';
import { Dispatcher } from './delivery/dispatcher';
import { WebhookClient } from './delivery/webhook-client';
import { FanoutService } from './fanout/fanout.service';
import { HealthController } from './health/health.controller';
import { Liveness, WorkWatch } from './health/liveness';
import { ReadinessService } from './health/readiness.service';
import { WorkerMetrics } from './health/worker-metrics';
import { RetentionService } from './sweep/retention.service';
import { SweepService } from './sweep/sweep.service';

/** What the process holds open, made before the application and closed after it. */
export interface WorkerResources {
  settings: WorkerEnv;
  database: Database;
  queue: EventQueue;
  metrics: Registry;
  logger: Logger;
}

/** Beyond the time of an attempt: for recording it, also while the database restarts. As long a killed worker's attempts wait. */
const RECORDING_MS = 15_000;

/** The worker's parts, each made from those before it. */
@Module({})
export class WorkerModule {
  static of({ settings, database, queue, metrics, logger }: WorkerResources): DynamicModule {
    const { secretBox, retryScheduleMs, retentionDays, sweepIntervalMs } = settings;
    const leaseMs = settings.totalTimeoutMs + RECORDING_MS;
    const [backlog, outbox] = [new BacklogStore(database.sql), new OutboxStore(database.sql)];
    const deliveries = new DeliveryStore(database.sql, { leaseMs, disableAfterMs: settings.disableAfterMs });
    // By then every attempt has ended, and a sweep has found what is left.
    const stuckAfterMs = Math.max(leaseMs, 3 * sweepIntervalMs);
    const liveness = new Liveness(
      new WorkWatch(() => backlog.oldestEventMs(), stuckAfterMs),
      new WorkWatch(() => backlog.oldestDeliveryMs(), stuckAfterMs),
    );
    const client = new WebhookClient(settings);
    const counting = { metrics: new WorkerMetrics(metrics), watch: liveness.deliveries };
    const sending = { client, secretBox, retryScheduleMs, leaseMs };
    const delivery = new DeliveryService({ deliveries, queue, logger, ...counting, ...sending });
    const dispatcher = new Dispatcher((pending) => delivery.deliver(pending), settings.concurrency);
    const fanout = new FanoutService(outbox, queue, dispatcher, liveness.events);
    const sweep = new SweepService({ outbox, deliveries, fanout, dispatcher, logger, intervalMs: sweepIntervalMs });
    const kept = { retention: new RetentionStore(database.sql), idempotency: new IdempotencyStore(database.sql) };
    const retention = new RetentionService({ ...kept, logger, retentionDays });
    watchBacklog(metrics, {
      oldestEventMs: () => backlog.oldestEventMs(),
      oldestDeliveryMs: () => backlog.oldestDeliveryMs(),
      queueJobs: () => queue.depth(),
    });
    counting.metrics.watch(dispatcher);
    return {
      module: WorkerModule,
      imports: [PersistenceModule.of(database)],
      controllers: [HealthController],
      providers: [
        ReadinessService,
        { provide: EventQueue, useValue: queue },
        { provide: Registry, useValue: metrics },
        { provide: Liveness, useValue: liveness },
        { provide: WebhookClient, useValue: client },
        { provide: DeliveryService, useValue: delivery },
        { provide: Dispatcher, useValue: dispatcher },
        { provide: FanoutService, useValue: fanout },
        { provide: SweepService, useValue: sweep },
        { provide: RetentionService, useValue: retention },
      ],
    };
  }
}
