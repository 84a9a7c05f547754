import { randomUUID } from 'node:crypto';
import { figure } from '../measure.ts';
import { envelopeText } from '../flows.ts';
import type { Curve, Line, Outcome } from '../run.ts';
import type { Server } from '../stage.ts';
import { largeEnvelope } from './documents.ts';
import { type Bench, call, CONNECTIONS, latestPath, OWNER, sample, subjectPath } from './scenario.ts';
import { seedSubjects, settle } from './seed.ts';

/** Measures the resident memory of the gateway at full load and during large reads. */
export async function memory(bench: Bench): Promise<Outcome> {
  const load = await underLoad(bench);
  const lines = [...load.lines];
  for (const work of await largeReads(bench)) lines.push(...(await passes(bench, work)));
  return { lines, curves: load.curves };
}

const SAMPLE_MS = 50;
const MAX_POINTS = 300;
const LIMIT_MIB = 250;

/** Samples the gateway's memory while `work` runs. */
async function watch(gateway: Server, work: () => Promise<unknown>): Promise<{ x: number; y: number }[]> {
  const points: { x: number; y: number }[] = [];
  const startAt = performance.now();
  const look = (): number => points.push({ x: (performance.now() - startAt) / 1000, y: gateway.rssMiB() });
  look();
  const timer = setInterval(look, SAMPLE_MS);
  await work().finally(() => clearInterval(timer));
  look();
  return points;
}

const peakOf = (points: readonly { y: number }[]): number => Math.max(...points.map(({ y }) => y));

const PREFIX = 'memory-';
const SUBJECTS = 1000;

async function underLoad(bench: Bench): Promise<{ lines: Line[]; curves: Curve[] }> {
  const { stage, effort, owner } = bench;
  await seedSubjects(bench, { prefix: PREFIX, upTo: SUBJECTS });
  const seconds = effort.quick ? 6 : 600;
  const options = { connections: CONNECTIONS / 2, measureMs: seconds * 1000 };
  const paths = Array.from({ length: SUBJECTS }, (_, index) => latestPath(OWNER, `${PREFIX}${index + 1}`));
  // A new process, since earlier work would count.
  const gateway = await stage.startGateway();
  const points = await watch(gateway, () =>
    Promise.all([
      sample(bench, gateway, { kind: 'create', tenantId: OWNER, headers: owner }, options),
      sample(bench, gateway, { kind: 'get', expect: 200, headers: owner, paths }, options),
    ]),
  ).finally(() => gateway.stop());
  const quarter = (which: number): number[] =>
    points.slice(Math.floor((points.length * (which - 1)) / 4), (points.length * which) / 4).map(({ y }) => y);
  const every = Math.ceil(points.length / MAX_POINTS);
  return {
    lines: [
      {
        id: 'memory',
        what: `Gateway memory, ${seconds} s of creates and reads at full load: peak`,
        figure: figure([peakOf(points)]),
        unit: 'MiB',
        target: { most: LIMIT_MIB },
      },
      {
        id: 'memory-steady',
        what: `Gateway memory, ${seconds} s at full load: last quarter`,
        figure: figure(summary(quarter(4))),
        unit: 'MiB',
        against: { what: 'in the second quarter', figure: figure(summary(quarter(2))) },
        target: { most: 1.1 },
      },
    ],
    curves: [
      {
        id: 'memory',
        title: 'Resident memory of the gateway',
        x: { name: 'seconds of creates and reads at full load', scale: 'linear' },
        y: 'MiB',
        series: [{ name: 'gateway', points: points.filter((_, index) => index % every === 0) }],
      },
    ],
  };
}

/** Returns lowest, median and highest value, since a result file need not contain thousands of samples. */
function summary(values: readonly number[]): number[] {
  const { median } = figure(values);
  return [Math.min(...values), median, Math.max(...values)];
}

interface LargeRead {
  id: string;
  what: string;
  run(gateway: Server): Promise<void>;
}

const AT_ONCE = 4;
const VERIFY_DEPTH = 1000;
const PAGE = 200;
/** About 900 KB, below the body limit. */
const OFFICERS_OF_900_KB = 7100;

