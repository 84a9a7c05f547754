import { rmSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { makeTemporaryFolder } from '../../postgres.ts';
import { waitFor } from '../../testing/wait-for.ts';
import { alternate, figure } from '../measure.ts';
import { percentiles } from '../pacing.ts';
import type { Line, Outcome } from '../run.ts';
import { openStage, type Server } from '../stage.ts';
import { untilPublished, withLogWorker } from './log-worker.ts';
import { type Bench, CONNECTIONS, costOf, OWNER, rateOf, sample, subjectPath } from './scenario.ts';
import { openBenchOn, seedSubjects, settle } from './seed.ts';

const INTERVAL_MS = 1_000;
const DEADLINE_MS = 1_800_000;
/** One subject with a long history. */
const SUBJECT = 'history-1';
/** Versions that are read one by one. */
const READS = 100;

/** Measures the archive on a second database, whose store is a folder. The first database keeps all texts. */
export async function archive(bench: Bench): Promise<Outcome> {
  const folder = makeTemporaryFolder({ durable: true });
  const stage = await openStage();
  try {
    const env = { ARCHIVE_URL: pathToFileURL(folder).href };
    const archived = await openBenchOn(stage, bench.effort, bench.noOp, env);
    const versions = bench.effort.quick ? 5_000 : 50_000;
    for (const one of [bench, archived]) await seedHistory(one, versions);
    const moved = await withLogWorker(archived, INTERVAL_MS, (worker) => move(archived, worker, versions - 1), {
      ...env,
      ARCHIVE_AFTER_DAYS: '0',
      SWEEP_INTERVAL_MS: '200',
    });
    const compared = await withLogWorker(bench, INTERVAL_MS, () =>
      withLogWorker(archived, INTERVAL_MS, () => compare(bench, archived, versions), env),
    );
    return { lines: [...moved, ...compared.lines, await bytesLeft(archived)], costs: compared.costs };
  } finally {
    await stage.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Inserts the history, and gives each version its view, which the log commits to. */
async function seedHistory(bench: Bench, versions: number): Promise<void> {
  await seedSubjects(bench, { prefix: 'history-', upTo: 1, versions });
  await withLogWorker(bench, INTERVAL_MS, () => untilPublished(bench));
  await settle(bench);
}

/** Measures a worker that archives, from its start. */
async function move({ stage }: Bench, worker: Server, count: number): Promise<Line[]> {
  const cpuMs = (): number => worker.cpuMs() + stage.postgresCpuMs();
  const [startedAt, before] = [performance.now(), cpuMs()];
  const isDone = async (): Promise<boolean> => {
    const { rows } = await stage.sql.query<{ count: number }>(
      'SELECT count(*)::int AS count FROM snapshots WHERE pack_id IS NOT NULL',
    );
    return (rows[0]?.count ?? 0) >= count;
  };
  await waitFor(isDone, { deadlineMs: DEADLINE_MS, what: 'the old versions to be archived' });
  const seconds = (performance.now() - startedAt) / 1000;
  return [
    {
      id: 'archive-move',
      what: `Archiving of ${count.toLocaleString('en')} versions by one worker`,
      figure: figure([count / seconds]),
      unit: '/s',
      target: { least: 3_000 },
    },
    {
      id: 'archive-move-processor',
      what: 'Processor time of worker and PostgreSQL to archive a version',
      figure: figure([(cpuMs() - before) / count]),
      unit: 'ms',
    },
  ];
}

async function compare(bench: Bench, archived: Bench, versions: number): Promise<Required<Pick<Outcome, 'lines' | 'costs'>>> {
  const exported = await alternate(bench.effort, {
    without: () => timeOf(bench, '/export'),
    with: () => timeOf(archived, '/export'),
  });
  const read = await alternate(bench.effort, {
    without: () => readSome(bench, versions),
    with: () => readSome(archived, versions),
  });
  const created = await alternate(
    { ...bench.effort, rounds: 2 * bench.effort.rounds },
    { without: () => create(bench), with: () => create(archived) },
  );
  return {
    lines: [
      {
        id: 'archive-export',
        what: `Export of ${versions.toLocaleString('en')} archived versions`,
        figure: figure(exported.with.map((ms) => (versions / ms) * 1000)),
        unit: '/s',
        against: { what: 'from PostgreSQL', figure: figure(exported.without.map((ms) => (versions / ms) * 1000)) },
        target: { least: 0.7 },
      },
      {
        id: 'archive-read',
        what: 'Read of an archived version by id, median',
        figure: figure(read.with),
        unit: 'ms',
        against: { what: 'from PostgreSQL', figure: figure(read.without) },
        target: { most: 5 },
      },
      {
        id: 'archive-create',
        what: `Create with the archive on, ${CONNECTIONS} connections`,
        figure: rateOf(created.with),
        unit: '/s',
        against: { what: 'without an archive', figure: rateOf(created.without) },
        target: { least: 0.98 },
      },
    ],
    costs: [
      costOf('archive-create', 'Create with the archive on', created.with),
      costOf('archive-create-without', 'Create without an archive', created.without),
    ],
  };
}

async function create(bench: Bench) {
  const made = await sample(bench, bench.gateway, { kind: 'create', tenantId: OWNER, headers: bench.owner });
  await untilPublished(bench);
  return made;
}

/** Returns the median time of reads of versions that are far from each other, in milliseconds. */
async function readSome(bench: Bench, versions: number): Promise<number> {
  const times: number[] = [];
  const step = Math.floor(versions / READS);
  const first = 1 + Math.floor(Math.random() * step);
  for (let at = 0; at < READS; at++) times.push(await timeOf(bench, `/snapshots/${first + at * step}`));
  return percentiles(times, [0.5])[0] ?? Number.NaN;
}

/** Returns the time of one answer about the history, in milliseconds. */
async function timeOf({ gateway, owner }: Bench, path: string): Promise<number> {
  const startedAt = performance.now();
  const answer = await fetch(`http://127.0.0.1:${gateway.port}${subjectPath(OWNER, SUBJECT)}${path}`, {
    headers: { ...owner, accept: 'application/x-ndjson, application/json' },
  });
  const body = await answer.text();
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${body.slice(0, 300)}`);
  return performance.now() - startedAt;
}

/** Measures the table with its indexes, without the texts of the latest versions. */
async function bytesLeft({ stage }: Bench): Promise<Line> {
  await stage.sql.query('VACUUM FULL snapshots');
  const { rows } = await stage.sql.query<{ bytes: number }>(
    `SELECT (pg_total_relation_size('snapshots') - coalesce(sum(pg_column_size(envelope)), 0))::float8 / count(*) AS bytes
       FROM snapshots`,
  );
  return {
    id: 'archive-bytes',
    what: 'Table and indexes in PostgreSQL for each version, without the texts of the latest',
    figure: figure([rows[0]?.bytes ?? Number.NaN]),
    unit: 'bytes',
    target: { most: 400 },
  };
}
