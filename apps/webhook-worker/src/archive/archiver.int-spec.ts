import { randomUUID } from 'node:crypto';
import { TextArchive } from '@iss/archive';
import { ArchiveStore, type Database, openDatabase, SnapshotListStore, ViewStore } from '@iss/persistence';
import { APP_ROLES, createLogger } from '@iss/platform';
import { Client } from 'pg';
import { Registry } from 'prom-client';
import { MemoryStore } from '../../../../tools/testing/memory-store';
import { createTestDatabase, type TestDatabase } from '../../../../tools/testing/test-database';
import { ViewMaker } from '../log/views/view-maker';
import { Archiver } from './archiver';

const logger = createLogger({ name: 'test', level: 'silent' });
/** The age in days at which texts move. */
const AFTER_DAYS = 30;

let created: TestDatabase;
let superuser: Client;
let store: MemoryStore;
const databases: Database[] = [];

beforeEach(async () => {
  created = await createTestDatabase({ migrated: 'service' });
  superuser = new Client({ connectionString: created.url });
  await superuser.connect();
  store = new MemoryStore();
});
afterEach(async () => {
  for (const database of databases.splice(0)) await database.close();
  await superuser.end();
  await created.drop();
});

/** A worker's archiver with connections of its own. */
async function archiver(
  days = 0,
  mirror: MemoryStore | null = null,
): Promise<{ archiver: Archiver; database: Database; store: ArchiveStore; metrics: Registry }> {
  const database = await openDatabase({
    url: created.url,
    role: APP_ROLES.worker,
    poolSize: 2,
    applicationName: 'test',
    archive: new TextArchive(store, mirror),
  });
  databases.push(database);
  const views = new ViewStore(database.sql);
  const settings = { archiveAfterDays: days, sweepIntervalMs: 0 };
  const of = new ArchiveStore(database.sql);
  const metrics = new Registry();
  return {
    database,
    store: of,
    metrics,
    archiver: new Archiver(database, of, views, new ViewMaker(views), metrics, logger, settings),
  };
}

/** Stores a subject of a tenant. Each version has an age in days. */
async function addSubject(tenantId: string, subjectId: string, ages: readonly number[]): Promise<void> {
  await superuser.query(`INSERT INTO tenants (tenant_id, name) VALUES ($1, $1) ON CONFLICT DO NOTHING`, [tenantId]);
  await superuser.query(
    `WITH s AS (
       INSERT INTO subjects (subject_type, subject_id, owner_tenant_id) VALUES ('organization', $2, $1) RETURNING subject_key
     ), texts AS (
       SELECT version, age, '{"attributes":{"secret":"' || $2 || ' ' || version || '"},"envelope_version":"entity_state_envelope_v1"}' AS text
         FROM unnest($3::float8[]) WITH ORDINALITY AS v(age, version)
     )
     INSERT INTO snapshots (subject_key, snapshot_version, snapshot_id, tenant_id, generated_at, created_at, envelope, envelope_hash, prev_hash)
     SELECT subject_key, version, gen_random_uuid(), $1, 'x', now() - age * interval '1 day', text, sha256(convert_to(text, 'UTF8')),
            lag(sha256(convert_to(text, 'UTF8'))) OVER (ORDER BY version)
       FROM s, texts`,
    [tenantId, subjectId, ages],
  );
}

async function subjects(count: number, versions: number): Promise<void> {
  for (let number = 1; number <= count; number++) {
    await addSubject(
      `tenant-${number % 7}`,
      `subject-${number}`,
      Array.from({ length: versions }, (_, at) => versions - at),
    );
  }
}

/** The versions of a subject whose texts are in the archive. */
async function archivedOf(subjectId: string): Promise<number[]> {
  const { rows } = await superuser.query<{ version: number }>(
    `SELECT n.snapshot_version AS version FROM snapshots n JOIN subjects USING (subject_key)
      WHERE subject_id = $1 AND n.pack_id IS NOT NULL ORDER BY 1`,
    [subjectId],
  );
  return rows.map(({ version }) => version);
}

const count = async (what: string): Promise<number> => {
  const { rows } = await superuser.query<{ count: number }>(`SELECT count(*)::int AS count FROM ${what}`);
  return rows[0]?.count ?? 0;
};

