import { TlogError } from '../errors';
import { requireHash } from '../tree/hashes';
import { bytesOfBinary } from './bytes';

/** Characters that one call of `String.fromCharCode` takes at once: engines bound its arguments. */
const CHUNK = 8192;

/** The standard base64 of RFC 4648 section 4, padded. */
export function encodeBase64(bytes: Uint8Array): string {
  return btoa(binaryOf(bytes));
}

/** A character for each byte: the inverse of `bytesOfBinary`. */
export function binaryOf(bytes: Uint8Array): string {
  let binary = '';
  for (let offset = 0; offset < bytes.length; offset += CHUNK) {
    binary += String.fromCharCode(...bytes.subarray(offset, offset + CHUNK));
  }
  return binary;
}

/**
 * The bytes of standard base64. One text for one sequence of bytes: padding must be there, the bits that it covers must be
 * zero, white space is refused.
 *
 * @throws TlogError `malformed`, naming `what`
 */
export function decodeBase64(text: string, what: string): Uint8Array {
  let binary: string;
  try {
    binary = atob(text);
  } catch {
    throw notBase64(what);
  }
  // `atob` forgives white space, missing padding and stray bits; encoding again tells.
  if (btoa(binary) !== text) throw notBase64(what);
  return bytesOfBinary(binary);
}

/**
 * A hash in base64: 44 characters.
 *
 * @throws TlogError `malformed`, naming `what`
 */
export function decodeHash(text: string, what: string): Uint8Array {
  const hash = decodeBase64(text, what);
  requireHash(hash, what);
  return hash;
}

function notBase64(what: string): TlogError {
  return new TlogError('malformed', `The ${what} is not standard base64 (RFC 4648, padded).`);
}
