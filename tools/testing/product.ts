import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { Client, type QueryResultRow } from 'pg';
import { applyMigrations } from '../db/apply-migrations.ts';
import { clusterFolder, makeTemporaryFolder, type PostgresServer, startPostgres } from '../postgres.ts';
import { isAlive, type OwnedProcess } from '../processes.ts';
import { type OwnRedis, startOwnRedis } from '../redis.ts';
import { type AppName, ProductProcess } from './product-process.ts';
import { createTestDatabase } from './test-database.ts';
import { startTestIssuer, type TestIssuer } from './test-issuer.ts';

export type QueueKind = 'redis' | 'postgresql';

/** `immediately`: like a power failure. `hanging`: it keeps its connections and does not answer. */
export type Outage = 'properly' | 'immediately' | 'hanging';

/** A server that the product needs. It restarts on the same port. Both calls are safe in any state. */
export interface Dependency {
  stop(how: Outage): Promise<void>;
  start(): Promise<void>;
}

/** A Redis, which loses its data when it stops. */
export interface RedisDependency extends Dependency {
  flush(): Promise<void>;
  /** Makes it refuse commands that need more memory, or ends that. */
  fill(isFull: boolean): Promise<void>;
}

/** The result of a request; status 0 is no response. */
export interface Answer {
  status: number;
  headers: Headers;
  body: unknown;
  tookMs: number;
}

/** The whole product as it is deployed: built processes on PostgreSQL and optionally Redis. */
export interface Product {
  readonly gateways: readonly ProductProcess[];
  readonly workers: readonly ProductProcess[];
  readonly issuer: TestIssuer;
  readonly postgres: Dependency;
  /** Absent if the queue is in PostgreSQL. */
  readonly redis: RedisDependency | undefined;
  /** Runs a statement as PostgreSQL's superuser on a separate connection. */
  query<Row extends QueryResultRow>(text: string, values?: unknown[]): Promise<Row[]>;
  connect(): Promise<Client>;
  /** Sends a request as this user to the gateways in turn, or to the given one. Never throws. */
  request(user: string, method: string, path: string, body?: unknown, gateway?: ProductProcess): Promise<Answer>;
  /** Returns an access token of a user, the same each time. */
  token(user: string): Promise<string>;
  /** Returns the `Authorization` of a user. */
  authorization(user: string): Promise<Record<string, string>>;
  /** Starts another worker. */
  startWorker(name: string, env: Record<string, string>): Promise<ProductProcess>;
  /** Returns the faults of all processes: errors in the log, and unexpected ends. */
  faults(): string[];
  /** Returns the last lines of every log. */
  logTail(): string;
  close(): Promise<void>;
}

const REQUEST_TIMEOUT_MS = 30_000;
const STOP_MS = 10_000;
const TAIL_LINES = 12;

export interface ProductOptions {
  /** A separate Redis, or PostgreSQL. */
  queue: QueueKind;
  /** `own`: a server with fsync that a test may stop. `tests`: a database in the cluster that all tests share. */
  database?: 'own' | 'tests';
  gateways: number;
  workers: number;
  env: Record<string, string>;
}

