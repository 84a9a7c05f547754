-- Entries that name a writer can then no longer be proved.
ALTER TABLE snapshots DROP COLUMN written_by, DROP COLUMN write_request_id;
ALTER TABLE log_entries DROP COLUMN names_writer;
