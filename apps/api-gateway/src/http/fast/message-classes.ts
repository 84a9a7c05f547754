import { IncomingMessage, type ServerOptions, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Express } from 'express';
import type { Connections } from '../answer/connections';

/**
 * Node's classes of requests and answers with Express's prototypes from the beginning, which it would otherwise give to
 * each one. `connections` is told of each answer; `beforeHead` sees it when its head is written.
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

  // What it gives to all that it handles. To have it already saves the change, and keeps `writeHead` above.
  Object.assign(express, { request: GatewayRequest.prototype, response: GatewayResponse.prototype });
  return { IncomingMessage: GatewayRequest, ServerResponse: GatewayResponse };
}
