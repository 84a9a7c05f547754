-- The order in which older snapshots are marked. The index is dropped afterwards.

CREATE INDEX CONCURRENTLY log_backfill_order ON snapshots (created_at, subject_key, snapshot_version)
