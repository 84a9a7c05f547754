import { KEYED_ENTRY_VERSION, logEntryText } from './entry';
import { keyedLeafText, mapBackfillText } from './leaf-text';

const key = (byte: number): Uint8Array => new Uint8Array(32).fill(byte);
const A = 'A'.repeat(43);

test('the leaf of an entry with keys names the hash of the entry, and not the entry', () => {
  expect(keyedLeafText('{}', [key(0)])).toBe(
    `{"body":"RBNvo1WzZ4oRRq0W9-hknpT7T8If536DEMBg9hyq_4o","entry_version":"iss_log_entry_v2","keys":["${A}"]}`,
  );
  expect(keyedLeafText('{}', [])).toContain('"keys":[]');
});

test('a map.backfill entry has the keys of consecutive entries', () => {
  expect(mapBackfillText(256, [[key(0)], [], [key(0), key(0)]])).toBe(
    `{"entries":[["${A}"],[],["${A}","${A}"]],"from":256,"map_version":"iss_map_v1","type":"map.backfill"}`,
  );
});

test('the text of an entry with keys differs only in its version', () => {
  const fact = { type: 'grant.revoked', tenantId: 't', grantId: 'g', revokedAt: new Date(0) } as const;
  const salt = new Uint8Array(16);
  const keyed = logEntryText(fact, salt, KEYED_ENTRY_VERSION);
  expect(keyed).not.toBe(logEntryText(fact, salt));
  expect(keyed.replace('iss_log_entry_v2', 'iss_log_entry_v1')).toBe(logEntryText(fact, salt));
});
