import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from './root.ts';

const openApi = existsSync(join(repositoryRoot, 'openapi.json')) ? [['redocly', 'lint', 'openapi.json']] : [];

/** `npm run check`: everything that must hold before a change is merged, cheapest first; all of it runs, whatever fails. */
const steps: string[][] = [
  ['eslint', '.', '--max-warnings', '0'],
  ['prettier', '--check', '--log-level', 'warn', '.'],
  ['tsc', '-b', 'tsconfig.json'],
  ['tsc', '-p', 'tsconfig.test.json'],
  ['depcruise', 'apps', 'libs', '--config', 'dependency-cruiser.cjs'],
  ...openApi,
  ['node', 'tools/run.mjs', 'test'],
];

const outcomes = steps.map(([command = '', ...args]) => {
  const step = [command, ...args].join(' ');
  console.log(`\n== ${step}`);
  const begin = Date.now();
  const { status } = spawnSync(command, args, {
    cwd: repositoryRoot,
    stdio: 'inherit',
    // Redocly would tell its makers of each run, and ask for newer versions.
    env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
    shell: process.platform === 'win32',
  });
  return { step, passed: status === 0, seconds: Math.round((Date.now() - begin) / 1000) };
});

console.log('\n== summary');
for (const { step, passed, seconds } of outcomes)
  console.log(`${passed ? 'passed' : 'FAILED'}  ${step} (${seconds} s)`);
process.exitCode = outcomes.every(({ passed }) => passed) ? 0 : 1;
