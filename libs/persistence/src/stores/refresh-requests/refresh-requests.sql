-- fragment: is_open
-- True if the request `r` can be answered now. It uses the database's clock, because the worker stores `expired` later.
r.status = 'pending' AND coalesce(r.expires_at, 'infinity') > statement_timestamp()

-- fragment: is_over
r.status = 'pending' AND r.expires_at <= statement_timestamp()

-- fragment: status
-- The current status of the request `r`.
CASE WHEN @is_over THEN 'expired' ELSE r.status END

-- fragment: request_columns(group, s)
-- The columns of the request `r` of subject `s`: a `RefreshRequestRecord`.
r.refresh_request_id AS "@group.refreshRequestId",
  @s.subject_type AS "@group.subjectType",
  @s.subject_id AS "@group.subjectId",
  r.requesting_tenant_id AS "@group.requestingTenantId",
  r.origin_type AS "@group.originType",
  @status AS "@group.status",
  r.reason_code AS "@group.reasonCode",
  r.message AS "@group.message",
  r.requested_paths AS "@group.requestedPaths",
  r.created_at AS "@group.createdAt",
  r.expires_at AS "@group.expiresAt",
  r.resolved_at AS "@group.resolvedAt",
  r.resolved_snapshot_id AS "@group.resolvedSnapshotId",
  r.resolved_snapshot_version AS "@group.resolvedSnapshotVersion",
  r.due_at AS "@group.dueAt",
  CASE WHEN r.due_at <= coalesce(r.resolved_at, r.closed_at, LEAST(r.expires_at, statement_timestamp()))
       THEN r.due_at END AS "@group.overdueAt",
  CASE WHEN @is_over THEN r.expires_at ELSE r.closed_at END AS "@group.closedAt",
  r.decline_reason AS "@group.declineReason",
  r.every AS "@group.every",
  r.series_id AS "@group.seriesId",
  r.previous_request_id AS "@group.previousRequestId",
  r.next_request_id AS "@group.nextRequestId",
  r.next_at AS "@group.nextAt",
  r.series_end_reason AS "@group.seriesEndReason"

-- statement: refresh_request_lock_requester
-- Serializes the requests of a tenant for one subject, so that each is counted before the next one.
SELECT pg_advisory_xact_lock(hashtextextended(
     'refresh/' || :requestingTenantId::text || '/' || :subjectType::text || '/' || :subjectId::text, 0)) FROM @acting

-- statement: refresh_request_create
WITH facts AS MATERIALIZED (
  SELECT i.*, f.*, s.subject_key, s.owner_tenant_id,
         @cap_of(tenant, pending_refresh_requests, i.tenant_id) AS cap
    FROM (SELECT :requestingTenantId::text AS tenant_id, :principalId::text AS principal_id,
                 :subjectType::text AS subject_type, :subjectId::text AS subject_id) i
    @named_subject
    @tenant_access('{}')
),
made AS (
  INSERT INTO refresh_requests (refresh_request_id, subject_key, requesting_tenant_id, requested_by, origin_type,
                                reason_code, message, requested_paths, expires_at, due_at, every, series_id)
  SELECT :refreshRequestId::uuid, subject_key, tenant_id, principal_id,
         CASE WHEN owns_subject THEN 'owner' ELSE 'counterparty' END,
         :reasonCode::text, :message::text, :requestedPaths::text[], :expiresAt::timestamptz,
         :dueAt::timestamptz, :every::text, CASE WHEN :every::text IS NOT NULL THEN :refreshRequestId::uuid END
    FROM facts
   WHERE member_status = 'active' AND role IN (@roles(requestRefresh))
     AND (owns_subject OR grant_scopes IS NOT NULL)
     AND @count_up_to(facts.cap, {FROM refresh_requests r
           WHERE (r.subject_key, r.requesting_tenant_id, coalesce(r.expires_at, 'infinity'))
                 > (facts.subject_key, facts.tenant_id, statement_timestamp())
             AND (r.subject_key, r.requesting_tenant_id) <= (facts.subject_key, facts.tenant_id)
             AND r.status = 'pending'
           ORDER BY r.subject_key, r.requesting_tenant_id, coalesce(r.expires_at, 'infinity')}) + @count_up_to(facts.cap, FROM refresh_requests r
           WHERE r.subject_key = facts.subject_key AND r.requesting_tenant_id = facts.tenant_id AND r.next_at IS NOT NULL) < cap
  RETURNING *
)
SELECT @facts, f.cap,
  f.owner_tenant_id AS "ownerTenantId", @request_columns(request?, f)
  FROM facts f LEFT JOIN made r ON true

