-- fragment: update_columns(group, u, s, patch_ops)
-- The columns of the update `u` of subject `s`: an `UpdateRecord`.
@u.update_id AS "@group.updateId",
  @u.tenant_id AS "@group.tenantId",
  @s.subject_type AS "@group.subjectType",
  @s.subject_id AS "@group.subjectId",
  @u.base_snapshot_id AS "@group.baseSnapshotId",
  @u.base_snapshot_version AS "@group.baseSnapshotVersion",
  @patch_ops AS "@group.patchOps",
  @u.change_kind AS "@group.changeKind",
  @u.status AS "@group.status",
  @u.request_id AS "@group.requestId",
  @u.initiated_by AS "@group.initiatedBy",
  @u.proposed_by AS "@group.proposedBy",
  @u.created_at AS "@group.createdAt",
  @u.applied_at AS "@group.appliedAt",
  @u.applied_snapshot_id AS "@group.appliedSnapshotId",
  @u.withdrawn_at AS "@group.withdrawnAt"

-- fragment: subject_is_full
-- Rows that share the statement count together: earlier rows take their places first.
f.pending_of_subject + (:aheadOfSubject::int[])[f.ord] >= f.subject_cap

-- fragment: tenant_is_full
f.pending_of_tenant + (:aheadOfTenant::int[])[f.ord] >= f.tenant_cap

-- statement: update_propose
-- Stores proposals. It counts the tenant's proposals unless the process knows that there is a free place under the current cap
-- (`Headroom`).
WITH facts AS MATERIALIZED (
  SELECT f.*,
         @count_up_to(f.subject_cap, FROM updates u WHERE (u.subject_key, u.status) BETWEEN (f.subject_key, 'proposed') AND (f.subject_key, 'proposed')) AS pending_of_subject,
         CASE WHEN f.tenant_cap IS DISTINCT FROM (:countedCaps::int[])[f.ord] THEN @count_up_to(f.tenant_cap, FROM updates u WHERE (u.tenant_id, u.status) BETWEEN (f.tenant_id, 'proposed') AND (f.tenant_id, 'proposed')) END AS pending_of_tenant
    FROM (
    SELECT i.*, f.*, s.subject_key, @head_version(s.subject_key) AS head_version,
           @cap_of(tenant, pending_updates_per_subject, i.tenant_id) AS subject_cap,
           @cap_of(tenant, pending_updates_per_tenant, i.tenant_id) AS tenant_cap,
           (SELECT t.evidence_policy FROM tenants t WHERE t.tenant_id = i.tenant_id LIMIT 1) AS tenant_policy
      FROM unnest(:inputs.updateId::uuid[], :inputs.tenantId::text[], :inputs.principalId::text[],
                :inputs.subjectType::text[], :inputs.subjectId::text[], :inputs.baseSnapshotVersion::int[],
                :inputs.requestId::text[], :inputs.evidencePolicy::text[])
    WITH ORDINALITY AS i(update_id, tenant_id, principal_id, subject_type, subject_id, base_snapshot_version, request_id, evidence_policy, ord)
      @named_subject
      @tenant_access('{}')
     ORDER BY i.tenant_id, i.request_id
    OFFSET 0
  ) f
),
inserted AS (
  INSERT INTO updates (update_id, tenant_id, subject_key, base_snapshot_id, base_snapshot_version, patch_ops,
                       change_kind, request_id, initiated_by, proposed_by)
  SELECT update_id, tenant_id, subject_key, (:inputs.baseSnapshotId::uuid[])[ord], base_snapshot_version,
         (:inputs.patchOps::text[])[ord], (:inputs.changeKind::text[])[ord], request_id, (:inputs.initiatedBy::text[])[ord], principal_id
    FROM facts f
   WHERE member_status = 'active' AND role IN (@roles(proposeUpdate)) AND owns_subject
     AND head_version = base_snapshot_version AND tenant_policy = evidence_policy
     AND (@subject_is_full) IS NOT TRUE AND (@tenant_is_full) IS NOT TRUE
     AND NOT is_erased_by_now(subject_key, base_snapshot_version)
  ON CONFLICT (tenant_id, request_id) WHERE request_id IS NOT NULL DO NOTHING
  RETURNING update_id
),
announced AS MATERIALIZED (
  SELECT i.update_id, i.tenant_id, i.ord, @event_id_if_wanted(eventIds, update.proposed) AS event_id
    FROM facts i WHERE i.update_id = ANY (ARRAY(SELECT update_id FROM inserted))
),
new_event AS (
  @record_in(update.proposed, update_id, announced, event_id, traces)
)
SELECT @facts,
  f.head_version AS "headVersion", f.tenant_policy AS "evidencePolicy",
       (ARRAY(SELECT event_id FROM announced))[array_position(ARRAY(SELECT update_id FROM announced), f.update_id)] AS "eventId",
       CASE WHEN f.update_id = ANY (ARRAY(SELECT update_id FROM inserted)) THEN now() END AS "createdAt",
       f.tenant_cap AS "tenantCap", f.pending_of_tenant AS "pendingOfTenant",
       CASE WHEN @subject_is_full THEN 'pending_updates_per_subject'
            WHEN @tenant_is_full THEN 'pending_updates_per_tenant' END AS "reached?.name",
       CASE WHEN @subject_is_full THEN f.subject_cap ELSE f.tenant_cap END AS "reached?.value"
  FROM facts f
 ORDER BY f.ord

-- statement: update_by_request
SELECT @update_columns(, u, s, u.patch_ops)
  FROM updates u JOIN subjects s ON s.subject_key = u.subject_key
    WHERE u.tenant_id = :tenantId AND u.request_id = :requestId

