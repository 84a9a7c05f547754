import { spawn, type ChildProcess } from 'node:child_process';
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { formatVerifierKey, parsePolicy, verifyCheckpoint } from '@iss/tlog';
import { clusterFolder } from '../postgres.ts';
import { freePort, isPortFree } from '../processes.ts';
import { repositoryRoot } from '../root.ts';
import { waitFor } from '../testing/wait-for.ts';

jest.setTimeout(180_000);

interface Outcome {
  code: number | null;
  stdout: string;
  stderr: string;
}
interface Run {
  child: ChildProcess;
  outcome: Promise<Outcome>;
}

let dataFolder: string;
let env: NodeJS.ProcessEnv;
let status: Record<string, string>;

beforeAll(async () => {
  dataFolder = mkdtempSync(join(tmpdir(), 'iss-start-'));
  // Root lends the embedded PostgreSQL to another user, who must be able to get there.
  chmodSync(dataFolder, 0o755);
  const [port, workerPort, idpPort, inboxPort, metricsPort, workerMetricsPort, witnessPort] = await Promise.all(
    Array.from({ length: 7 }, () => freePort()),
  );
  env = {
    PATH: process.env['PATH'],
    HOME: process.env['HOME'],
    DATA_DIR: dataFolder,
    PORT: String(port),
    WORKER_PORT: String(workerPort),
    IDP_PORT: String(idpPort),
    INBOX_PORT: String(inboxPort),
    METRICS_PORT: String(metricsPort),
    WORKER_METRICS_PORT: String(workerMetricsPort),
    WITNESS_PORT: String(witnessPort),
  };
});

let started: Run | undefined;

afterAll(async () => {
  if (started !== undefined) await interrupt(started);
  rmSync(clusterFolder(dataFolder), { recursive: true, force: true });
  rmSync(dataFolder, { recursive: true, force: true });
});

/** In a group of its own, so that it can be interrupted as a terminal does it: npm and everything under it. */
function npm(args: string[], changes: NodeJS.ProcessEnv = {}): Run {
  const child = spawn('npm', args, { cwd: repositoryRoot, env: { ...env, ...changes }, detached: true });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk) => (stdout += chunk));
  child.stderr.on('data', (chunk) => (stderr += chunk));
  const outcome = new Promise<Outcome>((resolve) => child.once('close', (code) => resolve({ code, stdout, stderr })));
  return { child, outcome };
}

async function interrupt({ child, outcome }: Run): Promise<Outcome> {
  const alive = child.exitCode === null && child.signalCode === null;
  if (alive && child.pid !== undefined) process.kill(-child.pid, 'SIGINT');
  return outcome;
}

async function start(): Promise<Run> {
  const run = npm(['start']);
  started = run;
  status = await waitFor(
    async () => {
      if (run.child.exitCode !== null || run.child.signalCode !== null) throw new Error((await run.outcome).stderr);
      const { code, stdout } = await npm(['run', '-s', 'status']).outcome;
      return code === 0 && JSON.parse(stdout);
    },
    { deadlineMs: 150_000, what: 'npm start' },
  );
  return run;
}

async function token(...args: string[]): Promise<string> {
  const { code, stdout } = await npm(['run', '-s', 'token', '--', ...args]).outcome;
  expect(code).toBe(0);
  expect(stdout).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+\n$/);
  return stdout.trim();
}

