import {
  type AccessFacts,
  type Acting,
  type Actor,
  type Confirmation,
  CONFIRMATION_SETTINGS,
  type ConfirmationSetting,
  type EvidencePolicy,
  mayHandOver,
  type MemberStatus,
  OWNER,
  type PrincipalType,
  type Role,
  type TenancyRole,
} from '@iss/domain';
import { type Caps, DEFAULT_CAPS, limitReached } from '@iss/platform';
import { type Columns, columns } from '../../sql/columns';
import { ACTOR, inputRow } from '../../sql/input';
import { type ListRow, type Page, type PageRequest, toList, toPage } from '../../sql/page';
import type { Sql, TransactionSql } from '../../sql/sql';
import { statement } from '../../sql/statement';
import { FACTS, MEMBER_ACCESS } from '../facts/access-facts';
import { capOf, countUpTo } from '../limits/caps';
import { findClaimedType } from './claimed-type.store';
import {
  findMember,
  hasOtherOwner,
  MEMBERSHIP,
  type MembershipRecord,
  type NewMembership,
  putMember,
} from './memberships';
import { ACTING, type ActedBy } from '../records/acting';
import { founderOf } from '../webhooks/pending-delivery';
import { lockTenant } from './tenant-lock';

export type { MembershipRecord, NewMembership } from './memberships';

/** An isolated workspace (specification, "Tenant"). */
export interface TenantRecord {
  tenantId: string;
  name: string;
  slug: string | null;
  chainEnforced: boolean;
  /** The evidence that the tenant demands of its own writes. */
  evidencePolicy: EvidencePolicy;
  /** `required` if a second human must confirm an erasure. */
  erasureConfirmation: Confirmation;
  /** `required` if a second human must confirm a grant on all subjects. */
  grantConfirmation: Confirmation;
  /** Requests to switch a confirmation off that have not taken effect. */
  pendingChanges: readonly PendingChange[];
  createdAt: Date;
}

/** A request to switch off a setting that demands a second human. Times are RFC 3339. */
export interface PendingChange {
  setting: ConfirmationSetting;
  /** Null for the operator. */
  requestedBy: string | null;
  requestedAt: string;
  /** When it takes effect, unless another human confirms it earlier. */
  effectiveAt: string;
}

export type NewTenant = Omit<
  TenantRecord,
  'createdAt' | 'erasureConfirmation' | 'grantConfirmation' | 'pendingChanges'
>;

/** The new values of a tenant. An undefined member stays unchanged, and a null `slug` is removed. */
export interface TenantChange {
  name: string | undefined;
  slug: string | null | undefined;
  chainEnforced: boolean | undefined;
  evidencePolicy: EvidencePolicy | undefined;
  erasureConfirmation: Confirmation | undefined;
  grantConfirmation: Confirmation | undefined;
}

const MEMBER_OF: Readonly<Record<ConfirmationSetting, 'erasureConfirmation' | 'grantConfirmation'>> = {
  erasure_confirmation: 'erasureConfirmation',
  grant_confirmation: 'grantConfirmation',
};

export function confirmationsSetTo(value: Confirmation, change: TenantChange): ConfirmationSetting[] {
  return CONFIRMATION_SETTINGS.filter((setting) => change[MEMBER_OF[setting]] === value);
}

/** A tenant with the roles of the asking principal. */
export interface TenantOfMember {
  tenant: TenantRecord;
  role: Role;
  tenancyRole: TenancyRole;
}

/** An invitation of a principal to a tenant that it has not joined yet. */
export interface InvitationRecord extends Pick<TenantOfMember, 'role' | 'tenancyRole'> {
  tenantId: string;
  tenantName: string;
  /** Null if the service or its operator made it. */
  invitedBy: string | null;
  invitedAt: Date;
}

/** A tenant that may not add the principal. */
export interface TenantBlock {
  tenantId: string;
  blockedAt: Date;
}

/** The facts that decide a change of a member's record. They cannot change until the change is stored. */
export interface MembershipChange {
  caller: MembershipRecord | null;
  target: MembershipRecord | null;
  /** True if the tenant has an active owner other than the target. */
  hasOtherOwner: boolean;
  /** The type in the target's last token; `human` if no token claimed another. */
  claimedType: PrincipalType;
  /** True if the target blocks the tenant. */
  isBlocked: boolean;
}

/** The number of snapshots that a tenant wrote on one UTC day. */
export interface UsageDay {
  /** `YYYY-MM-DD` */
  date: string;
  snapshotWrites: number;
}

