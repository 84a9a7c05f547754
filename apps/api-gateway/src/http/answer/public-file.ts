import type { Response } from 'express';
import { isMatch } from './if-none-match';
import { standingHeaders } from './standing-headers';

/** A response for everybody, and for scripts of any origin: text or bytes, not JSON. */
export class PublicFile {
  constructor(
    readonly contentType: 'text/plain; charset=utf-8' | 'application/octet-stream' | 'application/statuslist+jwt',
    readonly body: string | Buffer,
    readonly cacheControl: string,
    readonly status: 200 | 404 = 200,
    /** With it, `If-None-Match` is honoured. */
    readonly etag: string | null = null,
  ) {}
}

/** Sends the file and all standing headers at once. */
export function sendPublicFile(response: Response, file: PublicFile): void {
  const { contentType, body, cacheControl, status, etag } = file;
  const isKnown = etag !== null && isMatch(response.req.headers['if-none-match'], etag);
  response.writeHead(isKnown ? 304 : status, [
    ...standingHeaders(response.req),
    ...['Access-Control-Allow-Origin', '*'],
    ...(etag === null ? [] : ['ETag', etag]),
    ...['Content-Type', contentType],
    ...['Cache-Control', cacheControl],
    ...['Content-Length', String(Buffer.byteLength(body))],
  ]);
  if (isKnown || response.req.method === 'HEAD') response.end();
  else response.end(body);
}
