-- After the migrations: what the applications' role may do, table by table. Granted anew each time, since a dump that is
-- restored into a cluster without the role comes without its privileges and policies.

DO $$ BEGIN
  IF NOT (SELECT relrowsecurity FROM pg_class WHERE oid = 'snapshots'::regclass) THEN
    ALTER TABLE snapshots ENABLE ROW LEVEL SECURITY;
  END IF;
  IF NOT EXISTS (SELECT FROM pg_policy WHERE polname = 'snapshots_read') THEN
    CREATE POLICY snapshots_read ON snapshots FOR SELECT TO iss_app USING (true);
  END IF;
  IF NOT EXISTS (SELECT FROM pg_policy WHERE polname = 'snapshots_sealed') THEN
    CREATE POLICY snapshots_sealed ON snapshots FOR INSERT TO iss_app
      WITH CHECK (envelope_hash = sha256(convert_to(envelope, 'UTF8')));
  END IF;
END $$;

GRANT USAGE ON SCHEMA public TO iss_app;
GRANT SELECT ON migrations, limit_overrides, webhook_subscription_types TO iss_app;
GRANT SELECT, INSERT ON snapshots, subjects, disclosures, snapshot_provenance TO iss_app;
GRANT UPDATE (name) ON subjects TO iss_app;
GRANT SELECT, INSERT, UPDATE (value), DELETE ON subject_identifiers TO iss_app;
GRANT SELECT, INSERT, UPDATE ON tenants, memberships, claimed_types, updates, grants, webhook_subscriptions,
  refresh_requests, transfer_offers TO iss_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON outbox_events, deliveries, delivery_attempts, idempotency_keys, rate_limits
  TO iss_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON subject_evidence TO iss_app;
GRANT SELECT ON owner_changes, log_backfill, log_restarts, audit_records TO iss_app;
GRANT SELECT, INSERT ON grant_changes TO iss_app;
GRANT SELECT, INSERT ON log_entries TO iss_app;
GRANT SELECT, DELETE ON log_waiting TO iss_app;
GRANT SELECT, INSERT, DELETE ON log_checkpoints TO iss_app;
GRANT SELECT, INSERT, UPDATE (hashes) ON log_tiles TO iss_app;
GRANT SELECT, UPDATE (size, root) ON log_tree TO iss_app;
GRANT SELECT, INSERT, UPDATE (until_at) ON log_keys TO iss_app;
GRANT SELECT, INSERT, UPDATE (policy), DELETE ON log_policy TO iss_app;
GRANT SELECT, INSERT ON tenant_feed, shared_feed TO iss_app;
GRANT SELECT, UPDATE (size) ON log_feed TO iss_app;
GRANT SELECT, INSERT (public_id, tenant_id, subject_key, versions, reason, reference, requested_by),
  UPDATE (status, reason, confirmed_by, confirmed_at, cancelled_by, cancelled_at) ON erasures TO iss_app;
-- A restore without the role leaves out both, and everybody may execute a function of which nothing is said.
REVOKE EXECUTE ON FUNCTION erase_versions FROM PUBLIC;
GRANT EXECUTE ON FUNCTION erase_versions TO iss_app;
