import { vrfKeysFromRandom } from '@iss/map';
import { loadSodiumGroup } from '@iss/map/sodium';
import { type Database, LogIntegrationStore, MapBackfillStore, MapReadStore, openDatabase } from '@iss/persistence';
import { createLogger, type LogSettings } from '@iss/platform';
import { generateKeys, parseCheckpoint, parseNote } from '@iss/tlog';
import { Client } from 'pg';
import { Registry } from 'prom-client';
import { type NaiveKey, naiveRoot } from '../../../../libs/map/src/testing/naive-map';
import { addLineage } from '../../../../tools/testing/lineage';
import { createTestDatabase, type TestDatabase } from '../../../../tools/testing/test-database';
import { untilBlocks } from '../../../../tools/testing/until-blocks';
import { waitFor } from '../../../../tools/testing/wait-for';
import { type LogWorker, startLogWorker } from '../../test/log-worker';
import { MapBackfill } from '../log/map-backfill';
import { type MapKeys, openMapKeys } from '../log/map-keys';

const ORIGIN = 'log.example/test';

let created: TestDatabase;
let database: Database;
let superuser: Client;
let log: LogSettings;
let vrfKey: string;
let keys: MapKeys;
const services: LogWorker[] = [];

beforeEach(async () => {
  created = await createTestDatabase({ migrated: 'service' });
  database = await openDatabase({ url: created.url, poolSize: 8, applicationName: 'test' });
  superuser = new Client({ connectionString: created.url });
  await superuser.connect();
  const { signingKey } = await generateKeys(ORIGIN, 'ed25519');
  log = {
    ...{ origin: ORIGIN, signingKeys: [signingKey], pqSigningKey: undefined, checkpointFile: undefined },
    ...{ checkpointIntervalMs: 10, checkpointMaxAgeMs: 60_000, policyFile: undefined },
  };
  const { secretKey } = vrfKeysFromRandom(await loadSodiumGroup(), Buffer.alloc(64, 1));
  vrfKey = `PRIVATE+VRF+${Buffer.from(secretKey).toString('base64')}`;
  const opened = await openMapKeys(ORIGIN, vrfKey);
  if (opened === null) throw new Error('there is a key');
  keys = opened;
});
afterEach(async () => {
  await Promise.all(services.splice(0).map((service) => service.stop()));
  await keys.close();
  await superuser.end();
  await database.close();
  await created.drop();
});

async function start(key: string = vrfKey): Promise<LogWorker> {
  const logger = createLogger({ name: 'test', level: 'silent' });
  const service = await startLogWorker(database.sql, { log, vrfKey: key }, new Registry(), logger);
  services.push(service);
  return service;
}

async function addOwners(count: number, tenant = 'acme'): Promise<void> {
  await superuser.query(
    `INSERT INTO owner_changes (tenant_id, principal_id) SELECT $2, 'owner-' || n FROM generate_series(1, $1) n`,
    [count, tenant],
  );
}

/** Adds facts of several streams, and an entry with 256 records. */
async function addFacts(subjectId: string): Promise<void> {
  await addOwners(30);
  await addLineage(superuser, { tenantId: 'acme', subjectType: 'organization', subjectId }, 5);
  await superuser.query(
    `INSERT INTO audit_records (tenant_id, action, target, details) SELECT 'acme', 'x', '{}', '{}' FROM generate_series(1, 300);
     INSERT INTO disclosures (subject_key, disclosed_on, grantee_tenant_id, principal_id, via, from_version, to_version, request_id)
     SELECT subject_key, '2026-01-15', 'beta', 'bob', 'snapshot', v, v, 'r' FROM subjects, generate_series(1, 3) v
         ON CONFLICT DO NOTHING`,
  );
  await addOwners(20, 'bank');
}

const treeSize = async (): Promise<number> => (await new LogIntegrationStore(database.sql).tree()).size;
const waiting = async (): Promise<number> =>
  Number(
    (await superuser.query('SELECT (SELECT count(*) FROM log_waiting) + (SELECT count(*) FROM records_waiting) AS n'))
      .rows[0].n,
  );

