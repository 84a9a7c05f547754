import { DomainError } from '@iss/domain';

/**
 * 406, which shares its code with 415 (contract, "Codes not shown"): the caller accepts none of the available media
 * types.
 */
export class NotAcceptable extends DomainError {
  constructor(message: string) {
    super('unsupported_media_type', message);
  }
}
