import { randomUUID } from 'node:crypto';
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ErrorCode } from '@iss/domain';
import { ERROR_STATUSES } from '@iss/contract';
import type { Connections } from '../server/connections';

interface Explanation {
  code: ErrorCode;
  message: string;
  /** Set if it differs from the status of the code. */
  status?: number;
}

const EXPLANATIONS: Readonly<Record<string, Explanation>> = {
  HPE_HEADER_OVERFLOW: { code: 'request_header_fields_too_large', message: 'The headers exceed 16 KiB. Send fewer.' },
  ERR_HTTP_REQUEST_TIMEOUT: {
    code: 'validation_error',
    message: 'The request arrived too slowly. Send it again, faster or in smaller parts.',
    status: 408,
  },
};
const MALFORMED: Explanation = {
  code: 'validation_error',
  message: 'This is not a well-formed HTTP/1.1 request. Check the request line and the headers.',
};

/** RFC 9110, section 10.1.1: an expectation that cannot be met. Node itself handles `100-continue`. */
const UNMET_EXPECTATION: Explanation = {
  code: 'validation_error',
  message: 'The only supported value of Expect is 100-continue. Leave the header out.',
  status: 417,
};

/** RFC 9112, section 3.2. */
const NO_HOST: Explanation = {
  code: 'validation_error',
  message: 'An HTTP/1.1 request needs the header Host. Send it.',
};

/**
 * Passes on requests with a `Host` header, which HTTP/1.1 requires and HTTP/1.0 does not. Node's own refusal has no
 * error envelope.
 */
export function requiringHost<Request extends IncomingMessage, Response extends ServerResponse>(
  listener: (request: Request, response: Response) => void,
  errorsPath: string,
): (request: Request, response: Response) => void {
  return (request, response) => {
    if (request.headers.host !== undefined || request.httpVersion === '1.0') return listener(request, response);
    const { status, headers, body } = answerOf(NO_HOST, errorsPath);
    response.writeHead(status, headers).end(body);
  };
}

/**
 * Answers, in the error envelope, requests that Node refuses before routing. The response follows those to earlier
 * requests (RFC 9112, section 9.3.2) and is the last one on its connection.
 */
export function answerMalformedRequests(server: Server, connections: Connections, errorsPath: string): void {
  const refused = new WeakSet<Duplex>();
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    if (!socket.writable || error.code === 'ECONNRESET') {
      socket.destroy();
      return;
    }
    // Everything after it is malformed as well.
    if (refused.has(socket)) return;
    refused.add(socket);
    const refusal = answerOf(EXPLANATIONS[error.code ?? ''] ?? MALFORMED, errorsPath);
    const last = connections.lastUnfinished(socket);
    if (last === undefined) socket.end(asText(refusal));
    else if (last.req.complete) last.once('finish', () => socket.end(asText(refusal)));
    // The body of that request is malformed, so the refusal is its response, unless one is already being sent.
    else if (!last.headersSent) last.writeHead(refusal.status, refusal.headers).end(refusal.body);
    else last.once('finish', () => socket.end());
  });
  server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) => {
    const { status, headers, body } = answerOf(UNMET_EXPECTATION, errorsPath);
    response.writeHead(status, headers).end(body);
  });
}

/** Returns the raw response text, for use without a request. */
function asText({ status, headers, body }: ReturnType<typeof answerOf>): string {
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${head.join('')}\r\n${body}`;
}

function answerOf({ code, message, status = ERROR_STATUSES[code] }: Explanation, errorsPath: string) {
  const requestId = randomUUID();
  const body = JSON.stringify({ error: { code, message, request_id: requestId } });
  const headers = {
    'Content-Type': 'application/json; charset=utf-8',
    'X-Request-Id': requestId,
    'X-Content-Type-Options': 'nosniff',
    'Cache-Control': 'no-store',
    Link: `<${errorsPath}#${code}>; rel="help"`,
    'Content-Length': Buffer.byteLength(body),
    Connection: 'close',
  };
  return { status, headers, body };
}
