import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { clusterFolder, makeTemporaryFolder, startPostgres } from '../postgres.ts';
import { startRedis } from '../redis.ts';

/**
 * Starts the services for integration tests that the environment does not name, and sets their variables: TEST_POSTGRES_URL (a
 * superuser in a cluster without fsync) and TEST_REDIS_URL. Without Redis, TEST_REDIS_FAULT contains the reason, so that only
 * tests that need Redis fail. Returns a function that stops them.
 */
export async function startTestServices(): Promise<() => Promise<void>> {
  const started = await Promise.allSettled([startTestPostgres(), startTestRedis()]);
  const stopAll = async (): Promise<void> => {
    for (const one of started) if (one.status === 'fulfilled') await one.value();
  };
  for (const one of started) {
    if (one.status === 'fulfilled') continue;
    await stopAll();
    throw one.reason;
  }
  return stopAll;
}

async function startTestPostgres(): Promise<() => Promise<void>> {
  if (process.env['TEST_POSTGRES_URL']) return async () => undefined;
  const folder = makeTemporaryFolder({ durable: false });
  const removeFolder = () => rmSync(folder, { recursive: true, force: true });
  try {
    const server = await startPostgres({
      folder: clusterFolder(folder),
      logFile: join(folder, 'postgres.log'),
      durable: false,
      temporaryFolder: folder,
    });
    process.env['TEST_POSTGRES_URL'] = server.url;
    return async () => {
      await server.stop();
      removeFolder();
      delete process.env['TEST_POSTGRES_URL'];
    };
  } catch (error) {
    removeFolder();
    throw error;
  }
}

async function startTestRedis(): Promise<() => Promise<void>> {
  if (process.env['TEST_REDIS_URL'] || process.env['TEST_REDIS_FAULT']) return async () => undefined;
  try {
    const server = await startRedis();
    process.env['TEST_REDIS_URL'] = server.url;
    return async () => {
      await server.stop();
      delete process.env['TEST_REDIS_URL'];
    };
  } catch (error) {
    process.env['TEST_REDIS_FAULT'] = error instanceof Error ? error.message : String(error);
    return async () => undefined;
  }
}
