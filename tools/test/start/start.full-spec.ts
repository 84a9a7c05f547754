import { join } from 'node:path';
import { startService, type StartedService } from '../../testing/started-service.ts';
import { waitFor } from '../../testing/wait-for.ts';
import { api, blocksOf, followTour, kill, newSnapshot, requireVerifiedDelivery, runBlocks } from './beside.ts';

/** A start with its own PostgreSQL and the whole seed. `start.e2e-spec.ts` tests what one small start can show. */
let service: StartedService;

beforeAll(async () => {
  service = await startService({ DATABASE_URL: '', SEED: 'true' });
});

afterAll(() => service?.close());

describe('npm start', () => {
  let snapshotId = '';

  /** Writes a first version of a subject of acme. */
  const write = async (bearer: string): Promise<string> => {
    const made = newSnapshot();
    expect(await api(service, 'POST', '/tenants/acme/entity-states', bearer, made.body)).toMatchObject({ status: 201 });
    return made.snapshotId;
  };

  const requireNothingLeft = async (): Promise<void> => {
    await service.untilNothingIsLeft();
    expect(await service.npm('status')).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^Nothing is running.*\n$/),
    });
  };

  it('seeds subjects, members, updates, grants, requests and subscriptions', async () => {
    const [alice, bob, carol] = await Promise.all(['alice', 'bob', 'carol'].map((user) => service.token(user)));
    const count = async (bearer: string | undefined, path: string, ...members: string[]) => {
      const { status: answered, body } = await api(service, 'GET', path, bearer);
      const { items = [] }: { items?: Record<string, unknown>[] } = Object(body);
      const counts = new Map<string, number>();
      for (const item of items) {
        const kind = members.map((member) => item[member]).join(' ');
        counts.set(kind, (counts.get(kind) ?? 0) + 1);
      }
      return { status: answered, ...Object.fromEntries(counts) };
    };
    const subjects = '/subjects?limit=100';
    expect(await count(alice, `/tenants/acme${subjects}`, 'subject_type')).toEqual({
      ...{ status: 200, organization: 12, individual: 5, entity: 1 },
    });
    expect(await count(bob, `/tenants/beta${subjects}`, 'subject_type')).toEqual({
      ...{ status: 200, organization: 6, individual: 3, entity: 2 },
    });
    expect(await count(carol, `/tenants/gamma${subjects}`, 'subject_type')).toEqual({ status: 200, organization: 3 });
    expect(await count(alice, '/tenants/acme/principals', 'api_functional_role')).toEqual({
      ...{ status: 200, tenant_owner: 1, tenant_admin: 1, tenant_editor: 3, tenant_proposer: 2, tenant_reader: 1 },
    });
    expect(await count(alice, '/tenants/acme/entity-state-updates', 'status')).toEqual({
      ...{ status: 200, applied: 4, proposed: 3, withdrawn: 1 },
    });
    expect(await count(alice, '/tenants/acme/grants', 'status')).toMatchObject({ status: 200, active: 8, revoked: 1 });
    expect(await count(alice, '/tenants/acme/refresh-requests?direction=incoming', 'status')).toEqual({
      ...{ status: 200, pending: 3, expired: 1, fulfilled: 2, declined: 1, cancelled: 1 },
    });
    expect(await count(alice, '/tenants/acme/refresh-requests?direction=outgoing', 'status')).toEqual({
      ...{ status: 200, pending: 2 },
    });
    expect(await count(alice, '/webhook-subscriptions?tenant_id=acme', 'status')).toEqual({
      ...{ status: 200, active: 2, disabled: 1 },
    });
    expect(await count(carol, '/tenants/gamma/disclosures', 'subject_id')).toMatchObject({ 'quillon-print': 1 });
    expect(await count(carol, '/tenants/gamma/transfer-offers', 'status')).toEqual({ status: 200, pending: 1 });
    for (const [evidence, subject] of [
      ['missing', 'bruma-textil'],
      ['carried', 'kestrel-analytics'],
    ]) {
      const path = `/tenants/acme/subjects?evidence=${evidence}`;
      expect(await count(alice, path, 'subject_id')).toMatchObject({ [String(subject)]: 1 });
    }
    const erased = '/tenants/acme/subjects/individual/p-1004/snapshots/latest';
    expect(await api(service, 'GET', erased, alice)).toMatchObject({ status: 410 });
    const fund = '/tenants/beta/subjects/entity/northlight-fund/snapshots/latest?view=header';
    expect(await api(service, 'GET', fund, bob)).toMatchObject({ body: { snapshot_version: 400 } });
  });

  it('refuses a second start, a taken port, a reset and an invalid port in one line each', async () => {
    const otherFolder = join(service.dataFolder, 'other');
    const start = (changes: Record<string, string> = {}) => service.run('npm', ['start'], changes);
    const refusals: [ReturnType<StartedService['run']>, RegExp][] = [
      [start(), /^Running already .*\n$/],
      [
        start({ DATA_DIR: otherFolder }),
        new RegExp(`^Taken ports: ${service.env['PORT']} \\(PORT\\), .* PORT=\\d+ METRICS_PORT=\\d+ .* npm start\\n$`),
      ],
      [service.npm('reset'), /^The service is running .*\n$/],
      [start({ DATA_DIR: otherFolder, PORT: 'high' }), /^PORT: .*\n$/],
    ];
    for (const [outcome, line] of refusals) {
      const { code, stderr } = await outcome;
      expect({ code, stderr: stderr.replace(/^npm .*\n/gm, '') }).toEqual({
        code: 1,
        stderr: expect.stringMatching(line),
      });
    }
  });

  it('restarts a killed app and delivers the events written meanwhile', async () => {
    const bearer = await service.token('alice');
    kill(service, 'worker');
    snapshotId = await write(bearer);
    await requireVerifiedDelivery(service, snapshotId);
    kill(service, 'gateway');
    const path = `/tenants/acme/snapshots/${snapshotId}`;
    await waitFor(async () => (await api(service, 'GET', path, bearer)).status === 200, {
      what: 'the gateway after its kill',
    });
  });

  it('stops all processes on Ctrl-C and SIGKILL, and keeps its data for the next start', async () => {
    const ended = await service.end();
    expect(ended?.code).not.toBe(1);
    expect(ended?.stdout).toContain('acme (owner alice');
    expect(ended?.stdout).not.toContain('not seeded');
    await requireNothingLeft();

    await service.start();
    const bearer = await service.token('alice');
    expect(await api(service, 'GET', `/tenants/acme/snapshots/${snapshotId}`, bearer)).toMatchObject({ status: 200 });
    await requireVerifiedDelivery(service, await write(bearer));
    // SIGKILL allows no cleanup, and still must leave nothing behind.
    await service.end('SIGKILL');
    await requireNothingLeft();
  });

  it('keeps its data after SIGKILL', async () => {
    await service.start();
    expect(
      await api(service, 'GET', `/tenants/acme/snapshots/${snapshotId}`, await service.token('alice')),
    ).toMatchObject({ status: 200 });
  });
});

