import { canonicalize } from '@iss/domain/pure';
import { encodeBase64Url, encodeUtf8, leafHash, sha256 } from '@iss/tlog';

/** The format of entries that have keys in the map. Their leaf is the public outer text (docs/log.md). */
export const KEYED_ENTRY_VERSION = 'iss_log_entry_v2';

/** The text of a log entry, with its keys in the map: 32 bytes each, in base64url. An entry of the earlier format has none. */
export interface LoggedText {
  readonly entry: string;
  readonly keys?: string[] | null | undefined;
}

/** Returns the text of the leaf: the public outer text of an entry with keys, otherwise the entry itself. */
export function leafTextOf({ entry, keys }: LoggedText): string {
  const body = encodeBase64Url(sha256(encodeUtf8(entry)));
  return keys ? canonicalize({ body, entry_version: KEYED_ENTRY_VERSION, keys }) : entry;
}

/** Returns the leaf hash of an entry. */
export function leafOf(logged: LoggedText): Uint8Array {
  return leafHash(leafTextOf(logged));
}
