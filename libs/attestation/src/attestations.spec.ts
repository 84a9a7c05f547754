import { createHash, randomBytes } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { createHeaderAndPayload, StatusList } from '@sd-jwt/jwt-status-list';
import { SDJwtVcInstance } from '@sd-jwt/sd-jwt-vc';
import {
  CompactSign,
  exportJWK,
  generateKeyPair,
  type GenerateKeyPairResult,
  importPKCS8,
  type JWK,
  SignJWT,
} from 'jose';
import { AttestationProblem, type IssuerKeys, issuerOf, jwkFault, readStatusList, verifyCredential } from '.';

const ISSUER = 'https://registry.example';
const VCT = 'https://registry.example/company';
const NOW = new Date('2026-03-01T12:00:00Z');
const SECONDS = NOW.getTime() / 1000;
const BINDING = { nonce: 'n-1', audience: 'https://verifier.example' };

type Pair = GenerateKeyPairResult;
let issuer: Pair;
let holder: Pair;
let stranger: Pair;
let keys: IssuerKeys;

const hasher = (data: string | ArrayBuffer, alg: string): Uint8Array =>
  createHash(alg.replace('-', ''))
    .update(typeof data === 'string' ? data : Buffer.from(data))
    .digest();

/** Signs as foreign libraries ask for it: a compact token without its signature. */
const signer =
  ({ privateKey }: Pair) =>
  async (data: string): Promise<string> => {
    const [header = '', payload = ''] = data.split('.');
    const parsed = JSON.parse(Buffer.from(header, 'base64url').toString());
    const signed = await new CompactSign(Buffer.from(payload, 'base64url')).setProtectedHeader(parsed).sign(privateKey);
    // ECDSA signs the very bytes that it was given.
    expect(signed.startsWith(`${data}.`)).toBe(true);
    return signed.split('.')[2] ?? '';
  };

/** The foreign implementation that issues and presents. */
const foreign = (pair = issuer): SDJwtVcInstance =>
  new SDJwtVcInstance({
    signer: signer(pair),
    signAlg: 'ES256',
    kbSigner: signer(holder),
    kbSignAlg: 'ES256',
    hasher,
    hashAlg: 'sha-256',
    saltGenerator: () => randomBytes(16).toString('base64url'),
  });

const claimsOf = (more: Record<string, unknown> = {}) => ({
  iss: ISSUER,
  vct: VCT,
  iat: SECONDS - 10,
  legal_name: 'Acme AG',
  owners: [
    { name: 'Ada', share: 26 },
    { name: 'Bob', share: 74 },
  ],
  ...more,
});

const issue = async (
  more: Record<string, unknown> = {},
  pair = issuer,
  header: object = { kid: 'k1' },
): Promise<string> =>
  foreign(pair).issue(
    claimsOf(more),
    { _sd: ['legal_name'], owners: { _sd: [0, 1], 0: { _sd: ['share'] } } },
    { header },
  );

const present = async (credential: string, more: Record<string, unknown> = {}): Promise<string> =>
  foreign().present(
    credential,
    { legal_name: true },
    {
      kb: { payload: { iat: SECONDS - 5, aud: BINDING.audience, nonce: BINDING.nonce, ...more } },
    },
  );

const verify = (credential: string, binding: typeof BINDING | null = null, trusted = keys) =>
  verifyCredential(credential, trusted, binding, NOW);

async function codeOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
    return 'accepted';
  } catch (error) {
    if (error instanceof AttestationProblem) return error.code;
    throw error;
  }
}

const jwkOf = async ({ publicKey }: Pair, kid = 'k1'): Promise<JWK> => ({ ...(await exportJWK(publicKey)), kid });

beforeAll(async () => {
  const pair = () => generateKeyPair('ES256', { extractable: true });
  [issuer, holder, stranger] = await Promise.all([pair(), pair(), pair()]);
  keys = { issuer: ISSUER, jwks: [await jwkOf(issuer)], roots: [] };
});

