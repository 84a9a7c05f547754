import { type Database, MapBackfillStore, openDatabase } from '@iss/persistence';
import { createLogger, type LogSettings } from '@iss/platform';
import { generateKeys } from '@iss/tlog';
import { Registry } from 'prom-client';
import { ORIGIN } from '../../../tools/testing/signed-log.ts';
import { TEST_VRF_SECRET, vrfSecretOf } from '../../../tools/testing/vrf-key';
import { waitFor } from '../../../tools/testing/wait-for';
import { MapBackfill } from '../../webhook-worker/src/log/map-backfill';
import { type MapKeys, openMapKeys } from '../../webhook-worker/src/log/map-keys';
import { type LogWorker, startLogWorker } from '../../webhook-worker/test/log-worker';
import { inhabit, RealLog } from './testing/real-log';
import { iss } from './testing/run-iss';

/** With these, the map starts at the third tile, and two entries contain the older keys. */
const OTHER_VERSIONS = 400;
const NEW_ORIGIN = 'log.example/test-2';

/** A log whose first entries are older than its map, with erased versions before and after its start. */
let log: RealLog;
let database: Database;
let worker: LogWorker;
let settings: LogSettings;

beforeAll(async () => {
  log = await RealLog.create();
  database = await openDatabase({ url: log.url, poolSize: 4, applicationName: 'test' });
  settings = {
    ...{ origin: ORIGIN, signingKeys: [log.signingKey], pqSigningKey: undefined, checkpointFile: undefined },
    ...{ checkpointIntervalMs: 10, checkpointMaxAgeMs: 60_000, policyFile: undefined },
  };
  await inhabit(log, OTHER_VERSIONS);
  await log.query(
    `INSERT INTO disclosures (subject_key, disclosed_on, grantee_tenant_id, principal_id, via, from_version, to_version, request_id)
     SELECT subject_key, '2026-01-15', 'beta', 'bob', 'snapshot', v, v, 'r' FROM subjects, generate_series(1, 3) v`,
  );
  await log.erase('acme-corp', [2]);
  await log.publish();
  worker = await start(settings);
  await settled();
  await log.addLineage('new-corp', 4);
  await log.changeGrant('11111111-1111-4111-8111-111111111111', ['read_latest']);
  await settled();
  await log.erase('new-corp', [1, 3]);
  await settled();
  await worker.stop();
  await log.keep();
});
afterAll(async () => {
  await worker?.stop();
  await database?.close();
  await log?.close();
});

async function start(log: LogSettings): Promise<LogWorker> {
  const logger = createLogger({ name: 'test', level: 'silent' });
  return startLogWorker(database.sql, { log, vrfKey: TEST_VRF_SECRET }, new Registry(), logger);
}

/** Waits until all facts are in a published tree that ends with the root of a complete map. */
async function settled(): Promise<void> {
  const isDone = async (): Promise<boolean> => {
    const [row] = await log.query<{ done: boolean }>(
      `SELECT (SELECT starts_at = backfilled_to FROM map_state)
          AND NOT EXISTS (SELECT FROM log_waiting) AND NOT EXISTS (SELECT FROM records_waiting)
          AND (SELECT size FROM log_feed) = (SELECT size FROM log_tree)
          AND (SELECT map_root IS NOT NULL FROM log_entries, log_tree WHERE log_index = size - 1)
          AND (SELECT max(size) FROM log_checkpoints) = (SELECT size FROM log_tree) AS done`,
    );
    return row?.done === true;
  };
  await waitFor(isDone, { what: 'the keys of all entries' });
}

const report = async (...words: string[]) => {
  const url = words.includes('--database-url') ? [] : ['--database-url', log.url];
  const command = ['audit', ...url, '--jobs', '1', '--json', ...words];
  return JSON.parse((await iss(command, { variables: { LOG_VRF_KEY: TEST_VRF_SECRET } })).printed);
};

