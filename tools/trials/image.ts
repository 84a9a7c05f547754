import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { reservePort } from '../processes.ts';
import { repositoryRoot } from '../root.ts';
import { waitFor } from '../testing/wait-for.ts';
import { programOf } from './frame/packages.ts';
import { PASSWORD, postgresProgram, TrialPostgres } from './frame/postgres.ts';
import { type Trial, runTrial } from './frame/trial.ts';

const NAME = 'localhost/trial-image:1';
const READY_MS = 60_000;

/** Returns the line in the output of `npm run image` that begins with a word. */
function lineOf(printed: string, word: string): string {
  const line = printed.split('\n').find((line) => line.startsWith(`${word} `));
  if (line === undefined) throw new Error(`No line begins with ${word}: ${printed}`);
  return line.slice(word.length).trim();
}

function lastLineOf(text: string): string {
  return text.trim().split('\n').at(-1) ?? '';
}

/** The run configuration of an image. */
interface ImageConfig {
  Entrypoint: string[];
  Env: string[];
  WorkingDir: string;
}

/** Buildah with a separate store, which is deleted with the trial. */
class Images {
  private readonly env: NodeJS.ProcessEnv;

  constructor(trial: Trial) {
    const settings = trial.path('storage.conf');
    const [graphroot, runroot] = [trial.path('storage'), trial.path('storage-run')];
    // `vfs` also works in a container. It stores whole images, not layers.
    writeFileSync(settings, `[storage]\ndriver = "vfs"\ngraphroot = "${graphroot}"\nrunroot = "${runroot}"\n`);
    this.env = {
      ...process.env,
      CONTAINERS_STORAGE_CONF: settings,
      BUILDAH_ISOLATION: 'chroot',
      STORAGE_DRIVER: 'vfs',
    };
  }

  /** Returns the output of one of our tools. */
  tool(name: string, ...words: string[]): string {
    return execFileSync(process.execPath, [join(repositoryRoot, 'tools/run.mjs'), name, ...words], {
      cwd: repositoryRoot,
      encoding: 'utf8',
      env: this.env,
    });
  }

  /** Starts a container of the image with these secrets. Bubblewrap runs its programs. */
  start(secrets: string): Container {
    const inspected: { OCIv1: { config: ImageConfig } } = JSON.parse(this.buildah('inspect', '--type', 'image', NAME));
    const { config } = inspected.OCIv1;
    const root = this.buildah('mount', this.buildah('from', NAME));
    return new Container(root, secrets, config);
  }

  private buildah(...words: string[]): string {
    return execFileSync(programOf('buildah'), words, { encoding: 'utf8', env: this.env }).trim();
  }
}

class Container {
  private readonly root: string;
  private readonly secrets: string;
  private readonly config: ImageConfig;

  constructor(root: string, secrets: string, config: ImageConfig) {
    this.root = root;
    this.secrets = secrets;
    this.config = config;
  }

  /** Returns the arguments with which bubblewrap runs the image's command. */
  args(words: readonly string[], environment: Readonly<Record<string, string>>): string[] {
    const own = this.config.Env.map((line): [string, string] => {
      const [name = '', ...value] = line.split('=');
      return [name, value.join('=')];
    });
    const all = { ...Object.fromEntries(own), APP_ENV: 'development', LOG_LEVEL: 'warn', ...environment };
    return [
      ...['--die-with-parent', '--unshare-user', '--uid', '1000', '--gid', '1000', '--chdir', this.config.WorkingDir],
      ...['--ro-bind', this.root, '/', '--proc', '/proc', '--dev', '/dev', '--tmpfs', '/run'],
      ...['--ro-bind', this.secrets, '/run/secrets', '--remount-ro', '/run', '--clearenv'],
      ...Object.entries(all).flatMap(([name, value]) => ['--setenv', name, value]),
      ...this.config.Entrypoint,
      ...words,
    ];
  }

  /** Runs a command to its end. */
  ends(
    words: readonly string[],
    environment: Readonly<Record<string, string>>,
  ): { status: number | null; output: string } {
    const args = this.args(words, environment);
    const { status, stdout, stderr } = spawnSync(programOf('bubblewrap'), args, { encoding: 'utf8' });
    return { status, output: `${stdout}${stderr}` };
  }
}

