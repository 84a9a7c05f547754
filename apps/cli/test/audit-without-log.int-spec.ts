import type { CheckName } from '../src/audit/findings';
import { RealLog } from './testing/real-log';
import { iss } from './testing/run-iss';

interface Report {
  clean: boolean;
  log: boolean;
  tree_size: number | null;
  snapshots: number;
  updates_replayed: number;
  updates_not_replayed: number;
  findings_by_check: Partial<Record<CheckName, number>>;
  findings: { check: CheckName; where: string; what: string }[];
  notices: { where: string }[];
}

let log: RealLog;
beforeAll(async () => {
  log = await RealLog.create();
  await log.query(`INSERT INTO tenants (tenant_id, name) VALUES ('acme', 'Acme'), ('beta', 'Beta')`);
  await log.keep();
});
afterAll(() => log.close());
afterEach(() => log.restore());

const audit = (...words: string[]) => iss(['audit', '--database-url', log.url, ...words]);
async function look(...words: string[]): Promise<Report> {
  const { printed } = await audit('--json', '--jobs', '1', ...words);
  // The result is one line, for programs that collect the output of nightly runs.
  expect(printed).not.toContain('\n');
  return JSON.parse(printed);
}

const HASH = `sha256(convert_to(envelope, 'UTF8'))`;
/** SQL for the envelope with one text replaced by another, and for its hash. */
const rewritten = (from: string, to: string): string => `replace(envelope, '${from}', '${to}')`;

/** Makes the id of a row that an attack on a subject inserts. */
const idOf = (key: string): string => `00000000-0000-4000-8000-${key.padStart(12, '0')}`;

/** Inserts valid credentials of versions, the first of them with a known id. */
const credentials = (key: string, kid: string, versions: readonly number[]): string =>
  `INSERT INTO issuing_keys (kid, tenant_id, issuer, public_key, sealed, replaced_at, created_by)
   VALUES ('${kid}', 'acme', 'i', 'x', NULL, now(), 'alice') ON CONFLICT DO NOTHING;
   INSERT INTO status_lists (list_id, tenant_id, issuer, uri, token, signed_at)
   VALUES ('${idOf(key)}', 'acme', 'i', 'u', 't', now());
   INSERT INTO credentials (credential_id, tenant_id, subject_key, snapshot_version, format, has_holder_key, kid, list_id, status_idx,
                            issued_by, expires_at, status)
   SELECT CASE v WHEN ${versions[0]} THEN '${idOf(key)}' ELSE gen_random_uuid() END, 'acme', ${key}, v, 'dc+sd-jwt', false, '${kid}',
          '${idOf(key)}', v, 'alice', now() + interval '1 day', 'valid'
     FROM unnest('{${versions.join()}}'::int[]) v`;

/** Moves the text of version 2 to a pack. */
const packed = (key: string, pack: string): string =>
  `UPDATE snapshots SET envelope = NULL, pack_id = ${pack}, pack_offset = 0, pack_length = 1, text_bytes = 1
    WHERE subject_key = ${key} AND snapshot_version = 2`;

/** Lists what a superuser does to a subject with three versions, and which check finds it at which place. `key` is its subject_key. */
const ATTACKS: Record<
  string,
  { how: (key: string) => string; finds: readonly [CheckName, string | ((key: string) => string)][] }
