import { connect, createServer, type Server, type Socket } from 'node:net';
import { reservePort } from '../processes.ts';

/**
 * A proxy between a test and a Redis server. A test can stop it without affecting other tests, or move new connections to another
 * server while existing ones stay.
 */
export class MovingAddress {
  private server: Server | undefined;
  private readonly sockets = new Set<Socket>();
  private port = 0;
  private target: string;

  constructor(target: string) {
    this.target = target;
  }

  get url(): string {
    const url = new URL(this.target);
    url.hostname = '127.0.0.1';
    url.port = String(this.port);
    return url.toString();
  }

  /** Sets the target of new connections. */
  move(target: string): void {
    this.target = target;
  }

  async start(): Promise<void> {
    const server = createServer((downstream) => {
      const { hostname, port } = new URL(this.target);
      const upstream = connect(Number(port || 6379), hostname);
      for (const [one, other] of [
        [downstream, upstream],
        [upstream, downstream],
      ] as const) {
        this.sockets.add(one);
        one.on('error', () => undefined).on('close', () => other.destroy());
        one.pipe(other);
      }
    });
    // After a stop it listens on the same port again.
    if (this.port === 0) this.port = await reservePort();
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(this.port, '127.0.0.1', resolve);
    });
    this.server = server;
  }

  async stop(): Promise<void> {
    const { server } = this;
    this.sockets.forEach((socket) => socket.destroy());
    this.sockets.clear();
    if (server !== undefined) await new Promise<void>((resolve) => server.close(() => resolve()));
    this.server = undefined;
  }
}
