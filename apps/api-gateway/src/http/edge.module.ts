import { RateLimitStore } from '@iss/persistence';
import { type DynamicModule, Inject, Module, type Provider } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, HttpAdapterHost, MetadataScanner } from '@nestjs/core';
import { AuthGuard } from '../auth/auth.guard';
import { type GatewaySettings, SETTINGS } from '../settings';
import { Work } from '../work/work';
import { AccessLog } from './answer/access-log';
import { ErrorFilter } from './errors/error.filter';
import { RouteTable } from './errors/route-table';
import { HandlerChain } from './fast/handler-chain';
import { HotLane } from './fast/hot-lane';
import { IdempotencyGuard } from './limits/idempotency.guard';
import { ReplayFilter } from './limits/idempotency-replay.filter';
import { ReplayAccess } from './limits/replay-access';
import { RateLimitGuard } from './limits/rate-limit.guard';
import { RateLimiter } from './limits/rate-limiter';
import { Cursors } from './lists/cursors';
import { QueryGuard } from './lists/query.guard';
import { LargeBodyAccess } from './request/large-body-access';
import { setRequestSettings } from './request/request-settings';

/** Nest asks the last one first. */
const FILTERS: Provider[] = [
  { provide: APP_FILTER, useClass: ErrorFilter },
  { provide: APP_FILTER, useClass: ReplayFilter },
];

const RATE_LIMIT: Provider[] = [
  {
    provide: RateLimiter,
    inject: [SETTINGS, RateLimitStore],
    useFactory: (settings: GatewaySettings, store: RateLimitStore) =>
      new RateLimiter(settings.rateLimitPerMinute, store),
  },
  { provide: APP_GUARD, useClass: RateLimitGuard },
];

/** What every request passes, whichever room it is for. */
@Module({
  providers: [AccessLog, Cursors, RouteTable, MetadataScanner, HandlerChain, HotLane, ReplayAccess, LargeBodyAccess],
  exports: [AccessLog],
})
export class EdgeModule {
  constructor(
    host: HttpAdapterHost,
    @Inject(SETTINGS) { limits }: GatewaySettings,
    cursors: Cursors,
    work: Work,
    largeBodies: LargeBodyAccess,
  ) {
    setRequestSettings(host.httpAdapter.getInstance(), { limits, cursors, work, largeBodies });
  }

  /** In this order: a caller is known, then counted, and only then is a query looked at, and a key looked up. */
  static of({ rateLimitPerMinute }: GatewaySettings): DynamicModule {
    return {
      module: EdgeModule,
      providers: [
        ...FILTERS,
        { provide: APP_GUARD, useExisting: AuthGuard },
        ...(rateLimitPerMinute > 0 ? RATE_LIMIT : []),
        { provide: APP_GUARD, useClass: QueryGuard },
        { provide: APP_GUARD, useClass: IdempotencyGuard },
      ],
    };
  }
}
