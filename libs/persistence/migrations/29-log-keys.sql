-- Keys of the log are announced before they sign (docs/operations/keys.md): a worker whose key is not announced signs
-- nothing. An operator announces a key with `iss log-key add`, and the log records it. The applications' role can only
-- announce the first keys of a log. `iss log-key mark` marks checkpoints that were signed by mistake.

CREATE TABLE log_key_announcements (
  announcement_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  vkey            text COLLATE "C" NOT NULL CHECK (vkey ~ '^[^+]+[+][0-9a-f]{8}[+].+$'),
  is_first        boolean NOT NULL DEFAULT false,
  announced_by    text NOT NULL DEFAULT session_user,
  announced_at    timestamptz NOT NULL DEFAULT now(),
  ended_by        text,
  ended_at        timestamptz,
  CONSTRAINT log_key_announcements_ended CHECK ((ended_by IS NULL) = (ended_at IS NULL))
);
CREATE UNIQUE INDEX log_key_announcements_live ON log_key_announcements (vkey) WHERE ended_at IS NULL;
COMMENT ON COLUMN log_key_announcements.vkey IS 'C2SP verifier key; its name is the origin of the log';
COMMENT ON COLUMN log_key_announcements.is_first IS 'The log began with this key, so no entry announces it';

CREATE FUNCTION refuse_announcement_change() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  ended public.log_key_announcements;
BEGIN
  IF TG_OP = 'UPDATE' AND OLD.ended_at IS NULL THEN
    ended := OLD;
    ended.ended_at := NEW.ended_at;
    ended.ended_by := NEW.ended_by;
    IF NEW IS NOT DISTINCT FROM ended THEN RETURN NEW; END IF;
  END IF;
  RAISE EXCEPTION 'announcements of keys stay: % of % is refused', TG_OP, TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE TRIGGER log_key_announcements_stay BEFORE UPDATE OR DELETE ON log_key_announcements
  FOR EACH ROW EXECUTE FUNCTION refuse_announcement_change();

CREATE FUNCTION mark_key_announcement() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  INSERT INTO public.log_waiting (entry_type, announcement_id) VALUES (8, NEW.announcement_id);
  RETURN NULL;
END $$;
CREATE TRIGGER log_key_announcements_logged AFTER INSERT ON log_key_announcements
  FOR EACH ROW WHEN (NOT NEW.is_first) EXECUTE FUNCTION mark_key_announcement();

-- Announces the first keys of a log. Returns false if the log has checkpoints or announced keys.
CREATE FUNCTION announce_first_log_keys(vkeys text[]) RETURNS boolean LANGUAGE plpgsql
  SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('log/keys', 0));
  IF EXISTS (SELECT FROM public.log_checkpoints)
     OR EXISTS (SELECT FROM public.log_key_announcements a
                 WHERE split_part(a.vkey, '+', 1) = ANY (SELECT split_part(v, '+', 1) FROM unnest(vkeys) v)) THEN
    RETURN false;
  END IF;
  INSERT INTO public.log_key_announcements (vkey, is_first) SELECT v, true FROM unnest(vkeys) v;
  RETURN true;
END $$;
REVOKE ALL ON FUNCTION announce_first_log_keys FROM PUBLIC;

-- Verifiers have already accepted the keys that sign now.
INSERT INTO log_key_announcements (vkey, is_first) SELECT vkey, true FROM log_keys WHERE until_at IS NULL ORDER BY used_at, vkey;

ALTER TABLE log_checkpoints
  ADD COLUMN marked_by text,
  ADD COLUMN marked_at timestamptz,
  ADD CONSTRAINT log_checkpoints_marked CHECK ((marked_by IS NULL) = (marked_at IS NULL)) NOT VALID;
CREATE INDEX log_checkpoints_served ON log_checkpoints ((-checkpoint_id)) WHERE marked_at IS NULL;
COMMENT ON COLUMN log_checkpoints.marked_at IS 'Since when it counts as signed by mistake; it is stored, but no longer served';

-- Not validated: no existing entry announces a key.
ALTER TABLE log_entries ADD COLUMN announcement_id bigint,
  ADD CONSTRAINT log_entries_announcement CHECK ((entry_type = 8) = (announcement_id IS NOT NULL)) NOT VALID;
CREATE UNIQUE INDEX log_entries_of_announcements ON log_entries (announcement_id) WHERE announcement_id IS NOT NULL;
ALTER TABLE log_waiting ADD COLUMN announcement_id bigint;
