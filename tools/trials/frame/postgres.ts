import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Client, type QueryResultRow } from 'pg';
import { reservePort, type OwnedProcess } from '../../processes.ts';
import { waitFor } from '../../testing/wait-for.ts';
import { programOf } from './packages.ts';
import type { Trial } from './trial.ts';

/** The password of the superuser `postgres` on every server of this trial. */
export const PASSWORD = randomBytes(12).toString('hex');
const START_MS = 60_000;
const STOP_MS = 30_000;

/** Returns the account of PostgreSQL. Root may not run it, so for root it is the account of Debian's package. */
export function postgresAccount(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const id = (flag: string): number => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

/** Creates a folder that belongs to the account of PostgreSQL, or changes the owner of an existing one and its contents. */
export function folderForPostgres(folder: string): string {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const { uid, gid } = postgresAccount();
  if (uid !== undefined && gid !== undefined) execFileSync('chown', ['-R', `${uid}:${gid}`, folder]);
  return folder;
}

/** Returns the path of a program of Debian's PostgreSQL. */
export function postgresProgram(name: string): string {
  return join(dirname(programOf('postgresql')), name);
}

/** Runs a program of Debian's PostgreSQL and returns its output. @throws Error with its error output */
export function runPostgresProgram(name: string, args: readonly string[]): string {
  const env = { PATH: process.env['PATH'], LC_ALL: 'C', PGPASSWORD: PASSWORD };
  const options = { env, cwd: '/', encoding: 'utf8', maxBuffer: 2 ** 30, ...postgresAccount() } as const;
  const { status, stdout, stderr, error } = spawnSync(postgresProgram(name), [...args], options);
  if (status !== 0) throw new Error(`${name} ${args.join(' ')}: ${error?.message ?? stderr}`);
  return stdout;
}

/** Returns the superuser's URL of a database on a server of this trial. */
export function urlOf(port: number | string, database = 'iss'): string {
  return `postgres://postgres:${PASSWORD}@127.0.0.1:${port}/${database}`;
}

/** Runs one or several statements on a new connection. */
export async function query<Row extends QueryResultRow>(
  url: string,
  text: string,
  values: unknown[] = [],
): Promise<Row[]> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<Row>(text, values.length === 0 ? undefined : values)).rows;
  } finally {
    await client.end();
  }
}

export type PostgresSettings = Readonly<Record<string, string>>;

/** A server of Debian's PostgreSQL that a trial stops, kills and restarts on the same port. */
export class TrialPostgres {
  readonly folder: string;
  readonly port: number;
  private readonly trial: Trial;
  private readonly name: string;
  private readonly settings: PostgresSettings;
  private server: OwnedProcess | undefined;

  private constructor(trial: Trial, name: string, folder: string, port: number, settings: PostgresSettings) {
    this.trial = trial;
    this.name = name;
    this.folder = folder;
    this.port = port;
    this.settings = settings;
  }

  /** Creates a cluster in `folder`, by default `name` in the trial's folder. Does not start it. */
  static async create(
    trial: Trial,
    name: string,
    settings: PostgresSettings = {},
    folder = trial.path(name),
  ): Promise<TrialPostgres> {
    const passwordFile = join(folderForPostgres(trial.path('passwords')), `${name}.password`);
    writeFileSync(passwordFile, PASSWORD, { mode: 0o644 });
    folderForPostgres(folder);
    runPostgresProgram('initdb', [
      ...['-D', folder, '-U', 'postgres', '-A', 'scram-sha-256', '--pwfile', passwordFile, '-E', 'UTF8'],
      ...['--locale', 'C.UTF-8'],
    ]);
    return new TrialPostgres(trial, name, folder, await reservePort(), settings);
  }

  /** Starts a primary with the database of the service, and a synchronous standby. */
  static async synchronousPair(trial: Trial): Promise<{ primary: TrialPostgres; standby: TrialPostgres }> {
    const primary = await TrialPostgres.create(trial, 'primary');
    await primary.start();
    const standby = await primary.standby('standby');
    await standby.start();
    primary.configure({ synchronous_standby_names: 'standby' });
    await primary.query('SELECT pg_reload_conf()', [], 'postgres');
    await primary.untilSynchronous();
    await primary.query('CREATE DATABASE iss', [], 'postgres');
    return { primary, standby };
  }

  async untilSynchronous(): Promise<void> {
    const isSynchronous = async (): Promise<boolean> =>
      (await this.query(`SELECT FROM pg_stat_replication WHERE sync_state = 'sync'`, [], 'postgres')).length === 1;
    await waitFor(isSynchronous, { deadlineMs: 30_000, what: 'the synchronous standby' });
  }

