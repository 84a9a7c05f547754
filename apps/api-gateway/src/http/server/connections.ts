import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type ConnectionLimits, networkOf } from '@iss/platform';
import type { EndedCause, EndedRequests } from './ended-requests';

interface Connection {
  /** The response to the newest request. Responses are sent in the order of the requests, so this one is the last. */
  last: ServerResponse;
  unanswered: number;
}

/**
 * Limits what each connection of a server may hold. {@link began} and {@link ended} report each response. Only the
 * newest response is stored, in place of the previous one (docs/decisions/0011).
 */
export class Connections {
  private readonly known = new WeakMap<Duplex, Connection>();

  private readonly unread: UnreadAnswers;

  constructor(
    private readonly limits: ConnectionLimits,
    ended: EndedRequests,
  ) {
    this.unread = new UnreadAnswers(limits, ended);
  }

  /**
   * Closes connections, without a response, that exceed the limit of the process or of one address, or that stay unread
   * for too long.
   */
  bound(server: Server): void {
    const { maxConnections, perAddress } = this.limits;
    server.maxConnections = maxConnections;
    if (perAddress > 0) boundPerAddress(server, perAddress);
    this.unread.watch(server);
  }

  /**
   * Notes a new response, for a request whose head has been read. Closes the connection if too many of its requests are
   * unanswered.
   */
  began(socket: Duplex, response: ServerResponse): void {
    let connection = this.known.get(socket);
    if (connection === undefined) {
      connection = { last: response, unanswered: 0 };
      this.known.set(socket, connection);
    }
    connection.last = response;
    connection.unanswered += 1;
    if (connection.unanswered > this.limits.pipelined) socket.destroy();
  }

  /** Notes that a response was sent. */
  ended(socket: Duplex): void {
    const connection = this.known.get(socket);
    if (connection !== undefined) connection.unanswered -= 1;
  }

  /** Returns the response that is sent after all others, or undefined if all are sent. */
  lastUnfinished(socket: Duplex): ServerResponse | undefined {
    const last = this.known.get(socket)?.last;
    return last === undefined || last.writableFinished || last.destroyed ? undefined : last;
  }
}

/** How often connections are checked. A check takes microseconds for thousands of connections. */
const LOOK_MS = 50;
/** A peer that took this much since the last check reads fast enough, and is not closed to free memory. */
const FAST_BYTES = 32 * 1024;
/** The minimum rate of a peer with unread data: this many bytes per write timeout. */
const LEAST_BYTES = 16 * 1024;

/** The progress of a peer with unread data. */
interface Unread {
  /** Bytes that the peer had taken at the last check. */
  taken: number;
  /**
   * Start of the peer's current time limit: the bytes it had taken, and the time. A new limit starts each time that the
   * peer has taken {@link LEAST_BYTES} more.
   */
  from: number;
  since: number;
  /** Bytes that the peer took between the last two checks. */
  recentBytes: number;
}

/**
 * Closes a connection whose peer has read almost nothing for the allowed time, although data was waiting. The socket's own
 * timeout cannot do this: anything that the peer sends restarts it. While more data waits in memory than all connections
 * may hold, the slowest peers are closed sooner.
 */
class UnreadAnswers {
  private readonly open = new Set<Socket>();
  private readonly unread = new Map<Socket, Unread>();

  constructor(
    private readonly limits: Pick<ConnectionLimits, 'writeTimeoutMs' | 'unsentBytes'>,
    private readonly ended: EndedRequests,
  ) {}

  watch(server: Server): void {
    server.on('connection', (socket) => {
      this.open.add(socket);
      socket.once('close', () => {
        this.open.delete(socket);
        this.unread.delete(socket);
      });
    });
    const looking = setInterval(() => this.look(), Math.min(LOOK_MS, this.limits.writeTimeoutMs)).unref();
    server.once('close', () => clearInterval(looking));
  }

  private look(): void {
    const now = performance.now();
    let waiting = 0;
    for (const socket of this.open) {
      if (socket.writableLength === 0) {
        this.unread.delete(socket);
        continue;
      }
      waiting += socket.writableLength;
      // `bytesWritten` also counts data that still waits in memory.
      const taken = socket.bytesWritten - socket.writableLength;
      const before = this.unread.get(socket);
      if (before === undefined) {
        this.unread.set(socket, { taken, from: taken, since: now, recentBytes: Infinity });
        continue;
      }
      before.recentBytes = taken - before.taken;
      before.taken = taken;
      if (taken - before.from >= LEAST_BYTES) Object.assign(before, { from: taken, since: now });
      else if (now - before.since >= this.limits.writeTimeoutMs) this.close(socket, 'slow_reader');
    }
    if (waiting > this.limits.unsentBytes) this.closeSlowest(waiting - this.limits.unsentBytes);
  }

  /**
   * Closes connections of slow peers until `tooMuch` bytes are freed. The peers that took least come first, then those
   * that have been slow for longest.
   */
  private closeSlowest(tooMuch: number): void {
    const slow = [...this.unread].filter(([, { recentBytes }]) => recentBytes < FAST_BYTES);
    slow.sort(([, one], [, other]) => one.recentBytes - other.recentBytes || one.since - other.since);
    let left = tooMuch;
    for (const [socket] of slow) {
      if (left <= 0) return;
      left -= socket.writableLength;
      this.close(socket, 'unsent_bytes');
    }
  }

  private close(socket: Socket, cause: EndedCause): void {
    this.ended.add(cause);
    socket.destroy();
  }
}

function boundPerAddress(server: Server, most: number): void {
  const open = new Map<string, number>();
  server.on('connection', (socket) => {
    const network = networkOf(socket.remoteAddress ?? '');
    const count = (open.get(network) ?? 0) + 1;
    open.set(network, count);
    socket.once('close', () => {
      const left = (open.get(network) ?? 1) - 1;
      if (left === 0) open.delete(network);
      else open.set(network, left);
    });
    if (count > most) socket.destroy();
  });
}
