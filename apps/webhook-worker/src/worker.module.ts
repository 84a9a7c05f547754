import { BacklogStore, Database, IdempotencyStore, OutboxStore, RetentionStore } from '@iss/persistence';
import { LOGGER, type Logger } from '@iss/platform';
import { type EventQueue, QueueModule } from '@iss/queue';
import { type DynamicModule, Global, Module } from '@nestjs/common';
import { Registry } from 'prom-client';
import { HealthModule } from './health/health.module';
import { SETTINGS, type WorkerSettings } from './settings';
import { SweepModule } from './sweep/sweep.module';

/** What the process holds open, made before the application and closed after it. */
export interface WorkerResources {
  settings: WorkerSettings;
  database: Database;
  queue: EventQueue;
  metrics: Registry;
  logger: Logger;
}

/** What every room of the worker may ask for. */
@Global()
@Module({})
class ResourcesModule {
  static of({ settings, database, metrics, logger }: WorkerResources): DynamicModule {
    const stores = [BacklogStore, IdempotencyStore, OutboxStore, RetentionStore];
    const providers = [
      { provide: SETTINGS, useValue: settings },
      { provide: LOGGER, useValue: logger },
      { provide: Registry, useValue: metrics },
      { provide: Database, useValue: database },
      ...stores.map((Store) => ({ provide: Store, useValue: new Store(database.sql) })),
    ];
    return { module: ResourcesModule, providers, exports: providers };
  }
}

@Module({})
export class WorkerModule {
  static of(resources: WorkerResources): DynamicModule {
    const imports = [ResourcesModule.of(resources), QueueModule.of(resources.queue), SweepModule, HealthModule];
    return { module: WorkerModule, imports };
  }
}
