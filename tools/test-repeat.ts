import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { failuresOf, summaryOf, type Run } from './testing/repeated-runs.ts';
import { repositoryRoot } from './root.ts';

/**
 * `npm run test:repeat -- 30`: runs `npm test` 30 times, every third run beside four busy loops, and prints the failed tests
 * with their number of failures. Further arguments go to `npm test`. Exits with 1 if a test failed.
 */
const BUSY_LOOPS = 4;
const EVERY = 3;

const [count = '30', ...words] = process.argv.slice(2);
const times = Number(count);
if (!Number.isInteger(times) || times < 1 || times > 1000) {
  console.error('npm run test:repeat -- N [arguments of npm test]: N is a whole number from 1 to 1000.');
  process.exit(2);
}

const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stop.abort());
const folder = mkdtempSync(join(tmpdir(), 'iss-test-repeat-'));
const runs: Run[] = [];
try {
  while (runs.length < times && !stop.signal.aborted) {
    const run = await runOnce(runs.length + 1);
    runs.push(run);
    const how = run.failures.length === 0 ? 'passed' : `FAILED: ${run.failures.join('; ')}`;
    console.log(`run ${runs.length} of ${times}${run.isBusy ? ', beside busy loops' : ''}: ${run.seconds} s, ${how}`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
console.log(`\n${summaryOf(runs)}`);
process.exitCode = runs.length === times && runs.every(({ failures }) => failures.length === 0) ? 0 : 1;

/** Runs `npm test` once. Prints its output only if the run fails. */
async function runOnce(number: number): Promise<Run> {
  const isBusy = number % EVERY === 0;
  const loops = isBusy ? Array.from({ length: BUSY_LOOPS }, startBusyLoop) : [];
  const report = join(folder, `${number}.json`);
  const begin = performance.now();
  try {
    const child = spawn(
      process.execPath,
      ['tools/run.mjs', 'test', ...words, '--json', `--outputFile=${report}`, '--silent'],
      { cwd: repositoryRoot, stdio: ['ignore', 'ignore', 'pipe'], signal: stop.signal, killSignal: 'SIGTERM' },
    );
    let printed = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (printed += text));
    const status = await once(child, 'close').then(
      ([code]) => code,
      () => null,
    );
    const failures = existsSync(report) ? failuresOf(JSON.parse(readFileSync(report, 'utf8'))) : [];
    if (status !== 0) console.error(printed);
    if (status !== 0 && failures.length === 0) failures.push(`npm test ended with exit code ${status ?? 'none'}`);
    return { isBusy, seconds: Math.round((performance.now() - begin) / 1000), failures };
  } finally {
    for (const loop of loops) loop.kill('SIGKILL');
  }
}

/** Starts a process that uses a whole core until this process ends. */
function startBusyLoop(): ChildProcess {
  const loop =
    'let end = false; process.on("disconnect", () => (end = true)); (function spin() { for (const until = Date.now() + 100; Date.now() < until; ); if (!end) setImmediate(spin); })()';
  return spawn(process.execPath, ['-e', loop], { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
}
