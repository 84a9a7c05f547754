import { getEventListeners } from 'node:events';
import {
  apiErrorOf,
  ConflictError,
  ConnectionError,
  ErasedError,
  ForbiddenError,
  isErrorCode,
  NotFoundError,
  NotLoggedYetError,
  ProtocolError,
  StaleBaseError,
  ValidationError,
} from '../src/index.ts';
import { boundedWait, decode, errorOfAnswer } from '../src/http/answer.ts';
import { linesOf } from '../src/http/lines.ts';
import { pathOf, queryText } from '../src/http/transport.ts';
import { jsonOf } from '../src/json.ts';
import { MAX_DEPTH, MAX_RETRY_AFTER_MS } from '../src/limits.ts';

describe('the URL of a request', () => {
  it.each([
    [{}, ''],
    [{ a: undefined, b: null }, ''],
    [{ a: 0, b: false, c: '' }, '?a=0&b=false&c='],
    [{ q: 'a b&c=ü' }, '?q=a+b%26c%3D%C3%BC'],
  ])('has the encoded query %j', (query, text) => {
    expect(queryText(query)).toBe(text);
  });

  it('has encoded segments, none of which is . or ..', () => {
    expect(pathOf('v1', 'a/b', '../x', 2, 'ü?#')).toBe('/v1/a%2Fb/..%2Fx/2/%C3%BC%3F%23');
    for (const step of ['.', '..']) expect(() => pathOf('v1', step)).toThrow('is no id');
  });
});

/** Makes a body of these pieces, which then ends or breaks. */
function body(pieces: readonly (string | Uint8Array)[], breaks = false): Response {
  const left = [...pieces];
  return new Response(
    new ReadableStream({
      pull(controller) {
        const piece = left.shift();
        if (piece !== undefined)
          controller.enqueue(typeof piece === 'string' ? new TextEncoder().encode(piece) : piece);
        else if (breaks) controller.error(new TypeError('terminated'));
        else controller.close();
      },
    }),
  );
}
const MAX_BYTES = 8;
async function linesIn(response: Response, options: Partial<Parameters<typeof linesOf>[1]> = {}): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of linesOf(response, { maxBytes: MAX_BYTES, ...options })) lines.push(line);
  return lines;
}

