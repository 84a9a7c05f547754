import { availableParallelism } from 'node:os';
import { SUBJECT_TYPE } from '../flows.ts';
import { type LoadFigures, type Load, runLoad } from '../load-generator.ts';
import { type Figure, figure } from '../measure.ts';
import { type Cost, Missing } from '../run.ts';
import type { Server, Stage } from '../stage.ts';

/** Durations and repetitions. */
export interface Effort {
  rounds: number;
  /** Rounds before the counted ones, to warm up the code. */
  uncounted: number;
  warmUpMs: number;
  measureMs: number;
  quick: boolean;
}

export interface Bench {
  stage: Stage;
  effort: Effort;
  gateway: Server;
  noOp: Server;
  /** The `Authorization` of the owner and of the reader by grants. */
  owner: Record<string, string>;
  grantee: Record<string, string>;
}

export const OWNER = 'acme';
export const GRANTEE = 'beta';
/** A tenant that holds half of all grants. */
export const HUB = 'hub';
export const CONNECTIONS = 64;

/** Returns the URL of Redis. @throws Missing */
export function redisUrlOf({ stage }: Pick<Bench, 'stage'>): string {
  if (stage.queueUrl !== undefined) return stage.queueUrl;
  throw new Missing('There is no Redis. Put redis-server or valkey-server on PATH, or set QUEUE_URL.');
}

/** Calls the gateway. Throws unless the response is a success. */
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

export const subjectPath = (tenantId: string, subjectId: string): string =>
  `/v1/tenants/${tenantId}/subjects/${SUBJECT_TYPE}/${subjectId}`;
export const latestPath = (tenantId: string, subjectId: string): string =>
  `${subjectPath(tenantId, subjectId)}/snapshots/latest`;

/** The figures of a load, and the processor time of each process in microseconds per iteration. */
export interface Sample extends LoadFigures {
  gatewayUs: number;
  postgresUs: number;
  generatorUs: number;
  /** The share of the machine's cores that these processes used. */
  busy: number;
}

type Options = Partial<Pick<Load, 'connections' | 'measureMs' | 'ratePerSecond'>>;

/** Runs a load on a server, or one on each of several at the same time. */
export async function sample(
  { stage, effort }: Bench,
  servers: Server | readonly Server[],
  flow: Load['flow'],
  options: Options = {},
): Promise<Sample> {
  const all = 'port' in servers ? [servers] : servers;
  const { warmUpMs, measureMs } = effort;
  const cpuMs = (): { gateway: number; postgres: number } => ({
    gateway: all.reduce((sum, server) => sum + server.cpuMs(), 0),
    postgres: stage.postgresCpuMs(),
  });
  const before = cpuMs();
  const startedAt = performance.now();
  const figures = await Promise.all(
    all.map(({ port }) => runLoad({ port, connections: CONNECTIONS, warmUpMs, measureMs, flow, ...options })),
  );
  const coresMs = (performance.now() - startedAt) * availableParallelism();
  const after = cpuMs();
  const sum = (of: (one: LoadFigures) => number): number => figures.reduce((total, one) => total + of(one), 0);
  const most = (of: (one: LoadFigures) => number): number => Math.max(...figures.map(of));
  const total = sum((one) => one.total);
  const usEach = (ms: number): number => (ms * 1000) / total;
  return {
    perSecond: sum((one) => one.perSecond),
    total,
    cpuMs: sum((one) => one.cpuMs),
    p50: most((one) => one.p50),
    p99: most((one) => one.p99),
    max: most((one) => one.max),
    lateP99: most((one) => one.lateP99),
    gatewayUs: usEach(after.gateway - before.gateway),
    postgresUs: usEach(after.postgres - before.postgres),
    generatorUs: usEach(sum((one) => one.cpuMs)),
    busy: (after.gateway - before.gateway + after.postgres - before.postgres + sum((one) => one.cpuMs)) / coresMs,
  };
}

export const rateOf = (samples: readonly Sample[]): Figure => figure(samples.map(({ perSecond }) => perSecond));

export function costOf(id: string, what: string, samples: readonly Sample[]): Cost {
  return {
    id,
    what,
    gateway: figure(samples.map(({ gatewayUs }) => gatewayUs)),
    postgres: figure(samples.map(({ postgresUs }) => postgresUs)),
    generator: figure(samples.map(({ generatorUs }) => generatorUs)),
  };
}
