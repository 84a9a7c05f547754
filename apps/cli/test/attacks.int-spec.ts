import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSigner, formatCheckpoint, generateKeys, parseCheckpoint, parseNote, sha256, signNote } from '@iss/tlog';
import type { CheckName } from '../src/audit/findings';
import { type LogServer, serveLog } from './testing/log-server';
import { inhabit, RealLog } from './testing/real-log';
import { iss } from './testing/run-iss';

/** Signs any text with a stolen key. */
async function sign(skey: string, size: number, root: Uint8Array): Promise<string> {
  const text = formatCheckpoint({ origin: 'log.example/test', size, root, extensionLines: [] });
  return signNote({ text }, [await createSigner(skey)], 0);
}

const OF_ACME = `subject_key = (SELECT subject_key FROM subjects WHERE subject_id = 'acme-corp')`;
const version = (number: number): string => `${OF_ACME} AND snapshot_version = ${number}`;
const CHANGED = `replace(envelope, '"source":"test"', '"source":"thief"')`;
const HASH = (text: string): string => `sha256(convert_to(${text}, 'UTF8'))`;
const rewriteFrom = (first: number): string => `DO $$
  DECLARE parent bytea := (SELECT envelope_hash FROM snapshots WHERE ${version(first - 1)});
  BEGIN
    FOR v IN ${first}..5 LOOP
      UPDATE snapshots SET envelope = ${CHANGED}, envelope_hash = ${HASH(CHANGED)}, prev_hash = parent
       WHERE ${OF_ACME} AND snapshot_version = v RETURNING envelope_hash INTO parent;
    END LOOP;
  END $$`;
const entryOf = (number: number): string => `entry_type = 1 AND ${version(number)}`;
const ONE = `'11111111-1111-4111-8111-111111111111'`;
const TWO = `'22222222-2222-4222-8222-222222222222'`;

/** Empties a version, and adds a row as if the erasure had been decided. */
function inventErasure(number: number): string {
  return `INSERT INTO erasures (public_id, tenant_id, subject_key, versions, status, requested_by, confirmed_by, confirmed_at,
                                erased_at, erased_indexes)
    SELECT gen_random_uuid(), 'acme', subject_key, '{${number}}', 'erased', 'oidc:p#alice', 'oidc:p#carol', now(), now(),
           ARRAY[log_index] FROM log_entries WHERE ${entryOf(number)};
    UPDATE snapshots SET envelope = NULL, erasure_id = (SELECT erasure_id FROM erasures) WHERE ${version(number)};
    UPDATE log_entries SET salt = NULL WHERE ${entryOf(number)}`;
}

/** The erasure was decided by two people of acme, and the log contains it. */
async function eraseTwo(log: RealLog): Promise<void> {
  await log.erase('acme-corp', [2]);
  await log.publish();
}

/**
 * Rebuilds the complete log from the current tables, with the worker's own code, and signs it with the worker's key.
 */
async function rebuild(log: RealLog): Promise<void> {
  await log.tamper(`
    INSERT INTO log_waiting (entry_type, subject_key, snapshot_version, grant_id, owner_change_id, grant_change_id)
    SELECT entry_type, subject_key, snapshot_version, grant_id, owner_change_id, grant_change_id FROM log_entries ORDER BY log_index;
    DELETE FROM log_entries; DELETE FROM log_tiles; DELETE FROM log_checkpoints;
    UPDATE log_tree SET size = 0, root = sha256('')`);
  await log.publish();
}

/** The state of the database when the first checkpoint, of seven entries, was signed. */
const RESTORED = `
  DELETE FROM log_entries WHERE log_index >= 7; DELETE FROM log_checkpoints WHERE size > 7;
  DELETE FROM grants; DELETE FROM snapshots WHERE NOT (${OF_ACME}); DELETE FROM subjects WHERE subject_id <> 'acme-corp';
  DELETE FROM log_tiles WHERE (level, tile_index) <> (0, 0); UPDATE log_tiles SET hashes = substr(hashes, 1, 7 * 32);
  UPDATE log_tree SET size = 7, root = (SELECT decode(split_part(note, E'\\n', 3), 'base64') FROM log_checkpoints)`;

