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

/** The tenant that owns what is written without naming a tenant. */
export class LegacyTenantStore {
  constructor(private readonly sql: Sql) {}

  /**
   * Makes the tenant, the principal who may write there, and its owner where one is named. What is there stays as it is,
   * whatever became of it, and however many processes ask at once.
   */
  async ensure(tenant: { tenantId: string; writerId: string; ownerId: string | null }): Promise<void> {
    await this.sql.run(ENSURE, tenant);
  }
}
