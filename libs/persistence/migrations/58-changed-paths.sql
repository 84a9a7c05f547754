-- Each version records what changed against the previous one, for change feeds and events. A webhook subscription may name paths, and
-- then gets events of new versions only if something at, below or above them changed.
ALTER TABLE snapshot_provenance ADD COLUMN changed_paths json;
COMMENT ON COLUMN snapshot_provenance.changed_paths IS 'JSON Pointers of changed attributes; one that ends in ~ stands for changes below it. Null for version 1, and if unknown. Not jsonb, which refuses some keys';

ALTER TABLE webhook_subscriptions
  ADD COLUMN paths text[] COLLATE "C",
  ADD CONSTRAINT webhook_subscriptions_paths CHECK (cardinality(paths) BETWEEN 1 AND 100) NOT VALID;
COMMENT ON COLUMN webhook_subscriptions.paths IS 'JSON Pointers below /attributes, sorted; null: every new version is announced';

-- Returns true if some path of one list equals, contains or is contained in one of the other. Null stands for all paths.
CREATE FUNCTION paths_touch(one text[], other text[]) RETURNS boolean
  LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
  SELECT one IS NULL OR other IS NULL
      OR EXISTS (SELECT FROM unnest(one) a(path) CROSS JOIN unnest(other) b(path)
                  WHERE a.path = b.path OR starts_with(a.path, b.path || '/') OR starts_with(b.path, a.path || '/'))
$$;

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
      '{target_url,event_types,paths,status,disabled_reason}'));
  RETURN NULL;
END $$;
DROP TRIGGER webhook_subscriptions_changed_audited ON webhook_subscriptions;
CREATE TRIGGER webhook_subscriptions_changed_audited AFTER UPDATE ON webhook_subscriptions
  FOR EACH ROW WHEN ((OLD.target_url, OLD.event_types, OLD.paths, OLD.status, OLD.secret_fingerprint, OLD.deleted_at)
                     IS DISTINCT FROM (NEW.target_url, NEW.event_types, NEW.paths, NEW.status, NEW.secret_fingerprint, NEW.deleted_at))
  EXECUTE FUNCTION audit_subscription();

-- The paths of a later version also name members of the erased one before it. The row of the erased version itself is deleted.
CREATE FUNCTION erase_changed_paths() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  UPDATE public.snapshot_provenance p SET changed_paths = NULL
   WHERE p.subject_key = NEW.subject_key AND p.snapshot_version - 1 = ANY (NEW.versions) AND p.changed_paths IS NOT NULL;
  RETURN NULL;
END $$;
CREATE TRIGGER erasures_changed_paths_erased AFTER UPDATE ON erasures
  FOR EACH ROW WHEN (NEW.status = 'erased' AND OLD.status <> 'erased') EXECUTE FUNCTION erase_changed_paths();
