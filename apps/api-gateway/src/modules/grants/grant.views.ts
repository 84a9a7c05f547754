import { GRANT_STATUSES } from '@iss/domain';
import type { GrantRecord } from '@iss/persistence';
import { SNAPSHOT_HEADER_EXAMPLE, SnapshotHeader } from '../../http/answer/snapshot-header.view';
import { EXAMPLE_IDS } from '../../http/describe/example-ids';
import { view, type ViewOf } from '../../http/describe/view';
import { oneOf, scopes, subjectId, subjectType, tenantId, time, uuid } from '../../http/request/fields';
import { body, type SentOf } from '../../http/request/shape';

/** Specification, "Grant". */
export const Grant = view('Grant', {
  grant_id: uuid.described('The id of the grant.'),
  grantor_tenant_id: tenantId.described('The tenant that gives the grant.'),
  grantee_tenant_id: tenantId.described('The tenant that gets the grant.'),
  subject_type: subjectType,
  subject_id: subjectId,
  scopes,
  expires_at: time.nullable().described('From when on it is no longer live; null: never.'),
  created_at: time.described('When it was made.'),
  revoked_at: time.nullable().described('When it was revoked; null: it was not.'),
  status: oneOf(GRANT_STATUSES).described('Whether it is live, and why not.'),
});
export type Grant = ViewOf<typeof Grant>;

/** The created grant in both shapes of the specification: flat, and wrapped, which is the secondary one. */
export const CreatedGrant = view('CreatedGrant', {
  ...Grant.fields,
  grant: Grant.fromRecord().deprecated().described('The same fields, wrapped.'),
});
export type CreatedGrant = ViewOf<typeof CreatedGrant>;

/** One of the list of accessible subjects (specification, "Grants"). `latest_snapshot` stands where `read_latest` is held. */
export const AccessibleSubject = view('AccessibleSubject', {
  subject_type: subjectType,
  subject_id: subjectId,
  granted_by_tenant_id: tenantId.from('grantorTenantId').described('The tenant that gave the grant.'),
  grant_id: uuid.described('The id of the grant.'),
  scopes,
  expires_at: time.nullable().described('From when on it is no longer live; null: never.'),
  latest_snapshot: SnapshotHeader.optional()
    .from('latest')
    .described('The header of the latest snapshot. Only with `read_latest`.'),
});
export type AccessibleSubject = ViewOf<typeof AccessibleSubject>;

/** Body of `POST …/grants` (specification, "Grants"). */
export const CreateGrantBody = body(
  'CreateGrantBody',
  {
    grantee_tenant_id: tenantId.described('An existing tenant.').example('beta'),
    subject_type: subjectType.example('organization'),
    subject_id: subjectId.example('acme-corp'),
    scopes: scopes.example(['read_latest']),
    expires_at: time
      .nullable()
      .optional()
      .described('In the future. Absent or null: the grant does not expire.')
      .example('2099-01-01T00:00:00Z'),
  },
  {
    latest: {
      value: {
        grantee_tenant_id: 'beta',
        subject_type: 'organization',
        subject_id: 'acme-corp',
        scopes: ['read_latest'],
      },
    },
  },
);
export type CreateGrantBody = SentOf<typeof CreateGrantBody>;

export const ACME_TO_BETA: GrantRecord = {
  grantId: EXAMPLE_IDS.grant_id,
  grantorTenantId: 'acme',
  granteeTenantId: 'beta',
  subjectType: 'organization',
  subjectId: 'acme-corp',
  scopes: ['read_latest'],
  expiresAt: null,
  createdAt: new Date('2026-01-15T10:00:00Z'),
  revokedAt: null,
  status: 'active',
};
export const REVOKED: GrantRecord = { ...ACME_TO_BETA, status: 'revoked', revokedAt: new Date('2026-02-01T00:00:00Z') };
export const ACCESSIBLE_EXAMPLE: AccessibleSubject = {
  ...AccessibleSubject.of({ ...ACME_TO_BETA, latest: null }),
  latest_snapshot: SNAPSHOT_HEADER_EXAMPLE,
};
