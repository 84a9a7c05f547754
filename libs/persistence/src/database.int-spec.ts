import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { DomainError } from '@iss/domain';
import { APP_ROLES } from '@iss/platform';
import { Client } from 'pg';
import { type Database, openDatabase } from './database';
import { waitFor } from '../../../tools/testing/wait-for';
import { migrate } from './migrate';
import { roleFaults } from './schema-faults';
import { type NoParameters, statement } from './sql/statement';
import { openWorld, type World } from './testing/world';

const WHO = statement<NoParameters, { who: string }>(
  'spec_who',
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

it('acts as the application role when it logs in as the owner', async () => {
  await expect(world.database.sql.run(WHO, {})).resolves.toEqual([{ who: 'iss_app' }]);
});

it('is up to date once migrated, and migrating again changes nothing', async () => {
  await expect(world.database.missingMigrations()).resolves.toEqual([]);
  await expect(migrate(world.url)).resolves.toEqual([]);
});

// Under another name, an existing database would apply a migration a second time.
it('keeps the names of applied migrations', async () => {
  const { rows } = await owner.query('SELECT name, timestamp FROM migrations ORDER BY id LIMIT 3');
  expect(rows).toEqual([
    { name: 'InitialSchema1700000000001', timestamp: '1700000000001' },
    { name: 'WholeInterface1700000000002', timestamp: '1700000000002' },
    { name: 'LeanIndexes1700000000003', timestamp: '1700000000003' },
  ]);
});

it('restores lost privileges with a migration', async () => {
  await owner.query('REVOKE ALL ON ALL TABLES IN SCHEMA public FROM iss_app');
  await expect(world.database.sql.run(WHO, {})).rejects.toThrow(/permission denied/);
  await migrate(world.url);
  await expect(world.database.sql.run(WHO, {})).resolves.toHaveLength(1);
});

it('rebuilds a missing or invalid index, even with concurrent migrations', async () => {
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

it('survives the loss of a connection between two statements of a transaction', async () => {
  const { sql } = world.database;
  const lose = sql.transaction(async (transaction) => {
    const { pid } = await transaction.one(BACKEND, {});
    await owner.query('SELECT pg_terminate_backend($1, 5000)', [pid]);
    // Leaves time for the message that the server sent before it closed the connection.
    await owner.query('SELECT 1');
    return transaction.one(BACKEND, {});
  });
  await expect(lose).rejects.toMatchObject({ code: 'unavailable' });
  await expect(sql.run(WHO, {})).resolves.toHaveLength(1);
});

it('reports missing policies and privileges until a migration restores them', async () => {
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

it('reports a disabled trigger', async () => {
  await owner.query('ALTER TABLE snapshots DISABLE TRIGGER snapshots_logged');
  await expect(world.database.schemaFaults()).resolves.toEqual([
    expect.stringMatching(/^the trigger snapshots_logged is missing or disabled/),
  ]);
  await owner.query('ALTER TABLE snapshots ENABLE TRIGGER snapshots_logged');
  await expect(world.database.schemaFaults()).resolves.toEqual([]);
});

/** Opens a proxy to the server that can be cut. */
async function way(): Promise<{ port: number; cut: () => Promise<void> }> {
  const { hostname, port } = new URL(world.url);
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    const onward = connect(Number(port), hostname);
    for (const end of [socket, onward]) {
      sockets.add(end);
      end.on('error', () => undefined).on('close', () => [socket, onward].forEach((other) => other.destroy()));
    }
    socket.pipe(onward).pipe(socket);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    port: address.port,
    cut: async () => {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

it('switches to another host when the current one is gone', async () => {
  const [first, second] = [await way(), await way()];
  const { username, password, pathname } = new URL(world.url);
  const hosts = `127.0.0.1:1,127.0.0.1:${first.port},127.0.0.1:${second.port}`;
  const url = `postgres://${username}:${password}@${hosts}${pathname}?target_session_attrs=read-write`;
  const database = await openDatabase({ url, poolSize: 2, applicationName: 'test' });
  const who = (): Promise<unknown> => database.sql.run(WHO, {});
  try {
    await expect(migrate(url)).resolves.toEqual([]);
    await expect(who()).resolves.toHaveLength(1);
    await first.cut();
    await waitFor(() => who().then(Boolean, () => false));
  } finally {
    await database.close();
    await second.cut();
  }
});

it('does not use a read-only server', async () => {
  const { pathname } = new URL(world.url);
  const [first, second] = [await way(), await way()];
  const { username, password } = new URL(world.url);
  const url = `postgres://${username}:${password}@127.0.0.1:${first.port},127.0.0.1:${second.port}${pathname}`;
  const setReadOnly = (value: 'on' | 'off') =>
    owner.query(`ALTER DATABASE "${pathname.slice(1)}" SET default_transaction_read_only = ${value}`);
  await setReadOnly('on');
  try {
    await expect(openDatabase({ url, poolSize: 2, applicationName: 'test' })).rejects.toThrow(/no server takes writes/);
  } finally {
    await setReadOnly('off');
    await Promise.all([first.cut(), second.cut()]);
  }
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
    await owner.query(`CREATE ROLE spec_single LOGIN PASSWORD 'right' CONNECTION LIMIT 1 IN ROLE iss_app`);
  });
  afterAll(async () => {
    await owner.query('DROP ROLE spec_stranger, spec_single');
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
      /cannot act as the role of the process \(.*iss_app.*\): run npm run db:migrate .* GRANT the role/,
    ],
    [
      'a login with one connection instead of two',
      (url) => Object.assign(url, { username: 'spec_single', password: 'right' }),
      /no connection left \(.*53300\)/,
    ],
    ['a missing database', (url) => (url.pathname = '/spec_none'), /no such database \(.*3D000\)/],
    ['a closed port', (url) => (url.port = '1'), /127\.0\.0\.1:1\/\w+: nothing listens there \(.*ECONNREFUSED\)/],
    ['unknown host', (url) => (url.hostname = 'none.invalid'), /the host has no address \(.*(ENOTFOUND|EAI_AGAIN)\)/],
  ])('reports the reason and advice for %s', async (_, change, expected) => {
    const message = await open(change);
    expect(message).toMatch(expected);
    expect(message).not.toMatch(/wrong@|right/);
  });

  it('reports a connection that does not act as the role because of a pooler', () => {
    expect(roleFaults('postgres')).toEqual([expect.stringMatching(/acts as postgres and not as iss_app: a pooler/)]);
    expect(roleFaults('iss_app')).toEqual([]);
  });
});

describe('the role of each app', () => {
  const urlOf = (username: string): string => {
    const url = new URL(world.url);
    return Object.assign(url, { username, password: 'right' }).toString();
  };
  const open = (url: string, app: keyof typeof APP_ROLES): Promise<Database> =>
    openDatabase({ url, role: APP_ROLES[app], refusesOwner: true, poolSize: 2, applicationName: 'test' });

  beforeAll(async () => {
    await owner.query(`CREATE ROLE spec_gateway LOGIN PASSWORD 'right' IN ROLE iss_gateway`);
    await owner.query(`CREATE ROLE spec_one LOGIN PASSWORD 'right' IN ROLE iss_app`);
  });
  afterAll(async () => {
    await owner.query('DROP ROLE spec_gateway, spec_one');
  });

  it('refuses a login that owns the tables or is not a member of the role', async () => {
    await expect(open(world.url, 'gateway')).rejects.toThrow(
      /the login postgres owns the tables, .* member of iss_gateway alone/,
    );
    await expect(open(urlOf('spec_gateway'), 'worker')).rejects.toThrow(
      /cannot act as the role of the process .*iss_worker/,
    );
    const database = await open(urlOf('spec_gateway'), 'gateway');
    await expect(database.sql.run(WHO, {})).resolves.toEqual([{ who: 'iss_gateway' }]);
    await expect(database.schemaFaults()).resolves.toEqual([]);
    await database.close();
  });

  it('accepts a login with the single role of earlier releases', async () => {
    await migrate(world.url);
    for (const app of ['gateway', 'worker'] as const) {
      const database = await open(urlOf('spec_one'), app);
      await expect(database.schemaFaults()).resolves.toEqual([]);
      await database.close();
    }
  });

  it.each([
    ['iss_worker', 'INSERT INTO snapshots DEFAULT VALUES'],
    ['iss_worker', 'INSERT INTO grants DEFAULT VALUES'],
    ['iss_worker', `UPDATE grants SET scopes = '{read_diff}'`],
    ['iss_worker', 'UPDATE grants SET revoked_at = now()'],
    ['iss_worker', `INSERT INTO disclosures DEFAULT VALUES`],
    ['iss_worker', `UPDATE memberships SET api_functional_role = 'tenant_owner'`],
    ['iss_worker', 'SELECT erase_versions(1)'],
    ['iss_gateway', 'INSERT INTO log_entries DEFAULT VALUES'],
    ['iss_gateway', 'DELETE FROM log_waiting'],
    ['iss_gateway', 'INSERT INTO log_checkpoints DEFAULT VALUES'],
    ['iss_gateway', 'DELETE FROM log_checkpoints'],
    ['iss_gateway', 'UPDATE log_tree SET size = 0'],
    ['iss_gateway', `UPDATE log_tiles SET hashes = ''`],
    ['iss_gateway', 'INSERT INTO log_keys DEFAULT VALUES'],
    ['iss_gateway', `SELECT announce_first_log_keys('{}')`],
    ['iss_gateway', 'INSERT INTO tenant_feed DEFAULT VALUES'],
    ['iss_gateway', 'UPDATE grants SET created_at = now()'],
    ['iss_gateway', 'DELETE FROM grants'],
  ])('%s cannot run %s', async (role, text) => {
    await owner.query(`SET ROLE ${role}`);
    try {
      await expect(owner.query(text)).rejects.toThrow(/permission denied/);
    } finally {
      await owner.query('RESET ROLE');
    }
  });
});

describe('the owner of the tables', () => {
  beforeAll(async () => {
    await owner.query(`
      INSERT INTO grants (grant_id, grantor_tenant_id, grantee_tenant_id, subject_key, scopes, revoked_at)
      VALUES (gen_random_uuid(), 'spec', 'other', 1, '{read_latest}', now()), (gen_random_uuid(), 'spec', 'other', 2, '{read_latest}', NULL);
      INSERT INTO log_checkpoints (origin, size, note) VALUES ('spec', 1, 'note');
      INSERT INTO log_checkpoints (origin, size, note, signed_at)
      VALUES ('spec', 2, 'note', date_trunc('hour', now()) - interval '30 hours'), ('spec', 3, 'note', date_trunc('hour', now()) - interval '30 hours')`);
  });

  it.each([
    [`UPDATE grants SET revoked_at = NULL WHERE subject_key = 1`, 'grants stay'],
    [`UPDATE grants SET revoked_at = revoked_at - interval '1 day' WHERE subject_key = 1`, 'grants stay'],
    [`UPDATE grants SET scopes = '{read_diff}' WHERE subject_key = 1`, 'grants stay'],
    [`UPDATE grants SET grantee_tenant_id = 'me' WHERE subject_key = 2`, 'grants stay'],
    [`UPDATE grants SET created_at = now() - interval '1 day' WHERE subject_key = 2`, 'grants stay'],
    [`DELETE FROM grants WHERE grantor_tenant_id = 'spec'`, 'grants stay'],
    [`UPDATE log_checkpoints SET note = 'other' WHERE size = 1`, 'checkpoints stay'],
    [`UPDATE log_checkpoints SET complete_at = now() WHERE size = 1`, 'checkpoints stay'],
    [`DELETE FROM log_checkpoints WHERE size = 1`, 'checkpoints stay'],
    [`DELETE FROM log_checkpoints WHERE size = 3`, 'checkpoints stay'],
    ...[
      'subjects',
      'grants',
      'grant_changes',
      'erasures',
      'owner_changes',
      'log_restarts',
      'log_key_announcements',
      'log_entries',
      'log_tiles',
      'log_checkpoints',
      'log_tree',
      'log_waiting',
      'map_state',
      'map_streams',
      'map_tiles',
      'map_buckets',
    ].map((table): [string, string] => [`TRUNCATE ${table}`, `TRUNCATE of ${table} is refused`]),
  ])('cannot run %s', async (text, refusal) => {
    await expect(owner.query(text)).rejects.toThrow(refusal);
  });

  it.each([
    `UPDATE grants SET scopes = '{read_diff}', expires_at = now(), purpose = 'x' WHERE subject_key = 2`,
    `UPDATE grants SET purpose = NULL WHERE subject_key = 1`,
    `UPDATE grants SET revoked_at = now() WHERE subject_key = 2`,
    `UPDATE log_checkpoints SET marked_at = now(), marked_by = 'spec' WHERE size = 1`,
    `DELETE FROM log_checkpoints WHERE size = 2`,
  ])('can run %s', async (text) => {
    expect((await owner.query(text)).rowCount).toBe(1);
  });

  it('the database sets the times of grants and revocations', async () => {
    await owner.query('SET ROLE iss_gateway');
    try {
      const { rows: made } = await owner.query(
        `INSERT INTO grants (grant_id, grantor_tenant_id, grantee_tenant_id, subject_key, scopes, created_at)
         VALUES (gen_random_uuid(), 'spec', 'other', 3, '{read_latest}', 'epoch') RETURNING created_at = now() AS "isNow"`,
      );
      expect(made).toEqual([{ isNow: true }]);
      const { rows: ended } = await owner.query(
        `UPDATE grants SET revoked_at = 'epoch' WHERE subject_key = 3 RETURNING revoked_at >= now() AS "isNow"`,
      );
      expect(ended).toEqual([{ isNow: true }]);
    } finally {
      await owner.query('RESET ROLE');
    }
  });
});

it('reports an unreachable database as a domain error', async () => {
  const settings = { url: 'postgres://nobody@127.0.0.1:1/none', poolSize: 1, applicationName: 'test' };
  await expect(openDatabase(settings)).rejects.toThrow(DomainError);
  await expect(migrate(settings.url)).rejects.toMatchObject({ code: 'unavailable' });
});
