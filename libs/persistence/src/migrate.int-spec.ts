import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { DataSource, type QueryRunner } from 'typeorm';
import { addLineage } from '../../../tools/testing/lineage';
import { createTestDatabase, type TestDatabase } from '../../../tools/testing/test-database';
import { untilBlocks } from '../../../tools/testing/until-blocks';
import { openDatabase } from './database';
import { backfillLog, migrate } from './migrate';
import { MIGRATIONS, migrationText } from './migrations';
import { LogIntegrationStore } from './stores/log/log-integration.store';

const FACTS = `SELECT subject_key::text AS subject, snapshot_version AS version FROM snapshots ORDER BY created_at, subject_key, snapshot_version`;
const MARKS = `SELECT subject_key::text AS subject, snapshot_version AS version FROM log_waiting WHERE entry_type = 1 ORDER BY waiting_id`;

let created: TestDatabase;
let superuser: Client;
let source: DataSource;

beforeEach(async () => {
  created = await createTestDatabase();
  superuser = new Client({ connectionString: created.url });
  await superuser.connect();
  source = new DataSource({
    type: 'postgres',
    url: created.url,
    migrations: MIGRATIONS.map(({ file, name }) => step(file, name)),
  });
});
afterEach(async () => {
  if (source.isInitialized) await source.destroy();
  await superuser.end();
  await created.drop();
});

function step(file: string, name: string) {
  return class {
    readonly name = name;
    async up(runner: QueryRunner): Promise<void> {
      await runner.query(migrationText(file));
    }
    async down(): Promise<void> {}
  };
}

/** Leaves the database as `migrate` does after the step with this number. */
async function migrateTo(last: number): Promise<void> {
  const applied = MIGRATIONS.filter(({ file }) => parseInt(file, 10) <= last);
  source.setOptions({ migrations: applied.map(({ file, name }) => step(file, name)) });
  await source.initialize();
  await source.query(migrationText('application-role'));
  await source.runMigrations({ transaction: 'all' });
  await source.destroy();
}

/** Applies all steps, but none of the batches that follow them. */
async function migrateWithoutBatches(): Promise<void> {
  source.setOptions({ migrations: MIGRATIONS.map(({ file, name }) => step(file, name)) });
  await source.initialize();
  await source.runMigrations({ transaction: 'all' });
  await source.query(migrationText('privileges'));
}

const query = async <Row extends object>(text: string): Promise<Row[]> => (await superuser.query<Row>(text)).rows;
const addVersions = (subjectId: string, versions: number) =>
  addLineage(superuser, { tenantId: 'acme', subjectType: 'organization', subjectId }, versions);

/** Adds three lineages with alternating versions, and an import without hashes. */
async function addHistory(): Promise<void> {
  await superuser.query(`INSERT INTO tenants (tenant_id, name) VALUES ('acme', 'Acme')`);
  for (const subjectId of ['one', 'two', 'three']) await addVersions(subjectId, 20);
  await addVersions('unsealed', 1);
  await superuser.query(`SET session_replication_role = replica`);
  await superuser.query(
    `UPDATE snapshots SET created_at = '2026-01-01T00:00:00.0001Z'::timestamptz + snapshot_version * interval '1 hour'`,
  );
  await superuser.query(
    `UPDATE snapshots SET envelope_hash = NULL WHERE subject_key = (SELECT subject_key FROM subjects WHERE subject_id = 'unsealed')`,
  );
  await superuser.query(`RESET session_replication_role`);
}
const OF_UNSEALED = `SELECT subject_key::text AS subject FROM subjects WHERE subject_id = 'unsealed'`;

