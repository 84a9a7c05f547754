import type { LogKeys } from '@iss/contract';
import { insertKeys } from '@iss/map';
import { loadSodiumGroup } from '@iss/map/sodium';
import { MapReadStore, openDatabase } from '@iss/persistence';
import { Members } from '@iss/proof';
import { verifyMapAnswer } from '@iss/proof/complete';
import { parsePolicy } from '@iss/tlog';
import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { TEST_VRF_SECRET } from '../../testing/vrf-key.ts';
import { waitFor } from '../../testing/wait-for.ts';
import { alternate, ends, type Figure, figure } from '../measure.ts';
import { percentiles } from '../pacing.ts';
import type { Cost, Line, Outcome } from '../run.ts';
import { openStage, type Server } from '../stage.ts';
import { integrate, READ_TABLES } from './log.ts';
import { untilFed, untilPublished, withLogWorker } from './log-worker.ts';
import { rowsRead, TOLD_AFTER_MS } from './rows-read.ts';
import { type Bench, CONNECTIONS, costOf, OWNER, rateOf, sample, subjectPath } from './scenario.ts';
import { openBenchOn, seedSubjects, settle } from './seed.ts';

const INTERVAL_MS = 1000;
const SHORT_INTERVAL_MS = 50;
const DEADLINE_MS = 1_800_000;
/** The subjects whose proofs are requested repeatedly. */
const POPULAR = 200;
const VERSIONS = 5;

/** Measures the cost of the map on a second database, whose log has one. The first database has a log without a map. */
export async function map(bench: Bench): Promise<Outcome> {
  const env = { LOG_VRF_KEY: TEST_VRF_SECRET };
  const stage = await openStage();
  try {
    const mapped = await openBenchOn(stage, bench.effort, bench.noOp, env);
    const backfilled = await backfill(mapped, env);
    const compared = await withLogWorker(bench, INTERVAL_MS, (plainWorker) =>
      withLogWorker(mapped, INTERVAL_MS, (worker) => compare(bench, plainWorker, mapped, worker), env),
    );
    const read = await withLogWorker(mapped, SHORT_INTERVAL_MS, () => reads(mapped), env);
    return {
      lines: [...compared.lines, backfilled, ...read.lines],
      costs: [...compared.costs, ...read.costs],
    };
  } finally {
    await stage.close();
  }
}

/** Measures how fast a worker gives keys to the entries of a log that had no map. */
async function backfill(bench: Bench, env: Record<string, string>): Promise<Line> {
  const { stage, effort } = bench;
  const count = effort.quick ? 10_000 : 1_000_000;
  await withLogWorker(bench, SHORT_INTERVAL_MS, async () => {
    await seedSubjects(bench, { prefix: 'old-', upTo: count });
    await untilPublished(bench);
  });
  await settle(bench);
  const seconds = await withLogWorker(
    bench,
    SHORT_INTERVAL_MS,
    async () => {
      const startedAt = performance.now();
      const isDone = async (): Promise<boolean> => {
        const { rows } = await stage.sql.query<{ done: boolean }>('SELECT backfilled_to = starts_at AS done FROM map_state');
        return rows[0]?.done === true;
      };
      await waitFor(isDone, { deadlineMs: DEADLINE_MS, what: 'the backfill' });
      const took = (performance.now() - startedAt) / 1000;
      await untilPublished(bench);
      return took;
    },
    env,
  );
  return {
    id: 'map-backfill',
    what: `Keys for ${count.toLocaleString('en')} entries from before the map, one worker`,
    figure: figure([count / seconds]),
    unit: '/s',
    target: { least: 2_000 },
  };
}

/** Compares writes and integration of the two databases. */
async function compare(
  plain: Bench,
  plainWorker: Server,
  mapped: Bench,
  worker: Server,
): Promise<{ lines: Line[]; costs: Cost[] }> {
  const created = await alternate(
    { ...plain.effort, rounds: 2 * plain.effort.rounds },
    { without: () => create(plain, plainWorker), with: () => create(mapped, worker) },
  );
  const count = plain.effort.quick ? 10_000 : 100_000;
  const integrated = await alternate(
    { ...plain.effort, uncounted: 0 },
    { without: () => integrate(plain, plainWorker, count), with: () => integrate(mapped, worker, count) },
  );
  const all = (of: typeof created.with): Figure => figure(of.map(({ allMs }) => allMs));
  const medianBytes = figure(integrated.without.map(({ bytes }) => bytes)).median;
  return {
    lines: [
      {
        id: 'map-create',
        what: `Create, logged with a map, ${CONNECTIONS} connections`,
        figure: rateOf(created.with),
        unit: '/s',
        against: { what: 'logged without a map', figure: rateOf(created.without) },
        target: { least: 0.95 },
      },
      {
        id: 'map-create-processor',
        what: 'Processor time of all processes per create, until it is in the map',
        figure: all(created.with),
        unit: 'ms',
        against: { what: 'without a map, ms', figure: all(created.without) },
      },
      {
        id: 'map-integration',
        what: `Integration with a map, ${count.toLocaleString('en')} that wait`,
        figure: figure(integrated.with.map(({ rate }) => rate)),
        unit: '/s',
        against: { what: 'without a map', figure: figure(integrated.without.map(({ rate }) => rate)) },
      },
      {
        id: 'map-bytes',
        what: 'In the database for each snapshot, for the map',
        figure: figure(integrated.with.map(({ bytes }) => bytes - medianBytes)),
        unit: 'bytes',
        target: { most: 60 },
      },
      await behind(mapped),
    ],
    costs: [
      costOf('create-mapped', 'Create, logged with a map', created.with),
      costOf('create-unmapped', 'Create, logged without a map', created.without),
    ],
  };
}

