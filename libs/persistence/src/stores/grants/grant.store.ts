import {
  type AccessFacts,
  type Acting,
  type Actor,
  ALL_SUBJECTS,
  type GrantStatus,
  type Role,
  type Scope,
  type SubjectRef,
} from '@iss/domain';
import { type Caps, DEFAULT_CAPS } from '@iss/platform';
import { columns } from '../../sql/columns';
import { ACTOR, inputRow, inputRows, SUBJECT } from '../../sql/input';
import { type Before, before, type ListRow, newestFirst, type Page, type PageRequest, toList } from '../../sql/page';
import type { Sql, TransactionSql } from '../../sql/sql';
import { type Statement, statement } from '../../sql/statement';
import {
  FACTS,
  grantedColumns,
  isLiveGrant,
  isLiveGrantToAll,
  LIVE_GRANT,
  MEMBER_ACCESS,
  ownerAccess,
  TENANT_ACCESS,
  TO_ALL,
} from '../facts/access-facts';
import { NAMED_KEY, NAMED_SUBJECT } from '../facts/joins';
import {
  ACCEPTED,
  grantColumns,
  type GrantRecord,
  grantStatus,
  type ListedGrant,
  listedGrantColumns,
  type PendingGrantRecord,
} from './grant-record';
import { capOf, countUpTo } from '../limits/caps';
import { ACTING } from '../records/acting';
import {
  ANY_TIME,
  FIRST_UUID,
  namedKey,
  type NamedKey,
  type KeyedScope,
  newestRecords,
  type RecordPage,
  recordPage,
  type RecordRow,
  toRecords,
} from '../records/record-page';

/** The maximum number of grants per call of {@link GrantStore.create}. It limits how long others wait for its locks. */
export const GRANTS_AT_ONCE = 64;

export interface GrantToCreate extends SubjectRef {
  grantId: string;
  granteeTenantId: string;
  scopes: readonly Scope[];
  expiresAt: Date | null;
  purpose: string | null;
}

/** The new values of a grant. An undefined member stays unchanged. */
export interface GrantChange {
  scopes: readonly Scope[] | undefined;
  /** Null for a grant without an expiry. */
  expiresAt: Date | null | undefined;
  purpose: string | null | undefined;
  /** The reason, for the record of the change. */
  reason: string | null;
}

export type GrantOutcome =
  | { kind: 'granted'; grant: GrantRecord }
  /** A second human must confirm it. */
  | { kind: 'pending'; pending: PendingGrantRecord }
  | {
      kind: 'refused';
      facts: AccessFacts;
      granteeExists: boolean;
      /**
       * True if the pair has a live grant. If false, the number of live grants has reached `cap`, on the subject or on all
       * subjects of the tenant.
       */
      isGranted: boolean;
      cap: number;
    };

/** Returns the key of the lock for the grants on a subject, or for those on all subjects of a tenant. */
const lockOf = (tenantId: string, subjectType: string, subjectId: string): string =>
  `hashtextextended('grants/' || ${subjectType} || '/'
      || CASE ${subjectType} WHEN '${ALL_SUBJECTS.subjectType}' THEN ${tenantId} ELSE ${subjectId} END, 0)`;

/**
 * Serializes the creation of grants on one subject. A unique index cannot express "live", which depends on the clock, and each
 * grant must be counted before the next one. Several locks are acquired in one order.
 */
const LOCK_SUBJECTS = statement<Acting & { inputs: readonly SubjectRef[] }>(
  'grant_lock_subjects',
  `SELECT pg_advisory_xact_lock(lock)
  FROM (SELECT DISTINCT ${lockOf(':tenantId::text', 'i.subject_type', 'i.subject_id')} AS lock
          FROM ${inputRows(SUBJECT)} ORDER BY lock) locks CROSS JOIN ${ACTING}`,
);

