import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { KEYED_ENTRY_VERSION, logEntryText } from '@iss/domain';
import { Client } from 'pg';
import { repositoryRoot } from '../../../../../tools/root';
import { rowsRead } from '../../testing/rows-read';
import { addTenant, openSharedWorld, type SharedWorld, snapshot } from '../../testing/world';
import { LogEntryStore } from '../log/log-entry.store';
import { SnapshotWriteStore } from '../snapshots/snapshot-write.store';
import { ErasureStore } from './erasure.store';

let world: SharedWorld;
let owner: Client;
let subjectKey: string;
const subject = { subjectType: 'organization', subjectId: 'erased' };
const VERSIONS = 5;

beforeAll(async () => {
  world = await openSharedWorld();
  owner = world.admin;
});
afterAll(() => world?.close());

beforeEach(async () => {
  await world.empty();
  await addTenant(world, 'acme');
  const writes = new SnapshotWriteStore(world.database.sql);
  let prevHash: string | null = null;
  for (let snapshotVersion = 1; snapshotVersion <= VERSIONS; snapshotVersion++) {
    const next = snapshot({ ...subject, snapshotVersion, prevHash });
    await (snapshotVersion === 1 ? writes.create(next) : writes.append(next));
    prevHash = next.envelopeHash;
  }
  const { rows } = await owner.query<{ key: string }>(`SELECT subject_key AS key FROM subjects`);
  subjectKey = rows[0]?.key ?? '';
});

/** Adds the log entries that erasures read. */
const log = () =>
  owner.query(`INSERT INTO log_entries (log_index, entry_type, subject_key, snapshot_version, salt)
               SELECT snapshot_version, 1, subject_key, snapshot_version, decode(repeat('00', 16), 'hex') FROM snapshots`);

/** Returns the versions that have their text. */
async function standing(): Promise<number[]> {
  const { rows } = await owner.query<{ version: number }>(
    'SELECT snapshot_version AS version FROM snapshots WHERE envelope IS NOT NULL ORDER BY 1',
  );
  return rows.map(({ version }) => version);
}

/** Returns the SQL that operators run after a restore, without psql's own commands. */
function restoreSteps(): string {
  const steps = readFileSync(join(repositoryRoot, 'docs/operations/repeat-erasures.sql'), 'utf8');
  return steps.replaceAll(/^(\\copy|--).*$/gm, '');
}

it('an interrupted transaction leaves the content intact', async () => {
  await log();
  await owner.query(`INSERT INTO erasures (public_id, tenant_id, subject_key, versions, requested_by)
                     VALUES (gen_random_uuid(), 'acme', ${subjectKey}, '{1,2}', 'alice')`);
  await owner.query(`UPDATE erasures SET confirmed_by = 'bob', confirmed_at = now()`);
  await owner.query('BEGIN');
  await owner.query('SELECT erase_versions(erasure_id) FROM erasures');
  expect(await standing()).toEqual([3, 4, 5]);
  await owner.query('ROLLBACK');
  expect(await standing()).toEqual([1, 2, 3, 4, 5]);
  await owner.query('SELECT erase_versions(erasure_id) FROM erasures');
  expect(await standing()).toEqual([3, 4, 5]);
});

it('waits for the log, and changes nothing until then', async () => {
  await owner.query(`INSERT INTO erasures (public_id, tenant_id, subject_key, versions, requested_by)
                     VALUES (gen_random_uuid(), 'acme', ${subjectKey}, '{1}', 'alice')`);
  await owner.query(`UPDATE erasures SET confirmed_by = 'bob', confirmed_at = now()`);
  const { rows } = await owner.query('SELECT erase_versions(erasure_id) AS at FROM erasures');
  expect(rows).toEqual([{ at: null }]);
  expect(await standing()).toHaveLength(VERSIONS);
});

