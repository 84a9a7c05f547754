import {
  BacklogStore,
  Database,
  DeliveryStore,
  LogCheckpointStore,
  LogCopyStore,
  MapReadStore,
  PersistenceModule,
} from '@iss/persistence';
import { LOGGER, type Logger, watchBacklog, watchProcess } from '@iss/platform';
import { EventQueue, QueueModule } from '@iss/queue';
import { type DynamicModule, Inject, Module } from '@nestjs/common';
import { Registry } from 'prom-client';
import { Archiver } from './archive/archiver';
import { DeliveryService } from './delivery/delivery.service';
import { Dispatcher } from './delivery/dispatcher';
import { WebhookClient } from './delivery/webhook-client';
import { FanoutService } from './fanout/fanout.service';
import { HealthController } from './health/health.controller';
import { Liveness, WorkWatch } from './health/liveness';
import { WorkerReadinessService } from './health/readiness.service';
import { watchDeadlines, WorkerMetrics } from './health/worker-metrics';
import { LOG_IDENTITY, type LogIdentity } from './log/log-identity';
import { MapBackfill } from './log/map-backfill';
import { MAP_KEYS, type MapKeys } from './log/map-keys';
import { LogCopy } from './log/log-copy';
import { LogMetrics } from './log/log-metrics';
import { NewestCheckpoint } from './log/newest-checkpoint';
import { LogPublication } from './log/publication';
import { ViewMaker } from './log/views/view-maker';
import { ExpiryProjection } from './projections/expiry';
import { FeedProjection } from './projections/feed';
import { LogProjection } from './projections/log';
import { OutboxProjection } from './projections/outbox';
import { leaseMs, SETTINGS, stuckAfterMs, type WorkerSettings } from './settings';
import { EvidenceService } from './sweep/evidence.service';
import { RetentionService } from './sweep/retention.service';
import { StatusListService } from './sweep/status-list.service';
import { SweepService } from './sweep/sweep.service';

/** Connections and shared objects of the process. They are created before the application and closed after it. */
export interface WorkerResources {
  settings: WorkerSettings;
  database: Database;
  queue: EventQueue;
  metrics: Registry;
  logger: Logger;
}

@Module({
  controllers: [HealthController],
  providers: [
    FanoutService,
    DeliveryService,
    WebhookClient,
    {
      provide: Dispatcher,
      inject: [DeliveryService, SETTINGS],
      useFactory: (delivery: DeliveryService, { concurrency }: WorkerSettings) =>
        new Dispatcher((pending) => delivery.deliver(pending), concurrency),
    },
    SweepService,
    RetentionService,
    EvidenceService,
    StatusListService,
    Archiver,
    LogProjection,
    LogPublication,
    LogCopy,
    MapBackfill,
    ViewMaker,
    FeedProjection,
    OutboxProjection,
    ExpiryProjection,
    LogMetrics,
    NewestCheckpoint,
    {
      provide: Liveness,
      inject: [BacklogStore, SETTINGS],
      useFactory: (backlog: BacklogStore, settings: WorkerSettings) =>
        new Liveness(
          new WorkWatch(() => backlog.oldestEventMs(), stuckAfterMs(settings)),
          new WorkWatch(() => backlog.oldestDeliveryMs(), stuckAfterMs(settings)),
        ),
    },
    WorkerReadinessService,
    WorkerMetrics,
  ],
})
export class WorkerModule {
  static of(
    { settings, database, queue, metrics, logger }: WorkerResources,
    identity: LogIdentity | null,
    mapKeys: MapKeys | null,
  ): DynamicModule {
    return {
      module: WorkerModule,
      imports: [PersistenceModule.of(database), QueueModule.of(queue)],
      providers: [
        { provide: SETTINGS, useValue: settings },
        { provide: LOGGER, useValue: logger },
        { provide: LOG_IDENTITY, useValue: identity },
        { provide: MAP_KEYS, useValue: mapKeys },
        { provide: Registry, useValue: metrics },
        {
          provide: DeliveryStore,
          inject: [Database],
          useFactory: ({ sql }: Database) =>
            new DeliveryStore(sql, { leaseMs: leaseMs(settings), disableAfterMs: settings.disableAfterMs }),
        },
      ],
    };
  }

  constructor(
    registry: Registry,
    backlog: BacklogStore,
    queue: EventQueue,
    own: WorkerMetrics,
    dispatcher: Dispatcher,
    database: Database,
    readiness: WorkerReadinessService,
    logMetrics: LogMetrics,
    checkpoints: LogCheckpointStore,
    map: MapReadStore,
    copy: LogCopyStore,
    @Inject(SETTINGS) { build, logPublishUrl }: WorkerSettings,
  ) {
    watchProcess(registry, { build, load: () => database.load(), readiness: () => readiness.read() });
    watchBacklog(registry, backlog, queue);
    watchDeadlines(registry, backlog);
    own.watch(dispatcher);
    logMetrics.watch(checkpoints, map);
    if (logPublishUrl !== undefined) logMetrics.watchCopy(copy);
  }
}
