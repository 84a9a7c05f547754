import { type Logger, NestLogger } from '@iss/platform';
import { HttpAdapterHost, NestFactory } from '@nestjs/core';
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
 * Ends the gateway without a lost request behind a load balancer. The gateway is not ready from now on. Until `noticed`
 * resolves, it serves what still comes, and each answer is the last one on its connection. Then it takes no more requests.
 * Resolves when all requests are answered.
 */
export async function drain(app: NestExpressApplication, noticed: Promise<unknown>): Promise<void> {
  app.get(ReadinessService).drain();
  app.get<HttpAdapterHost<JsonAdapter>>(HttpAdapterHost).httpAdapter.closeAfterAnswers();
  await noticed;
  await app.close();
}
