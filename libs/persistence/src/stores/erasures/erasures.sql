-- fragment: is_overdue
er.status = 'pending' AND er.confirm_by <= statement_timestamp()

-- fragment: status
CASE WHEN @is_overdue THEN 'expired' ELSE er.status END

-- fragment: erasure_columns(group)
-- The columns of the erasure `er` of subject `s`.
er.public_id AS "@group.erasureId",
  er.tenant_id AS "@group.tenantId",
  s.subject_type AS "@group.subjectType",
  s.subject_id AS "@group.subjectId",
  er.versions AS "@group.versions",
  @status AS "@group.status",
  er.confirmation AS "@group.confirmation",
  CASE WHEN NOT (@is_overdue) THEN er.reason END AS "@group.reason",
  er.reference AS "@group.reference",
  er.requested_by AS "@group.requestedBy",
  er.requested_at AS "@group.requestedAt",
  er.confirm_by AS "@group.confirmBy",
  er.confirmed_by AS "@group.confirmedBy",
  er.confirmed_at AS "@group.confirmedAt",
  er.cancelled_by AS "@group.cancelledBy",
  er.cancelled_at AS "@group.cancelledAt",
  er.erased_at AS "@group.erasedAt",
  CASE WHEN er.erased_at IS NOT NULL THEN
         (SELECT e.log_index::float8 FROM log_entries e WHERE e.erasure_id = er.erasure_id LIMIT 1) END AS "@group.logIndex"

-- fragment: eraser
@facts,
  (SELECT m.principal_type FROM memberships m
    WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id LIMIT 1) AS "principalType"

-- fragment: actor_on_subject
:tenantId::text AS tenant_id, :principalId::text AS principal_id, :subjectType::text AS subject_type, :subjectId::text AS subject_id

-- statement: erasure_state
SELECT @eraser,
  s.subject_key AS "subjectKey", @head_version(s.subject_key) AS "headVersion"
  FROM (SELECT @actor_on_subject) i
  @named_subject
  @tenant_access('{}')

-- fragment: is_logged
(SELECT true FROM log_entries e
    WHERE e.subject_key = n.subject_key AND e.snapshot_version = n.snapshot_version AND e.entry_type = 1 LIMIT 1) IS TRUE

-- statement: erasure_named_versions
SELECT v.version, n.snapshot_version IS NOT NULL AS "exists", n.erasure_id IS NOT NULL AS "isErased",
  @is_logged AS "isLogged"
  FROM unnest(:versions::int[]) AS v(version)
  LEFT JOIN LATERAL (SELECT * FROM snapshots n
                      WHERE n.subject_key = :subjectKey::bigint AND n.snapshot_version = v.version LIMIT 1) n ON true
 ORDER BY v.version

-- statement: erasure_all_versions
SELECT n.snapshot_version AS version, true AS "exists", false AS "isErased", @is_logged AS "isLogged"
  FROM (SELECT * FROM snapshots n WHERE n.subject_key = :subjectKey::bigint AND (n.erasure_id IS NULL) IS TRUE
         ORDER BY n.snapshot_version LIMIT :limit) n
 ORDER BY n.snapshot_version

-- statement: erasure_expire
UPDATE erasures er SET status = 'expired', reason = NULL
  WHERE er.subject_key = :subjectKey::bigint AND (@is_overdue) IS TRUE

-- statement: erasure_insert
INSERT INTO erasures (public_id, tenant_id, subject_key, versions, reason, reference, requested_by)
  VALUES (:erasureId::uuid, :tenantId::text, :subjectKey::bigint, :versions::int[], :reason::text, :reference::text,
          :requestedBy::text)

-- statement: erasure_find
SELECT @eraser,
  @erasure_columns(erasure?)
  FROM (SELECT @actor_on_subject, :erasureId::uuid AS erasure_id) i
  @named_subject
  @tenant_access('{}')
  LEFT JOIN LATERAL (SELECT * FROM erasures er WHERE er.public_id = i.erasure_id LIMIT 1) er
    ON er.subject_key = s.subject_key AND f.owns_subject

-- statement: erasure_versions
SELECT n.snapshot_version AS "snapshotVersion", n.snapshot_id AS "snapshotId",
  encode(n.envelope_hash, 'hex') AS "envelopeHash", encode(n.prev_hash, 'hex') AS "prevHash", e.log_index::float8 AS "logIndex"
  FROM (SELECT er.subject_key, unnest(er.versions) AS version FROM erasures er
         WHERE er.public_id = :erasureId::uuid AND er.status = 'erased') er
 CROSS JOIN LATERAL (SELECT * FROM snapshots n
                      WHERE n.subject_key = er.subject_key AND n.snapshot_version = er.version LIMIT 1) n
 CROSS JOIN LATERAL (SELECT * FROM log_entries e
                      WHERE e.subject_key = er.subject_key AND e.snapshot_version = er.version AND e.entry_type = 1 LIMIT 1) e
 ORDER BY n.snapshot_version

