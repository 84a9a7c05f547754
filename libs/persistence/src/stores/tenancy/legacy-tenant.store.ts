import { OWNER, RULES } from '@iss/domain';
import type { Sql } from '../../sql/sql';
import { statement } from '../../sql/statement';

const ENSURE = statement<{ tenantId: string; writerId: string; ownerId: string | null }>(
  'legacy_tenant_ensure',
  `WITH made AS (
  INSERT INTO tenants (tenant_id, name) VALUES (:tenantId, 'Legacy entity states') ON CONFLICT DO NOTHING
)
INSERT INTO memberships (tenant_id, principal_id, tenancy_role, api_functional_role, principal_type)
SELECT :tenantId, member.*
  FROM (VALUES (:writerId, 'member', '${RULES.submitFirstState.role}', 'service_account'),
               (:ownerId, 'account_admin', '${OWNER}', 'human')) member (principal_id)
 WHERE member.principal_id IS NOT NULL
 ORDER BY member.principal_id
    ON CONFLICT DO NOTHING`,
);

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
