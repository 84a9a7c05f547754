import 'reflect-metadata';
import { DomainError } from '@iss/domain';
import type { Pool } from 'pg';
import { DataSource } from 'typeorm';
import { APPLICATION_ROLE, ENSURE_ROLE, GRANT_PRIVILEGES } from './application-role';
import { toDomainError } from './sql/db-errors';
import { MembershipEntity } from './entities/membership.entity';
import { TenantEntity } from './entities/tenant.entity';
import { WebhookSubscriptionEntity } from './entities/webhook-subscription.entity';
import { InitialSchema1 } from './migrations/1-initial-schema';
import { WholeInterface2 } from './migrations/2-whole-interface';
import { LeanIndexes3 } from './migrations/3-lean-indexes';
import { BodiesBuiltOnce4 } from './migrations/4-bodies-built-once';
import { Sql } from './sql/sql';
import { type NoParameters, statement } from './sql/statement';

export const MIGRATIONS = [InitialSchema1, WholeInterface2, LeanIndexes3, BodiesBuiltOnce4];

export interface DatabaseSettings {
  /** `postgres://…` */
  url: string;
  /** Connections at most. */
  poolSize: number;
  /** Shown in `pg_stat_activity`. */
  applicationName: string;
  /** Told the name of each statement that is sent: for metrics and for tests that count. */
  observe?: (statementName: string) => void;
}

const CONNECT_TIMEOUT_MS = 5_000;
/** What waits for longer, for a lock or a disk, is not going to be soon: better that its caller is told. */
const STATEMENT_TIMEOUT_MS = 10_000;
/** A server that does not even say that: it hangs, or the network does. */
const ANSWER_TIMEOUT_MS = 12_000;

/**
 * Every statement of the applications is a handful of index look-ups. A plan is kept by the connection until statistics
 * are taken again, and both may be from a time when the tables were empty or all one tenant's. So the planner is told what
 * stays right whatever they hold: nothing is read whole or kept for a second pass, and rows cost, not the pages they are on.
 */
export const PLANNER = [
  'plan_cache_mode=force_generic_plan',
  'enable_seqscan=off',
  'enable_hashjoin=off',
  'enable_mergejoin=off',
  'enable_material=off',
  'enable_memoize=off',
  'enable_bitmapscan=off',
  'random_page_cost=0',
  'seq_page_cost=0',
  'jit=off',
];

const APPLIED = statement<NoParameters, { name: string }>(
  'migrations_applied',
  'SELECT name FROM migrations ORDER BY id',
);
const PING = statement('ping', 'SELECT 1');

/** One pool, used by TypeORM's repositories and by named statements alike. */
export class Database {
  readonly sql: Sql;

  constructor(
    readonly dataSource: DataSource,
    pool: Pool,
    observe: DatabaseSettings['observe'],
  ) {
    this.sql = new Sql(pool, observe);
  }

  /** Resolves when the database answers; throws `unavailable` otherwise. */
  async ping(): Promise<void> {
    await this.sql.run(PING, {});
  }

  /** Names of migrations that this build has and the database lacks; empty when it is up to date. */
  async missingMigrations(): Promise<string[]> {
    const applied = new Set((await this.sql.run(APPLIED, {})).map((row) => row.name));
    return MIGRATIONS.map((Migration) => new Migration().name).filter((name) => !applied.has(name));
  }

  async close(): Promise<void> {
    await this.dataSource.destroy();
  }
}

function isPool(value: unknown): value is Pool {
  return typeof value === 'object' && value !== null && 'connect' in value && 'totalCount' in value;
}

/** A data source as the application role, or as the role of the URL (the owner), which only migrations need. */
function dataSourceFor(url: string, extra: Record<string, unknown>): DataSource {
  return new DataSource({
    type: 'postgres',
    url,
    entities: [TenantEntity, MembershipEntity, WebhookSubscriptionEntity],
    migrations: MIGRATIONS,
    migrationsTableName: 'migrations',
    synchronize: false,
    logging: false,
    extra,
  });
}

/**
 * Connects as {@link APPLICATION_ROLE}; the URL's login must be that role or a member of it.
 * Throws `unavailable` when the database cannot be reached.
 */
export async function openDatabase(settings: DatabaseSettings): Promise<Database> {
  const dataSource = dataSourceFor(settings.url, {
    max: settings.poolSize,
    application_name: settings.applicationName,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: ANSWER_TIMEOUT_MS,
    keepAlive: true,
    options: [`role=${APPLICATION_ROLE}`, `statement_timeout=${STATEMENT_TIMEOUT_MS}`, ...PLANNER]
      .map((setting) => `-c ${setting}`)
      .join(' '),
  });
  try {
    await dataSource.initialize();
  } catch (error) {
    throw toDomainError(error);
  }
  const pool: unknown = 'master' in dataSource.driver ? dataSource.driver.master : undefined;
  if (!isPool(pool)) throw new Error('TypeORM no longer exposes its pg pool as driver.master');
  // A connection that dies while idle is replaced by the pool; without a listener its error would end the process.
  pool.on('error', () => undefined);
  return new Database(dataSource, pool, settings.observe);
}

const MIGRATION_LOCK = 4_951_219;

/**
 * Applies what is missing, as the role of the URL (the tables' owner), all in one transaction; concurrent callers wait
 * for one another. Returns the names of the migrations applied. Throws `unavailable` when the database cannot be reached.
 */
export async function migrate(databaseUrl: string): Promise<string[]> {
  const dataSource = dataSourceFor(databaseUrl, { max: 2, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
  try {
    await dataSource.initialize();
  } catch (error) {
    throw toDomainError(error);
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
    await lock.query(ENSURE_ROLE);
    const applied = await dataSource.runMigrations({ transaction: 'all' });
    await lock.query(GRANT_PRIVILEGES);
    return applied.map((migration) => migration.name);
  } finally {
    await lock.query('SELECT pg_advisory_unlock($1)', [MIGRATION_LOCK]).catch(() => undefined);
    await lock.release();
    await dataSource.destroy();
  }
}
