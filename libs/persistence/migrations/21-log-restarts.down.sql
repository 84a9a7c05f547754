-- The first entry of a restarted log then names no fact.
DROP FUNCTION restart_log;
ALTER TABLE log_entries DROP COLUMN restart_id;
ALTER TABLE log_waiting DROP COLUMN restart_id;
DROP TABLE log_restarts;
