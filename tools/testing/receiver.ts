import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { LONG_LIVED } from '../processes.ts';
import { waitFor } from './wait-for.ts';

/** A received request. */
export interface ReceivedRequest {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  /** The raw bytes, which the signature covers. */
  body: Buffer;
  receivedAtMs: number;
}

/** The reaction of the receiver after it has recorded a request. */
export type Reaction =
  | { status: number; headers?: Record<string, string>; body?: string | Buffer; afterMs?: number }
  /** Never answers. */
  | 'hang'
  /** Resets the connection without an answer. */
  | 'reset'
  /** Answers 200 and then sends bytes without end. */
  | 'endless-body'
  /** Answers 200 and then sends a byte every 50 ms without end. */
  | 'slow-body';

export interface Receiver {
  /** `http://127.0.0.1:{port}` */
  readonly url: string;
  readonly requests: readonly ReceivedRequest[];
  /** Sets the reactions to the next requests in order. After the last one, the default reaction applies. */
  script(...reactions: Reaction[]): void;
  /** Sets the default reaction, which is initially 204. */
  always(reaction: Reaction): void;
  /** Waits for at least `count` requests, and returns them. */
  waitForRequests(count: number): Promise<readonly ReceivedRequest[]>;
  clear(): void;
  stop(): Promise<void>;
}

/** Starts a webhook receiver on a loopback port that records every request and reacts as scripted. */
export async function startReceiver({ port = 0 }: { port?: number } = {}): Promise<Receiver> {
  const requests: ReceivedRequest[] = [];
  const scripted: Reaction[] = [];
  const timers = new Set<NodeJS.Timeout>();
  let standing: Reaction = { status: 204 };

  const server = createServer(LONG_LIVED, (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url: path = '', headers } = request;
      requests.push({ method, path, headers, body: Buffer.concat(chunks), receivedAtMs: Date.now() });
      const reaction = scripted.shift() ?? standing;
      switch (reaction) {
        case 'hang':
          return;
        case 'reset':
          return void request.socket.resetAndDestroy();
        case 'endless-body':
        case 'slow-body': {
          response.writeHead(200);
          const chunk = Buffer.alloc(reaction === 'slow-body' ? 1 : 16_384, 'x');
          const timer = setInterval(() => response.write(chunk), reaction === 'slow-body' ? 50 : 1);
          timers.add(timer);
          response.on('close', () => clearInterval(timer));
          return;
        }
        default: {
          const answer = (): unknown => response.writeHead(reaction.status, reaction.headers).end(reaction.body);
          if (reaction.afterMs === undefined) return void answer();
          timers.add(setTimeout(answer, reaction.afterMs));
        }
      }
    });
    request.on('error', () => undefined);
    response.on('error', () => undefined);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  const { port: actualPort } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${actualPort}`,
    requests,
    script: (...reactions) => void scripted.push(...reactions),
    always: (reaction) => void (standing = reaction),
    async waitForRequests(count) {
      await waitFor(() => requests.length >= count, { what: `${count} requests (${requests.length} so far)` });
      return requests;
    },
    clear() {
      requests.length = 0;
      scripted.length = 0;
    },
    async stop() {
      timers.forEach(clearInterval);
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