/** Writes a log without a map. */
async function writeOldLog(): Promise<number> {
  const before = await start('');
  await addFacts('one');
  await addFacts('two');
  await waitFor(async () => (await waiting()) === 0, { what: 'the old log' });
  await before.stop();
  return treeSize();
}

const isDone = async (): Promise<boolean> => {
  const { rows } = await superuser.query(
    `SELECT (SELECT starts_at = backfilled_to FROM map_state)
        AND (SELECT size FROM log_tree) = (SELECT max(size) FROM log_checkpoints)
        AND (SELECT max(log_index) FROM log_entries WHERE entry_type = 9) = (SELECT size - 1 FROM log_tree) AS done`,
  );
  return rows[0].done === true && (await waiting()) === 0;
};

/** Recomputes the keys of all entries from the tables, and compares them with the map, the entries and the checkpoints. */
async function expectSound(oldSize: number): Promise<void> {
  const state = await new MapReadStore(database.sql).state();
  if (state === null) throw new Error('there is a map');
  expect(state.startsAt).toBe(Math.ceil(oldSize / 256) * 256);
  expect(state.backfilledTo).toBe(state.startsAt);
  const { rows } = await superuser.query(
    `SELECT e.log_index::int AS index, e.entry_type AS type, e.snapshot_version AS version, s.subject_type || '/' || s.subject_id AS subject,
            coalesce(c.tenant_id, b.tenant_id) AS tenant, cardinality(b.record_ids) AS records,
            (SELECT array_agg(ds.subject_type || '/' || ds.subject_id ORDER BY r.place)
               FROM unnest(b.record_ids) WITH ORDINALITY AS r(id, place) JOIN disclosures d ON d.disclosure_id = r.id
               JOIN subjects ds ON ds.subject_key = d.subject_key WHERE e.entry_type = 12) AS disclosed
       FROM log_entries e LEFT JOIN owner_changes c USING (owner_change_id) LEFT JOIN record_batches b ON b.batch_id = e.record_batch_id
       LEFT JOIN subjects s ON s.subject_key = e.subject_key ORDER BY e.log_index`,
  );
  const numbers = new Map<string, number>();
  const next = (stream: string): Uint8Array => {
    numbers.set(stream, (numbers.get(stream) ?? 0) + 1);
    return keys.keyOf(stream, numbers.get(stream) ?? 0);
  };
  const made: NaiveKey[] = [];
  const roots: number[] = [];
  const reads = new MapReadStore(database.sql);
  for (const [place, { index, type, version, subject, tenant, records, disclosed }] of rows.entries()) {
    expect(index).toBe(place);
    const ofType: Record<number, () => Uint8Array[]> = {
      1: () => [keys.keyOf(`v/${subject}`, version)],
      4: () => [next(`o/${tenant}`)],
      11: () => Array.from({ length: records }, () => next(`d/${tenant}`)),
      12: () => disclosed.map((one: string) => next(`r/${one}`)),
    };
    const ofEntry = ofType[type]?.() ?? [];
    made.push(...ofEntry.map((key) => ({ key: Buffer.from(key), logIndexes: [index] })));
    if (type === 9) roots.push(index);
    if (type === 9 || type === 10) continue;
    expect(await reads.keyPrefixes(index)).toEqual({
      prefixes: ofEntry.map((key) => Buffer.from(key.subarray(0, 7))),
      isOwn: index >= state.startsAt,
    });
  }
  expect(state.keyCount).toBe(made.length);
  expect(state.root).toEqual(Buffer.from(naiveRoot(made)));
  const backfill = await superuser.query(
    'SELECT min(log_index)::int AS first, max(log_index)::int AS last FROM log_entries WHERE entry_type = 10',
  );
  expect(backfill.rows[0].first).toBeGreaterThanOrEqual(state.startsAt);
  expect(roots[0]).toBeGreaterThan(backfill.rows[0].last);
  const checkpoints = await superuser.query('SELECT note FROM log_checkpoints WHERE size > $1', [roots[0]]);
  for (const { note } of checkpoints.rows) expect(roots).toContain(parseCheckpoint(parseNote(note).text).size - 1);
}

