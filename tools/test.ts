import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { ensureBuilt } from './build.ts';
import { reportError, UserError } from './processes.ts';
import { repositoryRoot } from './root.ts';
import { startTestServices } from './testing/services.ts';

/** Two cores of their own need a quarter of it. What hangs is not waited for; whoever asks for more (FAULT_KILLS, FAULT_SECONDS) gives it more time too. */
const MINUTES = Number(process.env['TEST_MINUTES'] ?? 20);

/** The console's suites take a browser and minutes of their own: `npm run test:console` runs them, and CI both. */
const WITHOUT_CONSOLE = ['--ignoreProjects', 'console'];

/** `npm test`: every Jest project but the console, against one PostgreSQL and one Redis. Arguments go to Jest, for any project. */
const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stop.abort());
let stopServices = async (): Promise<void> => undefined;
try {
  // Some tests run the built apps as processes.
  await ensureBuilt(stop.signal);
  stopServices = await startTestServices();
  process.exitCode = stop.signal.aborted ? 1 : await runJest();
} catch (error) {
  process.exitCode = reportError(error);
} finally {
  await stopServices();
}

/** @throws UserError when it takes longer than it may */
async function runJest(): Promise<number> {
  const jest = join(repositoryRoot, 'node_modules', 'jest', 'bin', 'jest.js');
  // In a group of its own: Jest's workers would outlive it.
  const words = process.argv.slice(2);
  const child = spawn(process.execPath, [jest, ...(words.length === 0 ? WITHOUT_CONSOLE : words)], {
    cwd: repositoryRoot,
    stdio: 'inherit',
    detached: process.platform !== 'win32',
  });
  const end = (signal: NodeJS.Signals): void => {
    if (child.pid === undefined || process.platform === 'win32') child.kill(signal);
    else process.kill(-child.pid, signal);
  };
  const endByRequest = (): void => end('SIGTERM');
  stop.signal.addEventListener('abort', endByRequest);
  let isLate = false;
  const deadline = setTimeout(() => {
    isLate = true;
    end('SIGKILL');
  }, MINUTES * 60_000);
  const [status, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (...how) => resolve(how));
  });
  clearTimeout(deadline);
  stop.signal.removeEventListener('abort', endByRequest);
  if (isLate) {
    throw new UserError(
      `The tests were ended after ${MINUTES} minutes, with the suites that have no line above. TEST_MINUTES gives them more.`,
    );
  }
  if (signal !== null && !stop.signal.aborted) throw new UserError(`Jest was ended by ${signal}, from outside.`);
  return status ?? 1;
}