const [GRANT] = ONE.split("'").filter((part) => part !== '');
/** First, a grant is changed twice as the service changes it, and the log gets both entries. */
async function changed(log: RealLog): Promise<void> {
  for (const scopes of [['read_diff'], ['read_diff', 'read_latest']] as const)
    await log.changeGrant(GRANT ?? '', scopes);
  await log.publish();
}
const CHANGE = (place: 'ASC' | 'DESC'): string =>
  `grant_change_id = (SELECT grant_change_id FROM grant_changes ORDER BY grant_change_id ${place} LIMIT 1)`;
const thenTampered =
  (text: string) =>
  async (log: RealLog): Promise<void> => {
    await changed(log);
    await log.tamper(text);
  };

/**
 * The actions of a superuser, and who detects each: the audit, with the named check; the verifier of a later bundle,
 * who has an older checkpoint; and the monitor, whose state is older.
 */
const ATTACKS: [
  attack: string,
  how: string | ((log: RealLog) => Promise<unknown>),
  finds: { audit: CheckName[]; verify?: RegExp; monitor?: RegExp },
][] = [
  [
    'an envelope is changed',
    `UPDATE snapshots SET envelope = ${CHANGED} WHERE ${version(2)}`,
    { audit: ['envelope_hash'], verify: /Version 2, .* SHA-256 of the envelope/ },
  ],
  [
    'an envelope is changed with its hash',
    `UPDATE snapshots SET envelope = ${CHANGED}, envelope_hash = ${HASH(CHANGED)} WHERE ${version(2)}`,
    { audit: ['leaf', 'chain'], verify: /Version 2, .* its proof/ },
  ],
  [
    'an envelope is stored in another form, with its hash',
    `UPDATE snapshots SET envelope = envelope || ' ', envelope_hash = ${HASH(`envelope || ' '`)} WHERE ${version(5)}`,
    { audit: ['leaf', 'not_canonical'], verify: /Version 5, .* SHA-256/ },
  ],
  [
    'a chain is rewritten from version 3, all hashes recomputed',
    rewriteFrom(3),
    { audit: ['leaf'], verify: /Version 3, .* its proof/ },
  ],
  [
    'lists show another name',
    `UPDATE subjects SET display_name = 'Thief Ltd' WHERE subject_id = 'acme-corp'`,
    { audit: ['name'] },
  ],
  [
    'another writer is named',
    `UPDATE snapshots SET written_by = 'oidc:p#mallory' WHERE ${version(2)}`,
    { audit: ['leaf'], verify: /Version 2, .* its proof/ },
  ],
  [
    'an entry is made to name no writer',
    `UPDATE log_entries SET names_writer = NULL WHERE ${entryOf(2)}`,
    { audit: ['leaf'], verify: /Version 2, .* its proof/ },
  ],
  [
    'the entry of an erasure is made to name no version',
    async (log) => {
      await eraseTwo(log);
      await log.tamper('UPDATE log_entries SET names_versions = NULL WHERE entry_type = 6');
    },
    { audit: ['leaf'], verify: /Version 2, .* its proof/ },
  ],
  [
    'the time of an erased version is changed',
    async (log) => {
      await eraseTwo(log);
      await log.tamper(`UPDATE snapshots SET created_at = created_at - interval '1 second' WHERE ${version(2)}`);
    },
    { audit: ['leaf'], verify: /Version 2, .* its proof/ },
  ],
  ['the newest version is dropped', `DELETE FROM snapshots WHERE ${version(5)}`, { audit: ['fact_missing'] }],
  [
    'the newest version is dropped with its entry',
    `DELETE FROM log_entries WHERE ${entryOf(5)}; DELETE FROM snapshots WHERE ${version(5)}`,
    { audit: ['entry_missing'] },
  ],
  [
    'a middle version is dropped with its entry',
    `DELETE FROM log_entries WHERE ${entryOf(3)}; DELETE FROM snapshots WHERE ${version(3)}`,
    { audit: ['entry_missing', 'version_gap'], verify: /4 versions, but the newest is 5: versions are missing/ },
  ],
  [
    'two versions are swapped',
    `UPDATE snapshots SET snapshot_version = 99 WHERE ${version(2)};
     UPDATE snapshots SET snapshot_version = 2 WHERE ${version(3)};
     UPDATE snapshots SET snapshot_version = 3 WHERE ${version(99)}`,
    { audit: ['leaf', 'envelope_ids', 'chain'], verify: /Version 2, / },
  ],
  [
    'created_at is back-dated',
    `UPDATE snapshots SET created_at = created_at - interval '1 year' WHERE ${version(2)}`,
    { audit: ['leaf', 'time'], verify: /Version 2, .* its proof/ },
  ],
  [
    'a version is added, and no trigger marks it',
    `INSERT INTO snapshots SELECT subject_key, 6, gen_random_uuid(), tenant_id, generated_at, now(), envelope_hash, envelope_hash,
       envelope FROM snapshots WHERE ${version(5)}`,
    { audit: ['not_logged'] },
  ],
  [
    'the mark of a fact is deleted before it is logged',
    async (log) => {
      await log.addLineage('unlogged', 1);
      await log.tamper('DELETE FROM log_waiting');
    },
    { audit: ['not_logged'] },
  ],
  [
    'a subject is given to another tenant',
    `UPDATE subjects SET owner_tenant_id = 'beta' WHERE subject_id = 'acme-corp'`,
    { audit: ['subject'] },
  ],
  [
    'an owner is changed',
    `UPDATE memberships SET principal_id = 'oidc:p#mallory' WHERE tenant_id = 'acme'`,
    { audit: ['owner'] },
  ],
  [
    'an owner is changed, and the list of such changes',
    `UPDATE memberships SET principal_id = 'oidc:p#mallory' WHERE tenant_id = 'acme';
     UPDATE owner_changes SET principal_id = 'oidc:p#mallory' WHERE tenant_id = 'acme'`,
    { audit: ['leaf'] },
  ],
  [
    'a grant is invented',
    `INSERT INTO grants (grant_id, grantor_tenant_id, grantee_tenant_id, subject_key, scopes)
     SELECT gen_random_uuid(), 'acme', 'mallory', subject_key, '{read_latest}' FROM subjects LIMIT 1`,
    { audit: ['not_logged'] },
  ],
  [
    'a grant shows another part',
    `UPDATE grants SET paths = '{/attributes/legal}' WHERE grant_id = ${ONE}`,
    { audit: ['leaf'] },
  ],
  ['a grant starts earlier', `UPDATE grants SET starts_at = now() WHERE grant_id = ${ONE}`, { audit: ['leaf'] }],
  ['a grant is widened', `UPDATE grants SET scopes = scopes || '{diff}' WHERE grant_id = ${ONE}`, { audit: ['leaf'] }],
  [
    'a grant lasts longer',
    `UPDATE grants SET expires_at = expires_at + interval '1 day' WHERE grant_id = ${ONE}`,
    { audit: ['leaf'] },
  ],
  [
    'a grant is of another tenant',
    `UPDATE grants SET grantee_tenant_id = 'mallory' WHERE grant_id = ${ONE}`,
    { audit: ['leaf'] },
  ],
  ['a grant is removed', `DELETE FROM grants WHERE grant_id = ${ONE}`, { audit: ['fact_missing'] }],
  [
    'a grant that was changed is widened',
    thenTampered(`UPDATE grants SET scopes = scopes || '{read_lineage}' WHERE grant_id = ${ONE}`),
    { audit: ['grant'] },
  ],
  [
    'a grant that was changed is widened, and its last change with it',
    thenTampered(`UPDATE grants SET scopes = scopes || '{read_lineage}' WHERE grant_id = ${ONE};
                  UPDATE grant_changes SET scopes = scopes || '{read_lineage}' WHERE ${CHANGE('DESC')}`),
    { audit: ['leaf'] },
  ],
  [
    'what a grant was before its first change is rewritten',
    thenTampered(`UPDATE grant_changes SET from_scopes = '{read_latest}' WHERE ${CHANGE('ASC')}`),
    { audit: ['leaf'] },
  ],
  [
    'what a grant was before a later change is rewritten',
    thenTampered(`UPDATE grant_changes SET from_scopes = '{read_latest}' WHERE ${CHANGE('DESC')}`),
    { audit: ['grant'] },
  ],
  [
    'a change of a grant is taken back',
    thenTampered(`DELETE FROM grant_changes WHERE ${CHANGE('DESC')};
                  UPDATE grants SET scopes = '{read_diff}' WHERE grant_id = ${ONE}`),
    { audit: ['fact_missing'] },
  ],
  [
    'a change of a grant is invented, so that it could read more before',
    `INSERT INTO grant_changes (grant_id, grantor_tenant_id, subject_key, scopes, from_scopes, expires_at, from_expires_at,
                                changed_by, changed_at)
     SELECT grant_id, grantor_tenant_id, subject_key, scopes, '{read_diff}', expires_at, expires_at, 'oidc:p#alice', now()
       FROM grants WHERE grant_id = ${ONE}`,
    { audit: ['not_logged', 'leaf'] },
  ],
  [
    'a grant on a subject becomes one on all',
    `UPDATE grants SET subject_key = 0 WHERE grant_id = ${ONE}`,
    { audit: ['leaf'] },
  ],
  [
    'a revocation is removed',
    `UPDATE grants SET revoked_at = NULL WHERE grant_id = ${TWO}`,
    { audit: ['fact_missing'] },
  ],
  [
    'a version is written now, and back-dated before it is logged',
    async (log) => {
      await log.addLineage('late', 1);
      await log.tamper(`UPDATE snapshots SET created_at = created_at - interval '10 minutes'
                         WHERE subject_key = (SELECT subject_key FROM subjects WHERE subject_id = 'late')`);
      await log.publish();
    },
    { audit: ['time'] },
  ],
  [
    'a revocation is back-dated',
    `UPDATE grants SET revoked_at = revoked_at - interval '1 hour' WHERE grant_id = ${TWO}`,
    { audit: ['leaf'] },
  ],
  [
    'a revocation is invented',
    `UPDATE grants SET revoked_at = now() WHERE grant_id = ${ONE}`,
    { audit: ['not_logged'] },
  ],
  [
    'entries are renumbered',
    `UPDATE log_entries SET log_index = log_index + 10000 WHERE log_index IN (3, 4);
     UPDATE log_entries SET log_index = 7 - (log_index - 10000) WHERE log_index >= 10000`,
    { audit: ['leaf'], verify: /Version 2, .* its proof/ },
  ],
  [
    'a salt is changed',
    `UPDATE log_entries SET salt = substr(sha256(salt), 1, 16) WHERE ${entryOf(2)}`,
    { audit: ['leaf'], verify: /Version 2, .* its proof/ },
  ],
  [
    'an envelope is taken away',
    // The constraint accepts the reason, but there is no erasure.
    `UPDATE snapshots SET envelope = NULL, erasure_id = 4711 WHERE ${version(2)}`,
    { audit: ['erased'] },
  ],
  ['a salt is taken away', `UPDATE log_entries SET salt = NULL WHERE ${entryOf(2)}`, { audit: ['erased'] }],
  ['an erasure is invented, and not logged', inventErasure(2), { audit: ['erased', 'not_logged'] }],
  [
    'an erasure is deleted',
    async (log) => {
      await eraseTwo(log);
      await log.tamper('DELETE FROM erasures');
    },
    { audit: ['erased', 'fact_missing'] },
  ],
  [
    'the mark of an erasure is deleted before it is logged',
    async (log) => {
      await log.erase('acme-corp', [2]);
      await log.tamper('DELETE FROM log_waiting');
    },
    { audit: ['erased', 'not_logged'] },
  ],
  [
    'an erasure is made to name a version more',
    async (log) => {
      await eraseTwo(log);
      await log.tamper(`
        UPDATE erasures SET versions = '{2,3}', erased_indexes = ARRAY(SELECT log_index FROM log_entries
          WHERE entry_type = 1 AND ${OF_ACME} AND snapshot_version IN (2, 3) ORDER BY 1);
        UPDATE snapshots SET envelope = NULL, erasure_id = (SELECT erasure_id FROM erasures) WHERE ${version(3)};
        UPDATE log_entries SET salt = NULL WHERE ${entryOf(3)}`);
    },
    { audit: ['leaf'], verify: /Version 2, .* its proof/ },
  ],
  [
    'what was erased is put back',
    async (log) => {
      await log.tamper(`CREATE TEMP TABLE stolen AS SELECT * FROM snapshots WHERE ${version(2)}`);
      await eraseTwo(log);
      await log.tamper(
        `UPDATE snapshots SET envelope = (SELECT envelope FROM stolen), erasure_id = NULL WHERE ${version(2)};
         DROP TABLE stolen`,
      );
    },
    { audit: ['erased', 'not_erased'] },
  ],
  [
    'entries are added beyond the tree',
    `INSERT INTO log_entries SELECT 5000, subject_key, owner_change_id, grant_id, 99, 1, salt FROM log_entries
      WHERE ${entryOf(2)}`,
    { audit: ['entry_beyond'] },
  ],
  [
    'a hash of a tile is changed',
    `UPDATE log_tiles SET hashes = overlay(hashes PLACING sha256('x') FROM 1 + 32 * 3) WHERE (level, tile_index) = (0, 0)`,
    { audit: ['leaf', 'tree'], verify: /its proof/, monitor: /did not prove/ },
  ],
  [
    'a hash of a higher tile is changed, and the root with it',
    `UPDATE log_tiles SET hashes = overlay(hashes PLACING sha256('x') FROM 33) WHERE level = 1`,
    { audit: ['tree', 'root', 'checkpoint'], verify: /its proof/, monitor: /did not prove/ },
  ],
  ['a tile is gone', `DELETE FROM log_tiles WHERE (level, tile_index) = (0, 1)`, { audit: ['tile', 'leaf'] }],
  ['the root is changed', `UPDATE log_tree SET root = sha256('x')`, { audit: ['root'] }],
  [
    'the tree is rebuilt whole over a changed snapshot, and signed with the stolen key',
    async (log) => {
      await log.tamper(rewriteFrom(2));
      await rebuild(log);
    },
    {
      audit: [],
      verify: /checkpoints of 7 and 610 entries/,
      monitor: /did not prove that its 610 entries extend the previous 7/,
    },
  ],
  [
    'the newest version is dropped, and the tree is rebuilt whole and signed with the stolen key',
    async (log) => {
      await log.tamper(`DELETE FROM log_entries WHERE ${entryOf(5)}; DELETE FROM snapshots WHERE ${version(5)}`);
      await rebuild(log);
    },
    { audit: [], verify: /checkpoints of 7 and 609 entries/, monitor: /did not prove/ },
  ],
  [
    'a second history is shown to one client, signed with the stolen key',
    async (log) =>
      log.tamper(`UPDATE log_checkpoints SET note = '${await sign(log.signingKey, 610, sha256(Buffer.from('x')))}'
                                WHERE size = 610`),
    { audit: ['checkpoint'], verify: /its proof/, monitor: /did not prove/ },
  ],
  [
    'a checkpoint is signed with another key, which is put into the list of keys',
    async (log) => {
      const { signingKey, verifierKey } = await generateKeys('log.example/test', 'ed25519');
      const { root } = parseCheckpoint(parseNote(await log.checkpoint()).text);
      await log.tamper(`UPDATE log_checkpoints SET note = '${await sign(signingKey, 610, root)}' WHERE size = 610;
                        UPDATE log_keys SET vkey = '${verifierKey}'`);
    },
    { audit: ['checkpoint'], verify: /No known key/, monitor: /No known key/ },
  ],
  [
    'a checkpoint has a time to come',
    `UPDATE log_checkpoints SET signed_at = now() + interval '1 hour'`,
    { audit: ['checkpoint'] },
  ],
  [
    'the time of a checkpoint is put before what it has',
    `UPDATE log_checkpoints SET signed_at = signed_at - interval '1 day'`,
    { audit: ['time'] },
  ],
  [
    'the newest checkpoint is of more than the tree',
    async (log) => {
      await log.tamper(`INSERT INTO log_checkpoints (origin, size, note)
      VALUES ('log.example/test', 700, '${await sign(log.signingKey, 700, sha256(Buffer.from('x')))}')`);
    },
    { audit: ['checkpoint'] },
  ],
];

