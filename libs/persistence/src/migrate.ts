import { setTimeout as pause } from 'node:timers/promises';
import { DomainError } from '@iss/domain';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { CONNECT_TIMEOUT_MS } from './database';
import { diagnose } from './diagnose';
import { LOCK_TIMEOUT_MS, untilLocked } from './lock-patience';
import { writableUrl } from './servers';
import { requireSessions } from './sessions';
import { indexesBesideWriters, type Migration, MIGRATIONS, migrationText, onlineStep } from './migrations';
import { backfillSearch } from './search-backfill';
import { backfillProvenance } from './stores/provenance/fill-provenance';

const MIGRATION_LOCK = 4_951_219;
/** The interval between two tries to acquire the lock that another migration holds. */
const LOOK_AGAIN_MS = 100;

/** Rows per transaction of the log's backfill, which takes about a second. */
const BACKFILL_ROWS = 20_000;

/** An index of old snapshots by time. It exists only during the backfill, and is built without blocking writers. */
const BACKFILL_ORDER = 'log_backfill_order';

/** Receives one sentence of progress. */
type Tell = (line: string) => void;

function classOf({ file, name }: Migration, textOf: (file: string) => string): new () => MigrationInterface {
  return class {
    readonly name = name;

    async up(runner: QueryRunner): Promise<void> {
      await runner.query(textOf(file));
    }

    async down(runner: QueryRunner): Promise<void> {
      await runner.query(migrationText(`${file}.down`));
    }
  };
}

/** Returns the step as it runs beside writers: it fails if it cannot acquire a lock in time. */
const onlineText = (file: string): string =>
  `SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS};\n${onlineStep(migrationText(file)).text}`;

/**
 * Applies the missing migrations with the login of the URL (the tables' owner), while others write.
 *
 * Each step has a transaction of its own, which starts again if it cannot acquire a lock in time. Indexes and batches follow
 * after all steps. A new database gets all steps in one transaction. An interrupted run is continued by the next call, and
 * concurrent callers wait for one another. Role, privileges and policies are restored each time.
 *
 * Returns the names of the applied migrations. Throws `unavailable` if the database cannot be reached, or a pooler without
 * sessions is in between.
 */
export async function migrate(databaseUrl: string, tell: Tell = () => undefined): Promise<string[]> {
  // Imported here, because the applications never migrate and would otherwise load it at every start.
  const { DataSource } = await import('typeorm');
  const url = await writableUrl(databaseUrl).catch((error: unknown) => {
    throw diagnose(error, databaseUrl);
  });
  await requireSessions(url, CONNECT_TIMEOUT_MS).catch((error: unknown) => {
    throw error instanceof DomainError ? error : diagnose(error, databaseUrl);
  });
  let isNew = false;
  const dataSource = new DataSource({
    type: 'postgres',
    url,
    migrations: MIGRATIONS.map((step) => classOf(step, (file) => (isNew ? migrationText(file) : onlineText(file)))),
    migrationsTableName: 'migrations',
    // The caller reports failures, and a retry is not a failure.
    logger: 'debug',
    extra: { max: 2, connectionTimeoutMillis: CONNECT_TIMEOUT_MS },
  });
  try {
    await dataSource.initialize();
  } catch (error) {
    throw diagnose(error, databaseUrl);
  }
  const lock = dataSource.createQueryRunner();
  try {
    await takeLock(lock);
    const [server]: { version: number }[] = await lock.query(
      `SELECT current_setting('server_version_num')::int AS version`,
    );
    if (server === undefined || server.version < 150_000) {
      throw new DomainError('unavailable', 'PostgreSQL 15 or newer is required.');
    }
    const before = await appliedNames(lock);
    isNew = before.size === 0;
    await lock.query(`SET lock_timeout = ${LOCK_TIMEOUT_MS}`);
    const patiently = <T>(work: () => Promise<T>): Promise<T> => untilLocked(work, () => tellWhoHolds(lock, tell));
    await lock.query(migrationText('application-role'));
    await patiently(() => dataSource.runMigrations({ transaction: isNew ? 'all' : 'each' }));
    await patiently(() => lock.query(migrationText('privileges')));
    await patiently(() => backfillLog(lock));
    for (const [name, text] of indexesBesideWriters()) await buildIndex(lock, name, text);
    await patiently(() => lock.query(migrationText('55-grants-of-paths.after')));
    await patiently(() => markOldRecords(lock));
    await patiently(() => backfillSearch(lock));
    const { damaged } = await backfillProvenance(url);
    const applied = [...(await appliedNames(lock))].filter((name) => !before.has(name));
    for (const line of await findWorkLeft(lock, isNew ? [] : applied, damaged)) tell(line);
    return applied;
  } finally {
    await lock.query('SELECT pg_advisory_unlock($1)', [MIGRATION_LOCK]).catch(() => undefined);
    await lock.release();
    await dataSource.destroy();
  }
}

