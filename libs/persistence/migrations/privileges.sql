-- Runs after the migrations: the privileges of the applications' roles, table by table. They are granted each time, because
-- a dump that is restored into a cluster without the roles lacks their privileges and policies.

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
  IF (SELECT count(*) <> 5 FROM pg_policy p, unnest(p.polroles) WHERE p.polrelid = 'snapshots'::regclass) THEN
    ALTER POLICY snapshots_read ON snapshots TO iss_app, iss_gateway, iss_worker;
    ALTER POLICY snapshots_sealed ON snapshots TO iss_app, iss_gateway;
  END IF;
END $$;

GRANT USAGE ON SCHEMA public TO iss_app, iss_gateway, iss_worker;

-- Both applications.
GRANT SELECT ON migrations, limit_overrides, webhook_subscription_types, snapshots, snapshot_views, subjects, snapshot_provenance, tenants,
  memberships, claimed_types, updates, grants, grant_changes, webhook_subscriptions, refresh_requests, transfer_offers,
  outbox_waiting, outbox_events, deliveries, delivery_attempts, owner_changes, erasures, subject_evidence, disclosures,
  audit_records, records_waiting, record_batches, records_backfill,
  log_backfill, log_restarts, log_key_announcements, log_entries, log_waiting, log_checkpoints, log_tiles, log_tree, log_keys,
  log_policy, map_state, map_counting, map_streams, map_tiles, map_buckets, map_former, tenant_feed, shared_feed, log_feed, granted_feeds,
  trusted_issuers, attestations, attestation_lists, attestation_uses, evidence_waiting, issuing_keys, status_lists, credentials,
  credential_offers, presentation_requests, status_list_waiting TO iss_app, iss_gateway, iss_worker;

GRANT SELECT ON archive_packs TO iss_app, iss_gateway, iss_worker;

GRANT INSERT ON snapshot_views TO iss_app, iss_gateway, iss_worker;

-- The gateway writes for callers: it inserts facts and reads the log.
GRANT INSERT ON snapshots, subjects, disclosures, snapshot_provenance, grant_changes TO iss_app, iss_gateway;
GRANT UPDATE (name, display_name, name_path) ON subjects TO iss_app, iss_gateway;
GRANT SELECT, INSERT, UPDATE (value, path), DELETE ON subject_identifiers TO iss_app, iss_gateway;
GRANT INSERT, UPDATE ON tenants, memberships, claimed_types, updates, refresh_requests, transfer_offers TO iss_app, iss_gateway;
GRANT INSERT, UPDATE, DELETE ON subject_evidence TO iss_app, iss_gateway;
GRANT SELECT, INSERT, DELETE ON tenant_blocks TO iss_app, iss_gateway;
GRANT INSERT, UPDATE ON webhook_subscriptions TO iss_app, iss_gateway;
GRANT INSERT ON grants TO iss_app, iss_gateway;
GRANT SELECT, INSERT (grant_id, grantor_tenant_id, grantee_tenant_id, scopes, paths, starts_at, expires_at, purpose, requested_by),
  UPDATE (confirmed_by, confirmed_at, cancelled_by, cancelled_at) ON pending_grants TO iss_app, iss_gateway;
GRANT SELECT ON pending_grants TO iss_worker;
GRANT UPDATE ON grants TO iss_app;
GRANT UPDATE (scopes, paths, starts_at, expires_at, purpose, revoked_at, accepted_at, is_feed_due) ON grants TO iss_gateway;
GRANT INSERT (public_id, tenant_id, subject_key, versions, reason, reference, requested_by),
  UPDATE (status, reason, confirmed_by, confirmed_at, cancelled_by, cancelled_at) ON erasures TO iss_app, iss_gateway;
GRANT INSERT, UPDATE (vcts, keys, roots, updated_at), DELETE ON trusted_issuers TO iss_app, iss_gateway;
GRANT INSERT ON attestations TO iss_app, iss_gateway;
GRANT INSERT, UPDATE (sealed, replaced_at, retired_at) ON issuing_keys TO iss_app, iss_gateway;
GRANT INSERT, UPDATE (status, status_at, invalid_reason) ON credentials TO iss_app, iss_gateway;
GRANT INSERT, UPDATE (used, due_at) ON status_lists TO iss_app, iss_gateway;
GRANT INSERT, UPDATE (token_hash, token_expires_at, wrong_tx_codes, taken_at) ON credential_offers TO iss_app, iss_gateway;
GRANT INSERT, UPDATE (sealed, status, wrong_answers, problem, attestation_id) ON presentation_requests TO iss_app, iss_gateway;
GRANT INSERT (tenant_id, issuer, uri, due_at), UPDATE (due_at) ON attestation_lists TO iss_app, iss_gateway;
GRANT INSERT ON outbox_events, deliveries TO iss_gateway;
GRANT UPDATE ON deliveries TO iss_gateway;
GRANT SELECT, INSERT, UPDATE, DELETE ON idempotency_keys, rate_limits TO iss_app, iss_gateway;

