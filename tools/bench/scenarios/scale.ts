import { alternate, alternateOver, figure } from '../measure.ts';
import { Missing, type Outcome } from '../run.ts';
import { type Sink, startSink } from '../sink.ts';
import { deliveryRate } from './deliveries.ts';
import { type Bench, costOf, latestPath, OWNER, rateOf, redisUrlOf, type Sample, sample } from './scenario.ts';
import { seedSubjects, settle } from './seed.ts';
import { seedSubscriptions, unsubscribeAll } from './subscriptions.ts';

const SHARED = "sharing this machine's cores";

/** Measures a gateway with few and many callers, and the gain of a second gateway and a second worker on this machine. */
export async function scale(bench: Bench): Promise<Outcome> {
  await seedSubjects(bench, { prefix: PREFIX, upTo: SUBJECTS });
  await settle(bench);
  const callers = await fewAndMany(bench);
  const gateways = await twoGateways(bench);
  const workers = await twoWorkers(bench).catch((error: unknown) => {
    if (error instanceof Missing) return error;
    throw error;
  });
  return {
    skipped: workers instanceof Missing ? [workers.message] : [],
    lines: [...callers.lines, ...gateways.lines, ...(workers instanceof Missing ? [] : workers)],
    costs: [...callers.costs, ...gateways.costs],
  };
}

const PREFIX = 'scale-';
const SUBJECTS = 1000;

function flowsOf({ owner }: Bench) {
  const paths = Array.from({ length: SUBJECTS }, (_, index) => latestPath(OWNER, `${PREFIX}${index + 1}`));
  return {
    read: { kind: 'get', expect: 200, headers: owner, paths },
    create: { kind: 'create', tenantId: OWNER, headers: owner },
  } as const;
}

/** Numbers of callers, each of which sends its next request after a response. */
const CALLERS = [1, 16, 64, 256];
/** Rates of independent arrivals that a gateway on two cores can serve. */
const ARRIVALS = { read: 4_000, create: 1_500 } as const;
const WORK = { read: 'Latest reads', create: 'Creates' } as const;
type Kind = keyof typeof WORK;

async function fewAndMany(bench: Bench): Promise<Required<Pick<Outcome, 'lines' | 'costs'>>> {
  const { gateway, effort } = bench;
  const flows = flowsOf(bench);
  const loads = (['read', 'create'] as const).flatMap((kind) => [
    ...CALLERS.map((connections) => ({ kind, connections, of: `${connections} connections`, options: { connections } })),
    {
      kind,
      connections: 0,
      of: `${ARRIVALS[kind]} arrivals a second`,
      options: { connections: 256, ratePerSecond: ARRIVALS[kind] },
    },
  ]);
  const measured = await alternateOver(effort, loads, ({ kind, options }) =>
    sample(bench, gateway, flows[kind], options),
  );
  return {
    lines: measured.flatMap(({ size, values }) => linesOf(size, values)),
    costs: measured.map(({ size, values }) => costOf(idOf(size), `${WORK[size.kind]}, ${size.of}`, values)),
  };
}

const idOf = ({ kind, connections }: { kind: Kind; connections: number }): string =>
  `${kind}-${connections === 0 ? 'open' : connections}`;

function linesOf(size: { kind: Kind; connections: number; of: string }, samples: readonly Sample[]): Outcome['lines'] {
  const what = `${WORK[size.kind]}, ${size.of}`;
  const id = idOf(size);
  return [
    { id, what, figure: rateOf(samples), unit: '/s' },
    {
      id: `${id}-p99`,
      what: `${what}: p99`,
      figure: figure(samples.map(({ p99 }) => p99)),
      unit: 'ms',
      against: { what: 'median, ms', figure: figure(samples.map(({ p50 }) => p50)) },
    },
    {
      id: `${id}-busy`,
      what: `${what}: share of the cores that was busy`,
      figure: figure(samples.map(({ busy }) => busy)),
      unit: '×',
    },
  ];
}

async function twoGateways(bench: Bench): Promise<Required<Pick<Outcome, 'lines' | 'costs'>>> {
  const { gateway, stage, effort } = bench;
  const { read, create } = flowsOf(bench);
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

/** Measures one worker, then two, then one again. A new worker per round would be cold. */
async function twoWorkers(bench: Bench): Promise<Outcome['lines']> {
  const { stage, effort } = bench;
  redisUrlOf(bench);
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