it('verifyCredential accepts what a third-party implementation issues and presents', async () => {
  const credential = await issue({ cnf: { jwk: await exportJWK(holder.publicKey) }, exp: SECONDS + 60 });
  expect(issuerOf(credential)).toBe(ISSUER);
  const whole = await verify(credential);
  expect(whole.claims).toEqual({ ...claimsOf({ exp: SECONDS + 60, cnf: expect.anything() }) });
  expect(whole).toMatchObject({ issuer: ISSUER, vct: VCT, hasKeyBinding: false, status: null });
  expect(whole.expiresAt).toEqual(new Date((SECONDS + 60) * 1000));
  expect(whole.digest).toBe(createHash('sha256').update(credential).digest('hex'));

  const part = await verify(await present(credential), BINDING);
  expect(part.hasKeyBinding).toBe(true);
  expect(part.claims).toMatchObject({ legal_name: 'Acme AG', owners: [] });
});

describe('a key binding', () => {
  let credential: string;
  beforeAll(async () => {
    credential = await issue({ cnf: { jwk: await exportJWK(holder.publicKey) } });
  });

  it.each([
    ['another nonce (a replayed presentation)', { nonce: 'n-0' }],
    ['another audience', { aud: 'https://other.example' }],
    ['an old iat', { iat: SECONDS - 301 }],
    ['a future iat', { iat: SECONDS + 301 }],
    ['no iat', { iat: undefined }],
  ])('is refused with %s', async (_, more) => {
    expect(await codeOf(verify(await present(credential, more), BINDING))).toBe('invalid_key_binding');
  });

  it.each([-300, 300])('is accepted if its iat differs by %d seconds', async (seconds) => {
    expect(await codeOf(verify(await present(credential, { iat: SECONDS + seconds }), BINDING))).toBe('accepted');
  });

  it('is refused from another holder or for another presentation', async () => {
    const others = await issue({ cnf: { jwk: await exportJWK(stranger.publicKey) } });
    expect(await codeOf(verify(await present(others), BINDING))).toBe('invalid_key_binding');
    const [token, ...parts] = (await present(credential)).split('~');
    const withoutDisclosure = [token, parts.at(-1)].join('~');
    expect(await codeOf(verify(withoutDisclosure, BINDING))).toBe('invalid_key_binding');
  });

  it('is refused if it is missing or unexpected', async () => {
    expect(await codeOf(verify(credential, BINDING))).toBe('invalid_key_binding');
    expect(await codeOf(verify(await present(credential)))).toBe('invalid_key_binding');
  });
});

