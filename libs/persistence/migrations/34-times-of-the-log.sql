-- The database sets the time at which a version is stored, and each checkpoint says up to which time the log is complete. So
-- an audit finds a back-dated fact: its entry is missing from a checkpoint that should have it.

ALTER TABLE log_checkpoints ADD COLUMN complete_at timestamptz;
COMMENT ON COLUMN log_checkpoints.complete_at IS 'Everything that was committed before is in the tree; null if an earlier release published it';

-- Versions that were imported without hashes get their entries with their hashes.
ALTER TABLE log_waiting ADD COLUMN is_late boolean;
ALTER TABLE log_entries ADD COLUMN is_late boolean;
COMMENT ON COLUMN log_entries.is_late IS 'The version was imported without hashes, and logged when it got them';

CREATE OR REPLACE FUNCTION mark_sealed_snapshots() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  INSERT INTO public.log_waiting (entry_type, subject_key, snapshot_version, is_late)
  SELECT 1, n.subject_key, n.snapshot_version, true
    FROM new_rows n JOIN old_rows o ON o.subject_key = n.subject_key AND o.snapshot_version = n.snapshot_version
   WHERE n.envelope_hash IS NOT NULL AND (n.prev_hash IS NOT NULL OR n.snapshot_version = 1)
     AND NOT (o.envelope_hash IS NOT NULL AND (o.prev_hash IS NOT NULL OR o.snapshot_version = 1))
   ORDER BY n.subject_key, n.snapshot_version;
  RETURN NULL;
END $$;

-- Times in a chain never decrease, even if the clock does. The owner of the table imports histories with their times.
CREATE FUNCTION set_time_of_snapshot() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF NOT pg_has_role(current_user, (SELECT c.relowner FROM pg_class c WHERE c.oid = TG_RELID), 'USAGE') THEN
    NEW.created_at := greatest(now(), (SELECT p.created_at FROM public.snapshots p
      WHERE p.subject_key = NEW.subject_key AND p.snapshot_version = NEW.snapshot_version - 1));
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER snapshots_time_set BEFORE INSERT ON snapshots
  FOR EACH ROW WHEN (NEW.created_at IS DISTINCT FROM now()) EXECUTE FUNCTION set_time_of_snapshot();
