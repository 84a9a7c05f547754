import { Client } from 'pg';
import { startGateway, type TestGateway, type User } from './gateway';
import { publishLog } from './publish-log';
import { pathOf, ReadWorld } from './read-world';

const LIMIT = 40;

let gateways: TestGateway[];

beforeAll(async () => {
  const first = await startGateway({ RATE_LIMIT_PER_MINUTE: String(LIMIT) });
  gateways = [first, await startGateway({ RATE_LIMIT_PER_MINUTE: String(LIMIT) }, first)];
  // The minute begins in five minutes, so that it does not end while a test runs.
  const database = new Client({ connectionString: first.databaseUrl });
  await database.connect();
  for (const name of ['alice', 'bob', 'zoe']) {
    await database.query(`INSERT INTO rate_limits VALUES ($1, date_trunc('minute', now()) + interval '5 minutes', 0)`, [
      `oidc:test#${name}`,
    ]);
  }
  await database.end();
});

afterAll(async () => {
  for (const gateway of [...gateways].reverse()) await gateway.close();
});

const get = (gateway: TestGateway | undefined, user: User | null, path = '/v1/tenants/none/principals') => {
  if (gateway === undefined) throw new Error('no such gateway');
  return gateway.as(user, 'get', path);
};

it('the rate limit is per principal, and shared by all gateways', async () => {
  const [first, second] = gateways;
  const answers = await Promise.all(
    Array.from({ length: 100 }, async (_, index) => get(index % 2 === 0 ? first : second, 'alice')),
  );
  expect(answers.filter(({ status }) => status === 403)).toHaveLength(LIMIT);
  const refused = answers.filter(({ status }) => status === 429);
  expect(refused).toHaveLength(100 - LIMIT);
  for (const { headers, body } of refused) {
    expect(body.error).toMatchObject({ code: 'rate_limited', request_id: headers['x-request-id'] });
    expect(headers).toMatchObject({
      'ratelimit-limit': String(LIMIT),
      'ratelimit-remaining': '0',
      'ratelimit-policy': `${LIMIT};w=60`,
      'retry-after': headers['ratelimit-reset'],
    });
    expect(Number(headers['retry-after'])).toBeGreaterThan(0);
    expect(Number(headers['retry-after'])).toBeLessThanOrEqual(360);
  }
  await get(first, 'bob').expect(403);
  await get(first, 'alice').expect(429);
  await get(first, 'alice', '/health').expect(200);
  await get(first, null).expect(401);
});

it('every response has rate limit headers, which count down', async () => {
  const [first] = gateways;
  const remaining: number[] = [];
  for (let count = 0; count < 5; count += 1) {
    const { headers } = await get(first, 'zoe').expect(403);
    remaining.push(Number(headers['ratelimit-remaining']));
    expect(headers['ratelimit-limit']).toBe(String(LIMIT));
    expect(headers).not.toHaveProperty('retry-after');
  }
  expect(remaining).toEqual([39, 38, 37, 36, 35]);
});

it('the rate limit is off in local', async () => {
  const gateway = await startGateway();
  const { headers } = await get(gateway, 'alice').expect(403);
  expect(Object.keys(headers).filter((name) => name.startsWith('ratelimit'))).toEqual([]);
  await gateway.close();
});

it('openapi.json has 429 for an operation, but not for a probe', async () => {
  const [first] = gateways;
  const { body } = await get(first, null, '/openapi.json').expect(200);
  expect(body.paths['/v1/tenants'].post.responses).toHaveProperty('429');
  expect(body.components.responses.rate_limited.headers).toHaveProperty('Retry-After');
  expect(body.paths['/health'].get.responses).not.toHaveProperty('429');
});

