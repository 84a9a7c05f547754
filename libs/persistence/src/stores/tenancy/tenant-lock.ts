import type { Acting } from '@iss/domain';
import type { TransactionSql } from '../../sql/sql';
import { statement } from '../../sql/statement';
import { ACTING } from '../records/acting';

const LOCK = statement<Acting>(
  'lock_tenant',
  `SELECT FROM tenants t CROSS JOIN ${ACTING} WHERE t.tenant_id = :tenantId FOR NO KEY UPDATE OF t`,
);

/**
 * What a tenant has of members and subscriptions changes one change after the other, to the end of the transaction: each is
 * decided by rows that may not exist yet. What the transaction changes from here on is recorded as this actor's deed.
 * Returns false where there is no such tenant.
 */
export async function lockTenant(sql: TransactionSql, acting: Acting): Promise<boolean> {
  return (await sql.run(LOCK, acting)).length > 0;
}
