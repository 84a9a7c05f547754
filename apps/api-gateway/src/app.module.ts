import {
  BacklogStore,
  Database,
  DeliveryLogStore,
  GrantStore,
  IdempotencyStore,
  LegacyTenantStore,
  RateLimitStore,
  RefreshRequestStore,
  SnapshotListStore,
  SnapshotPairStore,
  SnapshotReadStore,
  SnapshotWriteStore,
  SubjectStore,
  TenancyStore,
  TransferOfferStore,
  UpdateStore,
  WebhookSubscriptionStore,
} from '@iss/persistence';
import { type Logger, SecretBox } from '@iss/platform';
import { EventQueue } from '@iss/queue';
import { type DynamicModule, Global, Module } from '@nestjs/common';
import { Registry } from 'prom-client';
import { AccessService } from './access/access.service';
import { ReadAccess } from './access/read-access';
import { AuthModule } from './auth/auth.module';
import { EventHandOver } from './events/event-hand-over';
import { EdgeModule } from './http/edge.module';
import { GrantsModule } from './modules/grants/grants.module';
import { IdentityStateModule } from './modules/identity-state/identity-state.module';
import { RefreshRequestsModule } from './modules/refresh-requests/refresh-requests.module';
import { SystemModule } from './modules/system/system.module';
import { TenancyModule } from './modules/tenancy/tenancy.module';
import { WebhookSubscriptionsModule } from './modules/webhook-subscriptions/webhook-subscriptions.module';
import { type GatewaySettings, LOGGER, SETTINGS } from './settings';

/** What the process holds open, made before the application and closed after it. */
export interface GatewayResources {
  settings: GatewaySettings;
  database: Database;
  queue: EventQueue;
  handOver: EventHandOver;
  metrics: Registry;
}

/** What every room of the gateway may ask for. */
@Global()
@Module({})
class ResourcesModule {
  static of({ settings, database, queue, handOver, metrics }: GatewayResources, logger: Logger): DynamicModule {
    const providers = [
      { provide: SETTINGS, useValue: settings },
      { provide: LOGGER, useValue: logger },
      { provide: Database, useValue: database },
      { provide: EventQueue, useValue: queue },
      { provide: EventHandOver, useValue: handOver },
      { provide: Registry, useValue: metrics },
      { provide: SecretBox, useValue: settings.secretBox },
      { provide: SnapshotReadStore, useValue: new SnapshotReadStore(database.sql) },
      { provide: SnapshotWriteStore, useValue: new SnapshotWriteStore(database.sql) },
      { provide: UpdateStore, useValue: new UpdateStore(database.sql) },
      { provide: GrantStore, useValue: new GrantStore(database.sql) },
      { provide: LegacyTenantStore, useValue: new LegacyTenantStore(database.sql) },
      { provide: TenancyStore, useValue: new TenancyStore(database.dataSource, database.sql) },
      { provide: WebhookSubscriptionStore, useValue: new WebhookSubscriptionStore(database.dataSource) },
      { provide: BacklogStore, useValue: new BacklogStore(database.sql) },
      { provide: RefreshRequestStore, useValue: new RefreshRequestStore(database.sql) },
      { provide: TransferOfferStore, useValue: new TransferOfferStore(database.sql) },
      { provide: SubjectStore, useValue: new SubjectStore(database.sql) },
      { provide: SnapshotListStore, useValue: new SnapshotListStore(database.sql) },
      { provide: SnapshotPairStore, useValue: new SnapshotPairStore(database.sql) },
      { provide: DeliveryLogStore, useValue: new DeliveryLogStore(database.sql) },
      { provide: IdempotencyStore, useValue: new IdempotencyStore(database.sql) },
      { provide: RateLimitStore, useValue: new RateLimitStore(database.sql) },
      AccessService,
      ReadAccess,
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
        ResourcesModule.of(resources, logger),
        AuthModule.forRoot(resources.settings.auth),
        EdgeModule.of(resources.settings),
        IdentityStateModule.of(resources.settings),
        TenancyModule,
        GrantsModule,
        RefreshRequestsModule,
        WebhookSubscriptionsModule,
        SystemModule,
      ],
    };
  }
}
