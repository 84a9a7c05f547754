import { IncomingMessage, type ServerOptions, ServerResponse } from 'node:http';
import type { Express } from 'express';

/**
 * Node's classes of requests and answers with Express's prototypes from the beginning, which it would otherwise give to
 * each one. `beforeHead` sees each answer when its head is written.
 */
export function messageClasses(
  express: Express,
  beforeHead: (response: ServerResponse) => void,
): Required<Pick<ServerOptions, 'IncomingMessage' | 'ServerResponse'>> {
  class GatewayRequest extends IncomingMessage {}
  Object.setPrototypeOf(GatewayRequest.prototype, express.request);

  class GatewayResponse<Request extends IncomingMessage> extends ServerResponse<Request> {
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
