import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { makePackage } from '../../../tools/cli/package';
import { repositoryRoot } from '../../../tools/root';
import { type StartedService, startService } from '../../../tools/testing/started-service';
import { FILES } from './page/examples';

// Tests the package that npm installed into an empty project, against a service that runs.

let service: StartedService;
let folder: string;
let project: string;
const command = (): string => join(project, 'node_modules/.bin/iss');

/** Runs the installed command in a new process, without a terminal. */
async function start(
  words: readonly string[],
  { isDeaf = false, input = '' }: { isDeaf?: boolean; input?: string } = {},
) {
  const child = spawn(process.execPath, [realpathSync(command()), ...words], {
    cwd: project,
    env: { XDG_CONFIG_HOME: join(folder, 'config') },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  child.stdin.end(input);
  if (isDeaf) child.stdout.destroy();
  const [printed, complaint, [exitCode]] = await Promise.all([
    isDeaf ? '' : text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  return { exitCode, printed, complaint };
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'iss-installed-'));
  project = join(folder, 'project');
  mkdirSync(project);
  await makePackage(join(folder, 'package'));
  const npm = (...args: string[]): void => {
    execFileSync('npm', args, { cwd: project, stdio: 'ignore' });
  };
  npm('pack', '../package');
  writeFileSync(join(project, 'package.json'), '{"name":"project","private":true}');
  // npm must not need a registry.
  npm('install', '--offline', '--no-audit', '--no-fund', './identity-state-cli-1.0.0.tgz');
  service = await startService({ SEED: 'false' });
});
afterAll(async () => {
  await service?.close();
  rmSync(folder, { recursive: true, force: true });
});

it('the installed command prints its version', async () => {
  const { version } = JSON.parse(readFileSync(join(repositoryRoot, 'apps/cli/package.json'), 'utf8'));
  expect(await start(['--version'])).toEqual({ exitCode: 0, printed: `${version}\n`, complaint: '' });
});

it('the installed command signs in, creates a tenant and writes a version', async () => {
  writeFileSync(join(project, 'harbour.json'), JSON.stringify(FILES['harbour-1.json']));
  const login = ['login', '--token-stdin', '--base-url', service.baseUrl];
  for (const [words, input] of [
    [login, await service.token('grace')],
    [['use', 'agency', '--create', 'Agency'], ''],
    [['put', 'harbour.json'], ''],
  ] as const) {
    expect(await start(words, { input })).toMatchObject({ exitCode: 0, complaint: '' });
  }
});

it('the installed command reads a version and prints no colours without a terminal', async () => {
  expect(await start(['get', 'harbour@1'])).toMatchObject({
    exitCode: 0,
    printed: expect.stringMatching(/^organization\/harbour@1\nHash: {5}[0-9a-f]{64}\n/),
    complaint: '',
  });
  expect(await start(['get', 'nobody'])).toMatchObject({ exitCode: 1, printed: '' });
  expect(await start(['get'])).toMatchObject({ exitCode: 2, printed: '' });
});

it('the installed command exits with 0 if its reader closes the pipe', async () => {
  expect(await start(['log', 'harbour'], { isDeaf: true })).toMatchObject({ exitCode: 0, complaint: '' });
});
