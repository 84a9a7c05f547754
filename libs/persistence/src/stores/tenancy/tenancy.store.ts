import type { AccessFacts, Actor, Role, TenancyRole } from '@iss/domain';
import { type Page, type PageRequest, toPage } from '../../sql/page';
import { type Sql, statement } from '../../sql/sql';
import { ACCESS_COLUMNS, type AccessFactsRow, toAccessFacts } from '../facts/access-facts';
import {
  findMember,
  lockMembers,
  MEMBER_ACCESS,
  MEMBERSHIP_COLUMNS,
  type MembershipRecord,
  type MembershipRow,
  type NewMembership,
  putMember,
  toMembership,
} from './memberships';

export type { MembershipRecord, NewMembership } from './memberships';

/** An isolated workspace (specification, "Tenant"). */
export interface TenantRecord {
  tenantId: string;
  name: string;
  slug: string | null;
  chainEnforced: boolean;
  createdAt: Date;
}

export type NewTenant = Omit<TenantRecord, 'createdAt'>;

/** What is to change of a tenant; what is undefined stays, and a `slug` of null is taken away. */
export interface TenantChange {
  name: string | undefined;
  slug: string | null | undefined;
  chainEnforced: boolean | undefined;
}

/** A tenant with what the asking principal is in it. */
export interface TenantOfMember {
  tenant: TenantRecord;
  role: Role;
  tenancyRole: TenancyRole;
}

/** What a change of one member's record is decided by; it stays so until the change is stored. */
export interface MembershipChange {
  caller: MembershipRecord | null;
  target: MembershipRecord | null;
  /** Whether an active tenant_owner besides the target remains. */
  hasOtherOwner: boolean;
}

/** Snapshots that a tenant wrote on one UTC day. */
export interface UsageDay {
  /** `YYYY-MM-DD` */
  date: string;
  snapshotWrites: number;
}

interface TenantRow {
  tenant_id: string;
  name: string;
  slug: string | null;
  chain_enforced: boolean;
  created_at: Date;
}

interface CallerRow {
  role: Role;
  tenancy_role: TenancyRole;
}

interface DayRow {
  date: string;
  snapshot_writes: number;
}

/** A row of an outer join. */
type Maybe<Row> = { [Column in keyof Row]: Row[Column] | null };

const TENANT_COLUMNS = `t.tenant_id, t.name, t.slug, t.chain_enforced, t.created_at`;
const CALLER = `(SELECT $1::text AS tenant_id, $2::text AS principal_id) i ${MEMBER_ACCESS}`;

const CREATE = statement<TenantRow>(
  'tenant_create',
  `WITH made AS (
  INSERT INTO tenants (tenant_id, name, slug, chain_enforced) VALUES ($1, $2, $3, $4) RETURNING *
), founder AS (
  INSERT INTO memberships (tenant_id, principal_id, tenancy_role, api_functional_role, principal_type,
                           allow_counterparty_access, status)
  VALUES ($1, $5, $6, $7, $8, $9, $10)
)
SELECT ${TENANT_COLUMNS} FROM made t`,
);

const FACTS = statement<AccessFactsRow>('member_facts', `SELECT ${ACCESS_COLUMNS} FROM ${CALLER}`);

const OF_PRINCIPAL = statement<TenantRow & CallerRow>(
  'tenants_of_principal',
  `SELECT ${TENANT_COLUMNS}, m.api_functional_role AS role, m.tenancy_role
  FROM memberships m JOIN tenants t ON t.tenant_id = m.tenant_id
 WHERE m.principal_id = $1 AND m.status = 'active' AND m.tenant_id > $2
 ORDER BY m.tenant_id LIMIT $3`,
);

const FIND = statement<AccessFactsRow & Maybe<TenantRow & CallerRow>>(
  'tenant_find',
  `SELECT ${ACCESS_COLUMNS}, f.tenancy_role, ${TENANT_COLUMNS}
  FROM ${CALLER} LEFT JOIN tenants t ON t.tenant_id = i.tenant_id`,
);

const CHANGE = statement<AccessFactsRow & Maybe<TenantRow>>(
  'tenant_change',
  `WITH facts AS MATERIALIZED (SELECT i.tenant_id, ${ACCESS_COLUMNS} FROM ${CALLER}),
changed AS (
  UPDATE tenants t
     SET name = coalesce($4, t.name), slug = CASE WHEN $5::boolean THEN $6 ELSE t.slug END,
         chain_enforced = coalesce($7, t.chain_enforced)
    FROM facts f
   WHERE t.tenant_id = f.tenant_id AND f.member_status = 'active' AND f.role = ANY ($3)
  RETURNING t.*
)
SELECT ${ACCESS_COLUMNS}, ${TENANT_COLUMNS} FROM facts f LEFT JOIN changed t ON true`,
);

