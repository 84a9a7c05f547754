import { randomBytes } from 'node:crypto';
import { closeSync, mkdirSync, openSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { Client } from 'pg';
import { appUrl } from '../app-login.ts';
import { applyMigrations } from '../db/apply-migrations.ts';
import { clusterFolder, makeTemporaryFolder, startPostgres } from '../postgres.ts';
import { APP_FLAGS, reservePort, type OwnedProcess, startOwned, UserError } from '../processes.ts';
import { type RedisServer, startRedis } from '../redis.ts';
import { repositoryRoot } from '../root.ts';
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
  const gatewayUrl = await appUrl(postgres.url, 'gateway', 'bench');
  const workerUrl = await appUrl(postgres.url, 'worker', 'bench');
  const sql = new Client({ connectionString: postgres.url });
  await sql.connect();

  const started: OwnedProcess[] = [];
  const secretsKeys = `bench:${randomBytes(32).toString('base64')}`;
  const common = {
    PATH: process.env['PATH'],
    NODE_ENV: 'production',
    APP_ENV: 'local',
    DATABASE_URL: postgres.url,
    QUEUE_URL: redis?.url,
    SECRETS_KEYS: secretsKeys,
    OIDC_ISSUER: issuer.oidcIssuer,
    OIDC_PROJECT_ID: issuer.projectId,
    WEBHOOK_ALLOW_PRIVATE_TARGETS: 'true',
    METRICS_PORT: '0',
  };
  const start = async (
    name: string,
    file: string,
    portVariable: string,
    env: Record<string, string>,
    { cpuProfiles }: Profiling = options,
  ): Promise<Server> => {
    const port = await reservePort();
    const log = openSync(join(folder, `${name}.log`), 'a');
    const profile = cpuProfiles === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${cpuProfiles}`];
    const child = await startOwned(process.execPath, [...APP_FLAGS, ...profile, join(repositoryRoot, file)], {
      cwd: repositoryRoot,
      env: { ...common, [portVariable]: String(port), ...env },
      stdio: ['ignore', log, log],
      stopSignal: 'SIGTERM',
    });
    closeSync(log);
    started.push(child);
    const path = name === 'no-op' ? 'no-op' : 'health';
    const isUpOrGone = async (): Promise<boolean> =>
      !child.running || (await fetch(`http://127.0.0.1:${port}/${path}`)).ok;
    await waitFor(isUpOrGone, { deadlineMs: START_MS, what: name });
    if (!child.running) {
      throw new Error(`${name} ended: ${readFileSync(join(folder, `${name}.log`), 'utf8').slice(-500)}`);
    }
    return {
      pid: child.pid,
      port,
      rssMiB: () => residentMiB(child.pid),
      cpuMs: () => processorMs(child.pid),
      stop: () => child.stop(STOP_MS),
    };
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
    startGateway: (env = {}, profiling = options) =>
      start('gateway', 'apps/api-gateway/dist/main.js', 'PORT', { DATABASE_URL: gatewayUrl, ...env }, profiling),
    startWorker: (env = {}) =>
      start('worker', 'apps/webhook-worker/dist/main.js', 'WORKER_PORT', { DATABASE_URL: workerUrl, ...env }),
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
    startNoOp: () => start('no-op', 'tools/bench/no-op-server.ts', 'PORT', {}),
    async close() {
      for (const child of started) await child.stop(STOP_MS);
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
