import { createServer, type IncomingMessage, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** The reaction of the proxy to CONNECT instead of a tunnel: a status, no answer, a closed connection, or garbage. */
export type ProxyReaction = number | 'hang' | 'close' | 'garbage';

/** A forward proxy on loopback that makes tunnels and records requests. */
export interface ConnectProxy {
  /** `http://127.0.0.1:{port}`, or `https:`. */
  readonly url: string;
  /** The authority and the `Proxy-Authorization` of each CONNECT. */
  readonly asked: readonly { authority: string; authorization: string | undefined }[];
  /** Sets the reaction from now on; undefined for tunnels. */
  react(reaction: ProxyReaction | ((authority: string) => ProxyReaction | undefined) | undefined): void;
  stop(): Promise<void>;
}

export async function startConnectProxy({
  tls,
  port = 0,
}: { tls?: { key: string; cert: string }; port?: number } = {}): Promise<ConnectProxy> {
  const asked: { authority: string; authorization: string | undefined }[] = [];
  const sockets = new Set<Duplex>();
  let reaction: Parameters<ConnectProxy['react']>[0];
  const server: Server = tls === undefined ? createServer() : createTlsServer(tls);
  server.on('connection', (socket: Socket) => void sockets.add(socket.on('error', () => undefined)));
  server.on('connect', (request: IncomingMessage, client: Duplex) => {
    const authority = request.url ?? '';
    asked.push({ authority, authorization: request.headers['proxy-authorization'] });
    client.on('error', () => undefined);
    const now = typeof reaction === 'function' ? reaction(authority) : reaction;
    if (now === 'hang') return;
    if (now === 'close') return void client.end();
    if (now === 'garbage') return void client.end('SSH-2.0-OpenSSH_9.9\r\n');
    if (now !== undefined) return void client.end(`HTTP/1.1 ${now} No\r\nContent-Length: 0\r\n\r\n`);
    const { hostname, port: to } = new URL(`http://${authority}`);
    const target = connect(Number(to) || 80, hostname.replace(/^\[|\]$/g, ''));
    sockets.add(target);
    target.on('error', () => client.end('HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n'));
    target.once('connect', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      client.pipe(target).pipe(client);
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  const { port: actualPort } = server.address() as AddressInfo;
  return {
    url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${actualPort}`,
    asked,
    react: (next) => void (reaction = next),
    async stop() {
      sockets.forEach((socket) => socket.destroy());
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
