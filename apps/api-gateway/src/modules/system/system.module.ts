import { BacklogStore, Database, LogCheckpointStore } from '@iss/persistence';
import { watchBacklog, watchFigure, watchProcess } from '@iss/platform';
import { EventQueue } from '@iss/queue';
import { Inject, Module } from '@nestjs/common';
import { Registry } from 'prom-client';
import { type GatewaySettings, SETTINGS } from '../../settings';
import { ReadinessService } from './readiness.service';
import { SystemController } from './system.controller';

@Module({
  controllers: [SystemController],
  providers: [ReadinessService],
  exports: [ReadinessService],
})
export class SystemModule {
  constructor(
    metrics: Registry,
    backlog: BacklogStore,
    queue: EventQueue,
    log: LogCheckpointStore,
    database: Database,
    readiness: ReadinessService,
    @Inject(SETTINGS) { build }: GatewaySettings,
  ) {
    watchProcess(metrics, { build, load: () => database.load(), readiness: () => readiness.read() });
    watchBacklog(metrics, backlog, queue);
    watchFigure(metrics, {
      name: 'log_lag_seconds',
      help: 'For how long the oldest fact that is not in the published log has been committed',
      read: async () => (await log.lagMs()) / 1_000,
    });
  }
}
