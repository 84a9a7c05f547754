-- The order in which snapshots of before the log are marked; it is dropped when they are.

CREATE INDEX CONCURRENTLY log_backfill_order ON snapshots (created_at, subject_key, snapshot_version)
