import { Database, DeliveryStore } from '@iss/persistence';
import { Module } from '@nestjs/common';
import { HealthModule } from '../health/health.module';
import { WorkerMetrics } from '../health/worker-metrics';
import { leaseMs, SETTINGS, type WorkerSettings } from '../settings';
import { DeliveryService } from './delivery.service';
import { Dispatcher } from './dispatcher';
import { WebhookClient } from './webhook-client';

@Module({
  imports: [HealthModule],
  providers: [
    WebhookClient,
    DeliveryService,
    {
      provide: DeliveryStore,
      inject: [Database, SETTINGS],
      useFactory: ({ sql }: Database, settings: WorkerSettings) =>
        new DeliveryStore(sql, { leaseMs: leaseMs(settings), disableAfterMs: settings.disableAfterMs }),
    },
    {
      provide: Dispatcher,
      inject: [DeliveryService, SETTINGS],
      useFactory: (delivery: DeliveryService, { concurrency }: WorkerSettings) =>
        new Dispatcher((pending) => delivery.deliver(pending), concurrency),
    },
  ],
  exports: [DeliveryStore, Dispatcher],
})
export class DeliveryModule {
  constructor(metrics: WorkerMetrics, dispatcher: Dispatcher) {
    metrics.watch(dispatcher);
  }
}
