-- statement: map_turn_take
-- Takes the turn of one worker until the end of the transaction. Returns no row while another worker has it.
SELECT true AS "isTaken" WHERE pg_try_advisory_xact_lock(hashtextextended('log/map', 0))

-- fragment: older_facts(condition)
-- Reads the facts of entries from before the map, in their order, up to about :limit facts.
SELECT k.log_index::float8 AS "logIndex", k.entry_type AS "entryType",
  @fact,
  @view_fact,
  @own_fact,
  @records,
  cardinality(b.record_ids) AS "recordCount",
  CASE WHEN g.grant_id IS NOT NULL THEN @granted_type(g, s) END AS "granted?.subjectType",
  @granted_id(g, s) AS "granted?.subjectId"
  FROM (SELECT e.*, sum(coalesce(cardinality(r.record_ids), 1)) OVER (ORDER BY e.log_index) - coalesce(cardinality(r.record_ids), 1) AS before
          FROM (SELECT * FROM log_entries WHERE log_index >= :from::bigint AND log_index < :until::bigint @condition
                 ORDER BY log_index LIMIT :limit) e
          LEFT JOIN LATERAL (SELECT * FROM record_batches r WHERE r.batch_id = e.record_batch_id LIMIT 1) r ON true) k
  @fact_of_keys
  @own_fact_of_keys
  @records_of_keys
 WHERE k.before < :limit
 ORDER BY k.log_index

-- statement: map_facts_numbered
-- Without versions, which have their own numbers.
@older_facts(AND entry_type > 1)

-- statement: map_facts_older
@older_facts({})

-- statement: map_counting_begin
INSERT INTO map_counting (counted_to) VALUES (0) ON CONFLICT (is_one) DO NOTHING

-- statement: map_counting
SELECT counted_to::float8 AS "countedTo" FROM map_counting WHERE is_one

-- statement: map_counting_move
UPDATE map_counting SET counted_to = :countedTo::bigint WHERE is_one

-- statement: map_counting_end
DELETE FROM map_counting WHERE is_one

-- statement: map_start_append
-- Fills the tree up to the first entry that has keys.
WITH added AS (
  INSERT INTO log_entries (log_index, entry_type)
  SELECT i, 13 FROM generate_series(:size::bigint, :newSize::bigint - 1) AS i
  RETURNING 1
), @grown
SELECT (SELECT count(*)::int FROM added) AS entries, EXISTS (SELECT FROM grown) AS "isNext"

-- statement: map_backfill_append
-- Appends entries that give keys to older ones.
WITH added AS (
  INSERT INTO log_entries (log_index, entry_type, backfill_from, key_counts, key_prefixes)
  SELECT :size::bigint + i.place - 1, 10, i.at, i.counts, i.prefixes
    FROM unnest(:entries.from::bigint[], :entries.counts::bytea[], :entries.prefixes::bytea[])
           WITH ORDINALITY AS i(at, counts, prefixes, place)
  RETURNING 1
), @grown
SELECT (SELECT count(*)::int FROM added) AS entries, EXISTS (SELECT FROM grown) AS "isNext"

-- statement: map_backfilled
-- Reads the last number that an older fact of each stream has got.
SELECT m.stream, m.backfilled::float8 AS last
  FROM unnest(:streams::text[]) AS i(stream)
 CROSS JOIN LATERAL (SELECT * FROM map_streams m WHERE m.stream = i.stream LIMIT 1) m

-- statement: map_backfilled_move
-- A number that was not counted violates a constraint of the table.
WITH numbered AS (
  INSERT INTO map_streams (stream, last, backfilled)
  SELECT i.stream, i.number, i.number FROM unnest(:numbers.stream::text[], :numbers.last::bigint[]) AS i(stream, number)
      ON CONFLICT (stream) DO UPDATE SET backfilled = excluded.backfilled
)
UPDATE map_state SET backfilled_to = :backfilledTo::bigint WHERE is_one AND (backfilled_to = :from::bigint) IS TRUE
RETURNING true AS "isMoved"
