import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { type Operation, PRESENTATIONS, WALLET } from '@iss/contract';
import { request as send } from 'undici';
import { TEST_VRF_SECRET } from '../../../tools/testing/vrf-key';
import { envelope, startGateway, type TestGateway } from './gateway';
import { publishLog } from './publish-log';

let gateway: TestGateway;
let token: string;

const SUBJECT_ID = 'Zürich Öl/1 %';
const SUBJECT = `/v1/tenants/acme/subjects/organization/${encodeURIComponent(SUBJECT_ID)}`;
const first = envelope({ subject: { subject_type: 'organization', subject_id: SUBJECT_ID } });

beforeAll(async () => {
  gateway = await startGateway({ RATE_LIMIT_PER_MINUTE: '100000', LOG_VRF_KEY: TEST_VRF_SECRET });
  token = await gateway.issuer.mint('alice');
  await gateway.as('alice', 'post', '/v1/tenants').send({ tenant_id: 'acme', name: 'Acme' }).expect(201);
  await gateway.as('alice', 'post', '/v1/tenants/acme/entity-states').send(first).expect(201);
  await publishLog(gateway.databaseUrl, TEST_VRF_SECRET);
});

afterAll(() => gateway?.close());

interface Sent {
  method: 'GET' | 'POST';
  path: string;
  headers?: Record<string, string>;
  body?: unknown;
}

interface Answer {
  status: number;
  headers: Record<string, unknown>;
  body: unknown;
}

/** Headers that differ in every answer. */
const OWN = ['date', 'ratelimit-remaining', 'ratelimit-reset', 'content-length', 'etag'];

