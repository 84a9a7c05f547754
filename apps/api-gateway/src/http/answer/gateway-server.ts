import { createServer, IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { Express } from 'express';

/** A long answer may end at any time, and its connection be idle then. */
const LOOK_AGAIN_MS = 50;

export interface GatewayServer {
  server: Server;
  /** Makes each answer from now on the last one on its connection. To be called before the server is closed. */
  drain(): void;
}

/**
 * Node's server for an Express application. Its requests and answers are made as what Express would make of them: to
 * change the prototype of each would take longer than to route it.
 */
export function createGatewayServer(express: Express): GatewayServer {
  let isDraining = false;

  class GatewayRequest extends IncomingMessage {}
  Object.setPrototypeOf(GatewayRequest.prototype, express.request);

  class GatewayResponse extends ServerResponse {
    // Node closes connections that are idle when a server closes; one in use would be kept alive after its answer.
    override writeHead(...head: [statusCode: number, ...unknown[]]): this {
      if (isDraining) this.shouldKeepAlive = false;
      return Reflect.apply(super.writeHead, this, head);
    }
  }
  Object.setPrototypeOf(GatewayResponse.prototype, express.response);

  const server = createServer({ IncomingMessage: GatewayRequest, ServerResponse: GatewayResponse }, express);
  return {
    server,
    drain() {
      isDraining = true;
      // What had sent its head before.
      const closing = setInterval(() => server.closeIdleConnections(), LOOK_AGAIN_MS);
      server.once('close', () => clearInterval(closing));
    },
  };
}
