import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { type BatchResult, type BatchStream, openBatch, sendBatch } from '../../../tools/testing/batch-stream';
import { waitFor } from '../../../tools/testing/wait-for';
import { envelope, startGateway, type TestGateway, type User } from './gateway';

const BODY_LIMIT = 200_000;
let gateway: TestGateway;
const tokens = new Map<User, string>();

beforeAll(async () => {
  gateway = await startGateway({
    BODY_LIMIT_BYTES: String(BODY_LIMIT),
    BATCH_LIMIT_BYTES: '4000000',
    BATCH_MAX_LINES: '3000',
    MAX_BATCHES: '3',
  });
  for (const user of ['zoe', 'stranger'] as const) tokens.set(user, await gateway.issuer.mint(user));
  await gateway.as('zoe', 'post', '/v1/tenants').send({ tenant_id: 'import', name: 'Import' }).expect(201);
});
afterAll(() => gateway?.close());

const PATH = '/v1/tenants/import/entity-states/batch';
const urlOf = (on: TestGateway): string => `${on.url}${PATH}`;
const headersOf = (user: User): Record<string, string> => ({ Authorization: `Bearer ${tokens.get(user)}` });
const send = (text: string | Buffer): Promise<BatchResult[]> => sendBatch(urlOf(gateway), headersOf('zoe'), text);
const open = (): BatchStream => openBatch(urlOf(gateway), headersOf('zoe'));

type Envelope = Record<string, unknown>;
const organization = (subjectId: string): Envelope => ({ subject_type: 'organization', subject_id: subjectId });
const text = (...envelopes: readonly Envelope[]): string => envelopes.map((one) => `${JSON.stringify(one)}\n`).join('');
const statuses = (results: readonly BatchResult[]): number[] => results.map(({ status }) => status);
/** The code of a result's error, and the places that it names. */
function placesOf({ error }: BatchResult): unknown[] {
  if (error === undefined) return [];
  const { code, request_id, details } = Object.assign({ code: '', request_id: '', details: [] }, error);
  expect(request_id).toMatch(/./);
  return [code, ...details.map(({ path }) => path)];
}

async function countOf(subjectPrefix: string): Promise<number> {
  const client = new Client({ connectionString: gateway.databaseUrl });
  await client.connect();
  const { rows } = await client.query<{ count: number }>(
    `SELECT count(*)::int FROM snapshots n JOIN subjects s USING (subject_key) WHERE s.subject_id LIKE $1 || '%'`,
    [subjectPrefix],
  );
  await client.end();
  return rows[0]?.count ?? -1;
}

/** Returns a history with this number of versions, in order. */
function historyOf(subjectId: string, versions: number): Envelope[] {
  return Array.from({ length: versions }, (_, index) =>
    envelope({ subject: organization(subjectId), snapshot_version: index + 1 }),
  );
}

it('a batch stores each line like a single write, and answers in the order of the lines', async () => {
  const [first, second] = [envelope(), envelope()];
  const results = await send(text(first, second));
  expect(results).toEqual(
    [first, second].map((sent, index) => ({
      line: index + 1,
      status: 201,
      snapshot_id: sent['snapshot_id'],
      snapshot_version: 1,
      ...Object.assign({}, sent['subject']),
      envelope_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      prev_hash: null,
      created_at: expect.any(String),
    })),
  );
  const { body } = await gateway.as('zoe', 'get', `/v1/tenants/import/snapshots/${String(first['snapshot_id'])}`);
  expect(body).toMatchObject({ envelope: first, envelope_hash: results[0]?.['envelope_hash'] });
});

it('a batch writes the versions of a subject in order, even with other subjects in between', async () => {
  const ids = Array.from({ length: 40 }, () => `many-${randomUUID()}`);
  const histories = ids.map((id) => historyOf(id, 5));
  // The lines are sorted by version, so that lines of other subjects are between those of one subject.
  const lines = Array.from({ length: 5 }, (_, index) => histories.map((history) => history[index] ?? {})).flat();
  const results = await send(text(...lines));
  expect(statuses(results)).toEqual(lines.map(() => 201));
  expect(results.map(({ line }) => line)).toEqual(lines.map((_, index) => index + 1));
  const [id = ''] = ids;
  const { body } = await gateway.as(
    'zoe',
    'get',
    `/v1/tenants/import/subjects/organization/${id}/snapshots/latest?verify=chain&depth=all`,
  );
  expect(body.verification).toMatchObject({ hash: { valid: true }, chain: { valid: true, depth: 4, complete: true } });
});