-- statement: erasure_confirm
UPDATE erasures er SET confirmed_by = :principalId, confirmed_at = statement_timestamp()
  WHERE er.public_id = :erasureId::uuid AND (er.status = 'pending') IS TRUE

-- statement: erasure_cancel
UPDATE erasures er SET status = 'cancelled', reason = NULL, cancelled_by = :principalId, cancelled_at = statement_timestamp()
  WHERE er.public_id = :erasureId::uuid AND (er.status = 'pending') IS TRUE
  RETURNING er.public_id AS "erasureId"

-- statement: erasure_erase
-- Calls the database function that erases. The applications' role has no other way, and the function demands a confirmed row.
SELECT erase_versions(er.erasure_id) AS "erasedAt" FROM erasures er WHERE er.public_id = :erasureId::uuid

-- fragment: recipients
-- The tenants that were shown a version of the erasure `er` before it was done. The expression `|| ''` and the order exclude indexes
-- that begin with the tenant and cover all subjects.
SELECT d.grantee_tenant_id || '' AS tenant_id, min(d.first_at) AS first_at, max(d.first_at) AS last_at
          FROM (SELECT * FROM disclosures d
                 WHERE d.subject_key = er.subject_key AND d.first_at <= er.erased_at
                 ORDER BY d.first_at DESC, d.disclosure_id DESC) d
         WHERE (SELECT true FROM unnest(er.versions) AS v(version)
                 WHERE v.version BETWEEN d.from_version AND d.to_version LIMIT 1)
         GROUP BY d.grantee_tenant_id || ''

-- statement: erasure_recipients
SELECT t.tenant_id AS "tenantId", t.first_at AS "firstAt", t.last_at AS "lastAt"
  FROM (SELECT * FROM erasures er WHERE er.public_id = :erasureId::uuid AND (er.status = 'erased') IS TRUE) er
 CROSS JOIN LATERAL (@recipients) t
 ORDER BY t.tenant_id

-- statement: erasure_concerns
-- The owner of an erased subject, each tenant with a live grant on it, and each recipient.
SELECT DISTINCT t.tenant_id AS "tenantId"
  FROM (SELECT * FROM erasures er WHERE er.public_id = :erasureId::uuid) er
 CROSS JOIN LATERAL (
   SELECT er.tenant_id
    UNION ALL
   SELECT g.grantee_tenant_id FROM (@live_grants_on(er.subject_key, er.tenant_id)) g
    UNION ALL
   SELECT d.tenant_id FROM (@recipients) d) t

-- statement: erasures_of_subject
SELECT @facts,
  @erasure_columns(item?),
  ARRAY[er.erasure_id::text] AS position, er.found
  FROM (SELECT @actor_on_subject) i
  @named_subject
  @tenant_access('{}')
  LEFT JOIN LATERAL @fitting(er, {SELECT * FROM erasures er
      WHERE er.subject_key = s.subject_key AND f.owns_subject AND (-er.erasure_id) > -(:before::bigint)
      ORDER BY (-er.erasure_id) LIMIT :rows}, @row_bytes(er), ORDER BY (-er.erasure_id)) er ON true
 ORDER BY (-er.erasure_id)

-- statement: erasures_of_tenant
SELECT @facts,
  @erasure_columns(item?),
  ARRAY[er.erasure_id::text] AS position, er.found
  FROM (SELECT :tenantId::text AS tenant_id, :principalId::text AS principal_id) i
  @member_access(i.tenant_id)
  LEFT JOIN LATERAL @fitting(er, {SELECT * FROM erasures er
      WHERE (er.tenant_id || '/') = i.tenant_id || '/' AND f.member_status = 'active' AND (-er.erasure_id) > -(:before::bigint)
        AND (:status::text IS NULL OR @status = :status::text)
      ORDER BY (er.tenant_id || '/'), (-er.erasure_id) LIMIT :rows}, @row_bytes(er), ORDER BY (-er.erasure_id)) er ON true
  LEFT JOIN LATERAL (SELECT * FROM subjects s WHERE s.subject_key = er.subject_key LIMIT 1) s ON true
 ORDER BY (-er.erasure_id)
