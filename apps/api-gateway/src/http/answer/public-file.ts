import type { Response } from 'express';
import { standingHeaders } from './standing-headers';

/** A response for everybody, and for scripts of any origin: text or bytes, not JSON. */
export class PublicFile {
  constructor(
    readonly contentType: 'text/plain; charset=utf-8' | 'application/octet-stream',
    readonly body: string | Buffer,
    readonly cacheControl: string,
    readonly status: 200 | 404 = 200,
  ) {}
}

/** Sends the file and all standing headers at once. */
export function sendPublicFile(response: Response, { contentType, body, cacheControl, status }: PublicFile): void {
  response.writeHead(status, [
    ...standingHeaders(response.req),
    ...['Access-Control-Allow-Origin', '*'],
    ...['Content-Type', contentType],
    ...['Cache-Control', cacheControl],
    ...['Content-Length', String(Buffer.byteLength(body))],
  ]);
  if (response.req.method === 'HEAD') response.end();
  else response.end(body);
}