it('adds keys to an existing log and then ends each published tree with a map root', async () => {
  const size = await writeOldLog();
  await start();
  await waitFor(isDone, { what: 'the keys of all entries' });
  await expectSound(size);
  await addFacts('three');
  await waitFor(isDone, { what: 'later facts' });
  await expectSound(size);
});

/** Ends the connection of a worker in the middle of a step, as a crash does. Returns false if there is no step. */
const breakOff = async (): Promise<boolean> => {
  const { rows } = await superuser.query(
    `SELECT pg_terminate_backend(a.pid) FROM pg_locks l JOIN pg_stat_activity a USING (pid)
      WHERE l.locktype = 'advisory' AND l.granted AND a.datname = current_database()`,
  );
  return rows.length > 0;
};

it('completes with concurrent writers and several workers whose steps are interrupted', async () => {
  await addOwners(800, 'old');
  await writeOldLog();
  let isOver = false;
  const writing = (async () => {
    for (let count = 0; !isOver; count++) await addOwners(1 + (count % 3));
  })();
  await Promise.all([start(), start()]);
  for (let left = 2; left > 0; left--) {
    await waitFor(breakOff, { what: 'a step' });
    await (await start()).stop();
  }
  await waitFor(
    async () => {
      const state = await new MapReadStore(database.sql).state();
      return state !== null && state.backfilledTo === state.startsAt;
    },
    { what: 'the keys of older entries' },
  );
  isOver = true;
  await writing;
  await waitFor(isDone, { what: 'a root' });
  await expectSound((await new MapReadStore(database.sql).state())?.startsAt ?? 0);
});

it('integration detects a map that is enabled while it waits for the tree', async () => {
  await writeOldLog();
  await addOwners(1);
  await superuser.query(
    `ALTER TABLE log_tree RENAME TO tree;
     CREATE VIEW log_tree AS SELECT * FROM tree WHERE pg_advisory_xact_lock_shared(7)::text IS NOT NULL;
     GRANT ALL ON log_tree TO PUBLIC`,
  );
  await superuser.query('SELECT pg_advisory_lock(7)');
  const round = new LogIntegrationStore(database.sql).integrate(10, () => Promise.reject(new Error('without keys')));
  await untilBlocks(superuser);
  await superuser.query('INSERT INTO map_state (origin, vrf_key, starts_at) VALUES ($1, $2, 1024)', [
    ORIGIN,
    keys.vrfKey,
  ]);
  await superuser.query('SELECT pg_advisory_unlock(7)');
  expect(await round).toMatchObject({ integrated: 0, refusal: 'no_vrf_key' });
});

it('changes nothing in a failed step, and names a missing fact', async () => {
  const size = await writeOldLog();
  const store = new MapBackfillStore(database.sql);
  const backfill = new MapBackfill(store, keys);
  while (!(await new MapReadStore(database.sql).state())) await backfill.work(0, () => true);
  expect(await treeSize()).toBe(Math.ceil(size / 256) * 256);
  const fail = new MapBackfill(store, {
    ...keys,
    keysOf: () => Promise.reject(new Error('broken off')),
  });
  await expect(fail.work(0, () => true)).rejects.toThrow('broken off');
  const lost =
    'SET session_replication_role = replica; DELETE FROM owner_changes WHERE owner_change_id = 5; RESET session_replication_role';
  await superuser.query(lost);
  await expect(backfill.work(0, () => true)).rejects.toThrow(/entry \d+ of the log names a fact that is missing/);
  expect(await treeSize()).toBe(Math.ceil(size / 256) * 256);
  expect(await new MapReadStore(database.sql).state()).toMatchObject({ backfilledTo: 0, keyCount: 0 });
});
