import {
  type AccessFacts,
  type Acting,
  type Actor,
  type GrantDirection,
  grantRequestedData,
  type GrantStatus,
  type Scope,
  type SubjectRef,
} from '@iss/domain';
import { type Caps, DEFAULT_CAPS } from '@iss/platform';
import { type Before, before, type ListRow, type Page, type PageRequest, toList } from '../../sql/page';
import type { Sql, TransactionSql } from '../../sql/sql';
import { type Statement, statement } from '../../sql/statement';
import { type GrantRecord, type ListedGrant, type PendingGrantRecord } from './grant-record';
import {
  ANY_TIME,
  FIRST_UUID,
  namedKey,
  type NamedKey,
  type RecordPage,
  recordPage,
  type RecordRow,
  toRecords,
} from '../records/record-page';
import { type EventTrace, type Fact, record } from '../webhooks/record';

/** The maximum number of grants per call of {@link GrantStore.create}. It limits how long others wait for its locks. */
export const GRANTS_AT_ONCE = 64;

export interface GrantToCreate extends SubjectRef {
  grantId: string;
  granteeTenantId: string;
  scopes: readonly Scope[];
  paths: readonly string[] | null;
  startsAt: Date | null;
  expiresAt: Date | null;
  purpose: string | null;
}

/** The new values of a grant. An undefined member stays unchanged. */
export interface GrantChange {
  scopes: readonly Scope[] | undefined;
  /** Null for a grant of everything. */
  paths?: readonly string[] | null | undefined;
  /** Null for a grant that starts at once. */
  startsAt?: Date | null | undefined;
  /** Null for a grant without an expiry. */
  expiresAt: Date | null | undefined;
  purpose: string | null | undefined;
  /** The reason, for the record of the change. */
  reason: string | null;
}

export type GrantOutcome =
  | { kind: 'granted'; grant: GrantRecord }
  /** A second human must confirm it. `eventIds` are the events to announce. */
  | { kind: 'pending'; pending: PendingGrantRecord; eventIds: readonly string[] }
  | {
      kind: 'refused';
      facts: AccessFacts;
      granteeExists: boolean;
      /**
       * True if the pair has a live or a scheduled grant. If false, the number of such grants has reached `cap`, on the subject
       * or on all subjects of the tenant.
       */
      isGranted: boolean;
      cap: number;
    };

const LOCK_SUBJECTS = statement<Acting & { inputs: readonly SubjectRef[] }>('grant_lock_subjects');

/** A grant as an input row. */
interface GrantInput extends SubjectRef {
  grantId: string;
  granteeTenantId: string;
  /** Separated by commas, because PostgreSQL has no arrays of arrays with different lengths. */
  scopes: string;
  /** A JSON array, for the same reason. */
  paths: string | null;
  /** RFC 3339. */
  startsAt: string | null;
  expiresAt: string | null;
  purpose: string | null;
}

const CREATE = statement<
  Actor & { inputs: readonly GrantInput[] } & Pick<Caps, 'live_grants_per_subject' | 'live_grants_per_tenant_to_all'>,
  {
    facts: AccessFacts;
    granteeExists: boolean;
    isGranted: boolean;
    cap: number;
    grant: GrantRecord | null;
    pending: PendingGrantRecord | null;
  }
>('grant_create');

const REVOKE = statement<
  Acting & { grantId: string },
  { facts: AccessFacts; grant: GrantRecord | null; isRevoked: boolean }
>('grant_revoke');

const LOCK_OWN = statement<Acting & { grantId: string }>('grant_lock_own');

const ACCEPT = statement<Acting & { grantId: string }, { facts: AccessFacts; grant: GrantRecord | null }>(
  'grant_accept',
);

const CHANGE = statement<
  Actor & { grantId: string; reason: string | null } & {
    changesScopes: boolean;
    scopes: readonly Scope[];
    changesPaths: boolean;
    paths: string | null;
    changesStart: boolean;
    startsAt: Date | null;
    changesExpiry: boolean;
    expiresAt: Date | null;
    changesPurpose: boolean;
    purpose: string | null;
  },
  {
    facts: AccessFacts;
    grant: GrantRecord | null;
    isDifferent: boolean;
    needsConfirmation: boolean;
    isReversed: boolean;
    isChanged: boolean;
  }
