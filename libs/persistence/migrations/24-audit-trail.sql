-- Records who changed what in a tenant, when, and by which request. Triggers write the records in the transaction of the
-- change, with the rights of the table's owner. So each change has its record, whichever statement makes it, and each record
-- its change. The statement names the acting principal for its transaction (`iss.acting_principal`, `iss.acting_request`).
-- If it names none, the service itself or its operator acts.

CREATE TABLE audit_records (
  audit_id     bigint GENERATED ALWAYS AS IDENTITY,
  tenant_id    text COLLATE "C" NOT NULL,
  at           timestamptz NOT NULL DEFAULT now(),
  action       text COLLATE "C" NOT NULL,
  principal_id text COLLATE "C",
  request_id   text COLLATE "C",
  target       jsonb NOT NULL,
  details      jsonb NOT NULL
);
CREATE INDEX audit_records_of_tenant ON audit_records (tenant_id, at DESC, audit_id DESC);
COMMENT ON COLUMN audit_records.action IS 'A name of AUDIT_ACTIONS (libs/domain)';
COMMENT ON COLUMN audit_records.principal_id IS 'Null for the service itself or its operator';
COMMENT ON COLUMN audit_records.target IS 'The ids of the changed object';
COMMENT ON COLUMN audit_records.details IS 'Each changed member, before and after; only settings, never secrets or free text of callers about others';
CREATE TRIGGER audit_records_immutable BEFORE UPDATE OR DELETE ON audit_records
  FOR EACH ROW EXECUTE FUNCTION refuse_record_change();
CREATE TRIGGER audit_records_not_truncated BEFORE TRUNCATE ON audit_records
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_record_change();

-- Returns the changes of these columns in the row of a trigger (`old_row` is null for a new one).
CREATE FUNCTION audit_details(old_row jsonb, new_row jsonb, columns text[]) RETURNS jsonb
  LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT coalesce(jsonb_object_agg(name, jsonb_build_object('before', old_row -> name, 'after', new_row -> name)), '{}')
    FROM unnest(columns) name
   WHERE coalesce(old_row -> name, 'null') <> coalesce(new_row -> name, 'null')
$$;

CREATE FUNCTION write_audit_record(tenant_id text, action text, target jsonb, details jsonb) RETURNS void
  LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
  INSERT INTO public.audit_records (tenant_id, action, principal_id, request_id, target, details)
  VALUES (tenant_id, action, nullif(current_setting('iss.acting_principal', true), ''),
          nullif(current_setting('iss.acting_request', true), ''), target, details)
$$;
-- Only for triggers, which have their owner's rights.
REVOKE EXECUTE ON FUNCTION write_audit_record FROM PUBLIC;

CREATE FUNCTION audit_tenant() RETURNS trigger
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  new_row jsonb := to_jsonb(NEW);
  -- All that there is of settings, those that come later too.
  settings text[] := ARRAY(SELECT jsonb_object_keys(new_row - '{tenant_id,created_at,founded_by}'::text[]));
BEGIN
  PERFORM public.write_audit_record(NEW.tenant_id,
    CASE TG_OP WHEN 'INSERT' THEN 'tenant.founded' ELSE 'tenant.changed' END,
    '{}', public.audit_details(CASE TG_OP WHEN 'UPDATE' THEN to_jsonb(OLD) END, new_row, settings));
  RETURN NULL;
END $$;
CREATE TRIGGER tenants_founded_audited AFTER INSERT ON tenants FOR EACH ROW EXECUTE FUNCTION audit_tenant();
CREATE TRIGGER tenants_changed_audited AFTER UPDATE ON tenants
  FOR EACH ROW WHEN (OLD.* IS DISTINCT FROM NEW.*) EXECUTE FUNCTION audit_tenant();

CREATE FUNCTION audit_member() RETURNS trigger
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
CREATE TRIGGER memberships_made_audited AFTER INSERT ON memberships FOR EACH ROW EXECUTE FUNCTION audit_member();
CREATE TRIGGER memberships_changed_audited AFTER UPDATE ON memberships
  FOR EACH ROW WHEN (OLD.* IS DISTINCT FROM NEW.*) EXECUTE FUNCTION audit_member();

CREATE FUNCTION audit_subscription() RETURNS trigger
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM public.write_audit_record(NEW.tenant_id,
    CASE WHEN TG_OP = 'INSERT' THEN 'webhook_subscription.created'
         WHEN NEW.deleted_at IS DISTINCT FROM OLD.deleted_at THEN 'webhook_subscription.deleted'
         WHEN NEW.secret_fingerprint <> OLD.secret_fingerprint THEN 'webhook_subscription.secret_rotated'
         WHEN NEW.status = OLD.status THEN 'webhook_subscription.changed'
         WHEN NEW.status = 'disabled' THEN 'webhook_subscription.disabled'
         ELSE 'webhook_subscription.enabled' END,
    jsonb_build_object('subscription_id', 'wsub_' || NEW.subscription_id),
    public.audit_details(CASE TG_OP WHEN 'UPDATE' THEN to_jsonb(OLD) END, to_jsonb(NEW),
      '{target_url,event_types,status,disabled_reason}'));
  RETURN NULL;
