-- Deletes changes of grants with their history. Their log entries can then no longer be proved. Grants on all subjects end,
-- because earlier releases do not know them.
DELETE FROM log_waiting WHERE grant_change_id IS NOT NULL;
ALTER TABLE log_waiting DROP COLUMN grant_change_id;
DROP INDEX log_entries_of_grant_changes;
ALTER TABLE log_entries DROP CONSTRAINT log_entries_of_changed_grants, DROP COLUMN grant_change_id;
DROP TABLE grant_changes;
DROP FUNCTION mark_grant_change;
DROP INDEX grants_to_all_live, grants_to_all_by_end, grants_to_all_by_grantee, grants_to_all_made;
UPDATE grants SET revoked_at = now() WHERE subject_key = 0 AND revoked_at IS NULL;
ALTER TABLE grants DROP COLUMN granted_by, DROP COLUMN purpose;
