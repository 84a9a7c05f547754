-- New `subject.erased` entries name each version (docs/log.md). Existing entries keep their text, and names_versions tells the two apart.

ALTER TABLE erasures ADD COLUMN logged_versions integer[];
COMMENT ON COLUMN erasures.logged_versions IS 'The erased versions in the order of erased_indexes, because an import may be logged in another order than that of its versions';

CREATE FUNCTION order_erased_versions() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  NEW.logged_versions := ARRAY(SELECT e.snapshot_version FROM unnest(NEW.erased_indexes) AS i(log_index)
                                CROSS JOIN LATERAL (SELECT * FROM public.log_entries e WHERE e.log_index = i.log_index LIMIT 1) e
                                ORDER BY i.log_index);
  RETURN NEW;
END $$;
CREATE TRIGGER erasures_versions_ordered BEFORE UPDATE ON erasures
  FOR EACH ROW WHEN (NEW.status = 'erased' AND NEW.logged_versions IS NULL) EXECUTE FUNCTION order_erased_versions();

-- Fills the column for previous erasures, which otherwise do not change.
ALTER TABLE erasures DISABLE TRIGGER erasures_stay;
UPDATE erasures SET logged_versions = NULL WHERE status = 'erased';
ALTER TABLE erasures ENABLE TRIGGER erasures_stay;

ALTER TABLE log_entries ADD COLUMN names_versions boolean;
COMMENT ON COLUMN log_entries.names_versions IS 'True if the text of the entry of an erasure names the versions; null for an entry of an earlier release';
