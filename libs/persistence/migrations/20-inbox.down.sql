-- The previous release cannot build the body of an event about an update, so such events without a body are deleted.
DELETE FROM outbox_events WHERE body IS NULL AND snapshot_id IS NULL;
ALTER TABLE outbox_events
  DROP CONSTRAINT outbox_events_body_check,
  DROP COLUMN update_id,
  ADD CONSTRAINT outbox_events_body_check CHECK (body IS NOT NULL OR (snapshot_id IS NOT NULL AND fanned_out_at IS NULL));
