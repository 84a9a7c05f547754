DROP TRIGGER log_restarts_forget_granted_feeds ON log_restarts;
DROP FUNCTION forget_granted_feeds;
ALTER TABLE log_feed DROP COLUMN granted_size;
DROP TABLE granted_feeds;
