import { randomUUID } from 'node:crypto';
import { sendBatch } from '../../testing/batch-stream.ts';
import { SUBJECT_TYPE } from '../flows.ts';
import { alternateOver, ends, figure } from '../measure.ts';
import type { Curve, Line, Outcome } from '../run.ts';
import type { Server } from '../stage.ts';
import { rowsRead } from './rows-read.ts';
import { type Bench, latestPath, OWNER, rateOf, sample, subjectPath } from './scenario.ts';
import { seedSubjects, settle } from './seed.ts';

type Grown = Required<Pick<Outcome, 'lines' | 'curves'>>;
const count = (size: number): string => size.toLocaleString('en');

/** The number of values of each version. */
export const LEAVES = 100;
/** Each version changes one of this many values in turn, so that chains of any length have values from as many versions. */
const CHANGING = 9;
/** The number of versions per batch. */
const LOT = 1000;
/** The tables that reads of provenance and reads as of a moment may use. */
const READ_TABLES = ['memberships', 'subjects', 'snapshots', 'grants', 'snapshot_provenance'];

export const provenancePath = (subjectId: string): string => `${subjectPath(OWNER, subjectId)}/provenance?limit=${LEAVES}`;

/** Writes chains of {@link LEAVES} values in batches, as a client would. */
export async function seedHistories(
  { gateway, owner }: Bench,
  subjectIds: readonly string[],
  versions: number,
): Promise<void> {
  const url = `http://127.0.0.1:${gateway.port}/v1/tenants/${OWNER}/entity-states/batch`;
  for (let from = 1; from <= versions; from += LOT) {
    const those = Array.from({ length: Math.min(LOT, versions - from + 1) }, (_, index) => from + index);
    const lines = those.flatMap((version) => subjectIds.map((subjectId) => `${versionText(subjectId, version)}\n`));
    const results = await sendBatch(url, owner, lines.join(''));
    const refused = results.find(({ status }) => status !== 201);
    if (refused !== undefined) throw new Error(`A version was not stored: ${JSON.stringify(refused)}`);
  }
}

function versionText(subjectId: string, version: number): string {
  const now = new Date().toISOString();
  const evidence = { evidence_id: 'ev-1', evidence_type: 'registry_extract' };
  // The last version that changed the value, up to this one.
  const changedIn = (place: number): number =>
    place < CHANGING ? Math.max(1, version - ((version - place + CHANGING) % CHANGING)) : 1;
  const fields = Array.from({ length: LEAVES }, (_, place) => [
    `field_${String(place).padStart(3, '0')}`,
    `value of ${changedIn(place)}`,
  ]);
  return JSON.stringify({
    envelope_version: 'entity_state_envelope_v1',
    snapshot_id: randomUUID(),
    snapshot_version: version,
    generated_at: now,
    subject: { subject_type: SUBJECT_TYPE, subject_id: subjectId },
    attributes: { record: Object.fromEntries(fields) },
    evidence: [{ ...evidence, source: 'commercial register', captured_at: '2026-01-15T09:00:00Z' }],
    audit: { created_by: 'importer', created_at: now, source: 'bench' },
    attribute_paths: { '/attributes/record': [{ ...evidence, role: 'primary' }] },
  });
}

