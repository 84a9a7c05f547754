import { canonicalize, type JsonValue } from '@iss/domain/pure';
import { encodeUtf8, sha256, toHex } from '@iss/tlog';

/** Returns the SHA-256 of the RFC 8785 text of an envelope, in lowercase hex. */
export function hashOf(envelope: JsonValue): string {
  return toHex(sha256(encodeUtf8(canonicalize(envelope))));
}