const MEMBERS = statement<AccessFactsRow & Maybe<MembershipRow>>(
  'members_of_tenant',
  `SELECT ${ACCESS_COLUMNS}, ${MEMBERSHIP_COLUMNS}
  FROM ${CALLER}
  LEFT JOIN LATERAL (
    SELECT * FROM memberships m
     WHERE m.tenant_id = i.tenant_id AND m.principal_id > $3 AND f.member_status = 'active'
     ORDER BY m.principal_id LIMIT $4
  ) m ON true
 ORDER BY m.principal_id`,
);

// By tenant first: beside the status, the planner would walk the index of all active members.
const OTHER_OWNER = statement<{ principal_id: string }>(
  'membership_other_owner',
  `WITH others AS MATERIALIZED (
  SELECT m.principal_id, m.api_functional_role, m.status FROM memberships m
   WHERE m.tenant_id = $1 AND m.principal_id <> $2
)
SELECT principal_id FROM others WHERE api_functional_role = 'tenant_owner' AND status = 'active' LIMIT 1`,
);

/** An offer ends with what it stands on: its maker's ownership, and the membership that its recipient was removed from. */
const CANCEL_OFFERS = statement(
  'membership_cancel_offers',
  `UPDATE transfer_offers o SET status = 'cancelled', resolved_at = statement_timestamp()
  WHERE o.tenant_id = $1 AND o.status = 'pending' AND (o.expires_at IS NULL OR o.expires_at > statement_timestamp())
    AND ((o.from_principal_id = $2 AND NOT $3::boolean) OR (o.to_principal_id = $2 AND $4::boolean))`,
);

// Bounds are milliseconds and include the last one, as JavaScript's clock gives it.
const USAGE = statement<AccessFactsRow & Maybe<DayRow>>(
  'usage_by_day',
  `SELECT ${ACCESS_COLUMNS}, u.date, u.snapshot_writes
  FROM (SELECT $1::text AS tenant_id, $2::text AS principal_id, $4::timestamptz AS first,
               $5::timestamptz + interval '1 millisecond' AS ending) i ${MEMBER_ACCESS}
  LEFT JOIN LATERAL (
    SELECT to_char(d.day, 'YYYY-MM-DD') AS date, w.snapshot_writes
      FROM generate_series(date_trunc('day', i.first AT TIME ZONE 'UTC'), $5::timestamptz AT TIME ZONE 'UTC', '1 day') d(day)
     CROSS JOIN LATERAL (
       SELECT count(*)::int AS snapshot_writes FROM snapshots s
        WHERE s.tenant_id = i.tenant_id
          AND s.created_at >= greatest(i.first, d.day AT TIME ZONE 'UTC')
          AND s.created_at < least(i.ending, (d.day + interval '1 day') AT TIME ZONE 'UTC')
     ) w
     WHERE f.member_status = 'active' AND f.role = ANY ($3)
  ) u ON true
 ORDER BY u.date`,
);

/** Tenants, their members, and what they wrote. */
export class TenancyStore {
  constructor(private readonly sql: Sql) {}

  /** What the principal may do in the tenant, subjects aside. */
  async facts({ tenantId, principalId }: Actor): Promise<AccessFacts> {
    return toAccessFacts(theRow(await this.sql.run(FACTS, [tenantId, principalId])));
  }

  /** Stores a tenant with its first member, both or neither. Throws `conflict` when the id or the slug is taken. */
  async create(tenant: NewTenant, founder: Omit<NewMembership, 'tenantId'>): Promise<TenantRecord> {
    const rows = await this.sql.run(CREATE, [
      tenant.tenantId,
      tenant.name,
      tenant.slug,
      tenant.chainEnforced,
      founder.principalId,
      founder.tenancyRole,
      founder.role,
      founder.principalType,
      founder.allowCounterpartyAccess,
      founder.status,
    ]);
    return toTenant(theRow(rows));
  }

  /** The tenants in which the principal is active, by `tenant_id`. */
  async ofPrincipal(principalId: string, { limit, after }: PageRequest): Promise<Page<TenantOfMember>> {
    const rows = await this.sql.run(OF_PRINCIPAL, [principalId, after?.[0] ?? '', limit + 1]);
    return toPage(rows, limit, toTenantOfMember, (row) => [row.tenant_id]);
  }

