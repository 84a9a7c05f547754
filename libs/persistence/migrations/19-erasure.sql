-- Erasure (docs/erasure.md): deletes the texts of versions, and keeps their ids, hashes and places in the log. One function
-- does it for a confirmed row of `erasures`. The triggers that protect snapshots and entries allow exactly that.

-- First, because only the integration of the log waits for it. Everything below takes a moment.
ALTER TABLE log_entries
  ADD COLUMN erasure_id bigint,
  ALTER COLUMN salt DROP NOT NULL,
  -- Not validated: existing rows have a salt, and none of them has the new type.
  ADD CONSTRAINT log_entries_of_erasure CHECK (entry_type <> 6 OR erasure_id IS NOT NULL) NOT VALID,
  ADD CONSTRAINT log_entries_salted CHECK (salt IS NOT NULL OR entry_type = 1) NOT VALID;
CREATE UNIQUE INDEX log_entries_of_erasures ON log_entries (erasure_id) WHERE erasure_id IS NOT NULL;
COMMENT ON COLUMN log_entries.salt IS '128 random bits, so that nobody can confirm a guessed fact by the hashes in the tree. Null if the version was erased';

CREATE TABLE erasures (
  erasure_id     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  public_id      uuid NOT NULL CONSTRAINT erasures_public_id_key UNIQUE,
  tenant_id      text COLLATE "C" NOT NULL,
  subject_key    bigint NOT NULL,
  versions       integer[] NOT NULL CHECK (cardinality(versions) > 0),
  status         text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'erased', 'cancelled', 'expired')),
  confirmation   text NOT NULL DEFAULT 'required' CHECK (confirmation IN ('required', 'off')),
  reason         text,
  reference      text,
  requested_by   text COLLATE "C" NOT NULL,
  requested_at   timestamptz NOT NULL DEFAULT statement_timestamp(),
  confirm_by     timestamptz NOT NULL DEFAULT statement_timestamp() + interval '1 day',
  confirmed_by   text COLLATE "C",
  confirmed_at   timestamptz,
  cancelled_by   text COLLATE "C",
  cancelled_at   timestamptz,
  erased_at      timestamptz,
  erased_indexes bigint[],
  CONSTRAINT erasures_two_people CHECK (confirmed_by <> requested_by),
  CONSTRAINT erasures_confirmed_in_time CHECK ((confirmed_by IS NULL) = (confirmed_at IS NULL) AND confirmed_at <= confirm_by),
  CONSTRAINT erasures_cancelled CHECK ((status = 'cancelled') = (cancelled_at IS NOT NULL)
                                       AND (cancelled_by IS NULL) = (cancelled_at IS NULL)),
  CONSTRAINT erasures_erased CHECK ((status = 'erased') = (erased_at IS NOT NULL)
                                    AND (erased_at IS NULL) = (erased_indexes IS NULL)),
  -- An erased row was confirmed, and has no reason any more, because the reason may contain personal data.
  CONSTRAINT erasures_decided CHECK (status <> 'erased' OR (reason IS NULL AND (confirmation = 'off' OR confirmed_by IS NOT NULL)))
);
CREATE UNIQUE INDEX erasures_pending_key ON erasures (subject_key) WHERE status = 'pending';
CREATE INDEX erasures_by_subject ON erasures (subject_key, (-erasure_id));
COMMENT ON COLUMN erasures.confirmation IS 'The tenant''s setting at the time of the request';
COMMENT ON COLUMN erasures.erased_indexes IS 'Places in the log of the versions'' entries, ascending';

CREATE FUNCTION take_erasure_setting() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  NEW.confirmation := (SELECT t.erasure_confirmation FROM public.tenants t WHERE t.tenant_id = NEW.tenant_id);
  RETURN NEW;
END $$;
CREATE TRIGGER erasures_setting BEFORE INSERT ON erasures FOR EACH ROW EXECUTE FUNCTION take_erasure_setting();

