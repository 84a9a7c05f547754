import { type Logger, NestLogger } from '@iss/platform';
import { HttpAdapterHost, NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { WEBHOOKS } from '@iss/contract';
import { AppModule, type GatewayResources } from './app.module';
import { AccessLog } from './http/answer/access-log';
import { preflights, walletCors } from './http/answer/cors';
import { JsonAdapter } from './http/answer/json-adapter';
import { standingHeadersMiddleware } from './http/answer/standing-headers';
import { setUpConsole } from './http/console/console';
import { setUpDocs } from './http/docs/docs';
import { requestIdMiddleware } from './http/request/request-id';
import { ReadinessService } from './modules/system/readiness.service';

/** Creates the gateway. It does not listen yet. */
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
  // Mounted here because a module's `configure` would mount them after the documentation routes.
  app.use(requestIdMiddleware, standingHeadersMiddleware, app.get(AccessLog).middleware, walletCors);
  if (corsOrigins.length > 0) app.use(preflights(corsOrigins));
  setUpDocs(app, resources.settings, WEBHOOKS);
  setUpConsole(app, resources.settings);
  return app.init();
}

/**
 * Ends the gateway without losing a request behind a load balancer. The gateway reports itself as not ready
 * immediately. Until `noticed` resolves, it still serves requests, and closes each connection after its response. Then
 * it accepts no more requests. Resolves when all requests are answered.
 */
export async function drain(app: NestExpressApplication, noticed: Promise<unknown>): Promise<void> {
  app.get(ReadinessService).drain();
  app.get<HttpAdapterHost<JsonAdapter>>(HttpAdapterHost).httpAdapter.closeAfterAnswers();
  await noticed;
  await app.close();
}
