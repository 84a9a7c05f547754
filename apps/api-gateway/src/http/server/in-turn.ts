import type { IncomingMessage, ServerResponse } from 'node:http';

/**
 * Delays a pipelined request until the responses before it are sent, and drops it if the connection closes. Only one
 * response per connection is created at a time, so a peer that reads nothing holds only one.
 */
export function inTurn<Request extends IncomingMessage, Response extends ServerResponse>(
  listener: (request: Request, response: Response) => void,
): (request: Request, response: Response) => void {
  return (request, response) => {
    // Node assigns the socket to a response when the previous ones are sent.
    if (response.socket !== null) return listener(request, response);
    response.once('socket', () => {
      // Meanwhile the body may have turned out to be malformed, and been answered.
      if (!response.writableEnded) listener(request, response);
    });
  };
}
