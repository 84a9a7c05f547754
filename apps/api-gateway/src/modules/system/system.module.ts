import { ARCHIVE_OUTCOMES } from '@iss/archive';
import { BacklogStore, Database, DAMAGED_TEXTS, LogCheckpointStore, REPLICA_OUTCOMES } from '@iss/persistence';
import { type Logger, LOGGER, watchBacklog, watchFigure, watchProcess } from '@iss/platform';
import { EventQueue } from '@iss/queue';
import { Inject, Module, type OnApplicationShutdown } from '@nestjs/common';
import { Counter, Registry } from 'prom-client';
import { type GatewaySettings, SETTINGS } from '../../settings';
import { damagedTexts } from './damaged-texts';
import { ReadinessService } from './readiness.service';
import { SystemController } from './system.controller';

@Module({
  controllers: [SystemController],
  providers: [ReadinessService],
  exports: [ReadinessService],
})
export class SystemModule implements OnApplicationShutdown {
  private readonly reportDamage: (found: unknown) => void;

  constructor(
    metrics: Registry,
    backlog: BacklogStore,
    queue: EventQueue,
    log: LogCheckpointStore,
    database: Database,
    readiness: ReadinessService,
    @Inject(SETTINGS) { build }: GatewaySettings,
    @Inject(LOGGER) logger: Logger,
  ) {
    watchProcess(metrics, { build, load: () => database.load(), readiness: () => readiness.read() });
    watchBacklog(metrics, backlog, queue);
    watchArchive(metrics, database);
    watchReplica(metrics, database);
    watchFigure(metrics, {
      name: 'log_lag_seconds',
      help: 'Age of the oldest committed fact that is not in the published log',
      read: async () => (await log.lagMs()) / 1_000,
    });
    this.reportDamage = damagedTexts(metrics, logger);
    DAMAGED_TEXTS.subscribe(this.reportDamage);
  }

  onApplicationShutdown(): void {
    DAMAGED_TEXTS.unsubscribe(this.reportDamage);
  }
}

/** Counts the outcomes of reads of archived texts, if there is an archive. */
function watchArchive(metrics: Registry, { archive }: Database): void {
  if (archive === null) return;
  new Counter({
    name: 'archive_texts_read_total',
    help: 'Archived texts that were requested, by outcome',
    labelNames: ['outcome'],
    registers: [metrics],
    collect() {
      this.reset();
      for (const outcome of ARCHIVE_OUTCOMES) this.inc({ outcome }, archive.outcomes[outcome]);
    },
  });
}

/** Counts the outcomes of reads at a replica and measures its lag, if there is a replica. */
function watchReplica(metrics: Registry, { replica }: Database): void {
  if (replica === null) return;
  new Counter({
    name: 'database_replica_reads_total',
    help: 'Reads that a replica could answer, by outcome; the primary served all but the answered ones',
    labelNames: ['outcome'],
    registers: [metrics],
    collect() {
      this.reset();
      for (const outcome of REPLICA_OUTCOMES) this.inc({ outcome }, replica.outcomes[outcome]);
    },
  });
  watchFigure(metrics, {
    name: 'database_replica_lag_seconds',
    help: 'Age of the oldest change on the primary that the replica lacks',
    read: async () => replica.lagSeconds ?? Number.NaN,
  });
}
