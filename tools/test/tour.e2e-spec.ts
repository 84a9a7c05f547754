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

it("the README's tour does what it says", async () => {
  const readme = readFileSync(join(repositoryRoot, 'README.md'), 'utf8');
  const tour = readme.slice(readme.indexOf('## A five-minute tour'), readme.indexOf('## Where to go next'));
  const blocks = [...tour.matchAll(/```sh\n([\s\S]*?)```/g)].map((match) => match[1]);
  expect(blocks.length).toBeGreaterThan(5);

  const dataFolder = mkdtempSync(join(tmpdir(), 'iss-tour-'));
  chmodSync(dataFolder, 0o755);
  const [port, workerPort, idpPort, inboxPort] = await Promise.all([freePort(), freePort(), freePort(), freePort()]);
  const env = {
    PATH: process.env['PATH'],
    HOME: process.env['HOME'],
    DATA_DIR: dataFolder,
    PORT: String(port),
    WORKER_PORT: String(workerPort),
    IDP_PORT: String(idpPort),
    INBOX_PORT: String(inboxPort),
  };
  const service = run('npm', ['start'], env);
  const { ended } = service;
  try {
    const ready = waitFor(async () => (await run('npm', ['run', '-s', 'status'], env).ended).code === 0, {
      deadlineMs: 120_000,
      what: 'the start of the service',
    });
    await Promise.race([ready, ended.then(({ output }) => Promise.reject(new Error(output)))]);

    const last = blocks.pop() ?? '';
    const script = ['set -euo pipefail', ...blocks].join('\n');
    const walked = await run('bash', ['-c', script], env).ended;
    expect(walked.output).toContain('"tenant_id":"tour"');
    expect(walked.output).toContain('Tour Holding Ltd');
    expect(walked.output).toMatch(/"verification":\{"mode":"chain".*"valid":true.*"valid":true/);
    expect(walked.code).toBe(0);

    const inbox = ['set -euo pipefail', blocks[0], last].join('\n');
    await waitFor(
      async () => {
        const { output } = await run('bash', ['-c', inbox], env).ended;
        const deliveries: { hook: string; verified: boolean }[] = JSON.parse(output);
        return deliveries.filter(({ hook, verified }) => hook === 'tour' && verified).length === 2;
      },
      { deadlineMs: 30_000, what: 'two verified deliveries' },
    );
  } finally {
    process.kill(-service.pid, 'SIGINT');
    await ended;
    rmSync(clusterFolder(dataFolder), { recursive: true, force: true });
    rmSync(dataFolder, { recursive: true, force: true });
  }
});
