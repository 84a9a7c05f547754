import { setImmediate as othersTurn } from 'node:timers/promises';
import { ExpressAdapter } from '@nestjs/platform-express';
import type { Express, Response } from 'express';
import { chargeWork } from '../limits/charge-work';
import { EndedRequests } from '../server/ended-requests';
import { createGatewayServer, type GatewayServer, type ServerSettings } from '../server/gateway-server';
import { isMatch } from './if-none-match';
import { EventStream, JsonText, LiveStream, type TextBatches, TextStream } from './json-text';
import { PublicFile, sendPublicFile } from './public-file';
import { setHeaders, standingHeaders } from './standing-headers';
import { Streams } from './streams';

const CONTENT_TYPE = 'application/json; charset=utf-8';
export const EVENT_STREAM = 'text/event-stream';
/**
 * Length, in UTF-16 units, up to which the text of a stream is collected before it is sent. A shorter response is sent
 * at once.
 */
const PIECE_LENGTH = 64 * 1024;
/** Unread bytes of a live response after which no more parts are made: some ten thousand lines. */
const UNREAD_BYTES = 4 * 1024 * 1024;

function end(response: Response, text: string, contentType = CONTENT_TYPE): void {
  const bytes = Buffer.byteLength(text);
  setHeaders(response, contentHeaders(contentType, bytes));
  finish(response, text, bytes);
}

function contentHeaders(contentType: string, bytes: number): string[] {
  return ['Content-Type', contentType, 'Content-Length', String(bytes)];
}

function finish(response: Response, text: string, bytes: number): void {
  if (response.req.method === 'HEAD') response.end();
  // One byte per character means ASCII, which needs no encoding.
  else response.end(text, bytes === text.length ? 'latin1' : 'utf8');
}

/** Returns the headers that control caching (RFC 9111). */
function cachingHeaders({ caching }: JsonText): string[] {
  if (caching === undefined) return ['Cache-Control', 'no-store'];
  return ['ETag', caching.etag, 'Cache-Control', caching.cacheControl];
}

function isKnown(response: Response, { caching }: JsonText): boolean {
  return caching !== undefined && isMatch(response.req.headers['if-none-match'], caching.etag);
}

/**
 * Express with its own JSON responses. `response.json` would serialize text that is JSON already, and would hash each
 * body for an ETag that says nothing about the resource.
 */
export class JsonAdapter extends ExpressAdapter {
  private gatewayServer: GatewayServer | undefined;
  readonly ended = new EndedRequests();
  private readonly streams = new Streams(this.ended);

  constructor(
    private readonly settings: ServerSettings,
    express?: Express,
  ) {
    super(express);
    this.disable('x-powered-by');
    this.disable('etag');
    this.set('query parser', 'simple');
  }

  override initHttpServer(): void {
    this.gatewayServer = createGatewayServer(this.getInstance(), this.settings, this.ended);
    this.httpServer = this.gatewayServer.server;
  }

  /**
   * Makes each response from now on the last one on its connection, so that the next request goes to another process.
   */
  closeAfterAnswers(): void {
    this.gatewayServer?.closeAfterAnswers();
  }

  override beforeClose(): void {
    super.beforeClose();
    this.gatewayServer?.drain();
  }

  override reply(response: Response, body: unknown, statusCode?: number): unknown {
    if (statusCode !== undefined) response.status(statusCode);
    if (body === undefined || body === null) {
      response.end();
    } else if (body instanceof JsonText) {
      setHeaders(response, cachingHeaders(body));
      if (isKnown(response, body)) response.status(304).end();
      else end(response, body.text);
    } else if (body instanceof PublicFile) {
      sendPublicFile(response, body);
    } else if (body instanceof TextStream) {
      response.setHeader('Cache-Control', 'no-store');
      if (response.req.method !== 'HEAD') return send(response, body, this.streams);
      response.setHeader('Content-Type', body.contentType);
      response.end();
    } else if (body instanceof LiveStream) {
      return sendLive(response, body, this.streams);
    } else if (body instanceof EventStream) {
      return sendEvents(response, body, this.streams);
    } else {
      if (!response.hasHeader('Cache-Control')) response.setHeader('Cache-Control', 'no-store');
      end(
        response,
        chargeWork(response.req, () => JSON.stringify(body)),
      );
    }
    return response;
  }
}

