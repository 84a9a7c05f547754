import { CompactEncrypt, type CompactJWEHeaderParameters, generateKeyPair, importJWK, type JWK } from 'jose';
import { createPresentationRequest, isWalletError, openPresentation, requireAsked, type VerifiedCredential } from '.';

const VCT = 'https://registry.example/company';
const RESPONSE_URI = 'https://identity.example/openid4vp/responses/r.mac';

interface Made {
  secret: string;
  parameters: URLSearchParams;
  query: { credentials: unknown[] };
  metadata: { jwks: { keys: JWK[] } };
}

async function make(claims: string[] = []): Promise<Made> {
  const { link, secret } = await createPresentationRequest({ vcts: [VCT], claims }, RESPONSE_URI, 'id');
  const parameters = new URL(link).searchParams;
  const read = (name: string) => JSON.parse(parameters.get(name) ?? '');
  return { secret, parameters, query: read('dcql_query'), metadata: read('client_metadata') };
}

async function encrypt({ metadata }: Made, payload: unknown, header: Partial<CompactJWEHeaderParameters> = {}) {
  const [jwk = {}] = metadata.jwks.keys;
  return new CompactEncrypt(Buffer.from(JSON.stringify(payload)))
    .setProtectedHeader({ alg: 'ECDH-ES', enc: 'A128GCM', ...header })
    .encrypt(await importJWK(jwk, 'ECDH-ES'));
}

it('a presentation request asks for one credential, encrypted to its own key', async () => {
  const [one, other] = [await make(['/legal_name', '/owners/*/name', '/owners/0/a~1b']), await make()];
  expect(Object.fromEntries(one.parameters)).toMatchObject({
    client_id: `redirect_uri:${RESPONSE_URI}`,
    response_type: 'vp_token',
    response_mode: 'direct_post.jwt',
    response_uri: RESPONSE_URI,
    nonce: expect.stringMatching(/^[\w-]{22}$/),
  });
  const query = { id: 'attestation', format: 'dc+sd-jwt', meta: { vct_values: [VCT] } };
  const paths = [['legal_name'], ['owners', null, 'name'], ['owners', 0, 'a/b']];
  expect(one.query).toEqual({ credentials: [{ ...query, claims: paths.map((path) => ({ path })) }] });
  expect(other.query).toEqual({ credentials: [query] });
  const [key, ...others] = one.metadata.jwks.keys;
  expect(others).toEqual([]);
  expect(key).toMatchObject({ kty: 'EC', crv: 'P-256', use: 'enc', alg: 'ECDH-ES', kid: 'id' });
  expect(key).not.toHaveProperty('d');
  expect(other.metadata.jwks.keys).not.toEqual([key]);
  expect(other.parameters.get('nonce')).not.toBe(one.parameters.get('nonce'));
});

it('the link of a minimal request has less than 2,000 characters', async () => {
  const { link } = await createPresentationRequest({ vcts: [VCT], claims: [] }, RESPONSE_URI, 'id');
  expect(link.length).toBeLessThan(2_000);
});

it('openPresentation returns the credential with its expected key binding, or the error', async () => {
  const made = await make();
  const answer = await encrypt(made, { vp_token: { attestation: ['credential'] } });
  expect(await openPresentation(answer, made.secret)).toEqual({
    credential: 'credential',
    keyBinding: { nonce: made.parameters.get('nonce'), audience: `redirect_uri:${RESPONSE_URI}` },
  });
  expect(await openPresentation(await encrypt(made, { error: 'access_denied' }), made.secret)).toEqual({
    error: 'access_denied',
  });
});

it.each<[string, (made: Made) => Promise<string>]>([
  ['for another request', async () => encrypt(await make(), { vp_token: { attestation: ['a'] } })],
  ['with a compressed content', (made) => encrypt(made, { vp_token: { attestation: ['a'] } }, { zip: 'DEF' })],
  ['with another algorithm', (made) => encrypt(made, { vp_token: { attestation: ['a'] } }, { enc: 'A192GCM' })],
  ['with a wrapped key', async () => withWrappedKey()],
  ['without a presentation', (made) => encrypt(made, { vp_token: { attestation: [] } })],
  ['with two presentations', (made) => encrypt(made, { vp_token: { attestation: ['a', 'b'] } })],
  ['with an object', (made) => encrypt(made, { vp_token: { attestation: [{}] } })],
  ['for another query', (made) => encrypt(made, { vp_token: { attestation: ['a'], other: ['b'] } })],
  ['with an error that is not a code', (made) => encrypt(made, { error: 'Access\ndenied' })],
  ['that is not an object', (made) => encrypt(made, ['a'])],
])('openPresentation refuses an answer %s', async (_, answerTo) => {
  const made = await make();
  await expect(openPresentation(await answerTo(made), made.secret)).rejects.toThrow(
    expect.objectContaining({ code: 'invalid_format' }),
  );
});

async function withWrappedKey(): Promise<string> {
  const { publicKey } = await generateKeyPair('ECDH-ES+A128KW');
  return new CompactEncrypt(Buffer.from('{}'))
    .setProtectedHeader({ alg: 'ECDH-ES+A128KW', enc: 'A128GCM' })
    .encrypt(publicKey);
}

it.each([
  [['/legal_name'], true],
  [['/address/country'], true],
  [['/owners/1/name', '/owners/*/name'], true],
  [['/owners/1/country'], true],
  [['/owners/0/country'], false],
  [['/owners/2'], false],
  [['/legal_name/*'], false],
  [['/address/0'], false],
  [['/legal_name', '/toString'], false],
  [['/empty/*'], false],
])('requireAsked finds the claims %j in a credential: %s', (claims, isRight) => {
  const disclosed = {
    legal_name: 'Acme',
    address: { country: 'CH' },
    owners: [{ name: 'Anna' }, { name: 'Bo', country: 'CH' }],
    empty: [],
  };
  const verified = { vct: VCT, claims: disclosed } as unknown as VerifiedCredential;
  const check = () => requireAsked(verified, { vcts: ['other', VCT], claims });
  if (isRight) expect(check).not.toThrow();
  else expect(check).toThrow('does not disclose a claim that was asked for');
  expect(() => requireAsked(verified, { vcts: ['other'], claims: [] })).toThrow('of a type that was not asked for');
});

it('isWalletError accepts only error codes', () => {
  expect(['access_denied', 'a'.repeat(64)].every(isWalletError)).toBe(true);
  expect(['', 'a b', 'A', 'a'.repeat(65), null, 7].some(isWalletError)).toBe(false);
});
