-- One batch of what was there before, behind ($1, $2): again and again until it answers no row. Each is a transaction of its own, may be
-- broken off, and may be run again. The rows are locked, so that an erasure comes before them or finds them copied.

WITH batch AS MATERIALIZED (
  SELECT n.* FROM snapshots n
   WHERE (n.subject_key, n.snapshot_version) > ($1::bigint, $2::int)
   ORDER BY n.subject_key, n.snapshot_version LIMIT 5000
     FOR SHARE
), copied AS (
  INSERT INTO snapshots_next SELECT b.* FROM batch b
   WHERE NOT EXISTS (SELECT FROM snapshots_next c
                      WHERE c.subject_key = b.subject_key AND c.snapshot_version = b.snapshot_version)
)
SELECT subject_key AS "subjectKey", snapshot_version AS "snapshotVersion" FROM batch
 ORDER BY subject_key DESC, snapshot_version DESC LIMIT 1
