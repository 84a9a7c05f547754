import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer, text } from 'node:stream/consumers';
import { IdentityState, verifyWebhook, type WebhookEvent } from '@identity-state/client';
import { makePackage } from '../../../tools/cli/package';
import { freePort } from '../../../tools/processes';
import { repositoryRoot } from '../../../tools/root';
import { type StartedService, startService } from '../../../tools/testing/started-service';
import { waitFor } from '../../../tools/testing/wait-for';
import type { CommandContext } from '../src/command';
import { COMMANDS } from '../src/commands';
import { settingsOf } from '../src/settings';
import { type Example, EXAMPLES, FILES, RECORDED } from './page/examples';
import { readLine } from './page/line';
import { firstVersion } from './page/reader-examples';
import { pageWith } from './page/page';
import { recordingOf } from './page/recording';
import { Steady } from './page/steady';
import { signInAs } from './testing/browser';
import { testContext } from './testing/run-iss';
import { runCommand } from '../src/run';

jest.setTimeout(180_000);

const PAGE = 'docs/cli.md';
/** What the page shows in place of this run's. */
const SHOWN_URL = 'http://localhost:3000';
const SHOWN_INBOX_URL = 'http://localhost:3030';

let service: StartedService;
let folder: string;
const before = process.cwd();

beforeAll(async () => {
  service = await startService({ SEED: 'false' });
  folder = mkdtempSync(join(tmpdir(), 'iss-commands-'));
  mkdirSync(join(folder, 'files'));
  // Lines name files as somebody does who stands beside them.
  process.chdir(join(folder, 'files'));
  for (const [name, content] of Object.entries(FILES)) {
    writeFileSync(name, typeof content === 'string' ? content : `${JSON.stringify(content, null, 2)}\n`);
  }
  copyFileSync(service.logPolicyFile, 'policy');
  writeFileSync('token', await service.token('grace'));
  writeFileSync('lender-token', await service.token('henry'));
});
/** It waits between its questions: other tests go on meanwhile. */
let onAnotherDevice: ReturnType<typeof run>;
let pageOfDevice: Promise<string>;
beforeAll(() => {
  onAnotherDevice = run('iss login --device --profile judy', new Map(), {
    complain: (line) => {
      const [url] = /https?:\S+(?=,)/.exec(line) ?? [];
      if (url !== undefined) pageOfDevice = signInAs('judy', url);
    },
  });
});
afterAll(async () => {
  process.chdir(before);
  rmSync(folder, { recursive: true, force: true });
  await service?.close();
});

/** Runs a line as somebody types it beside `npm start`. */
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

