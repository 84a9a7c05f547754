-- Afterwards any key may sign, and marked checkpoints are served again.
ALTER TABLE log_entries DROP COLUMN announcement_id;
ALTER TABLE log_waiting DROP COLUMN announcement_id;
ALTER TABLE log_checkpoints DROP COLUMN marked_by, DROP COLUMN marked_at;
DROP FUNCTION announce_first_log_keys;
DROP TABLE log_key_announcements;
DROP FUNCTION mark_key_announcement, refuse_announcement_change;
