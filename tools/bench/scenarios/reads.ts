import type { Load } from '../load-generator.ts';
import { alternate, type Figure, figure } from '../measure.ts';
import type { Line, Outcome } from '../run.ts';
import { PAGE, seedFeeds } from './feeds.ts';
import { LEAVES, provenancePath, seedHistories } from './histories.ts';
import { type Bench, costOf, GRANTEE, latestPath, OWNER, rateOf, type Sample, sample } from './scenario.ts';
import { grantTo, seedSubjects, settle } from './seed.ts';

const SUBJECTS = 1000;
const ALONE = { connections: 1 };
/** The share of its peak rate at which high percentiles are measured. */
const STEADY = 0.7;

export const NO_OP_GET = { kind: 'get', expect: 200, paths: ['/no-op'], headers: {} } as const satisfies Load['flow'];

/** Compares reads with the framework's no-op GET. */
export async function reads(bench: Bench): Promise<Outcome> {
  const { noOp, gateway, effort } = bench;
  const pages = await pageFlows(bench);
  const flows = await readFlows(bench, 'read-');
  const samples = await alternate(effort, {
    noOp: () => sample(bench, noOp, NO_OP_GET),
    latest: () => sample(bench, gateway, flows.latest),
    granted: () => sample(bench, gateway, flows.granted),
    byId: () => sample(bench, gateway, flows.byId),
    notModified: () => sample(bench, gateway, flows.notModified),
    provenance: () => sample(bench, gateway, pages.provenance),
    changes: () => sample(bench, gateway, pages.changes),
    latestAlone: () => sample(bench, gateway, flows.latest, ALONE),
    provenanceAlone: () => sample(bench, gateway, pages.provenance, ALONE),
    changesAlone: () => sample(bench, gateway, pages.changes, ALONE),
  });
  const latest = { busy: samples.latest, alone: samples.latestAlone };
  const provenance = { busy: samples.provenance, alone: samples.provenanceAlone };
  const changes = { busy: samples.changes, alone: samples.changesAlone };
  const rates = {
    noOp: rateOf(samples.noOp),
    latest: rateOf(samples.latest),
  };
  const against = { what: 'no-op GET', figure: rates.noOp };
  const line = (id: string, what: string, rate: Figure, least: number): Line => ({
    id,
    what,
    figure: rate,
    unit: '/s',
    against,
    target: { least },
  });
  const lines = [
    line('latest', 'Read latest, tenant-scoped, owner', rates.latest, 1),
    line('latest-grant', 'Read latest, by grant', rateOf(samples.granted), 1),
    line('by-id', 'Read by id', rateOf(samples.byId), 1.2),
    line('not-modified', 'Read by id, 304', rateOf(samples.notModified), 1.2),
    ...pageLines('provenance', `Provenance of ${LEAVES} leaves`, provenance, latest),
    ...pageLines('changes', `${PAGE} changes of the feed`, changes, latest),
  ];
  const costs = [
    costOf('no-op-get', 'No-op GET', samples.noOp),
    costOf('latest', 'Read latest, owner', samples.latest),
    costOf('latest-grant', 'Read latest, by grant', samples.granted),
    costOf('by-id', 'Read by id', samples.byId),
    costOf('not-modified', 'Read by id, 304', samples.notModified),
    costOf('provenance', `Provenance of ${LEAVES} leaves`, samples.provenance),
    costOf('changes', `${PAGE} changes of the feed`, samples.changes),
  ];
  return { lines: [...lines, ...(await tails(bench, flows.latest, rates))], costs };
}

const PROVED = 20;
const PROVED_VERSIONS = 10;
const FEED = 'page-feed';
const FEED_ENTRIES = 1000;

/** Returns the flows that read lists. */
async function pageFlows(bench: Bench): Promise<Record<'provenance' | 'changes', Load['flow']>> {
  const subjectIds = Array.from({ length: PROVED }, (_, index) => `page-proved-${index + 1}`);
  await seedHistories(bench, subjectIds, PROVED_VERSIONS);
  const feeds = await seedFeeds(bench, { [FEED]: FEED_ENTRIES });
  const get = { kind: 'get', expect: 200, headers: bench.owner } as const;
  return {
    provenance: { ...get, paths: subjectIds.map(provenancePath) },
    changes: { ...get, paths: [...feeds.values()] },
  };
}

