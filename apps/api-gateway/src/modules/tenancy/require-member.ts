import { type AccessRule, requireAccess } from '@iss/domain';
import type { MembershipRecord } from '@iss/persistence';

/** The caller's own record, when it may do this in the tenant. Throws `forbidden` otherwise. */
export function requireMember(member: MembershipRecord | null, rule: AccessRule): MembershipRecord {
  requireAccess({ membership: member, ownsSubject: false, grantScopes: null }, rule);
  if (member === null) throw new Error('access was given to no member');
  return member;
}
