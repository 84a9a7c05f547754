import { connect, type Socket } from 'node:net';

export interface Answer {
  status: number;
  /** Valid until the next request is sent, which reuses the buffer. */
  body: Buffer;
}

const RECEIVE_BYTES = 64 * 1024;
const HEAD_END = Buffer.from('\r\n\r\n');
const CONTENT_LENGTH = Buffer.from('\r\nContent-Length: ');
const [ZERO, NINE] = [0x30, 0x39];
const STATUS_AT = 'HTTP/1.1 '.length;

/**
 * A kept-alive HTTP/1.1 connection with one request at a time. It only understands the responses of our servers, which have a
 * Content-Length or no body. It reads into one buffer, so that the load generator uses little of the processor that it shares
 * with the servers. A response with more or fewer bytes than announced is a fault.
 */
export class HttpConnection {
  private readonly socket: Socket;
  /** The beginning of a response that arrives in several pieces. */
  private begun: Buffer | undefined;
  private waiting: { resolve: (answer: Answer) => void; reject: (error: Error) => void } | undefined;
  private fault: Error | undefined;

  private constructor(port: number, onConnect: () => void, onRefused: (error: Error) => void) {
    const buffer = Buffer.allocUnsafe(RECEIVE_BYTES);
    this.socket = connect({
      port,
      host: '127.0.0.1',
      noDelay: true,
      onread: {
        buffer,
        callback: (size) => {
          this.take(buffer.subarray(0, size));
          return true;
        },
      },
    });
    this.socket.once('connect', onConnect);
    this.socket.on('error', (error) => {
      onRefused(error);
      this.fail(error);
    });
    this.socket.on('close', () => this.fail(new Error('The server closed the connection')));
  }

  static async open(port: number): Promise<HttpConnection> {
    let connection: HttpConnection | undefined;
    await new Promise<void>((resolve, reject) => {
      connection = new HttpConnection(port, resolve, reject);
    });
    if (connection === undefined) throw new Error('There is no connection');
    return connection;
  }

  /** Sends a request. Its bytes must not change before the response. */
  send(request: Uint8Array): Promise<Answer> {
    return new Promise((resolve, reject) => {
      if (this.fault !== undefined) return reject(this.fault);
      this.waiting = { resolve, reject };
      this.socket.write(request);
    });
  }

  close(): void {
    this.waiting = undefined;
    this.socket.destroy();
  }

  private take(piece: Buffer): void {
    const received = this.begun === undefined ? piece : Buffer.concat([this.begun, piece]);
    const headEnd = received.indexOf(HEAD_END);
    let size: number | undefined;
    try {
      if (headEnd >= 0) size = headEnd + HEAD_END.length + bodyLength(received, headEnd);
      if (this.waiting === undefined || (size !== undefined && received.length > size))
        throw new Error(`More bytes than announced: ${received.toString('latin1', size ?? 0).slice(0, 200)}`);
    } catch (error) {
      this.fail(error instanceof Error ? error : new Error(String(error)));
      return;
    }
    if (size === undefined || received.length < size) {
      // Copied, since the next piece overwrites the buffer.
      this.begun = this.begun === undefined ? Buffer.from(piece) : received;
      return;
    }
    this.begun = undefined;
    const { waiting } = this;
    this.waiting = undefined;
    waiting?.resolve({ status: statusOf(received), body: received.subarray(headEnd + HEAD_END.length) });
  }

  private fail(error: Error): void {
    this.fault ??= error;
    this.socket.destroy();
    const { waiting } = this;
    this.waiting = undefined;
    waiting?.reject(this.fault);
  }
}

function statusOf(head: Buffer): number {
  return numberAt(head, STATUS_AT);
}

/** Reads the digits from `start` on. */
function numberAt(bytes: Buffer, start: number): number {
  let value = 0;
  for (let at = start; ; at++) {
    const byte = bytes[at] ?? 0;
    if (byte < ZERO || byte > NINE) return value;
    value = value * 10 + byte - ZERO;
  }
}

function bodyLength(bytes: Buffer, headEnd: number): number {
  const at = bytes.indexOf(CONTENT_LENGTH);
  if (at >= 0 && at < headEnd) return numberAt(bytes, at + CONTENT_LENGTH.length);
  const status = statusOf(bytes);
  if (status === 204 || status === 304) return 0;
  const head = bytes.toString('latin1', 0, headEnd + 2);
  const length = /\r\ncontent-length: *(\d+) *\r\n/i.exec(head)?.[1];
  if (length === undefined) throw new Error(`An answer without Content-Length: ${head.slice(0, 300)}`);
  return Number(length);
}

/** Returns the bytes of a request. */
export function requestBytes(method: string, path: string, headers: Record<string, string>, body = ''): Buffer {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const length = body === '' ? '' : `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`;
  return Buffer.from(`${method} ${path} HTTP/1.1\r\nHost: localhost\r\n${lines.join('')}${length}\r\n${body}`);
}
