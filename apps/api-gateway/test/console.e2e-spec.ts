import request from 'supertest';
import { startGateway, type TestGateway } from './gateway';

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startGateway({ CONSOLE_OIDC_CLIENT_ID: 'people', CONSOLE_OIDC_SCOPE: 'openid offline_access' });
});
afterAll(() => gateway?.close());

const get = (path: string, encoding = 'identity'): request.Test =>
  request(gateway.url).get(path).set('Accept-Encoding', encoding).buffer(true);

it('every address of a view returns the page, uncached, with a policy that forbids inline scripts', async () => {
  const addresses = [
    '/console',
    '/console/',
    '/console/t/acme/subjects/organization/a%2Fb?version=3',
    '/console/verify',
  ];
  const pages = await Promise.all(addresses.map((address) => get(address).expect(200)));
  for (const { headers, text } of pages) {
    expect(headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'public, max-age=0',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin-allow-popups',
      'x-request-id': expect.any(String),
      vary: 'Accept-Encoding',
    });
    const policy = String(headers['content-security-policy']);
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("require-trusted-types-for 'script'");
    expect(policy).toContain(`connect-src 'self' ${new URL(gateway.issuer.oidcIssuer).origin};`);
    expect(policy).not.toMatch(/unsafe|\*|data:/);
    expect(text).toBe(pages[0]?.text);
    expect(text).not.toMatch(/<script(?![^>]*src=)|<style|style=|https?:/);
  }
});

it('the verify page preloads the log keys and its files through Link headers', async () => {
  const { headers } = await get('/console/verify').expect(200);
  const [keys, ...files] = String(headers['link']).split(', ');
  expect(keys).toBe('</log/keys>; rel=preload; as=fetch; crossorigin');
  expect(files[0]).toMatch(/^<\/console\/assets\/verify-view-[\w-]+\.js>; rel=modulepreload$/);
  expect(files.filter((file) => file.endsWith('; rel=preload; as=style'))).not.toEqual([]);
  for (const file of files) await get(/^<(\S+)>/.exec(file)?.[1] ?? '').expect(200);
  expect((await get('/console/t/acme')).headers['link']).toBeUndefined();
});

it('files with hashed names are cached for ever and sent as the build compressed them', async () => {
  const { text } = await get('/console');
  const names = [...text.matchAll(/"(\/console\/assets\/[^"]+)"/g)].map(([, name]) => name ?? '');
  expect(names.length).toBeGreaterThan(2);
  for (const name of names) {
    const whole = await get(name).expect(200);
    expect(whole.headers['cache-control']).toBe('public, max-age=31536000, immutable');
    const content = Buffer.isBuffer(whole.body) ? whole.body : Buffer.from(whole.text);
    for (const encoding of ['br', 'gzip']) {
      const answer = await fetch(gateway.url + name, { headers: { 'Accept-Encoding': encoding } });
      expect(answer.headers.get('content-encoding')).toBe(encoding);
      // `fetch` has decompressed the body. Its transferred length is that of the file.
      expect(Buffer.from(await answer.arrayBuffer()).equals(content)).toBe(true);
      expect(Number(answer.headers.get('content-length'))).toBeLessThan(content.length);
    }
  }
});

it('settings.json returns the client of the sign-in, and no secrets', async () => {
  const { body, headers } = await get('/console/settings.json').expect(200);
  const issuer = `${gateway.issuer.oidcIssuer}/${gateway.issuer.projectId}`;
  const { projectId } = gateway.issuer;
  expect(body).toEqual({
    ...{ auth: 'oidc', issuer, project_id: projectId },
    ...{ client_id: 'people', scope: 'openid offline_access' },
  });
  expect(headers['cache-control']).toBe('no-store');
});

it.each([
  ['/console/assets/none.js', 404],
  ['/console/assets/..%2Findex.html', 404],
  ['/console/assets/../../../../package.json', 404],
  ['/console/assets/%2e%2e/%2e%2e/package.json', 404],
  ['/console/assets/', 404],
  ['/consoles', 404],
])('%s returns %i', async (path, status) => {
  const { body } = await request(gateway.url).get(path).expect(status);
  expect(body).toMatchObject({ error: { code: 'not_found', request_id: expect.any(String) } });
});

it('POST /console is refused, and HEAD returns no body', async () => {
  await request(gateway.url).post('/console').expect(404);
  const head = await request(gateway.url).head('/console').set('Accept-Encoding', 'identity').expect(200);
  expect(Number(head.headers['content-length'])).toBe((await get('/console')).text.length);
});

it('the sign-in window can reach the page that opened it', async () => {
  const { headers } = await get('/console/signed-in?state=x').expect(200);
  expect(headers['cross-origin-opener-policy']).toBe('unsafe-none');
});

it('an address has a separate rate limit for the console, 100 times that of the API', async () => {
  const bounded = await startGateway({ RATE_LIMIT_PER_MINUTE_ANONYMOUS: '1' }, gateway);
  try {
    const statuses: number[] = [];
    for (let asked = 0; asked <= 100; asked += 1)
      statuses.push((await request(bounded.url).get('/console/settings.json')).status);
    // If a minute ends in between, the address may send another hundred requests.
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(100);
    expect([200, 429]).toContain(statuses.at(-1));
    await request(bounded.url).get('/v1/meta').expect(200);
    const { headers } = await request(bounded.url).get('/console');
    expect(headers['ratelimit-limit']).toBe('100');
  } finally {
    await bounded.close();
  }
});

it('CONSOLE=off disables the console and keeps the docs', async () => {
  const without = await startGateway({ CONSOLE: 'off' }, gateway);
  try {
    for (const path of ['/console', '/console/settings.json']) await request(without.url).get(path).expect(404);
    await request(without.url).get('/docs').expect(200);
  } finally {
    await without.close();
  }
});