it('the doctor reports missing secrets and an unreachable PostgreSQL without the password', async () => {
  const { code, stdout, stderr } = await service.npm('doctor', [], {
    DATABASE_URL: 'postgres://iss:wrong@127.0.0.1:1/iss',
    SECRETS_KEYS: '',
  });
  const output = stdout + stderr;
  expect(code).toBe(1);
  expect(output).toMatch(/failed +SECRETS_KEYS is not set/);
  expect(output).toMatch(/failed +PostgreSQL at 127\.0\.0\.1:1\/iss: nothing listens there/);
  expect(output).not.toContain('wrong');
});

it('the tour and its iss commands work on a second run', async () => {
  await followTour(service);
  const [iss = '', ...others] = blocksOf('docs/tour.md', 'sh', '## The same with `iss`', '## The same with the client');
  expect(others).toEqual([]);
  const printed = await followTour(service, iss);
  expect(printed).toMatch(/^- "Tour Ltd"\n\+ "Tour Holding Ltd"$/m);
  expect(printed).toMatch(/^Verified: .* is entry \d+ of a log of \d+, the newest version in it, cosigned by /m);
});

it('the commands of docs/guide.md print the documented output', async () => {
  const { code, stdout, stderr } = await runBlocks(service, blocksOf('docs/guide.md', 'sh'));
  expect([code, stdout + stderr]).toEqual([0, expect.stringContaining('after the revocation: 403')]);
  expect(stdout).toMatch(/version 1 holds: [0-9a-f]{64}\nversion 2 holds: [0-9a-f]{64}/);
  expect(stdout).toContain('"status":"fulfilled"');
  // Two people erased version 1, and the proof of the chain is still valid.
  expect(stdout).toMatch(/"code":"erased"[^\n]*\n[^\n]*"valid":true[^\n]*"erased":\[1\]/);
});
