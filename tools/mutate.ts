import { spawn } from 'node:child_process';
import { constants, setPriority } from 'node:os';
import { join } from 'node:path';
import { reportError, UserError } from './processes.ts';
import { repositoryRoot } from './root.ts';

/**
 * `npm run tool -- mutate domain`: tests the specs of a library by changing its code. Further words are options of Stryker:
 * `--mutate libs/domain/src/json/diff.ts` takes one file, `--force` ignores previous results.
 */
const LIBRARIES = ['domain', 'tlog'];

try {
  process.exitCode = await runStryker(...process.argv.slice(2));
} catch (error) {
  process.exitCode = reportError(error);
}

/** @throws UserError for a library that has no such test */
async function runStryker(library = '', ...options: string[]): Promise<number> {
  if (!LIBRARIES.includes(library)) {
    throw new UserError(`Name a library: npm run tool -- mutate ${LIBRARIES.join(' | ')}`);
  }
  // The run is long, so it gets the lowest priority.
  setPriority(constants.priority.PRIORITY_LOW);
  const stryker = join(repositoryRoot, 'node_modules', '@stryker-mutator', 'core', 'bin', 'stryker.js');
  const child = spawn(process.execPath, [stryker, 'run', 'tools/stryker.config.mjs', ...options], {
    cwd: repositoryRoot,
    env: { ...process.env, MUTATE_LIBRARY: library },
    stdio: 'inherit',
  });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal));
  return new Promise<number>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve(code ?? 128 + constants.signals[signal ?? 'SIGTERM']));
  });
}