const inEffect = (setting: ConfirmationSetting): string =>
  `setting_in_effect(t.${setting}, t.pending_changes -> '${setting}')`;

/** The columns of the tenant `t`. */
const TENANT: Columns<TenantRecord> = {
  tenantId: 't.tenant_id',
  name: 't.name',
  slug: 't.slug',
  chainEnforced: 't.chain_enforced',
  evidencePolicy: 't.evidence_policy',
  erasureConfirmation: inEffect('erasure_confirmation'),
  grantConfirmation: inEffect('grant_confirmation'),
  pendingChanges: `(SELECT coalesce(jsonb_agg(jsonb_build_object('setting', p.key, 'requestedBy', p.value -> 'requested_by',
      'requestedAt', p.value -> 'requested_at', 'effectiveAt', p.value -> 'effective_at') ORDER BY p.key), '[]')
     FROM jsonb_each(t.pending_changes) p WHERE setting_in_effect('required', p.value) = 'required')`,
  createdAt: 't.created_at',
};

const CALLER = `${inputRow(ACTOR)} ${MEMBER_ACCESS}`;

/** Serializes the creation of tenants by one principal, so that each is counted before the next one. */
const LOCK_FOUNDER = statement<ActedBy>(
  'tenant_lock_founder',
  `SELECT pg_advisory_xact_lock(hashtextextended('founder/' || acting.principal_id, 0)) FROM ${ACTING}`,
);

const CREATE = statement<
  NewTenant & Omit<NewMembership, 'tenantId'> & Pick<Caps, 'tenants_per_principal'>,
  { tenant: TenantRecord | null; cap: number }
>(
  'tenant_create',
  `WITH cap AS MATERIALIZED (SELECT ${capOf('tenants_per_principal', ':principalId')} AS value),
made AS (
  INSERT INTO tenants (tenant_id, name, slug, chain_enforced, evidence_policy, founded_by)
  SELECT :tenantId::text, :name::text, :slug::text, :chainEnforced::boolean, :evidencePolicy::text, :principalId::text
    FROM cap
   WHERE ${countUpTo('cap.value', 'FROM tenants f WHERE f.founded_by = :principalId')} < cap.value
  RETURNING *
), founder AS (
  INSERT INTO memberships (tenant_id, principal_id, tenancy_role, api_functional_role, principal_type,
                           allow_counterparty_access, status)
  SELECT t.tenant_id, :principalId, :tenancyRole, :role, :principalType, :allowCounterpartyAccess::boolean, :status
    FROM made t
)
SELECT ${columns(TENANT, 'tenant?')}, cap.value AS cap
  FROM cap LEFT JOIN made t ON true`,
);

const FOUNDER = statement<{ tenantId: string }, { founderId: string }>(
  'tenant_founder',
  `SELECT ${founderOf(':tenantId::text')} AS "founderId"`,
);

const MEMBER_FACTS = statement<Actor, { facts: AccessFacts }>('member_facts', `SELECT ${FACTS} FROM ${CALLER}`);

const OF_PRINCIPAL = statement<{ principalId: string; after: string | number; rows: number }, TenantOfMember>(
  'tenants_of_principal',
  `SELECT ${columns(TENANT, 'tenant')},
  m.api_functional_role AS role, m.tenancy_role AS "tenancyRole"
  FROM memberships m JOIN tenants t ON t.tenant_id = m.tenant_id
 WHERE m.principal_id = :principalId AND m.status = 'active' AND m.tenant_id > :after
 ORDER BY m.tenant_id LIMIT :rows`,
);

const INVITATIONS = statement<{ principalId: string; after: string | number; rows: number }, InvitationRecord>(
  'invitations_of_principal',
  `SELECT t.tenant_id AS "tenantId", t.name AS "tenantName", m.api_functional_role AS role, m.tenancy_role AS "tenancyRole",
  m.invited_by AS "invitedBy", m.invited_at AS "invitedAt"
  FROM memberships m JOIN tenants t ON t.tenant_id = m.tenant_id
 WHERE m.principal_id = :principalId AND m.status = 'pending' AND m.tenant_id > :after
 ORDER BY m.tenant_id LIMIT :rows`,
);

const BLOCKS = statement<{ principalId: string; after: string | number; rows: number }, TenantBlock>(
  'tenant_blocks_of_principal',
  `SELECT b.tenant_id AS "tenantId", b.blocked_at AS "blockedAt" FROM tenant_blocks b
 WHERE b.principal_id = :principalId AND b.tenant_id > :after ORDER BY b.tenant_id LIMIT :rows`,
);

