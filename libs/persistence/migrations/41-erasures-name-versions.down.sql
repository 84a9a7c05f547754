-- Entries that name versions cannot be proved afterwards.
DROP TRIGGER erasures_versions_ordered ON erasures;
DROP FUNCTION order_erased_versions;
ALTER TABLE erasures DROP COLUMN logged_versions;
ALTER TABLE log_entries DROP COLUMN names_versions;
