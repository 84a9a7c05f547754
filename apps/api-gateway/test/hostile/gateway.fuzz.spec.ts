import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { hostileJson, nearlyJsonText } from '../../../../libs/domain/src/testing/hostile-json';
import { repositoryRoot } from '../../../../tools/root';
import { type Answer, must, openSocket, send } from '../../../../tools/testing/hostile/client';
import { type Figures, watched } from '../../../../tools/testing/hostile/figures';
import { answersIn } from '../../../../tools/testing/hostile/raw';
import { envelope, found, pathOf } from '../../../../tools/testing/hostile/subjects';
import { textAt } from '../../../../tools/testing/text-at';
import { Bystander } from './bystander';
import { type GatewayProcess, startGatewayProcess } from './gateway-process';

/** Six seconds; `FUZZ_SECONDS` makes all of them together last longer. A failure names its seed, which `FUZZ_SEED` takes. */
const { FUZZ_SECONDS, FUZZ_SEED } = process.env;
const PROPERTIES = 4;
const SECONDS = Number(FUZZ_SECONDS ?? 6) / PROPERTIES;

const MEMORY_LIMIT_MIB = 640;
const ERROR_BYTES = 64 * 1024;
/** What nobody answers within is a request of which the end has not come. */
const SILENCE_MS = 300;
const PIPELINED = 16;
const READ_AT_ONCE = 16 * 1024;

jest.setTimeout(60_000 + SECONDS * 2_000);

let gateway: GatewayProcess;
let bystander: Bystander;
/** Bytes that were sent, and requests. */
const sent = { bytes: 0, requests: 0 };

beforeAll(async () => {
  gateway = await startGatewayProcess();
  bystander = await Bystander.of(gateway);
  Object.assign(VALUES, await world());
});

afterAll(() => gateway?.close());

/** As many runs as there is time for, beside somebody who must not notice. */
function fuzz<Input>(name: string, arbitrary: fc.Arbitrary<Input>, holds: (input: Input) => Promise<void>): void {
  test(name, async () => {
    Object.assign(sent, { bytes: 0, requests: 0 });
    const run = (): Promise<void> =>
      fc.assert(fc.asyncProperty(arbitrary, holds), {
        ...(FUZZ_SEED === undefined ? {} : { seed: Number(FUZZ_SEED) }),
        numRuns: 1_000_000,
        interruptAfterTimeLimit: SECONDS * 1000,
        // Looking for a smaller failure ends too.
        timeout: 20_000,
      });
    const { outcome, figures } = await watched(gateway, () => bystander.beside(run));
    expect(outcome.failed).toEqual([]);
    expect(gateway.errors()).toEqual([]);
    requireBounded(figures);
  });
}

/** Generous: a request of a few hundred bytes takes a tenth of a millisecond, a byte of JSON a hundredth of a microsecond. */
function requireBounded({ peakMiB, gatewayCpuMs, databaseCpuMs }: Figures): void {
  expect(sent.requests).toBeGreaterThan(0);
  const beside = SECONDS * 1000;
  expect(gatewayCpuMs).toBeLessThan(beside + 10 * sent.requests + sent.bytes / 1000);
  if (!Number.isNaN(databaseCpuMs)) expect(databaseCpuMs).toBeLessThan(beside + 10 * sent.requests);
  if (!Number.isNaN(peakMiB)) expect(peakMiB).toBeLessThan(MEMORY_LIMIT_MIB);
}

/** What holds of every answer, whatever was asked. */
function requireSound({ status, headers, body }: Answer): void {
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

/** The one route of the document that refuses in plain text, as the log's clients read it (C2SP tlog-tiles). */
const PLAIN_TEXT = '/log/checkpoint';

/** One of the answers to these requests: sound, or that route's refusal. */
function requireSoundTo(requests: readonly Asked[], answer: Answer): void {
  const isPlain = answer.status === 404 && answer.headers['content-type'] === 'text/plain; charset=utf-8';
  if (!isPlain || requests.every(({ operation }) => operation.path !== PLAIN_TEXT)) return requireSound(answer);
  expect(answer.body.length).toBeLessThan(200);
}

/** Writes these bytes in these pieces, and gives the answers that came until one side had nothing more to say. */
async function exchange(pieces: readonly Uint8Array[]): Promise<Answer[]> {
  const socket = await openSocket(gateway);
  socket.setNoDelay(true);
  const chunks: Buffer[] = [];
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  socket.setTimeout(SILENCE_MS, () => socket.end());
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  socket.on('error', () => undefined);
  for (const piece of pieces) {
    sent.bytes += piece.length;
    if (socket.destroyed) break;
    socket.write(piece);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await closed;
  return answersIn(Buffer.concat(chunks), { mayBeCut: true });
}

/** The bytes in pieces that end at these places. */
function split(bytes: Buffer, places: readonly number[]): Buffer[] {
  const ends = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b);
  return [...ends, bytes.length].map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
}

const places = fc.array(fc.nat(1_000_000), { maxLength: 6 });

/** What stands in the place of a parameter of this name, and is right. */
const VALUES: Record<string, string> = {};

/** A world in which the routes find something. */
async function world(): Promise<Record<string, string>> {
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

/** A path's parameter or a query's value, as it stands in the target: often not what is asked for, or not even decodable. */
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
}

/** Every route of the document, with the names of its query and the examples of its body. */
const OPERATIONS = operations(JSON.parse(readFileSync(join(repositoryRoot, 'openapi.json'), 'utf8')));

interface Described {
  parameters?: { name: string; in: string }[];
  requestBody?: { content: Record<string, { examples?: Record<string, { value: unknown }> }> };
}

function operations({ paths }: { paths: Record<string, Record<string, Described>> }): Operation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { parameters = [], requestBody }]) => ({
      method: method.toUpperCase(),
      path,
      query: parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name),
      examples: Object.values(requestBody?.content['application/json']?.examples ?? {}).map(({ value }) => value),
    })),
  );
}

