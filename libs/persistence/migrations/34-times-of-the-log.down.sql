DROP TRIGGER snapshots_time_set ON snapshots;
DROP FUNCTION set_time_of_snapshot;
CREATE OR REPLACE FUNCTION mark_sealed_snapshots() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  INSERT INTO public.log_waiting (entry_type, subject_key, snapshot_version)
  SELECT 1, n.subject_key, n.snapshot_version
    FROM new_rows n JOIN old_rows o ON o.subject_key = n.subject_key AND o.snapshot_version = n.snapshot_version
   WHERE n.envelope_hash IS NOT NULL AND (n.prev_hash IS NOT NULL OR n.snapshot_version = 1)
     AND NOT (o.envelope_hash IS NOT NULL AND (o.prev_hash IS NOT NULL OR o.snapshot_version = 1))
   ORDER BY n.subject_key, n.snapshot_version;
  RETURN NULL;
END $$;
ALTER TABLE log_entries DROP COLUMN is_late;
ALTER TABLE log_waiting DROP COLUMN is_late;
ALTER TABLE log_checkpoints DROP COLUMN complete_at;
