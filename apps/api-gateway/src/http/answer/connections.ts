import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type ConnectionLimits, networkOf } from '@iss/platform';

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

  constructor(private readonly limits: ConnectionLimits) {}

  /** Closes, without an answer, what is too much for the process, for one address, or unread for too long. */
  bound(server: Server): void {
    const { maxConnections, perAddress, writeTimeoutMs } = this.limits;
    server.maxConnections = maxConnections;
    if (perAddress > 0) boundPerAddress(server, perAddress);
    server.on('connection', (socket) => closeUnread(socket, writeTimeoutMs));
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

/**
 * Closes a connection whose peer has taken nothing for this long, although there was something to take. Not the socket's
 * own timeout: that starts anew with whatever the peer sends.
 */
function closeUnread(socket: Socket, timeoutMs: number): void {
  let takenBefore = -1;
  const timer = setInterval(() => {
    // What was written counts when it is written, what waits when it is taken.
    const taken = socket.writableLength === 0 ? -1 : socket.bytesWritten - socket.writableLength;
    if (taken !== -1 && taken === takenBefore) socket.destroy();
    takenBefore = taken;
  }, timeoutMs).unref();
  socket.once('close', () => clearInterval(timer));
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
