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

DROP INDEX log_entries_of_backfill;
ALTER TABLE log_entries
  DROP CONSTRAINT log_entries_backfill,
  DROP CONSTRAINT log_entries_map_root,
  DROP CONSTRAINT log_entries_salted,
  DROP COLUMN key_prefixes,
  DROP COLUMN key_counts,
  DROP COLUMN backfill_from,
  DROP COLUMN map_root,
  ADD CONSTRAINT log_entries_salted CHECK (salt IS NOT NULL OR entry_type = 1) NOT VALID;
DROP TABLE map_buckets, map_tiles, map_streams, map_state;
DROP FUNCTION refuse_key_removal, map_bucket_keys, refuse_map_change;
