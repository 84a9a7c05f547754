-- Audit records are numbered per tenant, from 1. A common sequence would tell each tenant how much the others change.
-- Existing numbers stay, and each tenant continues after its greatest one.

CREATE TABLE audit_places (
  tenant_id text COLLATE "C" PRIMARY KEY,
  last_id   bigint NOT NULL
);
COMMENT ON TABLE audit_places IS 'The number of each tenant''s last audit record';

CREATE OR REPLACE FUNCTION write_audit_record(tenant_id text, action text, target jsonb, details jsonb) RETURNS void
  LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  next_id bigint;
BEGIN
  LOOP
    UPDATE public.audit_places p SET last_id = p.last_id + 1
     WHERE p.tenant_id = write_audit_record.tenant_id RETURNING p.last_id INTO next_id;
    EXIT WHEN FOUND;
    -- The first record since there are numbers of its own; who does so at the same time waits, and finds it.
    INSERT INTO public.audit_places (tenant_id, last_id)
    VALUES (write_audit_record.tenant_id,
            coalesce((SELECT max(a.audit_id) FROM public.audit_records a
                       WHERE a.tenant_id = write_audit_record.tenant_id), 0))
    ON CONFLICT DO NOTHING;
  END LOOP;
  -- The column keeps its sequence: whoever began before this step was committed still takes a number of that.
  INSERT INTO public.audit_records (audit_id, tenant_id, action, principal_id, request_id, target, details)
  OVERRIDING SYSTEM VALUE VALUES (next_id, write_audit_record.tenant_id, write_audit_record.action,
          nullif(current_setting('iss.acting_principal', true), ''),
          nullif(current_setting('iss.acting_request', true), ''), write_audit_record.target, write_audit_record.details);
END $$;
