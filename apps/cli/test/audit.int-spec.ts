import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fillHashes } from '@iss/persistence';
import { generateKeys } from '@iss/tlog';
import { createTestDatabase } from '../../../tools/testing/test-database';
import { canonicalValue } from '../src/audit/facts/canonical';
import { iss } from './testing/run-iss';
import { inhabit, RealLog } from './testing/real-log';

let log: RealLog;
beforeAll(async () => {
  log = await RealLog.create();
  await inhabit(log);
});
afterAll(() => log.close());

/** Runs `iss audit`. Leaves out its progress, which a slow machine shows. */
async function auditOf(url: string, ...words: string[]) {
  const outcome = await iss(['audit', '--database-url', url, '--jobs', '1', ...words]);
  return { ...outcome, complaint: outcome.complaint.replaceAll(/^\d.* a second(?:; continue .*)?\n?/gm, '') };
}
const audit = (...words: string[]) => auditOf(log.url, ...words);
const report = async (...words: string[]) => JSON.parse((await audit('--json', ...words)).printed);

it('an audit finds no faults in the log of the worker', async () => {
  const { exitCode, printed, complaint } = await audit('--vkey', log.vkey);
  expect([exitCode, complaint]).toEqual([0, '']);
  expect(printed).toMatch(/^Checked 610 of 610 log entries, 605 of them snapshots\. 2 checkpoints verified, 0 facts/);
  expect(printed).toMatch(/No faults found\.$/);
  expect((await audit()).printed).toMatch(/Signatures were verified with keys from the database/);
  expect(await report()).toMatchObject({ clean: true, tree_size: 610, findings: [], notices: [] });
});

it('an audit of a range starts at the tile of its first entry', async () => {
  expect(await report('--to-index', '300')).toMatchObject({ clean: true, entries: 300, checkpoints: 0 });
  expect((await audit('--to-index', '300')).printed).toMatch(/Only the entries of this range/);
  expect(await report('--from-index', '300')).toMatchObject({ clean: true, entries: 610 - 256, checkpoints: 2 });
  expect(await report('--from-index', '5000')).toMatchObject({ clean: true, entries: 0, checkpoints: 2 });
});

it('the built program audits with two threads', async () => {
  const [program, ...words] = [
    join(__dirname, '../dist/main.js'),
    'audit',
    '--database-url',
    log.url,
    '--jobs',
    '2',
    '--json',
  ];
  const { status, stdout } = spawnSync(process.execPath, [program, ...words], { encoding: 'utf8' });
  expect([status, JSON.parse(stdout)]).toEqual([
    0,
    expect.objectContaining({ clean: true, entries: 610, snapshots: 605 }),
  ]);
});

it('an audit requires the keys and the quorum of the policy for the newest checkpoint', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'iss-audit-'));
  try {
    const { verifierKey } = await generateKeys('one.example', 'ed25519-cosignature');
    const policy = join(folder, 'policy');
    writeFileSync(policy, `log ${log.vkey}\nwitness one ${verifierKey}\nquorum one\n`);
    const { exitCode, printed, complaint } = await audit('--policy', policy);
    expect([exitCode, complaint]).toEqual([
      1,
      expect.stringMatching(/^Findings: 1\. The database differs from the log/),
    ]);
    expect(printed).toMatch(
      /Findings: 1\n {2}the newest checkpoint, of 610 entries: .* requires one; cosigned by: none/,
    );
    const { verifierKey: other } = await generateKeys('log.example/test', 'ed25519');
    expect(await report('--vkey', other)).toMatchObject({ clean: false });
  } finally {
    rmSync(folder, { recursive: true });
  }
});

it('an audit needs only a login that can read, and names the rights that it lacks', async () => {
  const url = new URL(log.url);
  [url.username, url.password] = ['iss_audit_spec', 'x'];
  const asReader = () => auditOf(url.href);
  await log.query(`DROP ROLE IF EXISTS iss_audit_spec`);
  try {
    await log.query(`CREATE ROLE iss_audit_spec LOGIN PASSWORD 'x'`);
    expect(await asReader()).toMatchObject({ exitCode: 2, complaint: expect.stringMatching(/BYPASSRLS/) });
    await log.query('ALTER ROLE iss_audit_spec BYPASSRLS');
    expect(await asReader()).toMatchObject({ exitCode: 2, complaint: expect.stringMatching(/GRANT pg_read_all_data/) });
    await log.query('GRANT pg_read_all_data TO iss_audit_spec');
    expect(await asReader()).toMatchObject({ exitCode: 0, complaint: '' });
  } finally {
    await log.query('DROP OWNED BY iss_audit_spec; DROP ROLE iss_audit_spec');
  }
});

