-- Refresh requests are in the audit trails of both tenants: created, fulfilled, declined, cancelled. An expiry has no author,
-- so it is not recorded. One statement may change requests of many tenants. It locks their counters (audit_places) in the order
-- of tenants, so that two statements cannot deadlock.

CREATE FUNCTION refresh_request_audit_records(was jsonb, became jsonb)
RETURNS TABLE (tenant_id text, action text, target jsonb, details jsonb)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT side.tenant_id,
         'refresh_request.' || CASE WHEN was IS NULL THEN 'created'
                                    WHEN was -> 'status' <> became -> 'status' THEN became ->> 'status' ELSE 'cancelled' END,
         jsonb_build_object('refresh_request_id', became -> 'refresh_request_id',
                            'requesting_tenant_id', became -> 'requesting_tenant_id', 'owner_tenant_id', s.owner_tenant_id,
                            'subject_type', s.subject_type, 'subject_id', s.subject_id),
         public.audit_details(was, became,
           '{status,due_at,expires_at,every,resolved_snapshot_id,resolved_snapshot_version,series_end_reason}')
    FROM public.subjects s
   CROSS JOIN LATERAL (SELECT s.owner_tenant_id UNION SELECT became ->> 'requesting_tenant_id') side (tenant_id)
   WHERE s.subject_key = (became ->> 'subject_key')::bigint
     AND (was IS NULL OR was -> 'status' <> became -> 'status' AND became ->> 'status' IN ('fulfilled', 'declined', 'cancelled')
          -- The end of a series whose last request is closed.
          OR was ->> 'series_end_reason' IS NULL AND became ->> 'series_end_reason' = 'cancelled')
$$;

CREATE FUNCTION audit_refresh_requests() RETURNS trigger
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' AS $$
DECLARE
  record_of record;
BEGIN
  IF TG_OP = 'INSERT' THEN
    FOR record_of IN
      SELECT a.* FROM (SELECT to_jsonb(n) AS became, n.refresh_request_id FROM new_rows n) n
       CROSS JOIN LATERAL public.refresh_request_audit_records(NULL, n.became) a
       ORDER BY a.tenant_id COLLATE "C", n.refresh_request_id
    LOOP
      PERFORM public.write_audit_record(record_of.tenant_id, record_of.action, record_of.target, record_of.details);
    END LOOP;
  ELSE
    FOR record_of IN
      SELECT a.* FROM (SELECT to_jsonb(n) AS became, n.refresh_request_id FROM new_rows n) n
        JOIN old_rows o ON o.refresh_request_id = n.refresh_request_id
       CROSS JOIN LATERAL public.refresh_request_audit_records(to_jsonb(o), n.became) a
       ORDER BY a.tenant_id COLLATE "C", n.refresh_request_id
    LOOP
      PERFORM public.write_audit_record(record_of.tenant_id, record_of.action, record_of.target, record_of.details);
    END LOOP;
  END IF;
  RETURN NULL;
END $$;

CREATE TRIGGER refresh_requests_made_audited AFTER INSERT ON refresh_requests REFERENCING NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION audit_refresh_requests();
CREATE TRIGGER refresh_requests_changed_audited AFTER UPDATE ON refresh_requests
  REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION audit_refresh_requests();

-- No earlier record has this id, so the index stays valid.
CREATE OR REPLACE FUNCTION audit_target_id(target jsonb) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  RETURN coalesce(target ->> 'grant_id', target ->> 'erasure_id', target ->> 'refresh_request_id', target ->> 'offer_id',
                  target ->> 'subscription_id', target ->> 'principal_id', target ->> 'limit_name');
END $$;

-- For the metrics of what waits for people. The expression keeps the second one out of every other search.
CREATE INDEX pending_grants_waiting ON pending_grants (confirm_by) WHERE confirmed_at IS NULL AND cancelled_at IS NULL;
CREATE INDEX refresh_requests_waiting ON refresh_requests ((due_at AT TIME ZONE 'UTC')) WHERE status = 'pending' AND due_at IS NOT NULL;
