import { createHash, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { KEYED_ENTRY_VERSION, logEntryText } from '@iss/domain';
import { Client } from 'pg';
import { repositoryRoot } from '../../../../../tools/root';
import { waitFor } from '../../../../../tools/testing/wait-for';
import { rowsRead } from '../../testing/rows-read';
import { addTenant, openSharedWorld, type SharedWorld, snapshot, TRACE } from '../../testing/world';
import { IdempotencyStore } from '../edge/idempotency.store';
import { LogEntryStore } from '../log/log-entry.store';
import { fillProvenance } from '../provenance/fill-provenance';
import { SnapshotWriteStore } from '../snapshots/snapshot-write.store';
import { UpdateStore } from '../updates/update.store';
import { ErasureStore } from './erasure.store';

let world: SharedWorld;
let owner: Client;
let eraser: Client;
let subjectKey: string;
let lastHash: string | null;
const subject = { subjectType: 'organization', subjectId: 'erased' };
const VERSIONS = 5;

beforeAll(async () => {
  world = await openSharedWorld();
  owner = world.admin;
  eraser = new Client({ connectionString: world.url });
  await eraser.connect();
});
afterAll(async () => {
  await eraser?.end();
  await world?.close();
});

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
  lastHash = prevHash;
  const { rows } = await owner.query<{ key: string }>(`SELECT subject_key AS key FROM subjects`);
  subjectKey = rows[0]?.key ?? '';
});

/** Adds the log entries that erasures read. */
const log = () =>
  owner.query(`INSERT INTO log_entries (log_index, entry_type, subject_key, snapshot_version, salt)
               SELECT snapshot_version, 1, subject_key, snapshot_version, decode(repeat('00', 16), 'hex') FROM snapshots ON CONFLICT DO NOTHING`);

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

