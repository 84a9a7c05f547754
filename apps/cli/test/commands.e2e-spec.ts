import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { IdentityState, verifyWebhook, type WebhookEvent } from '@identity-state/client';
import { LONG_LIVED } from '../../../tools/processes';
import { repositoryRoot } from '../../../tools/root';
import { type StartedService, startService } from '../../../tools/testing/started-service';
import { describeClient } from '../../../tools/test/client/client-tests';
import { tokenOf } from '../../../tools/test/client/testing';
import { waitFor } from '../../../tools/testing/wait-for';
import type { CommandContext } from '../src/command';
import { settingsOf } from '../src/settings';
import { type Example, EXAMPLES, FILES, RECORDED } from './page/examples';
import { readLine } from './page/line';
import { pageWith } from './page/page';
import { recordingOf } from './page/recording';
import { Steady } from './page/steady';
import { signInAs } from './testing/browser';
import { fakeService } from './testing/fake-service';
import { testContext } from './testing/run-iss';
import { runCommand } from '../src/run';

const PAGE = 'docs/cli.md';
/** All lines of the story with their output. The page shows some of these lines. */
const STORY = 'apps/cli/test/page/story.txt';
/** The addresses in the page and in the story. */
const SHOWN_URL = 'http://localhost:3000';
const SHOWN_INBOX_URL = 'http://localhost:3030';

let service: StartedService;
let folder: string;
/** Pauses between its attempts, so that other tests can continue. */
let onAnotherDevice: ReturnType<typeof run>;
let pageOfDevice: Promise<string>;
const before = process.cwd();

// The command and the client share one start of the whole service.

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'iss-commands-'));
  service = await startService({ SEED: 'false', MEMBERSHIP_CONSENT: 'required' });
  mkdirSync(join(folder, 'files'));
  // Lines name files relative to the working directory.
  process.chdir(join(folder, 'files'));
  for (const [name, content] of Object.entries(FILES)) {
    writeFileSync(name, typeof content === 'string' ? content : `${JSON.stringify(content, null, 2)}\n`);
  }
  copyFileSync(service.logPolicyFile, 'policy');
  writeFileSync('token', await tokenOf(service, 'grace'));
  writeFileSync('lender-token', await tokenOf(service, 'henry'));
  onAnotherDevice = run('iss login --device --yes --profile judy', new Map(), {
    complain: (line) => {
      const [url] = /(?<=^Sign in at )https?:\S+(?=,)/.exec(line) ?? [];
      if (url !== undefined) pageOfDevice = signInAs('judy', url);
    },
  });
});
afterAll(async () => {
  process.chdir(before);
  rmSync(folder, { recursive: true, force: true });
  await service?.close();
});

/** Runs a line as a user types it beside `npm start`. */
async function run(line: string, kept: ReadonlyMap<string, string> = new Map(), changes: Partial<CommandContext> = {}) {
  const { words, inputFile, outputFile } = readLine(line, kept);
  const { context, printed, complaints } = testContext({
    ...changes,
    settings: settingsOf({ XDG_CONFIG_HOME: join(folder, 'config'), ISS_BASE_URL: service.baseUrl }, 'linux'),
    input: async () => (inputFile === null ? '' : readFileSync(inputFile, 'utf8')),
  });
  const exitCode = await runCommand(words, context);
  if (outputFile !== null) writeFileSync(outputFile, `${printed.join('\n')}\n`);
  return { exitCode, printed: outputFile === null ? printed.join('\n') : '', complaint: complaints.join('\n') };
}

/** Runs lines as one story. Returns the output of each, with values that differ between runs replaced. */
async function tell(
  lines: readonly Example[],
  changes: Partial<CommandContext> = {},
): Promise<{ example: Example; line: string; output: string }[]> {
  const steady = new Steady([
    [service.baseUrl, SHOWN_URL],
    [service.inboxUrl, SHOWN_INBOX_URL],
  ]);
  const kept = new Map([['INBOX', `${service.inboxUrl}/hooks/agency`]]);
  const lender = new IdentityState({ baseUrl: service.baseUrl, token: readFileSync('lender-token', 'utf8') });
  const told: { example: Example; line: string; output: string }[] = [];
  for (const example of lines) {
    const { line, exitCode = 0, first, keep = {}, blur = [] } = example;
    await first?.(lender);
    const outcome = await run(line, kept, changes);
    expect({ line, ...outcome }).toMatchObject({ line, exitCode });
    const output = [outcome.printed, outcome.complaint].filter((one) => one !== '').join('\n');
    for (const [name, expression] of Object.entries(keep)) kept.set(name, expression.exec(output)?.[1] ?? '');
    told.push({
      example,
      line: steady.text(line.replace(/\$([A-Z]+)/g, (_whole, name: string) => kept.get(name) ?? '')),
      output: blur.reduce((before, [what, by]) => before.replace(what, by), steady.text(output)),
    });
  }
  return told;
}

