import { type Sql, statement } from '../../sql/sql';

const ENSURE = statement(
  'legacy_tenant_ensure',
  `WITH made AS (
  INSERT INTO tenants (tenant_id, name) VALUES ($1, 'Legacy entity states') ON CONFLICT DO NOTHING
)
INSERT INTO memberships (tenant_id, principal_id, api_functional_role, principal_type)
VALUES ($1, $2, 'tenant_editor', 'service_account') ON CONFLICT DO NOTHING`,
);

/** The tenant that owns what is written without naming a tenant. */
export class LegacyTenantStore {
  constructor(private readonly sql: Sql) {}

  /** Makes the tenant, and the principal one of its editors, where they are not yet: however many processes ask at once. */
  async ensure(tenantId: string, writerId: string): Promise<void> {
    await this.sql.run(ENSURE, [tenantId, writerId]);
  }
}