> = {
  'a credential of an old version is made valid': {
    how: (key) => credentials(key, 'kid', [2, 3]),
    finds: [['credential', (key) => `credential cred_${idOf(key)}`]],
  },
  'a withdrawn credential is made valid': {
    how: (key) =>
      `${credentials(key, 'kid', [3])};
       INSERT INTO audit_records (tenant_id, action, target, details)
       VALUES ('acme', 'credential.withdrawn', '{"credential_id": "cred_${idOf(key)}"}', '{}')`,
    finds: [['credential', (key) => `credential cred_${idOf(key)}`]],
  },
  'a credential of a retired key is made valid': {
    how: (key) =>
      `${credentials(key, `kid-${key}`, [3])};
       UPDATE issuing_keys SET retired_at = now() WHERE kid = 'kid-${key}'`,
    finds: [['credential', (key) => `credential cred_${idOf(key)}`]],
  },
  'an envelope is changed': {
    how: (key) =>
      `UPDATE snapshots SET envelope = ${rewritten('importer', 'thief')} WHERE subject_key = ${key} AND snapshot_version = 2`,
    finds: [['envelope_hash', 'version 2']],
  },
  'an envelope is changed with its hash': {
    how: (key) =>
      `UPDATE snapshots SET envelope = ${rewritten('importer', 'thief')} WHERE subject_key = ${key} AND snapshot_version = 2;
       UPDATE snapshots SET envelope_hash = ${HASH} WHERE subject_key = ${key} AND snapshot_version = 2`,
    finds: [['chain', 'version 3']],
  },
  'the newest envelope is changed and its hash removed': {
    how: (key) =>
      `UPDATE snapshots SET envelope = ${rewritten('importer', 'thief')}, envelope_hash = NULL
        WHERE subject_key = ${key} AND snapshot_version = 3`,
    finds: [['envelope_hash', 'version 3']],
  },
  'an envelope is set to NULL': {
    how: (key) =>
      `UPDATE snapshots SET envelope = NULL, erasure_id = 4711 WHERE subject_key = ${key} AND snapshot_version = 2`,
    finds: [['erased', 'version 2']],
  },
  'tenant_id names another tenant': {
    how: (key) => `UPDATE snapshots SET tenant_id = 'beta' WHERE subject_key = ${key} AND snapshot_version = 2`,
    finds: [['subject', 'version 2']],
  },
  'generated_at is changed': {
    how: (key) =>
      `UPDATE snapshots SET generated_at = '2020-01-15T09:30:00Z' WHERE subject_key = ${key} AND snapshot_version = 2`,
    finds: [['envelope_ids', 'version 2']],
  },
  'a change is relabelled as a correction': {
    how: (key) => `UPDATE snapshots SET change_kind = 'correction' WHERE subject_key = ${key} AND snapshot_version = 2`,
    finds: [['envelope_ids', 'version 2']],
  },
  'the id is changed': {
    how: (key) =>
      `UPDATE snapshots SET snapshot_id = gen_random_uuid() WHERE subject_key = ${key} AND snapshot_version = 2`,
    finds: [['envelope_ids', 'version 2']],
  },
  'created_at is back-dated': {
    how: (key) =>
      `UPDATE snapshots SET created_at = created_at - interval '1 day' WHERE subject_key = ${key} AND snapshot_version = 3`,
    finds: [['time', 'version 3']],
  },
  'created_at is in the future': {
    how: (key) =>
      `UPDATE snapshots SET created_at = created_at + interval '1 day' WHERE subject_key = ${key} AND snapshot_version = 3`,
    finds: [['time', 'version 3']],
  },
  'a version in the middle is deleted': {
    how: (key) => `DELETE FROM snapshots WHERE subject_key = ${key} AND snapshot_version = 2`,
    finds: [['version_gap', 'version 3']],
  },
  'the display name of a subject is changed': {
    how: (key) => `UPDATE subjects SET display_name = 'Thief Ltd' WHERE subject_key = ${key}`,
    finds: [['name', 'version 3']],
  },
  'all versions of a subject are deleted': {
    how: (key) => `DELETE FROM snapshots WHERE subject_key = ${key}`,
    finds: [['subject_empty', () => 'subject organization all versions of a subject are deleted']],
  },
  'the newest version is deleted although an update created it': {
    how: (key) =>
      `INSERT INTO updates (update_id, tenant_id, subject_key, base_snapshot_id, base_snapshot_version, patch_ops, status,
                            proposed_by, applied_at, applied_snapshot_id)
       SELECT '${idOf(key)}', 'acme', b.subject_key, b.snapshot_id, 2, '[]', 'applied', 'alice', now(), a.snapshot_id
         FROM snapshots b JOIN snapshots a USING (subject_key)
        WHERE b.subject_key = ${key} AND b.snapshot_version = 2 AND a.snapshot_version = 3;
       DELETE FROM snapshots WHERE subject_key = ${key} AND snapshot_version = 3`,
    finds: [['named', (key) => `update ${idOf(key)}`]],
  },
  'the newest version is deleted although it is the base of a proposal': {
    how: (key) =>
      `INSERT INTO updates (update_id, tenant_id, subject_key, base_snapshot_id, base_snapshot_version, patch_ops, proposed_by)
       SELECT '${idOf(key)}', 'acme', subject_key, snapshot_id, 3, '[]', 'alice' FROM snapshots
        WHERE subject_key = ${key} AND snapshot_version = 3;
       DELETE FROM snapshots WHERE subject_key = ${key} AND snapshot_version = 3`,
    finds: [['named', (key) => `update ${idOf(key)}`]],
  },
  'the newest version is deleted although it fulfilled a refresh request': {
    how: (key) =>
      `INSERT INTO refresh_requests (refresh_request_id, subject_key, requesting_tenant_id, requested_by, origin_type, status,
                                     resolved_at, resolved_snapshot_id, resolved_snapshot_version)
       SELECT '${idOf(key)}', subject_key, 'beta', 'bob', 'counterparty', 'fulfilled', now(), snapshot_id, 3 FROM snapshots
        WHERE subject_key = ${key} AND snapshot_version = 3;
       DELETE FROM snapshots WHERE subject_key = ${key} AND snapshot_version = 3`,
    finds: [['named', (key) => `refresh request ${idOf(key)}`]],
  },
  'the newest version is deleted although it was disclosed': {
    how: (key) =>
      `INSERT INTO disclosures (subject_key, disclosed_on, grantee_tenant_id, principal_id, via, from_version, to_version, request_id)
       VALUES (${key}, current_date, 'beta', 'bob', 'read', 2, 3, 'r-1');
       DELETE FROM snapshots WHERE subject_key = ${key} AND snapshot_version = 3`,
    finds: [['named', () => 'disclosure 1 to beta']],
  },
  'the newest version is deleted although an event names it': {
    how: (key) =>
      `INSERT INTO outbox_events (event_id, tenant_id, event_type, snapshot_id)
       SELECT '${idOf(key)}', 'acme', 'identity.snapshot.created', snapshot_id FROM snapshots
        WHERE subject_key = ${key} AND snapshot_version = 3;
       DELETE FROM snapshots WHERE subject_key = ${key} AND snapshot_version = 3`,
    finds: [['named', (key) => `event ${idOf(key)}`]],
  },
  'the newest version is deleted although its provenance is stored': {
    how: (key) =>
      `INSERT INTO snapshot_provenance (subject_key, snapshot_version, changed_by, origins) VALUES (${key}, 3, 'alice', '\\x00');
       DELETE FROM snapshots WHERE subject_key = ${key} AND snapshot_version = 3`,
    finds: [['named', (key) => `provenance of version 3 of subject_key ${key}`]],
  },
  'an update is moved to another tenant': {
    how: (key) =>
      `INSERT INTO updates (update_id, tenant_id, subject_key, base_snapshot_id, base_snapshot_version, patch_ops, proposed_by)
       SELECT '${idOf(key)}', 'beta', subject_key, snapshot_id, 3, '[]', 'alice' FROM snapshots
        WHERE subject_key = ${key} AND snapshot_version = 3`,
    finds: [['tenant', (key) => `update ${idOf(key)}`]],
  },
  'an identifier of the subject is moved to another tenant': {
    how: (key) =>
      `INSERT INTO subject_identifiers (subject_key, scheme, value, owner_tenant_id, subject_type)
       VALUES (${key}, 'lei', 'X', 'beta', 'organization')`,
    finds: [['tenant', (key) => `identifier of subject_key ${key}`]],
  },
  'the missing evidence of the subject is moved to another tenant': {
    how: (key) =>
      `INSERT INTO subject_evidence (subject_key, owner_tenant_id, subject_type, subject_id, has_missing, has_carried)
       VALUES (${key}, 'beta', 'organization', 'x', true, false)`,
    finds: [['tenant', (key) => `evidence of subject_key ${key}`]],
  },
  'a text is in a pack that does not exist': {
    how: (key) => packed(key, '4711'),
    finds: [['named', (key) => `version 2 of subject_key ${key}`]],
  },
  'a text is in a pack that was not read back': {
    how: (key) =>
      `INSERT INTO archive_packs (object_id, state, bytes) VALUES ('${idOf(key)}', 'written', 1000);
       ${packed(key, `(SELECT pack_id FROM archive_packs WHERE object_id = '${idOf(key)}')`)}`,
    finds: [['named', (key) => `version 2 of subject_key ${key}`]],
  },
  'a grant is made by a tenant that does not own the subject': {
    how: (key) =>
      `INSERT INTO grants (grant_id, grantor_tenant_id, grantee_tenant_id, subject_key, scopes)
       VALUES ('${idOf(key)}', 'beta', 'mallory', ${key}, '{read_latest}')`,
    finds: [['grant_owner', (key) => `grant ${idOf(key)} of beta`]],
  },
  'a grant names a subject that does not exist': {
    how: (key) =>
      `INSERT INTO grants (grant_id, grantor_tenant_id, grantee_tenant_id, subject_key, scopes)
       VALUES ('${idOf(key)}', 'acme', 'mallory', 987654321, '{read_latest}')`,
    finds: [['grant_owner', (key) => `grant ${idOf(key)} of acme`]],
  },
  'a subject is deleted': {
    how: (key) => `DELETE FROM subjects WHERE subject_key = ${key}`,
    finds: [
      ['fact_missing', (key) => `version 1 of null null (subject_key ${key})`],
      ['fact_missing', (key) => `version 2 of null null (subject_key ${key})`],
      ['fact_missing', (key) => `version 3 of null null (subject_key ${key})`],
    ],
  },
};

