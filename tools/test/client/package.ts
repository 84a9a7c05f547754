import { randomUUID } from 'node:crypto';
import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createContext, runInContext } from 'node:vm';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { chromium } from 'playwright-core';
import { makePackage } from '../../client/package.ts';
import { repositoryRoot } from '../../root.ts';
import { BROWSERS, findBrowser } from '../../testing/browser.ts';
import type { StartedService } from '../../testing/started-service.ts';

/** Of all that the main entry has, for a page that takes it whole. */
const MAX_GZIPPED = 25 * 1024;

/** What the blocks of the page stand on: whoever reads it has these of its own. */
const PRELUDE = `
declare global {
  var settings: Record<
    'baseUrl' | 'agentToken' | 'bankToken' | 'agentId' | 'bankId' | 'bankPrincipal' | 'policy' | 'trustFile' | 'webhookSecret',
    string
  >;
}
const { baseUrl, agentToken, bankToken, agentId, bankId, bankPrincipal, policy, trustFile, webhookSecret } = globalThis.settings;
void trustFile;
`;
const EPILOGUE = `
const stranger = new Request('http://receiver.example', { method: 'POST', body: '{}' });
console.log('a stranger is answered', (await receive(stranger)).status);
console.log('done');
`;

/** What the page's blocks print, in Node and in a browser. */
const PRINTED = [
  'written 1',
  'settled 3',
  'stored 3 refused 0',
  'renamed in version 2',
  'Harbour Works plc',
  'at the end of 2025: Harbour Works Ltd',
  '/attributes/legal/legal_name 2 current',
  'cosigned by',
  'kept',
  'grant.created',
  'fulfilled',
  'after the revocation: 403 true true',
  'a stranger is answered 401',
  'done',
];

let folder = '';

const projectOf = (): string => join(folder, 'project');

/** Resolves with what it printed. */
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

/** The blocks of docs/client.md that run everywhere, and those of one platform. */
function programFor(platform: 'node' | 'browser'): string {
  const page = readFileSync(join(repositoryRoot, 'docs/client.md'), 'utf8');
  const blocks = [...page.matchAll(/```ts(?: (\w+))?\n([\s\S]*?)```/g)]
    .filter(([, only]) => only === undefined || only === platform)
    .map(([, , block]) => block);
  expect(blocks.length).toBeGreaterThan(10);
  return [PRELUDE, ...blocks, EPILOGUE].join('\n');
}

async function settingsOf(service: StartedService): Promise<Record<string, string>> {
  const run = randomUUID().slice(0, 8);
  return {
    baseUrl: service.baseUrl,
    agentToken: await service.token('grace'),
    bankToken: await service.token('henry'),
    agentId: `agent-${run}`,
    bankId: `bank-${run}`,
    bankPrincipal: 'oidc:dev#henry',
    policy: readFileSync(service.logPolicyFile, 'utf8'),
    trustFile: join(folder, 'trust.json'),
    webhookSecret: `whsec_${Buffer.from(run).toString('base64')}`,
  };
}

const executablePath = findBrowser();
if (executablePath === undefined)
  process.stdout.write(`Skipped: no ${BROWSERS.join(', ')} on the PATH to run the client in.\n`);
const inBrowser = executablePath === undefined ? it.skip : it;

/** Tests of the package as it is published, beside a service that runs. */
export function describePackage(serviceOf: () => StartedService): void {
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'iss-package-'));
    mkdirSync(projectOf());
    await makePackage(join(folder, 'package'));
    await run('npm', ['pack', '../package'], projectOf());
    writeFileSync(join(projectOf(), 'package.json'), '{"name":"project","private":true,"type":"module"}');
    // There is no registry that could be asked.
    await run(
      'npm',
      ['install', '--offline', '--no-audit', '--no-fund', './identity-state-client-1.0.0.tgz'],
      projectOf(),
    );
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('takes no more than it may', async () => {
    const { outputFiles } = await build({
      entryPoints: [join(projectOf(), 'node_modules/@identity-state/client/index.js')],
      bundle: true,
      format: 'esm',
      platform: 'browser',
      target: 'es2022',
      minify: true,
      write: false,
    });
    const [file] = outputFiles;
    expect(gzipSync(file?.contents ?? '', { level: 9 }).length).toBeLessThanOrEqual(MAX_GZIPPED);
  });

  it('asks its platform for nothing while it is loaded, which edge workers refuse', async () => {
    const { outputFiles } = await build({
      entryPoints: [join(projectOf(), 'node_modules/@identity-state/client/index.js')],
      bundle: true,
      format: 'iife',
      globalName: 'client',
      platform: 'browser',
      target: 'es2022',
      write: false,
    });
    const asked: string[] = [];
    const refusing = (name: string): object =>
      new Proxy(() => undefined, {
        get: (_target, member) => refusing(`${name}.${String(member)}`),
        apply: () => void asked.push(name),
      });
    const names = ['fetch', 'crypto', 'setTimeout', 'setInterval', 'queueMicrotask', 'performance', 'navigator'];
    // What it may make at any time.
    const context = createContext({
      ...Object.fromEntries(names.map((name) => [name, refusing(name)])),
      ...{ TextEncoder, TextDecoder, URL, AbortController, AbortSignal, Headers },
    });
    runInContext(outputFiles[0]?.text ?? '', context);
    expect(asked).toEqual([]);
    expect(runInContext('typeof client.IdentityState', context)).toBe('function');
  });

  it('is installed where nothing else is, and its page is type-checked there in strict mode', async () => {
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

  it('its page does what it says in Node', async () => {
    writeFileSync(
      join(projectOf(), 'main.js'),
      `globalThis.settings = JSON.parse(process.env.SETTINGS);\nawait import('./out/node.js');\n`,
    );
    const output = await run(process.execPath, ['main.js'], projectOf(), {
      SETTINGS: JSON.stringify(await settingsOf(serviceOf())),
    });
    for (const line of PRINTED) expect(output).toContain(line);
  });

  inBrowser('its page does what it says in Chromium', async () => {
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
      // A page of the service's own origin, which asks nobody's leave.
      const address = `${serviceOf().baseUrl}/client-test.html`;
      const script = outputFiles[0]?.text ?? '';
      const html = `<script>globalThis.settings = ${JSON.stringify(await settingsOf(serviceOf()))};</script><script type="module" src="/client-test.js"></script>`;
      await page.route(address, (route) => route.fulfill({ contentType: 'text/html', body: html }));
      await page.route(`${serviceOf().baseUrl}/client-test.js`, (route) =>
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
}
