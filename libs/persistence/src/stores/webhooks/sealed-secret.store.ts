import type { Sql } from '../../sql/sql';
import { statement } from '../../sql/statement';

/** The sealed secrets of one webhook subscription, deleted or not. */
export interface SealedSecrets {
  /** Bare UUID; the associated data of both secrets. */
  subscriptionId: string;
  secret: string;
  /** The previous secret during the grace period of a rotation, else null. */
  previousSecret: string | null;
  /** True if a previous secret is stored after its grace period. */
  hasExpiredSecret: boolean;
}

export interface ResealedSecrets {
  subscriptionId: string;
  /** The secret that was read. If it has changed since, the secrets were rotated. */
  oldSecret: string;
  secret: string;
  previousSecret: string | null;
}

const PAGE = statement<{ afterSubscriptionId: string | null; limit: number }, SealedSecrets>('sealed_secret_page');

const RESEAL = statement<{ inputs: readonly ResealedSecrets[] }, { subscriptionId: string }>('sealed_secret_reseal');

/** Sealed webhook secrets, for a change of the sealing key. */
export class SealedSecretStore {
  constructor(private readonly sql: Sql) {}

  /** Returns the secrets of the `limit` subscriptions after an id, or of the first ones if it is null. */
  page(afterSubscriptionId: string | null, limit: number): Promise<SealedSecrets[]> {
    return this.sql.run(PAGE, { afterSubscriptionId, limit });
  }

  /** Replaces the old secrets, unless they were rotated meanwhile. Returns the number of replaced secrets. */
  async reseal(secrets: readonly ResealedSecrets[]): Promise<number> {
    return (await this.sql.run(RESEAL, { inputs: secrets })).length;
  }
}