/** Compares them with a read of the latest version: processor time, and the latency of a single caller. */
function pageLines(
  id: string,
  what: string,
  own: { busy: readonly Sample[]; alone: readonly Sample[] },
  latest: typeof own,
): Line[] {
  const processor = (samples: readonly Sample[]): Figure =>
    figure(samples.map(({ gatewayUs, postgresUs }) => (gatewayUs + postgresUs) / 1000));
  const wait = (samples: readonly Sample[]): Figure => figure(samples.map(({ p50 }) => p50));
  const line = (name: string, of: string, ownFigure: Figure, latestFigure: Figure): Line => ({
    id: `${id}-${name}`,
    what: `${what}: ${of}`,
    figure: ownFigure,
    unit: 'ms',
    against: { what: 'read latest, ms', figure: latestFigure },
    target: { most: 3 },
  });
  return [
    line('processor', 'processor time', processor(own.busy), processor(latest.busy)),
    line('alone', 'one caller', wait(own.alone), wait(latest.alone)),
  ];
}

/**
 * Measures high percentiles at a steady rate, in alternation with the no-op at the same share of its own peak. The machine and
 * the load generator affect both.
 */
async function tails(
  bench: Bench,
  latest: Load['flow'],
  peak: { noOp: Figure; latest: Figure },
): Promise<Line[]> {
  const { noOp, gateway, effort } = bench;
  const at = (rate: Figure): { ratePerSecond: number } => ({ ratePerSecond: rate.median * STEADY });
  const samples = await alternate(
    { ...effort, uncounted: 0 },
    {
      latest: () => sample(bench, gateway, latest, at(peak.latest)),
      noOp: () => sample(bench, noOp, NO_OP_GET, at(peak.noOp)),
    },
  );
  const tail = (ofWhat: 'latest' | 'noOp'): Pick<Line, 'figure' | 'unit' | 'against'> => ({
    figure: figure(samples[ofWhat].map(({ p99 }) => p99)),
    unit: 'ms',
    against: { what: 'median, ms', figure: figure(samples[ofWhat].map(({ p50 }) => p50)) },
  });
  return [
    { id: 'tail', what: 'Read latest at 70 % of the peak: p99', ...tail('latest'), target: { most: 10 } },
    { id: 'tail-no-op', what: 'No-op GET at 70 % of its peak: p99', ...tail('noOp') },
    {
      id: 'tail-generator',
      what: 'By how much the load generator itself was late: p99',
      figure: figure(samples.latest.map(({ lateP99 }) => lateP99)),
      unit: 'ms',
    },
  ];
}

/** Returns the flows of single reads, with subjects that it seeds under this prefix. */
export async function readFlows(
  bench: Bench,
  prefix: string,
): Promise<Record<'latest' | 'granted' | 'byId' | 'notModified', Load['flow']>> {
  await seedSubjects(bench, { prefix, upTo: SUBJECTS });
  await grantTo(bench, GRANTEE, { prefix, count: SUBJECTS });
  await settle(bench);
  const { rows } = await bench.stage.sql.query<{ subject_id: string; snapshot_id: string; tag: string }>(
    `SELECT s.subject_id, n.snapshot_id, encode(n.envelope_hash, 'hex') AS tag
       FROM snapshots n JOIN subjects s USING (subject_key) WHERE s.subject_id LIKE '${prefix}%'`,
  );
  const [first] = rows;
  if (first === undefined) throw new Error('nothing was seeded');
  const { owner, grantee } = bench;
  const idPath = (row: { snapshot_id: string }): string => `/v1/tenants/${OWNER}/snapshots/${row.snapshot_id}`;
  const get = { kind: 'get', expect: 200 } as const;
  return {
    latest: { ...get, paths: rows.map((row) => latestPath(OWNER, row.subject_id)), headers: owner },
    granted: { ...get, paths: rows.map((row) => latestPath(GRANTEE, row.subject_id)), headers: grantee },
    byId: { ...get, paths: rows.map(idPath), headers: owner },
    notModified: {
      kind: 'get',
      expect: 304,
      paths: [idPath(first)],
      headers: { ...owner, 'If-None-Match': `"${first.tag}.full"` },
    },
  };
}
