-- Finds the subscriptions to an event by its type, without reading the tenant's other subscriptions.

CREATE TABLE webhook_subscription_types (
  tenant_id       text COLLATE "C" NOT NULL,
  event_type      text COLLATE "C" NOT NULL,
  subscription_id uuid NOT NULL,
  created_at      timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, event_type, subscription_id) INCLUDE (created_at)
);
COMMENT ON TABLE webhook_subscription_types IS 'One row per event type of each live subscription, written by a trigger. The applications can only read them';

CREATE FUNCTION keep_subscription_types() RETURNS trigger LANGUAGE plpgsql
  SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  IF TG_OP = 'UPDATE' AND (OLD.tenant_id, OLD.event_types, OLD.created_at, OLD.deleted_at)
                          IS NOT DISTINCT FROM (NEW.tenant_id, NEW.event_types, NEW.created_at, NEW.deleted_at) THEN
    RETURN NULL;
  END IF;
  IF TG_OP <> 'INSERT' THEN
    DELETE FROM webhook_subscription_types t
     WHERE t.tenant_id = OLD.tenant_id AND t.event_type = ANY (OLD.event_types)
       AND t.subscription_id = OLD.subscription_id;
  END IF;
  IF TG_OP <> 'DELETE' AND NEW.deleted_at IS NULL THEN
    INSERT INTO webhook_subscription_types (tenant_id, event_type, subscription_id, created_at)
    SELECT DISTINCT NEW.tenant_id, event_type, NEW.subscription_id, NEW.created_at
      FROM unnest(NEW.event_types) AS event_type;
  END IF;
  RETURN NULL;
END $$;
-- Before the rows are filled in: writers of subscriptions wait from here to the end of the migration.
CREATE TRIGGER webhook_subscriptions_types
  AFTER INSERT OR DELETE OR UPDATE OF tenant_id, event_types, created_at, deleted_at ON webhook_subscriptions
  FOR EACH ROW EXECUTE FUNCTION keep_subscription_types();

INSERT INTO webhook_subscription_types (tenant_id, event_type, subscription_id, created_at)
SELECT DISTINCT s.tenant_id, event_type, s.subscription_id, s.created_at
  FROM webhook_subscriptions s CROSS JOIN unnest(s.event_types) AS event_type
 WHERE s.deleted_at IS NULL;
