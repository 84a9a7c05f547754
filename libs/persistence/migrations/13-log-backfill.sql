-- The progress of the marks of older snapshots: a row while some are missing. If step 10 marked all of them itself, there is
-- none.

CREATE TABLE IF NOT EXISTS log_backfill (
  is_one           boolean PRIMARY KEY DEFAULT true CHECK (is_one),
  created_at       timestamptz NOT NULL DEFAULT '-infinity',
  subject_key      bigint NOT NULL DEFAULT 0,
  snapshot_version integer NOT NULL DEFAULT 0,
  waiting_id       bigint NOT NULL DEFAULT -(1::bigint << 52)
);
COMMENT ON TABLE log_backfill IS 'The last snapshot of before the log that was looked at; nothing is integrated while this has a row';
COMMENT ON COLUMN log_backfill.waiting_id IS 'Of the last mark: below zero, so that all of before come before what is written meanwhile';
