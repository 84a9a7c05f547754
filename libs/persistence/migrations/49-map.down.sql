-- The previous release cannot prove entries that carry keys. Wait for a new origin, or keep this release.
DO $$ BEGIN
  IF EXISTS (SELECT FROM map_state) THEN
    RAISE EXCEPTION 'the map is on: the previous release cannot read the entries of its log';
  END IF;
END $$;
CREATE OR REPLACE FUNCTION restart_log(new_origin text, former_origin text, former_size bigint, former_root bytea, checkpoint text, why text)
RETURNS TABLE (id bigint, entries bigint) LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
DECLARE
  -- Below those of a backfill (10-transparency-log), and exact as a double.
  base CONSTANT bigint := -(1::bigint << 53) + 2;
  tree record;
  keys text;
BEGIN
  -- Nobody integrates meanwhile.
  SELECT * INTO STRICT tree FROM log_tree WHERE is_one FOR UPDATE;
  INSERT INTO log_restarts (origin, previous_origin, previous_size, previous_root, previous_checkpoint, kept_size, kept_root, reason)
  VALUES (new_origin, former_origin, former_size, former_root, checkpoint, tree.size, tree.root, why)
  RETURNING restart_id INTO id;
  EXECUTE format('CREATE TABLE log_archive_%s_entries AS TABLE log_entries', id);
  EXECUTE format('CREATE TABLE log_archive_%s_tiles AS TABLE log_tiles', id);
  EXECUTE format('CREATE TABLE log_archive_%s_checkpoints AS TABLE log_checkpoints', id);
  -- Whatever names a fact in a mark does so in an entry.
  SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) INTO STRICT keys FROM pg_attribute
   WHERE attrelid = 'log_waiting'::regclass AND attnum > 0 AND NOT attisdropped AND attname <> 'waiting_id';
  INSERT INTO log_waiting (waiting_id, entry_type, restart_id) OVERRIDING SYSTEM VALUE VALUES (base - 1, 7, id);
  EXECUTE format('INSERT INTO log_waiting (waiting_id, %1$s) OVERRIDING SYSTEM VALUE
                  SELECT $1 + log_index, %1$s FROM log_entries ORDER BY log_index', keys) USING base;
  GET DIAGNOSTICS entries = ROW_COUNT;
  -- Triggers refuse to change or delete a row of these.
  TRUNCATE log_entries, log_tiles, log_checkpoints, log_tree;
  INSERT INTO log_tree (size, root) VALUES (0, sha256(''));
  -- The feeds are places in the log. What has made its events makes none again.
  TRUNCATE tenant_feed, shared_feed;
  UPDATE log_feed SET size = 0, began_at = now();
  RETURN NEXT;
END $$;

CREATE OR REPLACE FUNCTION refuse_entry_change() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
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
CREATE OR REPLACE FUNCTION move_erased() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  UPDATE public.erasures SET erased_indexes = ARRAY(SELECT i + 1 FROM unnest(erased_indexes) AS i ORDER BY i)
   WHERE status = 'erased';
  RETURN NULL;
END $$;
CREATE OR REPLACE FUNCTION refuse_erasure_change() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
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

DROP FUNCTION keyed_version_text;
DROP INDEX log_entries_of_backfill;
ALTER TABLE log_entries
  DROP CONSTRAINT log_entries_backfill,
  DROP CONSTRAINT log_entries_map_root,
  DROP CONSTRAINT log_entries_salted,
  DROP CONSTRAINT log_entries_body,
  DROP COLUMN body_hash,
  DROP COLUMN key_prefixes,
  DROP COLUMN key_counts,
  DROP COLUMN backfill_from,
  DROP COLUMN map_root,
  ADD CONSTRAINT log_entries_salted CHECK (salt IS NOT NULL OR entry_type = 1) NOT VALID;
DROP TABLE map_former, map_buckets, map_tiles, map_streams, map_counting, map_state;
DROP FUNCTION refuse_key_removal, map_records_missing, refuse_map_change;
