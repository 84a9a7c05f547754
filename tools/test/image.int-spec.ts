import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { repositoryRoot } from '../root.ts';
import { createTestDatabase } from '../testing/test-database.ts';

jest.setTimeout(60_000);

/** The apps as docker/Dockerfile leaves them: the build, without sources. */
let image: string;

beforeAll(() => {
  image = mkdtempSync(join(tmpdir(), 'iss-image-'));
  for (const part of ['apps', 'libs', 'docker']) {
    cpSync(join(repositoryRoot, part), join(image, part), { recursive: true });
  }
  const removals = [
    ...readFileSync(join(repositoryRoot, 'docker/Dockerfile'), 'utf8').matchAll(/^ && (find .*?)(?: \\)?$/gm),
  ];
  expect(removals).toHaveLength(2);
  for (const [, command = ''] of removals) execFileSync('sh', ['-c', command], { cwd: image });
  linkPackages();
});

afterAll(() => rmSync(image, { recursive: true, force: true }));

/** The packages of the repository, but for its own: these are the image's. */
function linkPackages(): void {
  const packages = join(repositoryRoot, 'node_modules');
  mkdirSync(join(image, 'node_modules/@iss'), { recursive: true });
  for (const name of readdirSync(packages).filter((name) => name !== '@iss' && !name.startsWith('.'))) {
    symlinkSync(join(packages, name), join(image, 'node_modules', name));
  }
  for (const name of readdirSync(join(image, 'libs'))) {
    symlinkSync(join(image, 'libs', name), join(image, 'node_modules/@iss', name));
  }
}

function node(commandArguments: string[], env: Record<string, string> = {}): string {
  return execFileSync(process.execPath, commandArguments, {
    cwd: image,
    encoding: 'utf8',
    env: { ...process.env, ...env },
  });
}

it('migrates a database, though it holds no sources', async () => {
  const database = await createTestDatabase();
  try {
    const env = { DATABASE_URL: database.url, QUEUE_URL: '' };
    expect(node(['docker/migrate.cjs'], env)).toMatch(/^applied InitialSchema1700000000001\n.*\d applied\.\n$/s);
    expect(node(['docker/migrate.cjs'], env)).toBe('The database is up to date.\n');
  } finally {
    await database.drop();
  }
});

it('has the command of operators', async () => {
  const database = await createTestDatabase({ migrated: 'service' });
  try {
    const env = { DATABASE_URL: database.url };
    const limit = ['--principal', 'oidc:p#alice', '--limit', 'requests_per_minute'];
    node(['apps/cli/iss.mjs', 'admin', 'limits', 'set', ...limit, '--value', '9000'], env);
    expect(node(['apps/cli/iss.mjs', 'admin', 'limits', 'list'], env)).toMatch(
      /oidc:p#alice +requests_per_minute +9000/,
    );
  } finally {
    await database.drop();
  }
});

it.each(['apps/api-gateway', 'apps/webhook-worker'])('%s starts without loading what migrations need', (app) => {
  const script = `require('./${app}/dist/app.js'); console.log(Object.keys(require.cache).join('\\n'))`;
  const loaded = node(['-e', script]);
  expect(loaded).toContain('/node_modules/pg/');
  expect(loaded).not.toContain('/node_modules/typeorm/');
});