/** A grant as an input row. */
interface GrantInput extends SubjectRef {
  grantId: string;
  granteeTenantId: string;
  /** Separated by commas, because PostgreSQL has no arrays of arrays with different lengths. */
  scopes: string;
  /** RFC 3339. */
  expiresAt: string | null;
  purpose: string | null;
}
const GRANT_INPUT = {
  grant_id: 'uuid',
  grantee_tenant_id: 'text',
  ...SUBJECT,
  scopes: 'text',
  expires_at: 'text',
  purpose: 'text',
} as const;

const IS_TO_ALL = `i.subject_type = '${ALL_SUBJECTS.subjectType}'`;

/** Creates grants. Each pair of subject and grantee must appear once in the inputs. */
const CREATE = statement<
  Actor & { inputs: readonly GrantInput[]; managers: readonly Role[] } & Pick<
      Caps,
      'live_grants_per_subject' | 'live_grants_per_tenant_to_all'
    >,
  {
    facts: AccessFacts;
    granteeExists: boolean;
    isGranted: boolean;
    cap: number;
    createdAt: Date | null;
    /** The deadline of the confirmation if the grant is pending. */
    confirmBy: Date | null;
  }
>(
  'grant_create',
  `WITH facts AS MATERIALIZED (
  SELECT i.*, f.*, CASE WHEN ${IS_TO_ALL} THEN 0 ELSE s.subject_key END AS subject_key,
         (SELECT true FROM tenants t WHERE t.tenant_id = i.grantee_tenant_id LIMIT 1) AS grantee_exists,
         CASE WHEN ${IS_TO_ALL}
              THEN (SELECT true FROM grants g WHERE ${isLiveGrantToAll('i.tenant_id', 'i.grantee_tenant_id')} LIMIT 1)
              ELSE (SELECT true FROM grants g WHERE ${isLiveGrant('i.grantee_tenant_id', 's.subject_key')} LIMIT 1)
              END AS is_granted,
         CASE WHEN ${IS_TO_ALL} THEN ${capOf('live_grants_per_tenant_to_all', 'i.tenant_id')}
              ELSE ${capOf('live_grants_per_subject', 'i.tenant_id')} END AS cap
    FROM (SELECT :tenantId::text AS tenant_id, :principalId::text AS principal_id, i.* FROM ${inputRows(GRANT_INPUT)}) i
    ${NAMED_SUBJECT}
    ${ownerAccess(`(${IS_TO_ALL} OR s.owner_tenant_id = i.tenant_id)`)}
), sound AS MATERIALIZED (
  SELECT f.*, row_number() OVER (PARTITION BY f.subject_key ORDER BY f.ord) AS place FROM facts f
   WHERE f.member_status = 'active' AND f.role = ANY (:managers::text[]) AND f.owns_subject AND f.grantee_exists
     AND f.is_granted IS NULL
), counted AS MATERIALIZED (
  SELECT k.subject_key,
         CASE WHEN k.subject_key = 0 THEN ${countUpTo(
           'k.cap',
           `FROM grants g
           WHERE (g.grantor_tenant_id, coalesce(g.expires_at, 'infinity')) > (k.tenant_id, statement_timestamp())
             AND g.grantor_tenant_id <= k.tenant_id AND ${TO_ALL.byEnd}
           ORDER BY g.grantor_tenant_id, coalesce(g.expires_at, 'infinity')`,
         )} ELSE ${countUpTo(
           'k.cap',
           `FROM grants g
           WHERE (g.subject_key, coalesce(g.expires_at, 'infinity')) > (k.subject_key, statement_timestamp())
             AND g.subject_key <= k.subject_key AND g.revoked_at IS NULL
           ORDER BY g.subject_key, coalesce(g.expires_at, 'infinity')`,
         )} END AS live
    FROM (SELECT DISTINCT subject_key, tenant_id, cap FROM sound) k
), judged AS MATERIALIZED (
  SELECT f.*, string_to_array(f.scopes, ',') AS wanted, f.expires_at::timestamptz AS until,
         CASE WHEN f.subject_key = 0
              THEN grant_needs_confirmation(f.grant_id, f.tenant_id, f.grantee_tenant_id, string_to_array(f.scopes, ','),
                                            f.expires_at::timestamptz)
              ELSE false END AS is_pending
    FROM sound f CROSS JOIN counted c
   WHERE c.subject_key = f.subject_key AND c.live + f.place <= f.cap
), made AS (
  INSERT INTO grants (grant_id, grantor_tenant_id, grantee_tenant_id, subject_key, scopes, expires_at, granted_by, purpose)
  SELECT grant_id, tenant_id, grantee_tenant_id, subject_key, wanted, until,
         coalesce((SELECT p.requested_by FROM pending_grants p WHERE p.grant_id = f.grant_id LIMIT 1), principal_id), purpose
    FROM judged f WHERE NOT is_pending
   ORDER BY f.ord
  RETURNING grant_id, created_at
), pending AS (
  INSERT INTO pending_grants (grant_id, grantor_tenant_id, grantee_tenant_id, scopes, expires_at, purpose, requested_by)
  SELECT grant_id, tenant_id, grantee_tenant_id, wanted, until, purpose, principal_id
    FROM judged f WHERE is_pending
   ORDER BY f.ord
  RETURNING grant_id, created_at, confirm_by
)
SELECT ${FACTS},
  f.grantee_exists IS TRUE AS "granteeExists", f.is_granted IS TRUE AS "isGranted", f.cap,
  coalesce(made.created_at, pending.created_at) AS "createdAt", pending.confirm_by AS "confirmBy"
  FROM facts f
  LEFT JOIN made ON made.grant_id = f.grant_id
  LEFT JOIN pending ON pending.grant_id = f.grant_id
 ORDER BY f.ord`,
);

