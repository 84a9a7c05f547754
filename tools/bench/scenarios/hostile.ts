import { reservePort } from '../../processes.ts';
import { type Attack, ATTACKS } from '../../testing/hostile/attacks.ts';
import { closeConnections, type Target } from '../../testing/hostile/client.ts';
import { type Figures, watched } from '../../testing/hostile/figures.ts';
import { alternate, figure } from '../measure.ts';
import type { Line, Outcome } from '../run.ts';
import type { Server } from '../stage.ts';
import { type Bench, GRANTEE, latestPath, type Sample, sample } from './scenario.ts';
import { seedSubjects, settle } from './seed.ts';

const PREFIX = 'beside-';
const CONNECTIONS = 8;
const READS_PER_SECOND = 200;
const WRITES_PER_SECOND = 50;
/** Short, so that the gateway closes peers that read nothing within a round. */
const WRITE_TIMEOUT_MS = '2000';
/** Node's default heap in a container of 512 MiB; deploy/chart gives it 640. */
const NODE_OPTIONS = '--max-old-space-size=256';
/** Long enough to receive responses even if the gateway blocks for a second. */
const MEASURE_MS = 3000;

/** The promise "No caller can hurt another": bounds for a bystander's p99 and for the gateway's resources. */
const MOST_TIMES = 10;
const MOST_MS = 500;
const MOST_LOOP_MS = 100;
const MOST_MIB = 640;

type Latencies = Pick<Sample, 'p50' | 'p99'>;
/** The latencies of a bystander after a refusal, which makes its measurement invalid. */
const REFUSED: Latencies = { p50: NaN, p99: NaN };

/** The latencies of a bystander, and the resources used during the attack. */
interface Beside extends Figures {
  reads: Latencies;
  writes: Latencies;
  /** The number of attacks. */
  attacks: number;
}

/** Measures the effect of each attack on another tenant's reads and writes, and on the gateway that serves both. */
export async function hostile(bench: Bench): Promise<Outcome> {
  const { stage } = bench;
  const metricsPort = await reservePort();
  const gateway = await stage.startGateway({ METRICS_PORT: String(metricsPort), WRITE_TIMEOUT_MS, NODE_OPTIONS });
  try {
    await seedSubjects(bench, { prefix: PREFIX, upTo: 1, tenantId: GRANTEE });
    const target: Target = {
      port: gateway.port,
      sql: stage.sql,
      async token(user) {
        const { Authorization = '' } = await stage.authorization(user);
        return Authorization.replace('Bearer ', '');
      },
    };
    const lines: Line[] = [];
    for (const [id, attack] of Object.entries<Attack>(ATTACKS)) {
      const strike = await attack.prepare(target);
      await settle(bench);
      const { alone, beside } = await alternate(
        { ...bench.effort, uncounted: 0 },
        {
          alone: () => besideAttack(bench, { gateway, metricsPort }, undefined),
          beside: () => besideAttack(bench, { gateway, metricsPort }, strike),
        },
      );
      lines.push(...linesOf(id, attack.what, alone, beside));
    }
    return { lines };
  } finally {
    closeConnections();
    await gateway.stop();
  }
}

/** Runs a bystander at a steady rate while the attack repeats. */
async function besideAttack(
  bench: Bench,
  { gateway, metricsPort }: { gateway: Server; metricsPort: number },
  strike: (() => Promise<unknown>) | undefined,
): Promise<Beside> {
  const { outcome, figures } = await watched({ pid: gateway.pid, metricsPort, sql: bench.stage.sql }, async () => {
    let isOver = false;
    let attacks = 0;
    const strikes = async (): Promise<void> => {
      while (strike !== undefined && !isOver) {
        await strike();
        attacks += 1;
      }
    };
    const [[reads, writes]] = await Promise.all([bystander(bench, gateway).finally(() => (isOver = true)), strikes()]);
    return { reads, writes, attacks };
  });
  return { ...outcome, ...figures };
}

function bystander(bench: Bench, gateway: Server): Promise<[reads: Latencies, writes: Latencies]> {
  const { grantee: headers } = bench;
  const paths = [latestPath(GRANTEE, `${PREFIX}1`)];
  const paced = (ratePerSecond: number) => ({
    connections: CONNECTIONS,
    ratePerSecond,
    measureMs: MEASURE_MS,
  });
  return Promise.all([
    orRefused(sample(bench, gateway, { kind: 'get', expect: 200, paths, headers }, paced(READS_PER_SECOND))),
    orRefused(sample(bench, gateway, { kind: 'create', tenantId: GRANTEE, headers }, paced(WRITES_PER_SECOND))),
  ]);
}

function orRefused(measured: Promise<Sample>): Promise<Latencies> {
  return measured.catch((error: unknown) => {
    console.error(`A bystander was refused: ${String(error)}`);
    return REFUSED;
  });
}

function linesOf(attack: string, what: string, alone: readonly Beside[], beside: readonly Beside[]): Line[] {
  const of = (samples: readonly Beside[], value: (one: Beside) => number) => figure(samples.map(value));
  const latency = (id: string, name: string, value: (one: Beside) => number, isTail: boolean): Line => {
    const quiet = of(alone, value);
    return {
      id: `hostile-${attack}-${id}`,
      what: `Another tenant's ${name} beside ${what}`,
      figure: of(beside, value),
      unit: 'ms',
      against: { what: 'alone, ms', figure: quiet },
      ...(isTail ? { target: { most: Math.round(Math.max(MOST_TIMES, MOST_MS / quiet.median)) } } : {}),
    };
  };
  const used = (id: string, name: string, unit: Line['unit'], value: (one: Beside) => number, most?: number): Line => ({
    id: `hostile-${attack}-${id}`,
    what: `${name}, ${what}`,
    figure: of(beside, value),
    unit,
    ...(most === undefined ? {} : { target: { most } }),
  });
  return [
    latency('read-p50', 'reads, p50,', ({ reads }) => reads.p50, false),
    latency('read-p99', 'reads, p99,', ({ reads }) => reads.p99, true),
    latency('write-p50', 'writes, p50,', ({ writes }) => writes.p50, false),
    latency('write-p99', 'writes, p99,', ({ writes }) => writes.p99, true),
    used('cpu', 'Processor time of the gateway for one', 'ms', (one) => one.gatewayCpuMs / one.attacks),
    used('loop', 'Event loop late, p99', 'ms', ({ loopP99Ms }) => loopP99Ms, MOST_LOOP_MS),
    used('memory', 'Gateway memory, peak', 'MiB', ({ peakMiB }) => peakMiB, MOST_MIB),
  ];
}
