import { Socket } from 'node:net';
import type { TextArchive } from '@iss/archive';
import { DomainError } from '@iss/domain';
import { APPLICATION_ROLE, type DatabaseRole, type PoolLoad, type Warn } from '@iss/platform';
import type { ClientConfig, Pool } from 'pg';
import { diagnose } from './diagnose';
import { MIGRATIONS } from './migrations';
import { BoundedPool, CancellableClient } from './pool';
import { Replica } from './replica';
import { DROPPED_OPTIONS, roleFaults, schemaFaults } from './schema-faults';
import { Servers } from './servers';
import { IS_SHARED, NO_SESSIONS } from './sessions';
import { LoneStatements } from './sql/lone-statements';
import { Sql } from './sql/sql';
import { type NoParameters, statement } from './sql/statement';

export interface DatabaseSettings {
  /** `postgres://…` with one host or several. The host that takes writes is used. */
  url: string;
  /** Copies for reads that may be late: one host or several, any of which is suitable. Undefined if there are none. */
  replicaUrl?: string | undefined;
  /** The maximum number of connections, at least 2. Half of them serve shared statements. A replica gets half as many. */
  poolSize: number;
  /** The role that the connections act as. Defaults to {@link APPLICATION_ROLE}. */
  role?: DatabaseRole;
  /** Refuse a login that owns the tables, because it could remove their guards. */
  refusesOwner?: boolean;
  /** Shown in `pg_stat_activity`. */
  applicationName: string;
  /** Something else listens on this database, such as a queue, so a transaction-mode pooler is refused. */
  needsSessions?: boolean;
  /** The archive with the texts of old versions. The caller closes it after the database. */
  archive?: TextArchive | null;
  /** Receives problems that no request reports. */
  warn?: Warn;
  /** Receives the name of each statement that is sent, and its server; for metrics and for tests that count. */
  observe?: (statementName: string, server: 'primary' | 'replica') => void;
}

export const CONNECT_TIMEOUT_MS = 5_000;
/** Timeouts of a statement. */
interface Patience {
  statementMs: number;
  /** The pool cancels the statement. `statement_timeout` does not end a commit that waits for a standby. */
  cancelMs: number;
  answerMs: number;
}
/**
 * The time limits for a statement of one request. A longer wait for a lock or a disk is unlikely to end soon, so the
 * caller gets an error.
 */
const LONE: Patience = { statementMs: 10_000, cancelMs: 11_000, answerMs: 12_000 };
/** The time limits for a statement that requests share. After a timeout, its rows are tried alone. */
const SHARED: Patience = { statementMs: 2_000, cancelMs: 3_000, answerMs: 4_000 };

/**
 * The planner's settings. Every statement of the applications is a few index look-ups. A connection keeps a plan until statistics
 * are renewed, and both may come from a time when the tables were empty or had one tenant's rows only. These settings are right
 * for any data: no table is read whole or cached for a second pass, and the cost counts rows instead of pages.
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

const APPLIED = statement<NoParameters, { name: string }>('migrations_applied');
const PING = statement<NoParameters, { at: Date }>('ping');
const SERVER = statement<NoParameters, { version: string; connections: number; most: number }>('server');
const WRITE_AHEAD = statement<NoParameters, { position: number }>('write_ahead_position');
/** A check of a new connection. It has a name, as every statement. */
const STANDS = {
  name: 'stands',
  text: `SELECT current_user::text AS "actsAs", session_user::text AS login, ${IS_SHARED('stands')} AS "isShared",
       (SELECT pg_has_role(session_user, c.relowner, 'MEMBER') FROM pg_class c
         WHERE c.oid = to_regclass('public.snapshots')) IS TRUE AS "ownsTables",
       ARRAY(SELECT n || '=' || current_setting(n) FROM unnest('{${PLANNER.map((setting) => setting.split('=')[0]).join()}}'::text[]) n) AS planner,
       extract(epoch FROM current_setting('statement_timeout')::interval)::float8 * 1000 AS "statementMs"`,
};
/** The state of a new connection. */
interface Stands {
  actsAs: string;
  login: string;
  ownsTables: boolean;
  isShared: boolean;
  planner: string[];
  statementMs: number;
}

