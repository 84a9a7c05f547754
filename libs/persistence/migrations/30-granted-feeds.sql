-- A grant on all subjects adds rows for its grantee to shared_feed, also for older entries (docs/feed.md). Workers write
-- them in batches, and a row here has the progress. Older grants are found in the log in the same way, starting with its
-- first entry.

CREATE TABLE granted_feeds (
  grantee_tenant_id text COLLATE "C" NOT NULL,
  grantor_tenant_id text COLLATE "C" NOT NULL,
  share             text COLLATE "C" NOT NULL,
  next_index        bigint NOT NULL DEFAULT 0,
  until_index       bigint NOT NULL,
  turn              bigint,
  PRIMARY KEY (grantee_tenant_id, grantor_tenant_id)
);
CREATE INDEX granted_feeds_in_turn ON granted_feeds (turn) WHERE turn IS NOT NULL;
CREATE INDEX granted_feeds_by_share ON granted_feeds (share, turn) WHERE turn IS NOT NULL;
CREATE INDEX granted_feeds_under_way ON granted_feeds (grantee_tenant_id, next_index) WHERE turn IS NOT NULL;
COMMENT ON TABLE granted_feeds IS 'The progress of copying the grantor''s entries to the grantee''s feed, for a grant on all subjects';
COMMENT ON COLUMN granted_feeds.share IS 'The party that takes turns: the founder of the grantor, or the grantor if the founder is unknown';
COMMENT ON COLUMN granted_feeds.next_index IS 'Entries before it are copied';
COMMENT ON COLUMN granted_feeds.until_index IS 'Entries from it on were added while the grant existed, and need no copy';
COMMENT ON COLUMN granted_feeds.turn IS 'The smallest is next; null if nothing is to be copied';

ALTER TABLE log_feed ADD COLUMN granted_size bigint NOT NULL DEFAULT 0;
COMMENT ON COLUMN log_feed.granted_size IS 'The number of log entries, from the first one on, whose grants on all subjects are in granted_feeds';

-- A restarted log has other places.
CREATE FUNCTION forget_granted_feeds() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  TRUNCATE public.granted_feeds;
  UPDATE public.log_feed SET granted_size = 0;
  RETURN NULL;
END $$;
CREATE TRIGGER log_restarts_forget_granted_feeds AFTER INSERT ON log_restarts
  FOR EACH ROW EXECUTE FUNCTION forget_granted_feeds();