/** Compares a file with the generated text, or writes the file if `variable` is set. */
function requireSame(path: string, anew: string, variable: string): void {
  const file = join(repositoryRoot, path);
  if (process.env[variable] === 'true') writeFileSync(file, anew);
  else expect(anew).toBe(readFileSync(file, 'utf8'));
}

it('every example command prints the output in docs/cli.md and story.txt', async () => {
  const told = await tell(EXAMPLES);
  requireSame(STORY, told.map(({ line, output }) => `$ ${line}\n${output}\n`).join(''), 'UPDATE_CLI_PAGE');
  const shown = told.map(({ example: { of = '' }, line, output }) => ({ of, line, output }));
  requireSame(PAGE, await pageWith(readFileSync(join(repositoryRoot, PAGE), 'utf8'), shown), 'UPDATE_CLI_PAGE');
});

it('the commands in docs/iss.svg print the output shown there', async () => {
  const screen = { isColoured: true, isLive: false };
  const told = await tell(RECORDED, { screen });
  requireSame('docs/iss.svg', recordingOf(told), 'UPDATE_RECORDING');
});

it('login signs in by browser, a refused token is refreshed, and logout deletes the profile', async () => {
  const pages: Promise<string>[] = [];
  const browse = async (url: string): Promise<boolean> => pages.push(signInAs('ivan', url)) > 0;
  const signedIn = await run('iss login --yes --profile ivan', new Map(), { browse });
  expect(signedIn).toMatchObject({ exitCode: 0, printed: `Signed in at ${service.baseUrl} as ivan, profile ivan.` });
  expect(await pages[0]).toMatch(/^You are signed in/);
  const file = join(folder, 'config/iss/profiles.json');
  expect(statSync(file).mode & 0o777).toBe(0o600);

  const profiles = JSON.parse(readFileSync(file, 'utf8'));
  const spoiled = `${profiles.ivan.access_token.slice(0, -8)}AAAAAAAA`;
  writeFileSync(file, JSON.stringify({ ...profiles, ivan: { ...profiles.ivan, access_token: spoiled } }));
  // Two commands refresh concurrently, although the refresh token can be used only once.
  for (const again of await Promise.all([run('iss whoami --profile ivan'), run('iss whoami --profile ivan')])) {
    expect(again).toMatchObject({ exitCode: 0, printed: expect.stringMatching(/^ivan at /) });
  }
  const { ivan } = JSON.parse(readFileSync(file, 'utf8'));
  expect([ivan.access_token, ivan.refresh.token]).not.toContain(spoiled);
  expect(ivan.refresh.token).not.toBe('');

  // A request that the service refuses replaces nothing.
  writeFileSync('spoiled', spoiled);
  expect(await run('iss login --token-stdin --profile ivan < spoiled')).toMatchObject({
    exitCode: 1,
    complaint: expect.stringMatching(/\(401, request \S+\)\. Sign in again: iss login\.$/),
  });
  expect(await run('iss whoami --profile ivan')).toMatchObject({ exitCode: 0 });

  const lost = { ...ivan, access_token: spoiled, refresh: { ...ivan.refresh, token: 'gone' } };
  writeFileSync(file, JSON.stringify({ ...profiles, ivan: lost }));
  expect(await run('iss whoami --profile ivan')).toMatchObject({
    exitCode: 1,
    complaint: expect.stringMatching(/^The sign-in has expired .* iss login\.$/),
  });
  await run('iss logout --profile ivan');
  expect(await run('iss whoami --profile ivan')).toMatchObject({
    exitCode: 1,
    complaint: 'No profile ivan exists. Sign in first: iss login --profile ivan.',
  });
});

