-- Grants, revocations, changes and checkpoints stay as they were written; the owner of the tables cannot change them either.

CREATE FUNCTION refuse_grant_change() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  -- What a grant gives changes while it is not revoked, and is kept in grant_changes. It is revoked once.
  IF TG_OP = 'UPDATE'
     AND (OLD.grant_id, OLD.grantor_tenant_id, OLD.grantee_tenant_id, OLD.subject_key, OLD.created_at, OLD.granted_by)
         IS NOT DISTINCT FROM
         (NEW.grant_id, NEW.grantor_tenant_id, NEW.grantee_tenant_id, NEW.subject_key, NEW.created_at, NEW.granted_by)
     AND (OLD.revoked_at IS NULL
          OR (OLD.revoked_at, OLD.scopes, OLD.expires_at) IS NOT DISTINCT FROM (NEW.revoked_at, NEW.scopes, NEW.expires_at)) THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'grants stay, and are revoked once: % is refused', TG_OP USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE TRIGGER grants_stay BEFORE UPDATE OR DELETE ON grants
  FOR EACH ROW EXECUTE FUNCTION refuse_grant_change();

-- The database also sets the times of a grant. The owner of the table imports grants with their times.
CREATE FUNCTION set_times_of_grant() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF NOT pg_has_role(current_user, (SELECT c.relowner FROM pg_class c WHERE c.oid = TG_RELID), 'USAGE') THEN
    IF TG_OP = 'INSERT' THEN NEW.created_at := now(); ELSE NEW.revoked_at := clock_timestamp(); END IF;
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER grants_time_set BEFORE INSERT ON grants
  FOR EACH ROW WHEN (NEW.created_at IS DISTINCT FROM now()) EXECUTE FUNCTION set_times_of_grant();
CREATE TRIGGER grants_revocation_time_set BEFORE UPDATE ON grants
  FOR EACH ROW WHEN (OLD.revoked_at IS NULL AND NEW.revoked_at IS NOT NULL) EXECUTE FUNCTION set_times_of_grant();

-- A checkpoint is marked once. After a day, only the last checkpoint of each hour stays.
CREATE FUNCTION refuse_checkpoint_change() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  marked public.log_checkpoints;
BEGIN
  IF TG_OP = 'DELETE' THEN
    IF OLD.marked_at IS NULL AND OLD.signed_at < now() - interval '1 day'
       AND EXISTS (SELECT FROM public.log_checkpoints c
                    WHERE c.checkpoint_id > OLD.checkpoint_id AND c.marked_at IS NULL
                      AND date_trunc('hour', c.signed_at) = date_trunc('hour', OLD.signed_at)) THEN
      RETURN OLD;
    END IF;
  ELSIF OLD.marked_at IS NULL THEN
    marked := OLD;
    marked.marked_at := NEW.marked_at;
    marked.marked_by := NEW.marked_by;
    IF NEW IS NOT DISTINCT FROM marked THEN RETURN NEW; END IF;
  END IF;
  RAISE EXCEPTION 'checkpoints stay as they were published: % is refused', TG_OP USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE TRIGGER log_checkpoints_stay BEFORE UPDATE OR DELETE ON log_checkpoints
  FOR EACH ROW EXECUTE FUNCTION refuse_checkpoint_change();
