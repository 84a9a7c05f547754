import { hash } from 'node:crypto';
import type { AuditReader } from './database';

const V1 = '"entry_version":"iss_log_entry_v1"';
const V2 = '"entry_version":"iss_log_entry_v2"';
const PREFIX_BYTES = 8;

/** The depths of buckets: the numbers of bits that the keys of a bucket share. */
const DEPTHS = 'SELECT min(get_byte(path, 0)), max(get_byte(path, 0)) FROM map_buckets';

/** The keys of entries. A key is found in its bucket by its first bytes; a wrong one gives another leaf. */
const KEYS = `
SELECT e.log_index, translate(encode(k.key, 'base64'), '+/=', '-_')
  FROM (SELECT * FROM log_entries WHERE log_index >= $1 AND log_index < $2 AND key_prefixes IS NOT NULL
         ORDER BY log_index OFFSET 0) e
  LEFT JOIN LATERAL generate_series(0, octet_length(e.key_prefixes) / ${PREFIX_BYTES} - 1) AS p(place) ON true
  LEFT JOIN LATERAL (SELECT substr(e.key_prefixes, ${PREFIX_BYTES} * p.place + 1, ${PREFIX_BYTES}) AS prefix) o ON true
  LEFT JOIN LATERAL (
    SELECT substr(b.content, position(o.prefix IN b.content), 32) AS key
      FROM generate_series($3::int, $4::int) AS d(bits)
     CROSS JOIN LATERAL (SELECT * FROM map_buckets b
            WHERE b.path = set_byte('\\x00'::bytea, 0, d.bits) || CASE WHEN d.bits % 8 = 0 THEN substr(o.prefix, 1, d.bits / 8)
                  ELSE substr(o.prefix, 1, d.bits / 8)
                       || set_byte('\\x00'::bytea, 0, get_byte(o.prefix, d.bits / 8) & (255 << (8 - d.bits % 8)) & 255) END
            LIMIT 1) b
     WHERE position(o.prefix IN b.content) > 0
     LIMIT 1) k ON true
 ORDER BY e.log_index, p.place`;

/** The entries of the map itself, without a salt. */
export const MAP_ENTRIES = `
SELECT e.log_index, e.entry_type, translate(encode(e.map_root, 'base64'), '+/=', '-_'), e.backfill_from, encode(e.key_counts, 'hex')
  FROM log_entries e WHERE e.log_index >= $1 AND e.log_index < $2 AND e.entry_type IN (9, 10) ORDER BY e.log_index`;

/** The keys of entries in the map, as base64url. An entry without a list is iss_log_entry_v1. */
export type KeysByEntry = ReadonlyMap<number, readonly string[]>;

/** Reads the keys of a range of entries. A missing key is empty. */
export async function readKeys(reader: AuditReader, from: number, to: number): Promise<KeysByEntry> {
  const keys = new Map<number, string[]>();
  const [depths] = await reader.rows(DEPTHS);
  await reader.each(KEYS, [from, to, depths?.[0] ?? 0, depths?.[1] ?? 0], ([at, key]) => {
    const ofEntry = keys.get(Number(at)) ?? [];
    keys.set(Number(at), ofEntry);
    if (key !== undefined && key !== null) ofEntry.push(key);
  });
  return keys;
}

/** Returns the text of the leaf of an entry: with keys, a public text with the hash of the entry's own. */
export function leafText(text: string, keys: readonly string[] | undefined): string {
  if (keys === undefined) return text;
  return outerText(hash('sha256', text.replace(V1, V2), 'base64url'), keys);
}

/** Returns the public text of the leaf of an entry with keys. `body` is the hash of its own text in base64url. */
export function outerText(body: string, keys: readonly string[]): string {
  return `{"body":"${body}",${V2},"keys":${JSON.stringify(keys)}}`;
}

/** Returns the public text of a `map.root` entry, or of a `map.backfill` entry with these keys. */
export function mapEntryText(
  index: number,
  { root, from, counts }: { root: string | null; from: string | null; counts: string | null },
  keys: readonly string[],
): string {
  if (root !== null) {
    return `{"covers":${index},"map_root":"${root}","map_version":"iss_map_v1","type":"map.root"}`;
  }
  const left = [...keys];
  const numbers = counts?.match(/.{4}/g)?.map((count) => Number.parseInt(count, 16)) ?? [];
  const entries = numbers.map((count) => left.splice(0, count));
  return `{"entries":${JSON.stringify(entries)},"from":${from},"map_version":"iss_map_v1","type":"map.backfill"}`;
}
