import {
  type Acting,
  type Actor,
  DomainError,
  isAtLeast,
  type MemberStatus,
  type PrincipalType,
  requireAccess,
  type Role,
  RULES,
  type TenancyRole,
} from '@iss/domain';
import {
  type InvitationRecord,
  type MembershipChange,
  type MembershipRecord,
  type NewMembership,
  type Page,
  type PageRequest,
  TenancyStore,
  type TenantBlock,
} from '@iss/persistence';
import { Inject, Injectable } from '@nestjs/common';
import type { Principal } from '../../auth/principal';
import { type GatewaySettings, SETTINGS } from '../../settings';
import { requireHuman, requireMember } from './require-member';

/** Fields of a principal's record that are to change. */
export interface PrincipalChange {
  role?: Role | undefined;
  tenancyRole?: TenancyRole | undefined;
  principalType?: PrincipalType | undefined;
  allowCounterpartyAccess?: boolean | undefined;
}

/** Manages the members of a tenant. */
@Injectable()
export class MemberService {
  constructor(
    private readonly tenancy: TenancyStore,
    @Inject(SETTINGS) private readonly settings: GatewaySettings,
  ) {}

  /** Returns the tenant's records with this status; null: all, including removed members. */
  async list(actor: Actor, status: MemberStatus | null, request: PageRequest): Promise<Page<MembershipRecord>> {
    const { facts, page } = await this.tenancy.members(actor, status, request);
    requireAccess(facts, RULES.readMembers);
    return page;
  }

  /**
   * Changes a principal's record. A principal that is not a member is invited, or becomes a member immediately if the
   * deployment trusts its identity project. Throws `forbidden` (not an admin, or more than the caller may assign),
   * `human_principal_required`, `conflict` (the last owner, or a principal that blocks the tenant), or `limit_reached`.
   */
  put(caller: Principal, acting: Acting, principalId: string, change: PrincipalChange): Promise<MembershipRecord> {
    const { tenantId } = acting;
    return this.tenancy.changeMembership(acting, principalId, (current) => {
      const isMember = current.target?.status === 'active' || this.isTrusted(principalId);
      const status: MemberStatus = isMember ? 'active' : 'pending';
      const record = { tenantId, principalId, ...changed(current, change), status };
      requireMayPut(current, caller, change, record);
      if (current.isBlocked && current.target?.status !== 'active') {
        throw new DomainError(
          'conflict',
          'This principal blocks the tenant. Only the principal itself can lift the block.',
        );
      }
      return record;
    });
  }

  /** Returns whether an admin may add this principal without its consent. */
  private isTrusted(principalId: string): boolean {
    const { membershipConsent, auth } = this.settings;
    return membershipConsent === 'trusted' && principalId.startsWith(`oidc:${auth.projectId}#`);
  }

  /** Returns the tenants that invited the caller. */
  invitations({ principalId }: Principal, request: PageRequest): Promise<Page<InvitationRecord>> {
    return this.tenancy.invitations(principalId, request);
  }

  /** Makes an invited caller a member. Changes nothing for an active member. Throws `not_found`. */
  accept(acting: Acting): Promise<MembershipRecord> {
    return this.tenancy.changeMembership(acting, acting.principalId, ({ target }) => {
      const existing = unlessRemoved(target);
      if (existing === null)
        throw new DomainError(
          'not_found',
          'This tenant has not invited you. Ask one of its tenant_admins for an invitation.',
        );
      return { ...existing, status: 'active' };
    });
  }

  /** Ends the caller's own membership, or declines its invitation. Throws `not_found`, or `conflict` (the last owner). */
  leave(acting: Acting): Promise<MembershipRecord> {
    return this.tenancy.changeMembership(acting, acting.principalId, (current) => {
      const left = leaving(current);
      if (left === null)
        throw new DomainError(
          'not_found',
          'You are not a member of this tenant and have no invitation from it. List your tenants for their ids.',
        );
      return left;
    });
  }

  /** Leaves the tenant and prevents it from adding the caller. Throws `not_found`, or `conflict` (the last owner). */
  async block(acting: Acting): Promise<void> {
    const isTenant = await this.tenancy.block(acting, leaving);
    if (!isTenant) throw new DomainError('not_found', 'No such tenant. Check its tenant_id.');
  }

  /** Lets the tenant add the caller again. */
  unblock(actor: Actor): Promise<void> {
    return this.tenancy.unblock(actor);
  }

  /** Returns the tenants that the caller blocks. */
  blocks({ principalId }: Principal, request: PageRequest): Promise<Page<TenantBlock>> {
    return this.tenancy.blocks(principalId, request);
  }

