import { concatBytes, equalBytes, readUint32 } from '../encoding/bytes';
import { decodeBase64, encodeBase64 } from '../encoding/base64';
import { encodeUtf8 } from '../encoding/utf8';
import { TlogError } from '../errors';
import { sha256 } from '../hash/sha256';
import { requireKeyName } from './key-name';
import { webCrypto, type SignatureCrypto } from './signature-crypto';
import { SEED_SIZE, SIGNATURE_TYPES, signatureTypeOf, type SignatureType } from './signature-types';

/** Characters of a key's text. An ML-DSA-44 key has about 1,760 besides its name. */
const MAX_KEY_LENGTH = 4096;
const PRIVATE_START = 'PRIVATE+KEY+';

/** A named public key that verifies a signer's lines. */
export interface VerifierKey {
  readonly name: string;
  /** A uint32: the first four bytes of SHA-256(name ‖ newline ‖ type ‖ public key). */
  readonly keyId: number;
  readonly type: SignatureType;
  readonly publicKey: Uint8Array;
}

/** A named private key. Never log it. */
export interface SigningKey {
  readonly name: string;
  readonly keyId: number;
  readonly type: SignatureType;
  readonly seed: Uint8Array;
}

/** A new key pair as texts. `signingKey` is secret. */
export interface GeneratedKeys {
  readonly signingKey: string;
  readonly verifierKey: string;
}

/**
 * Computes the key ID (C2SP signed-note "Signatures").
 *
 * @throws TlogError `malformed` for an invalid name
 */
export function keyIdOf(name: string, type: SignatureType, publicKey: Uint8Array): number {
  requireKeyName(name);
  return keyIdOfMaterial(name, concatBytes(Uint8Array.of(SIGNATURE_TYPES[type].byte), publicKey));
}

/**
 * Parses a verifier key (C2SP signed-note "Verifier keys"): `<name>+<key ID in hex>+<base64 of type and public key>`.
 *
 * @throws TlogError `malformed`; `unsupported_key` for a valid key of an unknown type
 */
export function parseVerifierKey(vkey: string): VerifierKey {
  const { name, keyId, material } = parseKeyText(vkey, 'verifier key');
  if (keyIdOfMaterial(name, material) !== keyId) {
    throw new TlogError('malformed', `The verifier key of ${name} has the wrong ID: copy it whole.`);
  }
  const type = requireType(material);
  const publicKey = material.slice(1);
  if (publicKey.length !== SIGNATURE_TYPES[type].publicKeySize) throw malformed('verifier key');
  return { name, keyId, type, publicKey };
}

/** Formats a verifier key. Inverse of `parseVerifierKey`. */
export function formatVerifierKey({ name, type, publicKey }: Omit<VerifierKey, 'keyId'>): string {
  return formatKeyText(name, keyIdOf(name, type, publicKey), type, publicKey);
}

/**
 * Parses a signing key: `PRIVATE+KEY+<name>+<key ID in hex>+<base64 of type and seed>`, the format of Go's `sumdb/note`
 * and `transparency-dev/formats`. `createSigner` checks that the ID belongs to the public key.
 *
 * @throws TlogError `malformed` or `unsupported_key`. Its message contains only the name of the key.
 */
export function parseSigningKey(skey: string): SigningKey {
  if (!skey.startsWith(PRIVATE_START)) throw malformed('signing key');
  const { name, keyId, material } = parseKeyText(skey.slice(PRIVATE_START.length), 'signing key');
  const type = requireType(material);
  const seed = material.slice(1);
  if (seed.length !== SEED_SIZE) throw malformed('signing key');
  return { name, keyId, type, seed };
}

/**
 * Generates a key pair from the platform's random numbers.
 *
 * @throws TlogError `malformed` for an invalid name; `unsupported_key` if the platform lacks the algorithm
 */
export async function generateKeys(
  name: string,
  type: SignatureType,
  signatures: SignatureCrypto = webCrypto,
): Promise<GeneratedKeys> {
  const seed = crypto.getRandomValues(new Uint8Array(SEED_SIZE));
  const publicKey = await signatures.publicKey(SIGNATURE_TYPES[type].algorithm, seed);
  return {
    signingKey: PRIVATE_START + formatKeyText(name, keyIdOf(name, type, publicKey), type, seed),
    verifierKey: formatVerifierKey({ name, type, publicKey }),
  };
}

/** Compares two keys without regard to their names. */
export function isSameKey(left: VerifierKey, right: VerifierKey): boolean {
  return left.type === right.type && equalBytes(left.publicKey, right.publicKey);
}

/** Returns the label of a key in messages: `<name>+<key ID in hex>`. */
export function keyLabel({ name, keyId }: { readonly name: string; readonly keyId: number }): string {
  return `${name}+${keyId.toString(16).padStart(8, '0')}`;
}

function parseKeyText(text: string, what: string): { name: string; keyId: number; material: Uint8Array } {
  const [, name, hex, base64] = /^([^+]+)\+([0-9a-f]{8})\+(.+)$/s.exec(text) ?? [];
  if (text.length > MAX_KEY_LENGTH || !name || !hex || !base64) throw malformed(what);
  requireKeyName(name);
  const material = decodeBase64(base64, what);
  if (material.length < 2) throw malformed(what);
  return { name, keyId: parseInt(hex, 16), material };
}

function formatKeyText(name: string, keyId: number, type: SignatureType, key: Uint8Array): string {
  const material = concatBytes(Uint8Array.of(SIGNATURE_TYPES[type].byte), key);
  return `${keyLabel({ name, keyId })}+${encodeBase64(material)}`;
}

function keyIdOfMaterial(name: string, material: Uint8Array): number {
  return readUint32(sha256(concatBytes(encodeUtf8(`${name}\n`), material)));
}

function requireType(material: Uint8Array): SignatureType {
  const type = signatureTypeOf(material[0]!);
  if (type !== undefined) return type;
  throw new TlogError('unsupported_key', 'The key has an unknown signature type: use 1, 4 or 6.');
}

function malformed(what: string): TlogError {
  const start = what === 'signing key' ? PRIVATE_START : '';
  return new TlogError('malformed', `Not a ${what}: copy ${start}<name>+<8 hex digits>+<base64>.`);
}