/** Values that differ between two writes of the same kind: ids, hashes and times. */
const VARYING = /[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{64}|\d{4}-\d\d-\d\dT[\d:.]+Z/g;

async function answerTo({ method, path, headers = {}, body }: Sent): Promise<Answer> {
  const answer = await send(`${gateway.url}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      'x-request-id': 'the-same',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await answer.body.text();
  const kept = Object.entries(answer.headers).filter(([name]) => !OWN.includes(name));
  return { status: answer.statusCode, headers: Object.fromEntries(kept), body: text.replace(VARYING, '…') };
}

/** Express serves a request with an empty query, with the same result. */
async function bothWays(make: () => Sent | Promise<Sent>): Promise<{ hot: Answer; ordinary: Answer }> {
  const hot = await answerTo(await make());
  const sent = await make();
  return { hot, ordinary: await answerTo({ ...sent, path: `${sent.path}?` }) };
}

const newSubject = async (): Promise<string> => {
  const subjectId = `subject-${randomUUID()}`;
  const body = envelope({ subject: { subject_type: 'organization', subject_id: subjectId } });
  await gateway.as('alice', 'post', '/v1/tenants/acme/entity-states').send(body).expect(201);
  return subjectId;
};
const OPS = [{ op: 'add', path: '/attributes/x', value: 1 }];
const proposal = (subjectId: string) => ({ subject_id: subjectId, base_snapshot_version: 1, patch_ops: OPS });
/** The form of the other path family, which also names the base by id. */
async function proposalOfTenant(): Promise<object> {
  const subjectId = await newSubject();
  const path = `/v1/tenants/acme/subjects/organization/${subjectId}/snapshots/latest`;
  const { body } = await gateway.as('alice', 'get', path).expect(200);
  return { ...proposal(subjectId), subject_type: 'organization', base_snapshot_id: body.snapshot_id };
}

const updatesOf = (subjectId: string): string => `/v1/tenants/acme/subjects/organization/${subjectId}/updates`;

async function proposed(): Promise<{ subjectId: string; updateId: string }> {
  const subjectId = await newSubject();
  const answer = await gateway.as('alice', 'post', updatesOf(subjectId)).send(proposal(subjectId)).expect(201);
  return { subjectId, updateId: answer.body.update_id };
}

const get = (path: string, headers?: Record<string, string>): (() => Sent) => {
  return () => ({ method: 'GET', path, ...(headers === undefined ? {} : { headers }) });
};
const post = (path: string, body: unknown, headers?: Record<string, string>): (() => Sent) => {
  return () => ({ method: 'POST', path, body, ...(headers === undefined ? {} : { headers }) });
};

const TENANT = '/v1/tenants/:tenant_id';
const OF_SUBJECT = `${TENANT}/subjects/:subject_type/:subject_id`;

/** A successful request to each hot route. */
const SUCCESSES: Readonly<Record<string, [number, () => Sent | Promise<Sent>]>> = {
  [`GET ${OF_SUBJECT}/snapshots/latest`]: [200, get(`${SUBJECT}/snapshots/latest`)],
  [`GET ${OF_SUBJECT}/snapshots/:snapshot_version`]: [200, get(`${SUBJECT}/snapshots/1`)],
  [`GET ${OF_SUBJECT}/latest-proof`]: [200, get(`${SUBJECT}/latest-proof`)],
  [`GET ${TENANT}/snapshots/:snapshot_id`]: [200, get(`/v1/tenants/acme/snapshots/${String(first['snapshot_id'])}`)],
  [`GET ${TENANT}/snapshots/:snapshot_id/log-proof`]: [
    200,
    get(`/v1/tenants/acme/snapshots/${String(first['snapshot_id'])}/log-proof`),
  ],
  'GET /v1/snapshots/:snapshot_id/log-proof': [200, get(`/v1/snapshots/${String(first['snapshot_id'])}/log-proof`)],
  'GET /log/checkpoint': [200, get('/log/checkpoint')],
  'GET /log/tile/*path': [200, get('/log/tile/0/000.p/1')],
  [`POST ${TENANT}/entity-states`]: [201, () => post('/v1/tenants/acme/entity-states', envelope())()],
  [`POST ${OF_SUBJECT}/updates`]: [
    201,
    async () => {
      const subjectId = await newSubject();
      return { method: 'POST', path: updatesOf(subjectId), body: proposal(subjectId) };
    },
  ],
  [`POST ${TENANT}/entity-state-updates`]: [
    201,
    async () => ({
      method: 'POST',
      path: '/v1/tenants/acme/entity-state-updates',
      body: await proposalOfTenant(),
    }),
  ],
  [`POST ${OF_SUBJECT}/updates/:update_id/apply`]: [
    200,
    async () => {
      const { subjectId, updateId } = await proposed();
      return { method: 'POST', path: `${updatesOf(subjectId)}/${updateId}/apply` };
    },
  ],
  [`POST ${TENANT}/entity-state-updates/:update_id/apply`]: [
    201,
    async () => ({
      method: 'POST',
      path: `/v1/tenants/acme/entity-state-updates/${(await proposed()).updateId}/apply`,
    }),
  ],
};

const normal = (answer: Answer): Answer => ({
  ...answer,
  body: String(answer.body).replaceAll(/subject-…|"subject_id":"[^"]*"/g, ''),
});

it('SUCCESSES contains every hot route', () => {
  expect(Object.keys(SUCCESSES).sort()).toEqual([...gateway.hotRoutes].sort());
});

it.each<[string, number, () => Sent | Promise<Sent>]>([
  ...Object.entries(SUCCESSES).map(([route, [status, make]]): [string, number, typeof make] => [route, status, make]),
  ['an unknown version', 404, get(`${SUBJECT}/snapshots/7`)],
  ['a malformed version', 400, get(`${SUBJECT}/snapshots/01`)],
  ['a malformed id', 400, get('/v1/tenants/acme/snapshots/7')],
  ['a malformed tenant', 400, get(`/v1/tenants/-/snapshots/${randomUUID()}`)],
  ['a malformed type', 400, get('/v1/tenants/acme/subjects/person/1/snapshots/latest')],
  ['a path that cannot be decoded', 400, get('/v1/tenants/acme/subjects/organization/%ff/snapshots/latest')],
  ['a proof as a file', 200, get(`/v1/snapshots/${String(first['snapshot_id'])}/log-proof`, { accept: 'text/plain' })],
  ['a proof of an unknown snapshot', 404, get(`/v1/snapshots/${randomUUID()}/log-proof`)],
  ['a tile beyond the log', 404, get('/log/tile/0/x001/000')],
  ['an invalid path of a tile', 404, get('/log/tile/0/000/000/0')],
  ['an empty path of a tile', 404, get('/log/tile/')],
  ['a tile that cannot be decoded', 400, get('/log/tile/%ff')],
  ['entries', 404, get('/log/tile/entries/000')],
  ['another tenant', 403, get(`/v1/tenants/beta/snapshots/${randomUUID()}`)],
  ['no token', 401, get(`${SUBJECT}/snapshots/latest`, { authorization: '' })],
  ['a bad token', 401, get(`${SUBJECT}/snapshots/latest`, { authorization: 'Bearer x.y.z' })],
  ['an invalid snapshot', 400, post('/v1/tenants/acme/entity-states', {})],
  ['a body that is not JSON', 400, post('/v1/tenants/acme/entity-states', '{"a":1,"a":2}')],
  ['another content type', 415, post('/v1/tenants/acme/entity-states', 'a=1', { 'content-type': 'text/plain' })],
  ['a subject that exists', 409, post('/v1/tenants/acme/entity-states', first)],
  ['a proposal with an unknown field', 400, post(updatesOf('x'), { nonsense: 1 })],
  [
    'an unknown update',
    404,
    () => ({ method: 'POST', path: `/v1/tenants/acme/entity-state-updates/${randomUUID()}/apply` }),
  ],
])('%s (%i) gets the same answer from the hot lane and from Express', async (_, status, make) => {
  const { hot, ordinary } = await bothWays(make);
  expect(hot.status).toBe(status);
  expect(normal(hot)).toEqual(normal(ordinary));
});

/** For each path parameter, a well-formed but unknown value, and a malformed one. */
const PARAMETERS: Readonly<Record<string, { unknown: string; malformed: string }>> = {
  tenant_id: { unknown: 'beta', malformed: '-' },
  subject_type: { unknown: 'organization', malformed: 'person' },
  subject_id: { unknown: 'nobody', malformed: '%01' },
  snapshot_version: { unknown: '7', malformed: '01' },
  snapshot_id: { unknown: randomUUID(), malformed: '7' },
  update_id: { unknown: randomUUID(), malformed: '7' },
};

/** Mistakes that a request to any route can have. */
function faultsOf(route: string): Sent[] {
  const [method, written = ''] = route.split(' ');
  const pattern = written.replace('*path', 'x');
  const names = [...pattern.matchAll(/:(\w+)/g)].map(([, name = '']) => name);
  const path = (change: Record<string, string> = {}): string =>
    pattern.replaceAll(
      /:(\w+)/g,
      (_, name: string) => change[name] ?? PARAMETERS[name]?.unknown ?? `no value of ${name}`,
    );
  const mine = path({ tenant_id: 'acme' });
  const malformed = Object.fromEntries(names.map((name) => [name, PARAMETERS[name]?.malformed ?? '']));
  const paths = [
    ...[path(), mine, path(malformed), `${mine}/`, mine.toUpperCase()],
    ...names.map((name) => path({ tenant_id: 'acme', [name]: PARAMETERS[name]?.malformed ?? '' })),
    ...names.map((name) => path({ tenant_id: 'acme', [name]: '%ff' })),
    ...names.map((name) => path({ tenant_id: 'acme', [name]: '' })),
  ];
  if (method === 'GET') {
    const all = paths.map((one) => get(one)());
    return [...all, ...['', 'Bearer x.y.z'].map((authorization) => get(mine, { authorization })())];
  }
  const bodies = [{}, { nonsense: 1 }, [], '{"a":1,"a":2}', '{', ''];
  return [
    ...paths.flatMap((one) => [post(one, {})(), post(one, '{')()]),
    ...bodies.map((body) => post(mine, body)()),
    ...['', 'Bearer x.y.z'].map((authorization) => post(mine, '{', { authorization })()),
    post(mine, '{', { 'content-type': 'text/plain' })(),
    post(mine, '{}', { 'content-encoding': 'gzip' })(),
  ];
}

it('the hot lane and Express refuse each invalid request to a hot route with the same answer', async () => {
  for (const route of gateway.hotRoutes) {
    for (const sent of faultsOf(route)) {
      const { hot, ordinary } = await bothWays(() => sent);
      expect({ sent, answer: hot }).toEqual({ sent, answer: ordinary });
      // A public route without input cannot be called wrongly.
      if (/[:*]/.test(route)) expect(hot.status).toBeGreaterThanOrEqual(400);
    }
  }
});

it('the hot lane and Express return 304 for a matching ETag', async () => {
  const path = `${SUBJECT}/snapshots/1`;
  const { headers } = await send(`${gateway.url}${path}`, { headers: { authorization: `Bearer ${token}` } });
  const { hot, ordinary } = await bothWays(get(path, { 'if-none-match': String(headers['etag']) }));
  expect(hot.status).toBe(304);
  expect(hot).toEqual(ordinary);
});

it('a request with an Idempotency-Key is served by Express, which replays it', async () => {
  const body = envelope();
  const headers = { 'idempotency-key': 'once' };
  const make = post('/v1/tenants/acme/entity-states', body, headers);
  expect((await answerTo(make())).status).toBe(201);
  const again = await answerTo(make());
  expect(again.status).toBe(201);
  expect(again.headers['idempotency-replayed']).toBe('true');
});

it.each([
  ['on the hot lane', ''],
  ['by Express', '?'],
])('a malformed request after pipelined reads is answered after them %s', async (_where, query) => {
  const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1');
  const read = `GET ${SUBJECT}/snapshots/latest${query} HTTP/1.1\r\nHost: gateway\r\nAuthorization: Bearer ${token}\r\n\r\n`;
  socket.write(`${read.repeat(5)}\u0000 no HTTP\r\n\r\n`);
  const text = Buffer.concat(await socket.toArray()).toString();
  const statuses = [...text.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => status);
  expect(statuses).toEqual(['200', '200', '200', '200', '200', '400']);
});

describe('scripts of other origins', () => {
  const APP = 'https://app.example.com';
  let open: TestGateway;

  beforeAll(async () => {
    open = await startGateway({ CORS_ORIGINS: `${APP}, http://localhost:5173` }, gateway);
  });
  afterAll(() => open?.close());

  const ofCors = (headers: Record<string, unknown>): Record<string, unknown> =>
    Object.fromEntries(Object.entries(headers).filter(([name]) => /^access-control|^vary$/.test(name)));
  const ask = (to: TestGateway, path: string, headers: Record<string, string>, method = 'GET') =>
    send(`${to.url}${path}`, { method, headers });
  const preflight = { 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization' };

  it.each([
    ['on the hot lane', `${SUBJECT}/snapshots/latest`, 401],
    ['by Express', '/health', 200],
    ['for an unknown path', '/v1/nothing', 404],
  ])('may read answers if their origin is in CORS_ORIGINS: %s', async (_where, path, status) => {
    const named = await ask(open, path, { origin: APP });
    expect(named.statusCode).toBe(status);
    expect(ofCors(named.headers)).toEqual({
      vary: 'Origin',
      'access-control-allow-origin': APP,
      'access-control-expose-headers': expect.stringMatching(/ETag, Link, .*Retry-After, .*RateLimit-Remaining/),
    });
    for (const origin of ['https://evil.example', `${APP}.evil.example`, 'null']) {
      expect(ofCors((await ask(open, path, { origin })).headers)).toEqual({ vary: 'Origin' });
    }
    expect(ofCors((await ask(open, path, {})).headers)).toEqual({ vary: 'Origin' });
    expect(ofCors((await ask(gateway, path, { origin: APP })).headers)).toEqual({});
  });

  it('get all headers that other clients get', async () => {
    const issued = await open.issuer.mint('alice');
    const path = '/v1/tenants/acme/subjects/entity/none/snapshots/latest';
    const authorization = `Bearer ${issued}`;
    const { 'access-control-allow-origin': origin, ...others } = (await ask(open, path, { authorization, origin: APP }))
      .headers;
    expect(origin).toBe(APP);
    const plain = (await ask(open, path, { authorization })).headers;
    expect(Object.keys(others).filter((name) => !name.startsWith('access-control'))).toEqual(Object.keys(plain));
  });

  it('get a preflight answer if their origin is allowed', async () => {
    const told = await ask(open, '/v1/tenants', { origin: APP, ...preflight }, 'OPTIONS');
    expect(told.statusCode).toBe(204);
    expect(told.headers).toMatchObject({
      'access-control-allow-origin': APP,
      'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
      'access-control-allow-headers': expect.stringMatching(/Authorization, Content-Type, Idempotency-Key/),
      'access-control-max-age': '7200',
    });
    expect(told.headers).not.toHaveProperty('access-control-allow-credentials');
    for (const [to, origin] of [
      [open, 'https://evil.example'],
      [gateway, APP],
    ] as const) {
      const refused = await ask(to, '/v1/tenants', { origin, ...preflight }, 'OPTIONS');
      expect(refused.statusCode).toBe(405);
      expect(refused.headers).not.toHaveProperty('access-control-allow-origin');
    }
  });

  it.each(
    Object.values<Operation>({ ...WALLET, ...PRESENTATIONS }).map(
      ({ method, path }) => [method.toUpperCase(), path] as const,
    ),
  )('may call wallet routes from every origin: %s %s', async (method, path) => {
    const at = path.replace('{tenant_id}', 'acme').replace('{response_id}', 'r');
    const origin = 'https://wallet.example';
    const told = await ask(gateway, at, { origin, ...preflight }, 'OPTIONS');
    expect(told.statusCode).toBe(204);
    expect(ofCors(told.headers)).toEqual({
      'access-control-allow-origin': '*',
      'access-control-allow-methods': method,
      'access-control-allow-headers': 'Authorization, Content-Type, DPoP',
      'access-control-max-age': '7200',
    });
    for (const to of [gateway, open]) {
      expect((await ask(to, at, { origin }, method)).headers).toMatchObject({ 'access-control-allow-origin': '*' });
    }
  });
});

