import { connect, type Socket } from 'node:net';

export interface Answer {
  status: number;
  body: Buffer;
}

const HEAD_END = Buffer.from('\r\n\r\n');

/**
 * One kept-alive HTTP/1.1 connection, one request at a time. It understands what our servers send (Content-Length, or no
 * body) and nothing else, so that the load generator takes as little as possible of the processor it shares with them.
 */
export class HttpConnection {
  private readonly socket: Socket;
  private received: Buffer = Buffer.alloc(0);
  private waiting: { resolve: (answer: Answer) => void; reject: (error: Error) => void } | undefined;

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.setNoDelay(true);
    socket.on('data', (chunk: Buffer) => this.take(chunk));
    const end = (error?: Error): void => this.waiting?.reject(error ?? new Error('the server closed the connection'));
    socket.on('error', end);
    socket.on('close', () => end());
  }

  static open(port: number): Promise<HttpConnection> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1');
      socket.once('error', reject);
      socket.once('connect', () => resolve(new HttpConnection(socket)));
    });
  }

  /** Sends a whole request as it stands. */
  send(request: string): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.waiting = { resolve, reject };
      this.socket.write(request);
    });
  }

  close(): void {
    this.waiting = undefined;
    this.socket.destroy();
  }

  private take(chunk: Buffer): void {
    this.received = this.received.length === 0 ? chunk : Buffer.concat([this.received, chunk]);
    const headEnd = this.received.indexOf(HEAD_END);
    if (headEnd < 0) return;
    const head = this.received.toString('latin1', 0, headEnd);
    const status = Number(head.slice(9, 12));
    const length = status === 304 || status === 204 ? 0 : Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
    const bodyStart = headEnd + HEAD_END.length;
    if (this.received.length < bodyStart + length) return;
    const body = this.received.subarray(bodyStart, bodyStart + length);
    this.received = Buffer.alloc(0);
    const { waiting } = this;
    this.waiting = undefined;
    waiting?.resolve({ status, body });
  }
}

/** The text of a request. */
export function requestText(method: string, path: string, headers: Record<string, string>, body = ''): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const length = body === '' ? '' : `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`;
  return `${method} ${path} HTTP/1.1\r\nHost: localhost\r\n${lines.join('')}${length}\r\n${body}`;
}