/** Joins the tenant's grant with this id as `g`, and the caller's access facts. */
const OWN_GRANT = `${inputRow({ ...ACTOR, grant_id: 'uuid' })}
    LEFT JOIN LATERAL (SELECT * FROM grants g WHERE g.grant_id = i.grant_id LIMIT 1) g
      ON g.grantor_tenant_id = i.tenant_id
    LEFT JOIN subjects s ON s.subject_key = g.subject_key
    ${ownerAccess('g.grant_id IS NOT NULL')}`;

/**
 * Revokes a grant. The row lock lets one of many concurrent calls revoke it, and the others then see that it is no longer live.
 * IS TRUE keeps the search off the index of all live grants. The time is read after the lock is acquired, so it is later than
 * that of a change it waited for.
 */
const REVOKE = statement<
  Acting & { grantId: string; managers: readonly Role[] },
  { facts: AccessFacts; grant: GrantRecord | null; revokedNowAt: Date | null }
>(
  'grant_revoke',
  `WITH found AS MATERIALIZED (
  SELECT f.*, g.*, s.subject_type, s.subject_id
    FROM ${OWN_GRANT}
   CROSS JOIN ${ACTING}
),
revoked AS (
  UPDATE grants g SET revoked_at = clock_timestamp()
   WHERE g.grant_id = (SELECT grant_id FROM found
                        WHERE member_status = 'active' AND role = ANY (:managers::text[]) AND owns_subject)
     AND (${LIVE_GRANT}) IS TRUE
  RETURNING g.revoked_at
)
SELECT ${FACTS},
  ${columns(grantColumns('f', 'f'), 'grant?')}, r.revoked_at AS "revokedNowAt"
  FROM found f LEFT JOIN revoked r ON true`,
);

const GRANTED = grantedColumns();
/**
 * Serializes changes of a grant with one another, and with the creation of grants on its subject, which depends on the grant's
 * expiry.
 */
const LOCK_OWN = statement<Acting & { grantId: string }>(
  'grant_lock_own',
  `SELECT pg_advisory_xact_lock(${lockOf('g.grantor_tenant_id', GRANTED.subjectType, GRANTED.subjectId)})
  FROM (SELECT * FROM grants g WHERE g.grant_id = :grantId::uuid LIMIT 1) g
  LEFT JOIN subjects s ON s.subject_key = g.subject_key
 CROSS JOIN ${ACTING}
 WHERE g.grantor_tenant_id = :tenantId`,
);

