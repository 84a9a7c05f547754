import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Logger, rarely, warnTo } from '@iss/platform';
import { decodeUtf8, TlogError } from '@iss/tlog';
import { plainAnswer, type Witness, type WitnessAnswer } from './witness';

/** Enough for a checkpoint with about thirty post-quantum signatures and the longest proof. */
export const MAX_WITNESS_BODY_BYTES = 128 * 1024;
/** Each log keeps one connection. Connections beyond the limit are closed. */
export const MAX_WITNESS_CONNECTIONS = 256;
/** The time limit for a whole request. */
const REQUEST_TIMEOUT_MS = 10_000;
const HEADERS_TIMEOUT_MS = 5_000;
/** Logs that send a request about every second can reuse their connection. */
const KEEP_ALIVE_MS = 30_000;

/** A running witness. */
export interface WitnessServer {
  /** The submission prefix and monitoring prefix, without a trailing slash. */
  url: string;
  /** Finishes open requests and accepts no new ones. */
  close(): Promise<void>;
}

/** Serves C2SP tlog-witness. Rejects with EADDRINUSE if the port is taken. Port 0 means any free port. */
export async function serveWitness(
  witness: Witness,
  logger: Logger,
  { host, port }: { host: string; port: number },
): Promise<WitnessServer> {
  const handler = new Handler(witness, logger);
  const server = createServer(
    {
      requestTimeout: REQUEST_TIMEOUT_MS,
      headersTimeout: HEADERS_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
      connectionsCheckingInterval: 1_000,
    },
    (request, response) => {
      handler.handle(request, response).catch(() => response.destroy());
    },
  );
  server.maxConnections = MAX_WITNESS_CONNECTIONS;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  return { url: urlOf(server), close: () => close(server) };
}

class Handler {
  private readonly warn;

  constructor(
    private readonly witness: Witness,
    private readonly logger: Logger,
  ) {
    this.warn = rarely(warnTo(logger));
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const answer = await this.answer(request);
      this.tell(answer);
      send(request, response, answer);
    } catch (error) {
      if (request.destroyed) return;
      this.logger.error({ err: error }, 'A request failed');
      send(request, response, plainAnswer(500, 'The witness failed. Try again.'));
    }
  }

  private async answer(request: IncomingMessage): Promise<WitnessAnswer> {
    const { method = '', url = '' } = request;
    const isSubmission = url === '/add-checkpoint';
    const isMonitoring = /^\/[0-9a-f]{64}\/checkpoint$/.test(url);
    if (!isSubmission && !isMonitoring) {
      return plainAnswer(
        404,
        'Use POST /add-checkpoint or GET /<SHA-256 of the origin>/checkpoint (C2SP tlog-witness).',
      );
    }
    if (method !== (isSubmission ? 'POST' : 'GET')) return plainAnswer(405, `Use ${isSubmission ? 'POST' : 'GET'}.`);
    if (isMonitoring) return this.witness.checkpointAt(url.slice(1));
    const body = await readBody(request);
    if (body === null) return plainAnswer(413, `The request has more than ${MAX_WITNESS_BODY_BYTES} bytes.`);
    try {
      return await this.witness.addCheckpoint(decodeUtf8(body));
    } catch (error) {
      if (error instanceof TlogError && error.code === 'malformed') return plainAnswer(400, error.message);
      throw error;
    }
  }

  /** Logs each request that a known log signed. Other requests are logged rarely, so that strangers cannot fill the disk. */
  private tell({ status, request, body }: WitnessAnswer): void {
    if (request === undefined) {
      if (status === 403) this.warn('A checkpoint was sent that its log did not sign');
      return;
    }
    const { origin, oldSize: old_size, size, note } = request;
    const facts = { origin, old_size, size, status };
    if (status === 200) this.logger.info(facts, 'Cosigned');
    else if (status === 409)
      this.logger.info(facts, 'Not cosigned: the request does not continue the last cosigned checkpoint');
    else if (status === 503) this.warn(`Not cosigned: ${body.trim()}`);
    else if (status === 403)
      this.logger.warn({ ...facts, note, reason: body.trim() }, 'Not cosigned: the audit of the map failed');
    // The note has the log's signature, so it may prove that the log shows two histories.
    else this.logger.warn({ ...facts, note }, 'Not cosigned: the log did not prove that it only grew');
  }
}

/** Returns null if the body exceeds {@link MAX_WITNESS_BODY_BYTES}. */
async function readBody(request: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let length = 0;
  // Keeps the request open, so that a response can follow a partial read.
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    if (!(chunk instanceof Uint8Array)) throw new Error('the request is not read as bytes');
    length += chunk.length;
    if (length > MAX_WITNESS_BODY_BYTES) return null;
    chunks.push(Buffer.from(chunk));
  }
  return Buffer.concat(chunks);
}

function send(request: IncomingMessage, response: ServerResponse, { status, contentType, body }: WitnessAnswer): void {
  const isUnread = !request.complete;
  response.writeHead(status, {
    'content-type': contentType,
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
    'access-control-allow-origin': '*',
    ...(isUnread && { connection: 'close' }),
  });
  response.end(body);
}

function urlOf(server: Server): string {
  const { address, family, port } = addressOf(server);
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}

function addressOf(server: Server): AddressInfo {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server does not listen on a port');
  return address;
}

function close(server: Server): Promise<void> {
  return new Promise((resolve, reject) => {
    server.close((error) => (error === undefined ? resolve() : reject(error)));
    server.closeIdleConnections();
  });
}
