-- The previous release cannot prove the entries of batches. The log keeps their hashes.
DROP TRIGGER disclosures_logged ON disclosures;
DROP TRIGGER audit_records_logged ON audit_records;
DROP FUNCTION mark_disclosures, mark_audit_records;
DROP INDEX disclosures_by_id, audit_records_by_id;
DELETE FROM log_waiting WHERE record_batch_id IS NOT NULL;
ALTER TABLE log_entries DROP COLUMN record_batch_id;
ALTER TABLE log_waiting DROP COLUMN record_batch_id;
DROP TABLE records_backfill, records_waiting, record_batches;
DROP FUNCTION mark_record_batch;
