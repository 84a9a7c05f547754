-- The texts of old versions may be in object storage (docs/operations/archive.md). A version keeps its row, and names the pack that has
-- its text. The text leaves the database only for a pack that was read back and compared with the hash of each version.

CREATE TABLE archive_packs (
  pack_id     integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  object_id   uuid NOT NULL CONSTRAINT archive_packs_object_key UNIQUE,
  state       text COLLATE "C" NOT NULL DEFAULT 'written' CHECK (state IN ('written', 'verified', 'dropped')),
  bytes       integer NOT NULL CHECK (bytes > 0),
  texts       integer NOT NULL DEFAULT 0 CHECK (texts >= 0),
  created_at  timestamptz NOT NULL DEFAULT statement_timestamp(),
  changed_at  timestamptz NOT NULL DEFAULT statement_timestamp(),
  CONSTRAINT archive_packs_used CHECK (texts = 0 OR state = 'verified')
);
CREATE INDEX archive_packs_unused ON archive_packs (state, changed_at) WHERE texts = 0;
COMMENT ON TABLE archive_packs IS 'The objects in the archive. A row precedes its object and outlives it, so that no object is forgotten';
COMMENT ON COLUMN archive_packs.texts IS 'The number of versions whose text is only in this pack';
COMMENT ON COLUMN archive_packs.changed_at IS 'When the state changed, or the last text left. Unused packs are deleted a while after';

-- How far the versions of each tenant were examined. A worker leases a tenant while it archives.
CREATE TABLE archive_progress (
  tenant_id     text COLLATE "C" PRIMARY KEY,
  aged_to       timestamptz NOT NULL DEFAULT '-infinity',
  superseded_to timestamptz NOT NULL DEFAULT '-infinity',
  lease         uuid,
  next_at       timestamptz NOT NULL DEFAULT '-infinity'
);
CREATE INDEX archive_progress_due ON archive_progress (next_at);
COMMENT ON COLUMN archive_progress.aged_to IS 'Versions stored up to then were examined when they had the age for the archive';
COMMENT ON COLUMN archive_progress.superseded_to IS 'Versions stored up to then led to an examination of their predecessors';
COMMENT ON COLUMN archive_progress.next_at IS 'The end of the lease, or the time of the next examination';

-- The check is not validated: it holds for all existing rows.
ALTER TABLE snapshots
  ADD COLUMN pack_id integer,
  ADD COLUMN pack_offset integer,
  ADD COLUMN pack_length integer,
  ADD COLUMN text_bytes integer,
  DROP CONSTRAINT snapshots_erased_check,
  ADD CONSTRAINT snapshots_text_check CHECK (
    num_nonnulls(envelope, erasure_id, pack_id) = 1
    AND num_nonnulls(pack_id, pack_offset, pack_length, text_bytes) IN (0, 4)) NOT VALID;
COMMENT ON COLUMN snapshots.envelope IS 'The RFC 8785 text that was hashed; text, because jsonb would change it. Null after the erasure erasure_id, and if the text is in the pack pack_id';
COMMENT ON COLUMN snapshots.pack_offset IS 'The place of the encrypted text in the object of the pack, in bytes; pack_length is its size there';
COMMENT ON COLUMN snapshots.text_bytes IS 'The size of an archived text in UTF-8';

CREATE OR REPLACE FUNCTION refuse_snapshot_change() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
DECLARE
  filled snapshots;
BEGIN
  IF TG_OP = 'UPDATE' THEN
    -- An import may leave hashes out. Each may be filled in, once, with the one value that it can have, alone.
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
    -- The text goes, once, by an erasure of this version that was decided.
    IF OLD.erasure_id IS NULL AND NEW.erasure_id IS NOT NULL THEN
      filled := OLD;
      filled.envelope := NULL;
      filled.pack_id := NULL;
      filled.pack_offset := NULL;
      filled.pack_length := NULL;
      filled.text_bytes := NULL;
      filled.erasure_id := NEW.erasure_id;
      IF NEW IS NOT DISTINCT FROM filled
         AND EXISTS (SELECT FROM erasures e
                      WHERE e.erasure_id = NEW.erasure_id AND e.status = 'erased' AND e.subject_key = OLD.subject_key
                        AND OLD.snapshot_version = ANY (e.versions)) THEN
        RETURN NEW;
      END IF;
    END IF;
    -- The text of a version that is not the latest moves to a pack that was verified, under the secret of its view.
    IF OLD.envelope IS NOT NULL AND OLD.envelope_hash IS NOT NULL AND NEW.pack_id IS NOT NULL THEN
      filled := OLD;
      filled.envelope := NULL;
      filled.pack_id := NEW.pack_id;
      filled.pack_offset := NEW.pack_offset;
      filled.pack_length := NEW.pack_length;
      filled.text_bytes := octet_length(OLD.envelope);
      IF NEW IS NOT DISTINCT FROM filled
         AND EXISTS (SELECT FROM archive_packs p
                      WHERE p.pack_id = NEW.pack_id AND p.state = 'verified' AND NEW.pack_offset + NEW.pack_length <= p.bytes)
         AND EXISTS (SELECT FROM snapshots later
                      WHERE later.subject_key = OLD.subject_key AND later.snapshot_version = OLD.snapshot_version + 1)
         AND EXISTS (SELECT FROM snapshot_views v
                      WHERE v.subject_key = OLD.subject_key AND v.snapshot_version = OLD.snapshot_version
                        AND v.view_secret IS NOT NULL) THEN
        RETURN NEW;
      END IF;
    END IF;
    -- An archived text returns from its pack, as it was written.
    IF OLD.pack_id IS NOT NULL AND NEW.envelope IS NOT NULL THEN
      filled := OLD;
      filled.envelope := NEW.envelope;
      filled.pack_id := NULL;
      filled.pack_offset := NULL;
      filled.pack_length := NULL;
      filled.text_bytes := NULL;
      IF NEW IS NOT DISTINCT FROM filled AND OLD.envelope_hash = sha256(convert_to(NEW.envelope, 'UTF8')) THEN RETURN NEW; END IF;
    END IF;
  END IF;
  RAISE EXCEPTION 'snapshots are immutable: % is refused', TG_OP USING ERRCODE = 'insufficient_privilege';
