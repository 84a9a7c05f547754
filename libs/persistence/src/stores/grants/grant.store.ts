import type { AccessFacts, Acting, Actor, GrantStatus, Identifier, Role, Scope, SubjectRef } from '@iss/domain';
import { ALL_SUBJECTS, MAX_NAME, RULES, SUBJECT_TYPES } from '@iss/domain';
import { type Caps, DEFAULT_CAPS } from '@iss/platform';
import { type Columns, columns } from '../../sql/columns';
import { ACTOR, inputRow, inputRows, SUBJECT } from '../../sql/input';
import {
  type Before,
  before,
  type ListRow,
  newestFirst,
  type Page,
  type PagePosition,
  type PageRequest,
  toList,
} from '../../sql/page';
import type { Sql } from '../../sql/sql';
import { statement } from '../../sql/statement';
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
import { latestSnapshot, NAMED_SUBJECT } from '../facts/joins';
import { capOf, countUpTo } from '../limits/caps';
import { ACTING } from '../records/acting';
import { snapshotColumns, type SnapshotRecord } from '../snapshots/snapshot-record';
import type { ContentSearch } from '../snapshots/subject.store';

/** A grant with its status by the clock of the moment it was read; on a subject, or on `ALL_SUBJECTS`. */
export interface GrantRecord extends SubjectRef {
  grantId: string;
  grantorTenantId: string;
  granteeTenantId: string;
  scopes: readonly Scope[];
  expiresAt: Date | null;
  createdAt: Date;
  revokedAt: Date | null;
  status: GrantStatus;
  /** Who made it; null where that was not kept yet. */
  grantedBy: string | null;
  purpose: string | null;
}

/** That one call of {@link GrantStore.create} makes: so long others wait for its locks. */
export const GRANTS_AT_ONCE = 64;

export interface GrantToCreate extends SubjectRef {
  grantId: string;
  granteeTenantId: string;
  scopes: readonly Scope[];
  expiresAt: Date | null;
  purpose: string | null;
}

/** What of a grant changes; what is undefined stays. */
export interface GrantChange {
  scopes: readonly Scope[] | undefined;
  /** Null: it has no end. */
  expiresAt: Date | null | undefined;
  purpose: string | null | undefined;
  /** Why, for the record. */
  reason: string | null;
}

export type GrantOutcome =
  | { kind: 'granted'; grant: GrantRecord }
  | {
      kind: 'refused';
      facts: AccessFacts;
      granteeExists: boolean;
      /** Whether a live grant stands for the pair; else there are as many live ones as `cap`: on the subject, or of the tenant on all. */
      isGranted: boolean;
      cap: number;
    };

/**
 * A subject that a tenant may read by a live grant. Where it holds two, `grant` is the one on this subject, with the scopes of
 * both. `latest`, without its envelope, is null unless a scope covers it.
 */
export interface AccessibleSubject {
  grant: GrantRecord;
  latest: SnapshotRecord | null;
}

/** Columns of the grant `g` of subject `s`. */
const grantColumns = (g = 'g', s = 's'): Columns<GrantRecord> => ({
  grantId: `${g}.grant_id`,
  grantorTenantId: `${g}.grantor_tenant_id`,
  granteeTenantId: `${g}.grantee_tenant_id`,
  ...grantedColumns(g, s),
  scopes: `${g}.scopes`,
  expiresAt: `${g}.expires_at`,
  createdAt: `${g}.created_at`,
  revokedAt: `${g}.revoked_at`,
  status: `CASE WHEN ${g}.revoked_at IS NOT NULL THEN 'revoked'
       WHEN ${g}.expires_at <= statement_timestamp() THEN 'expired' ELSE 'active' END`,
  grantedBy: `${g}.granted_by`,
  purpose: `${g}.purpose`,
});

/** The lock of a subject's grants, or of those of a tenant on all of its subjects. */
const lockOf = (tenantId: string, subjectType: string, subjectId: string): string =>
  `hashtextextended('grants/' || ${subjectType} || '/'
      || CASE ${subjectType} WHEN '${ALL_SUBJECTS.subjectType}' THEN ${tenantId} ELSE ${subjectId} END, 0)`;

/**
 * Grants of one subject are made one after the other: "live" depends on the clock, which no unique index can hold, and each
 * is counted before the next one. Several locks are taken in one order.
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
  /** Apart by commas, since an array of arrays has no rows of different lengths. */
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

