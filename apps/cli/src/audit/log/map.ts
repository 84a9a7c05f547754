import { createHash } from 'node:crypto';
import { rootOfLeaves } from '@iss/tlog';
import type { AuditReader } from '../database';
import { type Found, nothingFound, report } from '../findings';

const KEY_BYTES = 32;
const RECORD_BYTES = 37;
/** The number of bytes that an entry stores of each of its keys. */
export const PREFIX_BYTES = 7;

/** The number of keys that each entry must have: one for each stream that its fact extends (docs/log.md). */
const EXPECTED = `CASE WHEN e.entry_type IN (1, 4, 6) THEN 1 WHEN e.entry_type IN (3, 5) THEN 2 WHEN e.entry_type = 2 THEN 3
       WHEN e.entry_type IN (11, 12) THEN coalesce(cardinality(r.record_ids), 0) ELSE 0 END`;

/** Finds entries whose keys were left out or doubled, and keys for entries that do not exist. */
const NUMBERS = `
WITH given AS (
  SELECT log_index, octet_length(key_prefixes) / ${PREFIX_BYTES} AS keys FROM log_entries WHERE key_prefixes IS NOT NULL AND entry_type <> 10
   UNION ALL
  SELECT b.backfill_from + i, get_byte(b.key_counts, 2 * i) * 256 + get_byte(b.key_counts, 2 * i + 1)
    FROM log_entries b CROSS JOIN LATERAL generate_series(0, octet_length(b.key_counts) / 2 - 1) AS i
   WHERE b.entry_type = 10
), summed AS (
  SELECT log_index, sum(keys) AS keys, count(*) AS times FROM given GROUP BY log_index
)
SELECT coalesce(e.log_index, g.log_index), e.entry_type, g.keys, g.times, ${EXPECTED}
  FROM log_entries e
  FULL JOIN summed g ON g.log_index = e.log_index
  LEFT JOIN record_batches r ON r.batch_id = e.record_batch_id
 CROSS JOIN map_state m
 WHERE e.log_index IS NULL OR g.times > 1 OR (e.entry_type NOT IN (9, 10) AND g.keys <> ${EXPECTED})
    OR (g.log_index IS NULL AND e.entry_type NOT IN (9, 10) AND (e.log_index < m.backfilled_to OR e.log_index >= m.starts_at))`;

/** Finds entries that may exist only in a log with a map. */
const WITHOUT_MAP = `
SELECT e.log_index, e.entry_type FROM log_entries e
 WHERE (e.entry_type IN (9, 10, 13) OR e.key_prefixes IS NOT NULL) AND NOT EXISTS (SELECT FROM map_state)`;

/** Finds roots that were logged before all older entries had keys. */
const EARLY_ROOTS = `
SELECT e.log_index FROM log_entries e CROSS JOIN map_state m
 WHERE e.entry_type = 9
   AND (m.backfilled_to < m.starts_at OR e.log_index < (SELECT max(b.log_index) FROM log_entries b WHERE b.entry_type = 10))`;

const STATE = `
SELECT m.key_count, encode(m.root, 'base64'), (SELECT encode(e.map_root, 'base64') FROM log_entries e WHERE e.log_index = t.size - 1)
  FROM map_state m CROSS JOIN log_tree t`;

/** The places of keys in entries. */
const PLACES = `
SELECT coalesce(sum(octet_length(key_prefixes) / ${PREFIX_BYTES}), 0) FROM log_entries WHERE key_prefixes IS NOT NULL`;

/** Buckets in the order of their keys: no path is the start of another one. */
const BUCKETS = `SELECT get_byte(path, 0), encode(content, 'base64') FROM map_buckets ORDER BY substr(path, 2)`;

