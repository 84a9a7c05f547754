import { APPLICATION_ROLE } from '@iss/platform';
import { Pool } from 'pg';
import { MIGRATIONS } from './migrations';
import { toDomainError } from './sql/db-errors';
import { Sql } from './sql/sql';
import { type NoParameters, statement } from './sql/statement';

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

export const CONNECT_TIMEOUT_MS = 5_000;
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

/** Startup options of the applications' connections, as `PGOPTIONS` would hold them. */
export const STARTUP_OPTIONS = [`role=${APPLICATION_ROLE}`, `statement_timeout=${STATEMENT_TIMEOUT_MS}`, ...PLANNER]
  .map((setting) => `-c ${setting}`)
  .join(' ');

/** The application's one pool; what it is asked goes through {@link Sql}. */
export class Database {
  readonly sql: Sql;

  constructor(
    private readonly pool: Pool,
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
    return MIGRATIONS.map(({ name }) => name).filter((name) => !applied.has(name));
  }

  async close(): Promise<void> {
    await this.pool.end();
  }
}

/**
 * Connects as {@link APPLICATION_ROLE}; the URL's login must be that role or a member of it.
 * Throws `unavailable` when the database cannot be reached.
 */
export async function openDatabase(settings: DatabaseSettings): Promise<Database> {
  const pool = new Pool({
    connectionString: settings.url,
    max: settings.poolSize,
    application_name: settings.applicationName,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: ANSWER_TIMEOUT_MS,
    keepAlive: true,
    options: STARTUP_OPTIONS,
  });
  // A connection that dies while idle is replaced by the pool; without a listener its error would end the process.
  pool.on('error', () => undefined);
  try {
    (await pool.connect()).release();
  } catch (error) {
    await pool.end();
    throw toDomainError(error);
  }
  return new Database(pool, settings.observe);
}
