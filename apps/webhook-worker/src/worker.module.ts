import { Database, DeliveryStore, OutboxStore } from '@iss/persistence';
import type { Logger, WorkerEnv } from '@iss/platform';
import { EventQueue } from '@iss/queue';
import { type DynamicModule, Module } from '@nestjs/common';
import { Registry } from 'prom-client';
import { DeliveryService } from './delivery/delivery.service';
import { Dispatcher } from './delivery/dispatcher';
import { WebhookClient } from './delivery/webhook-client';
import { FanoutService } from './fanout/fanout.service';
import { HealthController } from './health/health.controller';
import { ReadinessService } from './health/readiness.service';
import { WorkerMetrics } from './health/worker-metrics';
import { SweepService } from './sweep/sweep.service';

/** What the process holds open, made before the application and closed after it. */
export interface WorkerResources {
  settings: WorkerEnv;
  database: Database;
  queue: EventQueue;
  metrics: Registry;
  logger: Logger;
}

/** Beyond the time of an attempt: for recording it, also while the database restarts. */
const RECORDING_MS = 45_000;

/** The worker's parts, each made from those before it. */
@Module({})
export class WorkerModule {
  static of({ settings, database, queue, metrics: registry, logger }: WorkerResources): DynamicModule {
    const leaseMs = settings.totalTimeoutMs + RECORDING_MS;
    const outbox = new OutboxStore(database.sql);
    const deliveries = new DeliveryStore(database.sql, { leaseMs, disableAfterMs: settings.disableAfterMs });
    const metrics = new WorkerMetrics(registry);
    const client = new WebhookClient(settings);
    const { secretBox, retryScheduleMs, concurrency, sweepIntervalMs } = settings;
    const sending = { client, secretBox, retryScheduleMs, leaseMs };
    const delivery = new DeliveryService({ deliveries, queue, metrics, logger, ...sending });
    const dispatcher = new Dispatcher((pending) => delivery.deliver(pending), concurrency);
    const fanout = new FanoutService(outbox, queue, dispatcher);
    const sweep = new SweepService({ outbox, deliveries, fanout, dispatcher, logger, intervalMs: sweepIntervalMs });
    metrics.watch({ outbox, deliveries, queue, dispatcher });
    return {
      module: WorkerModule,
      controllers: [HealthController],
      providers: [
        ReadinessService,
        { provide: Database, useValue: database },
        { provide: EventQueue, useValue: queue },
        { provide: Registry, useValue: registry },
        { provide: OutboxStore, useValue: outbox },
        { provide: DeliveryStore, useValue: deliveries },
        { provide: WebhookClient, useValue: client },
        { provide: DeliveryService, useValue: delivery },
        { provide: Dispatcher, useValue: dispatcher },
        { provide: FanoutService, useValue: fanout },
        { provide: SweepService, useValue: sweep },
      ],
    };
  }
}