type Line = Record<string, unknown>;

function forge(line: Line, what: RegExp, other: string): void {
  const erased: Line = Object(line['erased']);
  line['erased'] = { ...erased, entry: String(erased['entry']).replace(what, other) };
}

let folder: string;
let server: LogServer;
let log: RealLog;
let older: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'iss-attacks-'));
  server = await serveLog();
  log = await RealLog.create();
  older = await inhabit(log);
  await log.keep();
});
afterAll(async () => {
  server.close();
  await log.close();
  rmSync(folder, { recursive: true });
});

/** The first checkpoint, which was kept before the attack, also as the state of a monitor. */
beforeEach(() => {
  writeFileSync(join(folder, 'older'), older);
  writeFileSync(join(folder, 'state'), older);
});
afterEach(() => log.restore());

async function showWhatIsThere(): Promise<void> {
  server.show({ checkpoint: await log.checkpoint(), consistency: (from, to) => log.consistency(from, to) });
}

async function audit(): Promise<{ exitCode: number; checks: string[] }> {
  const { exitCode, printed } = await iss([
    'audit',
    '--database-url',
    log.url,
    '--jobs',
    '1',
    '--vkey',
    log.vkey,
    '--json',
  ]);
  const { findings }: { findings: { check: string }[] } = JSON.parse(printed);
  return { exitCode, checks: [...new Set(findings.map(({ check }) => check))] };
}

