import { MEMBER_STATUSES, RULES } from '@iss/domain';
import * as f from '../describe/fields';
import { type RecordOf, view, type ViewOf } from '../describe/view';
import { body, query, type SentOf } from '../describe/shape';
import { answer, operations } from '../describe/operation';
import { paged } from '../describe/page';

const status = f.oneOf(MEMBER_STATUSES);

const sentType = f.principalType
  .optional()
  .described(
    'Defaults to the recorded type. A new record gets the type in the principal’s last token, otherwise `human`. Only ' +
      'a human `account_admin` can change another type back to `human`, and never for itself.',
  );

/** The response to a member upsert. */
export const Member = view('Member', {
  tenant_id: f.tenantId,
  principal_id: f.principalId,
  api_functional_role: f.role.from('role'),
  status: status.described(
    '`pending`: invited, without any right until it accepts. `removed`: no longer a member; its token is refused.',
  ),
});
export type Member = ViewOf<typeof Member>;

/** Specification, "Principal access record (member)". */
export const Principal = view('Principal', {
  ...Member.fields,
  tenancy_role: f.tenancyRole,
  principal_type: f.principalType,
  allow_counterparty_access: f.flag.described('True if the member may use grants to its tenant.'),
  created_at: f.time.described('When the principal was invited or became a member.'),
});
export type Principal = ViewOf<typeof Principal>;

/** A tenant that invited the caller. */
export const Invitation = view('Invitation', {
  tenant_id: f.tenantId,
  name: f.text.from('tenantName').described('The name that the tenant gave itself.'),
  api_functional_role: f.role.from('role').described('The caller’s role after acceptance.'),
  tenancy_role: f.tenancyRole,
  invited_by: f.principalId
    .nullable()
    .described('The principal that sent the invitation; null: the service, or its operator.'),
  invited_at: f.time.described('When the invitation was sent.'),
});
export type Invitation = ViewOf<typeof Invitation>;

/** A tenant that the caller blocks. */
export const BlockedTenant = view('BlockedTenant', {
  tenant_id: f.tenantId,
  blocked_at: f.time.described('When the caller blocked the tenant.'),
});
export type BlockedTenant = ViewOf<typeof BlockedTenant>;

/** Body of the member upsert (specification, "Tenants, members, principals"). */
export const PutMemberBody = body(
  'PutMemberBody',
  {
    role: f.role.example('tenant_editor').described('Only a human can be made `tenant_owner`.'),
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
    api_functional_role: f.role.optional().described('Only a human can be made `tenant_owner`.'),
    principal_type: sentType,
    allow_counterparty_access: f.flag
      .optional()
      .described('Only a human `account_admin` can set `true`.')
      .example(true),
    tenancy_role: f.tenancyRole.optional().described('Only a human `account_admin` can change it.'),
  },
  { counterparty: { value: { allow_counterparty_access: true } } },
);
export type PutPrincipalBody = SentOf<typeof PutPrincipalBody>;

export const ListPrincipalsQuery = query({
  ...f.PAGE,
  status: status.optional().described('Only members with this status. Absent: all.').example('active'),
});
export type ListPrincipalsQuery = SentOf<typeof ListPrincipalsQuery>;

export const CAROL: RecordOf<typeof Principal> = {
  tenantId: 'acme',
  principalId: 'oidc:dev#carol',
  tenancyRole: 'member',
  role: 'tenant_editor',
  principalType: 'human',
  allowCounterpartyAccess: true,
  status: 'active',
  createdAt: new Date('2026-01-15T09:00:00Z'),
};

export const ALICE: RecordOf<typeof Principal> = {
  ...CAROL,
  principalId: 'oidc:dev#alice',
  tenancyRole: 'account_admin',
  role: 'tenant_owner',
  allowCounterpartyAccess: false,
};

export const BLOCKED: RecordOf<typeof BlockedTenant> = {
  tenantId: 'legacy',
  blockedAt: new Date('2026-01-15T09:00:00Z'),
};

export const TO_BETA: RecordOf<typeof Invitation> = {
  tenantId: 'beta',
  tenantName: 'Beta Bank',
  role: 'tenant_reader',
  tenancyRole: 'member',
  invitedBy: 'oidc:dev#bob',
  invitedAt: new Date('2026-01-15T09:00:00Z'),
};