/** Measures provenance as the chain grows. */
export async function provenanceGrowth(bench: Bench, probe: Server): Promise<Grown> {
  const lengths = bench.effort.quick ? [10, 1000] : [10, 100, 1000, 10_000];
  const nameOf = (versions: number): string => `proved-${versions}`;
  for (const versions of lengths) await seedHistories(bench, [nameOf(versions)], versions);
  await settle(bench);
  const measured = await alternateOver(bench.effort, lengths, (versions) =>
    sample(bench, bench.gateway, { kind: 'get', expect: 200, headers: bench.owner, paths: [provenancePath(nameOf(versions))] }),
  );
  const steps: { versions: number; rate: ReturnType<typeof rateOf>; rows: number }[] = [];
  for (const { size: versions, values } of measured) {
    const request = { path: provenancePath(nameOf(versions)), headers: bench.owner };
    steps.push({ versions, rate: rateOf(values), rows: await rowsRead(bench, probe, [request], READ_TABLES) });
  }
  const [short, long] = ends(steps);
  const at = `at ${count(short.versions)} versions`;
  return {
    lines: [
      {
        id: 'growth-provenance',
        what: `Provenance of ${LEAVES} leaves at ${count(long.versions)} versions`,
        figure: long.rate,
        unit: '/s',
        against: { what: at, figure: short.rate },
        target: { least: 0.85 },
      },
      {
        id: 'growth-provenance-rows',
        what: `Rows PostgreSQL reads for one at ${count(long.versions)} versions`,
        figure: figure([long.rows]),
        unit: 'rows',
        against: { what: at, figure: figure([short.rows]) },
        target: { most: 1.1 },
      },
    ],
    curves: [
      {
        id: 'provenance',
        title: 'Provenance by the length of the chain',
        x: { name: 'versions of the subject', scale: 'log' },
        y: 'reads a second',
        series: [{ name: 'provenance', points: steps.map(({ versions, rate }) => ({ x: versions, y: rate.median })) }],
      },
      {
        id: 'provenance-rows',
        title: 'Rows read for provenance, by length of the chain',
        x: { name: 'versions of the subject', scale: 'log' },
        y: 'rows PostgreSQL reads for a request',
        series: [{ name: 'provenance', points: steps.map(({ versions, rows }) => ({ x: versions, y: rows })) }],
      },
    ],
  };
}

/** A binary search finds a version by recorded time, so the number of steps grows with the bits of the version count. */
const BASES = { recorded: { most: 2 }, effective: { most: 1.1 } } as const;
type Basis = keyof typeof BASES;

/** Measures the rows of a read as of a moment in the middle of a chain, as the chain grows. */
export async function asOfGrowth(bench: Bench, probe: Server): Promise<Grown> {
  const lengths = bench.effort.quick ? [100, 10_000] : [100, 1000, 10_000, 100_000];
  const steps: { versions: number; rows: Record<Basis, number> }[] = [];
  for (const versions of lengths) await seedSubjects(bench, { prefix: `dated-${versions}-`, upTo: 1, versions });
  await settle(bench);
  for (const versions of lengths) {
    const subjectId = `dated-${versions}-1`;
    const { rows } = await bench.stage.sql.query<Record<Basis, string>>(
      `SELECT to_char(n.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS recorded, n.generated_at AS effective
         FROM subjects s JOIN snapshots n USING (subject_key) WHERE s.subject_id = $1 AND n.snapshot_version = $2`,
      [subjectId, versions / 2],
    );
    const rowsOf = async (basis: Basis): Promise<number> => {
      const query = `as_of=${rows[0]?.[basis]}&basis=${basis}`;
      return rowsRead(bench, probe, [{ path: `${latestPath(OWNER, subjectId)}?${query}`, headers: bench.owner }], READ_TABLES);
    };
    steps.push({ versions, rows: { recorded: await rowsOf('recorded'), effective: await rowsOf('effective') } });
  }
  const [short, long] = ends(steps);
  const line = (basis: Basis): Line => ({
    id: `growth-as-of-${basis}`,
    what: `Rows PostgreSQL reads for a read as of a moment, by ${basis} time, at ${count(long.versions)} versions`,
    figure: figure([long.rows[basis]]),
    unit: 'rows',
    against: { what: `at ${count(short.versions)} versions`, figure: figure([short.rows[basis]]) },
    target: BASES[basis],
  });
  const points = (basis: Basis): Curve['series'][number] => ({
    name: basis,
    points: steps.map(({ versions, rows }) => ({ x: versions, y: rows[basis] })),
  });
  return {
    lines: [line('recorded'), line('effective')],
    curves: [
      {
        id: 'as-of-rows',
        title: 'Rows read as of a moment, by length of the chain',
        x: { name: 'versions of the subject', scale: 'log' },
        y: 'rows PostgreSQL reads for a request',
        series: [points('recorded'), points('effective')],
      },
    ],
  };
}