>('grant_change');

/** Selects grants of a list; a null member selects all. */
export interface GrantFilter {
  status: GrantStatus | null;
  granteeTenantId: string | null;
  grantorTenantId: string | null;
  /** One subject, or `ALL_SUBJECTS`. */
  subject: SubjectRef | null;
}

type ListStatement = Statement<
  Actor & RecordPage & NamedKey & Omit<GrantFilter, 'subject'>,
  RecordRow<AccessFacts, ListedGrant>
>;

const list = (name: string): ListStatement => statement(name);

/** The lists by their scope: all grants of the tenant, those with one other tenant, or those on one subject. */
const LISTS: Readonly<Record<GrantDirection, Readonly<Record<'all' | 'pair' | 'subject', ListStatement>>>> = {
  issued: { all: list('grants_issued'), pair: list('grants_issued_to'), subject: list('grants_issued_on') },
  received: { all: list('grants_received'), pair: list('grants_received_from'), subject: list('grants_received_on') },
  offered: { all: list('grants_offered'), pair: list('grants_offered_from'), subject: list('grants_offered_on') },
};

const FIND = statement<Actor & { grantId: string }, { facts: AccessFacts; grant: GrantRecord | null }>('grant_find');
const OF_SUBJECT = statement<Actor & SubjectRef & Before, ListRow<AccessFacts, ListedGrant>>('grants_of_subject');

/** Grants: the permissions of other tenants to read subjects, with scopes and expiry. */
export class GrantStore {
  constructor(
    private readonly sql: Sql,
    private readonly caps: Caps = DEFAULT_CAPS,
  ) {}

  /**
   * Creates each grant if all of this is true (specification, "Grants"):
   * - The caller may manage the grants of the owner.
   * - The grantee exists, and has no live grant on the subject.
   * - The number of live grants is below the cap.
   *
   * A grant that a second human must confirm becomes pending, with an event for the grantor. Takes at most {@link GRANTS_AT_ONCE}, each pair once. The outcomes
   * are independent, and in the order of the grants.
   */
  async create(actor: Acting, grants: readonly GrantToCreate[], trace?: EventTrace): Promise<GrantOutcome[]> {
    return this.sql.transaction(async (sql) => {
      const outcomes = await createGrants(sql, actor, grants, this.caps);
      for (const outcome of outcomes) {
        if (outcome.kind === 'pending') outcome.eventIds = await record(sql, [requestedFact(outcome.pending, trace)]);
      }
      return outcomes;
    });
  }

  /**
   * Revokes a live or scheduled grant of the tenant if the caller may manage grants. No later read sees it. `grant` is null if the tenant has
   * none with this id. `isRevoked` is true if this call revoked it; otherwise `grant` is unchanged.
   */
  revoke(
    actor: Acting,
    grantId: string,
  ): Promise<{ facts: AccessFacts; grant: GrantRecord | null; isRevoked: boolean }> {
    return this.sql.one(REVOKE, { ...actor, grantId });
  }

  /**
   * Changes a live or scheduled grant of the tenant, if the caller may manage grants. A change of anything but the purpose is
   * stored with the previous values. `grant` is null if the tenant has none with this id; it is unchanged if the change was not
   * possible. `isDone` is also true if nothing differs. `needsConfirmation` is true if a second human would have to confirm the
   * change, and `isReversed` if the grant would expire before its start.
   */
  async change(
    actor: Acting,
    grantId: string,
    { scopes, paths, startsAt, expiresAt, purpose, reason }: GrantChange,
  ): Promise<{
    facts: AccessFacts;
    grant: GrantRecord | null;
    isDone: boolean;
    needsConfirmation: boolean;
    isReversed: boolean;
  }> {
    return this.sql.transaction(async (sql) => {
      await sql.run(LOCK_OWN, { ...actor, grantId });
      const { isDifferent, isChanged, ...changed } = await sql.one(CHANGE, {
        ...actor,
        grantId,
        reason,
        changesScopes: scopes !== undefined,
        scopes: scopes ?? [],
        changesPaths: paths !== undefined,
        paths: toJson(paths ?? null),
        changesStart: startsAt !== undefined,
        startsAt: startsAt ?? null,
        changesExpiry: expiresAt !== undefined,
        expiresAt: expiresAt ?? null,
        changesPurpose: purpose !== undefined,
        purpose: purpose ?? null,
      });
      const isDone = isChanged || (!isDifferent && ['active', 'scheduled'].includes(changed.grant?.status ?? ''));
      return { ...changed, isDone };
    });
  }

