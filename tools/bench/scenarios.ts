import type { Head } from './flows.ts';
import { type Load, type LoadFigures, runLoad } from './load-generator.ts';
import { alternate, figure } from './measure.ts';
import { openEmmett, openRawInserts, perSecond } from './peers.ts';
import type { Curve, Line } from './report.ts';
import type { Server, Stage } from './stage.ts';

/** How long and how often; a quick run is for a first look. */
export interface Effort {
  rounds: number;
  warmUpMs: number;
  measureMs: number;
  quick: boolean;
}

export interface Bench {
  stage: Stage;
  effort: Effort;
  gateway: Server;
  noOp: Server;
  /** Of the owner's tenant and of the grantee's. */
  owner: Record<string, string>;
  grantee: Record<string, string>;
}

export interface Outcome {
  lines: Line[];
  curves?: Curve[];
}

export const OWNER = 'acme';
export const GRANTEE = 'beta';
const CONNECTIONS = 64;
const SUBJECT_TYPE = 'organization';

/** A call of the gateway; throws when the answer is no success. */
export async function call(
  bench: Bench,
  headers: Record<string, string>,
  method: string,
  path: string,
  body?: unknown,
): Promise<unknown> {
  const response = await fetch(`http://127.0.0.1:${bench.gateway.port}${path}`, {
    method,
    headers: { ...headers, ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text.slice(0, 300)}`);
  return text === '' ? undefined : JSON.parse(text);
}

/** Two tenants; the second one's principal may use grants. */
export async function seedTenants(bench: Bench): Promise<void> {
  await call(bench, bench.owner, 'POST', '/v1/tenants', { tenant_id: OWNER, name: 'Owner' });
  await call(bench, bench.grantee, 'POST', '/v1/tenants', { tenant_id: GRANTEE, name: 'Grantee' });
  const self = encodeURIComponent('oidc:test#grantee');
  await call(bench, bench.grantee, 'PUT', `/v1/tenants/${GRANTEE}/principals/${self}`, {
    allow_counterparty_access: true,
  });
}

/** Writes a subject's first `versions` snapshots by SQL, each chained to the one before; many subjects at once. */
export async function seedSubjects(
  bench: Bench,
  options: { prefix: string; subjects: number; versions: number },
): Promise<void> {
  await bench.stage.sql.query(
    `WITH subject AS (
       INSERT INTO subjects (subject_type, subject_id, owner_tenant_id)
       SELECT '${SUBJECT_TYPE}', $1 || i, '${OWNER}' FROM generate_series(1, $2::int) i
       RETURNING subject_key, subject_id)
     INSERT INTO snapshots (subject_key, snapshot_version, snapshot_id, tenant_id, generated_at, envelope_hash, prev_hash, envelope)
     SELECT s.subject_key, v, md5(s.subject_id || '/' || v)::uuid, '${OWNER}', '2026-01-15T09:30:00Z',
            sha256(convert_to(bench_envelope(s.subject_id, v), 'UTF8')),
            CASE WHEN v > 1 THEN sha256(convert_to(bench_envelope(s.subject_id, v - 1), 'UTF8')) END,
            bench_envelope(s.subject_id, v)
       FROM subject s CROSS JOIN generate_series(1, $3::int) v`,
    [options.prefix, options.subjects, options.versions],
  );
}

/** Canonical text of about 1.1 KB, made where it is stored. */
export const BENCH_ENVELOPE = `
CREATE OR REPLACE FUNCTION bench_envelope(subject_id text, version int) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT '{"attributes":{"legal":{"legal_name":"Bench AG"},"text":"' || repeat('x', 640) || '"},' ||
         '"audit":{"created_at":"2026-01-15T09:30:00Z","created_by":"bench","source":"bench"},' ||
         '"envelope_version":"entity_state_envelope_v1","evidence":[],"generated_at":"2026-01-15T09:30:00Z",' ||
         '"snapshot_id":"' || md5(subject_id || '/' || version)::uuid || '","snapshot_version":' || version ||
         ',"subject":{"subject_id":"' || subject_id || '","subject_type":"organization"}}'
$$`;

function load(bench: Bench, port: number, flow: Load['flow'], ratePerSecond?: number): Promise<LoadFigures> {
  const { warmUpMs, measureMs } = bench.effort;
  return runLoad({
    port,
    connections: CONNECTIONS,
    warmUpMs,
    measureMs,
    flow,
    ...(ratePerSecond === undefined ? {} : { ratePerSecond }),
  });
}

const rate = async (figures: Promise<LoadFigures>): Promise<number> => (await figures).perSecond;

export const latestPath = (tenantId: string, subjectId: string): string =>
  `/v1/tenants/${tenantId}/subjects/${SUBJECT_TYPE}/${subjectId}/snapshots/latest`;

/** Processor time of a server a request, in microseconds: what a busy neighbour of the machine changes least. */
async function costOf(bench: Bench, server: Server, flow: Load['flow']): Promise<number> {
  const before = server.cpuMs();
  const { total } = await load(bench, server.port, flow);
  return ((server.cpuMs() - before) * 1000) / total;
}

/** Writes, set against the framework's no-op POST of the same body, Emmett, and bare statements. */
export async function writes(bench: Bench): Promise<Outcome> {
  const { noOp, gateway, stage, effort } = bench;
  const emmett = await openEmmett(stage.databaseUrl);
  const raw = openRawInserts(stage.databaseUrl);
  await seedSubjects(bench, { prefix: 'pair-', subjects: CONNECTIONS, versions: 1 });
  const heads = async (): Promise<Head[]> => {
    const { rows } = await stage.sql.query<{ subject_id: string; version: number }>(
      `SELECT s.subject_id, max(n.snapshot_version) AS version FROM subjects s JOIN snapshots n USING (subject_key)
        WHERE s.subject_id LIKE 'pair-%' GROUP BY 1`,
    );
    return rows.map((row) => ({ subjectId: row.subject_id, version: row.version }));
  };
  const post = { kind: 'post', path: '/no-op', headers: {}, expect: 201 } as const;
  const figures = await alternate(effort.rounds, {
    noOpPost: () => rate(load(bench, noOp.port, post)),
    noOpPair: () => rate(load(bench, noOp.port, { ...post, times: 2 })),
    create: () => rate(load(bench, gateway.port, { kind: 'create', tenantId: OWNER, headers: bench.owner })),
    pair: async () =>
      rate(
        load(bench, gateway.port, {
          kind: 'propose_and_apply',
          tenantId: OWNER,
          headers: bench.owner,
          subjects: await heads(),
        }),
      ),
    noOpCost: () => costOf(bench, noOp, post),
    createCost: () => costOf(bench, gateway, { kind: 'create', tenantId: OWNER, headers: bench.owner }),
    emmett: () => perSecond(effort.measureMs, emmett.append),
    raw: () => perSecond(effort.measureMs, raw.insert),
  }).finally(async () => {
    await emmett.close();
    await raw.close();
  });
  const noOpPost = { what: 'no-op POST', figure: figures.noOpPost };
  return {
    lines: [
      {
        id: 'create-cost',
        what: 'Gateway processor time of a create',
        figure: figures.createCost,
        unit: 'µs',
        against: { what: 'no-op POST, µs', figure: figures.noOpCost },
      },
      {
        id: 'create',
        what: 'Create (version 1), 64 connections',
        figure: figures.create,
        unit: '/s',
        against: noOpPost,
        target: { least: 0.75 },
      },
      {
        id: 'create-emmett',
        what: 'Create, against Emmett in process',
        figure: figures.create,
        unit: '/s',
        against: { what: 'Emmett append', figure: figures.emmett },
        target: { least: 2 },
      },
      {
        id: 'create-raw',
        what: 'Create, against bare statements',
        figure: figures.create,
        unit: '/s',
        against: { what: 'pg, a row a statement', figure: figures.raw },
      },
      {
        id: 'pair',
        what: 'Propose + apply, in pairs',
        figure: figures.pair,
        unit: '/s',
        against: { what: 'no-op POST, in pairs', figure: figures.noOpPair },
        target: { least: 0.33 },
      },
    ],
  };
}

/** Reads, set against the framework's no-op GET. */
export async function reads(bench: Bench): Promise<Outcome> {
  const { noOp, gateway, stage, effort } = bench;
  const subjects = 1000;
  await seedSubjects(bench, { prefix: 'read-', subjects, versions: 1 });
  const ids = Array.from({ length: subjects }, (_, index) => `read-${index + 1}`);
  await stage.sql.query(
    `INSERT INTO grants (grant_id, grantor_tenant_id, grantee_tenant_id, subject_key, scopes)
     SELECT gen_random_uuid(), '${OWNER}', '${GRANTEE}', subject_key, '{read_latest}' FROM subjects WHERE subject_id LIKE 'read-%'`,
  );
  const { rows } = await stage.sql.query<{ snapshot_id: string; tag: string }>(
    `SELECT n.snapshot_id, encode(n.envelope_hash, 'hex') AS tag FROM snapshots n JOIN subjects s USING (subject_key)
      WHERE s.subject_id LIKE 'read-%' ORDER BY s.subject_key`,
  );
  const [first] = rows;
  if (first === undefined) throw new Error('nothing was seeded');
  const get = { kind: 'get', expect: 200 } as const;
  const latest = { ...get, paths: ids.map((id) => latestPath(OWNER, id)), headers: bench.owner };
  const byId = rows.map((row) => `/v1/tenants/${OWNER}/snapshots/${row.snapshot_id}`);
  const figures = await alternate(effort.rounds, {
    noOp: () => rate(load(bench, noOp.port, { ...get, paths: ['/no-op'], headers: {} })),
    latest: () => rate(load(bench, gateway.port, latest)),
    noOpCost: () => costOf(bench, noOp, { ...get, paths: ['/no-op'], headers: {} }),
    latestCost: () => costOf(bench, gateway, latest),
    granted: () =>
      rate(
        load(bench, gateway.port, { ...get, paths: ids.map((id) => latestPath(GRANTEE, id)), headers: bench.grantee }),
      ),
    byId: () => rate(load(bench, gateway.port, { ...get, paths: byId, headers: bench.owner })),
    notModified: () =>
      rate(
        load(bench, gateway.port, {
          kind: 'get',
          expect: 304,
          paths: byId.slice(0, 1),
          headers: { ...bench.owner, 'If-None-Match': `"${first.tag}.full"` },
        }),
      ),
  });
  const steady = { median: [] as number[], tail: [] as number[] };
  for (let round = 0; round < effort.rounds; round++) {
    const { p50, p99 } = await load(bench, gateway.port, latest, figures.latest.median * 0.7);
    steady.median.push(p50);
    steady.tail.push(p99);
  }
  const against = { what: 'no-op GET', figure: figures.noOp };
  const line = (
    id: string,
    what: string,
    name: 'latest' | 'granted' | 'byId' | 'notModified',
    least: number,
  ): Line => ({
    id,
    what,
    figure: figures[name],
    unit: '/s',
    against,
    target: { least },
  });
  return {
    lines: [
      {
        id: 'latest-cost',
        what: 'Gateway processor time of a latest read',
        figure: figures.latestCost,
        unit: 'µs',
        against: { what: 'no-op GET, µs', figure: figures.noOpCost },
      },
      line('latest', 'Read latest, tenant-scoped, owner', 'latest', 1),
      line('latest-grant', 'Read latest, by grant', 'granted', 1),
      line('by-id', 'Read by id', 'byId', 1.2),
      line('not-modified', 'Read by id, 304', 'notModified', 1.2),
      {
        id: 'tail',
        what: 'Read latest at 70 % of the peak: p99',
        figure: figure(steady.tail),
        unit: 'ms',
        against: { what: 'median, ms', figure: figure(steady.median) },
        target: { most: 10 },
      },
    ],
  };
}

/** How a latest read fares as one subject's chain and the number of subjects grow. */
export async function growth(bench: Bench): Promise<Outcome> {
  const { gateway, effort } = bench;
  const get = { kind: 'get', expect: 200, headers: bench.owner } as const;
  const lengths = effort.quick ? [1, 1000] : [1, 1000, 100_000];
  for (const versions of lengths) await seedSubjects(bench, { prefix: `chain-${versions}-`, subjects: 1, versions });
  await bench.stage.sql.query('VACUUM ANALYZE subjects, snapshots');
  const readOf = (versions: number) => (): Promise<number> =>
    rate(load(bench, gateway.port, { ...get, paths: [latestPath(OWNER, `chain-${versions}-1`)] }));
  const byLength = await alternate(
    effort.rounds,
    Object.fromEntries(lengths.map((versions) => [String(versions), readOf(versions)])),
  );
  const first = byLength['1'];
  const longest = byLength[String(lengths.at(-1))];

  const sizes = effort.quick ? [10_000, 50_000] : [10_000, 2_000_000];
  const points: { x: number; y: number }[] = [];
  const bySize = [];
  let seeded = 0;
  for (const size of sizes) {
    for (let batch = 0; seeded < size; batch++) {
      const subjects = Math.min(50_000, size - seeded);
      await seedSubjects(bench, { prefix: `size-${size}-${batch}-`, subjects, versions: 1 });
      seeded += subjects;
    }
    await bench.stage.sql.query('VACUUM ANALYZE subjects, snapshots');
    const { rows } = await bench.stage.sql.query<{ subject_id: string }>(
      `SELECT subject_id FROM subjects WHERE subject_id LIKE 'size-${size}-%' ORDER BY md5(subject_id) LIMIT 1000`,
    );
    const paths = rows.map((row) => latestPath(OWNER, row.subject_id));
    const values: number[] = [];
    for (let round = 0; round <= effort.rounds; round++)
      values.push(await rate(load(bench, gateway.port, { ...get, paths })));
    const measured = figure(values.slice(1));
    bySize.push(measured);
    points.push({ x: size, y: measured.median });
  }
  const [few, many] = [bySize[0], bySize.at(-1)];
  if (first === undefined || longest === undefined || few === undefined || many === undefined)
    throw new Error('nothing was measured');
  const flat = { least: 0.85 };
  return {
    lines: [
      {
        id: 'growth-versions',
        what: `Latest read at ${lengths.at(-1)?.toLocaleString('en')} versions`,
        figure: longest,
        unit: '/s',
        against: { what: 'at 1 version', figure: first },
        target: flat,
      },
      {
        id: 'growth-subjects',
        what: `Latest read at ${sizes.at(-1)?.toLocaleString('en')} subjects`,
        figure: many,
        unit: '/s',
        against: { what: `at ${sizes[0]?.toLocaleString('en')}`, figure: few },
        target: flat,
      },
    ],
    curves: [
      {
        id: 'versions',
        title: 'Latest reads by length of the chain',
        x: 'versions of the subject',
        y: 'reads a second',
        points: lengths.map((versions) => ({ x: versions, y: byLength[String(versions)]?.median ?? 0 })),
      },
      { id: 'subjects', title: 'Latest reads by number of subjects', x: 'subjects', y: 'reads a second', points },
    ],
  };
}

/** What a second gateway adds on this machine: both serve reads of the same subjects at once. */
export async function scale(bench: Bench): Promise<Outcome> {
  const { gateway, stage, effort } = bench;
  await seedSubjects(bench, { prefix: 'scale-', subjects: 100, versions: 1 });
  const paths = Array.from({ length: 100 }, (_, index) => latestPath(OWNER, `scale-${index + 1}`));
  const flow = { kind: 'get', expect: 200, headers: bench.owner, paths } as const;
  const second = await stage.startGateway();
  try {
    const figures = await alternate(effort.rounds, {
      one: () => rate(load(bench, gateway.port, flow)),
      two: async () => {
        const both = await Promise.all([load(bench, gateway.port, flow), load(bench, second.port, flow)]);
        return both.reduce((sum, { perSecond }) => sum + perSecond, 0);
      },
    });
    const against = { what: 'one gateway', figure: figures.one };
    return {
      lines: [{ id: 'two-gateways', what: 'Latest reads, two gateways', figure: figures.two, unit: '/s', against }],
    };
  } finally {
    await second.stop();
  }
}

/** Resident memory of the gateway under the heaviest mix for a while. */
export async function memory(bench: Bench): Promise<Outcome> {
  const { gateway, effort } = bench;
  const points: { x: number; y: number }[] = [];
  const minutes = effort.quick ? 0.25 : 10;
  const startAt = performance.now();
  while (performance.now() - startAt < minutes * 60_000) {
    await load(bench, gateway.port, { kind: 'create', tenantId: OWNER, headers: bench.owner });
    points.push({ x: Math.round((performance.now() - startAt) / 1000), y: gateway.rssMiB() });
  }
  const values = points.map(({ y }) => y);
  return {
    lines: [
      {
        id: 'memory',
        what: `Gateway memory after ${minutes} min of creates at full load`,
        figure: figure(values.slice(-3)),
        unit: 'MiB',
        target: { most: 250 },
      },
    ],
    curves: [
      { id: 'memory', title: 'Resident memory of the gateway', x: 'seconds of creates at full load', y: 'MiB', points },
    ],
  };
}
