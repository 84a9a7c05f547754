import type { Load } from '../load-generator.ts';
import { alternate, alternateOver, ends, type Figure, figure } from '../measure.ts';
import type { Cost, Curve, Line, Outcome } from '../run.ts';
import type { Server } from '../stage.ts';
import { feedGrowth } from './feeds.ts';
import { asOfGrowth, provenanceGrowth } from './histories.ts';
import { identifierGrowth } from './identifiers.ts';
import { NO_OP_GET } from './reads.ts';
import { rowsRead } from './rows-read.ts';
import { type Bench, costOf, GRANTEE, HUB, latestPath, OWNER, rateOf, type Sample, sample } from './scenario.ts';
import { grantTo, seedGrants, seedSubjects, settle } from './seed.ts';

const FLAT = { least: 0.85 };
/** The rows that PostgreSQL reads for a request must not grow. The tolerance covers its other work. */
const NO_MORE = { most: 1.1 };
const count = (size: number): string => size.toLocaleString('en');

/** Measures reads as a chain, a feed, the number of subjects and the number of grants grow. */
export async function growth(bench: Bench): Promise<Outcome> {
  // With one connection, PostgreSQL's counters belong to this gateway.
  const probe = await bench.stage.startGateway({ DATABASE_POOL_SIZE: '1' });
  try {
    const chain = await chainGrowth(bench, probe);
    const asOf = await asOfGrowth(bench, probe);
    const provenance = await provenanceGrowth(bench, probe);
    const identifiers = await identifierGrowth(bench, probe);
    // First, since it waits until the log contains everything.
    const feed = await feedGrowth(bench, probe);
    const tables = await tableGrowth(bench, probe);
    const all = [chain, asOf, provenance, identifiers, feed, tables];
    return {
      lines: all.flatMap(({ lines }) => lines),
      costs: [...chain.costs, ...tables.costs],
      curves: all.flatMap(({ curves }) => curves),
    };
  } finally {
    await probe.stop();
  }
}

type Grown = Required<Pick<Outcome, 'lines' | 'costs' | 'curves'>>;

async function chainGrowth(bench: Bench, probe: Server): Promise<Grown> {
  const lengths = bench.effort.quick ? [1, 1000] : [1, 1000, 100_000];
  const prefixOf = (versions: number): string => `chain-${versions}-`;
  const pathOf = (versions: number): string => latestPath(OWNER, `${prefixOf(versions)}1`);
  for (const versions of lengths) await seedSubjects(bench, { prefix: prefixOf(versions), upTo: 1, versions });
  await settle(bench);
  const measured = await alternateOver(bench.effort, lengths, (versions) =>
    sample(bench, bench.gateway, { kind: 'get', expect: 200, headers: bench.owner, paths: [pathOf(versions)] }),
  );
  const rates = measured.map(({ size, values }) => ({ size, rate: rateOf(values), values }));
  const [short, long] = ends(rates);
  const rows = await alternateOver({ rounds: 1, uncounted: 0 }, [short.size, long.size], (versions) =>
    rowsRead(bench, probe, [{ path: pathOf(versions), headers: bench.owner }]),
  );
  const [rowsOfShort, rowsOfLong] = ends(rows);
  return {
    lines: [
      {
        id: 'growth-versions',
        what: `Latest read at ${count(long.size)} versions`,
        figure: long.rate,
        unit: '/s',
        against: { what: 'at 1 version', figure: short.rate },
        target: FLAT,
      },
      {
        id: 'growth-versions-rows',
        what: `Rows PostgreSQL reads for one at ${count(long.size)} versions`,
        figure: figure(rowsOfLong.values),
        unit: 'rows',
        against: { what: 'at 1 version', figure: figure(rowsOfShort.values) },
        target: NO_MORE,
      },
    ],
    costs: [costOf('latest-long-chain', `Read latest at ${count(long.size)} versions`, long.values)],
    curves: [
      {
        id: 'versions',
        title: 'Latest reads by the length of the chain',
        x: { name: 'versions of the subject', scale: 'log' },
        y: 'reads a second',
        series: [{ name: 'latest', points: rates.map(({ size, rate }) => ({ x: size, y: rate.median })) }],
      },
    ],
  };
}

const PREFIX = 'mass-';
/** The number of grants of the tenant with few grants. */
const FEW = 40;
/** The number of different subjects that are read, more than PostgreSQL caches of a large table. */
const PATHS = 10_000;

/** Kinds of reads, each compared with no-op GETs of the same minutes, since a table cannot have two sizes at once. */
const KINDS = {
  latest: 'Latest, owner',
  granted: 'Latest, by grant',
  accessible: 'List, few grants',
  hub: 'List, many grants',
} as const;
type Kind = keyof typeof KINDS;
const isKind = (name: string): name is Kind => Object.hasOwn(KINDS, name);
const kinds = Object.keys(KINDS).filter(isKind);

interface Step {
  subjects: number;
  grants: number;
  samples: Record<Kind, Sample[]>;
  shares: Record<Kind, Figure>;
  rows: number;
}

