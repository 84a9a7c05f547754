-- An event about an update names it, and gets its body with its first deliveries, as an event about a snapshot does.
-- Existing rows satisfy the new condition, because the previous one was narrower.
ALTER TABLE outbox_events
  ADD COLUMN update_id uuid,
  DROP CONSTRAINT outbox_events_body_check,
  ADD CONSTRAINT outbox_events_body_check CHECK (
    body IS NOT NULL OR ((snapshot_id IS NOT NULL OR update_id IS NOT NULL) AND fanned_out_at IS NULL)) NOT VALID;
