import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { ensureBuilt } from './build.ts';
import { reportError, UserError } from './processes.ts';
import { repositoryRoot } from './root.ts';
import { startTestServices } from './testing/services.ts';

/** Ends a run that hangs. A trial that needs longer (FAULT_KILLS, FAULT_SECONDS) sets TEST_MINUTES. */
const MINUTES = Number(process.env['TEST_MINUTES'] ?? 40);

/**
 * `npm test`: tests every promise of the product once, on one PostgreSQL and one Redis. `--all` (`npm run test:all`) includes the
 * expensive suites, `*.full-spec.ts` and `*.browser-spec.ts`. Other arguments go to Jest.
 */
const [all, words] = [process.argv.includes('--all'), process.argv.slice(2).filter((word) => word !== '--all')];
const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stop.abort());
let stopServices = async (): Promise<void> => undefined;
try {
  // Some tests run the built apps. The compiler and the servers use different cores.
  const [built, services] = await Promise.allSettled([ensureBuilt(stop.signal), startTestServices()]);
  if (services.status === 'rejected') throw services.reason;
  stopServices = services.value;
  if (built.status === 'rejected') throw built.reason;
  process.exitCode = stop.signal.aborted ? 1 : await runJest();
} catch (error) {
  process.exitCode = reportError(error);
} finally {
  await stopServices();
}

/** @throws UserError when the run exceeds its minutes */
async function runJest(): Promise<number> {
  const jest = join(repositoryRoot, 'node_modules', 'jest', 'bin', 'jest.js');
  const runsAll = all || words.some((word) => /full-spec|browser-spec/.test(word));
  // Jest gets its own process group, since its workers would outlive it.
  const child = spawn(process.execPath, [jest, ...words], {
    cwd: repositoryRoot,
    env: {
      ...process.env,
      // Vite leaves `production` here after it has built the console.
      NODE_ENV: 'test',
      // Suites allocate much and keep little, so a larger young generation saves a tenth of the processor time.
      NODE_OPTIONS: `${process.env['NODE_OPTIONS'] ?? ''} --max-semi-space-size=64`.trim(),
      ISS_TEST_ALL: String(runsAll),
      // All workers load the same packages; one of them compiles each.
      NODE_COMPILE_CACHE: join(repositoryRoot, 'node_modules', '.cache', 'compiled'),
    },
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
      `The tests were ended after ${MINUTES} minutes. The suites without a line above did not finish. Set TEST_MINUTES for more.`,
    );
  }
  if (signal !== null && !stop.signal.aborted) throw new UserError(`Jest was ended from outside with ${signal}.`);
  return status ?? 1;
}
