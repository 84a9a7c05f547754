import { MEMBER_STATUSES, PRINCIPAL_TYPES, ROLES, TENANCY_ROLES } from '@iss/domain';
import type { MembershipRecord } from '@iss/persistence';
import { named, object, type Schema, TIMESTAMP } from '../../http/describe/openapi';

/** What the member upsert answers. */
export interface MemberView {
  tenant_id: string;
  principal_id: string;
  api_functional_role: string;
  status: string;
}

export function memberView(member: MembershipRecord): MemberView {
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

export function principalView(member: MembershipRecord): PrincipalView {
  return {
    ...memberView(member),
    tenancy_role: member.tenancyRole,
    principal_type: member.principalType,
    allow_counterparty_access: member.allowCounterpartyAccess,
    created_at: member.createdAt.toISOString(),
  };
}

const TEXT: Schema = { type: 'string' };
const MEMBER_FIELDS: Record<string, Schema> = {
  tenant_id: TEXT,
  principal_id: TEXT,
  api_functional_role: { type: 'string', enum: ROLES },
  status: { type: 'string', enum: MEMBER_STATUSES },
};

export const MEMBER = named('Member', object(MEMBER_FIELDS));
export const PRINCIPAL = named(
  'Principal',
  object({
    ...MEMBER_FIELDS,
    tenancy_role: { type: 'string', enum: TENANCY_ROLES },
    principal_type: { type: 'string', enum: PRINCIPAL_TYPES },
    allow_counterparty_access: { type: 'boolean' },
    created_at: TIMESTAMP,
  }),
);

const CAROL: MembershipRecord = {
  tenantId: 'acme',
  principalId: 'oidc:dev#carol',
  tenancyRole: 'member',
  role: 'tenant_editor',
  principalType: 'human',
  allowCounterpartyAccess: true,
  status: 'active',
  createdAt: new Date('2026-01-15T09:00:00Z'),
};

const ALICE: MembershipRecord = {
  ...CAROL,
  principalId: 'oidc:dev#alice',
  tenancyRole: 'account_admin',
  role: 'tenant_owner',
  allowCounterpartyAccess: false,
};

export const MEMBER_EXAMPLE = memberView(CAROL);
export const OWNER_EXAMPLE = principalView(ALICE);
export const PRINCIPAL_EXAMPLE = principalView(CAROL);
