import type { GrantRecord } from '@iss/persistence';

export interface GrantView {
  grant_id: string;
  grantor_tenant_id: string;
  grantee_tenant_id: string;
  subject_type: string;
  subject_id: string;
  scopes: string[];
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
export function createdGrantView(grant: GrantRecord): GrantView & { grant: GrantView } {
  const view = grantView(grant);
  return { ...view, grant: view };
}
