import type { Sql } from '../../sql/sql';
import { statement } from '../../sql/statement';

const ENSURE = statement<{ tenantId: string; writerId: string; ownerId: string | null }>('legacy_tenant_ensure');

/** The tenant that owns the subjects of writes without a tenant. */
export class LegacyTenantStore {
  constructor(private readonly sql: Sql) {}

  /**
   * Creates the tenant, the principal that may write there, and its owner if one is named. Existing rows stay unchanged, and
   * concurrent calls are safe.
   */
  async ensure(tenant: { tenantId: string; writerId: string; ownerId: string | null }): Promise<void> {
    await this.sql.run(ENSURE, tenant);
  }
}
