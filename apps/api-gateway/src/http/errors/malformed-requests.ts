import { randomUUID } from 'node:crypto';
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ErrorCode } from '@iss/domain';
import { ERROR_STATUSES } from './error-statuses';

interface Explanation {
  code: ErrorCode;
  message: string;
  /** Where it is not that of the code. */
  status?: number;
}

const EXPLANATIONS: Readonly<Record<string, Explanation>> = {
  HPE_HEADER_OVERFLOW: { code: 'request_header_fields_too_large', message: 'The headers exceed 16 KiB. Send fewer.' },
  ERR_HTTP_REQUEST_TIMEOUT: { code: 'validation_error', message: 'The request came too slowly.', status: 408 },
};
const MALFORMED: Explanation = { code: 'validation_error', message: 'This is not a well-formed HTTP/1.1 request.' };

/** RFC 9110, section 10.1.1: an expectation that cannot be met. Node meets `100-continue` by itself. */
const UNMET_EXPECTATION: Explanation = {
  code: 'validation_error',
  message: 'Only Expect: 100-continue is understood. Leave the header out.',
  status: 417,
};

/** Answers, in the error envelope, what Node refuses before there is a request to route. */
export function answerMalformedRequests(server: Server, errorsPath: string): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    if (!socket.writable || error.code === 'ECONNRESET') {
      socket.destroy();
      return;
    }
    const { status, headers, body } = answerOf(EXPLANATIONS[error.code ?? ''] ?? MALFORMED, errorsPath);
    const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${head.join('')}\r\n${body}`);
  });
  server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) => {
    const { status, headers, body } = answerOf(UNMET_EXPECTATION, errorsPath);
    response.writeHead(status, headers).end(body);
  });
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