describe('a credential is refused', () => {
  const sign = (payload: object, header: object = {}) =>
    new SignJWT({ ...payload })
      .setProtectedHeader({ alg: 'ES256', typ: 'dc+sd-jwt', kid: 'k1', ...header })
      .sign(issuer.privateKey);
  const disclosure = (...parts: unknown[]): string => Buffer.from(JSON.stringify(parts)).toString('base64url');
  const digest = (one: string): string => createHash('sha256').update(one).digest('base64url');
  const plain = { iss: ISSUER, vct: VCT };
  const status = { status_list: { idx: 1, uri: 'https://a.example' } };
  const mustBePlain = { ...plain, nbf: 1, exp: SECONDS, cnf: { jwk: {} }, 'vct#integrity': 'sha256-a', status };

  it('if it is signed by a stranger, under the name and key id of the issuer', async () => {
    expect(await codeOf(verify(await issue({}, stranger)))).toBe('invalid_signature');
    const text = await issue();
    expect(await codeOf(verify(text.replace(/\.[\w-]+~/, `.${'A'.repeat(86)}~`)))).toBe('invalid_signature');
  });

  it('if the trusted keys are those of another issuer', async () => {
    expect(await codeOf(verify(await issue({ iss: 'https://other.example' })))).toBe('untrusted_issuer');
  });

  it.each(['none', 'HS256'])('if its alg is %s', async (alg) => {
    const [, payload] = (await issue()).split('.');
    const header = Buffer.from(JSON.stringify({ alg, typ: 'dc+sd-jwt', kid: 'k1' })).toString('base64url');
    const secret = Buffer.from(JSON.stringify(keys.jwks[0]));
    const mac = createHash('sha256').update(secret).digest('base64url');
    expect(await codeOf(verify(`${header}.${payload}.${mac}~`))).toBe('invalid_signature');
  });

  it('if it is another kind of token', async () => {
    expect(await codeOf(verify(`${await sign(plain, { typ: 'JWT' })}~`))).toBe('invalid_type');
    expect(await codeOf(verify(await sign(plain)))).toBe('invalid_format');
  });

  it.each([
    ['expired', { exp: SECONDS - 60 }],
    ['not_yet_valid', { nbf: SECONDS + 61 }],
    ['not_yet_valid', { iat: SECONDS + 61 }],
    ['not_yet_valid', { nbf: SECONDS, iat: SECONDS + 61 }],
    ['invalid_format', { exp: 'never' }],
    ['invalid_format', { status: { status_list: { idx: -1, uri: 'https://a.example' } } }],
    ['invalid_format', { exp: 1e13 }],
    ['invalid_format', { exp: 1e300 }],
    ['invalid_format', { status: { status_list: { idx: 1e20, uri: 'https://a.example' } } }],
    ['invalid_format', { status: { status_list: { idx: 1, uri: 'https://a.example/\0' } } }],
    ['invalid_format', { status: { status_list: { idx: 1, uri: '' } } }],
    ['invalid_format', { _sd_alg: 'md5' }],
    ['invalid_format', { vct: 7 }],
  ])('as %s with %o', async (code, more) => {
    expect(await codeOf(verify(`${await sign({ ...plain, ...more })}~`))).toBe(code);
  });

  it.each([{ exp: SECONDS - 59 }, { nbf: SECONDS + 60 }, { iat: SECONDS + 60 }])(
    'only if clocks differ by more than a minute, not with %o',
    async (more) => expect(await codeOf(verify(`${await sign({ ...plain, ...more })}~`))).toBe('accepted'),
  );

  it.each(['__proto__', 'constructor'])('if its _sd_alg is %s', async (_sd_alg) => {
    const own = disclosure('salt', 'a', 1);
    const token = await sign({ ...plain, _sd: [digest(own)], _sd_alg });
    expect(await codeOf(verify(`${token}~${own}~`))).toBe('invalid_format');
  });

  it('if a disclosure is foreign, repeated or malformed', async () => {
    const own = disclosure('salt', 'a', 1);
    const token = await sign({ ...plain, _sd: [digest(own)] });
    expect(await codeOf(verify(`${token}~${own}~`))).toBe('accepted');
    for (const parts of [[disclosure('salt', 'b', 2)], [own, own], [own, 'no base64!']]) {
      expect(await codeOf(verify([token, ...parts, ''].join('~')))).toBe('invalid_format');
    }
    for (const [more, one] of [
      [{ a: 2 }, own],
      [{}, disclosure('salt', '_sd', [])],
      [{}, disclosure('salt', 'a')],
      ...Object.entries(mustBePlain).map((claim) => [{ [claim[0]]: undefined }, disclosure('salt', ...claim)] as const),
      [{ _sd: [digest(own), digest(own)] }, own],
      [{ _sd: [digest(`${own}=`)] }, `${own}=`],
      [{ list: [{ '...': digest(own) }], _sd: [] }, own],
      [{ inner: { _sd: [digest(own)] } }, own],
    ] as const) {
      const twice = await sign({ _sd: [digest(one)], ...plain, ...more });
      expect(await codeOf(verify(`${twice}~${one}~`))).toBe('invalid_format');
    }
  });
});

