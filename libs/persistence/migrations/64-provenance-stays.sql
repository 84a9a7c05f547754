-- The provenance of a version stays as it was written. An erasure deletes that of its versions, and removes the changed paths of the version
-- after each. Before, the owner of the tables could change it unnoticed.
CREATE FUNCTION refuse_provenance_change() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  erased public.snapshot_provenance;
BEGIN
  IF TG_OP = 'UPDATE' THEN
    erased := OLD;
    erased.changed_paths := NULL;
    -- The type json has no equality.
    IF NEW::text = erased::text
       AND EXISTS (SELECT FROM public.erasures e
                    WHERE e.subject_key = OLD.subject_key AND e.status = 'erased' AND OLD.snapshot_version - 1 = ANY (e.versions)) THEN
      RETURN NEW;
    END IF;
  ELSIF EXISTS (SELECT FROM public.erasures e
                 WHERE e.subject_key = OLD.subject_key AND e.status = 'erased' AND OLD.snapshot_version = ANY (e.versions)) THEN
    RETURN OLD;
  END IF;
  RAISE EXCEPTION 'the provenance of a version stays: % is refused', TG_OP USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE TRIGGER snapshot_provenance_stays BEFORE UPDATE OR DELETE ON snapshot_provenance
  FOR EACH ROW EXECUTE FUNCTION refuse_provenance_change();
CREATE TRIGGER snapshot_provenance_not_truncated BEFORE TRUNCATE ON snapshot_provenance
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_truncate();

-- Older versions, and those of a previous release that still runs, have no changed paths although nothing was erased.
CREATE TABLE changed_paths_since (
  is_one  boolean PRIMARY KEY DEFAULT true CHECK (is_one),
  from_at timestamptz NOT NULL
);
COMMENT ON TABLE changed_paths_since IS 'From this time on, only an erasure leaves a version without changed paths (iss audit)';
INSERT INTO changed_paths_since (from_at)
SELECT CASE WHEN EXISTS (SELECT FROM snapshot_provenance) THEN now() + interval '1 day' ELSE '-infinity' END;
CREATE TRIGGER changed_paths_since_stays BEFORE UPDATE OR DELETE ON changed_paths_since
  FOR EACH ROW EXECUTE FUNCTION refuse_log_change();
CREATE TRIGGER changed_paths_since_not_truncated BEFORE TRUNCATE ON changed_paths_since
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_truncate();
