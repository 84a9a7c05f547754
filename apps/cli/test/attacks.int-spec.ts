import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSigner, formatCheckpoint, generateKeys, parseCheckpoint, parseNote, sha256, signNote } from '@iss/tlog';
import type { CheckName } from '../src/audit/findings';
import { type LogServer, serveLog } from './testing/log-server';
import { inhabit, RealLog } from './testing/real-log';
import { iss } from './testing/run-iss';
import { ofSubject, rewriteFrom, SUBJECT_ATTACKS, type Victim } from './testing/subject-attacks';

/** Signs any text with a stolen key. */
async function sign(skey: string, size: number, root: Uint8Array): Promise<string> {
  const text = formatCheckpoint({ origin: 'log.example/test', size, root, extensionLines: [] });
  return signNote({ text }, [await createSigner(skey)], 0);
}

const OF_ACME = ofSubject('acme-corp');
const version = (number: number): string => `${OF_ACME} AND snapshot_version = ${number}`;
const entryOf = (number: number): string => `entry_type = 1 AND ${version(number)}`;

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

/** SQL that restores the database to the state when the first checkpoint, of seven entries, was signed. */
const RESTORED = `
  DELETE FROM log_entries WHERE log_index >= 7; DELETE FROM log_checkpoints WHERE size > 7;
  DELETE FROM grants; DELETE FROM snapshots WHERE NOT (${OF_ACME}); DELETE FROM subjects WHERE subject_id <> 'acme-corp';
  DELETE FROM log_tiles WHERE (level, tile_index) <> (0, 0); UPDATE log_tiles SET hashes = substr(hashes, 1, 7 * 32);
  UPDATE log_tree SET size = 7, root = (SELECT decode(split_part(note, E'\\n', 3), 'base64') FROM log_checkpoints)`;

/** Actions of a superuser on other rows than those of a subject, and the finding of each. One audit finds all. */
const LOG_ATTACKS: [attack: string, how: string, check: CheckName, where: RegExp][] = [
  [
    'an owner is changed',
    `UPDATE memberships SET principal_id = 'oidc:p#mallory' WHERE tenant_id = 'acme'`,
    'owner',
    /^tenant acme$/,
  ],
  [
    'an owner is changed, together with the list of owner changes',
    `UPDATE memberships SET principal_id = 'oidc:p#mallory' WHERE tenant_id = 'beta';
     UPDATE owner_changes SET principal_id = 'oidc:p#mallory' WHERE tenant_id = 'beta'`,
    'leaf',
    /^entry 1, owner change 2$/,
  ],
  [
    'an entry is added beyond the tree',
    `INSERT INTO log_entries SELECT 5000, subject_key, owner_change_id, grant_id, 99, 1, salt FROM log_entries
      WHERE ${entryOf(2)}`,
    'entry_beyond',
    /^entry 5000$/,
  ],
  ['a tile is deleted', `DELETE FROM log_tiles WHERE (level, tile_index) = (0, 1)`, 'tile', /^tile 0\/1$/],
  ['the root is changed', `UPDATE log_tree SET root = sha256('x')`, 'root', /^log_tree$/],
  [
    'a checkpoint has a future time',
    `UPDATE log_checkpoints SET signed_at = now() + interval '1 hour' WHERE size = 610`,
    'checkpoint',
    /610/,
  ],
  [
    'a checkpoint is dated before its entries',
    `UPDATE log_checkpoints SET signed_at = signed_at - interval '1 day' WHERE size = 7`,
    'time',
    /^entry/,
  ],
];

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
    'a hash of a tile is changed',
    `UPDATE log_tiles SET hashes = overlay(hashes PLACING sha256('x') FROM 1 + 32 * 3) WHERE (level, tile_index) = (0, 0)`,
    { audit: ['leaf', 'tree'], verify: /its proof/, monitor: /did not prove/ },
  ],
  [
    'a hash of a higher tile is changed',
    `UPDATE log_tiles SET hashes = overlay(hashes PLACING sha256('x') FROM 33) WHERE level = 1`,
    { audit: ['tree', 'root', 'checkpoint'], verify: /its proof/, monitor: /did not prove/ },
  ],
  [
    'the tree is rebuilt over a changed snapshot and signed with the stolen key',
    async (log) => {
      await log.tamper(rewriteFrom({ subjectId: 'acme-corp' }, 2));
      await rebuild(log);
    },
    {
      audit: [],
      verify: /checkpoints of 7 and 610 entries/,
      monitor: /did not prove that its 610 entries extend the previous 7/,
    },
  ],
  [
    'the newest version is deleted, and the tree is rebuilt and signed with the stolen key',
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
    'a checkpoint is signed with another key that was added to the list of keys',
    async (log) => {
      const { signingKey, verifierKey } = await generateKeys('log.example/test', 'ed25519');
      const { root } = parseCheckpoint(parseNote(await log.checkpoint()).text);
      await log.tamper(`UPDATE log_checkpoints SET note = '${await sign(signingKey, 610, root)}' WHERE size = 610;
                        UPDATE log_keys SET vkey = '${verifierKey}'`);
    },
    { audit: ['checkpoint'], verify: /No known key/, monitor: /No known key/ },
  ],
  [
    'the newest checkpoint covers more entries than the tree has',
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
  showOlder();
});
afterAll(async () => {
  server.close();
  await log.close();
  rmSync(folder, { recursive: true });
});

