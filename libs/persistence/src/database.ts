import { Socket } from 'node:net';
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
  /** `postgres://…`, of one host or several, of which the one is used that takes writes. */
  url: string;
  /** Copies of it, one host or several of which any will do, for reads that may be late; undefined: there are none. */
  replicaUrl?: string | undefined;
  /** Connections at most, 2 at least: half of them for statements that requests share; to a replica half as many. */
  poolSize: number;
  /** The role that the connections act as; undefined: {@link APPLICATION_ROLE}. */
  role?: DatabaseRole;
  /** Whether a login that owns the tables is refused: it could take away what guards them. */
  refusesOwner?: boolean;
  /** Shown in `pg_stat_activity`. */
  applicationName: string;
  /** Whether something beside it listens on this database, such as a queue: no pooler may share servers then. */
  needsSessions?: boolean;
  /** Hears of trouble that no request is told of. */
  warn?: Warn;
  /** Told the name of each statement that is sent, and whereto: for metrics and for tests that count. */
  observe?: (statementName: string, server: 'primary' | 'replica') => void;
}

export const CONNECT_TIMEOUT_MS = 5_000;
/** When a statement is given up, and when its server is: one that does not even say so hangs, or the network does. */
interface Patience {
  statementMs: number;
  /** When it is cancelled: what its own timeout does not end waits for a standby, in its commit. */
  cancelMs: number;
  answerMs: number;
}
/** What waits for longer, for a lock or a disk, is not going to be soon: better that its caller is told. */
const LONE: Patience = { statementMs: 10_000, cancelMs: 11_000, answerMs: 12_000 };
/** Of one that many requests share: those who are not what takes so long are tried alone then. */
const SHARED: Patience = { statementMs: 2_000, cancelMs: 3_000, answerMs: 4_000 };

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
const PING = statement<NoParameters, { at: Date }>('ping', 'SELECT clock_timestamp() AS at');
const SERVER = statement<NoParameters, { version: string; connections: number; most: number }>(
  'server',
  `SELECT current_setting('server_version') AS version,
       pg_stat_get_db_numbackends((SELECT oid FROM pg_database WHERE datname = current_database() LIMIT 1)) AS connections,
       current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
         - coalesce(current_setting('reserved_connections', true)::int, 0) AS most`,
);
const WRITE_AHEAD = statement<NoParameters, { position: number }>(
  'write_ahead_position',
  `SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 AS position`,
);
/** Named, as every statement is. */
const STANDS = {
  name: 'stands',
  text: `SELECT current_user::text AS "actsAs", session_user::text AS login, ${IS_SHARED('stands')} AS "isShared",
       (SELECT pg_has_role(session_user, c.relowner, 'MEMBER') FROM pg_class c
         WHERE c.oid = to_regclass('public.snapshots')) IS TRUE AS "ownsTables",
       ARRAY(SELECT n || '=' || current_setting(n) FROM unnest('{${PLANNER.map((setting) => setting.split('=')[0]).join()}}'::text[]) n) AS planner,
       extract(epoch FROM current_setting('statement_timeout')::interval)::float8 * 1000 AS "statementMs"`,
};
/** How a connection stands once it is there. */
interface Stands {
  actsAs: string;
  login: string;
  ownsTables: boolean;
  isShared: boolean;
  planner: string[];
  statementMs: number;
}

/** Startup options of the applications' connections, as `PGOPTIONS` would hold them. */
const startupOptions = (role: DatabaseRole, { statementMs }: Patience): string =>
  [...ofEach(role), `statement_timeout=${statementMs}`].map((setting) => `-c ${setting}`).join(' ');
const ofEach = (role: DatabaseRole): string[] => [`role=${role}`, ...PLANNER];

export const STARTUP_OPTIONS = startupOptions(APPLICATION_ROLE, LONE);

/** The application's connections; what they are asked goes through {@link Sql}. */
export class Database {
  constructor(
    readonly sql: Sql,
    private readonly pools: readonly Pool[],
    private readonly servers: Servers,
  ) {}

  /**
   * Resolves when the database answers, with how many milliseconds its clock is ahead of ours, to within the time that
   * the answer took. Throws `unavailable` otherwise.
   */
  async ping(): Promise<number> {
    const askedAtMs = Date.now();
    const { at } = await this.sql.one(PING, {});
    return at.getTime() - (askedAtMs + Date.now()) / 2;
  }

  /** The server's version, how many connections the database has, and how many may be had by whoever is no superuser. */
  server(): Promise<{ version: string; connections: number; most: number }> {
    return this.sql.one(SERVER, {});
  }

  /** The same of the replica; null where there is none, or it does not answer. */
  async replicaServer(): Promise<{ version: string; connections: number; most: number } | null> {
    const [server = null] = (await this.replica?.run('', SERVER, {})) ?? [];
    return server;
  }

  /** What of the schema does not stand as the migrations leave it: a sentence each. */
  schemaFaults(): Promise<string[]> {
    return schemaFaults(this.sql);
  }

  /** Names of migrations that this build has and the database lacks; empty when it is up to date. */
  async missingMigrations(): Promise<string[]> {
    const applied = new Set((await this.sql.run(APPLIED, {})).map((row) => row.name));
    return MIGRATIONS.map(({ name }) => name).filter((name) => !applied.has(name));
  }

  /** A copy of it, where there is one. */
  get replica(): Replica | null {
    return this.sql.replica;
  }

  /** What the connections do at this moment. */
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
 * Connects as the role of the settings; the URL's login must be that role or a member of it.
 * Throws `unavailable`, with what to do, when the database cannot be opened ({@link diagnose}).
 */
export async function openDatabase(settings: DatabaseSettings): Promise<Database> {
  const sharedSize = Math.max(1, Math.floor(settings.poolSize / 2));
  const loneSize = Math.max(1, settings.poolSize - sharedSize);
  const sockets = new Set<Socket>();
  // What a server that was demoted still answers is of the past: nobody may be let in by it.
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
    // Lists and transactions keep the other half.
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
  return new Database(new Sql(lone, ofPrimary, sharing, replica), pools, servers);
}

/**
 * A process that acts as somebody else would have rights that it must not have, or none. Without its settings a statement
 * may read a table whole, and wait for ever. And behind a pooler that shares servers among transactions, what one connection
 * prepared another one finds there.
 */
async function requireUsable(pools: readonly Pool[], settings: DatabaseSettings): Promise<void> {
  // One after the other: where the server has a connection for one pool alone, that one is given back, and can be ended.
  for (const pool of pools) {
    const client = await pool.connect();
    // Rejects the statement; without a listener it would end the process.
    const onError = (): void => undefined;
    client.on('error', onError);
    try {
      const { rows } = await client.query<Stands>(STANDS);
      const [fault] = rows.flatMap((stands) => faultsOf(stands, settings));
      if (fault !== undefined) throw new DomainError('unavailable', `PostgreSQL: ${fault}.`);
    } finally {
      client.off('error', onError);
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
          `the login ${login} owns the tables, or is a superuser, and could take away what guards them: give the apps a login that ` +
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
    // Each new connection goes to the server that takes writes by then.
    Client: class extends CancellableClient {
      constructor(own?: ClientConfig) {
        super({ ...own, connectionString: servers.url });
      }
    },
  };
  const pool = new BoundedPool(config, patience.cancelMs, warn);
  // A connection that dies while idle is replaced by the pool; without a listener its error would end the process.
  pool.on('error', () => undefined);
  return pool;
}
