import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { clusterFolder } from '../postgres.ts';
import { freePort } from '../processes.ts';
import { repositoryRoot } from '../root.ts';
import { waitFor } from '../testing/wait-for.ts';

jest.setTimeout(180_000);

/** Runs a command in the repository; resolves with what it printed and its exit code. */
function run(
  command: string,
  args: string[],
  env: NodeJS.ProcessEnv,
): { pid: number; ended: Promise<{ code: number | null; output: string }> } {
  const child = spawn(command, args, { cwd: repositoryRoot, env, detached: true });
  let output = '';
  child.stdout.on('data', (chunk) => (output += chunk));
  child.stderr.on('data', (chunk) => (output += chunk));
  return {
    pid: child.pid ?? 0,
    ended: new Promise((resolve) => child.once('close', (code) => resolve({ code, output }))),
  };
}

/** The shell blocks of a document, or of the part of it between two headings. */
function shellBlocks(file: string, from = '', to = ''): string[] {
  const text = readFileSync(join(repositoryRoot, file), 'utf8');
  const part = text.slice(from === '' ? 0 : text.indexOf(from), to === '' ? undefined : text.indexOf(to));
  return [...part.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block = '']) => block);
}

const script = (blocks: readonly string[]): string[] => ['-c', ['set -euo pipefail', ...blocks].join('\n')];

/** What `npx iss` comes to, beside a service that runs. */
const NPX = 'npx() { shift; ISS_BASE_URL="$BASE_URL" node apps/cli/dist/main.js "$@"; }';

let env: NodeJS.ProcessEnv;
let service: ReturnType<typeof run>;
let dataFolder: string;

beforeAll(async () => {
  dataFolder = mkdtempSync(join(tmpdir(), 'iss-tour-'));
  chmodSync(dataFolder, 0o755);
  const [port, workerPort, idpPort, inboxPort, metricsPort, workerMetricsPort, witnessPort] = await Promise.all(
    Array.from({ length: 7 }, () => freePort()),
  );
  env = {
    PATH: process.env['PATH'],
    HOME: process.env['HOME'],
    TMPDIR: dataFolder,
    DATA_DIR: dataFolder,
    XDG_CONFIG_HOME: dataFolder,
    PORT: String(port),
    WORKER_PORT: String(workerPort),
    IDP_PORT: String(idpPort),
    INBOX_PORT: String(inboxPort),
    METRICS_PORT: String(metricsPort),
    WORKER_METRICS_PORT: String(workerMetricsPort),
    WITNESS_PORT: String(witnessPort),
  };
  service = run('npm', ['start'], env);
  const ready = waitFor(async () => (await run('npm', ['run', '-s', 'status'], env).ended).code === 0, {
    deadlineMs: 120_000,
    what: 'the start of the service',
  });
  await Promise.race([ready, service.ended.then(({ output }) => Promise.reject(new Error(output)))]);
});

afterAll(async () => {
  if (service === undefined) return;
  process.kill(-service.pid, 'SIGINT');
  await service.ended;
  rmSync(clusterFolder(dataFolder), { recursive: true, force: true });
  rmSync(dataFolder, { recursive: true, force: true });
});

it('the doctor finds nothing beside npm start, and what is wrong elsewhere', async () => {
  const { code, output } = await run('npm', ['run', '-s', 'doctor'], env).ended;
  expect([code, output]).toEqual([0, expect.stringContaining('All is well.')]);
  const sick = await run('npm', ['run', '-s', 'doctor'], {
    ...env,
    DATABASE_URL: 'postgres://iss:wrong@127.0.0.1:1/iss',
    SECRETS_KEYS: '',
  }).ended;
  expect(sick.code).toBe(1);
  expect(sick.output).toMatch(/failed +SECRETS_KEYS is not set/);
  expect(sick.output).toMatch(/failed +PostgreSQL at 127\.0\.0\.1:1\/iss: nothing listens there/);
  expect(sick.output).not.toContain('wrong');
});

it("the README's tour does what it says, the second time too", async () => {
  const blocks = shellBlocks('README.md', '## A five-minute tour', '### The same with `iss`');
  expect(blocks.length).toBeGreaterThan(5);
  const inbox = blocks.pop() ?? '';
  const withIss = shellBlocks('README.md', '### The same with `iss`', '### The same in TypeScript');
  expect(withIss).toHaveLength(1);
  for (let time = 1; time <= 2; time++) {
    // The second time with the command as well, which the tour itself has called by npx already: here it starts at once.
    const further = time === 1 ? [] : [NPX, ...withIss];
    const walked = await run('bash', script([...blocks, ...further]), env).ended;
    const tenant = /"tenant_id":"(tour-\d+)"/.exec(walked.output)?.[1];
    expect([walked.code, tenant]).toEqual([0, expect.stringMatching(/^tour-/)]);
    expect(walked.output).toContain('Tour Holding Ltd');
    expect(walked.output).toMatch(/"verification":\{"mode":"chain".*"valid":true.*"valid":true/);
    if (time === 2) {
      expect(walked.output).toMatch(/^- "Tour Ltd"\n\+ "Tour Holding Ltd"$/m);
      expect(walked.output).toMatch(/^Verified: .* is entry \d+ of a log of \d+, cosigned by /m);
    }
    await waitFor(
      async () => {
        const { output } = await run('bash', script([blocks[0] ?? '', inbox]), env).ended;
        const deliveries: { hook: string; verified: boolean }[] = JSON.parse(output);
        return deliveries.filter(({ hook, verified }) => hook === tenant && verified).length === 2;
      },
      { deadlineMs: 30_000, what: 'two verified deliveries' },
    );
  }
});

it("the README's program does what it says, as it stands", async () => {
  const readme = readFileSync(join(repositoryRoot, 'README.md'), 'utf8');
  const [, program = ''] = /```ts\n([\s\S]*?)```/.exec(readme) ?? [];
  const status = JSON.parse((await run('npm', ['run', '-s', 'status'], env).ended).output);
  const token = (await run('npm', ['run', '-s', 'token', '--', 'carol'], env).ended).output.trim();
  const walked = await run('node', ['--input-type=module', '-e', program], {
    ...env,
    BASE_URL: status.base_url,
    TOKEN: token,
    LOG_POLICY: status.log_policy_file,
  }).ended;
  expect([walked.code, walked.output]).toEqual([0, expect.stringMatching(/^version 2 is entry \d+ of \d+, seen by /)]);
  expect(walked.output).toContain("value: 'Tour Holding Ltd'");
  expect(walked.output).toMatch(/legal_name since version 2 current\n[^]*grant\.created\n$/);
});

it('the guide does what it says', async () => {
  const { code, output } = await run('bash', script(shellBlocks('docs/guide.md')), env).ended;
  expect([code, output]).toEqual([0, expect.stringContaining('after the revocation: 403')]);
  expect(output).toMatch(/version 1 holds: [0-9a-f]{64}\nversion 2 holds: [0-9a-f]{64}/);
  expect(output).toContain('"status":"fulfilled"');
  // Erased by two, and proved by a chain that holds over it.
  expect(output).toMatch(/"code":"erased"[^\n]*\n[^\n]*"valid":true[^\n]*"erased":\[1\]/);
});
