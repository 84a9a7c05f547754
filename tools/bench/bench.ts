import { parseArgs } from 'node:util';
import { ensureBuilt } from '../build.ts';
import { reportError, UserError } from '../processes.ts';
import { comparison, currentCommit, describeMachine, document, load, type Run, store, table } from './report.ts';
import {
  BENCH_ENVELOPE,
  type Bench,
  type Effort,
  growth,
  memory,
  type Outcome,
  reads,
  scale,
  seedTenants,
  writes,
} from './scenarios.ts';
import { openStage } from './stage.ts';

/**
 * `npm run bench`: everything on this machine, with the ceilings measured in the same run. `--quick` for a first look,
 * `--only reads,writes` for a part, `--name NAME` to keep it, `--document` to put it into docs/performance.md,
 * `--compare A B` for two finished runs, `--cpu-profiles FOLDER` for where the time goes.
 */
// What needs the built libraries is loaded when it is their turn: the first command may have to build them.
const PARTS = {
  documents: async (bench: Bench) => (await import('./documents.ts')).documents(bench),
  reads,
  writes,
  deliveries: async (bench: Bench) => (await import('./deliveries.ts')).deliveries(bench),
  growth,
  scale,
  memory,
} as const satisfies Record<string, (bench: Bench) => Promise<Outcome>>;
type Part = keyof typeof PARTS;

const QUICK: Effort = { rounds: 2, warmUpMs: 500, measureMs: 1500, quick: true };
const FULL: Effort = { rounds: 5, warmUpMs: 2000, measureMs: 8000, quick: false };

const isPart = (name: string): name is Part => Object.hasOwn(PARTS, name);

async function measure(options: {
  quick: boolean;
  only: string | undefined;
  cpuProfiles: string | undefined;
}): Promise<Run> {
  const names = options.only?.split(',') ?? Object.keys(PARTS);
  const unknown = names.find((name) => !isPart(name));
  if (unknown !== undefined) throw new UserError(`--only ${unknown}: the parts are ${Object.keys(PARTS).join(', ')}.`);
  await ensureBuilt();
  const stage = await openStage(options.cpuProfiles === undefined ? {} : { cpuProfiles: options.cpuProfiles });
  try {
    const bench: Bench = {
      stage,
      effort: options.quick ? QUICK : FULL,
      gateway: await stage.startGateway(),
      noOp: await stage.startNoOp(),
      owner: await stage.authorization('owner'),
      grantee: await stage.authorization('grantee'),
    };
    await seedTenants(bench);
    await stage.sql.query(BENCH_ENVELOPE);
    const run: Run = {
      at: new Date().toISOString(),
      commit: currentCommit(),
      machine: describeMachine(await stage.postgresVersion(), await stage.redisVersion()),
      quick: options.quick,
      lines: [],
      curves: [],
    };
    for (const name of names.filter(isPart)) {
      console.error(`Measuring ${name} …`);
      const { lines, curves = [] } = await PARTS[name](bench);
      run.lines.push(...lines);
      run.curves.push(...curves);
    }
    return run;
  } finally {
    await stage.close();
  }
}

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
    const run = await measure({ quick: values.quick, only: values.only, cpuProfiles: values['cpu-profiles'] });
    const name = values.name ?? (values.quick ? 'quick' : 'latest');
    const file = store(run, name);
    if (values.document) document(run, name);
    console.log(`${table(run)}\n\nStored in ${file}`);
  }
} catch (error) {
  process.exitCode = reportError(error);
}
process.exit();
