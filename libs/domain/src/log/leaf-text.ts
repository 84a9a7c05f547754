import { createHash } from 'node:crypto';
import { canonicalize } from '../json/canonicalize';
import { KEYED_ENTRY_VERSION } from './entry';

const MAP_VERSION = 'iss_map_v1';

/**
 * The maximum numbers of entries to which one `map.backfill` entry gives keys, and of these keys. In a public bundle,
 * the length of an entry has two bytes.
 */
const MAX_BACKFILL_ENTRIES = 256;
const MAX_BACKFILL_KEYS = 1_024;

/**
 * Returns the public text of the leaf of an entry with keys in the map: the hash of the entry's text, and its keys of
 * 32 bytes each (docs/log.md). Because of the salt in the entry, nobody can confirm a guess with the hash.
 */
export function keyedLeafText(entry: string, keys: readonly Uint8Array[]): string {
  return leafTextOfBody(createHash('sha256').update(entry).digest(), keys);
}

/** Returns the same text from the SHA-256 of the entry's text, which remains of an erased entry. */
export function leafTextOfBody(bodyHash: Uint8Array, keys: readonly Uint8Array[]): string {
  return canonicalize({
    body: base64url(bodyHash),
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

/** A `map.backfill` entry, which gives keys to the entries from the log index `from` on. */
export interface BackfillEntry {
  readonly from: number;
  readonly keys: readonly (readonly Uint8Array[])[];
  readonly text: string;
}

/** Returns the `map.backfill` entries that give keys to consecutive entries. */
export function backfillEntries(from: number, keys: readonly (readonly Uint8Array[])[]): BackfillEntry[] {
  const entries: BackfillEntry[] = [];
  for (let first = 0, next = 0; first < keys.length; first = next) {
    for (let count = 0; next < keys.length && next < first + MAX_BACKFILL_ENTRIES; next++) {
      count += keys[next]?.length ?? 0;
      if (count > MAX_BACKFILL_KEYS && next > first) break;
    }
    const part = keys.slice(first, next);
    entries.push({ from: from + first, keys: part, text: mapBackfillText(from + first, part) });
  }
  return entries;
}

/** Returns the public text of the entries before the first one with keys, which fill its bundle. */
export function mapStartText(startsAt: number, vrfKey: string): string {
  return canonicalize({ map_version: MAP_VERSION, starts_at: startsAt, type: 'map.start', vrf_key: vrfKey });
}

function base64url(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64url');
}