/** Joins the grant with this id that the tenant received as `g`, and the caller's access facts. */
const RECEIVED_GRANT = `${inputRow({ ...ACTOR, grant_id: 'uuid' })}
    LEFT JOIN LATERAL (SELECT * FROM grants g WHERE g.grant_id = i.grant_id LIMIT 1) g
      ON g.grantee_tenant_id = i.tenant_id
    LEFT JOIN subjects s ON s.subject_key = g.subject_key
    ${MEMBER_ACCESS}`;

const ACCEPT = statement<
  Acting & { grantId: string; managers: readonly Role[] },
  { facts: AccessFacts; grant: GrantRecord | null; acceptedNowAt: Date | null }
>(
  'grant_accept',
  `WITH found AS MATERIALIZED (
  SELECT f.*, g.*, s.subject_type, s.subject_id
    FROM ${RECEIVED_GRANT}
   CROSS JOIN ${ACTING}
), accepted AS (
  UPDATE grants g SET ${ACCEPTED}
   WHERE g.grant_id = (SELECT grant_id FROM found WHERE member_status = 'active' AND role = ANY (:managers::text[]))
     AND (${LIVE_GRANT} AND g.accepted_at IS NULL) IS TRUE
  RETURNING g.accepted_at
)
SELECT ${FACTS},
  ${columns(grantColumns('f', 'f'), 'grant?')}, a.accepted_at AS "acceptedNowAt"
  FROM found f LEFT JOIN accepted a ON true`,
);

/** Changes a grant, and stores the change with the previous values. If nothing differs, it writes nothing. */
const CHANGE = statement<
  Actor & { grantId: string; managers: readonly Role[]; reason: string | null } & {
    changesScopes: boolean;
    scopes: readonly Scope[];
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
    isChanged: boolean;
  }
>(
  'grant_change',
  `WITH found AS MATERIALIZED (
  SELECT f.*, g.*, s.subject_type, s.subject_id, i.principal_id,
         CASE WHEN :changesScopes::boolean THEN :scopes::text[] ELSE g.scopes END AS new_scopes,
         CASE WHEN :changesExpiry::boolean THEN :expiresAt::timestamptz ELSE g.expires_at END AS new_expires_at,
         CASE WHEN :changesPurpose::boolean THEN :purpose::text ELSE g.purpose END AS new_purpose
    FROM ${OWN_GRANT}
), judged AS MATERIALIZED (
  SELECT f.*, (f.new_scopes @> f.scopes AND f.new_scopes <@ f.scopes) IS FALSE
              OR f.new_expires_at IS DISTINCT FROM f.expires_at AS is_recorded,
         f.new_purpose IS DISTINCT FROM f.purpose AS is_renamed,
         CASE WHEN f.subject_key = 0 AND NOT (f.new_scopes <@ f.scopes AND coalesce(f.new_expires_at, 'infinity') <= coalesce(f.expires_at, 'infinity'))
              THEN grant_needs_confirmation(f.grant_id, f.grantor_tenant_id, f.grantee_tenant_id, f.new_scopes, f.new_expires_at)
              ELSE false END AS is_held_back
    FROM found f
), changed AS (
  UPDATE grants g SET scopes = j.new_scopes, expires_at = j.new_expires_at, purpose = j.new_purpose
    FROM judged j
   WHERE g.grant_id = j.grant_id AND j.member_status = 'active' AND j.role = ANY (:managers::text[]) AND j.owns_subject
     AND (j.is_recorded OR j.is_renamed) AND NOT j.is_held_back AND (${LIVE_GRANT}) IS TRUE
  RETURNING g.grant_id
), recorded AS (
  INSERT INTO grant_changes (grant_id, grantor_tenant_id, subject_key, scopes, expires_at, from_scopes, from_expires_at,
                             changed_by, changed_at, reason)
  SELECT grant_id, grantor_tenant_id, subject_key, new_scopes, new_expires_at, scopes, expires_at, principal_id,
         statement_timestamp(), :reason::text
    FROM judged WHERE is_recorded AND EXISTS (SELECT FROM changed)
)
SELECT ${FACTS},
  ${columns(grantColumns('f', 'f'), 'grant?')}, (f.is_recorded OR f.is_renamed) IS TRUE AS "isDifferent",
  f.is_held_back AS "needsConfirmation",
  changed.grant_id IS NOT NULL AS "isChanged"
  FROM judged f LEFT JOIN changed ON true`,
);

