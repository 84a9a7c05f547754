-- Membership by consent (docs/membership.md): an invitation is a pending membership until its principal accepts it. Gateways
-- of the previous release give a pending member no right, because they require `active`.

ALTER TABLE memberships
  ADD COLUMN invited_by text COLLATE "C",
  ADD COLUMN invited_at timestamptz,
  DROP CONSTRAINT memberships_status_check,
  ADD CONSTRAINT memberships_status_check CHECK (status IN ('pending', 'active', 'removed')) NOT VALID;
CREATE INDEX memberships_pending ON memberships (principal_id, tenant_id) WHERE status = 'pending';

CREATE TABLE tenant_blocks (
  principal_id text COLLATE "C" NOT NULL,
  tenant_id    text COLLATE "C" NOT NULL,
  blocked_at   timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (principal_id, tenant_id)
);
COMMENT ON TABLE tenant_blocks IS 'Tenants that may not add this principal';

CREATE OR REPLACE FUNCTION audit_member() RETURNS trigger
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  was_active boolean := TG_OP = 'UPDATE' AND OLD.status = 'active';
BEGIN
  PERFORM public.write_audit_record(NEW.tenant_id,
    CASE NEW.status WHEN 'pending' THEN 'member.invited' WHEN 'removed' THEN 'member.removed'
         ELSE CASE WHEN was_active THEN 'member.changed' ELSE 'member.added' END END,
    jsonb_build_object('principal_id', NEW.principal_id),
    public.audit_details(CASE TG_OP WHEN 'UPDATE' THEN to_jsonb(OLD) END, to_jsonb(NEW),
      '{api_functional_role,tenancy_role,principal_type,allow_counterparty_access,status}'));
  RETURN NULL;
END $$;
