-- Marks the next $1 snapshots that are older than the log, in the order in which they were made, and moves the place.
-- Returns the number of examined snapshots. It is one statement and so one transaction, so the place always matches the
-- marks. Later snapshots already have a mark or an entry and are skipped, because rows and marks are read in one snapshot of
-- the database.

WITH place AS MATERIALIZED (
  SELECT * FROM log_backfill WHERE is_one FOR UPDATE
), batch AS MATERIALIZED (
  SELECT n.created_at, n.subject_key, n.snapshot_version, place.waiting_id + row_number() OVER next AS waiting_id,
         n.envelope_hash IS NOT NULL AND (n.prev_hash IS NOT NULL OR n.snapshot_version = 1) AS is_sealed
    FROM place
   CROSS JOIN LATERAL (SELECT * FROM snapshots n
                        WHERE (n.created_at, n.subject_key, n.snapshot_version)
                            > (place.created_at, place.subject_key, place.snapshot_version)
                        ORDER BY n.created_at, n.subject_key, n.snapshot_version LIMIT $1) n
  WINDOW next AS (ORDER BY n.created_at, n.subject_key, n.snapshot_version)
), marked AS (
  INSERT INTO log_waiting (waiting_id, entry_type, subject_key, snapshot_version) OVERRIDING SYSTEM VALUE
  SELECT b.waiting_id, 1, b.subject_key, b.snapshot_version
    FROM batch b
    LEFT JOIN log_waiting w ON w.waiting_id > 0 AND w.entry_type = 1
                           AND w.subject_key = b.subject_key AND w.snapshot_version = b.snapshot_version
   WHERE b.is_sealed AND w.waiting_id IS NULL
     AND (SELECT true FROM log_entries e WHERE e.entry_type = 1 AND e.subject_key = b.subject_key
                                           AND e.snapshot_version = b.snapshot_version LIMIT 1) IS NULL
   ORDER BY b.waiting_id
), moved AS (
  UPDATE log_backfill SET (created_at, subject_key, snapshot_version, waiting_id)
       = (SELECT b.created_at, b.subject_key, b.snapshot_version, b.waiting_id FROM batch b ORDER BY b.waiting_id DESC LIMIT 1)
   WHERE is_one AND EXISTS (SELECT FROM batch)
)
SELECT count(*)::int AS "lookedAt" FROM batch
