import type { Socket } from 'node:net';
import type { Answer } from './client.ts';

/** Sends bytes, and returns everything received until the other side has closed. */
export function readAll(socket: Socket, bytes: string | Uint8Array): Promise<Buffer> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(Buffer.concat(chunks)));
    socket.write(bytes);
  });
}

const HEAD_END = '\r\n\r\n';
const STATUS_LINE = /^HTTP\/1\.1 (\d{3}) [\x20-\x7e]*$/;
const FIELD = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+): ?([\t\x20-\x7e\x80-\xff]*)$/;

/**
 * Parses the responses of a connection, without interim ones (1xx). Bytes outside of a response are a fault, and so is a head
 * that RFC 9112 does not allow. None of the requests may be a HEAD.
 *
 * @throws Error with the place of the first fault; `mayBeCut` allows an incomplete last response
 */
export function answersIn(bytes: Buffer, { mayBeCut = false } = {}): Answer[] {
  const answers: Answer[] = [];
  let at = 0;
  while (at < bytes.length) {
    const headEnd = bytes.indexOf(HEAD_END, at);
    if (headEnd < 0) {
      if (mayBeCut) return answers;
      throw notHttp(bytes, at);
    }
    const [statusLine = '', ...lines] = bytes.toString('latin1', at, headEnd).split('\r\n');
    const status = Number(STATUS_LINE.exec(statusLine)?.[1]);
    if (Number.isNaN(status)) throw notHttp(bytes, at);
    const headers: Record<string, string> = {};
    for (const line of lines) {
      const [, name, value] = FIELD.exec(line) ?? [];
      if (name === undefined || value === undefined) throw notHttp(bytes, at);
      headers[name.toLowerCase()] = value;
    }
    const bodyAt = headEnd + HEAD_END.length;
    const taken = bodyOf(bytes, bodyAt, status, headers);
    if (taken === undefined) {
      if (mayBeCut) return answers;
      throw notHttp(bytes, at);
    }
    if (status >= 200) answers.push({ status, headers, body: taken.body });
    at = taken.end;
  }
  return answers;
}

/** Returns the body of a response; undefined if it is incomplete. */
function bodyOf(
  bytes: Buffer,
  start: number,
  status: number,
  headers: Readonly<Record<string, string>>,
): { body: Buffer; end: number } | undefined {
  if (status < 200 || status === 204 || status === 304) return { body: Buffer.alloc(0), end: start };
  if (headers['transfer-encoding'] === 'chunked') return chunkedBody(bytes, start);
  const end = start + Number(headers['content-length']);
  // Without a length, the body would end with the connection; the gateway never sends that.
  if (Number.isNaN(end)) throw notHttp(bytes, start);
  return end > bytes.length ? undefined : { body: bytes.subarray(start, end), end };
}

function chunkedBody(bytes: Buffer, start: number): { body: Buffer; end: number } | undefined {
  const chunks: Buffer[] = [];
  for (let at = start; ;) {
    const lineEnd = bytes.indexOf('\r\n', at);
    if (lineEnd < 0) return undefined;
    const size = parseInt(bytes.toString('latin1', at, lineEnd), 16);
    if (Number.isNaN(size)) throw notHttp(bytes, at);
    const chunkAt = lineEnd + 2;
    at = chunkAt + size + 2;
    if (at > bytes.length) return undefined;
    if (bytes.toString('latin1', at - 2, at) !== '\r\n') throw notHttp(bytes, at - 2);
    if (size === 0) return { body: Buffer.concat(chunks), end: at };
    chunks.push(bytes.subarray(chunkAt, chunkAt + size));
  }
}

function notHttp(bytes: Buffer, at: number): Error {
  return new Error(`Not HTTP from byte ${at} on: ${JSON.stringify(bytes.toString('latin1', at, at + 400))}`);
}
