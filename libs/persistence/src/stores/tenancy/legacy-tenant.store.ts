import { RULES } from '@iss/domain';
import type { Sql } from '../../sql/sql';
import { statement } from '../../sql/statement';

const ENSURE = statement<{ tenantId: string; writerId: string }>(
  'legacy_tenant_ensure',
  `WITH made AS (
  INSERT INTO tenants (tenant_id, name) VALUES (:tenantId, 'Legacy entity states') ON CONFLICT DO NOTHING
)
INSERT INTO memberships (tenant_id, principal_id, api_functional_role, principal_type)
VALUES (:tenantId, :writerId, '${RULES.submitFirstState.role}', 'service_account') ON CONFLICT DO NOTHING`,
);

/** The tenant that owns what is written without naming a tenant. */
export class LegacyTenantStore {
  constructor(private readonly sql: Sql) {}

  /** Makes the tenant, and the principal one who may write there, where they are not yet: however many processes ask at once. */
  async ensure(tenantId: string, writerId: string): Promise<void> {
    await this.sql.run(ENSURE, { tenantId, writerId });
  }
}
