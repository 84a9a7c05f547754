import { randomUUID } from 'node:crypto';
import { ensureBuilt } from '../build.ts';
import { reservePort } from '../processes.ts';
import { envelopeText, SUBJECT_TYPE } from './flows.ts';
import { runLoad } from './load-generator.ts';
import { openStage, type Server } from './stage.ts';

/**
 * `node tools/run.mjs bench/heavy [name …]`: measures how one caller's heavy requests, four at a time, affect the main thread of
 * the gateway and the small reads of another caller. Prints a table with the delay of the event loop, the processor time of
 * the gateway, requests by status, and the latencies of the other caller.
 */
const SECONDS = 8;
const AT_ONCE = 4;
/** Reads per second of the other caller. */
const READS_A_SECOND = 50;
const MIB = 1_048_576;
const OFFICERS_OF_1_MB = 7_400;
const CHAIN = 200;

await ensureBuilt();
const stage = await openStage();
const metricsPort = await reservePort();
const gateway = await stage.startGateway({ METRICS_PORT: String(metricsPort), LOG_LEVEL: 'fatal' });
const heavy = await stage.authorization('heavy');
const other = await stage.authorization('other');

type Body = string | Buffer<ArrayBuffer>;

async function send(headers: Record<string, string>, method: string, path: string, body?: Body): Promise<Response> {
  const type = body === undefined ? {} : { 'Content-Type': 'application/json' };
  const url = `http://127.0.0.1:${gateway.port}${path}`;
  return fetch(url, { method, headers: { ...headers, ...type }, ...(body === undefined ? {} : { body }) });
}

