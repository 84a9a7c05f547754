import { EnvError, failureOf, readQueueUrl, type RedisAddress, type Warn } from '@iss/platform';
import { Cluster, Redis, type RedisOptions } from 'ioredis';
import type { EventEmitter } from 'node:events';
import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';

/** A connection to Redis, or the connections to the nodes of a Redis Cluster. */
export type RedisClient = Redis | Cluster;

export interface OpenRedis {
  readonly client: RedisClient;
  /** Disconnects. Pending commands fail. */
  close(): void;
}

/**
 * `fails`: a command fails immediately while Redis is unreachable, and after {@link COMMAND_TIMEOUT_MS} if it hangs, so
 * that no request waits for the queue. `waits`: a command waits until Redis is available again.
 */
export type Patience = 'fails' | 'waits';

/** The time limit of a command with the patience `fails`. */
export const COMMAND_TIMEOUT_MS = 2_000;
const CONNECT_TIMEOUT_MS = 5_000;
/**
 * A connection is closed if a command gets no response for this long. Otherwise a connection to a hung or vanished
 * server would remain open, and commands would be sent into it. Blocking reads take at most ten seconds.
 */
const SILENCE_MS = { fails: 3_000, waits: 15_000 } as const satisfies Record<Patience, number>;
const RECONNECT_STEP_MS = 100;
const MAX_RECONNECT_DELAY_MS = 2_000;
/** The connection is destroyed if the server does not close it within this time. */
const DISCONNECT_TIMEOUT_MS = 500;
/** The delay before a client that has stopped reconnecting is connected again. */
const REVIVE_MS = 1_000;
/** A write that is refused within this time after the previous one belongs to the same demotion. */
const DEMOTION_MS = 10_000;

const reconnectDelayMs = (tries: number): number => Math.min(RECONNECT_STEP_MS * tries, MAX_RECONNECT_DELAY_MS);

/**
 * Redis's errors after it has become a replica: for a write, and for a blocking read that was waiting at that time. A
 * new connection may reach the new primary: by Sentinel, by name, or by an address that moves.
 */
const DEMOTED = /^(READONLY|UNBLOCKED)\b/;
/** ioredis's codes for `reconnectOnError`: reconnect (1), and repeat the refused command (2). */
const AFTER_DEMOTION = { fails: 1, waits: 2 } as const satisfies Record<Patience, number>;

/**
 * Opens connections to the `QUEUE_URL` in all of its forms. Each reconnects for ever: immediately after a demotion of
 * its server, and with growing delays while no other server is found.
 */
export class RedisClients {
  private readonly address: RedisAddress;
  private readonly tls: ConnectionOptions | undefined;

  /** Reads the files that the URL names. @throws EnvError that describes the fault of the URL or of a file */
  constructor(
    queueUrl: string,
    private readonly warn: Warn,
  ) {
    const address = readQueueUrl(queueUrl);
    if (typeof address === 'string') throw new EnvError([`QUEUE_URL ${address}`]);
    this.address = address;
    this.tls = tlsOf(address);
  }

  /** Does not wait for a connection. */
  open(patience: Patience): OpenRedis {
    const client = this.connect(patience);
    client.on('error', (error: Error) => this.warn('Redis cannot be reached', causeOf(error)));
    listenToCopies(client);
    let isClosed = false;
    const revive = (): void => {
      if (!isClosed && client.status === 'end') client.connect().catch(() => undefined);
    };
    // ioredis ends a client for good if it has to reconnect while it is still looking for its server.
    client.on('end', () => void (isClosed || setTimeout(revive, REVIVE_MS).unref()));
    return {
      client,
      close() {
        isClosed = true;
        client.disconnect();
      },
    };
  }

  private connect(patience: Patience): RedisClient {
    const { kind, hosts, family } = this.address;
    switch (kind) {
      case 'server':
        return new Redis({ ...this.ofOneServer(patience), ...hosts[0], family });
      case 'sentinel':
        return new Redis({ ...this.ofOneServer(patience), ...this.bySentinels() });
      case 'cluster':
        return this.cluster(patience);
    }
  }

