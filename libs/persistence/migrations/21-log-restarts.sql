-- A log that lost its end for good continues under another name (docs/operations/log.md, "A new origin"): with a new tree,
-- whose first entry names the last checkpoint of the previous one. `iss log-restart` does it.

CREATE TABLE log_restarts (
  restart_id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  origin              text COLLATE "C" NOT NULL UNIQUE,
  previous_origin     text COLLATE "C" NOT NULL CHECK (previous_origin <> origin),
  previous_size       bigint NOT NULL CHECK (previous_size >= 0),
  previous_root       bytea NOT NULL CHECK (octet_length(previous_root) = 32),
  previous_checkpoint text NOT NULL,
  kept_size           bigint NOT NULL,
  kept_root           bytea NOT NULL,
  reason              text NOT NULL CHECK (reason <> ''),
  restarted_at        timestamptz NOT NULL DEFAULT now()
);
COMMENT ON COLUMN log_restarts.previous_checkpoint IS 'The last signed note under the previous name, which has the size and the root';
COMMENT ON COLUMN log_restarts.kept_size IS 'The size of the database''s tree at that time, which is stored in log_archive_<restart_id>_entries, _tiles and _checkpoints';
CREATE TRIGGER log_restarts_immutable BEFORE UPDATE OR DELETE ON log_restarts
  FOR EACH ROW EXECUTE FUNCTION refuse_log_change();

ALTER TABLE log_waiting ADD COLUMN restart_id bigint;
-- Not validated: no existing entry is a restart.
ALTER TABLE log_entries ADD COLUMN restart_id bigint,
  ADD CONSTRAINT log_entries_restart CHECK ((entry_type = 7) = (restart_id IS NOT NULL)) NOT VALID;
CREATE UNIQUE INDEX log_entries_of_restarts ON log_entries (restart_id) WHERE restart_id IS NOT NULL;

-- Restarts the log, for the tables' owner. The existing tree is set aside, and all of its entries are queued in their order,
-- after the restart and before the facts that already wait. Writers continue meanwhile, because they only add to the queue.
CREATE FUNCTION restart_log(new_origin text, former_origin text, former_size bigint, former_root bytea, checkpoint text, why text)
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
REVOKE ALL ON FUNCTION restart_log FROM PUBLIC;