/** Reads every version as the gateway does. Fails unless each text is the one that was written. */
async function readAll(database: Database): Promise<number> {
  const { rows } = await superuser.query<{ id: string }>('SELECT subject_id AS id FROM subjects');
  const lists = new SnapshotListStore(database.sql);
  let texts = 0;
  for (const { id } of rows) {
    const subject = { subjectType: 'organization', subjectId: id };
    for (const { envelope, snapshotVersion } of await lists.below(subject, 1000, 100)) {
      expect(String(envelope)).toContain(`"secret":"${id} ${snapshotVersion}"`);
      texts += 1;
    }
  }
  return texts;
}

it('moves old versions, but never the latest one', async () => {
  await addSubject('acme', 'old', [90, 60, 31]);
  await addSubject('acme', 'young', [29, 20, 10]);
  await addSubject('acme', 'superseded', [90, 1]);
  await addSubject('acme', 'lone', [90]);
  const { archiver: one, database } = await archiver(AFTER_DAYS);
  await one.archiveDue();
  const moved = new Map<string, number[]>();
  for (const id of ['old', 'young', 'superseded', 'lone']) moved.set(id, await archivedOf(id));
  expect([...moved.values()]).toEqual([[1, 2], [], [1], []]);
  expect(await readAll(database)).toBe(9);
});

it('delays a small batch of texts by at most a day', async () => {
  await addSubject('acme', 'first', [90, 60]);
  const { archiver: one } = await archiver(AFTER_DAYS);
  await one.archiveDue();
  await addSubject('acme', 'second', [31, 0]);
  const due = `UPDATE archive_progress SET next_at = '-infinity'`;
  await superuser.query(due);
  await one.archiveDue();
  expect(await archivedOf('second')).toEqual([]);
  await superuser.query(`${due}, superseded_to = superseded_to - interval '25 hours'`);
  await one.archiveDue();
  expect(await archivedOf('second')).toEqual([1]);
});

it.each<[string, (of: MemoryStore) => void]>([
  ['before the pack is written', (of) => (of.before = (call) => fail(call === 'put'))],
  ['before the pack is read back', (of) => (of.before = (call) => fail(call === 'read'))],
  [
    'because the store returned wrong bytes',
    (of) =>
      (of.before = (call, name) => {
        if (call === 'read') of.objects.get(name)?.fill(7, 50, 60);
      }),
  ],
  [
    'because the store lost the pack immediately',
    (of) =>
      (of.before = (call) => {
        if (call === 'read') of.objects.clear();
      }),
  ],
])('loses no text if a round fails %s', async (_, hurt) => {
  await subjects(3, 4);
  const { archiver: one, database, metrics } = await archiver();
  hurt(store);
  await expect(one.archiveDue()).rejects.toThrow();
  store.before = () => undefined;
  expect(await count('snapshots WHERE pack_id IS NOT NULL')).toBe(0);
  expect(await readAll(database)).toBe(12);
  await one.archiveDue();
  expect(await count('snapshots WHERE pack_id IS NOT NULL')).toBe(9);
  expect(await readAll(database)).toBe(12);
  const counted = (await metrics.getMetricsAsJSON()).map(({ name, values: [total] }) => [name, total?.value]);
  expect(counted).toEqual([
    ['archive_texts_moved_total', 9],
    ['archive_rounds_failed_total', 1],
  ]);
  // The pack of the first round is deleted after a day.
  const packs = await count('archive_packs');
  await one.archiveDue();
  expect(await count('archive_packs')).toBe(packs);
  await superuser.query(`UPDATE archive_packs SET changed_at = changed_at - interval '25 hours'`);
  await one.archiveDue();
  expect(await count(`archive_packs WHERE texts = 0`)).toBe(0);
  expect(store.objects.size).toBe(await count('archive_packs'));
  expect(await readAll(database)).toBe(12);
});

it('packs each version once if several workers archive', async () => {
  await subjects(30, 5);
  const workers = await Promise.all([archiver(), archiver(), archiver()]);
  await Promise.all(workers.map(({ archiver: one }) => one.archiveDue()));
  const { rows } = await superuser.query<{ texts: number }>('SELECT sum(texts)::int AS texts FROM archive_packs');
  expect([rows[0]?.texts, await count('snapshots WHERE pack_id IS NOT NULL')]).toEqual([120, 120]);
  expect(await readAll(workers[0].database)).toBe(150);
});

