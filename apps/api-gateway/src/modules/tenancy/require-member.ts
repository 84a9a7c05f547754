import { type AccessRule, DomainError, requireAccess } from '@iss/domain';
import type { MembershipRecord } from '@iss/persistence';
import type { Principal } from '../../auth/principal';

/** The caller's own record, when it may do this in the tenant. Throws `forbidden` otherwise. */
export function requireMember(member: MembershipRecord | null, rule: AccessRule): MembershipRecord {
  requireAccess({ membership: member, ownsSubject: false, grantScopes: null }, rule);
  if (member === null) throw new Error('access was given to no member');
  return member;
}

/**
 * Who acts is human when neither its record nor its token says otherwise (contract, "Principal type"). Throws
 * `human_principal_required`; asked last, since a machine that could not do it as a human either is told `forbidden`.
 */
export function requireHuman(member: MembershipRecord | null, { claimedType }: Principal, what: string): void {
  if (claimedType === 'human' && (member === null || member.principalType === 'human')) return;
  throw new DomainError('human_principal_required', `Only a human principal, with its own token, may ${what}.`);
}
