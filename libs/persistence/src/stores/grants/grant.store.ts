import type { AccessFacts, Actor, GrantStatus, Role, Scope, SubjectRef } from '@iss/domain';
import { RULES } from '@iss/domain';
import { type Caps, DEFAULT_CAPS } from '@iss/platform';
import { type Columns, columns } from '../../sql/columns';
import { ACTOR, inputRow, SUBJECT } from '../../sql/input';
import { type Before, before, type ListRow, newestFirst, type Page, type PageRequest, toList } from '../../sql/page';
import type { Sql } from '../../sql/sql';
import { statement } from '../../sql/statement';
import { FACTS, isLiveGrant, LIVE_GRANT, MEMBER_ACCESS, TENANT_ACCESS } from '../facts/access-facts';
import { latestSnapshot, NAMED_SUBJECT } from '../facts/joins';
import { capOf, countUpTo } from '../limits/caps';
import { snapshotColumns, type SnapshotRecord } from '../snapshots/snapshot-record';

/** A grant with its status by the clock of the moment it was read. */
export interface GrantRecord extends SubjectRef {
  grantId: string;
  grantorTenantId: string;
  granteeTenantId: string;
  scopes: readonly Scope[];
  expiresAt: Date | null;
  createdAt: Date;
  revokedAt: Date | null;
  status: GrantStatus;
}

export interface GrantToCreate extends SubjectRef {
  grantId: string;
  granteeTenantId: string;
  scopes: readonly Scope[];
  expiresAt: Date | null;
}

export type GrantOutcome =
  | { kind: 'granted'; grant: GrantRecord }
  | {
      kind: 'refused';
      facts: AccessFacts;
      granteeExists: boolean;
      /** Whether a live grant stands for the pair; else the subject has as many live ones as `cap`. */
      isGranted: boolean;
      cap: number;
    };

/** A subject that a tenant may read by a live grant. `latest`, without its envelope, is null unless a scope covers it. */
export interface AccessibleSubject {
  grant: GrantRecord;
  latest: SnapshotRecord | null;
}

/** Columns of the grant `g` of subject `s`. */
const grantColumns = (g = 'g', s = 's'): Columns<GrantRecord> => ({
  grantId: `${g}.grant_id`,
  grantorTenantId: `${g}.grantor_tenant_id`,
  granteeTenantId: `${g}.grantee_tenant_id`,
  subjectType: `${s}.subject_type`,
  subjectId: `${s}.subject_id`,
  scopes: `${g}.scopes`,
  expiresAt: `${g}.expires_at`,
  createdAt: `${g}.created_at`,
  revokedAt: `${g}.revoked_at`,
  status: `CASE WHEN ${g}.revoked_at IS NOT NULL THEN 'revoked'
       WHEN ${g}.expires_at <= statement_timestamp() THEN 'expired' ELSE 'active' END`,
});

/**
 * Grants of one subject are made one after the other: "live" depends on the clock, which no unique index can hold, and each
 * is counted before the next one.
 */
const LOCK_SUBJECT = statement<GrantToCreate>(
  'grant_lock_subject',
  `SELECT pg_advisory_xact_lock(hashtextextended('grants/' || :subjectType::text || '/' || :subjectId::text, 0))`,
);

const CREATE = statement<
  Actor & GrantToCreate & { managers: readonly Role[] } & Pick<Caps, 'live_grants_per_subject'>,
  { facts: AccessFacts; granteeExists: boolean; isGranted: boolean; cap: number; createdAt: Date | null }
>(
  'grant_create',
  `WITH facts AS MATERIALIZED (
  SELECT i.tenant_id, f.*, s.subject_key,
         EXISTS (SELECT FROM tenants t WHERE t.tenant_id = :granteeTenantId) AS grantee_exists,
         (SELECT true FROM grants g WHERE ${isLiveGrant(':granteeTenantId', 's.subject_key')} LIMIT 1) AS is_granted,
         ${capOf('live_grants_per_subject', 'i.tenant_id')} AS cap
    FROM ${inputRow({ ...ACTOR, ...SUBJECT })}
    ${NAMED_SUBJECT}
    ${TENANT_ACCESS}
),
made AS (
  INSERT INTO grants (grant_id, grantor_tenant_id, grantee_tenant_id, subject_key, scopes, expires_at)
  SELECT :grantId::uuid, tenant_id, :granteeTenantId::text, subject_key, :scopes::text[], :expiresAt::timestamptz
    FROM facts
   WHERE member_status = 'active' AND role = ANY (:managers::text[]) AND owns_subject AND grantee_exists
     AND is_granted IS NULL
     AND ${countUpTo(
       'facts.cap',
       `FROM grants g
           WHERE (g.subject_key, coalesce(g.expires_at, 'infinity')) > (facts.subject_key, statement_timestamp())
             AND g.subject_key <= facts.subject_key AND g.revoked_at IS NULL
           ORDER BY g.subject_key, coalesce(g.expires_at, 'infinity')`,
     )} < cap
  RETURNING created_at
)
SELECT ${FACTS},
  f.grantee_exists AS "granteeExists", f.is_granted IS TRUE AS "isGranted", f.cap, made.created_at AS "createdAt"
  FROM facts f LEFT JOIN made ON true`,
);

