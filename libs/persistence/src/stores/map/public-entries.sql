-- statement: public_entries
-- Reads the parts of the leaves of a range of entries in a log with a map.
SELECT k.log_index::float8 AS "logIndex", k.salt, k.body_hash AS "bodyHash", k.key_prefixes AS prefixes,
  k.map_root AS "mapRoot", k.backfill_from::float8 AS "backfillFrom", k.key_counts AS "keyCounts",
  @fact_of_entry,
  @view_fact,
  @own_fact,
  @records
  FROM (SELECT * FROM log_entries WHERE log_index >= :from::bigint AND log_index < :to::bigint ORDER BY log_index OFFSET 0) k
  @fact_of_keys
  @own_fact_of_keys
  @records_of_keys
 ORDER BY k.log_index
