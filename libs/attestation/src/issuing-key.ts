import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { canonicalize, type JsonObject } from '@iss/domain';
import { calculateJwkThumbprint, CompactSign, type JWK } from 'jose';

/** A key with which a tenant signs, for Ed25519 (RFC 8037). */
export interface IssuingKey {
  /** The JWK thumbprint of the public key (RFC 7638). */
  kid: string;
  /** The `x` of the JWK. */
  publicKey: string;
  /** The `d` of the JWK. */
  privateKey: string;
}

type PublicKey = Pick<IssuingKey, 'kid' | 'publicKey'>;

/** Creates a key. Its kid never begins with a dash, which commands would read as an option. */
export async function createIssuingKey(): Promise<IssuingKey> {
  const { x = '', d = '' } = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
  const kid = await calculateJwkThumbprint(bareJwk(x));
  return kid.startsWith('-') ? createIssuingKey() : { kid, publicKey: x, privateKey: d };
}

/** Returns the JWK that verifies what a key signed. */
export function publicJwkOf({ kid, publicKey }: PublicKey) {
  return { ...bareJwk(publicKey), kid, alg: 'EdDSA', use: 'sig' };
}

/** Signs claims as a compact JWS. The payload is RFC 8785 text. */
export function signClaims(type: string, claims: JsonObject, key: IssuingKey): Promise<string> {
  return new CompactSign(Buffer.from(canonicalize(claims)))
    .setProtectedHeader({ alg: 'EdDSA', typ: type, kid: key.kid })
    .sign(privateKeyOf(key));
}

export function privateKeyOf({ publicKey, privateKey }: IssuingKey): KeyObject {
  return createPrivateKey({ key: { ...bareJwk(publicKey), d: privateKey }, format: 'jwk' });
}

function bareJwk(x: string) {
  return { kty: 'OKP', crv: 'Ed25519', x } satisfies JWK;
}
