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
COMMENT ON TABLE granted_feeds IS 'How far the grantor''s entries are in the grantee''s feed, by a grant on all subjects';
COMMENT ON COLUMN granted_feeds.share IS 'Who takes turns with others: the founder of the grantor; the grantor, where nobody founded it';
COMMENT ON COLUMN granted_feeds.next_index IS 'What lies before it is copied';
COMMENT ON COLUMN granted_feeds.until_index IS 'What lies behind it came while the grant was there, and was written by itself';
COMMENT ON COLUMN granted_feeds.turn IS 'The least is next; null: nothing is under way';

ALTER TABLE log_feed ADD COLUMN granted_size bigint NOT NULL DEFAULT 0;
COMMENT ON COLUMN log_feed.granted_size IS 'Entries, from the first one on, whose grants on all subjects are in granted_feeds';

-- A restarted log has other places.
CREATE FUNCTION forget_granted_feeds() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  TRUNCATE public.granted_feeds;
  UPDATE public.log_feed SET granted_size = 0;
  RETURN NULL;
END $$;
CREATE TRIGGER log_restarts_forget_granted_feeds AFTER INSERT ON log_restarts
  FOR EACH ROW EXECUTE FUNCTION forget_granted_feeds();
