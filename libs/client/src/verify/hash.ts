import type { JsonObject } from '@iss/domain/pure';
import { encodeUtf8, sha256, toHex } from '@iss/tlog';

/** In bytes. Up to this size, the library's own SHA-256 is faster than a call of the platform. */
const SMALL = 4096;

/** Returns the SHA-256 of a text in UTF-8, as lowercase hex. */
export async function hashText(text: string): Promise<string> {
  const bytes = encodeUtf8(text);
  // Pages without TLS lack Web Crypto.
  const subtle: SubtleCrypto | undefined = crypto.subtle;
  const isHere = subtle === undefined || bytes.length <= SMALL;
  return toHex(isHere ? sha256(bytes) : new Uint8Array(await subtle.digest('SHA-256', bytes)));
}

/** Returns the hash of an envelope. */
export type HashContent = (content: JsonObject) => Promise<string>;
