import type { ServerResponse } from 'node:http';
import type { NextFunction, Request, Response } from 'express';

/** The response headers that scripts may read (Fetch, "CORS-safelisted response-header name"). */
const EXPOSED = [
  ...['ETag', 'Link', 'Location', 'Retry-After', 'X-Request-Id', 'Idempotency-Replayed'],
  ...['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset', 'RateLimit-Policy'],
].join(', ');
const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE';
const REQUEST_HEADERS = [
  ...['Accept', 'Authorization', 'Content-Type', 'Idempotency-Key', 'If-None-Match'],
  ...['X-Request-Id', 'X-Correlation-Id', 'traceparent'],
].join(', ');
/** Browsers cache the answer for two hours at most. */
const MAX_AGE_SECONDS = '7200';

/**
 * Returns a function that lets scripts of these origins read a response. Call it before the head is written. Returns
 * undefined if there are no origins. Credentials are not allowed, because callers authenticate with a token and not
 * with cookies.
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

/** Answers the preflight requests of these origins (Fetch, "CORS-preflight request"). */
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