it('an audit with --no-log detects rows that contradict one another', async () => {
  await log.addLineage('whole', 3);
  expect(await look('--no-log')).toMatchObject({
    clean: true,
    log: false,
    tree_size: null,
    snapshots: 3,
    findings: [],
  });
  const expected: string[] = [];
  for (const [attack, { how, finds }] of Object.entries(ATTACKS)) {
    await log.addLineage(attack, 3);
    const [subject] = await log.query<{ key: string }>(
      'SELECT subject_key::text AS key FROM subjects WHERE subject_id = $1',
      [attack],
    );
    const key = subject?.key ?? '';
    await log.tamper(how(key));
    for (const [check, where] of finds) {
      const place = typeof where === 'string' ? `${where} of organization ${attack} (subject_key ${key})` : where(key);
      expected.push(`${check}: ${place}`);
    }
  }
  const { findings_by_check: counts, findings } = await look('--no-log');
  const found = findings.map(({ check, where }) => `${check}: ${where.replace(/^snapshot [-0-9a-f]{36}: /, '')}`);
  expect(found.sort()).toEqual(expected.sort());
  expect(Object.values(counts).reduce((sum, count) => sum + count, 0)).toBe(findings.length);
});

it('an audit of a log whose tree is deleted reports this and checks everything else', async () => {
  await log.addLineage('acme-corp', 3);
  await log.publish();
  await log.tamper(`DELETE FROM log_tree;
    UPDATE snapshots SET envelope = ${rewritten('importer', 'thief')} WHERE snapshot_version = 2`);
  expect(await look()).toMatchObject({ clean: false, tree_size: null, snapshots: 3 });
  const { exitCode, printed } = await audit('--jobs', '1');
  expect(exitCode).toBe(1);
  expect(printed).toMatch(/^Checked 3 snapshots, but no log, because its tree is gone\./);
  expect(printed).toMatch(/log_tree: .*it is empty/);
  expect(printed).toMatch(/version 2 of organization acme-corp .*its hash is/);
});

