/**
 * Who holds a grant on the subject with this key that has neither expired nor been revoked, as SELECT. By the end of
 * grants, so that those that are over are not read.
 */
export const LIVE_GRANTS_ON = (subjectKey: string): string =>
  `SELECT g.grantee_tenant_id, g.scopes FROM grants g
    WHERE (g.subject_key, coalesce(g.expires_at, 'infinity')) > (${subjectKey}, statement_timestamp())
      AND g.subject_key <= ${subjectKey} AND g.revoked_at IS NULL
    ORDER BY g.subject_key, coalesce(g.expires_at, 'infinity') OFFSET 0`;
