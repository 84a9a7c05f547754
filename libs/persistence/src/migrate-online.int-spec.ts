import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';
import { DataSource, type QueryRunner } from 'typeorm';
import { addLineage } from '../../../tools/testing/lineage';
import { IS_FULL } from '../../../tools/testing/runs';
import { createTestDatabase, type TestDatabase } from '../../../tools/testing/test-database';
import { waitFor } from '../../../tools/testing/wait-for';
import { migrate } from './migrate';
import { indexesBesideWriters, MIGRATIONS, migrationText, onlineStep } from './migrations';

let created: TestDatabase;
let superuser: Client;

beforeEach(async () => {
  created = await createTestDatabase();
  superuser = await connected();
});
afterEach(async () => {
  await superuser.end();
  await created.drop();
});

async function connected(): Promise<Client> {
  const client = new Client({ connectionString: created.url });
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

/** Migrates a database up to the step with this number, as an earlier release left it. */
async function migrateTo(last: number, url = created.url): Promise<void> {
  const source = new DataSource({
    type: 'postgres',
    url,
    migrations: MIGRATIONS.filter(({ file }) => parseInt(file, 10) <= last).map(
      ({ file, name }) =>
        class {
          readonly name = name;
          async up(runner: QueryRunner): Promise<void> {
            await runner.query(migrationText(file));
          }
          async down(): Promise<void> {}
        },
    ),
  });
  await source.initialize();
  try {
    await source.query(migrationText('application-role'));
    await source.runMigrations({ transaction: 'all' });
  } finally {
    await source.destroy();
  }
}

const query = async <Row extends object>(text: string, values?: unknown[]): Promise<Row[]> =>
  (await superuser.query<Row>(text, values)).rows;

function databaseUrl(name: string): string {
  const url = new URL(created.url);
  url.pathname = `/${name}`;
  return url.href;
}

async function schemaOf(url: string): Promise<object[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<object>(SCHEMA);
  await client.end();
  return rows;
}

/** Selects everything that a step may leave behind. */
const SCHEMA = `
  SELECT 'column' AS kind, format('%s.%s %s %s %s', table_name, column_name, udt_name, is_nullable, column_default) AS definition
    FROM information_schema.columns WHERE table_schema = 'public'
  UNION ALL SELECT 'index', indexdef FROM pg_indexes WHERE schemaname = 'public'
  UNION ALL SELECT 'invalid index', indexrelid::regclass::text FROM pg_index WHERE NOT indisvalid
  UNION ALL SELECT 'constraint', format('%s %s %s', conrelid::regclass, conname, pg_get_constraintdef(oid))
    FROM pg_constraint WHERE connamespace = 'public'::regnamespace AND contype <> 'n'
  UNION ALL SELECT 'trigger', pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal
  UNION ALL SELECT 'function', pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = 'public'::regnamespace
  UNION ALL SELECT 'policy', format('%s %s', polrelid::regclass, polname) FROM pg_policy
  UNION ALL SELECT 'privilege', format('%s %s %s', grantee, privilege_type, table_name)
    FROM information_schema.role_table_grants WHERE table_schema = 'public' AND grantee = 'iss_app'
  ORDER BY 1, 2`;

it('produces the same schema for a new database and for an upgrade from any step', async () => {
  const fresh = await createTestDatabase({ migrated: 'service' });
  const ofNew = await schemaOf(fresh.url);
  await fresh.drop();
  expect(ofNew.length).toBeGreaterThan(300);
  await superuser.query('CREATE DATABASE spec_earlier TEMPLATE template0');
  const earlier = databaseUrl('spec_earlier');
  const copy = databaseUrl('spec_copy');
  try {
    // The first of them takes every later step, so it includes the steps of the others.
    for (const last of IS_FULL ? [2, 9, 15, 26] : [2]) {
      await migrateTo(last, earlier);
      await superuser.query('CREATE DATABASE spec_copy TEMPLATE spec_earlier');
      await migrate(copy);
      expect({ last, schema: await schemaOf(copy) }).toEqual({ last, schema: ofNew });
      await superuser.query('DROP DATABASE spec_copy WITH (FORCE)');
    }
  } finally {
    await superuser.query('DROP DATABASE IF EXISTS spec_copy WITH (FORCE)');
    await superuser.query('DROP DATABASE spec_earlier WITH (FORCE)');
  }
});

it('builds no index of an existing table in a transaction, unless it replaces another index', () => {
  const within = MIGRATIONS.flatMap(({ file }) => {
    const { text } = onlineStep(migrationText(file));
    return [...text.matchAll(/^CREATE (?:UNIQUE )?INDEX (\w+)\s+ON (\w+)/gm)]
      .filter(([, , table = '']) => !new RegExp(`^CREATE TABLE (IF NOT EXISTS )?${table}\\b`, 'm').test(text))
      .map(([, name]) => name);
  });
  expect(within).toEqual([
    'updates_by_tenant',
    'updates_by_subject',
    'updates_request_key',
    'updates_applied_snapshot_key',
  ]);
  expect([...indexesBesideWriters().keys()]).toEqual(
    expect.arrayContaining([
      'grants_to_all_live',
      'log_entries_of_grant_changes',
      'grants_expired',
      'subjects_by_name',
    ]),
  );
});

describe('migrations during writes', () => {
  /** Longer than the timeout of a shared statement. No write may wait for a lock for so long. */
  const MOST_WAIT = '2s';
  const failures: unknown[] = [];
  let writes: number;
  let isWriting: boolean;
  let writing: Promise<unknown>;

  /** Writes to everything that the steps lock, one transaction each, as any release does. */
  async function write(client: Client, turn: string): Promise<void> {
    const owner = { tenantId: 'acme', subjectType: 'organization', subjectId: turn };
    await addLineage(client, owner, 1);
    await client.query(
      `INSERT INTO grants (grant_id, grantor_tenant_id, grantee_tenant_id, subject_key, scopes)
       SELECT gen_random_uuid(), 'acme', 'beta', subject_key, '{read_latest}' FROM subjects WHERE subject_type = 'organization' AND subject_id = $1`,
      [turn],
    );
    await client.query(
      `INSERT INTO refresh_requests (refresh_request_id, subject_key, requesting_tenant_id, requested_by, origin_type)
       SELECT gen_random_uuid(), subject_key, 'beta', 'bob', 'counterparty' FROM subjects WHERE subject_type = 'organization' AND subject_id = $1`,
      [turn],
    );
    writes += 1;
  }

  async function writer(name: number): Promise<void> {
    const client = await connected();
    await client.query(`SET lock_timeout = '${MOST_WAIT}'`);
    for (let turn = 0; isWriting; turn += 1) {
      await write(client, `${name}/${turn}`).catch((error: unknown) => failures.push(error));
      // Without a pause, the writer takes the processor that the migration needs.
      await pause(10);
    }
    await client.end();
  }

  beforeEach(async () => {
    await migrateTo(9);
    await superuser.query(`INSERT INTO tenants (tenant_id, name) VALUES ('acme', 'Acme'), ('beta', 'Beta')`);
    failures.length = 0;
    writes = 0;
    isWriting = true;
    writing = Promise.all((IS_FULL ? [1, 2] : [1]).map(writer));
  });
  afterEach(async () => {
    isWriting = false;
    await writing;
  });

  it('do not delay writes, even while a backup locks every table', async () => {
    await waitFor(() => writes > 20);
    const backup = await connected();
    await backup.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
    await backup.query('LOCK TABLE grants, snapshots, refresh_requests IN ACCESS SHARE MODE');
    const told: string[] = [];
    const migrated = migrate(created.url, (line) => told.push(line));
    for (const tries of [1, 2, 3]) {
      await waitFor(() => told.length >= tries);
      const before = writes;
      await waitFor(() => writes > before + 3, { what: 'writes between two tries' });
    }
    expect(told[0]).toMatch(/^A table is locked by others: .* The oldest transactions: \d+ /);
    await backup.query('COMMIT');
    await backup.end();
    await expect(migrated).resolves.toEqual(
      MIGRATIONS.filter(({ file }) => parseInt(file, 10) > 9).map(({ name }) => name),
    );
    const before = writes;
    await waitFor(() => writes > before + 3);
    expect(failures).toEqual([]);
  });
});

it('announces existing signing keys, which the applications cannot do later', async () => {
  await migrateTo(28);
  const [ended, signs, other] = ['a', 'b', 'c'].map((key) => `log.example/test+0000000${key}+${key}`);
  await query(`INSERT INTO log_keys (vkey, until_at) VALUES ($1, now()), ($2, NULL)`, [ended, signs]);
  await migrate(created.url);
  expect(await query('SELECT vkey, is_first, ended_at FROM log_key_announcements')).toEqual([
    { vkey: signs, is_first: true, ended_at: null },
  ]);
  await query('SET ROLE iss_app');
  expect(await query('SELECT announce_first_log_keys(ARRAY[$1]) AS "isFirst"', [other])).toEqual([{ isFirst: false }]);
  expect(await query('SELECT FROM log_waiting')).toEqual([]);
});

it('continues an interrupted backfill of the provenance of older versions', async () => {
  await migrateTo(12);
  await superuser.query(`INSERT INTO tenants (tenant_id, name) VALUES ('acme', 'Acme')`);
  for (const subjectId of ['one', 'two', 'three']) {
    await addLineage(superuser, { tenantId: 'acme', subjectType: 'organization', subjectId }, 180);
  }
  // Interrupted in the second of its batches of 500 versions.
  await migrateTo(28);
  await superuser.query(`
    CREATE FUNCTION end_it() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF (SELECT count(*) FROM snapshot_provenance) = 520 THEN PERFORM pg_terminate_backend(pg_backend_pid()); END IF;
      RETURN NEW;
    END $$;
    CREATE TRIGGER end_it BEFORE INSERT ON snapshot_provenance FOR EACH ROW EXECUTE FUNCTION end_it()`);
  await expect(migrate(created.url)).rejects.toThrow();
  expect(await query('SELECT snapshot_version AS version FROM provenance_backfill')).toEqual([{ version: 140 }]);
  await superuser.query('DROP TRIGGER end_it ON snapshot_provenance');
  await expect(migrate(created.url)).resolves.toEqual([]);
  expect(await query('SELECT count(*)::int AS versions FROM snapshot_provenance')).toEqual([{ versions: 540 }]);
  expect(await query('SELECT FROM provenance_backfill')).toEqual([]);
});

describe('events that waited for the log', () => {
  const MARKS = `SELECT entry_type AS type, snapshot_version AS version FROM outbox_waiting ORDER BY waiting_id`;

  beforeEach(async () => {
    await migrateTo(47);
    await superuser.query(`INSERT INTO tenants (tenant_id, name) VALUES ('acme', 'Acme'), ('bank', 'Bank')`);
    await addLineage(superuser, { tenantId: 'acme', subjectType: 'organization', subjectId: 'shared' }, 2);
    await superuser.query(
      `INSERT INTO grants (grant_id, grantor_tenant_id, grantee_tenant_id, subject_key, scopes, granted_by)
       SELECT gen_random_uuid(), 'acme', 'bank', subject_key, '{read_latest}', 'p' FROM subjects`,
    );
    // The first version is in the feed, the second one in the log only, and the grant in neither.
    await superuser.query(
      `WITH gone AS (DELETE FROM log_waiting WHERE entry_type = 1 RETURNING subject_key, snapshot_version)
       INSERT INTO log_entries (log_index, entry_type, subject_key, snapshot_version, salt)
       SELECT snapshot_version - 1, 1, subject_key, snapshot_version, decode(repeat('00', 16), 'hex') FROM gone`,
    );
    await superuser.query('UPDATE log_feed SET size = 1');
  });

  it('are migrated once, and the previous release writes no more of them', async () => {
    await superuser.query(`UPDATE log_feed SET began_at = '-infinity'`);
    await migrate(created.url);
    expect(await query(MARKS)).toEqual([
      { type: 1, version: 2 },
      { type: 2, version: null },
    ]);
    await superuser.query('UPDATE grants SET revoked_at = now()');
    expect(await query(MARKS)).toContainEqual({ type: 3, version: null });
    expect(await query('SELECT began_at::text AS began FROM log_feed')).toEqual([{ began: 'infinity' }]);
  });

  it('do not include facts older than the feed', async () => {
    await superuser.query(`UPDATE log_feed SET began_at = now() + interval '1 hour'`);
    await migrate(created.url);
    expect(await query(MARKS)).toEqual([]);
  });

  it('block a return to the previous release while any are waiting', async () => {
    await migrate(created.url);
    const revert = (): Promise<unknown> => superuser.query(migrationText('48-events-beside-the-log.down'));
    await superuser.query('UPDATE grants SET revoked_at = now()');
    await expect(revert()).rejects.toThrow('facts still wait for their events');
    await superuser.query('DELETE FROM outbox_waiting');
    await revert();
    // Facts that the feed lacks already have their events.
    expect(await query("SELECT began_at > now() - interval '1 minute' AS is_now FROM log_feed")).toEqual([
      { is_now: true },
    ]);
    expect(
      await query(`SELECT proname FROM pg_proc WHERE proname LIKE 'mark%outbox' OR proname = 'mark_shared_snapshots'`),
    ).toEqual([]);
  });
});
