import { type Database, DisclosureStore, PersistenceModule } from '@iss/persistence';
import { LOGGER, type Logger, SecretBox } from '@iss/platform';
import { type EventQueue, QueueModule } from '@iss/queue';
import { type DynamicModule, Global, Module } from '@nestjs/common';
import { Registry } from 'prom-client';
import { AccessService } from './access/access.service';
import { Disclosures } from './access/disclosures';
import { Founders } from './access/founders';
import { ReadAccess } from './access/read-access';
import { AuthModule } from './auth/auth.module';
import { EventHandOver } from './events/event-hand-over';
import { EdgeModule } from './http/edge.module';
import { LogModule } from './log/log.module';
import { AttestationsModule } from './modules/attestations/attestations.module';
import { ChangeFeedModule } from './modules/change-feed/change-feed.module';
import { ErasuresModule } from './modules/erasures/erasures.module';
import { GrantsModule } from './modules/grants/grants.module';
import { IdentityStateModule } from './modules/identity-state/identity-state.module';
import { RefreshRequestsModule } from './modules/refresh-requests/refresh-requests.module';
import { RecordsModule } from './modules/records/records.module';
import { SystemModule } from './modules/system/system.module';
import { TenancyModule } from './modules/tenancy/tenancy.module';
import { TransparencyLogModule } from './modules/transparency-log/transparency-log.module';
import { WebhookSubscriptionsModule } from './modules/webhook-subscriptions/webhook-subscriptions.module';
import { type GatewaySettings, SETTINGS } from './settings';

/** Connections and shared objects of the process. They are created before the application and closed after it. */
export interface GatewayResources {
  settings: GatewaySettings;
  database: Database;
  queue: EventQueue;
  handOver: EventHandOver;
  metrics: Registry;
}

/** Provides what every module can inject. */
@Global()
@Module({})
class ResourcesModule {
  static of({ settings, handOver, metrics }: GatewayResources, logger: Logger): DynamicModule {
    const providers = [
      { provide: SETTINGS, useValue: settings },
      { provide: LOGGER, useValue: logger },
      { provide: EventHandOver, useValue: handOver },
      { provide: Registry, useValue: metrics },
      { provide: SecretBox, useValue: settings.secretBox },
      AccessService,
      Founders,
      ReadAccess,
      {
        provide: Disclosures,
        inject: [DisclosureStore],
        useFactory: (store: DisclosureStore) => new Disclosures(store),
      },
    ];
    return { module: ResourcesModule, providers, exports: providers };
  }
}

@Module({})
export class AppModule {
  static of(resources: GatewayResources, logger: Logger): DynamicModule {
    return {
      module: AppModule,
      imports: [
        PersistenceModule.of(resources.database, resources.settings.caps),
        QueueModule.of(resources.queue),
        ResourcesModule.of(resources, logger),
        AuthModule.forRoot(resources.settings.auth),
        EdgeModule.of(resources.settings),
        LogModule,
        IdentityStateModule.of(resources.settings),
        TenancyModule,
        GrantsModule,
        ChangeFeedModule,
        ErasuresModule,
        AttestationsModule,
        RefreshRequestsModule,
        WebhookSubscriptionsModule,
        TransparencyLogModule,
        RecordsModule,
        SystemModule,
      ],
    };
  }
}
