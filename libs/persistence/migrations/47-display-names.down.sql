CREATE OR REPLACE FUNCTION forget_search_terms() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF (SELECT max(n.snapshot_version) FROM public.snapshots n WHERE n.subject_key = NEW.subject_key) = NEW.snapshot_version THEN
    UPDATE public.subjects SET name = NULL WHERE subject_key = NEW.subject_key;
    DELETE FROM public.subject_identifiers WHERE subject_key = NEW.subject_key;
  END IF;
  RETURN NULL;
END $$;
ALTER TABLE subjects DROP COLUMN display_name;
