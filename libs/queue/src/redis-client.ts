import { EnvError, failureOf, readQueueUrl, type RedisAddress, type Warn } from '@iss/platform';
import { Cluster, Redis, type RedisOptions } from 'ioredis';
import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';

/** A connection to Redis, or those to the nodes of a Redis Cluster. */
export type RedisClient = Redis | Cluster;

export interface OpenRedis {
  readonly client: RedisClient;
  /** Ends it; what waits for an answer fails. */
  close(): void;
}

/**
 * `fails`: a command fails at once while Redis is away, and after {@link COMMAND_TIMEOUT_MS} when it hangs: a request must not
 * wait for a queue that is down. `waits`: a command waits until Redis is back.
 */
export type Patience = 'fails' | 'waits';

/** A command that takes longer than this has failed, where commands fail. */
export const COMMAND_TIMEOUT_MS = 2_000;
const CONNECT_TIMEOUT_MS = 5_000;
/**
 * A connection on which nothing comes for so long, although something was asked, is cut: else one to a server that hangs, or
 * is gone without a word, would be kept, and what is sent on it with it. Blocking reads take ten seconds at most.
 */
const SILENCE_MS = { fails: 3_000, waits: 15_000 } as const satisfies Record<Patience, number>;
const RECONNECT_STEP_MS = 100;
const MAX_RECONNECT_DELAY_MS = 2_000;
/** Whoever does not hang up when told to is hung up on. */
const DISCONNECT_TIMEOUT_MS = 500;
/** A client that has given up for good is connected again after this. */
const REVIVE_MS = 1_000;
/** For so long after a refused write the next refusal counts as one of the same demotion. */
const DEMOTION_MS = 10_000;

const reconnectDelayMs = (tries: number): number => Math.min(RECONNECT_STEP_MS * tries, MAX_RECONNECT_DELAY_MS);

/**
 * What Redis answers when it has become a replica: to a write, and to a blocking read that waited when it happened. Whoever
 * connects anew may find its successor: by Sentinel, by name, by an address that moves.
 */
const DEMOTED = /^(READONLY|UNBLOCKED)\b/;
/** ioredis's words for: connects anew, and there (2) or nowhere (1) sends once more what was refused. */
const AFTER_DEMOTION = { fails: 1, waits: 2 } as const satisfies Record<Patience, number>;

/**
 * Opens connections to where `QUEUE_URL` leads, in all of its forms. The one place that does: each reconnects for ever, at once
 * when its server was demoted, more and more slowly where that finds no other.
 */
export class RedisClients {
  private readonly address: RedisAddress;
  private readonly tls: ConnectionOptions | undefined;

  /** Reads the files that the URL names. @throws EnvError with what is wrong with the URL or with one of its files. */
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
    let isClosed = false;
    const revive = (): void => {
      if (!isClosed && client.status === 'end') client.connect().catch(() => undefined);
    };
    // A client that is told to reconnect while it looks for its server ends for good.
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
      // A certificate names hosts; resolved here, only their addresses would be compared with it.
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

/** How soon a connection is tried again. */
class Retries {
  private demotions = 0;
  private demotedAtMs = -Infinity;

  /** Whether to connect anew after an error that a command was answered with. */
  isDemotion(error: Error): boolean {
    if (!DEMOTED.test(error.message)) return false;
    const nowMs = performance.now();
    this.demotions = nowMs - this.demotedAtMs < DEMOTION_MS ? this.demotions + 1 : 1;
    this.demotedAtMs = nowMs;
    return true;
  }

  /** Of the try with this number since the last one that succeeded, as it does each time where the server is a replica. */
  delayMs(tries: number): number {
    return reconnectDelayMs(Math.max(tries, performance.now() - this.demotedAtMs < DEMOTION_MS ? this.demotions : 0));
  }
}

/** What a node said, where an error only tells that all of them failed. */
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
