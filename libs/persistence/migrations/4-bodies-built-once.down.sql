-- Refuses while events wait for their bodies.
ALTER TABLE outbox_events
  DROP CONSTRAINT outbox_events_body_check,
  DROP COLUMN snapshot_id,
  ALTER COLUMN body SET NOT NULL;
COMMENT ON TABLE outbox_events IS 'Written in the transaction of the change; body is the exact bytes that are signed and sent';
