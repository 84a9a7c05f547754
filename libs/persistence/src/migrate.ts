import { setTimeout as pause } from 'node:timers/promises';
import { DomainError } from '@iss/domain';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { CONNECT_TIMEOUT_MS } from './database';
import { diagnose } from './diagnose';
import { writableUrl } from './servers';
import { type Migration, MIGRATIONS, migrationText } from './migrations';
import { backfillSearch } from './search-backfill';

const MIGRATION_LOCK = 4_951_219;
/** Between two looks whether another one that migrates has ended. */
const LOOK_AGAIN_MS = 100;

/** Of one transaction of the log's backfill: a second or so. */
const BACKFILL_ROWS = 20_000;

/** In the order in which they came; there only while they are marked, and built without keeping writers from writing. */
const BACKFILL_ORDER = 'log_backfill_order';

/** Indexes of tables that are large and written to meanwhile, by name, with the file that builds each beside writers. */
const INDEXES_BUILT_BESIDE_WRITERS = {
  snapshots_by_effective_time: '14-time-of-versions.index',
  subjects_by_name: '23-search-terms.index',
} as const;

function classOf({ file, name }: Migration): new () => MigrationInterface {
  return class {
    readonly name = name;

    async up(runner: QueryRunner): Promise<void> {
      await runner.query(migrationText(file));
    }

    async down(runner: QueryRunner): Promise<void> {
      await runner.query(migrationText(`${file}.down`));
    }
  };
}

/**
 * Applies what is missing, as the role of the URL (the tables' owner), all in one transaction; concurrent callers wait
 * for one another. Then does, in batches and beside writers, what would take that transaction too long: where it is ended
 * before its end, the next call goes on. Returns the names of the migrations applied. Throws `unavailable` when the database cannot be reached.
 */
export async function migrate(databaseUrl: string): Promise<string[]> {
  // Not by the file's imports: the applications, which never migrate, would load it at every start.
  const { DataSource } = await import('typeorm');
  const url = await writableUrl(databaseUrl).catch((error: unknown) => {
    throw diagnose(error, databaseUrl);
  });
  const dataSource = new DataSource({
    type: 'postgres',
    url,
    migrations: MIGRATIONS.map(classOf),
    migrationsTableName: 'migrations',
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
    await lock.query(migrationText('application-role'));
    const applied = await dataSource.runMigrations({ transaction: 'all' });
    await lock.query(migrationText('privileges'));
    await backfillLog(lock);
    for (const [name, file] of Object.entries(INDEXES_BUILT_BESIDE_WRITERS)) await buildIndex(lock, name, file);
    await backfillSearch(lock);
    return applied.map((migration) => migration.name);
  } finally {
    await lock.query('SELECT pg_advisory_unlock($1)', [MIGRATION_LOCK]).catch(() => undefined);
    await lock.release();
    await dataSource.destroy();
  }
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
async function buildIndex(runner: Pick<QueryRunner, 'query'>, name: string, file: string): Promise<void> {
  const [found]: { isValid: boolean }[] = await runner.query(
    'SELECT indisvalid AS "isValid" FROM pg_index WHERE indexrelid = to_regclass($1)',
    [name],
  );
  if (found?.isValid === true) return;
  if (found !== undefined) await runner.query(`DROP INDEX CONCURRENTLY ${name}`);
  await runner.query(migrationText(file));
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
  await buildIndex(runner, BACKFILL_ORDER, '13-log-backfill.index');
  // A batch is held against all marks of writers at once, and not each of its rows, whatever statistics say.
  await runner.query('SET enable_nestloop = off');
  const text = migrationText('13-log-backfill.batch');
  for (let isLast = false; !isLast;) {
    const [{ lookedAt } = { lookedAt: 0 }]: { lookedAt: number }[] = await runner.query(text, [batch]);
    isLast = lookedAt < batch;
  }
  await runner.query('RESET enable_nestloop');
  await runner.query(`DROP INDEX CONCURRENTLY ${BACKFILL_ORDER}`);
  await runner.query('DELETE FROM log_backfill');
}
