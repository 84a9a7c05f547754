import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { repositoryRoot } from './root.ts';

/** `.ci/run`: everything that must hold before a change is merged. All steps run, even after one has failed. */
const steps: string[][] = [
  [
    'nx',
    'run-many',
    '-t',
    'lint',
    'format',
    'typecheck',
    'boundaries',
    'openapi-lint',
    'prose',
    '--outputStyle=static',
  ],
  ['node', 'tools/run.mjs', 'advisories'],
  ['node', 'tools/run.mjs', 'test', '--all'],
];

interface Outcome {
  step: string;
  result: 'passed' | 'FAILED' | 'not run';
  seconds: number;
}

const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stop.abort());
const outcomes: Outcome[] = [];
for (const step of steps) outcomes.push(await run(step));

console.log('\n== summary');
for (const { step, result, seconds } of outcomes) console.log(`${result.padEnd(7)}  ${step} (${seconds} s)`);
if (stop.signal.aborted) console.log('Interrupted before all steps ran.');
process.exitCode = outcomes.every(({ result }) => result === 'passed') ? 0 : 1;

async function run([command = '', ...args]: string[]): Promise<Outcome> {
  const step = [command, ...args].join(' ');
  if (stop.signal.aborted) return { step, result: 'not run', seconds: 0 };
  const begin = Date.now();
  console.log(`\n== ${step}`);
  const child = spawn(command, args, {
    cwd: repositoryRoot,
    stdio: 'inherit',
    // Otherwise Redocly sends usage data and looks for newer versions.
    env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
    shell: process.platform === 'win32',
    signal: stop.signal,
  });
  const passed = await once(child, 'close').then(
    ([status]) => status === 0,
    (error: unknown) => {
      console.error(String(error));
      return false;
    },
  );
  return { step, result: passed ? 'passed' : 'FAILED', seconds: Math.round((Date.now() - begin) / 1000) };
}
