-- An event about a snapshot names it, and gets its body with its first deliveries. No event is done without a body: a worker
-- of the previous release, which builds none, fails on such an event and leaves it to others.
ALTER TABLE outbox_events
  ALTER COLUMN body DROP NOT NULL,
  ADD COLUMN snapshot_id uuid,
  ADD CONSTRAINT outbox_events_body_check
    CHECK (body IS NOT NULL OR (snapshot_id IS NOT NULL AND fanned_out_at IS NULL));
COMMENT ON TABLE outbox_events IS 'Written in the transaction of the change; body is the exact bytes that are signed and sent, built once, before the first delivery';