describe('requests without a valid token', () => {
  let gateway: TestGateway;

  beforeAll(async () => {
    gateway = await startGateway({ RATE_LIMIT_PER_MINUTE_ANONYMOUS: '6', TRUSTED_PROXIES: '127.0.0.0/8' });
  });

  afterAll(() => gateway?.close());

  /** Sends a request of a caller at this address, through a proxy on this machine. */
  const from = (address: string, path: string, token: string | null = null) =>
    gateway.withToken(token, 'get', path).set('X-Forwarded-For', address);

  it.each<[string, string, string | null, number]>([
    ['an open route', '/v1/meta', null, 200],
    ['a route that requires a token', '/v1/tenants/none/subjects/organization/x/snapshots/latest', null, 401],
    ['a refused token', '/v1/tenants', 'none.of.ours', 401],
    ['an unknown route', '/v1/none-such-route', null, 404],
    ['a page of the documentation', '/docs/errors', null, 200],
    ['the OpenAPI document', '/openapi.json', null, 200],
  ])('are limited per address: %s', async (_, path, token, status) => {
    const address = `198.51.100.${path.length}`;
    for (let count = 1; count <= 6; count += 1) {
      const { headers } = await from(address, path, token).expect(status);
      expect(headers).toMatchObject({ 'ratelimit-limit': '6', 'ratelimit-remaining': String(6 - count) });
    }
    const { body, headers } = await from(address, path, token).expect(429);
    expect(body.error).toMatchObject({ code: 'rate_limited' });
    expect(body.error.message).toContain('from this address without a valid token');
    expect(headers).toMatchObject({ 'ratelimit-remaining': '0', 'retry-after': headers['ratelimit-reset'] });
    expect(headers).not.toHaveProperty('www-authenticate');
    await from('198.51.100.250', path, token).expect(status);
  });

  it('do not limit probes, or callers with a token, at the same address', async () => {
    const address = '198.51.100.200';
    for (let count = 0; count < 7; count += 1) await from(address, '/v1/tenants');
    await from(address, '/v1/tenants').expect(429);
    for (let count = 0; count < 8; count += 1) {
      await from(address, '/v1/tenants', await gateway.issuer.mint('alice')).expect(200);
      await from(address, '/health').expect(200);
      await from(address, '/v1/ops/readiness').expect(200);
    }
  });
});

it('an operator can set the rate limit of one principal', async () => {
  const gateway = await startGateway({ RATE_LIMIT_PER_MINUTE: '100' });
  const database = new Client({ connectionString: gateway.databaseUrl });
  await database.connect();
  try {
    await database.query(`INSERT INTO limit_overrides VALUES ('principal', 'oidc:test#bob', 'requests_per_minute', 2)`);
    await database.query(
      `INSERT INTO rate_limits VALUES ('oidc:test#bob', date_trunc('minute', now()) + interval '5 minutes', 0)`,
    );
    for (const left of ['1', '0']) {
      const { headers } = await get(gateway, 'bob').expect(403);
      expect(headers).toMatchObject({
        'ratelimit-limit': '2',
        'ratelimit-remaining': left,
        'ratelimit-policy': '2;w=60',
      });
    }
    await get(gateway, 'bob').expect(429);
    expect((await get(gateway, 'alice').expect(403)).headers['ratelimit-limit']).toBe('100');
  } finally {
    await database.end();
    await gateway.close();
  }
});

it('a lineage is charged for the processor time that it takes while it is sent', async () => {
  const world = await ReadWorld.open({ RATE_LIMIT_PER_MINUTE: '100000' });
  const database = new Client({ connectionString: world.gateway.databaseUrl });
  await database.connect();
  try {
    const [large, long] = [await world.lineage(20, 1_000_000), await world.lineage(1_000)];
    await publishLog(world.gateway.databaseUrl);
    await database.query(`DELETE FROM rate_limits`);
    await database.query(
      `INSERT INTO rate_limits VALUES ('oidc:test#reader', date_trunc('minute', now()) + interval '5 minutes', 0)`,
    );
    const left = async (): Promise<number> =>
      Number((await get(world.gateway, 'reader').expect(403)).headers['ratelimit-remaining']);
    for (const [subject, read] of [
      [large, 'export.ndjson'],
      [long, 'export?proofs=log'],
    ] as const) {
      const before = await left();
      const path = `${pathOf('/v1/tenants/acme', subject)}/${read}`;
      await get(world.gateway, 'reader', path).set('Accept', 'application/x-ndjson, application/json').expect(200);
      // On any machine, it takes more than three milliseconds to hash 20 MB or to write a thousand proofs.
      expect(before - (await left())).toBeGreaterThan(2 + 2);
    }
  } finally {
    await database.end();
    await world.close();
  }
});
