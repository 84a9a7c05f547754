import { randomBytes } from 'node:crypto';
import { KEYED_ENTRY_VERSION, keyedLeafText, LOG_SALT_BYTES, logEntryText, mapBackfillText } from '@iss/domain';
import { formatMapRootEntry } from '@iss/map';
import type { LoggedFact } from '@iss/persistence';
import { appendLeaves, leafHash } from '@iss/tlog';
import { growTree } from '../../webhook-worker/src/log/grow-tree';
import { RealLog } from './testing/real-log';
import { iss } from './testing/run-iss';

/** Entries from before the map, whose keys are in a `map.backfill` entry. */
const OLDER = 3;
const EMPTY = { size: 0, hashes: [] };
const sql = (bytes: Uint8Array): string => `'\\x${Buffer.from(bytes).toString('hex')}'`;
const prefixesOf = (keys: readonly Uint8Array[]): string => sql(Buffer.concat(keys.map((key) => key.subarray(0, 8))));

/** A log with keys in the map, as docs/log.md describes it: some older entries, their keys, and a root. */
let log: RealLog;
beforeAll(async () => {
  log = await RealLog.create();
  await log.query(`INSERT INTO tenants (tenant_id, name) VALUES ('acme', 'Acme')`);
  await log.addLineage('acme-corp', 5);
  await log.query(
    `INSERT INTO disclosures (subject_key, disclosed_on, grantee_tenant_id, principal_id, via, from_version, to_version, request_id)
     SELECT subject_key, '2026-01-15', 'beta', 'bob', 'snapshot', v, v, 'r' FROM subjects, generate_series(1, 3) v`,
  );
  const entries: { fact: LoggedFact; salt: Uint8Array }[] = [];
  await log.publish(async (tree, edge, facts) => {
    const grown = await growTree(tree, edge, facts, null);
    facts.forEach((fact, place) =>
      entries.push({ fact, salt: grown.salts.subarray(LOG_SALT_BYTES * place, LOG_SALT_BYTES * (place + 1)) }),
    );
    return grown;
  });
  const keys = entries.map(({ fact }, index) =>
    Array.from({ length: 'records' in fact ? fact.records.length : 1 }, (_, n) =>
      Buffer.concat([Buffer.from([((index + n) % 2) * 128]), randomBytes(31)]),
    ),
  );
  const older = keys.slice(0, OLDER);
  const root = randomBytes(32);
  const texts = entries.map(({ fact, salt }, index) =>
    index < OLDER
      ? logEntryText(fact, salt)
      : keyedLeafText(logEntryText(fact, salt, KEYED_ENTRY_VERSION), keys[index] ?? []),
  );
  const [backfillAt, rootAt] = [texts.length, texts.length + 1];
  texts.push(mapBackfillText(0, older), formatMapRootEntry({ covers: rootAt, root }));
  const leaves = texts.map((text) => leafHash(text));
  const { root: treeRoot } = appendLeaves(EMPTY, leaves);
  const buckets = [0, 1].map((bit) =>
    Buffer.concat(
      keys.flatMap((ofEntry, index) =>
        ofEntry
          .filter((key) => (key[0] ?? 0) >> 7 === bit)
          .map((key) => Buffer.concat([key, Buffer.from([index * 2])])),
      ),
    ),
  );
  await log.tamper(`
    UPDATE log_tiles SET hashes = ${sql(Buffer.concat(leaves))};
    UPDATE log_tree SET size = ${leaves.length}, root = ${sql(treeRoot)};
    DELETE FROM log_checkpoints;
    ${keys.map((ofEntry, index) => (index < OLDER ? '' : `UPDATE log_entries SET key_prefixes = ${prefixesOf(ofEntry)} WHERE log_index = ${index};`)).join('')}
    INSERT INTO log_entries (log_index, entry_type, backfill_from, key_counts, key_prefixes)
    VALUES (${backfillAt}, 10, 0, ${sql(Uint8Array.from(older.flatMap(({ length }) => [0, length])))}, ${prefixesOf(older.flat())});
    INSERT INTO log_entries (log_index, entry_type, map_root) VALUES (${rootAt}, 9, ${sql(root)});
    INSERT INTO map_buckets (path, content) VALUES ('\\x0100', ${sql(buckets[0] ?? root)}), ('\\x0180', ${sql(buckets[1] ?? root)})`);
  await log.keep();
});
afterAll(() => log.close());
afterEach(() => log.restore());

const report = async () =>
  JSON.parse((await iss(['audit', '--database-url', log.url, '--jobs', '1', '--json'])).printed);

it('finds nothing in entries with keys', async () => {
  expect(await report()).toMatchObject({ clean: true, entries: 9, findings: [] });
});

it.each([
  [
    'a disclosure is changed',
    `UPDATE disclosures SET principal_id = 'mallory' WHERE to_version = 2`,
    'record',
    /disclosure/,
  ],
  [
    'another writer is named',
    `UPDATE snapshots SET written_by = 'mallory' WHERE snapshot_version = 4`,
    'leaf',
    /version 4/,
  ],
  [
    'a root of the map is changed',
    `UPDATE log_entries SET map_root = sha256('') WHERE entry_type = 9`,
    'leaf',
    /root of the map/,
  ],
  [
    'an older key is left out',
    `UPDATE log_entries SET key_counts = '\\x000100010000' WHERE entry_type = 10`,
    'leaf',
    /older keys/,
  ],
  ['a key is removed from the map', `DELETE FROM map_buckets WHERE path = '\\x0180'`, 'leaf', /^entry/],
  [
    'an entry loses its keys',
    `UPDATE log_entries SET key_prefixes = NULL WHERE log_index = ${OLDER + 1}`,
    'leaf',
    /^entry 4,/,
  ],
])('finds that %s', async (_, attack, check, where) => {
  await log.tamper(attack);
  const { clean, findings } = await report();
  expect(clean).toBe(false);
  expect(findings).toContainEqual(expect.objectContaining({ check, where: expect.stringMatching(where) }));
});