/** Each pair of subject and grantee stands once among the inputs. */
const CREATE = statement<
  Actor & { inputs: readonly GrantInput[]; managers: readonly Role[] } & Pick<
      Caps,
      'live_grants_per_subject' | 'live_grants_per_tenant_to_all'
    >,
  { facts: AccessFacts; granteeExists: boolean; isGranted: boolean; cap: number; createdAt: Date | null }
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
), made AS (
  INSERT INTO grants (grant_id, grantor_tenant_id, grantee_tenant_id, subject_key, scopes, expires_at, granted_by, purpose)
  SELECT grant_id, tenant_id, grantee_tenant_id, f.subject_key, string_to_array(scopes, ','), expires_at::timestamptz,
         principal_id, purpose
    FROM sound f CROSS JOIN counted c
   WHERE c.subject_key = f.subject_key AND c.live + f.place <= f.cap
   ORDER BY f.ord
  RETURNING grant_id, created_at
)
SELECT ${FACTS},
  f.grantee_exists IS TRUE AS "granteeExists", f.is_granted IS TRUE AS "isGranted", f.cap, made.created_at AS "createdAt"
  FROM facts f LEFT JOIN made ON made.grant_id = f.grant_id
 ORDER BY f.ord`,
);

/** The grant of the tenant with this id, as `g`, and what the caller may do with it. */
const OWN_GRANT = `${inputRow({ ...ACTOR, grant_id: 'uuid' })}
    LEFT JOIN LATERAL (SELECT * FROM grants g WHERE g.grant_id = i.grant_id LIMIT 1) g
      ON g.grantor_tenant_id = i.tenant_id
    LEFT JOIN subjects s ON s.subject_key = g.subject_key
    ${ownerAccess('g.grant_id IS NOT NULL')}`;

/**
 * The row lock lets one of many revoke; the others see then that the grant is live no more. IS TRUE, so that the index of
 * all live grants cannot find it. By the clock behind the lock: a change that it waited for was before.
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
/** Changes of a grant wait for one another, and for grants of its subject that are made: whether those may stand depends on its end. */
const LOCK_OWN = statement<Acting & { grantId: string }>(
  'grant_lock_own',
  `SELECT pg_advisory_xact_lock(${lockOf('g.grantor_tenant_id', GRANTED.subjectType, GRANTED.subjectId)})
  FROM (SELECT * FROM grants g WHERE g.grant_id = :grantId::uuid LIMIT 1) g
  LEFT JOIN subjects s ON s.subject_key = g.subject_key
 CROSS JOIN ${ACTING}
 WHERE g.grantor_tenant_id = :tenantId`,
);

/** What is in force and what was sent instead; what was not sent stays. Where nothing differs, nothing is written. */
const CHANGE = statement<
  Actor & { grantId: string; managers: readonly Role[]; reason: string | null } & {
    changesScopes: boolean;
    scopes: readonly Scope[];
    changesExpiry: boolean;
    expiresAt: Date | null;
    changesPurpose: boolean;
    purpose: string | null;
  },
  { facts: AccessFacts; grant: GrantRecord | null; isDifferent: boolean; isChanged: boolean }
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
         f.new_purpose IS DISTINCT FROM f.purpose AS is_renamed
    FROM found f
), changed AS (
  UPDATE grants g SET scopes = j.new_scopes, expires_at = j.new_expires_at, purpose = j.new_purpose
    FROM judged j
   WHERE g.grant_id = j.grant_id AND j.member_status = 'active' AND j.role = ANY (:managers::text[]) AND j.owns_subject
     AND (j.is_recorded OR j.is_renamed) AND (${LIVE_GRANT}) IS TRUE
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
  changed.grant_id IS NOT NULL AS "isChanged"
  FROM judged f LEFT JOIN changed ON true`,
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

/** Those on the subject, and those on all of its owner's. */
const OF_SUBJECT = statement<Actor & SubjectRef & Before, ListRow<AccessFacts, GrantRecord>>(
  'grants_of_subject',
  `SELECT ${LISTED}
  FROM ${inputRow({ ...ACTOR, ...SUBJECT })}
  ${NAMED_SUBJECT}
  ${TENANT_ACCESS}
  LEFT JOIN LATERAL (
    SELECT * FROM (
      (SELECT * FROM grants g WHERE g.subject_key = s.subject_key AND f.owns_subject AND ${LIST.next})
       UNION ALL
      (SELECT * FROM grants g WHERE g.grantor_tenant_id = s.owner_tenant_id AND ${TO_ALL.made} AND f.owns_subject AND ${LIST.next})
    ) g ${LIST.order} LIMIT :rows
  ) g ON true
 ${LIST.order}`,
);