async function verify() {
  const file = join(folder, 'bundle');
  writeFileSync(file, await log.bundle('acme-corp'));
  return iss(['verify', file, '--vkey', log.vkey, '--since', join(folder, 'older'), '--log', server.url]);
}

const monitor = () => iss(['monitor', '--log', server.url, '--vkey', log.vkey, '--state', join(folder, 'state')]);

it('nobody finds anything where nothing is wrong', async () => {
  await showWhatIsThere();
  expect(await audit()).toEqual({ exitCode: 0, checks: [] });
  expect(await verify()).toMatchObject({ exitCode: 0, complaint: '' });
  expect(await monitor()).toMatchObject({ exitCode: 0, complaint: '' });
});

it('nobody finds anything where a grant was changed, or is on all subjects', async () => {
  await changed(log);
  await log.query(`INSERT INTO grants (grant_id, grantor_tenant_id, grantee_tenant_id, subject_key, scopes)
                   VALUES (gen_random_uuid(), 'acme', 'beta', 0, '{read_latest}')`);
  await log.publish();
  await showWhatIsThere();
  expect(await audit()).toEqual({ exitCode: 0, checks: [] });
});

it('nobody finds anything wrong with what was erased on purpose', async () => {
  await eraseTwo(log);
  await showWhatIsThere();
  expect(await audit()).toEqual({ exitCode: 0, checks: [] });
  expect(await verify()).toMatchObject({
    exitCode: 0,
    complaint: '',
    printed: expect.stringMatching(/Erased +2: log entries prove the ids, hashes and times/),
  });
  expect(await monitor()).toMatchObject({ exitCode: 0, complaint: '' });
});