async function must(headers: Record<string, string>, method: string, path: string, body?: object): Promise<string> {
  const answer = await send(headers, method, path, body === undefined ? undefined : JSON.stringify(body));
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text.slice(0, 300)}`);
  return text;
}

function document(subjectId: string, version: number, attributes: unknown): Record<string, unknown> {
  const envelope: Record<string, unknown> = JSON.parse(envelopeText(randomUUID(), subjectId));
  return { ...envelope, snapshot_version: version, attribute_paths: {}, attributes };
}

const STATES = '/v1/tenants/heavy/entity-states';
const subjectPath = (id: string): string => `/v1/tenants/heavy/subjects/${SUBJECT_TYPE}/${id}`;

/** Returns many values of 60 nested arrays. */
const deep = (bytes: number): unknown =>
  JSON.parse(`[${Array.from({ length: bytes / 121 }, () => '['.repeat(60) + ']'.repeat(60)).join(',')}]`);
const officers = (changed = false): object => ({
  officers: Array.from({ length: OFFICERS_OF_1_MB }, (_, id) => ({
    id,
    name: `Officer number ${id}`,
    role: changed && id % 8 === 0 ? 'chair' : 'director',
    since: '2019-04-01',
    address: { street: `Street ${id}`, city: 'Zürich' },
  })),
});

for (const [headers, id] of [
  [heavy, 'heavy'],
  [other, 'other'],
] as const) {
  await must(headers, 'POST', '/v1/tenants', { tenant_id: id, name: id });
}
await must(other, 'POST', '/v1/tenants/other/entity-states', JSON.parse(envelopeText(randomUUID(), 'small')));
for (const version of [1, 2]) {
  await must(heavy, 'POST', STATES, document('plain', version, { ...officers(version === 2), version }));
  const list = Array.from({ length: 120_000 }, (_, at) => (at * (version === 1 ? 7919 : 104_729)) % 65_536);
  await must(heavy, 'POST', STATES, document('numbers', version, { list }));
  await must(heavy, 'POST', STATES, document('deep', version, { deep: deep(1_000_000), version }));
}
for (let version = 1; version <= CHAIN; version++) {
  await must(heavy, 'POST', STATES, document('chain', version, { text: 'x'.repeat(1_000_000) }));
}

/** Returns a function that creates a subject with new ids. */
function creating(attributes: unknown, tenant = 'heavy'): () => Promise<Response> {
  const [snapshotId, subjectId] = [randomUUID(), randomUUID()];
  const text = JSON.stringify({ ...document(subjectId, 1, attributes), snapshot_id: snapshotId });
  return () => {
    const body = text.replace(snapshotId, randomUUID()).replace(subjectId, randomUUID());
    return send(heavy, 'POST', `/v1/tenants/${tenant}/entity-states`, body);
  };
}

function proposing(subjectId: string, version: number, ops: unknown): () => Promise<Response> {
  const body = JSON.stringify({ subject_id: subjectId, base_snapshot_version: version, patch_ops: ops });
  return () => send(heavy, 'POST', `${subjectPath(subjectId)}/updates`, body);
}

const getting = (path: string): (() => Promise<Response>) => {
  return () => send(heavy, 'GET', path);
};
const posting = (path: string, body: Body): (() => Promise<Response>) => {
  return () => send(heavy, 'POST', path, body);
};

const SMALL_PATCH = [{ op: 'replace', path: '/attributes/officers/0/name', value: 'N' }];
const LARGE_PATCH = [{ op: 'add', path: '/attributes/more', value: officers() }];

const ATTACKS: Readonly<Record<string, () => Promise<Response>>> = {
  nothing: () => new Promise((resolve) => setTimeout(() => resolve(Response.json({})), 1000)),
  'create, 1 MB': creating(officers()),
  'create, 1 MB of arrays 60 deep': creating({ deep: deep(1_000_000) }),
  'create, 1 MB, unknown tenant': creating(officers(), 'nobody'),
  'body of [[[[': posting(STATES, '['.repeat(MIB)),
  'body of 80,000 unknown members': posting(
    '/v1/tenants',
    JSON.stringify(Object.fromEntries(Array.from({ length: 80_000 }, (_, at) => [`u${at}`, 0]))),
  ),
  'body of 260,000 numbers 1e5': posting('/v1/tenants', `{"name":[${'1e5,'.repeat(MIB / 4 - 10)}1]}`),
  'propose a little on 1 MB': proposing('plain', 2, SMALL_PATCH),
  'propose 1 MB': proposing('plain', 1, LARGE_PATCH),
  'diff of 1 MB': getting(`${subjectPath('plain')}/diff?from_version=1&to_version=2`),
  'diff of 120,000 numbers': getting(`${subjectPath('numbers')}/diff?from_version=1&to_version=2`),
  'summary of 1 MB': getting(subjectPath('deep')),
  'verify=hash of 1 MB': getting(`${subjectPath('deep')}/snapshots/latest?verify=hash&view=header`),
  'verify=chain of 200 MB': getting(`${subjectPath('chain')}/snapshots/latest?verify=chain&depth=all&view=header`),
  'history of 200 MB, verified': getting(`${subjectPath('chain')}/history?limit=200&verify=hash`),
  'export of 200 MB': getting(`${subjectPath('chain')}/export.ndjson`),
};

async function delayMs(): Promise<{ p99: number; max: number }> {
  const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  const read = (name: string): number =>
    Number(new RegExp(`^nodejs_eventloop_lag_${name}_seconds\\S* (\\S+)`, 'm').exec(text)?.[1]) * 1000;
  return { p99: read('p99'), max: read('max') };
}

async function attack(make: () => Promise<Response>, { cpuMs, rssMiB }: Server): Promise<(string | number)[]> {
  const statuses = new Map<string, number>();
  const until = performance.now() + SECONDS * 1000;
  await delayMs();
  const before = cpuMs();
  let peak = 0;
  const client = async (): Promise<void> => {
    while (performance.now() < until) {
      const answer = await make();
      await answer.body?.pipeTo(new WritableStream({ write: () => void (peak = Math.max(peak, rssMiB())) }));
      const status = String(answer.status);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
  };
  const path = `/v1/tenants/other/subjects/${SUBJECT_TYPE}/small/snapshots/latest`;
  const flow = { kind: 'get', paths: [path], headers: other, expect: 200 } as const;
  const load = { port: gateway.port, connections: 8, warmUpMs: 500, measureMs: SECONDS * 1000 - 1000 };
  const [bystander] = await Promise.all([
    runLoad({ ...load, flow, ratePerSecond: READS_A_SECOND }),
    ...Array.from({ length: AT_ONCE }, client),
  ]);
  const { p99, max } = await delayMs();
  const busy = ((cpuMs() - before) / (SECONDS * 1000)) * 100;
  const counts = [...statuses].map(([status, count]) => `${count} × ${status}`).join(', ');
  const ms = [p99, max, bystander.p50, bystander.p99].map((one) => one.toFixed(one < 10 ? 1 : 0));
  return [...ms, busy.toFixed(0), peak.toFixed(0), counts];
}

const wanted = process.argv.slice(2);
console.log('| Attack | delay p99, ms | max | other p50, ms | p99 | processor, % | peak, MiB | answers |');
console.log('| --- | --- | --- | --- | --- | --- | --- | --- |');
for (const [name, make] of Object.entries(ATTACKS)) {
  if (wanted.length > 0 && !wanted.some((one) => name.includes(one))) continue;
  console.log(`| ${[name, ...(await attack(make, gateway))].join(' | ')} |`);
}
await stage.close();
process.exit();
