import { DomainError } from '@iss/domain';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { CONNECT_TIMEOUT_MS } from './database';
import { diagnose } from './diagnose';
import { type Migration, MIGRATIONS, migrationText } from './migrations';

const MIGRATION_LOCK = 4_951_219;

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
 * for one another. Returns the names of the migrations applied. Throws `unavailable` when the database cannot be reached.
 */
export async function migrate(databaseUrl: string): Promise<string[]> {
  // Not by the file's imports: the applications, which never migrate, would load it at every start.
  const { DataSource } = await import('typeorm');
  const dataSource = new DataSource({
    type: 'postgres',
    url: databaseUrl,
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
    await lock.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]);
    const [server]: { version: number }[] = await lock.query(
      `SELECT current_setting('server_version_num')::int AS version`,
    );
    if (server === undefined || server.version < 150_000) {
      throw new DomainError('unavailable', 'PostgreSQL 15 or newer is required.');
    }
    await lock.query(migrationText('application-role'));
    const applied = await dataSource.runMigrations({ transaction: 'all' });
    await lock.query(migrationText('privileges'));
    return applied.map((migration) => migration.name);
  } finally {
    await lock.query('SELECT pg_advisory_unlock($1)', [MIGRATION_LOCK]).catch(() => undefined);
    await lock.release();
    await dataSource.destroy();
  }
}
