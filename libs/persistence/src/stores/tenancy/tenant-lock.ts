import type { Acting } from '@iss/domain';
import type { TransactionSql } from '../../sql/sql';
import { statement } from '../../sql/statement';

const LOCK = statement<Acting>('lock_tenant');

/**
 * Locks the tenant until the end of the transaction, and records the transaction's changes under this actor. The lock serializes
 * changes of members and subscriptions, which depend on rows that may not exist yet. Returns false if there is no such tenant.
 */
export async function lockTenant(sql: TransactionSql, acting: Acting): Promise<boolean> {
  return (await sql.run(LOCK, acting)).length > 0;
}
