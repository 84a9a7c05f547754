import { BacklogStore } from '@iss/persistence';
import { watchBacklog } from '@iss/platform';
import { EventQueue } from '@iss/queue';
import { Module } from '@nestjs/common';
import { Registry } from 'prom-client';
import { leaseMs, SETTINGS, type WorkerSettings } from '../settings';
import { HealthController } from './health.controller';
import { Liveness, WorkWatch } from './liveness';
import { ReadinessService } from './readiness.service';
import { WorkerMetrics } from './worker-metrics';

@Module({
  controllers: [HealthController],
  providers: [
    ReadinessService,
    WorkerMetrics,
    {
      provide: Liveness,
      inject: [BacklogStore, SETTINGS],
      useFactory: (backlog: BacklogStore, settings: WorkerSettings) => {
        // By then every attempt has ended, and a sweep has found what is left.
        const stuckAfterMs = Math.max(leaseMs(settings), 3 * settings.sweepIntervalMs);
        return new Liveness(
          new WorkWatch(() => backlog.oldestEventMs(), stuckAfterMs),
          new WorkWatch(() => backlog.oldestDeliveryMs(), stuckAfterMs),
        );
      },
    },
  ],
  exports: [Liveness, WorkerMetrics],
})
export class HealthModule {
  constructor(registry: Registry, backlog: BacklogStore, queue: EventQueue) {
    watchBacklog(registry, backlog, queue);
  }
}