describe('certificates', () => {
  let folder: string;
  const file = (name: string): string => join(folder, name);
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'ignore' });
  const certificate = (name: string): string =>
    readFileSync(file(`${name}.crt`), 'utf8').replace(/-----[A-Z ]+-----|\s/g, '');

  /** Certifies a new key, which has this name in its file; by itself if `by` is null. */
  function certify(name: string, by: string | null, extension: string, { days = 30, subject = name } = {}): void {
    writeFileSync(file(`${name}.ext`), extension);
    openssl(
      'req',
      '-new',
      '-nodes',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:prime256v1',
      '-keyout',
      `${name}.key`,
      '-out',
      `${name}.csr`,
      '-subj',
      `/CN=${subject}`,
    );
    const signing =
      by === null ? ['-signkey', `${name}.key`] : ['-CA', `${by}.crt`, '-CAkey', `${by}.key`, '-CAcreateserial'];
    openssl(
      'x509',
      '-req',
      '-in',
      `${name}.csr`,
      ...signing,
      '-days',
      String(days),
      '-extfile',
      `${name}.ext`,
      '-out',
      `${name}.crt`,
    );
  }

  const CA = 'basicConstraints=critical,CA:TRUE';
  const SAN = 'basicConstraints=CA:FALSE\nsubjectAltName=DNS:registry.example,URI:https://registry.example';

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'iss-x5c-'));
    certify('root', null, CA);
    certify('middle', 'root', CA);
    certify('leaf', 'middle', SAN);
    certify('other', 'middle', 'basicConstraints=CA:FALSE\nsubjectAltName=DNS:other.example');
    // One name that looks like several.
    certify('twice', 'middle', `subjectAltName=@names\n[names]\nDNS.1=a.example, URI:${ISSUER}, b.example`);
    // A leaf that certifies another one is no authority.
    certify('sub', 'leaf', SAN);
    certify('foreign', null, CA);
    certify('forged', 'foreign', SAN);
    // Another authority with the name of the root.
    const anonymous = 'subjectKeyIdentifier=none\nauthorityKeyIdentifier=none';
    certify('impostor', null, `${CA}\n${anonymous}`, { subject: 'root' });
    certify('claimed', 'impostor', `${SAN}\n${anonymous}`);
    certify('brief', null, CA, { days: 10 });
    certify('longer', 'brief', SAN);
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const trusted = (...roots: string[]): IssuerKeys => ({ issuer: ISSUER, jwks: [], roots: roots.map(certificate) });
  const judge = async (chain: string[], roots: string[], now = new Date()): Promise<string> => {
    const [leaf = ''] = chain;
    const privateKey = await importPKCS8(readFileSync(file(`${leaf}.key`), 'utf8'), 'ES256');
    const token = await new SignJWT({ iss: ISSUER, vct: VCT })
      .setProtectedHeader({ alg: 'ES256', typ: 'dc+sd-jwt', x5c: chain.map(certificate) })
      .sign(privateKey);
    return codeOf(verifyCredential(`${token}~`, trusted(...roots), null, now));
  };

  it('are accepted if they lead to a trusted root', async () => {
    expect(await judge(['leaf', 'middle'], ['root'])).toBe('accepted');
    expect(await judge(['leaf', 'middle', 'root'], ['root'])).toBe('accepted');
    expect(await judge(['leaf'], ['leaf'])).toBe('accepted');
  });

  it('are refused if they are forged, name another issuer or are not issued by an authority', async () => {
    expect(await judge(['forged', 'foreign'], ['root'])).toBe('untrusted_issuer');
    expect(await judge(['other', 'middle'], ['root'])).toBe('untrusted_issuer');
    expect(await judge(['twice', 'middle'], ['root'])).toBe('untrusted_issuer');
    expect(await judge(['sub', 'leaf', 'middle'], ['root'])).toBe('untrusted_issuer');
    expect(await judge(['leaf'], ['root'])).toBe('untrusted_issuer');
    expect(await judge(['claimed'], ['root'])).toBe('untrusted_issuer');
    expect(await judge(['claimed'], ['impostor'])).toBe('accepted');
  });

  it('are refused before their first and after their last day, and so is the root', async () => {
    const inDays = (days: number): Date => new Date(Date.now() + days * 86_400_000);
    for (const days of [-1, 40]) {
      expect(await judge(['leaf', 'middle'], ['root'], inDays(days))).toBe('untrusted_issuer');
    }
    expect(await judge(['longer'], ['brief'], inDays(9))).toBe('accepted');
    expect(await judge(['longer'], ['brief'], inDays(11))).toBe('untrusted_issuer');
  });

  it('are refused if there are more than five', async () => {
    expect(await judge(['leaf', 'middle', 'root', 'other', 'twice'], ['root'])).toBe('accepted');
    expect(await judge(['leaf', 'middle', 'root', 'other', 'twice', 'sub'], ['root'])).toBe('invalid_format');
  });
});

