import { KEYED_ENTRY_VERSION, logEntryText } from './entry';
import { backfillEntries, keyedLeafText, mapBackfillText, mapStartText } from './leaf-text';

const key = (byte: number): Uint8Array => new Uint8Array(32).fill(byte);
const A = 'A'.repeat(43);

test('keyedLeafText contains the hash of the entry, not the entry itself', () => {
  expect(keyedLeafText('{}', [key(0)])).toBe(
    `{"body":"RBNvo1WzZ4oRRq0W9-hknpT7T8If536DEMBg9hyq_4o","entry_version":"iss_log_entry_v2","keys":["${A}"]}`,
  );
  expect(keyedLeafText('{}', [])).toContain('"keys":[]');
});

test('mapBackfillText lists the keys of consecutive entries', () => {
  expect(mapBackfillText(256, [[key(0)], [], [key(0), key(0)]])).toBe(
    `{"entries":[["${A}"],[],["${A}","${A}"]],"from":256,"map_version":"iss_map_v1","type":"map.backfill"}`,
  );
});

test('the text of an entry with keys differs only in its entry_version', () => {
  const fact = { type: 'grant.revoked', tenantId: 't', grantId: 'g', revokedAt: new Date(0) } as const;
  const salt = new Uint8Array(16);
  const keyed = logEntryText(fact, salt, KEYED_ENTRY_VERSION);
  expect(keyed).not.toBe(logEntryText(fact, salt));
  expect(keyed.replace('iss_log_entry_v2', 'iss_log_entry_v1')).toBe(logEntryText(fact, salt));
});

test('mapStartText names the first entry with keys, and the VRF key', () => {
  expect(mapStartText(256, 'example.org+1+AA')).toBe(
    '{"map_version":"iss_map_v1","starts_at":256,"type":"map.start","vrf_key":"example.org+1+AA"}',
  );
});

describe('map.backfill entries', () => {
  /** The keys of this many entries with `count` keys each. */
  const entries = (length: number, count: number) =>
    Array.from({ length }, () => Array.from({ length: count }, () => key(1)));
  const sizesOf = (keys: Uint8Array[][]) => backfillEntries(7, keys).map(({ from, keys: part }) => [from, part.length]);

  test('are consecutive, with at most 256 entries each', () => {
    expect(sizesOf([])).toEqual([]);
    expect(sizesOf(entries(256, 0))).toEqual([[7, 256]]);
    expect(sizesOf(entries(513, 1))).toEqual([
      [7, 256],
      [263, 256],
      [519, 1],
    ]);
  });

  test('have at most 1,024 keys, except a single entry with more', () => {
    expect(sizesOf(entries(4, 256))).toEqual([[7, 4]]);
    expect(sizesOf(entries(5, 256))).toEqual([
      [7, 4],
      [11, 1],
    ]);
    expect(sizesOf([...entries(1, 1_025), ...entries(2, 512)])).toEqual([
      [7, 1],
      [8, 2],
    ]);
    expect(sizesOf(entries(2, 1_025))).toEqual([
      [7, 1],
      [8, 1],
    ]);
  });

  test('have the text that mapBackfillText returns for their part', () => {
    const keys = [...entries(4, 256), [key(0)]];
    expect(backfillEntries(7, keys)[1]).toEqual({ from: 11, keys: [[key(0)]], text: mapBackfillText(11, [[key(0)]]) });
  });
});
