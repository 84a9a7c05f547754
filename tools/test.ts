import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { ensureBuilt } from './build.ts';
import { reportError } from './processes.ts';
import { repositoryRoot } from './root.ts';
import { startTestServices } from './testing/services.ts';

/** `npm test`: every Jest project, against one PostgreSQL and one Redis. Further arguments go to Jest. */
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
process.exit();

function runJest(): Promise<number> {
  const jest = join(repositoryRoot, 'node_modules', 'jest', 'bin', 'jest.js');
  const child = spawn(process.execPath, [jest, ...process.argv.slice(2)], { cwd: repositoryRoot, stdio: 'inherit' });
  stop.signal.addEventListener('abort', () => child.kill('SIGTERM'));
  return new Promise((resolve) => child.once('exit', (status) => resolve(status ?? 1)));
}
