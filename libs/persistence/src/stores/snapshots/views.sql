-- The views of versions (docs/log.md#views).

-- statement: views_find
SELECT n.snapshot_id AS "snapshotId", v.view_secret AS secret, encode(v.view_hash, 'hex') AS hash
  FROM unnest(:snapshotIds::uuid[]) AS i(snapshot_id)
 CROSS JOIN LATERAL (SELECT * FROM snapshots n WHERE n.snapshot_id = i.snapshot_id LIMIT 1) n
 CROSS JOIN LATERAL (SELECT * FROM snapshot_views v
                      WHERE v.subject_key = n.subject_key AND v.snapshot_version = n.snapshot_version LIMIT 1) v

-- statement: views_commit
-- Stores the views of versions that have a text and no view yet. All processes insert in the same order, so none deadlocks.
INSERT INTO snapshot_views (subject_key, snapshot_version, view_secret, view_hash)
SELECT n.subject_key, n.snapshot_version, i.secret, i.hash
  FROM unnest(:views.snapshotId::uuid[], :views.secret::bytea[], :views.hash::bytea[]) AS i(snapshot_id, secret, hash)
 CROSS JOIN LATERAL (SELECT * FROM snapshots n WHERE n.snapshot_id = i.snapshot_id AND n.envelope IS NOT NULL LIMIT 1) n
 ORDER BY n.subject_key, n.snapshot_version
    ON CONFLICT (subject_key, snapshot_version) DO NOTHING

-- statement: views_missing
-- Reads the first versions that wait for their log entries and have no view, up to about :bytes of text, and the number of all such
-- versions among the first :limit waiting facts. `readAt` precedes the read.
SELECT statement_timestamp() AS "readAt", coalesce(k.total, 0)::int AS total,
  k.snapshot_id AS "version?.snapshotId",
  k.envelope AS "version?.text",
  encode(k.envelope_hash, 'hex') AS "version?.envelopeHash",
  encode(k.prev_hash, 'hex') AS "version?.prevHash"
  FROM (VALUES (true)) AS one(is_one)
  LEFT JOIN LATERAL (
    SELECT m.*
      FROM (SELECT w.waiting_id, n.snapshot_id, n.envelope, n.envelope_hash, n.prev_hash, count(*) OVER () AS total,
                   sum(octet_length(n.envelope)) OVER (ORDER BY w.waiting_id) - octet_length(n.envelope) AS before
              FROM (SELECT * FROM log_waiting ORDER BY waiting_id LIMIT :limit) w
             CROSS JOIN LATERAL (SELECT * FROM snapshots n
                                  WHERE n.subject_key = w.subject_key AND n.snapshot_version = w.snapshot_version LIMIT 1) n
              LEFT JOIN LATERAL (SELECT true AS is_there FROM snapshot_views v
                                  WHERE v.subject_key = w.subject_key AND v.snapshot_version = w.snapshot_version LIMIT 1) v ON true
             WHERE w.entry_type = 1 AND v.is_there IS NULL AND n.envelope IS NOT NULL AND n.envelope_hash IS NOT NULL) m
     WHERE m.before < :bytes::bigint
  ) k ON true
 ORDER BY k.waiting_id
