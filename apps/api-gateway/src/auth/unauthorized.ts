import { DomainError } from '@iss/domain';

/**
 * Creates a refusal with its reason and remedy. `reason` is a fixed text or configuration, never a part of the token.
 */
export function unauthorized(reason: string): DomainError {
  return new DomainError(
    'unauthorized',
    `Authentication required: ${reason}. Send "Authorization: Bearer <access token>" with a current token of the configured issuer.`,
  );
}
