import {
  type AccessRule,
  ALL_SUBJECTS,
  ANYONE_ID,
  ROLES,
  rolesFrom,
  RULES,
  type Scope,
  type SubjectRef,
} from '@iss/domain';
import type { Columns } from '../../sql/columns';

/** True if grant `g` is neither revoked nor expired at the moment of the read. */
export const LIVE_GRANT = `g.revoked_at IS NULL AND (g.expires_at IS NULL OR g.expires_at > statement_timestamp())`;

/**
 * Returns a condition: `g` is a live grant to this tenant on this subject. It compares rows, so that only the index of live
 * grants can answer. The index by subject would also read the grants of all other readers.
 */
export const isLiveGrant = (grantee: string, subjectKey: string): string =>
  `(g.grantee_tenant_id, g.subject_key) BETWEEN (${grantee}, ${subjectKey}) AND (${grantee}, ${subjectKey})
             AND ${LIVE_GRANT}`;

/**
 * Conditions for grants `g` on all subjects of their grantor. Each has the exact wording of one index, so that only this index
 * can answer. The grantor of a live grant is found by an expression, because other indexes begin with the column.
 */
export const TO_ALL = {
  /** By grantor, grantee and expiry. */
  live: 'g.revoked_at IS NULL AND (g.subject_key = 0) IS TRUE',
  /** By grantor and expiry. */
  byEnd: 'g.revoked_at IS NULL AND abs(g.subject_key) = 0',
  /** By grantee and grantor: grants that the grantee accepted, explicitly or by use. */
  accepted: 'g.revoked_at IS NULL AND g.accepted_at IS NOT NULL AND +g.subject_key = 0',
  /** By grantor, newest first, including ended grants. */
  made: '(g.subject_key <> 0) IS FALSE',
  /** For changes of such grants: by grantor, newest first. */
  changed: '(g.subject_key = 0) IS TRUE',
};

/**
 * Returns a condition: `g` is a live grant of that grantor to this grantee on all of the grantor's subjects. It includes the
 * expiry, so that expired grants are not read.
 */
export const isLiveGrantToAll = (grantor: string, grantee: string): string =>
  `(g.grantor_tenant_id || '/', g.grantee_tenant_id, coalesce(g.expires_at, 'infinity'))
                   > (${grantor} || '/', ${grantee}, statement_timestamp())
             AND (g.grantor_tenant_id || '/', g.grantee_tenant_id) <= (${grantor} || '/', ${grantee})
             AND ${TO_ALL.live}`;

/**
 * Returns the same condition for grants that the grantee accepted. Lists and feeds of a tenant use it, because anybody may grant
 * a tenant all of their subjects.
 */
export const isAcceptedGrantToAll = (grantor: string, grantee: string): string =>
  `${isLiveGrantToAll(grantor, grantee)} AND g.accepted_at IS NOT NULL`;

const scopesBy = (grantee: string, isGrantToAll: typeof isLiveGrantToAll): string => `(SELECT g.scopes FROM grants g
           WHERE ${isLiveGrant(grantee, 's.subject_key')} LIMIT 1)
         || (SELECT g.scopes FROM grants g
           WHERE ${isGrantToAll('s.owner_tenant_id', grantee)} LIMIT 1)`;

/** Returns the scopes of the tenant's live grants on subject `s`, of both kinds; null if there is none. */
export const scopesHeldBy = (grantee: string): string => scopesBy(grantee, isLiveGrantToAll);

/** Returns the same without grants on all subjects that the tenant has not accepted; for events and feeds. */
export const scopesFollowedBy = (grantee: string): string => scopesBy(grantee, isAcceptedGrantToAll);

/** Returns the columns of the granted subject: `*` for all subjects, else the subject `s`. */
export const grantedColumns = (g = 'g', s = 's'): Columns<SubjectRef> => ({
  subjectType: `CASE WHEN ${g}.subject_key = 0 THEN '${ALL_SUBJECTS.subjectType}' ELSE ${s}.subject_type END`,
  subjectId: `CASE WHEN ${g}.subject_key = 0 THEN '${ALL_SUBJECTS.subjectId}' ELSE ${s}.subject_id END`,
});

/** Selects the member `facts` of a row from `f`: an `AccessFacts`. */
export const FACTS = `f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes"`;

const asList = (names: readonly string[]): string => names.map((name) => `'${name}'`).join(', ');

/** Returns the roles that satisfy a rule, as a list for IN. */
export function rolesOf({ role }: AccessRule): string {
  return asList(rolesFrom(role));
}

/** The record of a read of another tenant's subject. */
export interface SubjectDisclosure {
  subjectKey: number;
  /** The tenant whose grant allows the read; null if no grant is needed (`GLOBAL_READS=public`). */
  granteeTenantId: string | null;
  /** The grant that allows the read: the one on the subject, or else the one on all subjects. Null as above. */
  grantId: string | null;
}

