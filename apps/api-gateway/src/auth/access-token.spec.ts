import { DomainError } from '@iss/domain';
import { readAccessToken, readBearerToken, requireCurrent } from './access-token';
import type { AuthSettings } from './auth-settings';

const settings: AuthSettings = {
  mode: 'oidc',
  issuer: 'https://id.example/acme',
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
const nowSeconds = 1_800_000_000;
const good = { iss: settings.issuer, aud: 'acme', sub: 'u1', exp: nowSeconds + 300 };

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const tokenWith = (claims: object, header: object = {}): string =>
  `${encode({ alg: 'RS256', ...header })}.${encode({ ...good, ...claims })}.c2lnbmF0dXJl`;

beforeEach(() => jest.spyOn(Date, 'now').mockReturnValue(nowSeconds * 1000));
afterEach(() => jest.restoreAllMocks());

describe('readBearerToken', () => {
  it.each(['Bearer', 'bearer', 'BEARER'])('accepts the scheme %s', (scheme) => {
    expect(readBearerToken([`${scheme} a.b.c`], 100)).toBe('a.b.c');
  });

  it('accepts a token of the maximum size, and refuses one byte more', () => {
    expect(readBearerToken([`Bearer ${'a'.repeat(100)}`], 100)).toHaveLength(100);
    expect(() => readBearerToken([`Bearer ${'a'.repeat(101)}`], 100)).toThrow(/larger than 100 bytes/);
  });

  it.each([
    ['no header', undefined],
    ['two headers', ['Bearer a.b.c', 'Bearer a.b.c']],
    ['another scheme', ['Basic a.b.c']],
    ['a scheme that only begins with Bearer', ['Bearers a.b.c']],
    ['no token', ['Bearer']],
    ['two spaces', ['Bearer  a.b.c']],
    ['a tab', ['Bearer\ta.b.c']],
    ['a leading space', [' Bearer a.b.c']],
    ['text after the token', ['Bearer a.b.c d']],
  ])('refuses %s', (_name, authorization) => {
    expect(() => readBearerToken(authorization, 100)).toThrow(DomainError);
  });
});

describe('readAccessToken', () => {
  it('returns the principal and what the signature check needs', () => {
    expect(readAccessToken(tokenWith({ nbf: 5 }, { kid: 'k1', typ: 'at+jwt' }), settings)).toEqual({
      algorithm: 'RS256',
      keyId: 'k1',
      principal: { principalId: 'oidc:acme#u1', subject: 'u1', claimedType: 'human' },
      expiresAtSeconds: good.exp,
      notBeforeSeconds: 5,
    });
  });

  it.each(['human', 'service_account', 'ai_agent'])('reads the principal type %s from its claim', (type) => {
    expect(readAccessToken(tokenWith({ principal_type: type }), settings).principal.claimedType).toBe(type);
  });

  it.each(['robot', '', 'Human', null, 1, ['human']])('refuses the principal type %p', (type) => {
    expect(() => readAccessToken(tokenWith({ principal_type: type }), settings)).toThrow(/claim principal_type/);
  });

  it.each(['a#b', '#', 'ünï', 'a b', 'x'.repeat(255)])('keeps the subject %p unchanged', (sub) => {
    expect(readAccessToken(tokenWith({ sub }), settings).principal.principalId).toBe(`oidc:acme#${sub}`);
  });

  it('accepts an iat within the clock skew, and refuses a later one', () => {
    expect(() => readAccessToken(tokenWith({ iat: nowSeconds + 60 }), settings)).not.toThrow();
    expect(() => readAccessToken(tokenWith({ iat: nowSeconds + 61 }), settings)).toThrow(/in the future/);
  });

  it('refuses a second spelling of the same bytes', () => {
    const [header, claims] = tokenWith({}).split('.');
    expect(() => readAccessToken(`${header}.${claims}.QQ`, settings)).not.toThrow();
    for (const twin of ['QR', 'QQ==', 'Q', 'Q Q', 'Q+', 'Q/']) {
      expect(() => readAccessToken(`${header}.${claims}.${twin}`, settings)).toThrow(/not base64url/);
    }
  });

  it('never quotes the token in an error', () => {
    const text = `${encode({ alg: 'RS256' })}.${Buffer.from('{"secret-claim":').toString('base64url')}.QQ`;
    expect(() => readAccessToken(text, settings)).toThrow(expect.objectContaining({ code: 'unauthorized' }));
    expect(() => readAccessToken(text, settings)).not.toThrow(/secret-claim/);
  });
});

describe('requireCurrent', () => {
  const check = (claims: object) => () => requireCurrent(readAccessToken(tokenWith(claims), settings), 60);

  it('accepts an exp in the past within the clock skew, to the second', () => {
    expect(check({ exp: nowSeconds - 59 })).not.toThrow();
    expect(check({ exp: nowSeconds - 60 })).toThrow(/expired/);
  });

  it('accepts an nbf in the future within the clock skew, to the second', () => {
    expect(check({ nbf: nowSeconds + 60 })).not.toThrow();
    expect(check({ nbf: nowSeconds + 61 })).toThrow(/not valid yet/);
  });
});