/** Stores the first checkpoint, which was kept before the attack, also as the state of a monitor. */
function showOlder(): void {
  writeFileSync(join(folder, 'older'), older);
  writeFileSync(join(folder, 'state'), older);
}

async function showWhatIsThere(): Promise<void> {
  server.show({ checkpoint: await log.checkpoint(), consistency: (from, to) => log.consistency(from, to) });
}

interface AuditFinding {
  check: string;
  where: string;
}

async function auditFindings(): Promise<{ exitCode: number; findings: AuditFinding[] }> {
  const words = ['audit', '--database-url', log.url, '--jobs', '1', '--vkey', log.vkey, '--json'];
  const { exitCode, printed } = await iss(words);
  const { findings }: { findings: AuditFinding[] } = JSON.parse(printed);
  return { exitCode, findings };
}

const checksOf = (findings: readonly AuditFinding[]): string[] => [...new Set(findings.map(({ check }) => check))];

async function audit(): Promise<{ exitCode: number; checks: string[] }> {
  const { exitCode, findings } = await auditFindings();
  return { exitCode, checks: checksOf(findings) };
}

async function verify(subjectId = 'acme-corp') {
  const file = join(folder, 'bundle');
  writeFileSync(file, await log.bundle(subjectId));
  return iss(['verify', file, '--vkey', log.vkey, '--since', join(folder, 'older'), '--log', server.url]);
}

const monitor = () => iss(['monitor', '--log', server.url, '--vkey', log.vkey, '--state', join(folder, 'state')]);

/** False claims of a service about a version that it does not want to show. */
type Claim = [claim: string, change: (line: Line, lines: Line[]) => void, expected: RegExp];
const CLAIMS: Claim[] = [
  ['it names another index', (line) => (line['log_index'] = Number(line['log_index']) + 1), /does not name index/],
  ['it names another leaf hash', (line) => (line['leaf_hash'] = 'ab'.repeat(32)), /its proof/],
  [
    'it has an erasure entry that was never logged',
    (line) => forge(line, /"erased_indexes":\[\d+\]/, '"erased_indexes":[2]'),
    /erasure, .*its proof/,
  ],
  [
    'its erasure entry names another subject',
    (line) => forge(line, /"subject_id":"acme-corp"/, '"subject_id":"other"'),
    /subject_id is other/,
  ],
  [
    'it has an envelope',
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
    `it has another ${name}`,
    (line) => (line['snapshot'] = { ...Object(line['snapshot']), [name]: other }),
    new RegExp(`the entry of its erasure’s ${name} is`),
  ]),
  ['it has no erasure entry', (line) => (line['erased'] = { entry: '', log_index: 0, inclusion: [] }), /is not JSON/],
  [
    'it replaces another version',
    (line, lines) => (lines[3] = { ...line, snapshot: { ...Object(line['snapshot']), snapshot_version: 3 } }),
    /Version 3/,
  ],
];