  /** The tenant as its member sees it, null when there is none; and what the caller may do in it. */
  async find({ tenantId, principalId }: Actor): Promise<{ facts: AccessFacts; found: TenantOfMember | null }> {
    const row = theRow(await this.sql.run(FIND, [tenantId, principalId]));
    return { facts: toAccessFacts(row), found: isTenantRow(row) && isCallerRow(row) ? toTenantOfMember(row) : null };
  }

  /** Changes the tenant if the caller holds one of `admins`; null when not. Throws `conflict` when the slug is taken. */
  async change(
    actor: Actor,
    change: TenantChange,
    admins: readonly Role[],
  ): Promise<{ facts: AccessFacts; tenant: TenantRecord | null }> {
    const rows = await this.sql.run(CHANGE, [
      actor.tenantId,
      actor.principalId,
      admins,
      change.name,
      change.slug !== undefined,
      change.slug,
      change.chainEnforced,
    ]);
    const row = theRow(rows);
    return { facts: toAccessFacts(row), tenant: isTenantRow(row) ? toTenant(row) : null };
  }

  /** Members' records by `principal_id`, removed ones included, none to a stranger; and what the caller may do. */
  async members(
    { tenantId, principalId }: Actor,
    { limit, after }: PageRequest,
  ): Promise<{ facts: AccessFacts; page: Page<MembershipRecord> }> {
    const rows = await this.sql.run(MEMBERS, [tenantId, principalId, after?.[0] ?? '', limit + 1]);
    const members = rows.filter(isMembershipRow);
    return {
      facts: toAccessFacts(theRow(rows)),
      page: toPage(members, limit, toMembership, (row) => [row.principal_id]),
    };
  }

  /**
   * Changes or creates one member's record by the rule `decide`, which sees the records as they are and stay until the
   * change is stored; what `decide` throws ends the change, and it may be called more than once. Pending transfer offers
   * that lose their ground are cancelled.
   */
  async changeMembership(
    { tenantId, principalId: callerId }: Actor,
    targetId: string,
    decide: (current: MembershipChange) => NewMembership,
  ): Promise<MembershipRecord> {
    return this.sql.transaction(async (sql) => {
      await lockMembers(sql, tenantId);
      const caller = await findMember(sql, tenantId, callerId);
      const target = callerId === targetId ? caller : await findMember(sql, tenantId, targetId);
      const hasOtherOwner = (await sql.run(OTHER_OWNER, [tenantId, targetId])).length > 0;
      const member = await putMember(sql, decide({ caller, target, hasOtherOwner }));
      const isActive = member.status === 'active';
      await sql.run(CANCEL_OFFERS, [tenantId, targetId, isActive && member.role === 'tenant_owner', !isActive]);
      return member;
    });
  }

  /**
   * Snapshot writes of each UTC day from `from` to `to`, zeros included, if the caller holds one of `readers`, else none.
   * Both bounds are included, to the millisecond.
   */
  async usage(
    actor: Actor,
    window: { from: Date; to: Date },
    readers: readonly Role[],
  ): Promise<{ facts: AccessFacts; days: UsageDay[] }> {
    const values = [actor.tenantId, actor.principalId, readers, window.from, window.to];
    const rows = await this.sql.run(USAGE, values);
    return {
      facts: toAccessFacts(theRow(rows)),
      days: rows.filter(isDayRow).map((row) => ({ date: row.date, snapshotWrites: row.snapshot_writes })),
    };
  }
}

/** The row that holds the facts: these statements answer one at least. */
function theRow<Row>([row]: readonly Row[]): Row {
  if (row === undefined) throw new Error('a statement about a tenant answered no row');
  return row;
}

function isTenantRow<Row extends Maybe<TenantRow>>(row: Row): row is Row & TenantRow {
  return row.tenant_id !== null;
}

function isCallerRow<Row extends Maybe<CallerRow>>(row: Row): row is Row & CallerRow {
  return row.role !== null;
}

function isMembershipRow<Row extends Maybe<MembershipRow>>(row: Row): row is Row & MembershipRow {
  return row.principal_id !== null;
}

function isDayRow<Row extends Maybe<DayRow>>(row: Row): row is Row & DayRow {
  return row.date !== null;
}

function toTenant(row: TenantRow): TenantRecord {
  return {
    tenantId: row.tenant_id,
    name: row.name,
    slug: row.slug,
    chainEnforced: row.chain_enforced,
    createdAt: row.created_at,
  };
}

function toTenantOfMember(row: TenantRow & CallerRow): TenantOfMember {
  return { tenant: toTenant(row), role: row.role, tenancyRole: row.tenancy_role };
}
