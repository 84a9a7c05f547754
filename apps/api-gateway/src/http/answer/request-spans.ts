import type { Tracer } from '@iss/platform';
import type { Request, Response } from 'express';
import { PROBES } from '../limits/anonymous-requests';
import { matchedRoute } from './access-log';
import { callersTrace } from '../request/request-id';

type Listener = (request: Request, response: Response) => void;

/**
 * Serves each request as a span, from its head to the end of its response, except probes. The span contains the route
 * and never the path, because subject ids in the path may identify a person.
 */
export function traceRequests(serve: Listener, tracer: Tracer): Listener {
  return (request, response) => {
    const { method, url, httpVersion } = request;
    if (PROBES.includes(url)) return serve(request, response);
    const span = tracer.begin({
      name: method,
      kind: 'server',
      parent: callersTrace(request),
      attributes: { 'http.request.method': method, 'url.scheme': 'http', 'network.protocol.version': httpVersion },
    });
    request.span = span;
    response.once('close', () => span.end(outcomeOf(request, response)));
    return tracer.within(span, () => serve(request, response));
  };
}

function outcomeOf(request: Request, response: Response): Parameters<NonNullable<Request['span']>['end']>[0] {
  const { method, requestId } = request;
  const { statusCode, writableFinished } = response;
  const route = matchedRoute(request);
  const error = !writableFinished ? 'aborted' : statusCode >= 500 ? String(statusCode) : undefined;
  return {
    ...(route !== undefined && { name: `${method} ${route}` }),
    attributes: {
      ...(route !== undefined && { 'http.route': route }),
      'http.response.status_code': statusCode,
      'iss.request_id': requestId,
    },
    ...(error !== undefined && { error }),
  };
}
