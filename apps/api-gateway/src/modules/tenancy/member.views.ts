import { MEMBER_STATUSES } from '@iss/domain';
import type { InvitationRecord, MembershipRecord, TenantBlock } from '@iss/persistence';
import {
  body,
  flag,
  oneOf,
  PAGE,
  principalId,
  principalType,
  query,
  role,
  type SentOf,
  tenancyRole,
  tenantId,
  text,
  time,
  view,
  type ViewOf,
} from '@iss/contract';

const status = oneOf(MEMBER_STATUSES);

const sentType = principalType
  .optional()
  .described(
    'Left out: as recorded. A new record gets the type in the principal’s last token, otherwise `human`. Only ' +
      'a human `account_admin` can change another type back to `human`, and never for itself.',
  );

/** The response to a member upsert. */
export const Member = view('Member', {
  tenant_id: tenantId,
  principal_id: principalId,
  api_functional_role: role.from('role'),
  status: status.described(
    '`pending`: invited, without any right until it accepts. `removed`: no longer a member; its token is refused.',
  ),
});
export type Member = ViewOf<typeof Member>;

/** Specification, "Principal access record (member)". */
export const Principal = view('Principal', {
  ...Member.fields,
  tenancy_role: tenancyRole,
  principal_type: principalType,
  allow_counterparty_access: flag.described('True if the member may use grants to its tenant.'),
  created_at: time.described('When the principal was invited or became a member.'),
});
export type Principal = ViewOf<typeof Principal>;

/** A tenant that invited the caller. */
export const Invitation = view('Invitation', {
  tenant_id: tenantId,
  name: text.from('tenantName').described('The name that the tenant gave itself.'),
  api_functional_role: role.from('role').described('The caller’s role after acceptance.'),
  tenancy_role: tenancyRole,
  invited_by: principalId
    .nullable()
    .described('The principal that sent the invitation; null: the service, or its operator.'),
  invited_at: time.described('When the invitation was sent.'),
});
export type Invitation = ViewOf<typeof Invitation>;

/** A tenant that the caller blocks. */
export const BlockedTenant = view('BlockedTenant', {
  tenant_id: tenantId,
  blocked_at: time.described('When the caller blocked the tenant.'),
});
export type BlockedTenant = ViewOf<typeof BlockedTenant>;

/** Body of the member upsert (specification, "Tenants, members, principals"). */
export const PutMemberBody = body(
  'PutMemberBody',
  {
    role: role.example('tenant_editor').described('Only a human can be made `tenant_owner`.'),
    principal_type: sentType,
  },
  {
    editor: { value: { role: 'tenant_editor' } },
    machine: { summary: 'An integration', value: { role: 'tenant_editor', principal_type: 'service_account' } },
  },
);
export type PutMemberBody = SentOf<typeof PutMemberBody>;

/** Body of the principal upsert. All fields are optional. */
export const PutPrincipalBody = body(
  'PutPrincipalBody',
  {
    api_functional_role: role.optional().described('Only a human can be made `tenant_owner`.'),
    principal_type: sentType,
    allow_counterparty_access: flag.optional().described('Only a human `account_admin` can set `true`.').example(true),
    tenancy_role: tenancyRole.optional().described('Only a human `account_admin` can change it.'),
  },
  { counterparty: { value: { allow_counterparty_access: true } } },
);
export type PutPrincipalBody = SentOf<typeof PutPrincipalBody>;

export const ListPrincipalsQuery = query({
  ...PAGE,
  status: status.optional().described('Only members with this status. Absent: all.').example('active'),
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