/**
 * The lists of a tenant's grants. `offered` has received grants on all subjects that were neither used nor accepted, and
 * `received` has all other received grants.
 */
export const GRANT_DIRECTIONS = ['issued', 'received', 'offered'] as const;
export type GrantDirection = (typeof GRANT_DIRECTIONS)[number];

/** Selects grants of a list; a null member selects all. */
export interface GrantFilter {
  status: GrantStatus | null;
  granteeTenantId: string | null;
  grantorTenantId: string | null;
  /** One subject, or `ALL_SUBJECTS`. */
  subject: SubjectRef | null;
}

const LIST = newestRecords('grants', 'g', 'created_at', 'grant_id', 'uuid');

type ListStatement = Statement<
  Actor & RecordPage & NamedKey & Omit<GrantFilter, 'subject'>,
  RecordRow<AccessFacts, ListedGrant>
>;

type Keyed = Omit<KeyedScope, 'and'>;

/** Declares a list of the grants of one scope, for members of the tenant. */
const list = (name: string, scope: string | Keyed, and = 'true'): ListStatement => {
  const isListed = `${and} AND f.member_status = 'active'`;
  const listed = typeof scope === 'string' ? `${scope} AND ${isListed}` : { ...scope, and: isListed };
  const wanted = `(i.status IS NULL OR ${grantStatus('g')} = i.status)
       AND (i.grantee_tenant_id IS NULL OR g.grantee_tenant_id = i.grantee_tenant_id)
       AND (i.grantor_tenant_id IS NULL OR g.grantor_tenant_id = i.grantor_tenant_id)
       AND (i.subject_type IS NULL OR g.subject_key = k.subject_key)`;
  return statement(
    name,
    `SELECT ${FACTS},
  ${columns(listedGrantColumns, 'item?')},
  ${LIST.position(listed)}
  FROM ${inputRow({ ...ACTOR, ...SUBJECT, status: 'text', grantee_tenant_id: 'text', grantor_tenant_id: 'text' })}
  ${MEMBER_ACCESS}
  ${NAMED_KEY}
  LEFT JOIN LATERAL ${LIST.page(listed, wanted)} g ON true
  LEFT JOIN subjects s ON s.subject_key = g.subject_key
 ${LIST.order}`,
  );
};

/** Expressions, so that no search for live grants uses the indexes of these lists. */
const PAIR = `g.grantor_tenant_id || '>' || g.grantee_tenant_id`;
const IS_RECEIVED = '(g.subject_key <> 0 OR g.accepted_at IS NOT NULL)';
const IS_OFFERED = '(g.subject_key = 0 AND g.accepted_at IS NULL)';
const TO_IT = `g.grantee_tenant_id || '/' = i.tenant_id || '/'`;

/** The scope of a list: all grants of the tenant, those with one other tenant, or those on one subject. */
type GrantScope = 'all' | 'pair' | 'subject';
const LISTS: Readonly<Record<GrantDirection, Readonly<Record<GrantScope, ListStatement>>>> = {
  issued: {
    all: list('grants_issued', 'g.grantor_tenant_id = i.tenant_id'),
    pair: list('grants_issued_to', { keys: [PAIR], values: [`i.tenant_id || '>' || i.grantee_tenant_id`] }),
    subject: list('grants_issued_on', {
      keys: [`g.grantor_tenant_id || '>'`, 'g.subject_key'],
      values: [`i.tenant_id || '>'`, 'k.subject_key'],
    }),
  },
  received: receivedLists('received', IS_RECEIVED),
  offered: receivedLists('offered', IS_OFFERED),
};

