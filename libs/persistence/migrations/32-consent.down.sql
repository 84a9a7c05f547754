UPDATE memberships SET status = 'removed' WHERE status = 'pending';
CREATE OR REPLACE FUNCTION audit_member() RETURNS trigger
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  was_active boolean := TG_OP = 'UPDATE' AND OLD.status = 'active';
BEGIN
  PERFORM public.write_audit_record(NEW.tenant_id,
    CASE WHEN NEW.status <> 'active' THEN 'member.removed' WHEN was_active THEN 'member.changed' ELSE 'member.added' END,
    jsonb_build_object('principal_id', NEW.principal_id),
    public.audit_details(CASE TG_OP WHEN 'UPDATE' THEN to_jsonb(OLD) END, to_jsonb(NEW),
      '{api_functional_role,tenancy_role,principal_type,allow_counterparty_access,status}'));
  RETURN NULL;
END $$;
DROP TABLE tenant_blocks;
DROP INDEX memberships_pending;
ALTER TABLE memberships
  DROP COLUMN invited_by, DROP COLUMN invited_at,
  DROP CONSTRAINT memberships_status_check,
  ADD CONSTRAINT memberships_status_check CHECK (status IN ('active', 'removed'));
