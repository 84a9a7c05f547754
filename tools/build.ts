import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, globSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { buildConsole, CONSOLE_DIST } from './console/console.ts';
import { UserError } from './processes.ts';
import { repositoryRoot } from './root.ts';

/** Names TypeScript 7 within the repository. TypeScript 6 has a `tsc` as well, and npm links either one as `.bin/tsc`. */
export const COMPILER = join('node_modules', 'typescript-native', 'bin', 'tsc');

const entries = ['api-gateway', 'webhook-worker', 'cli'].map((app) => `apps/${app}/dist/main.js`);
/** What `dist` folders are made of. The console is bundled with what it imports. */
const COMPILED = [
  '{apps,libs}/*/src/**/*.ts',
  '{apps,libs}/*/{package,tsconfig}.json',
  'tsconfig*.json',
  'package-lock.json',
];
const BUNDLED = [
  'apps/console/{index.html,vite.config.ts}',
  'apps/console/src/**/*.*',
  'libs/{client,domain,tlog}/src/**/*.ts',
  'package-lock.json',
];

/**
 * Builds what the `dist` folders lack. Sizes and times of all sources are compared with those of the last build, which
 * takes milliseconds; to ask the compiler would take seconds at every start.
 * @throws UserError when the sources don't compile; the compiler's report is printed.
 */
export async function ensureBuilt(abort?: AbortSignal): Promise<void> {
  const complete = entries.every((file) => existsSync(join(repositoryRoot, file)));
  await Promise.all([
    unlessStamped('build-stamp', COMPILED, complete, async () => compile(complete, abort)),
    unlessStamped('console-stamp', BUNDLED, existsSync(join(CONSOLE_DIST, 'index.html')), buildConsole),
  ]);
}

async function unlessStamped(
  stamp: string,
  patterns: readonly string[],
  isComplete: boolean,
  build: () => Promise<void>,
): Promise<void> {
  const stampFile = join(repositoryRoot, '.nx', stamp);
  const state = sourceState(patterns);
  if (isComplete && existsSync(stampFile) && readFileSync(stampFile, 'utf8') === state) return;
  console.error(stamp === 'build-stamp' ? 'Building …' : 'Building the console …');
  await build();
  mkdirSync(dirname(stampFile), { recursive: true });
  writeFileSync(stampFile, state);
}

async function compile(complete: boolean, abort: AbortSignal | undefined): Promise<void> {
  // The compiler takes a dist folder that was half deleted for complete.
  const compilerArguments = [COMPILER, '-b', 'tsconfig.json', ...(complete ? [] : ['--force'])];
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
}

function sourceState(patterns: readonly string[]): string {
  const files = globSync([...patterns], { cwd: repositoryRoot, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith('spec.ts'))
    .map((entry) => relative(repositoryRoot, join(entry.parentPath, entry.name)));
  const hash = createHash('sha256');
  for (const file of files.sort()) {
    const { size, mtimeMs } = statSync(join(repositoryRoot, file));
    hash.update(`${file} ${size} ${mtimeMs}\n`);
  }
  return hash.digest('hex');
}
