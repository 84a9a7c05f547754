import { createHmac, generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import { once } from 'node:events';
import { createServer, request as httpRequest, type Server } from 'node:http';
import { DomainError } from '@iss/domain';
import { ClaimedTypeStore } from '@iss/persistence';
import { createLogger, LOGGER } from '@iss/platform';
import { Catch, Controller, Get, Global, Module, type ArgumentsHost, type INestApplication } from '@nestjs/common';
import { APP_GUARD, NestFactory } from '@nestjs/core';
import type { Response } from 'express';
import { CompactEncrypt, SignJWT } from 'jose';
import request from 'supertest';
import { AuthGuard } from './auth.guard';
import { AuthModule } from './auth.module';
import type { AuthSettings } from './auth-settings';
import { CurrentPrincipal } from './current-principal.decorator';
import type { Principal } from './principal';
import { Public } from './public.decorator';

@Controller()
class ProtectedController {
  @Get('who')
  who(@CurrentPrincipal() principal: Principal): Principal {
    return principal;
  }
}

@Controller()
class PublicController {
  @Public()
  @Get('open')
  open(): object {
    return { open: true };
  }

  @Get('closed')
  closed(): object {
    return {};
  }
}

@Catch(DomainError)
class ErrorFilter {
  catch(error: DomainError, host: ArgumentsHost): void {
    const status = { unauthorized: 401, unavailable: 503 }[String(error.code)] ?? 500;
    host.switchToHttp().getResponse<Response>().status(status).json({ code: error.code, message: error.message });
  }
}

/** An issuer on loopback. Its keys can be replaced at any time. It counts how often they are requested. */
class TestIssuer {
  keys: object[] = [];
  jwksRequests = 0;
  private server: Server | undefined;
  private port = 0;
  private isDown = false;

  get iss(): string {
    return `http://127.0.0.1:${this.port}/acme`;
  }

  async start(): Promise<void> {
    const server = createServer((incoming, response) => {
      const isDiscovery = incoming.url === '/acme/.well-known/openid-configuration';
      if (!isDiscovery) this.jwksRequests += 1;
      const answer = isDiscovery ? { issuer: this.iss, jwks_uri: `${this.iss}/jwks` } : { keys: this.keys };
      response.setHeader('content-type', 'application/json; charset=utf-8').end(JSON.stringify(answer));
    }).listen(0, '127.0.0.1');
    this.server = server;
    server.on('connection', (socket) => {
      if (this.isDown) socket.destroy();
    });
    await once(server, 'listening');
    this.port = portOf(server);
  }

  /** Stops answering but keeps its port, because another process could take a free port. */
  goDown(): void {
    this.isDown = true;
    this.server?.closeAllConnections();
  }

  comeBack(): void {
    this.isDown = false;
  }

  async stop(): Promise<void> {
    if (!this.server?.listening) return;
    this.server.close();
    this.server.closeAllConnections();
    await once(this.server, 'close');
  }
}

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server listens on no port');
  return address.port;
}

const rsaPair = (modulusLength = 2048) => generateKeyPairSync('rsa', { modulusLength });
const [first, second, small] = [rsaPair(), rsaPair(), rsaPair(1024)];
const ecPair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const jwk = (key: KeyObject, members: object): object => ({ ...key.export({ format: 'jwk' }), ...members });
const firstJwk = jwk(first.publicKey, { kid: 'k1', use: 'sig', alg: 'RS256' });
const firstPem = first.publicKey.export({ format: 'pem', type: 'spki' });

const MINUTE_MS = 60_000;
/** Only {@link advance} moves the clock, so that no token expires because the machine is busy. */
const FROZEN_MS = Date.parse('2026-01-15T09:30:00Z');
let offsetMs = 0;
const advance = (ms: number): void => void (offsetMs += ms);
const nowSeconds = (): number => Math.floor(Date.now() / 1000);

let issuer: TestIssuer;
let app: INestApplication;

/** The claims that were to be remembered, in order. */
const remembered: [principalId: string, claimedType: string][] = [];
let isStoreBroken = false;
const claimedTypes = {
  remember: async (...claim: [string, string]): Promise<void> => {
    if (isStoreBroken) throw new Error('no database');
    remembered.push(claim);
  },
};

