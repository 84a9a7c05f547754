import type { KeyObject } from 'node:crypto';

const RSA_ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'] as const;
const EC_ALGORITHMS = ['ES256', 'ES384', 'ES512'] as const;

/** The asymmetric algorithms that jsonwebtoken, under passport-jwt, can verify. It has no EdDSA. */
export const SIGNING_ALGORITHMS = [...RSA_ALGORITHMS, ...EC_ALGORITHMS] as const;
export type SigningAlgorithm = (typeof SIGNING_ALGORITHMS)[number];

/** RFC 7518, section 3.3. */
const MIN_RSA_BITS = 2048;
/** RFC 8017, section 3.1: odd and at least 3. With 1, every message is its own signature. */
const MIN_RSA_EXPONENT = 3n;

export function isSigningAlgorithm(value: unknown): value is SigningAlgorithm {
  return SIGNING_ALGORITHMS.some((algorithm) => algorithm === value);
}

/**
 * Returns the algorithms that a key may verify: those of its kind, narrowed to the `alg` of its JWK. Empty if the key
 * is useless.
 */
export function algorithmsOf(key: KeyObject, alg: string | undefined): readonly SigningAlgorithm[] {
  const fitting = algorithmsByKind(key);
  return alg === undefined ? fitting : fitting.filter((algorithm) => algorithm === alg);
}

function algorithmsByKind(key: KeyObject): readonly SigningAlgorithm[] {
  switch (key.asymmetricKeyType) {
    case 'rsa':
      return isSoundRsa(key) ? RSA_ALGORITHMS : [];
    case 'ec':
      return algorithmsByCurve(key.asymmetricKeyDetails?.namedCurve);
    default:
      return [];
  }
}

function isSoundRsa({ asymmetricKeyDetails: details }: KeyObject): boolean {
  const { modulusLength = 0, publicExponent = 0n } = details ?? {};
  return modulusLength >= MIN_RSA_BITS && publicExponent >= MIN_RSA_EXPONENT && publicExponent % 2n === 1n;
}

function algorithmsByCurve(namedCurve: string | undefined): readonly SigningAlgorithm[] {
  switch (namedCurve) {
    case 'prime256v1':
      return ['ES256'];
    case 'secp384r1':
      return ['ES384'];
    case 'secp521r1':
      return ['ES512'];
    default:
      return [];
  }
}