  /**
   * Returns a page of the tenant's grants, newest first, including ended ones, and the caller's access facts. Only an active
   * member gets any.
   */
  async ofTenant(
    actor: Actor,
    direction: GrantDirection,
    filter: GrantFilter,
    request: PageRequest,
  ): Promise<{ facts: AccessFacts; page: Page<ListedGrant> }> {
    const { subject, ...others } = filter;
    const otherTenantId = direction === 'issued' ? others.granteeTenantId : others.grantorTenantId;
    const scope = subject !== null ? 'subject' : otherTenantId !== null ? 'pair' : 'all';
    const rows = await this.sql.run(LISTS[direction][scope], {
      ...actor,
      ...others,
      ...namedKey(subject),
      ...recordPage(ANY_TIME, request, FIRST_UUID),
    });
    return toRecords(rows, request.limit);
  }

  /**
   * Returns a grant that the tenant issued or received, or null, and the caller's access facts. Only an active member gets it.
   */
  find(actor: Actor, grantId: string): Promise<{ facts: AccessFacts; grant: GrantRecord | null }> {
    return this.sql.one(FIND, { ...actor, grantId });
  }

  /**
   * Accepts a live grant to the tenant, if the caller may accept grants. `grant` is its new state, or null if the tenant received
   * none with this id.
   */
  accept(actor: Acting, grantId: string): Promise<{ facts: AccessFacts; grant: GrantRecord | null }> {
    return this.sql.one(ACCEPT, { ...actor, grantId });
  }

  /** Returns a page of all grants on a subject, newest first, and the caller's access facts. Only its owner gets any. */
  async ofSubject(
    actor: Actor,
    subject: SubjectRef,
    request: PageRequest,
  ): Promise<{ facts: AccessFacts; page: Page<ListedGrant> }> {
    return toList(await this.sql.run(OF_SUBJECT, { ...actor, ...subject, ...before(request) }), request.limit);
  }
}

/** Creates grants, as {@link GrantStore.create}, in a transaction of the caller. */
export async function createGrants(
  sql: TransactionSql,
  actor: Acting,
  grants: readonly GrantToCreate[],
  { live_grants_per_subject, live_grants_per_tenant_to_all }: Caps,
): Promise<GrantOutcome[]> {
  await sql.run(LOCK_SUBJECTS, { ...actor, inputs: grants });
  const rows = await sql.run(CREATE, {
    ...actor,
    inputs: grants.map(toInput),
    live_grants_per_subject,
    live_grants_per_tenant_to_all,
  });
  return rows.map(({ grant, pending, ...refusal }) =>
    grant !== null
      ? { kind: 'granted', grant }
      : pending !== null
        ? { kind: 'pending', pending, eventIds: [] }
        : { kind: 'refused', ...refusal },
  );
}

function requestedFact(pending: PendingGrantRecord, trace: EventTrace | undefined): Fact {
  const { createdAt: at, grantorTenantId } = pending;
  const fact = { at, data: grantRequestedData(pending), tenantIds: [grantorTenantId] };
  return { type: 'grant.requested', ...fact, ...(trace && { trace }) };
}

function toInput({ scopes, paths, startsAt, expiresAt, ...grant }: GrantToCreate): GrantInput {
  const times = { startsAt: startsAt?.toISOString() ?? null, expiresAt: expiresAt?.toISOString() ?? null };
  return { ...grant, ...times, scopes: scopes.join(), paths: toJson(paths) };
}

const toJson = (paths: readonly string[] | null): string | null => paths && JSON.stringify(paths);