/** Checks that the map has exactly the keys of the entries, and that its root is the one in the log. */
export async function checkMap(reader: AuditReader): Promise<Found> {
  const found = nothingFound();
  const fault = (where: string, what: string): void => report(found, 'map', where, what);
  await reader.each(WITHOUT_MAP, [], ([at]) => fault(`entry ${at}`, 'it belongs to a map, and the log has none'));
  const [state] = await reader.rows(STATE);
  if (state === undefined) return found;
  await reader.each(NUMBERS, [], ([at, type, keys, times, expected]) => {
    if (type === null) return fault(`entry ${at}`, 'a map.backfill entry gives it keys, and it does not exist');
    if (keys === null) return fault(`entry ${at}`, 'it has no keys');
    return fault(
      `entry ${at}`,
      Number(times) > 1 ? `its keys are given ${times} times` : `it has ${keys} keys instead of ${expected}`,
    );
  });
  await reader.each(EARLY_ROOTS, [], ([at]) =>
    fault(`entry ${at}`, 'it is a root of the map before all older entries have keys'),
  );

  const rebuilt = new MapRoot();
  let places = 0;
  await reader.each(BUCKETS, [], ([bits, content]) => {
    for (const { key, logIndexes } of keysOf(Buffer.from(content ?? '', 'base64'))) {
      places += logIndexes.length;
      if (!rebuilt.add(key, logIndexes))
        fault(`map_buckets, key ${key.toString('base64url')}`, `it is not in its place, at bit ${bits}`);
    }
  });
  const [keyCount, root, lastRoot] = state;
  const [expected] = (await reader.rows(PLACES))[0] ?? [];
  if (String(places) !== expected)
    fault('map_buckets', `its keys have ${places} log indexes, and entries have ${expected} keys`);
  if (String(rebuilt.count) !== keyCount)
    fault('map_state', `key_count is ${keyCount}, and the map has ${rebuilt.count} keys`);
  const actual = rebuilt.root().toString('base64');
  if (actual !== root) fault('map_state', `root is ${root}, and the keys have the root ${actual}`);
  if (typeof lastRoot === 'string' && actual !== lastRoot)
    fault('the last entry', `its root of the map is ${lastRoot}, and the keys have the root ${actual}`);
  return found;
}

/** Reads a bucket: a record for each log index of a key, which has the key and the index as 5 bytes. */
export function* keysOf(content: Buffer): Generator<{ key: Buffer; logIndexes: number[] }> {
  let last: { key: Buffer; logIndexes: number[] } | undefined;
  for (let at = 0; at + RECORD_BYTES <= content.length; at += RECORD_BYTES) {
    const key = content.subarray(at, at + KEY_BYTES);
    const logIndex = content.readUIntBE(at + KEY_BYTES, RECORD_BYTES - KEY_BYTES);
    if (last?.key.equals(key) === true) {
      last.logIndexes.push(logIndex);
      continue;
    }
    if (last !== undefined) yield last;
    last = { key, logIndexes: [logIndex] };
  }
  if (last !== undefined) yield last;
}

const sha256 = (...parts: readonly Uint8Array[]): Buffer =>
  parts.reduce((hash, part) => hash.update(part), createHash('sha256')).digest();

/** The root of a map, from its keys in ascending order. */
class MapRoot {
  count = 0;
  /** Finished subtrees from left to right, each with the first bit in which it differs from the next one. */
  private readonly open: { hash: Buffer; bit: number }[] = [];
  private last: { key: Buffer; hash: Buffer } | undefined;

  /** Returns false and ignores a key that is not above the previous one. */
  add(key: Buffer, logIndexes: readonly number[]): boolean {
    const value = rootOfLeaves(logIndexes.map((index) => sha256(Buffer.of(0), bytesOf(index))));
    const hash = sha256(key, value);
    if (this.last !== undefined) {
      if (Buffer.compare(this.last.key, key) >= 0) return false;
      const bit = firstDifference(this.last.key, key);
      this.open.push({ hash: this.close(this.last.hash, bit), bit });
    }
    this.last = { key: Buffer.from(key), hash };
    this.count++;
    return true;
  }

  root(): Buffer {
    return this.last === undefined ? sha256() : this.close(this.last.hash, -1);
  }

  /** Joins the last subtree with the earlier subtrees from which it differs only after this bit. */
  private close(hash: Buffer, bit: number): Buffer {
    let joined = hash;
    for (let left = this.open.at(-1); left !== undefined && left.bit > bit; left = this.open.at(-1)) {
      joined = sha256(left.hash, joined, Buffer.of(left.bit));
      this.open.pop();
    }
    return joined;
  }
}

function bytesOf(index: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(index));
  return bytes;
}

function firstDifference(one: Buffer, other: Buffer): number {
  const byte = one.findIndex((value, at) => value !== other[at]);
  return 8 * byte + Math.clz32((one[byte] ?? 0) ^ (other[byte] ?? 0)) - 24;
}
