import {
  grantData,
  refreshRequestData,
  sharedSnapshotCreatedData,
  snapshotCreatedData,
  subjectErasedData,
  subscriptionIdOf,
  updateData,
} from './events';

const subject = { subjectType: 'entity', subjectId: 'acme' };
const named = { subject: { subject_type: 'entity', subject_id: 'acme' } };
const time = '2026-01-31T12:00:00.000Z';
const at = new Date(time);

test('an event of a version names its place in the chain', () => {
  const snapshot = {
    ...subject,
    snapshotId: 's',
    snapshotVersion: 2,
    envelopeHash: 'e',
    prevHash: 'p',
    changeKind: 'correction',
    changedPaths: ['/attributes/a'],
  } as const;
  const data = {
    ...named,
    snapshot_id: 's',
    snapshot_version: 2,
    envelope_hash: 'e',
    prev_hash: 'p',
    change_kind: 'correction',
    changed_paths: ['/attributes/a'],
  };
  expect(snapshotCreatedData(snapshot)).toEqual(data);
  expect(sharedSnapshotCreatedData({ ...snapshot, ownerTenantId: 't' })).toEqual({ ...data, owner_tenant_id: 't' });
});

test.each([
  ['update.proposed', 'proposed', null, null],
  ['update.applied', 'applied', 'a', 8],
  ['update.withdrawn', 'withdrawn', null, null],
] as const)('%s names a version only if the update was applied', (type, status, appliedId, appliedVersion) => {
  const update = { updateId: 'u', ...subject, baseSnapshotId: 'b', baseSnapshotVersion: 7, proposedBy: 'p' };
  expect(updateData(type, { ...update, appliedSnapshotId: 'a' })).toEqual({
    ...named,
    update_id: 'u',
    base_snapshot_id: 'b',
    base_snapshot_version: 7,
    status,
    proposed_by: 'p',
    applied_snapshot_id: appliedId,
    applied_snapshot_version: appliedVersion,
  });
});

test.each([
  [at, time],
  [null, null],
])('an event of a grant that expires at %p has sorted scopes', (expiresAt, expected) => {
  const scopes = ['read_latest', 'read_diff'];
  const terms = { scopes, paths: ['/attributes/legal'], startsAt: expiresAt, expiresAt };
  const grant = { grantId: 'g', ownerTenantId: 'o', granteeTenantId: 'u', ...subject, ...terms };
  expect(grantData(grant)).toEqual({
    ...named,
    grant_id: 'g',
    owner_tenant_id: 'o',
    grantee_tenant_id: 'u',
    scopes: ['read_diff', 'read_latest'],
    paths: ['/attributes/legal'],
    starts_at: expected,
    expires_at: expected,
  });
  expect(scopes).toEqual(['read_latest', 'read_diff']);
});

test.each([
  [at, time],
  [null, null],
])('an event of a refresh request has all its times if they are %p', (moment, expected) => {
  const request = { refreshRequestId: 'r', ...subject, requestingTenantId: 't', originType: 'owner' } as const;
  const state = { status: 'pending', reasonCode: 'c', requestedPaths: ['/a'], createdAt: at } as const;
  const times = { expiresAt: moment, resolvedAt: moment, dueAt: moment, overdueAt: moment, closedAt: moment };
  const series = {
    every: 'P1Y',
    seriesId: 'f',
    previousRequestId: 'p',
    nextRequestId: null,
    nextAt: moment,
    seriesEndReason: null,
  } as const;
  const resolved = { resolvedSnapshotId: 's', resolvedSnapshotVersion: 3 };
  expect(refreshRequestData({ ...request, ...state, ...times, ...resolved, ...series })).toEqual({
    ...named,
    ...named.subject,
    refresh_request_id: 'r',
    request_id: 'r',
    requesting_tenant_id: 't',
    origin_type: 'owner',
    status: 'pending',
    reason_code: 'c',
    requested_paths: ['/a'],
    created_at: time,
    expires_at: expected,
    resolved_at: expected,
    fulfilled_at: expected,
    resolved_snapshot_id: 's',
    fulfilled_snapshot_id: 's',
    resolved_snapshot_version: 3,
    due_at: expected,
    overdue_at: expected,
    closed_at: expected,
    every: 'P1Y',
    series_id: 'f',
    previous_request_id: 'p',
    next_request_id: null,
    next_at: expected,
    series_end_reason: null,
  });
});

test('an event of an erasure names the versions', () => {
  const erasure = { ...subject, erasureId: 'x', versions: [1, 2], erasedAt: at };
  expect(subjectErasedData(erasure)).toEqual({ ...named, erasure_id: 'x', versions: [1, 2], erased_at: time });
});

test('the id of a subscription has its prefix', () => expect(subscriptionIdOf('u')).toBe('wsub_u'));
