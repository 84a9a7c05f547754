import type { MemberStatus } from '../statuses';
import type { PrincipalType, Role, TenancyRole } from './roles';

/** The role that names what a tenant may never be without again, once it has it (specification, "Roles"). */
export const OWNER = 'tenant_owner' satisfies Role;

/** What of a member's record decides whether it may hand its tenant over. */
export interface PossibleOfferer {
  role: Role;
  tenancyRole: TenancyRole;
  principalType: PrincipalType;
  status: MemberStatus;
}

/**
 * Whether a member may hand over its tenant, by its record: a human owner; or, where nobody owns the tenant, its account_admin, of whatever
 * type, so that a tenant that a machine founded comes to a human owner (contract, "Founding by a non-human").
 */
export function mayHandOver(member: PossibleOfferer, hasOtherOwner: boolean): boolean {
  if (member.status !== 'active') return false;
  if (member.role === OWNER) return member.principalType === 'human';
  return !hasOtherOwner && member.tenancyRole === 'account_admin';
}
