-- Events for grantees no longer wait for the transparency log. A trigger marks each fact about a grant or a shared subject in
-- its own transaction, and the worker turns the marks into events.

CREATE TABLE outbox_waiting (
  waiting_id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  marked_at        timestamptz NOT NULL DEFAULT now(),
  subject_key      bigint,
  grant_change_id  bigint,
  grant_id         uuid,
  snapshot_version integer,
  entry_type       smallint NOT NULL
);
COMMENT ON TABLE outbox_waiting IS 'Facts about grants and shared subjects whose events are not in the outbox yet; the keys are those of log_entries';

-- In one transaction with the facts that wait in the old form. No writer is between the two forms, and no worker of the
-- previous release writes an event of a fact later on.
LOCK TABLE snapshots, grants, grant_changes IN SHARE ROW EXCLUSIVE MODE;

-- A version is marked only if somebody has a live grant on its subject, so that other writes add no row. A new subject has no
-- grant of its own. The scans of grants never read the whole table, even if a plan is older than its rows.
CREATE FUNCTION mark_shared_snapshots() RETURNS trigger
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
BEGIN
  INSERT INTO public.outbox_waiting (entry_type, subject_key, snapshot_version)
  SELECT 1, n.subject_key, n.snapshot_version FROM new_rows n
   WHERE n.envelope_hash IS NOT NULL
     AND coalesce((SELECT true FROM public.grants g
                    WHERE n.snapshot_version > 1 AND g.subject_key = n.subject_key AND g.revoked_at IS NULL
                      AND coalesce(g.expires_at, 'infinity') > statement_timestamp() LIMIT 1),
                  (SELECT true FROM public.grants g
                    WHERE g.grantor_tenant_id = n.tenant_id AND abs(g.subject_key) = 0 AND g.revoked_at IS NULL
                      AND coalesce(g.expires_at, 'infinity') > statement_timestamp() AND g.accepted_at IS NOT NULL LIMIT 1));
  RETURN NULL;
END $$;
CREATE TRIGGER snapshots_announced AFTER INSERT ON snapshots REFERENCING NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION mark_shared_snapshots();

CREATE FUNCTION mark_grant_for_outbox() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF TG_TABLE_NAME = 'grant_changes' THEN
    INSERT INTO public.outbox_waiting (entry_type, grant_change_id) VALUES (5, NEW.grant_change_id);
  ELSE
    INSERT INTO public.outbox_waiting (entry_type, grant_id) VALUES (CASE TG_OP WHEN 'INSERT' THEN 2 ELSE 3 END, NEW.grant_id);
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER grants_announced AFTER INSERT ON grants FOR EACH ROW EXECUTE FUNCTION mark_grant_for_outbox();
CREATE TRIGGER grants_revoked_announced AFTER UPDATE ON grants
  FOR EACH ROW WHEN (OLD.revoked_at IS NULL AND NEW.revoked_at IS NOT NULL) EXECUTE FUNCTION mark_grant_for_outbox();
CREATE TRIGGER grant_changes_announced AFTER INSERT ON grant_changes
  FOR EACH ROW EXECUTE FUNCTION mark_grant_for_outbox();

-- The previous release writes the events of facts from `began_at` on, when it adds their entries to the change feed. Marks with
-- a negative id are older than the log, or already had their events.
UPDATE log_feed SET began_at = began_at;
INSERT INTO outbox_waiting (entry_type, subject_key, snapshot_version, grant_id, grant_change_id)
SELECT k.entry_type, k.subject_key, k.snapshot_version, k.grant_id, k.grant_change_id
  FROM log_feed f
 CROSS JOIN LATERAL (
   SELECT 1 AS stage, e.log_index AS place, e.entry_type, e.subject_key, e.snapshot_version, e.grant_id, e.grant_change_id
     FROM log_entries e WHERE e.log_index >= f.size
    UNION ALL
   SELECT 2, w.waiting_id, w.entry_type, w.subject_key, w.snapshot_version, w.grant_id, w.grant_change_id
     FROM log_waiting w WHERE w.waiting_id > 0
 ) k
  LEFT JOIN snapshots n ON k.entry_type = 1 AND n.subject_key = k.subject_key AND n.snapshot_version = k.snapshot_version
  LEFT JOIN grants g ON g.grant_id = k.grant_id
  LEFT JOIN grant_changes h ON h.grant_change_id = k.grant_change_id
 WHERE coalesce(n.created_at, h.changed_at, CASE k.entry_type WHEN 2 THEN g.created_at WHEN 3 THEN g.revoked_at END) >= f.began_at
 ORDER BY k.stage, k.place;
UPDATE log_feed SET began_at = 'infinity';
COMMENT ON COLUMN log_feed.began_at IS 'Changes when a place in the log may mean another entry';

-- In the order in which a worker fills the feeds, which does so beside a restart of the log.
CREATE OR REPLACE FUNCTION forget_granted_feeds() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  UPDATE public.log_feed SET granted_size = 0;
  TRUNCATE public.granted_feeds;
  RETURN NULL;
END $$;
