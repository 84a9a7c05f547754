import { type AccessRule, ALL_SUBJECTS, ANYONE_ID, ROLES, rolesFrom, type Scope, type SubjectRef } from '@iss/domain';
import type { Columns } from '../../sql/columns';

/** A grant counts by the clock at the moment of the read. */
export const LIVE_GRANT = `g.revoked_at IS NULL AND (g.expires_at IS NULL OR g.expires_at > statement_timestamp())`;

/**
 * Whether `g` is a live grant to this tenant on this subject. Compared as rows, so that the index of live grants alone can
 * answer: by that of a subject's grants, those of all its other readers would be read as well.
 */
export const isLiveGrant = (grantee: string, subjectKey: string): string =>
  `(g.grantee_tenant_id, g.subject_key) BETWEEN (${grantee}, ${subjectKey}) AND (${grantee}, ${subjectKey})
             AND ${LIVE_GRANT}`;

/**
 * Grants `g` on all subjects of their grantor, each time in the words of the one index that is to answer, which no other search says; the
 * grantor of a live one is found by an expression, since other indexes begin with its name.
 */
export const TO_ALL = {
  /** By grantor, grantee and end. */
  live: 'g.revoked_at IS NULL AND (g.subject_key = 0) IS TRUE',
  /** By grantor and end. */
  byEnd: 'g.revoked_at IS NULL AND abs(g.subject_key) = 0',
  /** By grantee and grantor: those that the grantee accepted, by use or in words. */
  accepted: 'g.revoked_at IS NULL AND g.accepted_at IS NOT NULL AND +g.subject_key = 0',
  /** By grantor, newest first, ended ones too. */
  made: '(g.subject_key <> 0) IS FALSE',
  /** Of changes of such grants: by grantor, newest first. */
  changed: '(g.subject_key = 0) IS TRUE',
};

/**
 * Whether `g` is a live grant of that tenant to this one on all subjects that it owns. By its end as well, so that those
 * that expired are not read.
 */
export const isLiveGrantToAll = (grantor: string, grantee: string): string =>
  `(g.grantor_tenant_id || '/', g.grantee_tenant_id, coalesce(g.expires_at, 'infinity'))
                   > (${grantor} || '/', ${grantee}, statement_timestamp())
             AND (g.grantor_tenant_id || '/', g.grantee_tenant_id) <= (${grantor} || '/', ${grantee})
             AND ${TO_ALL.live}`;

/**
 * The same for one that the grantee accepted. Lists and feeds of a tenant show no other: anybody may grant it all of their subjects.
 */
export const isAcceptedGrantToAll = (grantor: string, grantee: string): string =>
  `${isLiveGrantToAll(grantor, grantee)} AND g.accepted_at IS NOT NULL`;

const scopesBy = (grantee: string, isGrantToAll: typeof isLiveGrantToAll): string => `(SELECT g.scopes FROM grants g
           WHERE ${isLiveGrant(grantee, 's.subject_key')} LIMIT 1)
         || (SELECT g.scopes FROM grants g
           WHERE ${isGrantToAll('s.owner_tenant_id', grantee)} LIMIT 1)`;

/** The scopes of the live grants that a tenant holds on subject `s`, by itself and with all of its owner's; else null. */
export const scopesHeldBy = (grantee: string): string => scopesBy(grantee, isLiveGrantToAll);

/** The same for what the tenant is told of the subject: without grants on all subjects that it has not accepted. */
export const scopesFollowedBy = (grantee: string): string => scopesBy(grantee, isAcceptedGrantToAll);

/** Columns of what grant `g` is on; `s` is its subject, where it is on one. */
export const grantedColumns = (g = 'g', s = 's'): Columns<SubjectRef> => ({
  subjectType: `CASE WHEN ${g}.subject_key = 0 THEN '${ALL_SUBJECTS.subjectType}' ELSE ${s}.subject_type END`,
  subjectId: `CASE WHEN ${g}.subject_key = 0 THEN '${ALL_SUBJECTS.subjectId}' ELSE ${s}.subject_id END`,
});

/** The member `facts` of a row, from `f`: an `AccessFacts`. */
export const FACTS = `f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes"`;

const asList = (names: readonly string[]): string => names.map((name) => `'${name}'`).join(', ');

/** The roles that a rule asks for, as a list for IN. */
export function rolesOf({ role }: AccessRule): string {
  return asList(rolesFrom(role));
}

/** What is recorded of a read of a subject that another tenant owns. */
export interface SubjectDisclosure {
  subjectKey: number;
  /** By whose grant it is read; null where nobody's is needed (`GLOBAL_READS=public`). */
  granteeTenantId: string | null;
  /** The grant that gives the right: the one on the subject, or else the one on all of its owner's. Null as above. */
  grantId: string | null;
}