it('an audit also checks snapshots that have no log entry yet', async () => {
  await log.addLineage('waits', 2);
  expect(await look()).toMatchObject({ clean: true, log: true });
  await log.tamper(`UPDATE snapshots SET envelope = ${rewritten('importer', 'thief')} WHERE snapshot_version = 1`);
  expect((await look()).findings).toMatchObject([{ check: 'envelope_hash' }]);
});

it('an audit refuses options of the log together with --no-log', async () => {
  for (const word of ['--vkey', '--policy', '--from-index', '--to-index']) {
    expect(await audit('--no-log', word, '256')).toMatchObject({
      exitCode: 2,
      complaint: expect.stringMatching(/^--no-log skips the log/),
    });
  }
});

/** Adds a subject whose second and third versions were made by updates. */
async function addPatched(subjectId: string): Promise<void> {
  await log.addLineage(subjectId, 1);
  await log.addUpdate(subjectId, [
    { op: 'add', path: '/attributes/name', value: 'Acme' },
    { op: 'copy', from: '/attributes/name', path: '/attributes/alias' },
  ]);
  await log.addUpdate(subjectId, [{ op: 'replace', path: '/attributes/alias', value: 'A' }]);
}
const keyOf = (subject: string): string => `(SELECT subject_key FROM subjects WHERE subject_id = '${subject}')`;

