import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { repositoryRoot } from '../../root.ts';
import { type StartedService, startService } from '../../testing/started-service.ts';

const modules = join(repositoryRoot, 'node_modules');

/** The command that generates each client, in the folder of the programs that use the clients. */
const GENERATORS: Readonly<Record<string, readonly string[]>> = {
  'openapi-fetch': ['openapi-typescript/bin/cli.js', 'openapi.json', '-o', 'generated/openapi-typescript.ts'],
  'hey-api': [
    '@hey-api/openapi-ts/bin/run.js',
    ...['-i', 'openapi.json', '-o', 'generated/hey-api', '-c', '@hey-api/client-fetch', '--silent', '--no-log-file'],
  ],
  orval: ['orval/dist/bin/orval.mjs', '--config', 'orval.config.mjs'],
};
const PROGRAMS = Object.keys(GENERATORS);

const COMPILER_OPTIONS = {
  strict: true,
  target: 'es2023',
  lib: ['es2023', 'dom', 'dom.iterable'],
  module: 'commonjs',
  moduleResolution: 'bundler',
  types: ['node'],
  skipLibCheck: true,
  outDir: 'out',
  rootDir: '.',
};

let folder = '';
let service: StartedService;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'iss-clients-'));
  cpSync(join(__dirname, 'clients'), folder, { recursive: true });
  cpSync(join(repositoryRoot, 'openapi.json'), join(folder, 'openapi.json'));
  symlinkSync(modules, join(folder, 'node_modules'));
  const tsconfig = { compilerOptions: COMPILER_OPTIONS, include: ['*.ts', 'generated'] };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(tsconfig));
  service = await startService();
});
afterAll(async () => {
  await service?.close();
  rmSync(folder, { recursive: true, force: true });
});

interface Outcome {
  code: number | null;
  output: string;
}

/** Runs a script with Node in the folder of the programs. */
function run(script: string, args: readonly string[] = [], env: NodeJS.ProcessEnv = {}): Promise<Outcome> {
  const child = spawn(process.execPath, [script, ...args], {
    cwd: folder,
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], BASE_URL: service.baseUrl, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, output })));
}

it.each(PROGRAMS)('%s generates a client', async (program) => {
  const [script = '', ...args] = GENERATORS[program] ?? [];
  const { code, output } = await run(join(modules, script), args);
  expect([code, output]).toEqual([0, output]);
});

it('the generated clients and a program with each type-check in strict mode', async () => {
  expect(await run(join(modules, 'typescript/bin/tsc'), ['-p', '.'])).toEqual({ code: 0, output: '' });
});

it.each(PROGRAMS)('the program with the client of %s runs the main workflow', async (program) => {
  const [owner, grantee] = await Promise.all([service.token('carol'), service.token('bob')]);
  const { code, output } = await run(join('out', `${program}.js`), [], {
    OWNER_TOKEN: owner,
    GRANTEE_TOKEN: grantee,
    GRANTEE_TENANT: 'beta',
  });
  expect([code, output]).toEqual([0, output]);
  expect(JSON.parse(output)).toEqual({
    isVerified: true,
    version: 2,
    ops: [{ op: 'replace', path: '/attributes/legal/legal_name', value: 'Northwind Holding Ltd' }],
    secret: expect.stringMatching(/^whsec_/),
  });
});
