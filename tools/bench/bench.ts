import { parseArgs } from 'node:util';
import { ensureBuilt } from '../build.ts';
import { reportError, UserError } from '../processes.ts';
import { ALL_PARTS, isPart, type Part, QUICK_PARTS } from './parts.ts';
import { openPerformer } from './performer.ts';
import { currentCommit, describeMachine, document, load, store, storePlots } from './report.ts';
import { runParts } from './run-parts.ts';
import { comparison, partText, type Run, summary } from './run.ts';

/**
 * `npm run bench`: runs all measurements on this machine, with the ceilings in the same run.
 *
 * - `--quick`: an overview in four minutes.
 * - `--only reads,writes`: only these parts.
 * - `--name NAME`: the name of the results file.
 * - `--document`: writes the results into docs/performance.md, unless a part failed.
 * - `--compare A B`: compares two finished runs.
 * - `--cpu-profiles FOLDER`: stores CPU profiles of the processes.
 */
const MINUTE_MS = 60_000;
/** The deadline of a part. */
const DEADLINE_MS = { quick: 3 * MINUTE_MS, full: 60 * MINUTE_MS };

function partsOf({ quick, only }: { quick: boolean; only: string | undefined }): readonly Part[] {
  if (only === undefined) return quick ? QUICK_PARTS : ALL_PARTS;
  return only.split(',').map((name) => {
    if (isPart(name)) return name;
    throw new UserError(`--only ${name}: the parts are ${ALL_PARTS.join(', ')}.`);
  });
}

async function measure(options: {
  quick: boolean;
  only: string | undefined;
  name: string;
  cpuProfiles: string | undefined;
}): Promise<Run> {
  const { quick, name, cpuProfiles } = options;
  const parts = partsOf(options);
  await ensureBuilt();
  const empty: Run = {
    at: new Date().toISOString(),
    commit: currentCommit(),
    machine: describeMachine('unknown', 'unknown'),
    quick,
    parts: [],
    lines: [],
    costs: [],
    curves: [],
    profiles: [],
  };
  console.error(`Measuring ${parts.join(', ')} …`);
  return runParts(empty, parts, {
    open: () => openPerformer({ quick, cpuProfiles }),
    deadlineMs: quick && options.only === undefined ? DEADLINE_MS.quick : DEADLINE_MS.full,
    clock: () => performance.now(),
    afterPart(run, report, outcome) {
      store(run, name);
      console.log(`${partText(report, outcome)}\n`);
    },
  });
}

// Ends this process if its parent is killed.
if (process.channel) process.once('disconnect', () => process.exit(1));
try {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      quick: { type: 'boolean', default: false },
      only: { type: 'string' },
      name: { type: 'string' },
      compare: { type: 'boolean', default: false },
      document: { type: 'boolean', default: false },
      'cpu-profiles': { type: 'string' },
    },
  });
  if (values.compare) {
    const [a, b] = positionals;
    if (a === undefined || b === undefined) throw new UserError('--compare takes the names or files of two runs.');
    console.log(comparison(load(a), load(b)));
  } else {
    const { quick, only, name = quick ? 'quick' : 'latest', 'cpu-profiles': cpuProfiles } = values;
    const run = await measure({ quick, only, name, cpuProfiles });
    const file = store(run, name);
    storePlots(run, name);
    const isComplete = run.parts.every(({ result }) => result !== 'failed');
    if (values.document && isComplete) document(run, name);
    console.log(`${summary(run)}\nStored in ${file}`);
    process.exitCode = isComplete ? 0 : 1;
  }
} catch (error) {
  process.exitCode = reportError(error);
}
process.exit();
