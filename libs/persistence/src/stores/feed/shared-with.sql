-- fragment: live_grants_on(subject_key, owner)
-- The tenants with a live grant on the subject with this key, or with an accepted one on all of its owner's subjects. A tenant with
-- both appears twice. The search is by expiry, so that ended grants are not read. `began_at` is when the grant began to give rights.
(SELECT g.grantee_tenant_id, g.scopes, g.paths, greatest(g.created_at, g.starts_at) AS began_at FROM grants g
    WHERE (g.subject_key, coalesce(g.expires_at, 'infinity')) > (@subject_key, statement_timestamp())
      AND g.subject_key <= @subject_key AND g.revoked_at IS NULL AND @started
    ORDER BY g.subject_key, coalesce(g.expires_at, 'infinity') OFFSET 0)
   UNION ALL
  (SELECT g.grantee_tenant_id, g.scopes, g.paths, greatest(g.created_at, g.starts_at) AS began_at FROM grants g
    WHERE (g.grantor_tenant_id, coalesce(g.expires_at, 'infinity')) > (@owner, statement_timestamp())
      AND g.grantor_tenant_id <= @owner AND @to_all_by_end AND g.accepted_at IS NOT NULL AND @started
    ORDER BY g.grantor_tenant_id, coalesce(g.expires_at, 'infinity') OFFSET 0)
