-- If a tenant demands it, a grant on all of its subjects needs a second human. One member's request is a pending grant in a
-- table of its own, which gives no rights. It becomes a row of `grants` when another human confirms it.

ALTER TABLE tenants ADD COLUMN grant_confirmation text NOT NULL DEFAULT 'off'
  CONSTRAINT tenants_grant_confirmation_check CHECK (grant_confirmation IN ('required', 'off'));
DROP TRIGGER tenants_hold_back_changes ON tenants;
CREATE TRIGGER tenants_hold_back_changes BEFORE UPDATE ON tenants
  FOR EACH ROW EXECUTE FUNCTION hold_back_changes('erasure_confirmation', 'grant_confirmation');

CREATE TABLE pending_grants (
  grant_id          uuid PRIMARY KEY,
  grantor_tenant_id text COLLATE "C" NOT NULL,
  grantee_tenant_id text COLLATE "C" NOT NULL,
  scopes            text[] NOT NULL,
  expires_at        timestamptz,
  purpose           text,
  requested_by      text COLLATE "C" NOT NULL,
  created_at        timestamptz NOT NULL DEFAULT statement_timestamp(),
  confirm_by        timestamptz NOT NULL DEFAULT statement_timestamp() + interval '1 day',
  confirmed_by      text COLLATE "C",
  confirmed_at      timestamptz,
  cancelled_by      text COLLATE "C",
  cancelled_at      timestamptz,
  CONSTRAINT pending_grants_two_people CHECK (confirmed_by <> requested_by),
  CONSTRAINT pending_grants_confirmed_in_time CHECK ((confirmed_by IS NULL) = (confirmed_at IS NULL) AND confirmed_at <= confirm_by),
  CONSTRAINT pending_grants_cancelled CHECK ((cancelled_by IS NULL) = (cancelled_at IS NULL)),
  CONSTRAINT pending_grants_end_once CHECK (confirmed_at IS NULL OR cancelled_at IS NULL)
);
CREATE INDEX pending_grants_of_tenant ON pending_grants (grantor_tenant_id, created_at DESC, grant_id DESC);

-- A pending grant ends once. Nothing else of it changes.
CREATE FUNCTION refuse_pending_grant_change() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF TG_OP = 'UPDATE' AND OLD.confirmed_at IS NULL AND OLD.cancelled_at IS NULL
     AND (OLD.grant_id, OLD.grantor_tenant_id, OLD.grantee_tenant_id, OLD.scopes, OLD.expires_at, OLD.purpose, OLD.requested_by,
          OLD.created_at, OLD.confirm_by)
         IS NOT DISTINCT FROM
         (NEW.grant_id, NEW.grantor_tenant_id, NEW.grantee_tenant_id, NEW.scopes, NEW.expires_at, NEW.purpose, NEW.requested_by,
          NEW.created_at, NEW.confirm_by) THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'pending grants stay as they ended: % is refused', TG_OP USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE TRIGGER pending_grants_stay BEFORE UPDATE OR DELETE ON pending_grants
  FOR EACH ROW EXECUTE FUNCTION refuse_pending_grant_change();
CREATE TRIGGER pending_grants_not_truncated BEFORE TRUNCATE ON pending_grants
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_truncate();

-- Returns true if a grant on all subjects would give rights that no second human has confirmed, although the tenant demands
-- it.
CREATE FUNCTION grant_needs_confirmation(id uuid, grantor text, grantee text, wanted text[], until timestamptz) RETURNS boolean
  LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT EXISTS (SELECT FROM public.tenants t
                  WHERE t.tenant_id = grantor
                    AND public.setting_in_effect(t.grant_confirmation, t.pending_changes -> 'grant_confirmation') = 'required')
     AND NOT EXISTS (SELECT FROM public.pending_grants p
                      WHERE p.grant_id = id AND p.grantor_tenant_id = grantor AND p.grantee_tenant_id = grantee
                        AND p.confirmed_at IS NOT NULL AND p.scopes @> wanted
                        AND coalesce(until, 'infinity') <= coalesce(p.expires_at, 'infinity'))
$$;

CREATE FUNCTION require_confirmed_grant() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF TG_OP = 'UPDATE' AND NEW.scopes <@ OLD.scopes
     AND coalesce(NEW.expires_at, 'infinity') <= coalesce(OLD.expires_at, 'infinity') THEN
    RETURN NEW;
  END IF;
  IF public.grant_needs_confirmation(NEW.grant_id, NEW.grantor_tenant_id, NEW.grantee_tenant_id, NEW.scopes, NEW.expires_at) THEN
    RAISE EXCEPTION 'a second human has to confirm a grant on all subjects: % is refused', TG_OP USING ERRCODE = 'insufficient_privilege';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER grants_to_all_made BEFORE INSERT ON grants
  FOR EACH ROW WHEN (NEW.subject_key = 0) EXECUTE FUNCTION require_confirmed_grant();
CREATE TRIGGER grants_to_all_widened BEFORE UPDATE OF scopes, expires_at ON grants
  FOR EACH ROW WHEN (NEW.subject_key = 0) EXECUTE FUNCTION require_confirmed_grant();

CREATE FUNCTION audit_pending_grant() RETURNS trigger
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' AS $$
BEGIN
  PERFORM public.write_audit_record(NEW.grantor_tenant_id,
    CASE WHEN TG_OP = 'INSERT' THEN 'grant.requested' WHEN NEW.cancelled_at IS NULL THEN 'grant.confirmed' ELSE 'grant.cancelled' END,
    jsonb_build_object('grant_id', NEW.grant_id, 'grantee_tenant_id', NEW.grantee_tenant_id, 'subject_type', '*', 'subject_id', '*'),
    public.audit_details(CASE TG_OP WHEN 'UPDATE' THEN to_jsonb(OLD) END, to_jsonb(NEW), '{scopes,expires_at,purpose}'));
  RETURN NULL;
END $$;
CREATE TRIGGER pending_grants_audited AFTER INSERT OR UPDATE ON pending_grants
  FOR EACH ROW EXECUTE FUNCTION audit_pending_grant();