/**
 * Sends JSON text and all headers at once. Equivalent to {@link JsonAdapter.reply} after the standing headers were set.
 */
export function sendWhole(response: Response, body: JsonText): void {
  const headers = [...standingHeaders(response.req), ...cachingHeaders(body)];
  if (isKnown(response, body)) {
    response.writeHead(304, headers);
    response.end();
    return;
  }
  response.writeHead(response.statusCode, [...headers, ...contentHeaders(CONTENT_TYPE, body.bytes)]);
  finish(response, body.text, body.bytes);
}

/**
 * Sends a stream as fast as the client reads, and charges the caller for each piece. A failure before the first piece
 * becomes an error response.
 */
async function send(response: Response, { contentType, batches }: TextStream, streams: Streams): Promise<void> {
  const pieces = inPieces(batches, (work) => chargeWork(response.req, work));
  const first = await pieces.next();
  const second = await pieces.next();
  if (second.done) {
    end(response, first.value ?? '', contentType);
    return;
  }
  streams.begin(response, response.req.principal?.principalId ?? '');
  response.setHeader('Content-Type', contentType);
  const write = (piece: string): Promise<void> => chargeWork(response.req, () => writePiece(streams, response, piece));
  await write(first.value ?? '');
  await write(second.value);
  for await (const piece of pieces) {
    if (response.destroyed) return;
    await write(piece);
  }
  response.end();
}

/**
 * Sends each part as soon as it exists. A client may send its whole request before it reads, so some parts wait in
 * memory.
 */
async function sendLive(response: Response, { contentType, parts }: LiveStream, streams: Streams): Promise<void> {
  setHeaders(response, ['Content-Type', contentType, 'Cache-Control', 'no-store', 'Connection', 'close']);
  response.flushHeaders();
  for await (const part of parts) {
    if (response.destroyed) return;
    if (response.writableLength < UNREAD_BYTES) response.write(part);
    else await streams.write(response, part);
  }
  response.end();
}

const EVENT_STREAM_HEADERS = [
  ...['Content-Type', EVENT_STREAM],
  ...['Cache-Control', 'no-store'],
  // A buffering proxy would hold back new events.
  ...['X-Accel-Buffering', 'no'],
];

async function sendEvents(response: Response, { chunks }: EventStream, streams: Streams): Promise<void> {
  const events = chunks[Symbol.asyncIterator]();
  try {
    let event = await events.next();
    setHeaders(response, EVENT_STREAM_HEADERS);
    if (response.req.method !== 'HEAD') {
      for (; event.done !== true && !response.destroyed; event = await events.next()) {
        await streams.write(response, event.value);
      }
    }
    response.end();
  } finally {
    await events.return?.();
  }
}

/** Collects texts into pieces, one piece per call of `measured`. Other requests get a turn between two pieces. */
async function* inPieces(
  batches: TextBatches,
  measured: (work: () => void) => void,
): AsyncGenerator<string, undefined> {
  let piece = '';
  for await (const batch of batches) {
    const texts = batch[Symbol.iterator]();
    let isTaken = false;
    const collect = (): void => {
      while (piece.length < PIECE_LENGTH) {
        const text = texts.next();
        isTaken = text.done === true;
        if (text.done === true) return;
        piece += text.value;
      }
    };
    while (!isTaken) {
      measured(collect);
      if (piece.length < PIECE_LENGTH) continue;
      yield piece;
      piece = '';
      await othersTurn();
    }
  }
  if (piece !== '') yield piece;
}

/** Writes a piece, in parts if it is large, so that other requests get their turns meanwhile. */
async function writePiece(streams: Streams, response: Response, piece: string): Promise<void> {
  if (piece.length <= 2 * PIECE_LENGTH) return streams.write(response, piece);
  const bytes = Buffer.from(piece);
  for (let at = 0; at < bytes.length; at += PIECE_LENGTH) {
    await streams.write(response, bytes.subarray(at, at + PIECE_LENGTH));
  }
}
