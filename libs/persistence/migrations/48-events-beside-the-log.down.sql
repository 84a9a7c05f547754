LOCK TABLE snapshots, grants, grant_changes IN SHARE ROW EXCLUSIVE MODE;
-- The previous release would neither find these facts nor announce them.
DO $$ BEGIN
  IF EXISTS (SELECT FROM outbox_waiting) THEN
    RAISE EXCEPTION 'facts still wait for their events: let a worker of the newer release write them, and try again';
  END IF;
END $$;
DROP TRIGGER snapshots_announced ON snapshots;
DROP TRIGGER grants_announced ON grants;
DROP TRIGGER grants_revoked_announced ON grants;
DROP TRIGGER grant_changes_announced ON grant_changes;
DROP FUNCTION mark_shared_snapshots, mark_grant_for_outbox;
DROP TABLE outbox_waiting;
-- The previous release announces what it adds to the change feed. Facts that are not in the feed yet already have their events.
UPDATE log_feed f
   SET began_at = CASE WHEN EXISTS (SELECT FROM log_waiting) OR EXISTS (SELECT FROM log_entries e WHERE e.log_index >= f.size)
                       THEN now() ELSE '-infinity' END;
COMMENT ON COLUMN log_feed.began_at IS 'Earlier facts have no events for grantees';

CREATE OR REPLACE FUNCTION forget_granted_feeds() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  TRUNCATE public.granted_feeds;
  UPDATE public.log_feed SET granted_size = 0;
  RETURN NULL;
END $$;
