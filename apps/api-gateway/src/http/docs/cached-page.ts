import { gzipSync } from 'node:zlib';
import type { NextFunction, Request, Response } from 'express';

/** A page as it was first sent. */
interface Page {
  type: string;
  text: Buffer;
  zipped: Buffer;
}

/**
 * Stores the text that the next handler sends, and its gzip form, and serves them from then on. The handler would
 * create the same text for every request.
 */
export function cachedPage(): (request: Request, response: Response, next: NextFunction) => void {
  let page: Page | undefined;
  return (request, response, next) => {
    // A path below the mounted one is another page.
    if (request.path !== '/' || (request.method !== 'GET' && request.method !== 'HEAD')) return next();
    if (page !== undefined) return sendPage(request, response, page);
    response.send = (body: unknown): Response => {
      const text = Buffer.from(String(body));
      page = { type: String(response.getHeader('Content-Type')), text, zipped: gzipSync(text) };
      sendPage(request, response, page);
      return response;
    };
    return next();
  };
}

function sendPage(request: Request, response: Response, { type, text, zipped }: Page): void {
  const isZipped = request.acceptsEncodings('gzip', 'identity') === 'gzip';
  response.vary('Accept-Encoding');
  if (isZipped) response.setHeader('Content-Encoding', 'gzip');
  const body = isZipped ? zipped : text;
  response.setHeader('Content-Type', type);
  response.setHeader('Content-Length', body.length);
  response.end(request.method === 'HEAD' ? undefined : body);
}
