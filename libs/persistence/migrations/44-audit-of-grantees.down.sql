DROP TRIGGER grants_made_audited ON grants;
DROP TRIGGER grants_changed_audited ON grants;
DROP FUNCTION audit_grants, grant_audit_records;
CREATE FUNCTION audit_grant() RETURNS trigger
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
    public.audit_details(CASE TG_OP WHEN 'UPDATE' THEN to_jsonb(OLD) END, to_jsonb(NEW), '{scopes,expires_at,purpose}'));
  RETURN NULL;
END $$;
CREATE TRIGGER grants_made_audited AFTER INSERT ON grants FOR EACH ROW EXECUTE FUNCTION audit_grant();
-- Without the note that the expiry was announced.
CREATE TRIGGER grants_changed_audited AFTER UPDATE ON grants
  FOR EACH ROW WHEN ((OLD.scopes, OLD.expires_at, OLD.purpose, OLD.revoked_at)
                     IS DISTINCT FROM (NEW.scopes, NEW.expires_at, NEW.purpose, NEW.revoked_at))
  EXECUTE FUNCTION audit_grant();
CREATE FUNCTION audit_acceptance() RETURNS trigger
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' AS $$
DECLARE
  subject record;
BEGIN
  SELECT '*' AS subject_type, '*' AS subject_id INTO subject;
  IF NEW.subject_key <> 0 THEN
    SELECT s.subject_type, s.subject_id INTO subject FROM public.subjects s WHERE s.subject_key = NEW.subject_key;
  END IF;
  PERFORM public.write_audit_record(NEW.grantee_tenant_id, 'grant.accepted',
    jsonb_build_object('grant_id', NEW.grant_id, 'grantor_tenant_id', NEW.grantor_tenant_id,
                       'subject_type', subject.subject_type, 'subject_id', subject.subject_id),
    public.audit_details(to_jsonb(OLD), to_jsonb(NEW), '{accepted_at}'));
  RETURN NULL;
END $$;
CREATE TRIGGER grants_accepted_audited AFTER UPDATE ON grants
  FOR EACH ROW WHEN (OLD.accepted_at IS NULL AND NEW.accepted_at IS NOT NULL) EXECUTE FUNCTION audit_acceptance();