describe('an audit that replays updates', () => {
  const SUBJECT = keyOf('patched');
  beforeEach(() => addPatched('patched'));

  it('accepts the updates of the service, with and without the log', async () => {
    expect(await look('--no-log')).toMatchObject({ clean: true, updates_replayed: 2, updates_not_replayed: 0 });
    await log.publish();
    expect(await look()).toMatchObject({ clean: true, snapshots: 3, updates_replayed: 2, updates_not_replayed: 0 });
    expect((await audit('--jobs', '1')).printed).toMatch(/Replayed 2 updates\. 0 could/);
  });

  it('detects changed paths that are missing without an erasure', async () => {
    await log.addUpdate('patched', [{ op: 'replace', path: '/attributes/alias', value: 'B' }]);
    await log.query(
      `INSERT INTO snapshot_provenance (subject_key, snapshot_version, changed_by, origins)
       VALUES (${SUBJECT}, 3, '"alice"', ''), (${SUBJECT}, 4, '"alice"', '')`,
    );
    await log.publish();
    await log.erase('patched', [2]);
    await log.publish();
    for (const words of [[], ['--no-log']]) {
      expect((await look(...words)).findings).toMatchObject([
        {
          check: 'changed_paths',
          where: expect.stringContaining('version 4'),
          what: expect.stringContaining('no erasure'),
        },
      ]);
    }
    // Earlier releases stored none.
    await log.tamper(`UPDATE changed_paths_since SET from_at = now() + interval '1 day'`);
    expect(await look()).toMatchObject({ clean: true });
  });

  it('counts updates that it cannot replay: erased ones and those rfc6902 applies wrongly', async () => {
    await log.addUpdate('patched', [{ op: 'add', path: '/attributes/constructor', value: {} }]);
    await log.addUpdate('patched', [{ op: 'add', path: '/attributes/constructor/name', value: 'x' }]);
    await log.publish();
    const { clean, notices, ...counts } = await look();
    expect([clean, counts.updates_replayed, counts.updates_not_replayed]).toEqual([true, 3, 1]);
    expect(notices).toMatchObject([{ where: expect.stringContaining('version 5 of') }]);
    await log.erase('patched', [2]);
    await log.publish();
    expect(await look()).toMatchObject({ clean: true, updates_replayed: 1, updates_not_replayed: 3 });
  });
});