it('an audit accepts a log whose map was started later', async () => {
  expect(await report('--vrf')).toMatchObject({ clean: true, findings: [] });
  const [erased] = await log.query<{ hashes: string }>('SELECT count(body_hash) AS hashes FROM log_entries');
  expect(erased?.hashes).toBe('2');
});

/** Returns a bucket with the key of an entry. */
const BUCKET_OF = (index: string): string => `(
  SELECT b.path FROM map_buckets b, log_entries e
   WHERE e.log_index = ${index} AND position(substr(e.key_prefixes, 1, 7) IN b.content) > 0)`;
const LAST_VERSION = `(SELECT max(log_index) FROM log_entries WHERE entry_type = 1)`;
const FIRST_BACKFILL = '(SELECT min(log_index) FROM log_entries WHERE entry_type = 10)';

/** Actions of a superuser, and the finding of each. One audit finds all of a group. */
type Attack = [attack: string, how: string, check: string, where: RegExp];
const GROUPS: Attack[][] = [
  [
    [
      'a disclosure is changed',
      `UPDATE disclosures SET principal_id = 'mallory' WHERE to_version = 2`,
      'record',
      /disclosure/,
    ],
    [
      'an entry no longer names the writer of its version',
      `UPDATE log_entries SET names_writer = NULL WHERE log_index = ${LAST_VERSION};
     UPDATE snapshots SET created_at = created_at + interval '1 s' WHERE snapshot_version = 4`,
      'leaf',
      /version 4 of organization new-corp/,
    ],
    [
      'the body hash of an erased entry is changed',
      `UPDATE log_entries SET body_hash = sha256('') WHERE body_hash IS NOT NULL`,
      'leaf',
      /version 1 of organization new-corp/,
    ],
    [
      'a map root in an entry is changed',
      `UPDATE log_entries SET map_root = sha256('') WHERE entry_type = 9`,
      'leaf',
      /root of the map/,
    ],
    [
      'the backfill omits a key of an older entry',
      `UPDATE log_entries SET key_counts = set_byte(key_counts, 1, 0) WHERE log_index = ${FIRST_BACKFILL}`,
      'map',
      /^entry 0$/,
    ],
    [
      'an older entry gets keys twice',
      `INSERT INTO log_entries (log_index, entry_type, backfill_from, key_counts, key_prefixes)
     SELECT size, 10, 1, '\\x0001', (SELECT key_prefixes FROM log_entries WHERE log_index = ${LAST_VERSION}) FROM log_tree`,
      'map',
      /^entry 1$/,
    ],
    ['the stored root of the map is changed', `UPDATE map_state SET root = sha256('')`, 'map', /map_state/],
  ],
  [
    [
      'the backfill assigns keys to the wrong entries',
      `UPDATE log_entries SET backfill_from = backfill_from + 1 WHERE log_index = ${FIRST_BACKFILL}`,
      'map',
      /older keys/,
    ],
    [
      'the type of a filler entry is changed',
      `UPDATE log_entries SET entry_type = 9, map_root = sha256('') WHERE entry_type = 13`,
      'map',
      /^entry 4\d\d$/,
    ],
  ],
  [
    [
      'a key is removed from the map',
      `DELETE FROM map_buckets WHERE path = ${BUCKET_OF(LAST_VERSION)}`,
      'map',
      /map_buckets/,
    ],
  ],
  [
    [
      'a key points to another entry',
      `UPDATE map_buckets b SET content = overlay(b.content placing '\\x02' from position(substr(e.key_prefixes, 1, 7) IN b.content) + 36 for 1)
       FROM log_entries e WHERE e.log_index = ${LAST_VERSION} AND position(substr(e.key_prefixes, 1, 7) IN b.content) > 0`,
      'map',
      /^entry \d+$/,
    ],
    [
      'an entry loses its keys',
      `UPDATE log_entries SET key_prefixes = NULL WHERE log_index = ${LAST_VERSION} - 2`,
      'leaf',
      /^entry \d+, snapshot .*: version 2 of/,
    ],
  ],
  [['the state of the map is deleted', 'DELETE FROM map_state', 'map', /^entry/]],
];

