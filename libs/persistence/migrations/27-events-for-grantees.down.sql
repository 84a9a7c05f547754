ALTER TABLE deliveries DROP COLUMN skipped_reason;
DROP INDEX grants_expired, grants_expiring;
ALTER TABLE grants DROP COLUMN expired_told_for, DROP COLUMN expiring_told_for;