/** What {@link grantColumns} takes of a grant. */
const GRANT_COLUMNS = `grant_id, grantor_tenant_id, grantee_tenant_id, subject_key, scopes, expires_at, created_at, revoked_at,
         granted_by, purpose`;

/**
 * Grants, and owners of all subjects, that one page looks at. Whoever grants says until when, so that a tenant may have any
 * number of expired ones that it never asked for: a page ends, short or empty, after so many, and the next one goes on there.
 */
const LOOKED_AT = 1_000;

/** Where a page of accessible subjects begins. */
interface AfterAccessible {
  /** Behind this grant on a subject; null at the beginning. */
  afterGrantId: string | number | null;
  /** Behind all of those: with this owner of all its subjects; behind the subject of this type and id. */
  fromOwner: string | number | null;
  afterType: string | number;
  afterId: string | number;
}

/** Whether there is anything that the caller could read. */
const MAY_USE_GRANTS = `c.member_status = 'active' AND c.allow_counterparty_access`;

/** The first owner that granted `c` all of its subjects, from that one on. Whether the grant is live is not asked. */
const ownerFrom = (comparison: '>' | '>=', from: string): string => `
    SELECT g.grantor_tenant_id FROM grants g
     WHERE (g.grantee_tenant_id, g.grantor_tenant_id) ${comparison} (c.tenant_id, ${from})
       AND g.grantee_tenant_id <= c.tenant_id AND ${TO_ALL.byGrantee}
     ORDER BY g.grantee_tenant_id, g.grantor_tenant_id LIMIT 1`;

/** What of the accessible subjects a list has, and in which order those of owners that granted all of theirs. */
interface Listed {
  /** Grants `one` on one subject each, of those that are `live`. */
  live: string;
  /** What else is asked of such a grant. */
  one: string;
  /** What else is asked of a grant `g` on all subjects. */
  grants: string;
  /** The next subjects `s` of owner `o`. */
  subjects: string;
  /** Of them by these columns. */
  order: string;
  /** What a position has of `s` behind its type and id; begins with a comma. */
  further: string;
}

/**
 * First the subjects that are granted one by one, but for those of which all of the owner's are: by subject key, which the
 * index of live grants holds. It numbers the subjects of all tenants, so that a position names a grant instead: the last one
 * shown, or the last one looked at (`ended`). Of a subject there may be further grants behind that one, expired ones and the
 * live one: it is looked up by itself.
 *
 * Then all subjects of each owner that granted them all, in the order of owners; of those who did, `owners` steps over any
 * number of expired grants. Each lateral search goes along what stands before it, in order, so that LIMIT ends them all.
 */
