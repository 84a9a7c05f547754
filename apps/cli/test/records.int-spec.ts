import type { CheckName } from '../src/audit/findings';
import { RealLog } from './testing/real-log';
import { iss } from './testing/run-iss';

/** Audit records of two tenants, and disclosures of two subjects of acme, in more than one entry. */
let log: RealLog;
beforeAll(async () => {
  log = await RealLog.create();
  await log.query(`INSERT INTO tenants (tenant_id, name) VALUES ('acme', 'Acme'), ('beta', 'Beta')`);
  await log.query(`INSERT INTO memberships (tenant_id, principal_id, api_functional_role)
                   VALUES ('acme', 'oidc:p#alice', 'tenant_owner'), ('beta', 'oidc:p#bob', 'tenant_owner')`);
  await log.addLineage('acme-corp', 3);
  await log.addLineage('other-corp', 1);
  await log.query(`INSERT INTO grants (grant_id, grantor_tenant_id, grantee_tenant_id, subject_key, scopes, purpose)
    SELECT gen_random_uuid(), 'acme', 'beta', subject_key, '{read_latest}', 'Credit check' FROM subjects WHERE subject_id = 'acme-corp'`);
  await disclose(1, 3);
  await log.publish();
  await disclose(2, 1);
  await log.query(`UPDATE tenants SET name = 'Acme "Ltd" é' WHERE tenant_id = 'acme'`);
  await log.publish();
  await log.fillFeeds();
  await log.keep();
});
afterAll(() => log.close());
afterEach(() => log.restore());

function disclose(day: number, version: number): Promise<unknown> {
  return log.query(
    `INSERT INTO disclosures (subject_key, disclosed_on, grantee_tenant_id, principal_id, via, from_version, to_version, request_id)
     SELECT subject_key, date '2026-01-01' + $1::int, 'beta', 'oidc:p#bob', 'snapshot', 1, least($2, newest), 'request-' || subject_key
       FROM (SELECT subject_key, max(snapshot_version) AS newest FROM snapshots GROUP BY subject_key) s`,
    [day, version],
  );
}

interface Report {
  clean: boolean;
  findings: { check: CheckName; where: string; what: string }[];
}
/** Parts of the audit run side by side, so the findings are sorted by their check. */
const report = async (): Promise<Report> => {
  const { printed } = await iss(['audit', '--database-url', log.url, '--jobs', '1', '--json', '--vkey', log.vkey]);
  const { clean, findings }: Report = JSON.parse(printed);
  return { clean, findings: findings.sort((one, other) => other.check.localeCompare(one.check)) };
};

const RECORD = `(SELECT ctid FROM audit_records WHERE tenant_id = 'acme' ORDER BY audit_id DESC LIMIT 1)`;
const DISCLOSURE = '(SELECT ctid FROM disclosures ORDER BY disclosure_id LIMIT 1)';
const NEW_DISCLOSURE = `INSERT INTO disclosures (subject_key, disclosed_on, grantee_tenant_id, principal_id, via, from_version, to_version, request_id)
  SELECT subject_key, '2026-02-02', 'beta', 'oidc:p#mallory', 'snapshot', 1, 1, 'r' FROM subjects WHERE subject_id = 'acme-corp'`;

it('an audit accepts logged records and records that are not logged yet', async () => {
  expect(await report()).toMatchObject({ clean: true, findings: [] });
  await disclose(3, 2);
  expect(await report()).toMatchObject({ clean: true, findings: [] });
});

it('an audit accepts that an erasure removes the purpose of a grant from the audit trail', async () => {
  const purposes = `SELECT FROM audit_records WHERE details ? 'purpose'`;
  expect(await log.query(purposes)).not.toEqual([]);
  await log.erase('acme-corp', [1, 2, 3]);
  await log.publish();
  expect(await log.query(purposes)).toEqual([]);
  expect(await report()).toMatchObject({ clean: true, findings: [] });
});

