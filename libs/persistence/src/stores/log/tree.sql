-- statement: log_tree_take
-- Locks the tree. Only one process integrates at a time; the others skip it.
SELECT size::float8 AS size, root, statement_timestamp() AS "takenAt", (SELECT true FROM log_backfill b WHERE b.is_one LIMIT 1) IS NULL AS "isBackfilled"
  FROM log_tree WHERE is_one FOR UPDATE SKIP LOCKED

-- statement: log_tree
SELECT size::float8 AS size, root FROM log_tree WHERE is_one

-- statement: log_tiles_edge
-- Reads the incomplete tiles: the last one of each level that has one, according to the tree's size.
SELECT t.level::int AS level, t.tile_index::float8 AS index, t.hashes
  FROM generate_series(0, 7) AS l(level)
 CROSS JOIN LATERAL (SELECT * FROM log_tiles t
                      WHERE t.level = l.level::smallint AND t.tile_index = :size::bigint >> 8 * (l.level + 1) LIMIT 1) t
 WHERE (:size::bigint >> 8 * l.level) % 256 > 0
 ORDER BY t.level

-- statement: log_waiting_take
SELECT k.waiting_id::float8 AS "waitingId",
  @fact_of_entry,
  @view_fact,
  @own_fact,
  @records,
  CASE WHEN k.entry_type = 1 AND vw.view_hash IS NULL AND n.envelope_hash IS NOT NULL AND n.envelope IS NOT NULL
       THEN n.snapshot_id END AS "withoutView",
  CASE WHEN g.grant_id IS NOT NULL THEN @granted_type(g, s) END AS "granted?.subjectType",
  @granted_id(g, s) AS "granted?.subjectId"
  FROM (SELECT *, true AS names_writer, true AS names_versions, true AS names_view, true AS names_paths FROM log_waiting ORDER BY waiting_id LIMIT :limit) k
  @fact_of_keys
  @own_fact_of_keys
  @records_of_keys
 ORDER BY k.waiting_id

-- fragment: grown
-- Stores the changed tiles and the tree.
tiled AS (
  INSERT INTO log_tiles (level, tile_index, hashes)
  SELECT * FROM unnest(:tiles.level::int[], :tiles.index::bigint[], :tiles.hashes::bytea[])
      ON CONFLICT (level, tile_index) DO UPDATE SET hashes = excluded.hashes
), grown AS (
  UPDATE log_tree SET size = :newSize, root = :root WHERE is_one AND (size = :size::bigint) IS TRUE RETURNING 1
)

-- fragment: append(column, value)
-- Turns waiting facts into entries, in their order, and stores the tree, in one statement.
WITH taken AS (
  DELETE FROM log_waiting WHERE waiting_id = ANY (:waitingIds::bigint[]) RETURNING *
), added AS (
  INSERT INTO log_entries (log_index, entry_type, subject_key, snapshot_version, grant_id, owner_change_id, grant_change_id,
                           erasure_id, restart_id, announcement_id, record_batch_id, is_late, names_writer, names_versions, names_view, names_paths, salt @column)
  SELECT :size::bigint + place - 1, entry_type, subject_key, snapshot_version, grant_id, owner_change_id, grant_change_id,
         erasure_id, restart_id, announcement_id, record_batch_id, is_late,
         CASE entry_type WHEN 1 THEN true END,
         CASE entry_type WHEN 6 THEN true END,
         nullif((:namesView::boolean[])[place], false),
         CASE WHEN entry_type IN (2, 5, 12) THEN true END,
         substr(:salts::bytea, (16 * (place - 1) + 1)::int, 16) @value
    FROM (SELECT *, row_number() OVER (ORDER BY waiting_id) AS place FROM taken) t
   ORDER BY place
  RETURNING 1
), @grown
SELECT (SELECT count(*)::int FROM added) AS entries, EXISTS (SELECT FROM grown) AS "isNext"

-- statement: log_append
@append({}, {})

-- statement: log_append_keyed
@append({, key_prefixes}, {, (:prefixes::bytea[])[place]})