/** Starts the product. The caller closes it. */
export async function startProduct(options: ProductOptions): Promise<Product> {
  const closings: (() => Promise<void>)[] = [];
  const close = async (): Promise<void> => {
    for (const closing of closings.splice(0).reverse()) await closing();
  };
  try {
    return { ...(await openProduct(options, closings)), close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function openProduct(
  options: ProductOptions,
  closings: (() => Promise<void>)[],
): Promise<Omit<Product, 'close'>> {
  const folder = makeTemporaryFolder({ durable: true });
  closings.push(async () => rmSync(folder, { recursive: true, force: true }));
  const database = options.database === 'tests' ? await openTestDatabase() : await openPostgres(folder);
  closings.push(() => database.close());
  const redis = options.queue === 'redis' ? await openRedis() : undefined;
  if (redis !== undefined) closings.push(() => redis.stop('immediately'));
  const issuer = await startTestIssuer();
  closings.push(() => issuer.stop());
  const databaseUrl = database.url;
  await applyMigrations(databaseUrl, redis?.server().url);

  const faults: string[] = [];
  const env = {
    NODE_ENV: 'production',
    DATABASE_URL: databaseUrl,
    QUEUE_URL: redis?.server().url ?? '',
    SECRETS_KEYS: `test:${randomBytes(32).toString('base64')}`,
    OIDC_ISSUER: issuer.oidcIssuer,
    OIDC_PROJECT_ID: issuer.projectId,
    ...options.env,
  };
  const launch = async (app: AppName, name: string, own: Record<string, string> = {}): Promise<ProductProcess> => {
    const onUnexpectedEnd = (how: string): unknown => faults.push(`${name} ended: ${how}`);
    const launched = await ProductProcess.prepare({
      app,
      name,
      folder,
      env: { ...env, ...own },
      onUnexpectedEnd,
    });
    closings.push(() => launched.stop(STOP_MS));
    await launched.start();
    return launched;
  };
  const several = (count: number, app: AppName, name: string): Promise<ProductProcess[]> =>
    Promise.all(Array.from({ length: count }, (_, index) => launch(app, `${name}-${index + 1}`)));
  const [gateways, workers] = await Promise.all([
    several(options.gateways, 'api-gateway', 'gateway'),
    several(options.workers, 'webhook-worker', 'worker'),
  ]);

  const tokens = new Map<string, Promise<string>>();
  const token = (user: string): Promise<string> => {
    const known = tokens.get(user) ?? issuer.mint(user);
    tokens.set(user, known);
    return known;
  };
  const authorization = async (user: string): Promise<{ Authorization: string }> => ({
    Authorization: `Bearer ${await token(user)}`,
  });
  let turn = 0;
  const connect = async (): Promise<Client> => {
    const client = new Client({ connectionString: databaseUrl });
    client.on('error', () => undefined);
    await client.connect();
    return client;
  };
  const logs = (): { name: string; lines: string[] }[] =>
    readdirSync(folder)
      .filter((name) => name.endsWith('.log'))
      .map((name) => ({ name, lines: readFileSync(join(folder, name), 'utf8').split('\n').filter(Boolean) }));
  return {
    gateways,
    workers,
    postgres: database,
    redis,
    issuer,
    connect,
    token,
    authorization,
    startWorker: (name, own) => launch('webhook-worker', name, own),
    async query<Row extends QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> {
      const client = await connect();
      try {
        return (await client.query<Row>(text, values)).rows;
      } finally {
        await client.end();
      }
    },
    async request(user, method, path, body, gateway = gateways[turn++ % gateways.length]) {
      const startedAt = performance.now();
      const headers = { ...(await authorization(user)), 'Content-Type': 'application/json' };
      const answered = async (): Promise<Omit<Answer, 'tookMs'>> => {
        const response = await fetch(`${gateway?.url}${path}`, {
          method,
          headers,
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
          redirect: 'error',
          signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
        });
        const text = await response.text();
        const content: unknown = text === '' ? null : JSON.parse(text);
        return { status: response.status, headers: response.headers, body: content };
      };
      const answer = await answered().catch((error: unknown) => ({
        status: 0,
        headers: new Headers(),
        // Not by class, since in Jest the error belongs to another realm.
        body: String(Reflect.get(Object(error), 'cause') ?? error),
      }));
      return { ...answer, tookMs: performance.now() - startedAt };
    },
    faults() {
      const errors = logs()
        .filter(({ name }) => name !== POSTGRES_LOG)
        .flatMap(({ name, lines }) => lines.filter(isError).map((line) => `${name}: ${line}`));
      return [...faults, ...errors];
    },
    logTail() {
      return logs()
        .flatMap(({ name, lines }) => [`--- ${name}`, ...lines.slice(-TAIL_LINES).map(inShort)])
        .join('\n');
    },
  };
}

const POSTGRES_LOG = 'postgres.log';

/** Returns whether a line is an error. A line that is not a log line comes from a process that could not log. */
function isError(line: string): boolean {
  try {
    const { level }: { level?: unknown } = JSON.parse(line);
    return typeof level !== 'number' || level >= 50;
  } catch {
    return true;
  }
}

function inShort(line: string): string {
  try {
    const { time, msg, err, error_phase: phase }: Record<string, unknown> = JSON.parse(line);
    const cause = typeof err === 'object' && err !== null && 'message' in err ? err.message : phase;
    return [time, msg, cause].filter(Boolean).join(' ');
  } catch {
    return line.slice(0, 300);
  }
}

interface DatabaseDependency extends Dependency {
  /** The URL of a superuser. */
  readonly url: string;
  close(): Promise<void>;
}

async function openTestDatabase(): Promise<DatabaseDependency> {
  const { url, drop } = await createTestDatabase({ migrated: 'service and queue' });
  return {
    url,
    stop: () => Promise.reject(new Error('Other tests use this PostgreSQL: take one of your own to stop it')),
    start: () => Promise.resolve(),
    close: drop,
  };
}

async function openPostgres(folder: string): Promise<DatabaseDependency> {
  const launch = (): Promise<PostgresServer> =>
    startPostgres({
      folder: clusterFolder(folder),
      logFile: join(folder, POSTGRES_LOG),
      durable: true,
      temporaryFolder: folder,
    });
  let current = await launch();
  const { url } = current;
  const start = async (): Promise<void> => {
    if (current.process.running) return signalAll(current.process.pid, 'SIGCONT');
    current = await launch();
    if (current.url !== url) throw new Error('PostgreSQL did not get its port again');
  };
  return {
    url,
    stop: (how) => end(current, how, 'SIGQUIT'),
    start,
    async close() {
      await start();
      await current.stop();
    },
  };
}

async function openRedis(): Promise<RedisDependency & { server(): OwnRedis }> {
  let current = await startOwnRedis();
  const port = Number(new URL(current.url).port);
  const command = async (run: (client: Redis) => Promise<unknown>): Promise<void> => {
    const client = new Redis(current.url);
    await run(client).finally(() => client.disconnect());
  };
  return {
    server: () => current,
    stop: (how) => end(current, how, 'SIGKILL'),
    async start() {
      if (current.process.running) return signalAll(current.process.pid, 'SIGCONT');
      current = await startOwnRedis({ port });
    },
    flush: () => command((client) => client.flushall()),
    fill: (isFull) => command((client) => client.config('SET', 'maxmemory', isFull ? '1mb' : '0')),
  };
}

async function end(
  server: { process: OwnedProcess; stop(): Promise<void> },
  how: Outage,
  immediate: 'SIGQUIT' | 'SIGKILL',
): Promise<void> {
  const { pid, running, ended } = server.process;
  if (!running) return;
  if (how === 'hanging') return signalAll(pid, 'SIGSTOP');
  if (how === 'immediately') {
    process.kill(pid, immediate);
    await ended;
  }
  await server.stop();
}

/** Sends a signal to a process and its children. */
function signalAll(pid: number, signal: 'SIGSTOP' | 'SIGCONT'): void {
  const table = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' });
  const rows = table.split('\n').map((row) => row.trim().split(/\s+/).map(Number));
  const children = rows.filter(([, parent]) => parent === pid).map(([child]) => child);
  for (const one of [pid, ...children]) {
    if (one !== undefined && isAlive(one)) process.kill(one, signal);
  }
}
