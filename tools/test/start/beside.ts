import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { InboxDelivery } from '../../dev/inbox.ts';
import { repositoryRoot } from '../../root.ts';
import { envelope } from '../../testing/tenant.ts';
import type { Outcome, StartedService } from '../../testing/started-service.ts';
import { waitFor } from '../../testing/wait-for.ts';

/** Sends a request to the API of the service, without a token unless one is given. */
export async function api(service: StartedService, method: string, path: string, bearer?: string, body?: unknown) {
  const response = await fetch(`${service.baseUrl}/v1${path}`, {
    method,
    headers: {
      'content-type': 'application/json',
      ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: await response.json() };
}

/** Returns the first version of a new subject, and its snapshot id. */
export function newSnapshot(): { snapshotId: string; body: Record<string, unknown> } {
  const body = envelope(`subject-${randomUUID()}`);
  return { snapshotId: String(body['snapshot_id']), body };
}

export async function getJson<T>(url: string): Promise<T> {
  return JSON.parse(await (await fetch(url)).text());
}

/** Waits until the inbox has verified the event of a snapshot of acme. */
export async function requireVerifiedDelivery(service: StartedService, snapshotId: string): Promise<void> {
  const delivery = await waitFor(
    async () => {
      const deliveries = await getJson<InboxDelivery[]>(`${service.inboxUrl}/deliveries`);
      return deliveries.find(({ body }) => JSON.stringify(body).includes(snapshotId));
    },
    { what: `the delivery of ${snapshotId}` },
  );
  expect(delivery).toMatchObject({ hook: 'acme', verified: true, body: { type: 'identity.snapshot.created' } });
}

/** Kills an app as the kernel does when memory runs out. Every line of an app's log contains its process id. */
export function kill(service: StartedService, app: 'worker' | 'gateway'): void {
  const lines = readFileSync(join(service.dataFolder, 'logs', `${app}.log`), 'utf8')
    .trim()
    .split('\n');
  const { pid }: { pid: number } = JSON.parse(lines.at(-1) ?? '');
  process.kill(pid, 'SIGKILL');
}

/** Does what a browser does: Swagger UI's request, the sign-in page, the redirect back, and the code for a token. */
export async function signIn({ status }: StartedService, user: string): Promise<string> {
  const discovery = await getJson<{ authorization_endpoint: string; token_endpoint: string }>(
    `${status.issuer}/.well-known/openid-configuration`,
  );
  const cookies = new Map<string, string>();
  const follow = async (url: string, init: RequestInit = {}): Promise<Response> => {
    const cookie = [...cookies].map((pair) => pair.join('=')).join('; ');
    const response = await fetch(new URL(url, status.issuer), { ...init, redirect: 'manual', headers: { cookie } });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    return response;
  };
  const location = (response: Response): string => response.headers.get('location') ?? '';
  const verifier = randomBytes(32).toString('base64url');
  const redirectUri = `${status.docs_url}/oauth2-redirect.html`;
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
    headers: { origin: status.base_url },
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      client_id: 'swagger-ui',
      code: back.searchParams.get('code') ?? '',
      redirect_uri: redirectUri,
      code_verifier: verifier,
    }),
  });
  expect(answer.headers.get('access-control-allow-origin')).toBe(status.base_url);
  const { access_token: accessToken }: { access_token: string } = JSON.parse(await answer.text());
  return accessToken;
}

/** Returns the blocks of one language in a document, or in the part of it between two headings. */
export function blocksOf(file: string, language: string, from = '', to = ''): string[] {
  const text = readFileSync(join(repositoryRoot, file), 'utf8');
  const part = text.slice(from === '' ? 0 : text.indexOf(from), to === '' ? undefined : text.indexOf(to));
  const blocks = part.matchAll(new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``, 'g'));
  return [...blocks].map(([, block = '']) => block);
}

/** Runs blocks in one shell against the service. `npx` runs the `iss` of this repository. */
export function runBlocks(service: StartedService, blocks: readonly string[]): Promise<Outcome> {
  const npx = 'npx() { shift; ISS_BASE_URL="$BASE_URL" node apps/cli/dist/main.js "$@"; }';
  // Keeps bundles and sign-ins out of the folders of the user who runs the tests.
  const folders = { TMPDIR: service.dataFolder, XDG_CONFIG_HOME: service.dataFolder };
  return service.run('bash', ['-c', ['set -euo pipefail', npx, ...blocks].join('\n')], folders);
}

/** Runs the tour of docs/tour.md, checks its output, and returns it. `further` runs after it in the same shell. */
export async function followTour(service: StartedService, further = ''): Promise<string> {
  const blocks = blocksOf('docs/tour.md', 'sh', '# Tour', '## The same with `iss`');
  expect(blocks.length).toBeGreaterThan(5);
  const { code, stdout, stderr } = await runBlocks(service, [...blocks, further]);
  const tenant = /"tenant_id":"(tour-\d+)"/.exec(stdout)?.[1];
  expect({ code, tenant, stderr }).toEqual({ code: 0, tenant: expect.stringMatching(/^tour-/), stderr });
  expect(stdout).toContain('Tour Holding Ltd');
  expect(stdout).toMatch(/"verification":\{"mode":"chain".*"valid":true.*"valid":true/);
  expect(stdout).toMatch(/^Proved: [^]*^ +Witnessed by +local, /m);
  await waitFor(
    async () => {
      const deliveries = await getJson<InboxDelivery[]>(`${service.inboxUrl}/deliveries`);
      return deliveries.filter(({ hook, verified }) => hook === tenant && verified).length === 2;
    },
    { what: 'two verified deliveries' },
  );
  return `${stdout}${stderr}`;
}
