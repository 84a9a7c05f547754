import { Redis } from 'ioredis';
import { Client } from 'pg';
import { createTestDatabase } from '../testing/test-database.ts';
import { testRedisUrl } from '../testing/test-redis.ts';

describe('the services of the integration tests', () => {
  it('return a separate empty PostgreSQL 18 database that sorts by code point', async () => {
    const [one, two] = await Promise.all([createTestDatabase(), createTestDatabase()]);
    const client = new Client({ connectionString: one.url });
    await client.connect();
    await client.query('CREATE TABLE words (word text)');
    await client.query(`INSERT INTO words VALUES ('é'), ('a'), ('Z'), ('z')`);
    const { rows } = await client.query('SELECT word FROM words ORDER BY word');
    const version = await client.query('SHOW server_version_num');
    await client.end();
    expect(rows.map(({ word }) => word)).toEqual(['Z', 'a', 'z', 'é']);
    expect(Number(version.rows[0].server_version_num)).toBeGreaterThanOrEqual(180000);

    const other = new Client({ connectionString: two.url });
    await other.connect();
    expect((await other.query(`SELECT to_regclass('words') AS found`)).rows).toEqual([{ found: null }]);
    await other.end();
    await one.drop();
    await two.drop();
    await expect(new Client({ connectionString: one.url }).connect()).rejects.toMatchObject({ code: '3D000' });
  });

  it('return a separate empty Redis database', async () => {
    const urls = await Promise.all([testRedisUrl(), testRedisUrl()]);
    expect(new Set(urls).size).toBe(2);
    const client = new Redis(urls[0]);
    expect(await client.dbsize()).toBe(0);
    await client.set('mine', '1');
    client.disconnect();
    const other = new Redis(urls[1]);
    expect(await other.get('mine')).toBeNull();
    other.disconnect();
  });
});
