import { type MemberStatus, OWNER, type PrincipalType, type Role, type TenancyRole } from '@iss/domain';
import { type Caps, limitReached } from '@iss/platform';
import { type Columns, columns } from '../../sql/columns';
import type { TransactionSql } from '../../sql/sql';
import { statement } from '../../sql/statement';
import { capOf, countUpTo } from '../limits/caps';

/** A principal's access record in one tenant (specification, "Principal access record"). */
export interface MembershipRecord {
  tenantId: string;
  principalId: string;
  tenancyRole: TenancyRole;
  role: Role;
  principalType: PrincipalType;
  allowCounterpartyAccess: boolean;
  status: MemberStatus;
  createdAt: Date;
}

export type NewMembership = Omit<MembershipRecord, 'createdAt'>;

/** The columns of the membership `m`. */
export const MEMBERSHIP: Columns<MembershipRecord> = {
  principalId: 'm.principal_id',
  tenantId: 'm.tenant_id',
  tenancyRole: 'm.tenancy_role',
  role: 'm.api_functional_role',
  principalType: 'm.principal_type',
  allowCounterpartyAccess: 'm.allow_counterparty_access',
  status: 'm.status',
  createdAt: 'm.created_at',
};

const FIND = statement<{ tenantId: string; principalId: string }, MembershipRecord>(
  'membership_find',
  `SELECT ${columns(MEMBERSHIP)}
  FROM memberships m WHERE m.tenant_id = :tenantId AND m.principal_id = :principalId`,
);

/** Returns the principal's record, removed or not; null if it never had one. */
export async function findMember(
  sql: TransactionSql,
  tenantId: string,
  principalId: string,
): Promise<MembershipRecord | null> {
  const [member = null] = await sql.run(FIND, { tenantId, principalId });
  return member;
}

// By tenant first, because with a condition on the status the planner would scan the index of all active members.
const OTHER_OWNER = statement<{ tenantId: string; principalId: string }, { principalId: string }>(
  'membership_other_owner',
  `WITH others AS MATERIALIZED (
  SELECT m.principal_id, m.api_functional_role, m.status FROM memberships m
   WHERE m.tenant_id = :tenantId AND m.principal_id <> :principalId
)
SELECT principal_id AS "principalId" FROM others
 WHERE api_functional_role = '${OWNER}' AND status = 'active' LIMIT 1`,
);

/** Returns true if the tenant has an active owner other than this principal. */
export async function hasOtherOwner(sql: TransactionSql, tenantId: string, principalId: string): Promise<boolean> {
  return (await sql.run(OTHER_OWNER, { tenantId, principalId })).length > 0;
}

/**
 * Stores a member. One that is already active or invited needs no further place. The tenant is locked, so no other member takes a
 * place meanwhile.
 */
const PUT = statement<
  NewMembership & Pick<Caps, 'members_per_tenant'> & { actingId: string },
  { member: MembershipRecord | null; cap: number }
>(
  'membership_put',
  `WITH cap AS MATERIALIZED (SELECT ${capOf('members_per_tenant', ':tenantId')} AS value),
put AS (
  INSERT INTO memberships AS m (tenant_id, principal_id, tenancy_role, api_functional_role, principal_type,
                                allow_counterparty_access, status, invited_by, invited_at)
  SELECT :tenantId::text, :principalId::text, :tenancyRole::text, :role::text, :principalType::text,
         :allowCounterpartyAccess::boolean, :status::text, CASE :status WHEN 'pending' THEN :actingId::text END,
         CASE :status WHEN 'pending' THEN statement_timestamp() END
    FROM cap
   WHERE CASE WHEN :status::text <> 'removed'
                   AND coalesce((SELECT held.status FROM memberships held
                                  WHERE held.tenant_id = :tenantId AND held.principal_id = :principalId LIMIT 1), 'removed') = 'removed'
              THEN ${countUpTo(
                'cap.value',
                `FROM memberships c WHERE c.tenant_id = :tenantId AND c.status <> 'removed'`,
              )} < cap.value
              ELSE true END
  ON CONFLICT (tenant_id, principal_id) DO UPDATE
     SET tenancy_role = excluded.tenancy_role, api_functional_role = excluded.api_functional_role,
         principal_type = excluded.principal_type, allow_counterparty_access = excluded.allow_counterparty_access,
         status = excluded.status,
         invited_by = CASE WHEN m.status = 'removed' THEN excluded.invited_by ELSE m.invited_by END,
         invited_at = CASE WHEN m.status = 'removed' THEN excluded.invited_at ELSE m.invited_at END
  RETURNING *
)
SELECT ${columns(MEMBERSHIP, 'member?')}, cap.value AS cap
  FROM cap LEFT JOIN put m ON true`,
);

/**
 * Replaces the record of the principal, or stores its first one. An invitation keeps its author. Throws `limit_reached` if the
 * tenant has the maximum of active and invited members.
 */
export async function putMember(
  sql: TransactionSql,
  member: NewMembership,
  { caps: { members_per_tenant }, actingId }: { caps: Caps; actingId: string },
): Promise<MembershipRecord> {
  const put = await sql.one(PUT, { ...member, members_per_tenant, actingId });
  if (put.member === null) throw limitReached('members_per_tenant', put.cap);
  return put.member;
}
