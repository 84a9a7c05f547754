import { type Logger, NestLogger } from '@iss/platform';
import { HttpAdapterHost, NestFactory } from '@nestjs/core';
import { setTimeout as wait } from 'node:timers/promises';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { AppModule, type GatewayResources } from './app.module';
import { WEBHOOKS } from './webhooks.openapi';
import { AccessLog } from './http/answer/access-log';
import { preflights } from './http/answer/cors';
import { JsonAdapter } from './http/answer/json-adapter';
import { standingHeadersMiddleware } from './http/answer/standing-headers';
import { setUpConsole } from './http/console/console';
import { setUpDocs } from './http/docs/docs';
import { requestIdMiddleware } from './http/request/request-id';
import { ReadinessService } from './modules/system/readiness.service';

/** The gateway as it runs, ready to listen. */
export async function createGateway(resources: GatewayResources, logger: Logger): Promise<NestExpressApplication> {
  const app = await NestFactory.create<NestExpressApplication>(
    AppModule.of(resources, logger),
    new JsonAdapter(resources.settings),
    {
      logger: new NestLogger(logger),
      bodyParser: false,
      abortOnError: false,
    },
  );
  const { corsOrigins } = resources.settings;
  // Here and not by a module's `configure`, which would mount them behind the documentation.
  app.use(requestIdMiddleware, standingHeadersMiddleware, app.get(AccessLog).middleware);
  if (corsOrigins.length > 0) app.use(preflights(corsOrigins));
  setUpDocs(app, resources.settings, WEBHOOKS);
  setUpConsole(app, resources.settings);
  return app.init();
}

/**
 * Ends the gateway without a request lost behind a load balancer: from now on it is not ready; for `delayMs`, in which that
 * is noticed, it serves what still comes, each answer the last one on its connection; then it takes no more, and resolves
 * when all that was begun is answered.
 */
export async function drain(app: NestExpressApplication, delayMs: number): Promise<void> {
  app.get(ReadinessService).drain();
  app.get<HttpAdapterHost<JsonAdapter>>(HttpAdapterHost).httpAdapter.closeAfterAnswers();
  await wait(delayMs);
  await app.close();
}