it('a repeated batch returns the same results with status 200', async () => {
  const history = historyOf(`again-${randomUUID()}`, 3);
  const results = await send(text(...history));
  expect(await send(text(...history))).toEqual(results.map((result) => ({ ...result, status: 200 })));
  expect(statuses(await send(text(...history, ...historyOf('', 0))))).toEqual([200, 200, 200]);
  const other = { ...history[2], generated_at: '2026-02-01T00:00:00Z' };
  const [refused] = await send(text(other));
  expect(refused).toMatchObject({ status: 409, error: { code: 'conflict' } });
});

it('a line that equals a snapshot of another tenant gets 409', async () => {
  await gateway.as('bob', 'post', '/v1/tenants').send({ tenant_id: 'other', name: 'Other' }).expect(201);
  const sent = envelope();
  await gateway.as('bob', 'post', '/v1/tenants/other/entity-states').send(sent).expect(201);
  expect(await send(text(sent))).toMatchObject([{ line: 1, status: 409 }]);
});

it('a batch refuses invalid lines and stores the others', async () => {
  const good = envelope();
  const later = envelope({ snapshot_version: 2 });
  const lines = Buffer.concat([
    Buffer.from('{"a": 1\n'),
    Buffer.from(`\r\n   \n${JSON.stringify(good)}\r\n`),
    Buffer.from([0xff, 0x0a]),
    Buffer.from('[]\n'),
    Buffer.from(text({ ...envelope(), subject: { subject_type: 'planet', subject_id: 'mars' } })),
    Buffer.from(text({ ...good, snapshot_id: randomUUID() })),
    Buffer.from(text(later)),
    Buffer.from(text(envelope({ attributes: { note: 'x'.repeat(BODY_LIMIT) } }))),
    Buffer.from(text(envelope({ attributes: { note: 'x'.repeat(100_000) } }))),
    Buffer.from(JSON.stringify(envelope())),
  ]);
  const results = await send(lines);
  expect(results.map(({ line, status }) => [line, status])).toEqual([
    [1, 400],
    [4, 201],
    [5, 400],
    [6, 400],
    [7, 400],
    [8, 409],
    [9, 403],
    [10, 413],
    [11, 201],
    [12, 201],
  ]);
  expect(results.map(placesOf)).toEqual([
    ['validation_error', ''],
    [],
    ['validation_error', ''],
    ['validation_error', ''],
    ['validation_error', '/subject/subject_type'],
    ['conflict', '/snapshot_version'],
    ['forbidden'],
    ['payload_too_large'],
    [],
    [],
  ]);
});

it.each([
  ['an envelope over several lines', JSON.stringify(envelope(), null, 2)],
  ['a list of envelopes', JSON.stringify([envelope(), envelope()])],
  ['a list over several lines', JSON.stringify([envelope()], null, 2)],
])('%s gets a single error that says it is not NDJSON', async (_what, document) => {
  const [result, ...others] = await send(document);
  expect([others, result]).toEqual([[], expect.objectContaining({ line: 1, status: 400 })]);
  expect(JSON.stringify(result)).toContain('not NDJSON');
});

it('an invalid line lists at most ten problems', async () => {
  const results = await send(text(envelope({ evidence: Array.from({ length: 20 }, () => ({})) })));
  expect(results.map(placesOf)).toEqual([['validation_error', ...Array<unknown>(10).fill(expect.anything())]]);
});

it('results are returned while lines are still being sent', async () => {
  const batch = open();
  const results = batch.results();
  for (let turn = 1; turn <= 3; turn += 1) {
    await batch.write(text(envelope()));
    expect((await results.next()).value).toMatchObject({ line: turn, status: 201 });
  }
  batch.end();
  expect((await results.next()).done).toBe(true);
  const { statusCode, headers } = await batch.answered;
  expect([statusCode, headers['content-type'], headers['connection']]).toEqual([200, 'application/x-ndjson', 'close']);
});

