DROP FUNCTION refuse_truncate CASCADE;
CREATE OR REPLACE FUNCTION audit_grant() RETURNS trigger
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' AS $$
DECLARE
  subject record;
BEGIN
  -- A grant on all subjects of its grantor names none.
  SELECT '*' AS subject_type, '*' AS subject_id INTO subject;
  IF NEW.subject_key <> 0 THEN
    SELECT s.subject_type, s.subject_id INTO subject FROM public.subjects s WHERE s.subject_key = NEW.subject_key;
  END IF;
  PERFORM public.write_audit_record(NEW.grantor_tenant_id,
    CASE WHEN TG_OP = 'INSERT' THEN 'grant.created'
         WHEN NEW.revoked_at IS DISTINCT FROM OLD.revoked_at THEN 'grant.revoked'
         ELSE 'grant.changed' END,
    jsonb_build_object('grant_id', NEW.grant_id, 'grantee_tenant_id', NEW.grantee_tenant_id,
                       'subject_type', subject.subject_type, 'subject_id', subject.subject_id),
    public.audit_details(CASE TG_OP WHEN 'UPDATE' THEN to_jsonb(OLD) END, to_jsonb(NEW), '{scopes,expires_at}'));
  RETURN NULL;
END $$;
