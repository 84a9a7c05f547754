import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { type Flow, stepOf } from './flows.ts';
import { HttpConnection } from './http-connection.ts';

export interface Load {
  port: number;
  connections: number;
  warmUpMs: number;
  measureMs: number;
  flow: Flow;
  /** Iterations a second to keep to, whatever the answers take; absent: as many as the server answers. */
  ratePerSecond?: number;
}

export interface LoadFigures {
  perSecond: number;
  /** Iterations in all, those of the warm-up included. */
  total: number;
  /** Processor time of the generator itself, in milliseconds. */
  cpuMs: number;
  /** Milliseconds; with a rate, from the moment at which the iteration was due. */
  p50: number;
  p99: number;
  max: number;
}

/** Runs a load in a process of its own, so that measuring and serving do not share an event loop. */
export function runLoad(load: Load): Promise<LoadFigures> {
  const child = fork(fileURLToPath(import.meta.url), { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  return new Promise((resolve, reject) => {
    child.once('message', (message: LoadFigures | { fault: string }) => {
      if ('fault' in message) reject(new Error(message.fault));
      else resolve(message);
    });
    child.once('exit', (code) => reject(new Error(`the load generator ended with ${code}`)));
    child.send(load);
  });
}

async function generate(load: Load): Promise<LoadFigures> {
  const connections = await Promise.all(Array.from({ length: load.connections }, () => HttpConnection.open(load.port)));
  const startAt = performance.now() + load.warmUpMs;
  const endAt = startAt + load.measureMs;
  const latencies: number[] = [];
  let total = 0;
  const cpuBefore = process.cpuUsage();
  let nextDue = performance.now();
  const intervalMs = load.ratePerSecond === undefined ? 0 : 1000 / load.ratePerSecond;

  await Promise.all(
    connections.map(async (connection, client) => {
      const step = stepOf(load.flow, client);
      for (;;) {
        let from = performance.now();
        if (intervalMs > 0) {
          const due = nextDue;
          nextDue += intervalMs;
          if (due > from) await new Promise((resolve) => setTimeout(resolve, due - from));
          // What waited for a free connection counts from when it was due.
          from = due;
        }
        if (from >= endAt) return;
        await step(connection);
        const now = performance.now();
        total += 1;
        if (now >= startAt && now < endAt) latencies.push(now - from);
      }
    }),
  );
  const { user, system } = process.cpuUsage(cpuBefore);
  connections.forEach((connection) => connection.close());
  latencies.sort((a, b) => a - b);
  const at = (share: number): number =>
    latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? 0;
  return {
    perSecond: (latencies.length * 1000) / load.measureMs,
    total,
    cpuMs: (user + system) / 1000,
    p50: at(0.5),
    p99: at(0.99),
    max: at(1),
  };
}

if (process.send !== undefined && process.argv[1] === fileURLToPath(import.meta.url)) {
  process.once('message', (load: Load) => {
    generate(load)
      .catch((error: unknown) => ({ fault: error instanceof Error ? error.message : String(error) }))
      .then((figures) => process.send?.(figures, () => process.exit()));
  });
}
