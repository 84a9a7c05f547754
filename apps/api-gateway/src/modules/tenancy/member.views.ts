import { MEMBER_STATUSES } from '@iss/domain';
import type { MembershipRecord } from '@iss/persistence';
import { view, type ViewOf } from '../../http/describe/view';
import { flag, oneOf, principalId, principalType, role, tenancyRole, tenantId, time } from '../../http/request/fields';
import { body, type SentOf } from '../../http/request/shape';

/** What the member upsert answers. */
export const Member = view('Member', {
  tenant_id: tenantId,
  principal_id: principalId,
  api_functional_role: role.from('role'),
  status: oneOf(MEMBER_STATUSES).described('`removed`: it was a member.'),
});
export type Member = ViewOf<typeof Member>;

/** Specification, "Principal access record (member)". */
export const Principal = view('Principal', {
  ...Member.fields,
  tenancy_role: tenancyRole,
  principal_type: principalType,
  allow_counterparty_access: flag.described('Whether the member may use the grants that its tenant holds.'),
  created_at: time.described('When it first became a member.'),
});
export type Principal = ViewOf<typeof Principal>;

/** Body of the member upsert (specification, "Tenants, members, principals"). */
export const PutMemberBody = body(
  'PutMemberBody',
  { role: role.example('tenant_editor') },
  { editor: { value: { role: 'tenant_editor' } } },
);
export type PutMemberBody = SentOf<typeof PutMemberBody>;

/** Body of the principal upsert; fields may be sent alone. */
export const PutPrincipalBody = body(
  'PutPrincipalBody',
  {
    api_functional_role: role.optional().described('`tenant_owner`: by a human only.'),
    principal_type: principalType
      .optional()
      .described('From another type back to `human`: by a human `account_admin` only, never for oneself.'),
    allow_counterparty_access: flag.optional().described('`true`: by a human `account_admin` only.').example(true),
    tenancy_role: tenancyRole.optional().described('Changed by a human `account_admin` only.'),
  },
  { counterparty: { value: { allow_counterparty_access: true } } },
);
export type PutPrincipalBody = SentOf<typeof PutPrincipalBody>;

export const CAROL: MembershipRecord = {
  tenantId: 'acme',
  principalId: 'oidc:dev#carol',
  tenancyRole: 'member',
  role: 'tenant_editor',
  principalType: 'human',
  allowCounterpartyAccess: true,
  status: 'active',
  createdAt: new Date('2026-01-15T09:00:00Z'),
};
export const ALICE: MembershipRecord = {
  ...CAROL,
  principalId: 'oidc:dev#alice',
  tenancyRole: 'account_admin',
  role: 'tenant_owner',
  allowCounterpartyAccess: false,
};
