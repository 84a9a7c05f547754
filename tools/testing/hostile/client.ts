import { Agent, type IncomingMessage, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { Client } from 'pg';

/** A running gateway, its database, and tokens of any user. */
export interface Target {
  /** The loopback port. */
  port: number;
  /** A connection as the database's superuser, for setup that would need too many requests. */
  sql: Client;
  /** Returns an access token of a user, the principal `oidc:test#{user}`. */
  token(user: string): Promise<string>;
}

/** The result of a request; status 0 is no response. */
export interface Answer {
  status: number;
  headers: IncomingMessage['headers'];
  body: Buffer;
}

/** The parts of a request besides method and path. */
export interface Sent {
  /** Null for a request without a token. */
  user?: string | null;
  headers?: Readonly<Record<string, string>>;
  /** A text is sent unchanged, other values as JSON. */
  body?: unknown;
}

const REQUEST_TIMEOUT_MS = 60_000;
const agent = new Agent({ keepAlive: true });

/** Closes the kept-alive connections. */
export function closeConnections(): void {
  agent.destroy();
}

/** Sends a request as a well-behaved client, which reads the whole response. Never throws. */
export async function send(target: Target, method: string, path: string, sent: Sent = {}): Promise<Answer> {
  const { user = 'attacker', headers = {}, body } = sent;
  const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
  const own = {
    ...(user === null ? {} : { Authorization: `Bearer ${await target.token(user)}` }),
    ...(text === undefined ? {} : { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) }),
  };
  return new Promise((resolve) => {
    const failed = (error: Error): void => resolve({ status: 0, headers: {}, body: Buffer.from(String(error)) });
    const options = { host: '127.0.0.1', port: target.port, method, path, agent, headers: { ...own, ...headers } };
    const asked = request({ ...options, signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS) }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', failed);
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) }),
      );
    });
    asked.on('error', failed);
    asked.end(text);
  });
}

/** Sends a request that must succeed. Returns its JSON. */
export async function must(target: Target, method: string, path: string, sent: Sent = {}): Promise<unknown> {
  const { status, body } = await send(target, method, path, sent);
  if (status < 200 || status > 299) throw new Error(`${method} ${path}: ${status} ${body.toString().slice(0, 500)}`);
  return body.length === 0 ? null : JSON.parse(body.toString());
}

/** Repeats work with limited concurrency. Returns the results in the order of their starts. */
export async function times<Outcome>(
  count: number,
  atOnce: number,
  act: (index: number) => Promise<Outcome>,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  let begun = 0;
  const work = async (): Promise<void> => {
    while (begun < count) {
      const index = begun++;
      outcomes[index] = await act(index);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return outcomes;
}

/** Opens a TCP connection to the gateway. */
export function openSocket({ port }: Target): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port }, () => resolve(socket));
    socket.once('error', reject);
  });
}
