-- A change that has taken effect stays in effect.
UPDATE tenants t SET erasure_confirmation = 'off'
 WHERE setting_in_effect(t.erasure_confirmation, t.pending_changes -> 'erasure_confirmation') <> t.erasure_confirmation;
CREATE OR REPLACE FUNCTION take_erasure_setting() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  NEW.confirmation := (SELECT t.erasure_confirmation FROM public.tenants t WHERE t.tenant_id = NEW.tenant_id);
  RETURN NEW;
END $$;
DROP TRIGGER memberships_end_pending_changes ON memberships;
DROP TRIGGER tenants_hold_back_changes ON tenants;
DROP FUNCTION end_pending_changes, hold_back_changes, setting_in_effect;
ALTER TABLE tenants DROP COLUMN pending_changes;
