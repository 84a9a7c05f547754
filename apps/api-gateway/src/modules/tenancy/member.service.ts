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
  type MembershipChange,
  type MembershipRecord,
  type NewMembership,
  type Page,
  type PageRequest,
  TenancyStore,
} from '@iss/persistence';
import { Injectable } from '@nestjs/common';
import type { Principal } from '../../auth/principal';
import { requireHuman, requireMember } from './require-member';

/** Fields of a principal's record that are to change. */
export interface PrincipalChange {
  role?: Role | undefined;
  tenancyRole?: TenancyRole | undefined;
  principalType?: PrincipalType | undefined;
  allowCounterpartyAccess?: boolean | undefined;
}

/** Who belongs to a tenant, as what. */
@Injectable()
export class MemberService {
  constructor(private readonly tenancy: TenancyStore) {}

  /** The tenant's records of this status; null: all, removed members included. */
  async list(actor: Actor, status: MemberStatus | null, request: PageRequest): Promise<Page<MembershipRecord>> {
    const { facts, page } = await this.tenancy.members(actor, status, request);
    requireAccess(facts, RULES.readMembers);
    return page;
  }

  /**
   * Changes a principal's record, making it a member if it is none. Throws `forbidden` (not an admin, or more than the
   * caller may give), `human_principal_required`, `conflict` (the last owner), or `limit_reached`.
   */
  put(caller: Principal, acting: Acting, principalId: string, change: PrincipalChange): Promise<MembershipRecord> {
    const { tenantId } = acting;
    return this.tenancy.changeMembership(acting, principalId, (current) => {
      const record = { tenantId, principalId, ...changed(current, change) };
      requireMayPut(current, caller, change, record);
      return record;
    });
  }

  /** Takes a member out; its token is refused from then on. Throws `forbidden`, `not_found`, or `conflict` (the last owner). */
  async remove(actor: Acting, principalId: string): Promise<void> {
    await this.tenancy.changeMembership(actor, principalId, (current) => {
      const admin = requireMember(current.caller, RULES.manageMembers);
      const held = activeOf(current.target);
      if (held === null) throw new DomainError('not_found', 'No such member of this tenant.');
      requireMayTouchOwner(admin, held);
      requireOwnerRemains(current, false);
      return { ...held, status: 'removed' };
    });
  }
}

function activeOf(member: MembershipRecord | null): MembershipRecord | null {
  return member?.status === 'active' ? member : null;
}

/**
 * The record after the change. What is not given stays as it is for an active member. One that is new or comes back gets
 * the least: nothing that it held before its removal returns by itself. Only what kind of caller it is outlives a removal,
 * or a machine would return as a human; of one that is new, its token said that.
 */
function changed(
  { target, claimedType }: MembershipChange,
  change: PrincipalChange,
): Omit<NewMembership, 'tenantId' | 'principalId'> {
  const held = activeOf(target);
  return {
    role: change.role ?? held?.role ?? 'tenant_reader',
    tenancyRole: change.tenancyRole ?? held?.tenancyRole ?? 'member',
    principalType: change.principalType ?? target?.principalType ?? claimedType,
    allowCounterpartyAccess: change.allowCounterpartyAccess ?? held?.allowCounterpartyAccess ?? false,
    status: 'active',
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
  const held = activeOf(target);
  if (!(isAccountAdmin && concernsFlagAlone(change))) requireMayTouchOwner(caller, held);

  const makesHuman = target !== null && target.principalType !== 'human' && record.principalType === 'human';
  if (makesHuman && caller.principalId === record.principalId) {
    throw new DomainError('forbidden', 'Nobody makes itself human. Ask a human account_admin.');
  }
  const isAboveCaller = !isAtLeast(caller.role, record.role);
  if (isAboveCaller && !isAccountAdmin) {
    throw new DomainError(
      'forbidden',
      `You hold ${caller.role} and cannot assign a role above it. Ask a tenant_owner, or a human account_admin.`,
    );
  }
  const forAccountAdmin =
    change.allowCounterpartyAccess === true || makesHuman || record.tenancyRole !== (held?.tenancyRole ?? 'member');
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

/** An owner's record is changed by owners alone; its flag by an account_admin too, as that of any principal. */
function requireMayTouchOwner(caller: MembershipRecord, held: MembershipRecord | null): void {
  if (held?.role === 'tenant_owner' && caller.role !== 'tenant_owner') {
    throw new DomainError('forbidden', `You hold ${caller.role}; only a tenant_owner changes an owner's record.`);
  }
}

function requireOwnerRemains({ target, hasOtherOwner }: MembershipChange, staysOwner: boolean): void {
  if (activeOf(target)?.role === 'tenant_owner' && !staysOwner && !hasOtherOwner) {
    throw new DomainError('conflict', 'This is the last tenant_owner. Make another principal owner first.');
  }
}
