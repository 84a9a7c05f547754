import { TlogError } from '../errors';

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The UTF-8 bytes of a well-formed text. */
export function encodeUtf8(text: string): Uint8Array<ArrayBuffer> {
  return encoder.encode(text);
}

/**
 * The text of UTF-8 bytes, as they came from a file or a network; a byte order mark stays in it.
 *
 * @throws TlogError `malformed` when they are not UTF-8
 */
export function decodeUtf8(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw new TlogError('malformed', 'The bytes are not UTF-8.');
  }
}

/** Whether the text is well-formed UTF-16, so that it has UTF-8 bytes of its own. */
export function isWellFormed(text: string): boolean {
  return !/\p{Surrogate}/u.test(text);
}
