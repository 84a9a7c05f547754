-- The audit trail of a grantee has the grants that it received, and both parties have its expiry. One statement may change
-- grants of many tenants. It locks their counters (audit_places) in the order of tenants, so that two statements cannot
-- deadlock.

CREATE FUNCTION grant_audit_records(was jsonb, became jsonb)
RETURNS TABLE (tenant_id text, action text, target jsonb, details jsonb)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  WITH happened (action, is_for_grantor, columns) AS (
    SELECT 'grant.created', true, '{scopes,expires_at,purpose}'::text[] WHERE was IS NULL
     UNION ALL
    SELECT 'grant.revoked', true, '{scopes,expires_at,purpose}'
     WHERE was IS NOT NULL AND was ->> 'revoked_at' IS DISTINCT FROM became ->> 'revoked_at'
     UNION ALL
    SELECT 'grant.changed', true, '{scopes,expires_at,purpose}'
     WHERE was IS NOT NULL AND was ->> 'revoked_at' IS NOT DISTINCT FROM became ->> 'revoked_at'
       AND (was -> 'scopes', was -> 'expires_at', was -> 'purpose') IS DISTINCT FROM (became -> 'scopes', became -> 'expires_at', became -> 'purpose')
     UNION ALL
    SELECT 'grant.expired', true, '{}'
     WHERE was IS NOT NULL AND became ->> 'expired_told_for' = became ->> 'expires_at'
       AND was ->> 'expired_told_for' IS DISTINCT FROM became ->> 'expired_told_for'
     UNION ALL
    SELECT 'grant.accepted', false, '{accepted_at}'
     WHERE was IS NOT NULL AND was ->> 'accepted_at' IS NULL AND became ->> 'accepted_at' IS NOT NULL
  ), sides (tenant_id, is_grantor) AS (
    SELECT became ->> 'grantor_tenant_id', true
     UNION ALL
    -- A grant on all subjects that its grantee has not accepted shows nowhere.
    SELECT became ->> 'grantee_tenant_id', false
     WHERE became ->> 'subject_key' <> '0' OR became ->> 'accepted_at' IS NOT NULL
  )
  SELECT side.tenant_id, h.action,
         jsonb_build_object('grant_id', became -> 'grant_id', 'grantor_tenant_id', became -> 'grantor_tenant_id',
                            'grantee_tenant_id', became -> 'grantee_tenant_id',
                            'subject_type', coalesce(s.subject_type, '*'), 'subject_id', coalesce(s.subject_id, '*')),
         d.details
    FROM happened h CROSS JOIN sides side
    LEFT JOIN public.subjects s ON s.subject_key = (became ->> 'subject_key')::bigint
   CROSS JOIN LATERAL (SELECT public.audit_details(was, became, CASE WHEN side.is_grantor THEN h.columns
                                                                     ELSE array_remove(h.columns, 'purpose') END) AS details) d
   -- What a grant is for is its grantor's, and a change of that alone is no change for the grantee.
   WHERE (h.is_for_grantor OR NOT side.is_grantor) AND (side.is_grantor OR h.action <> 'grant.changed' OR d.details <> '{}')
$$;

CREATE FUNCTION audit_grants() RETURNS trigger
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' AS $$
DECLARE
  record_of record;
BEGIN
  IF TG_OP = 'INSERT' THEN
    FOR record_of IN
      SELECT a.* FROM (SELECT to_jsonb(n) AS became, row_number() OVER () AS place FROM new_rows n) n
       CROSS JOIN LATERAL public.grant_audit_records(NULL, n.became) a
       ORDER BY a.tenant_id COLLATE "C", n.place
    LOOP
      PERFORM public.write_audit_record(record_of.tenant_id, record_of.action, record_of.target, record_of.details);
    END LOOP;
  ELSE
    FOR record_of IN
      SELECT a.* FROM (SELECT to_jsonb(n) AS became, n.grant_id, row_number() OVER () AS place FROM new_rows n) n
        JOIN old_rows o ON o.grant_id = n.grant_id
       CROSS JOIN LATERAL public.grant_audit_records(to_jsonb(o), n.became) a
       ORDER BY a.tenant_id COLLATE "C", n.place
    LOOP
      PERFORM public.write_audit_record(record_of.tenant_id, record_of.action, record_of.target, record_of.details);
    END LOOP;
  END IF;
  RETURN NULL;
END $$;

DROP TRIGGER grants_made_audited ON grants;
DROP TRIGGER grants_changed_audited ON grants;
DROP TRIGGER grants_accepted_audited ON grants;
DROP FUNCTION audit_grant, audit_acceptance;
CREATE TRIGGER grants_made_audited AFTER INSERT ON grants REFERENCING NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION audit_grants();
CREATE TRIGGER grants_changed_audited AFTER UPDATE ON grants REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION audit_grants();
