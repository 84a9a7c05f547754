import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { hostileJson, nearlyJsonText } from '../../../../libs/domain/src/testing/hostile-json';
import { repositoryRoot } from '../../../../tools/root';
import { type Answer, must, openSocket, type Target } from '../../../../tools/testing/hostile/client';
import { answersIn } from '../../../../tools/testing/hostile/raw';
import { envelope, found, pathOf } from '../../../../tools/testing/hostile/subjects';
import { textAt } from '../../../../tools/testing/text-at';

const ERROR_BYTES = 64 * 1024;
/** After this silence, the test treats a request as one whose end is missing. */
const SILENCE_MS = 300;
/** The deadline for the answers to complete requests, of which the last one closes the connection. */
const ANSWERED_MS = 20_000;
const READ_AT_ONCE = 16 * 1024;

/** The rules for every answer, whatever the request was. */
export function requireSound({ status, headers, body }: Answer): void {
  expect(status < 500 || (status === 503 && headers['retry-after'] !== undefined)).toBe(true);
  expect(headers['x-request-id']).toMatch(/^[\x21-\x7e]{1,200}$/);
  if (status < 400) return;
  expect(body.length).toBeLessThanOrEqual(ERROR_BYTES);
  expect(headers['content-type']).toBe('application/json; charset=utf-8');
  const { error, ...more }: { error: Record<string, unknown> } = JSON.parse(body.toString());
  expect(more).toEqual({});
  expect(error).toMatchObject({
    code: expect.stringMatching(/^[a-z_]+$/),
    message: expect.any(String),
    request_id: headers['x-request-id'],
  });
  expect(Object.keys(error).filter((key) => !['code', 'message', 'details', 'request_id'].includes(key))).toEqual([]);
}

/** The only route of the document that refuses in plain text, because the log's clients read it (C2SP tlog-tiles). */
const PLAIN_TEXT = '/log/checkpoint';

/** Returns true for a refusal in the form of RFC 6749, which wallets read. */
function isForWallet({ status, body }: Answer): boolean {
  if (status !== 400 && status !== 401) return false;
  const { error, error_description: description, ...more }: Record<string, unknown> = JSON.parse(body.toString());
  return typeof error === 'string' && typeof description === 'string' && Object.keys(more).length === 0;
}

/** Checks that the answers are valid for these requests, or are the refusal of that route. */
export function requireSoundTo(requests: readonly Asked[], answer: Answer): void {
  if (requests.some(({ operation }) => operation.isForWallets) && isForWallet(answer)) return;
  const isPlain = answer.status === 404 && answer.headers['content-type'] === 'text/plain; charset=utf-8';
  if (!isPlain || requests.every(({ operation }) => operation.path !== PLAIN_TEXT)) return requireSound(answer);
  expect(answer.body.length).toBeLessThan(200);
}

/** Writes the bytes in these pieces. Returns the answers that arrive until one side has ended. */
export async function exchange(
  target: Target,
  pieces: readonly Uint8Array[],
  silenceMs = SILENCE_MS,
): Promise<Answer[]> {
  const socket = await openSocket(target);
  socket.setNoDelay(true);
  const chunks: Buffer[] = [];
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  socket.setTimeout(silenceMs, () => socket.end());
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  socket.on('error', () => undefined);
  for (const piece of pieces) {
    if (socket.destroyed) break;
    socket.write(piece);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await closed;
  return answersIn(Buffer.concat(chunks), { mayBeCut: true });
}

/** Splits the bytes into pieces that end at these places. */
export function split(bytes: Buffer, places: readonly number[]): Buffer[] {
  const ends = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b);
  return [...ends, bytes.length].map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
}

export const places = fc.array(fc.nat(1_000_000), { maxLength: 6 });

/** Returns a correct value for a parameter with this name. */
export const VALUES: Record<string, string> = {};

/** A world in which the routes find data. */
export async function findable(gateway: Target): Promise<Record<string, string>> {
  const tenantId = await found(gateway, 'fuzzed');
  const subjectId = 'fuzzed';
  const states = `/v1/tenants/${tenantId}/entity-states`;
  const first = await must(gateway, 'POST', states, { body: envelope({ a: 1 }, { subjectId }) });
  const second = await must(gateway, 'POST', states, { body: envelope({ a: 2 }, { subjectId, version: 2 }) });
  const subject = pathOf(tenantId, subjectId);
  const update = await must(gateway, 'POST', `${subject}/updates`, {
    body: {
      subject_id: subjectId,
      base_snapshot_version: 2,
      patch_ops: [{ op: 'add', path: '/attributes/b', value: 1 }],
    },
  });
  const subscription = await must(gateway, 'POST', '/v1/webhook-subscriptions', {
    body: { tenant_id: tenantId, target_url: 'http://127.0.0.1:9/', event_types: ['identity.snapshot.created'] },
  });
  return {
    token: await gateway.token('attacker'),
    tenant_id: tenantId,
    subject_type: 'entity',
    subject_id: subjectId,
    snapshot_version: '1',
    snapshot_id: textAt(first, 'snapshot_id'),
    from_snapshot_id: textAt(first, 'snapshot_id'),
    to_snapshot_id: textAt(second, 'snapshot_id'),
    update_id: textAt(update, 'update_id'),
    subscription_id: textAt(subscription, 'webhook_subscription', 'subscription_id'),
    principal_id: 'oidc:test#attacker',
  };
}