/** Selects the member `disclosure` of a row from `i`, `s` and `f`: a {@link SubjectDisclosure}, or null for the owner. */
export const DISCLOSURE: Readonly<Record<'tenant' | 'global', string>> = {
  tenant: disclosureBy('i.tenant_id'),
  global: disclosureBy('f.grantee_tenant_id'),
};
function disclosureBy(granteeTenantId: string): string {
  return `CASE WHEN f.owns_subject IS NOT TRUE THEN s.subject_key::float8 END AS "disclosure?.subjectKey",
  ${granteeTenantId} AS "disclosure?.granteeTenantId", f.grant_id AS "disclosure?.grantId"`;
}

/** The role of an active member if it is unknown which of its tenants acts. */
const [WEAKEST_ROLE] = ROLES;

const withoutGrants = (tenantId: string, ownsSubject: string): string => `
LEFT JOIN LATERAL (
  SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access, m.tenancy_role,
         m.principal_type, ${ownsSubject} AS owns_subject, NULL::text[] AS grant_scopes
    FROM memberships m
   WHERE m.tenant_id = ${tenantId} AND m.principal_id = i.principal_id LIMIT 1
) f ON true`;

/** Joins facts about `i.principal_id` in this tenant, without a subject, as `f`. */
export const memberAccess = (tenantId: string): string => withoutGrants(tenantId, 'NULL::boolean');

/** Joins the same for `i.tenant_id` if only an owner may act. `ownsSubject` is an expression that is true for an owner. */
export const ownerAccess = (ownsSubject: string): string => withoutGrants('i.tenant_id', ownsSubject);

/** Joins the same for `i.tenant_id`. */
export const MEMBER_ACCESS = memberAccess('i.tenant_id');

const grantOf = (grant: string, isGrant: string): string => `
    LEFT JOIN LATERAL (SELECT g.grant_id, g.scopes FROM grants g
                        WHERE s.owner_tenant_id <> i.tenant_id AND ${isGrant} LIMIT 1) ${grant} ON true`;

/**
 * Joins facts about `i.principal_id` that acts for `i.tenant_id` on subject `s`, as `f`. `f.grant_id` is the grant that gives one
 * of `scopes`.
 */
const tenantAccess = (scopes: readonly Scope[]): string => `
LEFT JOIN LATERAL (
  SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access,
         s.owner_tenant_id = i.tenant_id AS owns_subject, one.scopes || every.scopes AS grant_scopes,
         CASE WHEN one.scopes && '{${scopes.join()}}' THEN one.grant_id ELSE every.grant_id END AS grant_id
    FROM memberships m${grantOf('one', isLiveGrant('i.tenant_id', 's.subject_key'))}${grantOf('every', isLiveGrantToAll('s.owner_tenant_id', 'i.tenant_id'))}
   WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id
) f ON true`;

const mayReadLatest = (grant: string): string => `${grant}.scopes && '{${RULES.readLatest.subject.join()}}'`;

/**
 * Joins, as `v`, the accepted live grant by which the member `f` of `i.tenant_id` may read the latest version of subject `s`. Null for the
 * owner.
 */
export const LATEST_READ_BY = `
  LEFT JOIN LATERAL (
    SELECT CASE WHEN ${mayReadLatest('one')} THEN one.grant_id WHEN ${mayReadLatest('every')} THEN every.grant_id END AS grant_id
      FROM (SELECT f.allow_counterparty_access AS may_use) m${grantOf('one', isLiveGrant('i.tenant_id', 's.subject_key'))}${grantOf('every', isAcceptedGrantToAll('s.owner_tenant_id', 'i.tenant_id'))}
     WHERE m.may_use
  ) v ON true`;

/** Joins the same for statements that disclose nothing of the subject. */
export const TENANT_ACCESS = tenantAccess([]);

/** True if `i.principal_id` is an active member of the owner of subject `s`, else null. */
const IS_OF_OWNER = `(SELECT true FROM memberships m
           WHERE m.tenant_id = s.owner_tenant_id AND m.principal_id = i.principal_id
             AND m.status = 'active' LIMIT 1)`;

/**
 * Joins facts about `i.principal_id` in any of its tenants with a right on subject `s`, as `f`. They are the membership of the
 * owner, or the scopes of all live grants to tenants in which the caller's counterparty flag is on.
 *
 * The caller may have many tenants, and the subject many grants. Neither is under the caller's control, because anybody may add
 * the caller to a tenant. So `met` walks both lists in one order, and each step skips rows that the other list lacks. It takes
 * the first grantee after the last tenant, then the first of the caller's tenants from there on. The number of steps is limited
 * by the shorter list, and is zero for a member of the owner.
 *
 * `f.grantee_tenant_id` is the first of these tenants whose grant has one of `scopes`, and `f.grant_id` is that grant. The caller
 * reads by it.
 */