describe('iss verify of a bundle with an erased version', () => {
  let bundle: string;
  let vkey: string;
  beforeAll(async () => {
    await eraseTwo(log);
    bundle = await log.bundle('acme-corp');
    vkey = log.vkey;
    await log.restore();
  });

  it.each(CLAIMS)('refuses the erased version if %s', async (_, change, expected) => {
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

describe('iss audit after attacks on subjects', () => {
  const idOf = (kind: number, number: number): string =>
    `${String(kind).repeat(8)}-0000-4000-8000-${String(number).padStart(12, '0')}`;
  const all = Object.entries(SUBJECT_ATTACKS).map(([name, attack], number) => {
    const victim: Victim = {
      subjectId: `attack-${String(number).padStart(2, '0')}`,
      grant: idOf(1, number),
      revoked: idOf(2, number),
      invented: idOf(3, number),
    };
    return { name, attack, victim };
  });
  const found = new Map<string, AuditFinding[]>();
  afterAll(() => log.restore());
  const complaints = new Map<string, { exitCode: number; complaint: string }>();

  /** Creates the subjects with their grants, and logs them. */
  async function inhabitMore(): Promise<void> {
    for (const { victim } of all) await log.addLineage(victim.subjectId, 5);
    const victims = JSON.stringify(all.map(({ victim }) => victim));
    await log.tamper(`DELETE FROM records_waiting; DELETE FROM audit_records;
      UPDATE snapshots SET written_by = 'oidc:p#alice', write_request_id = 'request-1'
       WHERE subject_key IN (SELECT subject_key FROM subjects WHERE subject_id LIKE 'attack-%')`);
    await log.query(
      `INSERT INTO grants (grant_id, grantor_tenant_id, grantee_tenant_id, subject_key, scopes, expires_at)
       SELECT g.id, 'acme', 'beta', subject_key, '{read_lineage,read_latest}', g.expires
         FROM jsonb_to_recordset($1) AS v ("subjectId" text, "grant" uuid, revoked uuid) JOIN subjects ON subject_id = v."subjectId",
              LATERAL (VALUES (v."grant", now() + interval '1 year'), (v.revoked, NULL)) AS g (id, expires)`,
      [victims],
    );
    await log.query(
      `UPDATE grants SET revoked_at = now()
                      WHERE grant_id IN (SELECT revoked FROM jsonb_to_recordset($1) AS v (revoked uuid))`,
      [victims],
    );
    await log.tamper('DELETE FROM records_waiting; DELETE FROM audit_records');
    await log.publish();
  }

  /** Returns the words by which findings name a subject and its rows, by subject. */
  async function namesOfRows(): Promise<Map<string, string[]>> {
    const rows = await log.query<{ subject: string; names: string[] }>(
      `WITH owned AS (SELECT subject_key, left(subject_id, 9) AS subject FROM subjects WHERE subject_id LIKE 'attack-%'),
            rows (subject_key, name) AS (
         SELECT subject_key, 'subject_key ' || subject_key FROM owned
         UNION ALL SELECT subject_key, 'erasure ' || erasure_id FROM erasures
         UNION ALL SELECT g.subject_key, kind || c.grant_change_id FROM grant_changes c JOIN grants g USING (grant_id),
                          (VALUES ('change '), ('change of grant ')) AS k (kind)
         UNION ALL SELECT coalesce(g.subject_key, r.subject_key, e.subject_key), 'entry ' || log_index
                     FROM log_entries e LEFT JOIN grants g USING (grant_id) LEFT JOIN erasures r USING (erasure_id))
       SELECT subject, array_agg(name) AS names FROM rows JOIN owned USING (subject_key) GROUP BY subject`,
    );
    return new Map(rows.map(({ subject, names }) => [subject, names]));
  }

  beforeAll(async () => {
    await inhabitMore();
    for (const { attack, victim } of all) await attack.first?.(log, victim);
    await log.publish();
    const before = await namesOfRows();
    for (const { attack, victim } of all) await log.tamper(await attack.how(victim, log));
    const after = await namesOfRows();
    await showWhatIsThere();
    const { findings } = await auditFindings();
    for (const { name, attack, victim } of all) {
      const { subjectId, grant, revoked, invented } = victim;
      const names = [
        subjectId,
        grant,
        revoked,
        invented,
        ...(before.get(subjectId) ?? []),
        ...(after.get(subjectId) ?? []),
      ];
      const isOfVictim = new RegExp(`(?:^|[ ,(])(?:${names.join('|')})\\b`);
      found.set(
        name,
        findings.filter(({ where }) => isOfVictim.test(where)),
      );
      if (attack.verify !== undefined) complaints.set(name, await verify(subjectId));
    }
    found.set(
      '',
      findings.filter((finding) => ![...found.values()].some((own) => own.includes(finding))),
    );
  });

  it.each(all)('detects that $name', ({ name, attack: { audit, verify } }) => {
    expect(checksOf(found.get(name) ?? [])).toEqual(expect.arrayContaining([...audit]));
    if (verify !== undefined) {
      expect(complaints.get(name)).toMatchObject({ exitCode: 1, complaint: expect.stringMatching(verify) });
    }
  });

  it('has no findings beyond these attacks', () => {
    expect(found.get('')).toEqual([]);
  });
});

describe('iss audit after attacks on the log', () => {
  let findings: AuditFinding[];
  afterAll(() => log.restore());
  beforeAll(async () => {
    for (const [, how] of LOG_ATTACKS) await log.tamper(how);
    findings = (await auditFindings()).findings;
  });

  it.each(LOG_ATTACKS)('detects that %s', (_attack, _how, check, where) => {
    expect(findings).toContainEqual(expect.objectContaining({ check, where: expect.stringMatching(where) }));
  });
});

describe('iss audit, verify and monitor', () => {
  beforeEach(showOlder);
  afterEach(() => log.restore());

  it('accept an unchanged log', async () => {
    await showWhatIsThere();
    expect(await audit()).toEqual({ exitCode: 0, checks: [] });
    expect(await verify()).toMatchObject({ exitCode: 0, complaint: '' });
    expect(await monitor()).toMatchObject({ exitCode: 0, complaint: '' });
  });

  it('the audit accepts changes of grants and a grant on all subjects', async () => {
    for (const scopes of [['read_diff'], ['read_diff', 'read_latest']] as const)
      await log.changeGrant('11111111-1111-4111-8111-111111111111', scopes);
    await log.query(`INSERT INTO grants (grant_id, grantor_tenant_id, grantee_tenant_id, subject_key, scopes)
                   VALUES (gen_random_uuid(), 'acme', 'beta', 0, '{read_latest}')`);
    await log.publish();
    await showWhatIsThere();
    expect(await audit()).toEqual({ exitCode: 0, checks: [] });
  });

  it('accept an erasure that is logged', async () => {
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

  it('the audit reports erasures without an entry yet as notices', async () => {
    await log.erase('acme-corp', [2, 3]);
    await showWhatIsThere();
    const { exitCode, printed } = await iss(['audit', '--database-url', log.url, '--jobs', '1', '--vkey', log.vkey]);
    expect([exitCode, printed]).toEqual([0, expect.stringMatching(/Notices: 2/)]);
  });

  it.each(ATTACKS)('at least one of them detects that %s', async (_, how, finds) => {
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

  it('the monitor and the verifier detect a restored older database, the audit does not', async () => {
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
});
