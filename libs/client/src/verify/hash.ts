import { encodeUtf8, sha256, toHex } from '@iss/tlog';

/** Up to so many bytes the library's own SHA-256 is done before the platform's has been asked. */
const SMALL = 4096;

/** Lowercase hex SHA-256 of a text's UTF-8 bytes. */
export async function hashText(text: string): Promise<string> {
  const bytes = encodeUtf8(text);
  // Pages without TLS have no Web Crypto.
  const subtle: SubtleCrypto | undefined = globalThis.crypto?.subtle;
  if (bytes.length <= SMALL || subtle === undefined) return toHex(sha256(bytes));
  return toHex(new Uint8Array(await subtle.digest('SHA-256', bytes)));
}
