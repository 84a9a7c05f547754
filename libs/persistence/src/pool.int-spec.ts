import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { clusterFolder, makeTemporaryFolder, type PostgresServer, startPostgres } from '../../../tools/postgres';
import { waitFor } from '../../../tools/testing/wait-for';
import { BoundedPool, CancellableClient } from './pool';
import { toDomainError } from './sql/db-errors';

/** A server of its own, because the test changes its settings for commits. */
let server: PostgresServer;
let folder: string;
let superuser: Client;
const pools: BoundedPool[] = [];

beforeAll(async () => {
  folder = makeTemporaryFolder({ durable: false });
  server = await startPostgres({
    folder: clusterFolder(folder),
    logFile: join(folder, 'postgres.log'),
    durable: true,
    temporaryFolder: folder,
  });
  superuser = new Client({ connectionString: server.url });
  await superuser.connect();
  await superuser.query('CREATE TABLE written (id integer PRIMARY KEY)');
});

afterEach(async () => {
  for (const pool of pools.splice(0)) await pool.end();
});

afterAll(async () => {
  await superuser?.end();
  await server?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const CANCEL_MS = 300;

const warnings: string[] = [];

function poolOf(max: number, change: (url: URL) => void = () => undefined, cancelMs = CANCEL_MS): BoundedPool {
  const url = new URL(server.url);
  change(url);
  const pool = new BoundedPool(
    { connectionString: url.href, max, Client: CancellableClient, application_name: 'bounded', query_timeout: 60_000 },
    cancelMs,
    (message) => warnings.push(message),
  );
  pool.on('error', () => undefined);
  pools.push(pool);
  return pool;
}

async function count(text: string): Promise<number> {
  return (await superuser.query<{ count: number }>(`SELECT count(*)::int AS count FROM ${text}`)).rows[0]?.count ?? 0;
}

/** Sets the standbys that commits wait for. None of them exists. */
async function setStandbys(names: string): Promise<void> {
  await superuser.query(`ALTER SYSTEM SET synchronous_standby_names = '${names}'`);
  await superuser.query('SELECT pg_reload_conf()');
  await waitFor(async () => {
    const { rows } = await superuser.query<{ names: string }>(
      `SELECT current_setting('synchronous_standby_names') AS names`,
    );
    return rows[0]?.names === names;
  });
}

const outcomeOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'acknowledged',
    (error: unknown) => toDomainError(error),
  );

const isUnconfirmed = (outcome: unknown): boolean =>
  outcome instanceof Error &&
  outcome.cause instanceof Error &&
  'code' in outcome.cause &&
  outcome.cause.code === '08007';

it('opens no extra connections and acknowledges no write while no standby confirms writes', async () => {
  const pool = poolOf(3);
  await setStandbys('nobody');
  let isWriting = true;
  let next = 0;
  const outcomes: unknown[] = [];
  let mostServers = 0;
  const writer = async (): Promise<void> => {
    while (isWriting) outcomes.push(await outcomeOf(pool.query('INSERT INTO written VALUES ($1)', [(next += 1)])));
  };
  try {
    const writing = Promise.all(Array.from({ length: 6 }, writer));
    await waitFor(async () => {
      mostServers = Math.max(mostServers, await count(`pg_stat_activity WHERE application_name = 'bounded'`));
      return outcomes.length >= 6;
    });
    // A server process that has answered may still be about to end.
    expect(mostServers).toBeLessThanOrEqual(2 * 3);
    isWriting = false;
    await writing;
    for (const outcome of outcomes) expect(outcome).toMatchObject({ code: 'unavailable' });
  } finally {
    isWriting = false;
    await setStandbys('');
  }
  // Committed on the primary, but the caller got neither a success nor a failure. A slow machine may also cancel an insert itself.
  const unconfirmed = outcomes.filter((outcome) => isUnconfirmed(outcome)).length;
  expect(unconfirmed).toBeGreaterThan(0);
  expect(await count('written')).toBe(unconfirmed);
  await expect(poolOf(1, undefined, 60_000).query('INSERT INTO written VALUES (0)')).resolves.toBeDefined();
  await waitFor(async () => (await outcomeOf(pool.query('SELECT 1'))) === 'acknowledged');
});

it('reports an unconfirmed commit if another session cancelled the wait', async () => {
  const pool = poolOf(1, undefined, 60_000);
  await setStandbys('nobody');
  try {
    const client = await pool.connect();
    client.on('error', () => undefined);
    await client.query('BEGIN');
    await client.query('INSERT INTO written VALUES (-1)');
    const commit = outcomeOf(client.query('COMMIT'));
    await waitFor(
      async () =>
        (await count(`pg_stat_activity a, pg_cancel_backend(a.pid) WHERE application_name = 'bounded'
                      AND wait_event = 'SyncRep'`)) > 0,
    );
    expect(await commit).toMatchObject({ code: 'unavailable', cause: { code: '08007' } });
    client.release(true);
  } finally {
    await setStandbys('');
  }
});

it('cancels slow statements, but not long transactions of quick ones', async () => {
  // The pool's clock only moves when the test moves it, so a slow machine cannot make a statement slow.
  let nowMs = performance.now() + 60_000;
  const clock = jest.spyOn(performance, 'now').mockImplementation(() => nowMs);
  try {
    const pool = poolOf(1);
    const slow = outcomeOf(pool.query('SELECT pg_sleep(60)'));
    await waitFor(async () => (await count(`pg_stat_activity WHERE wait_event = 'PgSleep'`)) > 0);
    nowMs += CANCEL_MS + 1;
    expect(await slow).toMatchObject({ cause: { code: '57014' } });
    const client = await pool.connect();
    for (let statement = 0; statement < 3; statement += 1) {
      nowMs += CANCEL_MS - 100;
      // The pool checks every 250 ms, so at least once during each statement.
      await client.query('SELECT pg_sleep(0.4)');
    }
    client.release();
  } finally {
    clock.mockRestore();
  }
});

it('shares its open connections when the server has none left', async () => {
  await superuser.query(`CREATE ROLE bounded LOGIN PASSWORD 'bounded' CONNECTION LIMIT 2`);
  // On a busy machine, opening connections and quick statements may take longer than CANCEL_MS.
  const pool = poolOf(
    10,
    (url) => {
      url.username = 'bounded';
      url.password = 'bounded';
    },
    60_000,
  );
  await pool.query('SELECT 1');
  const all = Array.from({ length: 20 }, () => pool.query('SELECT pg_sleep(0.02)'));
  await expect(Promise.all(all)).resolves.toHaveLength(20);
  expect(pool.totalCount).toBe(2);
  expect(pool.waitingCount).toBe(0);
  expect(warnings).toEqual([expect.stringMatching(/^PostgreSQL has no connection left/)]);
});

it('survives the loss of a connection while it is acquired', async () => {
  const client = await poolOf(1).connect();
  expect(client.emit('error', new Error('terminating connection'))).toBe(true);
  client.release(true);
});
