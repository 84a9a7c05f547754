import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { algorithmsOf, isSigningAlgorithm } from './signing-algorithms';

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey;
const smallRsa = generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey;
const ec = (namedCurve: string) => generateKeyPairSync('ec', { namedCurve }).publicKey;

it('algorithmsOf returns only algorithms that fit the kind of key', () => {
  expect(algorithmsOf(rsa, undefined)).toEqual(['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512']);
  expect(algorithmsOf(ec('P-256'), undefined)).toEqual(['ES256']);
  expect(algorithmsOf(ec('P-384'), undefined)).toEqual(['ES384']);
  expect(algorithmsOf(ec('P-521'), undefined)).toEqual(['ES512']);
});

it('algorithmsOf returns only the algorithm that the key names, if it fits', () => {
  expect(algorithmsOf(rsa, 'PS256')).toEqual(['PS256']);
  expect(algorithmsOf(rsa, 'ES256')).toEqual([]);
  expect(algorithmsOf(rsa, 'HS256')).toEqual([]);
  expect(algorithmsOf(rsa, 'RSA-OAEP')).toEqual([]);
});

it('algorithmsOf returns none for small RSA keys, other curves and other kinds', () => {
  expect(algorithmsOf(smallRsa, undefined)).toEqual([]);
  expect(algorithmsOf(ec('secp256k1'), undefined)).toEqual([]);
  expect(algorithmsOf(generateKeyPairSync('ed25519').publicKey, undefined)).toEqual([]);
});

it('algorithmsOf returns none for an RSA key whose exponent is even or 1', () => {
  const { n } = rsa.export({ format: 'jwk' });
  const withExponent = (e: string) => createPublicKey({ key: { kty: 'RSA', n: n ?? '', e }, format: 'jwk' });
  expect(algorithmsOf(withExponent('AQAB'), undefined)).toHaveLength(6);
  expect(algorithmsOf(withExponent('Aw'), undefined)).toHaveLength(6);
  for (const e of ['AQ', 'Ag', 'AQAA']) expect(algorithmsOf(withExponent(e), undefined)).toEqual([]);
});

it.each(['none', 'None', 'HS256', 'rs256', 'EdDSA', '', undefined, null, 1, ['RS256']])(
  'isSigningAlgorithm rejects %p',
  (alg) => {
    expect(isSigningAlgorithm(alg)).toBe(false);
  },
);
