DROP INDEX IF EXISTS snapshots_by_effective_time;
DROP FUNCTION effective_time;
