ALTER TABLE updates DROP COLUMN change_kind;
ALTER TABLE snapshots DROP COLUMN change_kind;
