import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { makePackage } from '../../../tools/cli/package';
import { repositoryRoot } from '../../../tools/root';
import { bundleText, lineageBundle } from '../../../tools/testing/lineage-bundle.ts';
import { COMMANDS } from '../src/commands';

// Tests the file of the published package. package.full-spec.ts installs the package with npm.

let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'iss-package-'));
  await makePackage(join(folder, 'package'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs the file of the package in a new process, without a terminal. */
async function start(words: readonly string[], { isDeaf = false, isMute = false } = {}) {
  const child = spawn(process.execPath, [join(folder, 'package/iss.cjs'), ...words], {
    env: { XDG_CONFIG_HOME: join(folder, 'config') },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  if (isDeaf) child.stdout.destroy();
  if (isMute) child.stderr.destroy();
  const [printed, complaint, [exitCode]] = await Promise.all([
    isDeaf ? '' : text(child.stdout),
    isMute ? '' : text(child.stderr),
    once(child, 'close'),
  ]);
  return { exitCode, printed, complaint };
}

it('the packed command prints its version', async () => {
  const { version } = JSON.parse(readFileSync(join(repositoryRoot, 'apps/cli/package.json'), 'utf8'));
  expect(await start(['--version'])).toEqual({ exitCode: 0, printed: `${version}\n`, complaint: '' });
  const manifest = JSON.parse(readFileSync(join(folder, 'package/package.json'), 'utf8'));
  expect(manifest).toMatchObject({ version, bin: { iss: 'iss.cjs' } });
});

it('the packed command has every command except those of operators', async () => {
  const { printed } = await start(['--help']);
  const missing = Object.entries(COMMANDS)
    .filter(([name]) => !printed.includes(`iss ${name} `))
    .map(([, { group }]) => group);
  expect(new Set(missing)).toEqual(new Set(['Operators']));
  expect(await start(['audit'])).toMatchObject({
    exitCode: 2,
    complaint: expect.stringMatching(/^iss audit works on the database/),
  });
});

it('the packed command exits with 0 if its reader closes the pipe', async () => {
  expect(await start(['--help'], { isDeaf: true })).toMatchObject({ exitCode: 0, complaint: '' });
});

it('a refusal keeps its exit code if stdout or stderr is closed', async () => {
  const file = join(folder, 'bundle.ndjson');
  const { head, lines, log } = await lineageBundle(3);
  writeFileSync(file, bundleText(head, lines.slice(0, 2)));
  const words = ['verify', file, '--vkey', log.vkey, '--json'];
  expect(await start(words)).toMatchObject({ exitCode: 1 });
  expect(await start(words, { isDeaf: true })).toMatchObject({ exitCode: 1 });
  expect(await start(words, { isMute: true })).toMatchObject({ exitCode: 1 });
  expect(await start(['get'], { isMute: true })).toMatchObject({ exitCode: 2 });
});

(existsSync('/dev/full') ? it : it.skip)('the packed command reports a full disk in one sentence', async () => {
  const child = spawn(process.execPath, [join(folder, 'package/iss.cjs'), '--help'], {
    env: {},
    stdio: ['ignore', openSync('/dev/full', 'w'), 'pipe'],
  });
  const said = child.stderr === null ? '' : text(child.stderr);
  const [complaint, [exitCode]] = await Promise.all([said, once(child, 'close')]);
  expect([exitCode, complaint]).toEqual([
    1,
    expect.stringMatching(/^Standard output cannot be written: ENOSPC.*\.\n$/),
  ]);
});

it('get exits with 1 and plain text before a sign-in', async () => {
  expect(await start(['get', 'harbour@1'])).toEqual({
    exitCode: 1,
    printed: '',
    complaint: 'No profile default exists. Sign in first: iss login.\n',
  });
});

it('--version loads only commander, and no code of commands', async () => {
  const main = join(repositoryRoot, 'apps/cli/dist/main.js');
  // A start is fast because it loads little. Benchmarks measure the time.
  const script = `process.on('exit', () => console.error(JSON.stringify(Object.keys(require.cache))));
    process.argv = [process.argv[0], 'iss', '--version']; require(${JSON.stringify(main)});`;
  const child = spawn(process.execPath, ['-e', script], { env: {}, stdio: ['ignore', 'ignore', 'pipe'] });
  const loaded: string[] = JSON.parse(await text(child.stderr));
  expect(loaded).toContain(main);
  const packages = loaded.map((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1]).filter(Boolean);
  expect(new Set(packages)).toEqual(new Set(['commander']));
  expect(loaded.filter((path) => /\/dist\/(commands|audit|service|doctor)\//.test(path))).toEqual([]);
});

it('log-key --pq prints no warning of Node', () => {
  // Web Crypto calls the algorithm of this key experimental.
  const words = [
    join(repositoryRoot, 'apps/cli/dist/main.js'),
    'log-key',
    '--origin',
    'log.example/pq',
    '--pq',
    '--print',
  ];
  const { stdout, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8' });
  expect(stdout + stderr).toMatch(/^PRIVATE[+]KEY[+]\S+\nlog[.]example[/]pq[+]\S+\n$/);
});
