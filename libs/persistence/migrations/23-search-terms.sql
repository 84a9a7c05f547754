-- The terms by which subjects are found: name and identifiers of the latest version, folded
-- (docs/decisions/0032-search-terms.md). The statement that writes a version also writes its terms. The index of names is
-- built beside writers: `23-search-terms.index.sql`. The terms of older versions are filled in after the migrations.

ALTER TABLE subjects ADD COLUMN name text COLLATE "C";
COMMENT ON COLUMN subjects.name IS 'The name in the latest version, folded; null if it has none';

CREATE TABLE subject_identifiers (
  subject_key     bigint NOT NULL,
  scheme          text COLLATE "C" NOT NULL,
  value           text COLLATE "C" NOT NULL,
  owner_tenant_id text COLLATE "C" NOT NULL,
  subject_type    text COLLATE "C" NOT NULL,
  PRIMARY KEY (subject_key, scheme)
);
CREATE INDEX subject_identifiers_by_owner
  ON subject_identifiers (owner_tenant_id, scheme, value, subject_type, (-subject_key));
COMMENT ON TABLE subject_identifiers IS 'The identifiers in the latest versions, folded';
COMMENT ON INDEX subject_identifiers_by_owner IS 'With a negative key, so that no search by subject_key alone uses it';

CREATE TABLE search_backfill (
  is_one    boolean PRIMARY KEY DEFAULT true CHECK (is_one),
  after_key bigint NOT NULL
);
INSERT INTO search_backfill (after_key) SELECT 0 WHERE EXISTS (SELECT FROM subjects);
COMMENT ON TABLE search_backfill IS 'The last subject whose terms were filled in; no row if all have their terms';

-- An erasure of a subject's latest version also deletes its terms.
CREATE FUNCTION forget_search_terms() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF (SELECT max(n.snapshot_version) FROM public.snapshots n WHERE n.subject_key = NEW.subject_key) = NEW.snapshot_version THEN
    UPDATE public.subjects SET name = NULL WHERE subject_key = NEW.subject_key;
    DELETE FROM public.subject_identifiers WHERE subject_key = NEW.subject_key;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER snapshots_erased_unfound AFTER UPDATE ON snapshots
  FOR EACH ROW WHEN (OLD.erasure_id IS NULL AND NEW.erasure_id IS NOT NULL) EXECUTE FUNCTION forget_search_terms();
