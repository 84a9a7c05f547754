import { readFileSync } from 'node:fs';
import { formatVerifierKey, parsePolicy, verifyCheckpoint } from '@iss/tlog';
import { type StartedService, startService } from '../../testing/started-service.ts';
import { waitFor } from '../../testing/wait-for.ts';
import { api, followTour, kill, newSnapshot, requireVerifiedDelivery, signIn } from './beside.ts';

/** The only start with its own PostgreSQL in `npm test`. `start.full-spec.ts` has the tests that restart it. */
let service: StartedService;

beforeAll(async () => {
  service = await startService({ DATABASE_URL: '' });
});

afterAll(() => service?.close());

describe('npm start', () => {
  it('starts all services with seeded data on the configured ports', async () => {
    const { stdout } = await service.npm('status');
    expect(JSON.parse(stdout)).toEqual(service.status);
    expect(Object.keys(service.status).sort()).toEqual(
      [
        ...['base_url', 'database_url', 'docs_url', 'inbox_url', 'issuer', 'log_policy_file', 'log_url', 'log_vkey'],
        ...['metrics_url', 'queue_url', 'witness_url', 'witness_vkey', 'worker_metrics_url', 'worker_url'],
      ].sort(),
    );
    const { metrics_url: metricsUrl, worker_metrics_url: workerMetricsUrl, base_url: baseUrl } = service.status;
    expect(new URL(baseUrl).port).toBe(service.env['PORT']);
    for (const url of [metricsUrl, workerMetricsUrl]) {
      expect(await (await fetch(url)).text()).toContain('webhook_outbox_lag_seconds');
    }
    const latest = '/subjects/organization/acme-corp/snapshots/latest';
    const [alice, bob, mallory] = await Promise.all(['alice', 'bob', 'mallory'].map((user) => service.token(user)));
    expect(await api(service, 'GET', `/tenants/acme${latest}`, alice)).toMatchObject({
      status: 200,
      body: { snapshot_version: 3 },
    });
    expect(await api(service, 'GET', `/tenants/beta${latest}`, bob)).toMatchObject({ status: 200 });
    expect(await api(service, 'GET', `/tenants/acme${latest}`, mallory)).toMatchObject({ status: 403 });
  });

  it('publishes a checkpoint that its witness cosigned', async () => {
    const note = await waitFor(async () => {
      const response = await fetch(`${service.status.log_url}/checkpoint`);
      return response.status === 200 ? response.text() : null;
    });
    const { witnesses, ...policy } = parsePolicy(readFileSync(service.logPolicyFile));
    expect(witnesses).toMatchObject([{ url: service.status.witness_url }]);
    const { cosignatures } = await verifyCheckpoint(note, { witnesses, ...policy });
    expect(cosignatures.map(({ witness }) => formatVerifierKey(witness.key))).toEqual([service.status.witness_vkey]);
  });

  it('signs a user in by browser', async () => {
    const bearer = await signIn(service, 'carol');
    expect(await api(service, 'POST', '/tenants', bearer, { tenant_id: 'carols', name: 'Carol' })).toMatchObject({
      status: 201,
    });
    expect(await api(service, 'GET', '/tenants/carols/principals', bearer)).toMatchObject({
      status: 200,
      body: { items: [{ principal_id: 'oidc:dev#carol', api_functional_role: 'tenant_owner' }] },
    });
  });

  it('requires a valid token for a write, restarts a killed worker and delivers the event', async () => {
    const [valid, printed] = await Promise.all([
      service.token('alice'),
      service.tool('dev/token', ['alice', '--expires', '-90']),
    ]);
    expect(printed).toMatchObject({ code: 0, stdout: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+\n$/) });
    const expired = printed.stdout.trim();
    kill(service, 'worker');
    const { snapshotId, body } = newSnapshot();
    const path = '/tenants/acme/entity-states';
    expect(await api(service, 'POST', path, undefined, body)).toMatchObject({ status: 401 });
    expect(await api(service, 'POST', path, expired, body)).toMatchObject({ status: 401 });
    expect(await api(service, 'POST', path, valid, body)).toMatchObject({ status: 201 });
    await requireVerifiedDelivery(service, snapshotId);
  });
});

it('the doctor passes all checks beside npm start', async () => {
  expect(await service.tool('db/doctor')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('All checks passed.'),
  });
});

it('the commands of docs/tour.md succeed', () => followTour(service));

it('docs/tour.mjs prints the documented output', async () => {
  const { code, stdout, stderr } = await service.run('node', ['docs/tour.mjs'], {
    BASE_URL: service.baseUrl,
    TOKEN: await service.token('carol'),
    LOG_POLICY: service.logPolicyFile,
  });
  expect([code, stderr]).toEqual([0, stderr]);
  expect(stdout).toMatch(/^version 2 is entry \d+ of \d+, seen by /);
  expect(stdout).toContain("value: 'Tour Holding Ltd'");
  expect(stdout).toMatch(/legal_name since version 2 current\n[^]*grant\.created\n$/);
});

it('npm start refuses a second start in one line, and stops all processes on Ctrl-C', async () => {
  const second = await service.tool('dev/start');
  expect(second).toMatchObject({ code: 1, stderr: expect.stringMatching(/^Running already .*\n$/) });
  const ended = await service.end();
  expect(ended?.code).not.toBe(1);
  expect(ended?.stdout).toContain('acme (owner alice');
  expect(ended?.stdout).not.toContain('not seeded');
  await service.untilNothingIsLeft();
  expect(await service.tool('dev/status')).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(/^Nothing is running.*\n$/),
  });
});
