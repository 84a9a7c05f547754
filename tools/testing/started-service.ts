import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../processes.ts';
import { repositoryRoot } from '../root.ts';
import { createTestDatabase } from './test-database.ts';
import { waitFor } from './wait-for.ts';

/**
 * The whole service as `npm start` brings it up, with an identity provider and an inbox of its own. Seeded with the small
 * world, unless `changes` say otherwise (`SEED`).
 */
export interface StartedService {
  baseUrl: string;
  inboxUrl: string;
  /** A superuser's. */
  databaseUrl: string;
  /** Who signs its log, and who witnesses it. */
  logPolicyFile: string;
  /** DATA_DIR: what `npm start` keeps beside the database. */
  dataFolder: string;
  /** What `npm run -s token -- NAME` prints. */
  token(user: string): Promise<string>;
  close(): Promise<void>;
}

const START_MS = 120_000;

const MAX_STARTS = 3;

/** Starts it on free ports, in a temporary folder and a database of the tests' cluster. */
export async function startService(changes: Record<string, string> = {}): Promise<StartedService> {
  for (let start = 1; ; start++) {
    try {
      return await startOnce(changes);
    } catch (error) {
      // A port that was free a moment ago: other suites ask for some too.
      if (start === MAX_STARTS || !/_?PORT.* is taken/.test(String(error))) throw error;
    }
  }
}

async function startOnce(changes: Record<string, string>): Promise<StartedService> {
  const database = await createTestDatabase();
  const dataFolder = mkdtempSync(join(tmpdir(), 'iss-started-'));
  chmodSync(dataFolder, 0o755);
  const [port, workerPort, idpPort, inboxPort, metricsPort, workerMetricsPort, witnessPort] = await Promise.all(
    Array.from({ length: 7 }, () => freePort()),
  );
  const env = {
    PATH: process.env['PATH'],
    HOME: process.env['HOME'],
    DATA_DIR: dataFolder,
    DATABASE_URL: database.url,
    PORT: String(port),
    WORKER_PORT: String(workerPort),
    IDP_PORT: String(idpPort),
    INBOX_PORT: String(inboxPort),
    METRICS_PORT: String(metricsPort),
    WORKER_METRICS_PORT: String(workerMetricsPort),
    WITNESS_PORT: String(witnessPort),
    SEED: 'small',
    ...changes,
  };
  const npm = (...args: string[]): Promise<{ code: number | null; stdout: string }> => {
    const child = spawn('npm', args, { cwd: repositoryRoot, env, stdio: ['ignore', 'pipe', 'ignore'] });
    let stdout = '';
    child.stdout.on('data', (chunk) => (stdout += chunk));
    return new Promise((resolve) => child.once('close', (code) => resolve({ code, stdout })));
  };
  const service = spawn('npm', ['start'], { cwd: repositoryRoot, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [service.stdout, service.stderr]) stream.on('data', (chunk) => (output += chunk));
  const ended = new Promise<void>((resolve) => service.once('close', () => resolve()));
  const close = async (): Promise<void> => {
    service.kill('SIGTERM');
    await ended;
    rmSync(dataFolder, { recursive: true, force: true });
    await database.drop();
  };
  // `run.json` names the addresses as soon as everything answers and is seeded.
  const isReady = (): boolean =>
    service.exitCode !== null || 'status' in JSON.parse(readFileSync(join(dataFolder, 'run.json'), 'utf8'));
  try {
    await waitFor(isReady, { deadlineMs: START_MS, what: 'the start of the service' });
    if (service.exitCode !== null) throw new Error(output);
  } catch (error) {
    await close();
    throw error;
  }
  return {
    baseUrl: `http://localhost:${port}`,
    inboxUrl: `http://localhost:${inboxPort}`,
    databaseUrl: database.url,
    dataFolder,
    logPolicyFile: join(dataFolder, 'log-policy'),
    token: async (user) => (await npm('run', '-s', 'token', '--', user)).stdout.trim(),
    close,
  };
}