END $$;

-- A pack with texts stays. One that was dropped, or that no version names any more, may go after its object.
CREATE FUNCTION refuse_pack_change() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF TG_OP = 'DELETE' AND OLD.state = 'dropped' THEN RETURN OLD; END IF;
  IF TG_OP = 'UPDATE' AND NEW.object_id = OLD.object_id AND NEW.bytes = OLD.bytes AND NEW.created_at = OLD.created_at
     AND (NEW.state = OLD.state OR (OLD.state, NEW.state) IN (('written', 'verified'), ('written', 'dropped'), ('verified', 'dropped')))
  THEN RETURN NEW; END IF;
  RAISE EXCEPTION 'packs stay while versions name them: % is refused', TG_OP USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE TRIGGER archive_packs_stay BEFORE UPDATE OR DELETE ON archive_packs
  FOR EACH ROW EXECUTE FUNCTION refuse_pack_change();
CREATE TRIGGER archive_packs_not_truncated BEFORE TRUNCATE ON archive_packs
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_truncate();

-- Points versions at a pack whose texts were read back, and drops their texts, in one transaction. `hashes` are those of the texts that
-- were read back. It skips a version that was erased or archived meanwhile. Returns the number of archived versions.
CREATE FUNCTION archive_texts(pack uuid, keys bigint[], versions integer[], offsets integer[], lengths integer[], hashes bytea[])
RETURNS integer LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  id integer;
  moved integer;
BEGIN
  UPDATE public.archive_packs SET state = 'verified', changed_at = statement_timestamp()
   WHERE object_id = pack AND state IN ('written', 'verified') RETURNING pack_id INTO id;
  IF id IS NULL THEN
    RAISE EXCEPTION 'the pack % was dropped', pack USING ERRCODE = 'object_not_in_prerequisite_state';
  END IF;
  UPDATE public.snapshots n
     SET envelope = NULL, pack_id = id, pack_offset = a.pack_offset, pack_length = a.pack_length, text_bytes = octet_length(n.envelope)
    FROM (SELECT o.*, a.pack_offset, a.pack_length
            FROM unnest(keys, versions, offsets, lengths, hashes) AS a(subject_key, snapshot_version, pack_offset, pack_length, hash)
           CROSS JOIN LATERAL (SELECT o.subject_key, o.snapshot_version FROM public.snapshots o
                                WHERE o.subject_key = a.subject_key AND o.snapshot_version = a.snapshot_version
                                  AND o.envelope IS NOT NULL AND o.envelope_hash = a.hash FOR UPDATE) o
           ORDER BY o.subject_key, o.snapshot_version OFFSET 0) a
   WHERE n.subject_key = a.subject_key AND n.snapshot_version = a.snapshot_version AND n.envelope IS NOT NULL;
  GET DIAGNOSTICS moved = ROW_COUNT;
  UPDATE public.archive_packs SET texts = texts + moved WHERE pack_id = id;
  RETURN moved;
END $$;
REVOKE ALL ON FUNCTION archive_texts FROM PUBLIC;

-- Returns archived texts to the database. It skips a version that was erased or restored meanwhile. Returns the number of restored versions.
CREATE FUNCTION restore_texts(keys bigint[], versions integer[], texts text[]) RETURNS integer LANGUAGE plpgsql
  SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  restored integer;