/** Runs lines as one story; gives what each printed, made the same for every run. */
async function tell<Line extends Omit<Example, 'of'>>(
  lines: readonly Line[],
  changes: Partial<CommandContext> = {},
): Promise<{ example: Line; line: string; output: string }[]> {
  const steady = new Steady([
    [service.baseUrl, SHOWN_URL],
    [service.inboxUrl, SHOWN_INBOX_URL],
  ]);
  const kept = new Map([['INBOX', `${service.inboxUrl}/hooks/agency`]]);
  const lender = new IdentityState({ baseUrl: service.baseUrl, token: readFileSync('lender-token', 'utf8') });
  const told: { example: Line; line: string; output: string }[] = [];
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

/** Holds a file to what was made anew, or writes it where `variable` says so. */
function requireSame(path: string, anew: string, variable: string): void {
  const file = join(repositoryRoot, path);
  if (process.env[variable] === 'true') writeFileSync(file, anew);
  else expect(anew).toBe(readFileSync(file, 'utf8'));
}

it('every line of docs/cli.md does what the page says', async () => {
  const told = await tell(EXAMPLES);
  const shown = told.map(({ example: { of }, line, output }) => ({ of, line, output }));
  requireSame(PAGE, await pageWith(readFileSync(join(repositoryRoot, PAGE), 'utf8'), shown), 'UPDATE_CLI_PAGE');
});

it('what docs/iss.svg shows is what happens', async () => {
  const screen = { isColoured: true, isLive: false };
  const told = await tell(RECORDED, { screen });
  requireSame('docs/iss.svg', recordingOf(told), 'UPDATE_RECORDING');
});

it('signs in in the browser, makes the token anew when it is refused, and forgets it', async () => {
  const pages: Promise<string>[] = [];
  const browse = async (url: string): Promise<boolean> => pages.push(signInAs('ivan', url)) > 0;
  const signedIn = await run('iss login --profile ivan', new Map(), { browse });
  expect(signedIn).toMatchObject({ exitCode: 0, printed: `Signed in at ${service.baseUrl} as ivan, profile ivan.` });
  expect(await pages[0]).toMatch(/^You are signed in/);
  const file = join(folder, 'config/iss/profiles.json');
  expect(statSync(file).mode & 0o777).toBe(0o600);

  const profiles = JSON.parse(readFileSync(file, 'utf8'));
  const spoiled = `${profiles.ivan.access_token.slice(0, -8)}AAAAAAAA`;
  writeFileSync(file, JSON.stringify({ ...profiles, ivan: { ...profiles.ivan, access_token: spoiled } }));
  // Two at once: the refresh token is good once.
  for (const again of await Promise.all([run('iss whoami --profile ivan'), run('iss whoami --profile ivan')])) {
    expect(again).toMatchObject({ exitCode: 0, printed: expect.stringMatching(/^ivan at /) });
  }
  const { ivan } = JSON.parse(readFileSync(file, 'utf8'));
  expect([ivan.access_token, ivan.refresh.token]).not.toContain(spoiled);
  expect(ivan.refresh.token).not.toBe('');

  // What the service refuses takes the place of nothing.
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
    complaint: expect.stringMatching(/^The sign-in is over .* iss login\.$/),
  });
  await run('iss logout --profile ivan');
  expect(await run('iss whoami --profile ivan')).toMatchObject({
    exitCode: 1,
    complaint: 'Nobody is signed in as the profile ivan: iss login --profile ivan.',
  });
});