async function largeReads(bench: Bench): Promise<LargeRead[]> {
  const { quick } = bench.effort;
  const versions = quick ? 3_000 : 100_000;
  const times = quick ? 8 : 200;
  await seedSubjects(bench, { prefix: 'export-', upTo: 1, versions });
  await seedSubjects(bench, { prefix: 'deep-', upTo: 1, versions: VERIFY_DEPTH });
  await settle(bench);
  const diffed = await seedLargePair(bench);
  const get = (gateway: Server, path: string, accept = 'application/json'): Promise<Response> =>
    getAs(gateway, path, { ...bench.owner, accept });
  return [
    {
      id: 'export',
      what: `NDJSON export of ${versions.toLocaleString('en')} versions`,
      async run(gateway) {
        const answer = await get(gateway, `${subjectPath(OWNER, 'export-1')}/export`, 'application/x-ndjson');
        const lines = await countLines(answer);
        if (lines !== versions) throw new Error(`The export has ${lines} lines instead of ${versions}`);
      },
    },
    {
      id: 'verify',
      what: `${times} chains of ${VERIFY_DEPTH.toLocaleString('en')} verified and paged`,
      run: (gateway) =>
        repeat(times, async () => {
          const path = `${latestPath(OWNER, 'deep-1')}?verify=chain&depth=${VERIFY_DEPTH}&view=header`;
          const text = await (await get(gateway, path)).text();
          if (!text.includes('"valid":true') || text.includes('"valid":false'))
            throw new Error(`The chain is not verified: ${text.slice(0, 500)}`);
          await walkProof(get, gateway);
        }),
    },
    {
      id: 'diff',
      what: `${times} diffs of two 900 KB envelopes`,
      run: (gateway) =>
        repeat(times, async () => {
          const path = `${subjectPath(OWNER, diffed)}/diff?from_version=1&to_version=2`;
          await (await get(gateway, path)).arrayBuffer();
        }),
    },
  ];
}

/** Writes two versions of a subject of about 900 KB each. Returns its id. */
async function seedLargePair(bench: Bench): Promise<string> {
  const subjectId = randomUUID();
  for (const version of [1, 2]) {
    const envelope: object = JSON.parse(envelopeText(randomUUID(), subjectId));
    const attributes = largeEnvelope(OFFICERS_OF_900_KB, { changed: version === 2 });
    await call(bench, bench.owner, 'POST', `/v1/tenants/${OWNER}/entity-states`, {
      ...envelope,
      snapshot_version: version,
      attribute_paths: {},
      attributes,
    });
  }
  return subjectId;
}

async function walkProof(get: (gateway: Server, path: string) => Promise<Response>, gateway: Server): Promise<void> {
  const path = `${subjectPath(OWNER, 'deep-1')}/chain-proof?limit=${PAGE}`;
  for (let cursor: string | null = ''; cursor !== null;) {
    const answer: Response = await get(gateway, cursor === '' ? path : `${path}&cursor=${encodeURIComponent(cursor)}`);
    const page: { next_cursor: string | null } = JSON.parse(await answer.text());
    cursor = page.next_cursor;
  }
}

async function repeat(times: number, work: () => Promise<void>): Promise<void> {
  let left = times;
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      while (left-- > 0) await work();
    }),
  );
}

async function getAs(gateway: Server, path: string, headers: Record<string, string>): Promise<Response> {
  const answer = await fetch(`http://127.0.0.1:${gateway.port}${path}`, { headers });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${(await answer.text()).slice(0, 300)}`);
  return answer;
}

const NEWLINE = 0x0a;

async function countLines(answer: Response): Promise<number> {
  let lines = 0;
  if (answer.body === null) return lines;
  for await (const chunk of answer.body) {
    const bytes: Uint8Array = chunk;
    for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) lines += 1;
  }
  return lines;
}

/** Repeats the same work on a separate gateway. Measures its peak memory, and whether it grows each time. */
async function passes(bench: Bench, { id, what, run }: LargeRead): Promise<Line[]> {
  const gateway = await bench.stage.startGateway();
  try {
    await getAs(gateway, latestPath(OWNER, 'deep-1'), bench.owner);
    const idle = gateway.rssMiB();
    const count = bench.effort.quick ? 3 : 6;
    const peaks: number[] = [];
    for (let pass = 0; pass < count; pass++) peaks.push(peakOf(await watch(gateway, () => run(gateway))));
    return [
      { id: `memory-${id}`, what: `Gateway memory, ${what}: above idle`, figure: figure([Math.max(...peaks) - idle]), unit: 'MiB' },
      {
        id: `memory-${id}-steady`,
        what: `Gateway memory, ${what}: time ${count}`,
        figure: figure(peaks.slice(-1)),
        unit: 'MiB',
        against: { what: 'time 2', figure: figure(peaks.slice(1, 2)) },
        target: { most: 1.1 },
      },
    ];
  } finally {
    await gateway.stop();
  }
}
