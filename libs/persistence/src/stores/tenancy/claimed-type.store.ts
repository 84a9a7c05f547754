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

/** What the principal's token said when it last called; `human` where no token ever said another. */
export async function findClaimedType(sql: TransactionSql, principalId: string): Promise<PrincipalType> {
  const [found] = await sql.run(FIND, { principalId });
  return found?.claimedType ?? 'human';
}

/** What tokens said that their principals are. */
export class ClaimedTypeStore {
  constructor(private readonly sql: Sql) {}

  /** For the default, `human`, no row is made: most principals never need one. */
  async remember(principalId: string, claimedType: PrincipalType): Promise<void> {
    await this.sql.run(claimedType === 'human' ? CHANGE : PUT, { principalId, claimedType });
  }
}
