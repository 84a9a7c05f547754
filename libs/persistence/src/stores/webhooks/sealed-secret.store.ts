import type { Sql } from '../../sql/sql';
import { type Statement, statement } from '../../sql/statement';

/** The sealed secrets of one webhook subscription, deleted or not, or of one issuing key. */
export interface SealedSecrets {
  /** The bare UUID of the subscription, or the kid: the associated data of the secrets. */
  id: string;
  secret: string;
  /** The previous secret during the grace period of a rotation, else null. */
  previousSecret: string | null;
  /** True if a previous secret is stored after its grace period. */
  hasExpiredSecret: boolean;
}

export interface ResealedSecrets {
  id: string;
  /** The secret that was read. If it has changed since, the secrets were rotated. */
  oldSecret: string;
  secret: string;
  previousSecret: string | null;
}

type Page = Statement<{ afterId: string | null; limit: number }, SealedSecrets>;
type Reseal = Statement<{ inputs: readonly ResealedSecrets[] }, { id: string }>;

const STATEMENTS: Record<'webhooks' | 'issuing_keys', { page: Page; reseal: Reseal }> = {
  webhooks: { page: statement('sealed_secret_page'), reseal: statement('sealed_secret_reseal') },
  issuing_keys: { page: statement('sealed_issuing_key_page'), reseal: statement('sealed_issuing_key_reseal') },
};

/** Sealed secrets of one kind, for a change of the sealing key. */
export class SealedSecretStore {
  constructor(
    private readonly sql: Sql,
    private readonly kind: keyof typeof STATEMENTS = 'webhooks',
  ) {}

  /** Returns the secrets of the `limit` owners after an id, or of the first ones if it is null. */
  page(afterId: string | null, limit: number): Promise<SealedSecrets[]> {
    return this.sql.run(STATEMENTS[this.kind].page, { afterId, limit });
  }

  /** Replaces the old secrets, unless they were rotated meanwhile. Returns the number of replaced secrets. */
  async reseal(secrets: readonly ResealedSecrets[]): Promise<number> {
    return (await this.sql.run(STATEMENTS[this.kind].reseal, { inputs: secrets })).length;
  }
}