async function create(bench: Bench, worker: Server) {
  const { stage, gateway, owner } = bench;
  const before = { worker: worker.cpuMs(), postgres: stage.postgresCpuMs() };
  const made = await sample(bench, gateway, { kind: 'create', tenantId: OWNER, headers: owner });
  await untilPublished(bench);
  const afterwards = worker.cpuMs() - before.worker + stage.postgresCpuMs() - before.postgres;
  return { ...made, allMs: (made.gatewayUs + made.generatorUs) / 1000 + afterwards / made.total };
}

const FACTS_PER_SECOND = 1_000;
const STEPS_PER_SECOND = 10;

/** Measures how long facts wait for their keys and entry at 1,000 facts a second. */
async function behind(bench: Bench): Promise<Line> {
  const { sql } = bench.stage;
  const steps = (bench.effort.quick ? 5 : 30) * STEPS_PER_SECOND;
  const each = FACTS_PER_SECOND / STEPS_PER_SECOND;
  const ages: number[] = [];
  const startedAt = performance.now();
  for (let step = 0; step < steps; step++) {
    await seedSubjects(bench, { prefix: `paced-${randomUUID()}-`, upTo: each });
    const { rows } = await sql.query<{ age: number | null }>(
      `SELECT extract(epoch FROM clock_timestamp() - min(n.created_at)) * 1000 AS age
         FROM log_waiting w JOIN snapshots n USING (subject_key, snapshot_version)`,
    );
    ages.push(Number(rows[0]?.age ?? 0));
    await pause(Math.max(0, startedAt + ((step + 1) * 1000) / STEPS_PER_SECOND - performance.now()));
  }
  await untilPublished(bench);
  return {
    id: 'map-behind',
    what: `Oldest fact outside the map at ${FACTS_PER_SECOND.toLocaleString('en')} facts a second, p99`,
    figure: figure(percentiles(ages, [0.99])),
    unit: 'ms',
    // The worker integrates once per interval.
    target: { most: INTERVAL_MS + 1_000 },
  };
}

/** Compares proofs of the newest version with proofs of an entry, and measures them in small and large maps. */
async function reads(bench: Bench): Promise<{ lines: Line[]; costs: Cost[] }> {
  const { effort, gateway, owner: headers } = bench;
  await seedSubjects(bench, { prefix: 'popular-', upTo: POPULAR, versions: VERSIONS });
  await untilFed(bench);
  await settle(bench);
  const { rows } = await bench.stage.sql.query<{ subject_id: string; snapshot_id: string }>(
    `SELECT s.subject_id, n.snapshot_id FROM subjects s JOIN snapshots n USING (subject_key)
      WHERE s.subject_id LIKE 'popular-%' AND n.snapshot_version = ${VERSIONS}`,
  );
  const get = { kind: 'get', expect: 200, headers } as const;
  const entries = rows.map(({ snapshot_id: id }) => `/v1/tenants/${OWNER}/snapshots/${id}/log-proof`);
  const newest = rows.map(({ subject_id: id }) => latestProofPath(id));
  // Makes the VRF proofs, which the gateway keeps. Many at once would exceed one caller's share of heavy work.
  const verified = await verification(bench, newest);
  const samples = await alternate(effort, {
    entry: () => sample(bench, gateway, { ...get, paths: entries }),
    newest: () => sample(bench, gateway, { ...get, paths: newest }),
  });
  return {
    lines: [
      {
        id: 'map-latest-proof',
        what: `Proof of the newest version of ${POPULAR} subjects`,
        figure: rateOf(samples.newest),
        unit: '/s',
        against: { what: 'log proof', figure: rateOf(samples.entry) },
        target: { least: 0.4 },
      },
      verified,
      ...(await growth(bench)),
    ],
    costs: [costOf('map-latest-proof', 'Proof of the newest version', samples.newest)],
  };
}

const latestProofPath = (subjectId: string): string => `${subjectPath(OWNER, subjectId)}/latest-proof`;

