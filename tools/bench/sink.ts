import { fork } from 'node:child_process';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';

/** A webhook endpoint in its own process that answers immediately and counts requests. */
export interface Sink {
  port: number;
  /** Resolves after `count` requests since the last reset, with the time of the last one in milliseconds since 1970. */
  reached(count: number): Promise<number>;
  reset(): Promise<void>;
  stop(): void;
}

type Command = { reset: true } | { reached: number };
/** The deadline for all requests. */
const DEADLINE_MS = 180_000;

type Report = { port: number } | { done: 'reset' | 'reached'; at: number };

export async function startSink(): Promise<Sink> {
  const child = fork(fileURLToPath(import.meta.url), { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const ask = (command: Command): Promise<number> =>
    new Promise((resolve, reject) => {
      const kind = 'reset' in command ? 'reset' : 'reached';
      const overdue = setTimeout(() => reject(new Error(`Timed out: ${JSON.stringify(command)}`)), DEADLINE_MS);
      const listen = (report: Report): void => {
        if (!('done' in report) || report.done !== kind) return;
        child.off('message', listen);
        clearTimeout(overdue);
        resolve(report.at);
      };
      child.on('message', listen);
      child.send(command);
    });
  const port = await new Promise<number>((resolve) =>
    child.once('message', (report: Report) => resolve('port' in report ? report.port : 0)),
  );
  return {
    port,
    reached: (count) => ask({ reached: count }),
    reset: async () => void (await ask({ reset: true })),
    stop: () => void child.kill(),
  };
}

function serve(): void {
  let count = 0;
  let awaited = Infinity;
  const send = (report: Report): void => void process.send?.(report);
  const now = (): number => performance.timeOrigin + performance.now();
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => {
      response.writeHead(204).end();
      count += 1;
      if (count >= awaited) {
        awaited = Infinity;
        send({ done: 'reached', at: now() });
      }
    });
  });
  server.keepAliveTimeout = 60_000;
  server.listen(0, '127.0.0.1', () => {
    const address = server.address();
    if (address !== null && typeof address === 'object') send({ port: address.port });
  });
  process.on('disconnect', () => process.exit());
  process.on('message', (command: Command) => {
    if ('reset' in command) {
      count = 0;
      send({ done: 'reset', at: now() });
    } else if (count >= command.reached) {
      send({ done: 'reached', at: now() });
    } else {
      awaited = command.reached;
    }
  });
}

if (process.send !== undefined && process.argv[1] === fileURLToPath(import.meta.url)) serve();
