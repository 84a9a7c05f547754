import { logEntryText, type LogFact, type LogOwnFact, momentOfFact, type ViewCommittedFact } from './entry';
import type { LogRecordsFact } from './records';

const at = new Date('2026-01-31T12:00:00Z');
const time = '2026-01-31T12:00:00.000Z';
const salt = new Uint8Array(16).fill(0xfb);
const subject = { subjectType: 'entity', subjectId: 'acme' };
const subjectMembers = { subject_type: 'entity', subject_id: 'acme' };
const version = {
  snapshotId: 's',
  snapshotVersion: 2,
  envelopeHash: 'e',
  prevHash: 'p',
  createdAt: at,
  writtenBy: 'p',
  writeRequestId: 'r',
};
const part = { paths: ['/b', '/a'], startsAt: at, namesPaths: true };
const partMembers = { paths: ['/a', '/b'], starts_at: time };
const all = { paths: null, startsAt: null, namesPaths: true };
const versionMembers = { snapshot_id: 's', snapshot_version: 2, envelope_hash: 'e', prev_hash: 'p', created_at: time };

const audit = { auditId: 7, at: time, action: 'a', principalId: null, requestId: null, target: {}, details: {} };

test.each<[fact: LogFact | LogOwnFact | LogRecordsFact | ViewCommittedFact, members: Record<string, unknown>]>([
  [
    { type: 'snapshot.created', tenantId: 't', ...subject, ...version, namesWriter: true, viewHash: 'v' },
    { tenant_id: 't', ...subjectMembers, ...versionMembers, written_by: 'p', write_request_id: 'r', view_hash: 'v' },
  ],
  [
    { type: 'snapshot.created', tenantId: 't', ...subject, ...version, namesWriter: false, viewHash: null },
    { tenant_id: 't', ...subjectMembers, ...versionMembers },
  ],
  [
    { type: 'view.committed', tenantId: 't', ...subject, snapshotId: 's', snapshotVersion: 2, viewHash: 'v', committedAt: at },
    { tenant_id: 't', ...subjectMembers, snapshot_id: 's', snapshot_version: 2, view_hash: 'v', committed_at: time },
  ],
  [
    { type: 'grant.created', tenantId: 't', ...subject, grantId: 'g', granteeTenantId: 'u', scopes: ['b', 'a'], ...part, expiresAt: at, createdAt: at },
    { tenant_id: 't', ...subjectMembers, grant_id: 'g', grantee_tenant_id: 'u', scopes: ['a', 'b'], ...partMembers, expires_at: time, created_at: time },
  ],
  [
    { type: 'grant.created', tenantId: 't', ...subject, grantId: 'g', granteeTenantId: 'u', scopes: [], ...all, expiresAt: null, createdAt: at },
    { tenant_id: 't', ...subjectMembers, grant_id: 'g', grantee_tenant_id: 'u', scopes: [], paths: null, starts_at: null, expires_at: null, created_at: time },
  ],
  [
    { type: 'grant.changed', tenantId: 't', grantId: 'g', scopes: ['b', 'a'], ...part, expiresAt: null, changedAt: at },
    { tenant_id: 't', grant_id: 'g', scopes: ['a', 'b'], ...partMembers, expires_at: null, changed_at: time },
  ],
  [
    { type: 'grant.changed', tenantId: 't', grantId: 'g', scopes: ['a'], ...part, namesPaths: false, expiresAt: at, changedAt: at },
    { tenant_id: 't', grant_id: 'g', scopes: ['a'], expires_at: time, changed_at: time },
  ],
  [
    { type: 'grant.revoked', tenantId: 't', grantId: 'g', revokedAt: at },
    { tenant_id: 't', grant_id: 'g', revoked_at: time },
  ],
  [
    { type: 'tenant.owner_changed', tenantId: 't', principalId: 'p', fromPrincipalId: null, changedAt: at },
    { tenant_id: 't', principal_id: 'p', from_principal_id: null, changed_at: time },
  ],
  [
    { type: 'subject.erased', tenantId: 't', ...subject, erasedIndexes: [1, 3], erasedAt: at, erasedVersions: null },
    { tenant_id: 't', ...subjectMembers, erased_indexes: [1, 3], erased_at: time },
  ],
  [
    {
      type: 'subject.erased', tenantId: 't', ...subject, erasedIndexes: [1], erasedAt: at,
      erasedVersions: [{ snapshotId: 'i', snapshotVersion: 2, envelopeHash: 'e', prevHash: 'p', createdAt: time }],
    },
    {
      tenant_id: 't', ...subjectMembers, erased_indexes: [1], erased_at: time,
      erased_versions: [{ snapshot_id: 'i', snapshot_version: 2, envelope_hash: 'e', prev_hash: 'p', created_at: time }],
    },
  ],
  [
    { type: 'audit.recorded', tenantId: 't', records: [audit] },
    { tenant_id: 't', records: [{ audit_id: 7, at: time, action: 'a', principal_id: null, request_id: null, target: {}, details: {} }] },
  ],
  [
    { type: 'disclosures.recorded', tenantId: 't', records: [] },
    { tenant_id: 't', records: [] },
  ],
  [
    { type: 'log.restarted', previousOrigin: 'o', previousSize: 3, previousRoot: new Uint8Array(2).fill(0xfb), previousCheckpointHash: 'c', reason: 'r', restartedAt: at },
    { previous_origin: 'o', previous_size: 3, previous_root: '+/s=', previous_checkpoint_hash: 'c', reason: 'r', restarted_at: time },
  ],
  [
    { type: 'log.key_announced', vkey: 'log.example/x+00000001+AQ+/=', announcedBy: 'iss_owner', announcedAt: at },
    { vkey: 'log.example/x+00000001+AQ+/=', log_origin: 'log.example/x', announced_by: 'iss_owner', announced_at: time },
  ],
])('logEntryText writes exactly the expected members for %j', (fact, members) => {
  const entry: unknown = JSON.parse(logEntryText(fact, salt));
  expect(entry).toEqual({ entry_version: 'iss_log_entry_v1', type: fact.type, salt: '-_v7-_v7-_v7-_v7-_v7-w', ...members });
}); // prettier-ignore

test('logEntryText does not reorder the scopes in the fact', () => {
  const scopes = ['b', 'a'];
  logEntryText(
    { type: 'grant.changed', tenantId: 't', grantId: 'g', scopes, ...all, expiresAt: null, changedAt: at },
    salt,
  );
  expect(scopes).toEqual(['b', 'a']);
});

test.each<LogFact>([
  { type: 'snapshot.created', tenantId: 't', ...subject, ...version, namesWriter: true, viewHash: null },
  { type: 'grant.created', tenantId: 't', ...subject, grantId: 'g', granteeTenantId: 'u', scopes: [], ...all, expiresAt: null, createdAt: at },
  { type: 'grant.changed', tenantId: 't', grantId: 'g', scopes: [], ...all, expiresAt: null, changedAt: at },
  { type: 'grant.revoked', tenantId: 't', grantId: 'g', revokedAt: at },
  { type: 'tenant.owner_changed', tenantId: 't', principalId: 'p', fromPrincipalId: null, changedAt: at },
  { type: 'subject.erased', tenantId: 't', ...subject, erasedIndexes: [], erasedAt: at, erasedVersions: null },
])('momentOfFact returns the time of %j', (fact) => {
  expect(momentOfFact(fact)).toBe(at);
}); // prettier-ignore