@Global()
@Module({
  providers: [
    { provide: ClaimedTypeStore, useValue: claimedTypes },
    { provide: LOGGER, useValue: createLogger({ name: 'test-auth', level: 'silent' }) },
  ],
  exports: [ClaimedTypeStore, LOGGER],
})
class ResourcesModule {}

async function startApp(changes: Partial<AuthSettings> = {}): Promise<INestApplication> {
  const settings: AuthSettings = {
    mode: 'oidc',
    issuer: issuer.iss,
    projectId: 'acme',
    audience: 'iss-api',
    jwksUri: undefined,
    publicOrigin: undefined,
    principalTypeClaim: 'principal_type',
    globalReadsArePublic: false,
    legacyPathsArePublic: false,
    clockSkewSeconds: 60,
    maxTokenBytes: 8192,
    ...changes,
  };
  @Module({
    imports: [ResourcesModule, AuthModule.forRoot(settings)],
    controllers: [ProtectedController, PublicController],
    providers: [{ provide: APP_GUARD, useExisting: AuthGuard }],
  })
  class TestModule {}
  app = await NestFactory.create(TestModule, { logger: false });
  app.useGlobalFilters(new ErrorFilter());
  await app.listen(0, '127.0.0.1');
  return app;
}

beforeEach(() => {
  offsetMs = 0;
  remembered.length = 0;
  isStoreBroken = false;
  jest.spyOn(Date, 'now').mockImplementation(() => FROZEN_MS + offsetMs);
});

afterEach(() => jest.restoreAllMocks());

async function begin(): Promise<void> {
  issuer = new TestIssuer();
  issuer.keys = [firstJwk];
  await issuer.start();
  await startApp();
}

async function end(): Promise<void> {
  await app?.close();
  await issuer?.stop();
}

/** Gives each test of a group an issuer and an application of its own. */
function useFreshApp(): void {
  beforeEach(begin);
  afterEach(end);
}

/** Gives all tests of a group one issuer and one application, with a stopped clock. */
function useOneApp(): void {
  beforeAll(begin);
  afterAll(end);
}

const encode = (value: string | object): string =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
const goodHeader = { alg: 'RS256', kid: 'k1', typ: 'JWT' };
const goodClaims = (): object => ({
  iss: issuer.iss,
  aud: 'iss-api',
  sub: 'u1',
  iat: nowSeconds(),
  nbf: nowSeconds(),
  exp: nowSeconds() + 300,
});
/** Signs exactly these texts, so that tests can send tokens that no JWT library would write. */
function signText(header: string, claims: string, key: KeyObject = first.privateKey): string {
  const input = `${encode(header)}.${encode(claims)}`;
  return `${input}.${sign('sha256', Buffer.from(input), key).toString('base64url')}`;
}
const jwt = (claims: object = {}, header: object = {}, key: KeyObject = first.privateKey): string =>
  signText(JSON.stringify({ ...goodHeader, ...header }), JSON.stringify({ ...goodClaims(), ...claims }), key);

const get = (path: string, token?: string): request.Test => {
  const test = request(app.getHttpServer()).get(path);
  return token === undefined ? test : test.set('Authorization', `Bearer ${token}`);
};
/** The address of the metadata, as a challenge names it (RFC 9728, section 5.1). */
function metadataOf({ request: { url } }: request.Response & { request: { url: string } }): string {
  return `resource_metadata="${new URL(url).origin}/.well-known/oauth-protected-resource"`;
}
async function expects(status: number, token: string): Promise<request.Response> {
  const response = await get('/who', token);
  expect(`${response.status} ${response.text}`).toMatch(new RegExp(`^${status} `)); // the text says why, when it fails
  return response;
}