async function api(method: string, path: string, bearer?: string, body?: unknown) {
  const response = await fetch(`${status['base_url']}/v1${path}`, {
    method,
    headers: {
      'content-type': 'application/json',
      ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: await response.json() };
}

function envelope(subjectId: string) {
  const now = new Date().toISOString();
  return {
    envelope_version: 'entity_state_envelope_v1',
    snapshot_id: randomUUID(),
    snapshot_version: 1,
    generated_at: now,
    subject: { subject_type: 'organization', subject_id: subjectId },
    attributes: { legal: { legal_name: 'Northwind' } },
    evidence: [],
    audit: { created_by: 'test', created_at: now, source: 'test' },
  };
}

interface Delivery {
  hook: string;
  verified: boolean | null;
  body: { type: string; data: { snapshot_id: string } };
}

/** As the kernel does it when memory runs out. Every line of an app's log names its process. */
function kill(app: 'worker' | 'gateway'): void {
  const lines = readFileSync(join(dataFolder, 'logs', `${app}.log`), 'utf8')
    .trim()
    .split('\n');
  const { pid }: { pid: number } = JSON.parse(lines.at(-1) ?? '');
  process.kill(pid, 'SIGKILL');
}

async function getJson<T>(url: string): Promise<T> {
  return JSON.parse(await (await fetch(url)).text());
}

async function requireVerifiedDelivery(snapshotId: string): Promise<void> {
  const delivery = await waitFor(
    async () => {
      const deliveries = await getJson<Delivery[]>(`${status['inbox_url']}/deliveries`);
      return deliveries.find(({ body }) => body.data.snapshot_id === snapshotId);
    },
    { deadlineMs: 20_000, what: `the delivery of ${snapshotId}` },
  );
  expect(delivery).toMatchObject({ hook: 'acme', verified: true, body: { type: 'identity.snapshot.created' } });
}

/** What a browser does: Swagger UI's request, the sign-in page, the redirect back, and the code for a token. */
async function signIn(user: string): Promise<string> {
  const discovery = await getJson<{ authorization_endpoint: string; token_endpoint: string }>(
    `${status['issuer']}/.well-known/openid-configuration`,
  );
  const cookies = new Map<string, string>();
  const follow = async (url: string, init: RequestInit = {}): Promise<Response> => {
    const cookie = [...cookies].map((pair) => pair.join('=')).join('; ');
    const response = await fetch(new URL(url, status['issuer']), { ...init, redirect: 'manual', headers: { cookie } });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    return response;
  };
  const location = (response: Response): string => response.headers.get('location') ?? '';
  const verifier = randomBytes(32).toString('base64url');
  const redirectUri = `${status['docs_url']}/oauth2-redirect.html`;
  const query = new URLSearchParams({
    client_id: 'swagger-ui',
    response_type: 'code',
    redirect_uri: redirectUri,
    scope: 'openid',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  });
  const page = location(await follow(`${discovery.authorization_endpoint}?${query}`));
  expect(await (await follow(page)).text()).toContain('for development');
  const signedIn = await follow(page, { method: 'POST', body: new URLSearchParams({ user }) });
  const back = new URL(location(await follow(location(signedIn))));
  expect(back.href.startsWith(redirectUri)).toBe(true);
  const answer = await fetch(discovery.token_endpoint, {
    method: 'POST',
    headers: { origin: String(status['base_url']) },
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      client_id: 'swagger-ui',
      code: back.searchParams.get('code') ?? '',
      redirect_uri: redirectUri,
      code_verifier: verifier,
    }),
  });
  expect(answer.headers.get('access-control-allow-origin')).toBe(status['base_url']);
  const { access_token: accessToken }: { access_token: string } = JSON.parse(await answer.text());
  return accessToken;
}

/** Processes that carry our data folder in their command line or environment (Linux; elsewhere the ports must do). */
function leftovers(): string[] {
  if (!existsSync('/proc/self/environ')) return [];
  return readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid) || Number(pid) === process.pid) return false;
    try {
      return ['cmdline', 'environ'].some((file) => readFileSync(`/proc/${pid}/${file}`, 'utf8').includes(dataFolder));
    } catch {
      return false;
    }
  });
}

async function requireNothingLeft(): Promise<void> {
  await waitFor(() => leftovers().length === 0, { deadlineMs: 20_000, what: 'the end of every process' });
  for (const name of [
    'PORT',
    'WORKER_PORT',
    'IDP_PORT',
    'INBOX_PORT',
    'METRICS_PORT',
    'WORKER_METRICS_PORT',
    'WITNESS_PORT',
  ]) {
    expect([name, await isPortFree(Number(env[name]))]).toEqual([name, true]);
  }
  expect(await npm(['run', '-s', 'status']).outcome).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(/^Nothing is running.*\n$/),
  });
}

