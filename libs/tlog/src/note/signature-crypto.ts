import { decodeBase64Url, encodeBase64Url } from '../encoding/base64';
import { concatBytes } from '../encoding/bytes';
import { TlogError } from '../errors';

/** Names in Web Crypto: Ed25519 of RFC 8032, and ML-DSA-44 of FIPS 204 with an empty context. */
export type SignatureAlgorithm = 'Ed25519' | 'ML-DSA-44';

/**
 * The cryptography that this library needs besides SHA-256. `webCrypto` works in browsers and in Node (24.7 or newer
 * for ML-DSA-44). For a browser without ML-DSA-44, pass another implementation.
 */
export interface SignatureCrypto {
  /**
   * Verifies a key's signature of a message. Returns false also for bytes that are not a key or not a signature.
   *
   * @throws TlogError `unsupported_key` if the algorithm is missing
   */
  verify(
    algorithm: SignatureAlgorithm,
    publicKey: Uint8Array,
    message: Uint8Array,
    signature: Uint8Array,
  ): Promise<boolean>;
  /** @throws TlogError `unsupported_key` */
  sign(algorithm: SignatureAlgorithm, seed: Uint8Array, message: Uint8Array): Promise<Uint8Array>;
  /** @throws TlogError `unsupported_key` */
  publicKey(algorithm: SignatureAlgorithm, seed: Uint8Array): Promise<Uint8Array>;
}

/** The members of an algorithm's JSON Web Keys (RFC 8037; ML-DSA for JOSE). */
const KEY_FORMATS: Readonly<
  Record<SignatureAlgorithm, { jwk: { kty: string; crv?: string; alg?: string }; publicMember: 'x' | 'pub' }>
> = {
  Ed25519: { jwk: { kty: 'OKP', crv: 'Ed25519' }, publicMember: 'x' },
  'ML-DSA-44': { jwk: { kty: 'AKP', alg: 'ML-DSA-44' }, publicMember: 'pub' },
};

/** The bytes before the seed in PKCS #8. */
const PKCS8_PREFIXES: Readonly<Record<SignatureAlgorithm, readonly number[]>> = {
  // RFC 8410 section 7: version 0, id-Ed25519, an octet string in an octet string.
  Ed25519: [0x30, 46, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 34, 4, 32],
  // RFC 9881 section 6: version 0, id-ml-dsa-44, and the seed, tagged [0], in an octet string.
  'ML-DSA-44': [0x30, 52, 2, 1, 0, 0x30, 11, 6, 9, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 3, 17, 4, 34, 0x80, 32],
};

/** Verification with Web Crypto, for bundles that do not sign. */
export const webVerification: Pick<SignatureCrypto, 'verify'> = { verify };

/** The Web Crypto of browsers and Node. */
export const webCrypto: SignatureCrypto = { verify, sign, publicKey };

async function verify(
  ...[algorithm, key, message, signature]: Parameters<SignatureCrypto['verify']>
): Promise<boolean> {
  const { jwk, publicMember } = KEY_FORMATS[algorithm];
  const publicJwk = { ...jwk, [publicMember]: encodeBase64Url(key) };
  try {
    const imported = await crypto.subtle.importKey('jwk', publicJwk, algorithm, false, ['verify']);
    return await crypto.subtle.verify(algorithm, imported, copy(signature), copy(message));
  } catch (error) {
    if (isNotSupported(error)) throw unsupported(algorithm);
    return false;
  }
}

async function sign(algorithm: SignatureAlgorithm, seed: Uint8Array, message: Uint8Array): Promise<Uint8Array> {
  const key = await privateKey(algorithm, seed);
  return new Uint8Array(await crypto.subtle.sign(algorithm, key, copy(message)));
}

async function publicKey(algorithm: SignatureAlgorithm, seed: Uint8Array): Promise<Uint8Array> {
  const { publicMember } = KEY_FORMATS[algorithm];
  const jwk: { x?: string; pub?: string } = await crypto.subtle.exportKey('jwk', await privateKey(algorithm, seed));
  return decodeBase64Url(jwk[publicMember] ?? '');
}

async function privateKey(algorithm: SignatureAlgorithm, seed: Uint8Array): Promise<CryptoKey> {
  const pkcs8 = copy(concatBytes(Uint8Array.from(PKCS8_PREFIXES[algorithm]), seed));
  try {
    return await crypto.subtle.importKey('pkcs8', pkcs8, algorithm, true, ['sign']);
  } catch {
    throw unsupported(algorithm);
  } finally {
    pkcs8.fill(0);
  }
}

/** Copies the bytes, because Web Crypto refuses views of shared memory. */
function copy(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(bytes);
}

function isNotSupported(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'name' in error && error.name === 'NotSupportedError';
}

function unsupported(algorithm: SignatureAlgorithm): TlogError {
  return new TlogError('unsupported_key', `${algorithm} needs Node 24.7 or newer.`);
}
