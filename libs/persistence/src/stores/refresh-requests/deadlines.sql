-- fragment: claim(column, also, change)
-- Claims the next pending requests whose deadline `column` has passed, and applies `change`. `also` is
-- a further condition on them.
WITH due AS MATERIALIZED (
  SELECT r.refresh_request_id FROM refresh_requests r
   WHERE r.status = 'pending' AND r.@column <= statement_timestamp() AND @also
   ORDER BY r.@column LIMIT :limit
     FOR NO KEY UPDATE SKIP LOCKED
), r AS (
  UPDATE refresh_requests r SET @change FROM due WHERE r.refresh_request_id = due.refresh_request_id RETURNING r.*
)
SELECT @request_columns(request, s), s.owner_tenant_id AS "ownerTenantId"
  FROM r
 CROSS JOIN LATERAL (SELECT * FROM subjects s WHERE s.subject_key = r.subject_key LIMIT 1) s



-- statement: refresh_requests_overdue
@claim(due_at, r.overdue_told_at IS NULL, overdue_told_at = statement_timestamp())

-- statement: refresh_requests_expired
@claim(expires_at, r.expires_at IS NOT NULL, {status = 'expired', closed_at = r.expires_at})

-- statement: refresh_requests_next
-- Opens the next request of each due series with the same content and durations, or ends the series if its tenant may no longer
-- ask.
WITH due AS MATERIALIZED (
  SELECT r.*, gen_random_uuid() AS next_id FROM refresh_requests r
   WHERE r.next_at <= statement_timestamp() ORDER BY r.next_at LIMIT :limit
     FOR NO KEY UPDATE SKIP LOCKED
), asked AS MATERIALIZED (
  SELECT due.*, s.owner_tenant_id AS owner, s.subject_id,
         s.owner_tenant_id = due.requesting_tenant_id OR @scopes_held_by(due.requesting_tenant_id) IS NOT NULL AS may_ask
    FROM due CROSS JOIN LATERAL (SELECT * FROM subjects s WHERE s.subject_key = due.subject_key LIMIT 1) s
), made AS (
  INSERT INTO refresh_requests (refresh_request_id, subject_key, requesting_tenant_id, requested_by, origin_type,
                                reason_code, message, requested_paths, expires_at, due_at, every, series_id,
                                previous_request_id)
  SELECT next_id, subject_key, requesting_tenant_id, requested_by, origin_type, reason_code, message, requested_paths,
         now() + (expires_at - created_at), now() + (due_at - created_at), every, series_id, refresh_request_id
    FROM asked WHERE may_ask
  RETURNING *
), linked AS (
  UPDATE refresh_requests r
     SET next_at = NULL, next_request_id = CASE WHEN may_ask THEN next_id END,
         series_end_reason = CASE WHEN may_ask THEN NULL ELSE 'access_lost' END
    FROM asked WHERE r.refresh_request_id = asked.refresh_request_id
)
SELECT @request_columns(request?, s), s.owner AS "ownerTenantId"
  FROM asked s LEFT JOIN made r ON r.refresh_request_id = s.next_id

-- statement: refresh_request_later_versions
SELECT r.refresh_request_id AS "refreshRequestId", v.passed AS "askedAt", n.snapshot_id AS "snapshotId",
       n.snapshot_version AS "snapshotVersion", octet_length(n.envelope) AS "bytes"
  FROM unnest(:refreshRequestIds::uuid[]) i (refresh_request_id)
 CROSS JOIN LATERAL (SELECT * FROM refresh_requests r WHERE r.refresh_request_id = i.refresh_request_id LIMIT 1) r
 CROSS JOIN LATERAL (SELECT * FROM snapshots n WHERE n.subject_key = r.subject_key
                      ORDER BY n.snapshot_version DESC LIMIT 1) n
  @versions_before(r.subject_key, n.snapshot_version, r.created_at, v)
 WHERE n.created_at >= r.created_at AND n.envelope IS NOT NULL

-- statement: refresh_request_version_texts
SELECT @snapshot_columns(, {@stored_text}),
  @origins_of(n.subject_key, n.snapshot_version) AS origins
  FROM unnest(:snapshotIds::uuid[]) i (snapshot_id)
 CROSS JOIN LATERAL (SELECT * FROM snapshots n WHERE n.snapshot_id = i.snapshot_id LIMIT 1) n
 CROSS JOIN LATERAL (SELECT * FROM subjects s WHERE s.subject_key = n.subject_key LIMIT 1) s
