import type { MembershipEntity, TenantEntity } from '@iss/persistence';

interface TenantFields {
  tenant_id: string;
  name: string;
  slug: string | null;
  created_at: string;
  chain_enforced: boolean;
}

/** A tenant in both shapes of the specification: flat, and wrapped. */
export type TenantView = TenantFields & { tenant: TenantFields };

export function tenantView(tenant: TenantEntity): TenantView {
  const fields = {
    tenant_id: tenant.tenantId,
    name: tenant.name,
    slug: tenant.slug,
    created_at: tenant.createdAt.toISOString(),
    chain_enforced: tenant.chainEnforced,
  };
  return { ...fields, tenant: fields };
}

/** What the member upsert answers. */
export interface MemberView {
  tenant_id: string;
  principal_id: string;
  api_functional_role: string;
  status: string;
}

export function memberView(member: MembershipEntity): MemberView {
  return {
    tenant_id: member.tenantId,
    principal_id: member.principalId,
    api_functional_role: member.role,
    status: member.status,
  };
}

/** Specification, "Principal access record (member)". */
export interface PrincipalView extends MemberView {
  tenancy_role: string;
  principal_type: string;
  allow_counterparty_access: boolean;
  created_at: string;
}

export function principalView(member: MembershipEntity): PrincipalView {
  return {
    ...memberView(member),
    tenancy_role: member.tenancyRole,
    principal_type: member.principalType,
    allow_counterparty_access: member.allowCounterpartyAccess,
    created_at: member.createdAt.toISOString(),
  };
}
