import { type MemberStatus, OWNER, type PrincipalType, type Role, type TenancyRole } from '@iss/domain';
import { type Columns, columns } from '../../sql/columns';
import type { TransactionSql } from '../../sql/sql';
import { statement } from '../../sql/statement';

/** One principal's access record in one tenant (specification, "Principal access record"). */
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

/** Columns of the membership `m`. */
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

const LOCK = statement<{ tenantId: string }>(
  'membership_lock',
  'SELECT FROM tenants WHERE tenant_id = :tenantId FOR NO KEY UPDATE',
);

/** Who belongs to a tenant changes one change after the other: each is decided by records that may not exist yet. */
export async function lockMembers(sql: TransactionSql, tenantId: string): Promise<void> {
  await sql.run(LOCK, { tenantId });
}

const FIND = statement<{ tenantId: string; principalId: string }, MembershipRecord>(
  'membership_find',
  `SELECT ${columns(MEMBERSHIP)}
  FROM memberships m WHERE m.tenant_id = :tenantId AND m.principal_id = :principalId`,
);

/** The principal's record, removed or not; null when it never had one. */
export async function findMember(
  sql: TransactionSql,
  tenantId: string,
  principalId: string,
): Promise<MembershipRecord | null> {
  const [member = null] = await sql.run(FIND, { tenantId, principalId });
  return member;
}

// By tenant first: beside the status, the planner would walk the index of all active members.
const OTHER_OWNER = statement<{ tenantId: string; principalId: string }, { principalId: string }>(
  'membership_other_owner',
  `WITH others AS MATERIALIZED (
  SELECT m.principal_id, m.api_functional_role, m.status FROM memberships m
   WHERE m.tenant_id = :tenantId AND m.principal_id <> :principalId
)
SELECT principal_id AS "principalId" FROM others
 WHERE api_functional_role = '${OWNER}' AND status = 'active' LIMIT 1`,
);

/** Whether the tenant has an active owner besides this principal. */
export async function hasOtherOwner(sql: TransactionSql, tenantId: string, principalId: string): Promise<boolean> {
  return (await sql.run(OTHER_OWNER, { tenantId, principalId })).length > 0;
}

const PUT = statement<NewMembership, MembershipRecord>(
  'membership_put',
  `INSERT INTO memberships AS m (tenant_id, principal_id, tenancy_role, api_functional_role, principal_type,
                                 allow_counterparty_access, status)
  VALUES (:tenantId, :principalId, :tenancyRole, :role, :principalType, :allowCounterpartyAccess, :status)
  ON CONFLICT (tenant_id, principal_id) DO UPDATE
     SET tenancy_role = excluded.tenancy_role, api_functional_role = excluded.api_functional_role,
         principal_type = excluded.principal_type, allow_counterparty_access = excluded.allow_counterparty_access,
         status = excluded.status
  RETURNING ${columns(MEMBERSHIP)}`,
);

/** Stores the record in place of the one before, if any. */
export function putMember(sql: TransactionSql, member: NewMembership): Promise<MembershipRecord> {
  return sql.one(PUT, member);
}
