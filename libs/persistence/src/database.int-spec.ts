import { DomainError } from '@iss/domain';
import { Client } from 'pg';
import { openDatabase } from './database';
import { migrate } from './migrate';
import { type NoParameters, statement } from './sql/statement';
import { openWorld, type World } from './testing/world';

const WHO = statement<NoParameters, { who: string }>(
  'who',
  'SELECT current_user AS who FROM tenants RIGHT JOIN (SELECT 1) one ON true',
);

let world: World;
let owner: Client;

beforeAll(async () => {
  world = await openWorld();
  owner = new Client({ connectionString: world.url });
  await owner.connect();
});

afterAll(async () => {
  await owner?.end();
  await world?.close();
});

it('acts as the application role, whatever login it has', async () => {
  await expect(world.database.sql.run(WHO, {})).resolves.toEqual([{ who: 'iss_app' }]);
});

it('is up to date once migrated, and migrating again changes nothing', async () => {
  await expect(world.database.missingMigrations()).resolves.toEqual([]);
  await expect(migrate(world.url)).resolves.toEqual([]);
});

// Under another name a migration would be applied once more, to tables that are there.
it('keeps the names by which databases know their migrations', async () => {
  const { rows } = await owner.query('SELECT name, timestamp FROM migrations ORDER BY id LIMIT 3');
  expect(rows).toEqual([
    { name: 'InitialSchema1700000000001', timestamp: '1700000000001' },
    { name: 'WholeInterface1700000000002', timestamp: '1700000000002' },
    { name: 'LeanIndexes1700000000003', timestamp: '1700000000003' },
  ]);
});

it('gets its privileges back from a migration, as after a restore without them', async () => {
  await owner.query('REVOKE ALL ON ALL TABLES IN SCHEMA public FROM iss_app');
  await expect(world.database.sql.run(WHO, {})).rejects.toThrow(/permission denied/);
  await migrate(world.url);
  await expect(world.database.sql.run(WHO, {})).resolves.toHaveLength(1);
});

const BACKEND = statement<NoParameters, { pid: number }>('spec_backend', 'SELECT pg_backend_pid() AS pid');

it('outlives a connection that is lost between two statements of a transaction', async () => {
  const { sql } = world.database;
  const lose = sql.transaction(async (transaction) => {
    const { pid } = await transaction.one(BACKEND, {});
    await owner.query('SELECT pg_terminate_backend($1, 5000)', [pid]);
    // What the server said before it closed the connection arrives meanwhile.
    await owner.query('SELECT 1');
    return transaction.one(BACKEND, {});
  });
  await expect(lose).rejects.toMatchObject({ code: 'unavailable' });
  await expect(sql.run(WHO, {})).resolves.toHaveLength(1);
});

it('says in the domain’s words that the database cannot be reached', async () => {
  const settings = { url: 'postgres://nobody@127.0.0.1:1/none', poolSize: 1, applicationName: 'test' };
  await expect(openDatabase(settings)).rejects.toThrow(DomainError);
  await expect(migrate(settings.url)).rejects.toMatchObject({ code: 'unavailable' });
});
