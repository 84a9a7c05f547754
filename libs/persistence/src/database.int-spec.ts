import { DomainError } from '@iss/domain';
import { Client } from 'pg';
import { openDatabase } from './database';
import { migrate } from './migrate';
import { roleFaults } from './schema-faults';
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

it('builds an index beside writers where it is missing or was broken off, whoever else migrates', async () => {
  const valid = `SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass('snapshots_by_effective_time')`;
  for (const harm of [
    'DROP INDEX snapshots_by_effective_time',
    `UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'snapshots_by_effective_time'::regclass`,
  ]) {
    await owner.query(harm);
    await Promise.all([migrate(world.url), migrate(world.url)]);
    expect((await owner.query(valid)).rows).toEqual([{ indisvalid: true }]);
  }
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

it('gets its policies back from a migration, and says so meanwhile', async () => {
  await expect(world.database.schemaFaults()).resolves.toEqual([]);
  await owner.query('DROP POLICY snapshots_read ON snapshots');
  await owner.query('ALTER TABLE snapshots DISABLE ROW LEVEL SECURITY');
  await owner.query('REVOKE UPDATE (size) ON log_tree FROM iss_app');
  await expect(world.database.schemaFaults()).resolves.toEqual([
    'iss_app lacks the privilege UPDATE log_tree: run npm run db:migrate',
    'the policy snapshots_read is missing: run npm run db:migrate',
    'row level security of snapshots is off: run npm run db:migrate',
  ]);
  await migrate(world.url);
  await expect(world.database.schemaFaults()).resolves.toEqual([]);
});

it('says which trigger is missing or disabled', async () => {
  await owner.query('ALTER TABLE snapshots DISABLE TRIGGER snapshots_logged');
  await expect(world.database.schemaFaults()).resolves.toEqual([
    expect.stringMatching(/^the trigger snapshots_logged is missing or disabled/),
  ]);
  await owner.query('ALTER TABLE snapshots ENABLE TRIGGER snapshots_logged');
  await expect(world.database.schemaFaults()).resolves.toEqual([]);
});

describe('a database that cannot be opened', () => {
  const open = (change: (url: URL) => void): Promise<string> => {
    const url = new URL(world.url);
    change(url);
    return openDatabase({ url: url.href, poolSize: 1, applicationName: 'test' }).then(
      () => 'opened',
      (error: Error) => error.message,
    );
  };

  beforeAll(async () => {
    await owner.query(`CREATE ROLE spec_stranger LOGIN PASSWORD 'right'`);
  });
  afterAll(async () => {
    await owner.query('DROP ROLE spec_stranger');
  });

  it.each<[string, (url: URL) => void, RegExp]>([
    [
      'a wrong password',
      (url) => Object.assign(url, { username: 'spec_stranger', password: 'wrong' }),
      /the password is wrong \(.*28P01\): check user/,
    ],
    [
      'a login without the role',
      (url) => Object.assign(url, { username: 'spec_stranger', password: 'right' }),
      /cannot act as iss_app \(.*\): run npm run db:migrate .* GRANT iss_app/,
    ],
    ['no such database', (url) => (url.pathname = '/spec_none'), /no such database \(.*3D000\)/],
    ['nobody listening', (url) => (url.port = '1'), /127\.0\.0\.1:1\/\w+: nothing listens there \(.*ECONNREFUSED\)/],
    ['no such host', (url) => (url.hostname = 'none.invalid'), /the host has no address \(.*(ENOTFOUND|EAI_AGAIN)\)/],
  ])('%s: says so, and what to do', async (_, change, expected) => {
    const message = await open(change);
    expect(message).toMatch(expected);
    expect(message).not.toMatch(/wrong@|right/);
  });

  it('a connection that does not act as the role, as behind a pooler that drops startup options', () => {
    expect(roleFaults('postgres')).toEqual([expect.stringMatching(/acts as postgres and not as iss_app: a pooler/)]);
    expect(roleFaults('iss_app')).toEqual([]);
  });
});

it('says in the domain’s words that the database cannot be reached', async () => {
  const settings = { url: 'postgres://nobody@127.0.0.1:1/none', poolSize: 1, applicationName: 'test' };
  await expect(openDatabase(settings)).rejects.toThrow(DomainError);
  await expect(migrate(settings.url)).rejects.toMatchObject({ code: 'unavailable' });
});
