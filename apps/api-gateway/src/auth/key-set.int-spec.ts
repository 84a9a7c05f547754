import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { Logger } from '@nestjs/common';
import type { AuthSettings } from './auth-settings';
import { KeySet } from './key-set';

const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const key = { ...publicKey.export({ format: 'jwk' }), kid: 'k1', use: 'sig' };
const answer =
  (body: object | string, { status = 200, type = 'application/json' } = {}): RequestListener =>
  (_request, response) =>
    void response
      .writeHead(status, { 'content-type': type })
      .end(typeof body === 'string' ? body : JSON.stringify(body));
const goodKeys = answer({ keys: [key] });

let server: Server;
let settings: AuthSettings;
let routes: Record<string, RequestListener>;
let asked: string[];
let offsetMs: number;
const discovery =
  (changes: object): RequestListener =>
  (request, response) =>
    answer({ issuer: settings.issuer, jwks_uri: `${settings.issuer}/jwks`, ...changes })(request, response);
const realNow = Date.now;
const discoveryPath = '/acme/.well-known/openid-configuration';
const jwksPath = '/acme/jwks';

const opened: KeySet[] = [];
/** Opens a key set, which the end of the test closes. */
function open(given: AuthSettings): KeySet {
  const keySet = new KeySet(given);
  opened.push(keySet);
  return keySet;
}

