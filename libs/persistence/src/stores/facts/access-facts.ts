import type { AccessFacts, MemberStatus, Role, Scope } from '@iss/domain';

/** Columns that {@link toAccessFacts} reads. */
export interface AccessFactsRow {
  role: Role | null;
  member_status: MemberStatus | null;
  allow_counterparty_access: boolean | null;
  owns_subject: boolean | null;
  grant_scopes: Scope[] | null;
}

/** A grant counts by the clock at the moment of the read. */
export const LIVE_GRANT = `g.revoked_at IS NULL AND (g.expires_at IS NULL OR g.expires_at > statement_timestamp())`;

/**
 * Whether `g` is a live grant to this tenant on this subject. Compared as rows, so that the index of live grants alone can
 * answer: by that of a subject's grants, those of all its other readers would be read as well.
 */
export const isLiveGrant = (grantee: string, subjectKey: string): string =>
  `(g.grantee_tenant_id, g.subject_key) BETWEEN (${grantee}, ${subjectKey}) AND (${grantee}, ${subjectKey})
             AND ${LIVE_GRANT}`;

export const ACCESS_COLUMNS = `f.role, f.member_status, f.allow_counterparty_access, f.owns_subject, f.grant_scopes`;

/** Facts about `i.principal_id` acting for `i.tenant_id` on subject `s`, as `f`. */
export const TENANT_ACCESS = `
LEFT JOIN LATERAL (
  SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access,
         s.owner_tenant_id = i.tenant_id AS owns_subject,
         (SELECT g.scopes FROM grants g
           WHERE ${isLiveGrant('i.tenant_id', 's.subject_key')} AND s.owner_tenant_id <> i.tenant_id
           LIMIT 1) AS grant_scopes
    FROM memberships m
   WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id
) f ON true`;

/**
 * Facts about `i.principal_id` acting for whichever of its tenants has a right on subject `s`, as `f`: membership of
 * the owner, or the scopes of every live grant to a tenant in which its counterparty flag is on. A subquery with a limit
 * and not EXISTS, for which a plan made early reads the whole table into a hash; OFFSET keeps one from walking through
 * the grants of every tenant.
 */
export const ANY_TENANT_ACCESS = `
LEFT JOIN LATERAL (
  SELECT 'tenant_reader' AS role, 'active' AS member_status, true AS allow_counterparty_access,
         (SELECT true FROM memberships m
           WHERE m.tenant_id = s.owner_tenant_id AND m.principal_id = i.principal_id
             AND m.status = 'active' LIMIT 1) AS owns_subject,
         (SELECT array_agg(DISTINCT scope)
            FROM memberships m
           CROSS JOIN LATERAL (SELECT g.scopes FROM grants g
                                WHERE ${isLiveGrant('m.tenant_id', 's.subject_key')} OFFSET 0) g
           CROSS JOIN unnest(g.scopes) scope
           WHERE m.principal_id = i.principal_id AND m.status = 'active' AND m.allow_counterparty_access) AS grant_scopes
) f ON true`;

export function toAccessFacts(row: AccessFactsRow): AccessFacts {
  return {
    membership:
      row.role === null || row.member_status === null
        ? null
        : {
            role: row.role,
            status: row.member_status,
            allowCounterpartyAccess: row.allow_counterparty_access === true,
          },
    ownsSubject: row.owns_subject === true,
    grantScopes: row.grant_scopes,
  };
}
