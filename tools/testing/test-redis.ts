import { Redis } from 'ioredis';

/**
 * Returns the connection string of an empty, exclusive Redis database on the server of TEST_REDIS_URL. Databases with data are
 * skipped and never flushed.
 * @throws Error if there is no Redis or no empty database
 */
export async function testRedisUrl(): Promise<string> {
  const server = process.env['TEST_REDIS_URL'];
  if (!server) {
    throw new Error(
      process.env['TEST_REDIS_FAULT'] ??
        'TEST_REDIS_URL is not set: the project lacks globalSetup tools/testing/global-setup.ts',
    );
  }
  const client = new Redis(server);
  try {
    const databases = await databaseCount(client);
    for (let tries = 1; tries < databases; tries++) {
      const database = ((await client.incr('iss-test:databases')) % (databases - 1)) + 1;
      await client.select(database);
      const keys = await client.dbsize();
      await client.select(0);
      if (keys > 0) continue;
      const url = new URL(server);
      url.pathname = `/${database}`;
      return url.toString();
    }
    throw new Error('Every database of the Redis that QUEUE_URL names holds data: the tests need empty ones.');
  } finally {
    client.disconnect();
  }
}

async function databaseCount(client: Redis): Promise<number> {
  const answer = await client.config('GET', 'databases');
  return Array.isArray(answer) ? Number(answer[1]) : 16;
}