const anyTenantAccess = (scopes: readonly Scope[]): string => `
LEFT JOIN LATERAL (
  SELECT '${WEAKEST_ROLE}' AS role, 'active' AS member_status, true AS allow_counterparty_access, o.owns_subject,
         h.grant_scopes, h.grantee_tenant_id, h.grant_id
    FROM (SELECT ${IS_OF_OWNER} AS owns_subject OFFSET 0) o
   CROSS JOIN LATERAL (
      WITH RECURSIVE met (tenant_id, allow_counterparty_access) AS (
        SELECT ''::text COLLATE "C", false WHERE o.owns_subject IS NULL
         UNION ALL
        SELECT m.tenant_id, m.allow_counterparty_access
          FROM met
         CROSS JOIN LATERAL (
           SELECT least(
             (SELECT g.grantee_tenant_id FROM grants g
               WHERE (g.subject_key, g.grantee_tenant_id) > (s.subject_key, met.tenant_id)
                 AND g.subject_key <= s.subject_key AND g.subject_key > 0 AND g.revoked_at IS NULL
               ORDER BY g.subject_key, g.grantee_tenant_id LIMIT 1),
             (SELECT g.grantee_tenant_id FROM grants g
               WHERE (g.grantor_tenant_id || '/', g.grantee_tenant_id) > (s.owner_tenant_id || '/', met.tenant_id)
                 AND g.grantor_tenant_id || '/' <= s.owner_tenant_id || '/' AND ${TO_ALL.live}
               ORDER BY g.grantor_tenant_id || '/', g.grantee_tenant_id LIMIT 1)) AS grantee_tenant_id
         ) g
         CROSS JOIN LATERAL (
           SELECT m.tenant_id, m.allow_counterparty_access FROM memberships m
            WHERE (m.principal_id, m.tenant_id) >= (i.principal_id, g.grantee_tenant_id)
              AND m.principal_id <= i.principal_id AND m.status = 'active'
            ORDER BY m.principal_id, m.tenant_id LIMIT 1
         ) m
      )
      SELECT array_agg(DISTINCT scope) AS grant_scopes,
             min(m.tenant_id) FILTER (WHERE scope IN (${asList(scopes)})) AS grantee_tenant_id,
             (array_agg(g.grant_id ORDER BY m.tenant_id, g.is_to_all) FILTER (WHERE scope IN (${asList(scopes)})))[1] AS grant_id
        FROM met m
       CROSS JOIN LATERAL (SELECT g.scopes, g.grant_id, false AS is_to_all FROM grants g
                            WHERE ${isLiveGrant('m.tenant_id', 's.subject_key')}
                            UNION ALL
                           SELECT g.scopes, g.grant_id, true FROM grants g
                            WHERE ${isLiveGrantToAll('s.owner_tenant_id', 'm.tenant_id')} OFFSET 0) g
       CROSS JOIN unnest(g.scopes) scope
       WHERE m.allow_counterparty_access
    ) h
) f ON true`;

/** A rule for reads of a subject: the owner may read, or a tenant with a grant of one of these scopes. */
interface ReadRule extends AccessRule {
  subject: readonly Scope[];
}

/** A rule that also suffices for inputs for which `where` is true. */
export interface OtherRule {
  rule: ReadRule;
  where: string;
}

/** Returns a condition, equivalent to `decideAccess`: the facts `f` let `i.principal_id` read subject `s`. */
const mayRead = (rule: ReadRule): string => `f.role IN (${rolesOf(rule)}) AND f.member_status = 'active'
                     AND (f.owns_subject OR (f.allow_counterparty_access AND f.grant_scopes && ARRAY[${asList(rule.subject)}]))`;

/**
 * Joins the facts `f` about a reader of subject `s`, and `r.subject_key`: the subject's key if the rule lets it read, else null.
 * A statement joins the subject's versions by that key, so it reads none of them without the right.
 *
 * `grantedBy`: the scopes that determine `f.grant_id` and `f.grantee_tenant_id` ({@link anyTenantAccess}).
 */
export function readAccess(
  form: 'tenant' | 'global',
  rule: ReadRule,
  { grantedBy = rule.subject, or }: { grantedBy?: readonly Scope[]; or?: OtherRule } = {},
): string {
  const allowed = [mayRead(rule)];
  if (or !== undefined) allowed.push(`${or.where} AND ${mayRead(or.rule)}`);
  if (form === 'global') allowed.push(`i.principal_id = '${ANYONE_ID}'`);
  return `${form === 'tenant' ? tenantAccess(grantedBy) : anyTenantAccess(grantedBy)}
  LEFT JOIN LATERAL (SELECT s.subject_key
                      WHERE ${allowed.join('\n                         OR ')}) r ON true`;
}

/** Joins the snapshot `found` as `n` if `r` allows the read. */
export const READABLE = 'LEFT JOIN LATERAL (SELECT found.* WHERE r.subject_key IS NOT NULL) n ON true';

/**
 * Joins facts about `i.principal_id` on subject `s` as `f`, if no tenant acts. The principal must be an active member of the
 * owner, or of `counterparty` while that tenant has a live grant.
 */
export const partyAccess = (counterparty: string): string => `
LEFT JOIN LATERAL (
  SELECT '${WEAKEST_ROLE}' AS role, 'active' AS member_status, false AS allow_counterparty_access,
         ${IS_OF_OWNER} AS owns_subject,
         (SELECT ${scopesHeldBy('m.tenant_id')}
            FROM memberships m
           WHERE m.tenant_id = ${counterparty} AND m.principal_id = i.principal_id AND m.status = 'active'
           LIMIT 1) AS grant_scopes
) f ON true`;
