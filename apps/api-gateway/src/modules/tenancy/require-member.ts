import { type AccessRule, requireAccess } from '@iss/domain';
import type { MembershipRecord } from '@iss/persistence';
import { requireHumanPrincipal } from '../../access/human';
import type { Principal } from '../../auth/principal';

/** Returns the caller's own record. Throws `forbidden` unless it may do this in the tenant. */
export function requireMember(member: MembershipRecord | null, rule: AccessRule): MembershipRecord {
  requireAccess({ membership: member, ownsSubject: false, grantScopes: null, grantPaths: [] }, rule);
  if (member === null) throw new Error('access was granted without a member');
  return member;
}

/** Throws `human_principal_required` like {@link requireHumanPrincipal}, for a member. */
export function requireHuman(member: MembershipRecord | null, { claimedType }: Principal, what: string): void {
  requireHumanPrincipal(member?.principalType ?? null, claimedType, what);
}
