import type { NextFunction, Request, Response } from 'express';

/** An API answers data, never documents: nothing may frame, sniff or run what it sends. */
const API_HEADERS: readonly (readonly [string, string])[] = [
  ['X-Content-Type-Options', 'nosniff'],
  ['X-Frame-Options', 'DENY'],
  ['Referrer-Policy', 'no-referrer'],
  ['Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'"],
  ['Strict-Transport-Security', 'max-age=31536000; includeSubDomains'],
];

/** Sets the headers of every answer. The documentation page is a document and sets its own policy. */
export function securityHeadersMiddleware(_request: Request, response: Response, next: NextFunction): void {
  for (const [name, value] of API_HEADERS) response.setHeader(name, value);
  next();
}