-- statement: log_waiting_drop
-- Deletes marks of facts that are missing from their tables or already have an entry.
DELETE FROM log_waiting WHERE waiting_id = ANY (:waitingIds::bigint[])

-- statement: log_tiles_read
SELECT t.hashes
  FROM unnest(:inputs.level::int[], :inputs.index::bigint[], :inputs.width::int[])
       WITH ORDINALITY AS i(level, tile_index, width, ord)
  LEFT JOIN LATERAL (SELECT substr(t.hashes, 1, 32 * i.width) AS hashes FROM log_tiles t
                      WHERE t.level = i.level::smallint AND t.tile_index = i.tile_index LIMIT 1) t ON true
 ORDER BY i.ord

-- fragment: checkpoint_columns(group)
c.origin AS "@group.origin",
  c.size::float8 AS "@group.size",
  c.note AS "@group.note",
  c.signed_at AS "@group.signedAt"

-- statement: log_checkpoint_newest
SELECT @checkpoint_columns() FROM log_checkpoints c WHERE c.marked_at IS NULL ORDER BY (-c.checkpoint_id) LIMIT 1

-- statement: log_checkpoint_of_size
WITH c AS MATERIALIZED (SELECT * FROM log_checkpoints WHERE size = :size::bigint)
SELECT @checkpoint_columns() FROM c WHERE c.marked_at IS NULL ORDER BY c.checkpoint_id DESC LIMIT 1

-- statement: log_checkpoints_marked
SELECT c.note FROM log_checkpoints c WHERE c.size = :size::bigint AND c.marked_at IS NOT NULL

-- statement: log_checkpoint_turn
-- A separate statement, so that later statements of the transaction see everything that was published before.
SELECT pg_advisory_xact_lock(hashtextextended('log/checkpoints', 0))

-- fragment: goes_by(origin)
-- True unless the log was restarted under another name.
coalesce((SELECT r.origin FROM log_restarts r WHERE r.restart_id > 0 ORDER BY r.restart_id DESC LIMIT 1), @origin) = @origin

-- statement: log_checkpoint_publish
-- Publishes a checkpoint unless a larger one is published, or the log was restarted under another name, because one of
-- several signing processes may be late.
INSERT INTO log_checkpoints (origin, size, note, complete_at)
SELECT :origin, :size::bigint, :note, :completeAt::timestamptz
 WHERE coalesce((SELECT c.size FROM log_checkpoints c WHERE c.marked_at IS NULL
                  ORDER BY (-c.checkpoint_id) LIMIT 1), 0) <= :size::bigint
   AND @goes_by(:origin)
RETURNING size::float8 AS size

-- statement: log_checkpoint_thin
-- Deletes checkpoints of the second and third day, except for the last one of each hour. Marked ones stay.
WITH old AS MATERIALIZED (
  SELECT c.checkpoint_id, date_trunc('hour', c.signed_at) AS hour,
         (SELECT date_trunc('hour', later.signed_at) FROM log_checkpoints later
           WHERE later.checkpoint_id > c.checkpoint_id AND (later.marked_at IS NULL) IS TRUE
           ORDER BY later.checkpoint_id LIMIT 1) AS next_hour
    FROM log_checkpoints c
   WHERE c.signed_at < now() - interval '1 day' AND c.signed_at > now() - interval '3 days' AND (c.marked_at IS NULL) IS TRUE
   ORDER BY c.signed_at
), deleted AS (
  DELETE FROM log_checkpoints WHERE checkpoint_id = ANY (ARRAY(
    SELECT checkpoint_id FROM old WHERE hour = next_hour ORDER BY checkpoint_id LIMIT :limit))
  RETURNING 1
)
SELECT count(*)::int AS deleted FROM deleted

-- statement: log_keys
SELECT vkey, used_at AS "from", until_at AS until FROM log_keys
 UNION ALL
SELECT a.vkey, NULL, NULL FROM log_key_announcements a
 WHERE a.ended_at IS NULL AND (SELECT true FROM log_keys k WHERE k.vkey = a.vkey LIMIT 1) IS NULL
 ORDER BY "from" NULLS LAST, vkey

