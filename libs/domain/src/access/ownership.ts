import type { MemberStatus } from '../statuses';
import type { PrincipalType, Role, TenancyRole } from './roles';

/** Once a tenant has a member with this role, it must always keep one (specification, "Roles"). */
export const OWNER = 'tenant_owner' satisfies Role;

/** The properties of a member that decide whether it can hand over its tenant. */
export interface PossibleOfferer {
  role: Role;
  tenancyRole: TenancyRole;
  principalType: PrincipalType;
  status: MemberStatus;
}

/**
 * Checks whether a member can hand over its tenant. A human owner can. In a tenant without an owner its `account_admin`
 * can, of any principal type, so that a tenant founded by a machine can get a human owner (contract, "Founding by a
 * non-human").
 */
export function mayHandOver(member: PossibleOfferer, hasOtherOwner: boolean): boolean {
  if (member.status !== 'active') return false;
  if (member.role === OWNER) return member.principalType === 'human';
  return !hasOtherOwner && member.tenancyRole === 'account_admin';
}
