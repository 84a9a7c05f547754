import { ClaimedTypeStore } from '@iss/persistence';
import { type Logger, LOGGER } from '@iss/platform';
import { Inject, Injectable } from '@nestjs/common';
import type { Principal } from './principal';

/** Remembers what tokens say that their principals are: the default of records that are made for them later. */
@Injectable()
export class ClaimedTypes {
  constructor(
    private readonly store: ClaimedTypeStore,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Never fails: the request that brought the token has its own answer. */
  async remember({ principalId, claimedType }: Principal): Promise<void> {
    try {
      await this.store.remember(principalId, claimedType);
    } catch (error) {
      this.logger.warn({ err: error }, 'what a token says of its principal could not be remembered');
    }
  }
}
