import type { IncomingMessage, ServerResponse } from 'node:http';

/**
 * Hands on a request that is pipelined behind others when their answers are out, and not at all once the connection is
 * closed: of the answers of one connection one is made at a time, so that a peer that reads nothing holds no more.
 */
export function inTurn<Request extends IncomingMessage, Response extends ServerResponse>(
  listener: (request: Request, response: Response) => void,
): (request: Request, response: Response) => void {
  return (request, response) => {
    // Node gives an answer its socket when those before it are out.
    if (response.socket !== null) return listener(request, response);
    response.once('socket', () => {
      // Its body was found to be malformed meanwhile, and that has been answered.
      if (!response.writableEnded) listener(request, response);
    });
  };
}