const accessible = <Search extends object = object>(name: string, listed: Listed) =>
  statement<
    Actor & AfterAccessible & { rows: number } & Search,
    ListRow<AccessFacts, AccessibleSubject> & { ended: PagePosition | null }
  >(
    name,
    `WITH RECURSIVE caller AS MATERIALIZED (
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
        AND ${MAY_USE_GRANTS} AND :fromOwner::text IS NULL AND g.revoked_at IS NULL
      ORDER BY g.grantee_tenant_id, g.subject_key LIMIT ${LOOKED_AT}
   ) g
), ended AS MATERIALIZED (
  SELECT c.tenant_id, l.grant_id, l.subject_key FROM caller c CROSS JOIN looked_at l WHERE l.place = ${LOOKED_AT}
), live AS MATERIALIZED (
  SELECT ${GRANT_COLUMNS} FROM looked_at g
   WHERE g.is_live AND (g.subject_key = (SELECT subject_key FROM ended)) IS NOT TRUE
   UNION ALL
  SELECT g.* FROM ended e
   CROSS JOIN LATERAL (SELECT ${GRANT_COLUMNS} FROM grants g
                        WHERE ${isLiveGrant('e.tenant_id', 'e.subject_key')} LIMIT 1) g
), single AS MATERIALIZED (
  SELECT one.*, ARRAY[one.grant_id::text] AS position FROM ${listed.live} one
   WHERE (SELECT true FROM grants g
           WHERE ${isLiveGrantToAll('one.grantor_tenant_id', 'one.grantee_tenant_id')}${listed.grants} LIMIT 1) IS NULL${listed.one}
   ORDER BY one.subject_key LIMIT :rows
), owners AS (
  SELECT (${ownerFrom('>=', `coalesce(:fromOwner::text, '')`)}) AS tenant_id, 1 AS place
    FROM caller c WHERE ${MAY_USE_GRANTS} AND NOT EXISTS (SELECT FROM ended)
   UNION ALL
  SELECT (${ownerFrom('>', 'o.tenant_id')}), o.place + 1
    FROM owners o CROSS JOIN caller c WHERE o.tenant_id IS NOT NULL AND o.place <= ${LOOKED_AT}
), of_all AS MATERIALIZED (
  SELECT coalesce(one.grant_id, every.grant_id) AS grant_id, every.grantor_tenant_id, every.grantee_tenant_id,
         s.subject_key,
         CASE WHEN one.grant_id IS NULL THEN every.scopes
              ELSE ARRAY(SELECT DISTINCT unnest(one.scopes || every.scopes) ORDER BY 1) END AS scopes,
         CASE WHEN one.grant_id IS NULL THEN every.expires_at ELSE one.expires_at END AS expires_at,
         coalesce(one.created_at, every.created_at) AS created_at, NULL::timestamptz AS revoked_at,
         CASE WHEN one.grant_id IS NULL THEN every.granted_by ELSE one.granted_by END AS granted_by,
         CASE WHEN one.grant_id IS NULL THEN every.purpose ELSE one.purpose END AS purpose,
         ARRAY[o.tenant_id, s.subject_type, s.subject_id${listed.further}]::text[] AS position, s.subject_type, s.name
    FROM owners o
   CROSS JOIN caller c
   CROSS JOIN LATERAL (SELECT * FROM grants g WHERE ${isLiveGrantToAll('o.tenant_id', 'c.tenant_id')}${listed.grants} LIMIT 1) every
   CROSS JOIN LATERAL (${listed.subjects}) s
    LEFT JOIN LATERAL (SELECT * FROM grants g WHERE ${isLiveGrant('c.tenant_id', 's.subject_key')} LIMIT 1) one ON true
   WHERE o.place <= ${LOOKED_AT}
   LIMIT :rows - (SELECT count(*) FROM single)
), found AS MATERIALIZED (
  SELECT single.*, 1 AS part, row_number() OVER (ORDER BY subject_key) AS place FROM single
   UNION ALL
  SELECT ${GRANT_COLUMNS}, position, 2, row_number() OVER (ORDER BY ${listed.order}) FROM of_all
)
SELECT ${FACTS},
  ${columns(grantColumns(), 'item?.grant')},
  ${columns(snapshotColumns(), 'item?.latest?')},
  g.position,
       CASE WHEN EXISTS (SELECT FROM ended) THEN (SELECT ARRAY[grant_id::text] FROM ended)
            WHEN (SELECT count(*) FROM found) < :rows::int
            THEN (SELECT ARRAY[o.tenant_id, '', ''] FROM owners o WHERE o.place > ${LOOKED_AT} AND o.tenant_id IS NOT NULL)
            END AS ended
  FROM caller f
  LEFT JOIN found g ON true
  LEFT JOIN subjects s ON s.subject_key = g.subject_key
  ${latestSnapshot(`CASE WHEN g.scopes && '{${RULES.readLatest.subject.join()}}' THEN s.subject_key END`, 'n')}
 ORDER BY g.part, g.place`,
  );

/** What is given where owner `o` is the one at which the page begins, else the other. */
const atPlace = (given: string, other: string): string =>
  `CASE o.tenant_id WHEN :fromOwner::text THEN ${given} ELSE ${other} END`;

const ACCESSIBLE = accessible('subjects_accessible', {
  live: 'live',
  one: '',
  grants: '',
  subjects: `
     SELECT * FROM subjects s
      WHERE (s.owner_tenant_id, s.subject_type, s.subject_id)
            > (o.tenant_id, ${atPlace(':afterType::text', "''")}, ${atPlace(':afterId::text', "''")})
        AND s.owner_tenant_id <= o.tenant_id
      ORDER BY s.owner_tenant_id, s.subject_type, s.subject_id LIMIT :rows
   `,
  order: 'position',
  further: '',
});

const READS_LATEST = `scopes && '{${RULES.readLatest.subject.join()}}'`;
/** The key of the subject `afterType`, `afterId`. */
const AFTER_KEY = `(SELECT l.subject_key FROM subjects l
                   WHERE l.subject_type = :afterType::text AND l.subject_id = :afterId::text LIMIT 1)`;

