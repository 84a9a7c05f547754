import type { Server } from 'node:http';
import { BacklogStore, IdempotencyStore, RateLimitStore } from '@iss/persistence';
import { DURATION_BUCKETS_SECONDS, type Logger, NestLogger, watchBacklog } from '@iss/platform';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { Histogram } from 'prom-client';
import { AppModule, type GatewayResources } from './app.module';
import { AuthGuard } from './auth/auth.guard';
import { ERRORS_PATH, setUpDocs } from './http/docs/docs';
import { accessLog, accessLogMiddleware } from './http/answer/access-log';
import { Cursors } from './http/lists/cursors';
import { ErrorFilter } from './http/errors/error.filter';
import { HotLane } from './http/fast/hot-lane';
import { IdempotencyGuard } from './http/limits/idempotency.guard';
import { ReplayFilter } from './http/limits/idempotency-replay.filter';
import { answerMalformedRequests } from './http/errors/malformed-requests';
import { JsonAdapter } from './http/answer/json-adapter';
import { RateLimitGuard } from './http/limits/rate-limit.guard';
import { RateLimiter } from './http/limits/rate-limiter';
import { requestIdMiddleware } from './http/request/request-id';
import { RouteTable } from './http/errors/route-table';
import { standingHeadersMiddleware } from './http/answer/standing-headers';
import { hotRoutes } from './modules/identity-state/hot-routes';

/** A peer that sends slower than this holds a socket for nothing. */
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;
/** Longer than the idle time of common load balancers, so that it is they who close. */
const KEEP_ALIVE_TIMEOUT_MS = 65_000;

/** The gateway as it runs, ready to listen. */
export async function createGateway(resources: GatewayResources, logger: Logger): Promise<NestExpressApplication> {
  const { settings, metrics } = resources;
  const adapter = new JsonAdapter();
  const app = await NestFactory.create<NestExpressApplication>(AppModule.of(resources), adapter, {
    logger: new NestLogger(logger),
    bodyParser: false,
    abortOnError: false,
  });
  const durations = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from the head of a request to the end of its answer',
    labelNames: ['method', 'route', 'status'],
    buckets: DURATION_BUCKETS_SECONDS,
    registers: [metrics],
  });
  const routes = new RouteTable();

  const express = app.getHttpAdapter().getInstance();
  express.disable('x-powered-by');
  express.disable('etag');
  express.set('query parser', 'simple');
  express.locals['limits'] = settings.limits;
  express.locals['cursors'] = new Cursors(settings.secretBox);
  express.locals['bodyLimits'] = { maxBytes: settings.limits.bodyBytes, maxDepth: settings.limits.jsonDepth };
  const watch = accessLog(logger, durations);
  app.use(requestIdMiddleware, standingHeadersMiddleware, accessLogMiddleware(watch));
  const errors = new ErrorFilter(logger, routes, ERRORS_PATH);
  // The last one is asked first.
  app.useGlobalFilters(errors, new ReplayFilter());
  // After the guard of AuthModule: a caller is known, then counted, and only then is a key looked up.
  const rateLimit =
    settings.rateLimitPerMinute > 0
      ? new RateLimitGuard(new RateLimiter(settings.rateLimitPerMinute, app.get(RateLimitStore)))
      : undefined;
  if (rateLimit !== undefined) app.useGlobalGuards(rateLimit);
  app.useGlobalGuards(new IdempotencyGuard(app.get(IdempotencyStore), settings.secretBox, logger));
  setUpDocs(app, settings);
  await app.init();
  routes.load(app);
  watchBacklog(metrics, app.get(BacklogStore), resources.queue);

  const server: Server = app.getHttpServer();
  server.headersTimeout = HEADERS_TIMEOUT_MS;
  server.requestTimeout = REQUEST_TIMEOUT_MS;
  server.keepAliveTimeout = KEEP_ALIVE_TIMEOUT_MS;
  answerMalformedRequests(server, ERRORS_PATH);
  const common = { express, watch, auth: app.get(AuthGuard), rateLimit, errors };
  new HotLane(hotRoutes(app), common).install(server);
  return app;
}