it('before its entry is there the audit says that it is waited for', async () => {
  await log.erase('acme-corp', [2, 3]);
  await showWhatIsThere();
  const { exitCode, printed } = await iss(['audit', '--database-url', log.url, '--jobs', '1', '--vkey', log.vkey]);
  expect([exitCode, printed]).toEqual([0, expect.stringMatching(/Notices: 2/)]);
});

/** False claims of a service about a version that it does not want to show. */
type Claim = [claim: string, change: (line: Line, lines: Line[]) => void, expected: RegExp];
const CLAIMS: Claim[] = [
  ['its place is another one', (line) => (line['log_index'] = Number(line['log_index']) + 1), /does not name index/],
  ['its hash in the log is another one', (line) => (line['leaf_hash'] = 'ab'.repeat(32)), /its proof/],
  [
    'the entry names its place, and was never logged',
    (line) => forge(line, /"erased_indexes":\[\d+\]/, '"erased_indexes":[2]'),
    /erasure, .*its proof/,
  ],
  [
    'the entry is of another subject',
    (line) => forge(line, /"subject_id":"acme-corp"/, '"subject_id":"other"'),
    /subject_id is other/,
  ],
  [
    'its envelope is there',
    (line, lines) =>
      (line['snapshot'] = { ...Object(line['snapshot']), envelope: Object(lines[1]?.['snapshot']).envelope }),
    /has an envelope/,
  ],
  ...(
    [
      ['snapshot_id', 'b1c2d3e4-0000-4000-8000-000000000000'],
      ['envelope_hash', 'ab'.repeat(32)],
      ['created_at', '2020-01-01T00:00:00.000Z'],
    ] as const
  ).map(([name, other]): Claim => [
    `its ${name} is another one`,
    (line) => (line['snapshot'] = { ...Object(line['snapshot']), [name]: other }),
    new RegExp(`the entry of its erasure’s ${name} is`),
  ]),
  ['no entry says so', (line) => (line['erased'] = { entry: '', log_index: 0, inclusion: [] }), /is not JSON/],
  [
    'it is shown twice',
    (line, lines) => (lines[3] = { ...line, snapshot: { ...Object(line['snapshot']), snapshot_version: 3 } }),
    /Version 3/,
  ],
];