it('marks every older snapshot once and in order despite interruptions', async () => {
  await migrateTo(9);
  await addHistory();
  const [unsealed] = await query<{ subject: string }>(OF_UNSEALED);
  const history = (await query<{ subject: string; version: number }>(FACTS)).filter(
    ({ subject }) => subject !== unsealed?.subject,
  );
  await migrateWithoutBatches();
  await addVersions('new', 3);
  const database = await openDatabase({ url: created.url, poolSize: 2, applicationName: 'test' });
  try {
    const store = new LogIntegrationStore(database.sql);
    const grow = () => Promise.reject(new Error('nothing is to be integrated'));
    // A failure interrupts it between two batches.
    let batches = 0;
    await expect(
      backfillLog(
        {
          query: (text: string, values?: unknown[]) => {
            batches += text.includes('WITH place') ? 1 : 0;
            return batches === 3 ? Promise.reject(new Error('ended')) : source.query(text, values);
          },
        },
        7,
      ),
    ).rejects.toThrow('ended');
    // Two batches. One version of the import is not sealed.
    expect(await query('SELECT count(*)::int AS marks FROM log_waiting WHERE waiting_id < 0')).toEqual([{ marks: 13 }]);
    expect(await store.integrate(100, grow)).toMatchObject({ integrated: 0, awaitsBackfill: true });
    await addVersions('newer', 2);
    // Interrupted within a batch, as by kill -9: its connection is lost.
    const runner = source.createQueryRunner();
    const [{ pid }] = await runner.query('SELECT pg_backend_pid() AS pid');
    await superuser.query('BEGIN');
    await superuser.query('SELECT FROM log_backfill FOR UPDATE');
    const ended = backfillLog(runner, 7).then(
      () => 'done',
      () => 'ended',
    );
    await untilBlocks(superuser);
    await superuser.query('SELECT pg_terminate_backend($1, 5000)', [pid]);
    await superuser.query('COMMIT');
    expect(await ended).toBe('ended');
    await runner.release().catch(() => undefined);
    // Meanwhile the versions of the import are sealed, and thereby marked.
    await superuser.query(
      `UPDATE snapshots SET envelope_hash = sha256(convert_to(envelope, 'UTF8')) WHERE envelope_hash IS NULL`,
    );
    // As after an interrupted build of the index.
    await superuser.query(`UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'log_backfill_order'::regclass`);
    expect(await migrate(created.url)).toEqual([]);
    const marks = await query<{ subject: string; version: number }>(MARKS);
    expect(marks.slice(0, history.length)).toEqual(history);
    expect(marks).toHaveLength(history.length + 3 + 2 + 1);
    expect(new Set(marks.map(({ subject, version }) => `${subject}/${version}`)).size).toBe(marks.length);
    expect(
      await query(
        `SELECT to_regclass('log_backfill_order') AS index, (SELECT count(*)::int FROM log_backfill) AS left`,
      ),
    ).toEqual([{ index: null, left: 0 }]);
    await expect(store.integrate(100, grow)).rejects.toThrow('nothing is to be integrated');
  } finally {
    await database.close();
  }
});

it('does not change the marks of a database whose log already had all of them', async () => {
  await migrateTo(9);
  await migrateTo(12);
  await superuser.query('DROP TABLE log_backfill');
  await addVersions('one', 5);
  const told: string[] = [];
  const names = await migrate(created.url, (line) => told.push(line));
  expect(names).toContain('LogBackfill1700000000013');
  expect(told).toEqual([
    expect.stringMatching(/^Still to run, once .* npm run tool -- db\/fill-provenance\.$/),
    expect.stringMatching(/^Still to run, once .* INSERT INTO search_backfill /),
  ]);
  const [, newest = ''] =
    /```sql\n(.*)\n```/.exec(readFileSync(join(__dirname, '../../../docs/upgrades.md'), 'utf8')) ?? [];
  expect(await query(newest)).toEqual([{ name: MIGRATIONS.at(-1)?.name }]);
  told.length = 0;
  await superuser.query(
    `INSERT INTO granted_feeds (grantee_tenant_id, grantor_tenant_id, share, until_index, turn) VALUES ('a', 'b', 'b', 9, 1)`,
  );
  await migrate(created.url, (line) => told.push(line));
  expect(told).toEqual(['Left for the worker: it copies older entries into the feeds of 1 grants.']);
  expect(await query(MARKS)).toEqual(await query(FACTS));
  expect(await query('SELECT FROM log_backfill')).toEqual([]);
});

it('serializes concurrent calls while there are batches', async () => {
  await migrateTo(9);
  await addHistory();
  await Promise.all([migrate(created.url), migrate(created.url), migrate(created.url)]);
  expect(await query(MARKS)).toHaveLength(60);
  expect(await query('SELECT FROM log_backfill')).toEqual([]);
});
