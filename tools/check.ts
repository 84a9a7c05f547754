import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { COMPILER } from './build.ts';
import { repositoryRoot } from './root.ts';

const openApi = existsSync(join(repositoryRoot, 'openapi.json')) ? [['redocly', 'lint', 'openapi.json']] : [];

/**
 * `npm run check`: everything that must hold before a change is merged. All steps run, even after one has failed. The lanes of
 * a stage run side by side, and the steps of a lane one after the other.
 */
const stages: string[][][][] = [
  [
    [
      ['eslint', '.', '--max-warnings', '0'],
      ['prettier', '--check', '--log-level', 'warn', '.'],
      ['depcruise', 'apps', 'libs', '--config', 'dependency-cruiser.cjs'],
      ...openApi,
      ['node', 'tools/run.mjs', 'advisories'],
    ],
    [
      ['node', COMPILER, '-b', 'tsconfig.json'],
      ['node', COMPILER, '-p', 'tsconfig.test.json'],
      ['node', COMPILER, '-p', 'apps/console/tsconfig.spec.json'],
    ],
  ],
  [[['node', 'tools/run.mjs', 'test', '--all']]],
];

interface Outcome {
  step: string;
  result: 'passed' | 'FAILED' | 'not run';
  seconds: number;
}

const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stop.abort());
const outcomes: Outcome[] = [];
for (const lanes of stages) {
  await Promise.all(
    lanes.map(async (steps) => {
      for (const step of steps) outcomes.push(await run(step, lanes.length > 1));
    }),
  );
}

console.log('\n== summary');
for (const { step, result, seconds } of outcomes) console.log(`${result.padEnd(7)}  ${step} (${seconds} s)`);
if (stop.signal.aborted) console.log('Stopped before the end.');
process.exitCode = outcomes.every(({ result }) => result === 'passed') ? 0 : 1;

/** What a step prints is kept back until it has ended if others print meanwhile. */
async function run([command = '', ...args]: string[], hasNeighbours: boolean): Promise<Outcome> {
  const step = [command, ...args].join(' ');
  if (stop.signal.aborted) return { step, result: 'not run', seconds: 0 };
  const begin = Date.now();
  if (!hasNeighbours) console.log(`\n== ${step}`);
  const child = spawn(command, args, {
    cwd: repositoryRoot,
    stdio: hasNeighbours ? ['ignore', 'pipe', 'pipe'] : 'inherit',
    // Redocly would tell its makers of each run, and ask for newer versions.
    env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
    shell: process.platform === 'win32',
    signal: stop.signal,
  });
  const printed: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => printed.push(text));
  }
  const passed = await once(child, 'close').then(
    ([status]) => status === 0,
    (error: unknown) => {
      printed.push(String(error));
      return false;
    },
  );
  if (hasNeighbours) console.log(`\n== ${step}\n${printed.join('')}`);
  return { step, result: passed ? 'passed' : 'FAILED', seconds: Math.round((Date.now() - begin) / 1000) };
}
