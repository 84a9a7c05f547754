import type { NextFunction, Request, Response } from 'express';

/** Forbids browsers to frame, sniff or run a response, because an API returns data and never documents. */
const API_HEADERS: readonly string[] = [
  ...['X-Content-Type-Options', 'nosniff'],
  ...['X-Frame-Options', 'DENY'],
  ...['Referrer-Policy', 'no-referrer'],
  ...['Cross-Origin-Opener-Policy', 'same-origin'],
  ...['Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'"],
  ...['Strict-Transport-Security', 'max-age=31536000; includeSubDomains'],
];

/** Returns the headers of every response to this request, as `writeHead` takes them: name, value, name, value. */
export function standingHeaders(request: Request): string[] {
  return [...API_HEADERS, 'X-Request-Id', request.requestId];
}

export function setHeaders(response: Response, headers: readonly string[]): void {
  for (let at = 0; at < headers.length; at += 2) response.setHeader(headers[at] ?? '', headers[at + 1] ?? '');
}

/**
 * Lets a page open the issuer's window to sign in. The return page gets no isolation, because it has to reach the page
 * that opened it.
 */
export function allowSignInWindow(response: Response, isReturn: boolean): void {
  response.setHeader('Cross-Origin-Opener-Policy', isReturn ? 'unsafe-none' : 'same-origin-allow-popups');
}

/** Sets the headers of every response. The documentation page sets its own policy. */
export function standingHeadersMiddleware(request: Request, response: Response, next: NextFunction): void {
  setHeaders(response, standingHeaders(request));
  next();
}