/** A request, as it is told to {@link textOf}. */
interface Asked {
  operation: Operation;
  /** For each parameter of the path; null: the right one. */
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
const asked: fc.Arbitrary<Asked> = fc
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

/** The bytes of a request under an id, with the right token unless it names another. */
function textOf({ operation, path, query, headers, body, isChunked }: Asked, id: string, isLast: boolean): Buffer {
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

fuzz('any request to any route has one sound answer', fc.tuple(asked, places), async ([one, at]) => {
  sent.requests += 1;
  const bytes = textOf(one, 'only', true);
  const pieces = split(bytes, at);
  const answers = await exchange(pieces);
  answers.forEach((answer) => requireSoundTo([one], answer));
  // What is refused before all of it was sent may have its connection closed before the answer is read.
  const isReadWhole = bytes.length < READ_AT_ONCE && (pieces.length === 1 || one.body === null);
  if (isReadWhole) expect(answers).toHaveLength(1);
  expect(answers.length).toBeLessThanOrEqual(1);
});

const plain = fc.constantFrom('/health', '/v1/meta', '/v1/tenants', '/v1/tenants/fuzzed/subjects', '/nowhere', '/v1/tenants/%zz', '/v1/tenants/fuzzed/subjects/entity/fuzzed/snapshots/latest', '/v1/tenants/fuzzed/subjects/entity/fuzzed/export', '/v1/subjects/entity/fuzzed/snapshots/1'); // prettier-ignore

fuzz(
  'pipelined requests are all answered, in their order',
  fc.tuple(fc.array(plain, { minLength: 1, maxLength: PIPELINED }), places),
  async ([paths, at]) => {
    sent.requests += paths.length;
    const requests = paths.map((path, index) => textOf({ operation: { method: 'GET', path, query: [], examples: [] }, path: [], query: [], headers: [], body: null, isChunked: false }, `id-${index}`, index === paths.length - 1)); // prettier-ignore
    const answers = await exchange(split(Buffer.concat(requests), at));
    answers.forEach(requireSound);
    expect(answers.map(({ headers }) => headers['x-request-id'])).toEqual(paths.map((_, index) => `id-${index}`));
  },
);

/** Another few bytes in the place of some. */
const mutation = fc.tuple(fc.nat(1_000_000), fc.nat(4), fc.oneof(fc.uint8Array({ maxLength: 4 }), fc.constantFrom('\r\n', '\n', '\r', ' ', ':', '\0', 'Content-Length: 5\r\n', 'Transfer-Encoding: chunked\r\n', '\t', ',', ';', 'HTTP/1.0', 'HTTP/2.0', '0x', '-', '\r\n\r\n').map((text) => new Uint8Array(Buffer.from(text))))); // prettier-ignore

fuzz(
  'requests with bytes changed have sound answers, in their order',
  fc.tuple(fc.array(asked, { minLength: 1, maxLength: 4 }), fc.array(mutation, { minLength: 1, maxLength: 4 }), places),
  async ([requests, mutations, at]) => {
    sent.requests += requests.length;
    const bytes = mutations.reduce(
      (text, [place, length, put]) => {
        const from = place % (text.length + 1);
        return Buffer.concat([text.subarray(0, from), put, text.subarray(from + length)]);
      },
      Buffer.concat(requests.map((one, index) => textOf(one, `id-${index}`, false))),
    );
    const answers = await exchange(split(bytes, at));
    answers.forEach((answer) => requireSoundTo(requests, answer));
    const ids = answers.map(({ headers }) => String(headers['x-request-id'])).filter((id) => /^id-\d$/.test(id));
    expect(ids).toEqual([...ids].sort());
    expect(new Set(ids).size).toBe(ids.length);
  },
);

fuzz(
  'arbitrary bytes have sound answers or none',
  fc.tuple(fc.oneof(fc.uint8Array({ maxLength: 2000 }), fc.tuple(fc.constantFrom('GET ', 'POST /v1/tenants HTTP/1.1\r\n', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'CONNECT a:1 HTTP/1.1\r\n\r\n', 'GET http://x/ HTTP/1.1\r\nHost: x\r\n\r\n', 'OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n', '\x16\x03\x01', 'GET / HTTP/0.9\r\n\r\n'), fc.uint8Array({ maxLength: 200 })).map(([begin, end]) => new Uint8Array(Buffer.concat([Buffer.from(begin, 'latin1'), end])))), places), // prettier-ignore
  async ([bytes, at]) => {
    sent.requests += 1;
    for (const answer of await exchange(split(Buffer.from(bytes), at))) requireSound(answer);
  },
);

test('tokens with keys that nobody knows have not had the keys fetched each time', () => {
  expect(gateway.issuer.keySetRequests).toBeLessThan(5 + SECONDS * PROPERTIES);
});

test('it still serves', async () => {
  expect((await send(gateway, 'GET', '/health', { user: null })).status).toBe(200);
});
