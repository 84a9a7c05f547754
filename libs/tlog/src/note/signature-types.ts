import type { SignatureAlgorithm } from './signature-crypto';

/** The signature types of C2SP signed-note that this library supports. */
export type SignatureType = 'ed25519' | 'ed25519-cosignature' | 'ml-dsa-44-cosignature';

interface SignatureTypeProperties {
  /** The signature type identifier byte. */
  readonly byte: number;
  readonly algorithm: SignatureAlgorithm;
  /** True if the signature is preceded by a time and the type signs only checkpoints (C2SP tlog-cosignature). */
  readonly timestamped: boolean;
  readonly publicKeySize: number;
  readonly signatureSize: number;
}

export const SIGNATURE_TYPES: Readonly<Record<SignatureType, SignatureTypeProperties>> = {
  ed25519: { byte: 0x01, algorithm: 'Ed25519', timestamped: false, publicKeySize: 32, signatureSize: 64 },
  'ed25519-cosignature': { byte: 0x04, algorithm: 'Ed25519', timestamped: true, publicKeySize: 32, signatureSize: 64 },
  'ml-dsa-44-cosignature': {
    byte: 0x06,
    algorithm: 'ML-DSA-44',
    timestamped: true,
    publicKeySize: 1312,
    signatureSize: 2420,
  },
};

/** Bytes of a private key, which is the seed of RFC 8032 or of FIPS 204 (ξ). */
export const SEED_SIZE = 32;

/** Returns the type of an identifier byte, or undefined if it is unknown. */
export function signatureTypeOf(byte: number): SignatureType | undefined {
  const types: SignatureType[] = ['ed25519', 'ed25519-cosignature', 'ml-dsa-44-cosignature'];
  return types.find((type) => SIGNATURE_TYPES[type].byte === byte);
}