it('brings events to a receiver, also one that comes later, signed as the service signs them', async () => {
  const received: WebhookEvent[] = [];
  const receiver = createServer((request, response) => {
    const answer = async (): Promise<void> => {
      received.push(await verifyWebhook(await buffer(request), request.headers, secret));
      response.writeHead(204).end();
    };
    answer().catch(() => response.writeHead(401).end());
  });
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/hooks`;
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
  const secret = await waitFor(() => /whsec_\S+/.exec(complaints.join('\n'))?.[0], { what: 'the secret' });

  const { printed } = await run('iss share quarry lender --scopes latest,diff --until 2099-01-01 --json');
  const { grant_id: grantId } = JSON.parse(printed);
  await waitFor(() => complaints.find((text) => /no answer: ECONNREFUSED/.test(text)), { what: 'a first attempt' });
  await run(`iss revoke ${grantId}`);
  await new Promise<void>((resolve) => receiver.listen(port, '127.0.0.1', resolve));
  await waitFor(() => received.length >= 2 && followed.length >= 2, { deadlineMs: 20_000, what: 'both events' });
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
  expect(received).toMatchObject([
    { type: 'grant.created', tenant_id: 'agency', data },
    { type: 'grant.revoked', tenant_id: 'agency', data },
  ]);
  expect({ exitCode, followed: await following }).toMatchObject({ exitCode: 0, followed: { exitCode: 0 } });
  expect(JSON.parse(shown.split('\n').at(-1) ?? '')).toMatchObject({
    type: 'grant.revoked',
    status_code: 204,
    attempts: 1,
  });
  const place = Number(/--after (\d+)$/.exec(complaints.at(-1) ?? '')?.[1]);
  expect(JSON.parse(followed.at(-1) ?? '')).toMatchObject({ log_index: place, grant_id: grantId });
});

/** An import as a process of its own, killed once it has come so far that a state is kept. */
async function importKilled(file: string): Promise<void> {
  const main = join(repositoryRoot, 'apps/cli/dist/main.js');
  const env = { XDG_CONFIG_HOME: join(folder, 'config') };
  const child = spawn(process.execPath, [main, 'import', file], { env, stdio: 'ignore' });
  const ended = once(child, 'close');
  await waitFor(() => existsSync(`${file}.iss-import`), { what: 'the state of the import' });
  child.kill('SIGKILL');
  expect(await ended).toEqual([null, 'SIGKILL']);
}

it('an import goes on where kill -9 ended it, and ends with the same counts and report', async () => {
  const lines = Array.from({ length: 2_400 }, (_, index) => firstVersion(`pit-${index}`, index % 800 === 799 ? 2 : 1));
  lines.splice(1_500, 0, '{"no JSON', '');
  writeFileSync('pits.ndjson', lines.join('\n'));
  await importKilled('pits.ndjson');

  // It is the same file, or it does not go on.
  writeFileSync('pits.ndjson', ['', ...lines].join('\n'));
  expect(await run('iss import pits.ndjson')).toMatchObject({
    exitCode: 2,
    complaint: expect.stringMatching(/--restart/),
  });
  writeFileSync('pits.ndjson', lines.join('\n'));
  expect(await run('iss import pits.ndjson --tenant other')).toMatchObject({
    exitCode: 2,
    complaint: expect.stringMatching(/is of an import into agency/),
  });

  const resumed = await run('iss import pits.ndjson --json', new Map(), {
    screen: { isColoured: false, isLive: true },
  });
  expect(resumed).toMatchObject({ exitCode: 1 });
  expect(resumed.complaint).toMatch(/^Going on behind line [1-9]\d*\.\n/);
  expect(resumed.complaint).toMatch(/\[#{24}\] 100 % {2}line 2402, 4 refused\n/);
  const { lines: read, stored, known, refused, report } = JSON.parse(resumed.printed);
  expect({ read, done: stored + known, refused }).toEqual({ read: 2_402, done: 2_397, refused: 4 });
  const told = readFileSync(report, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(told.map(({ line, status, error }) => [line, status, error.code])).toEqual([
    [800, 403, 'forbidden'],
    [1_501, null, 'validation_error'],
    [1_602, 403, 'forbidden'],
    [2_402, 403, 'forbidden'],
  ]);
  expect(existsSync('pits.ndjson.iss-import')).toBe(false);
});

it.each([
  ['share harbour lender', /^--scopes is missing/],
  ['share harbour lender --scopes all --until tomorrow', /^--until takes a moment/],
  ['who harbour --at 2026-13-45', /^--at takes a moment/],
  ['grants harbour --held', /^--held lists/],
  ['requests --status open', /^--status takes one of pending/],
  ['changes --type snapshot', /^--type takes one of snapshot.created/],
  ['export harbour --proofs --policy policy', /iss verify does/],
  ['import missing.ndjson', /^missing.ndjson cannot be read \(ENOENT\)/],
  ['listen', /^--forward-to is missing/],
  ['listen --forward-to localhost:8080', /^--forward-to takes a URL/],
  ['listen --forward-to http://localhost --events update.applied', /update.applied is not forwarded/],
  ['hooks create http://localhost --events update', /there is no event update/],
  ['hooks change wsub_1', /^What is to change/],
  ['hooks change wsub_1 --enable --disable', /^Name one/],
  ['deliveries wsub_1 --status sent', /^--status takes one of pending/],
  ['redeliver wsub_1', /^Name one: DELIVERY, or the period/],
  ['redeliver wsub_1 --status dead', /name --from T/],
])('says how it is called: iss %s', async (words, sentence) => {
  expect(await run(`iss ${words}`)).toMatchObject({
    exitCode: 2,
    printed: '',
    complaint: expect.stringMatching(sentence),
  });
});

it('says why a receiver did not take an event', async () => {
  const { printed } = await run(`iss hooks create http://127.0.0.1:${await freePort()}/ --events grant.created --json`);
  const { webhook_subscription: hook } = JSON.parse(printed);
  expect(await run(`iss trigger ${hook.subscription_id}`)).toMatchObject({
    exitCode: 1,
    printed: '',
    complaint: expect.stringMatching(
      /^webhook\.test evt_\S+ failed \(connect: .*\)\. It is tried again: iss deliveries wsub_/,
    ),
  });
});

