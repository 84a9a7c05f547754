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
/** Between two looks whether another one that migrates has ended. */
const LOOK_AGAIN_MS = 100;

/** Of one transaction of the log's backfill: a second or so. */
const BACKFILL_ROWS = 20_000;

/** In the order in which they came; there only while they are marked, and built without keeping writers from writing. */
const BACKFILL_ORDER = 'log_backfill_order';

/** Hears what is going on, a sentence each. */
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

/** The step as it runs beside writers: what it does not get locked in time it lets go. */
const onlineText = (file: string): string =>
  `SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS};\n${onlineStep(migrationText(file)).text}`;

/**
 * Applies what is missing, as the role of the URL (the tables' owner), while others write: each step in a transaction of its
 * own, which lets go of its locks and begins again where one is not had at once; indexes, and what is done in batches, after
 * them. A new database gets all steps in one transaction. Ended before its end, the next call goes on; concurrent callers
 * wait for one another. Role, privileges and policies are put back each time. Returns the names of the migrations applied.
 * Throws `unavailable` when the database cannot be reached, or is behind a pooler that has no sessions.
 */
export async function migrate(databaseUrl: string, tell: Tell = () => undefined): Promise<string[]> {
  // Not by the file's imports: the applications, which never migrate, would load it at every start.
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
    // What fails is told by the caller, and what is tried again is no failure.
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

/** Commands that finish a step, once no process of an earlier release writes any more; by the step's number. */
const LEFT_BY_STEPS: ReadonlyMap<number, string> = new Map([
  [15, 'npm run tool -- db/fill-provenance'],
  [23, 'INSERT INTO search_backfill (after_key) VALUES (0), as the owner of the tables, then npm run db:migrate'],
]);

/** Returns what is left to be filled in, a sentence each: by workers, by the next run, or by a command. */
async function findWorkLeft(
  runner: Pick<QueryRunner, 'query'>,
  applied: readonly string[],
  damaged: readonly string[],
): Promise<string[]> {
  const [{ copies } = { copies: 0 }]: { copies: number }[] = await runner.query(
    'SELECT count(*)::int AS copies FROM granted_feeds WHERE turn IS NOT NULL',
  );
  return [
    ...MIGRATIONS.filter(({ name }) => applied.includes(name)).flatMap(({ file }) => {
      const command = LEFT_BY_STEPS.get(parseInt(file, 10));
      return command === undefined ? [] : [`Left, once the last process of the release before has ended: ${command}.`];
    }),
    ...(copies === 0 ? [] : [`Left for the worker: it copies older entries into the feeds of ${copies} grants.`]),
    ...[...new Set(damaged)].map(
      (snapshotId) =>
        `Left: snapshot ${snapshotId} is damaged. Restore it (docs/operations/runbooks.md), then run npm run tool -- db/fill-provenance.`,
    ),
  ];
}

/** Names of the migrations that the database has had, in their order. */
async function appliedNames(runner: QueryRunner): Promise<Set<string>> {
  const [table]: { isThere: boolean }[] = await runner.query(
    `SELECT to_regclass('migrations') IS NOT NULL AS "isThere"`,
  );
  if (table?.isThere !== true) return new Set();
  const rows: { name: string }[] = await runner.query('SELECT name FROM migrations ORDER BY id');
  return new Set(rows.map(({ name }) => name));
}

/** Of others the login sees what they are only as a superuser, or as a member of pg_read_all_stats. */
const OLD_TRANSACTIONS = `
  SELECT format('%s (%s, since %s)', pid, coalesce(nullif(application_name, ''), usename), xact_start::timestamptz(0)) AS who
    FROM pg_stat_activity
   WHERE datname = current_database() AND xact_start < clock_timestamp() - interval '400 ms' AND pid <> pg_backend_pid()
   ORDER BY xact_start LIMIT 3`;

async function tellWhoHolds(runner: QueryRunner, tell: Tell): Promise<void> {
  const holders: { who: string }[] = await runner.query(OLD_TRANSACTIONS);
  const who =
    holders.length === 0 ? '' : ` The oldest transactions: ${holders.map((holder) => holder.who).join(', ')}.`;
  tell(`A table is locked by others: writers go first, then it is tried again.${who}`);
}

/** Looks again and again: a statement that waits holds a snapshot, for the end of which an index that is built waits. */
async function takeLock(runner: QueryRunner): Promise<void> {
  for (;;) {
    const [row]: { isTaken: boolean }[] = await runner.query('SELECT pg_try_advisory_lock($1) AS "isTaken"', [
      MIGRATION_LOCK,
    ]);
    if (row?.isTaken === true) return;
    await pause(LOOK_AGAIN_MS);
  }
}

/** Builds an index that is not there. What a build that was broken off has left is not valid, and goes first. */
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

/** What is done concurrently waits for all who write, and nobody for it. */
async function besideWriters(runner: Pick<QueryRunner, 'query'>, work: () => Promise<unknown>): Promise<void> {
  await runner.query('SET lock_timeout = 0');
  await work();
  await runner.query(`SET lock_timeout = ${LOCK_TIMEOUT_MS}`);
}

/**
 * Marks the snapshots of before the log for it, batch by batch, each in a transaction of its own, in the order of their
 * `created_at`. May be ended at any moment and begun again, and goes on where it was; none is marked twice, none is left out,
 * whatever is written meanwhile. Nothing is done where nothing is missing. As the tables' owner, outside of any transaction;
 * one at a time may run.
 */
export async function backfillLog(runner: Pick<QueryRunner, 'query'>, batch = BACKFILL_ROWS): Promise<void> {
  const [pending]: { isPending: boolean }[] = await runner.query(
    'SELECT EXISTS (SELECT FROM log_backfill) AS "isPending"',
  );
  if (pending?.isPending !== true) return;
  await buildIndex(runner, BACKFILL_ORDER, migrationText('13-log-backfill.index'));
  // A batch is held against all marks of writers at once, and not each of its rows, whatever statistics say.
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
