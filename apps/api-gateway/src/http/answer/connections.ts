import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type ConnectionLimits, networkOf } from '@iss/platform';
import type { EndedCause, EndedRequests } from './ended-requests';

interface Connection {
  /** The answer to the newest request: answers go out in the order of requests, so all others come before it. */
  last: ServerResponse;
  unanswered: number;
}

/**
 * What each connection of a server may hold, and what is known of it. It is told of each answer by {@link began} and
 * {@link ended}, and keeps the newest only, in the place of the one before (docs/decisions/0011).
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

  /** Closes, without an answer, what is too much for the process, for one address, or unread for too long. */
  bound(server: Server): void {
    const { maxConnections, perAddress } = this.limits;
    server.maxConnections = maxConnections;
    if (perAddress > 0) boundPerAddress(server, perAddress);
    this.unread.watch(server);
  }

  /** An answer was made, for a request whose head has been read. Closes a connection on which too many wait for theirs. */
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

  /** An answer is out. */
  ended(socket: Duplex): void {
    const connection = this.known.get(socket);
    if (connection !== undefined) connection.unanswered -= 1;
  }

  /** The answer that goes out after all others; undefined when all are out. */
  lastUnfinished(socket: Duplex): ServerResponse | undefined {
    const last = this.known.get(socket)?.last;
    return last === undefined || last.writableFinished || last.destroyed ? undefined : last;
  }
}

/** How often connections are looked at; a look takes microseconds for thousands. */
const LOOK_MS = 50;
/** A peer that has taken so much since the last look reads as fast as may be asked of it. */
const FAST_BYTES = 32 * 1024;
/** The least rate of a peer for which something waits: so much in the time in which it may take nothing. */
const LEAST_BYTES = 16 * 1024;

/** Of a peer for which something waits. */
interface Unread {
  /** Bytes that it had taken when it was looked at last. */
  taken: number;
  /** Bytes that it had taken when its time began, and when that was. The time begins again with {@link LEAST_BYTES}. */
  from: number;
  since: number;
  /** What it took between the last two looks. */
  lately: number;
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
      // What was written counts when it is written, what waits when it is taken.
      const taken = socket.bytesWritten - socket.writableLength;
      const before = this.unread.get(socket);
      if (before === undefined) {
        this.unread.set(socket, { taken, from: taken, since: now, lately: Infinity });
        continue;
      }
      before.lately = taken - before.taken;
      before.taken = taken;
      if (taken - before.from >= LEAST_BYTES) Object.assign(before, { from: taken, since: now });
      else if (now - before.since >= this.limits.writeTimeoutMs) this.close(socket, 'slow_reader');
    }
    if (waiting > this.limits.unsentBytes) this.closeSlowest(waiting - this.limits.unsentBytes);
  }

  /** Closes the connections of slow peers, those that have taken nothing for longest first, until so much waits no more. */
  private closeSlowest(tooMuch: number): void {
    const slow = [...this.unread].filter(([, { lately }]) => lately < FAST_BYTES);
    slow.sort(([, one], [, other]) => one.lately - other.lately || one.since - other.since);
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
