import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { repositoryRoot } from '../root.ts';
import { createTestDatabase, type TestDatabase } from '../testing/test-database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase({ migrated: 'service' });
});
afterAll(async () => {
  await database?.drop();
});

it.each(['api-gateway', 'webhook-worker'])(
  'the %s refuses a login that owns the tables with one JSON log line',
  (app) => {
    const env = {
      ...{ APP_ENV: 'local', AUTH_MODE: 'disabled', PORT: '0', WORKER_PORT: '0', METRICS_PORT: '0' },
      ...{ DATABASE_URL: database.url, SECRETS_KEYS: `k1:${Buffer.alloc(32, 'key').toString('base64')}` },
    };
    const entry = join(repositoryRoot, 'apps', app, 'dist', 'main.js');
    // A process that does not refuse is ended.
    const { status, stderr } = spawnSync(process.execPath, [entry], { env, encoding: 'utf8', timeout: 60_000 });
    expect(status).toBe(1);
    const [line = '', ...others] = stderr.trim().split('\n');
    expect(others).toEqual([]);
    expect(JSON.parse(line)).toMatchObject({ name: app, msg: expect.stringMatching(/owns the tables/) });
  },
);

it('boot logs a warning of Node as one JSON line', () => {
  const platform = JSON.stringify(join(repositoryRoot, 'libs', 'platform', 'dist', 'index.js'));
  const script = `require(${platform}).boot('worker', async () => process.emitWarning('old'), 'WORKER_PORT')`;
  const { stderr } = spawnSync(process.execPath, ['-e', script], { encoding: 'utf8', timeout: 60_000 });
  expect(JSON.parse(stderr)).toMatchObject({ level: 40, name: 'worker', msg: 'Warning: old' });
});