it('a client that reads only after sending 1,500 lines gets all results', async () => {
  const lines = Array.from({ length: 1500 }, () => envelope());
  const batch = open();
  await batch.write(text(...lines));
  batch.end();
  const prefix = String(Object.assign({ subject_id: '' }, lines[1499]?.['subject']).subject_id);
  await waitFor(async () => (await countOf(prefix)) === 1, { what: 'the last line to be stored' });
  const results: BatchResult[] = [];
  for await (const result of batch.results()) results.push(result);
  expect(statuses(results)).toEqual(lines.map(() => 201));
});

it('acknowledged lines stay stored if the connection breaks, and a repeated batch stores the rest', async () => {
  const prefix = `broken-${randomUUID()}-`;
  const lines = Array.from({ length: 600 }, (_, index) => envelope({ subject: organization(`${prefix}${index}`) }));
  const batch = open();
  const writing = batch.write(text(...lines));
  const acknowledged: BatchResult[] = [];
  for await (const result of batch.results()) {
    acknowledged.push(result);
    if (acknowledged.length === 100) break;
  }
  batch.destroy();
  await writing;
  const again = await send(text(...lines));
  expect(again.slice(0, 100)).toEqual(acknowledged.map((result) => ({ ...result, status: 200 })));
  expect(again.every(({ status }) => status === 200 || status === 201)).toBe(true);
  expect(await countOf(prefix)).toBe(600);
});

describe('limits of a batch', () => {
  it('refuse a too large Content-Length before reading the body', async () => {
    const batch = openBatch(urlOf(gateway), { ...headersOf('zoe'), 'Content-Length': '4000001' });
    expect((await batch.answered).statusCode).toBe(413);
    batch.destroy();
  });

  it('end a batch with 413 once its lines exceed the size limit, and keep the earlier lines', async () => {
    const large = text(envelope({ attributes: { note: 'x'.repeat(150_000) } }));
    const batch = open();
    const results: BatchResult[] = [];
    const reading = (async () => {
      for await (const result of batch.results()) results.push(result);
    })();
    for (let sent = 0; sent < 30; sent += 1)
      await batch.write(
        large
          .replace(/"snapshot_id":"[^"]+"/, `"snapshot_id":"${randomUUID()}"`)
          .replace(/"subject-[^"]+"/, `"subject-${randomUUID()}"`),
      );
    await reading.catch(() => undefined);
    expect(results.at(-1)).toMatchObject({ line: results.length, status: 413, error: { code: 'payload_too_large' } });
    expect(results.slice(0, -1).every(({ status }) => status === 201)).toBe(true);
    expect(results.length).toBeGreaterThan(20);
  });

  it('end a batch with 413 after the maximum number of lines', async () => {
    const results = await send('x\n'.repeat(3001));
    expect(results).toHaveLength(3001);
    expect(results.at(-1)).toMatchObject({ line: 3001, status: 413 });
    expect(results.at(-2)).toMatchObject({ line: 3000, status: 400 });
  });

  it('refuse with 503 one batch more than MAX_BATCHES', async () => {
    const batches = [open(), open(), open()];
    for (const batch of batches) expect((await batch.answered).statusCode).toBe(200);
    const oneMore = open();
    const refused = await oneMore.answered;
    expect([refused.statusCode, refused.headers['retry-after']]).toEqual([503, '1']);
    oneMore.destroy();
    batches.forEach((batch) => batch.end());
    for (const batch of batches) expect((await batch.results().next()).done).toBe(true);
    expect(statuses(await send(text(envelope())))).toEqual([201]);
  });

  it('end the batch of a slow client with 408, and do not delay the batch of another tenant', async () => {
    const own = await startGateway({ MAX_BATCHES: '1', BATCH_LINE_TIMEOUT_MS: '3000' }, gateway);
    const [zoe, bob] = [await own.issuer.mint('zoe'), await own.issuer.mint('bob')];
    await own.as('bob', 'post', '/v1/tenants').send({ tenant_id: 'beside', name: 'Beside' }).expect(201);
    const slow = openBatch(urlOf(own), { Authorization: `Bearer ${zoe}` });
    // Empty lines do not count as lines.
    const trickling = setInterval(() => void slow.write('\n').catch(() => undefined), 10);
    try {
      const results = slow.results();
      await slow.write(text(envelope()));
      const done = (await results.next()).value;
      expect(done).toMatchObject({ status: 201 });
      const url = `${own.url}/v1/tenants/beside/entity-states/batch`;
      expect(statuses(await sendBatch(url, { Authorization: `Bearer ${bob}` }, text(envelope())))).toEqual([201]);
      const line = Number(done?.line) + 1;
      expect((await results.next()).value).toMatchObject({ line, status: 408, error: { code: 'validation_error' } });
      expect((await results.next()).done).toBe(true);
      const ended = await own.metrics.getSingleMetricAsString('http_requests_ended_total');
      expect(ended).toMatch(/cause="slow_batch"[^}]*\} 1/);
      expect(ended).toMatch(/cause="slow_reader"[^}]*\} 0/);
    } finally {
      clearInterval(trickling);
      slow.destroy();
      await own.close();
    }
  });
});

