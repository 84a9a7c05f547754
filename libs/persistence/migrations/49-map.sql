-- The map shows that a version is the newest one, and that nothing is left out (docs/decisions/0041-map-over-the-log.md): an insert-only set of
-- pseudonymous keys over the entries of the log. It is off until a worker has LOG_VRF_KEY.

CREATE TABLE map_state (
  is_one         boolean PRIMARY KEY DEFAULT true CHECK (is_one),
  origin         text COLLATE "C" NOT NULL,
  vrf_key        text COLLATE "C" NOT NULL CHECK (vrf_key ~ '^VRF[+][A-Za-z0-9+/]{43}=$'),
  starts_at      bigint NOT NULL CHECK (starts_at >= 0 AND starts_at % 256 = 0),
  backfilled_to  bigint NOT NULL DEFAULT 0 CHECK (backfilled_to BETWEEN 0 AND starts_at),
  key_count      bigint NOT NULL DEFAULT 0,
  root           bytea NOT NULL DEFAULT sha256('') CHECK (octet_length(root) = 32),
  root_size      bigint NOT NULL DEFAULT 0,
  switched_on_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON COLUMN map_state.starts_at IS 'From this log index on, entries are iss_log_entry_v2 and carry their keys';
COMMENT ON COLUMN map_state.backfilled_to IS 'The entries before this log index have their keys in map.backfill entries';
COMMENT ON COLUMN map_state.root_size IS 'The size of the log at its newest map.root entry';

CREATE TABLE map_counting (
  is_one     boolean PRIMARY KEY DEFAULT true CHECK (is_one),
  counted_to bigint NOT NULL CHECK (counted_to >= 0)
);
COMMENT ON TABLE map_counting IS 'A row while the facts in a log from before its map are counted into map_streams';
COMMENT ON COLUMN map_counting.counted_to IS 'The facts of the entries before this log index are counted';

CREATE TABLE map_streams (
  stream     text COLLATE "C" PRIMARY KEY,
  last       bigint NOT NULL CHECK (last > 0),
  backfilled bigint NOT NULL DEFAULT 0 CHECK (backfilled BETWEEN 0 AND last)
);
COMMENT ON TABLE map_streams IS 'The last number of each stream whose numbers are given at integration';
COMMENT ON COLUMN map_streams.backfilled IS 'The last number that a map.backfill entry gave to an entry from before the map';

CREATE TABLE map_tiles (
  path    bytea PRIMARY KEY CHECK (octet_length(path) BETWEEN 1 AND 33),
  content bytea NOT NULL
);
CREATE TABLE map_buckets (
  path    bytea PRIMARY KEY CHECK (octet_length(path) BETWEEN 1 AND 33),
  content bytea NOT NULL CHECK (octet_length(content) % 37 = 0)
);
COMMENT ON TABLE map_tiles IS 'Inner hashes of the map; the path is the number of bits that the keys share, and these bits';
COMMENT ON TABLE map_buckets IS 'Keys of the map with the log indexes of their entries';

-- Between two checkpoints, the rows are newer than the published root. These rows show the published map until the next checkpoint,
-- so a crash may lose them.
CREATE UNLOGGED TABLE map_former (
  is_bucket boolean NOT NULL,
  path      bytea NOT NULL,
  size      bigint NOT NULL,
  content   bytea NOT NULL,
  PRIMARY KEY (path, is_bucket, size)
);
-- On an expression, so that a search for a path does not match it.
CREATE INDEX map_former_by_size ON map_former ((-size));
COMMENT ON TABLE map_former IS 'Rows of the map as they were when the log had this size. The first one from a size on shows the map of that size';

-- Not validated: no existing entry has the new columns.
ALTER TABLE log_entries
  ADD COLUMN key_prefixes bytea,
  ADD COLUMN key_counts bytea,
  ADD COLUMN backfill_from bigint,
  ADD COLUMN map_root bytea,
  ADD COLUMN body_hash bytea,
  DROP CONSTRAINT log_entries_salted,
  ADD CONSTRAINT log_entries_salted CHECK (salt IS NOT NULL OR entry_type IN (1, 9, 10, 13)) NOT VALID,
  ADD CONSTRAINT log_entries_body CHECK ((body_hash IS NOT NULL) = (entry_type = 1 AND salt IS NULL AND key_prefixes IS NOT NULL)) NOT VALID,
  ADD CONSTRAINT log_entries_map_root CHECK ((entry_type = 9) = (map_root IS NOT NULL) AND (map_root IS NULL OR octet_length(map_root) = 32)) NOT VALID,
  ADD CONSTRAINT log_entries_backfill CHECK ((entry_type = 10) = (backfill_from IS NOT NULL) AND (entry_type = 10) = (key_counts IS NOT NULL)) NOT VALID;
CREATE UNIQUE INDEX log_entries_of_backfill ON log_entries (backfill_from) WHERE backfill_from IS NOT NULL;
COMMENT ON COLUMN log_entries.key_prefixes IS 'The first 7 bytes of each key. The whole key is in a bucket of the map. Null if the entry is iss_log_entry_v1';
COMMENT ON COLUMN log_entries.key_counts IS 'A map.backfill entry (10): the number of keys of each entry from backfill_from on, two bytes each';
COMMENT ON COLUMN log_entries.body_hash IS 'An erased version with keys: the SHA-256 of the text of its entry, which cannot be rebuilt without the salt';
COMMENT ON COLUMN log_entries.map_root IS 'A map.root entry (9): the root of the map over all entries up to this one';

-- The key of an entry never changes. Rows of the map only grow, except that a bucket that is too large is split.
CREATE FUNCTION refuse_map_change() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RAISE EXCEPTION 'the map only grows: % of % is refused', TG_OP, TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE TRIGGER map_state_grows BEFORE UPDATE ON map_state
  FOR EACH ROW WHEN ((NEW.origin, NEW.vrf_key, NEW.starts_at, NEW.switched_on_at) IS DISTINCT FROM (OLD.origin, OLD.vrf_key, OLD.starts_at, OLD.switched_on_at)
                     OR NEW.backfilled_to < OLD.backfilled_to OR NEW.key_count < OLD.key_count)
  EXECUTE FUNCTION refuse_map_change();
CREATE TRIGGER map_state_stays BEFORE DELETE ON map_state FOR EACH ROW EXECUTE FUNCTION refuse_map_change();
CREATE TRIGGER map_streams_grow BEFORE UPDATE ON map_streams
  FOR EACH ROW WHEN (NEW.stream <> OLD.stream OR NEW.last < OLD.last OR NEW.backfilled < OLD.backfilled)
  EXECUTE FUNCTION refuse_map_change();
CREATE TRIGGER map_streams_stay BEFORE DELETE ON map_streams FOR EACH ROW EXECUTE FUNCTION refuse_map_change();
CREATE TRIGGER map_tiles_stay BEFORE DELETE ON map_tiles FOR EACH ROW EXECUTE FUNCTION refuse_map_change();

-- Returns the records of a bucket that another one lacks, from the first such record on. A record is a key and a log index, 37 bytes
-- in all. Both buckets are sorted.
CREATE FUNCTION map_records_missing(records bytea, others bytea) RETURNS bytea
  LANGUAGE plpgsql IMMUTABLE STRICT SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  same integer;
  most integer;
  middle integer;
BEGIN
  LOOP
    same := 0;
    most := least(octet_length(records), octet_length(others)) / 37;
    WHILE same < most LOOP
      middle := (same + most + 1) / 2;
      IF substr(records, 1, 37 * middle) = substr(others, 1, 37 * middle) THEN same := middle; ELSE most := middle - 1; END IF;
    END LOOP;
    records := substr(records, 37 * same + 1);
    -- The next record of the other bucket is an additional one.
    others := substr(others, 37 * same + 38);
    IF records = '' OR others = '' THEN RETURN records; END IF;
  END LOOP;
END $$;
CREATE TRIGGER map_buckets_grow BEFORE UPDATE ON map_buckets
  FOR EACH ROW WHEN (NEW.path <> OLD.path OR octet_length(map_records_missing(OLD.content, NEW.content)) > 0)
  EXECUTE FUNCTION refuse_map_change();

-- The records of a split bucket are in the buckets below it.
CREATE FUNCTION refuse_key_removal() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  records bytea := OLD.content;
  below bytea;
  missing bytea;
BEGIN
  WHILE records <> '' LOOP
    below := (SELECT b.content
                FROM generate_series(get_byte(OLD.path, 0) + 1, 255) AS bits(count)
               CROSS JOIN LATERAL (SELECT (count + 7) / 8 AS bytes) l
               CROSS JOIN LATERAL (SELECT * FROM public.map_buckets b
                                    WHERE b.path = set_byte('\x00'::bytea, 0, count) || CASE WHEN count % 8 = 0 THEN substr(records, 1, bytes)
                                          ELSE substr(records, 1, bytes - 1) || set_byte('\x00'::bytea, 0, get_byte(records, bytes - 1) & (255 << (8 - count % 8)) & 255) END
                                    LIMIT 1) b
               LIMIT 1);
    missing := public.map_records_missing(records, below);
    IF missing IS NULL OR missing = records THEN
      RAISE EXCEPTION 'the map only grows: % of % is refused', TG_OP, TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege';
    END IF;
    records := missing;
  END LOOP;
  RETURN NULL;
END $$;
-- At the end of the transaction, when the buckets below it are written.
CREATE CONSTRAINT TRIGGER map_buckets_stay AFTER DELETE ON map_buckets
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION refuse_key_removal();

CREATE TRIGGER map_state_not_truncated BEFORE TRUNCATE ON map_state FOR EACH STATEMENT EXECUTE FUNCTION refuse_truncate('restart');
CREATE TRIGGER map_streams_not_truncated BEFORE TRUNCATE ON map_streams FOR EACH STATEMENT EXECUTE FUNCTION refuse_truncate('restart');
CREATE TRIGGER map_tiles_not_truncated BEFORE TRUNCATE ON map_tiles FOR EACH STATEMENT EXECUTE FUNCTION refuse_truncate('restart');
CREATE TRIGGER map_buckets_not_truncated BEFORE TRUNCATE ON map_buckets FOR EACH STATEMENT EXECUTE FUNCTION refuse_truncate('restart');

-- Returns the text of the entry of a version with keys (docs/log.md): RFC 8785, which escapes characters as to_json does.
CREATE FUNCTION keyed_version_text(entry log_entries) RETURNS text LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
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

-- As in 19-erasure. The outer text of an entry with keys stays whole without the salt, because the hash of its text is stored.
CREATE OR REPLACE FUNCTION refuse_entry_change() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  erased public.log_entries;
BEGIN
  IF TG_OP = 'UPDATE' AND OLD.entry_type = 1 AND OLD.salt IS NOT NULL THEN
    erased := OLD;
    erased.salt := NULL;
    IF NEW IS NOT DISTINCT FROM erased
       AND EXISTS (SELECT FROM public.snapshots n JOIN public.erasures e ON e.erasure_id = n.erasure_id
                    WHERE n.subject_key = OLD.subject_key AND n.snapshot_version = OLD.snapshot_version
                      AND e.status = 'erased' AND OLD.log_index = ANY (e.erased_indexes)) THEN
      IF OLD.key_prefixes IS NOT NULL THEN
        NEW.body_hash := sha256(convert_to(public.keyed_version_text(OLD), 'UTF8'));
      END IF;
      RETURN NEW;
    END IF;
  END IF;
  RAISE EXCEPTION 'the log only grows: % of % is refused', TG_OP, TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege';
END $$;

-- As in 22-erasures-in-a-new-log, for a log with entries of the map, which a new log does not take over.
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
-- As in 19-erasure, where each place moved by one.
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
  IF TG_OP = 'UPDATE' AND OLD.status = 'erased' AND pg_trigger_depth() > 1
     AND cardinality(NEW.erased_indexes) = cardinality(OLD.erased_indexes) THEN
    moved := OLD;
    moved.erased_indexes := NEW.erased_indexes;
    IF NEW IS NOT DISTINCT FROM moved THEN RETURN NEW; END IF;
  END IF;
  RAISE EXCEPTION 'erasures stay as they ended: % is refused', TG_OP USING ERRCODE = 'insufficient_privilege';
END $$;

-- As in 21-log-restarts, without the entries of the map, which name no fact. The map of the new origin starts empty.
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
