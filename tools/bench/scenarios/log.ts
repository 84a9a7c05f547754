import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import {
  appendLeaves,
  EMPTY_EDGE,
  formatTilePath,
  readRightEdge,
  type RightEdge,
  TILE_WIDTH,
  TileHashes,
  tileHashReader,
} from '@iss/tlog';
import { waitFor } from '../../testing/wait-for.ts';
import { envelopeText } from '../flows.ts';
import { alternate, ends, type Figure, figure } from '../measure.ts';
import { percentiles } from '../pacing.ts';
import type { Cost, Line, Outcome } from '../run.ts';
import type { Server } from '../stage.ts';
import { untilFed, untilPublished, withLogWorker } from './log-worker.ts';
import { NO_OP_GET } from './reads.ts';
import { rowsCounted, rowsRead, TOLD_AFTER_MS } from './rows-read.ts';
import { type Bench, call, costOf, CONNECTIONS, OWNER, rateOf, sample } from './scenario.ts';
import { seedSubjects, settle } from './seed.ts';

const DEFAULT_INTERVAL_MS = 1000;
const SHORT_INTERVAL_MS = 50;
/** The tables of the log. */
const TABLES = [
  ...['log_waiting', 'log_entries', 'log_tiles', 'log_tree', 'log_checkpoints'],
  ...['map_state', 'map_streams', 'map_tiles', 'map_buckets'],
];
export const READ_TABLES = [...TABLES, 'memberships', 'subjects', 'snapshots', 'grants'];

/** Measures the cost of the transparency log for writers, its delay, and the cost of its proofs. */
export async function log(bench: Bench): Promise<Outcome> {
  const grown = await withLogWorker(bench, SHORT_INTERVAL_MS, () => growth(bench), { DATABASE_POOL_SIZE: '2' });
  const written = await withLogWorker(bench, DEFAULT_INTERVAL_MS, async (worker) => {
    const creating = await creates(bench, worker);
    return { ...creating, soon: await published(bench, DEFAULT_INTERVAL_MS, { p50: 700, p99: 1500 }) };
  });
  const caughtUp = await withLogWorker(bench, SHORT_INTERVAL_MS, async (worker) => {
    const backlog = await integration(bench, worker, written.rate);
    return { ...backlog, soon: await published(bench, SHORT_INTERVAL_MS, { p50: 150 }), read: await proofs(bench) };
  });
  const { read } = caughtUp;
  return {
    lines: [...written.lines, ...caughtUp.lines, ...written.soon, ...caughtUp.soon, ...read.lines, ...grown],
    costs: [...written.costs, ...caughtUp.costs, ...read.costs],
  };
}

/**
 * Measures creates with the log and without it: their rate, and the cost for all processes until everything is integrated. The
 * cost counts because a worker may have idle cores for itself.
 */
async function creates(bench: Bench, worker: Server): Promise<{ lines: Line[]; costs: Cost[]; rate: Figure }> {
  const { stage, effort, gateway, owner } = bench;
  const create = async (how: 'ENABLE' | 'DISABLE') => {
    await stage.sql.query(`ALTER TABLE snapshots ${how} TRIGGER snapshots_logged`);
    const before = { worker: worker.cpuMs(), postgres: stage.postgresCpuMs() };
    const made = await sample(bench, gateway, { kind: 'create', tenantId: OWNER, headers: owner });
    await untilPublished(bench);
    const afterwards = worker.cpuMs() - before.worker + stage.postgresCpuMs() - before.postgres;
    return { ...made, allMs: (made.gatewayUs + made.generatorUs) / 1000 + afterwards / made.total };
  };
  const samples = await alternate(
    { ...effort, rounds: effort.quick ? effort.rounds : 2 * effort.rounds },
    { without: () => create('DISABLE'), with: () => create('ENABLE') },
  );
  await stage.sql.query('ALTER TABLE snapshots ENABLE TRIGGER snapshots_logged');
  const rate = rateOf(samples.with);
  const all = (of: typeof samples.with): Figure => figure(of.map(({ allMs }) => allMs));
  return {
    lines: [
      {
        id: 'log-create',
        what: `Create, logged, ${CONNECTIONS} connections`,
        figure: rate,
        unit: '/s',
        against: { what: 'without the log', figure: rateOf(samples.without) },
        target: { least: 0.95 },
      },
      {
        id: 'log-create-processor',
        what: 'Processor time of all processes per create, until it is integrated',
        figure: all(samples.with),
        unit: 'ms',
        against: { what: 'without the log, ms', figure: all(samples.without) },
      },
    ],
    costs: [
      costOf('create-logged', 'Create, logged', samples.with),
      costOf('create-unlogged', 'Create without the log', samples.without),
    ],
    rate,
  };
}

