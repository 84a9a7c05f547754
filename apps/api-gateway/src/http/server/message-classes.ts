import { IncomingMessage, type ServerOptions, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Express } from 'express';
import type { Connections } from './connections';

/**
 * Returns Node's classes of requests and responses with Express's prototypes from the start. Express would otherwise
 * set the prototypes of each message. Reports each response to `connections`, and calls `beforeHead` when its head is
 * written.
 */
export function messageClasses(
  express: Express,
  connections: Connections,
  beforeHead: (response: ServerResponse) => void,
): Required<Pick<ServerOptions, 'IncomingMessage' | 'ServerResponse'>> {
  class GatewayRequest extends IncomingMessage {}
  Object.setPrototypeOf(GatewayRequest.prototype, express.request);

  class GatewayResponse<Request extends IncomingMessage> extends ServerResponse<Request> {
    constructor(...made: ConstructorParameters<typeof ServerResponse<Request>>) {
      super(...made);
      connections.began(this.req.socket, this);
    }

    override detachSocket(socket: Socket): void {
      super.detachSocket(socket);
      connections.ended(socket);
    }

    override writeHead(...head: [statusCode: number, ...unknown[]]): this {
      beforeHead(this);
      return Reflect.apply(super.writeHead, this, head);
    }
  }
  Object.setPrototypeOf(GatewayResponse.prototype, express.response);

  // Express sets these prototypes on each message. Messages that already have them are not changed, and keep
  // `writeHead` above.
  Object.assign(express, { request: GatewayRequest.prototype, response: GatewayResponse.prototype });
  return { IncomingMessage: GatewayRequest, ServerResponse: GatewayResponse };
}
