SELECT s.subject_key AS "subjectKey", n.snapshot_version AS version, n.envelope
  FROM search_backfill b
 CROSS JOIN LATERAL (SELECT * FROM subjects s WHERE s.subject_key > b.after_key AND s.subject_key <= $2
                      ORDER BY s.subject_key LIMIT $1) s
 CROSS JOIN LATERAL (SELECT * FROM snapshots n WHERE n.subject_key = s.subject_key
                      ORDER BY n.snapshot_version DESC LIMIT 1) n
 ORDER BY s.subject_key
