import { parseArgs } from 'node:util';
import { ensureBuilt } from '../build.ts';
import { reportError, UserError } from '../processes.ts';
import { currentCommit, describeMachine, document, load, store } from './report.ts';
import { comparison, costTable, type Outcome, profileTable, type Run, table } from './run.ts';
import type { Bench, Effort } from './scenarios/scenario.ts';
import { openStage } from './stage.ts';

/**
 * `npm run bench`: everything on this machine, with the ceilings measured in the same run. `--quick` for a first look at
 * what has a target, `--only reads,writes` for a part, `--name NAME` to keep it, `--document` to put it into
 * docs/performance.md, `--compare A B` for two finished runs, `--cpu-profiles FOLDER` for where the time goes.
 */
// Loaded when it is their turn: they need the built libraries, and the first command may have to build them.
const PARTS = {
  documents: async (bench: Bench) => (await import('./scenarios/documents.ts')).documents(bench),
  reads: async (bench: Bench) => (await import('./scenarios/reads.ts')).reads(bench),
  writes: async (bench: Bench) => (await import('./scenarios/writes.ts')).writes(bench),
  profile: async (bench: Bench) => (await import('./scenarios/profile.ts')).profiles(bench),
  deliveries: async (bench: Bench) => (await import('./scenarios/deliveries.ts')).deliveries(bench),
  audience: async (bench: Bench) => (await import('./scenarios/audience.ts')).audience(bench),
  growth: async (bench: Bench) => (await import('./scenarios/growth.ts')).growth(bench),
  scale: async (bench: Bench) => (await import('./scenarios/scale.ts')).scale(bench),
  memory: async (bench: Bench) => (await import('./scenarios/memory.ts')).memory(bench),
  log: async (bench: Bench) => (await import('./scenarios/log.ts')).log(bench),
  client: async (bench: Bench) => (await import('./scenarios/client.ts')).client(bench),
  console: async (bench: Bench) => (await import('./scenarios/console.ts')).consolePage(bench),
  hostile: async (bench: Bench) => (await import('./scenarios/hostile.ts')).hostile(bench),
} as const satisfies Record<string, (bench: Bench) => Promise<Outcome>>;
type Part = keyof typeof PARTS;

/** These explain and size, and have no targets. */
const FULL_ONLY: readonly Part[] = ['profile', 'scale'];

const QUICK: Effort = { rounds: 2, uncounted: 1, warmUpMs: 200, measureMs: 600, quick: true };
const FULL: Effort = { rounds: 3, uncounted: 1, warmUpMs: 800, measureMs: 3000, quick: false };

const isPart = (name: string): name is Part => Object.hasOwn(PARTS, name);

async function measure(options: {
  quick: boolean;
  only: string | undefined;
  cpuProfiles: string | undefined;
}): Promise<Run> {
  const standard = Object.keys(PARTS).filter((name) => !(options.quick && FULL_ONLY.some((part) => part === name)));
  const names = options.only?.split(',') ?? standard;
  const unknown = names.find((name) => !isPart(name));
  if (unknown !== undefined) throw new UserError(`--only ${unknown}: the parts are ${Object.keys(PARTS).join(', ')}.`);
  await ensureBuilt();
  const startedAt = performance.now();
  const log = (text: string): void =>
    console.error(`${((performance.now() - startedAt) / 1000).toFixed(0).padStart(5)} s  ${text}`);
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
    await (await import('./scenarios/seed.ts')).seedTenants(bench);
    const run: Run = {
      at: new Date().toISOString(),
      commit: currentCommit(),
      machine: describeMachine(await stage.postgresVersion(), await stage.redisVersion()),
      quick: options.quick,
      lines: [],
      costs: [],
      curves: [],
      profiles: [],
    };
    for (const name of names.filter(isPart)) {
      log(`measuring ${name}`);
      const { lines, costs = [], curves = [], profiles = [] } = await PARTS[name](bench);
      run.lines.push(...lines);
      run.costs.push(...costs);
      run.curves.push(...curves);
      run.profiles.push(...profiles);
    }
    log('done');
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
    const tables = [
      ...(run.lines.length === 0 ? [] : [table(run.lines)]),
      ...(run.costs.length === 0 ? [] : [costTable(run.costs)]),
      ...(run.profiles.length === 0 ? [] : [profileTable(run.profiles)]),
    ];
    console.log([...tables, `Stored in ${file}`].join('\n\n'));
  }
} catch (error) {
  process.exitCode = reportError(error);
}
process.exit();
