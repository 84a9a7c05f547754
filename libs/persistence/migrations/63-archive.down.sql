-- Refused while texts are in the archive: the previous schema cannot find them. Return them with `iss archive restore` first.
DO $$ BEGIN
  IF EXISTS (SELECT FROM archive_packs WHERE texts > 0) THEN
    RAISE EXCEPTION 'texts are in the archive: run iss archive restore first';
  END IF;
END $$;
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
      filled.erasure_id := NEW.erasure_id;
      IF NEW IS NOT DISTINCT FROM filled
         AND EXISTS (SELECT FROM erasures e
                      WHERE e.erasure_id = NEW.erasure_id AND e.status = 'erased' AND e.subject_key = OLD.subject_key
                        AND OLD.snapshot_version = ANY (e.versions)) THEN
        RETURN NEW;
      END IF;
    END IF;
  END IF;
  RAISE EXCEPTION 'snapshots are immutable: % is refused', TG_OP USING ERRCODE = 'insufficient_privilege';
END $$;
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
  UPDATE public.snapshots n SET envelope = NULL, erasure_id = e.erasure_id
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
DROP FUNCTION archive_texts, restore_texts;
ALTER TABLE snapshots
  DROP CONSTRAINT snapshots_text_check,
  ADD CONSTRAINT snapshots_erased_check CHECK ((envelope IS NULL) = (erasure_id IS NOT NULL)) NOT VALID,
  DROP COLUMN pack_id, DROP COLUMN pack_offset, DROP COLUMN pack_length, DROP COLUMN text_bytes;
COMMENT ON COLUMN snapshots.envelope IS 'The RFC 8785 text that was hashed; text, because jsonb would change it. Null after the erasure erasure_id';
DROP TABLE archive_progress, archive_packs;
DROP FUNCTION refuse_pack_change;
