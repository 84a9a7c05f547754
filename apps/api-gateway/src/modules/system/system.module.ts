import { BacklogStore, Database, LogCheckpointStore, REPLICA_OUTCOMES } from '@iss/persistence';
import { watchBacklog, watchFigure, watchProcess } from '@iss/platform';
import { EventQueue } from '@iss/queue';
import { Inject, Module } from '@nestjs/common';
import { Counter, Registry } from 'prom-client';
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
    watchReplica(metrics, database);
    watchFigure(metrics, {
      name: 'log_lag_seconds',
      help: 'For how long the oldest fact that is not in the published log has been committed',
      read: async () => (await log.lagMs()) / 1_000,
    });
  }
}

/** Says what a replica answers and how far it is behind, where there is one. */
function watchReplica(metrics: Registry, { replica }: Database): void {
  if (replica === null) return;
  new Counter({
    name: 'database_replica_reads_total',
    help: 'Reads that a replica could answer, by what became of them; but for answered, the primary did',
    labelNames: ['outcome'],
    registers: [metrics],
    collect() {
      this.reset();
      for (const outcome of REPLICA_OUTCOMES) this.inc({ outcome }, replica.outcomes[outcome]);
    },
  });
  watchFigure(metrics, {
    name: 'database_replica_lag_seconds',
    help: 'For how long the oldest change that the replica lacks has been on the primary',
    read: async () => replica.lagSeconds ?? Number.NaN,
  });
}