beforeEach(async () => {
  offsetMs = 0;
  jest.spyOn(Date, 'now').mockImplementation(() => realNow() + offsetMs);
  jest.spyOn(Logger.prototype, 'log').mockReturnValue();
  jest.spyOn(Logger.prototype, 'warn').mockReturnValue();
  asked = [];
  routes = { [discoveryPath]: discovery({}), [jwksPath]: goodKeys, '/elsewhere': goodKeys };
  server = createServer((request, response) => {
    const path = request.url ?? '';
    asked.push(path);
    const route = routes[path];
    if (route) route(request, response);
    else response.writeHead(404).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server listens on no port');
  settings = {
    mode: 'oidc',
    issuer: `http://127.0.0.1:${address.port}/acme`,
    projectId: 'acme',
    audience: 'acme',
    jwksUri: undefined,
    publicOrigin: undefined,
    principalTypeClaim: 'principal_type',
    globalReadsArePublic: false,
    legacyPathsArePublic: false,
    clockSkewSeconds: 60,
    maxTokenBytes: 8192,
  };
});

afterEach(async () => {
  for (const keySet of opened.splice(0)) keySet.onModuleDestroy();
  jest.restoreAllMocks();
  server.close();
  server.closeAllConnections();
  await once(server, 'close');
});

it('KeySet requests the keys when first needed, and once for concurrent callers', async () => {
  const keySet = open(settings);
  expect(asked).toEqual([]);
  const answers = await Promise.all([keySet.current(), keySet.current(), keySet.current()]);
  expect(answers[0]).toEqual([
    { keyId: 'k1', algorithms: expect.arrayContaining(['RS256']), publicKey: expect.any(String) },
  ]);
  expect(new Set(answers).size).toBe(1);
  expect(asked).toEqual([discoveryPath, jwksPath]);
});

it('KeySet requests no discovery document if jwksUri is set', async () => {
  const keySet = open({ ...settings, jwksUri: new URL('/elsewhere', settings.issuer).href });
  await keySet.current();
  expect(asked).toEqual(['/elsewhere']);
});

it.each<[string, object]>([
  ['for encryption', { use: 'enc' }],
  ['without the operation verify', { key_ops: ['sign', 'encrypt'] }],
  ['with key_ops that is not a list', { key_ops: 'verify' }],
  ['with an algorithm for encryption', { alg: 'RSA-OAEP' }],
  ['with an algorithm of another kind of key', { alg: 'ES256' }],
  ['with a symmetric algorithm', { alg: 'HS256' }],
  ['with an algorithm that is not a string', { alg: ['RS256'] }],
  ['with a key id that is not a string', { kid: ['k2'] }],
  ['with an empty key id', { kid: '' }],
  ['that is private', { ...privateKey.export({ format: 'jwk' }) }],
  ['that is broken', { n: '!' }],
  ['of an unknown kind', { kty: 'XYZ' }],
  ['that is symmetric', { kty: 'oct', k: 'c2VjcmV0' }],
])('KeySet ignores a key %s, and only that one', async (_name, members) => {
  routes[jwksPath] = answer({ keys: [{ ...key, kid: 'k2', ...members }, key, null, 'key'] });
  expect((await open(settings).current()).map(({ keyId }) => keyId)).toEqual(['k1']);
  routes[jwksPath] = answer({ keys: [{ ...key, kid: 'k2', key_ops: ['verify'], alg: 'PS256' }, key] });
  expect((await open(settings).current()).map(({ keyId }) => keyId)).toEqual(['k2', 'k1']);
});

it('KeySet returns the same object while the keys are the same, and another one otherwise', async () => {
  const keySet = open(settings);
  const before = await keySet.current();
  offsetMs += 11 * 60_000;
  expect(await keySet.current()).toBe(before);
  expect(asked).toHaveLength(4);
  routes[jwksPath] = answer({ keys: [{ ...key, kid: 'k2' }] });
  offsetMs += 11 * 60_000;
  const after = await keySet.current();
  expect(after).not.toBe(before);
  expect(after.map(({ keyId }) => keyId)).toEqual(['k2']);
});

it('KeySet refreshes the keys early, without delaying callers', async () => {
  const keySet = open(settings);
  const before = await keySet.current();
  let release: (() => void) | undefined;
  routes[jwksPath] = (request, response) => void (release = () => goodKeys(request, response));
  offsetMs += 6 * 60_000;
  expect(await keySet.current()).toBe(before);
  const deadline = realNow() + 5_000;
  while (!release && realNow() < deadline) await new Promise(setImmediate);
  expect(asked).toHaveLength(4);
  release?.();
});

const html = '<!doctype html><title>Sign in</title>';
it.each<[string, string, RequestListener]>([
  ['an error', jwksPath, answer({ keys: [key] }, { status: 500 })],
  ['HTML', jwksPath, answer(html, { type: 'text/html' })],
  ['HTML that claims to be JSON', jwksPath, answer(html)],
  ['keys that claim to be text', jwksPath, answer({ keys: [key] }, { type: 'text/plain' })],
  ['a response that is too large', jwksPath, answer({ keys: [key], x: 'x'.repeat(300_000) })],
  ['a redirect', jwksPath, (_request, response) => void response.writeHead(302, { location: '/elsewhere' }).end()],
  ['a duplicate member', jwksPath, answer(`{"keys":[],"keys":[${JSON.stringify(key)}]}`)],
  ['no keys', jwksPath, answer({ keys: [] })],
  ['keys that are not a list', jwksPath, answer({ keys: { length: 1, 0: key } })],
  ['keys for other purposes only', jwksPath, answer({ keys: [{ ...key, use: 'enc' }] })],
  ['a closed connection', jwksPath, (request) => void request.socket.destroy()],
  [
    'another issuer',
    discoveryPath,
    (request, response) => discovery({ issuer: `${settings.issuer}/` })(request, response),
  ],
  ['no jwks_uri', discoveryPath, discovery({ jwks_uri: undefined })],
  ['a jwks_uri of a file', discoveryPath, discovery({ jwks_uri: 'file:///etc/passwd' })],
  ['no discovery document', discoveryPath, answer({}, { status: 404 })],
])('KeySet is unavailable, and retries after two seconds, if the issuer returns %s', async (_name, path, listener) => {
  routes[path] = listener;
  const keySet = open(settings);
  await expect(keySet.current()).rejects.toMatchObject({ code: 'unavailable' });
  expect(asked).toContain(path);
  expect(asked).not.toContain('/elsewhere');
  const askedBefore = asked.length;
  await expect(keySet.current()).rejects.toMatchObject({ code: 'unavailable' });
  expect(asked).toHaveLength(askedBefore); // not again within two seconds
  Object.assign(routes, { [discoveryPath]: discovery({}), [jwksPath]: goodKeys });
  offsetMs += 2_000;
  expect(await keySet.current()).toHaveLength(1);
});

it.each(['headers', 'body'])('KeySet times out if the %s of the issuer’s response does not arrive', async (part) => {
  const timeout = AbortSignal.timeout.bind(AbortSignal);
  const asksFor = jest.spyOn(AbortSignal, 'timeout').mockImplementation(() => timeout(50));
  routes[jwksPath] = (_request, response) => {
    if (part === 'body') response.setHeader('content-type', 'application/json').write('{"keys":');
  };
  await expect(open(settings).current()).rejects.toMatchObject({ code: 'unavailable' });
  expect(asksFor).toHaveBeenCalledWith(5_000);
});

describe('KeySet with an unavailable issuer', () => {
  const isAway = answer({}, { status: 503 });

  it('is ok while its keys are fresh, even after a failed refresh', async () => {
    const keySet = open(settings);
    const before = await keySet.current();
    routes[jwksPath] = isAway;
    offsetMs += 60_000;
    expect(await keySet.afterRefresh()).toBe(before);
    expect(asked).toHaveLength(4);
    expect(await keySet.check()).toEqual({ status: 'ok' });
    keySet.onModuleDestroy();
  });

  it.each([
    ['has no key', { keys: [] }],
    ['has only keys for encryption', { keys: [{ ...key, use: 'enc' }] }],
  ])('is failed and explains it if the key set %s', async (_, set) => {
    const keySet = open(settings);
    routes[jwksPath] = answer(set);
    expect(await keySet.check()).toEqual({
      status: 'failed',
      detail: `no signing keys of ${settings.issuer}: the key set has no key that can verify an access token`,
    });
    keySet.onModuleDestroy();
  });

  it('is degraded while previous keys are trusted, and failed after an hour', async () => {
    const keySet = open(settings);
    await keySet.current();
    routes[jwksPath] = isAway;
    offsetMs += 6 * 60_000;
    await keySet.afterRefresh();
    expect(await keySet.check()).toMatchObject({ status: 'degraded' });
    offsetMs += 60 * 60_000;
    expect(await keySet.check()).toMatchObject({ status: 'failed' });
    keySet.onModuleDestroy();
  });

  it('does not delay requests that the previous keys can verify', async () => {
    const keySet = open(settings);
    const before = await keySet.current();
    routes[jwksPath] = isAway;
    offsetMs += 11 * 60_000;
    expect(await keySet.current()).toBe(before);
    let release: (() => void) | undefined;
    routes[jwksPath] = (request, response) => void (release = () => goodKeys(request, response));
    offsetMs += 10_000;
    let isAnswered = false;
    const answer = keySet.current().finally(() => (isAnswered = true));
    const deadline = realNow() + 5_000;
    while (!release && realNow() < deadline) await new Promise(setImmediate);
    expect(isAnswered).toBe(true);
    expect(await answer).toBe(before);
    release?.();
    await keySet.afterRefresh();
    keySet.onModuleDestroy();
  });

  it('retries by a timer within 20 seconds, without a request', async () => {
    const retries: { work: () => void; ms: number }[] = [];
    const realSetTimeout = setTimeout;
    jest.spyOn(global, 'setTimeout').mockImplementation((work, ms, ...rest) => {
      if (ms !== undefined && ms >= 10_000) retries.push({ work, ms });
      return realSetTimeout(work, ms, ...rest);
    });
    const keySet = open(settings);
    routes[jwksPath] = isAway;
    await expect(keySet.current()).rejects.toMatchObject({ code: 'unavailable' });
    expect(retries.map(({ ms }) => ms <= 20_000)).toEqual([true]);
    routes[jwksPath] = goodKeys;
    offsetMs += retries[0]?.ms ?? 0;
    const before = asked.length;
    retries[0]?.work();
    const deadline = realNow() + 5_000;
    while (asked.length < before + 2 && realNow() < deadline) await new Promise(setImmediate);
    expect(asked).toHaveLength(before + 2);
    expect(await keySet.current()).toHaveLength(1);
    keySet.onModuleDestroy();
  });
});
