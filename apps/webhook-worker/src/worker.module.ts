import { type Database, PersistenceModule } from '@iss/persistence';
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
  static of({ settings, metrics, logger }: WorkerResources): DynamicModule {
    const providers = [
      { provide: SETTINGS, useValue: settings },
      { provide: LOGGER, useValue: logger },
      { provide: Registry, useValue: metrics },
    ];
    return { module: ResourcesModule, providers, exports: providers };
  }
}

@Module({})
export class WorkerModule {
  static of(resources: WorkerResources): DynamicModule {
    return {
      module: WorkerModule,
      imports: [
        PersistenceModule.of(resources.database),
        QueueModule.of(resources.queue),
        ResourcesModule.of(resources),
        SweepModule,
        HealthModule,
      ],
    };
  }
}