/** The member `disclosure` of a row, from `i`, `s` and `f`: a {@link SubjectDisclosure}, or null for the owner. */
export const DISCLOSURE: Readonly<Record<'tenant' | 'global', string>> = {
  tenant: disclosureBy('i.tenant_id'),
  global: disclosureBy('f.grantee_tenant_id'),
};
function disclosureBy(granteeTenantId: string): string {
  return `CASE WHEN f.owns_subject IS NOT TRUE THEN s.subject_key::float8 END AS "disclosure?.subjectKey",
  ${granteeTenantId} AS "disclosure?.granteeTenantId", f.grant_id AS "disclosure?.grantId"`;
}

/** An active member's role at least, where it is not known which of its tenants acts. */
const [WEAKEST_ROLE] = ROLES;

const withoutGrants = (tenantId: string, ownsSubject: string): string => `
LEFT JOIN LATERAL (
  SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access, m.tenancy_role,
         m.principal_type, ${ownsSubject} AS owns_subject, NULL::text[] AS grant_scopes
    FROM memberships m
   WHERE m.tenant_id = ${tenantId} AND m.principal_id = i.principal_id LIMIT 1
) f ON true`;

/** Facts about `i.principal_id` acting for this tenant, subjects aside, as `f`. */
export const memberAccess = (tenantId: string): string => withoutGrants(tenantId, 'NULL::boolean');

/** The same for `i.tenant_id` where only an owner may act, with what says that it is one. */
export const ownerAccess = (ownsSubject: string): string => withoutGrants('i.tenant_id', ownsSubject);

/** The same for `i.tenant_id`. */
export const MEMBER_ACCESS = memberAccess('i.tenant_id');

const grantOf = (grant: string, isGrant: string): string => `
    LEFT JOIN LATERAL (SELECT g.grant_id, g.scopes FROM grants g
                        WHERE s.owner_tenant_id <> i.tenant_id AND ${isGrant} LIMIT 1) ${grant} ON true`;

/**
 * Facts about `i.principal_id` acting for `i.tenant_id` on subject `s`, as `f`. `f.grant_id` is the grant by which one of `scopes` is
 * held.
 */
const tenantAccess = (scopes: readonly Scope[]): string => `
LEFT JOIN LATERAL (
  SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access,
         s.owner_tenant_id = i.tenant_id AS owns_subject, one.scopes || every.scopes AS grant_scopes,
         CASE WHEN one.scopes && '{${scopes.join()}}' THEN one.grant_id ELSE every.grant_id END AS grant_id
    FROM memberships m${grantOf('one', isLiveGrant('i.tenant_id', 's.subject_key'))}${grantOf('every', isLiveGrantToAll('s.owner_tenant_id', 'i.tenant_id'))}
   WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id
) f ON true`;

/** The same where nothing of the subject is disclosed. */
export const TENANT_ACCESS = tenantAccess([]);

/** Whether `i.principal_id` is an active member of the owner of subject `s`: true or null. */
const IS_OF_OWNER = `(SELECT true FROM memberships m
           WHERE m.tenant_id = s.owner_tenant_id AND m.principal_id = i.principal_id
             AND m.status = 'active' LIMIT 1)`;

/**
 * Facts about `i.principal_id` acting for whichever of its tenants has a right on subject `s`, as `f`: membership of
 * the owner, or the scopes of every live grant to a tenant in which its counterparty flag is on.
 *
 * Of tenants and grants either may be many, and neither is the caller's own doing: anybody may add it to a tenant. So `met`
 * goes along both in one order, and each step skips what the other side has not: it takes the first grantee behind the last
 * tenant, of those of the subject and those of all its owner's subjects, and the first of the caller's tenants from there on.
 * There are no more steps than the smaller side has rows, and none for a member of the owner.
 *
 * `f.grantee_tenant_id` is the first of these tenants whose grant has one of `scopes`: whose grant the caller reads by. That is
 * `f.grant_id`.
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

/** A rule for reads of a subject: its owner's, or by a grant with one of these scopes. */
interface ReadRule extends AccessRule {
  subject: readonly Scope[];
}

/** A rule that is enough as well for the inputs for which `where` is true. */
export interface OtherRule {
  rule: ReadRule;
  where: string;
}

/** Says, as `decideAccess` does, whether the facts `f` let `i.principal_id` read subject `s`. */
const mayRead = (rule: ReadRule): string => `f.role IN (${rolesOf(rule)}) AND f.member_status = 'active'
                     AND (f.owns_subject OR (f.allow_counterparty_access AND f.grant_scopes && ARRAY[${asList(rule.subject)}]))`;

/**
 * The facts `f` about a reader of subject `s`, and `r.subject_key`: the subject's key where they let it read by this rule, else
 * null. A statement joins the subject's versions by that key, so that it reads none of them for anybody else.
 *
 * `grantedBy`: the scopes by which `f.grant_id` and `f.grantee_tenant_id` are found; see {@link anyTenantAccess}.
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

/** The snapshot `found`, where `r` says that it may be read, as `n`. */
export const READABLE = 'LEFT JOIN LATERAL (SELECT found.* WHERE r.subject_key IS NOT NULL) n ON true';

/**
 * Facts about `i.principal_id` on subject `s`, as `f`, where no tenant acts: it is an active member of the owner, or of
 * `counterparty` while that one holds a live grant.
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