describe('AuthGuard', () => {
  useFreshApp();

  it('accepts a valid token, and provides its principal', async () => {
    const response = await expects(200, jwt({ principal_type: 'ai_agent' }));
    expect(response.body).toEqual({ principalId: 'oidc:acme#u1', subject: 'u1', claimedType: 'ai_agent' });
    expect(response.headers['www-authenticate']).toBeUndefined();
  });

  it('refuses a request without a token on every route that is not public, with a challenge', async () => {
    for (const path of ['/who', '/closed']) {
      const response = await get(path);
      expect([response.status, response.body.code]).toEqual([401, 'unauthorized']);
      expect(response.headers['www-authenticate']).toBe(`Bearer ${metadataOf(response)}`);
    }
  });

  it('allows a public route with any Authorization header', async () => {
    await get('/open').expect(200);
    await get('/open', 'rubbish').expect(200);
    expect(issuer.jwksRequests).toBe(0);
  });

  it('treats every caller as the developer if authentication is disabled', async () => {
    await app.close();
    await startApp({ mode: 'disabled' });
    const response = await get('/who').expect(200);
    expect(response.body).toEqual({ principalId: 'oidc:local#dev', subject: 'dev', claimedType: 'human' });
  });
});

describe('AuthGuard with an invalid token', () => {
  useOneApp();

  const unsigned = (header: object): string => `${encode({ ...goodHeader, ...header })}.${encode(goodClaims())}`;
  const hmac = (header: object): string => {
    const input = unsigned(header);
    return `${input}.${createHmac('sha256', firstPem).update(input).digest('base64url')}`;
  };
  const secondJwk = () => jwk(second.publicKey, {});
  const header = JSON.stringify(goodHeader);
  const withText = (claim: string, text: string): string =>
    signText(header, JSON.stringify({ ...goodClaims(), [claim]: '@' }).replace('"@"', text));
  const jwe = (): Promise<string> =>
    new CompactEncrypt(Buffer.from(JSON.stringify(goodClaims())))
      .setProtectedHeader({ alg: 'RSA-OAEP-256', enc: 'A256GCM', kid: 'k1' })
      .encrypt(first.publicKey);
  const without = (claim: string): string => jwt({ [claim]: undefined });

  it.each<[string, () => string | Promise<string>, RegExp]>([
    ['alg none', () => `${unsigned({ alg: 'none' })}.`, /not base64url/],
    ['alg none with a signature', () => jwt({}, { alg: 'none' }), /accepted algorithm/],
    ['alg nOnE', () => jwt({}, { alg: 'nOnE' }), /accepted algorithm/],
    ['alg missing', () => jwt({}, { alg: undefined }), /accepted algorithm/],
    ['HS256 with the public key', () => hmac({ alg: 'HS256' }), /accepted algorithm/],
    ['an algorithm that the key does not name', () => jwt({}, { alg: 'PS256' }), /current key/],
    ['an algorithm of another kind of key', () => jwt({}, { alg: 'ES256' }), /current key/],
    ['jwk', () => jwt({}, { jwk: secondJwk() }, second.privateKey), /signature/],
    ['jwk, no kid', () => jwt({}, { kid: undefined, jwk: secondJwk() }, second.privateKey), /signature/],
    ['jku', () => jwt({}, { kid: 'k2', jku: `${issuer.iss}/other` }, second.privateKey), /current key/],
    ['x5u', () => jwt({}, { kid: 'k2', x5u: `${issuer.iss}/other` }, second.privateKey), /current key/],
    ['x5c', () => jwt({}, { x5c: [encode('certificate')] }, second.privateKey), /signature/],
    ['kid traversal', () => jwt({}, { kid: '../../../../dev/null' }, second.privateKey), /current key/],
    ['kid of an object prototype', () => jwt({}, { kid: '__proto__' }), /current key/],
    ['kid that is not a string', () => jwt({}, { kid: ['k1'] }), /key id/],
    ['kid empty', () => jwt({}, { kid: '' }), /current key/],
    ['crit', () => jwt({}, { crit: ['exp'], exp: 1 }), /crit/],
    ['crit empty', () => jwt({}, { crit: [] }), /crit/],
    ['enc', () => jwt({}, { enc: 'A256GCM' }), /encrypted/],
    ['typ of another kind', () => jwt({}, { typ: 'logout+jwt' }), /typ other/],
    ['typ that is not a string', () => jwt({}, { typ: 1 }), /typ other than/],
    ['kid twice', () => signText(header.replace('{', '{"kid":"k1",'), JSON.stringify(goodClaims())), /distinct/],
    ['header that is a list', () => signText('["RS256"]', JSON.stringify(goodClaims())), /JSON object/],
    ['signed by a stranger', () => jwt({}, {}, second.privateKey), /signature/],
    ['signature of another token', () => jwt().replace(/[^.]*$/, jwt({ sub: 'u2' }).split('.')[2] ?? ''), /signature/],
    ['signature cut short', () => jwt().slice(0, -2), /signature/],
    ['exp missing', () => without('exp'), /\(exp\)/],
    ['exp past', () => jwt({ exp: nowSeconds() - 61 }), /expired/],
    ['exp a string', () => jwt({ exp: String(nowSeconds() + 300) }), /\(exp\)/],
    ['exp null', () => jwt({ exp: null }), /\(exp\)/],
    ['exp beyond a double', () => withText('exp', '1e400'), /JSON/],
    ['exp twice', () => withText('x', `1,"exp":${nowSeconds() + 300}`), /distinct/],
    ['exp twice, once escaped', () => withText('x', `1,"\\u0065xp":${nowSeconds() + 300}`), /distinct/],
    ['nbf ahead', () => jwt({ nbf: nowSeconds() + 90 }), /\bnbf\b/],
    ['nbf a string', () => jwt({ nbf: '0' }), /\bnbf\b/],
    ['iat ahead', () => jwt({ iat: nowSeconds() + 90 }), /\biat\b/],
    ['iat a string', () => jwt({ iat: '0' }), /\biat\b/],
    ['aud missing', () => without('aud'), /\(aud\)/],
    ['aud of another', () => jwt({ aud: 'other' }), /\(aud\)/],
    ['aud in another case', () => jwt({ aud: 'ISS-API' }), /\(aud\)/],
    ['aud empty list', () => jwt({ aud: [] }), /\(aud\)/],
    ['aud list of others', () => jwt({ aud: ['iss-api2', 'iss'] }), /\(aud\)/],
    ['aud with a number too', () => jwt({ aud: ['iss-api', 1] }), /\(aud\)/],
    ['aud nested', () => jwt({ aud: [['iss-api']] }), /\(aud\)/],
    ['iss missing', () => without('iss'), /\(iss\)/],
    ['iss of another', () => jwt({ iss: 'http://127.0.0.1/acme' }), /\(iss\)/],
    ['iss with an additional slash', () => jwt({ iss: `${issuer.iss}/` }), /\(iss\)/],
    ['iss as a list', () => jwt({ iss: [issuer.iss] }), /\(iss\)/],
    ['sub missing', () => without('sub'), /sub/],
    ['sub empty', () => jwt({ sub: '' }), /sub/],
    ['sub a number', () => jwt({ sub: 1 }), /sub/],
    ['sub with NUL', () => jwt({ sub: 'u1\0' }), /sub/],
    ['sub with a line break', () => jwt({ sub: 'u1\r\n' }), /sub/],
    ['sub too long', () => jwt({ sub: 'x'.repeat(256) }), /sub/],
    ['sub with half a character', () => withText('sub', '"\\ud800"'), /JSON/],
    ['unknown principal type', () => jwt({ principal_type: 'root' }), /principal_type/],
    ['claims that are not an object', () => signText(header, '"claims"'), /JSON object/],
    ['a byte order mark', () => signText(header, `\ufeff${JSON.stringify(goodClaims())}`), /JSON/],
    ['padding', () => `${jwt()}=`, /base64url/],
    ['padding in the middle', () => jwt().replace('.', '=.'), /base64url/],
    ['an additional space', () => ` ${jwt()}`, /one space/],
    ['a space inside', () => jwt().replace('.', ' .'), /one space/],
    ['an additional part', () => `${jwt()}.QQ`, /three parts/],
    ['a missing part', () => unsigned({}), /three parts/],
    ['no parts', () => '..', /base64url/],
    ['more than 8 KiB', () => jwt({ padding: 'x'.repeat(6200) }), /larger/],
    ['JWE', jwe, /three parts/],
  ])('refuses %s', async (_name, make, reason) => {
    await expects(200, jwt({ jti: 'control' }));
    const token = await make();
    const response = await expects(401, token);
    expect(response.body.code).toBe('unauthorized');
    expect(response.body.message).toMatch(reason);
    expect(response.headers['www-authenticate']).toBe(`Bearer error="invalid_token", ${metadataOf(response)}`);
    for (const part of token.split('.').filter((text) => text.length > 8)) expect(response.text).not.toContain(part);
    expect(issuer.jwksRequests).toBe(1);
  });

  it('refuses two Authorization headers, even with the same valid token', async () => {
    const send = async (...values: string[]): Promise<number | undefined> => {
      const headers = ['host', '127.0.0.1', ...values.flatMap((value) => ['authorization', value])];
      const port = portOf(app.getHttpServer());
      const [incoming] = await once(httpRequest({ host: '127.0.0.1', port, path: '/who', headers }).end(), 'response');
      incoming.resume();
      return incoming.statusCode;
    };
    const value = `Bearer ${jwt()}`;
    expect(await send(value)).toBe(200);
    expect(await send(value, value)).toBe(401);
    expect(await send(value, 'Basic YTpi')).toBe(401);
  });
});