-- The worker delivers, deletes expired rows, and writes the log.
GRANT INSERT, UPDATE, DELETE ON outbox_events, deliveries, delivery_attempts TO iss_app, iss_worker;
GRANT UPDATE ON webhook_subscriptions TO iss_worker;
GRANT UPDATE (started_told_for, expiring_told_for, expired_told_for, is_feed_due) ON grants TO iss_worker;
GRANT INSERT, UPDATE (status, closed_at, overdue_told_at, next_at, next_request_id, series_end_reason) ON refresh_requests
  TO iss_worker;
-- The worker locks these rows before it deletes them, which needs the privilege to update a column.
GRANT SELECT, UPDATE (started_at), DELETE ON idempotency_keys TO iss_worker;
GRANT SELECT, UPDATE (window_start), DELETE ON rate_limits TO iss_worker;
GRANT UPDATE (taken_at), DELETE ON credential_offers TO iss_app, iss_worker;
GRANT UPDATE (status), DELETE ON presentation_requests TO iss_app, iss_worker;
GRANT INSERT ON log_entries TO iss_app, iss_worker;
GRANT DELETE ON log_waiting, records_waiting TO iss_app, iss_worker;
GRANT INSERT ON record_batches TO iss_app, iss_worker;
GRANT UPDATE (waiting_id), DELETE ON outbox_waiting TO iss_app, iss_worker;
GRANT INSERT, DELETE ON log_checkpoints TO iss_app, iss_worker;
GRANT INSERT, UPDATE (hashes) ON log_tiles TO iss_app, iss_worker;
GRANT UPDATE (size, root) ON log_tree TO iss_app, iss_worker;
GRANT INSERT, UPDATE (backfilled_to, key_count, root, root_size) ON map_state TO iss_app, iss_worker;
GRANT INSERT, UPDATE (counted_to), DELETE ON map_counting TO iss_app, iss_worker;
GRANT INSERT, UPDATE (last, backfilled) ON map_streams TO iss_app, iss_worker;
GRANT INSERT, UPDATE (content) ON map_tiles TO iss_app, iss_worker;
GRANT INSERT, UPDATE (content), DELETE ON map_buckets TO iss_app, iss_worker;
GRANT INSERT, DELETE ON map_former TO iss_app, iss_worker;
GRANT INSERT, UPDATE (until_at) ON log_keys TO iss_app, iss_worker;
GRANT INSERT, UPDATE (policy), DELETE ON log_policy TO iss_app, iss_worker;
GRANT INSERT ON tenant_feed, shared_feed TO iss_app, iss_worker;
GRANT UPDATE (size, granted_size) ON log_feed TO iss_app, iss_worker;
GRANT INSERT, UPDATE (next_index, until_index, turn) ON granted_feeds TO iss_app, iss_worker;
GRANT INSERT (object_id, bytes), UPDATE (state, changed_at), DELETE ON archive_packs TO iss_app, iss_worker;
GRANT SELECT, INSERT, UPDATE ON archive_progress TO iss_app, iss_worker;
GRANT SELECT, UPDATE ON log_copy TO iss_app, iss_worker;
GRANT SELECT ON provenance_backfill TO iss_app, iss_worker;

GRANT UPDATE (status, status_at) ON attestations TO iss_app, iss_worker;
GRANT UPDATE (due_at, asked_at, issued_at, failures, problem) ON attestation_lists TO iss_app, iss_worker;
GRANT UPDATE (revoked_at), DELETE ON evidence_waiting TO iss_app, iss_worker;
GRANT UPDATE (token, signed_at, due_at) ON status_lists TO iss_app, iss_worker;
GRANT UPDATE (marked_at), DELETE ON status_list_waiting TO iss_app, iss_worker;

-- A restore without the roles loses both, and everybody may execute a function without explicit privileges.
REVOKE EXECUTE ON FUNCTION erase_versions FROM PUBLIC;
GRANT EXECUTE ON FUNCTION erase_versions TO iss_app, iss_gateway;
REVOKE EXECUTE ON FUNCTION archive_texts, restore_texts FROM PUBLIC;
GRANT EXECUTE ON FUNCTION archive_texts TO iss_app, iss_worker;
REVOKE EXECUTE ON FUNCTION announce_first_log_keys FROM PUBLIC;
GRANT EXECUTE ON FUNCTION announce_first_log_keys TO iss_app, iss_worker;
