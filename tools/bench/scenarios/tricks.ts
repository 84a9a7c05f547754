import { join } from 'node:path';
import { repositoryRoot } from '../../root.ts';
import type { Load } from '../load-generator.ts';
import { alternate, figure } from '../measure.ts';
import type { Line, Outcome } from '../run.ts';
import { readFlows } from './reads.ts';
import { type Bench, OWNER, type Sample, sample } from './scenario.ts';

const PRELOADED = join(repositoryRoot, 'tools/bench/without-trick.cjs');
/** A trick stays if it saves at least a tenth of the processor time of one process. */
const MOST = 0.9;
/** The fewest pairs of measurements, and their shortest duration. */
const LEAST_ROUNDS = 8;
const LEAST_MS = 1_000;

type Flow = 'latest' | 'byId' | 'create';

/** The tricks that `without-trick.cjs` can remove, each with the hot routes that it is for. */
const TRICKS: Readonly<Record<string, { what: string; flows: readonly Flow[] }>> = {
  hotLane: { what: 'Hot lane', flows: ['latest', 'create'] },
  batches: { what: 'Batches of requests', flows: ['latest', 'create'] },
  recentAnswers: { what: 'Recent answers', flows: ['latest', 'byId'] },
  knownTokens: { what: 'Known tokens', flows: ['latest'] },
  sharedStatements: { what: 'Shared statements', flows: ['latest', 'create'] },
  logLines: { what: 'Prepared log lines', flows: ['latest'] },
};

/** Compares the processor time per request of a gateway with each trick, and of one without it. */
export async function tricks(bench: Bench): Promise<Outcome> {
  const { latest, byId } = await readFlows(bench, 'trick-');
  const create = { kind: 'create', tenantId: OWNER, headers: bench.owner } as const;
  const loads: Record<Flow, Load['flow']> = { latest, byId, create };
  const lines: Line[] = [];
  for (const [name, { what, flows }] of Object.entries(TRICKS)) {
    for (const flow of flows) lines.push(...(await compare(bench, { name, what: `${what}: ${flow}` }, loads[flow])));
  }
  return { lines };
}

/** Measures a gateway with the trick and one without it, in alternation. */
async function compare(bench: Bench, trick: { name: string; what: string }, flow: Load['flow']): Promise<Line[]> {
  const { stage, effort } = bench;
  const rounds = Math.max(LEAST_ROUNDS, effort.rounds);
  const measureMs = Math.max(LEAST_MS, effort.measureMs);
  const withIt = await stage.startGateway();
  const without = await stage.startGateway({ NODE_OPTIONS: `--require ${PRELOADED}`, WITHOUT_TRICK: trick.name });
  const samples = await alternate(
    { rounds, uncounted: 2 },
    {
      withIt: () => sample(bench, withIt, flow, { measureMs }),
      without: () => sample(bench, without, flow, { measureMs }),
    },
  ).finally(() => Promise.all([withIt.stop(), without.stop()]));
  const line = (name: string, us: (one: Sample) => number): Line => ({
    id: `trick-${trick.what}-${name}`,
    what: `${trick.what}, ${name}`,
    figure: figure(samples.withIt.map(us)),
    unit: 'µs',
    against: { what: 'without', figure: figure(samples.without.map(us)) },
    target: { most: MOST },
  });
  return [line('gateway', ({ gatewayUs }) => gatewayUs), line('PostgreSQL', ({ postgresUs }) => postgresUs)];
}
