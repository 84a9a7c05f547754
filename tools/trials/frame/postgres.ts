import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Client, type QueryResultRow } from 'pg';
import { reservePort, type OwnedProcess } from '../../processes.ts';
import { waitFor } from '../../testing/wait-for.ts';
import { programOf } from './packages.ts';
import type { Trial } from './trial.ts';

/** Of the superuser `postgres` of every server of this trial. */
export const PASSWORD = randomBytes(12).toString('hex');
const START_MS = 60_000;
const STOP_MS = 30_000;

/** Root may not run PostgreSQL: then it is the account that Debian's package made. */
export function postgresAccount(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const id = (flag: string): number => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

/** Makes a folder that belongs to the account of PostgreSQL; one that is there is given to it, with what is in it. */
export function folderForPostgres(folder: string): string {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const { uid, gid } = postgresAccount();
  if (uid !== undefined && gid !== undefined) execFileSync('chown', ['-R', `${uid}:${gid}`, folder]);
  return folder;
}

/** The path of a program of Debian's PostgreSQL. */
export function postgresProgram(name: string): string {
  return join(dirname(programOf('postgresql')), name);
}

/** Runs a program of Debian's PostgreSQL to its end and gives what it printed. @throws Error with what it complained of */
export function runPostgresProgram(name: string, args: readonly string[]): string {
  const env = { PATH: process.env['PATH'], LC_ALL: 'C', PGPASSWORD: PASSWORD };
  const options = { env, cwd: '/', encoding: 'utf8', maxBuffer: 2 ** 30, ...postgresAccount() } as const;
  const { status, stdout, stderr, error } = spawnSync(postgresProgram(name), [...args], options);
  if (status !== 0) throw new Error(`${name} ${args.join(' ')}: ${error?.message ?? stderr}`);
  return stdout;
}

/** The URL of a database of a server of this trial, as its superuser. */
export function urlOf(port: number | string, database = 'iss'): string {
  return `postgres://postgres:${PASSWORD}@127.0.0.1:${port}/${database}`;
}

/** One statement or several on a connection of its own. */
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

/** A server of Debian's PostgreSQL that a trial stops, kills and starts; always on the same port. */
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

  /** A new cluster in `<folder>` (`<name>` in the trial's unless said otherwise), not started yet. */
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

  /** A primary that answers a commit when its standby has it as well, with the database of the service. */
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

  /** Of a folder that holds a cluster already, such as a base backup. */
  static async adopt(
    trial: Trial,
    name: string,
    folder: string,
    settings: PostgresSettings = {},
  ): Promise<TrialPostgres> {
    return new TrialPostgres(trial, name, folder, await reservePort(), settings);
  }

  /** A copy that streams from this one; not started yet. Its `application_name` is its name. */
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

  /** Resolves when it takes connections. */
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

  /** `SIGINT` as PostgreSQL's fast mode, `SIGQUIT` as its immediate one, `SIGKILL` as when the machine is gone. */
  async stop(signal: 'SIGINT' | 'SIGQUIT' | 'SIGKILL' = 'SIGINT'): Promise<void> {
    const { server } = this;
    if (server?.running !== true) return;
    process.kill(server.pid, signal);
    const ended = server.ended.then(() => true);
    await waitFor(() => ended, { deadlineMs: STOP_MS, what: `the end of ${this.name}` });
  }

  /** As a machine that hangs: connections stay, nothing is answered. */
  pause(isPaused: boolean): void {
    for (const pid of this.processes()) {
      try {
        process.kill(pid, isPaused ? 'SIGSTOP' : 'SIGCONT');
      } catch {
        // A backend that ended meanwhile.
      }
    }
  }

  promote(): void {
    runPostgresProgram('pg_ctl', ['-D', this.folder, '-w', 'promote']);
  }

  /** Lines for postgresql.conf; they act when it starts, or by `pg_reload_conf()`. */
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

  /** The eighth line of postmaster.pid, which `pg_ctl --wait` reads too. */
  private status(): string {
    const file = join(this.folder, 'postmaster.pid');
    if (!existsSync(file)) return '';
    const lines = readFileSync(file, 'utf8').split('\n');
    const isThis = lines[0] === String(this.server?.pid);
    const word = lines[7]?.trim() ?? '';
    return isThis && (word === 'ready' || word === 'standby') ? 'ready' : word;
  }
}
