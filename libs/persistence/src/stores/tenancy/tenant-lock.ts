import type { TransactionSql } from '../../sql/sql';
import { statement } from '../../sql/statement';

const LOCK = statement<{ tenantId: string }>(
  'lock_tenant',
  'SELECT FROM tenants WHERE tenant_id = :tenantId FOR NO KEY UPDATE',
);

/**
 * What a tenant has of members and subscriptions changes one change after the other, to the end of the transaction: each is
 * decided by rows that may not exist yet.
 */
export async function lockTenant(sql: TransactionSql, tenantId: string): Promise<void> {
  await sql.run(LOCK, { tenantId });
}