  /**
   * Removes a member or withdraws an invitation, with immediate effect. Throws `forbidden`, `not_found`, or `conflict`
   * (the last owner).
   */
  async remove(actor: Acting, principalId: string): Promise<void> {
    await this.tenancy.changeMembership(actor, principalId, (current) => {
      const admin = requireMember(current.caller, RULES.manageMembers);
      const existing = unlessRemoved(current.target);
      if (existing === null)
        throw new DomainError('not_found', 'No such member of this tenant. List its principals for their ids.');
      requireMayTouchOwner(admin, existing);
      requireOwnerRemains(current, false);
      return { ...existing, status: 'removed' };
    });
  }
}

/** Returns the record unless the member was removed. */
function unlessRemoved(member: MembershipRecord | null): MembershipRecord | null {
  return member?.status === 'removed' ? null : member;
}

/** Returns the caller's record as removed, or null if it has none. Throws `conflict` for the last owner. */
function leaving(current: MembershipChange): NewMembership | null {
  const existing = unlessRemoved(current.target);
  if (existing === null) return null;
  requireOwnerRemains(current, false);
  return { ...existing, status: 'removed' };
}

/**
 * Returns the record after the change. Fields that are not sent keep their values for members and invited principals. A
 * new or returning principal gets the lowest rights: nothing from before its removal comes back. Only the principal
 * type survives a removal, because otherwise a machine could return as a human. For a new principal, the type comes
 * from its token.
 */
function changed(
  { target, claimedType }: MembershipChange,
  change: PrincipalChange,
): Omit<NewMembership, 'tenantId' | 'principalId' | 'status'> {
  const existing = unlessRemoved(target);
  return {
    role: change.role ?? existing?.role ?? 'tenant_reader',
    tenancyRole: change.tenancyRole ?? existing?.tenancyRole ?? 'member',
    principalType: change.principalType ?? target?.principalType ?? claimedType,
    allowCounterpartyAccess: change.allowCounterpartyAccess ?? existing?.allowCounterpartyAccess ?? false,
  };
}

/** Specification, "Human-only actions" and "Authentication" 6; contract, "Members", "Human `account_admin`" and "Principal type". */
function requireMayPut(
  current: MembershipChange,
  principal: Principal,
  change: PrincipalChange,
  record: NewMembership,
): void {
  const { target } = current;
  const caller = requireMember(current.caller, RULES.readTenant);
  const isAccountAdmin = caller.tenancyRole === 'account_admin';
  if (!isAccountAdmin) requireMember(caller, RULES.manageMembers);
  const existing = unlessRemoved(target);
  if (!(isAccountAdmin && concernsFlagAlone(change))) requireMayTouchOwner(caller, existing);

  const makesHuman = target !== null && target.principalType !== 'human' && record.principalType === 'human';
  if (makesHuman && caller.principalId === record.principalId) {
    throw new DomainError('forbidden', 'A principal cannot make itself human. Ask a human account_admin.');
  }
  const isAboveCaller = !isAtLeast(caller.role, record.role);
  if (isAboveCaller && !isAccountAdmin) {
    throw new DomainError(
      'forbidden',
      `You hold ${caller.role} and cannot assign a higher role. Ask a tenant_owner, or a human account_admin.`,
    );
  }
  const forAccountAdmin =
    change.allowCounterpartyAccess === true || makesHuman || record.tenancyRole !== (existing?.tenancyRole ?? 'member');
  if (forAccountAdmin && !isAccountAdmin) {
    throw new DomainError(
      'forbidden',
      'Only a human account_admin may set allow_counterparty_access to true, change tenancy_role, or make a record human.',
    );
  }
  const isBeyondRole = isAboveCaller || !isAtLeast(caller.role, RULES.manageMembers.role);
  if (forAccountAdmin || isBeyondRole || change.role === 'tenant_owner') {
    requireHuman(
      caller,
      principal,
      'assign tenant_owner or a role above its own, set allow_counterparty_access to true, change tenancy_role, or make a record human',
    );
  }
  requireOwnerRemains(current, record.role === 'tenant_owner');
}

function concernsFlagAlone({ role, tenancyRole, principalType }: PrincipalChange): boolean {
  return role === undefined && tenancyRole === undefined && principalType === undefined;
}

/**
 * Throws `forbidden` if the record belongs to an owner and the caller is not an owner. The exception for an
 * account_admin, who may change anyone's flag, is in {@link requireMayPut}.
 */
function requireMayTouchOwner(caller: MembershipRecord, existing: MembershipRecord | null): void {
  if (existing?.role === 'tenant_owner' && caller.role !== 'tenant_owner') {
    throw new DomainError(
      'forbidden',
      `You hold ${caller.role}. Only a tenant_owner can change the record of an owner.`,
    );
  }
}

function requireOwnerRemains({ target, hasOtherOwner }: MembershipChange, staysOwner: boolean): void {
  if (target?.status === 'active' && target.role === 'tenant_owner' && !staysOwner && !hasOtherOwner) {
    throw new DomainError('conflict', 'This is the last tenant_owner. Make another principal owner first.');
  }
}