const FIND_BLOCK = statement<{ tenantId: string; targetId: string }>(
  'tenant_block_find',
  'SELECT FROM tenant_blocks b WHERE b.principal_id = :targetId AND b.tenant_id = :tenantId',
);

const BLOCK = statement<Actor>(
  'tenant_block',
  'INSERT INTO tenant_blocks (principal_id, tenant_id) VALUES (:principalId, :tenantId) ON CONFLICT DO NOTHING',
);

const UNBLOCK = statement<Actor>(
  'tenant_unblock',
  'DELETE FROM tenant_blocks b WHERE b.principal_id = :principalId AND b.tenant_id = :tenantId',
);

const FIND = statement<Actor, { facts: AccessFacts; found: TenantOfMember | null }>(
  'tenant_find',
  `SELECT ${FACTS},
  f.role AS "found?.role", f.tenancy_role AS "found?.tenancyRole",
  ${columns(TENANT, 'found?.tenant')}
  FROM ${CALLER} LEFT JOIN tenants t ON t.tenant_id = i.tenant_id`,
);

/** Owners may change everything. Admins may switch a confirmation off only if another principal requested it. */
export interface TenantChangers {
  owners: readonly Role[];
  admins: readonly Role[];
}

const CHANGE = statement<
  Acting &
    TenantChange &
    TenantChangers & {
      changesSlug: boolean;
      byHuman: boolean;
      lifted: readonly ConfirmationSetting[];
      demanded: readonly ConfirmationSetting[];
    },
  { facts: AccessFacts; tenant: TenantRecord | null }
>(
  'tenant_change',
  `WITH facts AS MATERIALIZED (SELECT i.tenant_id, f.* FROM ${CALLER} CROSS JOIN ${ACTING}),
changed AS (
  UPDATE tenants t
     SET name = coalesce(:name, t.name), slug = CASE WHEN :changesSlug::boolean THEN :slug ELSE t.slug END,
         chain_enforced = coalesce(:chainEnforced, t.chain_enforced),
         evidence_policy = coalesce(:evidencePolicy, t.evidence_policy),
         erasure_confirmation = coalesce(:erasureConfirmation, t.erasure_confirmation),
         grant_confirmation = coalesce(:grantConfirmation, t.grant_confirmation),
         pending_changes = t.pending_changes - :demanded::text[]
    FROM facts f
   WHERE t.tenant_id = f.tenant_id AND f.member_status = 'active'
     AND (NOT :byHuman::boolean OR f.principal_type = 'human')
     AND (f.role = ANY (:owners::text[])
          OR f.role = ANY (:admins::text[])
             AND NOT EXISTS (SELECT FROM unnest(:lifted::text[]) AS l(setting)
                              WHERE coalesce(t.pending_changes -> l.setting ->> 'requested_by', :principalId) = :principalId))
  RETURNING t.*
)
SELECT ${FACTS},
  ${columns(TENANT, 'tenant?')}
  FROM facts f LEFT JOIN changed t ON true`,
);

const MEMBERS = statement<
  Actor & { status: MemberStatus | null; after: string | number; rows: number },
  ListRow<AccessFacts, MembershipRecord>
>(
  'members_of_tenant',
  `SELECT ${FACTS},
  ${columns(MEMBERSHIP, 'item?')},
  ARRAY[m.principal_id] AS position
  FROM ${CALLER}
  LEFT JOIN LATERAL (
    SELECT * FROM memberships m
     WHERE m.tenant_id = i.tenant_id AND m.principal_id > :after AND f.member_status = 'active'
       AND (:status::text IS NULL OR m.status = :status)
     ORDER BY m.principal_id LIMIT :rows
  ) m ON true
 ORDER BY m.principal_id`,
);

/**
 * Cancels offers that lost their basis: the maker may no longer hand the tenant over, or the recipient was removed. The offer of
 * a first owner ends when the tenant has an owner.
 */
const CANCEL_OFFERS = statement<{
  tenantId: string;
  principalId: string;
  mayHandOver: boolean;
  isRemoved: boolean;
  isFirstOwner: boolean;
}>(
  'membership_cancel_offers',
  `UPDATE transfer_offers o SET status = 'cancelled', resolved_at = statement_timestamp()
  WHERE o.tenant_id = :tenantId AND o.status = 'pending'
    AND (o.expires_at IS NULL OR o.expires_at > statement_timestamp())
    AND ((o.from_principal_id = :principalId AND NOT :mayHandOver::boolean)
         OR (o.to_principal_id = :principalId AND :isRemoved::boolean)
         OR :isFirstOwner::boolean)`,
);

