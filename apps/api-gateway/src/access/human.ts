import { DomainError, type PrincipalType } from '@iss/domain';

/**
 * Who acts is human when neither its record nor its token says otherwise (contract, "Principal type"). Throws
 * `human_principal_required`; asked last, since a machine that could not do it as a human either is told `forbidden`.
 */
export function requireHumanPrincipal(byRecord: PrincipalType | null, claimedType: PrincipalType, what: string): void {
  if (claimedType !== 'human' || (byRecord !== null && byRecord !== 'human')) throw humanRequired(what);
}

export function humanRequired(what: string): DomainError {
  return new DomainError('human_principal_required', `Only a human principal may ${what}. Send a human's own token.`);
}
