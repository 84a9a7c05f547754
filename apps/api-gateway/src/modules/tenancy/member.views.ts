import { MEMBER_STATUSES } from '@iss/domain';
import type { InvitationRecord, MembershipRecord, TenantBlock } from '@iss/persistence';
import { view, type ViewOf } from '../../http/describe/view';
import {
  flag,
  oneOf,
  PAGE,
  principalId,
  principalType,
  role,
  tenancyRole,
  tenantId,
  text,
  time,
} from '../../http/request/fields';
import { body, query, type SentOf } from '../../http/request/shape';

const status = oneOf(MEMBER_STATUSES);

const sentType = principalType
  .optional()
  .described(
    'Left out: as recorded; for a new record what the principal’s token said when it last called, else `human`. From another type back to `human`: by a human `account_admin` only, never for oneself.',
  );

/** What the member upsert answers. */
export const Member = view('Member', {
  tenant_id: tenantId,
  principal_id: principalId,
  api_functional_role: role.from('role'),
  status: status.described(
    '`pending`: invited, without any right until it accepts. `removed`: no member any more; its token is refused.',
  ),
});
export type Member = ViewOf<typeof Member>;

/** Specification, "Principal access record (member)". */
export const Principal = view('Principal', {
  ...Member.fields,
  tenancy_role: tenancyRole,
  principal_type: principalType,
  allow_counterparty_access: flag.described('Whether the member may use the grants that its tenant holds.'),
  created_at: time.described('When it was first invited, or became a member.'),
});
export type Principal = ViewOf<typeof Principal>;

/** A tenant that the caller may join. */
export const Invitation = view('Invitation', {
  tenant_id: tenantId,
  name: text.from('tenantName').described('The name that the tenant gave itself.'),
  api_functional_role: role.from('role').described('What the caller would be.'),
  tenancy_role: tenancyRole,
  invited_by: principalId.nullable().described('Who made it; null: the service, or its operator.'),
  invited_at: time.described('When it was made.'),
});
export type Invitation = ViewOf<typeof Invitation>;

/** A tenant that may not add the caller. */
export const BlockedTenant = view('BlockedTenant', {
  tenant_id: tenantId,
  blocked_at: time.described('Since when.'),
});
export type BlockedTenant = ViewOf<typeof BlockedTenant>;

/** Body of the member upsert (specification, "Tenants, members, principals"). */
export const PutMemberBody = body(
  'PutMemberBody',
  {
    role: role.example('tenant_editor').described('`tenant_owner`: by a human only.'),
    principal_type: sentType,
  },
  {
    editor: { value: { role: 'tenant_editor' } },
    machine: { summary: 'An integration', value: { role: 'tenant_editor', principal_type: 'service_account' } },
  },
);
export type PutMemberBody = SentOf<typeof PutMemberBody>;

/** Body of the principal upsert; fields may be sent alone. */
export const PutPrincipalBody = body(
  'PutPrincipalBody',
  {
    api_functional_role: role.optional().described('`tenant_owner`: by a human only.'),
    principal_type: sentType,
    allow_counterparty_access: flag.optional().described('`true`: by a human `account_admin` only.').example(true),
    tenancy_role: tenancyRole.optional().described('Changed by a human `account_admin` only.'),
  },
  { counterparty: { value: { allow_counterparty_access: true } } },
);
export type PutPrincipalBody = SentOf<typeof PutPrincipalBody>;

/** Query of `GET …/principals`. */
export const ListPrincipalsQuery = query({
  ...PAGE,
  status: status.optional().described('Left out: all.').example('active'),
});
export type ListPrincipalsQuery = SentOf<typeof ListPrincipalsQuery>;

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
export const BLOCKED: TenantBlock = { tenantId: 'legacy', blockedAt: new Date('2026-01-15T09:00:00Z') };
export const TO_BETA: InvitationRecord = {
  tenantId: 'beta',
  tenantName: 'Beta Bank',
  role: 'tenant_reader',
  tenancyRole: 'member',
  invitedBy: 'oidc:dev#bob',
  invitedAt: new Date('2026-01-15T09:00:00Z'),
};
