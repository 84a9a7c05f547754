-- Entries that name a writer cannot be proved afterwards.
ALTER TABLE snapshots DROP COLUMN written_by, DROP COLUMN write_request_id;
ALTER TABLE log_entries DROP COLUMN names_writer;
