import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, globSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { UserError } from './processes.ts';
import { repositoryRoot } from './root.ts';

const entries = ['api-gateway', 'webhook-worker', 'cli'].map((app) => `apps/${app}/dist/main.js`);
const stampFile = join(repositoryRoot, '.nx', 'build-stamp');

/**
 * Compiles what the `dist` folders lack. Sizes and times of all sources are compared with those of the last build, which
 * takes milliseconds; to ask the compiler would take seconds at every start.
 * @throws UserError when the sources don't compile; the compiler's report is printed.
 */
export async function ensureBuilt(abort?: AbortSignal): Promise<void> {
  const state = sourceState();
  const complete = entries.every((file) => existsSync(join(repositoryRoot, file)));
  if (complete && existsSync(stampFile) && readFileSync(stampFile, 'utf8') === state) return;
  console.error('Building …');
  const compiler = join(repositoryRoot, 'node_modules', 'typescript', 'bin', 'tsc');
  // The compiler takes a dist folder that was half deleted for complete.
  const compilerArguments = [compiler, '-b', 'tsconfig.json', ...(complete ? [] : ['--force'])];
  const status = await new Promise<number | null>((resolve) => {
    const child = spawn(process.execPath, compilerArguments, {
      cwd: repositoryRoot,
      stdio: ['ignore', 2, 2],
      ...(abort === undefined ? {} : { signal: abort }),
    });
    child.once('error', () => resolve(null));
    child.once('exit', resolve);
  });
  if (status !== 0) throw new UserError('The build failed: see the compiler report above.');
  mkdirSync(dirname(stampFile), { recursive: true });
  writeFileSync(stampFile, state);
}

function sourceState(): string {
  const patterns = [
    '{apps,libs}/*/src/**/*.ts',
    '{apps,libs}/*/{package,tsconfig}.json',
    'tsconfig*.json',
    'package-lock.json',
  ];
  const files = globSync(patterns, { cwd: repositoryRoot }).filter((file) => !file.endsWith('spec.ts'));
  const hash = createHash('sha256');
  for (const file of files.sort()) {
    const { size, mtimeMs } = statSync(join(repositoryRoot, file));
    hash.update(`${file} ${size} ${mtimeMs}\n`);
  }
  return hash.digest('hex');
}