const SEARCH_AGAIN =
  'INSERT INTO search_backfill (after_key) VALUES (0), as the owner of the tables, then npm run db:migrate';
/** Commands that finish a step when no process of an earlier release writes any more; by the step's number. */
const LEFT_BY_STEPS: ReadonlyMap<number, string> = new Map([
  [15, 'npm run tool -- db/fill-provenance'],
  [23, SEARCH_AGAIN],
  [47, SEARCH_AGAIN],
  [55, SEARCH_AGAIN],
]);

/** Returns a sentence for each part that workers, the next run or a command must still fill in. */
async function findWorkLeft(
  runner: Pick<QueryRunner, 'query'>,
  applied: readonly string[],
  damaged: readonly string[],
): Promise<string[]> {
  const [{ copies } = { copies: 0 }]: { copies: number }[] = await runner.query(
    'SELECT count(*)::int AS copies FROM granted_feeds WHERE turn IS NOT NULL',
  );
  const commands = MIGRATIONS.filter(({ name }) => applied.includes(name)).flatMap(
    ({ file }) => LEFT_BY_STEPS.get(parseInt(file, 10)) ?? [],
  );
  return [
    ...[...new Set(commands)].map(
      (command) => `Still to run, once the last process of the previous release has stopped: ${command}.`,
    ),
    ...(copies === 0 ? [] : [`Left for the worker: it copies older entries into the feeds of ${copies} grants.`]),
    ...[...new Set(damaged)].map(
      (snapshotId) =>
        `Left: snapshot ${snapshotId} is damaged. Restore it (docs/operations/runbooks.md), then run npm run tool -- db/fill-provenance.`,
    ),
  ];
}

/** Returns the names of the applied migrations in their order. */
async function appliedNames(runner: QueryRunner): Promise<Set<string>> {
  const [table]: { isThere: boolean }[] = await runner.query(
    `SELECT to_regclass('migrations') IS NOT NULL AS "isThere"`,
  );
  if (table?.isThere !== true) return new Set();
  const rows: { name: string }[] = await runner.query('SELECT name FROM migrations ORDER BY id');
  return new Set(rows.map(({ name }) => name));
}

/** The oldest transactions. The login sees details of other logins only as a superuser or a member of pg_read_all_stats. */
const OLD_TRANSACTIONS = `
  SELECT format('%s (%s, since %s)', pid, coalesce(nullif(application_name, ''), usename), xact_start::timestamptz(0)) AS who
    FROM pg_stat_activity
   WHERE datname = current_database() AND xact_start < clock_timestamp() - interval '400 ms' AND pid <> pg_backend_pid()
   ORDER BY xact_start LIMIT 3`;