it.each<[string, string | (() => Promise<unknown>), Partial<Report['findings'][number]>[]]>([
  [
    'an audit record is deleted',
    `DELETE FROM audit_records WHERE ctid = ${RECORD}`,
    [{ check: 'record', where: expect.stringMatching(/audit record \d+ of acme$/), what: 'it was deleted' }],
  ],
  [
    'an audit record is changed',
    `UPDATE audit_records SET principal_id = 'oidc:p#mallory' WHERE ctid = ${RECORD}`,
    [
      {
        check: 'record',
        where: expect.stringMatching(/audit record \d+ of acme$/),
        what: expect.stringMatching(/^it was changed: .*mallory/),
      },
    ],
  ],
  [
    'an audit record is moved to another tenant',
    `UPDATE audit_records SET tenant_id = 'gamma' WHERE ctid = ${RECORD}`,
    [
      { check: 'record', where: expect.stringMatching(/of acme$/), what: 'it was deleted' },
      { check: 'not_logged', where: expect.stringMatching(/of gamma$/), what: 'it has no log entry' },
    ],
  ],
  [
    'an audit record is added without an entry',
    `INSERT INTO audit_records (audit_id, tenant_id, action, target, details) OVERRIDING SYSTEM VALUE
     VALUES (77, 'acme', 'tenant.changed', '{}', '{}')`,
    [{ check: 'not_logged', where: 'audit record 77 of acme', what: 'it has no log entry' }],
  ],
  [
    'an audit record is stored twice',
    `INSERT INTO audit_records OVERRIDING SYSTEM VALUE SELECT * FROM audit_records WHERE ctid = ${RECORD}`,
    [{ check: 'record', where: expect.stringMatching(/^audit record \d+ of acme$/), what: 'it is stored 2 times' }],
  ],
  [
    'a disclosure is deleted',
    `DELETE FROM disclosures WHERE ctid = ${DISCLOSURE}`,
    [{ check: 'record', where: expect.stringMatching(/disclosure \d+ of acme$/), what: 'it was deleted' }],
  ],
  [
    'a disclosure is changed',
    `UPDATE disclosures SET principal_id = 'oidc:p#mallory' WHERE ctid = ${DISCLOSURE}`,
    [
      {
        check: 'record',
        where: expect.stringMatching(/disclosure \d+ of acme$/),
        what: expect.stringMatching(/^it was changed: .*mallory/),
      },
    ],
  ],
  [
    'a disclosure is added without an entry',
    NEW_DISCLOSURE,
    [{ check: 'not_logged', where: expect.stringMatching(/^disclosure \d+ of acme$/), what: 'it has no log entry' }],
  ],
  [
    'a disclosure is added with its own batch without an entry',
    `${NEW_DISCLOSURE}; INSERT INTO record_batches (entry_type, tenant_id, record_ids, digests)
       SELECT 12, 'acme', ARRAY[max(disclosure_id)], '\\x00000000' FROM disclosures`,
    [{ check: 'not_logged', where: expect.stringMatching(/^batch \d+ of records$/) }],
  ],
  [
    'a disclosure is added to the batch of an entry',
    `${NEW_DISCLOSURE}; UPDATE record_batches SET record_ids = record_ids || (SELECT max(disclosure_id) FROM disclosures),
       digests = digests || '\\x00000000' WHERE batch_id = (SELECT max(batch_id) FROM record_batches WHERE entry_type = 12)`,
    [{ check: 'record', what: expect.stringMatching(/^it was changed: .*mallory/) }],
  ],
  [
    'a batch and its records are deleted',
    `DELETE FROM disclosures; DELETE FROM record_batches WHERE entry_type = 12`,
    [
      { check: 'fact_missing', what: 'record_batches has no such row' },
      { check: 'fact_missing', what: 'record_batches has no such row' },
    ],
  ],
  [
    'a disclosure is logged twice',
    async () => {
      await log.query(
        `INSERT INTO records_waiting (entry_type, record_ids) SELECT 12, ARRAY[min(disclosure_id)] FROM disclosures`,
      );
      await log.publish();
    },
    [{ check: 'record', where: expect.stringMatching(/^disclosure \d+ of acme$/), what: 'it is in 2 entries' }],
  ],
  [
    'a record claims a time before the log was complete without it',
    async () => {
      await log.query(
        NEW_DISCLOSURE.replace('request_id)', 'request_id, first_at)').replace(`'r' FROM`, `'r', '2026-01-01' FROM`),
      );
      await log.publish();
    },
    [{ check: 'time', what: expect.stringMatching(/back-dated/) }],
  ],
  [
    'a mark is deleted before the record is logged',
    async () => {
      await log.query(NEW_DISCLOSURE);
      await log.tamper('DELETE FROM records_waiting');
    },
    [{ check: 'not_logged', where: expect.stringMatching(/^disclosure \d+ of acme$/) }],
  ],
])('an audit detects that %s', async (_, attack, findings) => {
  await (typeof attack === 'string' ? log.tamper(attack) : attack());
  expect(await report()).toMatchObject({ clean: false, findings });
});

const EXTRA = `UPDATE tenant_feed SET log_indexes = log_indexes[1:1] || log_indexes WHERE tenant_id = 'acme'`;
it.each<[string, string, { where: unknown; what: string }[]]>([
  [
    'an entry is removed from the feed of its tenant',
    `UPDATE tenant_feed SET log_indexes = log_indexes[2:] WHERE tenant_id = 'acme'`,
    [{ where: 'feed of acme, entry 0', what: 'it is missing' }],
  ],
  ['an entry is twice in a feed', EXTRA, [{ where: 'feed of acme, entry 0', what: 'the tenant has it 2 times' }]],
  [
    'the feed of a tenant has an entry of another tenant',
    `INSERT INTO tenant_feed (tenant_id, last_index, log_indexes) VALUES ('gamma', 0, '{0}')`,
    [{ where: 'feed of gamma, entry 0', what: 'it does not concern the tenant' }],
  ],
  [
    'a version is removed from the feed of a grantee',
    `DELETE FROM shared_feed WHERE ctid = (SELECT ctid FROM shared_feed LIMIT 1)`,
    [{ where: expect.stringMatching(/^feed of shared subjects of beta, entry \d+$/), what: 'it is missing' }],
  ],
  [
    'the feed of a tenant without a grant has a version',
    `INSERT INTO shared_feed SELECT 'gamma', min(log_index) FROM shared_feed`,
    [{ where: expect.stringMatching(/^feed of shared subjects of gamma/), what: 'it does not concern the tenant' }],
  ],
])('an audit detects that %s', async (_, attack, findings) => {
  await log.tamper(attack);
  const expected = findings.map((finding) => ({ check: 'feed', ...finding }));
  expect(await report()).toMatchObject({ clean: false, findings: expected });
});
