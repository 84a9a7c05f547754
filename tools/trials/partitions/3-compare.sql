-- Returns differences between both tables, and wrong ids. The result must be empty. It can take long and blocks nothing.

SELECT count(*)::int AS different
  FROM snapshots n
  FULL JOIN snapshots_next c ON c.subject_key = n.subject_key AND c.snapshot_version = n.snapshot_version
  LEFT JOIN snapshot_ids i ON i.snapshot_id = n.snapshot_id
 WHERE n::text IS DISTINCT FROM c::text
    OR (i.subject_key, i.snapshot_version) IS DISTINCT FROM (n.subject_key, n.snapshot_version)
