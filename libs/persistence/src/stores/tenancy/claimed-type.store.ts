import type { PrincipalType } from '@iss/domain';
import type { Sql, TransactionSql } from '../../sql/sql';
import { statement } from '../../sql/statement';

interface Claim {
  principalId: string;
  claimedType: PrincipalType;
}

const PUT = statement<Claim>(
  'claimed_type_put',
  `INSERT INTO claimed_types (principal_id, claimed_type) VALUES (:principalId, :claimedType)
  ON CONFLICT (principal_id) DO UPDATE SET claimed_type = excluded.claimed_type, seen_at = excluded.seen_at`,
);

const CHANGE = statement<Claim>(
  'claimed_type_change',
  `UPDATE claimed_types SET claimed_type = :claimedType, seen_at = now() WHERE principal_id = :principalId`,
);

const FIND = statement<{ principalId: string }, { claimedType: PrincipalType }>(
  'claimed_type_find',
  'SELECT c.claimed_type AS "claimedType" FROM claimed_types c WHERE c.principal_id = :principalId',
);

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
