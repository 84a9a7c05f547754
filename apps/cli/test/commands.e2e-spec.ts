import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { makePackage } from '../../../tools/cli/package';
import { repositoryRoot } from '../../../tools/root';
import { type StartedService, startService } from '../../../tools/testing/started-service';
import type { CommandContext } from '../src/command';
import { COMMANDS } from '../src/commands';
import { settingsOf } from '../src/settings';
import { EXAMPLES, FILES } from './page/examples';
import { readLine } from './page/line';
import { pageWith, type Shown } from './page/page';
import { Steady } from './page/steady';
import { signInAs } from './testing/browser';
import { testContext } from './testing/run-iss';
import { runCommand } from '../src/run';

jest.setTimeout(180_000);

const PAGE = join(repositoryRoot, 'docs/cli.md');
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

it('every line of docs/cli.md does what the page says', async () => {
  const steady = new Steady([
    [service.baseUrl, SHOWN_URL],
    [service.inboxUrl, SHOWN_INBOX_URL],
  ]);
  const kept = new Map([['INBOX', `${service.inboxUrl}/hooks/agency`]]);
  const shown: Shown[] = [];
  for (const { of, line, exitCode = 0, keep = {}, blur = [] } of EXAMPLES) {
    const outcome = await run(line, kept);
    expect({ line, ...outcome }).toMatchObject({ line, exitCode });
    const output = [outcome.printed, outcome.complaint].filter((text) => text !== '').join('\n');
    for (const [name, expression] of Object.entries(keep)) kept.set(name, expression.exec(output)?.[1] ?? '');
    const steadied = steady.text(output);
    shown.push({
      of,
      line: steady.text(line.replace(/\$([A-Z]+)/g, (_whole, name: string) => kept.get(name) ?? '')),
      output: blur.reduce((text, [what, by]) => text.replace(what, by), steadied),
    });
  }
  const page = readFileSync(PAGE, 'utf8');
  const anew = await pageWith(page, shown);
  if (process.env['UPDATE_CLI_PAGE'] === 'true') writeFileSync(PAGE, anew);
  else expect(anew).toBe(page);
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
  const again = await run('iss whoami --profile ivan');
  expect(again).toMatchObject({
    exitCode: 0,
    printed: expect.stringMatching(/^ivan at /),
  });
  const { ivan } = JSON.parse(readFileSync(file, 'utf8'));
  expect([ivan.access_token, ivan.refresh.token]).not.toContain(spoiled);
  expect(ivan.refresh.token).not.toBe('');

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
  async function start(words: readonly string[], { isDeaf = false, file = command() } = {}) {
    const child = spawn(process.execPath, [realpathSync(file), ...words], {
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

  it('starts in 150 ms, or on a busy machine in five times what Node alone takes then', async () => {
    const empty = join(folder, 'empty.mjs');
    writeFileSync(empty, '');
    const best = async (words: readonly string[], file?: string): Promise<number> => {
      let least = Infinity;
      for (let round = 0; round < 5; round++) {
        const startedAt = performance.now();
        await start(words, file === undefined ? {} : { file });
        least = Math.min(least, performance.now() - startedAt);
      }
      return least;
    };
    expect(await best(['--version'])).toBeLessThan(Math.max(150, 5 * (await best([], empty))));
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
