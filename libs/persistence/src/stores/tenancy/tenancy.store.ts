import {
  type AccessFacts,
  type Acting,
  type Actor,
  changeRequestedData,
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
import { type ListRow, type Page, type PageRequest, toList, toPage } from '../../sql/page';
import type { Sql, TransactionSql } from '../../sql/sql';
import { statement } from '../../sql/statement';
import { findClaimedType } from './claimed-type.store';
import { findMember, hasOtherOwner, type MembershipRecord, type NewMembership, putMember } from './memberships';
import { type ActedBy } from '../records/acting';
import { type EventTrace, record } from '../webhooks/record';
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

const LOCK_FOUNDER = statement<ActedBy>('tenant_lock_founder');

const CREATE = statement<
  NewTenant & Omit<NewMembership, 'tenantId'> & Pick<Caps, 'tenants_per_principal'>,
  { tenant: TenantRecord | null; cap: number }
>('tenant_create');

const FOUNDER = statement<{ tenantId: string }, { founderId: string }>('tenant_founder');

const MEMBER_FACTS = statement<Actor, { facts: AccessFacts }>('member_facts');

const OF_PRINCIPAL = statement<{ principalId: string; after: string | number; rows: number }, TenantOfMember>(
  'tenants_of_principal',
);

const INVITATIONS = statement<{ principalId: string; after: string | number; rows: number }, InvitationRecord>(
  'invitations_of_principal',
);

const BLOCKS = statement<{ principalId: string; after: string | number; rows: number }, TenantBlock>(
  'tenant_blocks_of_principal',
);

const FIND_BLOCK = statement<{ tenantId: string; targetId: string }>('tenant_block_find');

const BLOCK = statement<Actor>('tenant_block');

const UNBLOCK = statement<Actor>('tenant_unblock');

const FIND = statement<Actor, { facts: AccessFacts; found: TenantOfMember | null }>('tenant_find');

const CHANGE = statement<
  Acting &
    TenantChange & {
      changesSlug: boolean;
      byHuman: boolean;
      byMachine: boolean;
      lifted: readonly ConfirmationSetting[];
      demanded: readonly ConfirmationSetting[];
    },
  { facts: AccessFacts; tenant: TenantRecord | null; at: Date; requested: readonly PendingChange[] | null }
>('tenant_change');

const MEMBERS = statement<
  Actor & { status: MemberStatus | null; after: string | number; rows: number },
  ListRow<AccessFacts, MembershipRecord>
>('members_of_tenant');

const CANCEL_OFFERS = statement<{
  tenantId: string;
  principalId: string;
  mayHandOver: boolean;
  isRemoved: boolean;
  isFirstOwner: boolean;
}>('membership_cancel_offers');

const USAGE = statement<Actor & { from: Date; to: Date }, { facts: AccessFacts; day: UsageDay | null }>('usage_by_day');

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
   * Changes the tenant if the caller may; returns a null tenant otherwise, and if `byMachine` is true. Owners may change
   * everything. Admins may switch a confirmation off only if another principal requested it. A change of a confirmation also
   * needs a caller that is human by its record. The database delays a change that switches a confirmation off, and the tenant
   * gets an event for it. Throws `conflict` if the slug is taken.
   */
  change(
    actor: Acting,
    change: TenantChange,
    byMachine: boolean,
    trace: EventTrace,
  ): Promise<{ facts: AccessFacts; tenant: TenantRecord | null; eventIds: readonly string[] }> {
    const lifted = confirmationsSetTo('off', change);
    const demanded = confirmationsSetTo('required', change);
    const byHuman = lifted.length + demanded.length > 0;
    const changesSlug = change.slug !== undefined;
    return this.sql.transaction(async (sql) => {
      const parameters = { ...actor, ...change, byMachine, changesSlug, byHuman, lifted, demanded };
      const { facts, tenant, at, requested } = await sql.one(CHANGE, parameters);
      const tenantIds = [actor.tenantId];
      const eventIds = await record(
        sql,
        (requested ?? []).map((one) => ({
          type: 'tenant.change_requested',
          at,
          data: changeRequestedData(one),
          tenantIds,
          trace,
        })),
      );
      return { facts, tenant, eventIds };
    });
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
   * Returns the number of snapshot writes per UTC day from `from` to `to`, zeros included, if the caller may read usage,
   * else no days. Both bounds are inclusive, to the millisecond.
   */
  async usage(actor: Actor, window: { from: Date; to: Date }): Promise<{ facts: AccessFacts; days: UsageDay[] }> {
    // In turn, because it counts all snapshots of the window.
    const rows = await this.sql.runInTurn(actor.tenantId, USAGE, { ...actor, ...window });
    const [first] = rows;
    if (first === undefined) throw new Error('usage_by_day answered no row');
    return { facts: first.facts, days: rows.map(({ day }) => day).filter((day) => day !== null) };
  }
}