/**
 * Generates a path parameter or a query value as it is in the target: often a wrong one, or one that cannot be decoded.
 */
const hostileValue = fc.oneof(
  fc.constantFrom('%', '%0', '%zz', '%00', '%ff', '%c0%af', '%ed%a0%80', '%2F', '%2e%2e', '..', '.', '', '-1', '0', '1e9', 'NaN', '99999999999999999999', '2147483648', 'null', 'true', '[]', '__proto__', 'constructor', '%F0%9F%8F%94', "'", '%22', '*', 'a,b', '\\', '@', ':'), // prettier-ignore
  fc.uuid(),
  fc.string({ unit: 'binary', maxLength: 40 }).map((text) => encodeURIComponent(text)),
  fc.tuple(fc.integer({ min: 100, max: 12_000 }), fc.constantFrom('a', '%41', '%', '1', '.')).map(([length, text]) => text.repeat(length / text.length)),
); // prettier-ignore

interface Operation {
  method: string;
  path: string;
  query: readonly string[];
  examples: readonly unknown[];
  /** True if the document describes refusals in the form of RFC 6749. */
  isForWallets: boolean;
}

/** Every route of the document, with the names of its query parameters and the examples of its body. */
const OPERATIONS = operations(JSON.parse(readFileSync(join(repositoryRoot, 'openapi.json'), 'utf8')));

interface Described {
  parameters?: { name: string; in: string }[];
  requestBody?: { content: Record<string, { examples?: Record<string, { value: unknown }> }> };
  responses: Record<string, unknown>;
}

function operations({ paths }: { paths: Record<string, Record<string, Described>> }): Operation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { parameters = [], requestBody, responses }]) => ({
      method: method.toUpperCase(),
      path,
      query: parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name),
      examples: Object.values(requestBody?.content['application/json']?.examples ?? {}).map(({ value }) => value),
      isForWallets: JSON.stringify(responses).includes('/OAuthError'),
    })),
  );
}

/** A request, as {@link textOf} takes it. */
export interface Asked {
  operation: Operation;
  /** A value for each parameter of the path; null for the right value. */
  path: readonly (string | null)[];
  query: readonly (readonly [name: number, value: string])[];
  headers: readonly string[];
  body: string | null;
  isChunked: boolean;
}

const cursor = fc
  .tuple(fc.base64String({ maxLength: 60 }), fc.base64String({ maxLength: 60 }))
  .map((parts) => parts.join('.'));
const token = fc.oneof(
  fc.base64String({ maxLength: 9000 }),
  fc.tuple(fc.dictionary(fc.constantFrom('alg', 'kid', 'typ', 'crit', 'jku', 'x5c'), fc.oneof(fc.constantFrom('RS256', 'none', 'HS256', 'at+jwt'), fc.string())), fc.dictionary(fc.constantFrom('iss', 'sub', 'exp', 'aud'), fc.oneof(fc.string(), fc.integer())), fc.base64String())
    .map(([head, claims, signature]) => [head, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).concat(signature).join('.')),
); // prettier-ignore
const header = fc.oneof(
  fc.constantFrom('Accept: application/x-ndjson', 'If-None-Match: *', 'Idempotency-Key: a', 'Expect: 100-continue', 'Expect: something', 'Content-Encoding: gzip', 'Connection: upgrade\r\nUpgrade: h2c', 'Origin: https://evil.example', 'Range: bytes=0-1', 'X-Request-Id: \u0001', 'traceparent: 00-0-0-00', 'Host: evil.example', 'X-HTTP-Method-Override: DELETE', 'Cookie: a=b'), // prettier-ignore
  token.map((text) => `Authorization: Bearer ${text}`),
  fc.tuple(fc.constantFrom('Accept', 'If-None-Match', 'X-Request-Id', 'Idempotency-Key', 'traceparent'), fc.integer({ min: 0, max: 3000 }), fc.constantFrom('a', '*/*,', '"x",', 'W/"a", ', ';q=0.1,')).map(([name, count, text]) => `${name}: ${text.repeat(count / text.length)}`),
); // prettier-ignore
export const asked: fc.Arbitrary<Asked> = fc
  .constantFrom(...OPERATIONS)
  .chain((operation) =>
    fc.record({
      operation: fc.constant(operation),
      path: fc.array(fc.option(hostileValue, { freq: 3 }), { minLength: 4, maxLength: 4 }),
      query: fc.array(fc.tuple(fc.nat(9), fc.oneof(hostileValue, cursor)), { maxLength: 3 }),
      headers: fc.array(header, { maxLength: 2 }),
      body: fc.option(
        fc.oneof(
          fc.tuple(fc.constantFrom({}, ...operation.examples), fc.string({ maxLength: 12 }), hostileJson).map(([example, key, value]) => JSON.stringify({ ...Object(example), ...(key.length > 6 ? { [key]: value } : {}) })),
          fc.tuple(fc.constantFrom({}, ...operation.examples), fc.nat(20), hostileJson).map(([example, at, value]) => {
            const keys = Object.keys(Object(example));
            return JSON.stringify({ ...Object(example), [keys[at % Math.max(1, keys.length)] ?? 'x']: value });
          }),
          nearlyJsonText,
        ),
        { nil: null },
      ),
      isChunked: fc.boolean(),
    }),
  ); // prettier-ignore

