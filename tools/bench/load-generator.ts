import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { streamed } from './batch-load.ts';
import { type Flow, stepsOf } from './flows.ts';
import { HttpConnection } from './http-connection.ts';
import { flatOut, Latencies, paced, percentiles } from './pacing.ts';

export interface Load {
  port: number;
  connections: number;
  warmUpMs: number;
  measureMs: number;
  flow: Flow;
  /** The fixed rate of iterations; absent for as many as the server can answer. */
  ratePerSecond?: number;
}

export interface LoadFigures {
  perSecond: number;
  /** All iterations, including the warm-up. */
  total: number;
  /** Processor time of the generator itself, in milliseconds. */
  cpuMs: number;
  /** Milliseconds; with a rate, counted from the time at which the iteration was due. */
  p50: number;
  p99: number;
  max: number;
  /** The lateness of the generator itself in milliseconds, which `p99` includes; 0 without a rate. */
  lateP99: number;
}

/** The time that a load may take beyond its plan. */
const GRACE_MS = 60_000;

/** Idle generators, which are reused because they are already compiled and warm. */
const idle: ChildProcess[] = [];

/** Runs a load in its own process, so that it does not share an event loop with the server. */
export async function runLoad(load: Load): Promise<LoadFigures> {
  const child = idle.pop() ?? fork(fileURLToPath(import.meta.url), { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const figures = await new Promise<LoadFigures>((resolve, reject) => {
    const exited = (code: number | null): void => reject(new Error(`The load generator ended with ${code}`));
    child.once('exit', exited);
    child.once('message', (message: LoadFigures | { fault: string }) => {
      child.off('exit', exited);
      if ('fault' in message) {
        // It can still be sending.
        child.kill();
        reject(new Error(message.fault));
      } else resolve(message);
    });
    child.send(load);
  });
  idle.push(child);
  return figures;
}

interface Drive {
  /** Returns the lateness of each iteration that the generator itself caused, in milliseconds. */
  run(latencies: Latencies): Promise<number[]>;
  close(): void;
}

async function driveOf({ flow, port, connections: count, ratePerSecond }: Load): Promise<Drive> {
  if (flow.kind === 'batch') {
    return { run: (latencies) => streamed(flow, port, latencies).then(() => []), close: () => undefined };
  }
  const connections = await Promise.all(Array.from({ length: count }, () => HttpConnection.open(port)));
  const clients = stepsOf(flow, count).map((step, index) => {
    const connection = connections[index];
    if (connection === undefined) throw new Error('There are fewer connections than clients');
    return () => step(connection);
  });
  return {
    run: (latencies) =>
      ratePerSecond === undefined
        ? flatOut(clients, latencies).then(() => [])
        : paced(clients, ratePerSecond, latencies),
    close: () => connections.forEach((connection) => connection.close()),
  };
}

async function generate(load: Load): Promise<LoadFigures> {
  const drive = await driveOf(load);
  const startAt = performance.now() + load.warmUpMs;
  const latencies = new Latencies(startAt, startAt + load.measureMs);
  const cpuBefore = process.cpuUsage();
  const lateness = await drive.run(latencies);
  const { user, system } = process.cpuUsage(cpuBefore);
  drive.close();
  const [p50 = 0, p99 = 0, max = 0] = latencies.percentiles(0.5, 0.99, 1);
  const [lateP99 = 0] = percentiles(lateness, [0.99]);
  return {
    perSecond: (latencies.counted * 1000) / load.measureMs,
    total: latencies.total,
    cpuMs: (user + system) / 1000,
    p50,
    p99,
    max,
    lateP99,
  };
}

const faultOf = (error: unknown): { fault: string } => ({
  fault: error instanceof Error ? error.message : String(error),
});

if (process.send !== undefined && process.argv[1] === fileURLToPath(import.meta.url)) {
  process.on('disconnect', () => process.exit());
  process.on('message', (load: Load) => {
    const deadlineMs = load.warmUpMs + load.measureMs + GRACE_MS;
    const overdue = setTimeout(() => process.send?.({ fault: 'The server stopped answering' }), deadlineMs);
    const tell = (result: Awaited<ReturnType<typeof generate>> | ReturnType<typeof faultOf>): void => {
      clearTimeout(overdue);
      process.send?.(result);
    };
    generate(load).then(tell, (error: unknown) => tell(faultOf(error)));
  });
}