/** Returns the startup options of the applications' connections, in the format of `PGOPTIONS`. */
const startupOptions = (role: DatabaseRole, { statementMs }: Patience): string =>
  [...ofEach(role), `statement_timeout=${statementMs}`].map((setting) => `-c ${setting}`).join(' ');
const ofEach = (role: DatabaseRole): string[] => [`role=${role}`, ...PLANNER];

export const STARTUP_OPTIONS = startupOptions(APPLICATION_ROLE, LONE);

/** The connections of an application. Statements go through {@link Sql}. */
export class Database {
  constructor(
    readonly sql: Sql,
    private readonly pools: readonly Pool[],
    private readonly servers: Servers,
  ) {}

  /**
   * Returns how many milliseconds the database's clock is ahead, accurate to the duration of the answer. Throws `unavailable` if
   * the database does not answer.
   */
  async ping(): Promise<number> {
    const askedAtMs = Date.now();
    const { at } = await this.sql.one(PING, {});
    return at.getTime() - (askedAtMs + Date.now()) / 2;
  }

  /**
   * Returns the server's version, its number of connections to this database, and the maximum for logins that are no superusers.
   */
  server(): Promise<{ version: string; connections: number; most: number }> {
    return this.sql.one(SERVER, {});
  }

  /** Returns the same for the replica; null if there is none or it does not answer. */
  async replicaServer(): Promise<{ version: string; connections: number; most: number } | null> {
    const [server = null] = (await this.replica?.run('', SERVER, {})) ?? [];
    return server;
  }

  /** Returns a sentence for each difference between the schema and the migrations. */
  schemaFaults(): Promise<string[]> {
    return schemaFaults(this.sql);
  }

  /** Returns the names of the migrations that this build has and the database lacks. */
  async missingMigrations(): Promise<string[]> {
    const applied = new Set((await this.sql.run(APPLIED, {})).map((row) => row.name));
    return MIGRATIONS.map(({ name }) => name).filter((name) => !applied.has(name));
  }

  /** A copy of the database, or null. */
  get replica(): Replica | null {
    return this.sql.replica;
  }

  /** The archive with the texts of old versions; null without one. */
  get archive(): TextArchive | null {
    return this.sql.archive;
  }

  /** Returns the current numbers of busy and idle connections and waiting callers. */
  load(): PoolLoad {
    const total = { busy: 0, idle: 0, waiting: 0 };
    for (const pool of this.pools) {
      total.busy += pool.totalCount - pool.idleCount;
      total.idle += pool.idleCount;
      total.waiting += pool.waitingCount;
    }
    return total;
  }

  async close(): Promise<void> {
    await Promise.all([this.servers.close(), this.replica?.close(), ...this.pools.map((pool) => pool.end())]);
  }
}

/**
 * Opens the connections with the role of the settings. The URL's login must be that role or a member of it. Throws `unavailable`
 * with advice if the database cannot be opened ({@link diagnose}).
 */
