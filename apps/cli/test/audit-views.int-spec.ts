import { RealLog } from './testing/real-log';
import { iss } from './testing/run-iss';

let log: RealLog;

/** The numbers of versions of each subject. Each attack has a separate version. */
const [OLD, NEW] = [7, 4];
/** The versions of the subject `reserved`. Its names are claim names of RFC 9901, which are in no view. */
const RESERVED = 2;
const EVIDENCE = { evidence_id: 'ev-9', evidence_type: 'extract', source: 's', captured_at: '2026-01-15T09:00:00Z' };

/** Subject `old` was logged before its views, `acme-corp` after them. */
beforeAll(async () => {
  log = await RealLog.create();
  await log.query(`INSERT INTO tenants (tenant_id, name) VALUES ('acme', 'Acme')`);
  await log.query(`INSERT INTO memberships (tenant_id, principal_id, api_functional_role, created_at)
                   VALUES ('acme', 'oidc:p#alice', 'tenant_owner', now())`);
  await log.addLineage('old', OLD);
  await log.tamper('DELETE FROM records_waiting; DELETE FROM audit_records');
  await log.publish();
  await log.commitViews('old');
  await log.addLineage('acme-corp', NEW);
  await log.commitViews('acme-corp');
  await log.addLineage('reserved', 1);
  await log.addUpdate('reserved', [
    { op: 'add', path: '/attributes/named', value: { _sd: 1, '...': 2, other: [{ '...': 3 }] } },
    { op: 'add', path: '/evidence/-', value: { ...EVIDENCE, metadata: { _sd: ['x'] } } },
  ]);
  await log.commitViews('reserved');
  await log.tamper('DELETE FROM records_waiting; DELETE FROM audit_records');
  await log.publish();
  await log.keep();
});
afterAll(() => log?.close());

async function audit(): Promise<{ exitCode: number; findings: string[] }> {
  const args = ['audit', '--database-url', log.url, '--jobs', '1', '--vkey', log.vkey, '--json'];
  const { exitCode, printed } = await iss(args);
  const { findings }: { findings: { check: string; where: string; what: string }[] } = JSON.parse(printed);
  return { exitCode, findings: findings.map(({ check, where, what }) => `${check}: ${where}: ${what}`) };
}

const version = (subjectId: string, number: number): string =>
  `subject_key = (SELECT subject_key FROM subjects WHERE subject_id = '${subjectId}') AND snapshot_version = ${number}`;
const WHERE = (subjectId: string, number: number): string => `version ${number} of \\w+ ${subjectId} `;

it('an audit accepts views named in the entry of their version or in a separate entry', async () => {
  expect(await audit()).toEqual({ exitCode: 0, findings: [] });
  const entries = await log.query<{ type: number; names: boolean | null }>(
    `SELECT entry_type AS type, names_view AS names FROM log_entries WHERE entry_type IN (1, 14) ORDER BY log_index`,
  );
  const alike = (count: number, type: number, names: boolean | null) =>
    Array.from({ length: count }, () => ({ type, names }));
  expect(entries.toSorted((one, other) => one.type - other.type)).toEqual([
    ...alike(OLD, 1, null),
    ...alike(NEW + RESERVED, 1, true),
    ...alike(OLD, 14, null),
  ]);
});

it('an audit accepts an erased version without a view secret', async () => {
  for (const subjectId of ['old', 'acme-corp']) await log.erase(subjectId, [2]);
  await log.publish();
  expect(await audit()).toEqual({ exitCode: 0, findings: [] });
  await log.restore();
});

/** The actions of a superuser with all triggers disabled, and the findings of the one audit that finds all. */
const ATTACKS: [attack: string, statement: string, findings: RegExp[]][] = [
  [
    'the secret of a view is changed',
    `UPDATE snapshot_views SET view_secret = sha256('') WHERE ${version('acme-corp', 2)}`,
    [new RegExp(`^view: .*${WHERE('acme-corp', 2)}.*its view has the hash`)],
  ],
  [
    'the hash of a view is changed that the entry of its version names',
    `UPDATE snapshot_views SET view_hash = sha256('') WHERE ${version('acme-corp', 3)}`,
    [new RegExp(`^leaf: .*${WHERE('acme-corp', 3)}`), new RegExp(`^view: .*${WHERE('acme-corp', 3)}`)],
  ],
  [
    'the hash of a view is changed that a separate entry names',
    `UPDATE snapshot_views SET view_hash = sha256('') WHERE ${version('old', 2)}`,
    [new RegExp(`^leaf: .*${WHERE('old', 2)}`), new RegExp(`^view: .*${WHERE('old', 2)}`)],
  ],
  [
    'the time of a view is changed',
    `UPDATE snapshot_views SET committed_at = committed_at - interval '1 second' WHERE ${version('old', 3)}`,
    [new RegExp(`^leaf: .*view of ${WHERE('old', 3)}`)],
  ],
  [
    'the secret of a view is removed',
    `UPDATE snapshot_views SET view_secret = NULL WHERE ${version('old', 4)}`,
    [new RegExp(`^view: .*${WHERE('old', 4)}.*the secret of its view is missing`)],
  ],
  [
    'a view is deleted',
    `DELETE FROM snapshot_views WHERE ${version('old', 5)}`,
    [new RegExp(`^fact_missing: .*${WHERE('old', 5)}.*snapshot_views has no such row`)],
  ],
  [
    'an entry no longer names the view of its version',
    `UPDATE log_entries SET names_view = NULL WHERE entry_type = 1 AND ${version('acme-corp', 4)}`,
    [new RegExp(`^leaf: .*${WHERE('acme-corp', 4)}`), /^not_logged: view of version 4 .*no log entry names it/],
  ],
  [
    'the entry of a view is deleted',
    `DELETE FROM log_entries WHERE entry_type = 14 AND ${version('old', 6)}`,
    [/^entry_missing/, /^not_logged: view of version 6 /],
  ],
];

describe('an audit of changed views', () => {
  let found: Awaited<ReturnType<typeof audit>>;
  beforeAll(async () => {
    for (const [, statement] of ATTACKS) await log.tamper(statement);
    found = await audit();
    await log.restore();
  });

  it.each(ATTACKS)('detects that %s', (_attack, _statement, expected) => {
    for (const pattern of expected) expect(found.findings).toContainEqual(expect.stringMatching(pattern));
  });

  it('has no findings beyond these attacks', () => {
    expect(found.exitCode).toBe(1);
    expect(found.findings).toHaveLength(ATTACKS.flatMap(([, , expected]) => expected).length);
  });
});

it('an audit detects a view secret that survived the erasure of its version', async () => {
  const [kept] = await log.query<{ secret: string }>(
    `SELECT encode(view_secret, 'hex') AS secret FROM snapshot_views WHERE ${version('old', 2)}`,
  );
  await log.erase('old', [2]);
  await log.publish();
  await log.tamper(
    `UPDATE snapshot_views SET view_secret = decode('${kept?.secret}', 'hex') WHERE ${version('old', 2)}`,
  );
  expect((await audit()).findings).toEqual([
    expect.stringMatching(/^not_erased: .*the secret of its view still exists/),
  ]);
});
