import type { OAuthErrorBody, OAuthErrorCode } from '@iss/contract';
import { DomainError } from '@iss/domain';

/** An error for wallets, in the form of RFC 6749, section 5.2. */
export class OAuthError extends DomainError {
  constructor(
    private readonly error: OAuthErrorCode,
    message: string,
  ) {
    super(error === 'invalid_token' ? 'unauthorized' : 'validation_error', message);
  }

  /** The description has only the characters that the RFC allows. */
  get body(): OAuthErrorBody {
    return { error: this.error, error_description: this.message.replace(/[^\x20\x21\x23-\x5b\x5d-\x7e]/g, '.') };
  }
}