export async function openDatabase(settings: DatabaseSettings): Promise<Database> {
  const sharedSize = Math.max(1, Math.floor(settings.poolSize / 2));
  const loneSize = Math.max(1, settings.poolSize - sharedSize);
  const sockets = new Set<Socket>();
  // A demoted server still answers with old data, by which nobody must be authorized.
  const servers = new Servers(settings.url, () => sockets.forEach((socket) => socket.destroy()));
  const shared = poolOf(settings, servers, sockets, sharedSize, SHARED);
  const lone = poolOf(settings, servers, sockets, loneSize, LONE);
  const pools = [shared, lone];
  try {
    await servers.find();
    await requireUsable(pools, settings);
    servers.watch();
  } catch (error) {
    await Promise.all([servers.close(), ...pools.map((pool) => pool.end())]);
    throw error instanceof DomainError ? error : diagnose(error, settings.url);
  }
  const { observe = () => undefined, replicaUrl } = settings;
  const ofPrimary = (name: string): void => observe(name, 'primary');
  const sharing = {
    sql: new Sql(shared, ofPrimary),
    // The other half is for lists and transactions.
    lone: new LoneStatements(Math.ceil(loneSize / 2)),
  };
  const position = async (): Promise<number> => (await sharing.sql.one(WRITE_AHEAD, {})).position;
  const replica =
    replicaUrl === undefined
      ? null
      : new Replica(
          {
            url: replicaUrl,
            poolSize: sharedSize,
            applicationName: settings.applicationName,
            role: settings.role ?? APPLICATION_ROLE,
            options: ofEach(settings.role ?? APPLICATION_ROLE)
              .map((setting) => `-c ${setting}`)
              .join(' '),
            observe: (name) => observe(name, 'replica'),
          },
          position,
        );
  await replica?.watch();
  return new Database(new Sql(lone, ofPrimary, sharing, replica, settings.archive), pools, servers);
}

/**
 * Throws `unavailable` unless each pool's connections have the right role, login and settings. Another role would have wrong
 * rights. Without the settings, a statement may read a whole table or wait for ever. Behind a transaction-mode pooler,
 * connections share prepared statements and lack sessions.
 */
async function requireUsable(pools: readonly Pool[], settings: DatabaseSettings): Promise<void> {
  // One after the other: if the server has only one connection left, it is released before the next pool asks for one.
  for (const pool of pools) {
    const client = await pool.connect();
    try {
      const { rows } = await client.query<Stands>(STANDS);
      const [fault] = rows.flatMap((stands) => faultsOf(stands, settings));
      if (fault !== undefined) throw new DomainError('unavailable', `PostgreSQL: ${fault}.`);
    } finally {
      client.release();
    }
  }
}

function faultsOf(
  { actsAs, login, ownsTables, isShared, planner, statementMs }: Stands,
  { role = APPLICATION_ROLE, refusesOwner = false, needsSessions = false }: DatabaseSettings,
): string[] {
  const lacking = PLANNER.filter((setting) => !planner.includes(setting));
  if (statementMs === 0 || statementMs > LONE.statementMs) lacking.unshift(`statement_timeout=${LONE.statementMs}`);
  return [
    ...roleFaults(actsAs, role),
    ...(ownsTables && refusesOwner
      ? [
          `the login ${login} owns the tables, or is a superuser, and could remove their triggers and policies: give the apps a login that ` +
            `is a member of ${role} alone (docs/operations/database.md, "Database roles")`,
        ]
      : []),
    ...(lacking.length === 0 ? [] : [`connections lack the settings ${lacking.join(', ')}: ${DROPPED_OPTIONS}`]),
    ...(isShared && needsSessions ? [`the queue on PostgreSQL needs sessions: ${NO_SESSIONS}: set QUEUE_URL`] : []),
  ];
}

function poolOf(
  { applicationName, warn, role = APPLICATION_ROLE }: DatabaseSettings,
  servers: Servers,
  sockets: Set<Socket>,
  max: number,
  patience: Patience,
): Pool {
  const config = {
    max,
    application_name: applicationName,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: patience.answerMs,
    keepAlive: true,
    options: startupOptions(role, patience),
    stream: () => {
      const socket = new Socket();
      sockets.add(socket);
      return socket.once('close', () => sockets.delete(socket));
    },
    // A new connection goes to the server that takes writes at that moment.
    Client: class extends CancellableClient {
      constructor(own?: ClientConfig) {
        super({ ...own, connectionString: servers.url });
      }
    },
  };
  const pool = new BoundedPool(config, patience.cancelMs, warn);
  // The pool replaces a connection that dies while idle. Without a listener, its error would end the process.
  pool.on('error', () => undefined);
  return pool;
}
