-- statement: log_key_live
SELECT vkey FROM log_key_announcements WHERE ended_at IS NULL ORDER BY vkey

-- statement: log_key_announce
INSERT INTO log_key_announcements (vkey) VALUES (:vkey)
    ON CONFLICT (vkey) WHERE ended_at IS NULL DO NOTHING RETURNING true AS "isNew"

-- statement: log_key_end
UPDATE log_key_announcements SET ended_at = now(), ended_by = session_user WHERE vkey = :vkey AND ended_at IS NULL RETURNING vkey

-- statement: log_key_checkpoints
WITH c AS MATERIALIZED (
  SELECT * FROM log_checkpoints WHERE size BETWEEN :from::bigint AND :to::bigint
)
SELECT c.checkpoint_id::float8 AS "checkpointId", c.size::float8 AS size, c.note FROM c
 WHERE c.marked_at IS NULL AND c.checkpoint_id > :after::bigint
 ORDER BY c.checkpoint_id LIMIT :limit

-- statement: log_key_mark
WITH marked AS (
  UPDATE log_checkpoints SET marked_at = now(), marked_by = session_user
   WHERE checkpoint_id = ANY (:checkpointIds::bigint[]) AND (marked_at IS NULL) IS TRUE RETURNING 1
)
SELECT count(*)::int AS marked FROM marked

-- statement: log_restart_before
SELECT t.size::float8 AS size, t.root, c.size::float8 AS "publishedSize",
  coalesce((SELECT r.origin FROM log_restarts r WHERE r.restart_id > 0 ORDER BY r.restart_id DESC LIMIT 1), c.origin) AS origin,
  (SELECT true FROM log_backfill b WHERE b.is_one LIMIT 1) IS TRUE
    OR (SELECT true FROM log_waiting w WHERE w.waiting_id < 0 ORDER BY w.waiting_id LIMIT 1) IS TRUE AS "isBusy"
  FROM log_tree t
  LEFT JOIN LATERAL (SELECT * FROM log_checkpoints c WHERE c.marked_at IS NULL ORDER BY (-c.checkpoint_id) LIMIT 1) c ON true
 WHERE t.is_one

-- statement: log_restart_former
SELECT (SELECT true FROM log_restarts r WHERE r.origin = :origin LIMIT 1) IS TRUE AS "isFormer"

-- statement: log_restart_begin
SELECT id::float8 AS "restartId", entries::float8 AS entries
  FROM restart_log(:origin, :previousOrigin, :previousSize::bigint, :previousRoot::bytea, :previousCheckpoint, :reason)