/**
 * The same for a search by content, which nobody may ask about what it may not read: only grants with `read_latest` lead to
 * a subject, and scopes of the others are shown with theirs. Found from the side of the grants, so that neither an answer nor
 * where a page ends nor its time says anything of subjects that are not granted. `isFound` is asked of a grant `one`.
 */
const searched = (isFound: string) => ({
  live: `(
    SELECT l.grant_id, l.grantor_tenant_id, l.grantee_tenant_id, l.subject_key,
           CASE WHEN every.scopes IS NULL THEN l.scopes
                ELSE ARRAY(SELECT DISTINCT unnest(l.scopes || every.scopes) ORDER BY 1) END AS scopes,
           l.expires_at, l.created_at, l.revoked_at, l.granted_by, l.purpose
      FROM live l
      LEFT JOIN LATERAL (SELECT * FROM grants g
                          WHERE ${isLiveGrantToAll('l.grantor_tenant_id', 'l.grantee_tenant_id')} LIMIT 1) every ON true
     WHERE l.${READS_LATEST}
  )`,
  one: `
     AND ${isFound}`,
  grants: ` AND g.${READS_LATEST}`,
});

const ACCESSIBLE_BY_IDENTIFIER = accessible<Identifier>('subjects_accessible_by_identifier', {
  ...searched(`(SELECT d.value FROM subject_identifiers d
           WHERE (d.subject_key, d.scheme) BETWEEN (one.subject_key, :scheme) AND (one.subject_key, :scheme) LIMIT 1) = :value`),
  subjects: `
     SELECT s.* FROM (
       SELECT * FROM subject_identifiers d
        WHERE (d.owner_tenant_id, d.scheme, d.value, d.subject_type, -d.subject_key)
                > (o.tenant_id, :scheme, :value, ${atPlace(':afterType::text', "''")},
                   coalesce(-${AFTER_KEY}, -9223372036854775807))
          AND (d.owner_tenant_id, d.scheme, d.value) <= (o.tenant_id, :scheme, :value)
        ORDER BY d.owner_tenant_id, d.scheme, d.value, d.subject_type, -d.subject_key LIMIT :rows
     ) d
     CROSS JOIN LATERAL (SELECT * FROM subjects s WHERE s.subject_key = d.subject_key LIMIT 1) s
   `,
  order: 'grantor_tenant_id, subject_type, -subject_key',
  further: '',
});

/** Names that begin with `prefix` end with `upTo`: an owner whose names all lie elsewhere costs a row for each type at most. */
const ACCESSIBLE_BY_NAME = accessible<{ prefix: string; upTo: string; afterName: string | number }>(
  'subjects_accessible_by_name',
  {
    ...searched(`(SELECT starts_with(s.name, :prefix) FROM subjects s WHERE s.subject_key = one.subject_key LIMIT 1)`),
    subjects: `
     SELECT s.* FROM unnest('{${[...SUBJECT_TYPES].sort().join()}}'::text[]) AS range(subject_type)
      CROSS JOIN LATERAL (
        SELECT * FROM subjects s
         WHERE (s.owner_tenant_id || '/', s.subject_type, s.name, s.subject_key)
                 > (o.tenant_id || '/', range.subject_type,
                    CASE WHEN o.tenant_id = :fromOwner::text AND range.subject_type = :afterType::text
                         THEN :afterName::text ELSE :prefix::text END COLLATE "C",
                    CASE WHEN o.tenant_id = :fromOwner::text AND range.subject_type = :afterType::text
                         THEN ${AFTER_KEY} ELSE 0 END)
           AND (s.owner_tenant_id || '/', s.subject_type, s.name) <= (o.tenant_id || '/', range.subject_type, :upTo::text)
           AND s.name IS NOT NULL
         ORDER BY s.owner_tenant_id || '/', s.subject_type, s.name, s.subject_key LIMIT :rows
      ) s
      WHERE range.subject_type >= ${atPlace(':afterType::text', "''")}
      ORDER BY s.subject_type, s.name, s.subject_key LIMIT :rows
   `,
    order: 'grantor_tenant_id, subject_type, name, subject_key',
    further: ', s.name',
  },
);

/** Grants: who besides the owner may read a subject, what of it, and until when. */
export class GrantStore {
  constructor(
    private readonly sql: Sql,
    private readonly caps: Caps = DEFAULT_CAPS,
  ) {}

