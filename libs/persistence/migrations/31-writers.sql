-- Who wrote each version: the principal whose token was verified, and the request. What the envelope's `audit` says is the
-- caller's own word. Versions of before have neither. New entries of the log name both (docs/log.md).

ALTER TABLE log_entries ADD COLUMN names_writer boolean;
COMMENT ON COLUMN log_entries.names_writer IS 'Whether the text of the entry names the writer of the version; null: an earlier release made it';

ALTER TABLE snapshots
  ADD COLUMN written_by text COLLATE "C",
  ADD COLUMN write_request_id text COLLATE "C";
COMMENT ON COLUMN snapshots.written_by IS 'The authenticated principal; null: an earlier release wrote the version';
