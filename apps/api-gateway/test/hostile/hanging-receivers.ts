import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';

/** Receivers that accept requests and never answer. If the system offers all of 127/8, each has its own address. */
export interface HangingReceivers {
  readonly urls: readonly string[];
  /** The number of connections so far. */
  readonly taken: number;
  stop(): Promise<void>;
}

export async function startHangingReceivers(count: number): Promise<HangingReceivers> {
  const sockets = new Set<Socket>();
  const servers: Server[] = [];
  const urls: string[] = [];
  for (let index = 1; index <= count; index += 1) {
    const host = process.platform === 'linux' ? `127.0.1.${index}` : '127.0.0.1';
    const server = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => undefined).resume();
    });
    servers.push(server.listen(0, host));
    await once(server, 'listening');
    const address = server.address();
    if (address !== null && typeof address === 'object') urls.push(`http://${host}:${address.port}/`);
  }
  return {
    urls,
    get taken() {
      return sockets.size;
    },
    async stop() {
      for (const socket of sockets) socket.destroy();
      await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
    },
  };
}
