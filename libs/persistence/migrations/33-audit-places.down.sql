CREATE OR REPLACE FUNCTION write_audit_record(tenant_id text, action text, target jsonb, details jsonb) RETURNS void
  LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
  INSERT INTO public.audit_records (tenant_id, action, principal_id, request_id, target, details)
  VALUES (tenant_id, action, nullif(current_setting('iss.acting_principal', true), ''),
          nullif(current_setting('iss.acting_request', true), ''), target, details)
$$;
DROP TABLE audit_places;
SELECT setval(pg_get_serial_sequence('audit_records', 'audit_id'), (SELECT coalesce(max(audit_id), 0) + 1 FROM audit_records));
