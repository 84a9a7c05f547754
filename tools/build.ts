import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, globSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { CONSOLE_DIST } from './console/console.ts';
import { UserError } from './processes.ts';
import { repositoryRoot } from './root.ts';

const BUILT = [
  ...['api-gateway', 'webhook-worker', 'cli'].map((app) => `apps/${app}/dist/main.js`),
  join(CONSOLE_DIST, 'index.html'),
];
const SOURCES = [
  '{apps,libs}/*/src/**/*.*',
  '{apps,libs}/*/{package,tsconfig*}.json',
  'apps/console/{index.html,vite.config.ts}',
  'tsconfig.base.json',
  'package-lock.json',
];
export const NX = join(repositoryRoot, 'node_modules', 'nx', 'dist', 'bin', 'nx.js');
const STAMP = join(repositoryRoot, '.nx', 'build-stamp');

/**
 * Runs `nx run-many -t build` if a source has changed since the last build. Comparing the sizes and times of all sources takes
 * milliseconds; starting Nx takes seconds.
 * @throws UserError when the sources don't compile; the compiler's report is printed.
 */
export async function ensureBuilt(abort?: AbortSignal): Promise<void> {
  const state = sourceState();
  const isComplete = BUILT.every((file) => existsSync(resolve(repositoryRoot, file)));
  if (isComplete && existsSync(STAMP) && readFileSync(STAMP, 'utf8') === state) return;
  console.error('Building …');
  const status = await new Promise<number | null>((resolve) => {
    const child = spawn(process.execPath, [NX, 'run-many', '-t', 'build', '--outputStyle=static'], {
      cwd: repositoryRoot,
      stdio: ['ignore', 'pipe', 'pipe'],
      ...(abort === undefined ? {} : { signal: abort }),
    });
    const printed: string[] = [];
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => printed.push(text));
    }
    child.once('error', () => resolve(null));
    child.once('close', (code) => {
      if (code !== 0) console.error(printed.join(''));
      resolve(code);
    });
  });
  if (status !== 0) throw new UserError('The build failed: see the compiler report above.');
  mkdirSync(dirname(STAMP), { recursive: true });
  writeFileSync(STAMP, state);
}

function sourceState(): string {
  const files = globSync(SOURCES, { cwd: repositoryRoot, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith('spec.ts'))
    .map((entry) => relative(repositoryRoot, join(entry.parentPath, entry.name)));
  const hash = createHash('sha256');
  for (const file of files.sort()) {
    const { size, mtimeMs } = statSync(join(repositoryRoot, file));
    hash.update(`${file} ${size} ${mtimeMs}\n`);
  }
  return hash.digest('hex');
}
