-- The progress of the marks of older snapshots: a row while some are missing. If step 10 marked all of them itself, there is
-- none.

CREATE TABLE IF NOT EXISTS log_backfill (
  is_one           boolean PRIMARY KEY DEFAULT true CHECK (is_one),
  created_at       timestamptz NOT NULL DEFAULT '-infinity',
  subject_key      bigint NOT NULL DEFAULT 0,
  snapshot_version integer NOT NULL DEFAULT 0,
  waiting_id       bigint NOT NULL DEFAULT -(1::bigint << 52)
);
COMMENT ON TABLE log_backfill IS 'The last examined snapshot that is older than the log; nothing is integrated while there is a row';
COMMENT ON COLUMN log_backfill.waiting_id IS 'The id of the last mark; negative, so that older snapshots come before concurrent writes';
