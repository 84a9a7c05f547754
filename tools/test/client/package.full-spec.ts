import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { chromium } from 'playwright-core';
import { makePackage } from '../../client/package.ts';
import { repositoryRoot } from '../../root.ts';
import { BROWSERS, findBrowser } from '../../testing/browser.ts';
import { type StartedService, startService } from '../../testing/started-service.ts';
import { PRINTED, programFor, settingsOf } from './page.ts';

// Tests the package that npm installed into an empty project, against a service that runs.

let folder = '';
let service: StartedService;

const projectOf = (): string => join(folder, 'project');

/** Runs a program. Resolves with its output, and rejects unless its exit code is 0. */
async function run(
  command: string,
  args: readonly string[],
  cwd: string,
  env: Record<string, string> = {},
): Promise<string> {
  const child = spawn(command, args, {
    cwd,
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)));
  const code = await new Promise((resolve) => child.once('close', resolve));
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${String(code)}: ${output}`);
  return output;
}

const executablePath = findBrowser();
if (executablePath === undefined)
  process.stdout.write(`Skipped: no ${BROWSERS.join(', ')} on the PATH to run the client in.\n`);
const inBrowser = executablePath === undefined ? it.skip : it;

beforeAll(async () => {
  service = await startService({ SEED: 'false' });
  folder = mkdtempSync(join(tmpdir(), 'iss-package-'));
  mkdirSync(projectOf());
  await makePackage(join(folder, 'package'));
  await run('npm', ['pack', '../package'], projectOf());
  writeFileSync(join(projectOf(), 'package.json'), '{"name":"project","private":true,"type":"module"}');
  // npm must not need a registry.
  await run(
    'npm',
    ['install', '--offline', '--no-audit', '--no-fund', './identity-state-client-1.0.0.tgz'],
    projectOf(),
  );
});
afterAll(async () => {
  await service?.close();
  rmSync(folder, { recursive: true, force: true });
});

it('the package installs offline, and its documented program type-checks in strict mode', async () => {
  for (const types of ['@types/node', 'undici-types']) {
    const modules = 'node_modules';
    cpSync(join(repositoryRoot, modules, types), join(projectOf(), modules, types), { recursive: true });
  }
  writeFileSync(join(projectOf(), 'node.ts'), programFor('node'));
  writeFileSync(join(projectOf(), 'browser.ts'), programFor('browser'));
  const compilerOptions = {
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    target: 'es2022',
    lib: ['es2022', 'dom', 'dom.asynciterable'],
    module: 'nodenext',
    types: ['node'],
    outDir: 'out',
    rootDir: '.',
  };
  writeFileSync(
    join(projectOf(), 'tsconfig.json'),
    JSON.stringify({ compilerOptions, files: ['node.ts', 'browser.ts'] }),
  );
  const tsc = join(repositoryRoot, 'node_modules/typescript/bin/tsc');
  expect(await run(process.execPath, [tsc, '-p', '.'], projectOf())).toBe('');
});

it('the package contains the files that its main file loads later', async () => {
  const installed = join(projectOf(), 'node_modules/@identity-state/client');
  const names = [...readFileSync(join(installed, 'index.js'), 'utf8').matchAll(/import\("\.\/(\w+\.js)"\)/g)];
  const exported: Record<string, string> = {};
  for (const name of new Set(names.map(([, file = '']) => file))) {
    const code = `console.log(Object.keys(await import(${JSON.stringify(join(installed, name))})).length)`;
    exported[name] = await run(process.execPath, ['--input-type=module', '--eval', code], projectOf());
  }
  expect(exported).toEqual({ 'map.js': '1\n', 'policy.js': '1\n', 'view.js': '2\n' });
});

it('the documented program prints the documented output in Node', async () => {
  writeFileSync(
    join(projectOf(), 'main.js'),
    `globalThis.settings = JSON.parse(process.env.SETTINGS);\nawait import('./out/node.js');\n`,
  );
  const output = await run(process.execPath, ['main.js'], projectOf(), {
    SETTINGS: JSON.stringify(await settingsOf(service, join(folder, 'trust.json'))),
  });
  for (const line of PRINTED) expect(output).toContain(line);
});

inBrowser('the documented program prints the documented output in Chromium', async () => {
  const { outputFiles } = await build({
    entryPoints: [join(projectOf(), 'browser.ts')],
    bundle: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    write: false,
  });
  const browser = await chromium.launch({
    executablePath: executablePath ?? '',
    args: ['--no-sandbox', '--disable-gpu'],
  });
  try {
    const page = await browser.newPage();
    const printed: string[] = [];
    const failures: string[] = [];
    page.on('console', (message) => printed.push(message.text()));
    page.on('pageerror', (error) => failures.push(String(error)));
    // A page on the service's own origin needs no CORS permission.
    const address = `${service.baseUrl}/client-test.html`;
    const script = outputFiles[0]?.text ?? '';
    const html = `<script>globalThis.settings = ${JSON.stringify(await settingsOf(service, join(folder, 'trust.json')))};</script><script type="module" src="/client-test.js"></script>`;
    await page.route(address, (route) => route.fulfill({ contentType: 'text/html', body: html }));
    await page.route(`${service.baseUrl}/client-test.js`, (route) =>
      route.fulfill({ contentType: 'text/javascript', body: script }),
    );
    const done = page.waitForEvent('console', { predicate: (message) => message.text() === 'done', timeout: 60_000 });
    const failed = page.waitForEvent('pageerror', { timeout: 60_000 }).then((error) => {
      throw error;
    });
    failed.catch(() => undefined);
    await page.goto(address);
    await Promise.race([done, failed]);
    expect(failures).toEqual([]);
    const output = printed.join('\n');
    for (const line of PRINTED) expect(output).toContain(line);
  } finally {
    await browser.close();
  }
});
