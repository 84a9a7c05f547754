import { Client } from 'pg';
import { startGateway, type TestGateway, type User } from './gateway';

jest.setTimeout(60_000);

const LIMIT = 40;

let gateways: TestGateway[];

beforeAll(async () => {
  const first = await startGateway({ RATE_LIMIT_PER_MINUTE: String(LIMIT) });
  gateways = [first, await startGateway({ RATE_LIMIT_PER_MINUTE: String(LIMIT) }, first)];
  // A minute that begins in five, so that it does not end while a test runs.
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

it('is one for all gateways, and each principal’s own', async () => {
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

it('stands on every answer, counted down', async () => {
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

it('costs a statement for many requests, and none once it is reached', async () => {
  const [first] = gateways;
  if (first === undefined) throw new Error('no gateway');
  first.sent.length = 0;
  for (let count = 0; count < 10; count += 1) await get(first, 'alice').expect(429);
  expect(first.sent).toEqual([]);
  const gateway = await startGateway({ RATE_LIMIT_PER_MINUTE: '6000' });
  gateway.sent.length = 0;
  for (let count = 0; count < 100; count += 1) await get(gateway, 'alice').expect(403);
  // Two, should a minute end meanwhile.
  expect(gateway.sent.filter((name) => name === 'rate_limit_reserve').length).toBeLessThanOrEqual(2);
  await gateway.close();
});

it('is off in local', async () => {
  const gateway = await startGateway();
  const { headers } = await get(gateway, 'alice').expect(403);
  expect(Object.keys(headers).filter((name) => name.startsWith('ratelimit'))).toEqual([]);
  expect(gateway.sent).not.toContain('rate_limit_reserve');
  await gateway.close();
});

it('is documented for every operation that takes a token, and only there', async () => {
  const [first] = gateways;
  const { body } = await get(first, null, '/openapi.json').expect(200);
  expect(body.paths['/v1/tenants'].post.responses).toHaveProperty('429');
  expect(body.components.responses.rate_limited.headers).toHaveProperty('Retry-After');
  expect(body.paths['/health'].get.responses).not.toHaveProperty('429');
});
