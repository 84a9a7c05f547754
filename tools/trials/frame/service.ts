import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { applyMigrations } from '../../db/apply-migrations.ts';
import { repositoryRoot } from '../../root.ts';
import { type AppName, ProductProcess } from '../../testing/product-process.ts';
import { waitFor } from '../../testing/wait-for.ts';
import { query } from './postgres.ts';
import type { Trial } from './trial.ts';

const ISS = join(repositoryRoot, 'apps/cli/iss.mjs');
const STOP_MS = 15_000;
const LOG_MS = 60_000;
export const TENANT = 'trial';

export interface Ended {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `iss` as an operator does, and returns its exit code and output. */
export function iss(...args: string[]): Ended {
  const { status, stdout, stderr } = spawnSync(process.execPath, [ISS, ...args], {
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  });
  return { status, stdout, stderr };
}

/** Runs a tool, such as `db/migrate`, with this environment. */
export function runTool(name: string, env: Environment): Ended {
  const args = [join(repositoryRoot, 'tools/run.mjs'), name];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: repositoryRoot,
    env: { ...process.env, ...env },
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

export type Environment = Readonly<Record<string, string | undefined>>;

export interface ServiceOptions {
  readonly databaseUrl: string;
  /** Absent for a queue in PostgreSQL. */
  readonly queueUrl?: string;
  /** The URL of the owner of the tables, if it is not the login of `databaseUrl`. */
  readonly ownerUrl?: string;
  /** The URL of the workers, if they have their own login. */
  readonly workerUrl?: string;
  readonly gateways?: number;
  readonly workers?: number;
  readonly environment?: Environment;
  /** The folder of another build, which has migrated the database and whose processes are started. */
  readonly build?: string;
  /** Headers of every request; absent without authentication. */
  readonly headers?: () => Promise<Record<string, string>>;
}

/** The result of a request; status 0 is no response. */
export interface Answered {
  readonly status: number;
  readonly body: string;
}

/**
 * Gateways and workers as they are deployed, on the database of a trial, with a signed transparency log. By default without
 * authentication; `environment` can change that.
 */
export class TrialService {
  readonly origin = 'trial/log';
  /** The log's verifier key. */
  readonly vkey: string;
  /** The environment of every process that is started from now on. */
  environment: Environment;
  readonly gateways: ProductProcess[] = [];
  readonly workers: ProductProcess[] = [];
  /** Unexpected ends of processes. */
  readonly faults: string[] = [];
  private readonly trial: Trial;
  private readonly headers: () => Promise<Record<string, string>>;
  private readonly ofWorkers: Environment;
  private count = 0;
  private turn = 0;

  private constructor(trial: Trial, options: ServiceOptions) {
    this.trial = trial;
    this.ofWorkers = options.workerUrl === undefined ? {} : { DATABASE_URL: options.workerUrl };
    this.headers = options.headers ?? (() => Promise.resolve({}));
    const key = trial.path('log.key');
    const made = execFileSync(process.execPath, [ISS, 'log-key', '--origin', this.origin, '--out', key], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    this.vkey = made.toString().trim();
    this.environment = {
      AUTH_MODE: 'disabled',
      DATABASE_URL: options.databaseUrl,
      QUEUE_URL: options.queueUrl ?? '',
      SECRETS_KEYS: `trial:${randomBytes(32).toString('base64')}`,
      WEBHOOK_RETRY_SCHEDULE_MS: Array.from({ length: 32 }, (_, index) => (index < 2 ? 300 : 1_000)).join(','),
      RATE_LIMIT_PER_MINUTE: '0',
      LOG_ORIGIN: this.origin,
      LOG_SIGNING_KEY: readFileSync(key, 'utf8').trim(),
      ...options.environment,
    };
  }

  /** Migrates the database, starts everything and creates the tenant of the writers. */
  static async start(trial: Trial, options: ServiceOptions): Promise<TrialService> {
    const service = new TrialService(trial, options);
    const { build } = options;
    if (build === undefined) await applyMigrations(options.ownerUrl ?? options.databaseUrl, options.queueUrl);
    const several = (app: AppName, count: number): Promise<ProductProcess>[] =>
      Array.from({ length: count }, () => service.startOne(app, {}, build));
    await Promise.all([
      ...several('api-gateway', options.gateways ?? 1),
      ...several('webhook-worker', options.workers ?? 1),
    ]);
    const founded = await service.request('POST', '/v1/tenants', { tenant_id: TENANT, name: 'Trial' });
    if (founded.status !== 201) throw new Error(`The tenant cannot be made: ${founded.status} ${founded.body}`);
    return service;
  }

  /** Starts another process, which ends with the trial. `build` is the folder of another build. */
  async startOne(app: AppName, environment: Environment = {}, build = repositoryRoot): Promise<ProductProcess> {
    const name = `${app}-${++this.count}`;
    let hasStarted = false;
    const started = await ProductProcess.prepare({
      app,
      name,
      folder: this.trial.folder,
      build,
      env: { ...this.environment, ...(app === 'webhook-worker' ? this.ofWorkers : {}), ...environment },
      onUnexpectedEnd: (how) => hasStarted && this.faults.push(`${name} ended: ${how}`),
    });
    this.trial.atEnd(() => started.stop(STOP_MS));
    await started.start();
    hasStarted = true;
    (app === 'api-gateway' ? this.gateways : this.workers).push(started);
    return started;
  }

  /** Stops and removes all processes with SIGTERM. {@link startOne} starts others. */
  async stopAll(): Promise<void> {
    const all = [...this.gateways.splice(0), ...this.workers.splice(0)];
    await Promise.all(all.map((one) => one.stop(STOP_MS)));
  }

  logFile(name: string): string {
    return this.trial.path(`${name}.log`);
  }

  /** Returns `LOG_CHECKPOINT_FILE` of a worker. */
  checkpointFile(name: string): string {
    return this.trial.path(`${name}.checkpoint`);
  }

  /** Sends a request to the gateways in turn, or to the given address. Never throws. */
  async request(method: string, path: string, body?: object, url = this.nextGateway()): Promise<Answered> {
    try {
      const answer = await fetch(`${url}${path}`, {
        method,
        headers: { 'content-type': 'application/json', ...(await this.headers()) },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(30_000),
      });
      return { status: answer.status, body: await answer.text() };
    } catch (error) {
      const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : '';
      return { status: 0, body: `${String(error)}${cause}` };
    }
  }

  /** Returns the readiness of a process, whatever its status. */
  readiness(of: ProductProcess): Promise<Answered> {
    return this.request('GET', '/v1/ops/readiness', undefined, of.url);
  }

  /** Waits until everything in a database is in its log and signed. Returns the size of the tree. */
  async waitForLog(databaseUrl: string): Promise<number> {
    const signed = async (): Promise<number | undefined> => {
      const [row] = await query<{ size: number }>(
        databaseUrl,
        `SELECT size::int FROM log_tree
          WHERE is_one AND NOT EXISTS (SELECT FROM log_waiting)
            AND EXISTS (SELECT FROM log_checkpoints c WHERE c.size = log_tree.size)`,
      );
      return row?.size;
    };
    return waitFor(signed, { deadlineMs: LOG_MS, what: 'the log to be signed with everything in it' });
  }

  /** Judges that everything in a database gets into its log, that the workers report this, and that `iss audit` finds no fault. */
  async judgeLog(trial: Trial, databaseUrl: string, vkey = this.vkey): Promise<void> {
    const size = await this.waitForLog(databaseUrl).catch(() => undefined);
    const answers = await Promise.all(this.workers.map((worker) => this.readiness(worker)));
    const isWell = answers.every(({ body }) => body.includes('"log":{"status":"ok"'));
    trial.judge(
      size !== undefined && isWell,
      `${size === undefined ? 'facts wait for their entry in' : `${size} entries, signed, in`} the log; the worker says ${answers.map(({ body }) => body).join(' ')}`,
    );
    trial.judge(this.faults.length === 0, `processes that ended unexpectedly: ${this.faults.join('; ') || 'none'}`);
    const audit = this.audit(databaseUrl, ['--vkey', vkey]);
    trial.judge(audit.status === 0, `iss audit: ${audit.line}`);
  }

  /** Returns the log of a process. */
  logOf(one: ProductProcess): string {
    return readFileSync(this.logFile(one.name), 'utf8');
  }

  /** Runs `iss audit` on a database, by default with the log's verifier key. Returns its output also as one line. */
  audit(databaseUrl: string, options: readonly string[] = ['--vkey', this.vkey]): Ended & { line: string } {
    const ended = iss('audit', '--database-url', databaseUrl, ...options);
    return { ...ended, line: `${ended.stdout}${ended.status === 2 ? ended.stderr : ''}`.trim().replaceAll('\n', ' ') };
  }

  private nextGateway(): string {
    const gateway = this.gateways[this.turn++ % this.gateways.length];
    if (gateway === undefined) throw new Error('No gateway was started');
    return gateway.url;
  }
}