/**
 * The row lock lets one of many revoke; the others see then that the grant is live no more. IS TRUE, so that the index of
 * all live grants cannot find it.
 */
const REVOKE = statement<
  Actor & { grantId: string; managers: readonly Role[] },
  { facts: AccessFacts; grant: GrantRecord | null; revokedNowAt: Date | null }
>(
  'grant_revoke',
  `WITH found AS MATERIALIZED (
  SELECT f.*, g.*, s.subject_type, s.subject_id
    FROM ${inputRow({ ...ACTOR, grant_id: 'uuid' })}
    LEFT JOIN LATERAL (SELECT * FROM grants g WHERE g.grant_id = i.grant_id LIMIT 1) g
      ON g.grantor_tenant_id = i.tenant_id
    LEFT JOIN subjects s ON s.subject_key = g.subject_key
    ${TENANT_ACCESS}
),
revoked AS (
  UPDATE grants g SET revoked_at = now()
   WHERE g.grant_id = (SELECT grant_id FROM found
                        WHERE member_status = 'active' AND role = ANY (:managers::text[]) AND owns_subject)
     AND (${LIVE_GRANT}) IS TRUE
  RETURNING g.revoked_at
)
SELECT ${FACTS},
  ${columns(grantColumns('f', 'f'), 'grant?')}, r.revoked_at AS "revokedNowAt"
  FROM found f LEFT JOIN revoked r ON true`,
);

const LIST = newestFirst('g', 'grant_id');
const LISTED = `${FACTS},
  ${columns(grantColumns(), 'item?')},
  ${LIST.position}`;
/** A page of these grants `g`. */
const pageOf = (whose: string): string => `
  LEFT JOIN LATERAL (SELECT * FROM grants g WHERE ${whose} AND ${LIST.next}) g ON true`;

const OF_TENANT = statement<Actor & Before, ListRow<AccessFacts, GrantRecord>>(
  'grants_of_tenant',
  `SELECT ${LISTED}
  FROM ${inputRow(ACTOR)}
  ${MEMBER_ACCESS}
  ${pageOf(`g.grantor_tenant_id = i.tenant_id AND f.member_status = 'active'`)}
  LEFT JOIN subjects s ON s.subject_key = g.subject_key
 ${LIST.order}`,
);

const OF_SUBJECT = statement<Actor & SubjectRef & Before, ListRow<AccessFacts, GrantRecord>>(
  'grants_of_subject',
  `SELECT ${LISTED}
  FROM ${inputRow({ ...ACTOR, ...SUBJECT })}
  ${NAMED_SUBJECT}
  ${TENANT_ACCESS}
  ${pageOf('g.subject_key = s.subject_key AND f.owns_subject')}
 ${LIST.order}`,
);

/** What {@link grantColumns} takes of a grant `g`. */
const GRANT_COLUMNS = `g.grant_id, g.grantor_tenant_id, g.grantee_tenant_id, g.subject_key, g.scopes, g.expires_at, g.created_at,
         g.revoked_at`;

/**
 * Grants that one page looks at. Whoever grants says until when, so that a tenant may have any number of expired ones that
 * it never asked for: a page ends, short or empty, after so many, and the next one goes on from there.
 */
const LOOKED_AT = 1_000;

/**
 * By subject key, which the index of live grants holds; it numbers the subjects of all tenants, so that a position names
 * a grant instead: the last one shown, or the last one looked at (`ended`). Of a subject there may be further grants behind
 * that one, expired ones and the live one: it is looked up by itself.
 */
const ACCESSIBLE = statement<
  Actor & { afterGrantId: string | number | null; rows: number },
  ListRow<AccessFacts, AccessibleSubject> & { ended: string | null }
