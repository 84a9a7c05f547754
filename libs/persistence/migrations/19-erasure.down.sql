-- Refused after any erasure: the content cannot be restored, and the previous schema cannot represent its absence.
ALTER TABLE snapshots DROP CONSTRAINT snapshots_erased_check, DROP COLUMN erasure_id, ALTER COLUMN envelope SET NOT NULL;
ALTER TABLE updates DROP CONSTRAINT updates_erased_check, DROP COLUMN erasure_id, ALTER COLUMN patch_ops SET NOT NULL;
ALTER TABLE tenants DROP COLUMN erasure_confirmation;
DROP INDEX idempotency_keys_by_subject;
ALTER TABLE idempotency_keys DROP COLUMN subject_hash;
DROP FUNCTION erase_versions;
DROP TABLE erasures;
DROP FUNCTION mark_erasure, refuse_erasure_change, take_erasure_setting;
DROP TRIGGER log_entries_immutable ON log_entries;
CREATE TRIGGER log_entries_immutable BEFORE UPDATE OR DELETE ON log_entries
  FOR EACH ROW EXECUTE FUNCTION refuse_log_change();
DROP FUNCTION refuse_entry_change;
ALTER TABLE log_waiting DROP COLUMN erasure_id;
ALTER TABLE log_entries DROP CONSTRAINT log_entries_of_erasure, DROP CONSTRAINT log_entries_salted,
  DROP COLUMN erasure_id, ALTER COLUMN salt SET NOT NULL;
CREATE OR REPLACE FUNCTION refuse_snapshot_change() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
DECLARE
  filled snapshots;
BEGIN
  IF TG_OP = 'UPDATE' THEN
    IF OLD.envelope_hash IS NULL THEN
      filled := OLD;
      filled.envelope_hash := sha256(convert_to(OLD.envelope, 'UTF8'));
      IF NEW IS NOT DISTINCT FROM filled THEN RETURN NEW; END IF;
    END IF;
    IF OLD.prev_hash IS NULL AND NEW.prev_hash IS NOT NULL THEN
      filled := OLD;
      filled.prev_hash := (SELECT parent.envelope_hash FROM snapshots parent
                            WHERE parent.subject_key = OLD.subject_key
                              AND parent.snapshot_version = OLD.snapshot_version - 1);
      IF NEW IS NOT DISTINCT FROM filled THEN RETURN NEW; END IF;
    END IF;
  END IF;
  RAISE EXCEPTION 'snapshots are immutable: % is refused', TG_OP USING ERRCODE = 'insufficient_privilege';
END $$;
