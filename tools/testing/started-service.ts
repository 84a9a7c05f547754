import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DevelopmentSecrets, Run, RunStatus } from '../dev/data-folder.ts';
import { mintToken } from '../dev/identity-provider.ts';
import { clusterFolder } from '../postgres.ts';
import { isPortFree, reservePort } from '../processes.ts';
import { repositoryRoot } from '../root.ts';
import { createTestDatabase, type TestDatabase } from './test-database.ts';
import { waitFor } from './wait-for.ts';

/** The exit code and the output of a command. */
export interface Outcome {
  code: number | null;
  stdout: string;
  stderr: string;
}

export type Environment = Readonly<Record<string, string | undefined>>;

const START_MS = 150_000;
const END_MS = 30_000;
/** The variables of the ports of `npm start`. */
const PORTS = ['PORT', 'WORKER_PORT', 'IDP_PORT', 'INBOX_PORT', 'METRICS_PORT', 'WORKER_METRICS_PORT', 'WITNESS_PORT'];

/**
 * Starts the whole service by `npm start`, on reserved ports, in a temporary folder, with a database in the cluster of the tests
 * and the small world. `changes` are variables of its environment. With an empty DATABASE_URL it starts its own PostgreSQL.
 */
export async function startService(changes: Environment = {}): Promise<StartedService> {
  const service = await StartedService.prepare(changes);
  try {
    await service.start();
    return service;
  } catch (error) {
    await service.close();
    throw error;
  }
}

/** A service that `npm start` has started, and the commands that use it. */
export class StartedService {
  /** The value of DATA_DIR. */
  readonly dataFolder: string;
  /** The environment of every command. */
  readonly env: Environment;
  private readonly database: TestDatabase | undefined;
  private current: { child: ChildProcess; outcome: Promise<Outcome> } | undefined;
  private latest: (Run & { status: RunStatus }) | undefined;

  private constructor(dataFolder: string, env: Environment, database: TestDatabase | undefined) {
    this.dataFolder = dataFolder;
    this.env = env;
    this.database = database;
  }

  /** Prepares folder, ports and database, and starts nothing yet. */
  static async prepare(changes: Environment = {}): Promise<StartedService> {
    const database = changes['DATABASE_URL'] === '' ? undefined : await createTestDatabase();
    const dataFolder = mkdtempSync(join(tmpdir(), 'iss-started-'));
    // Root runs the embedded PostgreSQL as another user, who must be able to enter the folder.
    chmodSync(dataFolder, 0o755);
    const ports = await Promise.all(PORTS.map(async (name) => [name, String(await reservePort())] as const));
    const env = {
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
      DATA_DIR: dataFolder,
      DATABASE_URL: database?.url,
      ...Object.fromEntries(ports),
      SEED: 'small',
      ...changes,
    };
    return new StartedService(dataFolder, env, database);
  }

  /** The output of `npm run -s status`. */
  get status(): RunStatus {
    return this.running().status;
  }

  get baseUrl(): string {
    return this.status.base_url;
  }

  get inboxUrl(): string {
    return this.status.inbox_url;
  }

  /** The URL of a superuser, unless the service has started its own PostgreSQL. */
  get databaseUrl(): string {
    return this.status.database_url;
  }

  /** The file with the policy of its log. */
  get logPolicyFile(): string {
    return this.status.log_policy_file;
  }

  /** Resolves when everything answers and is seeded. Can also restart it on the same ports and data. */
  async start(): Promise<void> {
    const before = this.latest?.pid;
    const current = this.spawn('npm', ['start'], {}, true);
    this.current = current;
    const { child } = current;
    const run = await waitFor(
      async (): Promise<Run | 'ended'> => {
        if (child.exitCode !== null || child.signalCode !== null) return 'ended';
        const found: Run = JSON.parse(readFileSync(join(this.dataFolder, 'run.json'), 'utf8'));
        if (found.status === undefined || found.pid === before) throw new Error('It is still starting');
        return found;
      },
      { deadlineMs: START_MS, what: 'the start of the service' },
    );
    if (run === 'ended') throw new Error(`npm start ended: ${JSON.stringify(await current.outcome)}`);
    const { status } = run;
    if (status === undefined) throw new Error('The service has no status');
    this.latest = { ...run, status };
  }