>(
  'subjects_accessible',
  `WITH caller AS MATERIALIZED (
  SELECT i.*, f.*
    FROM (SELECT :tenantId::text AS tenant_id, :principalId::text AS principal_id,
                 coalesce((SELECT last.subject_key FROM grants last
                            WHERE last.grant_id = :afterGrantId::uuid AND last.grantee_tenant_id = :tenantId), 0) AS after) i
    ${MEMBER_ACCESS}
), looked_at AS MATERIALIZED (
  SELECT g.*, (${LIVE_GRANT}) AS is_live, row_number() OVER (ORDER BY g.subject_key) AS place
    FROM caller c
   CROSS JOIN LATERAL (
     SELECT * FROM grants g
      WHERE (g.grantee_tenant_id, g.subject_key) > (c.tenant_id, c.after) AND g.grantee_tenant_id <= c.tenant_id
        AND c.member_status = 'active' AND c.allow_counterparty_access AND g.revoked_at IS NULL
      ORDER BY g.grantee_tenant_id, g.subject_key LIMIT ${LOOKED_AT}
   ) g
), ended AS MATERIALIZED (
  SELECT c.tenant_id, l.grant_id, l.subject_key FROM caller c CROSS JOIN looked_at l WHERE l.place = ${LOOKED_AT}
), found AS MATERIALIZED (
  SELECT ${GRANT_COLUMNS} FROM looked_at g
   WHERE g.is_live AND (g.subject_key = (SELECT subject_key FROM ended)) IS NOT TRUE
   UNION ALL
  SELECT ${GRANT_COLUMNS} FROM ended e
   CROSS JOIN LATERAL (SELECT * FROM grants g WHERE ${isLiveGrant('e.tenant_id', 'e.subject_key')} LIMIT 1) g
)
SELECT ${FACTS},
  ${columns(grantColumns(), 'item?.grant')},
  ${columns(snapshotColumns(), 'item?.latest?')},
       ARRAY[g.grant_id] AS position, (SELECT grant_id FROM ended) AS ended
  FROM caller f
  LEFT JOIN LATERAL (SELECT * FROM found g ORDER BY g.subject_key LIMIT :rows) g ON true
  LEFT JOIN subjects s ON s.subject_key = g.subject_key
  ${latestSnapshot(`CASE WHEN g.scopes && '{${RULES.readLatest.subject.join()}}' THEN s.subject_key END`, 'n')}
 ORDER BY g.subject_key`,
);

/** Grants: who besides the owner may read a subject, what of it, and until when. */
export class GrantStore {
  constructor(
    private readonly sql: Sql,
    private readonly caps: Caps = DEFAULT_CAPS,
  ) {}

  /**
   * Makes a grant if the caller holds one of `managers` in the owner, the grantee exists, no live grant stands for
   * the pair (specification, "Grants"), and the subject has fewer live ones than it may.
   */
  async create(actor: Actor, grant: GrantToCreate, managers: readonly Role[]): Promise<GrantOutcome> {
    return this.sql.transaction(async (sql) => {
      await sql.run(LOCK_SUBJECT, grant);
      const { live_grants_per_subject } = this.caps;
      const given = { ...actor, ...grant, managers, live_grants_per_subject };
      const { createdAt, ...refusal } = await sql.one(CREATE, given);
      if (createdAt === null) return { kind: 'refused', ...refusal };
      const made = { grantorTenantId: actor.tenantId, createdAt, revokedAt: null, status: 'active' } as const;
      return { kind: 'granted', grant: { ...grant, ...made } };
    });
  }

  /**
   * Ends a grant of the tenant that is live, if the caller holds one of `managers`; from then on no read sees it.
   * `grant` is null where the tenant has none with this id, else as it was found, or as it became when it `isRevoked`
   * by this call.
   */
  async revoke(
    actor: Actor,
    grantId: string,
    managers: readonly Role[],
  ): Promise<{ facts: AccessFacts; grant: GrantRecord | null; isRevoked: boolean }> {
    const { facts, grant, revokedNowAt } = await this.sql.one(REVOKE, { ...actor, grantId, managers });
    if (grant === null || revokedNowAt === null) return { facts, grant, isRevoked: false };
    return { facts, grant: { ...grant, status: 'revoked', revokedAt: revokedNowAt }, isRevoked: true };
  }

  /** A page of all that the tenant granted, newest first, and what the caller may do. Only an active member gets any. */
  async ofTenant(actor: Actor, request: PageRequest): Promise<{ facts: AccessFacts; page: Page<GrantRecord> }> {
    return toList(await this.sql.run(OF_TENANT, { ...actor, ...before(request) }), request.limit);
  }

  /** A page of all grants on a subject, newest first, and what the caller may do. Only its owner gets any. */
  async ofSubject(
    actor: Actor,
    subject: SubjectRef,
    request: PageRequest,
  ): Promise<{ facts: AccessFacts; page: Page<GrantRecord> }> {
    return toList(await this.sql.run(OF_SUBJECT, { ...actor, ...subject, ...before(request) }), request.limit);
  }

  /**
   * A page of the subjects that the tenant may read by a live grant, in the order in which they came to be; and what the
   * caller may do. Only an active member whose counterparty flag is on gets any.
   */
  async accessible(
    actor: Actor,
    { limit, after }: PageRequest,
  ): Promise<{ facts: AccessFacts; page: Page<AccessibleSubject> }> {
    const [afterGrantId = null] = after ?? [];
    const rows = await this.sql.run(ACCESSIBLE, { ...actor, afterGrantId, rows: limit + 1 });
    const { facts, page } = toList(rows, limit);
    const ended = rows[0]?.ended ?? null;
    return { facts, page: { ...page, next: page.next ?? (ended === null ? null : [ended]) } };
  }
}