describe('a bundle in which a version is said to be erased', () => {
  let bundle: string;
  let vkey: string;
  beforeAll(async () => {
    await eraseTwo(log);
    bundle = await log.bundle('acme-corp');
    vkey = log.vkey;
    await log.restore();
  });

  it.each(CLAIMS)('is refused when %s', async (_, change, expected) => {
    const lines: Line[] = bundle
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    const erased = lines.find((line) => 'erased' in line);
    if (erased === undefined) throw new Error('a line is of an erased version');
    change(erased, lines);
    const file = join(folder, 'bundle');
    writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    const { exitCode, complaint } = await iss(['verify', file, '--vkey', vkey]);
    expect([exitCode > 0, complaint]).toEqual([true, expect.stringMatching(expected)]);
  });
});

it.each(ATTACKS)('%s', async (_, how, finds) => {
  if (typeof how === 'string') await log.tamper(how);
  else await how(log);
  await showWhatIsThere();

  const found = await audit();
  expect(found.exitCode).toBe(finds.audit.length === 0 ? 0 : 1);
  expect(found.checks).toEqual(expect.arrayContaining(finds.audit));
  if (finds.verify !== undefined) {
    const { exitCode, complaint } = await verify();
    expect([exitCode, complaint]).toEqual([1, expect.stringMatching(finds.verify)]);
  }
  if (finds.monitor !== undefined) {
    const { exitCode, complaint } = await monitor();
    expect([exitCode, complaint]).toEqual([1, expect.stringMatching(finds.monitor)]);
  }
});

it('the database is restored to an hour ago: found by whoever saw it since', async () => {
  const newest = await log.checkpoint();
  writeFileSync(join(folder, 'state'), newest);
  await log.tamper(RESTORED);
  await showWhatIsThere();
  expect(await audit()).toEqual({ exitCode: 0, checks: [] });
  const { exitCode, complaint } = await monitor();
  expect([exitCode, complaint]).toEqual([1, expect.stringMatching(/went back from 610 entries to 7/)]);

  // The log continues from there, and becomes larger than the size that was seen.
  await log.addLineage('after-the-restore', 700);
  await log.publish();
  await showWhatIsThere();
  expect((await monitor()).complaint).toMatch(/did not prove that its 707 entries extend the previous 610/);
  writeFileSync(join(folder, 'older'), newest);
  expect((await verify()).complaint).toMatch(/checkpoints of 610 and 707 entries/);
});