-- fragment: named_request
(SELECT :principalId::text AS principal_id, :refreshRequestId::uuid AS refresh_request_id,
               :subjectType::text AS subject_type, :subjectId::text AS subject_id) i
  @named_subject
  LEFT JOIN refresh_requests r ON r.refresh_request_id = i.refresh_request_id AND r.subject_key = s.subject_key

-- fragment: request
@named_request
  @party_access(r.requesting_tenant_id)

-- statement: refresh_request_find
SELECT @facts,
  @request_columns(request?, s)
  FROM @request

-- statement: refresh_request_fulfil
-- Fulfils a request. The row lock lets one of many concurrent calls do it, and the others then see that it is no longer pending.
WITH facts AS MATERIALIZED (
  SELECT f.*, s.subject_type, s.subject_id, r.refresh_request_id, @status AS status, n.snapshot_id, n.snapshot_version,
         n.subject_key = s.subject_key AS is_of_subject, n.erasure_id IS NOT NULL AS is_erased
    FROM @request
    LEFT JOIN snapshots n ON n.snapshot_id = :snapshotId::uuid
   CROSS JOIN @acting
),
done AS (
  UPDATE refresh_requests r
     SET status = 'fulfilled', resolved_at = now(), resolved_snapshot_id = f.snapshot_id,
         resolved_snapshot_version = f.snapshot_version
    FROM facts f
   WHERE r.refresh_request_id = f.refresh_request_id AND (@is_open) IS TRUE
     AND f.owns_subject AND f.role IN (@roles(fulfilRefresh)) AND f.is_of_subject AND NOT f.is_erased
  RETURNING r.*
)
SELECT @facts,
  f.refresh_request_id IS NOT NULL AS "isKnown", f.status, f.snapshot_id IS NOT NULL AS "isSnapshotKnown",
  f.is_of_subject IS TRUE AS "isSnapshotOfSubject", f.is_erased AS "isSnapshotErased",
  @request_columns(request?, f)
  FROM facts f LEFT JOIN done r ON true

-- fragment: recurs
-- True if the request `r` is the last one of a series that has not ended.
r.every IS NOT NULL AND r.next_request_id IS NULL AND r.series_end_reason IS NULL

-- fragment: closing(change, is_closable, access, may_close)
-- Closes a request. The row lock lets one of many concurrent calls do it, and the others then see that it is no longer pending.
-- `access` joins the caller's rights as `f`, and `may_close` is a condition on them.
WITH facts AS MATERIALIZED (
  SELECT f.*, s.subject_type, s.subject_id, s.owner_tenant_id, r.refresh_request_id, @status AS status
    FROM @named_request
    @access
   CROSS JOIN @acting
),
done AS (
  UPDATE refresh_requests r SET @change
    FROM facts f
   WHERE r.refresh_request_id = f.refresh_request_id AND (@is_closable) IS TRUE AND @may_close
  RETURNING r.*
)
SELECT @facts, f.status, f.owner_tenant_id AS "ownerTenantId",
  @request_columns(request?, f)
  FROM facts f LEFT JOIN done r ON true

