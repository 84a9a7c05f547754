-- The previous release cannot prove entries that name views.
DO $$ BEGIN
  IF EXISTS (SELECT FROM log_entries WHERE names_view OR entry_type = 14) THEN
    RAISE EXCEPTION 'the log names views: the previous release cannot prove their entries';
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
                  SELECT $1 + log_index, %1$s FROM log_entries WHERE entry_type NOT IN (9, 10, 13) ORDER BY log_index', keys) USING base;
  GET DIAGNOSTICS entries = ROW_COUNT;
  -- Triggers refuse to change or delete a row of these.
  TRUNCATE log_entries, log_tiles, log_checkpoints, log_tree;
  TRUNCATE map_state, map_counting, map_streams, map_tiles, map_buckets, map_former;
  INSERT INTO log_tree (size, root) VALUES (0, sha256(''));
  -- The feeds are places in the log. What has made its events makes none again.
  TRUNCATE tenant_feed, shared_feed;
  UPDATE log_feed SET size = 0, began_at = now();
  RETURN NEXT;
END $$;
CREATE OR REPLACE FUNCTION move_erased() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  UPDATE public.erasures e SET erased_indexes = moved.indexes
    FROM (SELECT o.erasure_id, array_agg(p.place ORDER BY p.place) AS indexes
            FROM public.erasures o
           CROSS JOIN LATERAL unnest(o.erased_indexes) AS i(log_index)
            JOIN (SELECT l.log_index, row_number() OVER (ORDER BY l.log_index) AS place
                    FROM public.log_entries l WHERE l.entry_type NOT IN (9, 10, 13)) p ON p.log_index = i.log_index
           WHERE o.status = 'erased' GROUP BY o.erasure_id) moved
   WHERE moved.erasure_id = e.erasure_id;
  RETURN NULL;
END $$;
CREATE OR REPLACE FUNCTION keyed_version_text(entry log_entries) RETURNS text LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT '{"created_at":"' || to_char(date_trunc('milliseconds', n.created_at) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
      || '","entry_version":"iss_log_entry_v2","envelope_hash":' || coalesce('"' || encode(n.envelope_hash, 'hex') || '"', 'null')
      || ',"prev_hash":' || coalesce('"' || encode(n.prev_hash, 'hex') || '"', 'null')
      || ',"salt":"' || translate(encode(entry.salt, 'base64'), '+/=', '-_')
      || '","snapshot_id":"' || n.snapshot_id || '","snapshot_version":' || n.snapshot_version
      || ',"subject_id":' || to_json(s.subject_id) || ',"subject_type":' || to_json(s.subject_type)
      || ',"tenant_id":' || to_json(n.tenant_id) || ',"type":"snapshot.created"'
      || CASE WHEN entry.names_writer AND n.written_by IS NOT NULL
              THEN ',"write_request_id":' || coalesce(to_json(n.write_request_id)::text, 'null') || ',"written_by":' || to_json(n.written_by)
              ELSE '' END || '}'
    FROM public.snapshots n JOIN public.subjects s USING (subject_key)
   WHERE n.subject_key = entry.subject_key AND n.snapshot_version = entry.snapshot_version
$$;
DROP TRIGGER erasures_views_erased ON erasures;
DROP TABLE snapshot_views;
DROP FUNCTION mark_views, erase_views, refuse_view_change;
DELETE FROM log_waiting WHERE entry_type = 14;
DROP INDEX log_entries_of_views;
ALTER TABLE log_entries DROP CONSTRAINT log_entries_view, DROP COLUMN names_view;