// Bounds are in milliseconds and inclusive, as JavaScript's clock gives them.
const USAGE = statement<
  Actor & { from: Date; to: Date; readers: readonly Role[] },
  { facts: AccessFacts; day: UsageDay | null }
>(
  'usage_by_day',
  `SELECT ${FACTS},
  u.date AS "day?.date", u.snapshot_writes AS "day?.snapshotWrites"
  FROM (SELECT :tenantId::text AS tenant_id, :principalId::text AS principal_id, :from::timestamptz AS first,
               :to::timestamptz + interval '1 millisecond' AS ending) i ${MEMBER_ACCESS}
  LEFT JOIN LATERAL (
    SELECT to_char(d.day, 'YYYY-MM-DD') AS date, w.snapshot_writes
      FROM generate_series(date_trunc('day', i.first AT TIME ZONE 'UTC'), :to::timestamptz AT TIME ZONE 'UTC', '1 day') d(day)
     CROSS JOIN LATERAL (
       SELECT count(*)::int AS snapshot_writes FROM snapshots s
        WHERE s.tenant_id = i.tenant_id
          AND s.created_at >= greatest(i.first, d.day AT TIME ZONE 'UTC')
          AND s.created_at < least(i.ending, (d.day + interval '1 day') AT TIME ZONE 'UTC')
     ) w
     WHERE f.member_status = 'active' AND f.role = ANY (:readers::text[])
  ) u ON true
 ORDER BY u.date`,
);

function isOwner(member: MembershipRecord | null): boolean {
  return member?.status === 'active' && member.role === OWNER;
}

/** Tenants, their members, and the number of their writes. */
export class TenancyStore {
  constructor(
    private readonly sql: Sql,
    private readonly caps: Caps = DEFAULT_CAPS,
  ) {}

  /** Returns the principal's access facts in the tenant, without a subject. */
  async facts(actor: Actor): Promise<AccessFacts> {
    return (await this.sql.one(MEMBER_FACTS, actor)).facts;
  }

  /** Returns the principal that founded the tenant, or the tenant's id if unknown. It never changes. */
  async founder(tenantId: string): Promise<string> {
    return (await this.sql.one(FOUNDER, { tenantId })).founderId;
  }

  /**
   * Stores a tenant with its founder as first member, in one statement. Throws `conflict` if the id or the slug is taken, and
   * `limit_reached` if the principal founded the maximum number of tenants.
   */
  create(tenant: NewTenant, founder: Omit<NewMembership, 'tenantId'>, requestId: string): Promise<TenantRecord> {
    const { tenants_per_principal } = this.caps;
    return this.sql.transaction(async (sql) => {
      await sql.run(LOCK_FOUNDER, { principalId: founder.principalId, requestId });
      const { tenant: made, cap } = await sql.one(CREATE, { ...tenant, ...founder, tenants_per_principal });
      if (made === null) throw limitReached('tenants_per_principal', cap);
      return made;
    });
  }

  /** Returns the tenants in which the principal is active, by `tenant_id`. */
  async ofPrincipal(principalId: string, { limit, after }: PageRequest): Promise<Page<TenantOfMember>> {
    const rows = await this.sql.run(OF_PRINCIPAL, { principalId, after: after?.[0] ?? '', rows: limit + 1 });
    return toPage(
      rows,
      limit,
      (found) => found,
      ({ tenant }) => [tenant.tenantId],
    );
  }

  /** Returns the tenants that invited the principal, by `tenant_id`. */
  async invitations(principalId: string, { limit, after }: PageRequest): Promise<Page<InvitationRecord>> {
    const rows = await this.sql.run(INVITATIONS, { principalId, after: after?.[0] ?? '', rows: limit + 1 });
    return toPage(
      rows,
      limit,
      (invitation) => invitation,
      ({ tenantId }) => [tenantId],
    );
  }

  /** Returns the tenant with the caller's roles, or null, and the caller's access facts. */
  find(actor: Actor): Promise<{ facts: AccessFacts; found: TenantOfMember | null }> {
    return this.sql.one(FIND, actor);
  }

  /**
   * Changes the tenant if the caller has a role of `changers`; returns a null tenant otherwise. A change of a confirmation also
   * needs a caller that is human by its record. The database delays a change that switches a confirmation off. Throws `conflict`
   * if the slug is taken.
   */
  change(
    actor: Acting,
    change: TenantChange,
    changers: TenantChangers,
  ): Promise<{ facts: AccessFacts; tenant: TenantRecord | null }> {
    const lifted = confirmationsSetTo('off', change);
    const demanded = confirmationsSetTo('required', change);
    const byHuman = lifted.length + demanded.length > 0;
    const changesSlug = change.slug !== undefined;
    return this.sql.one(CHANGE, { ...actor, ...change, ...changers, changesSlug, byHuman, lifted, demanded });
  }