-- statement: refresh_request_declined
@closing({status = 'declined', closed_at = now(), decline_reason = :reason::text}, @is_open,
         @party_access(r.requesting_tenant_id), f.owns_subject AND f.role IN (@roles(fulfilRefresh)))

-- statement: refresh_request_cancelled
-- It also ends a series whose last request is closed.
@closing({status = CASE WHEN @is_open THEN 'cancelled' ELSE r.status END,
         closed_at = CASE WHEN @is_open THEN now() ELSE r.closed_at END, decline_reason = coalesce(r.decline_reason, :reason::text),
         next_at = NULL, series_end_reason = CASE WHEN r.every IS NOT NULL THEN 'cancelled' END}, (@is_open OR @recurs),
         @member_access(r.requesting_tenant_id), f.member_status = 'active' AND f.role IN (@roles(cancelRefresh)))

-- fragment: listed(name, disclosure)
-- The columns of a listed request, for the owner of its subject or for a grantee that has `v`.
@request_columns(item?, s),
  @name AS "item?.name",
  @disclosure

-- fragment: not_disclosed
NULL::float8 AS "item?.disclosure?.subjectKey"


-- fragment: listed_incoming
@listed(s.display_name, @not_disclosed)

-- fragment: listed_outgoing
@listed(CASE WHEN s.owner_tenant_id = i.tenant_id OR @sees_name THEN s.display_name END, {
  CASE WHEN @sees_name AND s.display_name IS NOT NULL THEN s.subject_key::float8 END AS "item?.disclosure?.subjectKey",
  v.grant_id AS "item?.disclosure?.grantId",
  v.paths AS "item?.disclosure?.paths",
  CASE WHEN @sees_name THEN @head_version(s.subject_key) END AS "item?.disclosure?.version"})

-- fragment: sees_name
-- True if the grant `v` shows the name of subject `s`.
(v.grant_id IS NOT NULL AND paths_cover(v.paths, s.name_path))

-- fragment: subject
-- Joins the subject `s` of the request `r`.
LEFT JOIN subjects s ON s.subject_key = r.subject_key

-- fragment: bytes
-- The size of the large columns of a request, as JSON.
(octet_length(to_json(r.requested_paths)::text) + coalesce(octet_length(r.message), 0))

-- fragment: of_subject(also)
SELECT @facts,
  @listed(CASE WHEN f.owns_subject THEN s.display_name END, @not_disclosed),
  @newest_position(r, refresh_request_id), r.found
  FROM (SELECT :principalId::text AS principal_id, :subjectType::text AS subject_type,
               :subjectId::text AS subject_id, :requestingTenantId::text AS requesting_tenant_id) i
  @named_subject
  @party_access(i.requesting_tenant_id)
  LEFT JOIN LATERAL @fitting(r, SELECT * FROM refresh_requests r WHERE r.subject_key = s.subject_key @also AND @newest_next(r, refresh_request_id), @bytes, @newest_order(r, refresh_request_id)) r ON true
 @newest_order(r, refresh_request_id)



-- statement: refresh_requests_of_subject
@of_subject()

-- statement: refresh_requests_of_tenant
@of_subject(AND r.requesting_tenant_id = i.requesting_tenant_id)

