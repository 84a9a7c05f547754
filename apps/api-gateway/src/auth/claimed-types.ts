import { ClaimedTypeStore } from '@iss/persistence';
import { type Logger, LOGGER } from '@iss/platform';
import { Inject, Injectable } from '@nestjs/common';
import type { Principal } from './principal';

/** Remembers the principal types that tokens claim. They are the default for records that are created later. */
@Injectable()
export class ClaimedTypes {
  constructor(
    private readonly store: ClaimedTypeStore,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Never fails, so that the request that sent the token is not affected. */
  async remember({ principalId, claimedType }: Principal): Promise<void> {
    try {
      await this.store.remember(principalId, claimedType);
    } catch (error) {
      this.logger.warn({ err: error }, 'could not store the principal type that a token claims');
    }
  }
}