BEGIN
  WITH old AS MATERIALIZED (
    SELECT o.*, a.restored_text
      FROM unnest(keys, versions, texts) AS a(subject_key, snapshot_version, restored_text)
     CROSS JOIN LATERAL (SELECT o.subject_key, o.snapshot_version, o.pack_id FROM public.snapshots o
                          WHERE o.subject_key = a.subject_key AND o.snapshot_version = a.snapshot_version
                            AND o.pack_id IS NOT NULL FOR UPDATE) o
     ORDER BY o.subject_key, o.snapshot_version
  ), returned AS (
    UPDATE public.snapshots n
       SET envelope = o.restored_text, pack_id = NULL, pack_offset = NULL, pack_length = NULL, text_bytes = NULL
      FROM old o
     WHERE n.subject_key = o.subject_key AND n.snapshot_version = o.snapshot_version AND n.pack_id IS NOT NULL
    RETURNING o.pack_id
  ), counted AS (
    SELECT r.pack_id, count(*)::integer AS texts FROM returned r GROUP BY r.pack_id
  ), left_packs AS (
    UPDATE public.archive_packs p SET texts = p.texts - c.texts, changed_at = statement_timestamp() FROM counted c WHERE p.pack_id = c.pack_id
  )
  SELECT coalesce(sum(c.texts), 0) INTO restored FROM counted c;
  RETURN restored;
END $$;
REVOKE ALL ON FUNCTION restore_texts FROM PUBLIC;

-- As in 19-erasure. An archived text is erased with the secret of its view, which is the only key to it.
CREATE OR REPLACE FUNCTION erase_versions(asked bigint) RETURNS timestamptz LANGUAGE plpgsql
  SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  e public.erasures;
  indexes bigint[];
BEGIN
  SELECT * INTO e FROM public.erasures WHERE erasure_id = asked FOR UPDATE;
  IF e.status IS DISTINCT FROM 'pending' OR (e.confirmation = 'required' AND e.confirmed_by IS NULL) THEN
    RAISE EXCEPTION 'erasure % is not one that was asked for and confirmed', asked USING ERRCODE = 'insufficient_privilege';
  END IF;
  indexes := ARRAY(SELECT l.log_index
                     FROM unnest(e.versions) AS v(version)
                    CROSS JOIN LATERAL (SELECT l.log_index FROM public.log_entries l
                                         WHERE l.subject_key = e.subject_key AND l.snapshot_version = v.version
                                           AND l.entry_type = 1 LIMIT 1) l
                    ORDER BY l.log_index);
  IF cardinality(indexes) <> cardinality(e.versions) THEN RETURN NULL; END IF;
  UPDATE public.erasures SET status = 'erased', reason = NULL, erased_at = statement_timestamp(), erased_indexes = indexes
   WHERE erasure_id = asked RETURNING * INTO e;
  -- In the order of an application of an update: its row, then snapshots.
  UPDATE public.updates u
     SET patch_ops = NULL, erasure_id = e.erasure_id,
         status = CASE u.status WHEN 'proposed' THEN 'withdrawn' ELSE u.status END,
         withdrawn_at = CASE u.status WHEN 'proposed' THEN e.erased_at ELSE u.withdrawn_at END
   WHERE u.erasure_id IS NULL
     AND u.update_id IN (
       SELECT o.update_id FROM public.updates o
        WHERE o.subject_key = e.subject_key AND o.status IN ('proposed', 'applied', 'withdrawn')
          AND (o.base_snapshot_version = ANY (e.versions)
               OR (o.status = 'applied' AND o.base_snapshot_version + 1 = ANY (e.versions)))
        ORDER BY o.update_id FOR UPDATE);
  -- Locked in the order of an archiving worker.
  PERFORM FROM public.snapshots n WHERE n.subject_key = e.subject_key AND n.snapshot_version = ANY (e.versions)
    ORDER BY n.snapshot_version FOR UPDATE;
  UPDATE public.archive_packs p SET texts = p.texts - gone.texts, changed_at = statement_timestamp()
    FROM (SELECT n.pack_id, count(*) AS texts FROM public.snapshots n
           WHERE n.subject_key = e.subject_key AND n.snapshot_version = ANY (e.versions) AND n.pack_id IS NOT NULL
           GROUP BY n.pack_id) gone
   WHERE p.pack_id = gone.pack_id;
  UPDATE public.snapshots n
     SET envelope = NULL, pack_id = NULL, pack_offset = NULL, pack_length = NULL, text_bytes = NULL, erasure_id = e.erasure_id
   WHERE n.subject_key = e.subject_key AND n.snapshot_version = ANY (e.versions);
  DELETE FROM public.snapshot_provenance p WHERE p.subject_key = e.subject_key AND p.snapshot_version = ANY (e.versions);
  DELETE FROM public.subject_evidence v
   WHERE v.subject_key = e.subject_key
     AND (SELECT n.erasure_id FROM public.snapshots n WHERE n.subject_key = e.subject_key
           ORDER BY n.snapshot_version DESC LIMIT 1) IS NOT NULL;
  UPDATE public.log_entries l SET salt = NULL WHERE l.log_index = ANY (e.erased_indexes);
  DELETE FROM public.idempotency_keys k
   WHERE k.subject_hash = (SELECT sha256(convert_to(s.subject_type || '/' || s.subject_id, 'UTF8'))
                             FROM public.subjects s WHERE s.subject_key = e.subject_key);
  RETURN e.erased_at;
END $$;
