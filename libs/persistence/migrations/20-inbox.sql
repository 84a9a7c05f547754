-- An event of an update names it, and gets its body as an event of a snapshot does: when its first deliveries are made.
-- What is there fulfils the condition already: it fulfilled a narrower one.
ALTER TABLE outbox_events
  ADD COLUMN update_id uuid,
  DROP CONSTRAINT outbox_events_body_check,
  ADD CONSTRAINT outbox_events_body_check CHECK (
    body IS NOT NULL OR ((snapshot_id IS NOT NULL OR update_id IS NOT NULL) AND fanned_out_at IS NULL)) NOT VALID;