-- fragment: live_announcement
SELECT * FROM log_key_announcements a WHERE a.vkey = i.vkey AND a.ended_at IS NULL LIMIT 1

-- statement: log_keys_unannounced
SELECT i.vkey
  FROM unnest(:vkeys::text[]) WITH ORDINALITY AS i(vkey, ord)
  LEFT JOIN LATERAL (@live_announcement) a ON true
  LEFT JOIN LATERAL (SELECT * FROM log_entries e WHERE e.announcement_id = a.announcement_id LIMIT 1) e ON true
 WHERE (a.is_first OR e.log_index < :size::bigint) IS NOT TRUE
 ORDER BY i.ord

-- statement: log_keys_announce_first
SELECT announce_first_log_keys(:vkeys::text[]) AS "isFirst"

-- statement: log_keys_use
-- Records announced keys in use.
INSERT INTO log_keys (vkey)
SELECT a.vkey FROM unnest(:vkeys::text[]) AS i(vkey) CROSS JOIN LATERAL (@live_announcement) a
    ON CONFLICT (vkey) DO UPDATE SET until_at = NULL WHERE log_keys.until_at IS NOT NULL

-- statement: log_keys_end_use
-- Ends the use of keys that are not announced. It follows a change of either, in a transaction of its own: whichever
-- comes second sees both.
UPDATE log_keys i SET until_at = now()
 WHERE i.vkey = ANY (:vkeys::text[]) AND (i.until_at IS NULL) IS TRUE AND (SELECT a.vkey FROM (@live_announcement) a) IS NULL
RETURNING i.vkey

-- statement: log_policy
SELECT policy FROM log_policy WHERE is_one

-- statement: log_policy_use
WITH gone AS (
  DELETE FROM log_policy WHERE is_one AND :policy::text IS NULL
)
INSERT INTO log_policy (policy) SELECT :policy::text WHERE :policy::text IS NOT NULL
    ON CONFLICT (is_one) DO UPDATE SET policy = excluded.policy

-- statement: log_restarts
SELECT origin, previous_origin AS "previousOrigin" FROM log_restarts ORDER BY restart_id

-- statement: log_lag
-- Returns the age of the next fact to publish: the tree's first entry after the newest checkpoint, else the oldest waiting fact.
SELECT coalesce(extract(epoch FROM clock_timestamp() - f.at) * 1000, 0)::float8 AS "ageMs"
  FROM (SELECT t.size, coalesce((SELECT c.size FROM log_checkpoints c WHERE c.marked_at IS NULL
                                    ORDER BY (-c.checkpoint_id) LIMIT 1), 0) AS published
          FROM log_tree t WHERE t.is_one) tree
 CROSS JOIN LATERAL (SELECT tree.size - tree.published AS entries) p
  LEFT JOIN LATERAL (SELECT * FROM log_entries e WHERE e.log_index = tree.published LIMIT 1) e ON p.entries > 0
  LEFT JOIN LATERAL (SELECT * FROM log_waiting ORDER BY waiting_id LIMIT 1) w ON p.entries <= 0
  LEFT JOIN LATERAL (SELECT coalesce(e.subject_key, w.subject_key) AS subject_key,
                            coalesce(e.snapshot_version, w.snapshot_version) AS snapshot_version,
                            coalesce(e.grant_id, w.grant_id) AS grant_id,
                            coalesce(e.entry_type, w.entry_type) AS entry_type,
                            coalesce(e.grant_change_id, w.grant_change_id) AS grant_change_id,
                            coalesce(e.owner_change_id, w.owner_change_id) AS owner_change_id,
                            coalesce(e.erasure_id, w.erasure_id) AS erasure_id,
                            coalesce(e.restart_id, w.restart_id) AS restart_id,
                            coalesce(e.announcement_id, w.announcement_id) AS announcement_id,
                            coalesce(e.record_batch_id, w.record_batch_id) AS record_batch_id,
                            false AS names_view) k ON true
  @fact_of_keys
  @own_fact_of_keys
  @records_of_keys
 CROSS JOIN LATERAL (SELECT coalesce(@fact_at, @own_fact_at, b.batched_at) AS at) f
