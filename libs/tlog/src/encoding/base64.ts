import { TlogError } from '../errors';
import { requireHash } from '../tree/hashes';
import { bytesOfBinary } from './bytes';

/** The number of characters in one call of `String.fromCharCode`: engines limit its arguments. */
const CHUNK = 8192;

/** Encodes standard base64 (RFC 4648 section 4) with padding. */
export function encodeBase64(bytes: Uint8Array): string {
  return btoa(binaryOf(bytes));
}

/** Encodes base64url (RFC 4648 section 5) without padding. */
export function encodeBase64Url(bytes: Uint8Array): string {
  return encodeBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

/** Decodes base64url as keys of the platform have it. Unlike `decodeBase64`, it accepts several encodings of the same bytes. */
export function decodeBase64Url(text: string): Uint8Array {
  return bytesOfBinary(atob(text.replaceAll('-', '+').replaceAll('_', '/')));
}

/** Returns one character per byte. Inverse of `bytesOfBinary`. */
export function binaryOf(bytes: Uint8Array): string {
  let binary = '';
  for (let offset = 0; offset < bytes.length; offset += CHUNK) {
    binary += String.fromCharCode(...bytes.subarray(offset, offset + CHUNK));
  }
  return binary;
}

/**
 * Decodes standard base64. Each sequence of bytes has exactly one encoding: padding is required, the bits that it
 * covers must be zero, and white space is refused.
 *
 * @throws TlogError `malformed`, naming `what`
 */
export function decodeBase64(text: string, what: string): Uint8Array {
  try {
    const binary = atob(text);
    // `atob` accepts white space, missing padding and stray bits. Encoding the result again detects them.
    if (btoa(binary) === text) return bytesOfBinary(binary);
  } catch {
    // `atob` refused another character.
  }
  throw new TlogError('malformed', `The ${what} is not padded base64 (RFC 4648).`);
}

/**
 * Decodes a hash in base64 (44 characters).
 *
 * @throws TlogError `malformed`, naming `what`
 */
export function decodeHash(text: string, what: string): Uint8Array {
  const hash = decodeBase64(text, what);
  requireHash(hash, what);
  return hash;
}