async function textOf({ gateway, owner: headers }: Bench, path: string): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${gateway.port}${path}`, { headers });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text.slice(0, 300)}`);
  return text;
}

/** Measures the verification of proofs in this process. */
async function verification(bench: Bench, paths: readonly string[]): Promise<Line> {
  const keys: LogKeys = JSON.parse(await textOf(bench, '/log/keys'));
  const policy = parsePolicy([...keys.vkeys.map(({ vkey }) => `log ${vkey}`), 'quorum none', ''].join('\n'));
  const trust = { policy, vrfKey: keys.vrf_key ?? '' };
  const group = await loadSodiumGroup();
  const times: number[] = [];
  for (const path of paths) {
    const text = Buffer.from(await textOf(bench, path));
    const startedAt = performance.now();
    await verifyMapAnswer(Members.parse('The proof', text), { ...trust, group });
    times.push(performance.now() - startedAt);
  }
  return {
    id: 'map-verification',
    what: `Verification of one by iss, version ${VERSIONS}`,
    figure: figure(percentiles(times, [0.5])),
    unit: 'ms',
    target: { most: 5 },
  };
}

/** Measures the rows read for a proof, and its bytes, at several numbers of keys. */
async function growth(bench: Bench): Promise<Line[]> {
  const sizes = bench.effort.quick ? [30_000, 100_000] : [2_000_000, 10_000_000];
  const probe = await bench.stage.startGateway({ DATABASE_POOL_SIZE: '1', LOG_VRF_KEY: TEST_VRF_SECRET });
  const tables = [...READ_TABLES, 'map_state', 'map_streams', 'map_tiles', 'map_buckets'];
  const steps: { size: number; rows: number; bytes: number }[] = [];
  try {
    for (const size of sizes) {
      await addKeys(bench, size);
      await seedSubjects(bench, { prefix: `beside-${size}-`, upTo: 1, versions: VERSIONS });
      await untilFed(bench);
      await pause(2 * TOLD_AFTER_MS);
      const path = latestProofPath(`beside-${size}-1`);
      const bytes = (await textOf(bench, path)).length;
      steps.push({ size, bytes, rows: await rowsRead(bench, probe, [{ path, headers: bench.owner }], tables) });
    }
  } finally {
    await probe.stop();
  }
  const [small, large] = ends(steps);
  const at = (size: number): string => `at ${size.toLocaleString('en')} keys`;
  return [
    {
      id: 'map-rows',
      what: `Rows PostgreSQL reads for a proof of version ${VERSIONS} ${at(large.size)}`,
      figure: figure([large.rows]),
      unit: 'rows',
      against: { what: at(small.size), figure: figure([small.rows]) },
      target: { most: 1.25 },
    },
    {
      id: 'map-proof-bytes',
      what: `A proof of version ${VERSIONS} ${at(large.size)}`,
      figure: figure([large.bytes]),
      unit: 'bytes',
      target: { most: 10 * 1024 },
    },
  ];
}

/** Keys per transaction. */
const ADDED = 50_000;

/** Adds random keys to the stored map, until it has this many. The next integration writes their root. */
async function addKeys({ stage }: Bench, upTo: number): Promise<void> {
  const database = await openDatabase({ url: stage.databaseUrl, poolSize: 2, applicationName: 'bench' });
  const { sql } = stage;
  const reader = new MapReadStore(database.sql);
  try {
    for (let isLess = true; isLess; ) {
      await sql.query('BEGIN');
      await sql.query('SELECT FROM log_tree FOR UPDATE');
      // The triggers compare each bucket with its earlier content.
      await sql.query('SET LOCAL session_replication_role = replica');
      const has = (await reader.state())?.keyCount ?? 0;
      const count = Math.min(ADDED, upTo - has);
      isLess = has + count < upTo;
      if (count > 0) {
        const keys = Array.from({ length: count }, () => ({ key: randomBytes(32), logIndex: 0 }));
        const { tiles, buckets, deletedBuckets, root } = await insertKeys(keys, reader);
        for (const [table, rows] of [['map_tiles', tiles], ['map_buckets', buckets]] as const) {
          await sql.query(
            `INSERT INTO ${table} SELECT * FROM unnest($1::bytea[], $2::bytea[])
                 ON CONFLICT (path) DO UPDATE SET content = excluded.content`,
            [rows.map(({ path }) => Buffer.from(path)), rows.map(({ content }) => Buffer.from(content))],
          );
        }
        await sql.query('DELETE FROM map_buckets WHERE path = ANY ($1::bytea[])', [deletedBuckets.map((path) => Buffer.from(path))]);
        await sql.query('UPDATE map_state SET root = $1, key_count = key_count + $2', [Buffer.from(root), count]);
      }
      await sql.query('COMMIT');
    }
  } finally {
    await database.close();
  }
}
