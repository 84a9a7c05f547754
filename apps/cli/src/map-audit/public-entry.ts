import { decodeBase64url, MapError, parseMapRootEntry } from '@iss/map';
import { decodeUtf8, TlogError } from '@iss/tlog';
import { AuditRefusal } from './refusal';

/** A public entry of a log with a map, by its kind. */
export type PublicEntry =
  | { readonly kind: 'fact'; readonly keys: readonly Uint8Array[] }
  /** Gives keys to the earlier entries from log index `from` on. */
  | { readonly kind: 'backfill'; readonly from: number; readonly entries: readonly (readonly Uint8Array[])[] }
  | { readonly kind: 'root'; readonly covers: number; readonly root: Uint8Array };

/** The earlier entries in one map.backfill entry. */
const MAX_BACKFILLED = 256;

const KEY = '"[\\w-]{43}"';
const KEYS = `\\[(?:${KEY}(?:,${KEY})*)?\\]`;
const FACT = new RegExp(`^\\{"body":"([\\w-]{43})","entry_version":"iss_log_entry_v2","keys":(${KEYS})\\}$`);
const BACKFILL = new RegExp(
  `^\\{"entries":\\[(${KEYS}(?:,${KEYS})*)\\],"from":(0|[1-9]\\d{0,15}),"map_version":"iss_map_v1","type":"map\\.backfill"\\}$`,
);

/**
 * Parses the public text of a log entry. Only the canonical text of one of the three kinds is accepted.
 *
 * @throws AuditRefusal that names the entry
 */
export function parsePublicEntry(bytes: Uint8Array, logIndex: number): PublicEntry {
  try {
    const text = decodeUtf8(bytes);
    const [, body, keys] = FACT.exec(text) ?? [];
    if (body !== undefined && keys !== undefined) {
      decodeBase64url(body, 'hash of the body');
      return { kind: 'fact', keys: keysOf(keys) };
    }
    const [, lists, from] = BACKFILL.exec(text) ?? [];
    if (lists === undefined) return { kind: 'root', ...parseMapRootEntry(text) };
    const entries = lists.match(new RegExp(KEYS, 'g'))?.map(keysOf) ?? [];
    if (entries.length > MAX_BACKFILLED)
      throw new AuditRefusal(`Entry ${logIndex} gives keys to ${entries.length} entries. At most 256 are allowed.`);
    return { kind: 'backfill', from: Number(from), entries };
  } catch (error) {
    if (!(error instanceof MapError || error instanceof TlogError)) throw error;
    throw new AuditRefusal(
      `Entry ${logIndex} is not the canonical text of an entry with keys, of a map.backfill entry or of a map.root entry: ${error.message}`,
    );
  }
}

function keysOf(list: string): Uint8Array[] {
  const texts = list.match(/[\w-]{43}/g) ?? [];
  return texts.map((text) => decodeBase64url(text, 'key of the map'));
}
