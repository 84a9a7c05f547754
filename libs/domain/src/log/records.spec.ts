import {
  batchRecords,
  type LoggedAuditRecord,
  type LoggedDisclosure,
  recordMembers,
  type WaitingRecord,
} from './records';

const AUDIT: LoggedAuditRecord = {
  auditId: 7,
  at: '2026-01-31T12:00:00.000Z',
  action: 'grant.revoked',
  principalId: 'oidc:p#alice',
  requestId: 'req-1',
  target: { grant_id: 'g' },
  details: { reason: null },
};
const DISCLOSURE: LoggedDisclosure = {
  subjectType: 'entity',
  subjectId: 'acme',
  disclosedOn: '2026-01-31',
  firstAt: '2026-01-31T12:00:00.000Z',
  granteeTenantId: 'beta',
  grantId: null,
  principalId: 'oidc:p#bob',
  via: 'search',
  fromVersion: 1,
  toVersion: 3,
  requestId: 'req-2',
  paths: null,
};
const MEMBERS = {
  subject_type: 'entity',
  subject_id: 'acme',
  disclosed_on: '2026-01-31',
  first_at: '2026-01-31T12:00:00.000Z',
  grantee_tenant_id: 'beta',
  grant_id: null,
  principal_id: 'oidc:p#bob',
  via: 'search',
  from_version: 1,
  to_version: 3,
  request_id: 'req-2',
};
const AUDIT_TEXT =
  '{"action":"grant.revoked","at":"2026-01-31T12:00:00.000Z","audit_id":7,"details":{"reason":null},' +
  '"principal_id":"oidc:p#alice","request_id":"req-1","target":{"grant_id":"g"}}';

const audit = (recordId: number, change: Partial<WaitingRecord> = {}, record = AUDIT): WaitingRecord =>
  ({ type: 'audit.recorded', tenantId: 't', isLate: false, recordId, record, ...change }) as WaitingRecord;
/** A record whose text has this length. */
const audited = (recordId: number, length: number): WaitingRecord =>
  audit(recordId, {}, { ...AUDIT, requestId: 'r'.repeat(length - AUDIT_TEXT.length + 'req-1'.length) });
const idsOf = (records: WaitingRecord[]) => batchRecords(records).map(({ recordIds }) => recordIds);

test('recordMembers returns the members of audit records', () => {
  expect(recordMembers({ type: 'audit.recorded', tenantId: 't', records: [AUDIT, AUDIT] })).toEqual(
    [0, 1].map(() => JSON.parse(AUDIT_TEXT)),
  );
});

test('recordMembers returns the members of disclosures', () => {
  expect(
    recordMembers({
      type: 'disclosures.recorded',
      tenantId: 't',
      records: [DISCLOSURE, { ...DISCLOSURE, paths: ['/legal'] }],
    }),
  ).toEqual([MEMBERS, { ...MEMBERS, paths: ['/legal'] }]);
});

test('a batch has records of one type, tenant and isLate value, in ascending order', () => {
  const disclosure: WaitingRecord = {
    type: 'disclosures.recorded',
    tenantId: 't',
    isLate: false,
    recordId: 1,
    record: DISCLOSURE,
  };
  const batches = batchRecords([
    audit(3),
    disclosure,
    audit(1),
    audit(5, { tenantId: 'u' }),
    audit(4, { isLate: true }),
    audit(2),
  ]);
  expect(batches.map(({ texts, ...batch }) => [batch, texts.length])).toEqual([
    [{ type: 'audit.recorded', tenantId: 't', isLate: false, recordIds: [1, 2, 3] }, 3],
    [{ type: 'disclosures.recorded', tenantId: 't', isLate: false, recordIds: [1] }, 1],
    [{ type: 'audit.recorded', tenantId: 'u', isLate: false, recordIds: [5] }, 1],
    [{ type: 'audit.recorded', tenantId: 't', isLate: true, recordIds: [4] }, 1],
  ]);
  expect(batches[0]?.texts).toEqual([AUDIT_TEXT, AUDIT_TEXT, AUDIT_TEXT]);
  expect(batches[1]?.texts[0]).toMatch(/^\{"disclosed_on":"2026-01-31",.*"via":"search"\}$/);
  expect(batchRecords([])).toEqual([]);
});

test('a batch has at most 256 records', () => {
  const records = Array.from({ length: 513 }, (_, recordId) => audit(recordId));
  expect(idsOf(records).map(({ length }) => length)).toEqual([256, 256, 1]);
});

test('a batch has at most 59,000 bytes including commas, except a single longer record', () => {
  expect(idsOf([audited(1, 29_499), audited(2, 29_499)])).toEqual([[1, 2]]);
  expect(idsOf([audited(1, 29_499), audited(2, 29_500)])).toEqual([[1], [2]]);
  expect(idsOf([audited(1, 70_000), audited(2, 29_499), audited(3, 29_499), audited(4, 500)])).toEqual([
    [1],
    [2, 3],
    [4],
  ]);
  // Bytes and not characters count.
  const umlauts = audit(1, {}, { ...AUDIT, requestId: 'ä'.repeat(20_000) });
  expect(idsOf([umlauts, audited(2, 20_000)])).toEqual([[1], [2]]);
});