it.each([
  [['--database-url', 'postgres://127.0.0.1:1/none'], /^The database cannot be reached \(ECONNREFUSED\)/],
  [['--database-url', 'none'], /^--database-url takes|cannot be reached/],
  [[], /^DATABASE_URL is not set/],
  [['--database-url', 'X', '--from-index', '-1'], /Usage: iss audit|whole number/],
  [['--database-url', 'X', '--jobs', 'two'], /^--jobs takes a whole number/],
  [['--database-url', 'X', '--vkey', 'two'], /Not a verifier key/],
])('iss audit %j exits with 2 and explains how to fix the call', async (words, complaint) => {
  const outcome = await iss(['audit', ...words]);
  expect(outcome).toMatchObject({ exitCode: 2, printed: '' });
  expect(outcome.complaint).toMatch(complaint);
});

it('an audit of a database without tables suggests npm run db:migrate', async () => {
  const empty = await createTestDatabase();
  try {
    const outcome = await iss(['audit', '--database-url', empty.url]);
    expect(outcome).toMatchObject({ exitCode: 2, complaint: expect.stringMatching(/npm run db:migrate/) });
  } finally {
    await empty.drop();
  }
});

describe('an audit', () => {
  let own: RealLog;
  beforeAll(async () => {
    own = await RealLog.create();
    await own.keep();
  });
  afterAll(() => own.close());
  afterEach(() => own.restore());
  const look = async () =>
    JSON.parse((await iss(['audit', '--database-url', own.url, '--jobs', '1', '--json'])).printed);

  it('accepts an empty log, facts that are not logged yet, and a tree of full tiles', async () => {
    expect(await look()).toMatchObject({ clean: true, tree_size: 0, snapshots: 0 });
    await own.publish();
    await own.addLineage('acme-corp', 512);
    expect(await look()).toMatchObject({ clean: true, tree_size: 0, waiting: 512, checkpoints: 1 });
    await own.publish();
    expect(await look()).toMatchObject({ clean: true, tree_size: 512, waiting: 0, snapshots: 512, notices: [] });
  });

  it('accepts every way in which the owners of a tenant change', async () => {
    const put = (principal: string, role: string, status = 'active') =>
      own.query(
        `INSERT INTO memberships (tenant_id, principal_id, api_functional_role, status) VALUES ('acme', $1, $2, $3)
             ON CONFLICT (tenant_id, principal_id) DO UPDATE SET api_functional_role = $2, status = $3`,
        [principal, role, status],
      );
    await own.query(`INSERT INTO tenants (tenant_id, name) VALUES ('acme', 'Acme')`);
    await put('alice', 'tenant_owner');
    await own.transfer('acme', 'alice', 'bob');
    await own.transfer('acme', 'bob', 'alice');
    await put('bob', 'tenant_owner');
    await put('carol', 'tenant_owner');
    // The tenant is handed to a principal that already owns it: alice stops being an owner, and nobody else becomes one.
    await own.transfer('acme', 'alice', 'bob');
    await put('carol', 'tenant_owner', 'removed');
    await put('dave', 'tenant_owner', 'removed');
    await put('dave', 'tenant_owner');
    await own.publish();
    expect(await look()).toMatchObject({ clean: true, findings: [] });
    expect(
      await own.query(`SELECT principal_id, from_principal_id FROM owner_changes ORDER BY owner_change_id`),
    ).toMatchObject([
      { principal_id: 'alice', from_principal_id: null },
      { principal_id: 'bob', from_principal_id: 'alice' },
      { principal_id: 'alice', from_principal_id: 'bob' },
      { principal_id: 'bob', from_principal_id: null },
      { principal_id: 'carol', from_principal_id: null },
      { principal_id: null, from_principal_id: 'alice' },
      { principal_id: null, from_principal_id: 'carol' },
      { principal_id: 'dave', from_principal_id: null },
    ]);
  });

  it('accepts an import whose hashes were filled in later', async () => {
    await own.addLineage('imported', 300);
    await own.tamper(`DELETE FROM log_waiting; UPDATE snapshots SET envelope_hash = NULL, prev_hash = NULL`);
    await own.publish();
    expect(await look()).toMatchObject({ clean: true, tree_size: 0, notices_count: 1 });
    await fillHashes(own.url);
    await own.publish();
    const { notices, ...result } = await look();
    expect(result).toMatchObject({ clean: true, findings: [], tree_size: 300 });
    for (const { what } of notices) expect(what).toMatch(/logged out of order, as an import may be/);
    const file = join(mkdtempSync(join(tmpdir(), 'iss-audit-')), 'bundle');
    writeFileSync(file, await own.bundle('imported'));
    expect(await iss(['verify', file, '--vkey', own.vkey])).toMatchObject({
      exitCode: 0,
      printed: expect.stringMatching(/Versions +1 to 300/),
    });
    rmSync(dirname(file), { recursive: true });
  });

  it('accepts fractional seconds and special characters in entries', async () => {
    const fractions = ['', '.1', '.12', '.1234', '.000499', '.0005', '.123999', '.999499', '.9995', '.999999'];
    await own.query(
      `INSERT INTO owner_changes (tenant_id, principal_id, changed_at)
       SELECT 'acme', 'p' || f, ('2026-01-15 09:30:59' || f || '+02')::timestamptz FROM unnest($1::text[]) f`,
      [fractions],
    );
    await own.tamper(`INSERT INTO memberships (tenant_id, principal_id, api_functional_role)
      SELECT tenant_id, principal_id, 'tenant_owner' FROM owner_changes`);
    await own.addLineage('a "quoted" \\ é\u2028 🙂 <b>', 2);
    await own.publish();
    expect(await look()).toMatchObject({ clean: true, findings: [], entries: fractions.length + 2 });
  });

  it('counts all findings and lists the first thousand', async () => {
    await own.addLineage('acme-corp', 600);
    await own.publish();
    await own.tamper(`UPDATE snapshots SET tenant_id = 'thief'`);
    const found = await look();
    expect(found).toMatchObject({ clean: false, findings_count: 1_200 });
    expect(found.findings).toHaveLength(1_000);
    const { printed, complaint } = await auditOf(own.url);
    expect(printed).toMatch(/and 1180 more; --json names the first 1000$/);
    expect(complaint).toMatch(/^Findings: 1200/);
  });

  it('reports snapshots without hashes as notices, and back-dated ones as findings', async () => {
    await own.publish();
    await own.addLineage('acme-corp', 2);
    await own.addLineage('imported', 1);
    const imported = `subject_key = (SELECT subject_key FROM subjects WHERE subject_id = 'imported')`;
    await own.tamper(`DELETE FROM log_waiting WHERE ${imported};
      UPDATE snapshots SET created_at = created_at - interval '1 day';
      UPDATE snapshots SET envelope_hash = NULL WHERE ${imported}`);
    await own.publish();
    const late = expect.stringMatching(/logged late, or back-dated/);
    const backDated = expect.stringMatching(/the log was complete without it at .*: back-dated/);
    const whatOf = (list: { what: string }[]) => list.map(({ what }) => what).sort();
    const { findings, notices } = await look();
    expect(whatOf(findings)).toEqual([backDated, backDated]);
    expect(whatOf(notices)).toEqual([expect.stringMatching(/^imported without hashes: 1/)]);
    await fillHashes(own.url);
    await own.publish();
    const filled = await look();
    expect([whatOf(filled.findings), whatOf(filled.notices)]).toEqual([[backDated, backDated], [late]]);
    // An earlier release did not record the time up to which the log was complete.
    await own.tamper('UPDATE log_checkpoints SET complete_at = NULL');
    expect(await look()).toMatchObject({ clean: true, notices: [late, late, late].map((what) => ({ what })) });
  });
});

it.each([
  ['{"a":1,"b":[1,2.5,"é",null]}', true],
  ['{"10":1,"9":2,"a":3}', true],
  ['{"9":2,"10":1}', false],
  ['{"b":1,"a":2}', false],
  ['{"a":1, "b":2}', false],
  ['{"a":1,"a":2}', false],
  ['{"a":1.0}', false],
  ['{"a":"\\u000a"}', false],
  ['{"a":"\\n"}', true],
  ['{"a":"\\u0001"}', true],
  ['{"a":"\\ud800"}', false],
  ['{"a":{"c":1,"b":2}}', false],
  ['{"a":1}x', false],
  [`${'['.repeat(2_000)}${']'.repeat(2_000)}`, true],
])('canonicalValue accepts only canonical JSON: case %#', (text, isCanonical) => {
  expect(canonicalValue(text) !== undefined).toBe(isCanonical);
});

it('canonicalValue keeps escaped keys distinct after other keys (nodejs/node#63785)', () => {
  JSON.parse('{"\\\\":0}');
  for (const key of ['"', '\u0000', '\n', '\ue000m']) {
    const value = { [key]: ['\ue000q', '\\u0000', '"'] };
    expect(canonicalValue(JSON.stringify(value))).toEqual(value);
  }
});
