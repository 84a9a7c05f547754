import { spawn } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureBuilt } from './build.ts';
import { reportError } from './processes.ts';
import { repositoryRoot } from './root.ts';
import { startTestServices } from './testing/services.ts';

/** `npm test`: every Jest project, against one PostgreSQL and one Redis. Further arguments go to Jest. */
const report = join(tmpdir(), `iss-jest-${process.pid}.json`);
let stopServices = async (): Promise<void> => undefined;
let code: number;
try {
  // Some tests run the built apps as processes.
  await ensureBuilt();
  stopServices = await startTestServices();
  code = await runJest();
  const { numPassedTests, numFailedTests, numFailedTestSuites } = JSON.parse(readFileSync(report, 'utf8'));
  // A suite that does not even load counts too.
  console.log(`\n${numPassedTests} passed, ${Math.max(numFailedTests, numFailedTestSuites)} failed`);
} catch (error) {
  code = reportError(error);
} finally {
  await stopServices();
  rmSync(report, { force: true });
}
process.exit(code);

function runJest(): Promise<number> {
  const jest = join(repositoryRoot, 'node_modules', 'jest', 'bin', 'jest.js');
  const workers = `--maxWorkers=${Math.max(2, availableParallelism() - 1)}`;
  const jestArguments = [jest, workers, '--json', `--outputFile=${report}`, ...process.argv.slice(2)];
  // With --json Jest prints its results twice, as text on standard error and as JSON on standard output.
  const child = spawn(process.execPath, jestArguments, {
    cwd: repositoryRoot,
    stdio: ['inherit', 'ignore', 'inherit'],
  });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal));
  return new Promise((resolve) => child.once('exit', (status) => resolve(status ?? 1)));
}