describe('linesOf', () => {
  it.each<[readonly (string | Uint8Array)[], string[]]>([
    [[], []],
    [['a\nb\n'], ['a', 'b']],
    [
      ['a', 'b\n', '\nc\r', '\n'],
      ['ab', '', 'c'],
    ],
    [[Uint8Array.of(0xc3), Uint8Array.of(0xbc, 0x0a)], ['ü']],
  ])('reads %j', async (pieces, lines) => {
    expect(await linesIn(body(pieces))).toEqual(lines);
  });

  it('returns no line for an empty answer', async () => {
    expect(await linesIn(new Response(null))).toEqual([]);
  });

  it.each([
    ['whose last line does not end', body(['a\nb']), ConnectionError],
    ['that breaks off', body(['a\n'], true), ConnectionError],
    ['with a line that is too long', body(['x'.repeat(MAX_BYTES + 1)]), ProtocolError],
    [
      'with a line that is too long, in small pieces',
      body(Array.from({ length: MAX_BYTES + 1 }, () => 'x')),
      ProtocolError,
    ],
    ['with a complete line that is too long', body([`a\n${'x'.repeat(MAX_BYTES + 1)}\n`]), ProtocolError],
    ['that is not UTF-8', body([Uint8Array.of(0xff, 0x0a)]), ProtocolError],
    ['that ends within a character', body([Uint8Array.of(0x61, 0xc3)]), ProtocolError],
  ])('refuses a body %s', async (_what, response, failure) => {
    await expect(linesIn(response)).rejects.toThrow(failure);
  });

  it('rejects after idleMs without data, and when the caller aborts', async () => {
    const silent = (): Response => new Response(new ReadableStream({ pull: () => new Promise(() => undefined) }));
    await expect(linesIn(silent(), { idleMs: 5 })).rejects.toThrow('No data arrived for 5 ms.');
    const stop = new AbortController();
    stop.abort(new RangeError('enough'));
    await expect(linesIn(silent(), { idleMs: 5, signal: stop.signal })).rejects.toThrow('enough');
    // This happens immediately, even if the body does not listen.
    const later = new AbortController();
    const waiting = linesIn(silent(), { signal: later.signal });
    later.abort(new RangeError('enough'));
    await expect(waiting).rejects.toThrow('enough');
  });

  it('removes its listener from the signal', async () => {
    const { signal } = new AbortController();
    expect(await linesIn(body(['a\n', 'b\n']), { signal })).toEqual(['a', 'b']);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('closes the connection when the reader stops', async () => {
    let isCancelled = false;
    const endless = new ReadableStream({
      pull: (controller) => controller.enqueue(new TextEncoder().encode('a\n')),
      cancel: () => void (isCancelled = true),
    });
    for await (const line of linesOf(new Response(endless), { maxBytes: MAX_BYTES })) if (line === 'a') break;
    expect(isCancelled).toBe(true);
  });
});

describe('an error answer', () => {
  const answer = (error: object): string => JSON.stringify({ error: { message: 'No.', request_id: 'r', ...error } });
  it.each<[number, object, new (...words: never[]) => Error, object]>([
    [
      400,
      { code: 'validation_error', details: [{ path: '/a', code: 'c', message: 'm' }] },
      ValidationError,
      { code: 'validation_error', details: [{ path: '/a' }] },
    ],
    [403, { code: 'forbidden' }, ForbiddenError, { requestId: 'r', details: [] }],
    [404, { code: 'not_logged_yet' }, NotLoggedYetError, { status: 404 }],
    [404, { code: 'not_found' }, NotFoundError, {}],
    [409, { code: 'conflict' }, ConflictError, {}],
    [
      409,
      { code: 'conflict', details: [{ path: '', code: 'stale', message: 'the latest version is 12' }] },
      StaleBaseError,
      { latestVersion: 12 },
    ],
    [409, { code: 'conflict', message: 'The base snapshot is stale.' }, StaleBaseError, { latestVersion: null }],
    [
      410,
      { code: 'erased', erased: { erasure_id: 'e', erased_at: 't' } },
      ErasedError,
      { receipt: { erasure_id: 'e' } },
    ],
    [410, { code: 'erased' }, ErasedError, { receipt: null }],
  ])('becomes an error of its own class: %i %j', (status, error, type, members) => {
    const failure = errorOfAnswer(status, new Headers(), answer(error));
    expect(failure).toBeInstanceOf(type);
    expect(failure).toMatchObject({ status, ...members });
  });

  it.each([
    ['', 'HTTP 502'],
    ['<html>', 'HTTP 502: <html>'],
    ['null', 'HTTP 502: null'],
    ['{"error":null}', 'HTTP 502: {"error":null}'],
    [answer({ code: 'conflict', details: [null] }), `HTTP 502: ${answer({ code: 'conflict', details: [null] })}`],
    [answer({ code: 'conflict', message: {} }), `HTTP 502: ${answer({ code: 'conflict', message: {} })}`],
    [answer({ code: 'constructor' }), `HTTP 502: ${answer({ code: 'constructor' })}`],
    ['x'.repeat(300), `HTTP 502: ${'x'.repeat(200)}`],
  ])('from a proxy has no code: %s', (text, message) => {
    const headers = new Headers({ 'x-request-id': 'h' });
    expect(errorOfAnswer(502, headers, text)).toMatchObject({
      code: null,
      message,
      requestId: 'h',
      retryAfterMs: null,
    });
  });

  it.each([
    ['0', 0],
    ['120', 120_000],
    ['Thu, 01 Jan 1970 00:00:00 GMT', 0],
    ['soon', null],
    ['9'.repeat(400), MAX_RETRY_AFTER_MS],
    ['Fri, 31 Dec 9999 23:59:59 GMT', MAX_RETRY_AFTER_MS],
  ])('with Retry-After %s has retryAfterMs %p', (header, ms) => {
    const { retryAfterMs } = errorOfAnswer(429, new Headers({ 'retry-after': header }), '');
    expect(retryAfterMs).toBe(ms);
  });

  it('has the class of its code, and isErrorCode accepts only codes of the API', () => {
    expect(isErrorCode('unavailable')).toBe(true);
    for (const code of ['toString', '', null, 5]) expect(isErrorCode(code)).toBe(false);
    const { name } = apiErrorOf({ ...Object(errorOfAnswer(500, new Headers(), '')), code: 'internal_error' });
    expect(name).toBe('InternalError');
  });
});

describe('JSON', () => {
  it('in an answer is parsed, or refused if it has another shape', () => {
    expect(decode<{ a: number }>('{"a":1}', { a: 0 })).toEqual({ a: 1 });
    for (const broken of ['<html>', '{}', 'null', '[]', '"a"', '{"a":"1"}', '{"a":null}', '{"__proto__":{"a":1}}']) {
      expect(() => decode<{ a: number }>(broken, { a: 0 })).toThrow(ProtocolError);
    }
    expect(boundedWait(-1)).toBe(0);
  });

  it.each<[unknown, unknown]>([
    [{ a: undefined, b: new Date(0) }, { b: '1970-01-01T00:00:00.000Z' }],
    ['{"a":[1]}', { a: [1] }],
    [
      [null, true],
      [null, true],
    ],
  ])('is created by jsonOf from %j', (value, sent) => {
    expect(jsonOf(value)).toEqual(sent);
  });

  it.each<[unknown, RegExp]>([
    [{ a: ['\ud800'] }, /at "\/a\/0"/],
    ['{"a":1,"a":2}', /^Invalid JSON at /],
    [undefined, /^Invalid JSON at /],
    [`${'['.repeat(MAX_DEPTH + 1)}${']'.repeat(MAX_DEPTH + 1)}`, /^Invalid JSON at /],
  ])('is not created by jsonOf from an invalid value: case %#', (value, message) => {
    expect(() => jsonOf(value)).toThrow(message);
  });
});