describe('an audit that replays falsified updates', () => {
  /** The text and hash of the newest version change. Its link stays the same. */
  const rewriteNewest = (subject: string, from: string, to: string): string =>
    `UPDATE snapshots SET envelope = ${rewritten(from, to)}, envelope_hash = sha256(convert_to(${rewritten(from, to)}, 'UTF8'))
      WHERE subject_key = ${keyOf(subject)} AND snapshot_version = 3`;
  const setNewest = (subject: string, what: string): string =>
    `UPDATE updates SET ${what} WHERE subject_key = ${keyOf(subject)} AND base_snapshot_version = 2`;
  const FAULTS: [fault: string, how: (subject: string) => string, what: RegExp][] = [
    [
      'an operation is changed',
      (subject) => setNewest(subject, `patch_ops = replace(patch_ops, '"A"', '"B"')`),
      /diff does not contain its operations/,
    ],
    [
      'an operation is changed together with diff and its hash',
      (subject) =>
        `${setNewest(subject, `patch_ops = replace(patch_ops, '"A"', '"B"')`)}; ${rewriteNewest(subject, '"path":"/attributes/alias","value":"A"', '"path":"/attributes/alias","value":"B"')}`,
      /its operations give another attributes$/,
    ],
    [
      'the result is changed together with its hash',
      (subject) => rewriteNewest(subject, '"name":"Acme"', '"name":"Thief"'),
      /give another attributes$/,
    ],
    [
      'an operation names a path that does not exist',
      (subject) =>
        `${setNewest(subject, `patch_ops = replace(patch_ops, '/alias', '/gone')`)}; ${rewriteNewest(subject, '"path":"/attributes/alias"', '"path":"/attributes/gone"')}`,
      /cannot be applied to the previous version/,
    ],
    [
      'the base is another version',
      (subject) =>
        setNewest(
          subject,
          `base_snapshot_id = (SELECT snapshot_id FROM snapshots WHERE subject_key = ${keyOf(subject)} AND snapshot_version = 1)`,
        ),
      /its base is not the previous version/,
    ],
    [
      'the operations are removed',
      (subject) => setNewest(subject, 'patch_ops = NULL, erasure_id = 4711'),
      /operations are missing without an erasure/,
    ],
  ];
  const PATHS: [paths: string, isRight: boolean][] = [
    ['["/attributes/alias"]', true],
    ['["/attributes~"]', true],
    ['[]', false],
    ['["/attributes/name"]', false],
    ['["/attributes/alias","/attributes/other"]', false],
  ];
  const faults = FAULTS.map(([fault, how, what], number) => ({ fault, how, what, subject: `faulty-${number}` }));
  const stored = PATHS.map(([paths, isRight], number) => ({ paths, isRight, subject: `stored-${number}` }));
  const found: Report['findings'][] = [];
  const findingsOf = (subject: string): Report['findings'][] =>
    found.map((findings) => findings.filter(({ where }) => where.includes(` ${subject} `)));

  beforeAll(async () => {
    for (const { subject } of [...faults, ...stored]) await addPatched(subject);
    for (const { subject, how } of faults) await log.tamper(how(subject));
    for (const { subject, paths } of stored) {
      await log.query(
        `INSERT INTO snapshot_provenance (subject_key, snapshot_version, changed_by, origins, changed_paths)
         VALUES (${keyOf(subject)}, 3, '"alice"', '', $1)`,
        [paths],
      );
    }
    // The log was rebuilt after the change, so the log and its signature agree with it.
    await log.publish();
    for (const words of [[], ['--no-log']]) found.push((await look(...words)).findings);
    await log.restore();
  });

  it.each(faults)('detects that $fault', ({ subject, what }) => {
    for (const findings of findingsOf(subject)) {
      expect(findings.filter(({ check }) => check === 'patch')).toContainEqual({
        check: 'patch',
        where: expect.stringContaining(`version 3 of organization ${subject}`),
        what: expect.stringMatching(what),
      });
    }
  });

  it.each(stored)('checks the stored paths $paths', ({ subject, isRight }) => {
    const checks = findingsOf(subject).map((findings) => findings.map(({ check }) => check));
    const expected = isRight ? [] : ['changed_paths'];
    expect(checks).toEqual([expected, expected]);
  });
});

