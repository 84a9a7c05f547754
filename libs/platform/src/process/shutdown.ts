import type { Logger } from 'pino';

/**
 * Handles the end of the process. The first SIGTERM or SIGINT calls `close` and exits with 0. If `close` fails or takes
 * longer than `timeoutMs`, the exit code is 1. A second signal exits with 1 immediately. An unhandled rejection or
 * uncaught exception is logged and exits with 1, because the state of the process is unknown; the supervisor restarts
 * it.
 */
export function onShutdown(options: {
  logger: Pick<Logger, 'info' | 'error' | 'fatal'>;
  timeoutMs: number;
  close: () => Promise<void>;
}): void {
  const { logger, timeoutMs, close } = options;
  let isClosing = false;

  const stop = (signal: NodeJS.Signals): void => {
    if (isClosing) {
      logger.error({ signal }, 'Second signal: exiting without waiting');
      process.exit(1);
    }
    isClosing = true;
    logger.info({ signal }, 'Shutting down');
    // Closing a queue may never return while Redis is down.
    setTimeout(() => {
      logger.error({ timeoutMs }, 'Shutdown took too long: exiting');
      process.exit(1);
    }, timeoutMs).unref();
    close().then(
      () => {
        logger.info('Shut down');
        process.exit(0);
      },
      (error: unknown) => {
        logger.error({ err: error }, 'Shutdown failed');
        process.exit(1);
      },
    );
  };
  const crash = (error: unknown): void => {
    logger.fatal({ err: error }, 'Unexpected failure: exiting');
    process.exit(1);
  };

  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  process.on('unhandledRejection', crash);
  process.on('uncaughtException', crash);
}
