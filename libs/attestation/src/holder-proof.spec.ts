import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { verifyHolderProof } from './holder-proof';

const ISSUER = 'https://issuer.example';
const NOW = new Date('2026-01-15T09:30:00Z');
const SECONDS = NOW.getTime() / 1000;

/** Signs a proof with a new key. */
async function proofOf(payload: object, header: object = {}): Promise<string> {
  const { publicKey, privateKey } = await generateKeyPair('ES256');
  return new SignJWT({ aud: ISSUER, nonce: 'n', iat: SECONDS, ...payload })
    .setProtectedHeader({ alg: 'ES256', typ: 'openid4vci-proof+jwt', jwk: await exportJWK(publicKey), ...header })
    .sign(privateKey);
}

it.each([0, 300, -300])('accepts a proof whose iat differs by %i seconds', async (seconds) => {
  const proof = await proofOf({ iat: SECONDS + seconds });
  await expect(verifyHolderProof(proof, ISSUER, NOW)).resolves.toMatchObject({ nonce: 'n', key: { kty: 'EC' } });
});

it.each<[string, object, object]>([
  ['expired', { iat: SECONDS - 301 }, {}],
  ['expired', { iat: SECONDS + 301 }, {}],
  ['invalid_format', {}, { kid: 'another key' }],
  ['invalid_format', {}, { x5c: ['another key'] }],
])('refuses a proof as %s: %j %j', async (code, payload, header) => {
  await expect(verifyHolderProof(await proofOf(payload, header), ISSUER, NOW)).rejects.toMatchObject({ code });
});