describe('AuthGuard with a valid token', () => {
  useFreshApp();

  it.each<[string, () => string, string]>([
    ['sub with #', () => jwt({ sub: 'a#b' }), 'oidc:acme#a#b'],
    ['aud in a list', () => jwt({ aud: ['other', 'iss-api'] }), 'oidc:acme#u1'],
    ['typ at+jwt', () => jwt({}, { typ: 'at+JWT' }), 'oidc:acme#u1'],
    ['typ with application/', () => jwt({}, { typ: 'application/at+jwt' }), 'oidc:acme#u1'],
    ['no typ, nbf, iat', () => jwt({ nbf: undefined, iat: undefined }, { typ: undefined }), 'oidc:acme#u1'],
    ['no kid, one key', () => jwt({}, { kid: undefined }), 'oidc:acme#u1'],
    ['a foreign jwk, but a valid signature', () => jwt({}, { jwk: jwk(second.publicKey, {}) }), 'oidc:acme#u1'],
    ['just expired, within the skew', () => jwt({ exp: nowSeconds() - 30 }), 'oidc:acme#u1'],
  ])('accepts %s', async (_name, make, principalId) => {
    expect((await expects(200, make())).body.principalId).toBe(principalId);
  });

  it.each(['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512'])(
    'accepts a signature by %s',
    async (alg) => {
      const namedCurve = { ES384: 'P-384', ES512: 'P-521' }[alg] ?? 'P-256';
      const pair = alg.startsWith('ES') ? generateKeyPairSync('ec', { namedCurve }) : second;
      issuer.keys = [firstJwk, jwk(pair.publicKey, { kid: alg })];
      const signed = new SignJWT({ ...goodClaims() }).setProtectedHeader({ alg, kid: alg }).sign(pair.privateKey);
      await expects(200, await signed);
    },
  );
});

