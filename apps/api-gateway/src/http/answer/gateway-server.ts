import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Express } from 'express';
import { ERRORS_PATH } from '../errors/error-statuses';
import type { ConnectionLimits } from '@iss/platform';
import { answerMalformedRequests, requiringHost } from '../errors/malformed-requests';
import { messageClasses } from '../fast/message-classes';
import { Connections } from './connections';
import { corsHeaders } from './cors';
import { EndedRequests } from './ended-requests';

const OPTIONS = {
  /** Looked at by `requiringHost`. */
  requireHostHeader: false,
  /** A peer that sends slower than this holds a socket for nothing. */
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  /** Longer than the idle time of common load balancers, so that it is they who close. */
  keepAliveTimeout: 65_000,
};
/** A long answer may end at any time, and its connection be idle then. */
const LOOK_AGAIN_MS = 50;

export interface GatewayServer {
  server: Server;
  /** Makes each answer from now on the last one on its connection. New connections are still taken. */
  closeAfterAnswers(): void;
  /** The same, and closes what falls idle. To be called before the server is closed. */
  drain(): void;
}

/** What the server is to be like. */
export interface ServerSettings {
  connections: ConnectionLimits;
  corsOrigins: readonly string[];
}

/** Node's server for an Express application. */
export function createGatewayServer(
  express: Express,
  settings: ServerSettings,
  ended = new EndedRequests(),
): GatewayServer {
  let isLast = false;
  // Node closes connections that are idle when a server closes; one in use would be kept alive after its answer.
  const addCorsHeaders = corsHeaders(settings.corsOrigins);
  const connections = new Connections(settings.connections, ended);
  const classes = messageClasses(express, connections, (response) => {
    if (isLast) response.shouldKeepAlive = false;
    addCorsHeaders?.(response);
  });
  const server = createServer(
    { ...OPTIONS, ...classes },
    requiringHost<IncomingMessage, ServerResponse>(express, ERRORS_PATH),
  );
  connections.bound(server);
  answerMalformedRequests(server, connections, ERRORS_PATH);
  return {
    server,
    closeAfterAnswers() {
      isLast = true;
    },
    drain() {
      isLast = true;
      // What had sent its head before.
      const closing = setInterval(() => server.closeIdleConnections(), LOOK_AGAIN_MS).unref();
      server.once('close', () => clearInterval(closing));
    },
  };
}