async function tableGrowth(bench: Bench, probe: Server): Promise<Grown> {
  const sizes = bench.effort.quick
    ? [
        { subjects: 10_000, grants: 1_000 },
        { subjects: 30_000, grants: 20_000 },
      ]
    : [
        { subjects: 10_000, grants: 1_000 },
        { subjects: 200_000, grants: 100_000 },
        { subjects: 2_000_000, grants: 1_000_000 },
      ];
  const steps: Step[] = [];
  let before = { subjects: 0, grants: 0 };
  for (const size of sizes) {
    await seedSubjects(bench, { prefix: PREFIX, after: before.subjects, upTo: size.subjects });
    await seedGrants(bench, { prefix: PREFIX, after: before.grants, upTo: size.grants });
    if (steps.length === 0) await grantTo(bench, GRANTEE, { prefix: PREFIX, count: FEW });
    await settle(bench);
    steps.push(await stepAt(bench, probe, size));
    before = size;
  }
  return { lines: linesOf(steps), costs: costsOf(steps), curves: curvesOf(steps) };
}

async function stepAt(bench: Bench, probe: Server, size: { subjects: number; grants: number }): Promise<Step> {
  const { gateway, noOp, effort, owner, grantee } = bench;
  const get = { kind: 'get', expect: 200 } as const;
  const anySubject = (): string => `${PREFIX}${1 + Math.floor(Math.random() * size.subjects)}`;
  const few = Array.from({ length: FEW }, (_, index) => latestPath(GRANTEE, `${PREFIX}${index + 1}`));
  const flows: Record<Kind, Extract<Load['flow'], { kind: 'get' }>> = {
    latest: { ...get, headers: owner, paths: Array.from({ length: PATHS }, () => latestPath(OWNER, anySubject())) },
    granted: { ...get, headers: grantee, paths: few },
    accessible: { ...get, headers: grantee, paths: [`/v1/tenants/${GRANTEE}/accessible-subjects`] },
    hub: { ...get, headers: grantee, paths: [`/v1/tenants/${HUB}/accessible-subjects`] },
  };
  const samples = await alternate(
    { rounds: Math.min(3, effort.rounds), uncounted: effort.quick ? 0 : 1 },
    {
      noOp: () => sample(bench, noOp, NO_OP_GET),
      latest: () => sample(bench, gateway, flows.latest),
      granted: () => sample(bench, gateway, flows.granted),
      accessible: () => sample(bench, gateway, flows.accessible),
      hub: () => sample(bench, gateway, flows.hub),
    },
  );
  const shareOf = (own: readonly Sample[]): Figure =>
    figure(own.map(({ perSecond }, round) => perSecond / (samples.noOp[round]?.perSecond ?? NaN)));
  const oneOfEach = kinds.flatMap((kind) =>
    flows[kind].paths.slice(0, 1).map((path) => ({ path, headers: flows[kind].headers })),
  );
  return {
    ...size,
    samples,
    shares: {
      latest: shareOf(samples.latest),
      granted: shareOf(samples.granted),
      accessible: shareOf(samples.accessible),
      hub: shareOf(samples.hub),
    },
    rows: await rowsRead(bench, probe, oneOfEach),
  };
}

function linesOf(steps: readonly Step[]): Line[] {
  const [small, large] = ends(steps);
  const line = (id: string, what: string, kind: Kind, axis: 'subjects' | 'grants'): Line => ({
    id,
    what: `${what}, in no-op GETs`,
    figure: large.shares[kind],
    unit: '×',
    against: { what: `at ${count(small[axis])}`, figure: small.shares[kind] },
    target: FLAT,
  });
  const [subjects, grants] = [count(large.subjects), count(large.grants)];
  return [
    line('growth-subjects', `Latest read at ${subjects} subjects`, 'latest', 'subjects'),
    line('growth-grants', `Read by grant at ${grants} grants`, 'granted', 'grants'),
    line('growth-grants-list', `Accessible subjects, ${FEW} of ${grants} grants`, 'accessible', 'grants'),
    line('growth-grants-hub', `Accessible subjects, half of ${grants} grants`, 'hub', 'grants'),
    {
      id: 'growth-rows',
      what: `Rows PostgreSQL reads for one of each at ${count(large.subjects)} subjects`,
      figure: figure([large.rows]),
      unit: 'rows',
      against: { what: `at ${count(small.subjects)} and ${count(small.grants)}`, figure: figure([small.rows]) },
      target: NO_MORE,
    },
  ];
}

/** Returns the costs of the single reads. */
function costsOf(steps: readonly Step[]): Cost[] {
  return ends(steps).flatMap((step, index) =>
    (['latest', 'granted'] as const).map((kind) =>
      costOf(
        `${kind}-${index === 0 ? 'small' : 'large'}`,
        `${KINDS[kind]}, at ${count(step.subjects)} subjects`,
        step.samples[kind],
      ),
    ),
  );
}

function curvesOf(steps: readonly Step[]): Curve[] {
  const curve = (id: string, title: string, axis: 'subjects' | 'grants', shown: readonly Kind[]): Curve => ({
    id,
    title,
    x: { name: axis, scale: 'log' },
    y: 'requests a second, as a share of the no-op GETs of the same minutes',
    series: shown.map((kind) => ({
      name: KINDS[kind],
      points: steps.map((step) => ({ x: step[axis], y: step.shares[kind].median })),
    })),
  });
  return [
    curve('subjects', 'Reads by the number of subjects', 'subjects', ['latest']),
    curve('grants', 'Reads by the number of grants', 'grants', ['granted']),
    curve('accessible', 'Lists of accessible subjects by the number of grants', 'grants', ['accessible', 'hub']),
  ];
}
