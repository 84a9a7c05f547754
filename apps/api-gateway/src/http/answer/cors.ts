import type { ServerResponse } from 'node:http';
import { type Operation, PRESENTATIONS, WALLET } from '@iss/contract';
import type { NextFunction, Request, Response } from 'express';

/** The response headers that scripts may read (Fetch, "CORS-safelisted response-header name"). */
const EXPOSED = [
  ...['ETag', 'Link', 'Retry-After', 'X-Request-Id', 'Idempotency-Replayed'],
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
    const { origin } = request.headers;
    if (isPreflight(request) && origin !== undefined && origins.includes(origin))
      allow(response, METHODS, REQUEST_HEADERS);
    else next();
  };
}

/** The methods of the operations for wallets, by a pattern of their paths. */
const WALLET_METHODS = Object.values<Operation>({ ...WALLET, ...PRESENTATIONS }).map(
  ({ path, method }) => [new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`), method.toUpperCase()] as const,
);

/** Lets scripts of every origin read the answers to wallets, which run in browsers too, and answers their preflight requests. */
export function walletCors(request: Request, response: Response, next: NextFunction): void {
  const [, method] = WALLET_METHODS.find(([pattern]) => pattern.test(request.path)) ?? [];
  if (method !== undefined) response.setHeader('Access-Control-Allow-Origin', '*');
  if (method !== undefined && isPreflight(request)) allow(response, method, 'Authorization, Content-Type, DPoP');
  else next();
}

function isPreflight({ method, headers }: Request): boolean {
  return method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;
}

function allow(response: Response, methods: string, headers: string): void {
  response.setHeader('Access-Control-Allow-Methods', methods);
  response.setHeader('Access-Control-Allow-Headers', headers);
  response.setHeader('Access-Control-Max-Age', MAX_AGE_SECONDS);
  response.status(204).end();
}
