import { randomUUID } from 'node:crypto';
import { type Server, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ErrorCode } from '@iss/domain';
import { ERROR_STATUSES } from './error-statuses';

const EXPLANATIONS: Readonly<Record<string, { code: ErrorCode; message: string; status?: number }>> = {
  HPE_HEADER_OVERFLOW: { code: 'request_header_fields_too_large', message: 'The headers exceed 16 KiB. Send fewer.' },
  ERR_HTTP_REQUEST_TIMEOUT: { code: 'validation_error', message: 'The request came too slowly.', status: 408 },
};
const MALFORMED = { code: 'validation_error', message: 'This is not a well-formed HTTP/1.1 request.' } as const;

/** Answers, in the error envelope, what Node's parser refuses before there is a request to route. */
export function answerMalformedRequests(server: Server, errorsPath: string): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    if (!socket.writable || error.code === 'ECONNRESET') {
      socket.destroy();
      return;
    }
    const { code, message, status }: (typeof EXPLANATIONS)[string] = EXPLANATIONS[error.code ?? ''] ?? MALFORMED;
    const statusCode = status ?? ERROR_STATUSES[code];
    const requestId = randomUUID();
    const body = JSON.stringify({ error: { code, message, request_id: requestId } });
    socket.end(
      `HTTP/1.1 ${statusCode} ${STATUS_CODES[statusCode] ?? ''}\r\nContent-Type: application/json; charset=utf-8\r\n` +
        `X-Request-Id: ${requestId}\r\nX-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\n` +
        `Link: <${errorsPath}#${code}>; rel="help"\r\n` +
        `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
    );
  });
}
