-- Lists show the names of subjects, and search folds accents. The name is the latest version's, like the search terms.

ALTER TABLE subjects ADD COLUMN display_name text;
COMMENT ON COLUMN subjects.display_name IS 'The name in the latest version as lists show it; null where it has none';

CREATE OR REPLACE FUNCTION forget_search_terms() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF (SELECT max(n.snapshot_version) FROM public.snapshots n WHERE n.subject_key = NEW.subject_key) = NEW.snapshot_version THEN
    UPDATE public.subjects SET name = NULL, display_name = NULL WHERE subject_key = NEW.subject_key;
    DELETE FROM public.subject_identifiers WHERE subject_key = NEW.subject_key;
  END IF;
  RETURN NULL;
END $$;

-- The terms of existing subjects are derived again after the migrations.
INSERT INTO search_backfill (after_key) SELECT 0 WHERE EXISTS (SELECT FROM subjects)
  ON CONFLICT (is_one) DO UPDATE SET after_key = 0;
