-- Run as the owner of the tables. From here on, writes to snapshots also go to its successor. Creating the triggers waits for running
-- writers and blocks others meanwhile, so it has a lock_timeout. Repeat it until it succeeds.

BEGIN;
SET LOCAL lock_timeout = '2s';

CREATE TABLE snapshots_next (
  LIKE snapshots INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING COMMENTS,
  CONSTRAINT snapshots_next_version_key PRIMARY KEY (subject_key, snapshot_version)
) PARTITION BY HASH (subject_key);
CREATE INDEX snapshots_next_by_tenant ON snapshots_next (tenant_id, created_at);
CREATE INDEX snapshots_next_unsealed ON snapshots_next (subject_key, snapshot_version)
  WHERE envelope_hash IS NULL OR (prev_hash IS NULL AND snapshot_version > 1);
CREATE INDEX snapshots_next_by_effective_time ON snapshots_next (subject_key, effective_time(generated_at), snapshot_version)
  WHERE snapshot_version > 1;
-- Not unique, since an index of one partition does not cover the others. A read by snapshot_id alone searches every partition,
-- unless it uses snapshot_ids.
CREATE INDEX snapshots_next_by_id ON snapshots_next (snapshot_id);

DO $$ BEGIN
  FOR part IN 0..15 LOOP
    EXECUTE format('CREATE TABLE snapshots_p%s (LIKE snapshots_next INCLUDING DEFAULTS INCLUDING CONSTRAINTS,
                      CONSTRAINT snapshots_version_key_p%1$s PRIMARY KEY (subject_key, snapshot_version))', part);
    EXECUTE format('ALTER TABLE snapshots_next ATTACH PARTITION snapshots_p%s FOR VALUES WITH (MODULUS 16, REMAINDER %1$s)', part);
  END LOOP;
END $$;

-- Ensures uniqueness across partitions.
CREATE TABLE snapshot_ids (
  snapshot_id      uuid CONSTRAINT snapshot_ids_next_key PRIMARY KEY,
  subject_key      bigint NOT NULL,
  snapshot_version integer NOT NULL
);
CREATE FUNCTION note_snapshot_ids() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  INSERT INTO public.snapshot_ids (snapshot_id, subject_key, snapshot_version)
  SELECT snapshot_id, subject_key, snapshot_version FROM new_rows ORDER BY snapshot_id;
  RETURN NULL;
END $$;
CREATE TRIGGER snapshots_ids AFTER INSERT ON snapshots_next REFERENCING NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION note_snapshot_ids();

CREATE FUNCTION copy_new_snapshots() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  INSERT INTO public.snapshots_next SELECT * FROM new_rows ORDER BY subject_key, snapshot_version;
  RETURN NULL;
END $$;
-- The two allowed changes of a snapshot: hashes after an import without hashes, and an erasure.
CREATE FUNCTION copy_changed_snapshot() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  UPDATE public.snapshots_next
     SET envelope = NEW.envelope, erasure_id = NEW.erasure_id, envelope_hash = NEW.envelope_hash, prev_hash = NEW.prev_hash
   WHERE subject_key = NEW.subject_key AND snapshot_version = NEW.snapshot_version;
  RETURN NULL;
END $$;
CREATE TRIGGER snapshots_copied AFTER INSERT ON snapshots REFERENCING NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION copy_new_snapshots();
CREATE TRIGGER snapshots_change_copied AFTER UPDATE ON snapshots
  FOR EACH ROW EXECUTE FUNCTION copy_changed_snapshot();

COMMIT;
