import { decodeBase64, encodeBase64 } from '@iss/tlog';

/** Encodes base64url without padding (RFC 4648 section 5). */
export function encodeBase64url(bytes: Uint8Array): string {
  return encodeBase64(bytes).replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '');
}

/**
 * Decodes base64url without padding. Each sequence of bytes has exactly one encoding.
 *
 * @throws TlogError `malformed`, naming `what`
 */
export function decodeBase64url(text: string, what: string): Uint8Array {
  // A character of the other alphabet becomes one that base64 refuses.
  const standard = text.replace(/[-_+/=]/g, (character) => ({ '-': '+', _: '/' })[character] ?? '!');
  return decodeBase64(standard + '='.repeat((4 - (standard.length % 4)) % 4), what);
}
