-- After the migrations: what the applications' role may do, table by table. Granted anew each time, since a dump that is
-- restored into a cluster without the role comes without its privileges.

GRANT USAGE ON SCHEMA public TO iss_app;
GRANT SELECT ON migrations, limit_overrides, webhook_subscription_types TO iss_app;
GRANT SELECT, INSERT ON snapshots, subjects TO iss_app;
GRANT SELECT, INSERT, UPDATE ON tenants, memberships, claimed_types, updates, grants, webhook_subscriptions,
  refresh_requests, transfer_offers TO iss_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON outbox_events, deliveries, delivery_attempts, idempotency_keys, rate_limits
  TO iss_app;
GRANT SELECT ON owner_changes TO iss_app;
GRANT SELECT, INSERT ON log_entries TO iss_app;
GRANT SELECT, DELETE ON log_waiting TO iss_app;
GRANT SELECT, INSERT, DELETE ON log_checkpoints TO iss_app;
GRANT SELECT, INSERT, UPDATE (hashes) ON log_tiles TO iss_app;
GRANT SELECT, UPDATE (size, root) ON log_tree TO iss_app;
GRANT SELECT, INSERT, UPDATE (until_at) ON log_keys TO iss_app;
GRANT SELECT, INSERT, UPDATE (policy), DELETE ON log_policy TO iss_app;
