-- A worker copies the public files of the log to object storage (LOG_PUBLISH_URL). One worker at a time does so.
CREATE TABLE log_copy (
  is_one        boolean PRIMARY KEY DEFAULT true CHECK (is_one),
  url           text,
  lease         uuid,
  leased_until  timestamptz NOT NULL DEFAULT '-infinity',
  copied_to     bigint NOT NULL DEFAULT 0,
  partial_paths text[] COLLATE "C" NOT NULL DEFAULT '{}',
  size          bigint,
  signed_at     timestamptz
);
COMMENT ON COLUMN log_copy.copied_to IS 'The full files of all entries before this one are in the store of the URL';
COMMENT ON COLUMN log_copy.partial_paths IS 'Partial files in the store that a later copy deletes';
COMMENT ON COLUMN log_copy.size IS 'The size of the checkpoint in the store; null before the first one';
COMMENT ON COLUMN log_copy.signed_at IS 'When that checkpoint was published in the database';
INSERT INTO log_copy DEFAULT VALUES;

-- A block with exceptions cannot run in a parallel worker. So pg_restore, REINDEX and VACUUM FULL failed to build snapshots_by_effective_time
-- of a large table in parallel.
ALTER FUNCTION effective_time(text) PARALLEL RESTRICTED;