describe('a status list', () => {
  const URI = 'https://registry.example/status/1';
  const listOf = async (
    payload: Record<string, unknown> = {},
    pair = issuer,
    typ = 'statuslist+jwt',
  ): Promise<string> => {
    const list = new StatusList([0, 1, 2, 3, 0, 1], 2);
    const made = createHeaderAndPayload(
      list,
      { iss: ISSUER, sub: URI, iat: SECONDS },
      { alg: 'ES256', typ: 'statuslist+jwt' },
    );
    return new SignJWT({ ...made.payload, ...payload })
      .setProtectedHeader({ ...made.header, typ, kid: 'k1' })
      .sign(pair.privateKey);
  };
  const read = (token: string, newest: Date | null = null) => readStatusList(token, URI, keys, newest, NOW);

  it('is read if a third-party implementation created it', async () => {
    const list = await read(await listOf());
    expect([0, 1, 2, 3, 4, 5].map((idx) => list.at(idx))).toEqual([0, 1, 2, 3, 0, 1]);
    expect(list.issuedAt).toEqual(NOW);
    expect(list.at(8)).toBeNull();
  });

  it('is refused if it is older than a known one', async () => {
    const token = await listOf();
    expect(await codeOf(read(token, new Date(NOW.getTime() + 1000)))).toBe('rolled_back');
    expect(await codeOf(read(token, NOW))).toBe('accepted');
  });

  it.each([
    ['invalid_signature', {}, 'stranger'],
    ['mismatch', { sub: 'https://registry.example/status/2' }],
    ['untrusted_issuer', { iss: 'https://other.example' }],
    ['expired', { exp: SECONDS - 61 }],
    ['not_yet_valid', { iat: SECONDS + 61 }],
    ['invalid_format', { iat: undefined }],
    ['invalid_format', { iat: -1e300 }],
    ['invalid_format', { status_list: { bits: 3, lst: '' } }],
    ['invalid_format', { status_list: { bits: 1, lst: 'AAAA' } }],
    // A bomb: 17 MiB of zeros.
    [
      'invalid_format',
      { status_list: { bits: 1, lst: deflateSync(Buffer.alloc(17 * 1024 * 1024)).toString('base64url') } },
    ],
  ])('is refused as %s with %o', async (code, payload, who = 'issuer') => {
    expect(await codeOf(read(await listOf(payload, who === 'issuer' ? issuer : stranger)))).toBe(code);
  });

  it('is refused with another token type', async () => {
    expect(await codeOf(read(await listOf({}, issuer, 'dc+sd-jwt')))).toBe('invalid_type');
  });
});

it.each([
  ['modulus', { kty: 'RSA', n: 'AQAB', e: 'AQAB' }],
  ['modulus', { kty: 'RSA', n: Buffer.alloc(256, 255).toString('base64url'), e: 'AQ' }],
  ['control characters', { kid: 'a\0' }],
  ['control characters', { kid: {} }],
])('a trust list refuses a key because of its %s', async (fault, more) => {
  expect(await jwkFault({ ...keys.jwks[0], ...more })).toMatch(fault);
  expect(await jwkFault({ ...keys.jwks[0], kid: null })).toBeNull();
});
