import type { PrincipalType } from '@iss/domain';
import type { Sql, TransactionSql } from '../../sql/sql';
import { statement } from '../../sql/statement';

interface Claim {
  principalId: string;
  claimedType: PrincipalType;
}

const PUT = statement<Claim>('claimed_type_put');

const CHANGE = statement<Claim>('claimed_type_change');

const FIND = statement<{ principalId: string }, { claimedType: PrincipalType }>('claimed_type_find');

/** Returns the type in the principal's last token; `human` if no token ever claimed another. */
export async function findClaimedType(sql: TransactionSql, principalId: string): Promise<PrincipalType> {
  const [found] = await sql.run(FIND, { principalId });
  return found?.claimedType ?? 'human';
}

/** The principal types that tokens claimed. */
export class ClaimedTypeStore {
  constructor(private readonly sql: Sql) {}

  /** Stores the claimed type. The default `human` creates no row, because most principals never need one. */
  async remember(principalId: string, claimedType: PrincipalType): Promise<void> {
    await this.sql.run(claimedType === 'human' ? CHANGE : PUT, { principalId, claimedType });
  }
}
