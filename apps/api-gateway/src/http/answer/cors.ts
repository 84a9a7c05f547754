import type { ServerResponse } from 'node:http';
import type { NextFunction, Request, Response } from 'express';

/** What a script may read of an answer besides its body (Fetch, "CORS-safelisted response-header name"). */
const EXPOSED = [
  ...['ETag', 'Link', 'Location', 'Retry-After', 'X-Request-Id', 'Idempotency-Replayed'],
  ...['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset', 'RateLimit-Policy'],
].join(', ');
const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE';
const REQUEST_HEADERS = [
  ...['Accept', 'Authorization', 'Content-Type', 'Idempotency-Key', 'If-None-Match'],
  ...['X-Request-Id', 'X-Correlation-Id', 'traceparent'],
].join(', ');
/** Browsers ask again after two hours at the latest. */
const MAX_AGE_SECONDS = '7200';

/**
 * Lets scripts of these origins read an answer, to be called before its head is written; undefined when there are none.
 * Credentials are not allowed for: who calls says so by its token, and a browser adds nothing by itself.
 */
export function corsHeaders(origins: readonly string[]): ((response: ServerResponse) => void) | undefined {
  if (origins.length === 0) return undefined;
  return (response) => {
    response.appendHeader('Vary', 'Origin');
    const { origin } = response.req.headers;
    if (origin === undefined || !origins.includes(origin)) return;
    response.setHeader('Access-Control-Allow-Origin', origin);
    response.setHeader('Access-Control-Expose-Headers', EXPOSED);
  };
}

/** Answers what a browser asks before it sends a request of these origins (Fetch, "CORS-preflight request"). */
export function preflights(origins: readonly string[]) {
  return (request: Request, response: Response, next: NextFunction): void => {
    const { origin, 'access-control-request-method': method } = request.headers;
    if (request.method !== 'OPTIONS' || method === undefined || origin === undefined || !origins.includes(origin)) {
      next();
      return;
    }
    response.setHeader('Access-Control-Allow-Methods', METHODS);
    response.setHeader('Access-Control-Allow-Headers', REQUEST_HEADERS);
    response.setHeader('Access-Control-Max-Age', MAX_AGE_SECONDS);
    response.status(204).end();
  };
}
