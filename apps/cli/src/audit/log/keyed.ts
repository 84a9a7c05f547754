import { hash } from 'node:crypto';
import { type AuditReader, isText, type Row } from '../database';
import { type Found, report } from '../findings';
import { keysOf, PREFIX_BYTES } from './map';

const V1 = '"entry_version":"iss_log_entry_v1"';
const V2 = '"entry_version":"iss_log_entry_v2"';

/** The depths of buckets: the numbers of bits that the keys of a bucket share. */
const DEPTHS = 'SELECT min(get_byte(path, 0)), max(get_byte(path, 0)) FROM map_buckets';

/** The longest part of a bucket that is read for a key: 12 log indexes. */
const PART_BYTES = 444;

/**
 * Selects the keys of entries. A key is found in its bucket by its first bytes. A wrong key would give another leaf
 * hash.
 */
const KEYS = `
SELECT e.log_index, encode(k.part, 'base64'), e.backfill_from
  FROM (SELECT * FROM log_entries WHERE log_index >= $1 AND log_index < $2 AND key_prefixes IS NOT NULL
         ORDER BY log_index OFFSET 0) e
  LEFT JOIN LATERAL generate_series(0, octet_length(e.key_prefixes) / ${PREFIX_BYTES} - 1) AS p(place) ON true
  LEFT JOIN LATERAL (SELECT substr(e.key_prefixes, ${PREFIX_BYTES} * p.place + 1, ${PREFIX_BYTES}) AS prefix) o ON true
  LEFT JOIN LATERAL (
    SELECT substr(b.content, position(o.prefix IN b.content), ${PART_BYTES}) AS part
      FROM generate_series($3::int, $4::int) AS d(bits)
     CROSS JOIN LATERAL (SELECT * FROM map_buckets b
            WHERE b.path = set_byte('\\x00'::bytea, 0, d.bits) || CASE WHEN d.bits % 8 = 0 THEN substr(o.prefix, 1, d.bits / 8)
                  ELSE substr(o.prefix, 1, d.bits / 8)
                       || set_byte('\\x00'::bytea, 0, get_byte(o.prefix, d.bits / 8) & (255 << (8 - d.bits % 8)) & 255) END
            LIMIT 1) b
     WHERE position(o.prefix IN b.content) > 0
     LIMIT 1) k ON true
 ORDER BY e.log_index, p.place`;

/** The names of the map's own entries, by entry_type. */
const NAMES: Readonly<Record<string, string>> = { 9: 'root', 10: 'older keys', 13: 'start' };

/** The entries of the map itself, without a salt. */
export const MAP_ENTRIES = `
SELECT e.log_index, e.entry_type, translate(encode(e.map_root, 'base64'), '+/=', '-_'), e.backfill_from, encode(e.key_counts, 'hex'),
       CASE WHEN e.entry_type = 13 THEN '{"map_version":"iss_map_v1","starts_at":' || m.starts_at || ',"type":"map.start","vrf_key":"' || m.vrf_key || '"}' END
  FROM (SELECT * FROM log_entries WHERE log_index >= $1 AND log_index < $2 AND entry_type IN (9, 10, 13) ORDER BY log_index OFFSET 0) e
  LEFT JOIN map_state m ON true`;

/** The keys of an entry, as base64url, with the log indexes that the map has for each. A missing key is left out. */
export interface StatedKeys {
  readonly texts: string[];
  readonly logIndexes: (readonly number[])[];
  /** True if the keys belong to older entries. */
  readonly isBackfill: boolean;
}

/** An entry that is not in this map has the version iss_log_entry_v1. */
export type KeysByEntry = ReadonlyMap<number, StatedKeys>;

/** Reads the keys of a range of entries. */
export async function readKeys(reader: AuditReader, from: number, to: number): Promise<KeysByEntry> {
  const keys = new Map<number, StatedKeys>();
  const [depths] = await reader.rows(DEPTHS);
  await reader.each(KEYS, [from, to, depths?.[0] ?? 0, depths?.[1] ?? 0], ([at, part, backfillFrom]) => {
    const ofEntry = keys.get(Number(at)) ?? { texts: [], logIndexes: [], isBackfill: isText(backfillFrom) };
    keys.set(Number(at), ofEntry);
    const [found] = keysOf(Buffer.from(part ?? '', 'base64'));
    if (found === undefined) return;
    ofEntry.texts.push(found.key.toString('base64url'));
    ofEntry.logIndexes.push(found.logIndexes);
  });
  return keys;
}

/** Reports a key that the map does not have for the entry to which it belongs. */
export function checkPlaces(found: Found, where: string, keys: StatedKeys, indexOf: (place: number) => number): void {
  const key = keys.texts.find((_, place) => keys.logIndexes[place]?.includes(indexOf(place)) !== true);
  if (key !== undefined) report(found, 'map', where, `the map has its key ${key} for other entries`);
}

/**
 * Returns the text of the leaf of an entry. If the entry has keys, this is its public text, with the hash of the entry.
 */
export function leafText(text: string, keys: StatedKeys | undefined): string {
  if (keys === undefined) return text;
  return outerText(hash('sha256', text.replace(V1, V2), 'base64url'), keys.texts);
}

/** Returns the public text of the leaf of an entry with keys. `body` is the hash of the entry in base64url. */
export function outerText(body: string, keys: readonly string[]): string {
  return `{"body":"${body}",${V2},"keys":${JSON.stringify(keys)}}`;
}

/** An entry of the map itself, as the tables have it. */
export interface MapEntry {
  readonly name: string;
  readonly text: string;
  /** Returns the log index of the older entry to which a key belongs. */
  readonly indexOf: (place: number) => number;
}

/** Reads a row of {@link MAP_ENTRIES}. */
export function readMapEntry([at, type, root, from, counts, start]: Row, keys: readonly string[]): MapEntry {
  const numbers = counts?.match(/.{4}/g)?.map((count) => Number.parseInt(count, 16)) ?? [];
  const places = numbers.flatMap((count, place) => Array<number>(count).fill(Number(from) + place));
  const left = [...keys];
  const entries = JSON.stringify(numbers.map((count) => left.splice(0, count)));
  const text = isText(root)
    ? `{"covers":${at},"map_root":"${root}","map_version":"iss_map_v1","type":"map.root"}`
    : (start ?? `{"entries":${entries},"from":${from},"map_version":"iss_map_v1","type":"map.backfill"}`);
  return { name: NAMES[type ?? ''] ?? 'part', text, indexOf: (place) => places[place] ?? -1 };
}