describe('npm start', () => {
  let snapshotId = '';

  it('brings everything up, seeded, on the ports that were asked for', async () => {
    await start();
    expect(Object.keys(status).sort()).toEqual(
      [
        ...['base_url', 'database_url', 'docs_url', 'inbox_url', 'issuer', 'log_policy_file', 'log_url', 'log_vkey'],
        ...['metrics_url', 'queue_url', 'witness_url', 'witness_vkey', 'worker_metrics_url', 'worker_url'],
      ].sort(),
    );
    for (const name of ['metrics_url', 'worker_metrics_url']) {
      expect(await (await fetch(String(status[name]))).text()).toContain('webhook_outbox_lag_seconds');
    }
    const latest = '/subjects/organization/acme-corp/snapshots/latest';
    expect(await api('GET', `/tenants/acme${latest}`, await token('alice'))).toMatchObject({
      status: 200,
      body: { snapshot_version: 3 },
    });
    expect(await api('GET', `/tenants/beta${latest}`, await token('bob'))).toMatchObject({ status: 200 });
    expect(await api('GET', `/tenants/acme${latest}`, await token('mallory'))).toMatchObject({ status: 403 });
  });

  it('opens on a world worth looking at', async () => {
    const [alice, bob, carol] = await Promise.all(['alice', 'bob', 'carol'].map((user) => token(user)));
    const count = async (bearer: string | undefined, path: string, ...members: string[]) => {
      const { status: answered, body } = await api('GET', path, bearer);
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
    expect(await count(alice, '/tenants/acme/grants', 'status')).toMatchObject({ status: 200, active: 7, revoked: 1 });
    expect(await count(alice, '/tenants/acme/refresh-requests?direction=incoming', 'status')).toEqual({
      ...{ status: 200, pending: 4, fulfilled: 2, declined: 1, cancelled: 1 },
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
    expect(await api('GET', erased, alice)).toMatchObject({ status: 410 });
    const fund = '/tenants/beta/subjects/entity/northlight-fund/snapshots/latest?view=header';
    expect(await api('GET', fund, bob)).toMatchObject({ body: { snapshot_version: 400 } });
  });

  it('publishes what its witness cosigned', async () => {
    const note = await waitFor(async () => {
      const response = await fetch(`${status['log_url']}/checkpoint`);
      return response.status === 200 ? response.text() : null;
    });
    const { witnesses, ...policy } = parsePolicy(readFileSync(String(status['log_policy_file'])));
    expect(witnesses).toMatchObject([{ url: status['witness_url'] }]);
    const { cosignatures } = await verifyCheckpoint(note, { witnesses, ...policy });
    expect(cosignatures.map(({ witness }) => formatVerifierKey(witness.key))).toEqual([status['witness_vkey']]);
  });

  it('takes a write with a token only, and delivers its event to the inbox, verified', async () => {
    const body = envelope('northwind');
    expect(await api('POST', '/tenants/acme/entity-states', undefined, body)).toMatchObject({ status: 401 });
    expect(
      await api('POST', '/tenants/acme/entity-states', await token('alice', '--expires', '-90'), body),
    ).toMatchObject({
      status: 401,
    });
    expect(await api('POST', '/tenants/acme/entity-states', await token('alice'), body)).toMatchObject({ status: 201 });
    snapshotId = body.snapshot_id;
    await requireVerifiedDelivery(snapshotId);
  });

  it('signs a browser in', async () => {
    const bearer = await signIn('carol');
    expect(await api('POST', '/tenants', bearer, { tenant_id: 'carols', name: 'Carol' })).toMatchObject({
      status: 201,
    });
    expect(await api('GET', '/tenants/carols/principals', bearer)).toMatchObject({
      status: 200,
      body: { items: [{ principal_id: 'oidc:dev#carol', api_functional_role: 'tenant_owner' }] },
    });
  });

  it('refuses a second one, a taken port and a reset in one line each', async () => {
    const otherFolder = join(dataFolder, 'other');
    const refusals: [Run, RegExp][] = [
      [npm(['start']), /^Running already .*\n$/],
      [npm(['start'], { DATA_DIR: otherFolder }), new RegExp(`^Port ${env['PORT']} is taken: set PORT .*\\n$`)],
      [npm(['run', '-s', 'reset']), /^The service is running .*\n$/],
      [npm(['start'], { DATA_DIR: otherFolder, PORT: 'high' }), /^PORT: .*\n$/],
    ];
    for (const [{ outcome }, line] of refusals) {
      const { code, stderr } = await outcome;
      expect({ code, stderr: stderr.replace(/^npm .*\n/gm, '') }).toEqual({
        code: 1,
        stderr: expect.stringMatching(line),
      });
    }
  });

  it('starts a killed app again, and delivers what was written meanwhile', async () => {
    const bearer = await token('alice');
    kill('worker');
    const body = envelope('eastwind');
    expect(await api('POST', '/tenants/acme/entity-states', bearer, body)).toMatchObject({ status: 201 });
    await requireVerifiedDelivery(body.snapshot_id);
    kill('gateway');
    await waitFor(
      async () => (await api('GET', `/tenants/acme/snapshots/${body.snapshot_id}`, bearer)).status === 200,
      {
        deadlineMs: 20_000,
        what: 'the gateway after its kill',
      },
    );
  });

  it('stops everything on Ctrl-C, and finds its data again at the next start', async () => {
    if (started === undefined) throw new Error('The first test did not start the service');
    const { code, stdout } = await interrupt(started);
    expect(code).not.toBe(1);
    expect(stdout).toContain('acme (owner alice');
    expect(stdout).not.toContain('not seeded');
    await requireNothingLeft();

    const again = await start();
    const bearer = await token('alice');
    expect(await api('GET', `/tenants/acme/snapshots/${snapshotId}`, bearer)).toMatchObject({ status: 200 });
    const body = envelope('southwind');
    expect(await api('POST', '/tenants/acme/entity-states', bearer, body)).toMatchObject({ status: 201 });
    await requireVerifiedDelivery(body.snapshot_id);
    // Not even a kill that lets nothing be tidied up may leave anything behind.
    if (again.child.pid === undefined) throw new Error('npm has no process id');
    process.kill(-again.child.pid, 'SIGKILL');
    await again.outcome;
    await requireNothingLeft();
  });

  it('recovers from that kill', async () => {
    const run = await start();
    expect(await api('GET', `/tenants/acme/snapshots/${snapshotId}`, await token('alice'))).toMatchObject({
      status: 200,
    });
    expect((await interrupt(run)).code).not.toBe(1);
    await requireNothingLeft();
  });
});