describe.each(GROUPS)('an audit of a changed map', (...group: Attack[]) => {
  const found: { check: string; where: string }[] = [];
  beforeAll(async () => {
    for (const [, how] of group) await log.tamper(how);
    found.push(...(await report()).findings);
    await log.restore();
  });

  it.each(group)('detects that %s', (_attack, _how, check, where) => {
    expect(found).toContainEqual(expect.objectContaining({ check, where: expect.stringMatching(where) }));
  });
});

it('only an audit with --vrf detects that older entries have keys of wrong numbers', async () => {
  const older = await RealLog.create();
  const own = await openDatabase({ url: older.url, poolSize: 4, applicationName: 'test' });
  const keys = await openMapKeys(ORIGIN, TEST_VRF_SECRET);
  try {
    await inhabit(older, OTHER_VERSIONS);
    await older.publish();
    if (keys === null) throw new Error('there is a key');
    const lying: MapKeys = {
      ...keys,
      keysOf: (places) => keys.keysOf(places.map(({ stream, number }) => ({ stream, number: number + 1 }))),
    };
    const backfill = new MapBackfill(new MapBackfillStore(own.sql), lying);
    for (let isMore = true; isMore;) isMore = await backfill.work(1_000, () => false);
    const audited = async (...words: string[]): Promise<unknown[]> => {
      const { findings } = await report('--database-url', older.url, ...words);
      return findings.filter(({ check }: { check: string }) => check === 'map');
    };
    expect(await audited()).toEqual([]);
    expect(await audited('--vrf')).toContainEqual(
      expect.objectContaining({ where: 'entry 0', what: expect.stringMatching(/is not .* of number 1 in/) }),
    );
  } finally {
    await keys?.close();
    await own.close();
    await older.close();
  }
});

it('an audit with --vrf requires the key of the map', async () => {
  const audited = (secret: string) =>
    iss(['audit', '--database-url', log.url, '--jobs', '1', '--vrf'], { variables: { LOG_VRF_KEY: secret } });
  expect(await audited('')).toMatchObject({ exitCode: 2, complaint: expect.stringMatching(/--vrf needs LOG_VRF_KEY/) });
  expect(await audited(vrfSecretOf(2))).toMatchObject({
    exitCode: 2,
    complaint: expect.stringMatching(/not the key of the map/),
  });
});

it('after a restart of the log, the map has keys for all entries of the new origin', async () => {
  const before = await log.query<{ facts: string; keys: string }>(
    `SELECT (SELECT count(*) FROM log_entries WHERE entry_type NOT IN (9, 10, 13)) AS facts, key_count AS keys FROM map_state`,
  );
  await log.query(`SELECT restart_log($1, $2, 10000, sha256(''), 'note', 'lost')`, [NEW_ORIGIN, ORIGIN]);
  const { signingKey, verifierKey } = await generateKeys(NEW_ORIGIN, 'ed25519');
  await log.query('INSERT INTO log_key_announcements (vkey, is_first) VALUES ($1, true)', [verifierKey]);
  worker = await start({ ...settings, origin: NEW_ORIGIN, signingKeys: [signingKey] });
  await settled();
  await worker.stop();
  const after = await log.query<{ facts: string; keys: string }>(
    `SELECT (SELECT count(*) - 1 FROM log_entries WHERE entry_type NOT IN (9, 10, 13)) AS facts, key_count AS keys FROM map_state
      WHERE origin = '${NEW_ORIGIN}' AND starts_at = 0`,
  );
  expect(after).toEqual(before);
  const { findings } = await report();
  expect(findings).toEqual([]);
});
