-- statement: map_state
SELECT m.origin, m.vrf_key AS "vrfKey", m.starts_at::float8 AS "startsAt", m.backfilled_to::float8 AS "backfilledTo",
  m.key_count::float8 AS "keyCount", m.root,
  (SELECT t.size::float8 FROM log_tree t WHERE t.is_one) AS size
  FROM map_state m WHERE m.is_one

-- fragment: map_rows(table)
SELECT m.path, m.content
  FROM unnest(:paths::bytea[]) AS i(path)
 CROSS JOIN LATERAL (SELECT * FROM @table m WHERE m.path = i.path LIMIT 1) m

-- statement: map_tiles_read
@map_rows(map_tiles)

-- statement: map_buckets_read
@map_rows(map_buckets)

-- fragment: map_rows_at(table, is_bucket)
-- Reads rows as they were when the log had this size.
SELECT i.path, coalesce(f.content, m.content) AS content
  FROM unnest(:paths::bytea[]) AS i(path)
  LEFT JOIN LATERAL (SELECT f.content FROM map_former f
                      WHERE f.path = i.path AND f.is_bucket = @is_bucket AND f.size >= :size::bigint
                      ORDER BY f.size LIMIT 1) f ON true
  LEFT JOIN LATERAL (SELECT m.content FROM @table m WHERE m.path = i.path AND f.content IS NULL LIMIT 1) m ON true
 WHERE coalesce(f.content, m.content) IS NOT NULL

-- statement: map_tiles_read_at
@map_rows_at(map_tiles, false)

-- statement: map_buckets_read_at
@map_rows_at(map_buckets, true)

-- statement: map_entry_prefixes
-- Reads the first bytes of the keys of an entry: its own, or those that a map.backfill entry gave it.
SELECT coalesce(e.key_prefixes, b.key_prefixes) AS prefixes, e.key_prefixes IS NOT NULL AS "isOwn",
  b.key_counts AS counts, b.backfill_from::float8 AS "from"
  FROM log_entries e
  LEFT JOIN LATERAL (SELECT * FROM log_entries b
                      WHERE b.backfill_from <= e.log_index AND e.key_prefixes IS NULL AND b.backfill_from IS NOT NULL
                      ORDER BY b.backfill_from DESC LIMIT 1) b ON true
 WHERE e.log_index = :logIndex::bigint

-- statement: map_prefixes_of_entries
-- Reads the first bytes of the keys in the leaves of entries.
SELECT e.log_index::float8 AS "logIndex", e.key_prefixes AS prefixes
  FROM unnest(:logIndexes::bigint[]) AS i(log_index)
 CROSS JOIN LATERAL (SELECT * FROM log_entries e WHERE e.log_index = i.log_index LIMIT 1) e
 WHERE e.key_prefixes IS NOT NULL AND e.backfill_from IS NULL

-- statement: map_root_at
-- Reads the root in the map.root entry at this log index.
SELECT e.map_root AS root FROM log_entries e WHERE e.log_index = :logIndex::bigint AND e.map_root IS NOT NULL

-- statement: map_stream
-- Reads the last number of a stream. The versions of a subject have no row.
SELECT m.last::float8 AS last FROM map_streams m WHERE m.stream = :stream

-- statement: map_streams_read
SELECT m.stream, m.last::float8 AS last
  FROM unnest(:streams::text[]) AS i(stream)
 CROSS JOIN LATERAL (SELECT * FROM map_streams m WHERE m.stream = i.stream LIMIT 1) m

-- statement: map_switch_on
-- Switches the map on. An older worker must not do so under the name of an ended log.
INSERT INTO map_state (origin, vrf_key, starts_at)
SELECT :origin, :vrfKey, :startsAt::bigint
 WHERE @goes_by(:origin)
RETURNING true AS "isOn"

-- statement: map_numbers_take
-- Takes new numbers of each stream, and returns the last one of each.
INSERT INTO map_streams (stream, last)
SELECT * FROM unnest(:streams.stream::text[], :streams.count::bigint[])
    ON CONFLICT (stream) DO UPDATE SET last = map_streams.last + excluded.last
RETURNING stream, last::float8 AS last

-- fragment: map_formers(table, is_bucket, paths)
SELECT @is_bucket AS is_bucket, m.path, m.content
          FROM unnest(@paths) AS i(path)
         CROSS JOIN LATERAL (SELECT * FROM @table m WHERE m.path = i.path LIMIT 1) m

-- statement: map_write
-- Before rows change, keeps them as they were at the newest root, because that root may be published.
WITH kept AS (
  INSERT INTO map_former (is_bucket, path, size, content)
  SELECT c.is_bucket, c.path, s.root_size, c.content
    FROM map_state s
   CROSS JOIN (@map_formers(map_tiles, false, :tiles.path::bytea[])
        UNION ALL
        @map_formers(map_buckets, true, :buckets.path::bytea[] || :deletedBuckets::bytea[])) c
   WHERE s.is_one AND s.root_size > 0
      ON CONFLICT DO NOTHING
), tiled AS (
  INSERT INTO map_tiles (path, content) SELECT * FROM unnest(:tiles.path::bytea[], :tiles.content::bytea[])
      ON CONFLICT (path) DO UPDATE SET content = excluded.content
), bucketed AS (
  INSERT INTO map_buckets (path, content) SELECT * FROM unnest(:buckets.path::bytea[], :buckets.content::bytea[])
      ON CONFLICT (path) DO UPDATE SET content = excluded.content
), split AS (
  DELETE FROM map_buckets WHERE path = ANY (:deletedBuckets::bytea[])
)
UPDATE map_state SET root = :root, key_count = key_count + :added::bigint WHERE is_one

-- fragment: map_served(seconds)
-- The size of the newest checkpoint of that age.
coalesce((SELECT c.size FROM log_checkpoints c
           WHERE c.marked_at IS NULL AND c.signed_at < now() - make_interval(secs => @seconds)
           ORDER BY (-c.checkpoint_id) LIMIT 1), 0)

-- statement: map_former_drop
-- Deletes rows that are older than the published map of ten seconds ago, because a gateway may still serve that map.
DELETE FROM map_former WHERE (-size) > -@map_served(10)

-- statement: map_former_thin
-- Deletes further copies of these rows while no checkpoint is published for long. The first one shows the published map, and the
-- last ones show those that are being published.
DELETE FROM map_former f
 WHERE f.path = ANY (:paths::bytea[])
   AND (SELECT c.signed_at < now() - interval '20 seconds' FROM log_checkpoints c
         WHERE c.marked_at IS NULL ORDER BY (-c.checkpoint_id) LIMIT 1)
   AND f.size > (SELECT g.size FROM map_former g
                  WHERE g.path = f.path AND g.is_bucket = f.is_bucket AND g.size >= (SELECT @map_served(10))
                  ORDER BY g.size LIMIT 1)
   AND f.size < (SELECT g.size FROM map_former g
                  WHERE g.path = f.path AND g.is_bucket = f.is_bucket ORDER BY g.size DESC OFFSET 15 LIMIT 1)

-- statement: map_root_append
WITH ended AS (UPDATE map_state SET root_size = :logIndex::bigint + 1 WHERE is_one)
INSERT INTO log_entries (log_index, entry_type, map_root) VALUES (:logIndex::bigint, 9, :root::bytea)