-- A pending erasure ends once. Nothing else of it changes.
CREATE FUNCTION refuse_erasure_change() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  moved public.erasures;
BEGIN
  IF TG_OP = 'UPDATE' AND OLD.status = 'pending'
     AND (OLD.erasure_id, OLD.public_id, OLD.tenant_id, OLD.subject_key, OLD.versions, OLD.confirmation, OLD.reference,
          OLD.requested_by, OLD.requested_at, OLD.confirm_by)
         IS NOT DISTINCT FROM
         (NEW.erasure_id, NEW.public_id, NEW.tenant_id, NEW.subject_key, NEW.versions, NEW.confirmation, NEW.reference,
          NEW.requested_by, NEW.requested_at, NEW.confirm_by) THEN
    RETURN NEW;
  END IF;
  -- Where the log is begun anew its entries get other places (22-erasures-in-a-new-log).
  IF TG_OP = 'UPDATE' AND OLD.status = 'erased' AND pg_trigger_depth() > 1 THEN
    moved := OLD;
    moved.erased_indexes := ARRAY(SELECT i + 1 FROM unnest(OLD.erased_indexes) AS i ORDER BY i);
    IF NEW IS NOT DISTINCT FROM moved THEN RETURN NEW; END IF;
  END IF;
  RAISE EXCEPTION 'erasures stay as they ended: % is refused', TG_OP USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE TRIGGER erasures_stay BEFORE UPDATE OR DELETE ON erasures
  FOR EACH ROW EXECUTE FUNCTION refuse_erasure_change();

CREATE FUNCTION mark_erasure() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  INSERT INTO public.log_waiting (entry_type, erasure_id) VALUES (6, NEW.erasure_id);
  RETURN NULL;
END $$;
CREATE TRIGGER erasures_logged AFTER UPDATE ON erasures
  FOR EACH ROW WHEN (NEW.status = 'erased' AND OLD.status <> 'erased') EXECUTE FUNCTION mark_erasure();

-- Only the salt of an entry is deleted, together with its version.
CREATE FUNCTION refuse_entry_change() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  erased public.log_entries;
BEGIN
  IF TG_OP = 'UPDATE' AND OLD.entry_type = 1 THEN
    erased := OLD;
    erased.salt := NULL;
    IF NEW IS NOT DISTINCT FROM erased
       AND EXISTS (SELECT FROM public.snapshots n JOIN public.erasures e ON e.erasure_id = n.erasure_id
                    WHERE n.subject_key = OLD.subject_key AND n.snapshot_version = OLD.snapshot_version
                      AND e.status = 'erased' AND OLD.log_index = ANY (e.erased_indexes)) THEN
      RETURN NEW;
    END IF;
  END IF;
  RAISE EXCEPTION 'the log only grows: % of % is refused', TG_OP, TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege';
END $$;
DROP TRIGGER log_entries_immutable ON log_entries;
CREATE TRIGGER log_entries_immutable BEFORE UPDATE OR DELETE ON log_entries
  FOR EACH ROW EXECUTE FUNCTION refuse_entry_change();

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

-- Deletes all content of these versions in one transaction. Returns null and does nothing while one of them has no log
-- entry. The caller checks the rights of requester and confirmer before, under the tenant's lock.
CREATE FUNCTION erase_versions(asked bigint) RETURNS timestamptz LANGUAGE plpgsql
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
REVOKE ALL ON FUNCTION erase_versions FROM PUBLIC;

ALTER TABLE idempotency_keys ADD COLUMN subject_hash bytea CHECK (octet_length(subject_hash) = 32);
CREATE INDEX idempotency_keys_by_subject ON idempotency_keys (subject_hash) WHERE subject_hash IS NOT NULL;
COMMENT ON COLUMN idempotency_keys.subject_hash IS 'SHA-256 of subject_type/subject_id if the answer describes a subject, for erasures';

ALTER TABLE tenants ADD COLUMN erasure_confirmation text NOT NULL DEFAULT 'required'
  CHECK (erasure_confirmation IN ('required', 'off'));

ALTER TABLE updates
  ADD COLUMN erasure_id bigint,
  ALTER COLUMN patch_ops DROP NOT NULL,
  ADD CONSTRAINT updates_erased_check CHECK ((patch_ops IS NULL) = (erasure_id IS NOT NULL)) NOT VALID;

ALTER TABLE snapshots
  ADD COLUMN erasure_id bigint,
  ALTER COLUMN envelope DROP NOT NULL,
  ADD CONSTRAINT snapshots_erased_check CHECK ((envelope IS NULL) = (erasure_id IS NOT NULL)) NOT VALID;
COMMENT ON COLUMN snapshots.envelope IS 'The RFC 8785 text that was hashed; text, because jsonb would change it. Null after the erasure erasure_id';

ALTER TABLE log_waiting ADD COLUMN erasure_id bigint;