/** Measures how fast one worker integrates a backlog, the cost of that, and the space in the database. */
async function integration(
  bench: Bench,
  worker: Server,
  createRate: Figure,
): Promise<{ lines: Line[]; costs: Cost[] }> {
  const { effort } = bench;
  const count = effort.quick ? 10_000 : 100_000;
  const { backlogs } = await alternate({ ...effort, uncounted: 0 }, { backlogs: () => integrate(bench, worker, count) });
  const of = (value: (one: (typeof backlogs)[number]) => number): Figure => figure(backlogs.map(value));
  return {
    lines: [
      {
        id: 'log-integration',
        what: `Integration by one worker, ${count.toLocaleString('en')} that wait`,
        figure: of(({ rate }) => rate),
        unit: '/s',
        against: { what: 'creates, logged', figure: createRate },
        target: { least: 3 },
      },
      {
        id: 'log-bytes',
        what: 'In the database for each snapshot, for the log',
        figure: of(({ bytes }) => bytes),
        unit: 'bytes',
        target: { most: 200 },
      },
    ],
    costs: [
      {
        id: 'log-integrate',
        what: 'Integrate an entry (for the gateway the worker)',
        gateway: of(({ workerUs }) => workerUs),
        postgres: of(({ postgresUs }) => postgresUs),
        generator: figure([0]),
      },
    ],
  };
}

/** Measures the integration of this many snapshots that appear at once: entries per second, processor time and bytes for each. */
export async function integrate(bench: Bench, worker: Server, count: number) {
  const { stage } = bench;
  await untilPublished(bench);
  const bytes = await bytesOf(bench);
  // All marks appear at once.
  await stage.sql.query('BEGIN');
  await seedSubjects(bench, { prefix: `backlog-${randomUUID()}-`, upTo: count });
  await stage.sql.query('COMMIT');
  const before = { worker: worker.cpuMs(), postgres: stage.postgresCpuMs() };
  const startedAt = performance.now();
  await untilPublished(bench);
  const seconds = (performance.now() - startedAt) / 1000;
  const usEach = (ms: number): number => (ms * 1000) / count;
  return {
    rate: count / seconds,
    workerUs: usEach(worker.cpuMs() - before.worker),
    postgresUs: usEach(stage.postgresCpuMs() - before.postgres),
    bytes: ((await bytesOf(bench)) - bytes) / count,
  };
}

/** Returns the size of the log's tables with their indexes, after a vacuum. */
async function bytesOf({ stage }: Bench): Promise<number> {
  await stage.sql.query(`VACUUM ${TABLES.join(', ')}`);
  const { rows } = await stage.sql.query<{ bytes: number }>(
    'SELECT sum(pg_total_relation_size(name::regclass))::float8 AS bytes FROM unnest($1::text[]) name',
    [TABLES],
  );
  return rows[0]?.bytes ?? NaN;
}