END $$;
CREATE TRIGGER webhook_subscriptions_made_audited AFTER INSERT ON webhook_subscriptions
  FOR EACH ROW EXECUTE FUNCTION audit_subscription();
-- Without the worker's notes about failures, and without a secret that was sealed with another key.
CREATE TRIGGER webhook_subscriptions_changed_audited AFTER UPDATE ON webhook_subscriptions
  FOR EACH ROW WHEN ((OLD.target_url, OLD.event_types, OLD.status, OLD.secret_fingerprint, OLD.deleted_at)
                     IS DISTINCT FROM (NEW.target_url, NEW.event_types, NEW.status, NEW.secret_fingerprint, NEW.deleted_at))
  EXECUTE FUNCTION audit_subscription();

CREATE FUNCTION audit_transfer_offer() RETURNS trigger
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM public.write_audit_record(NEW.tenant_id,
    'transfer_offer.' || CASE TG_OP WHEN 'INSERT' THEN 'made' ELSE NEW.status END,
    jsonb_build_object('offer_id', NEW.offer_id, 'from_principal_id', NEW.from_principal_id,
                       'to_principal_id', NEW.to_principal_id),
    public.audit_details(CASE TG_OP WHEN 'UPDATE' THEN to_jsonb(OLD) END, to_jsonb(NEW), '{status}'));
  RETURN NULL;
END $$;
CREATE TRIGGER transfer_offers_made_audited AFTER INSERT ON transfer_offers
  FOR EACH ROW EXECUTE FUNCTION audit_transfer_offer();
-- An expiry has no author, so it is not recorded.
CREATE TRIGGER transfer_offers_ended_audited AFTER UPDATE ON transfer_offers
  FOR EACH ROW WHEN (OLD.status = 'pending' AND NEW.status IN ('accepted', 'declined', 'cancelled'))
  EXECUTE FUNCTION audit_transfer_offer();

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
    public.audit_details(CASE TG_OP WHEN 'UPDATE' THEN to_jsonb(OLD) END, to_jsonb(NEW), '{scopes,expires_at}'));
  RETURN NULL;
END $$;
CREATE TRIGGER grants_made_audited AFTER INSERT ON grants FOR EACH ROW EXECUTE FUNCTION audit_grant();
-- Without the note that the expiry was announced.
CREATE TRIGGER grants_changed_audited AFTER UPDATE ON grants
  FOR EACH ROW WHEN ((OLD.scopes, OLD.expires_at, OLD.purpose, OLD.revoked_at)
                     IS DISTINCT FROM (NEW.scopes, NEW.expires_at, NEW.purpose, NEW.revoked_at))
  EXECUTE FUNCTION audit_grant();

CREATE FUNCTION audit_erasure() RETURNS trigger
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  subject record;
BEGIN
  SELECT s.subject_type, s.subject_id INTO subject FROM public.subjects s WHERE s.subject_key = NEW.subject_key;
  PERFORM public.write_audit_record(NEW.tenant_id,
    CASE WHEN TG_OP = 'INSERT' THEN 'erasure.requested'
         WHEN NEW.status = 'erased' THEN 'erasure.done'
         WHEN NEW.status = 'cancelled' THEN 'erasure.cancelled'
         ELSE 'erasure.confirmed' END,
    jsonb_build_object('erasure_id', NEW.public_id, 'subject_type', subject.subject_type, 'subject_id', subject.subject_id),
    public.audit_details(CASE TG_OP WHEN 'UPDATE' THEN to_jsonb(OLD) END, to_jsonb(NEW), '{status,confirmation}'));
  RETURN NULL;
END $$;
CREATE TRIGGER erasures_made_audited AFTER INSERT ON erasures FOR EACH ROW EXECUTE FUNCTION audit_erasure();
-- An expiry has no author, and moved places in a new log are no change, so neither is recorded.
CREATE TRIGGER erasures_moved_audited AFTER UPDATE ON erasures
  FOR EACH ROW WHEN (OLD.status = 'pending'
                     AND (NEW.status IN ('erased', 'cancelled') OR OLD.confirmed_by IS DISTINCT FROM NEW.confirmed_by))
  EXECUTE FUNCTION audit_erasure();

CREATE FUNCTION audit_limit() RETURNS trigger
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  overridden public.limit_overrides := coalesce(NEW, OLD);
BEGIN
  IF overridden.scope = 'tenant' THEN
    PERFORM public.write_audit_record(overridden.scope_id, 'limit.changed',
      jsonb_build_object('limit_name', overridden.limit_name),
      public.audit_details(to_jsonb(OLD), to_jsonb(NEW), '{value}'));
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER limit_overrides_audited AFTER INSERT OR UPDATE OR DELETE ON limit_overrides
  FOR EACH ROW EXECUTE FUNCTION audit_limit();