describe('a token with a previously verified signature', () => {
  useFreshApp();

  it('is still refused once it has expired', async () => {
    const token = jwt();
    await expects(200, token);
    await expects(200, token);
    advance(6 * MINUTE_MS + 1);
    expect((await expects(401, token)).body.message).toMatch(/expired/);
  });

  it('does not make another signature valid', async () => {
    const token = jwt();
    await expects(200, token);
    const [header, claims] = token.split('.');
    await expects(401, `${header}.${claims}.${jwt({ sub: 'u2' }).split('.')[2]}`);
  });

  it('is refused once its key has been removed', async () => {
    const token = jwt({ exp: nowSeconds() + 7200 });
    await expects(200, token);
    issuer.keys = [jwk(second.publicKey, { kid: 'k2' })];
    advance(11 * MINUTE_MS);
    await expects(401, token);
  });
});

describe('the claimed principal type', () => {
  useFreshApp();

  it('is stored once when the signature is verified', async () => {
    const [machine, human] = [jwt({ principal_type: 'service_account' }), jwt({ sub: 'u2' })];
    for (const token of [machine, machine, human, human]) await expects(200, token);
    await expects(401, `${machine.slice(0, -8)}AAAAAAAA`);
    expect(remembered).toEqual([
      ['oidc:acme#u1', 'service_account'],
      ['oidc:acme#u2', 'human'],
    ]);
  });

  it('does not fail the request if it cannot be stored', async () => {
    isStoreBroken = true;
    await expects(200, jwt({ principal_type: 'ai_agent' }));
  });
});