/** Measures the time from the 201 of a create to a published checkpoint that includes it, with continuous polling. */
async function published(
  bench: Bench,
  intervalMs: number,
  most: { p50: number; p99?: number },
): Promise<Line[]> {
  const { gateway, effort, owner } = bench;
  const seen: { at: number; size: number }[] = [];
  let isOver = false;
  const watching = (async () => {
    while (!isOver) {
      const note = await (await fetch(`http://127.0.0.1:${gateway.port}/log/checkpoint`)).text();
      seen.push({ at: performance.now(), size: Number(note.split('\n')[1]) });
      await pause(5);
    }
  })();
  const created = new Map<string, number>();
  const count = effort.quick ? 60 : 500;
  while (created.size < count) {
    const snapshotId = randomUUID();
    const envelope: unknown = JSON.parse(envelopeText(snapshotId, randomUUID()));
    await call(bench, owner, 'POST', `/v1/tenants/${OWNER}/entity-states`, envelope);
    created.set(snapshotId, performance.now());
    await pause(Math.random() * 60);
  }
  await untilPublished(bench);
  const { rows } = await bench.stage.sql.query<{ snapshot_id: string; log_index: number }>(
    `SELECT snapshot_id, log_index::float8 FROM snapshots JOIN log_entries USING (subject_key, snapshot_version)
      WHERE snapshot_id = ANY ($1::uuid[])`,
    [[...created.keys()]],
  );
  const last = Math.max(...rows.map(({ log_index: index }) => index));
  await waitFor(() => (seen.at(-1)?.size ?? 0) > last, { what: 'the last checkpoint to be seen' });
  isOver = true;
  await watching;
  const latencies = rows.map(({ snapshot_id: id, log_index: index }) => {
    const at = seen.find(({ size }) => size > index)?.at ?? NaN;
    return at - (created.get(id) ?? NaN);
  });
  const line = (name: string, share: number, limit: number | undefined): Line => ({
    id: `log-published-${intervalMs}-${name}`,
    what: `Create answered to checkpoint published, every ${intervalMs} ms, ${name}`,
    figure: figure(percentiles(latencies, [share])),
    unit: 'ms',
    ...(limit === undefined ? {} : { target: { most: limit } }),
  });
  return [line('p50', 0.5, most.p50), line('p99', 0.99, most.p99)];
}

/** The number of snapshots and tiles that are requested repeatedly. */
const POPULAR = 200;
/** More entries than the cache of tiles can contain. */
const ANY = 20_000;

/** Compares proofs with reads of the same snapshots, and tiles with the framework's no-op. */
async function proofs(bench: Bench): Promise<{ lines: Line[]; costs: Cost[] }> {
  const { stage, effort, gateway, noOp, owner: headers } = bench;
  await settle(bench);
  const { rows } = await stage.sql.query<{ snapshot_id: string; size: number }>(
    `SELECT snapshot_id, (SELECT size::float8 FROM log_tree) AS size FROM log_entries
       JOIN snapshots USING (subject_key, snapshot_version) WHERE entry_type = 1 AND tenant_id = $1
      ORDER BY random() LIMIT ${ANY}`,
    // Other parts leave snapshots of other tenants, which the owner may not read.
    [OWNER],
  );
  const all = rows.map(({ snapshot_id: id }) => `/v1/tenants/${OWNER}/snapshots/${id}`);
  const paths = all.slice(0, POPULAR);
  const fullTiles = Math.floor((rows[0]?.size ?? 0) / TILE_WIDTH);
  const tiles = Array.from(
    { length: Math.min(fullTiles, POPULAR) },
    (_, index) => `/log/${formatTilePath({ level: 0, index, width: TILE_WIDTH })}`,
  );
  const proofOf = (path: string): string => `${path}/log-proof`;
  const get = { kind: 'get', expect: 200 } as const;
  const samples = await alternate(effort, {
    noOp: () => sample(bench, noOp, NO_OP_GET),
    byId: () => sample(bench, gateway, { ...get, paths, headers }),
    proof: () => sample(bench, gateway, { ...get, paths: paths.map(proofOf), headers }),
    anyProof: () => sample(bench, gateway, { ...get, paths: all.map(proofOf), headers }),
    tile: () => sample(bench, gateway, { ...get, paths: tiles, headers: {} }),
  });
  const line = (id: string, what: string, rate: Figure, against: Line['against'], least: number): Line => ({
    id,
    what,
    figure: rate,
    unit: '/s',
    ...(against === undefined ? {} : { against }),
    target: { least },
  });
  return {
    lines: [
      line('log-proof', `Log proof of ${POPULAR} snapshots`, rateOf(samples.proof), { what: 'read by id', figure: rateOf(samples.byId) }, 0.7),
      line('log-tile', 'Tile', rateOf(samples.tile), { what: 'no-op GET', figure: rateOf(samples.noOp) }, 1),
    ],
    costs: [
      costOf('log-no-op-get', 'No-op GET, beside the log', samples.noOp),
      costOf('log-by-id', 'Read by id, logged', samples.byId),
      costOf('log-proof', `Log proof of ${POPULAR} snapshots`, samples.proof),
      costOf('log-proof-any', 'Log proof of any', samples.anyProof),
      costOf('log-tile', 'Tile', samples.tile),
    ],
  };
}

const SMALL = 1000;
const BATCH = 500;