  /** Runs a command in the repository, with the environment of the service and `changes`. */
  run(command: string, args: readonly string[], changes: Environment = {}): Promise<Outcome> {
    return this.spawn(command, args, changes, false).outcome;
  }

  /** Runs a script of package.json without npm's own output. */
  npm(script: string, args: readonly string[] = [], changes: Environment = {}): Promise<Outcome> {
    return this.run('npm', ['run', '-s', script, ...(args.length === 0 ? [] : ['--', ...args])], changes);
  }

  /** Runs a tool as its npm script does, without the half second that npm takes. */
  tool(name: string, args: readonly string[] = [], changes: Environment = {}): Promise<Outcome> {
    return this.run(process.execPath, ['tools/run.mjs', name, ...args], changes);
  }

  /** Signs an access token for a development user, as `npm run -s token -- NAME` does. */
  async token(user: string): Promise<string> {
    const { audience, status } = this.running();
    const secrets: DevelopmentSecrets = JSON.parse(readFileSync(join(this.dataFolder, 'secrets.json'), 'utf8'));
    return mintToken({ issuer: status.issuer, audience, signingKey: secrets.signing_key, user });
  }

  /** Sends a signal to npm and all its children, as a terminal does, and waits for the end. Safe to call twice. */
  async end(signal: 'SIGINT' | 'SIGKILL' = 'SIGINT'): Promise<Outcome | undefined> {
    const { current } = this;
    if (current === undefined) return undefined;
    const { child, outcome } = current;
    if (child.exitCode === null && child.signalCode === null && child.pid !== undefined)
      process.kill(-child.pid, signal);
    return outcome;
  }

  /** Waits until no process of the service is left and every port is free again. */
  async untilNothingIsLeft(): Promise<void> {
    const isOver = async (): Promise<boolean> => {
      const free = await Promise.all(PORTS.map((name) => isPortFree(Number(this.env[name]))));
      return this.leftovers().length === 0 && free.every(Boolean);
    };
    await waitFor(isOver, { deadlineMs: END_MS, what: 'the end of every process' }).catch(() => {
      throw new Error(`Left after ${END_MS} ms: ${this.leftovers().join('; ') || 'a server on a port'}`);
    });
  }

  async close(): Promise<void> {
    await this.end();
    if (this.database === undefined) rmSync(clusterFolder(this.dataFolder), { recursive: true, force: true });
    rmSync(this.dataFolder, { recursive: true, force: true });
    await this.database?.drop();
  }

  private running(): Run & { status: RunStatus } {
    if (this.latest === undefined) throw new Error('The service was never started');
    return this.latest;
  }

  /** Returns processes with the data folder in their command line or environment. Only on Linux; elsewhere only ports are checked. */
  private leftovers(): string[] {
    if (!existsSync('/proc/self/environ')) return [];
    const textOf = (pid: string, file: string): string => {
      try {
        return readFileSync(`/proc/${pid}/${file}`, 'utf8').replaceAll('\0', ' ');
      } catch {
        return '';
      }
    };
    return readdirSync('/proc')
      .filter((pid) => /^\d+$/.test(pid) && Number(pid) !== process.pid)
      .filter((pid) => ['cmdline', 'environ'].some((file) => textOf(pid, file).includes(this.dataFolder)))
      .map((pid) => `${pid} ${textOf(pid, 'cmdline')}`);
  }

  private spawn(
    command: string,
    args: readonly string[],
    changes: Environment,
    detached: boolean,
  ): { child: ChildProcess; outcome: Promise<Outcome> } {
    const env = { ...this.env, ...changes };
    const child = spawn(command, args, { cwd: repositoryRoot, env, detached, stdio: ['ignore', 'pipe', 'pipe'] });
    let [stdout, stderr] = ['', ''];
    child.stdout.on('data', (chunk) => (stdout += chunk));
    child.stderr.on('data', (chunk) => (stderr += chunk));
    const outcome = new Promise<Outcome>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code) => resolve({ code, stdout, stderr }));
    });
    return { child, outcome };
  }
}
