-- Stores who wrote each version: the principal of the verified token, and the request. The `audit` member of an envelope
-- only has the caller's claim. Older versions have neither. New log entries name both (docs/log.md).

ALTER TABLE log_entries ADD COLUMN names_writer boolean;
COMMENT ON COLUMN log_entries.names_writer IS 'True if the text of the entry names the writer of the version; null for an entry of an earlier release';

ALTER TABLE snapshots
  ADD COLUMN written_by text COLLATE "C",
  ADD COLUMN write_request_id text COLLATE "C";
COMMENT ON COLUMN snapshots.written_by IS 'The authenticated principal; null if an earlier release wrote the version';
