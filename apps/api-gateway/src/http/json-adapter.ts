import { ExpressAdapter } from '@nestjs/platform-express';
import type { Response } from 'express';
import { JsonText, TextStream } from './json-text';

const CONTENT_TYPE = 'application/json; charset=utf-8';
/** Text of a stream that is collected before it is sent, in UTF-16 units. A shorter answer is sent whole. */
const PIECE_LENGTH = 64 * 1024;
/** A reader that takes nothing for so long has gone, or keeps a socket and its memory for nothing. */
const STALLED_MS = 120_000;

function end(response: Response, text: string, contentType = CONTENT_TYPE): void {
  response.setHeader('Content-Type', contentType);
  const bytes = Buffer.byteLength(text);
  response.setHeader('Content-Length', bytes);
  if (response.req.method === 'HEAD') response.end();
  // A byte a character is ASCII, which is sent without being encoded.
  else response.end(text, bytes === text.length ? 'latin1' : 'utf8');
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
    } else if (body instanceof TextStream) {
      response.setHeader('Cache-Control', 'no-store');
      if (response.req.method !== 'HEAD') return send(response, body);
      response.setHeader('Content-Type', body.contentType);
      response.end();
    } else {
      if (!response.hasHeader('Cache-Control')) response.setHeader('Cache-Control', 'no-store');
      end(response, JSON.stringify(body));
    }
    return response;
  }
}

/** Sends a stream as fast as it is read. What fails before the first piece is out can still be answered as an error. */
async function send(response: Response, { contentType, chunks }: TextStream): Promise<void> {
  const pieces = inPieces(chunks);
  const first = await pieces.next();
  const second = await pieces.next();
  if (second.done) {
    end(response, first.value ?? '', contentType);
    return;
  }
  response.setHeader('Content-Type', contentType);
  response.setTimeout(STALLED_MS);
  await write(response, first.value ?? '');
  await write(response, second.value);
  for await (const piece of pieces) {
    if (response.destroyed) return;
    await write(response, piece);
  }
  response.end();
}

async function* inPieces(chunks: AsyncIterable<string>): AsyncGenerator<string, undefined> {
  let piece = '';
  for await (const chunk of chunks) {
    piece += chunk;
    if (piece.length >= PIECE_LENGTH) {
      yield piece;
      piece = '';
    }
  }
  if (piece !== '') yield piece;
}

/** Writes, and waits until there is room for more or nobody reads any more. */
async function write(response: Response, text: string): Promise<void> {
  if (response.destroyed || response.write(text)) return;
  await new Promise<void>((resolve) => {
    const settle = (): void => {
      response.off('drain', settle).off('close', settle);
      resolve();
    };
    response.on('drain', settle).on('close', settle);
  });
}