-- fragment: inbox(tenant, listed, to_subject)
-- The list of an inbox. It reads each status and type from the index separately, so that a rare one needs no scan of a
-- long history. Expired requests are stored as `pending` until the worker updates them.
SELECT @facts,
  @listed,
  @newest_position(r, refresh_request_id), r.found
  FROM (SELECT :tenantId::text AS tenant_id, :principalId::text AS principal_id) i
  @member_access(i.tenant_id)
  LEFT JOIN LATERAL @fitting(r, SELECT r.*
      FROM unnest(:statuses::text[]) wanted
     CROSS JOIN unnest(CASE wanted WHEN 'expired' THEN '{expired,pending}' ELSE ARRAY[wanted] END) state
     CROSS JOIN unnest(:subjectTypes::text[]) kind
     CROSS JOIN LATERAL (
       SELECT * FROM refresh_requests r
        WHERE f.member_status = 'active' AND (r.@tenant, r.status, r.subject_type) >= (i.tenant_id, state, kind)
          AND (r.@tenant, r.status, r.subject_type, r.created_at, r.refresh_request_id)
              < (i.tenant_id, state, kind, :beforeTime::timestamptz, :beforeId::uuid)
          AND @status = wanted
        ORDER BY r.@tenant DESC, r.status DESC, r.subject_type DESC, r.created_at DESC, r.refresh_request_id DESC
        LIMIT :rows
     ) r
     @newest_order(r, refresh_request_id) LIMIT :rows, @bytes, @newest_order(r, refresh_request_id)) r ON true
  @to_subject
 @newest_order(r, refresh_request_id)



-- statement: refresh_requests_incoming
@inbox(owner_tenant_id, @listed_incoming, @subject)

-- statement: refresh_requests_outgoing
@inbox(outgoing_of, @listed_outgoing, {@subject @latest_read_by})

-- fragment: filtered(at, position, page, listed, to_subject)
SELECT @facts,
  @listed,
  @position, r.found
  FROM (SELECT :tenantId::text AS tenant_id, :principalId::text AS principal_id, :subjectType::text AS subject_type,
               :subjectId::text AS subject_id, :status::text AS status, :isOverdue::boolean AS is_overdue) i
  @member_access(i.tenant_id)
  @named_key
  LEFT JOIN LATERAL @fitting(r, SELECT * FROM @page r, @bytes, @records_order(r, @at, refresh_request_id)) r ON true
  @to_subject
 @records_order(r, @at, refresh_request_id)

-- fragment: wanted
(i.status IS NULL OR @status = i.status) AND (i.subject_type IS NULL OR r.subject_type = i.subject_type)
       AND (NOT i.is_overdue OR (@is_open AND r.due_at <= statement_timestamp()))

-- fragment: on_subject(tenant)
-- An expression, so that no other list uses the index.
@examined_by(refresh_requests, r, created_at, refresh_request_id, uuid, {r.@tenant || '/', r.subject_key},
             {i.tenant_id || '/', k.subject_key}, f.member_status = 'active', {r.@tenant || '/' DESC, r.subject_key DESC})

-- fragment: filtered_by_subject(tenant, listed, to_subject)
@filtered(created_at, {@records_position(r, created_at, refresh_request_id, @on_subject(@tenant))},
          {@records_page_by_two(r, created_at, refresh_request_id, @on_subject(@tenant), @wanted, r.@tenant || '/', r.subject_key)},
          @listed, @to_subject)

-- fragment: overdue(tenant)
@examined(refresh_requests, r, due_at, refresh_request_id, uuid, {
  r.@tenant || '/' = i.tenant_id || '/' AND r.status = 'pending' AND r.due_at IS NOT NULL AND f.member_status = 'active'})

-- fragment: filtered_by_due_time(tenant, listed, to_subject)
@filtered(due_at, {@records_position(r, due_at, refresh_request_id, @overdue(@tenant))},
          {@records_page(r, due_at, refresh_request_id, @overdue(@tenant), @wanted)}, @listed, @to_subject)

-- statement: refresh_requests_incoming_on
@filtered_by_subject(owner_tenant_id, @listed_incoming, @subject)

-- statement: refresh_requests_outgoing_on
@filtered_by_subject(outgoing_of, @listed_outgoing, {@subject @latest_read_by})

-- statement: refresh_requests_incoming_overdue
@filtered_by_due_time(owner_tenant_id, @listed_incoming, @subject)

-- statement: refresh_requests_outgoing_overdue
@filtered_by_due_time(outgoing_of, @listed_outgoing, {@subject @latest_read_by})
