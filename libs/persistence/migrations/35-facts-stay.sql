-- Tables of facts refuse TRUNCATE, the audit trail has the purpose of grants, and search folds case fully.

CREATE FUNCTION refuse_truncate() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  -- A log that is begun anew leaves its tree behind (21-log-restarts).
  IF TG_NARGS = 1 AND EXISTS (SELECT FROM public.log_restarts r WHERE r.restarted_at = now()) THEN RETURN NULL; END IF;
  RAISE EXCEPTION 'TRUNCATE of % is refused: its rows are facts', TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE TRIGGER subjects_not_truncated BEFORE TRUNCATE ON subjects
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_truncate();
CREATE TRIGGER grants_not_truncated BEFORE TRUNCATE ON grants
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_truncate();
CREATE TRIGGER grant_changes_not_truncated BEFORE TRUNCATE ON grant_changes
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_truncate();
CREATE TRIGGER erasures_not_truncated BEFORE TRUNCATE ON erasures
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_truncate();
CREATE TRIGGER owner_changes_not_truncated BEFORE TRUNCATE ON owner_changes
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_truncate();
CREATE TRIGGER log_restarts_not_truncated BEFORE TRUNCATE ON log_restarts
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_truncate();
CREATE TRIGGER log_key_announcements_not_truncated BEFORE TRUNCATE ON log_key_announcements
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_truncate();
CREATE TRIGGER log_entries_not_truncated BEFORE TRUNCATE ON log_entries
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_truncate('restart');
CREATE TRIGGER log_tiles_not_truncated BEFORE TRUNCATE ON log_tiles
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_truncate('restart');
CREATE TRIGGER log_checkpoints_not_truncated BEFORE TRUNCATE ON log_checkpoints
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_truncate('restart');
CREATE TRIGGER log_tree_not_truncated BEFORE TRUNCATE ON log_tree
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_truncate('restart');
CREATE TRIGGER log_waiting_not_truncated BEFORE TRUNCATE ON log_waiting
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_truncate();

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
    public.audit_details(CASE TG_OP WHEN 'UPDATE' THEN to_jsonb(OLD) END, to_jsonb(NEW), '{scopes,expires_at,purpose}'));
  RETURN NULL;
END $$;

-- Older terms are folded again after the migrations.
INSERT INTO search_backfill (after_key) SELECT 0 WHERE EXISTS (SELECT FROM subjects)
  ON CONFLICT (is_one) DO UPDATE SET after_key = 0;