const WHO_MAY_WHAT =
  'A caller cannot assign a role above its own. Only an owner can change the record of a `tenant_owner`. A ' +
  'human `account_admin` is exempt from both rules; an `account_admin` who is not an owner can change only ' +
  '`allow_counterparty_access` of a `tenant_owner`. The last `tenant_owner` cannot be removed (409). ' +
  'Assigning `tenant_owner`, and everything reserved for a human `account_admin`, needs a caller that ' +
  'is human in its record and in its token (422 otherwise).\n\nA new or removed principal is invited: it is `pending` and has no right until it ' +
  'accepts. With `MEMBERSHIP_CONSENT=trusted`, a principal of the deployment’s identity project becomes a ' +
  'member immediately. Missing fields default to `tenant_reader`, `member` and no counterparty access. A ' +
  'principal that blocks the tenant is not added (409). See [/docs/membership](/docs/membership).';

export const MEMBERS = operations('Tenants, members, principals', '/v1/tenants/{tenant_id}', {
  putMember: {
    route: 'PUT /members/{principal_id}',
    summary: 'Give a principal a role in the tenant',
    who: RULES.manageMembers,
    body: PutMemberBody,
    description: WHO_MAY_WHAT,
    answers: { 200: answer('The member.', Member, Member.of(CAROL)) },
    errors: ['limit_reached', 'conflict', 'human_principal_required'],
  },
  removeMember: {
    route: 'DELETE /members/{principal_id}',
    summary: 'Remove a member, or withdraw an invitation',
    who: RULES.manageMembers,
    description:
      'The member loses access to the tenant immediately. Transfer offers that it made or received are ' +
      'cancelled. The record stays, with the status `removed`. Only an owner can remove an owner. The last ' +
      '`tenant_owner` cannot be removed (409).',
    answers: { 204: { description: 'Removed.' } },
    errors: ['not_found', 'conflict'],
  },
  putPrincipal: {
    route: 'PUT /principals/{principal_id}',
    summary: "Change single fields of a principal's access record",
    who: RULES.manageMembers,
    body: PutPrincipalBody,
    description:
      `${WHO_MAY_WHAT} \`allow_counterparty_access: true\`, a change of \`tenancy_role\`, and a change back to ` +
      '`human` need a human `account_admin`: 403 for other admins, 422 for an `account_admin` that is not human.',
    answers: { 200: answer('The record.', Principal, Principal.of(CAROL)) },
    errors: ['limit_reached', 'conflict', 'human_principal_required'],
  },
  listPrincipals: {
    route: 'GET /principals',
    summary: "List the tenant's principals, including removed ones, by principal_id",
    who: RULES.readMembers,
    ...paged('One page.', Principal, [Principal.of(ALICE), Principal.of(CAROL)]),
    query: ListPrincipalsQuery,
    description: '`status` shows if a principal was removed; it is also a filter.',
  },
});

const LAST_OWNER = 'The last `tenant_owner` cannot leave (409).';

export const MEMBERSHIPS = operations('Tenants, members, principals', '/v1', {
  listInvitations: {
    route: 'GET /invitations',
    summary: 'List the tenants that invited the caller',
    who: 'any_principal',
    ...paged('One page.', Invitation, [Invitation.of(TO_BETA)]),
    description: 'Ordered by `tenant_id`. An invited caller has no right in the tenant until it accepts.',
  },
  acceptInvitation: {
    route: 'POST /tenants/{tenant_id}/membership/accept',
    summary: 'Accept an invitation',
    who: 'any_principal',
    description: 'The caller becomes a member immediately. The request has no effect for an active member.',
    answers: { 200: answer('The record.', Principal, Principal.of(CAROL)) },
    errors: ['not_found'],
  },
  leaveTenant: {
    route: 'POST /tenants/{tenant_id}/membership/leave',
    summary: 'Leave a tenant, or decline its invitation',
    who: 'any_principal',
    description: `Transfer offers that the caller made or received are cancelled. ${LAST_OWNER}`,
    answers: { 200: answer('The record.', Principal, Principal.of({ ...CAROL, status: 'removed' })) },
    errors: ['not_found', 'conflict'],
  },
  blockTenant: {
    route: 'PUT /tenants/{tenant_id}/membership/block',
    summary: 'Leave a tenant and block it from adding the caller',
    who: 'any_principal',
    description: `This also works for a tenant to which the caller never belonged. ${LAST_OWNER}`,
    answers: { 204: { description: 'Blocked.' } },
    errors: ['not_found', 'conflict'],
  },
  unblockTenant: {
    route: 'DELETE /tenants/{tenant_id}/membership/block',
    summary: 'Let a tenant add the caller again',
    who: 'any_principal',
    description: 'The request has no effect if the caller does not block the tenant.',
    answers: { 204: { description: 'The tenant is not blocked.' } },
  },
  listBlockedTenants: {
    route: 'GET /blocked-tenants',
    summary: 'List the tenants that the caller blocks',
    who: 'any_principal',
    ...paged('One page.', BlockedTenant, [BlockedTenant.of(BLOCKED)]),
    description: 'Ordered by `tenant_id`.',
  },
});
