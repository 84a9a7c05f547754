import { IncomingMessage, type ServerOptions, ServerResponse } from 'node:http';
import type { Express } from 'express';

/**
 * Node's classes of requests and answers, made as what Express would make of each one: to change the prototype of a
 * request takes longer than to route it. `beforeHead` sees each answer when its head is written.
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

  // Express gives these prototypes to what it handles, which then has them already.
  Object.assign(express, { request: GatewayRequest.prototype, response: GatewayResponse.prototype });
  return { IncomingMessage: GatewayRequest, ServerResponse: GatewayResponse };
}
