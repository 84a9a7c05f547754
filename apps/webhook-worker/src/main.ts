// First: it stops a process whose Node.js could not load the others.
import { createLogger, createRegistry, EnvError, onShutdown, workerEnv } from '@iss/platform';
import { DomainError } from '@iss/domain';
import { openDatabase } from '@iss/persistence';
import { openQueue } from '@iss/queue';
import { createWorker } from './app';

async function main(): Promise<void> {
  const settings = workerEnv();
  const logger = createLogger({ name: 'webhook-worker', level: settings.logLevel });
  const database = await openDatabase({
    url: settings.databaseUrl,
    poolSize: settings.databasePoolSize,
    applicationName: 'webhook-worker',
  });
  const queue = openQueue({
    queueUrl: settings.queueUrl,
    databaseUrl: settings.databaseUrl,
    warn: (message, error) => logger.warn({ err: error }, message),
  });
  const worker = await createWorker({ settings, database, queue, metrics: createRegistry('webhook-worker'), logger });
  onShutdown({
    logger,
    timeoutMs: settings.shutdownTimeoutMs,
    close: async () => {
      await worker.stop();
      await queue.close();
      await database.close();
    },
  });
  await worker.start(settings.port);
  logger.info({ port: settings.port, queue: settings.queueUrl === undefined ? 'postgresql' : 'redis' }, 'listening');
}

/** The line that says why the process cannot start, for the failures that its operator can mend. */
function bootFailure(error: unknown): string {
  if (error instanceof EnvError) return error.lines.join('\n');
  if (error instanceof DomainError) return `${error.message} (DATABASE_URL)`;
  if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE') {
    return 'WORKER_PORT is taken by another process: stop it, or set WORKER_PORT to a free one';
  }
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

main().catch((error: unknown) => {
  process.stderr.write(`${bootFailure(error)}\n`);
  process.exit(1);
});
