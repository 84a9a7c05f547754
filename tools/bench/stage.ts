import { randomBytes } from 'node:crypto';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { Client } from 'pg';
import { applyMigrations } from '../db/apply-migrations.ts';
import { clusterFolder, makeTemporaryFolder, startPostgres } from '../postgres.ts';
import { APP_FLAGS, reservePort, startOwned, UserError } from '../processes.ts';
import { type RedisServer, startRedis } from '../redis.ts';
import { repositoryRoot } from '../root.ts';
import { type AppName, ProductProcess } from '../testing/product-process.ts';
import { startTestIssuer } from '../testing/test-issuer.ts';
import { waitFor } from '../testing/wait-for.ts';
import { processorMs, processorMsWithChildren, residentMiB } from './processor-time.ts';

/** A process of the product, or one for comparison. */
export interface Server {
  pid: number;
  port: number;
  /** Resident memory in MiB. */
  rssMiB(): number;
  /** Processor time since its start, in milliseconds. */
  cpuMs(): number;
  stop(): Promise<void>;
}

interface Profiling {
  cpuProfiles?: string;
}

/** A real PostgreSQL (fsync on), a real Redis if available, and functions that start the shipped processes on them. */
export interface Stage {
  databaseUrl: string;
  /** Undefined without Redis; the queue is then in PostgreSQL. */
  queueUrl: string | undefined;
  /** The database's superuser. */
  sql: Client;
  /** The ring of keys that seals webhook secrets, for secrets that are inserted by SQL. */
  secretsKeys: string;
  /** The processor time of all processes of PostgreSQL since its start, in milliseconds. */
  postgresCpuMs(): number;
  /** Returns the `Authorization` header of a user. */
  authorization(user: string): Promise<Record<string, string>>;
  /** Starts a gateway. With `cpuProfiles`, it writes a CPU profile into this folder when it stops. */
  startGateway(env?: Record<string, string>, options?: Profiling): Promise<Server>;
  startWorker(env?: Record<string, string>): Promise<Server>;
  startNoOp(): Promise<Server>;
  postgresVersion(): Promise<string>;
  redisVersion(): Promise<string>;
  close(): Promise<void>;
}

const START_MS = 30_000;
const STOP_MS = 15_000;
/** Longer than any run. */
const TOKEN_SECONDS = 12 * 3600;

export async function openStage(options: Profiling = {}): Promise<Stage> {
  const folder = makeTemporaryFolder({ durable: true });
  const postgres = await startPostgres({
    folder: clusterFolder(folder),
    logFile: join(folder, 'postgres.log'),
    durable: true,
    temporaryFolder: folder,
  });
  const redis = await redisUnlessMissing();
  const issuer = await startTestIssuer();
  await applyMigrations(postgres.url, redis?.url);
  const sql = new Client({ connectionString: postgres.url });
  await sql.connect();

  const stops: (() => Promise<void>)[] = [];
  const secretsKeys = `bench:${randomBytes(32).toString('base64')}`;
  const common = {
    NODE_ENV: 'production',
    LOG_LEVEL: 'info',
    LOG_CHECKPOINT_FILE: '',
    DATABASE_URL: postgres.url,
    QUEUE_URL: redis?.url,
    SECRETS_KEYS: secretsKeys,
    OIDC_ISSUER: issuer.oidcIssuer,
    OIDC_PROJECT_ID: issuer.projectId,
  };
  const serverOf = ({ pid }: { pid: number }, url: string, stop: (deadlineMs: number) => Promise<void>): Server => {
    stops.push(() => stop(STOP_MS));
    return {
      pid,
      port: Number(new URL(url).port),
      rssMiB: () => residentMiB(pid),
      cpuMs: () => processorMs(pid),
      stop: () => stop(STOP_MS),
    };
  };
  const start = async (app: AppName, env: Record<string, string>, { cpuProfiles }: Profiling): Promise<Server> => {
    const flags = cpuProfiles === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${cpuProfiles}`];
    const name = `${app}-${stops.length}`;
    const launched = await ProductProcess.prepare({ app, name, folder, env: { ...common, ...env }, flags });
    await launched.start();
    return serverOf(launched, launched.url, (deadlineMs) => launched.stop(deadlineMs));
  };
  if (options.cpuProfiles !== undefined) mkdirSync(options.cpuProfiles, { recursive: true });

  return {
    databaseUrl: postgres.url,
    queueUrl: redis?.url,
    sql,
    secretsKeys,
    postgresCpuMs: () => processorMsWithChildren(postgres.process.pid),
    async authorization(user) {
      const exp = Math.floor(Date.now() / 1000) + TOKEN_SECONDS;
      return { Authorization: `Bearer ${await issuer.mint(user, { exp })}` };
    },
    startGateway: (env = {}, profiling = options) => start('api-gateway', env, profiling),
    startWorker: (env = {}) => start('webhook-worker', env, options),
    async postgresVersion() {
      const { rows } = await sql.query<{ server_version: string }>('SHOW server_version');
      return rows[0]?.server_version ?? 'unknown';
    },
    async redisVersion() {
      if (redis === undefined) return 'none';
      const client = new Redis(redis.url);
      const version = /redis_version:(\S+)/.exec(await client.info('server'))?.[1] ?? 'unknown';
      client.disconnect();
      return version;
    },
    async startNoOp() {
      const url = `http://127.0.0.1:${await reservePort()}`;
      const child = await startOwned(process.execPath, [...APP_FLAGS, join(repositoryRoot, 'tools/bench/no-op-server.ts')], {
        cwd: repositoryRoot,
        env: { ...common, PATH: process.env['PATH'], PORT: new URL(url).port },
        stdio: 'ignore',
        stopSignal: 'SIGTERM',
      });
      await waitFor(async () => (await fetch(`${url}/no-op`)).ok, { deadlineMs: START_MS, what: 'the no-op server' });
      return serverOf(child, url, (deadlineMs) => child.stop(deadlineMs));
    },
    async close() {
      for (const stop of stops) await stop();
      await sql.end();
      await issuer.stop();
      await redis?.stop();
      await postgres.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function redisUnlessMissing(): Promise<RedisServer | undefined> {
  try {
    return await startRedis();
  } catch (error) {
    if (error instanceof UserError) return undefined;
    throw error;
  }
}