  /**
   * Makes each grant if the caller holds one of `managers` in the owner, the grantee exists, no live grant stands for the
   * pair (specification, "Grants"), and there are fewer live ones than there may be. At most {@link GRANTS_AT_ONCE}, each
   * pair once; what comes of one is nothing to the others. In their order.
   */
  async create(actor: Acting, grants: readonly GrantToCreate[], managers: readonly Role[]): Promise<GrantOutcome[]> {
    return this.sql.transaction(async (sql) => {
      await sql.run(LOCK_SUBJECTS, { ...actor, inputs: grants });
      const { live_grants_per_subject, live_grants_per_tenant_to_all } = this.caps;
      const caps = { live_grants_per_subject, live_grants_per_tenant_to_all };
      const rows = await sql.run(CREATE, { ...actor, inputs: grants.map(toInput), managers, ...caps });
      return grants.map((grant, place) => {
        const row = rows[place];
        if (row === undefined) throw new Error('a grant came without an outcome');
        const { createdAt, ...refusal } = row;
        if (createdAt === null) return { kind: 'refused', ...refusal };
        const made = { grantorTenantId: actor.tenantId, createdAt, revokedAt: null, status: 'active' } as const;
        return { kind: 'granted', grant: { ...grant, ...made, grantedBy: actor.principalId } };
      });
    });
  }

  /**
   * Ends a grant of the tenant that is live, if the caller holds one of `managers`; from then on no read sees it.
   * `grant` is null where the tenant has none with this id, else as it was found, or as it became when it `isRevoked`
   * by this call.
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
   * Changes what a live grant of the tenant gives, until when, or what for, if the caller holds one of `managers`: what is
   * undefined stays. A change of scopes or end is recorded with what was before. `grant` is null where the tenant has none
   * with this id, else as it became, or as it was found when it could not be changed; `isDone` also where nothing differs.
   */
  async change(
    actor: Acting,
    grantId: string,
    { scopes, expiresAt, purpose, reason }: GrantChange,
    managers: readonly Role[],
  ): Promise<{ facts: AccessFacts; grant: GrantRecord | null; isDone: boolean }> {
    return this.sql.transaction(async (sql) => {
      await sql.run(LOCK_OWN, { ...actor, grantId });
      const { facts, grant, isDifferent, isChanged } = await sql.one(CHANGE, {
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
      if (grant === null || !isChanged) return { facts, grant, isDone: !isDifferent && grant?.status === 'active' };
      const changed = {
        ...grant,
        scopes: scopes ?? grant.scopes,
        expiresAt: expiresAt === undefined ? grant.expiresAt : expiresAt,
        purpose: purpose === undefined ? grant.purpose : purpose,
      };
      return { facts, grant: changed, isDone: true };
    });
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
   * caller may do. Only an active member whose counterparty flag is on gets any. A search finds what grants let it read the
   * latest version of.
   */
  async accessible(
    actor: Actor,
    { limit, after }: PageRequest,
    search: ContentSearch | null = null,
  ): Promise<{ facts: AccessFacts; page: Page<AccessibleSubject> }> {
    const place = { ...actor, ...afterAccessible(after), rows: limit + 1 };
    const rows = await this.rowsOf(search, place, after?.[3] ?? '');
    const { facts, page } = toList(rows, limit);
    return { facts, page: { ...page, next: page.next ?? rows[0]?.ended ?? null } };
  }

  private rowsOf(
    search: ContentSearch | null,
    place: Actor & AfterAccessible & { rows: number },
    afterName: string | number,
  ) {
    switch (search?.by) {
      case undefined:
        return this.sql.run(ACCESSIBLE, place);
      case 'identifier':
        return this.sql.run(ACCESSIBLE_BY_IDENTIFIER, { ...place, ...search.identifier });
      case 'name': {
        const { prefix } = search;
        return this.sql.run(ACCESSIBLE_BY_NAME, { ...place, prefix, upTo: prefix + LAST.repeat(MAX_NAME), afterName });
      }
    }
  }
}

function toInput({ scopes, expiresAt, ...grant }: GrantToCreate): GrantInput {
  return { ...grant, scopes: scopes.join(), expiresAt: expiresAt?.toISOString() ?? null };
}

/** No character stands behind it. */
const LAST = '\u{10ffff}';

/** A position names a grant on a subject; or an owner of all its subjects, and the last one of those. */
function afterAccessible(after: PagePosition | null): AfterAccessible {
  const [first = null, afterType, afterId] = after ?? [];
  return afterType === undefined || afterId === undefined
    ? { afterGrantId: first, fromOwner: null, afterType: '', afterId: '' }
    : { afterGrantId: null, fromOwner: first, afterType, afterId };
}
