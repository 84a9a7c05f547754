DROP TRIGGER grants_accepted_audited ON grants;
DROP FUNCTION audit_acceptance;
ALTER TABLE disclosures DROP COLUMN grant_id;
DROP INDEX grants_received, grants_offered, grants_feed_due, grants_to_all_accepted;
ALTER TABLE grants DROP COLUMN accepted_at, DROP COLUMN is_feed_due;
