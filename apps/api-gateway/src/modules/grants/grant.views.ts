import { GRANT_STATUSES, SCOPES } from '@iss/domain';
import { type AccessibleSubject, type GrantRecord } from '@iss/persistence';
import { named, object, type Schema, SUBJECT_TYPE, TIMESTAMP, UUID } from '../../http/describe/openapi';
import {
  SNAPSHOT_HEADER_EXAMPLE,
  SNAPSHOT_HEADER_SCHEMA,
  type SnapshotHeaderView,
  snapshotHeaderView,
} from '../../http/answer/snapshot-header.view';

/** Specification, "Grant". */
export interface GrantView {
  grant_id: string;
  grantor_tenant_id: string;
  grantee_tenant_id: string;
  subject_type: string;
  subject_id: string;
  scopes: readonly string[];
  expires_at: string | null;
  created_at: string;
  revoked_at: string | null;
  status: string;
}

export function grantView(grant: GrantRecord): GrantView {
  return {
    grant_id: grant.grantId,
    grantor_tenant_id: grant.grantorTenantId,
    grantee_tenant_id: grant.granteeTenantId,
    subject_type: grant.subjectType,
    subject_id: grant.subjectId,
    scopes: grant.scopes,
    expires_at: grant.expiresAt?.toISOString() ?? null,
    created_at: grant.createdAt.toISOString(),
    revoked_at: grant.revokedAt?.toISOString() ?? null,
    status: grant.status,
  };
}

/** The created grant in both shapes of the specification: flat, and wrapped. */
export type CreatedGrantView = GrantView & { grant: GrantView };

export function createdGrantView(grant: GrantRecord): CreatedGrantView {
  const view = grantView(grant);
  return { ...view, grant: view };
}

/** One of the list of accessible subjects (specification, "Grants"). */
export interface AccessibleSubjectView {
  subject_type: string;
  subject_id: string;
  granted_by_tenant_id: string;
  grant_id: string;
  scopes: readonly string[];
  expires_at: string | null;
  /** Absent unless the grant's scopes hold `read_latest`. */
  latest_snapshot?: SnapshotHeaderView;
}

export function accessibleSubjectView({ grant, latest }: AccessibleSubject): AccessibleSubjectView {
  return {
    subject_type: grant.subjectType,
    subject_id: grant.subjectId,
    granted_by_tenant_id: grant.grantorTenantId,
    grant_id: grant.grantId,
    scopes: grant.scopes,
    expires_at: grant.expiresAt?.toISOString() ?? null,
    ...(latest === null ? {} : { latest_snapshot: snapshotHeaderView(latest) }),
  };
}

const TEXT: Schema = { type: 'string' };
const OPTIONAL_TIMESTAMP: Schema = { type: ['string', 'null'], format: 'date-time' };
const SCOPE_LIST: Schema = { type: 'array', items: { type: 'string', enum: SCOPES } };
const GRANT_FIELDS: Record<string, Schema> = {
  grant_id: UUID,
  grantor_tenant_id: TEXT,
  grantee_tenant_id: TEXT,
  subject_type: SUBJECT_TYPE,
  subject_id: TEXT,
  scopes: SCOPE_LIST,
  expires_at: OPTIONAL_TIMESTAMP,
  created_at: TIMESTAMP,
  revoked_at: OPTIONAL_TIMESTAMP,
  status: { type: 'string', enum: GRANT_STATUSES },
};

export const GRANT = named('Grant', object(GRANT_FIELDS));
/** `grant` holds the secondary of the two shapes. */
export const CREATED_GRANT = named(
  'CreatedGrant',
  object({ ...GRANT_FIELDS, grant: { allOf: [GRANT], deprecated: true } }),
);
export const ACCESSIBLE_SUBJECT = named(
  'AccessibleSubject',
  object(
    {
      subject_type: SUBJECT_TYPE,
      subject_id: TEXT,
      granted_by_tenant_id: TEXT,
      grant_id: UUID,
      scopes: SCOPE_LIST,
      expires_at: OPTIONAL_TIMESTAMP,
      latest_snapshot: SNAPSHOT_HEADER_SCHEMA,
    },
    ['latest_snapshot'],
  ),
);

const ACME_TO_BETA: GrantRecord = {
  grantId: '3e0f6f0d-6d9e-4f0c-8a25-3b0e8f3c7d52',
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

export const GRANT_EXAMPLE = grantView(ACME_TO_BETA);
export const CREATED_GRANT_EXAMPLE = createdGrantView(ACME_TO_BETA);
export const REVOKED_GRANT_EXAMPLE = grantView({
  ...ACME_TO_BETA,
  status: 'revoked',
  revokedAt: new Date('2026-02-01T00:00:00Z'),
});
export const ACCESSIBLE_SUBJECT_EXAMPLE: AccessibleSubjectView = {
  ...accessibleSubjectView({ grant: ACME_TO_BETA, latest: null }),
  latest_snapshot: SNAPSHOT_HEADER_EXAMPLE,
};