/** `IS TRUE` selects the index of the direction, and `IS NOT FALSE` the index of the scope. */
function receivedLists(direction: GrantDirection, isOfThese: string): Readonly<Record<GrantScope, ListStatement>> {
  return {
    all: list(`grants_${direction}`, `${TO_IT} AND ${isOfThese} IS TRUE`),
    pair: list(
      `grants_${direction}_from`,
      { keys: [PAIR], values: [`i.grantor_tenant_id || '>' || i.tenant_id`] },
      `${isOfThese} IS NOT FALSE`,
    ),
    subject: list(
      `grants_${direction}_on`,
      {
        keys: [`'>' || g.grantee_tenant_id`, 'g.subject_key'],
        values: [`'>' || i.tenant_id`, 'k.subject_key'],
      },
      `${isOfThese} IS NOT FALSE`,
    ),
  };
}

const FIND = statement<Actor & { grantId: string }, { facts: AccessFacts; grant: GrantRecord | null }>(
  'grant_find',
  `SELECT ${FACTS},
  ${columns(grantColumns(), 'grant?')}
  FROM ${inputRow({ ...ACTOR, grant_id: 'uuid' })}
  ${MEMBER_ACCESS}
  LEFT JOIN LATERAL (SELECT * FROM grants g WHERE g.grant_id = i.grant_id LIMIT 1) g
    ON f.member_status = 'active' AND i.tenant_id IN (g.grantor_tenant_id, g.grantee_tenant_id)
  LEFT JOIN subjects s ON s.subject_key = g.subject_key`,
);

/** Lists the grants on a subject, and those on all subjects of its owner. */
const ON_SUBJECT = newestFirst('g', 'grant_id');
const OF_SUBJECT = statement<Actor & SubjectRef & Before, ListRow<AccessFacts, ListedGrant>>(
  'grants_of_subject',
  `SELECT ${FACTS},
  ${columns(listedGrantColumns, 'item?')},
  ${ON_SUBJECT.position}
  FROM ${inputRow({ ...ACTOR, ...SUBJECT })}
  ${NAMED_SUBJECT}
  ${TENANT_ACCESS}
  LEFT JOIN LATERAL (
    SELECT * FROM (
      (SELECT * FROM grants g WHERE g.subject_key = s.subject_key AND f.owns_subject AND ${ON_SUBJECT.next})
       UNION ALL
      (SELECT * FROM grants g WHERE g.grantor_tenant_id = s.owner_tenant_id AND ${TO_ALL.made} AND f.owns_subject AND ${ON_SUBJECT.next})
    ) g ${ON_SUBJECT.order} LIMIT :rows
  ) g ON true
 ${ON_SUBJECT.order}`,
);

/** Grants: the permissions of other tenants to read subjects, with scopes and expiry. */
export class GrantStore {
  constructor(
    private readonly sql: Sql,
    private readonly caps: Caps = DEFAULT_CAPS,
  ) {}

  /**
   * Creates each grant if all of this is true (specification, "Grants"):
   * - The caller has one of the roles `managers` in the owner.
   * - The grantee exists, and has no live grant on the subject.
   * - The number of live grants is below the cap.
   *
   * A grant that a second human must confirm becomes pending. Takes at most {@link GRANTS_AT_ONCE}, each pair once. The outcomes
   * are independent, and in the order of the grants.
   */
  async create(actor: Acting, grants: readonly GrantToCreate[], managers: readonly Role[]): Promise<GrantOutcome[]> {
    return this.sql.transaction((sql) => createGrants(sql, actor, grants, managers, this.caps));
  }

  /**
   * Revokes a live grant of the tenant if the caller has one of the roles `managers`. No later read sees it. `grant` is null if
   * the tenant has none with this id. `isRevoked` is true if this call revoked it; otherwise `grant` is unchanged.
   */
  async revoke(
    actor: Acting,
    grantId: string,
    managers: readonly Role[],
  ): Promise<{ facts: AccessFacts; grant: GrantRecord | null; isRevoked: boolean }> {
    const { facts, grant, revokedNowAt } = await this.sql.one(REVOKE, { ...actor, grantId, managers });
    if (grant === null || revokedNowAt === null) return { facts, grant, isRevoked: false };
    return { facts, grant: { ...grant, status: 'revoked', revokedAt: revokedNowAt }, isRevoked: true };
  }

