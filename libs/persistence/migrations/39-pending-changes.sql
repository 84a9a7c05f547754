-- A setting that demands a second human is switched off by two humans, or by one and a day. The trigger decides, for every role:
-- an UPDATE that switches such a setting off leaves it on and records a pending change.

ALTER TABLE tenants ADD COLUMN pending_changes jsonb;
COMMENT ON COLUMN tenants.pending_changes IS
  'By setting: {requested_by, requested_at, effective_at} of the request to switch it off; null if there is none';

-- A pending change takes effect by itself at its time.
CREATE FUNCTION setting_in_effect(stored text, pending jsonb) RETURNS text
  LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT CASE WHEN (pending ->> 'effective_at')::timestamptz <= statement_timestamp() THEN 'off' ELSE stored END
$$;

CREATE FUNCTION hold_back_changes() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  acting text := nullif(current_setting('iss.acting_principal', true), '');
  asked_at timestamp := statement_timestamp() AT TIME ZONE 'UTC';
  format constant text := 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"';
  settings jsonb := to_jsonb(NEW);
  setting text;
  pending jsonb;
  kept jsonb := '{}';
BEGIN
  FOREACH setting IN ARRAY TG_ARGV LOOP
    pending := OLD.pending_changes -> setting;
    IF to_jsonb(OLD) ->> setting = 'required' AND settings ->> setting = 'off' THEN
      IF public.setting_in_effect('required', pending) = 'off'
         OR (pending IS NOT NULL AND pending ->> 'requested_by' IS DISTINCT FROM acting
             AND EXISTS (SELECT FROM public.memberships m
                          WHERE m.tenant_id = NEW.tenant_id AND m.principal_id = acting AND m.status = 'active'
                            AND m.principal_type = 'human' AND m.api_functional_role IN ('tenant_admin', 'tenant_owner'))) THEN
        pending := NULL;
      ELSE
        settings := settings || jsonb_build_object(setting, 'required');
        pending := coalesce(pending, jsonb_build_object(
          'requested_by', acting,
          'requested_at', to_char(asked_at, format), 'effective_at', to_char(asked_at + interval '1 day', format)));
      END IF;
    ELSIF NEW.pending_changes -> setting IS NULL THEN
      pending := NULL;
    END IF;
    IF pending IS NOT NULL THEN kept := kept || jsonb_build_object(setting, pending); END IF;
  END LOOP;
  NEW := jsonb_populate_record(NEW, settings);
  NEW.pending_changes := nullif(kept, '{}');
  RETURN NEW;
END $$;
CREATE TRIGGER tenants_hold_back_changes BEFORE UPDATE ON tenants
  FOR EACH ROW EXECUTE FUNCTION hold_back_changes('erasure_confirmation');

-- A request ends when its author is no longer an owner.
CREATE FUNCTION end_pending_changes() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  UPDATE public.tenants t
     SET pending_changes = t.pending_changes - ARRAY(
           SELECT p.key FROM jsonb_each(t.pending_changes) p
            WHERE p.value ->> 'requested_by' = NEW.principal_id
              AND public.setting_in_effect('required', p.value) = 'required')
   WHERE t.tenant_id = NEW.tenant_id AND t.pending_changes IS NOT NULL;
  RETURN NULL;
END $$;
CREATE TRIGGER memberships_end_pending_changes AFTER UPDATE ON memberships
  FOR EACH ROW WHEN (OLD.api_functional_role = 'tenant_owner'
                     AND (NEW.status, NEW.api_functional_role, NEW.principal_type) <> ('active', 'tenant_owner', 'human'))
  EXECUTE FUNCTION end_pending_changes();

CREATE OR REPLACE FUNCTION take_erasure_setting() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  NEW.confirmation := (SELECT public.setting_in_effect(t.erasure_confirmation, t.pending_changes -> 'erasure_confirmation')
                         FROM public.tenants t WHERE t.tenant_id = NEW.tenant_id);
  RETURN NEW;
END $$;