  private ofOneServer(patience: Patience) {
    const retries = new Retries();
    return {
      ...this.connection(patience),
      db: this.address.database,
      enableOfflineQueue: patience === 'waits',
      retryStrategy: (tries: number) => retries.delayMs(tries),
      reconnectOnError: (error: Error) => retries.isDemotion(error) && AFTER_DEMOTION[patience],
    } satisfies RedisOptions;
  }

  private bySentinels() {
    const { hosts, family, primary, sentinelUsername, sentinelPassword } = this.address;
    return {
      name: primary,
      sentinels: hosts.map((host) => ({ ...host, family })),
      ...(sentinelUsername !== undefined && { sentinelUsername }),
      ...(sentinelPassword !== undefined && { sentinelPassword }),
      sentinelRetryStrategy: reconnectDelayMs,
      sentinelCommandTimeout: COMMAND_TIMEOUT_MS,
      ...(this.tls !== undefined && { enableTLSForSentinelMode: true, sentinelTLS: this.tls }),
    } satisfies RedisOptions;
  }

  private cluster(patience: Patience): Cluster {
    const { hosts, family } = this.address;
    return new Cluster([...hosts], {
      clusterRetryStrategy: reconnectDelayMs,
      enableOfflineQueue: patience === 'waits',
      slotsRefreshTimeout: COMMAND_TIMEOUT_MS,
      // TLS certificates contain host names. If names were resolved here, certificates would be compared with
      // addresses.
      dnsLookup: (host, found) => found(null, host),
      redisOptions: { ...this.connection(patience), family },
    });
  }

  private connection(patience: Patience) {
    const { username, password } = this.address;
    return {
      ...(username !== undefined && { username }),
      ...(password !== undefined && { password }),
      ...(this.tls !== undefined && { tls: this.tls }),
      connectTimeout: CONNECT_TIMEOUT_MS,
      disconnectTimeout: DISCONNECT_TIMEOUT_MS,
      socketTimeout: SILENCE_MS[patience],
      maxRetriesPerRequest: patience === 'fails' ? 0 : null,
      ...(patience === 'fails' && { commandTimeout: COMMAND_TIMEOUT_MS }),
    } satisfies RedisOptions;
  }
}

/**
 * Adds a listener to each copy of a client. BullMQ copies clients for blocking reads, and stops listening to a copy before it has
 * ended. ioredis prints errors to which nobody listens.
 */
function listenToCopies(client: { duplicate(...options: unknown[]): EventEmitter }): void {
  const duplicate = client.duplicate.bind(client);
  client.duplicate = (...options) => duplicate(...options).on('error', () => undefined);
}

/** Determines the delay before a reconnection. */
class Retries {
  private demotions = 0;
  private demotedAtMs = -Infinity;

  /** Checks whether a command's error requires a new connection. */
  isDemotion(error: Error): boolean {
    if (!DEMOTED.test(error.message)) return false;
    const nowMs = performance.now();
    this.demotions = nowMs - this.demotedAtMs < DEMOTION_MS ? this.demotions + 1 : 1;
    this.demotedAtMs = nowMs;
    return true;
  }

  /**
   * Returns the delay of the try with this number since the last success. Connecting to a replica succeeds each time,
   * so recent demotions count as tries, too.
   */
  delayMs(tries: number): number {
    return reconnectDelayMs(Math.max(tries, performance.now() - this.demotedAtMs < DEMOTION_MS ? this.demotions : 0));
  }
}

/** Returns the error of a node if the given error only says that all nodes failed. */
function causeOf(error: Error): unknown {
  return Reflect.get(error, 'lastNodeError') ?? error;
}

function tlsOf({ tls }: RedisAddress): ConnectionOptions | undefined {
  if (tls === undefined) return undefined;
  const files = { ca: tls.authorityFile, cert: tls.certificateFile, key: tls.keyFile };
  const read: Record<string, Buffer> = {};
  for (const [name, file] of Object.entries(files)) if (file !== undefined) read[name] = contentOf(file);
  return read;
}

function contentOf(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new EnvError([`QUEUE_URL names a file that cannot be read: ${failureOf(error).message}`]);
  }
}
