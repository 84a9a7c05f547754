CREATE OR REPLACE FUNCTION refuse_snapshot_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'snapshots are immutable: % is refused', TG_OP USING ERRCODE = 'insufficient_privilege';
END $$;
DROP INDEX deliveries_finished, outbox_events_done, snapshots_unsealed;
ALTER TABLE deliveries DROP COLUMN retries_from;
DROP INDEX updates_by_tenant, updates_by_subject;
CREATE INDEX updates_by_tenant ON updates (tenant_id, created_at DESC, update_id DESC);
CREATE INDEX updates_by_subject ON updates (subject_key, created_at DESC, update_id DESC);
ALTER TABLE outbox_events DROP COLUMN traceparent;
DROP TABLE rate_limits, idempotency_keys, transfer_offers, refresh_requests;
