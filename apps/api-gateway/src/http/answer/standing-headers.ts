import type { NextFunction, Request, Response } from 'express';

/** An API answers data, never documents: nothing may frame, sniff or run what it sends. */
const API_HEADERS: readonly string[] = [
  ...['X-Content-Type-Options', 'nosniff'],
  ...['X-Frame-Options', 'DENY'],
  ...['Referrer-Policy', 'no-referrer'],
  ...['Cross-Origin-Opener-Policy', 'same-origin'],
  ...['Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'"],
  ...['Strict-Transport-Security', 'max-age=31536000; includeSubDomains'],
];

/** The headers of every answer to this request: name, value, name, value, as `writeHead` takes them. */
export function standingHeaders(request: Request): string[] {
  return [...API_HEADERS, 'X-Request-Id', request.requestId];
}

/** Sets headers one by one. `writeHead` takes half the time, where all are known at once. */
export function setHeaders(response: Response, headers: readonly string[]): void {
  for (let at = 0; at < headers.length; at += 2) response.setHeader(headers[at] ?? '', headers[at + 1] ?? '');
}

/**
 * Lets a page open the issuer's window to sign in. The page on which the issuer's answer arrives there gets none, since it has to
 * reach the page that opened it.
 */
export function allowSignInWindow(response: Response, isReturn: boolean): void {
  response.setHeader('Cross-Origin-Opener-Policy', isReturn ? 'unsafe-none' : 'same-origin-allow-popups');
}

/** Sets the headers of every answer. The documentation page is a document and sets its own policy. */
export function standingHeadersMiddleware(request: Request, response: Response, next: NextFunction): void {
  setHeaders(response, standingHeaders(request));
  next();
}