/** Returns the bytes of a request with an id, and with the right token unless it names another one. */
export function textOf(
  { operation, path, query, headers, body, isChunked }: Asked,
  id: string,
  isLast: boolean,
): Buffer {
  let at = 0;
  const target = operation.path.replace(
    /\{(\w+)\}/g,
    (_, name: string) => path[at++ % path.length] ?? encodeURIComponent(VALUES[name] ?? 'x'),
  );
  const parameters = query.map(
    ([name, value]) => `${operation.query[name % Math.max(1, operation.query.length)] ?? 'unknown'}=${value}`,
  );
  const hasToken = headers.some((line) => line.startsWith('Authorization'));
  const bytes = Buffer.from(body ?? '');
  const framing =
    body === null
      ? []
      : [
          'Content-Type: application/json',
          isChunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${bytes.length}`,
        ];
  const lines = [
    `${operation.method} ${target}${parameters.length === 0 ? '' : `?${parameters.join('&')}`} HTTP/1.1`,
    'Host: localhost',
    ...(hasToken ? [] : [`Authorization: Bearer ${VALUES['token'] ?? ''}`]),
    ...headers,
    `X-Request-Id: ${id}`,
    ...framing,
    ...(isLast ? ['Connection: close'] : []),
  ];
  const sentBody = body !== null && isChunked ? chunked(bytes) : bytes;
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), sentBody]);
}

function chunked(bytes: Buffer): Buffer {
  const half = Math.ceil(bytes.length / 2);
  const chunks = [bytes.subarray(0, half), bytes.subarray(half)].filter(({ length }) => length > 0);
  const parts = chunks.flatMap((chunk) => [
    Buffer.from(`${chunk.length.toString(16)};e=1\r\n`),
    chunk,
    Buffer.from('\r\n'),
  ]);
  return Buffer.concat([...parts, Buffer.from('0\r\nX-Trailer: a\r\n\r\n')]);
}

const plain = fc.constantFrom('/health', '/v1/meta', '/v1/tenants', '/v1/tenants/fuzzed/subjects', '/nowhere', '/v1/tenants/%zz', '/v1/tenants/fuzzed/subjects/entity/fuzzed/snapshots/latest', '/v1/tenants/fuzzed/subjects/entity/fuzzed/export', '/v1/subjects/entity/fuzzed/snapshots/1'); // prettier-ignore

/** Sends any request to any route. The answer must be one valid answer. */
export async function requireOneSoundAnswer(
  target: Target,
  [one, at]: readonly [Asked, readonly number[]],
): Promise<number> {
  const bytes = textOf(one, 'only', true);
  const pieces = split(bytes, at);
  const answers = await exchange(target, pieces, ANSWERED_MS);
  answers.forEach((answer) => requireSoundTo([one], answer));
  // If a request is refused before it was sent completely, its connection may close before the client has read the answer.
  const isReadWhole = bytes.length < READ_AT_ONCE && (pieces.length === 1 || one.body === null);
  if (isReadWhole) expect(answers).toHaveLength(1);
  expect(answers.length).toBeLessThanOrEqual(1);
  return bytes.length;
}

/** Sends simple requests on one connection. All must be answered, in their order. */
export async function requireAnswersInOrder(
  target: Target,
  [paths, at]: readonly [readonly string[], readonly number[]],
): Promise<number> {
  const requests = paths.map((path, index) => textOf({ operation: { method: 'GET', path, query: [], examples: [], isForWallets: false }, path: [], query: [], headers: [], body: null, isChunked: false }, `id-${index}`, index === paths.length - 1)); // prettier-ignore
  const bytes = Buffer.concat(requests);
  const answers = await exchange(target, split(bytes, at), ANSWERED_MS);
  answers.forEach(requireSound);
  expect(answers.map(({ headers }) => headers['x-request-id'])).toEqual(paths.map((_, index) => `id-${index}`));
  return bytes.length;
}

const PIPELINED = 16;
export const plainRequests = fc.array(plain, { minLength: 1, maxLength: PIPELINED });
