import { connect, Socket } from 'node:net';
import type { Warn } from '@iss/platform';
import { type ClientConfig, Pool, type PoolClient, type PoolConfig } from 'pg';
import { Client } from './client';

/** The interval between two checks of the running statements, and between two requests to cancel the same statement. */
const LOOK_MS = 250;
const CANCEL_AGAIN_MS = 1_000;
/** The timeout of a request to cancel. */
const CANCEL_TIMEOUT_MS = 2_000;
/** When the server has no connection left, the pool asks for no further one during this time. */
const CONTENT_MS = 5_000;

/** The code of a CancelRequest (PostgreSQL's documentation, "Message Formats"). */
const CANCEL_REQUEST = 80_877_102;
/** The routine of PostgreSQL's warning that a commit may be missing on the standby. The text of the warning is localized. */
const WAIT_FOR_STANDBY = 'SyncRepWaitForLSN';

/** BackendKeyData: identifies a connection in a request to cancel its statement. */
interface BackendKey {
  processID: number;
  secretKey: number;
}

/** The transaction is committed on the primary, but perhaps not on the standby that would replace it. */
class NotReplicated extends Error {
  override readonly name = 'NotReplicated';
  /** SQLSTATE transaction_resolution_unknown. */
  readonly code = '08007';
}

/** A connection that can cancel its running statement. */
export class CancellableClient extends Client {
  /** The time since which its user waits: when it was acquired, or when the last statement ended. */
  waitedForSinceMs = 0;
  private cancelledAtMs = 0;
  private key: BackendKey | null = null;

  constructor(config?: ClientConfig) {
    super(config);
    this.connection.on('backendKeyData', (key: BackendKey) => (this.key = key));
    this.connection.on('readyForQuery', () => (this.waitedForSinceMs = performance.now()));
    this.on('notice', ({ routine }) => {
      // The success that follows must not reach the caller. The error has the same effect as a lost connection.
      if (routine === WAIT_FOR_STANDBY) {
        this.connection.stream.emit('error', new NotReplicated('the standby did not confirm the commit'));
      }
    });
  }

  /** Asks the server to cancel the running statement. It has no effect if none runs any more. */
  cancelStatement(): void {
    const { key } = this;
    const now = performance.now();
    if (key === null || now - this.cancelledAtMs < CANCEL_AGAIN_MS) return;
    this.cancelledAtMs = now;
    const request = Buffer.alloc(16);
    [request.length, CANCEL_REQUEST, key.processID, key.secretKey].forEach((word, index) =>
      request.writeInt32BE(word, 4 * index),
    );
    // In the clear, as in libpq: the request has only the key, which is useless for anything else.
    const socket = this.toSameServer();
    socket.on('error', () => socket.destroy());
    socket.setTimeout(CANCEL_TIMEOUT_MS, () => socket.destroy());
    socket.write(request);
  }

  /** Connects by address, because the name may now lead to another server. */
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
 * A pool that never occupies more server processes than it has connections. It cancels a statement that takes longer than
 * `cancelMs`; `statement_timeout` is shorter, but does not end a wait for a standby. If it instead left the statement running and
 * connected again, each timeout would add a server process. If the server has no connection left, callers wait for the existing
 * ones.
 */
export class BoundedPool extends Pool {
  private readonly taken = new Set<CancellableClient>();
  private readonly most: number;
  private readonly onFull: Warn;
  /** The number of open connections, without those that are being opened. */
  private live = 0;

  /** Calls `onFull` when the server has no connection left, at most every five seconds. */
  constructor(config: PoolConfig, cancelMs: number, onFull: Warn = () => undefined) {
    // One connection stays open, so that callers always have one to wait for.
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
      this.stopGrowing(error);
      this.connect(callback);
    });
  }

  /** Makes callers wait for the open connections, instead of asking for further ones in vain. */
  private stopGrowing(error: Error): void {
    const isNew = this.options.max === this.most;
    this.options.max = this.live;
    if (!isNew) return;
    this.onFull('PostgreSQL has no connection left: requests wait for the existing connections of this process', error);
    setTimeout(() => (this.options.max = this.most), CONTENT_MS).unref();
  }
}

/** Matches PostgreSQL's `too_many_connections`, and the message of PgBouncer versions without codes. */
function isFull(error: Error): boolean {
  return ('code' in error && error.code === '53300') || /no more connections allowed/.test(error.message);
}
