import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { repositoryRoot } from '../root.ts';
import { howToGet, installMissing, missingPackages } from './frame/packages.ts';
import { type Verdict, verdictsIn } from './frame/verdict.ts';
import { TRIALS } from './trials.ts';

/**
 * `npm run trial -- all`: installs the Debian packages that the trials need (`--no-install` only lists the missing ones), runs
 * each trial that ends within minutes, and prints a table. Names after `--` select trials. Exits with 1 if a trial fails or
 * cannot run.
 */
interface Outcome {
  readonly name: string;
  readonly verdicts: readonly Verdict[];
  readonly isWhole: boolean;
  readonly seconds: number;
}

const words = process.argv.slice(2).filter((word) => !word.startsWith('--'));
const chosen = Object.entries(TRIALS).filter(([name, { takes }]) =>
  words.length === 0 ? takes === 'minutes' : words.includes(name),
);
const packages = chosen.flatMap(([, plan]) => [...plan.packages]);
const missing = process.argv.includes('--no-install') ? missingPackages(packages) : installMissing(packages);
if (missing.length > 0) console.error(howToGet(missing));

const outcomes: Outcome[] = [];
for (const [name, plan] of chosen) {
  console.log(`\n== ${name}`);
  const lacking = plan.packages.filter((wanted) => missing.includes(wanted));
  if (lacking.length === 0) outcomes.push(await run(name));
  else {
    const text = howToGet(lacking);
    console.log(text);
    outcomes.push({ name, verdicts: [{ word: 'skipped', text }], isWhole: false, seconds: 0 });
  }
}

console.log('\n== verdicts');
for (const { name, verdicts, isWhole, seconds } of outcomes) {
  const count = (word: Verdict['word']): number => verdicts.filter((verdict) => verdict.word === word).length;
  const counts = `${count('holds')} hold, ${count('BROKEN')} broken, ${count('skipped')} skipped`;
  console.log(`${(isWhole ? 'holds' : 'BROKEN').padEnd(7)}  ${name.padEnd(20)} ${counts} (${seconds} s)`);
}
process.exitCode = outcomes.length > 0 && outcomes.every(({ isWhole }) => isWhole) ? 0 : 1;

async function run(name: string): Promise<Outcome> {
  const startedAtMs = performance.now();
  const child = spawn(process.execPath, [join(repositoryRoot, 'tools/run.mjs'), `trials/${name}`], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const stop = (): boolean => child.kill('SIGTERM');
  process.once('SIGINT', stop).once('SIGTERM', stop);
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
    process.stdout.write(chunk);
  });
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  process.off('SIGINT', stop).off('SIGTERM', stop);
  const seconds = Math.round((performance.now() - startedAtMs) / 1_000);
  return { name, verdicts: verdictsIn(output), isWhole: code === 0, seconds };
}
