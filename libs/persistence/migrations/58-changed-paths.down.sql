CREATE OR REPLACE FUNCTION audit_subscription() RETURNS trigger
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
DROP TRIGGER webhook_subscriptions_changed_audited ON webhook_subscriptions;
CREATE TRIGGER webhook_subscriptions_changed_audited AFTER UPDATE ON webhook_subscriptions
  FOR EACH ROW WHEN ((OLD.target_url, OLD.event_types, OLD.status, OLD.secret_fingerprint, OLD.deleted_at)
                     IS DISTINCT FROM (NEW.target_url, NEW.event_types, NEW.status, NEW.secret_fingerprint, NEW.deleted_at))
  EXECUTE FUNCTION audit_subscription();
DROP TRIGGER erasures_changed_paths_erased ON erasures;
DROP FUNCTION erase_changed_paths, paths_touch;
ALTER TABLE webhook_subscriptions DROP COLUMN paths;
ALTER TABLE snapshot_provenance DROP COLUMN changed_paths;
