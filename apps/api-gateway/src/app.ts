import { type Logger, NestLogger } from '@iss/platform';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { AppModule, type GatewayResources } from './app.module';
import { WEBHOOKS } from './webhooks.openapi';
import { AccessLog } from './http/answer/access-log';
import { preflights } from './http/answer/cors';
import { JsonAdapter } from './http/answer/json-adapter';
import { standingHeadersMiddleware } from './http/answer/standing-headers';
import { setUpDocs } from './http/docs/docs';
import { requestIdMiddleware } from './http/request/request-id';

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
  return app.init();
}
