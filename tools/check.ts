import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from './root.ts';

const openApi = existsSync(join(repositoryRoot, 'openapi.json')) ? [['redocly', 'lint', 'openapi.json']] : [];

/**
 * `npm run check`: everything that must hold before a change is merged; all of it runs, whatever fails. The lanes of a
 * stage run side by side, the steps of a lane one after the other.
 */
const stages: string[][][][] = [
  [
    [
      ['eslint', '.', '--max-warnings', '0'],
      ['prettier', '--check', '--log-level', 'warn', '.'],
      ['depcruise', 'apps', 'libs', '--config', 'dependency-cruiser.cjs'],
      ...openApi,
    ],
    [
      ['tsc', '-b', 'tsconfig.json'],
      ['tsc', '-p', 'tsconfig.test.json'],
    ],
  ],
  [[['node', 'tools/run.mjs', 'test']]],
];

interface Outcome {
  step: string;
  passed: boolean;
  seconds: number;
}

const outcomes: Outcome[] = [];
for (const lanes of stages) {
  await Promise.all(
    lanes.map(async (steps) => {
      for (const step of steps) outcomes.push(await run(step, lanes.length > 1));
    }),
  );
}

console.log('\n== summary');
for (const { step, passed, seconds } of outcomes)
  console.log(`${passed ? 'passed' : 'FAILED'}  ${step} (${seconds} s)`);
process.exitCode = outcomes.every(({ passed }) => passed) ? 0 : 1;

/** What a step prints is kept back until it has ended if others print meanwhile. */
async function run([command = '', ...args]: string[], hasNeighbours: boolean): Promise<Outcome> {
  const step = [command, ...args].join(' ');
  const begin = Date.now();
  if (!hasNeighbours) console.log(`\n== ${step}`);
  const child = spawn(command, args, {
    cwd: repositoryRoot,
    stdio: hasNeighbours ? ['ignore', 'pipe', 'pipe'] : 'inherit',
    // Redocly would tell its makers of each run, and ask for newer versions.
    env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
    shell: process.platform === 'win32',
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
  return { step, passed, seconds: Math.round((Date.now() - begin) / 1000) };
}