async function tellWhoHolds(runner: QueryRunner, tell: Tell): Promise<void> {
  const holders: { who: string }[] = await runner.query(OLD_TRANSACTIONS);
  const who =
    holders.length === 0 ? '' : ` The oldest transactions: ${holders.map((holder) => holder.who).join(', ')}.`;
  tell(`A table is locked by others: writers go first, then the migration retries.${who}`);
}

/**
 * Acquires the lock by polling. A waiting statement would hold a snapshot, and the concurrent build of an index waits for its
 * end.
 */
async function takeLock(runner: QueryRunner): Promise<void> {
  for (;;) {
    const [row]: { isTaken: boolean }[] = await runner.query('SELECT pg_try_advisory_lock($1) AS "isTaken"', [
      MIGRATION_LOCK,
    ]);
    if (row?.isTaken === true) return;
    await pause(LOOK_AGAIN_MS);
  }
}

/** Builds an index unless it exists. An interrupted build leaves an invalid index, which is dropped first. */
async function buildIndex(runner: Pick<QueryRunner, 'query'>, name: string, text: string): Promise<void> {
  const [found]: { isValid: boolean }[] = await runner.query(
    'SELECT indisvalid AS "isValid" FROM pg_index WHERE indexrelid = to_regclass($1)',
    [name],
  );
  if (found?.isValid === true) return;
  await besideWriters(runner, async () => {
    if (found !== undefined) await runner.query(`DROP INDEX CONCURRENTLY ${name}`);
    await runner.query(text);
  });
}

/** Runs concurrent index work without a lock timeout. Such work waits for all writers, but no writer waits for it. */
async function besideWriters(runner: Pick<QueryRunner, 'query'>, work: () => Promise<unknown>): Promise<void> {
  await runner.query('SET lock_timeout = 0');
  await work();
  await runner.query(`SET lock_timeout = ${LOCK_TIMEOUT_MS}`);
}

/**
 * Marks the snapshots that are older than the log, batch by batch in the order of their `created_at`, each batch in a transaction
 * of its own. It may be interrupted at any moment, and the next call continues. Each snapshot is marked exactly once, whatever is
 * written meanwhile. Does nothing if nothing is missing. Needs the tables' owner outside of a transaction; only one call may run
 * at a time.
 */
export async function backfillLog(runner: Pick<QueryRunner, 'query'>, batch = BACKFILL_ROWS): Promise<void> {
  const [pending]: { isPending: boolean }[] = await runner.query(
    'SELECT EXISTS (SELECT FROM log_backfill) AS "isPending"',
  );
  if (pending?.isPending !== true) return;
  await buildIndex(runner, BACKFILL_ORDER, migrationText('13-log-backfill.index'));
  // Forces one join of a batch with all marks of writers, instead of a search for each row, regardless of statistics.
  await runner.query('SET enable_nestloop = off');
  const text = migrationText('13-log-backfill.batch');
  for (let isLast = false; !isLast;) {
    const [{ lookedAt } = { lookedAt: 0 }]: { lookedAt: number }[] = await runner.query(text, [batch]);
    isLast = lookedAt < batch;
  }
  await runner.query('RESET enable_nestloop');
  await besideWriters(runner, () => runner.query(`DROP INDEX CONCURRENTLY ${BACKFILL_ORDER}`));
  await runner.query('DELETE FROM log_backfill');
}

/**
 * Marks the audit records and disclosures that are older than their log entries, batch by batch. It may be interrupted at any
 * moment, and the next call continues. Each record is marked exactly once, whatever is written meanwhile. Needs the tables' owner
 * outside of a transaction; only one call may run at a time.
 */
export async function markOldRecords(
  runner: { query(text: string, values: unknown[]): Promise<unknown[]> },
  batch = BACKFILL_ROWS,
): Promise<void> {
  const text = migrationText('50-records-in-the-log.batch');
  // The last call of each kind finds nothing, and ends it.
  for (let isPending = true; isPending;) {
    isPending = (await runner.query(text, [batch])).length > 0;
  }
}
