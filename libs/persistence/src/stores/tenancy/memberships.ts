import { type MemberStatus, type PrincipalType, type Role, type TenancyRole } from '@iss/domain';
import { type Caps, limitReached } from '@iss/platform';
import type { TransactionSql } from '../../sql/sql';
import { statement } from '../../sql/statement';

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

const FIND = statement<{ tenantId: string; principalId: string }, MembershipRecord>('membership_find');

/** Returns the principal's record, removed or not; null if it never had one. */
export async function findMember(
  sql: TransactionSql,
  tenantId: string,
  principalId: string,
): Promise<MembershipRecord | null> {
  const [member = null] = await sql.run(FIND, { tenantId, principalId });
  return member;
}

const OTHER_OWNER = statement<{ tenantId: string; principalId: string }, { principalId: string }>(
  'membership_other_owner',
);

/** Returns true if the tenant has an active owner other than this principal. */
export async function hasOtherOwner(sql: TransactionSql, tenantId: string, principalId: string): Promise<boolean> {
  return (await sql.run(OTHER_OWNER, { tenantId, principalId })).length > 0;
}

const PUT = statement<
  NewMembership & Pick<Caps, 'members_per_tenant'> & { actingId: string },
  { member: MembershipRecord | null; cap: number }
>('membership_put');

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
