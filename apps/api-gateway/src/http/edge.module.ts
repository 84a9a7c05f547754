import { RateLimitStore } from '@iss/persistence';
import { LOGGER, type Logger, rarely, warnTo } from '@iss/platform';
import { type CanActivate, type DynamicModule, Inject, Module, type Provider } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, DiscoveryModule, HttpAdapterHost } from '@nestjs/core';
import { AuthGuard } from '../auth/auth.guard';
import { type GatewaySettings, SETTINGS } from '../settings';
import { Charge } from '../runtime/charge';
import { Work } from '../runtime/work';
import { Registry } from 'prom-client';
import { AccessLog } from './answer/access-log';
import type { JsonAdapter } from './answer/json-adapter';
import { ErrorFilter } from './errors/error.filter';
import { RouteTable } from './errors/route-table';
import { HotLane } from './fast/hot-lane';
import { HotRoutes } from './fast/hot-routes';
import { AnonymousRequests } from './limits/anonymous-requests';
import { IdempotencyGuard } from './limits/idempotency.guard';
import { ReplayFilter } from './limits/idempotency-replay.filter';
import { KeyLimiter } from './limits/key-limiter';
import { ReplayAccess } from './limits/replay-access';
import { RateLimitGuard } from './limits/rate-limit.guard';
import { RateLimiter } from './limits/rate-limiter';
import { Cursors } from './lists/cursors';
import { QueryGuard } from './lists/query.guard';
import { ClientAddresses } from './request/client-address';
import { LargeBodyAccess } from './request/large-body-access';
import { setRequestSettings } from './request/request-settings';

/** Nest tries the last filter first. */
const FILTERS: Provider[] = [
  ErrorFilter,
  { provide: APP_FILTER, useExisting: ErrorFilter },
  { provide: APP_FILTER, useClass: ReplayFilter },
];

const MINUTE_SECONDS = 60;

/** Provided even if nothing is limited, so that other code need not check for them. */
const LIMITERS: Provider[] = [
  {
    provide: RateLimiter,
    inject: [SETTINGS, RateLimitStore],
    useFactory: ({ rateLimitPerMinute: limit }: GatewaySettings, store: RateLimitStore) =>
      new RateLimiter({ name: 'requests_per_minute', limit, seconds: MINUTE_SECONDS }, store),
  },
  {
    provide: KeyLimiter,
    inject: [SETTINGS, RateLimitStore],
    useFactory: ({ caps }: GatewaySettings, store: RateLimitStore) =>
      new KeyLimiter(caps.idempotency_keys_per_day, store),
  },
  {
    provide: ClientAddresses,
    inject: [SETTINGS, LOGGER],
    useFactory: ({ trustedProxies }: GatewaySettings, logger: Logger) =>
      new ClientAddresses(trustedProxies, rarely(warnTo(logger))),
  },
  {
    provide: AnonymousRequests,
    inject: [SETTINGS, ClientAddresses],
    useFactory: ({ anonymousRateLimitPerMinute: limit }: GatewaySettings, addresses: ClientAddresses) =>
      new AnonymousRequests(limit, addresses),
  },
];

/** Provides the parts that every request passes. */
@Module({
  imports: [DiscoveryModule],
  providers: [
    ...[AccessLog, Cursors, RouteTable, HotRoutes, ReplayAccess, LargeBodyAccess, Work],
    { provide: Charge, useExisting: RateLimiter },
  ],
  exports: [AccessLog, RateLimiter, AnonymousRequests, Work],
})
export class EdgeModule {
  constructor(
    host: HttpAdapterHost<JsonAdapter>,
    metrics: Registry,
    @Inject(SETTINGS) { limits }: GatewaySettings,
    cursors: Cursors,
    limiter: RateLimiter,
    work: Work,
    largeBodies: LargeBodyAccess,
  ) {
    const { ended } = host.httpAdapter;
    ended.register(metrics);
    setRequestSettings(host.httpAdapter.getInstance(), { limits, cursors, limiter, work, largeBodies, ended });
  }

  /** Registers the guards in this order: authentication, rate limit, query, idempotency key. */
  static of({ rateLimitPerMinute, anonymousRateLimitPerMinute }: GatewaySettings): DynamicModule {
    const isLimited = rateLimitPerMinute > 0 || anonymousRateLimitPerMinute > 0;
    const guards = [AuthGuard, ...(isLimited ? [RateLimitGuard] : [])];
    return {
      module: EdgeModule,
      global: true,
      providers: [
        ...FILTERS,
        ...LIMITERS,
        RateLimitGuard,
        ...guards.map((guard) => ({ provide: APP_GUARD, useExisting: guard })),
        { provide: APP_GUARD, useClass: QueryGuard },
        { provide: APP_GUARD, useClass: IdempotencyGuard },
        {
          provide: HotLane,
          inject: [HttpAdapterHost, HotRoutes, RouteTable, AccessLog, ErrorFilter, ...guards],
          useFactory: (
            host: HttpAdapterHost<JsonAdapter>,
            hotRoutes: HotRoutes,
            table: RouteTable,
            log: AccessLog,
            errors: ErrorFilter,
            ...inOrder: CanActivate[]
          ) => new HotLane(host, hotRoutes, table, log, errors, inOrder),
        },
      ],
    };
  }
}
