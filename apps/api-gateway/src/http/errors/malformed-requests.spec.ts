import { EventEmitter } from 'node:events';
import type { Server } from 'node:http';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { Connections } from '../server/connections';
import { answerMalformedRequests } from './malformed-requests';

it.each([
  ['HPE_HEADER_OVERFLOW', '431 Request Header Fields Too Large', 'request_header_fields_too_large'],
  ['ERR_HTTP_REQUEST_TIMEOUT', '408 Request Timeout', 'validation_error'],
  ['HPE_INVALID_METHOD', '400 Bad Request', 'validation_error'],
])('a request that Node refuses with %s gets an error envelope: %s', async (code, status, errorCode) => {
  const server = new EventEmitter();
  const connections: Pick<Connections, 'lastUnfinished'> = { lastUnfinished: () => undefined };
  answerMalformedRequests(server as Server, connections as Connections, '/docs/errors');
  const socket = new PassThrough();
  server.emit('clientError', Object.assign(new Error('refused'), { code }), socket);
  const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n');
  expect(head.split('\r\n')[0]).toBe(`HTTP/1.1 ${status}`);
  expect(JSON.parse(body).error.code).toBe(errorCode);
});