it('login gets no token for another service that names the same issuer', async () => {
  const stranger = await fakeService();
  const METADATA = '/.well-known/oauth-protected-resource';
  const metadata = JSON.parse(await (await fetch(service.baseUrl + METADATA)).text());
  stranger.answers = { [`GET ${METADATA}`]: { ...metadata, resource: stranger.url } };
  const browse = async (url: string): Promise<boolean> => {
    await signInAs('ivan', url);
    return true;
  };
  const outcome = await run(`iss login --yes --profile lured --base-url ${stranger.url}`, new Map(), { browse });
  expect(outcome).toMatchObject({
    exitCode: 1,
    complaint: expect.stringMatching(/The issuer did not sign you in: resource indicator/),
  });
  expect(stranger.asked).toHaveLength(1);
  stranger.close();
});

it('listen retries a receiver until it is up, and signs events like the service', async () => {
  const received: WebhookEvent[] = [];
  const receiver = createServer(LONG_LIVED, (request, response) => {
    const answer = async (): Promise<void> => {
      received.push(await verifyWebhook(await buffer(request), request.headers, secret));
      response.writeHead(204).end();
    };
    answer().catch(() => response.writeHead(401).end());
  });
  // Until the receiver is up, it resets every connection.
  let hasCome = false;
  receiver.on('connection', (socket) => {
    if (!hasCome) socket.destroy();
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hooks`;
  const complaints: string[] = [];
  const complain = (text: string): number => complaints.push(text);
  const ending = new AbortController();
  const listening = run(`iss listen --forward-to ${url} --events grant.created,grant.revoked --json`, new Map(), {
    complain,
    signal: ending.signal,
  });
  const followed: string[] = [];
  const following = run('iss changes --follow --json --type grant.revoked', new Map(), {
    print: (line) => followed.push(line),
    signal: ending.signal,
  });
  const secret = await waitFor(() => /whsec_\S+/.exec(complaints.join('\n'))?.[0], {
    what: 'the secret',
  });

  const { printed } = await run('iss share quarry lender --scopes latest,diff --until 2099-01-01 --json');
  const { grant_id: grantId } = JSON.parse(printed);
  await waitFor(() => complaints.find((text) => /no answer: \w/.test(text)), {
    what: 'a first attempt',
  });
  await run(`iss revoke ${grantId}`);
  hasCome = true;
  await waitFor(() => received.length >= 2 && followed.length >= 2, { what: 'both events' });
  ending.abort();
  const { exitCode, printed: shown } = await listening;
  receiver.close();

  const data = {
    grant_id: grantId,
    owner_tenant_id: 'agency',
    grantee_tenant_id: 'lender',
    subject: { subject_type: 'organization', subject_id: 'quarry' },
    scopes: ['read_diff', 'read_latest'],
    expires_at: '2099-01-01T00:00:00.000Z',
  };
  received.sort((one, other) => (one.type < other.type ? -1 : 1));
  expect(received).toMatchObject([
    { type: 'grant.created', tenant_id: 'agency', data },
    { type: 'grant.revoked', tenant_id: 'agency', data },
  ]);
  expect({ exitCode, followed: await following }).toMatchObject({ exitCode: 0, followed: { exitCode: 0 } });
  // A busy machine can end the first attempt of the other event.
  const revoked = shown.split('\n').find((line) => line.includes('grant.revoked'));
  expect(JSON.parse(revoked ?? '')).toMatchObject({ type: 'grant.revoked', status_code: 204 });
  const place = Number(/--after (\d+)$/.exec(complaints.at(-1) ?? '')?.[1]);
  expect(JSON.parse(followed.at(-1) ?? '')).toMatchObject({ log_index: place, grant_id: grantId });
});

it('trigger explains why a delivery failed', async () => {
  const { printed } = await run('iss hooks create http://127.0.0.1:1/ --events grant.created --json');
  const { webhook_subscription: hook } = JSON.parse(printed);
  expect(await run(`iss trigger ${hook.subscription_id}`)).toMatchObject({
    exitCode: 1,
    printed: '',
    complaint: expect.stringMatching(
      /^webhook\.test evt_\S+ failed \(connect: .*\)\. The service will retry\. See iss deliveries wsub_/,
    ),
  });
});

it('login --device signs in through a browser on another device', async () => {
  expect(await onAnotherDevice).toMatchObject({
    exitCode: 0,
    printed: expect.stringMatching(/ as judy, profile judy\.$/),
  });
  expect(await pageOfDevice).toContain('The device is signed in');
});

describe('the client', () => describeClient(() => service));