  /**
   * Changes scopes, expiry or purpose of a live grant of the tenant, if the caller has one of the roles `managers`. A change of
   * scopes or expiry is stored with the previous values. `grant` is null if the tenant has none with this id; it is unchanged if
   * the change was not possible. `isDone` is also true if nothing differs. `needsConfirmation` is true if a second human would have to
   * confirm the change.
   */
  async change(
    actor: Acting,
    grantId: string,
    { scopes, expiresAt, purpose, reason }: GrantChange,
    managers: readonly Role[],
  ): Promise<{ facts: AccessFacts; grant: GrantRecord | null; isDone: boolean; needsConfirmation: boolean }> {
    return this.sql.transaction(async (sql) => {
      await sql.run(LOCK_OWN, { ...actor, grantId });
      const { facts, grant, isDifferent, needsConfirmation, isChanged } = await sql.one(CHANGE, {
        ...actor,
        grantId,
        managers,
        reason,
        changesScopes: scopes !== undefined,
        scopes: scopes ?? [],
        changesExpiry: expiresAt !== undefined,
        expiresAt: expiresAt ?? null,
        changesPurpose: purpose !== undefined,
        purpose: purpose ?? null,
      });
      if (grant === null || !isChanged) {
        return { facts, grant, isDone: !isDifferent && grant?.status === 'active', needsConfirmation };
      }
      const changed = {
        ...grant,
        scopes: scopes ?? grant.scopes,
        expiresAt: expiresAt === undefined ? grant.expiresAt : expiresAt,
        purpose: purpose === undefined ? grant.purpose : purpose,
      };
      return { facts, grant: changed, isDone: true, needsConfirmation };
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
   * Accepts a live grant to the tenant, if the caller has one of the roles `managers`. `grant` is its new state, or null if the
   * tenant received none with this id.
   */
  async accept(
    actor: Acting,
    grantId: string,
    managers: readonly Role[],
  ): Promise<{ facts: AccessFacts; grant: GrantRecord | null }> {
    const { facts, grant, acceptedNowAt } = await this.sql.one(ACCEPT, { ...actor, grantId, managers });
    return { facts, grant: grant === null ? null : { ...grant, acceptedAt: acceptedNowAt ?? grant.acceptedAt } };
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
  managers: readonly Role[],
  caps: Caps,
): Promise<GrantOutcome[]> {
  await sql.run(LOCK_SUBJECTS, { ...actor, inputs: grants });
  const { live_grants_per_subject, live_grants_per_tenant_to_all } = caps;
  const rows = await sql.run(CREATE, {
    ...actor,
    inputs: grants.map(toInput),
    managers,
    live_grants_per_subject,
    live_grants_per_tenant_to_all,
  });
  return grants.map((grant, place) => {
    const row = rows[place];
    if (row === undefined) throw new Error('a grant has no outcome');
    const { createdAt, confirmBy, ...refusal } = row;
    if (createdAt === null) return { kind: 'refused', ...refusal };
    const { tenantId: grantorTenantId, principalId } = actor;
    if (confirmBy !== null) {
      const end = { confirmedBy: null, confirmedAt: null, cancelledBy: null, cancelledAt: null };
      const request = { grantorTenantId, createdAt, confirmBy, requestedBy: principalId, status: 'pending' } as const;
      return { kind: 'pending', pending: { ...grant, ...request, ...end } };
    }
    const made = { grantorTenantId, createdAt, revokedAt: null, status: 'active' } as const;
    return { kind: 'granted', grant: { ...grant, ...made, grantedBy: principalId, acceptedAt: null } };
  });
}

function toInput({ scopes, expiresAt, ...grant }: GrantToCreate): GrantInput {
  return { ...grant, scopes: scopes.join(), expiresAt: expiresAt?.toISOString() ?? null };
}