it('an interrupted erasure leaves the content intact', async () => {
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

it('changes nothing until the versions are logged', async () => {
  await owner.query(`INSERT INTO erasures (public_id, tenant_id, subject_key, versions, requested_by)
                     VALUES (gen_random_uuid(), 'acme', ${subjectKey}, '{1}', 'alice')`);
  await owner.query(`UPDATE erasures SET confirmed_by = 'bob', confirmed_at = now()`);
  const { rows } = await owner.query('SELECT erase_versions(erasure_id) AS at FROM erasures');
  expect(rows).toEqual([{ at: null }]);
  expect(await standing()).toHaveLength(VERSIONS);
});

it('keeps the hash of the text of a keyed entry, so that its leaf can be rebuilt', async () => {
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
    'is not in the backup but another one is pending there',
    `INSERT INTO erasures (public_id, tenant_id, subject_key, versions, requested_by)
     SELECT gen_random_uuid(), 'acme', subject_key, '{5}', 'alice' FROM subjects`,
  ],
])('repeats an erasure after a restore if it %s', async (_, backup) => {
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

it('reads only the erasures of the requested page', async () => {
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

describe('with concurrent writers', () => {
  const NAMED = {
    ...{ name: 'acme', displayName: 'Acme', namePath: '/attributes/legal/legal_name' },
    identifiers: [{ scheme: 'lei', value: '1', path: '/attributes/identifiers/0/value' }],
  };

  beforeEach(log);

  /** Begins a transaction that erases these versions. */
  async function beginErasure(versions: string): Promise<void> {
    await owner.query(`INSERT INTO erasures (public_id, tenant_id, subject_key, versions, requested_by)
                       VALUES (gen_random_uuid(), 'acme', ${subjectKey}, '${versions}', 'alice')`);
    await owner.query(`UPDATE erasures SET confirmed_by = 'bob', confirmed_at = now() WHERE status = 'pending'`);
    await eraser.query('BEGIN');
  }
  const erase = () => eraser.query(`SELECT erase_versions(erasure_id) FROM erasures WHERE status = 'pending'`);

  /** Waits until so many statements wait for a lock, or the work has ended. */
  async function untilBlocked(count: number, work: Promise<unknown>): Promise<void> {
    let hasEnded = false;
    const end = (): void => void (hasEnded = true);
    work.then(end, end);
    const waiting = async () =>
      (
        await owner.query(
          `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`,
        )
      ).rowCount ?? 0;
    await waitFor(async () => hasEnded || (await waiting()) >= count, { what: `${count} statements that wait` });
  }

  const propose = () =>
    new UpdateStore(world.database.sql).propose({
      ...{ ...subject, updateId: randomUUID(), tenantId: 'acme', principalId: 'tenant_editor' },
      ...{ baseSnapshotId: randomUUID(), baseSnapshotVersion: VERSIONS, patchOps: '["secret"]', changeKind: 'change' },
      ...{ requestId: 'one', initiatedBy: null, evidencePolicy: 'open', trace: TRACE },
    });

  /** Writes the next version, which has the same name and identifiers. */
  async function append(snapshotVersion: number) {
    const provenance = { changedBy: '"alice"', origins: Buffer.alloc(0), changedPaths: '["/attributes/secret"]' };
    const next = snapshot({ ...subject, ...provenance, snapshotVersion, prevHash: lastHash, terms: NAMED });
    const outcome = await new SnapshotWriteStore(world.database.sql).append(next);
    lastHash = next.envelopeHash;
    return outcome;
  }

  const patches = async () => (await owner.query('SELECT status, patch_ops AS patch FROM updates')).rows;

  it('refuses a proposal on a version that is being erased', async () => {
    await beginErasure(`{${VERSIONS}}`);
    await erase();
    const proposed = propose();
    await untilBlocked(1, proposed);
    await eraser.query('COMMIT');
    expect(await proposed).toMatchObject({ kind: 'refused' });
    expect(await patches()).toEqual([]);
  });

  it('erases the patch of a proposal that is being stored', async () => {
    await beginErasure(`{${VERSIONS}}`);
    await owner.query('BEGIN');
    await owner.query(
      `INSERT INTO updates (update_id, tenant_id, subject_key, base_snapshot_id, base_snapshot_version, patch_ops, change_kind, request_id, proposed_by)
       VALUES (gen_random_uuid(), 'acme', ${subjectKey}, gen_random_uuid(), 1, '[]', 'change', 'one', 'alice')`,
    );
    const proposed = propose();
    await untilBlocked(1, proposed);
    const erased = erase();
    await untilBlocked(2, erased);
    await owner.query('ROLLBACK');
    expect(await proposed).toMatchObject({ kind: 'proposed' });
    await erased;
    await eraser.query('COMMIT');
    expect(await patches()).toEqual([{ status: 'withdrawn', patch: null }]);
  });

  const found = async () =>
    (
      await owner.query(
        `SELECT s.name, s.display_name AS "displayName", s.name_path AS "namePath", p.changed_paths AS "changedPaths",
                (SELECT json_agg(d.value) FROM subject_identifiers d) AS identifiers
           FROM subjects s JOIN snapshot_provenance p ON p.subject_key = s.subject_key AND p.snapshot_version = ${VERSIONS + 2}`,
      )
    ).rows;
  const { name, displayName, namePath } = NAMED;
  const asWritten = [{ name, displayName, namePath, changedPaths: null, identifiers: ['1'] }];

  it('keeps the name, but not the changed paths, of a version written while the previous one is erased', async () => {
    await append(VERSIONS + 1);
    await log();
    await beginErasure(`{${VERSIONS + 1}}`);
    await erase();
    const appended = append(VERSIONS + 2);
    await untilBlocked(1, appended);
    await eraser.query('COMMIT');
    expect(await appended).toMatchObject({ kind: 'written' });
    expect(await found()).toEqual(asWritten);
  });

  it('keeps the name, but not the changed paths, of a version whose write has begun', async () => {
    await append(VERSIONS + 1);
    await log();
    await beginErasure(`{${VERSIONS + 1}}`);
    await owner.query('BEGIN');
    await owner.query('SELECT FROM subject_identifiers FOR UPDATE');
    const appended = append(VERSIONS + 2);
    await untilBlocked(1, appended);
    const erased = erase();
    await untilBlocked(2, erased);
    await owner.query('COMMIT');
    expect(await appended).toMatchObject({ kind: 'written' });
    await erased;
    await eraser.query('COMMIT');
    expect(await found()).toEqual(asWritten);
  });

  it.each(['before', 'while'])('keeps no idempotent answer of a request if the subject is erased %s', async (when) => {
    const keys = new IdempotencyStore(world.database.sql);
    const key = Buffer.alloc(32, when);
    const begun = await keys.begin(key, key);
    if (begun.kind !== 'began') throw new Error('another request runs');
    await beginErasure('{1}');
    await erase();
    if (when === 'before') await eraser.query('COMMIT');
    const kept = keys.keep(key, begun.claim, 'secret', subject);
    await untilBlocked(1, kept);
    if (when === 'while') await eraser.query('COMMIT');
    await kept;
    expect(await keys.begin(key, key)).toMatchObject({ kind: 'began' });
  });

  it('keeps the idempotent answers of later requests', async () => {
    await beginErasure('{1}');
    await erase();
    await eraser.query('COMMIT');
    const keys = new IdempotencyStore(world.database.sql);
    const key = Buffer.alloc(32, 'later');
    const begun = await keys.begin(key, key);
    if (begun.kind !== 'began') throw new Error('another request runs');
    await keys.keep(key, begun.claim, 'answer', subject);
    expect(await keys.begin(key, key)).toEqual({ kind: 'answered', answer: 'answer' });
  });

  it('adds no provenance from a text that is being erased', async () => {
    await beginErasure('{2}');
    await erase();
    const filled = fillProvenance(world.url);
    await untilBlocked(1, filled);
    await eraser.query('COMMIT');
    await filled;
    const { rows } = await owner.query(
      'SELECT snapshot_version AS version, changed_paths IS NULL AS "isUnknown" FROM snapshot_provenance ORDER BY 1',
    );
    expect(rows).toEqual([
      { version: 1, isUnknown: true },
      { version: 3, isUnknown: true },
      { version: 4, isUnknown: false },
      { version: 5, isUnknown: false },
    ]);
  });
});
