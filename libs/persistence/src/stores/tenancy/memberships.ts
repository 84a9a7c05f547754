import type { MemberStatus, PrincipalType, Role, TenancyRole } from '@iss/domain';
import { statement, type TransactionSql } from '../../sql/sql';

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

export interface MembershipRow {
  tenant_id: string;
  principal_id: string;
  tenancy_role: TenancyRole;
  api_functional_role: Role;
  principal_type: PrincipalType;
  allow_counterparty_access: boolean;
  status: MemberStatus;
  created_at: Date;
}

export const MEMBERSHIP_COLUMNS = `m.tenant_id, m.principal_id, m.tenancy_role, m.api_functional_role, m.principal_type,
  m.allow_counterparty_access, m.status, m.created_at`;

/** Facts about `i.principal_id` acting for `i.tenant_id`, subjects aside, as `f`. */
export const MEMBER_ACCESS = `
LEFT JOIN LATERAL (
  SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access, m.tenancy_role,
         NULL::boolean AS owns_subject, NULL::text[] AS grant_scopes
    FROM memberships m
   WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id
) f ON true`;

export function toMembership(row: MembershipRow): MembershipRecord {
  return {
    tenantId: row.tenant_id,
    principalId: row.principal_id,
    tenancyRole: row.tenancy_role,
    role: row.api_functional_role,
    principalType: row.principal_type,
    allowCounterpartyAccess: row.allow_counterparty_access,
    status: row.status,
    createdAt: row.created_at,
  };
}

const LOCK = statement('membership_lock', 'SELECT FROM tenants WHERE tenant_id = $1 FOR NO KEY UPDATE');

/** Who belongs to a tenant changes one change after the other: each is decided by records that may not exist yet. */
export async function lockMembers(sql: TransactionSql, tenantId: string): Promise<void> {
  await sql.run(LOCK, [tenantId]);
}

const FIND = statement<MembershipRow>(
  'membership_find',
  `SELECT ${MEMBERSHIP_COLUMNS} FROM memberships m WHERE m.tenant_id = $1 AND m.principal_id = $2`,
);

/** The principal's record, removed or not; null when it never had one. */
export async function findMember(
  sql: TransactionSql,
  tenantId: string,
  principalId: string,
): Promise<MembershipRecord | null> {
  const [row] = await sql.run(FIND, [tenantId, principalId]);
  return row === undefined ? null : toMembership(row);
}

const PUT = statement<MembershipRow>(
  'membership_put',
  `INSERT INTO memberships AS m (tenant_id, principal_id, tenancy_role, api_functional_role, principal_type,
                                 allow_counterparty_access, status)
  VALUES ($1, $2, $3, $4, $5, $6, $7)
  ON CONFLICT (tenant_id, principal_id) DO UPDATE
     SET tenancy_role = excluded.tenancy_role, api_functional_role = excluded.api_functional_role,
         principal_type = excluded.principal_type, allow_counterparty_access = excluded.allow_counterparty_access,
         status = excluded.status
  RETURNING ${MEMBERSHIP_COLUMNS}`,
);

/** Stores the record in place of the one before, if any. */
export async function putMember(sql: TransactionSql, member: NewMembership): Promise<MembershipRecord> {
  const [row] = await sql.run(PUT, [
    member.tenantId,
    member.principalId,
    member.tenancyRole,
    member.role,
    member.principalType,
    member.allowCounterpartyAccess,
    member.status,
  ]);
  if (row === undefined) throw new Error('membership_put answered no row');
  return toMembership(row);
}
