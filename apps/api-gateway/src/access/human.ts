import { DomainError, type PrincipalType } from '@iss/domain';

/**
 * Throws `human_principal_required` if the record or the token names another type than `human`. Without either, a
 * principal counts as human (contract, "Principal type"). Call it last, so that a machine that lacks the right anyway
 * gets `forbidden`.
 */
export function requireHumanPrincipal(byRecord: PrincipalType | null, claimedType: PrincipalType, what: string): void {
  if (claimedType !== 'human' || (byRecord !== null && byRecord !== 'human')) throw humanRequired(what);
}

export function humanRequired(what: string): DomainError {
  return new DomainError('human_principal_required', `Only a human principal may ${what}. Send a human's own token.`);
}
