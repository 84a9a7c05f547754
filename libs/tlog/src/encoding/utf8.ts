import { TlogError } from '../errors';

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Encodes a well-formed text as UTF-8. */
export function encodeUtf8(text: string): Uint8Array<ArrayBuffer> {
  return encoder.encode(text);
}

/**
 * Decodes UTF-8 bytes from a file or a network. A byte order mark is preserved.
 *
 * @throws TlogError `malformed` if they are not UTF-8
 */
export function decodeUtf8(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw new TlogError('malformed', 'The bytes are not UTF-8.');
  }
}

/** Checks whether a text is well-formed UTF-16, so that it can be encoded as UTF-8. */
export function isWellFormed(text: string): boolean {
  return !/\p{Surrogate}/u.test(text);
}
