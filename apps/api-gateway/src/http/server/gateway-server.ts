import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Express } from 'express';
import { ERRORS_PATH } from '@iss/contract';
import type { ConnectionLimits } from '@iss/platform';
import { answerMalformedRequests, requiringHost } from '../errors/malformed-requests';
import { messageClasses } from './message-classes';
import { Connections } from './connections';
import { corsHeaders } from '../answer/cors';
import { EndedRequests } from './ended-requests';

const OPTIONS = {
  /** Checked by `requiringHost`. */
  requireHostHeader: false,
  /** A slower peer occupies a socket for nothing. */
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  /** Longer than the idle time of common load balancers, so that they close idle connections first. */
  keepAliveTimeout: 65_000,
};
/** A long response may end at any time and leave its connection idle. */
const LOOK_AGAIN_MS = 50;

export interface GatewayServer {
  server: Server;
  /** Makes each response from now on the last one on its connection. New connections are still accepted. */
  closeAfterAnswers(): void;
  /** Also closes connections as they become idle. Call it before the server is closed. */
  drain(): void;
}

export interface ServerSettings {
  connections: ConnectionLimits;
  corsOrigins: readonly string[];
}

/** Creates Node's server for an Express application. */
export function createGatewayServer(
  express: Express,
  settings: ServerSettings,
  ended = new EndedRequests(),
): GatewayServer {
  let isLast = false;
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
      // Closes connections whose response heads were sent before this call.
      const closing = setInterval(() => server.closeIdleConnections(), LOOK_AGAIN_MS).unref();
      server.once('close', () => clearInterval(closing));
    },
  };
}
