import { setTimeout as wait } from 'node:timers/promises';
import { waitFor } from '../../testing/wait-for.ts';
import { alternate, alternateOver, ends, type Figure, figure } from '../measure.ts';
import type { Line, Outcome } from '../run.ts';
import { type Sink, startSink } from '../sink.ts';
import { bullmqRate, createToReceiver } from './deliveries.ts';
import { type Bench, costOf, GRANTEE, latestPath, rateOf, redisUrlOf, type Sample, sample } from './scenario.ts';
import { seedSubjects, seedTenant, settle } from './seed.ts';
import { forgetEvents, seedSubscriptions, unsubscribeAll } from './subscriptions.ts';

/** The audience for which docs/performance.md has a target. */
const MANY = 1000;
const BYSTANDER = 'bystander-';
const BYSTANDER_MS = 1000;
const BYSTANDER_RATE = 300;

const tenantOf = (subscriptions: number): string => `audience-${subscriptions}`;

/** Measures the cost of one event with many subscriptions for the writer, the first receiver and another tenant. */
export async function audience(bench: Bench): Promise<Outcome> {
  redisUrlOf(bench);
  const sizes = bench.effort.quick ? [1, MANY] : [1, MANY, 10_000];
  const sink = await startSink();
  try {
    for (const size of sizes) {
      await seedTenant(bench, bench.owner, tenantOf(size));
      await seedSubscriptions(bench, { tenantId: tenantOf(size), count: size, port: sink.port });
    }
    await seedSubjects(bench, { prefix: BYSTANDER, upTo: 1, tenantId: GRANTEE });
    await settle(bench);

    const writers = await createsBy(bench, sizes);
    const worker = await bench.stage.startWorker();
    try {
      const firsts = await firstDeliveriesBy(bench, sink, sizes);
      const bystander = await bystanderLines(bench, sink);
      return {
        lines: [...creates(writers), ...firstDeliveries(firsts), ...bystander],
        costs: ends(writers).map(({ size, samples }, index) =>
          costOf(
            `create-${index === 0 ? 'one' : 'many'}-subscribed`,
            `Create, ${size.toLocaleString('en')} ${size === 1 ? 'subscription' : 'subscriptions'}`,
            samples,
          ),
        ),
        curves: [
          {
            id: 'subscriptions-creates',
            title: "Creates by the number of the tenant's subscriptions",
            x: { name: 'subscriptions', scale: 'log' },
            y: 'creates a second; the worker does not run',
            series: [{ name: 'creates', points: pointsOf(writers) }],
          },
          {
            id: 'subscriptions-first',
            title: 'From a create to its first delivery',
            x: { name: 'subscriptions to the event', scale: 'log' },
            y: 'milliseconds',
            series: [{ name: 'first delivery', points: pointsOf(firsts) }],
          },
        ],
      };
    } finally {
      await unsubscribeAll(bench);
      await worker.stop();
    }
  } finally {
    sink.stop();
  }
}

interface BySize {
  size: number;
  figure: Figure;
}

const pointsOf = (measured: readonly BySize[]): { x: number; y: number }[] =>
  measured.map((one) => ({ x: one.size, y: one.figure.median }));

/**
 * Measures creates per second without a worker, since each create would cause a delivery per subscription, which does not
 * concern the writer.
 */
async function createsBy(bench: Bench, sizes: readonly number[]): Promise<(BySize & { samples: Sample[] })[]> {
  const measured = await alternateOver(bench.effort, sizes, (size) =>
    sample(bench, bench.gateway, { kind: 'create', tenantId: tenantOf(size), headers: bench.owner }),
  );
  await forgetEvents(bench.stage);
  return measured.map(({ size, values }) => ({ size, figure: rateOf(values), samples: values }));
}

async function firstDeliveriesBy(bench: Bench, sink: Sink, sizes: readonly number[]): Promise<BySize[]> {
  // When this event arrives, the worker has finished all previous events.
  await createToReceiver(bench, sink, tenantOf(1));
  const measured = await alternateOver({ rounds: Math.max(5, bench.effort.rounds), uncounted: 1 }, sizes, (size) =>
    toWholeAudience(bench, sink, size),
  );
  return measured.map(({ size, values }) => ({ size, figure: figure(values) }));
}

/** Returns the milliseconds from a create to its first delivery. Resolves when all deliveries have arrived and are recorded. */
async function toWholeAudience(bench: Bench, sink: Sink, size: number): Promise<number> {
  const first = await createToReceiver(bench, sink, tenantOf(size));
  await sink.reached(size);
  const isIdle = async (): Promise<boolean> => {
    const { rows } = await bench.stage.sql.query("SELECT FROM deliveries WHERE status = 'pending' LIMIT 1");
    return rows.length === 0;
  };
  await waitFor(isIdle, { deadlineMs: 60_000, what: 'all deliveries to be recorded' });
  return first;
}

/** Measures another tenant's reads: alone, during an event to the audience, and beside an unrelated busy loop. */
async function bystanderLines(bench: Bench, sink: Sink): Promise<Line[]> {
  const flow = {
    kind: 'get',
    expect: 200,
    paths: [latestPath(GRANTEE, `${BYSTANDER}1`)],
    headers: bench.grantee,
  } as const;
  const options = { connections: 16, measureMs: BYSTANDER_MS, ratePerSecond: BYSTANDER_RATE };
  const quiet = async (): Promise<number> => (await sample(bench, bench.gateway, flow, options)).p99;
  const beside = async (work: () => Promise<unknown>): Promise<number> => {
    const [tail] = await Promise.all([quiet(), wait(bench.effort.warmUpMs).then(work)]);
    return tail;
  };
  const tails = await alternate(
    { rounds: bench.effort.rounds, uncounted: 0 },
    {
      quiet,
      event: () => beside(() => toWholeAudience(bench, sink, MANY)),
      loop: () => beside(() => bullmqRate(bench, sink, MANY)),
    },
  );
  const line = { figure: figure(tails.event), unit: 'ms' } as const;
  return [
    {
      ...line,
      id: 'fan-out-bystander',
      what: "Another tenant's p99 meanwhile",
      against: { what: 'without, ms', figure: figure(tails.quiet) },
      target: { most: 1.25 },
    },
    {
      ...line,
      id: 'fan-out-bystander-loop',
      what: "The same, against as many POSTs of BullMQ's own loop",
      against: { what: 'meanwhile, ms', figure: figure(tails.loop) },
    },
  ];
}

function creates(measured: readonly BySize[]): Line[] {
  const [one, most] = ends(measured);
  return [
    {
      id: 'growth-subscriptions',
      what: `Creates of a tenant with ${most.size.toLocaleString('en')} subscriptions`,
      figure: most.figure,
      unit: '/s',
      against: { what: 'with 1', figure: one.figure },
      target: { least: 0.85 },
    },
  ];
}

function firstDeliveries(measured: readonly BySize[]): Line[] {
  const [one] = ends(measured);
  return measured.slice(1).map(({ size, figure: first }) => ({
    id: size === MANY ? 'fan-out-first' : `fan-out-first-${size}`,
    what: `First delivery of an event to ${size.toLocaleString('en')} subscriptions`,
    figure: first,
    unit: 'ms',
    against: { what: 'to one, ms', figure: one.figure },
    ...(size === MANY ? { target: { most: 2 } } : {}),
  }));
}