it('takes over the tenants of a killed worker only after its lease ends', async () => {
  await addSubject('acme', 'taken', [3, 2, 1]);
  const { archiver: one, store: of } = await archiver();
  await of.prepare();
  await of.claim(randomUUID(), 60_000);
  await one.archiveDue();
  expect(await archivedOf('taken')).toEqual([]);
  await superuser.query(`UPDATE archive_progress SET next_at = now()`);
  await one.archiveDue();
  expect(await archivedOf('taken')).toEqual([1, 2]);
});

it('ignores progress from a worker whose lease was taken over', async () => {
  await addSubject('acme', 'taken', [3, 2, 1]);
  const { store: of } = await archiver();
  await of.prepare();
  const claim = await of.claim(randomUUID(), 0);
  await of.claim(randomUUID(), 60_000);
  await of.advance(randomUUID(), claim === null ? [] : [claim], 0);
  expect(await count('archive_progress WHERE lease IS NOT NULL AND next_at > now()')).toBe(1);
});

it('archives an old version that was committed after a round had passed its time', async () => {
  await addSubject('acme', 'first', [3, 2]);
  const { archiver: one } = await archiver();
  await one.archiveDue();
  const halfMinute = 30 / 86_400;
  await addSubject('acme', 'late', [1, halfMinute]);
  await one.archiveDue();
  expect(await archivedOf('late')).toEqual([1]);
});

it('moves no text if the second store returns wrong bytes', async () => {
  await addSubject('acme', 'mirrored', [3, 2, 1]);
  const mirror = new MemoryStore();
  const { archiver: one } = await archiver(0, mirror);
  mirror.before = (call, name) => {
    if (call === 'read') mirror.objects.get(name)?.fill(7, 50, 60);
  };
  await expect(one.archiveDue()).rejects.toThrow('The copy of the pack');
  expect(await archivedOf('mirrored')).toEqual([]);
});

it('keeps an empty pack for a month, for restores of an older database', async () => {
  await addSubject('acme', 'old', [3, 2, 1]);
  const { archiver: one, store: of } = await archiver();
  await one.archiveDue();
  const [object] = store.objects.keys();
  await of.forget(object?.replace('packs/', '') ?? '');
  const emptySince = (days: number) =>
    superuser.query(`UPDATE archive_packs SET texts = 0, changed_at = now() - $1 * interval '1 day'`, [days]);
  await emptySince(29);
  await one.archiveDue();
  expect(store.objects.size).toBe(1);
  await emptySince(31);
  await one.archiveDue();
  expect([store.objects.size, await count('archive_packs')]).toEqual([0, 0]);
});

it('does not restore a version that is erased while its pack is written', async () => {
  await addSubject('acme', 'erased', [3, 2, 1]);
  const { archiver: one } = await archiver();
  store.before = async (call) => {
    if (call !== 'read') return;
    store.before = () => undefined;
    await superuser.query(
      `INSERT INTO log_entries (log_index, entry_type, subject_key, snapshot_version, salt)
       SELECT 0, 1, subject_key, 1, decode(repeat('00', 16), 'hex') FROM subjects`,
    );
    await superuser.query(
      `INSERT INTO erasures (public_id, tenant_id, subject_key, versions, requested_by)
       SELECT gen_random_uuid(), 'acme', subject_key, '{1}', 'alice' FROM subjects`,
    );
    await superuser.query(`UPDATE erasures SET confirmed_by = 'bob', confirmed_at = now()`);
    await superuser.query(`SELECT erase_versions(erasure_id) FROM erasures`);
  };
  await one.archiveDue();
  expect(await archivedOf('erased')).toEqual([2]);
  expect(await count('snapshots WHERE erasure_id IS NOT NULL AND num_nonnulls(envelope, pack_id) = 0')).toBe(1);
  expect(await count('archive_packs WHERE texts = 1')).toBe(1);
});

it('leaves a damaged text in the database, where the operator can examine it', async () => {
  await addSubject('acme', 'damaged', [3, 2, 1]);
  await superuser.query(`ALTER TABLE snapshots DISABLE TRIGGER USER`);
  await superuser.query(`UPDATE snapshots SET envelope = '{}' WHERE snapshot_version = 1`);
  await superuser.query(`ALTER TABLE snapshots ENABLE TRIGGER USER`);
  const { archiver: one } = await archiver();
  await one.archiveDue();
  expect(await archivedOf('damaged')).toEqual([2]);
});

function fail(isNow: boolean): void {
  if (isNow) throw new Error('The worker was killed');
}
