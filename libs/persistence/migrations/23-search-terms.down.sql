DROP TRIGGER snapshots_erased_unfound ON snapshots;
DROP FUNCTION forget_search_terms;
DROP TABLE search_backfill, subject_identifiers;
ALTER TABLE subjects DROP COLUMN name;