  /** Uses a folder with an existing cluster, such as a base backup. */
  static async adopt(
    trial: Trial,
    name: string,
    folder: string,
    settings: PostgresSettings = {},
  ): Promise<TrialPostgres> {
    return new TrialPostgres(trial, name, folder, await reservePort(), settings);
  }

  /** Creates a streaming standby whose `application_name` is its name. Does not start it. */
  async standby(name: string, settings: PostgresSettings = {}): Promise<TrialPostgres> {
    const folder = folderForPostgres(this.trial.path(name));
    const source = `host=127.0.0.1 port=${this.port} user=postgres application_name=${name}`;
    runPostgresProgram('pg_basebackup', ['-d', source, '-D', folder, '-R', '-X', 'stream', '-c', 'fast']);
    return TrialPostgres.adopt(this.trial, name, folder, settings);
  }

  url(database = 'iss'): string {
    return urlOf(this.port, database);
  }

  query<Row extends QueryResultRow>(text: string, values: unknown[] = [], database = 'iss'): Promise<Row[]> {
    return query<Row>(this.url(database), text, values);
  }

  get running(): boolean {
    return this.server?.running === true;
  }

  /** Resolves when it accepts connections. */
  async start(): Promise<void> {
    const settings = {
      listen_addresses: '127.0.0.1',
      unix_socket_directories: '',
      max_connections: '100',
      ...this.settings,
    };
    const flags = Object.entries(settings).flatMap(([key, value]) => ['-c', `${key}=${value}`]);
    const server = await this.trial.run(
      this.name,
      postgresProgram('postgres'),
      ['-D', this.folder, '-p', String(this.port), ...flags],
      { account: postgresAccount(), stopSignal: 'SIGINT' },
    );
    this.server = server;
    const answers = (): boolean => !server.running || this.status() === 'ready';
    await waitFor(answers, { deadlineMs: START_MS, what: `PostgreSQL (${this.name}.log)` });
    if (!server.running) throw new Error(`${this.name} does not start: ${this.log().slice(-1_000)}`);
  }

  /** `SIGINT` is PostgreSQL's fast mode, `SIGQUIT` its immediate mode; `SIGKILL` is like a lost machine. */
  async stop(signal: 'SIGINT' | 'SIGQUIT' | 'SIGKILL' = 'SIGINT'): Promise<void> {
    const { server } = this;
    if (server?.running !== true) return;
    process.kill(server.pid, signal);
    const ended = server.ended.then(() => true);
    await waitFor(() => ended, { deadlineMs: STOP_MS, what: `the end of ${this.name}` });
  }

  /** Stops or continues all processes, as on a hanging machine: connections stay open, nothing is answered. */
  pause(isPaused: boolean): void {
    for (const pid of this.processes()) {
      try {
        process.kill(pid, isPaused ? 'SIGSTOP' : 'SIGCONT');
      } catch {
        // The backend has ended meanwhile.
      }
    }
  }

  promote(): void {
    runPostgresProgram('pg_ctl', ['-D', this.folder, '-w', 'promote']);
  }

  /** Appends settings to postgresql.conf. They take effect at the start or after `pg_reload_conf()`. */
  configure(settings: PostgresSettings): void {
    const lines = Object.entries(settings).map(([key, value]) => `${key} = '${value.replaceAll("'", "''")}'\n`);
    appendFileSync(join(this.folder, 'postgresql.conf'), lines.join(''));
  }

  log(): string {
    return readFileSync(this.trial.path(`${this.name}.log`), 'utf8');
  }

  private processes(): number[] {
    if (this.server === undefined) return [];
    const { pid } = this.server;
    const { stdout } = spawnSync('ps', ['-o', 'pid=', '--ppid', String(pid)], { encoding: 'utf8' });
    return [pid, ...stdout.trim().split(/\s+/).filter(Boolean).map(Number)];
  }

  /** Reads the eighth line of postmaster.pid, as `pg_ctl --wait` does. */
  private status(): string {
    const file = join(this.folder, 'postmaster.pid');
    if (!existsSync(file)) return '';
    const lines = readFileSync(file, 'utf8').split('\n');
    const isThis = lines[0] === String(this.server?.pid);
    const word = lines[7]?.trim() ?? '';
    return isThis && (word === 'ready' || word === 'standby') ? 'ready' : word;
  }
}