/** Starts PostgreSQL with a database and the roles that docker/postgres-roles.sh creates. */
async function startPostgres(trial: Trial, secrets: string): Promise<TrialPostgres> {
  const server = await TrialPostgres.create(trial, 'postgres');
  await server.start();
  await server.query('CREATE DATABASE iss', [], 'postgres');
  execFileSync(join(repositoryRoot, 'docker/postgres-roles.sh'), {
    env: {
      PATH: `${join(postgresProgram('psql'), '..')}:${process.env['PATH']}`,
      ...{ PGHOST: '127.0.0.1', PGPORT: String(server.port), PGPASSWORD: PASSWORD },
      ...{ POSTGRES_USER: 'postgres', POSTGRES_DB: 'iss', SECRETS_FOLDER: secrets },
    },
  });
  return server;
}

async function startRedis(trial: Trial, secrets: string): Promise<number> {
  const port = await reservePort();
  const settings = ['--bind', '127.0.0.1', '--save', '', '--maxmemory-policy', 'noeviction'];
  const file = join(secrets, 'redis_password_conf');
  await trial.run('redis', programOf('redis-server'), [file, '--port', String(port), ...settings]);
  return port;
}

/** Copies the secrets for the container, with the addresses of this trial's servers. */
function copyForContainer(secrets: string, folder: string, addresses: Readonly<Record<string, string>>): string {
  mkdirSync(folder);
  for (const name of ['database_owner_url', 'database_url', 'queue_url', 'secrets_keys']) {
    const text = readFileSync(join(secrets, name), 'utf8');
    const moved = Object.entries(addresses).reduce((all, [from, to]) => all.replace(from, to), text);
    writeFileSync(join(folder, name), moved, { mode: 0o444 });
  }
  return folder;
}

/**
 * `npm run trial -- image`: builds a base from Debian packages, and on it the image twice. Then runs the image as Compose would:
 * with a read-only file system, as user 1000, with secrets in files, roles without superuser rights and a Redis with a password.
 */
await runTrial('image', async (trial) => {
  const images = new Images(trial);
  const base = 'localhost/trial-base';
  images.tool('image/base', '--name', base, '--engine', 'buildah');
  const build = (): string => images.tool('image/image', '--name', NAME, '--base', base, '--engine', 'buildah');
  const [first, second] = [build(), build()];
  trial.judge(lineOf(first, 'digest') === lineOf(second, 'digest'), `built twice: ${lineOf(second, 'digest')}`);
  trial.say(`${lineOf(second, 'image')}, of which ${lineOf(second, 'tree')}`);

  const secrets = trial.path('secrets');
  execFileSync(join(repositoryRoot, 'docker/secrets.sh'), [secrets]);
  const server = await startPostgres(trial, secrets);
  const redisPort = await startRedis(trial, secrets);
  const addresses = { '@postgres:5432': `@127.0.0.1:${server.port}`, '@redis:6379': `@127.0.0.1:${redisPort}` };
  const mounted = copyForContainer(secrets, trial.path('mounted'), addresses);
  const container = images.start(mounted);

  const owner = { DATABASE_URL_FILE: '/run/secrets/database_owner_url', QUEUE_URL_FILE: '/run/secrets/queue_url' };
  const migrated = container.ends(['migrate'], owner);
  trial.judge(migrated.status === 0, `migrate, as iss_owner: ${lastLineOf(migrated.output)}`);

  const service = {
    ...owner,
    SECRETS_KEYS_FILE: '/run/secrets/secrets_keys',
  };
  for (const [command, portVariable] of [
    ['gateway', 'PORT'],
    ['worker', 'WORKER_PORT'],
  ] as const) {
    const port = await reservePort();
    const environment = {
      ...service,
      DATABASE_URL_FILE: `/run/secrets/${command}_database_url`,
      AUTH_MODE: 'disabled',
      [portVariable]: String(port),
      METRICS_PORT: '0',
    };
    const app = await trial.run(command, programOf('bubblewrap'), container.args([command], environment));
    const isReady = async (): Promise<boolean> => {
      if (!app.running) throw new Error(readFileSync(trial.path(`${command}.log`), 'utf8'));
      return (await fetch(`http://127.0.0.1:${port}/v1/ops/readiness`)).ok;
    };
    const became = await waitFor(isReady, { deadlineMs: READY_MS, what: `the ${command}` }).catch(String);
    trial.judge(became === true, `${command}, read-only and as user 1000: ${became === true ? 'ready' : became}`);
    if (command === 'worker') continue;
    const answer = await fetch(`http://127.0.0.1:${port}/v1/meta`);
    trial.judge(answer.ok, `/v1/meta: ${await answer.text()}`);
  }

  const audit = container.ends(['iss', 'audit'], owner);
  trial.judge(audit.status === 0, `iss audit: ${audit.output.trim().replaceAll('\n', ' ')}`);
});