it('every command is called as its usage says', async () => {
  for (const [name, { load }] of Object.entries(COMMANDS)) {
    const { usage, options } = await load();
    for (const [option, { value }] of Object.entries(options)) {
      if (usage !== undefined)
        expect(`${name} ${usage}`).toContain(`--${option}${value === undefined ? '' : ` ${value}`}`);
    }
  }
});

it('signs in on another device', async () => {
  expect(await onAnotherDevice).toMatchObject({
    exitCode: 0,
    printed: expect.stringMatching(/ as judy, profile judy\.$/),
  });
  expect(await pageOfDevice).toContain('The device is signed in');
});

describe('installed where nothing else is', () => {
  let project: string;
  const command = (): string => join(project, 'node_modules/.bin/iss');

  /** As a process of its own, without a terminal. */
  async function start(
    words: readonly string[],
    { isDeaf = false, nodeOptions = [] }: { isDeaf?: boolean; nodeOptions?: readonly string[] } = {},
  ) {
    const child = spawn(process.execPath, [...nodeOptions, realpathSync(command()), ...words], {
      cwd: project,
      env: { XDG_CONFIG_HOME: join(folder, 'config') },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    if (isDeaf) child.stdout.destroy();
    const [printed, complaint, [exitCode]] = await Promise.all([
      isDeaf ? '' : text(child.stdout),
      text(child.stderr),
      once(child, 'close'),
    ]);
    return { exitCode, printed, complaint };
  }

  beforeAll(async () => {
    project = join(folder, 'project');
    mkdirSync(project);
    await makePackage(join(folder, 'package'));
    const npm = (...args: string[]): void => {
      execFileSync('npm', args, { cwd: project, stdio: 'ignore' });
    };
    npm('pack', '../package');
    writeFileSync(join(project, 'package.json'), '{"name":"project","private":true}');
    // There is no registry that could be asked.
    npm('install', '--offline', '--no-audit', '--no-fund', './identity-state-cli-1.0.0.tgz');
  });

  it('is of the version that it says', async () => {
    const { version } = JSON.parse(readFileSync(join(repositoryRoot, 'apps/cli/package.json'), 'utf8'));
    expect(await start(['--version'])).toEqual({ exitCode: 0, printed: `${version}\n`, complaint: '' });
  });

  it('starts with less than 150 ms of a processor', async () => {
    // The processor's time and not the clock's, which others have their part in.
    const tell = 'process.on("exit",()=>{const{user,system}=process.cpuUsage();console.error((user+system)/1000)})';
    let least = Infinity;
    for (let round = 0; round < 3; round++) {
      const { complaint } = await start(['--version'], { nodeOptions: [`--import=data:text/javascript,${tell}`] });
      least = Math.min(least, Number(complaint));
    }
    expect(least).toBeLessThan(150);
    expect(least).toBeGreaterThan(1);
  });

  it('calls the service, and has no colours where nobody sees them', async () => {
    expect(await start(['get', 'harbour@1'])).toMatchObject({
      exitCode: 0,
      printed: expect.stringMatching(/^organization\/harbour@1\nHash: {5}[0-9a-f]{64}\n/),
      complaint: '',
    });
    expect(await start(['get', 'nobody'])).toMatchObject({ exitCode: 1, printed: '' });
    expect(await start(['get'])).toMatchObject({ exitCode: 2, printed: '' });
  });

  it('ends quietly where nobody reads on', async () => {
    expect(await start(['log', 'harbour'], { isDeaf: true })).toMatchObject({ exitCode: 0, complaint: '' });
  });

  it('has everything but what works on a database', async () => {
    const { printed } = await start(['--help']);
    const missing = Object.entries(COMMANDS)
      .filter(([name]) => !printed.includes(`iss ${name} `))
      .map(([, { group }]) => group);
    expect(new Set(missing)).toEqual(new Set(['Operators']));
    expect(await start(['audit'])).toMatchObject({ exitCode: 2, complaint: expect.stringMatching(/no such command/) });
  });
});