describe('a body sent in pieces', () => {
  /** Sends each piece after the previous one was sent, and returns the status of the answer. */
  const exchange = (pieces: readonly string[]): Promise<string> =>
    new Promise((resolve, reject) => {
      const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1', () => {
        const next = (at: number): void => {
          const piece = pieces[at];
          if (piece !== undefined) socket.write(piece, () => setImmediate(() => setImmediate(() => next(at + 1))));
        };
        next(0);
      });
      socket.setEncoding('utf8').on('error', reject);
      socket.on('data', (text) => {
        socket.destroy();
        resolve(String(text).slice('HTTP/1.1 '.length).slice(0, 3));
      });
    });
  const head = (query: string, length: string): string =>
    `POST /v1/tenants/acme/entity-states${query} HTTP/1.1\r\nHost: gateway\r\nAuthorization: Bearer ${token}\r\n` +
    `Content-Type: application/json\r\n${length}\r\n\r\n`;
  const sized = (body: string): string => `Content-Length: ${Buffer.byteLength(body)}`;
  const chunk = (text: string): string => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
  const chunked = (body: string): string[] => [body.slice(0, 100), body.slice(100, 300), body.slice(300)].map(chunk);

  const ways: [string, (body: string, query: string) => string[]][] = [
    ['together with its head', (body, query) => [head(query, sized(body)) + body]],
    ['after its head', (body, query) => [head(query, sized(body)), body]],
    ['in two parts', (body, query) => [head(query, sized(body)) + body.slice(0, 200), body.slice(200)]],
    ['in chunks, all at once', (body, query) => [
      `${head(query, 'Transfer-Encoding: chunked')}${chunked(body).join('')}0\r\n\r\n`,
    ]],
    ['in chunks, one by one', (body, query) => [
      head(query, 'Transfer-Encoding: chunked'), ...chunked(body), '0\r\n\r\n',
    ]],
  ]; // prettier-ignore

  describe.each([
    ['on the hot lane', ''],
    ['by Express', '?'],
  ])('%s', (_where, query) => {
    it.each(ways)('is read completely if it is sent %s', async (_way, piecesOf) => {
      const small = envelope({ subject: { subject_type: 'organization', subject_id: `s-${randomUUID()}` } });
      expect(await exchange(piecesOf(JSON.stringify(small), query))).toBe('201');
      const large = envelope({
        subject: { subject_type: 'organization', subject_id: `l-${randomUUID()}` },
        attributes: { legal: { legal_name: 'ü'.repeat(200_000) } },
      });
      expect(await exchange(piecesOf(JSON.stringify(large), query))).toBe('201');
      expect(await exchange(piecesOf(JSON.stringify({ text: 'x'.repeat(1_100_000) }), query))).toBe('413');
    });
  });
});
