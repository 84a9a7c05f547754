// Imported first, because it stops a process whose Node.js could not load the other modules.
import {
  APP_ROLES,
  boot,
  createLogger,
  createRegistry,
  onShutdown,
  startMetricsServer,
  startTelemetry,
  warnTo,
  workerEnv,
} from '@iss/platform';
import { openArchive } from '@iss/archive';
import { openDatabase } from '@iss/persistence';
import { openQueue } from '@iss/queue';
import { createWorker } from './app';

async function main(): Promise<void> {
  const settings = workerEnv();
  const logger = createLogger({ name: 'webhook-worker', level: settings.logLevel });
  const archive = await openArchive(settings.archive);
  const database = await openDatabase({
    url: settings.databaseUrl,
    role: APP_ROLES.worker,
    refusesOwner: true,
    poolSize: settings.databasePoolSize,
    needsSessions: settings.queueUrl === undefined,
    applicationName: 'webhook-worker',
    archive,
    warn: warnTo(logger),
  });
  const queue = openQueue({
    queueUrl: settings.queueUrl,
    databaseUrl: settings.databaseUrl,
    role: APP_ROLES.worker,
    warn: warnTo(logger),
  });
  const metrics = createRegistry('webhook-worker');
  const endTelemetry = await startTelemetry({
    settings: settings.telemetry,
    serviceName: 'webhook-worker',
    version: settings.build.gitSha,
    registry: metrics,
    warn: warnTo(logger),
    flushMs: settings.shutdownTimeoutMs / 4,
  });
  const metricsServer = await startMetricsServer(metrics, settings);
  const worker = await createWorker({ settings, database, queue, metrics, logger });
  onShutdown({
    logger,
    timeoutMs: settings.shutdownTimeoutMs,
    close: async () => {
      await worker.stop();
      await endTelemetry();
      await metricsServer.close();
      await queue.close();
      await database.close();
      archive?.close();
    },
  });
  await worker.start(settings.port);
  logger.info(
    {
      port: settings.port,
      metrics_port: metricsServer.port,
      queue: settings.queueUrl === undefined ? 'postgresql' : 'redis',
    },
    'listening',
  );
}

boot('webhook-worker', main, 'WORKER_PORT');