-- fragment: update
-- Joins the update `u` of the input `i`, and the subject `s` on which access is decided: the path's if it has one. The update is
-- found by its key first and checked afterwards, because an early plan would otherwise scan all updates of the tenant. `u` is
-- null unless the caller is an active member of the owner.
  LEFT JOIN subjects p ON p.subject_type = i.subject_type AND p.subject_id = i.subject_id
  LEFT JOIN LATERAL (SELECT * FROM updates u WHERE u.update_id = i.update_id LIMIT 1) found
    ON found.tenant_id = i.tenant_id AND (i.subject_type IS NULL OR found.subject_key = p.subject_key)
  LEFT JOIN subjects s ON s.subject_key = coalesce(p.subject_key, found.subject_key)
  @tenant_access('{}')
  LEFT JOIN LATERAL (SELECT found.* WHERE f.owns_subject AND f.member_status = 'active') u ON true

-- fragment: is_too_large
-- PostgreSQL knows the length of a text without reading it.
(octet_length(u.patch_ops) + octet_length(n.envelope) > :maxBytes::int) IS TRUE

-- fragment: unless_too_large(text)
CASE WHEN NOT @is_too_large THEN @text END

-- statement: update_for_apply
SELECT @facts,
  @update_columns(update?, u, s, @unless_too_large(u.patch_ops)),
  @head_version(s.subject_key) AS "headVersion",
       t.chain_enforced IS TRUE AS "chainEnforced", coalesce(t.evidence_policy, 'open') AS "evidencePolicy",
       @is_too_large AS "isTooLarge",
  @snapshot_columns(base?, @unless_too_large(n.envelope)),
       @origins_of(n.subject_key, n.snapshot_version) AS "base?.origins"
  FROM unnest(:inputs.updateId::uuid[], :inputs.tenantId::text[], :inputs.principalId::text[],
                :inputs.subjectType::text[], :inputs.subjectId::text[])
    WITH ORDINALITY AS i(update_id, tenant_id, principal_id, subject_type, subject_id, ord)
  @update
  @snapshot_of_version(u.subject_key, u.base_snapshot_version, n)
  LEFT JOIN tenants t ON t.tenant_id = i.tenant_id
 ORDER BY i.ord

-- statement: update_find
SELECT @facts,
  @update_columns(update?, u, s, u.patch_ops)
  FROM (SELECT :updateId::uuid AS update_id, :tenantId::text AS tenant_id, :principalId::text AS principal_id,
               :subjectType::text AS subject_type, :subjectId::text AS subject_id) i @update

-- statement: update_withdraw
-- Withdraws an update. The row lock serializes withdrawing and applying, and the later one sees that the update is no longer
-- proposed.
WITH found AS MATERIALIZED (
  SELECT f.*, u.*, s.subject_type, s.subject_id, i.principal_id FROM (SELECT :updateId::uuid AS update_id, :tenantId::text AS tenant_id, :principalId::text AS principal_id,
               :subjectType::text AS subject_type, :subjectId::text AS subject_id) i @update
),
withdrawn AS (
  UPDATE updates u SET status = 'withdrawn', withdrawn_at = now()
    FROM found f
   WHERE u.update_id = f.update_id AND (u.status = 'proposed') IS TRUE AND f.member_status = 'active' AND f.owns_subject
     AND (f.role IN (@roles(applyUpdate)) OR (f.role IN (@roles(withdrawUpdate)) AND f.proposed_by = f.principal_id))
  RETURNING u.update_id, u.tenant_id, u.withdrawn_at, 1 AS ord
),
announced AS (
  SELECT i.*, @event_id_if_wanted(eventIds, update.withdrawn) AS event_id FROM withdrawn i
),
new_event AS (
  @record_in(update.withdrawn, update_id, announced, event_id, traces)
)
SELECT @facts,
  @update_columns(update?, f, f, f.patch_ops), w.withdrawn_at AS "withdrawnNowAt",
  (SELECT event_id FROM announced) AS "eventId"
  FROM found f LEFT JOIN withdrawn w ON true


-- fragment: listed
@facts,
  @update_columns(item?, u, s, u.patch_ops),
  s.display_name AS "item?.name",
  @newest_position(u, update_id), u.found

-- fragment: page_of(whose)
-- Joins a page of these updates as `u`. It reads each status from the index separately, so that a rare one needs no scan of a
-- long history.
  LEFT JOIN LATERAL @fitting(u, SELECT u.*
      FROM unnest(:statuses::text[]) state
     CROSS JOIN LATERAL (SELECT * FROM updates u WHERE @whose AND u.status = state AND @newest_next(u, update_id)) u
     @newest_order(u, update_id) LIMIT :rows, (octet_length(u.patch_ops) + octet_length(to_json(concat(u.request_id, u.initiated_by, u.proposed_by))::text)), @newest_order(u, update_id)) u ON true

-- statement: updates_of_tenant
SELECT @listed
  FROM (SELECT :tenantId::text AS tenant_id, :principalId::text AS principal_id) i
  @member_access(i.tenant_id)
  @page_of(u.tenant_id = i.tenant_id AND f.member_status = 'active')
  LEFT JOIN subjects s ON s.subject_key = u.subject_key
 @newest_order(u, update_id)

-- statement: updates_of_subject
SELECT @listed
  FROM (SELECT :tenantId::text AS tenant_id, :principalId::text AS principal_id, :subjectType::text AS subject_type,
               :subjectId::text AS subject_id) i
  @named_subject
  @tenant_access('{}')
  @page_of(u.subject_key = s.subject_key AND f.owns_subject)
 @newest_order(u, update_id)