it('keeps the hash of the text of an entry with keys, so that its leaf can be rebuilt', async () => {
  const text = 'a"\\/\u0001\u007f\u2028é😀';
  await owner.query('ALTER TABLE subjects DISABLE TRIGGER USER');
  await owner.query(`UPDATE subjects SET subject_id = $1`, [text]);
  await owner.query('ALTER TABLE subjects ENABLE TRIGGER USER');
  await log();
  await owner.query(`INSERT INTO snapshot_views (subject_key, snapshot_version, view_secret, view_hash)
                     SELECT subject_key, snapshot_version, sha256(''), envelope_hash FROM snapshots WHERE snapshot_version = 3`);
  await owner.query('ALTER TABLE log_entries DISABLE TRIGGER USER');
  await owner.query(
    `UPDATE log_entries SET names_writer = snapshot_version > 1, names_view = nullif(snapshot_version = 3, false),
            key_prefixes = sha256('') WHERE snapshot_version < 4`,
  );
  await owner.query('ALTER TABLE log_entries ENABLE TRIGGER USER');
  const entries = await new LogEntryStore(world.database.sql).ofVersions({ ...subject, subjectId: text }, 1, 3);
  expect(entries).toHaveLength(3);
  expect(entries[2]?.fact).toMatchObject({ viewHash: expect.any(String) });
  await owner.query(`INSERT INTO erasures (public_id, tenant_id, subject_key, versions, requested_by)
                     VALUES (gen_random_uuid(), 'acme', ${subjectKey}, '{1,2,3,4}', 'alice')`);
  await owner.query(`UPDATE erasures SET confirmed_by = 'bob', confirmed_at = now()`);
  await owner.query('SELECT erase_versions(erasure_id) FROM erasures');
  const { rows } = await owner.query('SELECT salt, body_hash FROM log_entries ORDER BY log_index LIMIT 4');
  const hashes = entries.map(({ fact, salt }) =>
    createHash('sha256')
      .update(logEntryText(fact, salt ?? Buffer.alloc(0), KEYED_ENTRY_VERSION))
      .digest(),
  );
  expect(rows).toEqual([...hashes, null].map((hash) => ({ salt: null, body_hash: hash })));
});

it.each([
  ['is not in the backup', ''],
  [
    'is pending in the backup',
    `INSERT INTO erasures (public_id, tenant_id, subject_key, versions, requested_by)
     SELECT '11111111-1111-4111-8111-111111111111', 'acme', subject_key, '{2,4}', 'alice' FROM subjects`,
  ],
  [
    'is not in the backup, in which another one is pending',
    `INSERT INTO erasures (public_id, tenant_id, subject_key, versions, requested_by)
     SELECT gen_random_uuid(), 'acme', subject_key, '{5}', 'alice' FROM subjects`,
  ],
])('after a restore it is repeated if it %s', async (_, backup) => {
  await log();
  await owner.query(backup);
  const [create = '', ...rest] = restoreSteps().split(';\n');
  await owner.query(create);
  await owner.query(`INSERT INTO done VALUES
    ('11111111-1111-4111-8111-111111111111', 'acme', ${subjectKey}, '{2,4}', 'R-1', 'alice', NULL)`);
  for (let time = 0; time < 2; time++) {
    await owner.query(rest.join(';\n'));
    expect(await standing()).toEqual([1, 3, 5]);
  }
  await owner.query('DROP TABLE done');
  const { rows } = await owner.query(`SELECT erased_indexes FROM erasures WHERE status = 'erased'`);
  expect(rows).toEqual([{ erased_indexes: ['2', '4'] }]);
});

it('a page of erasures reads only what it shows', async () => {
  await log();
  for (let version = 1; version <= VERSIONS; version++) {
    await owner.query(`INSERT INTO erasures (public_id, tenant_id, subject_key, versions, requested_by)
                       VALUES (gen_random_uuid(), 'acme', ${subjectKey}, '{${version}}', 'alice')`);
    await owner.query(`UPDATE erasures SET confirmed_by = 'bob', confirmed_at = now() WHERE status = 'pending'`);
    await owner.query(`SELECT erase_versions(erasure_id) FROM erasures WHERE status = 'pending'`);
  }
  const actor = { tenantId: 'acme', principalId: 'tenant_owner' };
  const { page } = await new ErasureStore(world.database.sql).list(actor, subject, { limit: 2, after: null });
  expect(page.items.map(({ versions }) => versions)).toEqual([[5], [4]]);
  const read = (rows: number): Promise<number> =>
    rowsRead(world, 'erasures_of_subject', {
      ...subject,
      ...actor,
      before: String(2n ** 62n),
      rows,
    });
  expect((await read(4)) - (await read(2))).toBe(2);
});
