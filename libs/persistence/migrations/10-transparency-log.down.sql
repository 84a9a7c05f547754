-- Deletes the log with its history and its salts. Published entries can then no longer be proved.
DROP TRIGGER memberships_owner_changed ON memberships;
DROP TRIGGER memberships_owner_made ON memberships;
DROP TRIGGER grants_revoked_logged ON grants;
DROP TRIGGER grants_logged ON grants;
DROP TRIGGER snapshots_sealed_logged ON snapshots;
DROP TRIGGER snapshots_logged ON snapshots;
DROP TABLE IF EXISTS log_backfill;
DROP TABLE log_keys, log_checkpoints, log_tiles, log_tree, log_entries, log_waiting, owner_changes;
DROP FUNCTION record_owner_change, mark_owner_change, mark_grant, mark_sealed_snapshots, mark_new_snapshots, refuse_log_change;
