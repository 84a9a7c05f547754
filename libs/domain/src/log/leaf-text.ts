import { createHash } from 'node:crypto';
import { canonicalize } from '../json/canonicalize';
import { KEYED_ENTRY_VERSION } from './entry';

const MAP_VERSION = 'iss_map_v1';

/** The entries that one `map.backfill` entry gives keys to, at most. */
export const MAX_BACKFILL_ENTRIES = 256;

/**
 * Returns the public text of the leaf of an entry with keys in the map: the hash of the entry's text, and its keys of 32 bytes
 * each (docs/log.md). The salt in the entry hides it.
 */
export function keyedLeafText(entry: string, keys: readonly Uint8Array[]): string {
  return canonicalize({
    body: createHash('sha256').update(entry).digest('base64url'),
    entry_version: KEYED_ENTRY_VERSION,
    keys: keys.map(base64url),
  });
}

/** Returns the text of the public entry that gives keys to the entries from the log index `from` on, in their order. */
export function mapBackfillText(from: number, keys: readonly (readonly Uint8Array[])[]): string {
  return canonicalize({
    entries: keys.map((ofEntry) => ofEntry.map(base64url)),
    from,
    map_version: MAP_VERSION,
    type: 'map.backfill',
  });
}

function base64url(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64url');
}