  /**
   * Returns the members' records by `principal_id`, optionally of one status, and the caller's access facts. Only an active
   * member gets any.
   */
  async members(
    actor: Actor,
    status: MemberStatus | null,
    { limit, after }: PageRequest,
  ): Promise<{ facts: AccessFacts; page: Page<MembershipRecord> }> {
    return toList(await this.sql.run(MEMBERS, { ...actor, status, after: after?.[0] ?? '', rows: limit + 1 }), limit);
  }

  /**
   * Changes or creates a member's record. `decide` receives the current records, which stay unchanged until the change is stored.
   * If it throws, nothing changes; it may be called more than once. Pending transfer offers that lose their basis are cancelled.
   * Throws `limit_reached` if the tenant has the maximum of members.
   */
  async changeMembership(
    acting: Acting,
    targetId: string,
    decide: (current: MembershipChange) => NewMembership,
  ): Promise<MembershipRecord> {
    return this.sql.transaction(async (sql) => {
      await lockTenant(sql, acting);
      const current = await this.currentOf(sql, acting, targetId);
      return this.store(sql, acting, current, decide(current));
    });
  }

  /**
   * Prevents the tenant from adding the caller, and ends the caller's membership or invitation. `decide` returns the record to
   * store, or null if there is none. Returns false if there is no such tenant.
   */
  async block(acting: Acting, decide: (current: MembershipChange) => NewMembership | null): Promise<boolean> {
    return this.sql.transaction(async (sql) => {
      if (!(await lockTenant(sql, acting))) return false;
      const current = await this.currentOf(sql, acting, acting.principalId);
      const member = decide(current);
      if (member !== null) await this.store(sql, acting, current, member);
      await sql.run(BLOCK, acting);
      return true;
    });
  }

  /** Allows the tenant to add the caller again. */
  async unblock(actor: Actor): Promise<void> {
    await this.sql.run(UNBLOCK, actor);
  }

  /** Returns the tenants that the principal blocks, by `tenant_id`. */
  async blocks(principalId: string, { limit, after }: PageRequest): Promise<Page<TenantBlock>> {
    const rows = await this.sql.run(BLOCKS, { principalId, after: after?.[0] ?? '', rows: limit + 1 });
    return toPage(
      rows,
      limit,
      (block) => block,
      ({ tenantId }) => [tenantId],
    );
  }

  private async currentOf(
    sql: TransactionSql,
    { tenantId, principalId: callerId }: Acting,
    targetId: string,
  ): Promise<MembershipChange> {
    const caller = await findMember(sql, tenantId, callerId);
    return {
      caller,
      target: callerId === targetId ? caller : await findMember(sql, tenantId, targetId),
      hasOtherOwner: await hasOtherOwner(sql, tenantId, targetId),
      claimedType: await findClaimedType(sql, targetId),
      isBlocked: (await sql.run(FIND_BLOCK, { tenantId, targetId })).length > 0,
    };
  }

  private async store(
    sql: TransactionSql,
    { tenantId, principalId: actingId }: Acting,
    { target, hasOtherOwner: isOwnedByAnother }: MembershipChange,
    changed: NewMembership,
  ): Promise<MembershipRecord> {
    const member = await putMember(sql, changed, { caps: this.caps, actingId });
    await sql.run(CANCEL_OFFERS, {
      tenantId,
      principalId: member.principalId,
      mayHandOver: mayHandOver(member, isOwnedByAnother),
      isRemoved: member.status === 'removed',
      isFirstOwner: isOwner(member) && !isOwner(target) && !isOwnedByAnother,
    });
    return member;
  }

  /**
   * Returns the number of snapshot writes per UTC day from `from` to `to`, zeros included, if the caller has one of the roles
   * `readers`, else no days. Both bounds are inclusive, to the millisecond.
   */
  async usage(
    actor: Actor,
    window: { from: Date; to: Date },
    readers: readonly Role[],
  ): Promise<{ facts: AccessFacts; days: UsageDay[] }> {
    // In turn, because it counts all snapshots of the window.
    const rows = await this.sql.runInTurn(actor.tenantId, USAGE, { ...actor, ...window, readers });
    const [first] = rows;
    if (first === undefined) throw new Error('usage_by_day answered no row');
    return { facts: first.facts, days: rows.map(({ day }) => day).filter((day) => day !== null) };
  }
}
