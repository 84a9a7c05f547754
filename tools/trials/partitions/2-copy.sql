-- Copies a batch of the older rows after ($1, $2). Repeat it until it returns no row. Each batch is a separate transaction, which may be
-- cancelled and repeated. The rows are locked, so that an erasure runs either before the copy or on the copied rows.

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
