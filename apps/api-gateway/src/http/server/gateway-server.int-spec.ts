import type { Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { type ConnectionLimits, DEFAULT_CONNECTION_LIMITS } from '@iss/platform';
import express, { type Express, type Response } from 'express';
import { waitFor } from '../../../../../tools/testing/wait-for';
import { networkOf } from '@iss/platform';
import { createGatewayServer } from './gateway-server';

const servers: Server[] = [];

afterEach(() =>
  Promise.all(
    servers.splice(0).map((server) => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    }),
  ),
);

async function listen(application: Express, limits: Partial<ConnectionLimits> = {}): Promise<number> {
  const connections = { ...DEFAULT_CONNECTION_LIMITS, ...limits };
  const { server } = createGatewayServer(application, { connections, corsOrigins: [] });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address: AddressInfo | string | null = server.address();
  return typeof address === 'object' ? (address?.port ?? 0) : 0;
}

function open(port: number): Socket {
  return connect(port, '127.0.0.1').on('error', () => undefined);
}

/** Returns everything that the server sends until it closes the connection. */
async function exchange(port: number, ...sent: string[]): Promise<string> {
  const peer = open(port);
  for (const text of sent) peer.write(text, 'latin1');
  const chunks: Buffer[] = [];
  peer.on('data', (chunk: Buffer) => chunks.push(chunk));
  await new Promise((resolve) => peer.once('close', resolve));
  return Buffer.concat(chunks).toString('latin1');
}

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
const GARBAGE = '\u0016\u0003\u0001 no HTTP\r\n\r\n';
const statuses = (text: string): string[] => [...text.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => status ?? '');

describe('a malformed request', () => {
  /** Holds each `/held` until the test answers it, last one first. Answers everything else immediately. */
  function held() {
    const waiting: Response[] = [];
    const application = express();
    application.post('/body', (request, response) => void request.resume().on('end', () => response.end('body')));
    application.post('/early', (_request, response) => void response.status(401).end('early'));
    application.get('/held', (_request, response) => void waiting.push(response));
    application.get('/now', (_request, response) => void response.end('now'));
    return { application, waiting };
  }

  it('is answered after valid requests that still wait for their responses', async () => {
    const { application, waiting } = held();
    const port = await listen(application);
    const answers = exchange(port, get('/held'), get('/now'), get('/held'), GARBAGE, GARBAGE);
    await waitFor(() => waiting.length === 2);
    for (const response of waiting.reverse()) response.end('held');
    const text = await answers;
    expect(statuses(text)).toEqual(['200', '200', '200', '400']);
    expect(text.match(/held|now/g)).toEqual(['held', 'now', 'held']);
    expect(text).toMatch(/Connection: close\r\n\r\n\{"error":\{"code":"validation_error",[^}]*\}\}$/);
  });

  it.each([1, 2, 10])('is answered in one segment with %i valid requests', async (count) => {
    const port = await listen(held().application);
    const text = await exchange(port, get('/now').repeat(count) + GARBAGE);
    expect(statuses(text)).toEqual([...Array.from({ length: count }, () => '200'), '400']);
  });

  it('is answered after a response that was already sent', async () => {
    const port = await listen(held().application);
    const peer = open(port);
    peer.write(get('/now'));
    await new Promise((resolve) => peer.once('data', resolve));
    peer.write(GARBAGE);
    expect(statuses(Buffer.concat(await peer.toArray()).toString())).toEqual(['400']);
  });

  it('is refused if it has no Host header, only in HTTP/1.1', async () => {
    const port = await listen(held().application);
    const none = (version: string): string => `GET /now HTTP/${version}\r\n\r\n`;
    const text = await exchange(port, get('/now'), none('1.1'));
    expect(statuses(text)).toEqual(['200', '400']);
    expect(text).toMatch(/\{"error":\{"code":"validation_error","message":"[^"]*Host[^}]*\}\}$/);
    expect(statuses(await exchange(port, none('1.0')))).toEqual(['200']);
  });

  it('is answered if it is the only request', async () => {
    expect(statuses(await exchange(await listen(held().application), GARBAGE))).toEqual(['400']);
  });

  const chunked = (path: string): string =>
    `POST ${path} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nno size\r\n`;

  it('is answered with 400 if its body is malformed', async () => {
    const { application, waiting } = held();
    const port = await listen(application);
    const answers = exchange(port, get('/held'), chunked('/body'));
    await waitFor(() => waiting.length === 1);
    waiting[0]?.end('held');
    const text = await answers;
    expect(statuses(text)).toEqual(['200', '400']);
    expect(text).not.toContain('body');
  });

  it('ends the connection if its body is malformed after the response', async () => {
    const port = await listen(held().application);
    const peer = open(port);
    peer.write('POST /early HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n');
    const [first] = await Promise.all([new Promise<Buffer>((resolve) => peer.once('data', resolve))]);
    peer.write('no size\r\n');
    const rest = Buffer.concat(await peer.toArray()).toString();
    expect(statuses(first.toString() + rest)[0]).toBe('401');
  });

  it('gets no response after a response with Connection: close', async () => {
    const port = await listen(held().application);
    const last = 'GET /now HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
    expect(statuses(await exchange(port, last + GARBAGE))).toEqual(['200']);
  });
});