describe('an audit of a changed schema', () => {
  let own: RealLog;
  beforeEach(async () => {
    own = await RealLog.create();
  });
  afterEach(() => own.close());

  it('detects missing, changed and added guards', async () => {
    await own.query(`
    ALTER TABLE snapshots DISABLE TRIGGER snapshots_immutable;
    DROP TRIGGER grants_logged ON grants;
    DROP TRIGGER log_tiles_grow ON log_tiles;
    CREATE TRIGGER log_tiles_grow BEFORE UPDATE ON log_tiles FOR EACH ROW WHEN (false) EXECUTE FUNCTION refuse_log_change();
    CREATE TRIGGER nosy AFTER INSERT ON snapshots FOR EACH ROW EXECUTE FUNCTION refuse_snapshot_change();
    CREATE OR REPLACE FUNCTION refuse_record_change() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
    DROP POLICY snapshots_sealed ON snapshots;
    CREATE POLICY anything ON snapshots FOR INSERT TO iss_app WITH CHECK (true);
    ALTER TABLE snapshots DISABLE ROW LEVEL SECURITY;
    GRANT DELETE ON audit_records TO iss_app;
    GRANT UPDATE (envelope) ON snapshots TO iss_app;
    GRANT SELECT ON webhook_subscriptions TO PUBLIC;
    REVOKE INSERT ON disclosures FROM iss_app;
    GRANT EXECUTE ON FUNCTION restart_log TO iss_app;
    ALTER TABLE snapshots DROP CONSTRAINT snapshots_text_check;
    ALTER TABLE erasures DROP CONSTRAINT erasures_two_people, ADD CONSTRAINT erasures_two_people CHECK (true);
    DROP INDEX updates_applied_snapshot_key;
    DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET session_replication_role = replica', current_database()); END $$`);
    const { findings, notices } = await look('--no-log', '--database-url', own.url);
    expect(new Set(findings.map(({ check }) => check))).toEqual(new Set(['guard']));
    expect(findings.map(({ where, what }) => `${where}: ${what}`).sort()).toEqual([
      'constraint erasures_two_people of erasures: it differs from the migrations',
      'constraint snapshots_text_check of snapshots: it is missing',
      'function refuse_record_change (): it differs from the migrations',
      expect.stringMatching(/^function restart_log \(.*it differs/),
      'policy anything of snapshots: no migration created it: permissive a iss_app check true',
      'policy snapshots_sealed of snapshots: it is missing',
      'privileges of PUBLIC on webhook_subscriptions: it is: SELECT; expected: none',
      'privileges of iss_app on audit_records: it is: DELETE, SELECT; expected: SELECT',
      'privileges of iss_app on disclosures: it is: SELECT; expected: INSERT, SELECT',
      'privileges of iss_app on snapshots: it is: INSERT, SELECT, UPDATE (envelope); expected: INSERT, SELECT',
      'row level security of snapshots: it is missing',
      'setting session_replication_role of all: no migration created it: session_replication_role=replica',
      'trigger grants_logged of grants: it is missing',
      'trigger log_tiles_grow of log_tiles: it differs from the migrations',
      'trigger snapshots_immutable of snapshots: it is disabled',
      'unique index updates_applied_snapshot_key of updates: it is missing',
    ]);
    expect(notices.map(({ where }) => where)).toEqual(['trigger nosy of snapshots']);
  });

  it('names missing and newer migrations instead of comparing guards', async () => {
    await own.tamper(`DROP TRIGGER grants_logged ON grants; DELETE FROM migrations WHERE name LIKE 'Disclosures%'`);
    expect((await look('--no-log', '--database-url', own.url)).findings).toMatchObject([
      {
        check: 'guard',
        what: expect.stringMatching(/^Disclosures\d+ not applied \(npm run db:migrate\); the rest/),
      },
    ]);
    await own.tamper(`INSERT INTO migrations (timestamp, name) VALUES (1, 'Disclosures1700000000018'), (2, 'Later2')`);
    expect((await look('--no-log', '--database-url', own.url)).findings).toMatchObject([
      { check: 'guard', what: expect.stringMatching(/^Later2 of another release: use its iss/) },
    ]);
  });
});
