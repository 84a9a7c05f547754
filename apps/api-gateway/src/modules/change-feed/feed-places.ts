import { DomainError } from '@iss/domain';
import { SecretBox, SecretBoxError } from '@iss/platform';
import { Injectable } from '@nestjs/common';

/**
 * The maximum number of digits of a `log_index`. Sealed places are padded to it, so that their length reveals nothing.
 */
const DIGITS = 15;

/**
 * Seals the places up to which a feed was read, because the entry at such a place may be secret to the reader. A sealed
 * place opens only for the feed of the same tenant. Equal places have equal texts there.
 */
@Injectable()
export class FeedPlaces {
  constructor(private readonly secrets: SecretBox) {}

  seal(tenantId: string, place: number): string {
    return this.secrets.sealAlike(String(place).padStart(DIGITS, '0'), sealedFor(tenantId));
  }

  /** Reads a sealed place, or the `log_index` of an item. Throws `validation_error`. */
  read(tenantId: string, text: string): number {
    if (!text.includes('.')) return Number(text);
    try {
      return Number(this.secrets.open(text, sealedFor(tenantId)));
    } catch (error) {
      if (!(error instanceof SecretBoxError)) throw error;
      throw new DomainError(
        'validation_error',
        'after is not a position in this feed. Send a `next_after` that this feed returned, or the `log_index` of ' +
          'your last item.',
        [{ path: '/query/after', message: 'must be a position in this feed', code: 'invalid_value' }],
      );
    }
  }
}

function sealedFor(tenantId: string): string {
  return `change feed of ${tenantId}`;
}
