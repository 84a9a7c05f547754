import { alternate, figure } from '../measure.ts';
import type { Outcome } from '../run.ts';
import { type Sink, startSink } from '../sink.ts';
import { deliveryRate } from './deliveries.ts';
import { type Bench, costOf, latestPath, OWNER, rateOf, sample } from './scenario.ts';
import { seedSubjects, settle } from './seed.ts';
import { seedSubscriptions, unsubscribeAll } from './subscriptions.ts';

const SHARED = "sharing this machine's cores";

/** What a second gateway and a second worker add on this machine. */
export async function scale(bench: Bench): Promise<Outcome> {
  const gateways = await twoGateways(bench);
  const workers = await twoWorkers(bench);
  return { ...gateways, lines: [...gateways.lines, ...workers] };
}

const PREFIX = 'scale-';
const SUBJECTS = 1000;

async function twoGateways(bench: Bench): Promise<Outcome> {
  const { gateway, stage, effort, owner } = bench;
  await seedSubjects(bench, { prefix: PREFIX, upTo: SUBJECTS });
  await settle(bench);
  const paths = Array.from({ length: SUBJECTS }, (_, index) => latestPath(OWNER, `${PREFIX}${index + 1}`));
  const read = { kind: 'get', expect: 200, headers: owner, paths } as const;
  const create = { kind: 'create', tenantId: OWNER, headers: owner } as const;
  const second = await stage.startGateway();
  try {
    const both = [gateway, second];
    const samples = await alternate(effort, {
      readOne: () => sample(bench, gateway, read),
      readTwo: () => sample(bench, both, read),
      createOne: () => sample(bench, gateway, create),
      createTwo: () => sample(bench, both, create),
    });
    return {
      lines: [
        {
          id: 'two-gateways',
          what: `Latest reads, two gateways ${SHARED}`,
          figure: rateOf(samples.readTwo),
          unit: '/s',
          against: { what: 'one gateway', figure: rateOf(samples.readOne) },
        },
        {
          id: 'two-gateways-creates',
          what: `Creates, two gateways ${SHARED}`,
          figure: rateOf(samples.createTwo),
          unit: '/s',
          against: { what: 'one gateway', figure: rateOf(samples.createOne) },
        },
      ],
      costs: [
        costOf('latest-two', 'Read latest, two gateways', samples.readTwo),
        costOf('create-two', 'Create, two gateways', samples.createTwo),
      ],
    };
  } finally {
    await second.stop();
  }
}

/** One worker, then two, then one again: a worker that is started for each round would be measured cold. */
async function twoWorkers(bench: Bench): Promise<Outcome['lines']> {
  const { stage, effort } = bench;
  const sink = await startSink();
  const first = await stage.startWorker();
  try {
    await seedSubscriptions(bench, { tenantId: OWNER, count: 1, port: sink.port });
    const half = { rounds: Math.ceil(effort.rounds / 2), uncounted: effort.uncounted };
    const before = await ratesOf(bench, sink, half);
    const second = await stage.startWorker();
    const two = await ratesOf(bench, sink, effort).finally(() => second.stop());
    const after = await ratesOf(bench, sink, { ...half, uncounted: 0 });
    return [
      {
        id: 'two-workers',
        what: `Deliveries on Redis, two workers ${SHARED}`,
        figure: figure(two),
        unit: '/s',
        against: { what: 'one worker', figure: figure([...before, ...after]) },
      },
    ];
  } finally {
    await unsubscribeAll(bench);
    await first.stop();
    sink.stop();
  }
}

async function ratesOf(bench: Bench, sink: Sink, rounds: { rounds: number; uncounted: number }): Promise<number[]> {
  return (await alternate(rounds, { rate: () => deliveryRate(bench, sink) })).rate;
}
