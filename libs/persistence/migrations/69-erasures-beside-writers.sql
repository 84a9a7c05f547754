-- Writers of a subject and its erasure follow one another. Otherwise a proposal could keep its patch, a new version could lose its
-- name or keep what changed since an erased one, and an idempotent answer could stay, if both happened at once.

-- Waits for an erasure of the subject that is under way, and keeps others away until the end of the transaction. Returns true
-- if the version is erased by then. The calling statement itself may not see that.
CREATE FUNCTION is_erased_by_now(key bigint, version integer) RETURNS boolean LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM pg_advisory_xact_lock_shared(public.credentials_lock(key));
  RETURN (SELECT n.erasure_id IS NOT NULL FROM public.snapshots n WHERE n.subject_key = key AND n.snapshot_version = version);
END $$;

-- Waits in the same way. Returns true if versions of the subject were erased since that moment.
CREATE FUNCTION is_erased_since(key bigint, moment timestamptz) RETURNS boolean LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM pg_advisory_xact_lock_shared(public.credentials_lock(key));
  RETURN EXISTS (SELECT FROM public.erasures e WHERE e.subject_key = key AND e.status = 'erased' AND e.erased_at >= moment);
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
  -- Statements that write the subject now end first, so that this erasure sees what they wrote; later ones see this erasure.
  PERFORM pg_advisory_xact_lock(public.credentials_lock(e.subject_key));
  indexes := ARRAY(SELECT l.log_index
                     FROM unnest(e.versions) AS v(version)
                    CROSS JOIN LATERAL (SELECT l.log_index FROM public.log_entries l
                                         WHERE l.subject_key = e.subject_key AND l.snapshot_version = v.version
                                           AND l.entry_type = 1 LIMIT 1) l
                    ORDER BY l.log_index);
  IF cardinality(indexes) <> cardinality(e.versions) THEN RETURN NULL; END IF;
  UPDATE public.erasures SET status = 'erased', reason = NULL, erased_at = clock_timestamp(), erased_indexes = indexes
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