/** Measures the rows that PostgreSQL reads for a proof and for integration, in small and large trees. */
async function growth(bench: Bench): Promise<Line[]> {
  const sizes = bench.effort.quick ? [SMALL, 100_000] : [SMALL, 1_000_000, 10_000_000];
  // With one connection, PostgreSQL's counters belong to this gateway.
  const probe = await bench.stage.startGateway({ DATABASE_POOL_SIZE: '1' });
  const steps: { size: number; proof: number; entry: number }[] = [];
  try {
    for (const size of sizes) {
      await untilPublished(bench);
      await generate(bench, size - BATCH);
      await untilFed(bench);
      await pause(2 * TOLD_AFTER_MS);
      const before = await rowsCounted(bench, READ_TABLES);
      await seedSubjects(bench, { prefix: `at-${size}-`, upTo: BATCH });
      await untilFed(bench);
      await pause(2 * TOLD_AFTER_MS);
      const entry = ((await rowsCounted(bench, READ_TABLES)) - before) / BATCH;
      const { rows } = await bench.stage.sql.query<{ snapshot_id: string }>(
        `SELECT snapshot_id FROM snapshots JOIN subjects USING (subject_key) WHERE subject_id = $1`,
        [`at-${size}-1`],
      );
      const path = `/v1/tenants/${OWNER}/snapshots/${rows[0]?.snapshot_id}/log-proof`;
      const proof = await rowsRead(bench, probe, [{ path, headers: bench.owner }], READ_TABLES);
      steps.push({ size, proof, entry });
    }
  } finally {
    await probe.stop();
  }
  const [small, large] = ends(steps);
  const at = (size: number): string => `at ${size.toLocaleString('en')} leaves`;
  const line = (id: 'proof' | 'entry', what: string): Line => ({
    id: `log-rows-${id}`,
    what: `Rows PostgreSQL reads for ${what} ${at(large.size)}`,
    figure: figure([large[id]]),
    unit: 'rows',
    against: { what: at(small.size), figure: figure([small[id]]) },
    target: { most: 1.25 },
  });
  return [line('proof', 'a proof'), line('entry', 'an entry to be integrated,')];
}

/** The number of leaves per transaction. */
const GENERATED = 250_000;

/** Grows the tree to this size with leaves without facts. */
async function generate({ stage: { sql } }: Bench, upTo: number): Promise<void> {
  for (let isLess = true; isLess; ) {
    await sql.query('BEGIN');
    const { rows } = await sql.query<{ size: number }>('SELECT size::float8 FROM log_tree FOR UPDATE');
    const from = rows[0]?.size ?? 0;
    const count = Math.min(GENERATED, upTo - from);
    isLess = from + count < upTo;
    if (count > 0) {
      const leaves = Array.from({ length: count }, () => randomBytes(32));
      const { added, root, edge } = appendLeaves(await edgeOf(sql, from), leaves);
      await sql.query(
        `INSERT INTO log_tiles AS t SELECT * FROM unnest($1::int[], $2::bigint[], $3::bytea[])
             ON CONFLICT (level, tile_index) DO UPDATE SET hashes = t.hashes || excluded.hashes`,
        [added.map(({ level }) => level), added.map(({ index }) => index), added.map(({ hashes }) => Buffer.from(hashes))],
      );
      // They are entries of owner changes that do not exist.
      await sql.query(
        `INSERT INTO log_entries (log_index, entry_type, owner_change_id, salt)
         SELECT i, 4, -i, substr(sha256(i::text::bytea), 1, 16) FROM generate_series($1::bigint, $2::bigint) i`,
        [from, from + count - 1],
      );
      await sql.query('UPDATE log_tree SET size = $1, root = $2', [edge.size, Buffer.from(root)]);
    }
    await sql.query('COMMIT');
  }
}

async function edgeOf(sql: Bench['stage']['sql'], size: number): Promise<RightEdge> {
  if (size === 0) return EMPTY_EDGE;
  return readRightEdge(
    size,
    tileHashReader(size, async (tiles) => {
      const read: TileHashes[] = [];
      for (const { level, index } of tiles) {
        const { rows } = await sql.query<{ hashes: Buffer }>(
          'SELECT hashes FROM log_tiles WHERE level = $1 AND tile_index = $2',
          [level, index],
        );
        read.push(new TileHashes(rows[0]?.hashes ?? Buffer.alloc(0)));
      }
      return read;
    }),
  );
}
