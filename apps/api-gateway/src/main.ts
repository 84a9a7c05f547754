import { setTimeout as wait } from 'node:timers/promises';
import {
  APP_ROLES,
  boot,
  createLogger,
  createRegistry,
  gatewayEnv,
  onShutdown,
  startMetricsServer,
  startTelemetry,
  warnTo,
} from '@iss/platform';
import { openArchive } from '@iss/archive';
import { openDatabase } from '@iss/persistence';
import { openQueue } from '@iss/queue';
import { createGateway, drain } from './app';
import { EventHandOver } from './events/event-hand-over';

async function main(): Promise<void> {
  const settings = gatewayEnv();
  const logger = createLogger({ name: 'api-gateway', level: settings.logLevel });
  const metrics = createRegistry('api-gateway');
  const endTelemetry = await startTelemetry({
    settings: settings.telemetry,
    serviceName: 'api-gateway',
    version: settings.build.gitSha,
    registry: metrics,
    warn: warnTo(logger),
    flushMs: settings.shutdownTimeoutMs / 4,
  });
  const warn = warnTo(logger);
  const archive = await openArchive(settings.archive);
  const database = await openDatabase({
    url: settings.databaseUrl,
    role: APP_ROLES.gateway,
    refusesOwner: true,
    replicaUrl: settings.databaseReplicaUrl,
    poolSize: settings.databasePoolSize,
    needsSessions: settings.queueUrl === undefined,
    applicationName: 'api-gateway',
    archive,
    warn,
  });
  const queue = openQueue({
    queueUrl: settings.queueUrl,
    databaseUrl: settings.databaseUrl,
    role: APP_ROLES.gateway,
    warn,
  });
  const handOver = new EventHandOver(queue, warn);
  const metricsServer = await startMetricsServer(metrics, settings);
  const app = await createGateway({ settings, database, queue, handOver, metrics }, logger);
  onShutdown({
    logger,
    timeoutMs: settings.drainDelayMs + settings.shutdownTimeoutMs,
    close: async () => {
      await drain(app, wait(settings.drainDelayMs));
      await endTelemetry();
      await metricsServer.close();
      await handOver.close();
      await queue.close();
      await database.close();
      archive?.close();
    },
  });
  await (settings.host === undefined ? app.listen(settings.port) : app.listen(settings.port, settings.host));
  logger.info({ port: settings.port, metrics_port: metricsServer.port }, 'listening');
}

boot('api-gateway', main, 'PORT');