describe('a connection', () => {
  const MIB = 'x'.repeat(1_048_576);

  /** The system's buffers for a peer that reads nothing hold some MiB. */
  function large() {
    const application = express();
    application.get('/whole', (_request, response) => void response.end(MIB.repeat(32)));
    application.get('/now', (_request, response) => void response.end('now'));
    application.get('/never', () => undefined);
    application.get('/pieces', (_request, response) => {
      let pieces = 64;
      const write = (): void => {
        while (pieces-- > 0) if (!response.write(MIB)) return void response.once('drain', write);
        response.end();
      };
      write();
    });
    return application;
  }

  it.each(['/whole', '/pieces'])(
    'is closed if its peer reads nothing of %s, even if it sends all the time',
    async (path) => {
      const port = await listen(large(), { writeTimeoutMs: 100 });
      const peer = open(port).pause();
      let isClosed = false;
      peer.once('close', () => (isClosed = true));
      peer.write(get(path));
      await waitFor(() => {
        if (!isClosed && !peer.destroyed) peer.write('G');
        return isClosed;
      });
    },
  );

  it.each(['/whole', '/pieces'])('stays open while its peer reads %s slowly', async (path) => {
    const port = await listen(large(), { writeTimeoutMs: 10_000 });
    const peer = open(port);
    peer.write(get(path).replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'));
    let bytes = 0;
    for await (const chunk of peer) {
      bytes += chunk.length;
      await new Promise(setImmediate);
    }
    expect(bytes).toBeGreaterThan((path === '/whole' ? 32 : 64) * MIB.length);
  });

  it('is closed at the limit unsentBytes if its peer has read nothing for longest', async () => {
    // Two of the three answers fit, with their headers, so one is closed.
    const port = await listen(large(), { unsentBytes: 80 * MIB.length });
    const closed: string[] = [];
    const greedy = (name: string): Socket => {
      const peer = open(port)
        .pause()
        .on('close', () => closed.push(name));
      peer.write(get('/whole'));
      return peer;
    };
    const peers = [greedy('first')];
    await new Promise((resolve) => peers[0]?.once('readable', resolve));
    peers.push(greedy('second'), greedy('third'));
    await waitFor(() => {
      for (const peer of peers) if (!peer.destroyed) peer.write('\r\n');
      return closed.length > 0;
    });
    expect(closed[0]).toBe('first');
    const reader = exchange(port, get('/now').replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'));
    expect(statuses(await reader)).toEqual(['200']);
    for (const peer of peers) peer.destroy();
  });

  it('is closed if more of its requests wait for responses than allowed', async () => {
    const port = await listen(large(), { pipelined: 10 });
    const full = get('/now').repeat(9) + get('/now').replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n');
    expect(statuses(await exchange(port, full))).toHaveLength(10);
    expect(statuses(await exchange(port, get('/never').repeat(11)))).toEqual([]);
  });

  it('stays open for many successive requests', async () => {
    const port = await listen(large(), { pipelined: 1 });
    const peer = open(port);
    for (let count = 0; count < 20; count += 1) {
      peer.write(get('/now'));
      await new Promise((resolve) => peer.once('data', resolve));
    }
    expect(peer.destroyed).toBe(false);
    peer.destroy();
  });

  it.each([{ maxConnections: 2 }, { perAddress: 2 }])(
    'is closed if there are more than %j, until another one ends',
    async (limits) => {
      const port = await listen(large(), limits);
      const answered = async (peer: Socket): Promise<boolean> => {
        const data = new Promise<boolean>((resolve) => peer.once('data', () => resolve(true)));
        const closed = new Promise<boolean>((resolve) => peer.once('close', () => resolve(false)));
        peer.write(get('/now'));
        return Promise.race([data, closed]);
      };
      const [first, second] = [open(port), open(port)];
      expect([await answered(first), await answered(second)]).toEqual([true, true]);
      expect(await answered(open(port))).toBe(false);
      first.destroy();
      const last = await waitFor(async () => {
        const peer = open(port);
        return (await answered(peer)) ? peer : null;
      });
      for (const peer of [second, last]) peer.destroy();
    },
  );
});

it.each([
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::'],
  ['fe80::1%eth0', 'fe80::'],
])('networkOf(%s) returns %s', (address, network) => {
  expect(networkOf(address)).toBe(network);
});