describe('AuthGuard with several keys', () => {
  useFreshApp();

  const bySecond = (kid: string | undefined = 'k2'): string => jwt({}, { kid }, second.privateKey);
  const secondJwk = (members: object = {}): object => jwk(second.publicKey, { kid: 'k2', ...members });
  const k2 = { kid: 'k2' };

  it.each<[string, () => string, () => object[]]>([
    ['wrong use', bySecond, () => [secondJwk({ use: 'enc' })]],
    ['wrong key_ops', bySecond, () => [secondJwk({ key_ops: ['encrypt'] })]],
    ['no kid', bySecond, () => [secondJwk({ kid: undefined })]],
    ['duplicate kid', bySecond, () => [secondJwk(), jwk(first.publicKey, k2)]],
    ['duplicate kid, the other first', bySecond, () => [jwk(first.publicKey, k2), secondJwk()]],
    ['small RSA', () => jwt({}, k2, small.privateKey), () => [jwk(small.publicKey, k2)]],
    ['symmetric', () => jwt({}, k2), () => [{ kty: 'oct', k: encode(String(firstPem)), alg: 'RS256', ...k2 }]],
    ['no kid in the token, two keys', () => jwt({}, { kid: undefined }), () => [secondJwk()]],
  ])('refuses the token: %s', async (_name, make, keys) => {
    issuer.keys = [firstJwk, ...keys()];
    expect((await expects(401, make())).body.message).toMatch(/current key/);
    await expects(200, jwt());
  });

  it('accepts the token: neither use nor alg, and a kid shared with another kind of key', async () => {
    issuer.keys = [firstJwk, secondJwk(), jwk(ecPair.publicKey, k2)];
    await expects(200, bySecond());
  });
});

describe('the issuer', () => {
  useFreshApp();

  const bySecond = (claims: object = {}): string => jwt(claims, { kid: 'k2' }, second.privateKey);

  it('rotates its key: the new one is accepted, the previous one refused', async () => {
    const oldToken = jwt();
    await expects(200, oldToken);
    issuer.keys = [jwk(second.publicKey, { kid: 'k2' })];
    advance(11_000);
    await expects(200, bySecond());
    await expects(401, oldToken);
  });

  it('gets one request for keys, even for many tokens with unknown key ids', async () => {
    await expects(200, jwt());
    const flood = async (): Promise<void> => {
      const tokens = Array.from({ length: 60 }, (_, index) => jwt({}, { kid: `unknown-${index}` }));
      for (const response of await Promise.all(tokens.map((token) => get('/who', token)))) {
        expect(response.status).toBe(401);
      }
    };
    await flood();
    expect(issuer.jwksRequests).toBe(1);
    advance(11_000);
    await flood();
    expect(issuer.jwksRequests).toBe(2);
    await expects(200, jwt());
  });

  it('gets no request for a token of another issuer', async () => {
    await expects(401, jwt({ iss: 'https://elsewhere.example' }, { kid: 'k9' }));
    expect(issuer.jwksRequests).toBe(0);
  });

  it('is down from the start: returns 503 with a token, 401 without, and then recovers', async () => {
    issuer.goDown();
    const response = await expects(503, jwt());
    expect(response.body.code).toBe('unavailable');
    expect(response.headers['www-authenticate']).toBeUndefined();
    await get('/who').expect(401);
    await get('/open').expect(200);
    issuer.comeBack();
    advance(2_000);
    await expects(200, jwt());
  });

  it('goes down later: its keys remain valid for an hour', async () => {
    const token = jwt({ exp: nowSeconds() + 7200 });
    await expects(200, token);
    issuer.goDown();
    advance(59 * MINUTE_MS);
    await expects(200, token);
    await expects(200, jwt());
    advance(2 * MINUTE_MS);
    await expects(503, token);
    issuer.comeBack();
    advance(2_000);
    await expects(200, token);
  });
});
