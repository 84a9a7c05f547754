import { ExpressAdapter } from '@nestjs/platform-express';
import type { Response } from 'express';
import { JsonText } from './json-text';

const CONTENT_TYPE = 'application/json; charset=utf-8';

function end(response: Response, text: string): void {
  response.setHeader('Content-Type', CONTENT_TYPE);
  response.setHeader('Content-Length', Buffer.byteLength(text));
  response.end(response.req.method === 'HEAD' ? undefined : text);
}

/** Whether `If-None-Match` names the tag (RFC 9110, 13.1.2: weak comparison, a list or `*`). */
export function isMatch(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch.trim() === '*') return true;
  return ifNoneMatch.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag);
}

/**
 * Express, answering JSON by itself: `response.json` would serialize text that is JSON already, and hash every body for
 * an ETag that says nothing of the resource.
 */
export class JsonAdapter extends ExpressAdapter {
  override reply(response: Response, body: unknown, statusCode?: number): unknown {
    if (statusCode !== undefined) response.status(statusCode);
    if (body === undefined || body === null) {
      response.end();
    } else if (body instanceof JsonText) {
      if (body.caching === undefined) {
        response.setHeader('Cache-Control', 'no-store');
      } else {
        response.setHeader('ETag', body.caching.etag);
        response.setHeader('Cache-Control', body.caching.cacheControl);
        if (isMatch(response.req.headers['if-none-match'], body.caching.etag)) {
          response.status(304).end();
          return response;
        }
      }
      end(response, body.text);
    } else {
      if (!response.hasHeader('Cache-Control')) response.setHeader('Cache-Control', 'no-store');
      end(response, JSON.stringify(body));
    }
    return response;
  }
}