describe('a whole batch', () => {
  const post = (user: User | null) => gateway.as(user, 'post', PATH);

  it.each(['application/json', 'text/plain', 'application/x-ndjson; charset=latin1'])(
    'is refused with the content type %s',
    async (type) => {
      const { body } = await post('zoe').type(type).send('{}\n').expect(415);
      expect(body.error.message).toMatch('application/x-ndjson');
    },
  );

  it('is refused with a Content-Encoding', async () => {
    await post('zoe').type('application/x-ndjson').set('Content-Encoding', 'gzip').send('{}\n').expect(415);
  });

  it('is refused with an Idempotency-Key', async () => {
    const { body } = await post('zoe')
      .set('Idempotency-Key', 'k')
      .type('application/x-ndjson')
      .send('{}\n')
      .expect(400);
    expect(body.error.details).toMatchObject([{ path: '/headers/idempotency-key' }]);
  });

  it('is refused without the required role before its body is read', async () => {
    const batch = openBatch(urlOf(gateway), headersOf('stranger'));
    expect((await batch.answered).statusCode).toBe(403);
    batch.destroy();
  });

  it('is refused with an unknown parameter', async () => {
    await gateway.as('zoe', 'post', `${PATH}?dry=1`).type('application/x-ndjson').send('\n').expect(400);
  });
});

it('a gateway that stops ends open batches after the results that it has sent', async () => {
  const own = await startGateway({ OIDC_PROJECT_ID: 'test' }, gateway);
  const token = await own.issuer.mint('zoe');
  const batch = openBatch(urlOf(own), { Authorization: `Bearer ${token}` });
  const results = batch.results();
  await batch.write(text(envelope()));
  expect((await results.next()).value).toMatchObject({ status: 201 });
  const closing = own.close();
  await expect(results.next()).rejects.toThrow();
  await closing;
});

it('each line counts as a request, and lines beyond the rate limit get 429', async () => {
  const own = await startGateway({ RATE_LIMIT_PER_MINUTE: '40' }, gateway);
  try {
    const client = new Client({ connectionString: gateway.databaseUrl });
    await client.connect();
    // The minute begins in five minutes, and nobody waits that long.
    await client.query(
      `INSERT INTO rate_limits VALUES ('oidc:test#zoe', date_trunc('minute', now()) + interval '5 minutes', 0)`,
    );
    await client.end();
    const token = await own.issuer.mint('zoe');
    const lines = text(...Array.from({ length: 60 }, () => envelope()));
    const results = await sendBatch(urlOf(own), { Authorization: `Bearer ${token}` }, lines);
    // The batch itself was the first of the forty requests.
    expect(statuses(results)).toEqual([...Array(39).fill(201), ...Array(21).fill(429)]);
    expect(results.at(-1)).toMatchObject({ error: { code: 'rate_limited' }, retry_after: expect.any(Number) });
  } finally {
    await own.close();
  }
});
