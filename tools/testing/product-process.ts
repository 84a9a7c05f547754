import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { appUrl } from '../app-login.ts';
import { APP_FLAGS, type OwnedProcess, reservePort, startOwned } from '../processes.ts';
import { repositoryRoot } from '../root.ts';
import { waitFor } from './wait-for.ts';

export type AppName = 'api-gateway' | 'webhook-worker';

export interface AppOptions {
  app: AppName;
  /** Unique within its folder. */
  name: string;
  /** The folder of its log and its checkpoint. */
  folder: string;
  /** Wins over {@link COMMON}, and over the ports. */
  env: Readonly<Record<string, string | undefined>>;
  /** The folder of another build of the product. */
  build?: string;
  /** Further options of Node. */
  flags?: readonly string[];
  onUnexpectedEnd?: (how: string) => void;
}

interface ProductProcessSettings {
  name: string;
  /** Stays the same after a restart. */
  url: string;
  entry: string;
  env: Readonly<Record<string, string | undefined>>;
  flags: readonly string[];
  logFile: string;
  onUnexpectedEnd: (how: string) => void;
}

/** The environment of every process of the product in tests and trials. */
const COMMON = {
  PATH: process.env['PATH'],
  NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
  APP_ENV: 'local',
  LOG_LEVEL: 'warn',
  METRICS_PORT: '0',
  WEBHOOK_ALLOW_PRIVATE_TARGETS: 'true',
};

/** A built process of the product that can be killed and started again at the same URL. */
export class ProductProcess {
  private child: OwnedProcess | undefined;
  private isEnding = false;
  private readonly settings: ProductProcessSettings;

  private constructor(settings: ProductProcessSettings) {
    this.settings = settings;
  }

  /** Prepares a process of a built app on a reserved port. It is not started yet. */
  static async prepare(options: AppOptions): Promise<ProductProcess> {
    const { app, name, folder, build = repositoryRoot, flags = [], onUnexpectedEnd = () => undefined } = options;
    const given = options.env['DATABASE_URL'];
    // Another build can be of a release with other roles.
    const isLogin = given === undefined || given === '' || build !== repositoryRoot;
    const login = isLogin ? given : await appUrl(given, app === 'api-gateway' ? 'gateway' : 'worker', 'test');
    const portVariable = app === 'api-gateway' ? 'PORT' : 'WORKER_PORT';
    const port = options.env[portVariable] ?? String(await reservePort());
    const checkpointFile = join(folder, `${name}.checkpoint`);
    return new ProductProcess({
      name,
      url: `http://127.0.0.1:${port}`,
      entry: join(build, 'apps', app, 'dist', 'main.js'),
      env: {
        ...COMMON,
        LOG_CHECKPOINT_FILE: checkpointFile,
        [portVariable]: port,
        ...options.env,
        DATABASE_URL: login,
      },
      flags,
      logFile: join(folder, `${name}.log`),
      onUnexpectedEnd,
    });
  }

  get name(): string {
    return this.settings.name;
  }

  get url(): string {
    return this.settings.url;
  }

  get logFile(): string {
    return this.settings.logFile;
  }

  /** The id of the running process. */
  get pid(): number {
    if (this.child === undefined) throw new Error(`${this.name} was never started`);
    return this.child.pid;
  }

  get isRunning(): boolean {
    return this.child?.running === true;
  }

  /** Resolves when it answers; immediately if it already runs. */
  async start(): Promise<void> {
    if (this.isRunning) return;
    const { name, url, entry, env, flags, logFile, onUnexpectedEnd } = this.settings;
    const log = openSync(logFile, 'a');
    const child = await startOwned(process.execPath, [...APP_FLAGS, ...flags, entry], {
      cwd: repositoryRoot,
      env,
      stdio: ['ignore', log, log],
      stopSignal: 'SIGTERM',
    });
    closeSync(log);
    this.child = child;
    this.isEnding = false;
    const tell = (how: string): void => {
      if (!this.isEnding) onUnexpectedEnd(how);
    };
    child.ended.then(tell, (error: unknown) => tell(String(error)));
    const answers = async (): Promise<boolean> => !child.running || (await fetch(`${url}/health`)).ok;
    await waitFor(answers, { what: name });
    if (!child.running) throw new Error(`${name} does not start: ${readFileSync(logFile, 'utf8').slice(-1_000)}`);
  }

  /** kill -9. */
  async kill(): Promise<void> {
    await this.end('SIGKILL');
  }

  /** Makes the process hang until {@link resume}. */
  pause(): void {
    this.send('SIGSTOP');
  }

  resume(): void {
    this.send('SIGCONT');
  }

  /** Sends SIGTERM. Returns how it ended and how long that took. */
  async terminate(): Promise<{ how: string; tookMs: number }> {
    const startedAt = performance.now();
    const how = await this.end('SIGTERM');
    return { how, tookMs: performance.now() - startedAt };
  }

  /** Sends SIGTERM, then SIGKILL after `deadlineMs`. Safe to call in any state. */
  async stop(deadlineMs: number): Promise<void> {
    this.isEnding = true;
    await this.child?.stop(deadlineMs);
  }

  private async end(signal: NodeJS.Signals): Promise<string> {
    this.isEnding = true;
    return this.send(signal).ended;
  }

  private send(signal: NodeJS.Signals): OwnedProcess {
    const { child } = this;
    if (child === undefined || !child.running) throw new Error(`${this.name} does not run`);
    process.kill(child.pid, signal);
    return child;
  }
}
