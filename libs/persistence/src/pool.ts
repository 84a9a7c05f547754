import { connect, Socket } from 'node:net';
import type { Warn } from '@iss/platform';
import { Client, type ClientConfig, Pool, type PoolClient, type PoolConfig } from 'pg';

/** Between two looks at what runs, and between two requests to cancel the same statement. */
const LOOK_MS = 250;
const CANCEL_AGAIN_MS = 1_000;
/** Until a request to cancel has been taken. */
const CANCEL_TIMEOUT_MS = 2_000;
/** For this long no further connection is asked for, when the server had none left. */
const CONTENT_MS = 5_000;

/** The code of a CancelRequest (PostgreSQL's documentation, "Message Formats"). */
const CANCEL_REQUEST = 80_877_102;
/** Where PostgreSQL warns that a commit stands here and nobody knows whether on the standby. Its text is in any language. */
const WAIT_FOR_STANDBY = 'SyncRepWaitForLSN';

/** BackendKeyData: what a statement of this connection is cancelled by. */
interface BackendKey {
  processID: number;
  secretKey: number;
}

/** The transaction is committed here, and perhaps not on the standby that would become the primary. */
class NotReplicated extends Error {
  override readonly name = 'NotReplicated';
  /** SQLSTATE transaction_resolution_unknown. */
  readonly code = '08007';
}

/** A connection whose statement can be cancelled. */
export class CancellableClient extends Client {
  /** Since when it has been waited for: it was given to its user, or answered it last. */
  waitedForSinceMs = 0;
  private cancelledAtMs = 0;
  private key: BackendKey | null = null;

  constructor(config?: ClientConfig) {
    super(config);
    this.connection.on('backendKeyData', (key: BackendKey) => (this.key = key));
    this.connection.on('readyForQuery', () => (this.waitedForSinceMs = performance.now()));
    this.on('notice', ({ routine }) => {
      // The success that follows must not be told: it is heard of as a connection that was lost is.
      if (routine === WAIT_FOR_STANDBY) {
        this.connection.stream.emit('error', new NotReplicated('the standby did not confirm the commit'));
      }
    });
  }

  /** Has the server end the statement under way; where there is none any more, it does nothing. */
  cancelStatement(): void {
    const { key } = this;
    const now = performance.now();
    if (key === null || now - this.cancelledAtMs < CANCEL_AGAIN_MS) return;
    this.cancelledAtMs = now;
    const request = Buffer.alloc(16);
    [request.length, CANCEL_REQUEST, key.processID, key.secretKey].forEach((word, index) =>
      request.writeInt32BE(word, 4 * index),
    );
    // As libpq does, in the clear: it has nothing but the key, which is good for nothing else.
    const socket = this.toSameServer();
    socket.on('error', () => socket.destroy());
    socket.setTimeout(CANCEL_TIMEOUT_MS, () => socket.destroy());
    socket.write(request);
  }

  /** By address, since a name may lead to another server by now. */
  private toSameServer(): Socket {
    const { stream } = this.connection;
    return stream instanceof Socket && stream.remoteAddress !== undefined && stream.remotePort !== undefined
      ? connect(stream.remotePort, stream.remoteAddress)
      : connect(`${this.host}/.s.PGSQL.${this.port}`);
  }
}

type Connected = (
  error: Error | undefined,
  client: PoolClient | undefined,
  done: (release?: Error | boolean) => void,
) => void;

/**
 * A pool that has no more servers at work than connections. A statement that takes longer than `cancelMs`, later than the
 * server's own `statement_timeout`, which ends no wait for a standby, is cancelled there and answers: to leave it as it is
 * and to connect anew would add a server each time. And where the server has no connection left, callers wait for those
 * that live.
 */
export class BoundedPool extends Pool {
  private readonly taken = new Set<CancellableClient>();
  private readonly most: number;
  private readonly onFull: Warn;
  /** Connections that were made, and not those that are about to be. */
  private live = 0;

  /** Hears when the server has no connection left, every five seconds at most. */
  constructor(config: PoolConfig, cancelMs: number, onFull: Warn = () => undefined) {
    // One stays: there must be something to wait for.
    super({ ...config, min: 1 });
    this.most = this.options.max;
    this.onFull = onFull;
    this.on('connect', () => (this.live += 1));
    this.on('remove', () => (this.live -= 1));
    this.on('acquire', (client) => {
      if (!(client instanceof CancellableClient)) return;
      client.waitedForSinceMs = performance.now();
      this.taken.add(client);
    });
    this.on('release', (_error, client) => {
      if (client instanceof CancellableClient) this.taken.delete(client);
    });
    const timer = setInterval(() => {
      const lateMs = performance.now() - cancelMs;
      for (const client of this.taken) if (client.waitedForSinceMs < lateMs) client.cancelStatement();
      if (this.ended) clearInterval(timer);
    }, LOOK_MS).unref();
  }

  override connect(): Promise<PoolClient>;
  override connect(callback: Connected): void;
  override connect(callback?: Connected): Promise<PoolClient> | void {
    if (callback === undefined) {
      return new Promise((resolve, reject) => {
        this.connect((error, client) =>
          client === undefined ? reject(error ?? new Error('there is no connection')) : resolve(client),
        );
      });
    }
    super.connect((error, client, done) => {
      if (error === undefined || this.live === 0 || !isFull(error)) return callback(error, client, done);
      this.stayAsItIs(error);
      this.connect(callback);
    });
  }

  /** Whoever comes waits for a connection that is there, and does not ask for a further one in vain. */
  private stayAsItIs(error: Error): void {
    const isNew = this.options.max === this.most;
    this.options.max = this.live;
    if (!isNew) return;
    this.onFull('PostgreSQL has no connection left: requests wait for those that this process has', error);
    setTimeout(() => (this.options.max = this.most), CONTENT_MS).unref();
  }
}

/** PostgreSQL's too_many_connections, and PgBouncer's before it had codes. */
function isFull(error: Error): boolean {
  return ('code' in error && error.code === '53300') || /no more connections allowed/.test(error.message);
}
