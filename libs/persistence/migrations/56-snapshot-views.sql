-- Each version has a view: a commitment to each value of its envelope (docs/log.md#views). The log names the hash of the view, so a
-- partial view of the version proves itself by the log.

CREATE TABLE snapshot_views (
  subject_key      bigint NOT NULL,
  committed_at     timestamptz NOT NULL DEFAULT now(),
  snapshot_version integer NOT NULL,
  view_secret      bytea CHECK (octet_length(view_secret) = 32),
  view_hash        bytea CHECK (octet_length(view_hash) = 32),
  PRIMARY KEY (subject_key, snapshot_version),
  CONSTRAINT snapshot_views_committed CHECK (view_secret IS NULL OR view_hash IS NOT NULL)
);
COMMENT ON TABLE snapshot_views IS 'The view of each version, from its integration into the log or its first partial read on';
COMMENT ON COLUMN snapshot_views.view_secret IS 'Random bytes that give the salts of the view. Null if the version was erased';
COMMENT ON COLUMN snapshot_views.view_hash IS 'SHA-256 of the payload of the view. Null if the version was erased before it had a view';

-- A view stays as it was committed. An erasure destroys its secret.
CREATE FUNCTION refuse_view_change() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  erased public.snapshot_views;
BEGIN
  IF TG_OP = 'UPDATE' THEN
    erased := OLD;
    erased.view_secret := NULL;
    IF NEW IS NOT DISTINCT FROM erased
       AND EXISTS (SELECT FROM public.erasures e
                    WHERE e.subject_key = OLD.subject_key AND e.status = 'erased' AND OLD.snapshot_version = ANY (e.versions)) THEN
      RETURN NEW;
    END IF;
  END IF;
  RAISE EXCEPTION 'views stay as they were committed: % is refused', TG_OP USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE TRIGGER snapshot_views_stay BEFORE UPDATE OR DELETE ON snapshot_views
  FOR EACH ROW EXECUTE FUNCTION refuse_view_change();
CREATE TRIGGER snapshot_views_not_truncated BEFORE TRUNCATE ON snapshot_views
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_truncate();

-- An erased version without a view gets a row, so that nobody who read its text before commits to it.
CREATE FUNCTION erase_views() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  INSERT INTO public.snapshot_views (subject_key, snapshot_version)
  SELECT NEW.subject_key, v.version FROM unnest(NEW.versions) AS v(version) ORDER BY v.version
      ON CONFLICT (subject_key, snapshot_version) DO UPDATE SET view_secret = NULL;
  RETURN NULL;
END $$;
CREATE TRIGGER erasures_views_erased AFTER UPDATE ON erasures
  FOR EACH ROW WHEN (NEW.status = 'erased' AND OLD.status <> 'erased') EXECUTE FUNCTION erase_views();

-- Not validated: no existing entry has the new type or names a view.
ALTER TABLE log_entries
  ADD COLUMN names_view boolean,
  ADD CONSTRAINT log_entries_view CHECK (entry_type <> 14 OR (subject_key IS NOT NULL AND snapshot_version IS NOT NULL)) NOT VALID,
  ADD CONSTRAINT log_entries_names_view CHECK (names_view IS NULL OR entry_type = 1) NOT VALID;
CREATE UNIQUE INDEX log_entries_of_views ON log_entries (subject_key, snapshot_version) WHERE entry_type = 14;
COMMENT ON COLUMN log_entries.names_view IS 'True if the text of the entry names the hash of the version''s view';

-- The entry of a version that is not in the log yet will name the view. Otherwise the view has an entry of its own.
CREATE FUNCTION mark_views() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  INSERT INTO public.log_waiting (entry_type, subject_key, snapshot_version)
  SELECT 14, n.subject_key, n.snapshot_version
    FROM new_rows n
   CROSS JOIN LATERAL (SELECT e.names_view FROM public.log_entries e
                        WHERE e.entry_type = 1 AND e.subject_key = n.subject_key AND e.snapshot_version = n.snapshot_version LIMIT 1) e
   WHERE n.view_hash IS NOT NULL AND e.names_view IS NOT TRUE
   ORDER BY n.subject_key, n.snapshot_version;
  RETURN NULL;
END $$;
CREATE TRIGGER snapshot_views_logged AFTER INSERT ON snapshot_views REFERENCING NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION mark_views();

-- As in 49-map, for entries that name a view.
CREATE OR REPLACE FUNCTION keyed_version_text(entry log_entries) RETURNS text LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT '{"created_at":"' || to_char(date_trunc('milliseconds', n.created_at) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
      || '","entry_version":"iss_log_entry_v2","envelope_hash":' || coalesce('"' || encode(n.envelope_hash, 'hex') || '"', 'null')
      || ',"prev_hash":' || coalesce('"' || encode(n.prev_hash, 'hex') || '"', 'null')
      || ',"salt":"' || translate(encode(entry.salt, 'base64'), '+/=', '-_')
      || '","snapshot_id":"' || n.snapshot_id || '","snapshot_version":' || n.snapshot_version
      || ',"subject_id":' || to_json(s.subject_id) || ',"subject_type":' || to_json(s.subject_type)
      || ',"tenant_id":' || to_json(n.tenant_id) || ',"type":"snapshot.created"'
      || CASE WHEN entry.names_view THEN ',"view_hash":"' || encode(v.view_hash, 'hex') || '"' ELSE '' END
      || CASE WHEN entry.names_writer AND n.written_by IS NOT NULL
              THEN ',"write_request_id":' || coalesce(to_json(n.write_request_id)::text, 'null') || ',"written_by":' || to_json(n.written_by)
              ELSE '' END || '}'
    FROM public.snapshots n JOIN public.subjects s USING (subject_key)
    LEFT JOIN public.snapshot_views v ON v.subject_key = n.subject_key AND v.snapshot_version = n.snapshot_version
   WHERE n.subject_key = entry.subject_key AND n.snapshot_version = entry.snapshot_version
$$;

-- As in 49-map. In a new log, the entry of each version with a view names it.
CREATE OR REPLACE FUNCTION move_erased() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  UPDATE public.erasures e SET erased_indexes = moved.indexes
    FROM (SELECT o.erasure_id, array_agg(p.place ORDER BY p.place) AS indexes
            FROM public.erasures o
           CROSS JOIN LATERAL unnest(o.erased_indexes) AS i(log_index)
            JOIN (SELECT l.log_index, row_number() OVER (ORDER BY l.log_index) AS place
                    FROM public.log_entries l WHERE l.entry_type NOT IN (9, 10, 13, 14)) p ON p.log_index = i.log_index
           WHERE o.status = 'erased' GROUP BY o.erasure_id) moved
   WHERE moved.erasure_id = e.erasure_id;
  RETURN NULL;
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
                  SELECT $1 + log_index, %1$s FROM log_entries WHERE entry_type NOT IN (9, 10, 13, 14) ORDER BY log_index', keys) USING base;
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
