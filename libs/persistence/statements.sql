-- Every statement, as PostgreSQL gets it: from the code, by `npm run generate -- sql`. What its lines mean is in docs/sql.md.
--
-- In psql, \i libs/persistence/statements.sql prepares all of them on a connection like those of the applications:
-- EXPLAIN (ANALYZE, BUFFERS) EXECUTE tenant_find('acme', 'alice');

SET ROLE iss_app;
SET plan_cache_mode = force_generic_plan;
SET enable_seqscan = off;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_material = off;
SET enable_memoize = off;
SET enable_bitmapscan = off;
SET random_page_cost = 0;
SET seq_page_cost = 0;
SET jit = off;

-- access_history
--   asked by HistoryStore.access (stores/log/history.store.ts)
--   $1 tenantId text
--   $2 principalId text
--   $3 subjectType text
--   $4 subjectId text
--   $5 beforeTime timestamp with time zone
--   $6 beforeId uuid
--   $7 rows bigint
--   enters grant_changes_of_grant, grant_changes_of_subject, grant_changes_to_all, grants_by_subject, grants_live, grants_pkey, grants_to_all_live, grants_to_all_made, log_entries_of_grant_changes, log_entries_of_grants, memberships_pkey, subjects_identity_key
PREPARE access_history (text, text, text, text, timestamp with time zone, uuid, bigint) AS
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  g.grant_id AS "item?.grantId",
  g.grantee_tenant_id AS "item?.granteeTenantId",
  CASE WHEN g.subject_key = 0 THEN '*' ELSE s.subject_type END AS "item?.subjectType",
  CASE WHEN g.subject_key = 0 THEN '*' ELSE s.subject_id END AS "item?.subjectId",
  coalesce(next.from_scopes, g.scopes) AS "item?.scopes",
  b.created_at AS "item?.from",
  coalesce(next.changed_at, least(g.revoked_at, g.expires_at)) AS "item?.until",
  CASE WHEN next.grant_change_id IS NOT NULL THEN 'replaced' WHEN g.revoked_at IS NOT NULL THEN 'revoked'
  WHEN g.expires_at <= statement_timestamp() THEN 'expired' END AS "item?.endedBy",
  CASE WHEN b.grant_change_id = 0 THEN (SELECT e.log_index::float8 FROM log_entries e
  WHERE e.grant_id = g.grant_id AND e.entry_type = 2 LIMIT 1) ELSE (SELECT e.log_index::float8
  FROM log_entries e WHERE e.grant_change_id = b.grant_change_id LIMIT 1) END AS "item?.grantedIndex",
  CASE WHEN next.grant_change_id IS NOT NULL THEN (SELECT e.log_index::float8 FROM log_entries e
  WHERE e.grant_change_id = next.grant_change_id LIMIT 1) ELSE (SELECT e.log_index::float8 FROM log_entries e
  WHERE e.grant_id = g.grant_id AND e.entry_type = 3 LIMIT 1) END AS "item?.endedIndex",
  ARRAY[b.created_at::text, b.grant_id::text] AS position
FROM (SELECT $1::text AS tenant_id, $2::text AS principal_id, $3::text AS subject_type, $4::text AS subject_id) i
LEFT JOIN subjects s ON s.subject_type = i.subject_type AND s.subject_id = i.subject_id
LEFT JOIN LATERAL (
  SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access,
    s.owner_tenant_id = i.tenant_id AS owns_subject, one.scopes || every.scopes AS grant_scopes,
    CASE WHEN one.scopes && '{}' THEN one.grant_id ELSE every.grant_id END AS grant_id
  FROM memberships m
  LEFT JOIN LATERAL (SELECT g.grant_id, g.scopes FROM grants g
    WHERE s.owner_tenant_id <> i.tenant_id
      AND (g.grantee_tenant_id, g.subject_key) BETWEEN (i.tenant_id, s.subject_key) AND (i.tenant_id, s.subject_key)
      AND g.revoked_at IS NULL AND (g.expires_at IS NULL OR g.expires_at > statement_timestamp())
    LIMIT 1) one ON true
  LEFT JOIN LATERAL (SELECT g.grant_id, g.scopes FROM grants g
    WHERE s.owner_tenant_id <> i.tenant_id
      AND (g.grantor_tenant_id || '/', g.grantee_tenant_id, coalesce(g.expires_at, 'infinity'))
      > (s.owner_tenant_id || '/', i.tenant_id, statement_timestamp())
      AND (g.grantor_tenant_id || '/', g.grantee_tenant_id) <= (s.owner_tenant_id || '/', i.tenant_id)
      AND g.revoked_at IS NULL AND (g.subject_key = 0) IS TRUE LIMIT 1) every ON true
  WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id
) f ON true
LEFT JOIN LATERAL (
  SELECT * FROM ((
      SELECT g.grant_id, 0::bigint AS grant_change_id, g.created_at FROM grants g
      WHERE g.subject_key = s.subject_key AND f.owns_subject
        AND (g.created_at, g.grant_id) < ($5::timestamptz, $6::uuid)
      ORDER BY g.created_at DESC, g.grant_id DESC LIMIT $7) UNION ALL (
      SELECT g.grant_id, g.grant_change_id, g.changed_at FROM grant_changes g
      WHERE g.subject_key = s.subject_key AND f.owns_subject
        AND (g.changed_at, g.grant_id) < ($5::timestamptz, $6::uuid)
      ORDER BY g.changed_at DESC, g.grant_id DESC LIMIT $7) UNION ALL (
      SELECT g.grant_id, 0::bigint AS grant_change_id, g.created_at FROM grants g
      WHERE g.grantor_tenant_id = s.owner_tenant_id AND (g.subject_key <> 0) IS FALSE AND f.owns_subject
        AND (g.created_at, g.grant_id) < ($5::timestamptz, $6::uuid)
      ORDER BY g.created_at DESC, g.grant_id DESC LIMIT $7) UNION ALL (
      SELECT g.grant_id, g.grant_change_id, g.changed_at FROM grant_changes g
      WHERE g.grantor_tenant_id = s.owner_tenant_id AND (g.subject_key = 0) IS TRUE AND f.owns_subject
        AND (g.changed_at, g.grant_id) < ($5::timestamptz, $6::uuid)
      ORDER BY g.changed_at DESC, g.grant_id DESC LIMIT $7)) b
  ORDER BY b.created_at DESC, b.grant_id DESC LIMIT $7
) b ON true
LEFT JOIN LATERAL (SELECT * FROM grants g WHERE g.grant_id = b.grant_id LIMIT 1) g ON true
LEFT JOIN LATERAL (SELECT * FROM grant_changes h
  WHERE h.grant_id = b.grant_id AND (-h.grant_change_id) < -b.grant_change_id
  ORDER BY (-h.grant_change_id) DESC LIMIT 1) next ON true
ORDER BY b.created_at DESC, b.grant_id DESC;

-- acts_as
--   asked by schemaFaults, requireNothingHidden (schema-faults.ts)
--   enters no index
PREPARE acts_as AS
SELECT current_user::text AS "actsAs";

-- audit_of_subject
--   asked by AuditStore.ofTenant (stores/records/audit.store.ts)
--   $1 rows bigint
--   $2 beforeTime timestamp with time zone
--   $3 beforeId bigint
--   $4 from timestamp with time zone
--   $5 tenantId text
--   $6 principalId text
--   $7 subjectType text
--   $8 subjectId text
--   $9 action text
--   $10 byPrincipalId text
--   $11 targetId text
--   enters audit_records_of_subject, memberships_pkey
PREPARE audit_of_subject (bigint, timestamp with time zone, bigint, timestamp with time zone, text, text, text, text, text, text, text) AS
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  a.audit_id::float8 AS "item?.auditId",
  a.at AS "item?.at",
  a.action AS "item?.action",
  a.principal_id AS "item?.principalId",
  a.request_id AS "item?.requestId",
  a.target AS "item?.target",
  a.details AS "item?.details",
  ARRAY[a.at::text, a.audit_id::text] AS position,
  CASE WHEN count(*) OVER () < $1 AND row_number() OVER (ORDER BY a.at DESC, a.audit_id DESC) = 1
  THEN (SELECT ARRAY[a.at::text, a.audit_id::text] FROM audit_records a
  WHERE a.tenant_id || '/' = i.tenant_id || '/' AND a.target ->> 'subject_type' = i.subject_type
    AND a.target ->> 'subject_id' = i.subject_id AND f.member_status = 'active'
    AND (a.at, a.audit_id) < ($2::timestamptz, $3::bigint) AND a.at >= coalesce($4::timestamptz, '-infinity')
  ORDER BY a.at DESC, a.audit_id DESC OFFSET 1000 LIMIT 1) END AS "lookedTo", a.found
FROM (SELECT $5::text AS tenant_id, $6::text AS principal_id, $7::text AS subject_type, $8::text AS subject_id, $9::text AS action, $10::text AS by_principal_id, $11::text AS target_id) i
LEFT JOIN LATERAL (
  SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access, m.tenancy_role,
    m.principal_type, NULL::boolean AS owns_subject, NULL::text[] AS grant_scopes
  FROM memberships m
  WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id LIMIT 1
) f ON true
LEFT JOIN LATERAL (
  SELECT * FROM (
    SELECT a.*, sum(octet_length(to_json(a)::text)) OVER (ORDER BY a.at DESC, a.audit_id DESC) AS bytes, row_number() OVER (ORDER BY a.at DESC, a.audit_id DESC) AS place,
      count(*) OVER ()::int AS found
    FROM (SELECT * FROM (
        SELECT * FROM (SELECT a.* FROM audit_records a
          WHERE a.tenant_id || '/' = i.tenant_id || '/' AND a.target ->> 'subject_type' = i.subject_type
            AND a.target ->> 'subject_id' = i.subject_id AND f.member_status = 'active'
            AND (a.at, a.audit_id) < ($2::timestamptz, $3::bigint) AND a.at >= coalesce($4::timestamptz, '-infinity')
          ORDER BY a.at DESC, a.audit_id DESC LIMIT 1001) a
        WHERE (i.action IS NULL OR a.action = i.action)
          AND (i.by_principal_id IS NULL OR a.principal_id = i.by_principal_id)
          AND (i.subject_type IS NULL OR a.target ->> 'subject_type' = i.subject_type
            AND a.target ->> 'subject_id' = i.subject_id) ORDER BY a.at DESC, a.audit_id DESC LIMIT $1) a) a
  ) a WHERE a.bytes <= 8388608 OR a.place = 1
) a ON true
ORDER BY a.at DESC, a.audit_id DESC;

-- audit_of_target
--   asked by AuditStore.ofTenant (stores/records/audit.store.ts)
--   $1 rows bigint
--   $2 beforeTime timestamp with time zone
--   $3 beforeId bigint
--   $4 from timestamp with time zone
--   $5 tenantId text
--   $6 principalId text
--   $7 subjectType text
--   $8 subjectId text
--   $9 action text
--   $10 byPrincipalId text
--   $11 targetId text
--   enters audit_records_of_target, memberships_pkey
PREPARE audit_of_target (bigint, timestamp with time zone, bigint, timestamp with time zone, text, text, text, text, text, text, text) AS
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  a.audit_id::float8 AS "item?.auditId",
  a.at AS "item?.at",
  a.action AS "item?.action",
  a.principal_id AS "item?.principalId",
  a.request_id AS "item?.requestId",
  a.target AS "item?.target",
  a.details AS "item?.details",
  ARRAY[a.at::text, a.audit_id::text] AS position,
  CASE WHEN count(*) OVER () < $1 AND row_number() OVER (ORDER BY a.at DESC, a.audit_id DESC) = 1
  THEN (SELECT ARRAY[a.at::text, a.audit_id::text] FROM audit_records a
  WHERE a.tenant_id || '/' = i.tenant_id || '/' AND audit_target_id(a.target) = i.target_id
    AND f.member_status = 'active' AND (a.at, a.audit_id) < ($2::timestamptz, $3::bigint)
    AND a.at >= coalesce($4::timestamptz, '-infinity')
  ORDER BY a.at DESC, a.audit_id DESC OFFSET 1000 LIMIT 1) END AS "lookedTo", a.found
FROM (SELECT $5::text AS tenant_id, $6::text AS principal_id, $7::text AS subject_type, $8::text AS subject_id, $9::text AS action, $10::text AS by_principal_id, $11::text AS target_id) i
LEFT JOIN LATERAL (
  SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access, m.tenancy_role,
    m.principal_type, NULL::boolean AS owns_subject, NULL::text[] AS grant_scopes
  FROM memberships m
  WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id LIMIT 1
) f ON true
LEFT JOIN LATERAL (
  SELECT * FROM (
    SELECT a.*, sum(octet_length(to_json(a)::text)) OVER (ORDER BY a.at DESC, a.audit_id DESC) AS bytes, row_number() OVER (ORDER BY a.at DESC, a.audit_id DESC) AS place,
      count(*) OVER ()::int AS found
    FROM (SELECT * FROM (
        SELECT * FROM (SELECT a.* FROM audit_records a
          WHERE a.tenant_id || '/' = i.tenant_id || '/' AND audit_target_id(a.target) = i.target_id
            AND f.member_status = 'active' AND (a.at, a.audit_id) < ($2::timestamptz, $3::bigint)
            AND a.at >= coalesce($4::timestamptz, '-infinity')
          ORDER BY a.at DESC, a.audit_id DESC LIMIT 1001) a
        WHERE (i.action IS NULL OR a.action = i.action)
          AND (i.by_principal_id IS NULL OR a.principal_id = i.by_principal_id)
          AND (i.subject_type IS NULL OR a.target ->> 'subject_type' = i.subject_type
            AND a.target ->> 'subject_id' = i.subject_id) ORDER BY a.at DESC, a.audit_id DESC LIMIT $1) a) a
  ) a WHERE a.bytes <= 8388608 OR a.place = 1
) a ON true
ORDER BY a.at DESC, a.audit_id DESC;

-- audit_of_tenant
--   asked by AuditStore.ofTenant (stores/records/audit.store.ts)
--   $1 rows bigint
--   $2 beforeTime timestamp with time zone
--   $3 beforeId bigint
--   $4 from timestamp with time zone
--   $5 tenantId text
--   $6 principalId text
--   $7 subjectType text
--   $8 subjectId text
--   $9 action text
--   $10 byPrincipalId text
--   $11 targetId text
--   enters audit_records_of_tenant, memberships_pkey
PREPARE audit_of_tenant (bigint, timestamp with time zone, bigint, timestamp with time zone, text, text, text, text, text, text, text) AS
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  a.audit_id::float8 AS "item?.auditId",
  a.at AS "item?.at",
  a.action AS "item?.action",
  a.principal_id AS "item?.principalId",
  a.request_id AS "item?.requestId",
  a.target AS "item?.target",
  a.details AS "item?.details",
  ARRAY[a.at::text, a.audit_id::text] AS position,
  CASE WHEN count(*) OVER () < $1 AND row_number() OVER (ORDER BY a.at DESC, a.audit_id DESC) = 1
  THEN (SELECT ARRAY[a.at::text, a.audit_id::text] FROM audit_records a
  WHERE a.tenant_id = i.tenant_id AND f.member_status = 'active'
    AND (a.at, a.audit_id) < ($2::timestamptz, $3::bigint) AND a.at >= coalesce($4::timestamptz, '-infinity')
  ORDER BY a.at DESC, a.audit_id DESC OFFSET 1000 LIMIT 1) END AS "lookedTo", a.found
FROM (SELECT $5::text AS tenant_id, $6::text AS principal_id, $7::text AS subject_type, $8::text AS subject_id, $9::text AS action, $10::text AS by_principal_id, $11::text AS target_id) i
LEFT JOIN LATERAL (
  SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access, m.tenancy_role,
    m.principal_type, NULL::boolean AS owns_subject, NULL::text[] AS grant_scopes
  FROM memberships m
  WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id LIMIT 1
) f ON true
LEFT JOIN LATERAL (
  SELECT * FROM (
    SELECT a.*, sum(octet_length(to_json(a)::text)) OVER (ORDER BY a.at DESC, a.audit_id DESC) AS bytes, row_number() OVER (ORDER BY a.at DESC, a.audit_id DESC) AS place,
      count(*) OVER ()::int AS found
    FROM (SELECT * FROM (
        SELECT * FROM (SELECT a.* FROM audit_records a
          WHERE a.tenant_id = i.tenant_id AND f.member_status = 'active'
            AND (a.at, a.audit_id) < ($2::timestamptz, $3::bigint) AND a.at >= coalesce($4::timestamptz, '-infinity')
          ORDER BY a.at DESC, a.audit_id DESC LIMIT 1001) a
        WHERE (i.action IS NULL OR a.action = i.action)
          AND (i.by_principal_id IS NULL OR a.principal_id = i.by_principal_id)
          AND (i.subject_type IS NULL OR a.target ->> 'subject_type' = i.subject_type
            AND a.target ->> 'subject_id' = i.subject_id) ORDER BY a.at DESC, a.audit_id DESC LIMIT $1) a) a
  ) a WHERE a.bytes <= 8388608 OR a.place = 1
) a ON true
ORDER BY a.at DESC, a.audit_id DESC;

-- backlog_oldest_delivery
--   asked by BacklogStore.oldestDeliveryMs (stores/webhooks/backlog.store.ts)
--   enters deliveries_due
PREPARE backlog_oldest_delivery AS
SELECT coalesce((SELECT extract(epoch FROM clock_timestamp() - next_at) * 1000 FROM deliveries
    WHERE status = 'pending' AND next_at <= now() AND (lease_until IS NULL OR lease_until <= now())
    ORDER BY next_at LIMIT 1), 0)::float8 AS "ageMs";

-- backlog_oldest_event
--   asked by BacklogStore.oldestEventMs (stores/webhooks/backlog.store.ts)
--   enters outbox_events_waiting
PREPARE backlog_oldest_event AS
SELECT coalesce((SELECT extract(epoch FROM clock_timestamp() - created_at) * 1000 FROM outbox_events
    WHERE fanned_out_at IS NULL ORDER BY created_at LIMIT 1), 0)::float8 AS "ageMs";

-- change_places
--   asked by FeedStore.changes (stores/feed/feed.store.ts)
--   $1 tenantId text
--   $2 principalId text
--   $3 after bigint
--   $4 lookedAt bigint
--   enters granted_feeds_under_way, log_feed_pkey, memberships_pkey, shared_feed_pkey, tenant_feed_pkey
PREPARE change_places (text, text, bigint, bigint) AS
WITH caller AS MATERIALIZED (
  SELECT i.tenant_id, f.*, l.size, l.granted_size, concat_ws(' ', l.began_at, l.tableoid, pg_postmaster_start_time()) AS epoch,
    f.member_status = 'active'
    AND f.role IN ('tenant_reader', 'tenant_proposer', 'tenant_editor', 'tenant_admin', 'tenant_owner') AS may_read
  FROM (SELECT $1::text AS tenant_id, $2::text AS principal_id) i
  CROSS JOIN log_feed l
  LEFT JOIN LATERAL (
    SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access, m.tenancy_role,
      m.principal_type, NULL::boolean AS owns_subject, NULL::text[] AS grant_scopes
    FROM memberships m
    WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id LIMIT 1
  ) f ON true
  WHERE l.is_one
), own AS MATERIALIZED (
  SELECT e.log_index
  FROM caller f
  CROSS JOIN LATERAL (
    SELECT e.log_index
    FROM (SELECT t.last_index, t.log_indexes FROM tenant_feed t
      WHERE (t.tenant_id, t.last_index) > (f.tenant_id, $3::bigint) AND t.tenant_id <= f.tenant_id AND f.may_read
      ORDER BY t.tenant_id, t.last_index LIMIT $4) t
    CROSS JOIN LATERAL unnest(t.log_indexes) AS e(log_index)
    WHERE e.log_index > $3::bigint AND e.log_index < f.size
    ORDER BY t.last_index, e.log_index LIMIT $4
  ) e
), shared AS MATERIALIZED (
  SELECT t.log_index
  FROM caller f
  CROSS JOIN LATERAL (
    SELECT t.log_index FROM shared_feed t
    WHERE (t.tenant_id, t.log_index) > (f.tenant_id, $3::bigint)
      AND (t.tenant_id, t.log_index) < (f.tenant_id, f.size)
      AND f.may_read AND f.allow_counterparty_access
    ORDER BY t.tenant_id, t.log_index LIMIT $4
  ) t
)
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  f.epoch,
  (SELECT array_agg(l.log_index ORDER BY l.log_index)::float8[]
  FROM (SELECT log_index
    FROM (SELECT * FROM own UNION SELECT * FROM shared) u
    ORDER BY log_index LIMIT $4) l) AS places,
  CASE WHEN f.may_read AND f.allow_counterparty_access THEN
  CASE WHEN f.granted_size < f.size THEN 0
  ELSE (SELECT g.next_index::float8 FROM granted_feeds g
  WHERE (g.grantee_tenant_id, g.next_index) >= (f.tenant_id, 0) AND g.grantee_tenant_id <= f.tenant_id
    AND g.turn IS NOT NULL
  ORDER BY g.grantee_tenant_id, g.next_index LIMIT 1) END
  END AS "copiedTo"
FROM caller f;

-- changes
--   asked by FeedStore.changes (stores/feed/feed.store.ts)
--   $1 indexes bigint[]
--   $2 epoch text
--   enters erasures_pkey, grant_changes_of_grant, grant_changes_pkey, grants_pkey, log_entries_pkey, log_feed_pkey, owner_changes_pkey, snapshots_version_key, subjects_pkey
PREPARE changes (bigint[], text) AS
SELECT k.log_index::float8 AS "logIndex",
  CASE WHEN n.snapshot_id IS NOT NULL THEN CASE k.entry_type
  WHEN 1 THEN 'snapshot.created' END END AS "snapshot?.type",
  n.tenant_id AS "snapshot?.tenantId",
  s.subject_type AS "snapshot?.subjectType",
  s.subject_id AS "snapshot?.subjectId",
  n.snapshot_id AS "snapshot?.snapshotId",
  n.snapshot_version AS "snapshot?.snapshotVersion",
  encode(n.envelope_hash, 'hex') AS "snapshot?.envelopeHash",
  encode(n.prev_hash, 'hex') AS "snapshot?.prevHash",
  n.created_at AS "snapshot?.createdAt",
  n.written_by AS "snapshot?.writtenBy",
  n.write_request_id AS "snapshot?.writeRequestId",
  k.names_writer IS TRUE AND n.written_by IS NOT NULL AS "snapshot?.namesWriter",
  CASE WHEN g.grant_id IS NOT NULL THEN CASE k.entry_type WHEN 2 THEN 'grant.created' END END AS "grant?.type",
  g.grantor_tenant_id AS "grant?.tenantId",
  g.grant_id AS "grant?.grantId",
  g.grantee_tenant_id AS "grant?.granteeTenantId",
  CASE WHEN g.subject_key = 0 THEN '*' ELSE s.subject_type END AS "grant?.subjectType",
  CASE WHEN g.subject_key = 0 THEN '*' ELSE s.subject_id END AS "grant?.subjectId",
  coalesce(first.from_scopes, g.scopes) AS "grant?.scopes",
  CASE WHEN first.is_changed THEN first.from_expires_at ELSE g.expires_at END AS "grant?.expiresAt",
  g.created_at AS "grant?.createdAt",
  CASE WHEN g.revoked_at IS NOT NULL THEN CASE k.entry_type
  WHEN 3 THEN 'grant.revoked' END END AS "revocation?.type",
  g.grantor_tenant_id AS "revocation?.tenantId",
  g.grant_id AS "revocation?.grantId",
  g.revoked_at AS "revocation?.revokedAt",
  CASE WHEN h.grant_id IS NOT NULL THEN CASE k.entry_type
  WHEN 5 THEN 'grant.changed' END END AS "grantChange?.type",
  h.grantor_tenant_id AS "grantChange?.tenantId",
  h.grant_id AS "grantChange?.grantId",
  h.scopes AS "grantChange?.scopes",
  h.expires_at AS "grantChange?.expiresAt",
  h.changed_at AS "grantChange?.changedAt",
  CASE WHEN c.owner_change_id IS NOT NULL THEN CASE k.entry_type
  WHEN 4 THEN 'tenant.owner_changed' END END AS "ownerChange?.type",
  c.tenant_id AS "ownerChange?.tenantId",
  c.principal_id AS "ownerChange?.principalId",
  c.from_principal_id AS "ownerChange?.fromPrincipalId",
  c.changed_at AS "ownerChange?.changedAt",
  CASE WHEN er.erased_at IS NOT NULL THEN CASE k.entry_type
  WHEN 6 THEN 'subject.erased' END END AS "erasure?.type",
  er.tenant_id AS "erasure?.tenantId",
  s.subject_type AS "erasure?.subjectType",
  s.subject_id AS "erasure?.subjectId",
  er.erased_indexes::float8[] AS "erasure?.erasedIndexes",
  er.erased_at AS "erasure?.erasedAt",
  NULL::json AS "erasure?.erasedVersions",
  CASE WHEN g.subject_key = 0 THEN '*' ELSE s.subject_type END AS "subject?.subjectType",
  CASE WHEN g.subject_key = 0 THEN '*' ELSE s.subject_id END AS "subject?.subjectId",
  s.subject_key::float8 AS "subjectKey",
  g.grantee_tenant_id AS "granteeTenantId"
FROM unnest($1::bigint[]) i(log_index)
CROSS JOIN LATERAL (SELECT * FROM log_entries k WHERE k.log_index = i.log_index LIMIT 1) k
LEFT JOIN LATERAL (SELECT * FROM snapshots n
  WHERE n.subject_key = k.subject_key AND n.snapshot_version = k.snapshot_version LIMIT 1) n ON true
LEFT JOIN LATERAL (SELECT * FROM grant_changes h WHERE h.grant_change_id = k.grant_change_id
  LIMIT 1) h ON true
LEFT JOIN LATERAL (SELECT * FROM grants g WHERE g.grant_id = coalesce(k.grant_id, h.grant_id)
  LIMIT 1) g ON true
LEFT JOIN LATERAL (SELECT h.from_scopes, h.from_expires_at, true AS is_changed FROM grant_changes h
  WHERE h.grant_id = g.grant_id ORDER BY (-h.grant_change_id) DESC LIMIT 1) first ON true
LEFT JOIN LATERAL (SELECT * FROM owner_changes c WHERE c.owner_change_id = k.owner_change_id
  LIMIT 1) c ON true
LEFT JOIN LATERAL (SELECT * FROM erasures er WHERE er.erasure_id = k.erasure_id LIMIT 1) er ON true
LEFT JOIN LATERAL (SELECT * FROM subjects s
  WHERE s.subject_key = coalesce(n.subject_key, g.subject_key, er.subject_key) LIMIT 1) s ON true
WHERE (SELECT concat_ws(' ', l.began_at, l.tableoid, pg_postmaster_start_time()) FROM log_feed l
  WHERE l.is_one) = $2;

-- changes_followed
--   asked by FeedStore.changes (stores/feed/feed.store.ts)
--   $1 tenantId text
--   $2 inputs.subjectKey bigint[]
--   $3 inputs.ownerTenantId text[]
--   enters grants_live, grants_to_all_live
PREPARE changes_followed (text, bigint[], text[]) AS
SELECT coalesce(((SELECT g.scopes FROM grants g
      WHERE (g.grantee_tenant_id, g.subject_key) BETWEEN ($1::text, s.subject_key) AND ($1::text, s.subject_key)
        AND g.revoked_at IS NULL AND (g.expires_at IS NULL OR g.expires_at > statement_timestamp()) LIMIT 1)
      || (SELECT g.scopes FROM grants g
      WHERE (g.grantor_tenant_id || '/', g.grantee_tenant_id, coalesce(g.expires_at, 'infinity'))
        > (s.owner_tenant_id || '/', $1::text, statement_timestamp())
        AND (g.grantor_tenant_id || '/', g.grantee_tenant_id) <= (s.owner_tenant_id || '/', $1::text)
        AND g.revoked_at IS NULL AND (g.subject_key = 0) IS TRUE AND g.accepted_at IS NOT NULL
      LIMIT 1)) && '{read_latest,read_lineage}', false) AS "mayFollow"
FROM (SELECT i.subject_key, i.owner_tenant_id, i.ord FROM unnest($2::bigint[], $3::text[])
    WITH ORDINALITY AS i(subject_key, owner_tenant_id, ord)) s
ORDER BY s.ord;

-- claimed_type_change
--   asked by ClaimedTypeStore.remember (stores/tenancy/claimed-type.store.ts)
--   $1 claimedType text
--   $2 principalId text
--   enters claimed_types_pkey
PREPARE claimed_type_change (text, text) AS
UPDATE claimed_types SET claimed_type = $1, seen_at = now() WHERE principal_id = $2;

-- claimed_type_find
--   asked by findClaimedType (stores/tenancy/claimed-type.store.ts)
--   $1 principalId text
--   enters claimed_types_pkey
PREPARE claimed_type_find (text) AS
SELECT c.claimed_type AS "claimedType" FROM claimed_types c WHERE c.principal_id = $1;

-- claimed_type_put
--   asked by ClaimedTypeStore.remember (stores/tenancy/claimed-type.store.ts)
--   $1 principalId text
--   $2 claimedType text
--   enters no index
PREPARE claimed_type_put (text, text) AS
INSERT INTO claimed_types (principal_id, claimed_type) VALUES ($1, $2)
ON CONFLICT (principal_id) DO UPDATE SET claimed_type = excluded.claimed_type, seen_at = excluded.seen_at;

-- delivery_claim
--   asked by DeliveryStore.claim (stores/webhooks/delivery.store.ts)
--   $1 deliveryIds uuid[]
--   $2 leaseMs double precision
--   enters deliveries_pkey, grants_live, grants_to_all_live, outbox_events_pkey, snapshots_snapshot_id_key, subjects_pkey, webhook_subscriptions_pkey
PREPARE delivery_claim (uuid[], double precision) AS
WITH asked AS MATERIALIZED (
  SELECT delivery_id, event_id, tenant_id, event_type, status, next_at, lease_until FROM deliveries
  WHERE delivery_id = ANY ($1::uuid[])
  FOR UPDATE SKIP LOCKED
), due AS MATERIALIZED (
  SELECT delivery_id, CASE d.event_type WHEN 'shared.snapshot.created' THEN (
    SELECT true FROM outbox_events o
    CROSS JOIN LATERAL (SELECT n.subject_key FROM snapshots n WHERE n.snapshot_id = o.snapshot_id LIMIT 1) n
    CROSS JOIN LATERAL (SELECT s.subject_key, s.owner_tenant_id FROM subjects s
      WHERE s.subject_key = n.subject_key LIMIT 1) s
    WHERE o.event_id = d.event_id AND ((SELECT g.scopes FROM grants g
        WHERE (g.grantee_tenant_id, g.subject_key) BETWEEN (d.tenant_id, s.subject_key)
          AND (d.tenant_id, s.subject_key)
          AND g.revoked_at IS NULL AND (g.expires_at IS NULL OR g.expires_at > statement_timestamp()) LIMIT 1)
        || (SELECT g.scopes FROM grants g
        WHERE (g.grantor_tenant_id || '/', g.grantee_tenant_id, coalesce(g.expires_at, 'infinity'))
          > (s.owner_tenant_id || '/', d.tenant_id, statement_timestamp())
          AND (g.grantor_tenant_id || '/', g.grantee_tenant_id) <= (s.owner_tenant_id || '/', d.tenant_id)
          AND g.revoked_at IS NULL AND (g.subject_key = 0) IS TRUE AND g.accepted_at IS NOT NULL
        LIMIT 1)) && '{read_latest,read_lineage}' LIMIT 1) IS TRUE
    ELSE true END AS may_know FROM asked d
  WHERE status = 'pending' AND next_at <= now() AND (lease_until IS NULL OR lease_until <= now())
), claimed AS (
  UPDATE deliveries d
  SET status = CASE WHEN s.status = 'active' AND s.deleted_at IS NULL
    AND due.may_know THEN 'pending' ELSE 'skipped' END,
    skipped_reason = CASE WHEN s.status <> 'active' OR s.deleted_at IS NOT NULL THEN 'subscription_inactive'
    WHEN NOT due.may_know THEN 'no_grant' END,
    attempt = d.attempt + CASE WHEN s.status = 'active' AND s.deleted_at IS NULL
    AND due.may_know THEN 1 ELSE 0 END,
    lease_until = CASE WHEN s.status = 'active' AND s.deleted_at IS NULL
    AND due.may_know THEN now() + $2 * interval '1 millisecond' END,
    finished_at = CASE WHEN s.status = 'active' AND s.deleted_at IS NULL AND due.may_know THEN NULL ELSE now() END
  FROM due, webhook_subscriptions s
  WHERE d.delivery_id = due.delivery_id AND s.subscription_id = d.subscription_id
  RETURNING d.delivery_id, d.subscription_id, d.tenant_id, d.event_id, d.event_type, d.status, d.attempt,
    d.attempt - d.retries_from AS scheduled_attempt, s.target_url, s.secret_sealed,
    CASE WHEN s.previous_secret_until > now() THEN s.previous_secret_sealed END AS previous_secret_sealed
)
SELECT c.delivery_id AS "deliveryId", c.subscription_id AS "subscriptionId", c.tenant_id AS "tenantId",
  c.event_id AS "eventId", c.event_type AS "eventType", o.request_id AS "requestId", o.traceparent, o.body,
  c.attempt, c.scheduled_attempt AS "scheduledAttempt", c.target_url AS "targetUrl",
  c.secret_sealed AS "secretSealed", c.previous_secret_sealed AS "previousSecretSealed"
FROM claimed c JOIN outbox_events o ON o.event_id = c.event_id
WHERE c.status = 'pending';

-- delivery_log_access
--   asked by DeliveryLogStore.access (stores/webhooks/delivery-log.store.ts)
--   $1 subscriptionId uuid
--   $2 principalId text
--   enters memberships_pkey, tenants_pkey, webhook_subscriptions_pkey
PREPARE delivery_log_access (uuid, text) AS
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  s.tenant_id AS "subscription?.tenantId", s.target_url AS "subscription?.targetUrl",
  coalesce((SELECT t.founded_by FROM tenants t WHERE t.tenant_id = s.tenant_id
    LIMIT 1), s.tenant_id) AS "subscription?.founderId",
  s.status AS "subscription?.status", s.deleted_at IS NOT NULL AS "subscription?.isDeleted"
FROM (SELECT $1::uuid AS subscription_id, $2::text AS principal_id) i
LEFT JOIN webhook_subscriptions s ON s.subscription_id = i.subscription_id
LEFT JOIN LATERAL (
  SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access, m.tenancy_role,
    m.principal_type, NULL::boolean AS owns_subject, NULL::text[] AS grant_scopes
  FROM memberships m
  WHERE m.tenant_id = s.tenant_id AND m.principal_id = i.principal_id LIMIT 1
) f ON true;

-- delivery_log_find
--   asked by DeliveryLogStore.find (stores/webhooks/delivery-log.store.ts)
--   $1 subscriptionId uuid
--   $2 principalId text
--   $3 deliveryId uuid
--   enters deliveries_pkey, delivery_attempts_pkey, memberships_pkey, outbox_events_pkey, tenants_pkey, webhook_subscriptions_pkey
PREPARE delivery_log_find (uuid, text, uuid) AS
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  s.tenant_id AS "subscription?.tenantId", s.target_url AS "subscription?.targetUrl",
  coalesce((SELECT t.founded_by FROM tenants t WHERE t.tenant_id = s.tenant_id
    LIMIT 1), s.tenant_id) AS "subscription?.founderId",
  s.status AS "subscription?.status", s.deleted_at IS NOT NULL AS "subscription?.isDeleted",
  d.delivery_id AS "delivery?.deliveryId",
  d.event_id AS "delivery?.eventId",
  d.event_type AS "delivery?.eventType",
  d.subscription_id AS "delivery?.subscriptionId",
  d.status AS "delivery?.status",
  d.attempt AS "delivery?.attemptCount",
  CASE WHEN d.status = 'pending' THEN d.next_at END AS "delivery?.nextAttemptAt",
  d.created_at AS "delivery?.createdAt",
  d.finished_at AS "delivery?.finishedAt",
  d.request_id AS "delivery?.requestId",
  d.traceparent AS "delivery?.traceparent",
  d.skipped_reason AS "delivery?.skippedReason",
  t.attempts AS "delivery?.attempts",
  d.body AS "delivery?.body"
FROM (SELECT $1::uuid AS subscription_id, $2::text AS principal_id) i
LEFT JOIN webhook_subscriptions s ON s.subscription_id = i.subscription_id
LEFT JOIN LATERAL (
  SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access, m.tenancy_role,
    m.principal_type, NULL::boolean AS owns_subject, NULL::text[] AS grant_scopes
  FROM memberships m
  WHERE m.tenant_id = s.tenant_id AND m.principal_id = i.principal_id LIMIT 1
) f ON true
LEFT JOIN LATERAL (
  SELECT d.*, o.request_id, o.traceparent, o.body
  FROM (SELECT * FROM deliveries d WHERE d.delivery_id = $3 LIMIT 1) d
  JOIN outbox_events o ON o.event_id = d.event_id
  WHERE d.subscription_id = s.subscription_id
) d ON true
LEFT JOIN LATERAL (
  SELECT json_agg(json_build_object('attempt', a.attempt, 'startedAt', a.started_at, 'latencyMs', a.latency_ms,
        'statusCode', a.status_code, 'errorPhase', a.error_phase, 'error', a.error)
    ORDER BY a.attempt) AS attempts
  FROM (SELECT * FROM delivery_attempts a WHERE a.delivery_id = d.delivery_id
    ORDER BY a.attempt DESC LIMIT 50) a
) t ON true;

-- delivery_log_page
--   asked by DeliveryLogStore.page (stores/webhooks/delivery-log.store.ts)
--   $1 rows bigint
--   $2 subscriptionId uuid
--   $3 from timestamp with time zone
--   $4 to timestamp with time zone
--   $5 beforeTime timestamp with time zone
--   $6 beforeId uuid
--   $7 principalId text
--   $8 status text
--   $9 eventType text
--   enters deliveries_log, delivery_attempts_pkey, memberships_pkey, outbox_events_pkey, tenants_pkey, webhook_subscriptions_pkey
PREPARE delivery_log_page (bigint, uuid, timestamp with time zone, timestamp with time zone, timestamp with time zone, uuid, text, text, text) AS
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  s.tenant_id AS "subscription?.tenantId", s.target_url AS "subscription?.targetUrl",
  coalesce((SELECT t.founded_by FROM tenants t WHERE t.tenant_id = s.tenant_id
    LIMIT 1), s.tenant_id) AS "subscription?.founderId",
  s.status AS "subscription?.status", s.deleted_at IS NOT NULL AS "subscription?.isDeleted",
  d.delivery_id AS "item?.deliveryId",
  d.event_id AS "item?.eventId",
  d.event_type AS "item?.eventType",
  d.subscription_id AS "item?.subscriptionId",
  d.status AS "item?.status",
  d.attempt AS "item?.attemptCount",
  CASE WHEN d.status = 'pending' THEN d.next_at END AS "item?.nextAttemptAt",
  d.created_at AS "item?.createdAt",
  d.finished_at AS "item?.finishedAt",
  d.request_id AS "item?.requestId",
  d.traceparent AS "item?.traceparent",
  d.skipped_reason AS "item?.skippedReason",
  d.attempts AS "item?.attempts",
  ARRAY[d.created_at::text, d.delivery_id::text] AS position, d.found,
  CASE WHEN f.member_status = 'active' AND count(*) OVER () < $1
  THEN (SELECT ARRAY[d.created_at::text, d.delivery_id::text] FROM deliveries d
  WHERE
    d.subscription_id = $2
    AND d.created_at >= coalesce($3::timestamptz, '-infinity')
    AND d.created_at < coalesce($4::timestamptz + interval '1 millisecond', 'infinity')
    AND (d.created_at, d.delivery_id) < ($5::timestamptz, $6::uuid)
  ORDER BY d.created_at DESC, d.delivery_id DESC OFFSET 9999 LIMIT 1)
  END AS "lookedTo"
FROM (SELECT $2::uuid AS subscription_id, $7::text AS principal_id) i
LEFT JOIN webhook_subscriptions s ON s.subscription_id = i.subscription_id
LEFT JOIN LATERAL (
  SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access, m.tenancy_role,
    m.principal_type, NULL::boolean AS owns_subject, NULL::text[] AS grant_scopes
  FROM memberships m
  WHERE m.tenant_id = s.tenant_id AND m.principal_id = i.principal_id LIMIT 1
) f ON true
LEFT JOIN LATERAL (
  SELECT * FROM (
    SELECT d.*, sum(octet_length(to_json(d)::text)) OVER (ORDER BY d.created_at DESC, d.delivery_id DESC) AS bytes, row_number() OVER (ORDER BY d.created_at DESC, d.delivery_id DESC) AS place,
      count(*) OVER ()::int AS found
    FROM (SELECT d.*, o.request_id, o.traceparent, t.attempts
      FROM (SELECT * FROM (
          SELECT * FROM deliveries d
          WHERE f.member_status = 'active' AND
            d.subscription_id = s.subscription_id
            AND d.created_at >= coalesce($3::timestamptz, '-infinity')
            AND d.created_at < coalesce($4::timestamptz + interval '1 millisecond', 'infinity')
            AND (d.created_at, d.delivery_id) < ($5::timestamptz, $6::uuid)
          ORDER BY d.created_at DESC, d.delivery_id DESC LIMIT 10000) d
        WHERE ($8::text IS NULL OR d.status = $8)
          AND ($9::text IS NULL OR d.event_type = $9)
        ORDER BY d.created_at DESC, d.delivery_id DESC LIMIT $1) d
      JOIN outbox_events o ON o.event_id = d.event_id
      LEFT JOIN LATERAL (
        SELECT json_agg(json_build_object('attempt', a.attempt, 'startedAt', a.started_at, 'latencyMs', a.latency_ms,
              'statusCode', a.status_code, 'errorPhase', a.error_phase, 'error', a.error)
          ORDER BY a.attempt) AS attempts
        FROM (SELECT * FROM delivery_attempts a WHERE a.delivery_id = d.delivery_id
          ORDER BY a.attempt DESC LIMIT 50) a
      ) t ON true) d
  ) d WHERE d.bytes <= 8388608 OR d.place = 1
) d ON true
ORDER BY d.created_at DESC, d.delivery_id DESC;

-- delivery_overdue
--   asked by DeliveryStore.overdue (stores/webhooks/delivery.store.ts)
--   $1 overdueMs double precision
--   $2 nextAt timestamp with time zone
--   $3 deliveryId uuid
--   $4 rows integer
--   $5 limit integer
--   enters deliveries_due, tenants_pkey, webhook_subscriptions_pkey
PREPARE delivery_overdue (double precision, timestamp with time zone, uuid, integer, integer) AS
WITH looked AS MATERIALIZED (
  SELECT delivery_id, subscription_id, tenant_id, next_at, coalesce((SELECT t.founded_by FROM tenants t
      WHERE t.tenant_id = due.tenant_id LIMIT 1), due.tenant_id) AS founder_id,
    row_number() OVER (PARTITION BY subscription_id ORDER BY next_at, delivery_id) AS place
  FROM (SELECT * FROM deliveries
    WHERE status = 'pending' AND next_at < now() - $1 * interval '1 millisecond'
      AND next_at >= coalesce($2::timestamptz, '-infinity')
      AND (next_at, delivery_id)
      > (coalesce($2::timestamptz, '-infinity'),
        coalesce($3::uuid, '00000000-0000-0000-0000-000000000000'))
      AND (lease_until IS NULL OR lease_until <= now())
    ORDER BY next_at, delivery_id LIMIT $4::int) due
), given AS MATERIALIZED (
  SELECT * FROM looked d
  ORDER BY row_number() OVER (PARTITION BY d.founder_id ORDER BY d.place, d.next_at, d.delivery_id), d.next_at,
    d.delivery_id
  LIMIT $5::int
)
SELECT d.delivery_id AS "item.deliveryId", d.subscription_id AS "item.subscriptionId", d.tenant_id AS "item.tenantId",
  d.founder_id AS "item.founderId",
  (extract(epoch
    FROM clock_timestamp() - d.next_at) * 1000)::float8 AS "item.dueForMs", s.target_url AS "targetUrl", (SELECT count(*)
  FROM looked)::int AS looked,
  (SELECT ARRAY[next_at::text, delivery_id::text] FROM looked
  ORDER BY looked.next_at DESC, looked.delivery_id DESC LIMIT 1)
  AS position
FROM given d
CROSS JOIN LATERAL (SELECT s.target_url FROM webhook_subscriptions s
  WHERE s.subscription_id = d.subscription_id LIMIT 1) s;

-- delivery_record
--   asked by DeliveryStore.record (stores/webhooks/delivery.store.ts)
--   $1 inputs.deliveryId uuid[]
--   $2 inputs.attempt integer[]
--   $3 inputs.startedAt text[]
--   $4 inputs.latencyMs integer[]
--   $5 inputs.statusCode integer[]
--   $6 inputs.errorPhase text[]
--   $7 inputs.error text[]
--   $8 inputs.status text[]
--   $9 inputs.retryInMs integer[]
--   $10 disableAfterMs double precision
--   enters deliveries_pkey, webhook_subscriptions_pkey
PREPARE delivery_record (uuid[], integer[], text[], integer[], integer[], text[], text[], text[], integer[], double precision) AS
WITH settled AS (
  UPDATE deliveries d
  SET status = i.status,
    lease_until = NULL,
    next_at = CASE i.status
    WHEN 'pending' THEN now() + i.retry_in_ms * interval '1 millisecond' ELSE d.next_at END,
    finished_at = CASE i.status WHEN 'pending' THEN NULL ELSE now() END
  FROM unnest($1::uuid[], $2::int[], $3::text[], $4::int[], $5::int[], $6::text[], $7::text[], $8::text[], $9::int[])
    WITH ORDINALITY AS i(delivery_id, attempt, started_at, latency_ms, status_code, error_phase, error, status, retry_in_ms, ord)
  WHERE d.delivery_id = i.delivery_id AND (d.attempt = i.attempt AND d.lease_until IS NOT NULL) IS TRUE
  RETURNING d.subscription_id, d.delivery_id, i.attempt, i.started_at, i.latency_ms, i.status_code, i.error_phase,
    i.error, i.status
), logged AS (
  INSERT INTO delivery_attempts (delivery_id, attempt, started_at, latency_ms, status_code, error_phase, error)
  SELECT delivery_id, attempt, started_at::timestamptz, latency_ms, status_code, error_phase, error FROM settled
), outcome AS (
  SELECT subscription_id, bool_or(status = 'succeeded' OR (error_phase = 'proxy') IS TRUE) AS excused,
    coalesce(bool_or(status_code = 410), false) AS gone
  FROM settled GROUP BY subscription_id
), changing AS MATERIALIZED (
  SELECT s.subscription_id, o.excused,
    CASE WHEN o.gone THEN 'gone'
    WHEN NOT o.excused AND s.failing_since < now() - $10 * interval '1 millisecond' THEN 'failing'
    END AS disabled_reason
  FROM outcome o JOIN webhook_subscriptions s ON s.subscription_id = o.subscription_id
  WHERE s.status = 'active'
    AND (o.gone OR CASE WHEN o.excused THEN s.failing_since IS NOT NULL
      ELSE s.failing_since IS NULL OR s.failing_since < now() - $10 * interval '1 millisecond' END)
  ORDER BY s.subscription_id
  FOR NO KEY UPDATE OF s
), changed AS (
  UPDATE webhook_subscriptions s
  SET failing_since = CASE WHEN c.excused OR c.disabled_reason IS NOT NULL THEN NULL
    ELSE coalesce(s.failing_since, now()) END,
    status = CASE WHEN c.disabled_reason IS NULL THEN s.status ELSE 'disabled' END,
    disabled_reason = coalesce(c.disabled_reason, s.disabled_reason),
    disabled_at = CASE WHEN c.disabled_reason IS NULL THEN s.disabled_at ELSE now() END
  FROM changing c
  WHERE s.subscription_id = c.subscription_id
)
SELECT settled.delivery_id AS "deliveryId", changing.disabled_reason AS "disabledReason"
FROM settled LEFT JOIN changing ON changing.subscription_id = settled.subscription_id;

-- delivery_redeliver
--   asked by DeliveryLogStore.redeliver (stores/webhooks/delivery-log.store.ts)
--   $1 deliveryId uuid
--   $2 subscriptionId uuid
--   enters deliveries_pkey, webhook_subscriptions_pkey
PREPARE delivery_redeliver (uuid, uuid) AS
UPDATE deliveries d SET status = 'pending', next_at = now(), lease_until = NULL, finished_at = NULL, skipped_reason = NULL, retries_from = d.attempt
WHERE d.delivery_id = $1 AND (d.subscription_id = $2) IS TRUE AND d.status <> 'pending'
  AND (SELECT CASE WHEN s.deleted_at IS NULL THEN s.status END FROM webhook_subscriptions s
  WHERE s.subscription_id = $2) = 'active'
RETURNING d.delivery_id AS "deliveryId";

-- delivery_replay
--   asked by DeliveryLogStore.replay (stores/webhooks/delivery-log.store.ts)
--   $1 subscriptionId uuid
--   $2 from timestamp with time zone
--   $3 to timestamp with time zone
--   $4 look integer
--   $5 statuses text[]
--   $6 limit integer
--   enters deliveries_log, deliveries_pkey, webhook_subscriptions_pkey
PREPARE delivery_replay (uuid, timestamp with time zone, timestamp with time zone, integer, text[], integer) AS
WITH looked AS MATERIALIZED (
  SELECT (SELECT d.created_at FROM deliveries d
    WHERE d.subscription_id = $1 AND d.created_at >= $2::timestamptz
      AND d.created_at < coalesce($3::timestamptz + interval '1 millisecond', 'infinity')
    ORDER BY d.created_at, d.delivery_id OFFSET $4::int LIMIT 1) AS until
), found AS MATERIALIZED (
  SELECT d.delivery_id, d.created_at FROM deliveries d
  WHERE d.subscription_id = $1 AND d.status = ANY ($5::text[])
    AND d.created_at >= $2::timestamptz
    AND d.created_at < coalesce((SELECT until
      FROM looked), $3::timestamptz + interval '1 millisecond', 'infinity')
    AND (SELECT CASE WHEN s.deleted_at IS NULL THEN s.status END FROM webhook_subscriptions s
    WHERE s.subscription_id = $1) = 'active'
  ORDER BY d.created_at, d.delivery_id LIMIT $6::int + 1
  FOR UPDATE
), taken AS MATERIALIZED (
  SELECT delivery_id FROM found ORDER BY created_at, delivery_id LIMIT $6::int
), replayed AS (
  UPDATE deliveries d SET status = 'pending', next_at = now(), lease_until = NULL, finished_at = NULL, skipped_reason = NULL, retries_from = d.attempt
  FROM taken WHERE d.delivery_id = taken.delivery_id RETURNING d.delivery_id
)
SELECT coalesce((SELECT array_agg(delivery_id) FROM replayed), '{}') AS "deliveryIds",
  date_trunc('milliseconds', coalesce((SELECT max(created_at) FROM found HAVING count(*) > $6::int),
      (SELECT until FROM looked))) AS "nextFrom";

-- delivery_test
--   asked by DeliveryLogStore.addTest (stores/webhooks/delivery-log.store.ts)
--   $1 subscriptionId uuid
--   $2 eventId uuid
--   $3 eventType text
--   $4 body text
--   $5 requestId text
--   $6 traceparent text
--   $7 deliveryId uuid
--   enters webhook_subscriptions_pkey
PREPARE delivery_test (uuid, uuid, text, text, text, text, uuid) AS
WITH target AS MATERIALIZED (
  SELECT subscription_id, tenant_id FROM webhook_subscriptions
  WHERE subscription_id = $1 AND (SELECT CASE WHEN s.deleted_at IS NULL THEN s.status END
    FROM webhook_subscriptions s
    WHERE s.subscription_id = $1) = 'active'
), event AS (
  INSERT INTO outbox_events (event_id, tenant_id, event_type, body, request_id, traceparent, fanned_out_at)
  SELECT $2::uuid, tenant_id, $3::text, $4::text, $5::text, $6::text, now()
  FROM target
)
INSERT INTO deliveries (delivery_id, event_id, subscription_id, tenant_id, event_type, status)
SELECT $7::uuid, $2::uuid, subscription_id, tenant_id, $3::text, 'pending' FROM target
RETURNING delivery_id AS "deliveryId";

-- disclosure_record
--   asked by DisclosureStore.record (stores/records/disclosure.store.ts)
--   $1 inputs.grantId uuid[]
--   $2 inputs.subjectKey bigint[]
--   $3 inputs.disclosedOn text[]
--   $4 inputs.granteeTenantId text[]
--   $5 inputs.principalId text[]
--   $6 inputs.via text[]
--   $7 inputs.fromVersion integer[]
--   $8 inputs.toVersion integer[]
--   $9 inputs.requestId text[]
--   enters grants_pkey
PREPARE disclosure_record (uuid[], bigint[], text[], text[], text[], text[], integer[], integer[], text[]) AS
WITH used AS MATERIALIZED (
  SELECT g.grant_id
  FROM (SELECT DISTINCT u.grant_id FROM unnest($1::uuid[]) AS u(grant_id) ORDER BY u.grant_id) u
  CROSS JOIN LATERAL (SELECT g.grant_id FROM grants g
    WHERE g.grant_id = u.grant_id AND (g.accepted_at IS NULL AND g.subject_key = 0) IS TRUE
    LIMIT 1 FOR NO KEY UPDATE) g
), accepted AS (
  UPDATE grants g SET accepted_at = statement_timestamp(), is_feed_due = g.subject_key = 0 FROM used u
  WHERE g.grant_id = u.grant_id AND (g.accepted_at IS NULL) IS TRUE
)
INSERT INTO disclosures (subject_key, disclosed_on, grantee_tenant_id, grant_id, principal_id, via, from_version, to_version, request_id)
SELECT i.subject_key, i.disclosed_on::date, i.grantee_tenant_id, i.grant_id, i.principal_id, i.via, i.from_version, i.to_version,
  i.request_id
FROM unnest($2::bigint[], $3::text[], $4::text[], $1::uuid[], $5::text[], $6::text[], $7::int[], $8::int[], $9::text[])
  WITH ORDINALITY AS i(subject_key, disclosed_on, grantee_tenant_id, grant_id, principal_id, via, from_version, to_version, request_id, ord)
ORDER BY i.disclosed_on, i.subject_key, i.grantee_tenant_id COLLATE "C", i.principal_id COLLATE "C", i.via COLLATE "C",
  i.from_version, i.to_version
ON CONFLICT DO NOTHING;

-- disclosures_of_subject
--   asked by DisclosureStore.ofSubject (stores/records/disclosure.store.ts)
--   $1 rows bigint
--   $2 beforeTime timestamp with time zone
--   $3 beforeId bigint
--   $4 from timestamp with time zone
--   $5 tenantId text
--   $6 principalId text
--   $7 subjectType text
--   $8 subjectId text
--   $9 toPrincipalId text
--   $10 via text
--   $11 granteeTenantId text
--   enters disclosures_of_subject, grants_live, grants_pkey, grants_to_all_live, memberships_pkey, subjects_identity_key
PREPARE disclosures_of_subject (bigint, timestamp with time zone, bigint, timestamp with time zone, text, text, text, text, text, text, text) AS
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  to_char(d.disclosed_on, 'YYYY-MM-DD') AS "item?.disclosedOn",
  s.subject_type AS "item?.subjectType",
  s.subject_id AS "item?.subjectId",
  d.from_version AS "item?.fromVersion",
  d.to_version AS "item?.toVersion",
  d.grantee_tenant_id AS "item?.granteeTenantId",
  d.grant_id AS "item?.grantId",
  (SELECT g.purpose FROM grants g WHERE g.grant_id = d.grant_id LIMIT 1) AS "item?.purpose",
  d.principal_id AS "item?.principalId",
  d.via AS "item?.via",
  d.first_at AS "item?.firstAt",
  d.request_id AS "item?.requestId",
  ARRAY[d.first_at::text, d.disclosure_id::text] AS position,
  CASE WHEN count(*) OVER () < $1 AND row_number() OVER (ORDER BY d.first_at DESC, d.disclosure_id DESC) = 1
  THEN (SELECT ARRAY[d.first_at::text, d.disclosure_id::text] FROM disclosures d
  WHERE d.subject_key = s.subject_key AND f.owns_subject
    AND (d.first_at, d.disclosure_id) < ($2::timestamptz, $3::bigint)
    AND d.first_at >= coalesce($4::timestamptz, '-infinity')
  ORDER BY d.first_at DESC, d.disclosure_id DESC OFFSET 1000 LIMIT 1) END AS "lookedTo"
FROM (SELECT $5::text AS tenant_id, $6::text AS principal_id, $7::text AS subject_type, $8::text AS subject_id, $9::text AS to_principal_id, $10::text AS via, $11::text AS grantee_tenant_id) i
LEFT JOIN subjects s ON s.subject_type = i.subject_type AND s.subject_id = i.subject_id
LEFT JOIN LATERAL (
  SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access,
    s.owner_tenant_id = i.tenant_id AS owns_subject, one.scopes || every.scopes AS grant_scopes,
    CASE WHEN one.scopes && '{}' THEN one.grant_id ELSE every.grant_id END AS grant_id
  FROM memberships m
  LEFT JOIN LATERAL (SELECT g.grant_id, g.scopes FROM grants g
    WHERE s.owner_tenant_id <> i.tenant_id
      AND (g.grantee_tenant_id, g.subject_key) BETWEEN (i.tenant_id, s.subject_key) AND (i.tenant_id, s.subject_key)
      AND g.revoked_at IS NULL AND (g.expires_at IS NULL OR g.expires_at > statement_timestamp())
    LIMIT 1) one ON true
  LEFT JOIN LATERAL (SELECT g.grant_id, g.scopes FROM grants g
    WHERE s.owner_tenant_id <> i.tenant_id
      AND (g.grantor_tenant_id || '/', g.grantee_tenant_id, coalesce(g.expires_at, 'infinity'))
      > (s.owner_tenant_id || '/', i.tenant_id, statement_timestamp())
      AND (g.grantor_tenant_id || '/', g.grantee_tenant_id) <= (s.owner_tenant_id || '/', i.tenant_id)
      AND g.revoked_at IS NULL AND (g.subject_key = 0) IS TRUE LIMIT 1) every ON true
  WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id
) f ON true
LEFT JOIN LATERAL (
  SELECT * FROM (SELECT d.* FROM disclosures d
    WHERE d.subject_key = s.subject_key AND f.owns_subject
      AND (d.first_at, d.disclosure_id) < ($2::timestamptz, $3::bigint)
      AND d.first_at >= coalesce($4::timestamptz, '-infinity')
    ORDER BY d.first_at DESC, d.disclosure_id DESC LIMIT 1001) d
  WHERE (i.to_principal_id IS NULL OR d.principal_id = i.to_principal_id) AND (i.via IS NULL OR d.via = i.via)
    AND (i.grantee_tenant_id IS NULL OR d.grantee_tenant_id = i.grantee_tenant_id)
  ORDER BY d.first_at DESC, d.disclosure_id DESC LIMIT $1) d ON true
ORDER BY d.first_at DESC, d.disclosure_id DESC;

-- disclosures_to_principal
--   asked by DisclosureStore.toTenant (stores/records/disclosure.store.ts)
--   $1 rows bigint
--   $2 beforeTime timestamp with time zone
--   $3 beforeId bigint
--   $4 from timestamp with time zone
--   $5 tenantId text
--   $6 principalId text
--   $7 subjectType text
--   $8 subjectId text
--   $9 toPrincipalId text
--   $10 via text
--   enters disclosures_to_principal, grants_pkey, memberships_pkey, subjects_pkey
PREPARE disclosures_to_principal (bigint, timestamp with time zone, bigint, timestamp with time zone, text, text, text, text, text, text) AS
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  to_char(d.disclosed_on, 'YYYY-MM-DD') AS "item?.disclosedOn",
  s.subject_type AS "item?.subjectType",
  s.subject_id AS "item?.subjectId",
  d.from_version AS "item?.fromVersion",
  d.to_version AS "item?.toVersion",
  d.grantee_tenant_id AS "item?.granteeTenantId",
  d.grant_id AS "item?.grantId",
  (SELECT g.purpose FROM grants g WHERE g.grant_id = d.grant_id LIMIT 1) AS "item?.purpose",
  d.principal_id AS "item?.principalId",
  d.via AS "item?.via",
  d.first_at AS "item?.firstAt",
  d.request_id AS "item?.requestId",
  ARRAY[d.first_at::text, d.disclosure_id::text] AS position,
  CASE WHEN count(*) OVER () < $1 AND row_number() OVER (ORDER BY d.first_at DESC, d.disclosure_id DESC) = 1
  THEN (SELECT ARRAY[d.first_at::text, d.disclosure_id::text] FROM disclosures d
  WHERE (d.grantee_tenant_id || '/', d.principal_id, d.first_at, d.disclosure_id) < (i.tenant_id || '/', i.to_principal_id, $2::timestamptz, $3::bigint)
    AND (d.grantee_tenant_id || '/', d.principal_id, d.first_at) >= (i.tenant_id || '/', i.to_principal_id, coalesce($4::timestamptz, '-infinity'))
    AND f.member_status = 'active'
  ORDER BY d.grantee_tenant_id || '/' DESC, d.principal_id DESC, d.first_at DESC, d.disclosure_id DESC OFFSET 1000
  LIMIT 1) END AS "lookedTo"
FROM (SELECT $5::text AS tenant_id, $6::text AS principal_id, $7::text AS subject_type, $8::text AS subject_id, $9::text AS to_principal_id, $10::text AS via) i
LEFT JOIN LATERAL (
  SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access, m.tenancy_role,
    m.principal_type, NULL::boolean AS owns_subject, NULL::text[] AS grant_scopes
  FROM memberships m
  WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id LIMIT 1
) f ON true
LEFT JOIN LATERAL (SELECT CASE i.subject_type WHEN '*' THEN 0 ELSE s.subject_key END AS subject_key
  FROM (SELECT true) one LEFT JOIN subjects s ON s.subject_type = i.subject_type
    AND s.subject_id = i.subject_id) k ON true
LEFT JOIN LATERAL (
  SELECT * FROM (SELECT d.*, d.grantee_tenant_id || '/' AS listed_key_0, d.principal_id AS listed_key_1
    FROM disclosures d
    WHERE (d.grantee_tenant_id || '/', d.principal_id, d.first_at, d.disclosure_id) < (i.tenant_id || '/', i.to_principal_id, $2::timestamptz, $3::bigint)
      AND (d.grantee_tenant_id || '/', d.principal_id, d.first_at) >= (i.tenant_id || '/', i.to_principal_id, coalesce($4::timestamptz, '-infinity'))
      AND f.member_status = 'active'
    ORDER BY d.grantee_tenant_id || '/' DESC, d.principal_id DESC, d.first_at DESC, d.disclosure_id DESC
    LIMIT 1001) d
  WHERE (i.to_principal_id IS NULL OR d.principal_id = i.to_principal_id) AND (i.via IS NULL OR d.via = i.via)
  ORDER BY d.listed_key_0 DESC, d.listed_key_1 DESC, d.first_at DESC, d.disclosure_id DESC LIMIT $1) d ON true
LEFT JOIN subjects s ON s.subject_key = d.subject_key
ORDER BY d.first_at DESC, d.disclosure_id DESC;

-- disclosures_to_tenant
--   asked by DisclosureStore.toTenant (stores/records/disclosure.store.ts)
--   $1 rows bigint
--   $2 beforeTime timestamp with time zone
--   $3 beforeId bigint
--   $4 from timestamp with time zone
--   $5 tenantId text
--   $6 principalId text
--   $7 subjectType text
--   $8 subjectId text
--   $9 toPrincipalId text
--   $10 via text
--   enters disclosures_to_grantee, grants_pkey, memberships_pkey, subjects_pkey
PREPARE disclosures_to_tenant (bigint, timestamp with time zone, bigint, timestamp with time zone, text, text, text, text, text, text) AS
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  to_char(d.disclosed_on, 'YYYY-MM-DD') AS "item?.disclosedOn",
  s.subject_type AS "item?.subjectType",
  s.subject_id AS "item?.subjectId",
  d.from_version AS "item?.fromVersion",
  d.to_version AS "item?.toVersion",
  d.grantee_tenant_id AS "item?.granteeTenantId",
  d.grant_id AS "item?.grantId",
  (SELECT g.purpose FROM grants g WHERE g.grant_id = d.grant_id LIMIT 1) AS "item?.purpose",
  d.principal_id AS "item?.principalId",
  d.via AS "item?.via",
  d.first_at AS "item?.firstAt",
  d.request_id AS "item?.requestId",
  ARRAY[d.first_at::text, d.disclosure_id::text] AS position,
  CASE WHEN count(*) OVER () < $1 AND row_number() OVER (ORDER BY d.first_at DESC, d.disclosure_id DESC) = 1
  THEN (SELECT ARRAY[d.first_at::text, d.disclosure_id::text] FROM disclosures d
  WHERE d.grantee_tenant_id = i.tenant_id AND f.member_status = 'active'
    AND (d.first_at, d.disclosure_id) < ($2::timestamptz, $3::bigint)
    AND d.first_at >= coalesce($4::timestamptz, '-infinity')
  ORDER BY d.first_at DESC, d.disclosure_id DESC OFFSET 1000 LIMIT 1) END AS "lookedTo"
FROM (SELECT $5::text AS tenant_id, $6::text AS principal_id, $7::text AS subject_type, $8::text AS subject_id, $9::text AS to_principal_id, $10::text AS via) i
LEFT JOIN LATERAL (
  SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access, m.tenancy_role,
    m.principal_type, NULL::boolean AS owns_subject, NULL::text[] AS grant_scopes
  FROM memberships m
  WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id LIMIT 1
) f ON true
LEFT JOIN LATERAL (SELECT CASE i.subject_type WHEN '*' THEN 0 ELSE s.subject_key END AS subject_key
  FROM (SELECT true) one LEFT JOIN subjects s ON s.subject_type = i.subject_type
    AND s.subject_id = i.subject_id) k ON true
LEFT JOIN LATERAL (
  SELECT * FROM (SELECT d.* FROM disclosures d
    WHERE d.grantee_tenant_id = i.tenant_id AND f.member_status = 'active'
      AND (d.first_at, d.disclosure_id) < ($2::timestamptz, $3::bigint)
      AND d.first_at >= coalesce($4::timestamptz, '-infinity')
    ORDER BY d.first_at DESC, d.disclosure_id DESC LIMIT 1001) d
  WHERE (i.to_principal_id IS NULL OR d.principal_id = i.to_principal_id) AND (i.via IS NULL OR d.via = i.via)
  ORDER BY d.first_at DESC, d.disclosure_id DESC LIMIT $1) d ON true
LEFT JOIN subjects s ON s.subject_key = d.subject_key
ORDER BY d.first_at DESC, d.disclosure_id DESC;

-- disclosures_to_tenant_of
--   asked by DisclosureStore.toTenant (stores/records/disclosure.store.ts)
--   $1 rows bigint
--   $2 beforeTime timestamp with time zone
--   $3 beforeId bigint
--   $4 from timestamp with time zone
--   $5 tenantId text
--   $6 principalId text
--   $7 subjectType text
--   $8 subjectId text
--   $9 toPrincipalId text
--   $10 via text
--   enters disclosures_to_tenant_of, grants_pkey, memberships_pkey, subjects_identity_key, subjects_pkey
PREPARE disclosures_to_tenant_of (bigint, timestamp with time zone, bigint, timestamp with time zone, text, text, text, text, text, text) AS
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  to_char(d.disclosed_on, 'YYYY-MM-DD') AS "item?.disclosedOn",
  s.subject_type AS "item?.subjectType",
  s.subject_id AS "item?.subjectId",
  d.from_version AS "item?.fromVersion",
  d.to_version AS "item?.toVersion",
  d.grantee_tenant_id AS "item?.granteeTenantId",
  d.grant_id AS "item?.grantId",
  (SELECT g.purpose FROM grants g WHERE g.grant_id = d.grant_id LIMIT 1) AS "item?.purpose",
  d.principal_id AS "item?.principalId",
  d.via AS "item?.via",
  d.first_at AS "item?.firstAt",
  d.request_id AS "item?.requestId",
  ARRAY[d.first_at::text, d.disclosure_id::text] AS position,
  CASE WHEN count(*) OVER () < $1 AND row_number() OVER (ORDER BY d.first_at DESC, d.disclosure_id DESC) = 1
  THEN (SELECT ARRAY[d.first_at::text, d.disclosure_id::text] FROM disclosures d
  WHERE (d.grantee_tenant_id || '/', d.subject_key, d.first_at, d.disclosure_id) < (i.tenant_id || '/', k.subject_key, $2::timestamptz, $3::bigint)
    AND (d.grantee_tenant_id || '/', d.subject_key, d.first_at) >= (i.tenant_id || '/', k.subject_key, coalesce($4::timestamptz, '-infinity'))
    AND f.member_status = 'active'
  ORDER BY d.grantee_tenant_id || '/' DESC, d.subject_key DESC, d.first_at DESC, d.disclosure_id DESC OFFSET 1000
  LIMIT 1) END AS "lookedTo"
FROM (SELECT $5::text AS tenant_id, $6::text AS principal_id, $7::text AS subject_type, $8::text AS subject_id, $9::text AS to_principal_id, $10::text AS via) i
LEFT JOIN LATERAL (
  SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access, m.tenancy_role,
    m.principal_type, NULL::boolean AS owns_subject, NULL::text[] AS grant_scopes
  FROM memberships m
  WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id LIMIT 1
) f ON true
LEFT JOIN LATERAL (SELECT CASE i.subject_type WHEN '*' THEN 0 ELSE s.subject_key END AS subject_key
  FROM (SELECT true) one LEFT JOIN subjects s ON s.subject_type = i.subject_type
    AND s.subject_id = i.subject_id) k ON true
LEFT JOIN LATERAL (
  SELECT * FROM (SELECT d.*, d.grantee_tenant_id || '/' AS listed_key_0, d.subject_key AS listed_key_1
    FROM disclosures d
    WHERE (d.grantee_tenant_id || '/', d.subject_key, d.first_at, d.disclosure_id) < (i.tenant_id || '/', k.subject_key, $2::timestamptz, $3::bigint)
      AND (d.grantee_tenant_id || '/', d.subject_key, d.first_at) >= (i.tenant_id || '/', k.subject_key, coalesce($4::timestamptz, '-infinity'))
      AND f.member_status = 'active'
    ORDER BY d.grantee_tenant_id || '/' DESC, d.subject_key DESC, d.first_at DESC, d.disclosure_id DESC
    LIMIT 1001) d
  WHERE (i.to_principal_id IS NULL OR d.principal_id = i.to_principal_id) AND (i.via IS NULL OR d.via = i.via)
  ORDER BY d.listed_key_0 DESC, d.listed_key_1 DESC, d.first_at DESC, d.disclosure_id DESC LIMIT $1) d ON true
LEFT JOIN subjects s ON s.subject_key = d.subject_key
ORDER BY d.first_at DESC, d.disclosure_id DESC;

-- erasure_all_versions
--   asked by ErasureStore.request (stores/erasures/erasure.store.ts)
--   $1 subjectKey bigint
--   $2 limit bigint
--   enters log_entries_of_snapshots, snapshots_version_key
PREPARE erasure_all_versions (bigint, bigint) AS
SELECT n.snapshot_version AS version, true AS "exists", false AS "isErased", (SELECT true FROM log_entries e
  WHERE e.subject_key = n.subject_key AND e.snapshot_version = n.snapshot_version AND e.entry_type = 1
  LIMIT 1) IS TRUE AS "isLogged"
FROM (SELECT * FROM snapshots n WHERE n.subject_key = $1::bigint AND (n.erasure_id IS NULL) IS TRUE
  ORDER BY n.snapshot_version LIMIT $2) n
ORDER BY n.snapshot_version;

-- erasure_cancel
--   asked by ErasureStore.cancel (stores/erasures/erasure.store.ts)
--   $1 principalId text
--   $2 erasureId uuid
--   enters erasures_public_id_key
PREPARE erasure_cancel (text, uuid) AS
UPDATE erasures er SET status = 'cancelled', reason = NULL, cancelled_by = $1, cancelled_at = statement_timestamp()
WHERE er.public_id = $2::uuid AND (er.status = 'pending') IS TRUE
RETURNING er.public_id AS "erasureId";

-- erasure_confirm
--   asked by ErasureStore.confirm (stores/erasures/erasure.store.ts)
--   $1 principalId text
--   $2 erasureId uuid
--   enters erasures_public_id_key
PREPARE erasure_confirm (text, uuid) AS
UPDATE erasures er SET confirmed_by = $1, confirmed_at = statement_timestamp()
WHERE er.public_id = $2::uuid AND (er.status = 'pending') IS TRUE;

-- erasure_erase
--   asked by ErasureStore.request, ErasureStore.confirm (stores/erasures/erasure.store.ts)
--   $1 erasureId uuid
--   enters erasures_public_id_key
PREPARE erasure_erase (uuid) AS
SELECT erase_versions(er.erasure_id) AS "erasedAt" FROM erasures er WHERE er.public_id = $1::uuid;

-- erasure_expire
--   asked by ErasureStore.request (stores/erasures/erasure.store.ts)
--   $1 subjectKey bigint
--   enters erasures_by_subject
PREPARE erasure_expire (bigint) AS
UPDATE erasures er SET status = 'expired', reason = NULL
WHERE er.subject_key = $1::bigint AND (er.status = 'pending'
    AND er.confirm_by <= statement_timestamp()) IS TRUE;

-- erasure_find
--   asked by ErasureStore.request, ErasureStore.confirm, ErasureStore.cancel, ErasureStore.find (stores/erasures/erasure.store.ts)
--   $1 tenantId text
--   $2 principalId text
--   $3 subjectType text
--   $4 subjectId text
--   $5 erasureId uuid
--   enters erasures_public_id_key, grants_live, grants_to_all_live, log_entries_of_erasures, memberships_pkey, subjects_identity_key
PREPARE erasure_find (text, text, text, text, uuid) AS
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  (SELECT m.principal_type FROM memberships m
  WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id LIMIT 1) AS "principalType",
  er.public_id AS "erasure?.erasureId",
  er.tenant_id AS "erasure?.tenantId",
  s.subject_type AS "erasure?.subjectType",
  s.subject_id AS "erasure?.subjectId",
  er.versions AS "erasure?.versions",
  CASE WHEN er.status = 'pending'
  AND er.confirm_by <= statement_timestamp() THEN 'expired' ELSE er.status END AS "erasure?.status",
  er.confirmation AS "erasure?.confirmation",
  CASE WHEN NOT (er.status = 'pending'
    AND er.confirm_by <= statement_timestamp()) THEN er.reason END AS "erasure?.reason",
  er.reference AS "erasure?.reference",
  er.requested_by AS "erasure?.requestedBy",
  er.requested_at AS "erasure?.requestedAt",
  er.confirm_by AS "erasure?.confirmBy",
  er.confirmed_by AS "erasure?.confirmedBy",
  er.confirmed_at AS "erasure?.confirmedAt",
  er.cancelled_by AS "erasure?.cancelledBy",
  er.cancelled_at AS "erasure?.cancelledAt",
  er.erased_at AS "erasure?.erasedAt",
  CASE WHEN er.erased_at IS NOT NULL THEN
  (SELECT e.log_index::float8 FROM log_entries e WHERE e.erasure_id = er.erasure_id
  LIMIT 1) END AS "erasure?.logIndex"
FROM (SELECT $1::text AS tenant_id, $2::text AS principal_id, $3::text AS subject_type, $4::text AS subject_id, $5::uuid AS erasure_id) i
LEFT JOIN subjects s ON s.subject_type = i.subject_type AND s.subject_id = i.subject_id
LEFT JOIN LATERAL (
  SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access,
    s.owner_tenant_id = i.tenant_id AS owns_subject, one.scopes || every.scopes AS grant_scopes,
    CASE WHEN one.scopes && '{}' THEN one.grant_id ELSE every.grant_id END AS grant_id
  FROM memberships m
  LEFT JOIN LATERAL (SELECT g.grant_id, g.scopes FROM grants g
    WHERE s.owner_tenant_id <> i.tenant_id
      AND (g.grantee_tenant_id, g.subject_key) BETWEEN (i.tenant_id, s.subject_key) AND (i.tenant_id, s.subject_key)
      AND g.revoked_at IS NULL AND (g.expires_at IS NULL OR g.expires_at > statement_timestamp())
    LIMIT 1) one ON true
  LEFT JOIN LATERAL (SELECT g.grant_id, g.scopes FROM grants g
    WHERE s.owner_tenant_id <> i.tenant_id
      AND (g.grantor_tenant_id || '/', g.grantee_tenant_id, coalesce(g.expires_at, 'infinity'))
      > (s.owner_tenant_id || '/', i.tenant_id, statement_timestamp())
      AND (g.grantor_tenant_id || '/', g.grantee_tenant_id) <= (s.owner_tenant_id || '/', i.tenant_id)
      AND g.revoked_at IS NULL AND (g.subject_key = 0) IS TRUE LIMIT 1) every ON true
  WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id
) f ON true
LEFT JOIN LATERAL (SELECT * FROM erasures er WHERE er.public_id = i.erasure_id LIMIT 1) er
  ON er.subject_key = s.subject_key AND f.owns_subject;

-- erasure_insert
--   asked by ErasureStore.request (stores/erasures/erasure.store.ts)
--   $1 erasureId uuid
--   $2 tenantId text
--   $3 subjectKey bigint
--   $4 versions integer[]
--   $5 reason text
--   $6 reference text
--   $7 requestedBy text
--   enters no index
PREPARE erasure_insert (uuid, text, bigint, integer[], text, text, text) AS
INSERT INTO erasures (public_id, tenant_id, subject_key, versions, reason, reference, requested_by)
VALUES ($1::uuid, $2::text, $3::bigint, $4::int[], $5::text, $6::text,
    $7::text);

-- erasure_listeners_erasure_requested
--   asked by ErasureStore.request, ErasureStore.confirm (stores/erasures/erasure.store.ts)
--   $1 erasureId uuid
--   enters erasures_public_id_key, webhook_subscription_types_pkey
PREPARE erasure_listeners_erasure_requested (uuid) AS
SELECT DISTINCT t.tenant_id AS "tenantId"
FROM (SELECT * FROM erasures er WHERE er.public_id = $1::uuid) er
CROSS JOIN LATERAL (SELECT er.tenant_id) t
CROSS JOIN LATERAL (SELECT true FROM webhook_subscription_types y WHERE y.tenant_id = t.tenant_id
    AND y.event_type = 'erasure.requested' LIMIT 1) w;

-- erasure_listeners_subject_erased
--   asked by ErasureStore.request, ErasureStore.confirm (stores/erasures/erasure.store.ts)
--   $1 erasureId uuid
--   enters disclosures_of_subject, erasures_public_id_key, grants_live_by_subject, grants_to_all_by_end, webhook_subscription_types_pkey
PREPARE erasure_listeners_subject_erased (uuid) AS
SELECT DISTINCT t.tenant_id AS "tenantId"
FROM (SELECT * FROM erasures er WHERE er.public_id = $1::uuid) er
CROSS JOIN LATERAL (
  SELECT er.tenant_id
  UNION ALL
  SELECT g.grantee_tenant_id FROM ((SELECT g.grantee_tenant_id, g.scopes, g.created_at FROM grants g
      WHERE (g.subject_key, coalesce(g.expires_at, 'infinity')) > (er.subject_key, statement_timestamp())
        AND g.subject_key <= er.subject_key AND g.revoked_at IS NULL
      ORDER BY g.subject_key, coalesce(g.expires_at, 'infinity') OFFSET 0)
    UNION ALL
      (SELECT g.grantee_tenant_id, g.scopes, g.created_at FROM grants g
      WHERE (g.grantor_tenant_id, coalesce(g.expires_at, 'infinity')) > (er.tenant_id, statement_timestamp())
        AND g.grantor_tenant_id <= er.tenant_id AND g.revoked_at IS NULL AND abs(g.subject_key) = 0
        AND g.accepted_at IS NOT NULL
      ORDER BY g.grantor_tenant_id, coalesce(g.expires_at, 'infinity') OFFSET 0)) g
  UNION ALL
  SELECT d.tenant_id
  FROM (SELECT d.grantee_tenant_id || '' AS tenant_id, min(d.first_at) AS first_at, max(d.first_at) AS last_at
    FROM (SELECT * FROM disclosures d
      WHERE d.subject_key = er.subject_key AND d.first_at <= er.erased_at
      ORDER BY d.first_at DESC, d.disclosure_id DESC) d
    WHERE (SELECT true FROM unnest(er.versions) AS v(version)
      WHERE v.version BETWEEN d.from_version AND d.to_version LIMIT 1)
    GROUP BY d.grantee_tenant_id || '') d) t
CROSS JOIN LATERAL (SELECT true FROM webhook_subscription_types y WHERE y.tenant_id = t.tenant_id
    AND y.event_type = 'subject.erased' LIMIT 1) w;

-- erasure_named_versions
--   asked by ErasureStore.request (stores/erasures/erasure.store.ts)
--   $1 versions integer[]
--   $2 subjectKey bigint
--   enters log_entries_of_snapshots, snapshots_version_key
PREPARE erasure_named_versions (integer[], bigint) AS
SELECT v.version, n.snapshot_version IS NOT NULL AS "exists", n.erasure_id IS NOT NULL AS "isErased",
  (SELECT true FROM log_entries e
  WHERE e.subject_key = n.subject_key AND e.snapshot_version = n.snapshot_version AND e.entry_type = 1
  LIMIT 1) IS TRUE AS "isLogged"
FROM unnest($1::int[]) AS v(version)
LEFT JOIN LATERAL (SELECT * FROM snapshots n
  WHERE n.subject_key = $2::bigint AND n.snapshot_version = v.version LIMIT 1) n ON true
ORDER BY v.version;

-- erasure_recipients
--   asked by ErasureStore.request, ErasureStore.confirm, ErasureStore.cancel, ErasureStore.find (stores/erasures/erasure.store.ts)
--   $1 erasureId uuid
--   enters disclosures_of_subject, erasures_public_id_key
PREPARE erasure_recipients (uuid) AS
SELECT t.tenant_id AS "tenantId", t.first_at AS "firstAt", t.last_at AS "lastAt"
FROM (SELECT * FROM erasures er WHERE er.public_id = $1::uuid AND (er.status = 'erased') IS TRUE) er
CROSS JOIN LATERAL (SELECT d.grantee_tenant_id || '' AS tenant_id, min(d.first_at) AS first_at, max(d.first_at) AS last_at
  FROM (SELECT * FROM disclosures d
    WHERE d.subject_key = er.subject_key AND d.first_at <= er.erased_at
    ORDER BY d.first_at DESC, d.disclosure_id DESC) d
  WHERE (SELECT true FROM unnest(er.versions) AS v(version)
    WHERE v.version BETWEEN d.from_version AND d.to_version LIMIT 1)
  GROUP BY d.grantee_tenant_id || '') t
ORDER BY t.tenant_id;

-- erasure_state
--   asked by ErasureStore.request (stores/erasures/erasure.store.ts)
--   $1 tenantId text
--   $2 principalId text
--   $3 subjectType text
--   $4 subjectId text
--   enters grants_live, grants_to_all_live, memberships_pkey, snapshots_version_key, subjects_identity_key
PREPARE erasure_state (text, text, text, text) AS
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  (SELECT m.principal_type FROM memberships m
  WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id LIMIT 1) AS "principalType",
  s.subject_key AS "subjectKey", (SELECT n.snapshot_version FROM snapshots n
  WHERE n.subject_key = s.subject_key ORDER BY n.snapshot_version DESC LIMIT 1) AS "headVersion"
FROM (SELECT $1::text AS tenant_id, $2::text AS principal_id, $3::text AS subject_type, $4::text AS subject_id) i
LEFT JOIN subjects s ON s.subject_type = i.subject_type AND s.subject_id = i.subject_id
LEFT JOIN LATERAL (
  SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access,
    s.owner_tenant_id = i.tenant_id AS owns_subject, one.scopes || every.scopes AS grant_scopes,
    CASE WHEN one.scopes && '{}' THEN one.grant_id ELSE every.grant_id END AS grant_id
  FROM memberships m
  LEFT JOIN LATERAL (SELECT g.grant_id, g.scopes FROM grants g
    WHERE s.owner_tenant_id <> i.tenant_id
      AND (g.grantee_tenant_id, g.subject_key) BETWEEN (i.tenant_id, s.subject_key) AND (i.tenant_id, s.subject_key)
      AND g.revoked_at IS NULL AND (g.expires_at IS NULL OR g.expires_at > statement_timestamp())
    LIMIT 1) one ON true
  LEFT JOIN LATERAL (SELECT g.grant_id, g.scopes FROM grants g
    WHERE s.owner_tenant_id <> i.tenant_id
      AND (g.grantor_tenant_id || '/', g.grantee_tenant_id, coalesce(g.expires_at, 'infinity'))
      > (s.owner_tenant_id || '/', i.tenant_id, statement_timestamp())
      AND (g.grantor_tenant_id || '/', g.grantee_tenant_id) <= (s.owner_tenant_id || '/', i.tenant_id)
      AND g.revoked_at IS NULL AND (g.subject_key = 0) IS TRUE LIMIT 1) every ON true
  WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id
) f ON true;

-- erasure_tell
--   asked by ErasureStore.request, ErasureStore.confirm (stores/erasures/erasure.store.ts)
--   $1 events.eventId uuid[]
--   $2 events.tenantId text[]
--   $3 events.eventType text[]
--   $4 events.eventBody text[]
--   $5 events.requestId text[]
--   $6 events.traceparent text[]
--   enters no index
PREPARE erasure_tell (uuid[], text[], text[], text[], text[], text[]) AS
INSERT INTO outbox_events (event_id, tenant_id, event_type, body, request_id, traceparent)
SELECT * FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[],
    $5::text[], $6::text[]);

-- erasure_versions
--   asked by ErasureStore.request, ErasureStore.confirm, ErasureStore.cancel, ErasureStore.find (stores/erasures/erasure.store.ts)
--   $1 erasureId uuid
--   enters erasures_public_id_key, log_entries_of_snapshots, snapshots_version_key
PREPARE erasure_versions (uuid) AS
SELECT n.snapshot_version AS "snapshotVersion", n.snapshot_id AS "snapshotId",
  encode(n.envelope_hash, 'hex') AS "envelopeHash", encode(n.prev_hash, 'hex') AS "prevHash", e.log_index::float8 AS "logIndex"
FROM (SELECT er.subject_key, unnest(er.versions) AS version FROM erasures er
  WHERE er.public_id = $1::uuid AND er.status = 'erased') er
CROSS JOIN LATERAL (SELECT * FROM snapshots n
  WHERE n.subject_key = er.subject_key AND n.snapshot_version = er.version LIMIT 1) n
CROSS JOIN LATERAL (SELECT * FROM log_entries e
  WHERE e.subject_key = er.subject_key AND e.snapshot_version = er.version AND e.entry_type = 1 LIMIT 1) e
ORDER BY n.snapshot_version;

-- erasures_of_subject
--   asked by ErasureStore.list (stores/erasures/erasure.store.ts)
--   $1 tenantId text
--   $2 principalId text
--   $3 subjectType text
--   $4 subjectId text
--   $5 before bigint
--   $6 rows bigint
--   enters erasures_by_subject, grants_live, grants_to_all_live, log_entries_of_erasures, memberships_pkey, subjects_identity_key
PREPARE erasures_of_subject (text, text, text, text, bigint, bigint) AS
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  er.public_id AS "item?.erasureId",
  er.tenant_id AS "item?.tenantId",
  s.subject_type AS "item?.subjectType",
  s.subject_id AS "item?.subjectId",
  er.versions AS "item?.versions",
  CASE WHEN er.status = 'pending'
  AND er.confirm_by <= statement_timestamp() THEN 'expired' ELSE er.status END AS "item?.status",
  er.confirmation AS "item?.confirmation",
  CASE WHEN NOT (er.status = 'pending'
    AND er.confirm_by <= statement_timestamp()) THEN er.reason END AS "item?.reason",
  er.reference AS "item?.reference",
  er.requested_by AS "item?.requestedBy",
  er.requested_at AS "item?.requestedAt",
  er.confirm_by AS "item?.confirmBy",
  er.confirmed_by AS "item?.confirmedBy",
  er.confirmed_at AS "item?.confirmedAt",
  er.cancelled_by AS "item?.cancelledBy",
  er.cancelled_at AS "item?.cancelledAt",
  er.erased_at AS "item?.erasedAt",
  CASE WHEN er.erased_at IS NOT NULL THEN
  (SELECT e.log_index::float8 FROM log_entries e WHERE e.erasure_id = er.erasure_id
  LIMIT 1) END AS "item?.logIndex",
  ARRAY[er.erasure_id::text] AS position, er.found
FROM (SELECT $1::text AS tenant_id, $2::text AS principal_id, $3::text AS subject_type, $4::text AS subject_id) i
LEFT JOIN subjects s ON s.subject_type = i.subject_type AND s.subject_id = i.subject_id
LEFT JOIN LATERAL (
  SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access,
    s.owner_tenant_id = i.tenant_id AS owns_subject, one.scopes || every.scopes AS grant_scopes,
    CASE WHEN one.scopes && '{}' THEN one.grant_id ELSE every.grant_id END AS grant_id
  FROM memberships m
  LEFT JOIN LATERAL (SELECT g.grant_id, g.scopes FROM grants g
    WHERE s.owner_tenant_id <> i.tenant_id
      AND (g.grantee_tenant_id, g.subject_key) BETWEEN (i.tenant_id, s.subject_key) AND (i.tenant_id, s.subject_key)
      AND g.revoked_at IS NULL AND (g.expires_at IS NULL OR g.expires_at > statement_timestamp())
    LIMIT 1) one ON true
  LEFT JOIN LATERAL (SELECT g.grant_id, g.scopes FROM grants g
    WHERE s.owner_tenant_id <> i.tenant_id
      AND (g.grantor_tenant_id || '/', g.grantee_tenant_id, coalesce(g.expires_at, 'infinity'))
      > (s.owner_tenant_id || '/', i.tenant_id, statement_timestamp())
      AND (g.grantor_tenant_id || '/', g.grantee_tenant_id) <= (s.owner_tenant_id || '/', i.tenant_id)
      AND g.revoked_at IS NULL AND (g.subject_key = 0) IS TRUE LIMIT 1) every ON true
  WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id
) f ON true
LEFT JOIN LATERAL (
  SELECT * FROM (
    SELECT er.*, sum(octet_length(to_json(er)::text)) OVER (ORDER BY (-er.erasure_id)) AS bytes, row_number() OVER (ORDER BY (-er.erasure_id)) AS place,
      count(*) OVER ()::int AS found
    FROM (SELECT * FROM erasures er
      WHERE er.subject_key = s.subject_key AND f.owns_subject AND (-er.erasure_id) > -($5::bigint)
      ORDER BY (-er.erasure_id) LIMIT $6) er
  ) er WHERE er.bytes <= 8388608 OR er.place = 1
) er ON true
ORDER BY (-er.erasure_id);

-- erasures_of_tenant
--   asked by ErasureStore.listOfTenant (stores/erasures/erasure.store.ts)
--   $1 tenantId text
--   $2 principalId text
--   $3 before bigint
--   $4 status text
--   $5 rows bigint
--   enters erasures_of_tenant, log_entries_of_erasures, memberships_pkey, subjects_pkey
PREPARE erasures_of_tenant (text, text, bigint, text, bigint) AS
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  er.public_id AS "item?.erasureId",
  er.tenant_id AS "item?.tenantId",
  s.subject_type AS "item?.subjectType",
  s.subject_id AS "item?.subjectId",
  er.versions AS "item?.versions",
  CASE WHEN er.status = 'pending'
  AND er.confirm_by <= statement_timestamp() THEN 'expired' ELSE er.status END AS "item?.status",
  er.confirmation AS "item?.confirmation",
  CASE WHEN NOT (er.status = 'pending'
    AND er.confirm_by <= statement_timestamp()) THEN er.reason END AS "item?.reason",
  er.reference AS "item?.reference",
  er.requested_by AS "item?.requestedBy",
  er.requested_at AS "item?.requestedAt",
  er.confirm_by AS "item?.confirmBy",
  er.confirmed_by AS "item?.confirmedBy",
  er.confirmed_at AS "item?.confirmedAt",
  er.cancelled_by AS "item?.cancelledBy",
  er.cancelled_at AS "item?.cancelledAt",
  er.erased_at AS "item?.erasedAt",
  CASE WHEN er.erased_at IS NOT NULL THEN
  (SELECT e.log_index::float8 FROM log_entries e WHERE e.erasure_id = er.erasure_id
  LIMIT 1) END AS "item?.logIndex",
  ARRAY[er.erasure_id::text] AS position, er.found
FROM (SELECT $1::text AS tenant_id, $2::text AS principal_id) i
LEFT JOIN LATERAL (
  SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access, m.tenancy_role,
    m.principal_type, NULL::boolean AS owns_subject, NULL::text[] AS grant_scopes
  FROM memberships m
  WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id LIMIT 1
) f ON true
LEFT JOIN LATERAL (
  SELECT * FROM (
    SELECT er.*, sum(octet_length(to_json(er)::text)) OVER (ORDER BY (-er.erasure_id)) AS bytes, row_number() OVER (ORDER BY (-er.erasure_id)) AS place,
      count(*) OVER ()::int AS found
    FROM (SELECT * FROM erasures er
      WHERE (er.tenant_id || '/') = i.tenant_id || '/' AND f.member_status = 'active'
        AND (-er.erasure_id) > -($3::bigint)
        AND ($4::text IS NULL OR CASE WHEN er.status = 'pending'
          AND er.confirm_by <= statement_timestamp() THEN 'expired' ELSE er.status END = $4::text)
      ORDER BY (er.tenant_id || '/'), (-er.erasure_id) LIMIT $5) er
  ) er WHERE er.bytes <= 8388608 OR er.place = 1
) er ON true
LEFT JOIN LATERAL (SELECT * FROM subjects s WHERE s.subject_key = er.subject_key LIMIT 1) s ON true
ORDER BY (-er.erasure_id);

-- events_wanted
--   asked by wanted, announceDue (stores/webhooks/event-writes.ts)
--   $1 inputs.tenantId text[]
--   $2 inputs.type text[]
--   $3 inputs.at text[]
--   enters webhook_subscription_types_pkey
PREPARE events_wanted (text[], text[], text[]) AS
SELECT (SELECT true FROM webhook_subscription_types y
  WHERE y.tenant_id = i.tenant_id AND y.event_type = i.type AND y.created_at <= i.at::timestamptz
  LIMIT 1) IS TRUE AS "isWanted"
FROM unnest($1::text[], $2::text[], $3::text[])
  WITH ORDINALITY AS i(tenant_id, type, at, ord)
ORDER BY i.ord;

-- events_write
--   asked by writeEvents, announceDue (stores/webhooks/event-writes.ts)
--   $1 inputs.eventId uuid[]
--   $2 inputs.tenantId text[]
--   $3 inputs.type text[]
--   $4 inputs.body text[]
--   $5 inputs.snapshotId uuid[]
--   $6 inputs.at text[]
--   enters no index
PREPARE events_write (uuid[], text[], text[], text[], uuid[], text[]) AS
INSERT INTO outbox_events (event_id, tenant_id, event_type, body, snapshot_id, created_at)
SELECT i.event_id, i.tenant_id, i.type, i.body, i.snapshot_id, i.at::timestamptz
FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::uuid[], $6::text[])
  WITH ORDINALITY AS i(event_id, tenant_id, type, body, snapshot_id, at, ord);

-- feed_append
--   asked by FeedIntegrationStore.feed (stores/feed/feed-integration.store.ts)
--   $1 logIndexes bigint[]
--   $2 chunks.tenantId text[]
--   $3 chunks.lastIndex bigint[]
--   $4 chunks.first integer[]
--   $5 chunks.last integer[]
--   $6 read.subjectKey bigint[]
--   $7 read.owner text[]
--   $8 read.logIndex bigint[]
--   $9 granted.subjectKey bigint[]
--   $10 granted.granteeTenantId text[]
--   $11 to bigint
--   $12 from bigint
--   enters erasures_by_subject, grants_live_by_subject, grants_to_all_by_end, log_entries_of_erasures, log_entries_of_snapshots, log_feed_pkey
PREPARE feed_append (bigint[], text[], bigint[], integer[], integer[], bigint[], text[], bigint[], bigint[], text[], bigint, bigint) AS
WITH owned AS (
  INSERT INTO tenant_feed (tenant_id, last_index, log_indexes)
  SELECT tenant_id, last_index, ($1::bigint[])[first_place:last_place]
  FROM unnest($2::text[], $3::bigint[], $4::int[], $5::int[])
    AS c(tenant_id, last_index, first_place, last_place)
  ORDER BY tenant_id, last_index
), shared AS (
  INSERT INTO shared_feed (tenant_id, log_index)
  SELECT g.grantee_tenant_id, i.log_index
  FROM unnest($6::bigint[], $7::text[], $8::bigint[])
    AS i(subject_key, owner, log_index)
  CROSS JOIN LATERAL ((SELECT g.grantee_tenant_id, g.scopes, g.created_at FROM grants g
      WHERE (g.subject_key, coalesce(g.expires_at, 'infinity')) > (i.subject_key, statement_timestamp())
        AND g.subject_key <= i.subject_key AND g.revoked_at IS NULL
      ORDER BY g.subject_key, coalesce(g.expires_at, 'infinity') OFFSET 0)
    UNION ALL
      (SELECT g.grantee_tenant_id, g.scopes, g.created_at FROM grants g
      WHERE (g.grantor_tenant_id, coalesce(g.expires_at, 'infinity')) > (i.owner, statement_timestamp())
        AND g.grantor_tenant_id <= i.owner AND g.revoked_at IS NULL AND abs(g.subject_key) = 0
        AND g.accepted_at IS NOT NULL
      ORDER BY g.grantor_tenant_id, coalesce(g.expires_at, 'infinity') OFFSET 0)) g
  UNION
  SELECT i.tenant_id, e.log_index
  FROM unnest($9::bigint[], $10::text[]) AS i(subject_key, tenant_id)
  CROSS JOIN LATERAL (SELECT e.log_index FROM log_entries e
    WHERE e.subject_key = i.subject_key AND e.entry_type = 1 OFFSET 0) e
  UNION
  SELECT i.tenant_id, e.log_index
  FROM unnest($9::bigint[], $10::text[]) AS i(subject_key, tenant_id)
  CROSS JOIN LATERAL (SELECT er.erasure_id FROM erasures er WHERE er.subject_key = i.subject_key OFFSET 0) er
  CROSS JOIN LATERAL (SELECT e.log_index FROM log_entries e WHERE e.erasure_id = er.erasure_id OFFSET 0) e
  ORDER BY 1, 2
  ON CONFLICT DO NOTHING
), grown AS (
  UPDATE log_feed SET size = $11::bigint WHERE is_one AND (size = $12::bigint) IS TRUE RETURNING 1
)
SELECT EXISTS (SELECT FROM grown) AS "isNext";

-- feed_copy_granted
--   asked by FeedIntegrationStore.copy (stores/feed/feed-integration.store.ts)
--   $1 granteeTenantId text
--   $2 grantorTenantId text
--   $3 most bigint
--   enters grant_changes_pkey, granted_feeds_by_share, granted_feeds_pkey, grants_pkey, grants_to_all_live, log_entries_pkey, tenant_feed_pkey
PREPARE feed_copy_granted (text, text, bigint) AS
WITH job AS MATERIALIZED (
  SELECT f.*, (SELECT true FROM grants g
    WHERE (g.grantor_tenant_id || '/', g.grantee_tenant_id, coalesce(g.expires_at, 'infinity'))
      > (f.grantor_tenant_id || '/', f.grantee_tenant_id, statement_timestamp())
      AND (g.grantor_tenant_id || '/', g.grantee_tenant_id) <= (f.grantor_tenant_id || '/', f.grantee_tenant_id)
      AND g.revoked_at IS NULL AND (g.subject_key = 0) IS TRUE AND g.accepted_at IS NOT NULL
    LIMIT 1) IS TRUE AS is_live
  FROM granted_feeds f
  WHERE f.grantee_tenant_id = $1 AND f.grantor_tenant_id = $2
), places AS MATERIALIZED (
  SELECT e.log_index
  FROM job f
  CROSS JOIN LATERAL (
    SELECT e.log_index
    FROM (SELECT t.last_index, t.log_indexes FROM tenant_feed t
      WHERE (t.tenant_id, t.last_index) >= (f.grantor_tenant_id, f.next_index)
        AND (t.tenant_id, t.last_index) < (f.grantor_tenant_id, f.until_index + 2000) AND f.is_live
      ORDER BY t.tenant_id, t.last_index LIMIT $3) t
    CROSS JOIN LATERAL unnest(t.log_indexes) AS e(log_index)
    WHERE e.log_index >= f.next_index AND e.log_index < f.until_index
    ORDER BY t.last_index, e.log_index LIMIT $3
  ) e
), copied AS (
  INSERT INTO shared_feed (tenant_id, log_index)
  SELECT f.grantee_tenant_id, e.log_index
  FROM job f
  CROSS JOIN places e
  CROSS JOIN LATERAL (SELECT * FROM log_entries k WHERE k.log_index = e.log_index LIMIT 1) k
  LEFT JOIN LATERAL (SELECT * FROM grant_changes h WHERE h.grant_change_id = k.grant_change_id
    LIMIT 1) h ON true
  LEFT JOIN LATERAL (SELECT * FROM grants g WHERE g.grant_id = coalesce(k.grant_id, h.grant_id)
    LIMIT 1) g ON true
  WHERE k.entry_type IN (1, 6)
    OR (g.subject_key = 0 AND g.grantee_tenant_id = f.grantee_tenant_id AND g.accepted_at IS NOT NULL)
  ORDER BY 1, 2
  ON CONFLICT DO NOTHING
), come AS MATERIALIZED (
  SELECT count(*) = $3 AS is_more, max(log_index) + 1 AS next_index FROM places
)
UPDATE granted_feeds f
SET next_index = CASE WHEN c.is_more THEN c.next_index
  WHEN j.is_live THEN f.until_index ELSE f.next_index END,
  turn = CASE WHEN c.is_more THEN (SELECT w.turn FROM granted_feeds w
  WHERE (w.share, w.turn) >= (j.share, 0) AND w.share <= j.share AND w.turn IS NOT NULL
  ORDER BY w.share DESC, w.turn DESC LIMIT 1) + 1 END
FROM job j CROSS JOIN come c
WHERE f.grantee_tenant_id = $1 AND f.grantor_tenant_id = $2;

-- feed_entries
--   asked by FeedIntegrationStore.feed (stores/feed/feed-integration.store.ts)
--   $1 from bigint
--   $2 to bigint
--   enters erasures_pkey, grant_changes_of_grant, grant_changes_pkey, grants_live_by_subject, grants_pkey, grants_to_all_by_end, log_entries_of_snapshots, log_entries_pkey, owner_changes_pkey, snapshots_version_key, subjects_pkey
PREPARE feed_entries (bigint, bigint) AS
SELECT k.log_index::float8 AS "logIndex", s.subject_key::float8 AS "subjectKey", g.grantee_tenant_id AS "granteeTenantId",
  (SELECT count(*)::int FROM (SELECT FROM ((SELECT g.grantee_tenant_id, g.scopes, g.created_at FROM grants g
        WHERE (g.subject_key, coalesce(g.expires_at, 'infinity')) > (s.subject_key, statement_timestamp())
          AND g.subject_key <= s.subject_key AND g.revoked_at IS NULL
        ORDER BY g.subject_key, coalesce(g.expires_at, 'infinity') OFFSET 0)
      UNION ALL
        (SELECT g.grantee_tenant_id, g.scopes, g.created_at FROM grants g
        WHERE (g.grantor_tenant_id, coalesce(g.expires_at, 'infinity')) > (s.owner_tenant_id, statement_timestamp())
          AND g.grantor_tenant_id <= s.owner_tenant_id AND g.revoked_at IS NULL AND abs(g.subject_key) = 0
          AND g.accepted_at IS NOT NULL
        ORDER BY g.grantor_tenant_id, coalesce(g.expires_at, 'infinity') OFFSET 0)) g LIMIT 100) counted) AS readers,
  coalesce((SELECT e.snapshot_version FROM log_entries e
    WHERE e.subject_key = g.subject_key AND e.entry_type = 1
    ORDER BY e.snapshot_version DESC LIMIT 1), 0) AS versions,
  g.grant_id AS "granted?.grantId",
  g.grantor_tenant_id AS "granted?.ownerTenantId",
  g.grantee_tenant_id AS "granted?.granteeTenantId",
  CASE WHEN g.subject_key = 0 THEN '*' ELSE s.subject_type END AS "granted?.subjectType",
  CASE WHEN g.subject_key = 0 THEN '*' ELSE s.subject_id END AS "granted?.subjectId",
  g.scopes AS "granted?.scopes",
  g.expires_at AS "granted?.expiresAt",
  (g.subject_key <> 0 OR g.accepted_at IS NOT NULL) IS TRUE AS "isForGrantee",
  CASE WHEN n.snapshot_id IS NOT NULL THEN CASE k.entry_type
  WHEN 1 THEN 'snapshot.created' END END AS "snapshot?.type",
  n.tenant_id AS "snapshot?.tenantId",
  s.subject_type AS "snapshot?.subjectType",
  s.subject_id AS "snapshot?.subjectId",
  n.snapshot_id AS "snapshot?.snapshotId",
  n.snapshot_version AS "snapshot?.snapshotVersion",
  encode(n.envelope_hash, 'hex') AS "snapshot?.envelopeHash",
  encode(n.prev_hash, 'hex') AS "snapshot?.prevHash",
  n.created_at AS "snapshot?.createdAt",
  n.written_by AS "snapshot?.writtenBy",
  n.write_request_id AS "snapshot?.writeRequestId",
  k.names_writer IS TRUE AND n.written_by IS NOT NULL AS "snapshot?.namesWriter",
  CASE WHEN g.grant_id IS NOT NULL THEN CASE k.entry_type WHEN 2 THEN 'grant.created' END END AS "grant?.type",
  g.grantor_tenant_id AS "grant?.tenantId",
  g.grant_id AS "grant?.grantId",
  g.grantee_tenant_id AS "grant?.granteeTenantId",
  CASE WHEN g.subject_key = 0 THEN '*' ELSE s.subject_type END AS "grant?.subjectType",
  CASE WHEN g.subject_key = 0 THEN '*' ELSE s.subject_id END AS "grant?.subjectId",
  coalesce(first.from_scopes, g.scopes) AS "grant?.scopes",
  CASE WHEN first.is_changed THEN first.from_expires_at ELSE g.expires_at END AS "grant?.expiresAt",
  g.created_at AS "grant?.createdAt",
  CASE WHEN g.revoked_at IS NOT NULL THEN CASE k.entry_type
  WHEN 3 THEN 'grant.revoked' END END AS "revocation?.type",
  g.grantor_tenant_id AS "revocation?.tenantId",
  g.grant_id AS "revocation?.grantId",
  g.revoked_at AS "revocation?.revokedAt",
  CASE WHEN h.grant_id IS NOT NULL THEN CASE k.entry_type
  WHEN 5 THEN 'grant.changed' END END AS "grantChange?.type",
  h.grantor_tenant_id AS "grantChange?.tenantId",
  h.grant_id AS "grantChange?.grantId",
  h.scopes AS "grantChange?.scopes",
  h.expires_at AS "grantChange?.expiresAt",
  h.changed_at AS "grantChange?.changedAt",
  CASE WHEN c.owner_change_id IS NOT NULL THEN CASE k.entry_type
  WHEN 4 THEN 'tenant.owner_changed' END END AS "ownerChange?.type",
  c.tenant_id AS "ownerChange?.tenantId",
  c.principal_id AS "ownerChange?.principalId",
  c.from_principal_id AS "ownerChange?.fromPrincipalId",
  c.changed_at AS "ownerChange?.changedAt",
  CASE WHEN er.erased_at IS NOT NULL THEN CASE k.entry_type
  WHEN 6 THEN 'subject.erased' END END AS "erasure?.type",
  er.tenant_id AS "erasure?.tenantId",
  s.subject_type AS "erasure?.subjectType",
  s.subject_id AS "erasure?.subjectId",
  er.erased_indexes::float8[] AS "erasure?.erasedIndexes",
  er.erased_at AS "erasure?.erasedAt",
  NULL::json AS "erasure?.erasedVersions"
FROM (SELECT * FROM log_entries WHERE log_index >= $1::bigint AND log_index < $2::bigint ORDER BY log_index) k
LEFT JOIN LATERAL (SELECT * FROM snapshots n
  WHERE n.subject_key = k.subject_key AND n.snapshot_version = k.snapshot_version LIMIT 1) n ON true
LEFT JOIN LATERAL (SELECT * FROM grant_changes h WHERE h.grant_change_id = k.grant_change_id
  LIMIT 1) h ON true
LEFT JOIN LATERAL (SELECT * FROM grants g WHERE g.grant_id = coalesce(k.grant_id, h.grant_id)
  LIMIT 1) g ON true
LEFT JOIN LATERAL (SELECT h.from_scopes, h.from_expires_at, true AS is_changed FROM grant_changes h
  WHERE h.grant_id = g.grant_id ORDER BY (-h.grant_change_id) DESC LIMIT 1) first ON true
LEFT JOIN LATERAL (SELECT * FROM owner_changes c WHERE c.owner_change_id = k.owner_change_id
  LIMIT 1) c ON true
LEFT JOIN LATERAL (SELECT * FROM erasures er WHERE er.erasure_id = k.erasure_id LIMIT 1) er ON true
LEFT JOIN LATERAL (SELECT * FROM subjects s
  WHERE s.subject_key = coalesce(n.subject_key, g.subject_key, er.subject_key) LIMIT 1) s ON true
ORDER BY k.log_index;

-- feed_lag
--   asked by FeedStore.lagMs (stores/feed/feed.store.ts)
--   enters erasures_pkey, grant_changes_of_grant, grant_changes_pkey, grants_pkey, log_entries_pkey, log_feed_pkey, owner_changes_pkey, snapshots_version_key, subjects_pkey
PREPARE feed_lag AS
SELECT coalesce(extract(epoch
    FROM clock_timestamp() - coalesce(n.created_at, c.changed_at, h.changed_at, er.erased_at,
        CASE k.entry_type WHEN 3 THEN g.revoked_at ELSE g.created_at END)) * 1000, 0)::float8 AS "ageMs"
FROM (SELECT size FROM log_feed WHERE is_one) feed
LEFT JOIN LATERAL (SELECT * FROM log_entries k WHERE k.log_index = feed.size LIMIT 1) k ON true
LEFT JOIN LATERAL (SELECT * FROM snapshots n
  WHERE n.subject_key = k.subject_key AND n.snapshot_version = k.snapshot_version LIMIT 1) n ON true
LEFT JOIN LATERAL (SELECT * FROM grant_changes h WHERE h.grant_change_id = k.grant_change_id
  LIMIT 1) h ON true
LEFT JOIN LATERAL (SELECT * FROM grants g WHERE g.grant_id = coalesce(k.grant_id, h.grant_id)
  LIMIT 1) g ON true
LEFT JOIN LATERAL (SELECT h.from_scopes, h.from_expires_at, true AS is_changed FROM grant_changes h
  WHERE h.grant_id = g.grant_id ORDER BY (-h.grant_change_id) DESC LIMIT 1) first ON true
LEFT JOIN LATERAL (SELECT * FROM owner_changes c WHERE c.owner_change_id = k.owner_change_id
  LIMIT 1) c ON true
LEFT JOIN LATERAL (SELECT * FROM erasures er WHERE er.erasure_id = k.erasure_id LIMIT 1) er ON true
LEFT JOIN LATERAL (SELECT * FROM subjects s
  WHERE s.subject_key = coalesce(n.subject_key, g.subject_key, er.subject_key) LIMIT 1) s ON true;

-- feed_news
--   asked by FeedStore.news (stores/feed/feed.store.ts)
--   $1 inputs.tenantId text[]
--   $2 inputs.after bigint[]
--   enters shared_feed_pkey, tenant_feed_pkey
PREPARE feed_news (text[], bigint[]) AS
SELECT coalesce((SELECT true FROM tenant_feed t
    WHERE (t.tenant_id, t.last_index) > (i.tenant_id, i.after) AND t.tenant_id <= i.tenant_id
    ORDER BY t.tenant_id, t.last_index LIMIT 1),
    (SELECT true FROM shared_feed t
    WHERE (t.tenant_id, t.log_index) > (i.tenant_id, i.after) AND t.tenant_id <= i.tenant_id
    ORDER BY t.tenant_id, t.log_index LIMIT 1), false) AS "isNew"
FROM unnest($1::text[], $2::bigint[])
  WITH ORDINALITY AS i(tenant_id, after, ord)
ORDER BY i.ord;

-- feed_readers_told
--   asked by writeEventsOf (stores/feed/feed-events.ts)
--   $1 inputs.place integer[]
--   $2 inputs.subjectKey bigint[]
--   $3 inputs.owner text[]
--   $4 inputs.at text[]
--   enters grants_live_by_subject, grants_to_all_by_end, webhook_subscription_types_pkey
PREPARE feed_readers_told (integer[], bigint[], text[], text[]) AS
SELECT DISTINCT i.place, g.grantee_tenant_id AS "tenantId"
FROM unnest($1::int[], $2::bigint[], $3::text[], $4::text[])
  AS i(place, subject_key, owner, at)
CROSS JOIN LATERAL ((SELECT g.grantee_tenant_id, g.scopes, g.created_at FROM grants g
    WHERE (g.subject_key, coalesce(g.expires_at, 'infinity')) > (i.subject_key, statement_timestamp())
      AND g.subject_key <= i.subject_key AND g.revoked_at IS NULL
    ORDER BY g.subject_key, coalesce(g.expires_at, 'infinity') OFFSET 0)
  UNION ALL
    (SELECT g.grantee_tenant_id, g.scopes, g.created_at FROM grants g
    WHERE (g.grantor_tenant_id, coalesce(g.expires_at, 'infinity')) > (i.owner, statement_timestamp())
      AND g.grantor_tenant_id <= i.owner AND g.revoked_at IS NULL AND abs(g.subject_key) = 0
      AND g.accepted_at IS NOT NULL
    ORDER BY g.grantor_tenant_id, coalesce(g.expires_at, 'infinity') OFFSET 0)) g
WHERE g.scopes && '{read_latest,read_lineage}'
  AND date_trunc('milliseconds', g.created_at) <= i.at::timestamptz
  AND (SELECT true FROM webhook_subscription_types y
  WHERE y.tenant_id = g.grantee_tenant_id AND y.event_type = 'shared.snapshot.created'
    AND y.created_at <= i.at::timestamptz LIMIT 1)
ORDER BY 1, 2;

-- feed_seek_accepted
--   asked by FeedIntegrationStore.feed (stores/feed/feed-integration.store.ts)
--   $1 most bigint
--   $2 size bigint
--   enters granted_feeds_by_share, granted_feeds_in_turn, grants_feed_due, grants_pkey, tenants_pkey
PREPARE feed_seek_accepted (bigint, bigint) AS
WITH due AS MATERIALIZED (
  SELECT g.grant_id FROM grants g WHERE g.is_feed_due ORDER BY g.grant_id LIMIT $1 FOR NO KEY UPDATE SKIP LOCKED
), taken AS (
  UPDATE grants g SET is_feed_due = false FROM due WHERE g.grant_id = due.grant_id
  RETURNING g.grant_id, g.grantee_tenant_id, g.grantor_tenant_id
), given AS MATERIALIZED (
  SELECT DISTINCT t.grantee_tenant_id, t.grantor_tenant_id, $2::bigint AS until_index FROM taken t
), sharing AS MATERIALIZED (
  SELECT v.*, coalesce(t.founded_by, v.grantor_tenant_id) AS share
  FROM given v
  LEFT JOIN LATERAL (SELECT * FROM tenants t WHERE t.tenant_id = v.grantor_tenant_id LIMIT 1) t ON true
), waiting AS (
  INSERT INTO granted_feeds AS f (grantee_tenant_id, grantor_tenant_id, share, until_index, turn)
  SELECT s.grantee_tenant_id, s.grantor_tenant_id, s.share, s.until_index,
    greatest((SELECT w.turn FROM granted_feeds w WHERE w.turn IS NOT NULL ORDER BY w.turn LIMIT 1),
      (SELECT w.turn FROM granted_feeds w
      WHERE (w.share, w.turn) >= (s.share, 0) AND w.share <= s.share AND w.turn IS NOT NULL
      ORDER BY w.share DESC, w.turn DESC LIMIT 1), 0)
    + row_number() OVER (PARTITION BY s.share ORDER BY s.until_index, s.grantee_tenant_id, s.grantor_tenant_id)
  FROM sharing s
  ORDER BY 1, 2
  ON CONFLICT (grantee_tenant_id, grantor_tenant_id) DO UPDATE
  SET until_index = greatest(f.until_index, excluded.until_index), turn = coalesce(f.turn, excluded.turn)
)
SELECT t.grant_id AS "grantId" FROM taken t;

-- feed_seek_granted
--   asked by FeedIntegrationStore.feed (stores/feed/feed-integration.store.ts)
--   $1 from bigint
--   $2 to bigint
--   enters grant_changes_pkey, granted_feeds_by_share, granted_feeds_in_turn, grants_pkey, log_entries_pkey, log_feed_pkey, tenants_pkey
PREPARE feed_seek_granted (bigint, bigint) AS
WITH given AS MATERIALIZED (
  SELECT g.grantee_tenant_id, g.grantor_tenant_id, max(k.log_index) AS until_index
  FROM (SELECT * FROM log_entries
    WHERE log_index >= $1::bigint AND log_index < $2::bigint
      AND entry_type IN (2, 5)
    ORDER BY log_index) k
  LEFT JOIN LATERAL (SELECT * FROM grant_changes h WHERE h.grant_change_id = k.grant_change_id
    LIMIT 1) h ON true
  CROSS JOIN LATERAL (SELECT * FROM grants g WHERE g.grant_id = coalesce(k.grant_id, h.grant_id) LIMIT 1) g
  WHERE g.subject_key = 0 AND g.accepted_at IS NOT NULL
  GROUP BY 1, 2
), sharing AS MATERIALIZED (
  SELECT v.*, coalesce(t.founded_by, v.grantor_tenant_id) AS share
  FROM given v
  LEFT JOIN LATERAL (SELECT * FROM tenants t WHERE t.tenant_id = v.grantor_tenant_id LIMIT 1) t ON true
), waiting AS (
  INSERT INTO granted_feeds AS f (grantee_tenant_id, grantor_tenant_id, share, until_index, turn)
  SELECT s.grantee_tenant_id, s.grantor_tenant_id, s.share, s.until_index,
    greatest((SELECT w.turn FROM granted_feeds w WHERE w.turn IS NOT NULL ORDER BY w.turn LIMIT 1),
      (SELECT w.turn FROM granted_feeds w
      WHERE (w.share, w.turn) >= (s.share, 0) AND w.share <= s.share AND w.turn IS NOT NULL
      ORDER BY w.share DESC, w.turn DESC LIMIT 1), 0)
    + row_number() OVER (PARTITION BY s.share ORDER BY s.until_index, s.grantee_tenant_id, s.grantor_tenant_id)
  FROM sharing s
  ORDER BY 1, 2
  ON CONFLICT (grantee_tenant_id, grantor_tenant_id) DO UPDATE
  SET until_index = greatest(f.until_index, excluded.until_index), turn = coalesce(f.turn, excluded.turn)
)
UPDATE log_feed SET granted_size = $2::bigint WHERE is_one;

-- feed_size
--   asked by FeedStore.size (stores/feed/feed.store.ts)
--   enters log_feed_pkey
PREPARE feed_size AS
SELECT size::float8 AS size FROM log_feed WHERE is_one;

-- feed_size_before
--   asked by FeedStore.changes (stores/feed/feed.store.ts)
--   $1 moment timestamp with time zone
--   enters log_checkpoints_by_age
PREPARE feed_size_before (timestamp with time zone) AS
SELECT coalesce((SELECT c.size FROM log_checkpoints c
    WHERE c.signed_at <= $1::timestamptz AND (c.marked_at IS NULL) IS TRUE
    ORDER BY c.signed_at DESC LIMIT 1), 0)::float8 AS size;

-- feed_take
--   asked by FeedIntegrationStore.feed (stores/feed/feed-integration.store.ts)
--   enters log_feed_pkey, log_tree_pkey
PREPARE feed_take AS
SELECT f.size::float8 AS size, f.granted_size::float8 AS "grantedSize", f.began_at AS "beganAt",
  t.size::float8 AS "treeSize"
FROM log_feed f CROSS JOIN log_tree t
WHERE f.is_one AND t.is_one FOR UPDATE OF f SKIP LOCKED;

-- feed_take_granted
--   asked by FeedIntegrationStore.copy (stores/feed/feed-integration.store.ts)
--   enters granted_feeds_in_turn
PREPARE feed_take_granted AS
SELECT f.grantee_tenant_id AS "granteeTenantId", f.grantor_tenant_id AS "grantorTenantId"
FROM granted_feeds f WHERE f.turn IS NOT NULL ORDER BY f.turn LIMIT 1 FOR UPDATE SKIP LOCKED;

-- fill_hashes_next
--   asked by fillHashes (stores/snapshots/fill-hashes.ts)
--   $1 afterKey bigint
--   $2 afterVersion integer
--   enters snapshots_unsealed
PREPARE fill_hashes_next (bigint, integer) AS
SELECT subject_key AS "subjectKey", snapshot_version AS "snapshotVersion", snapshot_id AS "snapshotId",
  CASE WHEN envelope_hash IS NULL THEN envelope END AS envelope
FROM snapshots
WHERE (envelope_hash IS NULL OR (prev_hash IS NULL AND snapshot_version > 1))
  AND (subject_key, snapshot_version) > ($1::bigint, $2::integer)
ORDER BY subject_key, snapshot_version LIMIT 100;

-- fill_hashes_of_envelopes
--   asked by fillHashes (stores/snapshots/fill-hashes.ts)
--   $1 snapshotIds uuid[]
--   enters snapshots_snapshot_id_key
PREPARE fill_hashes_of_envelopes (uuid[]) AS
UPDATE snapshots SET envelope_hash = sha256(convert_to(envelope, 'UTF8'))
WHERE snapshot_id = ANY ($1::uuid[]) AND (envelope_hash IS NULL) IS TRUE
RETURNING snapshot_id AS "snapshotId";

-- fill_hashes_of_parents
--   asked by fillHashes (stores/snapshots/fill-hashes.ts)
--   $1 snapshotIds uuid[]
--   enters snapshots_snapshot_id_key, snapshots_version_key
PREPARE fill_hashes_of_parents (uuid[]) AS
UPDATE snapshots child SET prev_hash = (SELECT parent.envelope_hash FROM snapshots parent
  WHERE parent.subject_key = child.subject_key AND parent.snapshot_version = child.snapshot_version - 1 LIMIT 1)
WHERE child.snapshot_id = ANY ($1::uuid[]) AND (child.prev_hash IS NULL) IS TRUE
  AND (SELECT parent.envelope_hash FROM snapshots parent
  WHERE parent.subject_key = child.subject_key AND parent.snapshot_version = child.snapshot_version - 1
  LIMIT 1) IS NOT NULL
RETURNING child.snapshot_id AS "snapshotId";

-- fill_provenance_end
--   asked by backfillProvenance (stores/provenance/fill-provenance.ts)
--   enters provenance_backfill_pkey
PREPARE fill_provenance_end AS
DELETE FROM provenance_backfill WHERE is_one;

-- fill_provenance_flags
--   asked by fillProvenance, backfillProvenance (stores/provenance/fill-provenance.ts)
--   $1 hasMissing boolean
--   $2 hasCarried boolean
--   $3 subjectKey bigint
--   $4 snapshotVersion integer
--   enters snapshots_version_key, subjects_pkey
PREPARE fill_provenance_flags (boolean, boolean, bigint, integer) AS
INSERT INTO subject_evidence (subject_key, owner_tenant_id, subject_type, subject_id, has_missing, has_carried)
SELECT s.subject_key, s.owner_tenant_id, s.subject_type, s.subject_id, $1::boolean, $2::boolean
FROM subjects s
WHERE s.subject_key = $3::bigint
  AND (SELECT true FROM snapshots l WHERE l.subject_key = s.subject_key
    AND l.snapshot_version = $4::integer + 1 LIMIT 1) IS NULL
ON CONFLICT DO NOTHING
RETURNING subject_key AS "subjectKey";

-- fill_provenance_last
--   asked by fillProvenance, backfillProvenance (stores/provenance/fill-provenance.ts)
--   enters snapshots_version_key
PREPARE fill_provenance_last AS
SELECT coalesce((SELECT n.subject_key FROM snapshots n WHERE n.subject_key > 0
    ORDER BY n.subject_key DESC, n.snapshot_version DESC LIMIT 1), 0) AS "lastKey";

-- fill_provenance_move
--   asked by backfillProvenance (stores/provenance/fill-provenance.ts)
--   $1 subjectKey bigint
--   $2 snapshotVersion integer
--   enters provenance_backfill_pkey
PREPARE fill_provenance_move (bigint, integer) AS
UPDATE provenance_backfill SET subject_key = $1::bigint, snapshot_version = $2::integer
WHERE is_one RETURNING subject_key AS "subjectKey";

-- fill_provenance_next
--   asked by fillProvenance, backfillProvenance (stores/provenance/fill-provenance.ts)
--   $1 afterKey bigint
--   $2 afterVersion integer
--   $3 lastKey bigint
--   enters snapshot_provenance_pkey, snapshots_version_key
PREPARE fill_provenance_next (bigint, integer, bigint) AS
SELECT n.subject_key AS "subjectKey", n.snapshot_version AS "snapshotVersion",
  (SELECT true FROM snapshots l WHERE l.subject_key = n.subject_key
    AND l.snapshot_version = n.snapshot_version + 1 LIMIT 1) IS NULL AS "isLatest",
  (SELECT true FROM snapshot_provenance p WHERE p.subject_key = n.subject_key
    AND p.snapshot_version = n.snapshot_version LIMIT 1) IS NOT NULL OR n.erasure_id IS NOT NULL AS "isFilled"
FROM snapshots n
WHERE (n.subject_key, n.snapshot_version) > ($1::bigint, $2::integer) AND n.subject_key <= $3::bigint
ORDER BY n.subject_key, n.snapshot_version LIMIT 500;

-- fill_provenance_place
--   asked by backfillProvenance (stores/provenance/fill-provenance.ts)
--   enters provenance_backfill_pkey
PREPARE fill_provenance_place AS
SELECT subject_key AS "subjectKey", snapshot_version AS "snapshotVersion" FROM provenance_backfill
WHERE is_one;

-- fill_provenance_texts
--   asked by fillProvenance, backfillProvenance (stores/provenance/fill-provenance.ts)
--   $1 subjectKey bigint
--   $2 snapshotVersion integer
--   enters snapshot_provenance_pkey, snapshots_version_key
PREPARE fill_provenance_texts (bigint, integer) AS
SELECT n.snapshot_id AS "own.snapshotId", n.envelope AS "own.envelope", encode(n.envelope_hash, 'hex') AS "own.envelopeHash",
  CASE WHEN b.envelope IS NOT NULL THEN b.snapshot_id END AS "base?.snapshotId", b.envelope AS "base?.envelope",
  encode(b.envelope_hash, 'hex') AS "base?.envelopeHash",
  CASE
  WHEN b.subject_key IS NOT NULL THEN coalesce(b.envelope, '{}') END AS "baseEnvelope", p.origins AS "baseOrigins"
FROM (SELECT $1::bigint AS subject_key, $2::integer AS snapshot_version) i
CROSS JOIN LATERAL (SELECT * FROM snapshots n
  WHERE n.subject_key = i.subject_key AND n.snapshot_version = i.snapshot_version LIMIT 1) n
LEFT JOIN LATERAL (SELECT * FROM snapshots b
  WHERE b.subject_key = i.subject_key AND b.snapshot_version = i.snapshot_version - 1 LIMIT 1) b ON true
LEFT JOIN LATERAL (SELECT * FROM snapshot_provenance p
  WHERE p.subject_key = i.subject_key AND p.snapshot_version = i.snapshot_version - 1 LIMIT 1) p ON true;

-- fill_provenance_version
--   asked by fillProvenance, backfillProvenance (stores/provenance/fill-provenance.ts)
--   $1 subjectKey bigint
--   $2 snapshotVersion integer
--   $3 changedBy text
--   $4 origins bytea
--   enters no index
PREPARE fill_provenance_version (bigint, integer, text, bytea) AS
INSERT INTO snapshot_provenance (subject_key, snapshot_version, changed_by, origins)
VALUES ($1::bigint, $2::integer, $3::text, $4::bytea)
ON CONFLICT DO NOTHING
RETURNING snapshot_version AS "snapshotVersion";

-- grant_accept
--   asked by GrantStore.accept (stores/grants/grant.store.ts)
--   $1 tenantId text
--   $2 principalId text
--   $3 grantId uuid
--   $4 requestId text
--   $5 managers text[]
--   enters grants_pkey, memberships_pkey, subjects_pkey
PREPARE grant_accept (text, text, uuid, text, text[]) AS
WITH found AS MATERIALIZED (
  SELECT f.*, g.*, s.subject_type, s.subject_id
  FROM (SELECT $1::text AS tenant_id, $2::text AS principal_id, $3::uuid AS grant_id) i
  LEFT JOIN LATERAL (SELECT * FROM grants g WHERE g.grant_id = i.grant_id LIMIT 1) g
    ON g.grantee_tenant_id = i.tenant_id
  LEFT JOIN subjects s ON s.subject_key = g.subject_key
  LEFT JOIN LATERAL (
    SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access, m.tenancy_role,
      m.principal_type, NULL::boolean AS owns_subject, NULL::text[] AS grant_scopes
    FROM memberships m
    WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id LIMIT 1
  ) f ON true
  CROSS JOIN (SELECT set_config('iss.acting_principal', $2::text, true) AS principal_id,
      set_config('iss.acting_request', $4::text, true) AS request_id) acting
), accepted AS (
  UPDATE grants g SET accepted_at = statement_timestamp(), is_feed_due = g.subject_key = 0
  WHERE g.grant_id = (SELECT grant_id FROM found WHERE member_status = 'active' AND role = ANY ($5::text[]))
    AND (g.revoked_at IS NULL AND (g.expires_at IS NULL OR g.expires_at > statement_timestamp())
      AND g.accepted_at IS NULL) IS TRUE
  RETURNING g.accepted_at
)
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  f.grant_id AS "grant?.grantId",
  f.grantor_tenant_id AS "grant?.grantorTenantId",
  f.grantee_tenant_id AS "grant?.granteeTenantId",
  CASE WHEN f.subject_key = 0 THEN '*' ELSE f.subject_type END AS "grant?.subjectType",
  CASE WHEN f.subject_key = 0 THEN '*' ELSE f.subject_id END AS "grant?.subjectId",
  f.scopes AS "grant?.scopes",
  f.expires_at AS "grant?.expiresAt",
  f.created_at AS "grant?.createdAt",
  f.revoked_at AS "grant?.revokedAt",
  CASE WHEN f.revoked_at IS NOT NULL THEN 'revoked'
  WHEN f.expires_at <= statement_timestamp() THEN 'expired' ELSE 'active' END AS "grant?.status",
  f.granted_by AS "grant?.grantedBy",
  f.purpose AS "grant?.purpose",
  f.accepted_at AS "grant?.acceptedAt", a.accepted_at AS "acceptedNowAt"
FROM found f LEFT JOIN accepted a ON true;

-- grant_change
--   asked by GrantStore.change (stores/grants/grant.store.ts)
--   $1 changesScopes boolean
--   $2 scopes text[]
--   $3 changesExpiry boolean
--   $4 expiresAt timestamp with time zone
--   $5 changesPurpose boolean
--   $6 purpose text
--   $7 tenantId text
--   $8 principalId text
--   $9 grantId uuid
--   $10 managers text[]
--   $11 reason text
--   enters grants_pkey, memberships_pkey, subjects_pkey
PREPARE grant_change (boolean, text[], boolean, timestamp with time zone, boolean, text, text, text, uuid, text[], text) AS
WITH found AS MATERIALIZED (
  SELECT f.*, g.*, s.subject_type, s.subject_id, i.principal_id,
    CASE WHEN $1::boolean THEN $2::text[] ELSE g.scopes END AS new_scopes,
    CASE WHEN $3::boolean THEN $4::timestamptz ELSE g.expires_at END AS new_expires_at,
    CASE WHEN $5::boolean THEN $6::text ELSE g.purpose END AS new_purpose
  FROM (SELECT $7::text AS tenant_id, $8::text AS principal_id, $9::uuid AS grant_id) i
  LEFT JOIN LATERAL (SELECT * FROM grants g WHERE g.grant_id = i.grant_id LIMIT 1) g
    ON g.grantor_tenant_id = i.tenant_id
  LEFT JOIN subjects s ON s.subject_key = g.subject_key
  LEFT JOIN LATERAL (
    SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access, m.tenancy_role,
      m.principal_type, g.grant_id IS NOT NULL AS owns_subject, NULL::text[] AS grant_scopes
    FROM memberships m
    WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id LIMIT 1
  ) f ON true
), judged AS MATERIALIZED (
  SELECT f.*, (f.new_scopes @> f.scopes AND f.new_scopes <@ f.scopes) IS FALSE
    OR f.new_expires_at IS DISTINCT FROM f.expires_at AS is_recorded,
    f.new_purpose IS DISTINCT FROM f.purpose AS is_renamed,
    CASE WHEN f.subject_key = 0 AND NOT (f.new_scopes <@ f.scopes
      AND coalesce(f.new_expires_at, 'infinity') <= coalesce(f.expires_at, 'infinity'))
    THEN grant_needs_confirmation(f.grant_id, f.grantor_tenant_id, f.grantee_tenant_id, f.new_scopes, f.new_expires_at)
    ELSE false END AS is_held_back
  FROM found f
), changed AS (
  UPDATE grants g SET scopes = j.new_scopes, expires_at = j.new_expires_at, purpose = j.new_purpose
  FROM judged j
  WHERE g.grant_id = j.grant_id AND j.member_status = 'active' AND j.role = ANY ($10::text[]) AND j.owns_subject
    AND (j.is_recorded OR j.is_renamed) AND NOT j.is_held_back AND (g.revoked_at IS NULL
      AND (g.expires_at IS NULL OR g.expires_at > statement_timestamp())) IS TRUE
  RETURNING g.grant_id
), recorded AS (
  INSERT INTO grant_changes (grant_id, grantor_tenant_id, subject_key, scopes, expires_at, from_scopes, from_expires_at,
      changed_by, changed_at, reason)
  SELECT grant_id, grantor_tenant_id, subject_key, new_scopes, new_expires_at, scopes, expires_at, principal_id,
    statement_timestamp(), $11::text
  FROM judged WHERE is_recorded AND EXISTS (SELECT FROM changed)
)
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  f.grant_id AS "grant?.grantId",
  f.grantor_tenant_id AS "grant?.grantorTenantId",
  f.grantee_tenant_id AS "grant?.granteeTenantId",
  CASE WHEN f.subject_key = 0 THEN '*' ELSE f.subject_type END AS "grant?.subjectType",
  CASE WHEN f.subject_key = 0 THEN '*' ELSE f.subject_id END AS "grant?.subjectId",
  f.scopes AS "grant?.scopes",
  f.expires_at AS "grant?.expiresAt",
  f.created_at AS "grant?.createdAt",
  f.revoked_at AS "grant?.revokedAt",
  CASE WHEN f.revoked_at IS NOT NULL THEN 'revoked'
  WHEN f.expires_at <= statement_timestamp() THEN 'expired' ELSE 'active' END AS "grant?.status",
  f.granted_by AS "grant?.grantedBy",
  f.purpose AS "grant?.purpose",
  f.accepted_at AS "grant?.acceptedAt", (f.is_recorded OR f.is_renamed) IS TRUE AS "isDifferent",
  f.is_held_back AS "needsConfirmation",
  changed.grant_id IS NOT NULL AS "isChanged"
FROM judged f LEFT JOIN changed ON true;

-- grant_create
--   asked by GrantStore.create, createGrants (stores/grants/grant.store.ts)
--   $1 live_grants_per_tenant_to_all integer
--   $2 live_grants_per_subject integer
--   $3 tenantId text
--   $4 principalId text
--   $5 inputs.grantId uuid[]
--   $6 inputs.granteeTenantId text[]
--   $7 inputs.subjectType text[]
--   $8 inputs.subjectId text[]
--   $9 inputs.scopes text[]
--   $10 inputs.expiresAt text[]
--   $11 inputs.purpose text[]
--   $12 managers text[]
--   enters grants_live, grants_live_by_subject, grants_to_all_by_end, grants_to_all_live, limit_overrides_pkey, memberships_pkey, pending_grants_pkey, subjects_identity_key, tenants_pkey
PREPARE grant_create (integer, integer, text, text, uuid[], text[], text[], text[], text[], text[], text[], text[]) AS
WITH facts AS MATERIALIZED (
  SELECT i.*, f.*, CASE WHEN i.subject_type = '*' THEN 0 ELSE s.subject_key END AS subject_key,
    (SELECT true FROM tenants t WHERE t.tenant_id = i.grantee_tenant_id LIMIT 1) AS grantee_exists,
    CASE WHEN i.subject_type = '*'
    THEN (SELECT true FROM grants g
    WHERE (g.grantor_tenant_id || '/', g.grantee_tenant_id, coalesce(g.expires_at, 'infinity'))
      > (i.tenant_id || '/', i.grantee_tenant_id, statement_timestamp())
      AND (g.grantor_tenant_id || '/', g.grantee_tenant_id) <= (i.tenant_id || '/', i.grantee_tenant_id)
      AND g.revoked_at IS NULL AND (g.subject_key = 0) IS TRUE LIMIT 1)
    ELSE (SELECT true FROM grants g
    WHERE (g.grantee_tenant_id, g.subject_key) BETWEEN (i.grantee_tenant_id, s.subject_key)
      AND (i.grantee_tenant_id, s.subject_key)
      AND g.revoked_at IS NULL AND (g.expires_at IS NULL OR g.expires_at > statement_timestamp()) LIMIT 1)
    END AS is_granted,
    CASE WHEN i.subject_type = '*' THEN coalesce((SELECT l.value FROM limit_overrides l
      WHERE l.scope = 'tenant' AND l.scope_id = i.tenant_id AND l.limit_name = 'live_grants_per_tenant_to_all'
      LIMIT 1), $1::int)
    ELSE coalesce((SELECT l.value FROM limit_overrides l
      WHERE l.scope = 'tenant' AND l.scope_id = i.tenant_id AND l.limit_name = 'live_grants_per_subject'
      LIMIT 1), $2::int) END AS cap
  FROM (SELECT $3::text AS tenant_id, $4::text AS principal_id, i.*
    FROM unnest($5::uuid[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[])
      WITH ORDINALITY AS i(grant_id, grantee_tenant_id, subject_type, subject_id, scopes, expires_at, purpose, ord)) i
  LEFT JOIN subjects s ON s.subject_type = i.subject_type AND s.subject_id = i.subject_id
  LEFT JOIN LATERAL (
    SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access, m.tenancy_role,
      m.principal_type, (i.subject_type = '*' OR s.owner_tenant_id = i.tenant_id) AS owns_subject, NULL::text[] AS grant_scopes
    FROM memberships m
    WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id LIMIT 1
  ) f ON true
), sound AS MATERIALIZED (
  SELECT f.*, row_number() OVER (PARTITION BY f.subject_key ORDER BY f.ord) AS place FROM facts f
  WHERE f.member_status = 'active' AND f.role = ANY ($12::text[]) AND f.owns_subject AND f.grantee_exists
    AND f.is_granted IS NULL
), counted AS MATERIALIZED (
  SELECT k.subject_key,
    CASE WHEN k.subject_key = 0 THEN (SELECT count(*)::int FROM (SELECT FROM grants g
      WHERE (g.grantor_tenant_id, coalesce(g.expires_at, 'infinity')) > (k.tenant_id, statement_timestamp())
        AND g.grantor_tenant_id <= k.tenant_id AND g.revoked_at IS NULL AND abs(g.subject_key) = 0
      ORDER BY g.grantor_tenant_id, coalesce(g.expires_at, 'infinity')
      LIMIT k.cap) counted) ELSE (SELECT count(*)::int FROM (SELECT FROM grants g
      WHERE (g.subject_key, coalesce(g.expires_at, 'infinity')) > (k.subject_key, statement_timestamp())
        AND g.subject_key <= k.subject_key AND g.revoked_at IS NULL
      ORDER BY g.subject_key, coalesce(g.expires_at, 'infinity') LIMIT k.cap) counted) END AS live
  FROM (SELECT DISTINCT subject_key, tenant_id, cap FROM sound) k
), judged AS MATERIALIZED (
  SELECT f.*, string_to_array(f.scopes, ',') AS wanted, f.expires_at::timestamptz AS until,
    CASE WHEN f.subject_key = 0
    THEN grant_needs_confirmation(f.grant_id, f.tenant_id, f.grantee_tenant_id, string_to_array(f.scopes, ','),
      f.expires_at::timestamptz)
    ELSE false END AS is_pending
  FROM sound f CROSS JOIN counted c
  WHERE c.subject_key = f.subject_key AND c.live + f.place <= f.cap
), made AS (
  INSERT INTO grants (grant_id, grantor_tenant_id, grantee_tenant_id, subject_key, scopes, expires_at, granted_by, purpose)
  SELECT grant_id, tenant_id, grantee_tenant_id, subject_key, wanted, until,
    coalesce((SELECT p.requested_by FROM pending_grants p WHERE p.grant_id = f.grant_id
      LIMIT 1), principal_id), purpose
  FROM judged f WHERE NOT is_pending
  ORDER BY f.ord
  RETURNING grant_id, created_at
), pending AS (
  INSERT INTO pending_grants (grant_id, grantor_tenant_id, grantee_tenant_id, scopes, expires_at, purpose, requested_by)
  SELECT grant_id, tenant_id, grantee_tenant_id, wanted, until, purpose, principal_id
  FROM judged f WHERE is_pending
  ORDER BY f.ord
  RETURNING grant_id, created_at, confirm_by
)
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  f.grantee_exists IS TRUE AS "granteeExists", f.is_granted IS TRUE AS "isGranted", f.cap,
  coalesce(made.created_at, pending.created_at) AS "createdAt", pending.confirm_by AS "confirmBy"
FROM facts f
LEFT JOIN made ON made.grant_id = f.grant_id
LEFT JOIN pending ON pending.grant_id = f.grant_id
ORDER BY f.ord;

-- grant_find
--   asked by GrantStore.find (stores/grants/grant.store.ts)
--   $1 tenantId text
--   $2 principalId text
--   $3 grantId uuid
--   enters grants_pkey, memberships_pkey, subjects_pkey
PREPARE grant_find (text, text, uuid) AS
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  g.grant_id AS "grant?.grantId",
  g.grantor_tenant_id AS "grant?.grantorTenantId",
  g.grantee_tenant_id AS "grant?.granteeTenantId",
  CASE WHEN g.subject_key = 0 THEN '*' ELSE s.subject_type END AS "grant?.subjectType",
  CASE WHEN g.subject_key = 0 THEN '*' ELSE s.subject_id END AS "grant?.subjectId",
  g.scopes AS "grant?.scopes",
  g.expires_at AS "grant?.expiresAt",
  g.created_at AS "grant?.createdAt",
  g.revoked_at AS "grant?.revokedAt",
  CASE WHEN g.revoked_at IS NOT NULL THEN 'revoked'
  WHEN g.expires_at <= statement_timestamp() THEN 'expired' ELSE 'active' END AS "grant?.status",
  g.granted_by AS "grant?.grantedBy",
  g.purpose AS "grant?.purpose",
  g.accepted_at AS "grant?.acceptedAt"
FROM (SELECT $1::text AS tenant_id, $2::text AS principal_id, $3::uuid AS grant_id) i
LEFT JOIN LATERAL (
  SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access, m.tenancy_role,
    m.principal_type, NULL::boolean AS owns_subject, NULL::text[] AS grant_scopes
  FROM memberships m
  WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id LIMIT 1
) f ON true
LEFT JOIN LATERAL (SELECT * FROM grants g WHERE g.grant_id = i.grant_id LIMIT 1) g
  ON f.member_status = 'active' AND i.tenant_id IN (g.grantor_tenant_id, g.grantee_tenant_id)
LEFT JOIN subjects s ON s.subject_key = g.subject_key;

-- grant_lock_own
--   asked by GrantStore.change (stores/grants/grant.store.ts)
--   $1 grantId uuid
--   $2 principalId text
--   $3 requestId text
--   $4 tenantId text
--   enters grants_pkey, subjects_pkey
PREPARE grant_lock_own (uuid, text, text, text) AS
SELECT pg_advisory_xact_lock(hashtextextended('grants/' || CASE
      WHEN g.subject_key = 0 THEN '*' ELSE s.subject_type END || '/'
      || CASE CASE WHEN g.subject_key = 0 THEN '*' ELSE s.subject_type END
      WHEN '*' THEN g.grantor_tenant_id ELSE CASE WHEN g.subject_key = 0 THEN '*' ELSE s.subject_id END END, 0))
FROM (SELECT * FROM grants g WHERE g.grant_id = $1::uuid LIMIT 1) g
LEFT JOIN subjects s ON s.subject_key = g.subject_key
CROSS JOIN (SELECT set_config('iss.acting_principal', $2::text, true) AS principal_id,
    set_config('iss.acting_request', $3::text, true) AS request_id) acting
WHERE g.grantor_tenant_id = $4;

-- grant_lock_subjects
--   asked by GrantStore.create, createGrants (stores/grants/grant.store.ts)
--   $1 tenantId text
--   $2 inputs.subjectType text[]
--   $3 inputs.subjectId text[]
--   $4 principalId text
--   $5 requestId text
--   enters no index
PREPARE grant_lock_subjects (text, text[], text[], text, text) AS
SELECT pg_advisory_xact_lock(lock)
FROM (SELECT DISTINCT hashtextextended('grants/' || i.subject_type || '/'
      || CASE i.subject_type WHEN '*' THEN $1::text ELSE i.subject_id END, 0) AS lock
  FROM unnest($2::text[], $3::text[])
    WITH ORDINALITY AS i(subject_type, subject_id, ord)
  ORDER BY lock) locks CROSS JOIN (SELECT set_config('iss.acting_principal', $4::text, true) AS principal_id,
    set_config('iss.acting_request', $5::text, true) AS request_id) acting;

-- grant_revoke
--   asked by GrantStore.revoke (stores/grants/grant.store.ts)
--   $1 tenantId text
--   $2 principalId text
--   $3 grantId uuid
--   $4 requestId text
--   $5 managers text[]
--   enters grants_pkey, memberships_pkey, subjects_pkey
PREPARE grant_revoke (text, text, uuid, text, text[]) AS
WITH found AS MATERIALIZED (
  SELECT f.*, g.*, s.subject_type, s.subject_id
  FROM (SELECT $1::text AS tenant_id, $2::text AS principal_id, $3::uuid AS grant_id) i
  LEFT JOIN LATERAL (SELECT * FROM grants g WHERE g.grant_id = i.grant_id LIMIT 1) g
    ON g.grantor_tenant_id = i.tenant_id
  LEFT JOIN subjects s ON s.subject_key = g.subject_key
  LEFT JOIN LATERAL (
    SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access, m.tenancy_role,
      m.principal_type, g.grant_id IS NOT NULL AS owns_subject, NULL::text[] AS grant_scopes
    FROM memberships m
    WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id LIMIT 1
  ) f ON true
  CROSS JOIN (SELECT set_config('iss.acting_principal', $2::text, true) AS principal_id,
      set_config('iss.acting_request', $4::text, true) AS request_id) acting
),
revoked AS (
  UPDATE grants g SET revoked_at = clock_timestamp()
  WHERE g.grant_id = (SELECT grant_id FROM found
    WHERE member_status = 'active' AND role = ANY ($5::text[]) AND owns_subject)
    AND (g.revoked_at IS NULL AND (g.expires_at IS NULL OR g.expires_at > statement_timestamp())) IS TRUE
  RETURNING g.revoked_at
)
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  f.grant_id AS "grant?.grantId",
  f.grantor_tenant_id AS "grant?.grantorTenantId",
  f.grantee_tenant_id AS "grant?.granteeTenantId",
  CASE WHEN f.subject_key = 0 THEN '*' ELSE f.subject_type END AS "grant?.subjectType",
  CASE WHEN f.subject_key = 0 THEN '*' ELSE f.subject_id END AS "grant?.subjectId",
  f.scopes AS "grant?.scopes",
  f.expires_at AS "grant?.expiresAt",
  f.created_at AS "grant?.createdAt",
  f.revoked_at AS "grant?.revokedAt",
  CASE WHEN f.revoked_at IS NOT NULL THEN 'revoked'
  WHEN f.expires_at <= statement_timestamp() THEN 'expired' ELSE 'active' END AS "grant?.status",
  f.granted_by AS "grant?.grantedBy",
  f.purpose AS "grant?.purpose",
  f.accepted_at AS "grant?.acceptedAt", r.revoked_at AS "revokedNowAt"
FROM found f LEFT JOIN revoked r ON true;

-- grants_expired
--   asked by GrantEndStore.announceExpired (stores/grants/grant-end.store.ts)
--   $1 limit bigint
--   enters grants_expired, grants_pkey, subjects_pkey
PREPARE grants_expired (bigint) AS
WITH due AS MATERIALIZED (
  SELECT g.grant_id FROM grants g
  WHERE g.revoked_at IS NULL AND g.expired_told_for IS DISTINCT FROM g.expires_at
    AND g.expires_at <= statement_timestamp()
  ORDER BY g.expires_at LIMIT $1
  FOR NO KEY UPDATE SKIP LOCKED
), g AS (
  UPDATE grants g SET expired_told_for = g.expires_at FROM due WHERE g.grant_id = due.grant_id RETURNING g.*
)
SELECT g.grant_id AS "granted?.grantId",
  g.grantor_tenant_id AS "granted?.ownerTenantId",
  g.grantee_tenant_id AS "granted?.granteeTenantId",
  CASE WHEN g.subject_key = 0 THEN '*' ELSE s.subject_type END AS "granted?.subjectType",
  CASE WHEN g.subject_key = 0 THEN '*' ELSE s.subject_id END AS "granted?.subjectId",
  g.scopes AS "granted?.scopes",
  g.expires_at AS "granted?.expiresAt", statement_timestamp() AS now
FROM g
LEFT JOIN LATERAL (SELECT * FROM subjects s WHERE s.subject_key = g.subject_key LIMIT 1) s ON true;

-- grants_expiring
--   asked by GrantEndStore.announceExpiring, GrantEndStore.announceExpired (stores/grants/grant-end.store.ts)
--   $1 limit bigint
--   enters grants_expiring, grants_pkey, subjects_pkey
PREPARE grants_expiring (bigint) AS
WITH due AS MATERIALIZED (
  SELECT g.grant_id FROM grants g
  WHERE g.revoked_at IS NULL AND g.expiring_told_for IS DISTINCT FROM g.expires_at
    AND g.expires_at <= statement_timestamp() + interval '7 days'
  ORDER BY g.expires_at LIMIT $1
  FOR NO KEY UPDATE SKIP LOCKED
), g AS (
  UPDATE grants g SET expiring_told_for = g.expires_at FROM due WHERE g.grant_id = due.grant_id RETURNING g.*
)
SELECT g.grant_id AS "granted?.grantId",
  g.grantor_tenant_id AS "granted?.ownerTenantId",
  g.grantee_tenant_id AS "granted?.granteeTenantId",
  CASE WHEN g.subject_key = 0 THEN '*' ELSE s.subject_type END AS "granted?.subjectType",
  CASE WHEN g.subject_key = 0 THEN '*' ELSE s.subject_id END AS "granted?.subjectId",
  g.scopes AS "granted?.scopes",
  g.expires_at AS "granted?.expiresAt", statement_timestamp() AS now
FROM g
LEFT JOIN LATERAL (SELECT * FROM subjects s WHERE s.subject_key = g.subject_key LIMIT 1) s ON true;

-- grants_issued
--   asked by GrantStore.ofTenant (stores/grants/grant.store.ts)
--   $1 rows bigint
--   $2 beforeTime timestamp with time zone
--   $3 beforeId uuid
--   $4 from timestamp with time zone
--   $5 tenantId text
--   $6 principalId text
--   $7 subjectType text
--   $8 subjectId text
--   $9 status text
--   $10 granteeTenantId text
--   $11 grantorTenantId text
--   enters grants_by_grantor, memberships_pkey, subjects_identity_key, subjects_pkey
PREPARE grants_issued (bigint, timestamp with time zone, uuid, timestamp with time zone, text, text, text, text, text, text, text) AS
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  g.grant_id AS "item?.grantId",
  g.grantor_tenant_id AS "item?.grantorTenantId",
  g.grantee_tenant_id AS "item?.granteeTenantId",
  CASE WHEN g.subject_key = 0 THEN '*' ELSE s.subject_type END AS "item?.subjectType",
  CASE WHEN g.subject_key = 0 THEN '*' ELSE s.subject_id END AS "item?.subjectId",
  g.scopes AS "item?.scopes",
  g.expires_at AS "item?.expiresAt",
  g.created_at AS "item?.createdAt",
  g.revoked_at AS "item?.revokedAt",
  CASE WHEN g.revoked_at IS NOT NULL THEN 'revoked'
  WHEN g.expires_at <= statement_timestamp() THEN 'expired' ELSE 'active' END AS "item?.status",
  g.granted_by AS "item?.grantedBy",
  g.purpose AS "item?.purpose",
  g.accepted_at AS "item?.acceptedAt",
  CASE WHEN g.subject_key <> 0 AND s.owner_tenant_id = i.tenant_id THEN s.display_name END AS "item?.name",
  ARRAY[g.created_at::text, g.grant_id::text] AS position,
  CASE WHEN count(*) OVER () < $1 AND row_number() OVER (ORDER BY g.created_at DESC, g.grant_id DESC) = 1
  THEN (SELECT ARRAY[g.created_at::text, g.grant_id::text] FROM grants g
  WHERE g.grantor_tenant_id = i.tenant_id AND true AND f.member_status = 'active'
    AND (g.created_at, g.grant_id) < ($2::timestamptz, $3::uuid)
    AND g.created_at >= coalesce($4::timestamptz, '-infinity')
  ORDER BY g.created_at DESC, g.grant_id DESC OFFSET 1000 LIMIT 1) END AS "lookedTo"
FROM (SELECT $5::text AS tenant_id, $6::text AS principal_id, $7::text AS subject_type, $8::text AS subject_id, $9::text AS status, $10::text AS grantee_tenant_id, $11::text AS grantor_tenant_id) i
LEFT JOIN LATERAL (
  SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access, m.tenancy_role,
    m.principal_type, NULL::boolean AS owns_subject, NULL::text[] AS grant_scopes
  FROM memberships m
  WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id LIMIT 1
) f ON true
LEFT JOIN LATERAL (SELECT CASE i.subject_type WHEN '*' THEN 0 ELSE s.subject_key END AS subject_key
  FROM (SELECT true) one LEFT JOIN subjects s ON s.subject_type = i.subject_type
    AND s.subject_id = i.subject_id) k ON true
LEFT JOIN LATERAL (
  SELECT * FROM (SELECT g.* FROM grants g
    WHERE g.grantor_tenant_id = i.tenant_id AND true AND f.member_status = 'active'
      AND (g.created_at, g.grant_id) < ($2::timestamptz, $3::uuid)
      AND g.created_at >= coalesce($4::timestamptz, '-infinity')
    ORDER BY g.created_at DESC, g.grant_id DESC LIMIT 1001) g
  WHERE (i.status IS NULL OR CASE WHEN g.revoked_at IS NOT NULL THEN 'revoked'
      WHEN g.expires_at <= statement_timestamp() THEN 'expired' ELSE 'active' END = i.status)
    AND (i.grantee_tenant_id IS NULL OR g.grantee_tenant_id = i.grantee_tenant_id)
    AND (i.grantor_tenant_id IS NULL OR g.grantor_tenant_id = i.grantor_tenant_id)
    AND (i.subject_type IS NULL OR g.subject_key = k.subject_key) ORDER BY g.created_at DESC, g.grant_id DESC
  LIMIT $1) g ON true
LEFT JOIN subjects s ON s.subject_key = g.subject_key
ORDER BY g.created_at DESC, g.grant_id DESC;

-- grants_issued_on
--   asked by GrantStore.ofTenant (stores/grants/grant.store.ts)
--   $1 rows bigint
--   $2 beforeTime timestamp with time zone
--   $3 beforeId uuid
--   $4 from timestamp with time zone
--   $5 tenantId text
--   $6 principalId text
--   $7 subjectType text
--   $8 subjectId text
--   $9 status text
--   $10 granteeTenantId text
--   $11 grantorTenantId text
--   enters grants_issued_on, memberships_pkey, subjects_identity_key, subjects_pkey
PREPARE grants_issued_on (bigint, timestamp with time zone, uuid, timestamp with time zone, text, text, text, text, text, text, text) AS
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  g.grant_id AS "item?.grantId",
  g.grantor_tenant_id AS "item?.grantorTenantId",
  g.grantee_tenant_id AS "item?.granteeTenantId",
  CASE WHEN g.subject_key = 0 THEN '*' ELSE s.subject_type END AS "item?.subjectType",
  CASE WHEN g.subject_key = 0 THEN '*' ELSE s.subject_id END AS "item?.subjectId",
  g.scopes AS "item?.scopes",
  g.expires_at AS "item?.expiresAt",
  g.created_at AS "item?.createdAt",
  g.revoked_at AS "item?.revokedAt",
  CASE WHEN g.revoked_at IS NOT NULL THEN 'revoked'
  WHEN g.expires_at <= statement_timestamp() THEN 'expired' ELSE 'active' END AS "item?.status",
  g.granted_by AS "item?.grantedBy",
  g.purpose AS "item?.purpose",
  g.accepted_at AS "item?.acceptedAt",
  CASE WHEN g.subject_key <> 0 AND s.owner_tenant_id = i.tenant_id THEN s.display_name END AS "item?.name",
  ARRAY[g.created_at::text, g.grant_id::text] AS position,
  CASE WHEN count(*) OVER () < $1 AND row_number() OVER (ORDER BY g.created_at DESC, g.grant_id DESC) = 1
  THEN (SELECT ARRAY[g.created_at::text, g.grant_id::text] FROM grants g
  WHERE (g.grantor_tenant_id || '>', g.subject_key, g.created_at, g.grant_id) < (i.tenant_id || '>', k.subject_key, $2::timestamptz, $3::uuid)
    AND (g.grantor_tenant_id || '>', g.subject_key, g.created_at) >= (i.tenant_id || '>', k.subject_key, coalesce($4::timestamptz, '-infinity'))
    AND true AND f.member_status = 'active'
  ORDER BY g.grantor_tenant_id || '>' DESC, g.subject_key DESC, g.created_at DESC, g.grant_id DESC OFFSET 1000
  LIMIT 1) END AS "lookedTo"
FROM (SELECT $5::text AS tenant_id, $6::text AS principal_id, $7::text AS subject_type, $8::text AS subject_id, $9::text AS status, $10::text AS grantee_tenant_id, $11::text AS grantor_tenant_id) i
LEFT JOIN LATERAL (
  SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access, m.tenancy_role,
    m.principal_type, NULL::boolean AS owns_subject, NULL::text[] AS grant_scopes
  FROM memberships m
  WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id LIMIT 1
) f ON true
LEFT JOIN LATERAL (SELECT CASE i.subject_type WHEN '*' THEN 0 ELSE s.subject_key END AS subject_key
  FROM (SELECT true) one LEFT JOIN subjects s ON s.subject_type = i.subject_type
    AND s.subject_id = i.subject_id) k ON true
LEFT JOIN LATERAL (
  SELECT * FROM (SELECT g.*, g.grantor_tenant_id || '>' AS listed_key_0, g.subject_key AS listed_key_1
    FROM grants g
    WHERE (g.grantor_tenant_id || '>', g.subject_key, g.created_at, g.grant_id) < (i.tenant_id || '>', k.subject_key, $2::timestamptz, $3::uuid)
      AND (g.grantor_tenant_id || '>', g.subject_key, g.created_at) >= (i.tenant_id || '>', k.subject_key, coalesce($4::timestamptz, '-infinity'))
      AND true AND f.member_status = 'active'
    ORDER BY g.grantor_tenant_id || '>' DESC, g.subject_key DESC, g.created_at DESC, g.grant_id DESC LIMIT 1001) g
  WHERE (i.status IS NULL OR CASE WHEN g.revoked_at IS NOT NULL THEN 'revoked'
      WHEN g.expires_at <= statement_timestamp() THEN 'expired' ELSE 'active' END = i.status)
    AND (i.grantee_tenant_id IS NULL OR g.grantee_tenant_id = i.grantee_tenant_id)
    AND (i.grantor_tenant_id IS NULL OR g.grantor_tenant_id = i.grantor_tenant_id)
    AND (i.subject_type IS NULL OR g.subject_key = k.subject_key)
  ORDER BY g.listed_key_0 DESC, g.listed_key_1 DESC, g.created_at DESC, g.grant_id DESC LIMIT $1) g ON true
LEFT JOIN subjects s ON s.subject_key = g.subject_key
ORDER BY g.created_at DESC, g.grant_id DESC;

-- grants_issued_to
--   asked by GrantStore.ofTenant (stores/grants/grant.store.ts)
--   $1 rows bigint
--   $2 beforeTime timestamp with time zone
--   $3 beforeId uuid
--   $4 from timestamp with time zone
--   $5 tenantId text
--   $6 principalId text
--   $7 subjectType text
--   $8 subjectId text
--   $9 status text
--   $10 granteeTenantId text
--   $11 grantorTenantId text
--   enters grants_of_pair, memberships_pkey, subjects_identity_key, subjects_pkey
PREPARE grants_issued_to (bigint, timestamp with time zone, uuid, timestamp with time zone, text, text, text, text, text, text, text) AS
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  g.grant_id AS "item?.grantId",
  g.grantor_tenant_id AS "item?.grantorTenantId",
  g.grantee_tenant_id AS "item?.granteeTenantId",
  CASE WHEN g.subject_key = 0 THEN '*' ELSE s.subject_type END AS "item?.subjectType",
  CASE WHEN g.subject_key = 0 THEN '*' ELSE s.subject_id END AS "item?.subjectId",
  g.scopes AS "item?.scopes",
  g.expires_at AS "item?.expiresAt",
  g.created_at AS "item?.createdAt",
  g.revoked_at AS "item?.revokedAt",
  CASE WHEN g.revoked_at IS NOT NULL THEN 'revoked'
  WHEN g.expires_at <= statement_timestamp() THEN 'expired' ELSE 'active' END AS "item?.status",
  g.granted_by AS "item?.grantedBy",
  g.purpose AS "item?.purpose",
  g.accepted_at AS "item?.acceptedAt",
  CASE WHEN g.subject_key <> 0 AND s.owner_tenant_id = i.tenant_id THEN s.display_name END AS "item?.name",
  ARRAY[g.created_at::text, g.grant_id::text] AS position,
  CASE WHEN count(*) OVER () < $1 AND row_number() OVER (ORDER BY g.created_at DESC, g.grant_id DESC) = 1
  THEN (SELECT ARRAY[g.created_at::text, g.grant_id::text] FROM grants g
  WHERE (g.grantor_tenant_id || '>' || g.grantee_tenant_id, g.created_at, g.grant_id) < (i.tenant_id || '>' || i.grantee_tenant_id, $2::timestamptz, $3::uuid)
    AND (g.grantor_tenant_id || '>' || g.grantee_tenant_id, g.created_at) >= (i.tenant_id || '>' || i.grantee_tenant_id, coalesce($4::timestamptz, '-infinity'))
    AND true AND f.member_status = 'active'
  ORDER BY g.grantor_tenant_id || '>' || g.grantee_tenant_id DESC, g.created_at DESC, g.grant_id DESC OFFSET 1000
  LIMIT 1) END AS "lookedTo"
FROM (SELECT $5::text AS tenant_id, $6::text AS principal_id, $7::text AS subject_type, $8::text AS subject_id, $9::text AS status, $10::text AS grantee_tenant_id, $11::text AS grantor_tenant_id) i
LEFT JOIN LATERAL (
  SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access, m.tenancy_role,
    m.principal_type, NULL::boolean AS owns_subject, NULL::text[] AS grant_scopes
  FROM memberships m
  WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id LIMIT 1
) f ON true
LEFT JOIN LATERAL (SELECT CASE i.subject_type WHEN '*' THEN 0 ELSE s.subject_key END AS subject_key
  FROM (SELECT true) one LEFT JOIN subjects s ON s.subject_type = i.subject_type
    AND s.subject_id = i.subject_id) k ON true
LEFT JOIN LATERAL (
  SELECT * FROM (SELECT g.*, g.grantor_tenant_id || '>' || g.grantee_tenant_id AS listed_key_0 FROM grants g
    WHERE (g.grantor_tenant_id || '>' || g.grantee_tenant_id, g.created_at, g.grant_id) < (i.tenant_id || '>' || i.grantee_tenant_id, $2::timestamptz, $3::uuid)
      AND (g.grantor_tenant_id || '>' || g.grantee_tenant_id, g.created_at) >= (i.tenant_id || '>' || i.grantee_tenant_id, coalesce($4::timestamptz, '-infinity'))
      AND true AND f.member_status = 'active'
    ORDER BY g.grantor_tenant_id || '>' || g.grantee_tenant_id DESC, g.created_at DESC, g.grant_id DESC
    LIMIT 1001) g
  WHERE (i.status IS NULL OR CASE WHEN g.revoked_at IS NOT NULL THEN 'revoked'
      WHEN g.expires_at <= statement_timestamp() THEN 'expired' ELSE 'active' END = i.status)
    AND (i.grantee_tenant_id IS NULL OR g.grantee_tenant_id = i.grantee_tenant_id)
    AND (i.grantor_tenant_id IS NULL OR g.grantor_tenant_id = i.grantor_tenant_id)
    AND (i.subject_type IS NULL OR g.subject_key = k.subject_key)
  ORDER BY g.listed_key_0 DESC, g.created_at DESC, g.grant_id DESC LIMIT $1) g ON true
LEFT JOIN subjects s ON s.subject_key = g.subject_key
ORDER BY g.created_at DESC, g.grant_id DESC;

-- grants_of_subject
--   asked by GrantStore.ofSubject (stores/grants/grant.store.ts)
--   $1 tenantId text
--   $2 principalId text
--   $3 subjectType text
--   $4 subjectId text
--   $5 beforeTime timestamp with time zone
--   $6 beforeId uuid
--   $7 rows bigint
--   enters grants_by_subject, grants_live, grants_to_all_live, grants_to_all_made, memberships_pkey, subjects_identity_key
PREPARE grants_of_subject (text, text, text, text, timestamp with time zone, uuid, bigint) AS
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  g.grant_id AS "item?.grantId",
  g.grantor_tenant_id AS "item?.grantorTenantId",
  g.grantee_tenant_id AS "item?.granteeTenantId",
  CASE WHEN g.subject_key = 0 THEN '*' ELSE s.subject_type END AS "item?.subjectType",
  CASE WHEN g.subject_key = 0 THEN '*' ELSE s.subject_id END AS "item?.subjectId",
  g.scopes AS "item?.scopes",
  g.expires_at AS "item?.expiresAt",
  g.created_at AS "item?.createdAt",
  g.revoked_at AS "item?.revokedAt",
  CASE WHEN g.revoked_at IS NOT NULL THEN 'revoked'
  WHEN g.expires_at <= statement_timestamp() THEN 'expired' ELSE 'active' END AS "item?.status",
  g.granted_by AS "item?.grantedBy",
  g.purpose AS "item?.purpose",
  g.accepted_at AS "item?.acceptedAt",
  CASE WHEN g.subject_key <> 0 AND s.owner_tenant_id = i.tenant_id THEN s.display_name END AS "item?.name",
  ARRAY[g.created_at::text, g.grant_id::text] AS position
FROM (SELECT $1::text AS tenant_id, $2::text AS principal_id, $3::text AS subject_type, $4::text AS subject_id) i
LEFT JOIN subjects s ON s.subject_type = i.subject_type AND s.subject_id = i.subject_id
LEFT JOIN LATERAL (
  SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access,
    s.owner_tenant_id = i.tenant_id AS owns_subject, one.scopes || every.scopes AS grant_scopes,
    CASE WHEN one.scopes && '{}' THEN one.grant_id ELSE every.grant_id END AS grant_id
  FROM memberships m
  LEFT JOIN LATERAL (SELECT g.grant_id, g.scopes FROM grants g
    WHERE s.owner_tenant_id <> i.tenant_id
      AND (g.grantee_tenant_id, g.subject_key) BETWEEN (i.tenant_id, s.subject_key) AND (i.tenant_id, s.subject_key)
      AND g.revoked_at IS NULL AND (g.expires_at IS NULL OR g.expires_at > statement_timestamp())
    LIMIT 1) one ON true
  LEFT JOIN LATERAL (SELECT g.grant_id, g.scopes FROM grants g
    WHERE s.owner_tenant_id <> i.tenant_id
      AND (g.grantor_tenant_id || '/', g.grantee_tenant_id, coalesce(g.expires_at, 'infinity'))
      > (s.owner_tenant_id || '/', i.tenant_id, statement_timestamp())
      AND (g.grantor_tenant_id || '/', g.grantee_tenant_id) <= (s.owner_tenant_id || '/', i.tenant_id)
      AND g.revoked_at IS NULL AND (g.subject_key = 0) IS TRUE LIMIT 1) every ON true
  WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id
) f ON true
LEFT JOIN LATERAL (
  SELECT * FROM (
      (SELECT * FROM grants g WHERE g.subject_key = s.subject_key AND f.owns_subject
        AND (g.created_at, g.grant_id) < ($5::timestamptz, $6::uuid)
      ORDER BY g.created_at DESC, g.grant_id DESC LIMIT $7)
    UNION ALL
      (SELECT * FROM grants g WHERE g.grantor_tenant_id = s.owner_tenant_id AND (g.subject_key <> 0) IS FALSE
        AND f.owns_subject AND (g.created_at, g.grant_id) < ($5::timestamptz, $6::uuid)
      ORDER BY g.created_at DESC, g.grant_id DESC LIMIT $7)
  ) g ORDER BY g.created_at DESC, g.grant_id DESC LIMIT $7
) g ON true
ORDER BY g.created_at DESC, g.grant_id DESC;

-- grants_offered
--   asked by GrantStore.ofTenant (stores/grants/grant.store.ts)
--   $1 rows bigint
--   $2 beforeTime timestamp with time zone
--   $3 beforeId uuid
--   $4 from timestamp with time zone
--   $5 tenantId text
--   $6 principalId text
--   $7 subjectType text
--   $8 subjectId text
--   $9 status text
--   $10 granteeTenantId text
--   $11 grantorTenantId text
--   enters grants_offered, memberships_pkey, subjects_identity_key, subjects_pkey
PREPARE grants_offered (bigint, timestamp with time zone, uuid, timestamp with time zone, text, text, text, text, text, text, text) AS
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  g.grant_id AS "item?.grantId",
  g.grantor_tenant_id AS "item?.grantorTenantId",
  g.grantee_tenant_id AS "item?.granteeTenantId",
  CASE WHEN g.subject_key = 0 THEN '*' ELSE s.subject_type END AS "item?.subjectType",
  CASE WHEN g.subject_key = 0 THEN '*' ELSE s.subject_id END AS "item?.subjectId",
  g.scopes AS "item?.scopes",
  g.expires_at AS "item?.expiresAt",
  g.created_at AS "item?.createdAt",
  g.revoked_at AS "item?.revokedAt",
  CASE WHEN g.revoked_at IS NOT NULL THEN 'revoked'
  WHEN g.expires_at <= statement_timestamp() THEN 'expired' ELSE 'active' END AS "item?.status",
  g.granted_by AS "item?.grantedBy",
  g.purpose AS "item?.purpose",
  g.accepted_at AS "item?.acceptedAt",
  CASE WHEN g.subject_key <> 0 AND s.owner_tenant_id = i.tenant_id THEN s.display_name END AS "item?.name",
  ARRAY[g.created_at::text, g.grant_id::text] AS position,
  CASE WHEN count(*) OVER () < $1 AND row_number() OVER (ORDER BY g.created_at DESC, g.grant_id DESC) = 1
  THEN (SELECT ARRAY[g.created_at::text, g.grant_id::text] FROM grants g
  WHERE g.grantee_tenant_id || '/' = i.tenant_id || '/' AND (g.subject_key = 0
      AND g.accepted_at IS NULL) IS TRUE AND true AND f.member_status = 'active'
    AND (g.created_at, g.grant_id) < ($2::timestamptz, $3::uuid)
    AND g.created_at >= coalesce($4::timestamptz, '-infinity')
  ORDER BY g.created_at DESC, g.grant_id DESC OFFSET 1000 LIMIT 1) END AS "lookedTo"
FROM (SELECT $5::text AS tenant_id, $6::text AS principal_id, $7::text AS subject_type, $8::text AS subject_id, $9::text AS status, $10::text AS grantee_tenant_id, $11::text AS grantor_tenant_id) i
LEFT JOIN LATERAL (
  SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access, m.tenancy_role,
    m.principal_type, NULL::boolean AS owns_subject, NULL::text[] AS grant_scopes
  FROM memberships m
  WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id LIMIT 1
) f ON true
LEFT JOIN LATERAL (SELECT CASE i.subject_type WHEN '*' THEN 0 ELSE s.subject_key END AS subject_key
  FROM (SELECT true) one LEFT JOIN subjects s ON s.subject_type = i.subject_type
    AND s.subject_id = i.subject_id) k ON true
LEFT JOIN LATERAL (
  SELECT * FROM (SELECT g.* FROM grants g
    WHERE g.grantee_tenant_id || '/' = i.tenant_id || '/' AND (g.subject_key = 0
        AND g.accepted_at IS NULL) IS TRUE AND true AND f.member_status = 'active'
      AND (g.created_at, g.grant_id) < ($2::timestamptz, $3::uuid)
      AND g.created_at >= coalesce($4::timestamptz, '-infinity')
    ORDER BY g.created_at DESC, g.grant_id DESC LIMIT 1001) g
  WHERE (i.status IS NULL OR CASE WHEN g.revoked_at IS NOT NULL THEN 'revoked'
      WHEN g.expires_at <= statement_timestamp() THEN 'expired' ELSE 'active' END = i.status)
    AND (i.grantee_tenant_id IS NULL OR g.grantee_tenant_id = i.grantee_tenant_id)
    AND (i.grantor_tenant_id IS NULL OR g.grantor_tenant_id = i.grantor_tenant_id)
    AND (i.subject_type IS NULL OR g.subject_key = k.subject_key) ORDER BY g.created_at DESC, g.grant_id DESC
  LIMIT $1) g ON true
LEFT JOIN subjects s ON s.subject_key = g.subject_key
ORDER BY g.created_at DESC, g.grant_id DESC;

-- grants_offered_from
--   asked by GrantStore.ofTenant (stores/grants/grant.store.ts)
--   $1 rows bigint
--   $2 beforeTime timestamp with time zone
--   $3 beforeId uuid
--   $4 from timestamp with time zone
--   $5 tenantId text
--   $6 principalId text
--   $7 subjectType text
--   $8 subjectId text
--   $9 status text
--   $10 granteeTenantId text
--   $11 grantorTenantId text
--   enters grants_of_pair, memberships_pkey, subjects_identity_key, subjects_pkey
PREPARE grants_offered_from (bigint, timestamp with time zone, uuid, timestamp with time zone, text, text, text, text, text, text, text) AS
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  g.grant_id AS "item?.grantId",
  g.grantor_tenant_id AS "item?.grantorTenantId",
  g.grantee_tenant_id AS "item?.granteeTenantId",
  CASE WHEN g.subject_key = 0 THEN '*' ELSE s.subject_type END AS "item?.subjectType",
  CASE WHEN g.subject_key = 0 THEN '*' ELSE s.subject_id END AS "item?.subjectId",
  g.scopes AS "item?.scopes",
  g.expires_at AS "item?.expiresAt",
  g.created_at AS "item?.createdAt",
  g.revoked_at AS "item?.revokedAt",
  CASE WHEN g.revoked_at IS NOT NULL THEN 'revoked'
  WHEN g.expires_at <= statement_timestamp() THEN 'expired' ELSE 'active' END AS "item?.status",
  g.granted_by AS "item?.grantedBy",
  g.purpose AS "item?.purpose",
  g.accepted_at AS "item?.acceptedAt",
  CASE WHEN g.subject_key <> 0 AND s.owner_tenant_id = i.tenant_id THEN s.display_name END AS "item?.name",
  ARRAY[g.created_at::text, g.grant_id::text] AS position,
  CASE WHEN count(*) OVER () < $1 AND row_number() OVER (ORDER BY g.created_at DESC, g.grant_id DESC) = 1
  THEN (SELECT ARRAY[g.created_at::text, g.grant_id::text] FROM grants g
  WHERE (g.grantor_tenant_id || '>' || g.grantee_tenant_id, g.created_at, g.grant_id) < (i.grantor_tenant_id || '>' || i.tenant_id, $2::timestamptz, $3::uuid)
    AND (g.grantor_tenant_id || '>' || g.grantee_tenant_id, g.created_at) >= (i.grantor_tenant_id || '>' || i.tenant_id, coalesce($4::timestamptz, '-infinity'))
    AND (g.subject_key = 0 AND g.accepted_at IS NULL) IS NOT FALSE AND f.member_status = 'active'
  ORDER BY g.grantor_tenant_id || '>' || g.grantee_tenant_id DESC, g.created_at DESC, g.grant_id DESC OFFSET 1000
  LIMIT 1) END AS "lookedTo"
FROM (SELECT $5::text AS tenant_id, $6::text AS principal_id, $7::text AS subject_type, $8::text AS subject_id, $9::text AS status, $10::text AS grantee_tenant_id, $11::text AS grantor_tenant_id) i
LEFT JOIN LATERAL (
  SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access, m.tenancy_role,
    m.principal_type, NULL::boolean AS owns_subject, NULL::text[] AS grant_scopes
  FROM memberships m
  WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id LIMIT 1
) f ON true
LEFT JOIN LATERAL (SELECT CASE i.subject_type WHEN '*' THEN 0 ELSE s.subject_key END AS subject_key
  FROM (SELECT true) one LEFT JOIN subjects s ON s.subject_type = i.subject_type
    AND s.subject_id = i.subject_id) k ON true
LEFT JOIN LATERAL (
  SELECT * FROM (SELECT g.*, g.grantor_tenant_id || '>' || g.grantee_tenant_id AS listed_key_0 FROM grants g
    WHERE (g.grantor_tenant_id || '>' || g.grantee_tenant_id, g.created_at, g.grant_id) < (i.grantor_tenant_id || '>' || i.tenant_id, $2::timestamptz, $3::uuid)
      AND (g.grantor_tenant_id || '>' || g.grantee_tenant_id, g.created_at) >= (i.grantor_tenant_id || '>' || i.tenant_id, coalesce($4::timestamptz, '-infinity'))
      AND (g.subject_key = 0 AND g.accepted_at IS NULL) IS NOT FALSE AND f.member_status = 'active'
    ORDER BY g.grantor_tenant_id || '>' || g.grantee_tenant_id DESC, g.created_at DESC, g.grant_id DESC
    LIMIT 1001) g
  WHERE (i.status IS NULL OR CASE WHEN g.revoked_at IS NOT NULL THEN 'revoked'
      WHEN g.expires_at <= statement_timestamp() THEN 'expired' ELSE 'active' END = i.status)
    AND (i.grantee_tenant_id IS NULL OR g.grantee_tenant_id = i.grantee_tenant_id)
    AND (i.grantor_tenant_id IS NULL OR g.grantor_tenant_id = i.grantor_tenant_id)
    AND (i.subject_type IS NULL OR g.subject_key = k.subject_key)
  ORDER BY g.listed_key_0 DESC, g.created_at DESC, g.grant_id DESC LIMIT $1) g ON true
LEFT JOIN subjects s ON s.subject_key = g.subject_key
ORDER BY g.created_at DESC, g.grant_id DESC;

-- grants_offered_on
--   asked by GrantStore.ofTenant (stores/grants/grant.store.ts)
--   $1 rows bigint
--   $2 beforeTime timestamp with time zone
--   $3 beforeId uuid
--   $4 from timestamp with time zone
--   $5 tenantId text
--   $6 principalId text
--   $7 subjectType text
--   $8 subjectId text
--   $9 status text
--   $10 granteeTenantId text
--   $11 grantorTenantId text
--   enters grants_received_on, memberships_pkey, subjects_identity_key, subjects_pkey
PREPARE grants_offered_on (bigint, timestamp with time zone, uuid, timestamp with time zone, text, text, text, text, text, text, text) AS
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  g.grant_id AS "item?.grantId",
  g.grantor_tenant_id AS "item?.grantorTenantId",
  g.grantee_tenant_id AS "item?.granteeTenantId",
  CASE WHEN g.subject_key = 0 THEN '*' ELSE s.subject_type END AS "item?.subjectType",
  CASE WHEN g.subject_key = 0 THEN '*' ELSE s.subject_id END AS "item?.subjectId",
  g.scopes AS "item?.scopes",
  g.expires_at AS "item?.expiresAt",
  g.created_at AS "item?.createdAt",
  g.revoked_at AS "item?.revokedAt",
  CASE WHEN g.revoked_at IS NOT NULL THEN 'revoked'
  WHEN g.expires_at <= statement_timestamp() THEN 'expired' ELSE 'active' END AS "item?.status",
  g.granted_by AS "item?.grantedBy",
  g.purpose AS "item?.purpose",
  g.accepted_at AS "item?.acceptedAt",
  CASE WHEN g.subject_key <> 0 AND s.owner_tenant_id = i.tenant_id THEN s.display_name END AS "item?.name",
  ARRAY[g.created_at::text, g.grant_id::text] AS position,
  CASE WHEN count(*) OVER () < $1 AND row_number() OVER (ORDER BY g.created_at DESC, g.grant_id DESC) = 1
  THEN (SELECT ARRAY[g.created_at::text, g.grant_id::text] FROM grants g
  WHERE ('>' || g.grantee_tenant_id, g.subject_key, g.created_at, g.grant_id) < ('>' || i.tenant_id, k.subject_key, $2::timestamptz, $3::uuid)
    AND ('>' || g.grantee_tenant_id, g.subject_key, g.created_at) >= ('>' || i.tenant_id, k.subject_key, coalesce($4::timestamptz, '-infinity'))
    AND (g.subject_key = 0 AND g.accepted_at IS NULL) IS NOT FALSE AND f.member_status = 'active'
  ORDER BY '>' || g.grantee_tenant_id DESC, g.subject_key DESC, g.created_at DESC, g.grant_id DESC OFFSET 1000
  LIMIT 1) END AS "lookedTo"
FROM (SELECT $5::text AS tenant_id, $6::text AS principal_id, $7::text AS subject_type, $8::text AS subject_id, $9::text AS status, $10::text AS grantee_tenant_id, $11::text AS grantor_tenant_id) i
LEFT JOIN LATERAL (
  SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access, m.tenancy_role,
    m.principal_type, NULL::boolean AS owns_subject, NULL::text[] AS grant_scopes
  FROM memberships m
  WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id LIMIT 1
) f ON true
LEFT JOIN LATERAL (SELECT CASE i.subject_type WHEN '*' THEN 0 ELSE s.subject_key END AS subject_key
  FROM (SELECT true) one LEFT JOIN subjects s ON s.subject_type = i.subject_type
    AND s.subject_id = i.subject_id) k ON true
LEFT JOIN LATERAL (
  SELECT * FROM (SELECT g.*, '>' || g.grantee_tenant_id AS listed_key_0, g.subject_key AS listed_key_1
    FROM grants g
    WHERE ('>' || g.grantee_tenant_id, g.subject_key, g.created_at, g.grant_id) < ('>' || i.tenant_id, k.subject_key, $2::timestamptz, $3::uuid)
      AND ('>' || g.grantee_tenant_id, g.subject_key, g.created_at) >= ('>' || i.tenant_id, k.subject_key, coalesce($4::timestamptz, '-infinity'))
      AND (g.subject_key = 0 AND g.accepted_at IS NULL) IS NOT FALSE AND f.member_status = 'active'
    ORDER BY '>' || g.grantee_tenant_id DESC, g.subject_key DESC, g.created_at DESC, g.grant_id DESC LIMIT 1001) g
  WHERE (i.status IS NULL OR CASE WHEN g.revoked_at IS NOT NULL THEN 'revoked'
      WHEN g.expires_at <= statement_timestamp() THEN 'expired' ELSE 'active' END = i.status)
    AND (i.grantee_tenant_id IS NULL OR g.grantee_tenant_id = i.grantee_tenant_id)
    AND (i.grantor_tenant_id IS NULL OR g.grantor_tenant_id = i.grantor_tenant_id)
    AND (i.subject_type IS NULL OR g.subject_key = k.subject_key)
  ORDER BY g.listed_key_0 DESC, g.listed_key_1 DESC, g.created_at DESC, g.grant_id DESC LIMIT $1) g ON true
LEFT JOIN subjects s ON s.subject_key = g.subject_key
ORDER BY g.created_at DESC, g.grant_id DESC;

-- grants_received
--   asked by GrantStore.ofTenant (stores/grants/grant.store.ts)
--   $1 rows bigint
--   $2 beforeTime timestamp with time zone
--   $3 beforeId uuid
--   $4 from timestamp with time zone
--   $5 tenantId text
--   $6 principalId text
--   $7 subjectType text
--   $8 subjectId text
--   $9 status text
--   $10 granteeTenantId text
--   $11 grantorTenantId text
--   enters grants_received, memberships_pkey, subjects_identity_key, subjects_pkey
PREPARE grants_received (bigint, timestamp with time zone, uuid, timestamp with time zone, text, text, text, text, text, text, text) AS
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  g.grant_id AS "item?.grantId",
  g.grantor_tenant_id AS "item?.grantorTenantId",
  g.grantee_tenant_id AS "item?.granteeTenantId",
  CASE WHEN g.subject_key = 0 THEN '*' ELSE s.subject_type END AS "item?.subjectType",
  CASE WHEN g.subject_key = 0 THEN '*' ELSE s.subject_id END AS "item?.subjectId",
  g.scopes AS "item?.scopes",
  g.expires_at AS "item?.expiresAt",
  g.created_at AS "item?.createdAt",
  g.revoked_at AS "item?.revokedAt",
  CASE WHEN g.revoked_at IS NOT NULL THEN 'revoked'
  WHEN g.expires_at <= statement_timestamp() THEN 'expired' ELSE 'active' END AS "item?.status",
  g.granted_by AS "item?.grantedBy",
  g.purpose AS "item?.purpose",
  g.accepted_at AS "item?.acceptedAt",
  CASE WHEN g.subject_key <> 0 AND s.owner_tenant_id = i.tenant_id THEN s.display_name END AS "item?.name",
  ARRAY[g.created_at::text, g.grant_id::text] AS position,
  CASE WHEN count(*) OVER () < $1 AND row_number() OVER (ORDER BY g.created_at DESC, g.grant_id DESC) = 1
  THEN (SELECT ARRAY[g.created_at::text, g.grant_id::text] FROM grants g
  WHERE g.grantee_tenant_id || '/' = i.tenant_id || '/'
    AND (g.subject_key <> 0 OR g.accepted_at IS NOT NULL) IS TRUE AND true AND f.member_status = 'active'
    AND (g.created_at, g.grant_id) < ($2::timestamptz, $3::uuid)
    AND g.created_at >= coalesce($4::timestamptz, '-infinity')
  ORDER BY g.created_at DESC, g.grant_id DESC OFFSET 1000 LIMIT 1) END AS "lookedTo"
FROM (SELECT $5::text AS tenant_id, $6::text AS principal_id, $7::text AS subject_type, $8::text AS subject_id, $9::text AS status, $10::text AS grantee_tenant_id, $11::text AS grantor_tenant_id) i
LEFT JOIN LATERAL (
  SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access, m.tenancy_role,
    m.principal_type, NULL::boolean AS owns_subject, NULL::text[] AS grant_scopes
  FROM memberships m
  WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id LIMIT 1
) f ON true
LEFT JOIN LATERAL (SELECT CASE i.subject_type WHEN '*' THEN 0 ELSE s.subject_key END AS subject_key
  FROM (SELECT true) one LEFT JOIN subjects s ON s.subject_type = i.subject_type
    AND s.subject_id = i.subject_id) k ON true
LEFT JOIN LATERAL (
  SELECT * FROM (SELECT g.* FROM grants g
    WHERE g.grantee_tenant_id || '/' = i.tenant_id || '/'
      AND (g.subject_key <> 0 OR g.accepted_at IS NOT NULL) IS TRUE AND true AND f.member_status = 'active'
      AND (g.created_at, g.grant_id) < ($2::timestamptz, $3::uuid)
      AND g.created_at >= coalesce($4::timestamptz, '-infinity')
    ORDER BY g.created_at DESC, g.grant_id DESC LIMIT 1001) g
  WHERE (i.status IS NULL OR CASE WHEN g.revoked_at IS NOT NULL THEN 'revoked'
      WHEN g.expires_at <= statement_timestamp() THEN 'expired' ELSE 'active' END = i.status)
    AND (i.grantee_tenant_id IS NULL OR g.grantee_tenant_id = i.grantee_tenant_id)
    AND (i.grantor_tenant_id IS NULL OR g.grantor_tenant_id = i.grantor_tenant_id)
    AND (i.subject_type IS NULL OR g.subject_key = k.subject_key) ORDER BY g.created_at DESC, g.grant_id DESC
  LIMIT $1) g ON true
LEFT JOIN subjects s ON s.subject_key = g.subject_key
ORDER BY g.created_at DESC, g.grant_id DESC;

-- grants_received_from
--   asked by GrantStore.ofTenant (stores/grants/grant.store.ts)
--   $1 rows bigint
--   $2 beforeTime timestamp with time zone
--   $3 beforeId uuid
--   $4 from timestamp with time zone
--   $5 tenantId text
--   $6 principalId text
--   $7 subjectType text
--   $8 subjectId text
--   $9 status text
--   $10 granteeTenantId text
--   $11 grantorTenantId text
--   enters grants_of_pair, memberships_pkey, subjects_identity_key, subjects_pkey
PREPARE grants_received_from (bigint, timestamp with time zone, uuid, timestamp with time zone, text, text, text, text, text, text, text) AS
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  g.grant_id AS "item?.grantId",
  g.grantor_tenant_id AS "item?.grantorTenantId",
  g.grantee_tenant_id AS "item?.granteeTenantId",
  CASE WHEN g.subject_key = 0 THEN '*' ELSE s.subject_type END AS "item?.subjectType",
  CASE WHEN g.subject_key = 0 THEN '*' ELSE s.subject_id END AS "item?.subjectId",
  g.scopes AS "item?.scopes",
  g.expires_at AS "item?.expiresAt",
  g.created_at AS "item?.createdAt",
  g.revoked_at AS "item?.revokedAt",
  CASE WHEN g.revoked_at IS NOT NULL THEN 'revoked'
  WHEN g.expires_at <= statement_timestamp() THEN 'expired' ELSE 'active' END AS "item?.status",
  g.granted_by AS "item?.grantedBy",
  g.purpose AS "item?.purpose",
  g.accepted_at AS "item?.acceptedAt",
  CASE WHEN g.subject_key <> 0 AND s.owner_tenant_id = i.tenant_id THEN s.display_name END AS "item?.name",
  ARRAY[g.created_at::text, g.grant_id::text] AS position,
  CASE WHEN count(*) OVER () < $1 AND row_number() OVER (ORDER BY g.created_at DESC, g.grant_id DESC) = 1
  THEN (SELECT ARRAY[g.created_at::text, g.grant_id::text] FROM grants g
  WHERE (g.grantor_tenant_id || '>' || g.grantee_tenant_id, g.created_at, g.grant_id) < (i.grantor_tenant_id || '>' || i.tenant_id, $2::timestamptz, $3::uuid)
    AND (g.grantor_tenant_id || '>' || g.grantee_tenant_id, g.created_at) >= (i.grantor_tenant_id || '>' || i.tenant_id, coalesce($4::timestamptz, '-infinity'))
    AND (g.subject_key <> 0 OR g.accepted_at IS NOT NULL) IS NOT FALSE AND f.member_status = 'active'
  ORDER BY g.grantor_tenant_id || '>' || g.grantee_tenant_id DESC, g.created_at DESC, g.grant_id DESC OFFSET 1000
  LIMIT 1) END AS "lookedTo"
FROM (SELECT $5::text AS tenant_id, $6::text AS principal_id, $7::text AS subject_type, $8::text AS subject_id, $9::text AS status, $10::text AS grantee_tenant_id, $11::text AS grantor_tenant_id) i
LEFT JOIN LATERAL (
  SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access, m.tenancy_role,
    m.principal_type, NULL::boolean AS owns_subject, NULL::text[] AS grant_scopes
  FROM memberships m
  WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id LIMIT 1
) f ON true
LEFT JOIN LATERAL (SELECT CASE i.subject_type WHEN '*' THEN 0 ELSE s.subject_key END AS subject_key
  FROM (SELECT true) one LEFT JOIN subjects s ON s.subject_type = i.subject_type
    AND s.subject_id = i.subject_id) k ON true
LEFT JOIN LATERAL (
  SELECT * FROM (SELECT g.*, g.grantor_tenant_id || '>' || g.grantee_tenant_id AS listed_key_0 FROM grants g
    WHERE (g.grantor_tenant_id || '>' || g.grantee_tenant_id, g.created_at, g.grant_id) < (i.grantor_tenant_id || '>' || i.tenant_id, $2::timestamptz, $3::uuid)
      AND (g.grantor_tenant_id || '>' || g.grantee_tenant_id, g.created_at) >= (i.grantor_tenant_id || '>' || i.tenant_id, coalesce($4::timestamptz, '-infinity'))
      AND (g.subject_key <> 0 OR g.accepted_at IS NOT NULL) IS NOT FALSE AND f.member_status = 'active'
    ORDER BY g.grantor_tenant_id || '>' || g.grantee_tenant_id DESC, g.created_at DESC, g.grant_id DESC
    LIMIT 1001) g
  WHERE (i.status IS NULL OR CASE WHEN g.revoked_at IS NOT NULL THEN 'revoked'
      WHEN g.expires_at <= statement_timestamp() THEN 'expired' ELSE 'active' END = i.status)
    AND (i.grantee_tenant_id IS NULL OR g.grantee_tenant_id = i.grantee_tenant_id)
    AND (i.grantor_tenant_id IS NULL OR g.grantor_tenant_id = i.grantor_tenant_id)
    AND (i.subject_type IS NULL OR g.subject_key = k.subject_key)
  ORDER BY g.listed_key_0 DESC, g.created_at DESC, g.grant_id DESC LIMIT $1) g ON true
LEFT JOIN subjects s ON s.subject_key = g.subject_key
ORDER BY g.created_at DESC, g.grant_id DESC;

-- grants_received_on
--   asked by GrantStore.ofTenant (stores/grants/grant.store.ts)
--   $1 rows bigint
--   $2 beforeTime timestamp with time zone
--   $3 beforeId uuid
--   $4 from timestamp with time zone
--   $5 tenantId text
--   $6 principalId text
--   $7 subjectType text
--   $8 subjectId text
--   $9 status text
--   $10 granteeTenantId text
--   $11 grantorTenantId text
--   enters grants_received_on, memberships_pkey, subjects_identity_key, subjects_pkey
PREPARE grants_received_on (bigint, timestamp with time zone, uuid, timestamp with time zone, text, text, text, text, text, text, text) AS
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  g.grant_id AS "item?.grantId",
  g.grantor_tenant_id AS "item?.grantorTenantId",
  g.grantee_tenant_id AS "item?.granteeTenantId",
  CASE WHEN g.subject_key = 0 THEN '*' ELSE s.subject_type END AS "item?.subjectType",
  CASE WHEN g.subject_key = 0 THEN '*' ELSE s.subject_id END AS "item?.subjectId",
  g.scopes AS "item?.scopes",
  g.expires_at AS "item?.expiresAt",
  g.created_at AS "item?.createdAt",
  g.revoked_at AS "item?.revokedAt",
  CASE WHEN g.revoked_at IS NOT NULL THEN 'revoked'
  WHEN g.expires_at <= statement_timestamp() THEN 'expired' ELSE 'active' END AS "item?.status",
  g.granted_by AS "item?.grantedBy",
  g.purpose AS "item?.purpose",
  g.accepted_at AS "item?.acceptedAt",
  CASE WHEN g.subject_key <> 0 AND s.owner_tenant_id = i.tenant_id THEN s.display_name END AS "item?.name",
  ARRAY[g.created_at::text, g.grant_id::text] AS position,
  CASE WHEN count(*) OVER () < $1 AND row_number() OVER (ORDER BY g.created_at DESC, g.grant_id DESC) = 1
  THEN (SELECT ARRAY[g.created_at::text, g.grant_id::text] FROM grants g
  WHERE ('>' || g.grantee_tenant_id, g.subject_key, g.created_at, g.grant_id) < ('>' || i.tenant_id, k.subject_key, $2::timestamptz, $3::uuid)
    AND ('>' || g.grantee_tenant_id, g.subject_key, g.created_at) >= ('>' || i.tenant_id, k.subject_key, coalesce($4::timestamptz, '-infinity'))
    AND (g.subject_key <> 0 OR g.accepted_at IS NOT NULL) IS NOT FALSE AND f.member_status = 'active'
  ORDER BY '>' || g.grantee_tenant_id DESC, g.subject_key DESC, g.created_at DESC, g.grant_id DESC OFFSET 1000
  LIMIT 1) END AS "lookedTo"
FROM (SELECT $5::text AS tenant_id, $6::text AS principal_id, $7::text AS subject_type, $8::text AS subject_id, $9::text AS status, $10::text AS grantee_tenant_id, $11::text AS grantor_tenant_id) i
LEFT JOIN LATERAL (
  SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access, m.tenancy_role,
    m.principal_type, NULL::boolean AS owns_subject, NULL::text[] AS grant_scopes
  FROM memberships m
  WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id LIMIT 1
) f ON true
LEFT JOIN LATERAL (SELECT CASE i.subject_type WHEN '*' THEN 0 ELSE s.subject_key END AS subject_key
  FROM (SELECT true) one LEFT JOIN subjects s ON s.subject_type = i.subject_type
    AND s.subject_id = i.subject_id) k ON true
LEFT JOIN LATERAL (
  SELECT * FROM (SELECT g.*, '>' || g.grantee_tenant_id AS listed_key_0, g.subject_key AS listed_key_1
    FROM grants g
    WHERE ('>' || g.grantee_tenant_id, g.subject_key, g.created_at, g.grant_id) < ('>' || i.tenant_id, k.subject_key, $2::timestamptz, $3::uuid)
      AND ('>' || g.grantee_tenant_id, g.subject_key, g.created_at) >= ('>' || i.tenant_id, k.subject_key, coalesce($4::timestamptz, '-infinity'))
      AND (g.subject_key <> 0 OR g.accepted_at IS NOT NULL) IS NOT FALSE AND f.member_status = 'active'
    ORDER BY '>' || g.grantee_tenant_id DESC, g.subject_key DESC, g.created_at DESC, g.grant_id DESC LIMIT 1001) g
  WHERE (i.status IS NULL OR CASE WHEN g.revoked_at IS NOT NULL THEN 'revoked'
      WHEN g.expires_at <= statement_timestamp() THEN 'expired' ELSE 'active' END = i.status)
    AND (i.grantee_tenant_id IS NULL OR g.grantee_tenant_id = i.grantee_tenant_id)
    AND (i.grantor_tenant_id IS NULL OR g.grantor_tenant_id = i.grantor_tenant_id)
    AND (i.subject_type IS NULL OR g.subject_key = k.subject_key)
  ORDER BY g.listed_key_0 DESC, g.listed_key_1 DESC, g.created_at DESC, g.grant_id DESC LIMIT $1) g ON true
LEFT JOIN subjects s ON s.subject_key = g.subject_key
ORDER BY g.created_at DESC, g.grant_id DESC;

-- idempotency_begin
--   asked by IdempotencyStore.begin (stores/edge/idempotency.store.ts)
--   $1 keyHash bytea
--   $2 bodyHash bytea
--   $3 mayBegin boolean
--   enters idempotency_keys_pkey
PREPARE idempotency_begin (bytea, bytea, boolean) AS
WITH begun AS (
  INSERT INTO idempotency_keys AS k (key_hash, body_hash)
  SELECT $1::bytea, $2::bytea WHERE $3::boolean
  ON CONFLICT (key_hash) DO UPDATE
  SET body_hash = excluded.body_hash, started_at = excluded.started_at, answer = NULL, subject_hash = NULL
  WHERE k.started_at <= now() - interval '24 hours'
    OR (k.answer IS NULL AND k.body_hash = excluded.body_hash AND k.started_at <= now() - interval '1 minute')
  RETURNING k.started_at::text AS claim
)
SELECT begun.claim, k.body_hash = $2 AS "isSameBody", k.answer
FROM (SELECT $1::bytea AS key_hash) i
LEFT JOIN begun ON true
LEFT JOIN idempotency_keys k ON k.key_hash = i.key_hash;

-- idempotency_delete_expired
--   asked by IdempotencyStore.deleteExpired (stores/edge/idempotency.store.ts)
--   $1 limit bigint
--   enters idempotency_keys_by_age, idempotency_keys_pkey
PREPARE idempotency_delete_expired (bigint) AS
WITH deleted AS (
  DELETE FROM idempotency_keys WHERE key_hash = ANY (ARRAY(
      SELECT key_hash FROM idempotency_keys WHERE started_at <= now() - interval '24 hours'
      ORDER BY started_at LIMIT $1 FOR UPDATE SKIP LOCKED))
  RETURNING 1
)
SELECT count(*)::int AS deleted FROM deleted;

-- idempotency_free
--   asked by IdempotencyStore.free (stores/edge/idempotency.store.ts)
--   $1 keyHash bytea
--   $2 claim timestamp with time zone
--   enters idempotency_keys_pkey
PREPARE idempotency_free (bytea, timestamp with time zone) AS
DELETE FROM idempotency_keys WHERE key_hash = $1 AND (started_at = $2::timestamptz AND answer IS NULL) IS TRUE;

-- idempotency_keep
--   asked by IdempotencyStore.keep (stores/edge/idempotency.store.ts)
--   $1 answer text
--   $2 subjectHash bytea
--   $3 keyHash bytea
--   $4 claim timestamp with time zone
--   enters idempotency_keys_pkey
PREPARE idempotency_keep (text, bytea, bytea, timestamp with time zone) AS
UPDATE idempotency_keys SET answer = $1, subject_hash = $2::bytea WHERE key_hash = $3
  AND (started_at = $4::timestamptz AND answer IS NULL) IS TRUE;

-- invitations_of_principal
--   asked by TenancyStore.invitations (stores/tenancy/tenancy.store.ts)
--   $1 principalId text
--   $2 after text
--   $3 rows bigint
--   enters memberships_pending, tenants_pkey
PREPARE invitations_of_principal (text, text, bigint) AS
SELECT t.tenant_id AS "tenantId", t.name AS "tenantName", m.api_functional_role AS role, m.tenancy_role AS "tenancyRole",
  m.invited_by AS "invitedBy", m.invited_at AS "invitedAt"
FROM memberships m JOIN tenants t ON t.tenant_id = m.tenant_id
WHERE m.principal_id = $1 AND m.status = 'pending' AND m.tenant_id > $2
ORDER BY m.tenant_id LIMIT $3;

-- legacy_tenant_ensure
--   asked by LegacyTenantStore.ensure (stores/tenancy/legacy-tenant.store.ts)
--   $1 tenantId text
--   $2 writerId text
--   $3 ownerId text
--   enters no index
PREPARE legacy_tenant_ensure (text, text, text) AS
WITH made AS (
  INSERT INTO tenants (tenant_id, name) VALUES ($1, 'Legacy entity states') ON CONFLICT DO NOTHING
)
INSERT INTO memberships (tenant_id, principal_id, tenancy_role, api_functional_role, principal_type)
SELECT $1, member.*
FROM (VALUES ($2, 'member', 'tenant_editor', 'service_account'),
    ($3, 'account_admin', 'tenant_owner', 'human')) member (principal_id)
WHERE member.principal_id IS NOT NULL
ORDER BY member.principal_id
ON CONFLICT DO NOTHING;

-- limit_override_list
--   asked by LimitOverrideStore.all (stores/limits/limit-override.store.ts)
--   $1 scope text
--   $2 afterId text
--   $3 afterName text
--   $4 rows bigint
--   enters limit_overrides_pkey
PREPARE limit_override_list (text, text, text, bigint) AS
SELECT l.scope, l.scope_id AS "scopeId", l.limit_name AS name, l.value, l.reason, l.set_at AS "setAt"
FROM limit_overrides l
WHERE l.scope = $1 AND (l.scope_id, l.limit_name) > ($2, $3)
ORDER BY l.scope_id, l.limit_name LIMIT $4;

-- limit_override_of
--   asked by LimitOverrideStore.of (stores/limits/limit-override.store.ts)
--   $1 scope text
--   $2 scopeId text
--   enters limit_overrides_pkey
PREPARE limit_override_of (text, text) AS
SELECT l.scope, l.scope_id AS "scopeId", l.limit_name AS name, l.value, l.reason, l.set_at AS "setAt"
FROM limit_overrides l
WHERE l.scope = $1 AND l.scope_id = $2 ORDER BY l.limit_name;

-- limit_override_set
--   asked by LimitOverrideStore.set (stores/limits/limit-override.store.ts)
--   $1 scope text
--   $2 scopeId text
--   $3 name text
--   $4 value integer
--   $5 reason text
--   enters no index
PREPARE limit_override_set (text, text, text, integer, text) AS
INSERT INTO limit_overrides AS l (scope, scope_id, limit_name, value, reason)
VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (scope, scope_id, limit_name) DO UPDATE
SET value = excluded.value, reason = excluded.reason, set_at = excluded.set_at
RETURNING l.scope, l.scope_id AS "scopeId", l.limit_name AS name, l.value, l.reason, l.set_at AS "setAt";

-- limit_override_tenant
--   asked by LimitOverrideStore.hasTenant (stores/limits/limit-override.store.ts)
--   $1 tenantId text
--   enters tenants_pkey
PREPARE limit_override_tenant (text) AS
SELECT t.tenant_id AS "tenantId" FROM tenants t WHERE t.tenant_id = $1;

-- limit_override_unset
--   asked by LimitOverrideStore.unset (stores/limits/limit-override.store.ts)
--   $1 scope text
--   $2 scopeId text
--   $3 name text
--   enters limit_overrides_pkey
PREPARE limit_override_unset (text, text, text) AS
DELETE FROM limit_overrides l WHERE l.scope = $1 AND l.scope_id = $2 AND l.limit_name = $3
RETURNING l.scope, l.scope_id AS "scopeId", l.limit_name AS name, l.value, l.reason, l.set_at AS "setAt";

-- lock_tenant
--   asked by lockTenant (stores/tenancy/tenant-lock.ts)
--   $1 principalId text
--   $2 requestId text
--   $3 tenantId text
--   enters tenants_pkey
PREPARE lock_tenant (text, text, text) AS
SELECT FROM tenants t CROSS JOIN (SELECT set_config('iss.acting_principal', $1::text, true) AS principal_id,
    set_config('iss.acting_request', $2::text, true) AS request_id) acting
WHERE t.tenant_id = $3 FOR NO KEY UPDATE OF t;

-- log_append
--   asked by LogIntegrationStore.integrate (stores/log/log-integration.store.ts)
--   $1 waitingIds bigint[]
--   $2 size bigint
--   $3 salts bytea
--   $4 tiles.level integer[]
--   $5 tiles.index bigint[]
--   $6 tiles.hashes bytea[]
--   $7 newSize bigint
--   $8 root bytea
--   enters log_tree_pkey, log_waiting_pkey
PREPARE log_append (bigint[], bigint, bytea, integer[], bigint[], bytea[], bigint, bytea) AS
WITH taken AS (
  DELETE FROM log_waiting WHERE waiting_id = ANY ($1::bigint[]) RETURNING *
), added AS (
  INSERT INTO log_entries (log_index, entry_type, subject_key, snapshot_version, grant_id, owner_change_id, grant_change_id,
      erasure_id, restart_id, announcement_id, is_late, names_writer, names_versions, salt)
  SELECT $2::bigint + place - 1, entry_type, subject_key, snapshot_version, grant_id, owner_change_id, grant_change_id,
    erasure_id, restart_id, announcement_id, is_late,
    CASE entry_type WHEN 1 THEN true END,
    CASE entry_type WHEN 6 THEN true END,
    substr($3::bytea, (16 * (place - 1) + 1)::int, 16)
  FROM (SELECT *, row_number() OVER (ORDER BY waiting_id) AS place FROM taken) t
  ORDER BY place
  RETURNING 1
), tiled AS (
  INSERT INTO log_tiles (level, tile_index, hashes)
  SELECT * FROM unnest($4::int[], $5::bigint[], $6::bytea[])
  ON CONFLICT (level, tile_index) DO UPDATE SET hashes = excluded.hashes
), grown AS (
  UPDATE log_tree SET size = $7, root = $8 WHERE is_one AND (size = $2::bigint) IS TRUE RETURNING 1
)
SELECT (SELECT count(*)::int FROM added) AS entries, EXISTS (SELECT FROM grown) AS "isNext";

-- log_checkpoint_newest
--   asked by LogCheckpointStore.newest (stores/log/log-checkpoint.store.ts)
--   enters log_checkpoints_served
PREPARE log_checkpoint_newest AS
SELECT c.origin AS "origin",
  c.size::float8 AS "size",
  c.note AS "note",
  c.signed_at AS "signedAt" FROM log_checkpoints c WHERE c.marked_at IS NULL ORDER BY (-c.checkpoint_id) LIMIT 1;

-- log_checkpoint_of_size
--   asked by LogCheckpointStore.ofSize (stores/log/log-checkpoint.store.ts)
--   $1 size bigint
--   enters log_checkpoints_by_size
PREPARE log_checkpoint_of_size (bigint) AS
WITH c AS MATERIALIZED (SELECT * FROM log_checkpoints WHERE size = $1::bigint)
SELECT c.origin AS "origin",
  c.size::float8 AS "size",
  c.note AS "note",
  c.signed_at AS "signedAt" FROM c WHERE c.marked_at IS NULL ORDER BY c.checkpoint_id DESC LIMIT 1;

-- log_checkpoint_publish
--   asked by LogCheckpointStore.publish (stores/log/log-checkpoint.store.ts)
--   $1 origin text
--   $2 size bigint
--   $3 note text
--   $4 completeAt timestamp with time zone
--   enters log_checkpoints_served
PREPARE log_checkpoint_publish (text, bigint, text, timestamp with time zone) AS
INSERT INTO log_checkpoints (origin, size, note, complete_at)
SELECT $1, $2::bigint, $3, $4::timestamptz
WHERE coalesce((SELECT c.size FROM log_checkpoints c WHERE c.marked_at IS NULL
    ORDER BY (-c.checkpoint_id) LIMIT 1), 0) <= $2::bigint
RETURNING size::float8 AS size;

-- log_checkpoint_thin
--   asked by LogCheckpointStore.thin (stores/log/log-checkpoint.store.ts)
--   $1 limit bigint
--   enters log_checkpoints_by_age, log_checkpoints_pkey
PREPARE log_checkpoint_thin (bigint) AS
WITH old AS MATERIALIZED (
  SELECT c.checkpoint_id, date_trunc('hour', c.signed_at) AS hour,
    (SELECT date_trunc('hour', later.signed_at) FROM log_checkpoints later
    WHERE later.checkpoint_id > c.checkpoint_id AND (later.marked_at IS NULL) IS TRUE
    ORDER BY later.checkpoint_id LIMIT 1) AS next_hour
  FROM log_checkpoints c
  WHERE c.signed_at < now() - interval '1 day' AND c.signed_at > now() - interval '3 days'
    AND (c.marked_at IS NULL) IS TRUE
  ORDER BY c.signed_at
), deleted AS (
  DELETE FROM log_checkpoints WHERE checkpoint_id = ANY (ARRAY(
      SELECT checkpoint_id FROM old WHERE hour = next_hour ORDER BY checkpoint_id LIMIT $1))
  RETURNING 1
)
SELECT count(*)::int AS deleted FROM deleted;

-- log_checkpoint_turn
--   asked by LogCheckpointStore.publish (stores/log/log-checkpoint.store.ts)
--   enters no index
PREPARE log_checkpoint_turn AS
SELECT pg_advisory_xact_lock(hashtextextended('log/checkpoints', 0));

-- log_checkpoints_marked
--   asked by LogCheckpointStore.marked (stores/log/log-checkpoint.store.ts)
--   $1 size bigint
--   enters log_checkpoints_by_size
PREPARE log_checkpoints_marked (bigint) AS
SELECT c.note FROM log_checkpoints c WHERE c.size = $1::bigint AND c.marked_at IS NOT NULL;

-- log_entries_of_versions
--   asked by LogEntryStore.ofVersions (stores/log/log-entry.store.ts)
--   $1 subjectType text
--   $2 subjectId text
--   $3 from integer
--   $4 to integer
--   enters erasures_pkey, grant_changes_of_grant, grant_changes_pkey, grants_pkey, log_entries_of_snapshots, owner_changes_pkey, snapshots_version_key, subjects_identity_key, subjects_pkey
PREPARE log_entries_of_versions (text, text, integer, integer) AS
SELECT k.log_index::float8 AS "entry?.logIndex", k.salt AS "entry?.salt",
  CASE WHEN n.snapshot_id IS NOT NULL THEN CASE k.entry_type
  WHEN 1 THEN 'snapshot.created' END END AS "snapshot?.type",
  n.tenant_id AS "snapshot?.tenantId",
  s.subject_type AS "snapshot?.subjectType",
  s.subject_id AS "snapshot?.subjectId",
  n.snapshot_id AS "snapshot?.snapshotId",
  n.snapshot_version AS "snapshot?.snapshotVersion",
  encode(n.envelope_hash, 'hex') AS "snapshot?.envelopeHash",
  encode(n.prev_hash, 'hex') AS "snapshot?.prevHash",
  n.created_at AS "snapshot?.createdAt",
  n.written_by AS "snapshot?.writtenBy",
  n.write_request_id AS "snapshot?.writeRequestId",
  k.names_writer IS TRUE AND n.written_by IS NOT NULL AS "snapshot?.namesWriter",
  CASE WHEN g.grant_id IS NOT NULL THEN CASE k.entry_type WHEN 2 THEN 'grant.created' END END AS "grant?.type",
  g.grantor_tenant_id AS "grant?.tenantId",
  g.grant_id AS "grant?.grantId",
  g.grantee_tenant_id AS "grant?.granteeTenantId",
  CASE WHEN g.subject_key = 0 THEN '*' ELSE s.subject_type END AS "grant?.subjectType",
  CASE WHEN g.subject_key = 0 THEN '*' ELSE s.subject_id END AS "grant?.subjectId",
  coalesce(first.from_scopes, g.scopes) AS "grant?.scopes",
  CASE WHEN first.is_changed THEN first.from_expires_at ELSE g.expires_at END AS "grant?.expiresAt",
  g.created_at AS "grant?.createdAt",
  CASE WHEN g.revoked_at IS NOT NULL THEN CASE k.entry_type
  WHEN 3 THEN 'grant.revoked' END END AS "revocation?.type",
  g.grantor_tenant_id AS "revocation?.tenantId",
  g.grant_id AS "revocation?.grantId",
  g.revoked_at AS "revocation?.revokedAt",
  CASE WHEN h.grant_id IS NOT NULL THEN CASE k.entry_type
  WHEN 5 THEN 'grant.changed' END END AS "grantChange?.type",
  h.grantor_tenant_id AS "grantChange?.tenantId",
  h.grant_id AS "grantChange?.grantId",
  h.scopes AS "grantChange?.scopes",
  h.expires_at AS "grantChange?.expiresAt",
  h.changed_at AS "grantChange?.changedAt",
  CASE WHEN c.owner_change_id IS NOT NULL THEN CASE k.entry_type
  WHEN 4 THEN 'tenant.owner_changed' END END AS "ownerChange?.type",
  c.tenant_id AS "ownerChange?.tenantId",
  c.principal_id AS "ownerChange?.principalId",
  c.from_principal_id AS "ownerChange?.fromPrincipalId",
  c.changed_at AS "ownerChange?.changedAt",
  CASE WHEN er.erased_at IS NOT NULL THEN CASE k.entry_type
  WHEN 6 THEN 'subject.erased' END END AS "erasure?.type",
  er.tenant_id AS "erasure?.tenantId",
  s.subject_type AS "erasure?.subjectType",
  s.subject_id AS "erasure?.subjectId",
  er.erased_indexes::float8[] AS "erasure?.erasedIndexes",
  er.erased_at AS "erasure?.erasedAt",
  CASE WHEN k.names_versions THEN (
  SELECT json_agg(json_build_object(
        'snapshotId', gone.snapshot_id, 'snapshotVersion', gone.snapshot_version,
        'envelopeHash', encode(gone.envelope_hash, 'hex'), 'prevHash', encode(gone.prev_hash, 'hex'),
        'createdAt', to_char(date_trunc('milliseconds', gone.created_at) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
    ORDER BY v.place)
  FROM unnest(er.logged_versions) WITH ORDINALITY AS v(version, place)
  CROSS JOIN LATERAL (SELECT * FROM snapshots gone
    WHERE gone.subject_key = er.subject_key AND gone.snapshot_version = v.version
    LIMIT 1) gone) END AS "erasure?.erasedVersions"
FROM (SELECT subject_key FROM subjects WHERE subject_type = $1 AND subject_id = $2) found
CROSS JOIN LATERAL (SELECT * FROM log_entries e
  WHERE e.subject_key = found.subject_key AND e.snapshot_version BETWEEN $3::int AND $4::int
    AND e.entry_type = 1 ORDER BY e.snapshot_version) k
LEFT JOIN LATERAL (SELECT * FROM snapshots n
  WHERE n.subject_key = k.subject_key AND n.snapshot_version = k.snapshot_version LIMIT 1) n ON true
LEFT JOIN LATERAL (SELECT * FROM grant_changes h WHERE h.grant_change_id = k.grant_change_id
  LIMIT 1) h ON true
LEFT JOIN LATERAL (SELECT * FROM grants g WHERE g.grant_id = coalesce(k.grant_id, h.grant_id)
  LIMIT 1) g ON true
LEFT JOIN LATERAL (SELECT h.from_scopes, h.from_expires_at, true AS is_changed FROM grant_changes h
  WHERE h.grant_id = g.grant_id ORDER BY (-h.grant_change_id) DESC LIMIT 1) first ON true
LEFT JOIN LATERAL (SELECT * FROM owner_changes c WHERE c.owner_change_id = k.owner_change_id
  LIMIT 1) c ON true
LEFT JOIN LATERAL (SELECT * FROM erasures er WHERE er.erasure_id = k.erasure_id LIMIT 1) er ON true
LEFT JOIN LATERAL (SELECT * FROM subjects s
  WHERE s.subject_key = coalesce(n.subject_key, g.subject_key, er.subject_key) LIMIT 1) s ON true
ORDER BY k.snapshot_version;

-- log_entry_of_erasure
--   asked by LogEntryStore.ofErasure (stores/log/log-entry.store.ts)
--   $1 erasureId uuid
--   enters erasures_pkey, erasures_public_id_key, grant_changes_of_grant, grant_changes_pkey, grants_pkey, log_entries_of_erasures, owner_changes_pkey, snapshots_version_key, subjects_pkey
PREPARE log_entry_of_erasure (uuid) AS
SELECT k.log_index::float8 AS "entry?.logIndex", k.salt AS "entry?.salt",
  CASE WHEN n.snapshot_id IS NOT NULL THEN CASE k.entry_type
  WHEN 1 THEN 'snapshot.created' END END AS "snapshot?.type",
  n.tenant_id AS "snapshot?.tenantId",
  s.subject_type AS "snapshot?.subjectType",
  s.subject_id AS "snapshot?.subjectId",
  n.snapshot_id AS "snapshot?.snapshotId",
  n.snapshot_version AS "snapshot?.snapshotVersion",
  encode(n.envelope_hash, 'hex') AS "snapshot?.envelopeHash",
  encode(n.prev_hash, 'hex') AS "snapshot?.prevHash",
  n.created_at AS "snapshot?.createdAt",
  n.written_by AS "snapshot?.writtenBy",
  n.write_request_id AS "snapshot?.writeRequestId",
  k.names_writer IS TRUE AND n.written_by IS NOT NULL AS "snapshot?.namesWriter",
  CASE WHEN g.grant_id IS NOT NULL THEN CASE k.entry_type WHEN 2 THEN 'grant.created' END END AS "grant?.type",
  g.grantor_tenant_id AS "grant?.tenantId",
  g.grant_id AS "grant?.grantId",
  g.grantee_tenant_id AS "grant?.granteeTenantId",
  CASE WHEN g.subject_key = 0 THEN '*' ELSE s.subject_type END AS "grant?.subjectType",
  CASE WHEN g.subject_key = 0 THEN '*' ELSE s.subject_id END AS "grant?.subjectId",
  coalesce(first.from_scopes, g.scopes) AS "grant?.scopes",
  CASE WHEN first.is_changed THEN first.from_expires_at ELSE g.expires_at END AS "grant?.expiresAt",
  g.created_at AS "grant?.createdAt",
  CASE WHEN g.revoked_at IS NOT NULL THEN CASE k.entry_type
  WHEN 3 THEN 'grant.revoked' END END AS "revocation?.type",
  g.grantor_tenant_id AS "revocation?.tenantId",
  g.grant_id AS "revocation?.grantId",
  g.revoked_at AS "revocation?.revokedAt",
  CASE WHEN h.grant_id IS NOT NULL THEN CASE k.entry_type
  WHEN 5 THEN 'grant.changed' END END AS "grantChange?.type",
  h.grantor_tenant_id AS "grantChange?.tenantId",
  h.grant_id AS "grantChange?.grantId",
  h.scopes AS "grantChange?.scopes",
  h.expires_at AS "grantChange?.expiresAt",
  h.changed_at AS "grantChange?.changedAt",
  CASE WHEN c.owner_change_id IS NOT NULL THEN CASE k.entry_type
  WHEN 4 THEN 'tenant.owner_changed' END END AS "ownerChange?.type",
  c.tenant_id AS "ownerChange?.tenantId",
  c.principal_id AS "ownerChange?.principalId",
  c.from_principal_id AS "ownerChange?.fromPrincipalId",
  c.changed_at AS "ownerChange?.changedAt",
  CASE WHEN er.erased_at IS NOT NULL THEN CASE k.entry_type
  WHEN 6 THEN 'subject.erased' END END AS "erasure?.type",
  er.tenant_id AS "erasure?.tenantId",
  s.subject_type AS "erasure?.subjectType",
  s.subject_id AS "erasure?.subjectId",
  er.erased_indexes::float8[] AS "erasure?.erasedIndexes",
  er.erased_at AS "erasure?.erasedAt",
  CASE WHEN k.names_versions THEN (
  SELECT json_agg(json_build_object(
        'snapshotId', gone.snapshot_id, 'snapshotVersion', gone.snapshot_version,
        'envelopeHash', encode(gone.envelope_hash, 'hex'), 'prevHash', encode(gone.prev_hash, 'hex'),
        'createdAt', to_char(date_trunc('milliseconds', gone.created_at) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
    ORDER BY v.place)
  FROM unnest(er.logged_versions) WITH ORDINALITY AS v(version, place)
  CROSS JOIN LATERAL (SELECT * FROM snapshots gone
    WHERE gone.subject_key = er.subject_key AND gone.snapshot_version = v.version
    LIMIT 1) gone) END AS "erasure?.erasedVersions"
FROM (SELECT erasure_id FROM erasures WHERE public_id = $1::uuid) found
LEFT JOIN LATERAL (SELECT * FROM log_entries e WHERE e.erasure_id = found.erasure_id LIMIT 1) k ON true
LEFT JOIN LATERAL (SELECT * FROM snapshots n
  WHERE n.subject_key = k.subject_key AND n.snapshot_version = k.snapshot_version LIMIT 1) n ON true
LEFT JOIN LATERAL (SELECT * FROM grant_changes h WHERE h.grant_change_id = k.grant_change_id
  LIMIT 1) h ON true
LEFT JOIN LATERAL (SELECT * FROM grants g WHERE g.grant_id = coalesce(k.grant_id, h.grant_id)
  LIMIT 1) g ON true
LEFT JOIN LATERAL (SELECT h.from_scopes, h.from_expires_at, true AS is_changed FROM grant_changes h
  WHERE h.grant_id = g.grant_id ORDER BY (-h.grant_change_id) DESC LIMIT 1) first ON true
LEFT JOIN LATERAL (SELECT * FROM owner_changes c WHERE c.owner_change_id = k.owner_change_id
  LIMIT 1) c ON true
LEFT JOIN LATERAL (SELECT * FROM erasures er WHERE er.erasure_id = k.erasure_id LIMIT 1) er ON true
LEFT JOIN LATERAL (SELECT * FROM subjects s
  WHERE s.subject_key = coalesce(n.subject_key, g.subject_key, er.subject_key) LIMIT 1) s ON true;

-- log_entry_of_grant_changed
--   asked by LogEntryStore.ofGrant (stores/log/log-entry.store.ts)
--   $1 tenantId text
--   $2 principalId text
--   $3 grantId uuid
--   enters erasures_pkey, grant_changes_of_grant, grant_changes_pkey, grants_pkey, log_entries_of_grant_changes, memberships_pkey, owner_changes_pkey, snapshots_version_key, subjects_pkey
PREPARE log_entry_of_grant_changed (text, text, uuid) AS
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  granted.grant_id IS NOT NULL AS exists, (SELECT true FROM grant_changes h WHERE h.grant_id = granted.grant_id
  LIMIT 1) IS TRUE AS "isSo",
  k.log_index::float8 AS "entry?.logIndex", k.salt AS "entry?.salt",
  CASE WHEN n.snapshot_id IS NOT NULL THEN CASE k.entry_type
  WHEN 1 THEN 'snapshot.created' END END AS "snapshot?.type",
  n.tenant_id AS "snapshot?.tenantId",
  s.subject_type AS "snapshot?.subjectType",
  s.subject_id AS "snapshot?.subjectId",
  n.snapshot_id AS "snapshot?.snapshotId",
  n.snapshot_version AS "snapshot?.snapshotVersion",
  encode(n.envelope_hash, 'hex') AS "snapshot?.envelopeHash",
  encode(n.prev_hash, 'hex') AS "snapshot?.prevHash",
  n.created_at AS "snapshot?.createdAt",
  n.written_by AS "snapshot?.writtenBy",
  n.write_request_id AS "snapshot?.writeRequestId",
  k.names_writer IS TRUE AND n.written_by IS NOT NULL AS "snapshot?.namesWriter",
  CASE WHEN g.grant_id IS NOT NULL THEN CASE k.entry_type WHEN 2 THEN 'grant.created' END END AS "grant?.type",
  g.grantor_tenant_id AS "grant?.tenantId",
  g.grant_id AS "grant?.grantId",
  g.grantee_tenant_id AS "grant?.granteeTenantId",
  CASE WHEN g.subject_key = 0 THEN '*' ELSE s.subject_type END AS "grant?.subjectType",
  CASE WHEN g.subject_key = 0 THEN '*' ELSE s.subject_id END AS "grant?.subjectId",
  coalesce(first.from_scopes, g.scopes) AS "grant?.scopes",
  CASE WHEN first.is_changed THEN first.from_expires_at ELSE g.expires_at END AS "grant?.expiresAt",
  g.created_at AS "grant?.createdAt",
  CASE WHEN g.revoked_at IS NOT NULL THEN CASE k.entry_type
  WHEN 3 THEN 'grant.revoked' END END AS "revocation?.type",
  g.grantor_tenant_id AS "revocation?.tenantId",
  g.grant_id AS "revocation?.grantId",
  g.revoked_at AS "revocation?.revokedAt",
  CASE WHEN h.grant_id IS NOT NULL THEN CASE k.entry_type
  WHEN 5 THEN 'grant.changed' END END AS "grantChange?.type",
  h.grantor_tenant_id AS "grantChange?.tenantId",
  h.grant_id AS "grantChange?.grantId",
  h.scopes AS "grantChange?.scopes",
  h.expires_at AS "grantChange?.expiresAt",
  h.changed_at AS "grantChange?.changedAt",
  CASE WHEN c.owner_change_id IS NOT NULL THEN CASE k.entry_type
  WHEN 4 THEN 'tenant.owner_changed' END END AS "ownerChange?.type",
  c.tenant_id AS "ownerChange?.tenantId",
  c.principal_id AS "ownerChange?.principalId",
  c.from_principal_id AS "ownerChange?.fromPrincipalId",
  c.changed_at AS "ownerChange?.changedAt",
  CASE WHEN er.erased_at IS NOT NULL THEN CASE k.entry_type
  WHEN 6 THEN 'subject.erased' END END AS "erasure?.type",
  er.tenant_id AS "erasure?.tenantId",
  s.subject_type AS "erasure?.subjectType",
  s.subject_id AS "erasure?.subjectId",
  er.erased_indexes::float8[] AS "erasure?.erasedIndexes",
  er.erased_at AS "erasure?.erasedAt",
  CASE WHEN k.names_versions THEN (
  SELECT json_agg(json_build_object(
        'snapshotId', gone.snapshot_id, 'snapshotVersion', gone.snapshot_version,
        'envelopeHash', encode(gone.envelope_hash, 'hex'), 'prevHash', encode(gone.prev_hash, 'hex'),
        'createdAt', to_char(date_trunc('milliseconds', gone.created_at) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
    ORDER BY v.place)
  FROM unnest(er.logged_versions) WITH ORDINALITY AS v(version, place)
  CROSS JOIN LATERAL (SELECT * FROM snapshots gone
    WHERE gone.subject_key = er.subject_key AND gone.snapshot_version = v.version
    LIMIT 1) gone) END AS "erasure?.erasedVersions"
FROM (SELECT $1::text AS tenant_id, $2::text AS principal_id, $3::uuid AS grant_id) i
LEFT JOIN LATERAL (
  SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access, m.tenancy_role,
    m.principal_type, NULL::boolean AS owns_subject, NULL::text[] AS grant_scopes
  FROM memberships m
  WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id LIMIT 1
) f ON true
LEFT JOIN LATERAL (SELECT * FROM grants WHERE grant_id = i.grant_id LIMIT 1) granted
  ON i.tenant_id IN (granted.grantor_tenant_id, granted.grantee_tenant_id)
LEFT JOIN LATERAL (SELECT e.* FROM (SELECT h.grant_change_id FROM grant_changes h
    WHERE h.grant_id = granted.grant_id
    ORDER BY (-h.grant_change_id) LIMIT 1) h
  CROSS JOIN LATERAL (SELECT * FROM log_entries e
    WHERE e.grant_change_id = h.grant_change_id LIMIT 1) e) k ON true
LEFT JOIN LATERAL (SELECT * FROM snapshots n
  WHERE n.subject_key = k.subject_key AND n.snapshot_version = k.snapshot_version LIMIT 1) n ON true
LEFT JOIN LATERAL (SELECT * FROM grant_changes h WHERE h.grant_change_id = k.grant_change_id
  LIMIT 1) h ON true
LEFT JOIN LATERAL (SELECT * FROM grants g WHERE g.grant_id = coalesce(k.grant_id, h.grant_id)
  LIMIT 1) g ON true
LEFT JOIN LATERAL (SELECT h.from_scopes, h.from_expires_at, true AS is_changed FROM grant_changes h
  WHERE h.grant_id = g.grant_id ORDER BY (-h.grant_change_id) DESC LIMIT 1) first ON true
LEFT JOIN LATERAL (SELECT * FROM owner_changes c WHERE c.owner_change_id = k.owner_change_id
  LIMIT 1) c ON true
LEFT JOIN LATERAL (SELECT * FROM erasures er WHERE er.erasure_id = k.erasure_id LIMIT 1) er ON true
LEFT JOIN LATERAL (SELECT * FROM subjects s
  WHERE s.subject_key = coalesce(n.subject_key, g.subject_key, er.subject_key) LIMIT 1) s ON true;

-- log_entry_of_grant_created
--   asked by LogEntryStore.ofGrant (stores/log/log-entry.store.ts)
--   $1 tenantId text
--   $2 principalId text
--   $3 grantId uuid
--   enters erasures_pkey, grant_changes_of_grant, grant_changes_pkey, grants_pkey, log_entries_of_grants, memberships_pkey, owner_changes_pkey, snapshots_version_key, subjects_pkey
PREPARE log_entry_of_grant_created (text, text, uuid) AS
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  granted.grant_id IS NOT NULL AS exists, true AS "isSo",
  k.log_index::float8 AS "entry?.logIndex", k.salt AS "entry?.salt",
  CASE WHEN n.snapshot_id IS NOT NULL THEN CASE k.entry_type
  WHEN 1 THEN 'snapshot.created' END END AS "snapshot?.type",
  n.tenant_id AS "snapshot?.tenantId",
  s.subject_type AS "snapshot?.subjectType",
  s.subject_id AS "snapshot?.subjectId",
  n.snapshot_id AS "snapshot?.snapshotId",
  n.snapshot_version AS "snapshot?.snapshotVersion",
  encode(n.envelope_hash, 'hex') AS "snapshot?.envelopeHash",
  encode(n.prev_hash, 'hex') AS "snapshot?.prevHash",
  n.created_at AS "snapshot?.createdAt",
  n.written_by AS "snapshot?.writtenBy",
  n.write_request_id AS "snapshot?.writeRequestId",
  k.names_writer IS TRUE AND n.written_by IS NOT NULL AS "snapshot?.namesWriter",
  CASE WHEN g.grant_id IS NOT NULL THEN CASE k.entry_type WHEN 2 THEN 'grant.created' END END AS "grant?.type",
  g.grantor_tenant_id AS "grant?.tenantId",
  g.grant_id AS "grant?.grantId",
  g.grantee_tenant_id AS "grant?.granteeTenantId",
  CASE WHEN g.subject_key = 0 THEN '*' ELSE s.subject_type END AS "grant?.subjectType",
  CASE WHEN g.subject_key = 0 THEN '*' ELSE s.subject_id END AS "grant?.subjectId",
  coalesce(first.from_scopes, g.scopes) AS "grant?.scopes",
  CASE WHEN first.is_changed THEN first.from_expires_at ELSE g.expires_at END AS "grant?.expiresAt",
  g.created_at AS "grant?.createdAt",
  CASE WHEN g.revoked_at IS NOT NULL THEN CASE k.entry_type
  WHEN 3 THEN 'grant.revoked' END END AS "revocation?.type",
  g.grantor_tenant_id AS "revocation?.tenantId",
  g.grant_id AS "revocation?.grantId",
  g.revoked_at AS "revocation?.revokedAt",
  CASE WHEN h.grant_id IS NOT NULL THEN CASE k.entry_type
  WHEN 5 THEN 'grant.changed' END END AS "grantChange?.type",
  h.grantor_tenant_id AS "grantChange?.tenantId",
  h.grant_id AS "grantChange?.grantId",
  h.scopes AS "grantChange?.scopes",
  h.expires_at AS "grantChange?.expiresAt",
  h.changed_at AS "grantChange?.changedAt",
  CASE WHEN c.owner_change_id IS NOT NULL THEN CASE k.entry_type
  WHEN 4 THEN 'tenant.owner_changed' END END AS "ownerChange?.type",
  c.tenant_id AS "ownerChange?.tenantId",
  c.principal_id AS "ownerChange?.principalId",
  c.from_principal_id AS "ownerChange?.fromPrincipalId",
  c.changed_at AS "ownerChange?.changedAt",
  CASE WHEN er.erased_at IS NOT NULL THEN CASE k.entry_type
  WHEN 6 THEN 'subject.erased' END END AS "erasure?.type",
  er.tenant_id AS "erasure?.tenantId",
  s.subject_type AS "erasure?.subjectType",
  s.subject_id AS "erasure?.subjectId",
  er.erased_indexes::float8[] AS "erasure?.erasedIndexes",
  er.erased_at AS "erasure?.erasedAt",
  CASE WHEN k.names_versions THEN (
  SELECT json_agg(json_build_object(
        'snapshotId', gone.snapshot_id, 'snapshotVersion', gone.snapshot_version,
        'envelopeHash', encode(gone.envelope_hash, 'hex'), 'prevHash', encode(gone.prev_hash, 'hex'),
        'createdAt', to_char(date_trunc('milliseconds', gone.created_at) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
    ORDER BY v.place)
  FROM unnest(er.logged_versions) WITH ORDINALITY AS v(version, place)
  CROSS JOIN LATERAL (SELECT * FROM snapshots gone
    WHERE gone.subject_key = er.subject_key AND gone.snapshot_version = v.version
    LIMIT 1) gone) END AS "erasure?.erasedVersions"
FROM (SELECT $1::text AS tenant_id, $2::text AS principal_id, $3::uuid AS grant_id) i
LEFT JOIN LATERAL (
  SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access, m.tenancy_role,
    m.principal_type, NULL::boolean AS owns_subject, NULL::text[] AS grant_scopes
  FROM memberships m
  WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id LIMIT 1
) f ON true
LEFT JOIN LATERAL (SELECT * FROM grants WHERE grant_id = i.grant_id LIMIT 1) granted
  ON i.tenant_id IN (granted.grantor_tenant_id, granted.grantee_tenant_id)
LEFT JOIN LATERAL (SELECT * FROM log_entries e
  WHERE e.grant_id = granted.grant_id AND e.entry_type = 2 LIMIT 1) k ON true
LEFT JOIN LATERAL (SELECT * FROM snapshots n
  WHERE n.subject_key = k.subject_key AND n.snapshot_version = k.snapshot_version LIMIT 1) n ON true
LEFT JOIN LATERAL (SELECT * FROM grant_changes h WHERE h.grant_change_id = k.grant_change_id
  LIMIT 1) h ON true
LEFT JOIN LATERAL (SELECT * FROM grants g WHERE g.grant_id = coalesce(k.grant_id, h.grant_id)
  LIMIT 1) g ON true
LEFT JOIN LATERAL (SELECT h.from_scopes, h.from_expires_at, true AS is_changed FROM grant_changes h
  WHERE h.grant_id = g.grant_id ORDER BY (-h.grant_change_id) DESC LIMIT 1) first ON true
LEFT JOIN LATERAL (SELECT * FROM owner_changes c WHERE c.owner_change_id = k.owner_change_id
  LIMIT 1) c ON true
LEFT JOIN LATERAL (SELECT * FROM erasures er WHERE er.erasure_id = k.erasure_id LIMIT 1) er ON true
LEFT JOIN LATERAL (SELECT * FROM subjects s
  WHERE s.subject_key = coalesce(n.subject_key, g.subject_key, er.subject_key) LIMIT 1) s ON true;

-- log_entry_of_grant_revoked
--   asked by LogEntryStore.ofGrant (stores/log/log-entry.store.ts)
--   $1 tenantId text
--   $2 principalId text
--   $3 grantId uuid
--   enters erasures_pkey, grant_changes_of_grant, grant_changes_pkey, grants_pkey, log_entries_of_grants, memberships_pkey, owner_changes_pkey, snapshots_version_key, subjects_pkey
PREPARE log_entry_of_grant_revoked (text, text, uuid) AS
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  granted.grant_id IS NOT NULL AS exists, granted.revoked_at IS NOT NULL AS "isSo",
  k.log_index::float8 AS "entry?.logIndex", k.salt AS "entry?.salt",
  CASE WHEN n.snapshot_id IS NOT NULL THEN CASE k.entry_type
  WHEN 1 THEN 'snapshot.created' END END AS "snapshot?.type",
  n.tenant_id AS "snapshot?.tenantId",
  s.subject_type AS "snapshot?.subjectType",
  s.subject_id AS "snapshot?.subjectId",
  n.snapshot_id AS "snapshot?.snapshotId",
  n.snapshot_version AS "snapshot?.snapshotVersion",
  encode(n.envelope_hash, 'hex') AS "snapshot?.envelopeHash",
  encode(n.prev_hash, 'hex') AS "snapshot?.prevHash",
  n.created_at AS "snapshot?.createdAt",
  n.written_by AS "snapshot?.writtenBy",
  n.write_request_id AS "snapshot?.writeRequestId",
  k.names_writer IS TRUE AND n.written_by IS NOT NULL AS "snapshot?.namesWriter",
  CASE WHEN g.grant_id IS NOT NULL THEN CASE k.entry_type WHEN 2 THEN 'grant.created' END END AS "grant?.type",
  g.grantor_tenant_id AS "grant?.tenantId",
  g.grant_id AS "grant?.grantId",
  g.grantee_tenant_id AS "grant?.granteeTenantId",
  CASE WHEN g.subject_key = 0 THEN '*' ELSE s.subject_type END AS "grant?.subjectType",
  CASE WHEN g.subject_key = 0 THEN '*' ELSE s.subject_id END AS "grant?.subjectId",
  coalesce(first.from_scopes, g.scopes) AS "grant?.scopes",
  CASE WHEN first.is_changed THEN first.from_expires_at ELSE g.expires_at END AS "grant?.expiresAt",
  g.created_at AS "grant?.createdAt",
  CASE WHEN g.revoked_at IS NOT NULL THEN CASE k.entry_type
  WHEN 3 THEN 'grant.revoked' END END AS "revocation?.type",
  g.grantor_tenant_id AS "revocation?.tenantId",
  g.grant_id AS "revocation?.grantId",
  g.revoked_at AS "revocation?.revokedAt",
  CASE WHEN h.grant_id IS NOT NULL THEN CASE k.entry_type
  WHEN 5 THEN 'grant.changed' END END AS "grantChange?.type",
  h.grantor_tenant_id AS "grantChange?.tenantId",
  h.grant_id AS "grantChange?.grantId",
  h.scopes AS "grantChange?.scopes",
  h.expires_at AS "grantChange?.expiresAt",
  h.changed_at AS "grantChange?.changedAt",
  CASE WHEN c.owner_change_id IS NOT NULL THEN CASE k.entry_type
  WHEN 4 THEN 'tenant.owner_changed' END END AS "ownerChange?.type",
  c.tenant_id AS "ownerChange?.tenantId",
  c.principal_id AS "ownerChange?.principalId",
  c.from_principal_id AS "ownerChange?.fromPrincipalId",
  c.changed_at AS "ownerChange?.changedAt",
  CASE WHEN er.erased_at IS NOT NULL THEN CASE k.entry_type
  WHEN 6 THEN 'subject.erased' END END AS "erasure?.type",
  er.tenant_id AS "erasure?.tenantId",
  s.subject_type AS "erasure?.subjectType",
  s.subject_id AS "erasure?.subjectId",
  er.erased_indexes::float8[] AS "erasure?.erasedIndexes",
  er.erased_at AS "erasure?.erasedAt",
  CASE WHEN k.names_versions THEN (
  SELECT json_agg(json_build_object(
        'snapshotId', gone.snapshot_id, 'snapshotVersion', gone.snapshot_version,
        'envelopeHash', encode(gone.envelope_hash, 'hex'), 'prevHash', encode(gone.prev_hash, 'hex'),
        'createdAt', to_char(date_trunc('milliseconds', gone.created_at) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
    ORDER BY v.place)
  FROM unnest(er.logged_versions) WITH ORDINALITY AS v(version, place)
  CROSS JOIN LATERAL (SELECT * FROM snapshots gone
    WHERE gone.subject_key = er.subject_key AND gone.snapshot_version = v.version
    LIMIT 1) gone) END AS "erasure?.erasedVersions"
FROM (SELECT $1::text AS tenant_id, $2::text AS principal_id, $3::uuid AS grant_id) i
LEFT JOIN LATERAL (
  SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access, m.tenancy_role,
    m.principal_type, NULL::boolean AS owns_subject, NULL::text[] AS grant_scopes
  FROM memberships m
  WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id LIMIT 1
) f ON true
LEFT JOIN LATERAL (SELECT * FROM grants WHERE grant_id = i.grant_id LIMIT 1) granted
  ON i.tenant_id IN (granted.grantor_tenant_id, granted.grantee_tenant_id)
LEFT JOIN LATERAL (SELECT * FROM log_entries e
  WHERE e.grant_id = granted.grant_id AND e.entry_type = 3 LIMIT 1) k ON true
LEFT JOIN LATERAL (SELECT * FROM snapshots n
  WHERE n.subject_key = k.subject_key AND n.snapshot_version = k.snapshot_version LIMIT 1) n ON true
LEFT JOIN LATERAL (SELECT * FROM grant_changes h WHERE h.grant_change_id = k.grant_change_id
  LIMIT 1) h ON true
LEFT JOIN LATERAL (SELECT * FROM grants g WHERE g.grant_id = coalesce(k.grant_id, h.grant_id)
  LIMIT 1) g ON true
LEFT JOIN LATERAL (SELECT h.from_scopes, h.from_expires_at, true AS is_changed FROM grant_changes h
  WHERE h.grant_id = g.grant_id ORDER BY (-h.grant_change_id) DESC LIMIT 1) first ON true
LEFT JOIN LATERAL (SELECT * FROM owner_changes c WHERE c.owner_change_id = k.owner_change_id
  LIMIT 1) c ON true
LEFT JOIN LATERAL (SELECT * FROM erasures er WHERE er.erasure_id = k.erasure_id LIMIT 1) er ON true
LEFT JOIN LATERAL (SELECT * FROM subjects s
  WHERE s.subject_key = coalesce(n.subject_key, g.subject_key, er.subject_key) LIMIT 1) s ON true;

-- log_entry_of_newest_erasure
--   asked by LogEntryStore.ofNewestErasure (stores/log/log-entry.store.ts)
--   $1 subjectType text
--   $2 subjectId text
--   enters erasures_by_subject, erasures_pkey, grant_changes_of_grant, grant_changes_pkey, grants_pkey, log_entries_of_erasures, owner_changes_pkey, snapshots_version_key, subjects_identity_key, subjects_pkey
PREPARE log_entry_of_newest_erasure (text, text) AS
SELECT found.erasure_id IS NOT NULL AS "isErased",
  k.log_index::float8 AS "entry?.logIndex", k.salt AS "entry?.salt",
  CASE WHEN n.snapshot_id IS NOT NULL THEN CASE k.entry_type
  WHEN 1 THEN 'snapshot.created' END END AS "snapshot?.type",
  n.tenant_id AS "snapshot?.tenantId",
  s.subject_type AS "snapshot?.subjectType",
  s.subject_id AS "snapshot?.subjectId",
  n.snapshot_id AS "snapshot?.snapshotId",
  n.snapshot_version AS "snapshot?.snapshotVersion",
  encode(n.envelope_hash, 'hex') AS "snapshot?.envelopeHash",
  encode(n.prev_hash, 'hex') AS "snapshot?.prevHash",
  n.created_at AS "snapshot?.createdAt",
  n.written_by AS "snapshot?.writtenBy",
  n.write_request_id AS "snapshot?.writeRequestId",
  k.names_writer IS TRUE AND n.written_by IS NOT NULL AS "snapshot?.namesWriter",
  CASE WHEN g.grant_id IS NOT NULL THEN CASE k.entry_type WHEN 2 THEN 'grant.created' END END AS "grant?.type",
  g.grantor_tenant_id AS "grant?.tenantId",
  g.grant_id AS "grant?.grantId",
  g.grantee_tenant_id AS "grant?.granteeTenantId",
  CASE WHEN g.subject_key = 0 THEN '*' ELSE s.subject_type END AS "grant?.subjectType",
  CASE WHEN g.subject_key = 0 THEN '*' ELSE s.subject_id END AS "grant?.subjectId",
  coalesce(first.from_scopes, g.scopes) AS "grant?.scopes",
  CASE WHEN first.is_changed THEN first.from_expires_at ELSE g.expires_at END AS "grant?.expiresAt",
  g.created_at AS "grant?.createdAt",
  CASE WHEN g.revoked_at IS NOT NULL THEN CASE k.entry_type
  WHEN 3 THEN 'grant.revoked' END END AS "revocation?.type",
  g.grantor_tenant_id AS "revocation?.tenantId",
  g.grant_id AS "revocation?.grantId",
  g.revoked_at AS "revocation?.revokedAt",
  CASE WHEN h.grant_id IS NOT NULL THEN CASE k.entry_type
  WHEN 5 THEN 'grant.changed' END END AS "grantChange?.type",
  h.grantor_tenant_id AS "grantChange?.tenantId",
  h.grant_id AS "grantChange?.grantId",
  h.scopes AS "grantChange?.scopes",
  h.expires_at AS "grantChange?.expiresAt",
  h.changed_at AS "grantChange?.changedAt",
  CASE WHEN c.owner_change_id IS NOT NULL THEN CASE k.entry_type
  WHEN 4 THEN 'tenant.owner_changed' END END AS "ownerChange?.type",
  c.tenant_id AS "ownerChange?.tenantId",
  c.principal_id AS "ownerChange?.principalId",
  c.from_principal_id AS "ownerChange?.fromPrincipalId",
  c.changed_at AS "ownerChange?.changedAt",
  CASE WHEN er.erased_at IS NOT NULL THEN CASE k.entry_type
  WHEN 6 THEN 'subject.erased' END END AS "erasure?.type",
  er.tenant_id AS "erasure?.tenantId",
  s.subject_type AS "erasure?.subjectType",
  s.subject_id AS "erasure?.subjectId",
  er.erased_indexes::float8[] AS "erasure?.erasedIndexes",
  er.erased_at AS "erasure?.erasedAt",
  CASE WHEN k.names_versions THEN (
  SELECT json_agg(json_build_object(
        'snapshotId', gone.snapshot_id, 'snapshotVersion', gone.snapshot_version,
        'envelopeHash', encode(gone.envelope_hash, 'hex'), 'prevHash', encode(gone.prev_hash, 'hex'),
        'createdAt', to_char(date_trunc('milliseconds', gone.created_at) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
    ORDER BY v.place)
  FROM unnest(er.logged_versions) WITH ORDINALITY AS v(version, place)
  CROSS JOIN LATERAL (SELECT * FROM snapshots gone
    WHERE gone.subject_key = er.subject_key AND gone.snapshot_version = v.version
    LIMIT 1) gone) END AS "erasure?.erasedVersions"
FROM (SELECT (SELECT er.erasure_id FROM erasures er
    WHERE er.subject_key = s.subject_key AND (er.status = 'erased') IS TRUE
    ORDER BY (-er.erasure_id) LIMIT 1) AS erasure_id
  FROM subjects s WHERE s.subject_type = $1 AND s.subject_id = $2) found
LEFT JOIN LATERAL (SELECT * FROM log_entries e WHERE e.erasure_id = found.erasure_id LIMIT 1) k ON true
LEFT JOIN LATERAL (SELECT * FROM snapshots n
  WHERE n.subject_key = k.subject_key AND n.snapshot_version = k.snapshot_version LIMIT 1) n ON true
LEFT JOIN LATERAL (SELECT * FROM grant_changes h WHERE h.grant_change_id = k.grant_change_id
  LIMIT 1) h ON true
LEFT JOIN LATERAL (SELECT * FROM grants g WHERE g.grant_id = coalesce(k.grant_id, h.grant_id)
  LIMIT 1) g ON true
LEFT JOIN LATERAL (SELECT h.from_scopes, h.from_expires_at, true AS is_changed FROM grant_changes h
  WHERE h.grant_id = g.grant_id ORDER BY (-h.grant_change_id) DESC LIMIT 1) first ON true
LEFT JOIN LATERAL (SELECT * FROM owner_changes c WHERE c.owner_change_id = k.owner_change_id
  LIMIT 1) c ON true
LEFT JOIN LATERAL (SELECT * FROM erasures er WHERE er.erasure_id = k.erasure_id LIMIT 1) er ON true
LEFT JOIN LATERAL (SELECT * FROM subjects s
  WHERE s.subject_key = coalesce(n.subject_key, g.subject_key, er.subject_key) LIMIT 1) s ON true;

-- log_entry_of_owner_change
--   asked by LogEntryStore.ofOwnerChange (stores/log/log-entry.store.ts)
--   $1 tenantId text
--   $2 principalId text
--   $3 logIndex bigint
--   enters erasures_pkey, grant_changes_of_grant, grant_changes_pkey, grants_pkey, log_entries_pkey, memberships_pkey, owner_changes_pkey, snapshots_version_key, subjects_pkey
PREPARE log_entry_of_owner_change (text, text, bigint) AS
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  k.log_index::float8 AS "entry?.logIndex", k.salt AS "entry?.salt",
  CASE WHEN n.snapshot_id IS NOT NULL THEN CASE k.entry_type
  WHEN 1 THEN 'snapshot.created' END END AS "snapshot?.type",
  n.tenant_id AS "snapshot?.tenantId",
  s.subject_type AS "snapshot?.subjectType",
  s.subject_id AS "snapshot?.subjectId",
  n.snapshot_id AS "snapshot?.snapshotId",
  n.snapshot_version AS "snapshot?.snapshotVersion",
  encode(n.envelope_hash, 'hex') AS "snapshot?.envelopeHash",
  encode(n.prev_hash, 'hex') AS "snapshot?.prevHash",
  n.created_at AS "snapshot?.createdAt",
  n.written_by AS "snapshot?.writtenBy",
  n.write_request_id AS "snapshot?.writeRequestId",
  k.names_writer IS TRUE AND n.written_by IS NOT NULL AS "snapshot?.namesWriter",
  CASE WHEN g.grant_id IS NOT NULL THEN CASE k.entry_type WHEN 2 THEN 'grant.created' END END AS "grant?.type",
  g.grantor_tenant_id AS "grant?.tenantId",
  g.grant_id AS "grant?.grantId",
  g.grantee_tenant_id AS "grant?.granteeTenantId",
  CASE WHEN g.subject_key = 0 THEN '*' ELSE s.subject_type END AS "grant?.subjectType",
  CASE WHEN g.subject_key = 0 THEN '*' ELSE s.subject_id END AS "grant?.subjectId",
  coalesce(first.from_scopes, g.scopes) AS "grant?.scopes",
  CASE WHEN first.is_changed THEN first.from_expires_at ELSE g.expires_at END AS "grant?.expiresAt",
  g.created_at AS "grant?.createdAt",
  CASE WHEN g.revoked_at IS NOT NULL THEN CASE k.entry_type
  WHEN 3 THEN 'grant.revoked' END END AS "revocation?.type",
  g.grantor_tenant_id AS "revocation?.tenantId",
  g.grant_id AS "revocation?.grantId",
  g.revoked_at AS "revocation?.revokedAt",
  CASE WHEN h.grant_id IS NOT NULL THEN CASE k.entry_type
  WHEN 5 THEN 'grant.changed' END END AS "grantChange?.type",
  h.grantor_tenant_id AS "grantChange?.tenantId",
  h.grant_id AS "grantChange?.grantId",
  h.scopes AS "grantChange?.scopes",
  h.expires_at AS "grantChange?.expiresAt",
  h.changed_at AS "grantChange?.changedAt",
  CASE WHEN c.owner_change_id IS NOT NULL THEN CASE k.entry_type
  WHEN 4 THEN 'tenant.owner_changed' END END AS "ownerChange?.type",
  c.tenant_id AS "ownerChange?.tenantId",
  c.principal_id AS "ownerChange?.principalId",
  c.from_principal_id AS "ownerChange?.fromPrincipalId",
  c.changed_at AS "ownerChange?.changedAt",
  CASE WHEN er.erased_at IS NOT NULL THEN CASE k.entry_type
  WHEN 6 THEN 'subject.erased' END END AS "erasure?.type",
  er.tenant_id AS "erasure?.tenantId",
  s.subject_type AS "erasure?.subjectType",
  s.subject_id AS "erasure?.subjectId",
  er.erased_indexes::float8[] AS "erasure?.erasedIndexes",
  er.erased_at AS "erasure?.erasedAt",
  CASE WHEN k.names_versions THEN (
  SELECT json_agg(json_build_object(
        'snapshotId', gone.snapshot_id, 'snapshotVersion', gone.snapshot_version,
        'envelopeHash', encode(gone.envelope_hash, 'hex'), 'prevHash', encode(gone.prev_hash, 'hex'),
        'createdAt', to_char(date_trunc('milliseconds', gone.created_at) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
    ORDER BY v.place)
  FROM unnest(er.logged_versions) WITH ORDINALITY AS v(version, place)
  CROSS JOIN LATERAL (SELECT * FROM snapshots gone
    WHERE gone.subject_key = er.subject_key AND gone.snapshot_version = v.version
    LIMIT 1) gone) END AS "erasure?.erasedVersions"
FROM (SELECT $1::text AS tenant_id, $2::text AS principal_id) i
LEFT JOIN LATERAL (
  SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access, m.tenancy_role,
    m.principal_type, NULL::boolean AS owns_subject, NULL::text[] AS grant_scopes
  FROM memberships m
  WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id LIMIT 1
) f ON true
LEFT JOIN LATERAL (SELECT e.* FROM log_entries e
  CROSS JOIN LATERAL (SELECT tenant_id FROM owner_changes own
    WHERE own.owner_change_id = e.owner_change_id LIMIT 1) own
  WHERE e.log_index = $3::bigint AND own.tenant_id = i.tenant_id LIMIT 1) k ON true
LEFT JOIN LATERAL (SELECT * FROM snapshots n
  WHERE n.subject_key = k.subject_key AND n.snapshot_version = k.snapshot_version LIMIT 1) n ON true
LEFT JOIN LATERAL (SELECT * FROM grant_changes h WHERE h.grant_change_id = k.grant_change_id
  LIMIT 1) h ON true
LEFT JOIN LATERAL (SELECT * FROM grants g WHERE g.grant_id = coalesce(k.grant_id, h.grant_id)
  LIMIT 1) g ON true
LEFT JOIN LATERAL (SELECT h.from_scopes, h.from_expires_at, true AS is_changed FROM grant_changes h
  WHERE h.grant_id = g.grant_id ORDER BY (-h.grant_change_id) DESC LIMIT 1) first ON true
LEFT JOIN LATERAL (SELECT * FROM owner_changes c WHERE c.owner_change_id = k.owner_change_id
  LIMIT 1) c ON true
LEFT JOIN LATERAL (SELECT * FROM erasures er WHERE er.erasure_id = k.erasure_id LIMIT 1) er ON true
LEFT JOIN LATERAL (SELECT * FROM subjects s
  WHERE s.subject_key = coalesce(n.subject_key, g.subject_key, er.subject_key) LIMIT 1) s ON true;

-- log_entry_of_snapshot_global
--   asked by LogEntryStore.ofSnapshot (stores/log/log-entry.store.ts)
--   $1 inputs.tenantId text[]
--   $2 inputs.principalId text[]
--   $3 inputs.snapshotId uuid[]
--   $4 inputs.knownSalt bytea[]
--   enters erasures_pkey, grants_live, grants_live_by_grantee, grants_to_all_live, log_entries_of_snapshots, memberships_by_principal, snapshots_snapshot_id_key, subjects_pkey
PREPARE log_entry_of_snapshot_global (text[], text[], uuid[], bytea[]) AS
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  CASE WHEN f.owns_subject IS NOT TRUE THEN s.subject_key::float8 END AS "disclosure?.subjectKey",
  f.grantee_tenant_id AS "disclosure?.granteeTenantId", f.grant_id AS "disclosure?.grantId", found.snapshot_version AS version, (placed.salt = i.known_salt) IS TRUE AS "isKnown",
  CASE WHEN n.erasure_id IS NOT NULL THEN (SELECT er.public_id FROM erasures er
  WHERE er.erasure_id = n.erasure_id LIMIT 1) END AS "erasure?.erasureId",
  CASE WHEN n.erasure_id IS NOT NULL THEN (SELECT er.erased_at FROM erasures er
  WHERE er.erasure_id = n.erasure_id LIMIT 1) END AS "erasure?.erasedAt",
  k.log_index::float8 AS "entry?.logIndex", k.salt AS "entry?.salt",
  CASE WHEN n.snapshot_id IS NOT NULL THEN CASE k.entry_type
  WHEN 1 THEN 'snapshot.created' END END AS "snapshot?.type",
  n.tenant_id AS "snapshot?.tenantId",
  s.subject_type AS "snapshot?.subjectType",
  s.subject_id AS "snapshot?.subjectId",
  n.snapshot_id AS "snapshot?.snapshotId",
  n.snapshot_version AS "snapshot?.snapshotVersion",
  encode(n.envelope_hash, 'hex') AS "snapshot?.envelopeHash",
  encode(n.prev_hash, 'hex') AS "snapshot?.prevHash",
  n.created_at AS "snapshot?.createdAt",
  n.written_by AS "snapshot?.writtenBy",
  n.write_request_id AS "snapshot?.writeRequestId",
  k.names_writer IS TRUE AND n.written_by IS NOT NULL AS "snapshot?.namesWriter"
FROM unnest($1::text[], $2::text[], $3::uuid[], $4::bytea[])
  WITH ORDINALITY AS i(tenant_id, principal_id, snapshot_id, known_salt, ord)
LEFT JOIN snapshots found ON found.snapshot_id = i.snapshot_id
LEFT JOIN subjects s ON s.subject_key = found.subject_key
LEFT JOIN LATERAL (
  SELECT 'tenant_reader' AS role, 'active' AS member_status, true AS allow_counterparty_access, o.owns_subject,
    h.grant_scopes, h.grantee_tenant_id, h.grant_id
  FROM (SELECT (SELECT true FROM memberships m
      WHERE m.tenant_id = s.owner_tenant_id AND m.principal_id = i.principal_id
        AND m.status = 'active' LIMIT 1) AS owns_subject OFFSET 0) o
  CROSS JOIN LATERAL (
    WITH RECURSIVE met (tenant_id, allow_counterparty_access) AS (
      SELECT ''::text COLLATE "C", false WHERE o.owns_subject IS NULL
      UNION ALL
      SELECT m.tenant_id, m.allow_counterparty_access
      FROM met
      CROSS JOIN LATERAL (
        SELECT least(
            (SELECT g.grantee_tenant_id FROM grants g
            WHERE (g.subject_key, g.grantee_tenant_id) > (s.subject_key, met.tenant_id)
              AND g.subject_key <= s.subject_key AND g.subject_key > 0 AND g.revoked_at IS NULL
            ORDER BY g.subject_key, g.grantee_tenant_id LIMIT 1),
            (SELECT g.grantee_tenant_id FROM grants g
            WHERE (g.grantor_tenant_id || '/', g.grantee_tenant_id) > (s.owner_tenant_id || '/', met.tenant_id)
              AND g.grantor_tenant_id || '/' <= s.owner_tenant_id || '/' AND g.revoked_at IS NULL
              AND (g.subject_key = 0) IS TRUE
            ORDER BY g.grantor_tenant_id || '/', g.grantee_tenant_id LIMIT 1)) AS grantee_tenant_id
      ) g
      CROSS JOIN LATERAL (
        SELECT m.tenant_id, m.allow_counterparty_access FROM memberships m
        WHERE (m.principal_id, m.tenant_id) >= (i.principal_id, g.grantee_tenant_id)
          AND m.principal_id <= i.principal_id AND m.status = 'active'
        ORDER BY m.principal_id, m.tenant_id LIMIT 1
      ) m
    )
    SELECT array_agg(DISTINCT scope) AS grant_scopes,
      min(m.tenant_id) FILTER (WHERE scope IN ('read_snapshot_by_id')) AS grantee_tenant_id,
      (array_agg(g.grant_id
        ORDER BY m.tenant_id, g.is_to_all) FILTER (WHERE scope IN ('read_snapshot_by_id')))[1] AS grant_id
    FROM met m
    CROSS JOIN LATERAL (SELECT g.scopes, g.grant_id, false AS is_to_all FROM grants g
      WHERE (g.grantee_tenant_id, g.subject_key) BETWEEN (m.tenant_id, s.subject_key)
        AND (m.tenant_id, s.subject_key)
        AND g.revoked_at IS NULL AND (g.expires_at IS NULL OR g.expires_at > statement_timestamp())
      UNION ALL
      SELECT g.scopes, g.grant_id, true FROM grants g
      WHERE (g.grantor_tenant_id || '/', g.grantee_tenant_id, coalesce(g.expires_at, 'infinity'))
        > (s.owner_tenant_id || '/', m.tenant_id, statement_timestamp())
        AND (g.grantor_tenant_id || '/', g.grantee_tenant_id) <= (s.owner_tenant_id || '/', m.tenant_id)
        AND g.revoked_at IS NULL AND (g.subject_key = 0) IS TRUE OFFSET 0) g
    CROSS JOIN unnest(g.scopes) scope
    WHERE m.allow_counterparty_access
  ) h
) f ON true
LEFT JOIN LATERAL (SELECT s.subject_key
  WHERE f.role IN ('tenant_reader', 'tenant_proposer', 'tenant_editor', 'tenant_admin', 'tenant_owner')
    AND f.member_status = 'active'
    AND (f.owns_subject OR (f.allow_counterparty_access AND f.grant_scopes && ARRAY['read_snapshot_by_id']))
    OR i.principal_id = 'anyone') r ON true
LEFT JOIN LATERAL (SELECT * FROM log_entries e
  WHERE e.subject_key = r.subject_key AND e.snapshot_version = found.snapshot_version
    AND e.entry_type = 1 LIMIT 1) placed ON true
LEFT JOIN LATERAL (SELECT placed.* WHERE (placed.salt = i.known_salt) IS NOT TRUE) k ON true
LEFT JOIN LATERAL (SELECT found.*
  WHERE r.subject_key IS NOT NULL AND (placed.salt = i.known_salt) IS NOT TRUE) n ON true
ORDER BY i.ord;

-- log_entry_of_snapshot_tenant
--   asked by LogEntryStore.ofSnapshot (stores/log/log-entry.store.ts)
--   $1 inputs.tenantId text[]
--   $2 inputs.principalId text[]
--   $3 inputs.snapshotId uuid[]
--   $4 inputs.knownSalt bytea[]
--   enters erasures_pkey, grants_live, grants_to_all_live, log_entries_of_snapshots, memberships_pkey, snapshots_snapshot_id_key, subjects_pkey
PREPARE log_entry_of_snapshot_tenant (text[], text[], uuid[], bytea[]) AS
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  CASE WHEN f.owns_subject IS NOT TRUE THEN s.subject_key::float8 END AS "disclosure?.subjectKey",
  i.tenant_id AS "disclosure?.granteeTenantId", f.grant_id AS "disclosure?.grantId", found.snapshot_version AS version, (placed.salt = i.known_salt) IS TRUE AS "isKnown",
  CASE WHEN n.erasure_id IS NOT NULL THEN (SELECT er.public_id FROM erasures er
  WHERE er.erasure_id = n.erasure_id LIMIT 1) END AS "erasure?.erasureId",
  CASE WHEN n.erasure_id IS NOT NULL THEN (SELECT er.erased_at FROM erasures er
  WHERE er.erasure_id = n.erasure_id LIMIT 1) END AS "erasure?.erasedAt",
  k.log_index::float8 AS "entry?.logIndex", k.salt AS "entry?.salt",
  CASE WHEN n.snapshot_id IS NOT NULL THEN CASE k.entry_type
  WHEN 1 THEN 'snapshot.created' END END AS "snapshot?.type",
  n.tenant_id AS "snapshot?.tenantId",
  s.subject_type AS "snapshot?.subjectType",
  s.subject_id AS "snapshot?.subjectId",
  n.snapshot_id AS "snapshot?.snapshotId",
  n.snapshot_version AS "snapshot?.snapshotVersion",
  encode(n.envelope_hash, 'hex') AS "snapshot?.envelopeHash",
  encode(n.prev_hash, 'hex') AS "snapshot?.prevHash",
  n.created_at AS "snapshot?.createdAt",
  n.written_by AS "snapshot?.writtenBy",
  n.write_request_id AS "snapshot?.writeRequestId",
  k.names_writer IS TRUE AND n.written_by IS NOT NULL AS "snapshot?.namesWriter"
FROM unnest($1::text[], $2::text[], $3::uuid[], $4::bytea[])
  WITH ORDINALITY AS i(tenant_id, principal_id, snapshot_id, known_salt, ord)
LEFT JOIN snapshots found ON found.snapshot_id = i.snapshot_id
LEFT JOIN subjects s ON s.subject_key = found.subject_key
LEFT JOIN LATERAL (
  SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access,
    s.owner_tenant_id = i.tenant_id AS owns_subject, one.scopes || every.scopes AS grant_scopes,
    CASE WHEN one.scopes && '{read_snapshot_by_id}' THEN one.grant_id ELSE every.grant_id END AS grant_id
  FROM memberships m
  LEFT JOIN LATERAL (SELECT g.grant_id, g.scopes FROM grants g
    WHERE s.owner_tenant_id <> i.tenant_id
      AND (g.grantee_tenant_id, g.subject_key) BETWEEN (i.tenant_id, s.subject_key) AND (i.tenant_id, s.subject_key)
      AND g.revoked_at IS NULL AND (g.expires_at IS NULL OR g.expires_at > statement_timestamp())
    LIMIT 1) one ON true
  LEFT JOIN LATERAL (SELECT g.grant_id, g.scopes FROM grants g
    WHERE s.owner_tenant_id <> i.tenant_id
      AND (g.grantor_tenant_id || '/', g.grantee_tenant_id, coalesce(g.expires_at, 'infinity'))
      > (s.owner_tenant_id || '/', i.tenant_id, statement_timestamp())
      AND (g.grantor_tenant_id || '/', g.grantee_tenant_id) <= (s.owner_tenant_id || '/', i.tenant_id)
      AND g.revoked_at IS NULL AND (g.subject_key = 0) IS TRUE LIMIT 1) every ON true
  WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id
) f ON true
LEFT JOIN LATERAL (SELECT s.subject_key
  WHERE f.role IN ('tenant_reader', 'tenant_proposer', 'tenant_editor', 'tenant_admin', 'tenant_owner')
    AND f.member_status = 'active'
    AND (f.owns_subject OR (f.allow_counterparty_access
        AND f.grant_scopes && ARRAY['read_snapshot_by_id']))) r ON true
LEFT JOIN LATERAL (SELECT * FROM log_entries e
  WHERE e.subject_key = r.subject_key AND e.snapshot_version = found.snapshot_version
    AND e.entry_type = 1 LIMIT 1) placed ON true
LEFT JOIN LATERAL (SELECT placed.* WHERE (placed.salt = i.known_salt) IS NOT TRUE) k ON true
LEFT JOIN LATERAL (SELECT found.*
  WHERE r.subject_key IS NOT NULL AND (placed.salt = i.known_salt) IS NOT TRUE) n ON true
ORDER BY i.ord;

-- log_key_announce
--   asked by LogKeyStore.announce (stores/log/log-key.store.ts)
--   $1 vkey text
--   enters no index
PREPARE log_key_announce (text) AS
INSERT INTO log_key_announcements (vkey) VALUES ($1)
ON CONFLICT (vkey) WHERE ended_at IS NULL DO NOTHING RETURNING true AS "isNew";

-- log_key_checkpoints
--   asked by LogKeyStore.checkpoints (stores/log/log-key.store.ts)
--   $1 from bigint
--   $2 to bigint
--   $3 after bigint
--   $4 limit bigint
--   enters log_checkpoints_by_size
PREPARE log_key_checkpoints (bigint, bigint, bigint, bigint) AS
WITH c AS MATERIALIZED (
  SELECT * FROM log_checkpoints WHERE size BETWEEN $1::bigint AND $2::bigint
)
SELECT c.checkpoint_id::float8 AS "checkpointId", c.size::float8 AS size, c.note FROM c
WHERE c.marked_at IS NULL AND c.checkpoint_id > $3::bigint
ORDER BY c.checkpoint_id LIMIT $4;

-- log_key_end
--   asked by LogKeyStore.end (stores/log/log-key.store.ts)
--   $1 vkey text
--   enters log_key_announcements_live, log_keys_pkey
PREPARE log_key_end (text) AS
WITH announced AS (
  UPDATE log_key_announcements SET ended_at = now(), ended_by = session_user
  WHERE vkey = $1 AND ended_at IS NULL RETURNING 1
), used AS (
  UPDATE log_keys SET until_at = now() WHERE vkey = $1 AND (until_at IS NULL) IS TRUE RETURNING 1
)
SELECT EXISTS (SELECT FROM announced) OR EXISTS (SELECT FROM used) AS "isEnded";

-- log_key_live
--   asked by LogKeyStore.live (stores/log/log-key.store.ts)
--   enters log_key_announcements_live
PREPARE log_key_live AS
SELECT vkey FROM log_key_announcements WHERE ended_at IS NULL ORDER BY vkey;

-- log_key_mark
--   asked by LogKeyStore.mark (stores/log/log-key.store.ts)
--   $1 checkpointIds bigint[]
--   enters log_checkpoints_pkey
PREPARE log_key_mark (bigint[]) AS
WITH marked AS (
  UPDATE log_checkpoints SET marked_at = now(), marked_by = session_user
  WHERE checkpoint_id = ANY ($1::bigint[]) AND (marked_at IS NULL) IS TRUE RETURNING 1
)
SELECT count(*)::int AS marked FROM marked;

-- log_keys
--   asked by LogCheckpointStore.keys (stores/log/log-checkpoint.store.ts)
--   enters log_key_announcements_live, log_keys_pkey
PREPARE log_keys AS
SELECT vkey, used_at AS "from", until_at AS until FROM log_keys
UNION ALL
SELECT a.vkey, NULL, NULL FROM log_key_announcements a
WHERE a.ended_at IS NULL AND (SELECT true FROM log_keys k WHERE k.vkey = a.vkey LIMIT 1) IS NULL
ORDER BY "from" NULLS LAST, vkey;

-- log_keys_announce_first
--   asked by LogCheckpointStore.announceFirst (stores/log/log-checkpoint.store.ts)
--   $1 vkeys text[]
--   enters no index
PREPARE log_keys_announce_first (text[]) AS
SELECT announce_first_log_keys($1::text[]) AS "isFirst";

-- log_keys_unannounced
--   asked by LogCheckpointStore.unannounced (stores/log/log-checkpoint.store.ts)
--   $1 vkeys text[]
--   $2 size bigint
--   enters log_entries_of_announcements, log_key_announcements_live
PREPARE log_keys_unannounced (text[], bigint) AS
SELECT i.vkey
FROM unnest($1::text[]) WITH ORDINALITY AS i(vkey, ord)
LEFT JOIN LATERAL (SELECT * FROM log_key_announcements a WHERE a.vkey = i.vkey AND a.ended_at IS NULL
  LIMIT 1) a ON true
LEFT JOIN LATERAL (SELECT * FROM log_entries e WHERE e.announcement_id = a.announcement_id LIMIT 1) e ON true
WHERE (a.is_first OR e.log_index < $2::bigint) IS NOT TRUE
ORDER BY i.ord;

-- log_keys_use
--   asked by LogCheckpointStore.useKeys (stores/log/log-checkpoint.store.ts)
--   $1 vkeys text[]
--   enters log_key_announcements_live
PREPARE log_keys_use (text[]) AS
INSERT INTO log_keys (vkey)
SELECT a.vkey FROM unnest($1::text[]) AS i(vkey) CROSS JOIN LATERAL (SELECT * FROM log_key_announcements a
  WHERE a.vkey = i.vkey AND a.ended_at IS NULL LIMIT 1) a
ON CONFLICT (vkey) DO UPDATE SET until_at = NULL WHERE log_keys.until_at IS NOT NULL;

-- log_lag
--   asked by LogCheckpointStore.lagMs (stores/log/log-checkpoint.store.ts)
--   enters erasures_pkey, grant_changes_of_grant, grant_changes_pkey, grants_pkey, log_checkpoints_served, log_entries_pkey, log_key_announcements_pkey, log_restarts_pkey, log_tree_pkey, log_waiting_pkey, owner_changes_pkey, snapshots_version_key, subjects_pkey
PREPARE log_lag AS
SELECT coalesce(extract(epoch FROM clock_timestamp() - f.at) * 1000, 0)::float8 AS "ageMs"
FROM (SELECT t.size, coalesce((SELECT c.size FROM log_checkpoints c WHERE c.marked_at IS NULL
      ORDER BY (-c.checkpoint_id) LIMIT 1), 0) AS published
  FROM log_tree t WHERE t.is_one) tree
CROSS JOIN LATERAL (SELECT tree.size - tree.published AS entries) p
LEFT JOIN LATERAL (SELECT * FROM log_entries e WHERE e.log_index = tree.published LIMIT 1) e ON p.entries > 0
LEFT JOIN LATERAL (SELECT * FROM log_waiting ORDER BY waiting_id LIMIT 1) w ON p.entries <= 0
LEFT JOIN LATERAL (SELECT coalesce(e.subject_key, w.subject_key) AS subject_key,
    coalesce(e.snapshot_version, w.snapshot_version) AS snapshot_version,
    coalesce(e.grant_id, w.grant_id) AS grant_id,
    coalesce(e.entry_type, w.entry_type) AS entry_type,
    coalesce(e.grant_change_id, w.grant_change_id) AS grant_change_id,
    coalesce(e.owner_change_id, w.owner_change_id) AS owner_change_id,
    coalesce(e.erasure_id, w.erasure_id) AS erasure_id,
    coalesce(e.restart_id, w.restart_id) AS restart_id,
    coalesce(e.announcement_id, w.announcement_id) AS announcement_id) k ON true
LEFT JOIN LATERAL (SELECT * FROM snapshots n
  WHERE n.subject_key = k.subject_key AND n.snapshot_version = k.snapshot_version LIMIT 1) n ON true
LEFT JOIN LATERAL (SELECT * FROM grant_changes h WHERE h.grant_change_id = k.grant_change_id
  LIMIT 1) h ON true
LEFT JOIN LATERAL (SELECT * FROM grants g WHERE g.grant_id = coalesce(k.grant_id, h.grant_id)
  LIMIT 1) g ON true
LEFT JOIN LATERAL (SELECT h.from_scopes, h.from_expires_at, true AS is_changed FROM grant_changes h
  WHERE h.grant_id = g.grant_id ORDER BY (-h.grant_change_id) DESC LIMIT 1) first ON true
LEFT JOIN LATERAL (SELECT * FROM owner_changes c WHERE c.owner_change_id = k.owner_change_id
  LIMIT 1) c ON true
LEFT JOIN LATERAL (SELECT * FROM erasures er WHERE er.erasure_id = k.erasure_id LIMIT 1) er ON true
LEFT JOIN LATERAL (SELECT * FROM subjects s
  WHERE s.subject_key = coalesce(n.subject_key, g.subject_key, er.subject_key) LIMIT 1) s ON true
LEFT JOIN LATERAL (SELECT * FROM log_restarts r WHERE r.restart_id = k.restart_id LIMIT 1) r ON true
LEFT JOIN LATERAL (SELECT * FROM log_key_announcements a WHERE a.announcement_id = k.announcement_id
  LIMIT 1) a ON true
CROSS JOIN LATERAL (SELECT coalesce(coalesce(n.created_at, c.changed_at, h.changed_at, er.erased_at,
        CASE k.entry_type
        WHEN 3 THEN g.revoked_at ELSE g.created_at END), coalesce(r.restarted_at, a.announced_at)) AS at) f;

-- log_policy
--   asked by LogCheckpointStore.policy (stores/log/log-checkpoint.store.ts)
--   enters log_policy_pkey
PREPARE log_policy AS
SELECT policy FROM log_policy WHERE is_one;

-- log_policy_use
--   asked by LogCheckpointStore.usePolicy (stores/log/log-checkpoint.store.ts)
--   $1 policy text
--   enters log_policy_pkey
PREPARE log_policy_use (text) AS
WITH gone AS (
  DELETE FROM log_policy WHERE is_one AND $1::text IS NULL
)
INSERT INTO log_policy (policy) SELECT $1::text WHERE $1::text IS NOT NULL
ON CONFLICT (is_one) DO UPDATE SET policy = excluded.policy;

-- log_restart_before
--   asked by LogRestartStore.before (stores/log/log-restart.store.ts)
--   enters log_backfill_pkey, log_checkpoints_served, log_restarts_pkey, log_tree_pkey, log_waiting_pkey
PREPARE log_restart_before AS
SELECT t.size::float8 AS size, t.root, c.size::float8 AS "publishedSize",
  coalesce((SELECT r.origin FROM log_restarts r WHERE r.restart_id > 0 ORDER BY r.restart_id DESC
    LIMIT 1), c.origin) AS origin,
  (SELECT true FROM log_backfill b WHERE b.is_one LIMIT 1) IS TRUE
  OR (SELECT true FROM log_waiting w WHERE w.waiting_id < 0 ORDER BY w.waiting_id LIMIT 1) IS TRUE AS "isBusy"
FROM log_tree t
LEFT JOIN LATERAL (SELECT * FROM log_checkpoints c WHERE c.marked_at IS NULL ORDER BY (-c.checkpoint_id)
  LIMIT 1) c ON true
WHERE t.is_one;

-- log_restart_begin
--   asked by LogRestartStore.restart (stores/log/log-restart.store.ts)
--   $1 origin text
--   $2 previousOrigin text
--   $3 previousSize bigint
--   $4 previousRoot bytea
--   $5 previousCheckpoint text
--   $6 reason text
--   enters no index
PREPARE log_restart_begin (text, text, bigint, bytea, text, text) AS
SELECT id::float8 AS "restartId", entries::float8 AS entries
FROM restart_log($1, $2, $3::bigint, $4::bytea, $5, $6);

-- log_restart_former
--   asked by LogRestartStore.isFormer (stores/log/log-restart.store.ts)
--   $1 origin text
--   enters log_restarts_origin_key
PREPARE log_restart_former (text) AS
SELECT (SELECT true FROM log_restarts r WHERE r.origin = $1 LIMIT 1) IS TRUE AS "isFormer";

-- log_restarts
--   asked by LogCheckpointStore.restarts (stores/log/log-checkpoint.store.ts)
--   enters log_restarts_pkey
PREPARE log_restarts AS
SELECT origin, previous_origin AS "previousOrigin" FROM log_restarts ORDER BY restart_id;

-- log_tiles_edge
--   asked by LogIntegrationStore.integrate (stores/log/log-integration.store.ts)
--   $1 size bigint
--   enters log_tiles_pkey
PREPARE log_tiles_edge (bigint) AS
SELECT t.level::int AS level, t.tile_index::float8 AS index, t.hashes
FROM generate_series(0, 7) AS l(level)
CROSS JOIN LATERAL (SELECT * FROM log_tiles t
  WHERE t.level = l.level::smallint AND t.tile_index = $1::bigint >> 8 * (l.level + 1) LIMIT 1) t
WHERE ($1::bigint >> 8 * l.level) % 256 > 0
ORDER BY t.level;

-- log_tiles_read
--   asked by LogTileStore.read (stores/log/log-tile.store.ts)
--   $1 inputs.level integer[]
--   $2 inputs.index bigint[]
--   $3 inputs.width integer[]
--   enters log_tiles_pkey
PREPARE log_tiles_read (integer[], bigint[], integer[]) AS
SELECT t.hashes
FROM unnest($1::int[], $2::bigint[], $3::int[])
  WITH ORDINALITY AS i(level, tile_index, width, ord)
LEFT JOIN LATERAL (SELECT substr(t.hashes, 1, 32 * i.width) AS hashes FROM log_tiles t
  WHERE t.level = i.level::smallint AND t.tile_index = i.tile_index LIMIT 1) t ON true
ORDER BY i.ord;

-- log_tree
--   asked by LogIntegrationStore.tree (stores/log/log-integration.store.ts)
--   enters log_tree_pkey
PREPARE log_tree AS
SELECT size::float8 AS size, root FROM log_tree WHERE is_one;

-- log_tree_take
--   asked by LogIntegrationStore.integrate (stores/log/log-integration.store.ts)
--   enters log_backfill_pkey, log_tree_pkey
PREPARE log_tree_take AS
SELECT size::float8 AS size, root, statement_timestamp() AS "takenAt", (SELECT true FROM log_backfill b
  WHERE b.is_one LIMIT 1) IS NULL AS "isBackfilled"
FROM log_tree WHERE is_one FOR UPDATE SKIP LOCKED;

-- log_waiting_drop
--   asked by LogIntegrationStore.integrate (stores/log/log-integration.store.ts)
--   $1 waitingIds bigint[]
--   enters log_waiting_pkey
PREPARE log_waiting_drop (bigint[]) AS
DELETE FROM log_waiting WHERE waiting_id = ANY ($1::bigint[]);

-- log_waiting_take
--   asked by LogIntegrationStore.integrate (stores/log/log-integration.store.ts)
--   $1 limit bigint
--   enters erasures_pkey, grant_changes_of_grant, grant_changes_pkey, grants_pkey, log_key_announcements_pkey, log_restarts_pkey, log_waiting_pkey, owner_changes_pkey, snapshots_version_key, subjects_pkey
PREPARE log_waiting_take (bigint) AS
SELECT k.waiting_id::float8 AS "waitingId",
  CASE WHEN n.snapshot_id IS NOT NULL THEN CASE k.entry_type
  WHEN 1 THEN 'snapshot.created' END END AS "snapshot?.type",
  n.tenant_id AS "snapshot?.tenantId",
  s.subject_type AS "snapshot?.subjectType",
  s.subject_id AS "snapshot?.subjectId",
  n.snapshot_id AS "snapshot?.snapshotId",
  n.snapshot_version AS "snapshot?.snapshotVersion",
  encode(n.envelope_hash, 'hex') AS "snapshot?.envelopeHash",
  encode(n.prev_hash, 'hex') AS "snapshot?.prevHash",
  n.created_at AS "snapshot?.createdAt",
  n.written_by AS "snapshot?.writtenBy",
  n.write_request_id AS "snapshot?.writeRequestId",
  k.names_writer IS TRUE AND n.written_by IS NOT NULL AS "snapshot?.namesWriter",
  CASE WHEN g.grant_id IS NOT NULL THEN CASE k.entry_type WHEN 2 THEN 'grant.created' END END AS "grant?.type",
  g.grantor_tenant_id AS "grant?.tenantId",
  g.grant_id AS "grant?.grantId",
  g.grantee_tenant_id AS "grant?.granteeTenantId",
  CASE WHEN g.subject_key = 0 THEN '*' ELSE s.subject_type END AS "grant?.subjectType",
  CASE WHEN g.subject_key = 0 THEN '*' ELSE s.subject_id END AS "grant?.subjectId",
  coalesce(first.from_scopes, g.scopes) AS "grant?.scopes",
  CASE WHEN first.is_changed THEN first.from_expires_at ELSE g.expires_at END AS "grant?.expiresAt",
  g.created_at AS "grant?.createdAt",
  CASE WHEN g.revoked_at IS NOT NULL THEN CASE k.entry_type
  WHEN 3 THEN 'grant.revoked' END END AS "revocation?.type",
  g.grantor_tenant_id AS "revocation?.tenantId",
  g.grant_id AS "revocation?.grantId",
  g.revoked_at AS "revocation?.revokedAt",
  CASE WHEN h.grant_id IS NOT NULL THEN CASE k.entry_type
  WHEN 5 THEN 'grant.changed' END END AS "grantChange?.type",
  h.grantor_tenant_id AS "grantChange?.tenantId",
  h.grant_id AS "grantChange?.grantId",
  h.scopes AS "grantChange?.scopes",
  h.expires_at AS "grantChange?.expiresAt",
  h.changed_at AS "grantChange?.changedAt",
  CASE WHEN c.owner_change_id IS NOT NULL THEN CASE k.entry_type
  WHEN 4 THEN 'tenant.owner_changed' END END AS "ownerChange?.type",
  c.tenant_id AS "ownerChange?.tenantId",
  c.principal_id AS "ownerChange?.principalId",
  c.from_principal_id AS "ownerChange?.fromPrincipalId",
  c.changed_at AS "ownerChange?.changedAt",
  CASE WHEN er.erased_at IS NOT NULL THEN CASE k.entry_type
  WHEN 6 THEN 'subject.erased' END END AS "erasure?.type",
  er.tenant_id AS "erasure?.tenantId",
  s.subject_type AS "erasure?.subjectType",
  s.subject_id AS "erasure?.subjectId",
  er.erased_indexes::float8[] AS "erasure?.erasedIndexes",
  er.erased_at AS "erasure?.erasedAt",
  CASE WHEN k.names_versions THEN (
  SELECT json_agg(json_build_object(
        'snapshotId', gone.snapshot_id, 'snapshotVersion', gone.snapshot_version,
        'envelopeHash', encode(gone.envelope_hash, 'hex'), 'prevHash', encode(gone.prev_hash, 'hex'),
        'createdAt', to_char(date_trunc('milliseconds', gone.created_at) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
    ORDER BY v.place)
  FROM unnest(er.logged_versions) WITH ORDINALITY AS v(version, place)
  CROSS JOIN LATERAL (SELECT * FROM snapshots gone
    WHERE gone.subject_key = er.subject_key AND gone.snapshot_version = v.version
    LIMIT 1) gone) END AS "erasure?.erasedVersions",
  CASE WHEN r.restart_id IS NOT NULL THEN 'log.restarted' END AS "restart?.type",
  r.previous_origin AS "restart?.previousOrigin",
  r.previous_size::float8 AS "restart?.previousSize",
  r.previous_root AS "restart?.previousRoot",
  encode(sha256(convert_to(r.previous_checkpoint, 'UTF8')), 'hex') AS "restart?.previousCheckpointHash",
  r.reason AS "restart?.reason",
  r.restarted_at AS "restart?.restartedAt",
  CASE WHEN a.announcement_id IS NOT NULL THEN 'log.key_announced' END AS "announcement?.type",
  a.vkey AS "announcement?.vkey",
  a.announced_by AS "announcement?.announcedBy",
  a.announced_at AS "announcement?.announcedAt"
FROM (SELECT *, true AS names_writer, true AS names_versions FROM log_waiting ORDER BY waiting_id LIMIT $1) k
LEFT JOIN LATERAL (SELECT * FROM snapshots n
  WHERE n.subject_key = k.subject_key AND n.snapshot_version = k.snapshot_version LIMIT 1) n ON true
LEFT JOIN LATERAL (SELECT * FROM grant_changes h WHERE h.grant_change_id = k.grant_change_id
  LIMIT 1) h ON true
LEFT JOIN LATERAL (SELECT * FROM grants g WHERE g.grant_id = coalesce(k.grant_id, h.grant_id)
  LIMIT 1) g ON true
LEFT JOIN LATERAL (SELECT h.from_scopes, h.from_expires_at, true AS is_changed FROM grant_changes h
  WHERE h.grant_id = g.grant_id ORDER BY (-h.grant_change_id) DESC LIMIT 1) first ON true
LEFT JOIN LATERAL (SELECT * FROM owner_changes c WHERE c.owner_change_id = k.owner_change_id
  LIMIT 1) c ON true
LEFT JOIN LATERAL (SELECT * FROM erasures er WHERE er.erasure_id = k.erasure_id LIMIT 1) er ON true
LEFT JOIN LATERAL (SELECT * FROM subjects s
  WHERE s.subject_key = coalesce(n.subject_key, g.subject_key, er.subject_key) LIMIT 1) s ON true
LEFT JOIN LATERAL (SELECT * FROM log_restarts r WHERE r.restart_id = k.restart_id LIMIT 1) r ON true
LEFT JOIN LATERAL (SELECT * FROM log_key_announcements a WHERE a.announcement_id = k.announcement_id
  LIMIT 1) a ON true
ORDER BY k.waiting_id;

-- member_facts
--   asked by TenancyStore.facts (stores/tenancy/tenancy.store.ts)
--   $1 tenantId text
--   $2 principalId text
--   enters memberships_pkey
PREPARE member_facts (text, text) AS
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes" FROM (SELECT $1::text AS tenant_id, $2::text AS principal_id) i
LEFT JOIN LATERAL (
  SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access, m.tenancy_role,
    m.principal_type, NULL::boolean AS owns_subject, NULL::text[] AS grant_scopes
  FROM memberships m
  WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id LIMIT 1
) f ON true;

-- members_of_tenant
--   asked by TenancyStore.members (stores/tenancy/tenancy.store.ts)
--   $1 tenantId text
--   $2 principalId text
--   $3 after text
--   $4 status text
--   $5 rows bigint
--   enters memberships_pkey
PREPARE members_of_tenant (text, text, text, text, bigint) AS
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  m.principal_id AS "item?.principalId",
  m.tenant_id AS "item?.tenantId",
  m.tenancy_role AS "item?.tenancyRole",
  m.api_functional_role AS "item?.role",
  m.principal_type AS "item?.principalType",
  m.allow_counterparty_access AS "item?.allowCounterpartyAccess",
  m.status AS "item?.status",
  m.created_at AS "item?.createdAt",
  ARRAY[m.principal_id] AS position
FROM (SELECT $1::text AS tenant_id, $2::text AS principal_id) i
LEFT JOIN LATERAL (
  SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access, m.tenancy_role,
    m.principal_type, NULL::boolean AS owns_subject, NULL::text[] AS grant_scopes
  FROM memberships m
  WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id LIMIT 1
) f ON true
LEFT JOIN LATERAL (
  SELECT * FROM memberships m
  WHERE m.tenant_id = i.tenant_id AND m.principal_id > $3 AND f.member_status = 'active'
    AND ($4::text IS NULL OR m.status = $4)
  ORDER BY m.principal_id LIMIT $5
) m ON true
ORDER BY m.principal_id;

-- membership_cancel_offers
--   asked by TenancyStore.changeMembership, TenancyStore.block (stores/tenancy/tenancy.store.ts)
--   $1 tenantId text
--   $2 principalId text
--   $3 mayHandOver boolean
--   $4 isRemoved boolean
--   $5 isFirstOwner boolean
--   enters transfer_offers_pending_key
PREPARE membership_cancel_offers (text, text, boolean, boolean, boolean) AS
UPDATE transfer_offers o SET status = 'cancelled', resolved_at = statement_timestamp()
WHERE o.tenant_id = $1 AND o.status = 'pending'
  AND (o.expires_at IS NULL OR o.expires_at > statement_timestamp())
  AND ((o.from_principal_id = $2 AND NOT $3::boolean)
    OR (o.to_principal_id = $2 AND $4::boolean)
    OR $5::boolean);

-- membership_find
--   asked by findMember (stores/tenancy/memberships.ts)
--   $1 tenantId text
--   $2 principalId text
--   enters memberships_pkey
PREPARE membership_find (text, text) AS
SELECT m.principal_id AS "principalId",
  m.tenant_id AS "tenantId",
  m.tenancy_role AS "tenancyRole",
  m.api_functional_role AS "role",
  m.principal_type AS "principalType",
  m.allow_counterparty_access AS "allowCounterpartyAccess",
  m.status AS "status",
  m.created_at AS "createdAt"
FROM memberships m WHERE m.tenant_id = $1 AND m.principal_id = $2;

-- membership_other_owner
--   asked by hasOtherOwner (stores/tenancy/memberships.ts)
--   $1 tenantId text
--   $2 principalId text
--   enters memberships_pkey
PREPARE membership_other_owner (text, text) AS
WITH others AS MATERIALIZED (
  SELECT m.principal_id, m.api_functional_role, m.status FROM memberships m
  WHERE m.tenant_id = $1 AND m.principal_id <> $2
)
SELECT principal_id AS "principalId" FROM others
WHERE api_functional_role = 'tenant_owner' AND status = 'active' LIMIT 1;

-- membership_put
--   asked by putMember (stores/tenancy/memberships.ts)
--   $1 tenantId text
--   $2 members_per_tenant integer
--   $3 principalId text
--   $4 tenancyRole text
--   $5 role text
--   $6 principalType text
--   $7 allowCounterpartyAccess boolean
--   $8 status text
--   $9 actingId text
--   enters limit_overrides_pkey, memberships_pkey
PREPARE membership_put (text, integer, text, text, text, text, boolean, text, text) AS
WITH cap AS MATERIALIZED (SELECT coalesce((SELECT l.value FROM limit_overrides l
      WHERE l.scope = 'tenant' AND l.scope_id = $1 AND l.limit_name = 'members_per_tenant'
      LIMIT 1), $2::int) AS value),
put AS (
  INSERT INTO memberships AS m (tenant_id, principal_id, tenancy_role, api_functional_role, principal_type,
      allow_counterparty_access, status, invited_by, invited_at)
  SELECT $1::text, $3::text, $4::text, $5::text, $6::text,
    $7::boolean, $8::text, CASE $8 WHEN 'pending' THEN $9::text END,
    CASE $8 WHEN 'pending' THEN statement_timestamp() END
  FROM cap
  WHERE CASE WHEN $8::text <> 'removed'
    AND coalesce((SELECT held.status FROM memberships held
      WHERE held.tenant_id = $1 AND held.principal_id = $3 LIMIT 1), 'removed') = 'removed'
    THEN (SELECT count(*)::int FROM (SELECT FROM memberships c WHERE c.tenant_id = $1 AND c.status <> 'removed'
      LIMIT cap.value) counted) < cap.value
    ELSE true END
  ON CONFLICT (tenant_id, principal_id) DO UPDATE
  SET tenancy_role = excluded.tenancy_role, api_functional_role = excluded.api_functional_role,
    principal_type = excluded.principal_type, allow_counterparty_access = excluded.allow_counterparty_access,
    status = excluded.status,
    invited_by = CASE WHEN m.status = 'removed' THEN excluded.invited_by ELSE m.invited_by END,
    invited_at = CASE WHEN m.status = 'removed' THEN excluded.invited_at ELSE m.invited_at END
  RETURNING *
)
SELECT m.principal_id AS "member?.principalId",
  m.tenant_id AS "member?.tenantId",
  m.tenancy_role AS "member?.tenancyRole",
  m.api_functional_role AS "member?.role",
  m.principal_type AS "member?.principalType",
  m.allow_counterparty_access AS "member?.allowCounterpartyAccess",
  m.status AS "member?.status",
  m.created_at AS "member?.createdAt", cap.value AS cap
FROM cap LEFT JOIN put m ON true;

-- migrations_applied
--   asked by Database.missingMigrations (database.ts)
--   enters PK_8c82d7f526340ab734260ea46be
PREPARE migrations_applied AS
SELECT name FROM migrations ORDER BY id;

-- outbox_fan_out
--   asked by OutboxStore.fanOut (stores/webhooks/outbox.store.ts)
--   $1 bodies text[]
--   $2 eventIds uuid[]
--   $3 first integer
--   $4 next integer
--   enters deliveries_event_subscription_key, outbox_events_pkey, tenants_pkey, webhook_subscription_types_pkey, webhook_subscriptions_pkey
PREPARE outbox_fan_out (text[], uuid[], integer, integer) AS
WITH asked AS MATERIALIZED (
  SELECT event_id, tenant_id, event_type, created_at, fanned_out_at, body IS NULL AS is_unbuilt,
    ($1::text[])[array_position($2::uuid[], event_id)] AS built
  FROM outbox_events
  WHERE event_id = ANY ($2::uuid[])
  FOR UPDATE SKIP LOCKED
), waiting AS MATERIALIZED (
  SELECT a.*, last.subscription_id AS reached,
    CASE WHEN last.subscription_id IS NULL THEN $3::int ELSE $4::int END AS size
  FROM asked a
  LEFT JOIN LATERAL (
    SELECT d.event_id, d.subscription_id FROM deliveries d
    WHERE (d.event_id, d.subscription_id) <= (a.event_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid)
    ORDER BY d.event_id DESC, d.subscription_id DESC LIMIT 1) last ON last.event_id = a.event_id
  WHERE a.fanned_out_at IS NULL AND (a.built IS NOT NULL OR NOT a.is_unbuilt)
), taken AS MATERIALIZED (
  SELECT w.event_id, w.tenant_id, w.event_type, w.is_unbuilt, w.built, next.subscription_ids, next.statuses,
    cardinality(next.subscription_ids) < w.size AS is_done
  FROM waiting w
  CROSS JOIN LATERAL (
    SELECT coalesce(array_agg(s.subscription_id), '{}') AS subscription_ids, array_agg(s.status) AS statuses
    FROM (SELECT y.subscription_id FROM webhook_subscription_types y
      WHERE y.tenant_id = w.tenant_id AND y.event_type = w.event_type AND y.created_at <= w.created_at
        AND y.subscription_id > coalesce(w.reached, '00000000-0000-0000-0000-000000000000')
      ORDER BY y.subscription_id
      LIMIT w.size) y
    CROSS JOIN LATERAL (SELECT * FROM webhook_subscriptions s
      WHERE s.subscription_id = y.subscription_id LIMIT 1) s) next
), created AS (
  INSERT INTO deliveries (delivery_id, event_id, subscription_id, tenant_id, event_type, status, skipped_reason, finished_at)
  SELECT gen_random_uuid(), t.event_id, s.subscription_id, t.tenant_id, t.event_type,
    CASE s.status WHEN 'active' THEN 'pending' ELSE 'skipped' END,
    CASE s.status WHEN 'active' THEN NULL ELSE 'subscription_inactive' END,
    CASE s.status WHEN 'active' THEN NULL ELSE now() END
  FROM taken t CROSS JOIN LATERAL unnest(t.subscription_ids, t.statuses) AS s(subscription_id, status)
  ON CONFLICT (event_id, subscription_id) DO NOTHING
  RETURNING delivery_id, subscription_id, tenant_id, status
), done AS (
  UPDATE outbox_events o SET body = coalesce(o.body, t.built), fanned_out_at = CASE
    WHEN t.is_done THEN now() END
  FROM taken t WHERE o.event_id = t.event_id AND (t.is_done OR t.is_unbuilt)
)
SELECT coalesce(json_agg(json_build_object('deliveryId', c.delivery_id, 'subscriptionId', c.subscription_id,
        'tenantId', c.tenant_id, 'founderId', coalesce((SELECT t.founded_by FROM tenants t
          WHERE t.tenant_id = c.tenant_id LIMIT 1), c.tenant_id),
        'targetUrl', s.target_url))
    FILTER (WHERE c.status = 'pending'), '[]') AS pending,
  (count(*) FILTER (WHERE c.status = 'skipped'))::int AS skipped,
  ARRAY(SELECT event_id FROM taken WHERE NOT is_done) AS unfinished
FROM created c
CROSS JOIN LATERAL (SELECT s.target_url FROM webhook_subscriptions s
  WHERE s.subscription_id = c.subscription_id LIMIT 1) s;

-- outbox_unbuilt
--   asked by OutboxStore.fanOut (stores/webhooks/outbox.store.ts)
--   $1 eventIds uuid[]
--   enters outbox_events_pkey, snapshots_snapshot_id_key, subjects_pkey, updates_pkey
PREPARE outbox_unbuilt (uuid[]) AS
SELECT o.event_id AS "eventId", o.tenant_id AS "tenantId", o.event_type AS "type", o.created_at AS "createdAt",
  n.snapshot_id AS "snapshot?.snapshotId", n.snapshot_version AS "snapshot?.snapshotVersion",
  s.subject_type AS "snapshot?.subjectType", s.subject_id AS "snapshot?.subjectId",
  encode(n.envelope_hash, 'hex') AS "snapshot?.envelopeHash", encode(n.prev_hash, 'hex') AS "snapshot?.prevHash",
  u.update_id AS "update?.updateId", s.subject_type AS "update?.subjectType", s.subject_id AS "update?.subjectId",
  u.base_snapshot_id AS "update?.baseSnapshotId", u.base_snapshot_version AS "update?.baseSnapshotVersion",
  u.proposed_by AS "update?.proposedBy", u.applied_snapshot_id AS "update?.appliedSnapshotId"
FROM unnest($1::uuid[]) AS i(event_id)
CROSS JOIN LATERAL (SELECT * FROM outbox_events o WHERE o.event_id = i.event_id AND o.body IS NULL LIMIT 1) o
LEFT JOIN LATERAL (SELECT * FROM snapshots n WHERE n.snapshot_id = o.snapshot_id LIMIT 1) n ON true
LEFT JOIN LATERAL (SELECT * FROM updates u WHERE u.update_id = o.update_id LIMIT 1) u ON true
CROSS JOIN LATERAL (SELECT * FROM subjects s WHERE s.subject_key = coalesce(n.subject_key, u.subject_key)
  LIMIT 1) s;

-- outbox_waiting
--   asked by OutboxStore.waiting (stores/webhooks/outbox.store.ts)
--   $1 overdueMs double precision
--   $2 createdAt timestamp with time zone
--   $3 eventId uuid
--   $4 rows integer
--   $5 limit integer
--   enters outbox_events_waiting, tenants_pkey
PREPARE outbox_waiting (double precision, timestamp with time zone, uuid, integer, integer) AS
WITH looked AS MATERIALIZED (
  SELECT event_id, tenant_id, created_at FROM outbox_events
  WHERE fanned_out_at IS NULL AND created_at < now() - $1 * interval '1 millisecond'
    AND created_at >= coalesce($2::timestamptz, '-infinity')
    AND (created_at, event_id)
    > (coalesce($2::timestamptz, '-infinity'), coalesce($3::uuid, '00000000-0000-0000-0000-000000000000'))
  ORDER BY created_at, event_id LIMIT $4::int
)
SELECT o.event_id AS "eventId", (SELECT count(*) FROM looked)::int AS looked,
  (SELECT ARRAY[created_at::text, event_id::text] FROM looked
  ORDER BY looked.created_at DESC, looked.event_id DESC LIMIT 1) AS position
FROM looked o
ORDER BY row_number() OVER (PARTITION BY coalesce((SELECT t.founded_by FROM tenants t
      WHERE t.tenant_id = o.tenant_id LIMIT 1), o.tenant_id)
  ORDER BY o.created_at, o.event_id), o.created_at, o.event_id
LIMIT $5::int;

-- owner_history
--   asked by HistoryStore.owners (stores/log/history.store.ts)
--   $1 tenantId text
--   $2 principalId text
--   $3 before bigint
--   $4 rows bigint
--   enters log_entries_of_owner_changes, memberships_pkey, owner_changes_by_tenant
PREPARE owner_history (text, text, bigint, bigint) AS
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  c.changed_at AS "item?.changedAt",
  c.principal_id AS "item?.principalId",
  c.from_principal_id AS "item?.fromPrincipalId",
  (SELECT e.log_index::float8 FROM log_entries e WHERE e.owner_change_id = c.owner_change_id
  LIMIT 1) AS "item?.logIndex",
  ARRAY[c.owner_change_id::text] AS position
FROM (SELECT $1::text AS tenant_id, $2::text AS principal_id) i
LEFT JOIN LATERAL (
  SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access, m.tenancy_role,
    m.principal_type, NULL::boolean AS owns_subject, NULL::text[] AS grant_scopes
  FROM memberships m
  WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id LIMIT 1
) f ON true
LEFT JOIN LATERAL (SELECT * FROM owner_changes c
  WHERE c.tenant_id = i.tenant_id AND f.member_status = 'active'
    AND (-c.owner_change_id) > -($3::bigint)
  ORDER BY (-c.owner_change_id) LIMIT $4) c ON true
ORDER BY (-c.owner_change_id);

-- pending_grant_cancel
--   asked by PendingGrantStore.cancel (stores/grants/pending-grant.store.ts)
--   $1 principalId text
--   $2 grantId uuid
--   enters pending_grants_pkey
PREPARE pending_grant_cancel (text, uuid) AS
UPDATE pending_grants p SET cancelled_by = $1, cancelled_at = statement_timestamp()
WHERE p.grant_id = $2::uuid
RETURNING p.grant_id AS "grantId",
  p.grantor_tenant_id AS "grantorTenantId",
  p.grantee_tenant_id AS "granteeTenantId",
  p.scopes AS "scopes",
  p.expires_at AS "expiresAt",
  p.purpose AS "purpose",
  CASE WHEN p.confirmed_at IS NOT NULL THEN 'confirmed' WHEN p.cancelled_at IS NOT NULL THEN 'cancelled'
  WHEN least(p.confirm_by, p.expires_at) <= statement_timestamp() THEN 'expired' ELSE 'pending' END AS "status",
  p.requested_by AS "requestedBy",
  p.created_at AS "createdAt",
  p.confirm_by AS "confirmBy",
  p.confirmed_by AS "confirmedBy",
  p.confirmed_at AS "confirmedAt",
  p.cancelled_by AS "cancelledBy",
  p.cancelled_at AS "cancelledAt";

-- pending_grant_confirm
--   asked by PendingGrantStore.confirm (stores/grants/pending-grant.store.ts)
--   $1 principalId text
--   $2 grantId uuid
--   enters pending_grants_pkey
PREPARE pending_grant_confirm (text, uuid) AS
UPDATE pending_grants p SET confirmed_by = $1, confirmed_at = statement_timestamp()
WHERE p.grant_id = $2::uuid;

-- pending_grant_find
--   asked by PendingGrantStore.confirm, PendingGrantStore.cancel (stores/grants/pending-grant.store.ts)
--   $1 tenantId text
--   $2 principalId text
--   $3 grantId uuid
--   enters memberships_pkey, pending_grants_pkey
PREPARE pending_grant_find (text, text, uuid) AS
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes", f.principal_type AS "principalType",
  p.grant_id AS "pending?.grantId",
  p.grantor_tenant_id AS "pending?.grantorTenantId",
  p.grantee_tenant_id AS "pending?.granteeTenantId",
  p.scopes AS "pending?.scopes",
  p.expires_at AS "pending?.expiresAt",
  p.purpose AS "pending?.purpose",
  CASE WHEN p.confirmed_at IS NOT NULL THEN 'confirmed' WHEN p.cancelled_at IS NOT NULL THEN 'cancelled'
  WHEN least(p.confirm_by, p.expires_at) <= statement_timestamp() THEN 'expired' ELSE 'pending' END AS "pending?.status",
  p.requested_by AS "pending?.requestedBy",
  p.created_at AS "pending?.createdAt",
  p.confirm_by AS "pending?.confirmBy",
  p.confirmed_by AS "pending?.confirmedBy",
  p.confirmed_at AS "pending?.confirmedAt",
  p.cancelled_by AS "pending?.cancelledBy",
  p.cancelled_at AS "pending?.cancelledAt"
FROM (SELECT $1::text AS tenant_id, $2::text AS principal_id, $3::uuid AS grant_id) i
LEFT JOIN LATERAL (
  SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access, m.tenancy_role,
    m.principal_type, NULL::boolean AS owns_subject, NULL::text[] AS grant_scopes
  FROM memberships m
  WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id LIMIT 1
) f ON true
LEFT JOIN LATERAL (SELECT * FROM pending_grants p WHERE p.grant_id = i.grant_id LIMIT 1) p
  ON p.grantor_tenant_id = i.tenant_id;

-- pending_grants_of_tenant
--   asked by PendingGrantStore.list (stores/grants/pending-grant.store.ts)
--   $1 tenantId text
--   $2 principalId text
--   $3 beforeTime timestamp with time zone
--   $4 beforeId uuid
--   $5 rows bigint
--   enters memberships_pkey, pending_grants_of_tenant
PREPARE pending_grants_of_tenant (text, text, timestamp with time zone, uuid, bigint) AS
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  p.grant_id AS "item?.grantId",
  p.grantor_tenant_id AS "item?.grantorTenantId",
  p.grantee_tenant_id AS "item?.granteeTenantId",
  p.scopes AS "item?.scopes",
  p.expires_at AS "item?.expiresAt",
  p.purpose AS "item?.purpose",
  CASE WHEN p.confirmed_at IS NOT NULL THEN 'confirmed' WHEN p.cancelled_at IS NOT NULL THEN 'cancelled'
  WHEN least(p.confirm_by, p.expires_at) <= statement_timestamp() THEN 'expired' ELSE 'pending' END AS "item?.status",
  p.requested_by AS "item?.requestedBy",
  p.created_at AS "item?.createdAt",
  p.confirm_by AS "item?.confirmBy",
  p.confirmed_by AS "item?.confirmedBy",
  p.confirmed_at AS "item?.confirmedAt",
  p.cancelled_by AS "item?.cancelledBy",
  p.cancelled_at AS "item?.cancelledAt",
  ARRAY[p.created_at::text, p.grant_id::text] AS position
FROM (SELECT $1::text AS tenant_id, $2::text AS principal_id) i
LEFT JOIN LATERAL (
  SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access, m.tenancy_role,
    m.principal_type, NULL::boolean AS owns_subject, NULL::text[] AS grant_scopes
  FROM memberships m
  WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id LIMIT 1
) f ON true
LEFT JOIN LATERAL (SELECT * FROM pending_grants p
  WHERE p.grantor_tenant_id = i.tenant_id AND f.member_status = 'active'
    AND (p.created_at, p.grant_id) < ($3::timestamptz, $4::uuid)
  ORDER BY p.created_at DESC, p.grant_id DESC LIMIT $5) p ON true
ORDER BY p.created_at DESC, p.grant_id DESC;

-- ping
--   asked by Database.ping (database.ts)
--   enters no index
PREPARE ping AS
SELECT clock_timestamp() AS at;

-- provenance_latest_global
--   asked by ProvenanceStore.read (stores/provenance/provenance.store.ts)
--   $1 maxBytes integer
--   $2 tenantId text
--   $3 principalId text
--   $4 subjectType text
--   $5 subjectId text
--   enters erasures_by_subject, erasures_pkey, grants_live, grants_live_by_grantee, grants_to_all_live, memberships_by_principal, snapshot_provenance_pkey, snapshots_version_key, subjects_identity_key
PREPARE provenance_latest_global (integer, text, text, text, text) AS
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  CASE WHEN f.owns_subject IS NOT TRUE THEN s.subject_key::float8 END AS "disclosure?.subjectKey",
  f.grantee_tenant_id AS "disclosure?.granteeTenantId", f.grant_id AS "disclosure?.grantId",
  n.snapshot_id AS "snapshot?.snapshotId",
  s.subject_type AS "snapshot?.subjectType",
  s.subject_id AS "snapshot?.subjectId",
  n.snapshot_version AS "snapshot?.snapshotVersion",
  n.generated_at AS "snapshot?.generatedAt",
  n.created_at AS "snapshot?.createdAt",
  encode(n.envelope_hash, 'hex') AS "snapshot?.envelopeHash",
  encode(n.prev_hash, 'hex') AS "snapshot?.prevHash",
  n.written_by AS "snapshot?.writtenBy",
  n.write_request_id AS "snapshot?.writeRequestId",
  CASE WHEN octet_length(n.envelope) <= $1::int THEN n.envelope END AS "snapshot?.envelope",
  CASE WHEN n.erasure_id IS NOT NULL THEN (SELECT er.public_id FROM erasures er
  WHERE er.erasure_id = n.erasure_id LIMIT 1) END AS "snapshot?.erasure?.erasureId",
  CASE WHEN n.erasure_id IS NOT NULL THEN (SELECT er.erased_at FROM erasures er
  WHERE er.erasure_id = n.erasure_id LIMIT 1) END AS "snapshot?.erasure?.erasedAt",
  (SELECT p.origins FROM snapshot_provenance p
  WHERE p.subject_key = n.subject_key AND p.snapshot_version = n.snapshot_version LIMIT 1) AS origins,
  (SELECT er.erasure_id::text FROM erasures er WHERE er.subject_key = r.subject_key
    AND (er.status = 'erased') IS TRUE
  ORDER BY (-er.erasure_id) LIMIT 1) AS "lastErasure"
FROM (SELECT $2::text AS tenant_id, $3::text AS principal_id, $4::text AS subject_type, $5::text AS subject_id) i
LEFT JOIN subjects s ON s.subject_type = i.subject_type AND s.subject_id = i.subject_id
LEFT JOIN LATERAL (
  SELECT 'tenant_reader' AS role, 'active' AS member_status, true AS allow_counterparty_access, o.owns_subject,
    h.grant_scopes, h.grantee_tenant_id, h.grant_id
  FROM (SELECT (SELECT true FROM memberships m
      WHERE m.tenant_id = s.owner_tenant_id AND m.principal_id = i.principal_id
        AND m.status = 'active' LIMIT 1) AS owns_subject OFFSET 0) o
  CROSS JOIN LATERAL (
    WITH RECURSIVE met (tenant_id, allow_counterparty_access) AS (
      SELECT ''::text COLLATE "C", false WHERE o.owns_subject IS NULL
      UNION ALL
      SELECT m.tenant_id, m.allow_counterparty_access
      FROM met
      CROSS JOIN LATERAL (
        SELECT least(
            (SELECT g.grantee_tenant_id FROM grants g
            WHERE (g.subject_key, g.grantee_tenant_id) > (s.subject_key, met.tenant_id)
              AND g.subject_key <= s.subject_key AND g.subject_key > 0 AND g.revoked_at IS NULL
            ORDER BY g.subject_key, g.grantee_tenant_id LIMIT 1),
            (SELECT g.grantee_tenant_id FROM grants g
            WHERE (g.grantor_tenant_id || '/', g.grantee_tenant_id) > (s.owner_tenant_id || '/', met.tenant_id)
              AND g.grantor_tenant_id || '/' <= s.owner_tenant_id || '/' AND g.revoked_at IS NULL
              AND (g.subject_key = 0) IS TRUE
            ORDER BY g.grantor_tenant_id || '/', g.grantee_tenant_id LIMIT 1)) AS grantee_tenant_id
      ) g
      CROSS JOIN LATERAL (
        SELECT m.tenant_id, m.allow_counterparty_access FROM memberships m
        WHERE (m.principal_id, m.tenant_id) >= (i.principal_id, g.grantee_tenant_id)
          AND m.principal_id <= i.principal_id AND m.status = 'active'
        ORDER BY m.principal_id, m.tenant_id LIMIT 1
      ) m
    )
    SELECT array_agg(DISTINCT scope) AS grant_scopes,
      min(m.tenant_id) FILTER (WHERE scope IN ('read_lineage')) AS grantee_tenant_id,
      (array_agg(g.grant_id
        ORDER BY m.tenant_id, g.is_to_all) FILTER (WHERE scope IN ('read_lineage')))[1] AS grant_id
    FROM met m
    CROSS JOIN LATERAL (SELECT g.scopes, g.grant_id, false AS is_to_all FROM grants g
      WHERE (g.grantee_tenant_id, g.subject_key) BETWEEN (m.tenant_id, s.subject_key)
        AND (m.tenant_id, s.subject_key)
        AND g.revoked_at IS NULL AND (g.expires_at IS NULL OR g.expires_at > statement_timestamp())
      UNION ALL
      SELECT g.scopes, g.grant_id, true FROM grants g
      WHERE (g.grantor_tenant_id || '/', g.grantee_tenant_id, coalesce(g.expires_at, 'infinity'))
        > (s.owner_tenant_id || '/', m.tenant_id, statement_timestamp())
        AND (g.grantor_tenant_id || '/', g.grantee_tenant_id) <= (s.owner_tenant_id || '/', m.tenant_id)
        AND g.revoked_at IS NULL AND (g.subject_key = 0) IS TRUE OFFSET 0) g
    CROSS JOIN unnest(g.scopes) scope
    WHERE m.allow_counterparty_access
  ) h
) f ON true
LEFT JOIN LATERAL (SELECT s.subject_key
  WHERE f.role IN ('tenant_reader', 'tenant_proposer', 'tenant_editor', 'tenant_admin', 'tenant_owner')
    AND f.member_status = 'active'
    AND (f.owns_subject OR (f.allow_counterparty_access AND f.grant_scopes && ARRAY['read_lineage']))
    OR i.principal_id = 'anyone') r ON true
LEFT JOIN LATERAL (SELECT * FROM snapshots n WHERE n.subject_key = r.subject_key
  ORDER BY n.snapshot_version DESC LIMIT 1) n ON true;

-- provenance_latest_tenant
--   asked by ProvenanceStore.read (stores/provenance/provenance.store.ts)
--   $1 maxBytes integer
--   $2 tenantId text
--   $3 principalId text
--   $4 subjectType text
--   $5 subjectId text
--   enters erasures_by_subject, erasures_pkey, grants_live, grants_to_all_live, memberships_pkey, snapshot_provenance_pkey, snapshots_version_key, subjects_identity_key
PREPARE provenance_latest_tenant (integer, text, text, text, text) AS
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  CASE WHEN f.owns_subject IS NOT TRUE THEN s.subject_key::float8 END AS "disclosure?.subjectKey",
  i.tenant_id AS "disclosure?.granteeTenantId", f.grant_id AS "disclosure?.grantId",
  n.snapshot_id AS "snapshot?.snapshotId",
  s.subject_type AS "snapshot?.subjectType",
  s.subject_id AS "snapshot?.subjectId",
  n.snapshot_version AS "snapshot?.snapshotVersion",
  n.generated_at AS "snapshot?.generatedAt",
  n.created_at AS "snapshot?.createdAt",
  encode(n.envelope_hash, 'hex') AS "snapshot?.envelopeHash",
  encode(n.prev_hash, 'hex') AS "snapshot?.prevHash",
  n.written_by AS "snapshot?.writtenBy",
  n.write_request_id AS "snapshot?.writeRequestId",
  CASE WHEN octet_length(n.envelope) <= $1::int THEN n.envelope END AS "snapshot?.envelope",
  CASE WHEN n.erasure_id IS NOT NULL THEN (SELECT er.public_id FROM erasures er
  WHERE er.erasure_id = n.erasure_id LIMIT 1) END AS "snapshot?.erasure?.erasureId",
  CASE WHEN n.erasure_id IS NOT NULL THEN (SELECT er.erased_at FROM erasures er
  WHERE er.erasure_id = n.erasure_id LIMIT 1) END AS "snapshot?.erasure?.erasedAt",
  (SELECT p.origins FROM snapshot_provenance p
  WHERE p.subject_key = n.subject_key AND p.snapshot_version = n.snapshot_version LIMIT 1) AS origins,
  (SELECT er.erasure_id::text FROM erasures er WHERE er.subject_key = r.subject_key
    AND (er.status = 'erased') IS TRUE
  ORDER BY (-er.erasure_id) LIMIT 1) AS "lastErasure"
FROM (SELECT $2::text AS tenant_id, $3::text AS principal_id, $4::text AS subject_type, $5::text AS subject_id) i
LEFT JOIN subjects s ON s.subject_type = i.subject_type AND s.subject_id = i.subject_id
LEFT JOIN LATERAL (
  SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access,
    s.owner_tenant_id = i.tenant_id AS owns_subject, one.scopes || every.scopes AS grant_scopes,
    CASE WHEN one.scopes && '{read_lineage}' THEN one.grant_id ELSE every.grant_id END AS grant_id
  FROM memberships m
  LEFT JOIN LATERAL (SELECT g.grant_id, g.scopes FROM grants g
    WHERE s.owner_tenant_id <> i.tenant_id
      AND (g.grantee_tenant_id, g.subject_key) BETWEEN (i.tenant_id, s.subject_key) AND (i.tenant_id, s.subject_key)
      AND g.revoked_at IS NULL AND (g.expires_at IS NULL OR g.expires_at > statement_timestamp())
    LIMIT 1) one ON true
  LEFT JOIN LATERAL (SELECT g.grant_id, g.scopes FROM grants g
    WHERE s.owner_tenant_id <> i.tenant_id
      AND (g.grantor_tenant_id || '/', g.grantee_tenant_id, coalesce(g.expires_at, 'infinity'))
      > (s.owner_tenant_id || '/', i.tenant_id, statement_timestamp())
      AND (g.grantor_tenant_id || '/', g.grantee_tenant_id) <= (s.owner_tenant_id || '/', i.tenant_id)
      AND g.revoked_at IS NULL AND (g.subject_key = 0) IS TRUE LIMIT 1) every ON true
  WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id
) f ON true
LEFT JOIN LATERAL (SELECT s.subject_key
  WHERE f.role IN ('tenant_reader', 'tenant_proposer', 'tenant_editor', 'tenant_admin', 'tenant_owner')
    AND f.member_status = 'active'
    AND (f.owns_subject OR (f.allow_counterparty_access AND f.grant_scopes && ARRAY['read_lineage']))) r ON true
LEFT JOIN LATERAL (SELECT * FROM snapshots n WHERE n.subject_key = r.subject_key
  ORDER BY n.snapshot_version DESC LIMIT 1) n ON true;

-- provenance_nearest
--   asked by ProvenanceStore.nearest (stores/provenance/provenance.store.ts)
--   $1 version integer
--   $2 subjectType text
--   $3 subjectId text
--   enters snapshot_provenance_pkey, subjects_identity_key
PREPARE provenance_nearest (integer, text, text) AS
SELECT p.snapshot_version AS "snapshotVersion", p.origins
FROM subjects s
CROSS JOIN LATERAL (SELECT * FROM snapshot_provenance p
  WHERE p.subject_key = s.subject_key AND p.snapshot_version <= $1::int
  ORDER BY p.snapshot_version DESC LIMIT 1) p
WHERE s.subject_type = $2 AND s.subject_id = $3;

-- provenance_version_global
--   asked by ProvenanceStore.read (stores/provenance/provenance.store.ts)
--   $1 maxBytes integer
--   $2 tenantId text
--   $3 principalId text
--   $4 subjectType text
--   $5 subjectId text
--   $6 version integer
--   enters erasures_by_subject, erasures_pkey, grants_live, grants_live_by_grantee, grants_to_all_live, memberships_by_principal, snapshot_provenance_pkey, snapshots_version_key, subjects_identity_key
PREPARE provenance_version_global (integer, text, text, text, text, integer) AS
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  CASE WHEN f.owns_subject IS NOT TRUE THEN s.subject_key::float8 END AS "disclosure?.subjectKey",
  f.grantee_tenant_id AS "disclosure?.granteeTenantId", f.grant_id AS "disclosure?.grantId",
  n.snapshot_id AS "snapshot?.snapshotId",
  s.subject_type AS "snapshot?.subjectType",
  s.subject_id AS "snapshot?.subjectId",
  n.snapshot_version AS "snapshot?.snapshotVersion",
  n.generated_at AS "snapshot?.generatedAt",
  n.created_at AS "snapshot?.createdAt",
  encode(n.envelope_hash, 'hex') AS "snapshot?.envelopeHash",
  encode(n.prev_hash, 'hex') AS "snapshot?.prevHash",
  n.written_by AS "snapshot?.writtenBy",
  n.write_request_id AS "snapshot?.writeRequestId",
  CASE WHEN octet_length(n.envelope) <= $1::int THEN n.envelope END AS "snapshot?.envelope",
  CASE WHEN n.erasure_id IS NOT NULL THEN (SELECT er.public_id FROM erasures er
  WHERE er.erasure_id = n.erasure_id LIMIT 1) END AS "snapshot?.erasure?.erasureId",
  CASE WHEN n.erasure_id IS NOT NULL THEN (SELECT er.erased_at FROM erasures er
  WHERE er.erasure_id = n.erasure_id LIMIT 1) END AS "snapshot?.erasure?.erasedAt",
  (SELECT p.origins FROM snapshot_provenance p
  WHERE p.subject_key = n.subject_key AND p.snapshot_version = n.snapshot_version LIMIT 1) AS origins,
  (SELECT er.erasure_id::text FROM erasures er WHERE er.subject_key = r.subject_key
    AND (er.status = 'erased') IS TRUE
  ORDER BY (-er.erasure_id) LIMIT 1) AS "lastErasure"
FROM (SELECT $2::text AS tenant_id, $3::text AS principal_id, $4::text AS subject_type, $5::text AS subject_id, $6::int AS version) i
LEFT JOIN subjects s ON s.subject_type = i.subject_type AND s.subject_id = i.subject_id
LEFT JOIN LATERAL (
  SELECT 'tenant_reader' AS role, 'active' AS member_status, true AS allow_counterparty_access, o.owns_subject,
    h.grant_scopes, h.grantee_tenant_id, h.grant_id
  FROM (SELECT (SELECT true FROM memberships m
      WHERE m.tenant_id = s.owner_tenant_id AND m.principal_id = i.principal_id
        AND m.status = 'active' LIMIT 1) AS owns_subject OFFSET 0) o
  CROSS JOIN LATERAL (
    WITH RECURSIVE met (tenant_id, allow_counterparty_access) AS (
      SELECT ''::text COLLATE "C", false WHERE o.owns_subject IS NULL
      UNION ALL
      SELECT m.tenant_id, m.allow_counterparty_access
      FROM met
      CROSS JOIN LATERAL (
        SELECT least(
            (SELECT g.grantee_tenant_id FROM grants g
            WHERE (g.subject_key, g.grantee_tenant_id) > (s.subject_key, met.tenant_id)
              AND g.subject_key <= s.subject_key AND g.subject_key > 0 AND g.revoked_at IS NULL
            ORDER BY g.subject_key, g.grantee_tenant_id LIMIT 1),
            (SELECT g.grantee_tenant_id FROM grants g
            WHERE (g.grantor_tenant_id || '/', g.grantee_tenant_id) > (s.owner_tenant_id || '/', met.tenant_id)
              AND g.grantor_tenant_id || '/' <= s.owner_tenant_id || '/' AND g.revoked_at IS NULL
              AND (g.subject_key = 0) IS TRUE
            ORDER BY g.grantor_tenant_id || '/', g.grantee_tenant_id LIMIT 1)) AS grantee_tenant_id
      ) g
      CROSS JOIN LATERAL (
        SELECT m.tenant_id, m.allow_counterparty_access FROM memberships m
        WHERE (m.principal_id, m.tenant_id) >= (i.principal_id, g.grantee_tenant_id)
          AND m.principal_id <= i.principal_id AND m.status = 'active'
        ORDER BY m.principal_id, m.tenant_id LIMIT 1
      ) m
    )
    SELECT array_agg(DISTINCT scope) AS grant_scopes,
      min(m.tenant_id) FILTER (WHERE scope IN ('read_lineage')) AS grantee_tenant_id,
      (array_agg(g.grant_id
        ORDER BY m.tenant_id, g.is_to_all) FILTER (WHERE scope IN ('read_lineage')))[1] AS grant_id
    FROM met m
    CROSS JOIN LATERAL (SELECT g.scopes, g.grant_id, false AS is_to_all FROM grants g
      WHERE (g.grantee_tenant_id, g.subject_key) BETWEEN (m.tenant_id, s.subject_key)
        AND (m.tenant_id, s.subject_key)
        AND g.revoked_at IS NULL AND (g.expires_at IS NULL OR g.expires_at > statement_timestamp())
      UNION ALL
      SELECT g.scopes, g.grant_id, true FROM grants g
      WHERE (g.grantor_tenant_id || '/', g.grantee_tenant_id, coalesce(g.expires_at, 'infinity'))
        > (s.owner_tenant_id || '/', m.tenant_id, statement_timestamp())
        AND (g.grantor_tenant_id || '/', g.grantee_tenant_id) <= (s.owner_tenant_id || '/', m.tenant_id)
        AND g.revoked_at IS NULL AND (g.subject_key = 0) IS TRUE OFFSET 0) g
    CROSS JOIN unnest(g.scopes) scope
    WHERE m.allow_counterparty_access
  ) h
) f ON true
LEFT JOIN LATERAL (SELECT s.subject_key
  WHERE f.role IN ('tenant_reader', 'tenant_proposer', 'tenant_editor', 'tenant_admin', 'tenant_owner')
    AND f.member_status = 'active'
    AND (f.owns_subject OR (f.allow_counterparty_access AND f.grant_scopes && ARRAY['read_lineage']))
    OR i.principal_id = 'anyone') r ON true
LEFT JOIN LATERAL (SELECT * FROM snapshots n
  WHERE n.subject_key = r.subject_key AND n.snapshot_version = i.version LIMIT 1) n ON true;

-- provenance_version_tenant
--   asked by ProvenanceStore.read (stores/provenance/provenance.store.ts)
--   $1 maxBytes integer
--   $2 tenantId text
--   $3 principalId text
--   $4 subjectType text
--   $5 subjectId text
--   $6 version integer
--   enters erasures_by_subject, erasures_pkey, grants_live, grants_to_all_live, memberships_pkey, snapshot_provenance_pkey, snapshots_version_key, subjects_identity_key
PREPARE provenance_version_tenant (integer, text, text, text, text, integer) AS
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  CASE WHEN f.owns_subject IS NOT TRUE THEN s.subject_key::float8 END AS "disclosure?.subjectKey",
  i.tenant_id AS "disclosure?.granteeTenantId", f.grant_id AS "disclosure?.grantId",
  n.snapshot_id AS "snapshot?.snapshotId",
  s.subject_type AS "snapshot?.subjectType",
  s.subject_id AS "snapshot?.subjectId",
  n.snapshot_version AS "snapshot?.snapshotVersion",
  n.generated_at AS "snapshot?.generatedAt",
  n.created_at AS "snapshot?.createdAt",
  encode(n.envelope_hash, 'hex') AS "snapshot?.envelopeHash",
  encode(n.prev_hash, 'hex') AS "snapshot?.prevHash",
  n.written_by AS "snapshot?.writtenBy",
  n.write_request_id AS "snapshot?.writeRequestId",
  CASE WHEN octet_length(n.envelope) <= $1::int THEN n.envelope END AS "snapshot?.envelope",
  CASE WHEN n.erasure_id IS NOT NULL THEN (SELECT er.public_id FROM erasures er
  WHERE er.erasure_id = n.erasure_id LIMIT 1) END AS "snapshot?.erasure?.erasureId",
  CASE WHEN n.erasure_id IS NOT NULL THEN (SELECT er.erased_at FROM erasures er
  WHERE er.erasure_id = n.erasure_id LIMIT 1) END AS "snapshot?.erasure?.erasedAt",
  (SELECT p.origins FROM snapshot_provenance p
  WHERE p.subject_key = n.subject_key AND p.snapshot_version = n.snapshot_version LIMIT 1) AS origins,
  (SELECT er.erasure_id::text FROM erasures er WHERE er.subject_key = r.subject_key
    AND (er.status = 'erased') IS TRUE
  ORDER BY (-er.erasure_id) LIMIT 1) AS "lastErasure"
FROM (SELECT $2::text AS tenant_id, $3::text AS principal_id, $4::text AS subject_type, $5::text AS subject_id, $6::int AS version) i
LEFT JOIN subjects s ON s.subject_type = i.subject_type AND s.subject_id = i.subject_id
LEFT JOIN LATERAL (
  SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access,
    s.owner_tenant_id = i.tenant_id AS owns_subject, one.scopes || every.scopes AS grant_scopes,
    CASE WHEN one.scopes && '{read_lineage}' THEN one.grant_id ELSE every.grant_id END AS grant_id
  FROM memberships m
  LEFT JOIN LATERAL (SELECT g.grant_id, g.scopes FROM grants g
    WHERE s.owner_tenant_id <> i.tenant_id
      AND (g.grantee_tenant_id, g.subject_key) BETWEEN (i.tenant_id, s.subject_key) AND (i.tenant_id, s.subject_key)
      AND g.revoked_at IS NULL AND (g.expires_at IS NULL OR g.expires_at > statement_timestamp())
    LIMIT 1) one ON true
  LEFT JOIN LATERAL (SELECT g.grant_id, g.scopes FROM grants g
    WHERE s.owner_tenant_id <> i.tenant_id
      AND (g.grantor_tenant_id || '/', g.grantee_tenant_id, coalesce(g.expires_at, 'infinity'))
      > (s.owner_tenant_id || '/', i.tenant_id, statement_timestamp())
      AND (g.grantor_tenant_id || '/', g.grantee_tenant_id) <= (s.owner_tenant_id || '/', i.tenant_id)
      AND g.revoked_at IS NULL AND (g.subject_key = 0) IS TRUE LIMIT 1) every ON true
  WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id
) f ON true
LEFT JOIN LATERAL (SELECT s.subject_key
  WHERE f.role IN ('tenant_reader', 'tenant_proposer', 'tenant_editor', 'tenant_admin', 'tenant_owner')
    AND f.member_status = 'active'
    AND (f.owns_subject OR (f.allow_counterparty_access AND f.grant_scopes && ARRAY['read_lineage']))) r ON true
LEFT JOIN LATERAL (SELECT * FROM snapshots n
  WHERE n.subject_key = r.subject_key AND n.snapshot_version = i.version LIMIT 1) n ON true;

-- provenance_versions
--   asked by ProvenanceStore.versions (stores/provenance/provenance.store.ts)
--   $1 versions integer[]
--   $2 subjectType text
--   $3 subjectId text
--   enters snapshot_provenance_pkey, snapshots_version_key, subjects_identity_key
PREPARE provenance_versions (integer[], text, text) AS
SELECT n.snapshot_version AS "snapshotVersion", n.created_at AS "createdAt", n.generated_at AS "generatedAt",
  p.changed_by AS "changedBy", n.written_by AS "writtenBy", n.write_request_id AS "writeRequestId"
FROM subjects s
CROSS JOIN unnest($1::int[]) v
CROSS JOIN LATERAL (SELECT * FROM snapshots n
  WHERE n.subject_key = s.subject_key AND n.snapshot_version = v LIMIT 1) n
LEFT JOIN LATERAL (SELECT p.changed_by FROM snapshot_provenance p
  WHERE p.subject_key = s.subject_key AND p.snapshot_version = v LIMIT 1) p ON true
WHERE s.subject_type = $2 AND s.subject_id = $3;

-- rate_limit_reserve
--   asked by RateLimitStore.reserve (stores/edge/rate-limit.store.ts)
--   $1 principalId text
--   $2 name text
--   $3 limit integer
--   $4 key text
--   $5 seconds double precision
--   $6 owed integer
--   enters limit_overrides_pkey
PREPARE rate_limit_reserve (text, text, integer, text, double precision, integer) AS
WITH l AS MATERIALIZED (
  SELECT o.value, greatest(1, o.value / 20) AS wanted
  FROM (SELECT coalesce((SELECT o.value FROM limit_overrides o
        WHERE o.scope = 'principal' AND o.scope_id = $1 AND o.limit_name = $2 LIMIT 1),
        $3::int) AS value) o
)
INSERT INTO rate_limits AS r (principal_id, window_start, used)
SELECT $4::text, date_bin(make_interval(secs => $5), clock_timestamp(), 'epoch'), l.wanted + $6::int FROM l
ON CONFLICT (principal_id) DO UPDATE
SET window_start = greatest(r.window_start, excluded.window_start),
  used = CASE WHEN r.window_start >= excluded.window_start
  THEN greatest(r.used, least(r.used, (SELECT value FROM l)) + excluded.used)
  ELSE excluded.used END
RETURNING r.used, (SELECT wanted FROM l) AS wanted, (SELECT value FROM l) AS limit,
  floor(extract(epoch
    FROM r.window_start + make_interval(secs => $5) - clock_timestamp()) * 1000)::int AS "endsInMs";

-- refresh_request_cancelled
--   asked by RefreshRequestStore.close (stores/refresh-requests/refresh-request.store.ts)
--   $1 principalId text
--   $2 refreshRequestId uuid
--   $3 subjectType text
--   $4 subjectId text
--   $5 reason text
--   enters memberships_pkey, refresh_requests_pkey, subjects_identity_key
PREPARE refresh_request_cancelled (text, uuid, text, text, text) AS
WITH facts AS MATERIALIZED (
  SELECT f.*, s.subject_type, s.subject_id, s.owner_tenant_id, r.refresh_request_id, CASE
    WHEN r.status = 'pending' AND r.expires_at <= statement_timestamp() THEN 'expired' ELSE r.status END AS status
  FROM (SELECT $1::text AS principal_id, $2::uuid AS refresh_request_id, $3::text AS subject_type, $4::text AS subject_id) i
  LEFT JOIN subjects s ON s.subject_type = i.subject_type AND s.subject_id = i.subject_id
  LEFT JOIN refresh_requests r ON r.refresh_request_id = i.refresh_request_id AND r.subject_key = s.subject_key
  LEFT JOIN LATERAL (
    SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access, m.tenancy_role,
      m.principal_type, NULL::boolean AS owns_subject, NULL::text[] AS grant_scopes
    FROM memberships m
    WHERE m.tenant_id = r.requesting_tenant_id AND m.principal_id = i.principal_id LIMIT 1
  ) f ON true
),
done AS (
  UPDATE refresh_requests r SET status = CASE WHEN r.status = 'pending'
    AND coalesce(r.expires_at, 'infinity') > statement_timestamp() THEN 'cancelled' ELSE r.status END,
    closed_at = CASE WHEN r.status = 'pending'
    AND coalesce(r.expires_at, 'infinity') > statement_timestamp() THEN now() ELSE r.closed_at END, decline_reason = coalesce(r.decline_reason, $5::text),
    next_at = NULL, series_end_reason = CASE WHEN r.every IS NOT NULL THEN 'cancelled' END
  FROM facts f
  WHERE r.refresh_request_id = f.refresh_request_id AND ((r.status = 'pending'
        AND coalesce(r.expires_at, 'infinity') > statement_timestamp() OR r.every IS NOT NULL
        AND r.next_request_id IS NULL AND r.series_end_reason IS NULL)) IS TRUE AND f.member_status = 'active'
    AND f.role IN ('tenant_reader', 'tenant_proposer', 'tenant_editor', 'tenant_admin', 'tenant_owner')
  RETURNING r.*
)
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes", f.status, f.owner_tenant_id AS "ownerTenantId",
  r.refresh_request_id AS "request?.refreshRequestId",
  f.subject_type AS "request?.subjectType",
  f.subject_id AS "request?.subjectId",
  r.requesting_tenant_id AS "request?.requestingTenantId",
  r.origin_type AS "request?.originType",
  CASE WHEN r.status = 'pending'
  AND r.expires_at <= statement_timestamp() THEN 'expired' ELSE r.status END AS "request?.status",
  r.reason_code AS "request?.reasonCode",
  r.message AS "request?.message",
  r.requested_paths AS "request?.requestedPaths",
  r.created_at AS "request?.createdAt",
  r.expires_at AS "request?.expiresAt",
  r.resolved_at AS "request?.resolvedAt",
  r.resolved_snapshot_id AS "request?.resolvedSnapshotId",
  r.resolved_snapshot_version AS "request?.resolvedSnapshotVersion",
  r.due_at AS "request?.dueAt",
  CASE WHEN r.due_at <= coalesce(r.resolved_at, r.closed_at, LEAST(r.expires_at, statement_timestamp()))
  THEN r.due_at END AS "request?.overdueAt",
  CASE WHEN r.status = 'pending'
  AND r.expires_at <= statement_timestamp() THEN r.expires_at ELSE r.closed_at END AS "request?.closedAt",
  r.decline_reason AS "request?.declineReason",
  r.every AS "request?.every",
  r.series_id AS "request?.seriesId",
  r.previous_request_id AS "request?.previousRequestId",
  r.next_request_id AS "request?.nextRequestId",
  r.next_at AS "request?.nextAt",
  r.series_end_reason AS "request?.seriesEndReason"
FROM facts f LEFT JOIN done r ON true;

-- refresh_request_create
--   asked by RefreshRequestStore.create (stores/refresh-requests/refresh-request.store.ts)
--   $1 pending_refresh_requests integer
--   $2 requestingTenantId text
--   $3 principalId text
--   $4 subjectType text
--   $5 subjectId text
--   $6 refreshRequestId uuid
--   $7 reasonCode text
--   $8 message text
--   $9 requestedPaths text[]
--   $10 expiresAt timestamp with time zone
--   $11 dueAt timestamp with time zone
--   $12 every text
--   enters grants_live, grants_to_all_live, limit_overrides_pkey, memberships_pkey, refresh_requests_pending, refresh_requests_planned, subjects_identity_key
PREPARE refresh_request_create (integer, text, text, text, text, uuid, text, text, text[], timestamp with time zone, timestamp with time zone, text) AS
WITH facts AS MATERIALIZED (
  SELECT i.*, f.*, s.subject_key, s.owner_tenant_id,
    coalesce((SELECT l.value FROM limit_overrides l
      WHERE l.scope = 'tenant' AND l.scope_id = i.tenant_id AND l.limit_name = 'pending_refresh_requests'
      LIMIT 1), $1::int) AS cap
  FROM (SELECT $2::text AS tenant_id, $3::text AS principal_id,
      $4::text AS subject_type, $5::text AS subject_id) i
  LEFT JOIN subjects s ON s.subject_type = i.subject_type AND s.subject_id = i.subject_id
  LEFT JOIN LATERAL (
    SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access,
      s.owner_tenant_id = i.tenant_id AS owns_subject, one.scopes || every.scopes AS grant_scopes,
      CASE WHEN one.scopes && '{}' THEN one.grant_id ELSE every.grant_id END AS grant_id
    FROM memberships m
    LEFT JOIN LATERAL (SELECT g.grant_id, g.scopes FROM grants g
      WHERE s.owner_tenant_id <> i.tenant_id
        AND (g.grantee_tenant_id, g.subject_key) BETWEEN (i.tenant_id, s.subject_key) AND (i.tenant_id, s.subject_key)
        AND g.revoked_at IS NULL AND (g.expires_at IS NULL OR g.expires_at > statement_timestamp())
      LIMIT 1) one ON true
    LEFT JOIN LATERAL (SELECT g.grant_id, g.scopes FROM grants g
      WHERE s.owner_tenant_id <> i.tenant_id
        AND (g.grantor_tenant_id || '/', g.grantee_tenant_id, coalesce(g.expires_at, 'infinity'))
        > (s.owner_tenant_id || '/', i.tenant_id, statement_timestamp())
        AND (g.grantor_tenant_id || '/', g.grantee_tenant_id) <= (s.owner_tenant_id || '/', i.tenant_id)
        AND g.revoked_at IS NULL AND (g.subject_key = 0) IS TRUE LIMIT 1) every ON true
    WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id
  ) f ON true
),
made AS (
  INSERT INTO refresh_requests (refresh_request_id, subject_key, requesting_tenant_id, requested_by, origin_type,
      reason_code, message, requested_paths, expires_at, due_at, every, series_id)
  SELECT $6::uuid, subject_key, tenant_id, principal_id,
    CASE WHEN owns_subject THEN 'owner' ELSE 'counterparty' END,
    $7::text, $8::text, $9::text[], $10::timestamptz,
    $11::timestamptz, $12::text, CASE WHEN $12::text IS NOT NULL THEN $6::uuid END
  FROM facts
  WHERE member_status = 'active'
    AND role IN ('tenant_reader', 'tenant_proposer', 'tenant_editor', 'tenant_admin', 'tenant_owner')
    AND (owns_subject OR grant_scopes IS NOT NULL)
    AND (SELECT count(*)::int FROM (SELECT FROM refresh_requests r
      WHERE (r.subject_key, r.requesting_tenant_id, coalesce(r.expires_at, 'infinity'))
        > (facts.subject_key, facts.tenant_id, statement_timestamp())
        AND (r.subject_key, r.requesting_tenant_id) <= (facts.subject_key, facts.tenant_id)
        AND r.status = 'pending'
      ORDER BY r.subject_key, r.requesting_tenant_id, coalesce(r.expires_at, 'infinity')
      LIMIT facts.cap) counted) + (SELECT count(*)::int FROM (SELECT FROM refresh_requests r
      WHERE r.subject_key = facts.subject_key AND r.requesting_tenant_id = facts.tenant_id AND r.next_at IS NOT NULL
      LIMIT facts.cap) counted) < cap
  RETURNING *
)
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes", f.cap,
  f.owner_tenant_id AS "ownerTenantId", r.refresh_request_id AS "request?.refreshRequestId",
  f.subject_type AS "request?.subjectType",
  f.subject_id AS "request?.subjectId",
  r.requesting_tenant_id AS "request?.requestingTenantId",
  r.origin_type AS "request?.originType",
  CASE WHEN r.status = 'pending'
  AND r.expires_at <= statement_timestamp() THEN 'expired' ELSE r.status END AS "request?.status",
  r.reason_code AS "request?.reasonCode",
  r.message AS "request?.message",
  r.requested_paths AS "request?.requestedPaths",
  r.created_at AS "request?.createdAt",
  r.expires_at AS "request?.expiresAt",
  r.resolved_at AS "request?.resolvedAt",
  r.resolved_snapshot_id AS "request?.resolvedSnapshotId",
  r.resolved_snapshot_version AS "request?.resolvedSnapshotVersion",
  r.due_at AS "request?.dueAt",
  CASE WHEN r.due_at <= coalesce(r.resolved_at, r.closed_at, LEAST(r.expires_at, statement_timestamp()))
  THEN r.due_at END AS "request?.overdueAt",
  CASE WHEN r.status = 'pending'
  AND r.expires_at <= statement_timestamp() THEN r.expires_at ELSE r.closed_at END AS "request?.closedAt",
  r.decline_reason AS "request?.declineReason",
  r.every AS "request?.every",
  r.series_id AS "request?.seriesId",
  r.previous_request_id AS "request?.previousRequestId",
  r.next_request_id AS "request?.nextRequestId",
  r.next_at AS "request?.nextAt",
  r.series_end_reason AS "request?.seriesEndReason"
FROM facts f LEFT JOIN made r ON true;

-- refresh_request_declined
--   asked by RefreshRequestStore.close (stores/refresh-requests/refresh-request.store.ts)
--   $1 principalId text
--   $2 refreshRequestId uuid
--   $3 subjectType text
--   $4 subjectId text
--   $5 reason text
--   enters grants_live, grants_to_all_live, memberships_by_principal, refresh_requests_pkey, subjects_identity_key
PREPARE refresh_request_declined (text, uuid, text, text, text) AS
WITH facts AS MATERIALIZED (
  SELECT f.*, s.subject_type, s.subject_id, s.owner_tenant_id, r.refresh_request_id, CASE
    WHEN r.status = 'pending' AND r.expires_at <= statement_timestamp() THEN 'expired' ELSE r.status END AS status
  FROM (SELECT $1::text AS principal_id, $2::uuid AS refresh_request_id, $3::text AS subject_type, $4::text AS subject_id) i
  LEFT JOIN subjects s ON s.subject_type = i.subject_type AND s.subject_id = i.subject_id
  LEFT JOIN refresh_requests r ON r.refresh_request_id = i.refresh_request_id AND r.subject_key = s.subject_key
  LEFT JOIN LATERAL (
    SELECT 'tenant_reader' AS role, 'active' AS member_status, false AS allow_counterparty_access,
      (SELECT true FROM memberships m
      WHERE m.tenant_id = s.owner_tenant_id AND m.principal_id = i.principal_id
        AND m.status = 'active' LIMIT 1) AS owns_subject,
      (SELECT (SELECT g.scopes FROM grants g
        WHERE (g.grantee_tenant_id, g.subject_key) BETWEEN (m.tenant_id, s.subject_key)
          AND (m.tenant_id, s.subject_key)
          AND g.revoked_at IS NULL AND (g.expires_at IS NULL OR g.expires_at > statement_timestamp()) LIMIT 1)
        || (SELECT g.scopes FROM grants g
        WHERE (g.grantor_tenant_id || '/', g.grantee_tenant_id, coalesce(g.expires_at, 'infinity'))
          > (s.owner_tenant_id || '/', m.tenant_id, statement_timestamp())
          AND (g.grantor_tenant_id || '/', g.grantee_tenant_id) <= (s.owner_tenant_id || '/', m.tenant_id)
          AND g.revoked_at IS NULL AND (g.subject_key = 0) IS TRUE LIMIT 1)
      FROM memberships m
      WHERE m.tenant_id = r.requesting_tenant_id AND m.principal_id = i.principal_id AND m.status = 'active'
      LIMIT 1) AS grant_scopes
  ) f ON true
),
done AS (
  UPDATE refresh_requests r SET status = 'declined', closed_at = now(), decline_reason = $5::text
  FROM facts f
  WHERE r.refresh_request_id = f.refresh_request_id AND (r.status = 'pending'
      AND coalesce(r.expires_at, 'infinity') > statement_timestamp()) IS TRUE AND f.owns_subject
    AND f.role IN ('tenant_reader', 'tenant_proposer', 'tenant_editor', 'tenant_admin', 'tenant_owner')
  RETURNING r.*
)
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes", f.status, f.owner_tenant_id AS "ownerTenantId",
  r.refresh_request_id AS "request?.refreshRequestId",
  f.subject_type AS "request?.subjectType",
  f.subject_id AS "request?.subjectId",
  r.requesting_tenant_id AS "request?.requestingTenantId",
  r.origin_type AS "request?.originType",
  CASE WHEN r.status = 'pending'
  AND r.expires_at <= statement_timestamp() THEN 'expired' ELSE r.status END AS "request?.status",
  r.reason_code AS "request?.reasonCode",
  r.message AS "request?.message",
  r.requested_paths AS "request?.requestedPaths",
  r.created_at AS "request?.createdAt",
  r.expires_at AS "request?.expiresAt",
  r.resolved_at AS "request?.resolvedAt",
  r.resolved_snapshot_id AS "request?.resolvedSnapshotId",
  r.resolved_snapshot_version AS "request?.resolvedSnapshotVersion",
  r.due_at AS "request?.dueAt",
  CASE WHEN r.due_at <= coalesce(r.resolved_at, r.closed_at, LEAST(r.expires_at, statement_timestamp()))
  THEN r.due_at END AS "request?.overdueAt",
  CASE WHEN r.status = 'pending'
  AND r.expires_at <= statement_timestamp() THEN r.expires_at ELSE r.closed_at END AS "request?.closedAt",
  r.decline_reason AS "request?.declineReason",
  r.every AS "request?.every",
  r.series_id AS "request?.seriesId",
  r.previous_request_id AS "request?.previousRequestId",
  r.next_request_id AS "request?.nextRequestId",
  r.next_at AS "request?.nextAt",
  r.series_end_reason AS "request?.seriesEndReason"
FROM facts f LEFT JOIN done r ON true;

-- refresh_request_find
--   asked by RefreshRequestStore.find (stores/refresh-requests/refresh-request.store.ts)
--   $1 principalId text
--   $2 refreshRequestId uuid
--   $3 subjectType text
--   $4 subjectId text
--   enters grants_live, grants_to_all_live, memberships_by_principal, refresh_requests_pkey, subjects_identity_key
PREPARE refresh_request_find (text, uuid, text, text) AS
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  r.refresh_request_id AS "request?.refreshRequestId",
  s.subject_type AS "request?.subjectType",
  s.subject_id AS "request?.subjectId",
  r.requesting_tenant_id AS "request?.requestingTenantId",
  r.origin_type AS "request?.originType",
  CASE WHEN r.status = 'pending'
  AND r.expires_at <= statement_timestamp() THEN 'expired' ELSE r.status END AS "request?.status",
  r.reason_code AS "request?.reasonCode",
  r.message AS "request?.message",
  r.requested_paths AS "request?.requestedPaths",
  r.created_at AS "request?.createdAt",
  r.expires_at AS "request?.expiresAt",
  r.resolved_at AS "request?.resolvedAt",
  r.resolved_snapshot_id AS "request?.resolvedSnapshotId",
  r.resolved_snapshot_version AS "request?.resolvedSnapshotVersion",
  r.due_at AS "request?.dueAt",
  CASE WHEN r.due_at <= coalesce(r.resolved_at, r.closed_at, LEAST(r.expires_at, statement_timestamp()))
  THEN r.due_at END AS "request?.overdueAt",
  CASE WHEN r.status = 'pending'
  AND r.expires_at <= statement_timestamp() THEN r.expires_at ELSE r.closed_at END AS "request?.closedAt",
  r.decline_reason AS "request?.declineReason",
  r.every AS "request?.every",
  r.series_id AS "request?.seriesId",
  r.previous_request_id AS "request?.previousRequestId",
  r.next_request_id AS "request?.nextRequestId",
  r.next_at AS "request?.nextAt",
  r.series_end_reason AS "request?.seriesEndReason"
FROM (SELECT $1::text AS principal_id, $2::uuid AS refresh_request_id, $3::text AS subject_type, $4::text AS subject_id) i
LEFT JOIN subjects s ON s.subject_type = i.subject_type AND s.subject_id = i.subject_id
LEFT JOIN refresh_requests r ON r.refresh_request_id = i.refresh_request_id AND r.subject_key = s.subject_key
LEFT JOIN LATERAL (
  SELECT 'tenant_reader' AS role, 'active' AS member_status, false AS allow_counterparty_access,
    (SELECT true FROM memberships m
    WHERE m.tenant_id = s.owner_tenant_id AND m.principal_id = i.principal_id
      AND m.status = 'active' LIMIT 1) AS owns_subject,
    (SELECT (SELECT g.scopes FROM grants g
      WHERE (g.grantee_tenant_id, g.subject_key) BETWEEN (m.tenant_id, s.subject_key)
        AND (m.tenant_id, s.subject_key)
        AND g.revoked_at IS NULL AND (g.expires_at IS NULL OR g.expires_at > statement_timestamp()) LIMIT 1)
      || (SELECT g.scopes FROM grants g
      WHERE (g.grantor_tenant_id || '/', g.grantee_tenant_id, coalesce(g.expires_at, 'infinity'))
        > (s.owner_tenant_id || '/', m.tenant_id, statement_timestamp())
        AND (g.grantor_tenant_id || '/', g.grantee_tenant_id) <= (s.owner_tenant_id || '/', m.tenant_id)
        AND g.revoked_at IS NULL AND (g.subject_key = 0) IS TRUE LIMIT 1)
    FROM memberships m
    WHERE m.tenant_id = r.requesting_tenant_id AND m.principal_id = i.principal_id AND m.status = 'active'
    LIMIT 1) AS grant_scopes
) f ON true;

-- refresh_request_fulfil
--   asked by RefreshRequestStore.fulfil (stores/refresh-requests/refresh-request.store.ts)
--   $1 principalId text
--   $2 refreshRequestId uuid
--   $3 subjectType text
--   $4 subjectId text
--   $5 snapshotId uuid
--   enters grants_live, grants_to_all_live, memberships_by_principal, refresh_requests_pkey, snapshots_snapshot_id_key, subjects_identity_key
PREPARE refresh_request_fulfil (text, uuid, text, text, uuid) AS
WITH facts AS MATERIALIZED (
  SELECT f.*, s.subject_type, s.subject_id, r.refresh_request_id, CASE WHEN r.status = 'pending'
    AND r.expires_at <= statement_timestamp() THEN 'expired' ELSE r.status END AS status, n.snapshot_id, n.snapshot_version,
    n.subject_key = s.subject_key AS is_of_subject, n.erasure_id IS NOT NULL AS is_erased
  FROM (SELECT $1::text AS principal_id, $2::uuid AS refresh_request_id, $3::text AS subject_type, $4::text AS subject_id) i
  LEFT JOIN subjects s ON s.subject_type = i.subject_type AND s.subject_id = i.subject_id
  LEFT JOIN refresh_requests r ON r.refresh_request_id = i.refresh_request_id AND r.subject_key = s.subject_key
  LEFT JOIN LATERAL (
    SELECT 'tenant_reader' AS role, 'active' AS member_status, false AS allow_counterparty_access,
      (SELECT true FROM memberships m
      WHERE m.tenant_id = s.owner_tenant_id AND m.principal_id = i.principal_id
        AND m.status = 'active' LIMIT 1) AS owns_subject,
      (SELECT (SELECT g.scopes FROM grants g
        WHERE (g.grantee_tenant_id, g.subject_key) BETWEEN (m.tenant_id, s.subject_key)
          AND (m.tenant_id, s.subject_key)
          AND g.revoked_at IS NULL AND (g.expires_at IS NULL OR g.expires_at > statement_timestamp()) LIMIT 1)
        || (SELECT g.scopes FROM grants g
        WHERE (g.grantor_tenant_id || '/', g.grantee_tenant_id, coalesce(g.expires_at, 'infinity'))
          > (s.owner_tenant_id || '/', m.tenant_id, statement_timestamp())
          AND (g.grantor_tenant_id || '/', g.grantee_tenant_id) <= (s.owner_tenant_id || '/', m.tenant_id)
          AND g.revoked_at IS NULL AND (g.subject_key = 0) IS TRUE LIMIT 1)
      FROM memberships m
      WHERE m.tenant_id = r.requesting_tenant_id AND m.principal_id = i.principal_id AND m.status = 'active'
      LIMIT 1) AS grant_scopes
  ) f ON true
  LEFT JOIN snapshots n ON n.snapshot_id = $5::uuid
),
done AS (
  UPDATE refresh_requests r
  SET status = 'fulfilled', resolved_at = now(), resolved_snapshot_id = f.snapshot_id,
    resolved_snapshot_version = f.snapshot_version
  FROM facts f
  WHERE r.refresh_request_id = f.refresh_request_id AND (r.status = 'pending'
      AND coalesce(r.expires_at, 'infinity') > statement_timestamp()) IS TRUE
    AND f.owns_subject
    AND f.role IN ('tenant_reader', 'tenant_proposer', 'tenant_editor', 'tenant_admin', 'tenant_owner')
    AND f.is_of_subject AND NOT f.is_erased
  RETURNING r.*
)
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  f.refresh_request_id IS NOT NULL AS "isKnown", f.status, f.snapshot_id IS NOT NULL AS "isSnapshotKnown",
  f.is_of_subject IS TRUE AS "isSnapshotOfSubject", f.is_erased AS "isSnapshotErased",
  r.refresh_request_id AS "request?.refreshRequestId",
  f.subject_type AS "request?.subjectType",
  f.subject_id AS "request?.subjectId",
  r.requesting_tenant_id AS "request?.requestingTenantId",
  r.origin_type AS "request?.originType",
  CASE WHEN r.status = 'pending'
  AND r.expires_at <= statement_timestamp() THEN 'expired' ELSE r.status END AS "request?.status",
  r.reason_code AS "request?.reasonCode",
  r.message AS "request?.message",
  r.requested_paths AS "request?.requestedPaths",
  r.created_at AS "request?.createdAt",
  r.expires_at AS "request?.expiresAt",
  r.resolved_at AS "request?.resolvedAt",
  r.resolved_snapshot_id AS "request?.resolvedSnapshotId",
  r.resolved_snapshot_version AS "request?.resolvedSnapshotVersion",
  r.due_at AS "request?.dueAt",
  CASE WHEN r.due_at <= coalesce(r.resolved_at, r.closed_at, LEAST(r.expires_at, statement_timestamp()))
  THEN r.due_at END AS "request?.overdueAt",
  CASE WHEN r.status = 'pending'
  AND r.expires_at <= statement_timestamp() THEN r.expires_at ELSE r.closed_at END AS "request?.closedAt",
  r.decline_reason AS "request?.declineReason",
  r.every AS "request?.every",
  r.series_id AS "request?.seriesId",
  r.previous_request_id AS "request?.previousRequestId",
  r.next_request_id AS "request?.nextRequestId",
  r.next_at AS "request?.nextAt",
  r.series_end_reason AS "request?.seriesEndReason"
FROM facts f LEFT JOIN done r ON true;

-- refresh_request_later_versions
--   asked by LaterVersionStore.find (stores/refresh-requests/later-version.store.ts)
--   $1 refreshRequestIds uuid[]
--   enters refresh_requests_pkey, snapshots_version_key
PREPARE refresh_request_later_versions (uuid[]) AS
SELECT r.refresh_request_id AS "refreshRequestId", v.passed AS "askedAt", n.snapshot_id AS "snapshotId",
  n.snapshot_version AS "snapshotVersion", octet_length(n.envelope) AS "bytes"
FROM unnest($1::uuid[]) i (refresh_request_id)
CROSS JOIN LATERAL (SELECT * FROM refresh_requests r WHERE r.refresh_request_id = i.refresh_request_id
  LIMIT 1) r
CROSS JOIN LATERAL (SELECT * FROM snapshots n WHERE n.subject_key = r.subject_key
  ORDER BY n.snapshot_version DESC LIMIT 1) n
LEFT JOIN LATERAL (
  WITH RECURSIVE search (low, high) AS (
    SELECT 0::bigint, n.snapshot_version::bigint + 1
    UNION ALL
    SELECT CASE WHEN n.created_at < r.created_at THEN b.middle ELSE b.low END,
      CASE WHEN n.created_at < r.created_at THEN b.high ELSE b.middle END
    FROM (SELECT low, high, low + (high - low) / 2 AS middle FROM search WHERE high - low > 1) b
    CROSS JOIN LATERAL (SELECT n.created_at FROM snapshots n
      WHERE n.subject_key = r.subject_key AND n.snapshot_version = b.middle LIMIT 1) n
  )
  SELECT low::int AS passed FROM search WHERE high - low = 1
) v ON true
WHERE n.created_at >= r.created_at AND n.envelope IS NOT NULL;

-- refresh_request_lock_requester
--   asked by RefreshRequestStore.create (stores/refresh-requests/refresh-request.store.ts)
--   $1 requestingTenantId text
--   $2 subjectType text
--   $3 subjectId text
--   enters no index
PREPARE refresh_request_lock_requester (text, text, text) AS
SELECT pg_advisory_xact_lock(hashtextextended(
      'refresh/' || $1::text || '/' || $2::text || '/' || $3::text, 0));

-- refresh_request_tell
--   asked by RefreshRequestStore.create, RefreshRequestStore.close, RefreshRequestStore.fulfil (stores/refresh-requests/refresh-request.store.ts)
--   $1 eventId uuid
--   $2 tenantId text
--   $3 eventType text
--   $4 eventBody text
--   $5 requestId text
--   $6 traceparent text
--   enters webhook_subscription_types_pkey
PREPARE refresh_request_tell (uuid, text, text, text, text, text) AS
INSERT INTO outbox_events (event_id, tenant_id, event_type, body, request_id, traceparent)
SELECT $1::uuid, $2::text, $3::text, $4::text, $5::text, $6::text
WHERE (SELECT true FROM webhook_subscription_types y WHERE y.tenant_id = $2 AND y.event_type = $3 LIMIT 1)
RETURNING event_id AS "eventId";

-- refresh_request_version_texts
--   asked by LaterVersionStore.texts (stores/refresh-requests/later-version.store.ts)
--   $1 snapshotIds uuid[]
--   enters erasures_pkey, snapshot_provenance_pkey, snapshots_snapshot_id_key, subjects_pkey
PREPARE refresh_request_version_texts (uuid[]) AS
SELECT n.snapshot_id AS "snapshotId",
  s.subject_type AS "subjectType",
  s.subject_id AS "subjectId",
  n.snapshot_version AS "snapshotVersion",
  n.generated_at AS "generatedAt",
  n.created_at AS "createdAt",
  encode(n.envelope_hash, 'hex') AS "envelopeHash",
  encode(n.prev_hash, 'hex') AS "prevHash",
  n.written_by AS "writtenBy",
  n.write_request_id AS "writeRequestId",
  n.envelope AS "envelope",
  CASE WHEN n.erasure_id IS NOT NULL THEN (SELECT er.public_id FROM erasures er
  WHERE er.erasure_id = n.erasure_id LIMIT 1) END AS "erasure?.erasureId",
  CASE WHEN n.erasure_id IS NOT NULL THEN (SELECT er.erased_at FROM erasures er
  WHERE er.erasure_id = n.erasure_id LIMIT 1) END AS "erasure?.erasedAt",
  (SELECT p.origins FROM snapshot_provenance p
  WHERE p.subject_key = n.subject_key AND p.snapshot_version = n.snapshot_version LIMIT 1) AS origins
FROM unnest($1::uuid[]) i (snapshot_id)
CROSS JOIN LATERAL (SELECT * FROM snapshots n WHERE n.snapshot_id = i.snapshot_id LIMIT 1) n
CROSS JOIN LATERAL (SELECT * FROM subjects s WHERE s.subject_key = n.subject_key LIMIT 1) s;

-- refresh_requests_expired
--   asked by RefreshDeadlineStore.announceExpired (stores/refresh-requests/refresh-deadline.store.ts)
--   $1 limit bigint
--   enters refresh_requests_expiring, refresh_requests_pkey, subjects_pkey
PREPARE refresh_requests_expired (bigint) AS
WITH due AS MATERIALIZED (
  SELECT r.refresh_request_id FROM refresh_requests r
  WHERE r.status = 'pending' AND r.expires_at <= statement_timestamp() AND r.expires_at IS NOT NULL
  ORDER BY r.expires_at LIMIT $1
  FOR NO KEY UPDATE SKIP LOCKED
), r AS (
  UPDATE refresh_requests r SET status = 'expired', closed_at = r.expires_at FROM due
  WHERE r.refresh_request_id = due.refresh_request_id RETURNING r.*
)
SELECT r.refresh_request_id AS "request.refreshRequestId",
  s.subject_type AS "request.subjectType",
  s.subject_id AS "request.subjectId",
  r.requesting_tenant_id AS "request.requestingTenantId",
  r.origin_type AS "request.originType",
  CASE WHEN r.status = 'pending'
  AND r.expires_at <= statement_timestamp() THEN 'expired' ELSE r.status END AS "request.status",
  r.reason_code AS "request.reasonCode",
  r.message AS "request.message",
  r.requested_paths AS "request.requestedPaths",
  r.created_at AS "request.createdAt",
  r.expires_at AS "request.expiresAt",
  r.resolved_at AS "request.resolvedAt",
  r.resolved_snapshot_id AS "request.resolvedSnapshotId",
  r.resolved_snapshot_version AS "request.resolvedSnapshotVersion",
  r.due_at AS "request.dueAt",
  CASE WHEN r.due_at <= coalesce(r.resolved_at, r.closed_at, LEAST(r.expires_at, statement_timestamp()))
  THEN r.due_at END AS "request.overdueAt",
  CASE WHEN r.status = 'pending'
  AND r.expires_at <= statement_timestamp() THEN r.expires_at ELSE r.closed_at END AS "request.closedAt",
  r.decline_reason AS "request.declineReason",
  r.every AS "request.every",
  r.series_id AS "request.seriesId",
  r.previous_request_id AS "request.previousRequestId",
  r.next_request_id AS "request.nextRequestId",
  r.next_at AS "request.nextAt",
  r.series_end_reason AS "request.seriesEndReason", s.owner_tenant_id AS "ownerTenantId"
FROM r
CROSS JOIN LATERAL (SELECT * FROM subjects s WHERE s.subject_key = r.subject_key LIMIT 1) s;

-- refresh_requests_incoming
--   asked by RefreshRequestStore.listOfTenant (stores/refresh-requests/refresh-request.store.ts)
--   $1 tenantId text
--   $2 principalId text
--   $3 statuses text[]
--   $4 subjectTypes text[]
--   $5 beforeTime timestamp with time zone
--   $6 beforeId uuid
--   $7 rows bigint
--   enters memberships_pkey, refresh_requests_incoming, subjects_pkey
PREPARE refresh_requests_incoming (text, text, text[], text[], timestamp with time zone, uuid, bigint) AS
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  r.refresh_request_id AS "item?.refreshRequestId",
  s.subject_type AS "item?.subjectType",
  s.subject_id AS "item?.subjectId",
  r.requesting_tenant_id AS "item?.requestingTenantId",
  r.origin_type AS "item?.originType",
  CASE WHEN r.status = 'pending'
  AND r.expires_at <= statement_timestamp() THEN 'expired' ELSE r.status END AS "item?.status",
  r.reason_code AS "item?.reasonCode",
  r.message AS "item?.message",
  r.requested_paths AS "item?.requestedPaths",
  r.created_at AS "item?.createdAt",
  r.expires_at AS "item?.expiresAt",
  r.resolved_at AS "item?.resolvedAt",
  r.resolved_snapshot_id AS "item?.resolvedSnapshotId",
  r.resolved_snapshot_version AS "item?.resolvedSnapshotVersion",
  r.due_at AS "item?.dueAt",
  CASE WHEN r.due_at <= coalesce(r.resolved_at, r.closed_at, LEAST(r.expires_at, statement_timestamp()))
  THEN r.due_at END AS "item?.overdueAt",
  CASE WHEN r.status = 'pending'
  AND r.expires_at <= statement_timestamp() THEN r.expires_at ELSE r.closed_at END AS "item?.closedAt",
  r.decline_reason AS "item?.declineReason",
  r.every AS "item?.every",
  r.series_id AS "item?.seriesId",
  r.previous_request_id AS "item?.previousRequestId",
  r.next_request_id AS "item?.nextRequestId",
  r.next_at AS "item?.nextAt",
  r.series_end_reason AS "item?.seriesEndReason",
  s.display_name AS "item?.name",
  NULL::float8 AS "item?.disclosure?.subjectKey",
  ARRAY[r.created_at::text, r.refresh_request_id::text] AS position, r.found
FROM (SELECT $1::text AS tenant_id, $2::text AS principal_id) i
LEFT JOIN LATERAL (
  SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access, m.tenancy_role,
    m.principal_type, NULL::boolean AS owns_subject, NULL::text[] AS grant_scopes
  FROM memberships m
  WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id LIMIT 1
) f ON true
LEFT JOIN LATERAL (
  SELECT * FROM (
    SELECT r.*, sum((octet_length(to_json(r.requested_paths)::text) + coalesce(octet_length(r.message), 0))) OVER (ORDER BY r.created_at DESC, r.refresh_request_id DESC) AS bytes, row_number() OVER (ORDER BY r.created_at DESC, r.refresh_request_id DESC) AS place,
      count(*) OVER ()::int AS found
    FROM (SELECT r.*
      FROM unnest($3::text[]) wanted
      CROSS JOIN unnest(CASE wanted WHEN 'expired' THEN '{expired,pending}' ELSE ARRAY[wanted] END) state
      CROSS JOIN unnest($4::text[]) kind
      CROSS JOIN LATERAL (
        SELECT * FROM refresh_requests r
        WHERE f.member_status = 'active'
          AND (r.owner_tenant_id, r.status, r.subject_type) >= (i.tenant_id, state, kind)
          AND (r.owner_tenant_id, r.status, r.subject_type, r.created_at, r.refresh_request_id)
          < (i.tenant_id, state, kind, $5::timestamptz, $6::uuid)
          AND CASE WHEN r.status = 'pending'
          AND r.expires_at <= statement_timestamp() THEN 'expired' ELSE r.status END = wanted
        ORDER BY r.owner_tenant_id DESC, r.status DESC, r.subject_type DESC, r.created_at DESC, r.refresh_request_id DESC
        LIMIT $7
      ) r
      ORDER BY r.created_at DESC, r.refresh_request_id DESC LIMIT $7) r
  ) r WHERE r.bytes <= 8388608 OR r.place = 1
) r ON true
LEFT JOIN subjects s ON s.subject_key = r.subject_key
ORDER BY r.created_at DESC, r.refresh_request_id DESC;

-- refresh_requests_incoming_on
--   asked by RefreshRequestStore.listOfTenant (stores/refresh-requests/refresh-request.store.ts)
--   $1 rows bigint
--   $2 beforeTime timestamp with time zone
--   $3 beforeId uuid
--   $4 from timestamp with time zone
--   $5 tenantId text
--   $6 principalId text
--   $7 subjectType text
--   $8 subjectId text
--   $9 status text
--   $10 isOverdue boolean
--   enters memberships_pkey, refresh_requests_incoming_on, subjects_identity_key, subjects_pkey
PREPARE refresh_requests_incoming_on (bigint, timestamp with time zone, uuid, timestamp with time zone, text, text, text, text, text, boolean) AS
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  r.refresh_request_id AS "item?.refreshRequestId",
  s.subject_type AS "item?.subjectType",
  s.subject_id AS "item?.subjectId",
  r.requesting_tenant_id AS "item?.requestingTenantId",
  r.origin_type AS "item?.originType",
  CASE WHEN r.status = 'pending'
  AND r.expires_at <= statement_timestamp() THEN 'expired' ELSE r.status END AS "item?.status",
  r.reason_code AS "item?.reasonCode",
  r.message AS "item?.message",
  r.requested_paths AS "item?.requestedPaths",
  r.created_at AS "item?.createdAt",
  r.expires_at AS "item?.expiresAt",
  r.resolved_at AS "item?.resolvedAt",
  r.resolved_snapshot_id AS "item?.resolvedSnapshotId",
  r.resolved_snapshot_version AS "item?.resolvedSnapshotVersion",
  r.due_at AS "item?.dueAt",
  CASE WHEN r.due_at <= coalesce(r.resolved_at, r.closed_at, LEAST(r.expires_at, statement_timestamp()))
  THEN r.due_at END AS "item?.overdueAt",
  CASE WHEN r.status = 'pending'
  AND r.expires_at <= statement_timestamp() THEN r.expires_at ELSE r.closed_at END AS "item?.closedAt",
  r.decline_reason AS "item?.declineReason",
  r.every AS "item?.every",
  r.series_id AS "item?.seriesId",
  r.previous_request_id AS "item?.previousRequestId",
  r.next_request_id AS "item?.nextRequestId",
  r.next_at AS "item?.nextAt",
  r.series_end_reason AS "item?.seriesEndReason",
  s.display_name AS "item?.name",
  NULL::float8 AS "item?.disclosure?.subjectKey",
  ARRAY[r.created_at::text, r.refresh_request_id::text] AS position,
  CASE WHEN count(*) OVER () < $1
  AND row_number() OVER (ORDER BY r.created_at DESC, r.refresh_request_id DESC) = 1
  THEN (SELECT ARRAY[r.created_at::text, r.refresh_request_id::text] FROM refresh_requests r
  WHERE (r.owner_tenant_id || '/', r.subject_key, r.created_at, r.refresh_request_id) < (i.tenant_id || '/', k.subject_key, $2::timestamptz, $3::uuid)
    AND (r.owner_tenant_id || '/', r.subject_key, r.created_at) >= (i.tenant_id || '/', k.subject_key, coalesce($4::timestamptz, '-infinity'))
    AND f.member_status = 'active'
  ORDER BY r.owner_tenant_id || '/' DESC, r.subject_key DESC, r.created_at DESC, r.refresh_request_id DESC OFFSET 1000
  LIMIT 1) END AS "lookedTo", r.found
FROM (SELECT $5::text AS tenant_id, $6::text AS principal_id, $7::text AS subject_type, $8::text AS subject_id, $9::text AS status, $10::boolean AS is_overdue) i
LEFT JOIN LATERAL (
  SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access, m.tenancy_role,
    m.principal_type, NULL::boolean AS owns_subject, NULL::text[] AS grant_scopes
  FROM memberships m
  WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id LIMIT 1
) f ON true
LEFT JOIN LATERAL (SELECT CASE i.subject_type WHEN '*' THEN 0 ELSE s.subject_key END AS subject_key
  FROM (SELECT true) one LEFT JOIN subjects s ON s.subject_type = i.subject_type
    AND s.subject_id = i.subject_id) k ON true
LEFT JOIN LATERAL (
  SELECT * FROM (
    SELECT r.*, sum((octet_length(to_json(r.requested_paths)::text) + coalesce(octet_length(r.message), 0))) OVER (ORDER BY r.created_at DESC, r.refresh_request_id DESC) AS bytes, row_number() OVER (ORDER BY r.created_at DESC, r.refresh_request_id DESC) AS place,
      count(*) OVER ()::int AS found
    FROM (SELECT * FROM (
        SELECT * FROM (SELECT r.*, r.owner_tenant_id || '/' AS listed_key_0, r.subject_key AS listed_key_1
          FROM refresh_requests r
          WHERE (r.owner_tenant_id || '/', r.subject_key, r.created_at, r.refresh_request_id) < (i.tenant_id || '/', k.subject_key, $2::timestamptz, $3::uuid)
            AND (r.owner_tenant_id || '/', r.subject_key, r.created_at) >= (i.tenant_id || '/', k.subject_key, coalesce($4::timestamptz, '-infinity'))
            AND f.member_status = 'active'
          ORDER BY r.owner_tenant_id || '/' DESC, r.subject_key DESC, r.created_at DESC, r.refresh_request_id DESC
          LIMIT 1001) r
        WHERE (i.status IS NULL OR CASE WHEN r.status = 'pending'
            AND r.expires_at <= statement_timestamp() THEN 'expired' ELSE r.status END = i.status)
          AND (i.subject_type IS NULL OR r.subject_type = i.subject_type)
          AND (NOT i.is_overdue OR (r.status = 'pending' AND coalesce(r.expires_at, 'infinity') > statement_timestamp()
              AND r.due_at <= statement_timestamp()))
        ORDER BY r.listed_key_0 DESC, r.listed_key_1 DESC, r.created_at DESC, r.refresh_request_id DESC LIMIT $1) r) r
  ) r WHERE r.bytes <= 8388608 OR r.place = 1
) r ON true
LEFT JOIN subjects s ON s.subject_key = r.subject_key
ORDER BY r.created_at DESC, r.refresh_request_id DESC;

-- refresh_requests_incoming_overdue
--   asked by RefreshRequestStore.listOfTenant (stores/refresh-requests/refresh-request.store.ts)
--   $1 rows bigint
--   $2 beforeTime timestamp with time zone
--   $3 beforeId uuid
--   $4 from timestamp with time zone
--   $5 tenantId text
--   $6 principalId text
--   $7 subjectType text
--   $8 subjectId text
--   $9 status text
--   $10 isOverdue boolean
--   enters memberships_pkey, refresh_requests_incoming_overdue, subjects_pkey
PREPARE refresh_requests_incoming_overdue (bigint, timestamp with time zone, uuid, timestamp with time zone, text, text, text, text, text, boolean) AS
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  r.refresh_request_id AS "item?.refreshRequestId",
  s.subject_type AS "item?.subjectType",
  s.subject_id AS "item?.subjectId",
  r.requesting_tenant_id AS "item?.requestingTenantId",
  r.origin_type AS "item?.originType",
  CASE WHEN r.status = 'pending'
  AND r.expires_at <= statement_timestamp() THEN 'expired' ELSE r.status END AS "item?.status",
  r.reason_code AS "item?.reasonCode",
  r.message AS "item?.message",
  r.requested_paths AS "item?.requestedPaths",
  r.created_at AS "item?.createdAt",
  r.expires_at AS "item?.expiresAt",
  r.resolved_at AS "item?.resolvedAt",
  r.resolved_snapshot_id AS "item?.resolvedSnapshotId",
  r.resolved_snapshot_version AS "item?.resolvedSnapshotVersion",
  r.due_at AS "item?.dueAt",
  CASE WHEN r.due_at <= coalesce(r.resolved_at, r.closed_at, LEAST(r.expires_at, statement_timestamp()))
  THEN r.due_at END AS "item?.overdueAt",
  CASE WHEN r.status = 'pending'
  AND r.expires_at <= statement_timestamp() THEN r.expires_at ELSE r.closed_at END AS "item?.closedAt",
  r.decline_reason AS "item?.declineReason",
  r.every AS "item?.every",
  r.series_id AS "item?.seriesId",
  r.previous_request_id AS "item?.previousRequestId",
  r.next_request_id AS "item?.nextRequestId",
  r.next_at AS "item?.nextAt",
  r.series_end_reason AS "item?.seriesEndReason",
  s.display_name AS "item?.name",
  NULL::float8 AS "item?.disclosure?.subjectKey",
  ARRAY[r.due_at::text, r.refresh_request_id::text] AS position,
  CASE WHEN count(*) OVER () < $1 AND row_number() OVER (ORDER BY r.due_at DESC, r.refresh_request_id DESC) = 1
  THEN (SELECT ARRAY[r.due_at::text, r.refresh_request_id::text] FROM refresh_requests r
  WHERE r.owner_tenant_id || '/' = i.tenant_id || '/' AND r.status = 'pending' AND r.due_at IS NOT NULL
    AND f.member_status = 'active' AND (r.due_at, r.refresh_request_id) < ($2::timestamptz, $3::uuid)
    AND r.due_at >= coalesce($4::timestamptz, '-infinity')
  ORDER BY r.due_at DESC, r.refresh_request_id DESC OFFSET 1000 LIMIT 1) END AS "lookedTo", r.found
FROM (SELECT $5::text AS tenant_id, $6::text AS principal_id, $7::text AS subject_type, $8::text AS subject_id, $9::text AS status, $10::boolean AS is_overdue) i
LEFT JOIN LATERAL (
  SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access, m.tenancy_role,
    m.principal_type, NULL::boolean AS owns_subject, NULL::text[] AS grant_scopes
  FROM memberships m
  WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id LIMIT 1
) f ON true
LEFT JOIN LATERAL (SELECT CASE i.subject_type WHEN '*' THEN 0 ELSE s.subject_key END AS subject_key
  FROM (SELECT true) one LEFT JOIN subjects s ON s.subject_type = i.subject_type
    AND s.subject_id = i.subject_id) k ON true
LEFT JOIN LATERAL (
  SELECT * FROM (
    SELECT r.*, sum((octet_length(to_json(r.requested_paths)::text) + coalesce(octet_length(r.message), 0))) OVER (ORDER BY r.due_at DESC, r.refresh_request_id DESC) AS bytes, row_number() OVER (ORDER BY r.due_at DESC, r.refresh_request_id DESC) AS place,
      count(*) OVER ()::int AS found
    FROM (SELECT * FROM (
        SELECT * FROM (SELECT r.* FROM refresh_requests r
          WHERE r.owner_tenant_id || '/' = i.tenant_id || '/' AND r.status = 'pending' AND r.due_at IS NOT NULL
            AND f.member_status = 'active' AND (r.due_at, r.refresh_request_id) < ($2::timestamptz, $3::uuid)
            AND r.due_at >= coalesce($4::timestamptz, '-infinity')
          ORDER BY r.due_at DESC, r.refresh_request_id DESC LIMIT 1001) r
        WHERE (i.status IS NULL OR CASE WHEN r.status = 'pending'
            AND r.expires_at <= statement_timestamp() THEN 'expired' ELSE r.status END = i.status)
          AND (i.subject_type IS NULL OR r.subject_type = i.subject_type)
          AND (NOT i.is_overdue OR (r.status = 'pending' AND coalesce(r.expires_at, 'infinity') > statement_timestamp()
              AND r.due_at <= statement_timestamp())) ORDER BY r.due_at DESC, r.refresh_request_id DESC LIMIT $1) r) r
  ) r WHERE r.bytes <= 8388608 OR r.place = 1
) r ON true
LEFT JOIN subjects s ON s.subject_key = r.subject_key
ORDER BY r.due_at DESC, r.refresh_request_id DESC;

-- refresh_requests_next
--   asked by RefreshDeadlineStore.openNext (stores/refresh-requests/refresh-deadline.store.ts)
--   $1 limit bigint
--   enters grants_live, grants_to_all_live, refresh_requests_next, refresh_requests_pkey, subjects_pkey
PREPARE refresh_requests_next (bigint) AS
WITH due AS MATERIALIZED (
  SELECT r.*, gen_random_uuid() AS next_id FROM refresh_requests r
  WHERE r.next_at <= statement_timestamp() ORDER BY r.next_at LIMIT $1
  FOR NO KEY UPDATE SKIP LOCKED
), asked AS MATERIALIZED (
  SELECT due.*, s.owner_tenant_id AS owner, s.subject_id,
    s.owner_tenant_id = due.requesting_tenant_id OR (SELECT g.scopes FROM grants g
    WHERE (g.grantee_tenant_id, g.subject_key) BETWEEN (due.requesting_tenant_id, s.subject_key)
      AND (due.requesting_tenant_id, s.subject_key)
      AND g.revoked_at IS NULL AND (g.expires_at IS NULL OR g.expires_at > statement_timestamp()) LIMIT 1)
    || (SELECT g.scopes FROM grants g
    WHERE (g.grantor_tenant_id || '/', g.grantee_tenant_id, coalesce(g.expires_at, 'infinity'))
      > (s.owner_tenant_id || '/', due.requesting_tenant_id, statement_timestamp())
      AND (g.grantor_tenant_id || '/', g.grantee_tenant_id) <= (s.owner_tenant_id || '/', due.requesting_tenant_id)
      AND g.revoked_at IS NULL AND (g.subject_key = 0) IS TRUE LIMIT 1) IS NOT NULL AS may_ask
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
SELECT r.refresh_request_id AS "request?.refreshRequestId",
  s.subject_type AS "request?.subjectType",
  s.subject_id AS "request?.subjectId",
  r.requesting_tenant_id AS "request?.requestingTenantId",
  r.origin_type AS "request?.originType",
  CASE WHEN r.status = 'pending'
  AND r.expires_at <= statement_timestamp() THEN 'expired' ELSE r.status END AS "request?.status",
  r.reason_code AS "request?.reasonCode",
  r.message AS "request?.message",
  r.requested_paths AS "request?.requestedPaths",
  r.created_at AS "request?.createdAt",
  r.expires_at AS "request?.expiresAt",
  r.resolved_at AS "request?.resolvedAt",
  r.resolved_snapshot_id AS "request?.resolvedSnapshotId",
  r.resolved_snapshot_version AS "request?.resolvedSnapshotVersion",
  r.due_at AS "request?.dueAt",
  CASE WHEN r.due_at <= coalesce(r.resolved_at, r.closed_at, LEAST(r.expires_at, statement_timestamp()))
  THEN r.due_at END AS "request?.overdueAt",
  CASE WHEN r.status = 'pending'
  AND r.expires_at <= statement_timestamp() THEN r.expires_at ELSE r.closed_at END AS "request?.closedAt",
  r.decline_reason AS "request?.declineReason",
  r.every AS "request?.every",
  r.series_id AS "request?.seriesId",
  r.previous_request_id AS "request?.previousRequestId",
  r.next_request_id AS "request?.nextRequestId",
  r.next_at AS "request?.nextAt",
  r.series_end_reason AS "request?.seriesEndReason", s.owner AS "ownerTenantId"
FROM asked s LEFT JOIN made r ON r.refresh_request_id = s.next_id;

-- refresh_requests_of_subject
--   asked by RefreshRequestStore.list (stores/refresh-requests/refresh-request.store.ts)
--   $1 principalId text
--   $2 subjectType text
--   $3 subjectId text
--   $4 requestingTenantId text
--   $5 beforeTime timestamp with time zone
--   $6 beforeId uuid
--   $7 rows bigint
--   enters grants_live, grants_to_all_live, memberships_by_principal, refresh_requests_by_subject, subjects_identity_key
PREPARE refresh_requests_of_subject (text, text, text, text, timestamp with time zone, uuid, bigint) AS
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  r.refresh_request_id AS "item?.refreshRequestId",
  s.subject_type AS "item?.subjectType",
  s.subject_id AS "item?.subjectId",
  r.requesting_tenant_id AS "item?.requestingTenantId",
  r.origin_type AS "item?.originType",
  CASE WHEN r.status = 'pending'
  AND r.expires_at <= statement_timestamp() THEN 'expired' ELSE r.status END AS "item?.status",
  r.reason_code AS "item?.reasonCode",
  r.message AS "item?.message",
  r.requested_paths AS "item?.requestedPaths",
  r.created_at AS "item?.createdAt",
  r.expires_at AS "item?.expiresAt",
  r.resolved_at AS "item?.resolvedAt",
  r.resolved_snapshot_id AS "item?.resolvedSnapshotId",
  r.resolved_snapshot_version AS "item?.resolvedSnapshotVersion",
  r.due_at AS "item?.dueAt",
  CASE WHEN r.due_at <= coalesce(r.resolved_at, r.closed_at, LEAST(r.expires_at, statement_timestamp()))
  THEN r.due_at END AS "item?.overdueAt",
  CASE WHEN r.status = 'pending'
  AND r.expires_at <= statement_timestamp() THEN r.expires_at ELSE r.closed_at END AS "item?.closedAt",
  r.decline_reason AS "item?.declineReason",
  r.every AS "item?.every",
  r.series_id AS "item?.seriesId",
  r.previous_request_id AS "item?.previousRequestId",
  r.next_request_id AS "item?.nextRequestId",
  r.next_at AS "item?.nextAt",
  r.series_end_reason AS "item?.seriesEndReason",
  CASE WHEN f.owns_subject THEN s.display_name END AS "item?.name",
  NULL::float8 AS "item?.disclosure?.subjectKey",
  ARRAY[r.created_at::text, r.refresh_request_id::text] AS position, r.found
FROM (SELECT $1::text AS principal_id, $2::text AS subject_type, $3::text AS subject_id, $4::text AS requesting_tenant_id) i
LEFT JOIN subjects s ON s.subject_type = i.subject_type AND s.subject_id = i.subject_id
LEFT JOIN LATERAL (
  SELECT 'tenant_reader' AS role, 'active' AS member_status, false AS allow_counterparty_access,
    (SELECT true FROM memberships m
    WHERE m.tenant_id = s.owner_tenant_id AND m.principal_id = i.principal_id
      AND m.status = 'active' LIMIT 1) AS owns_subject,
    (SELECT (SELECT g.scopes FROM grants g
      WHERE (g.grantee_tenant_id, g.subject_key) BETWEEN (m.tenant_id, s.subject_key)
        AND (m.tenant_id, s.subject_key)
        AND g.revoked_at IS NULL AND (g.expires_at IS NULL OR g.expires_at > statement_timestamp()) LIMIT 1)
      || (SELECT g.scopes FROM grants g
      WHERE (g.grantor_tenant_id || '/', g.grantee_tenant_id, coalesce(g.expires_at, 'infinity'))
        > (s.owner_tenant_id || '/', m.tenant_id, statement_timestamp())
        AND (g.grantor_tenant_id || '/', g.grantee_tenant_id) <= (s.owner_tenant_id || '/', m.tenant_id)
        AND g.revoked_at IS NULL AND (g.subject_key = 0) IS TRUE LIMIT 1)
    FROM memberships m
    WHERE m.tenant_id = i.requesting_tenant_id AND m.principal_id = i.principal_id AND m.status = 'active'
    LIMIT 1) AS grant_scopes
) f ON true
LEFT JOIN LATERAL (
  SELECT * FROM (
    SELECT r.*, sum((octet_length(to_json(r.requested_paths)::text) + coalesce(octet_length(r.message), 0))) OVER (ORDER BY r.created_at DESC, r.refresh_request_id DESC) AS bytes, row_number() OVER (ORDER BY r.created_at DESC, r.refresh_request_id DESC) AS place,
      count(*) OVER ()::int AS found
    FROM (SELECT * FROM refresh_requests r WHERE r.subject_key = s.subject_key 
        AND (r.created_at, r.refresh_request_id) < ($5::timestamptz, $6::uuid)
      ORDER BY r.created_at DESC, r.refresh_request_id DESC LIMIT $7) r
  ) r WHERE r.bytes <= 8388608 OR r.place = 1
) r ON true
ORDER BY r.created_at DESC, r.refresh_request_id DESC;

-- refresh_requests_of_tenant
--   asked by RefreshRequestStore.list (stores/refresh-requests/refresh-request.store.ts)
--   $1 principalId text
--   $2 subjectType text
--   $3 subjectId text
--   $4 requestingTenantId text
--   $5 beforeTime timestamp with time zone
--   $6 beforeId uuid
--   $7 rows bigint
--   enters grants_live, grants_to_all_live, memberships_by_principal, refresh_requests_by_requester, subjects_identity_key
PREPARE refresh_requests_of_tenant (text, text, text, text, timestamp with time zone, uuid, bigint) AS
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  r.refresh_request_id AS "item?.refreshRequestId",
  s.subject_type AS "item?.subjectType",
  s.subject_id AS "item?.subjectId",
  r.requesting_tenant_id AS "item?.requestingTenantId",
  r.origin_type AS "item?.originType",
  CASE WHEN r.status = 'pending'
  AND r.expires_at <= statement_timestamp() THEN 'expired' ELSE r.status END AS "item?.status",
  r.reason_code AS "item?.reasonCode",
  r.message AS "item?.message",
  r.requested_paths AS "item?.requestedPaths",
  r.created_at AS "item?.createdAt",
  r.expires_at AS "item?.expiresAt",
  r.resolved_at AS "item?.resolvedAt",
  r.resolved_snapshot_id AS "item?.resolvedSnapshotId",
  r.resolved_snapshot_version AS "item?.resolvedSnapshotVersion",
  r.due_at AS "item?.dueAt",
  CASE WHEN r.due_at <= coalesce(r.resolved_at, r.closed_at, LEAST(r.expires_at, statement_timestamp()))
  THEN r.due_at END AS "item?.overdueAt",
  CASE WHEN r.status = 'pending'
  AND r.expires_at <= statement_timestamp() THEN r.expires_at ELSE r.closed_at END AS "item?.closedAt",
  r.decline_reason AS "item?.declineReason",
  r.every AS "item?.every",
  r.series_id AS "item?.seriesId",
  r.previous_request_id AS "item?.previousRequestId",
  r.next_request_id AS "item?.nextRequestId",
  r.next_at AS "item?.nextAt",
  r.series_end_reason AS "item?.seriesEndReason",
  CASE WHEN f.owns_subject THEN s.display_name END AS "item?.name",
  NULL::float8 AS "item?.disclosure?.subjectKey",
  ARRAY[r.created_at::text, r.refresh_request_id::text] AS position, r.found
FROM (SELECT $1::text AS principal_id, $2::text AS subject_type, $3::text AS subject_id, $4::text AS requesting_tenant_id) i
LEFT JOIN subjects s ON s.subject_type = i.subject_type AND s.subject_id = i.subject_id
LEFT JOIN LATERAL (
  SELECT 'tenant_reader' AS role, 'active' AS member_status, false AS allow_counterparty_access,
    (SELECT true FROM memberships m
    WHERE m.tenant_id = s.owner_tenant_id AND m.principal_id = i.principal_id
      AND m.status = 'active' LIMIT 1) AS owns_subject,
    (SELECT (SELECT g.scopes FROM grants g
      WHERE (g.grantee_tenant_id, g.subject_key) BETWEEN (m.tenant_id, s.subject_key)
        AND (m.tenant_id, s.subject_key)
        AND g.revoked_at IS NULL AND (g.expires_at IS NULL OR g.expires_at > statement_timestamp()) LIMIT 1)
      || (SELECT g.scopes FROM grants g
      WHERE (g.grantor_tenant_id || '/', g.grantee_tenant_id, coalesce(g.expires_at, 'infinity'))
        > (s.owner_tenant_id || '/', m.tenant_id, statement_timestamp())
        AND (g.grantor_tenant_id || '/', g.grantee_tenant_id) <= (s.owner_tenant_id || '/', m.tenant_id)
        AND g.revoked_at IS NULL AND (g.subject_key = 0) IS TRUE LIMIT 1)
    FROM memberships m
    WHERE m.tenant_id = i.requesting_tenant_id AND m.principal_id = i.principal_id AND m.status = 'active'
    LIMIT 1) AS grant_scopes
) f ON true
LEFT JOIN LATERAL (
  SELECT * FROM (
    SELECT r.*, sum((octet_length(to_json(r.requested_paths)::text) + coalesce(octet_length(r.message), 0))) OVER (ORDER BY r.created_at DESC, r.refresh_request_id DESC) AS bytes, row_number() OVER (ORDER BY r.created_at DESC, r.refresh_request_id DESC) AS place,
      count(*) OVER ()::int AS found
    FROM (SELECT * FROM refresh_requests r WHERE r.subject_key = s.subject_key
        AND r.requesting_tenant_id = i.requesting_tenant_id
        AND (r.created_at, r.refresh_request_id) < ($5::timestamptz, $6::uuid)
      ORDER BY r.created_at DESC, r.refresh_request_id DESC LIMIT $7) r
  ) r WHERE r.bytes <= 8388608 OR r.place = 1
) r ON true
ORDER BY r.created_at DESC, r.refresh_request_id DESC;

-- refresh_requests_outgoing
--   asked by RefreshRequestStore.listOfTenant (stores/refresh-requests/refresh-request.store.ts)
--   $1 tenantId text
--   $2 principalId text
--   $3 statuses text[]
--   $4 subjectTypes text[]
--   $5 beforeTime timestamp with time zone
--   $6 beforeId uuid
--   $7 rows bigint
--   enters grants_live, grants_to_all_live, memberships_pkey, refresh_requests_outgoing, snapshots_version_key, subjects_pkey
PREPARE refresh_requests_outgoing (text, text, text[], text[], timestamp with time zone, uuid, bigint) AS
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  r.refresh_request_id AS "item?.refreshRequestId",
  s.subject_type AS "item?.subjectType",
  s.subject_id AS "item?.subjectId",
  r.requesting_tenant_id AS "item?.requestingTenantId",
  r.origin_type AS "item?.originType",
  CASE WHEN r.status = 'pending'
  AND r.expires_at <= statement_timestamp() THEN 'expired' ELSE r.status END AS "item?.status",
  r.reason_code AS "item?.reasonCode",
  r.message AS "item?.message",
  r.requested_paths AS "item?.requestedPaths",
  r.created_at AS "item?.createdAt",
  r.expires_at AS "item?.expiresAt",
  r.resolved_at AS "item?.resolvedAt",
  r.resolved_snapshot_id AS "item?.resolvedSnapshotId",
  r.resolved_snapshot_version AS "item?.resolvedSnapshotVersion",
  r.due_at AS "item?.dueAt",
  CASE WHEN r.due_at <= coalesce(r.resolved_at, r.closed_at, LEAST(r.expires_at, statement_timestamp()))
  THEN r.due_at END AS "item?.overdueAt",
  CASE WHEN r.status = 'pending'
  AND r.expires_at <= statement_timestamp() THEN r.expires_at ELSE r.closed_at END AS "item?.closedAt",
  r.decline_reason AS "item?.declineReason",
  r.every AS "item?.every",
  r.series_id AS "item?.seriesId",
  r.previous_request_id AS "item?.previousRequestId",
  r.next_request_id AS "item?.nextRequestId",
  r.next_at AS "item?.nextAt",
  r.series_end_reason AS "item?.seriesEndReason",
  CASE WHEN s.owner_tenant_id = i.tenant_id OR v.grant_id IS NOT NULL THEN s.display_name END AS "item?.name",
  CASE WHEN v.grant_id IS NOT NULL
  AND s.display_name IS NOT NULL THEN s.subject_key::float8 END AS "item?.disclosure?.subjectKey",
  v.grant_id AS "item?.disclosure?.grantId",
  CASE WHEN v.grant_id IS NOT NULL THEN (SELECT n.snapshot_version FROM snapshots n
  WHERE n.subject_key = s.subject_key ORDER BY n.snapshot_version DESC
  LIMIT 1) END AS "item?.disclosure?.version",
  ARRAY[r.created_at::text, r.refresh_request_id::text] AS position, r.found
FROM (SELECT $1::text AS tenant_id, $2::text AS principal_id) i
LEFT JOIN LATERAL (
  SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access, m.tenancy_role,
    m.principal_type, NULL::boolean AS owns_subject, NULL::text[] AS grant_scopes
  FROM memberships m
  WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id LIMIT 1
) f ON true
LEFT JOIN LATERAL (
  SELECT * FROM (
    SELECT r.*, sum((octet_length(to_json(r.requested_paths)::text) + coalesce(octet_length(r.message), 0))) OVER (ORDER BY r.created_at DESC, r.refresh_request_id DESC) AS bytes, row_number() OVER (ORDER BY r.created_at DESC, r.refresh_request_id DESC) AS place,
      count(*) OVER ()::int AS found
    FROM (SELECT r.*
      FROM unnest($3::text[]) wanted
      CROSS JOIN unnest(CASE wanted WHEN 'expired' THEN '{expired,pending}' ELSE ARRAY[wanted] END) state
      CROSS JOIN unnest($4::text[]) kind
      CROSS JOIN LATERAL (
        SELECT * FROM refresh_requests r
        WHERE f.member_status = 'active' AND (r.outgoing_of, r.status, r.subject_type) >= (i.tenant_id, state, kind)
          AND (r.outgoing_of, r.status, r.subject_type, r.created_at, r.refresh_request_id)
          < (i.tenant_id, state, kind, $5::timestamptz, $6::uuid)
          AND CASE WHEN r.status = 'pending'
          AND r.expires_at <= statement_timestamp() THEN 'expired' ELSE r.status END = wanted
        ORDER BY r.outgoing_of DESC, r.status DESC, r.subject_type DESC, r.created_at DESC, r.refresh_request_id DESC
        LIMIT $7
      ) r
      ORDER BY r.created_at DESC, r.refresh_request_id DESC LIMIT $7) r
  ) r WHERE r.bytes <= 8388608 OR r.place = 1
) r ON true
LEFT JOIN subjects s ON s.subject_key = r.subject_key
LEFT JOIN LATERAL (
  SELECT CASE WHEN one.scopes && '{read_latest}' THEN one.grant_id
    WHEN every.scopes && '{read_latest}' THEN every.grant_id END AS grant_id
  FROM (SELECT f.allow_counterparty_access AS may_use) m
  LEFT JOIN LATERAL (SELECT g.grant_id, g.scopes FROM grants g
    WHERE s.owner_tenant_id <> i.tenant_id
      AND (g.grantee_tenant_id, g.subject_key) BETWEEN (i.tenant_id, s.subject_key) AND (i.tenant_id, s.subject_key)
      AND g.revoked_at IS NULL AND (g.expires_at IS NULL OR g.expires_at > statement_timestamp())
    LIMIT 1) one ON true
  LEFT JOIN LATERAL (SELECT g.grant_id, g.scopes FROM grants g
    WHERE s.owner_tenant_id <> i.tenant_id
      AND (g.grantor_tenant_id || '/', g.grantee_tenant_id, coalesce(g.expires_at, 'infinity'))
      > (s.owner_tenant_id || '/', i.tenant_id, statement_timestamp())
      AND (g.grantor_tenant_id || '/', g.grantee_tenant_id) <= (s.owner_tenant_id || '/', i.tenant_id)
      AND g.revoked_at IS NULL AND (g.subject_key = 0) IS TRUE AND g.accepted_at IS NOT NULL LIMIT 1) every ON true
  WHERE m.may_use
) v ON true
ORDER BY r.created_at DESC, r.refresh_request_id DESC;

-- refresh_requests_outgoing_on
--   asked by RefreshRequestStore.listOfTenant (stores/refresh-requests/refresh-request.store.ts)
--   $1 rows bigint
--   $2 beforeTime timestamp with time zone
--   $3 beforeId uuid
--   $4 from timestamp with time zone
--   $5 tenantId text
--   $6 principalId text
--   $7 subjectType text
--   $8 subjectId text
--   $9 status text
--   $10 isOverdue boolean
--   enters grants_live, grants_to_all_live, memberships_pkey, refresh_requests_outgoing_on, snapshots_version_key, subjects_identity_key, subjects_pkey
PREPARE refresh_requests_outgoing_on (bigint, timestamp with time zone, uuid, timestamp with time zone, text, text, text, text, text, boolean) AS
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  r.refresh_request_id AS "item?.refreshRequestId",
  s.subject_type AS "item?.subjectType",
  s.subject_id AS "item?.subjectId",
  r.requesting_tenant_id AS "item?.requestingTenantId",
  r.origin_type AS "item?.originType",
  CASE WHEN r.status = 'pending'
  AND r.expires_at <= statement_timestamp() THEN 'expired' ELSE r.status END AS "item?.status",
  r.reason_code AS "item?.reasonCode",
  r.message AS "item?.message",
  r.requested_paths AS "item?.requestedPaths",
  r.created_at AS "item?.createdAt",
  r.expires_at AS "item?.expiresAt",
  r.resolved_at AS "item?.resolvedAt",
  r.resolved_snapshot_id AS "item?.resolvedSnapshotId",
  r.resolved_snapshot_version AS "item?.resolvedSnapshotVersion",
  r.due_at AS "item?.dueAt",
  CASE WHEN r.due_at <= coalesce(r.resolved_at, r.closed_at, LEAST(r.expires_at, statement_timestamp()))
  THEN r.due_at END AS "item?.overdueAt",
  CASE WHEN r.status = 'pending'
  AND r.expires_at <= statement_timestamp() THEN r.expires_at ELSE r.closed_at END AS "item?.closedAt",
  r.decline_reason AS "item?.declineReason",
  r.every AS "item?.every",
  r.series_id AS "item?.seriesId",
  r.previous_request_id AS "item?.previousRequestId",
  r.next_request_id AS "item?.nextRequestId",
  r.next_at AS "item?.nextAt",
  r.series_end_reason AS "item?.seriesEndReason",
  CASE WHEN s.owner_tenant_id = i.tenant_id OR v.grant_id IS NOT NULL THEN s.display_name END AS "item?.name",
  CASE WHEN v.grant_id IS NOT NULL
  AND s.display_name IS NOT NULL THEN s.subject_key::float8 END AS "item?.disclosure?.subjectKey",
  v.grant_id AS "item?.disclosure?.grantId",
  CASE WHEN v.grant_id IS NOT NULL THEN (SELECT n.snapshot_version FROM snapshots n
  WHERE n.subject_key = s.subject_key ORDER BY n.snapshot_version DESC
  LIMIT 1) END AS "item?.disclosure?.version",
  ARRAY[r.created_at::text, r.refresh_request_id::text] AS position,
  CASE WHEN count(*) OVER () < $1
  AND row_number() OVER (ORDER BY r.created_at DESC, r.refresh_request_id DESC) = 1
  THEN (SELECT ARRAY[r.created_at::text, r.refresh_request_id::text] FROM refresh_requests r
  WHERE (r.outgoing_of || '/', r.subject_key, r.created_at, r.refresh_request_id) < (i.tenant_id || '/', k.subject_key, $2::timestamptz, $3::uuid)
    AND (r.outgoing_of || '/', r.subject_key, r.created_at) >= (i.tenant_id || '/', k.subject_key, coalesce($4::timestamptz, '-infinity'))
    AND f.member_status = 'active'
  ORDER BY r.outgoing_of || '/' DESC, r.subject_key DESC, r.created_at DESC, r.refresh_request_id DESC OFFSET 1000
  LIMIT 1) END AS "lookedTo", r.found
FROM (SELECT $5::text AS tenant_id, $6::text AS principal_id, $7::text AS subject_type, $8::text AS subject_id, $9::text AS status, $10::boolean AS is_overdue) i
LEFT JOIN LATERAL (
  SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access, m.tenancy_role,
    m.principal_type, NULL::boolean AS owns_subject, NULL::text[] AS grant_scopes
  FROM memberships m
  WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id LIMIT 1
) f ON true
LEFT JOIN LATERAL (SELECT CASE i.subject_type WHEN '*' THEN 0 ELSE s.subject_key END AS subject_key
  FROM (SELECT true) one LEFT JOIN subjects s ON s.subject_type = i.subject_type
    AND s.subject_id = i.subject_id) k ON true
LEFT JOIN LATERAL (
  SELECT * FROM (
    SELECT r.*, sum((octet_length(to_json(r.requested_paths)::text) + coalesce(octet_length(r.message), 0))) OVER (ORDER BY r.created_at DESC, r.refresh_request_id DESC) AS bytes, row_number() OVER (ORDER BY r.created_at DESC, r.refresh_request_id DESC) AS place,
      count(*) OVER ()::int AS found
    FROM (SELECT * FROM (
        SELECT * FROM (SELECT r.*, r.outgoing_of || '/' AS listed_key_0, r.subject_key AS listed_key_1
          FROM refresh_requests r
          WHERE (r.outgoing_of || '/', r.subject_key, r.created_at, r.refresh_request_id) < (i.tenant_id || '/', k.subject_key, $2::timestamptz, $3::uuid)
            AND (r.outgoing_of || '/', r.subject_key, r.created_at) >= (i.tenant_id || '/', k.subject_key, coalesce($4::timestamptz, '-infinity'))
            AND f.member_status = 'active'
          ORDER BY r.outgoing_of || '/' DESC, r.subject_key DESC, r.created_at DESC, r.refresh_request_id DESC
          LIMIT 1001) r
        WHERE (i.status IS NULL OR CASE WHEN r.status = 'pending'
            AND r.expires_at <= statement_timestamp() THEN 'expired' ELSE r.status END = i.status)
          AND (i.subject_type IS NULL OR r.subject_type = i.subject_type)
          AND (NOT i.is_overdue OR (r.status = 'pending' AND coalesce(r.expires_at, 'infinity') > statement_timestamp()
              AND r.due_at <= statement_timestamp()))
        ORDER BY r.listed_key_0 DESC, r.listed_key_1 DESC, r.created_at DESC, r.refresh_request_id DESC LIMIT $1) r) r
  ) r WHERE r.bytes <= 8388608 OR r.place = 1
) r ON true
LEFT JOIN subjects s ON s.subject_key = r.subject_key
LEFT JOIN LATERAL (
  SELECT CASE WHEN one.scopes && '{read_latest}' THEN one.grant_id
    WHEN every.scopes && '{read_latest}' THEN every.grant_id END AS grant_id
  FROM (SELECT f.allow_counterparty_access AS may_use) m
  LEFT JOIN LATERAL (SELECT g.grant_id, g.scopes FROM grants g
    WHERE s.owner_tenant_id <> i.tenant_id
      AND (g.grantee_tenant_id, g.subject_key) BETWEEN (i.tenant_id, s.subject_key) AND (i.tenant_id, s.subject_key)
      AND g.revoked_at IS NULL AND (g.expires_at IS NULL OR g.expires_at > statement_timestamp())
    LIMIT 1) one ON true
  LEFT JOIN LATERAL (SELECT g.grant_id, g.scopes FROM grants g
    WHERE s.owner_tenant_id <> i.tenant_id
      AND (g.grantor_tenant_id || '/', g.grantee_tenant_id, coalesce(g.expires_at, 'infinity'))
      > (s.owner_tenant_id || '/', i.tenant_id, statement_timestamp())
      AND (g.grantor_tenant_id || '/', g.grantee_tenant_id) <= (s.owner_tenant_id || '/', i.tenant_id)
      AND g.revoked_at IS NULL AND (g.subject_key = 0) IS TRUE AND g.accepted_at IS NOT NULL LIMIT 1) every ON true
  WHERE m.may_use
) v ON true
ORDER BY r.created_at DESC, r.refresh_request_id DESC;

-- refresh_requests_outgoing_overdue
--   asked by RefreshRequestStore.listOfTenant (stores/refresh-requests/refresh-request.store.ts)
--   $1 rows bigint
--   $2 beforeTime timestamp with time zone
--   $3 beforeId uuid
--   $4 from timestamp with time zone
--   $5 tenantId text
--   $6 principalId text
--   $7 subjectType text
--   $8 subjectId text
--   $9 status text
--   $10 isOverdue boolean
--   enters grants_live, grants_to_all_live, memberships_pkey, refresh_requests_outgoing_overdue, snapshots_version_key, subjects_pkey
PREPARE refresh_requests_outgoing_overdue (bigint, timestamp with time zone, uuid, timestamp with time zone, text, text, text, text, text, boolean) AS
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  r.refresh_request_id AS "item?.refreshRequestId",
  s.subject_type AS "item?.subjectType",
  s.subject_id AS "item?.subjectId",
  r.requesting_tenant_id AS "item?.requestingTenantId",
  r.origin_type AS "item?.originType",
  CASE WHEN r.status = 'pending'
  AND r.expires_at <= statement_timestamp() THEN 'expired' ELSE r.status END AS "item?.status",
  r.reason_code AS "item?.reasonCode",
  r.message AS "item?.message",
  r.requested_paths AS "item?.requestedPaths",
  r.created_at AS "item?.createdAt",
  r.expires_at AS "item?.expiresAt",
  r.resolved_at AS "item?.resolvedAt",
  r.resolved_snapshot_id AS "item?.resolvedSnapshotId",
  r.resolved_snapshot_version AS "item?.resolvedSnapshotVersion",
  r.due_at AS "item?.dueAt",
  CASE WHEN r.due_at <= coalesce(r.resolved_at, r.closed_at, LEAST(r.expires_at, statement_timestamp()))
  THEN r.due_at END AS "item?.overdueAt",
  CASE WHEN r.status = 'pending'
  AND r.expires_at <= statement_timestamp() THEN r.expires_at ELSE r.closed_at END AS "item?.closedAt",
  r.decline_reason AS "item?.declineReason",
  r.every AS "item?.every",
  r.series_id AS "item?.seriesId",
  r.previous_request_id AS "item?.previousRequestId",
  r.next_request_id AS "item?.nextRequestId",
  r.next_at AS "item?.nextAt",
  r.series_end_reason AS "item?.seriesEndReason",
  CASE WHEN s.owner_tenant_id = i.tenant_id OR v.grant_id IS NOT NULL THEN s.display_name END AS "item?.name",
  CASE WHEN v.grant_id IS NOT NULL
  AND s.display_name IS NOT NULL THEN s.subject_key::float8 END AS "item?.disclosure?.subjectKey",
  v.grant_id AS "item?.disclosure?.grantId",
  CASE WHEN v.grant_id IS NOT NULL THEN (SELECT n.snapshot_version FROM snapshots n
  WHERE n.subject_key = s.subject_key ORDER BY n.snapshot_version DESC
  LIMIT 1) END AS "item?.disclosure?.version",
  ARRAY[r.due_at::text, r.refresh_request_id::text] AS position,
  CASE WHEN count(*) OVER () < $1 AND row_number() OVER (ORDER BY r.due_at DESC, r.refresh_request_id DESC) = 1
  THEN (SELECT ARRAY[r.due_at::text, r.refresh_request_id::text] FROM refresh_requests r
  WHERE r.outgoing_of || '/' = i.tenant_id || '/' AND r.status = 'pending' AND r.due_at IS NOT NULL
    AND f.member_status = 'active' AND (r.due_at, r.refresh_request_id) < ($2::timestamptz, $3::uuid)
    AND r.due_at >= coalesce($4::timestamptz, '-infinity')
  ORDER BY r.due_at DESC, r.refresh_request_id DESC OFFSET 1000 LIMIT 1) END AS "lookedTo", r.found
FROM (SELECT $5::text AS tenant_id, $6::text AS principal_id, $7::text AS subject_type, $8::text AS subject_id, $9::text AS status, $10::boolean AS is_overdue) i
LEFT JOIN LATERAL (
  SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access, m.tenancy_role,
    m.principal_type, NULL::boolean AS owns_subject, NULL::text[] AS grant_scopes
  FROM memberships m
  WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id LIMIT 1
) f ON true
LEFT JOIN LATERAL (SELECT CASE i.subject_type WHEN '*' THEN 0 ELSE s.subject_key END AS subject_key
  FROM (SELECT true) one LEFT JOIN subjects s ON s.subject_type = i.subject_type
    AND s.subject_id = i.subject_id) k ON true
LEFT JOIN LATERAL (
  SELECT * FROM (
    SELECT r.*, sum((octet_length(to_json(r.requested_paths)::text) + coalesce(octet_length(r.message), 0))) OVER (ORDER BY r.due_at DESC, r.refresh_request_id DESC) AS bytes, row_number() OVER (ORDER BY r.due_at DESC, r.refresh_request_id DESC) AS place,
      count(*) OVER ()::int AS found
    FROM (SELECT * FROM (
        SELECT * FROM (SELECT r.* FROM refresh_requests r
          WHERE r.outgoing_of || '/' = i.tenant_id || '/' AND r.status = 'pending' AND r.due_at IS NOT NULL
            AND f.member_status = 'active' AND (r.due_at, r.refresh_request_id) < ($2::timestamptz, $3::uuid)
            AND r.due_at >= coalesce($4::timestamptz, '-infinity')
          ORDER BY r.due_at DESC, r.refresh_request_id DESC LIMIT 1001) r
        WHERE (i.status IS NULL OR CASE WHEN r.status = 'pending'
            AND r.expires_at <= statement_timestamp() THEN 'expired' ELSE r.status END = i.status)
          AND (i.subject_type IS NULL OR r.subject_type = i.subject_type)
          AND (NOT i.is_overdue OR (r.status = 'pending' AND coalesce(r.expires_at, 'infinity') > statement_timestamp()
              AND r.due_at <= statement_timestamp())) ORDER BY r.due_at DESC, r.refresh_request_id DESC LIMIT $1) r) r
  ) r WHERE r.bytes <= 8388608 OR r.place = 1
) r ON true
LEFT JOIN subjects s ON s.subject_key = r.subject_key
LEFT JOIN LATERAL (
  SELECT CASE WHEN one.scopes && '{read_latest}' THEN one.grant_id
    WHEN every.scopes && '{read_latest}' THEN every.grant_id END AS grant_id
  FROM (SELECT f.allow_counterparty_access AS may_use) m
  LEFT JOIN LATERAL (SELECT g.grant_id, g.scopes FROM grants g
    WHERE s.owner_tenant_id <> i.tenant_id
      AND (g.grantee_tenant_id, g.subject_key) BETWEEN (i.tenant_id, s.subject_key) AND (i.tenant_id, s.subject_key)
      AND g.revoked_at IS NULL AND (g.expires_at IS NULL OR g.expires_at > statement_timestamp())
    LIMIT 1) one ON true
  LEFT JOIN LATERAL (SELECT g.grant_id, g.scopes FROM grants g
    WHERE s.owner_tenant_id <> i.tenant_id
      AND (g.grantor_tenant_id || '/', g.grantee_tenant_id, coalesce(g.expires_at, 'infinity'))
      > (s.owner_tenant_id || '/', i.tenant_id, statement_timestamp())
      AND (g.grantor_tenant_id || '/', g.grantee_tenant_id) <= (s.owner_tenant_id || '/', i.tenant_id)
      AND g.revoked_at IS NULL AND (g.subject_key = 0) IS TRUE AND g.accepted_at IS NOT NULL LIMIT 1) every ON true
  WHERE m.may_use
) v ON true
ORDER BY r.due_at DESC, r.refresh_request_id DESC;

-- refresh_requests_overdue
--   asked by RefreshDeadlineStore.announceOverdue (stores/refresh-requests/refresh-deadline.store.ts)
--   $1 limit bigint
--   enters refresh_requests_due, refresh_requests_pkey, subjects_pkey
PREPARE refresh_requests_overdue (bigint) AS
WITH due AS MATERIALIZED (
  SELECT r.refresh_request_id FROM refresh_requests r
  WHERE r.status = 'pending' AND r.due_at <= statement_timestamp() AND r.overdue_told_at IS NULL
  ORDER BY r.due_at LIMIT $1
  FOR NO KEY UPDATE SKIP LOCKED
), r AS (
  UPDATE refresh_requests r SET overdue_told_at = statement_timestamp() FROM due
  WHERE r.refresh_request_id = due.refresh_request_id RETURNING r.*
)
SELECT r.refresh_request_id AS "request.refreshRequestId",
  s.subject_type AS "request.subjectType",
  s.subject_id AS "request.subjectId",
  r.requesting_tenant_id AS "request.requestingTenantId",
  r.origin_type AS "request.originType",
  CASE WHEN r.status = 'pending'
  AND r.expires_at <= statement_timestamp() THEN 'expired' ELSE r.status END AS "request.status",
  r.reason_code AS "request.reasonCode",
  r.message AS "request.message",
  r.requested_paths AS "request.requestedPaths",
  r.created_at AS "request.createdAt",
  r.expires_at AS "request.expiresAt",
  r.resolved_at AS "request.resolvedAt",
  r.resolved_snapshot_id AS "request.resolvedSnapshotId",
  r.resolved_snapshot_version AS "request.resolvedSnapshotVersion",
  r.due_at AS "request.dueAt",
  CASE WHEN r.due_at <= coalesce(r.resolved_at, r.closed_at, LEAST(r.expires_at, statement_timestamp()))
  THEN r.due_at END AS "request.overdueAt",
  CASE WHEN r.status = 'pending'
  AND r.expires_at <= statement_timestamp() THEN r.expires_at ELSE r.closed_at END AS "request.closedAt",
  r.decline_reason AS "request.declineReason",
  r.every AS "request.every",
  r.series_id AS "request.seriesId",
  r.previous_request_id AS "request.previousRequestId",
  r.next_request_id AS "request.nextRequestId",
  r.next_at AS "request.nextAt",
  r.series_end_reason AS "request.seriesEndReason", s.owner_tenant_id AS "ownerTenantId"
FROM r
CROSS JOIN LATERAL (SELECT * FROM subjects s WHERE s.subject_key = r.subject_key LIMIT 1) s;

-- retention_delete_deliveries
--   asked by RetentionStore.deleteDeliveries (stores/webhooks/retention.store.ts)
--   $1 days double precision
--   $2 limit bigint
--   enters deliveries_finished, deliveries_pkey
PREPARE retention_delete_deliveries (double precision, bigint) AS
WITH deleted AS (
  DELETE FROM deliveries WHERE delivery_id = ANY (ARRAY(
      SELECT delivery_id FROM deliveries WHERE finished_at < now() - $1 * interval '1 day'
      ORDER BY finished_at LIMIT $2 FOR UPDATE SKIP LOCKED))
  RETURNING 1
)
SELECT count(*)::int AS deleted FROM deleted;

-- retention_delete_events
--   asked by RetentionStore.deleteEvents (stores/webhooks/retention.store.ts)
--   $1 days double precision
--   $2 fannedOutAt timestamp with time zone
--   $3 eventId uuid
--   $4 limit bigint
--   enters deliveries_event_subscription_key, outbox_events_done, outbox_events_pkey
PREPARE retention_delete_events (double precision, timestamp with time zone, uuid, bigint) AS
WITH old AS MATERIALIZED (
  SELECT event_id, fanned_out_at FROM outbox_events
  WHERE fanned_out_at < now() - $1 * interval '1 day'
    AND fanned_out_at >= coalesce($2::timestamptz, '-infinity')
    AND (fanned_out_at, event_id)
    > (coalesce($2::timestamptz, '-infinity'), coalesce($3::uuid, '00000000-0000-0000-0000-000000000000'))
  ORDER BY fanned_out_at, event_id LIMIT $4 FOR UPDATE SKIP LOCKED
), deleted AS (
  DELETE FROM outbox_events WHERE event_id = ANY (ARRAY(
      SELECT event_id FROM old
      WHERE (SELECT true FROM deliveries d WHERE d.event_id = old.event_id LIMIT 1) IS NULL))
  RETURNING event_id
)
SELECT ARRAY[old.fanned_out_at::text, old.event_id::text] AS position, deleted.event_id IS NOT NULL AS "isDeleted"
FROM old LEFT JOIN deleted ON deleted.event_id = old.event_id
ORDER BY old.fanned_out_at, old.event_id;

-- retention_delete_rate_windows
--   asked by RetentionStore.deleteRateWindows (stores/webhooks/retention.store.ts)
--   $1 limit bigint
--   enters rate_limits_by_age, rate_limits_pkey
PREPARE retention_delete_rate_windows (bigint) AS
WITH deleted AS (
  DELETE FROM rate_limits WHERE principal_id = ANY (ARRAY(
      SELECT principal_id FROM rate_limits WHERE window_start < now() - interval '1 day 10 minutes'
      ORDER BY window_start LIMIT $1 FOR UPDATE SKIP LOCKED))
  RETURNING 1
)
SELECT count(*)::int AS deleted FROM deleted;

-- schema_faults
--   asked by schemaFaults, requireNothingHidden (schema-faults.ts)
--   $1 triggers.name text[]
--   $2 triggers.table text[]
--   $3 policies.name text[]
--   $4 policies.table text[]
--   $5 secured text[]
--   $6 privileges.privilege text[]
--   $7 privileges.table text[]
--   $8 privileges.column text[]
--   enters pg_class_oid_index, pg_policy_polrelid_polname_index, pg_trigger_tgrelid_tgname_index
PREPARE schema_faults (text[], text[], text[], text[], text[], text[], text[], text[]) AS
SELECT
  ARRAY(SELECT e.name FROM unnest($1::text[], $2::text[]) AS e(name, "table")
  WHERE (SELECT t.tgenabled IN ('O', 'A') FROM pg_trigger t
    WHERE t.tgrelid = to_regclass(e."table") AND t.tgname = e.name LIMIT 1) IS NOT TRUE) AS "missingTriggers",
  ARRAY(SELECT e.name FROM unnest($3::text[], $4::text[]) AS e(name, "table")
  WHERE (SELECT true FROM pg_policy p
    WHERE p.polrelid = to_regclass(e."table") AND p.polname = e.name LIMIT 1) IS NULL) AS "missingPolicies",
  ARRAY(SELECT name FROM unnest($5::text[]) name
  WHERE NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = to_regclass(name) AND c.relrowsecurity)) AS unsecured,
  ARRAY(SELECT DISTINCT p.privilege || ' ' || p."table"
  FROM unnest($6::text[], $7::text[], $8::text[])
    AS p(privilege, "table", "column")
  WHERE to_regclass(p."table") IS NULL OR NOT CASE
    WHEN p."column" IS NULL THEN has_table_privilege(to_regclass(p."table"), p.privilege)
    ELSE has_column_privilege(to_regclass(p."table"), p."column", p.privilege) END) AS "missingPrivileges";

-- sealed_secret_page
--   asked by SealedSecretStore.page (stores/webhooks/sealed-secret.store.ts)
--   $1 afterSubscriptionId uuid
--   $2 limit bigint
--   enters webhook_subscriptions_pkey
PREPARE sealed_secret_page (uuid, bigint) AS
SELECT subscription_id AS "subscriptionId", secret_sealed AS secret,
  CASE WHEN previous_secret_until > now() THEN previous_secret_sealed END AS "previousSecret",
  previous_secret_sealed IS NOT NULL AND coalesce(previous_secret_until <= now(), true) AS "hasExpiredSecret"
FROM webhook_subscriptions
WHERE subscription_id > coalesce($1::uuid, '00000000-0000-0000-0000-000000000000')
ORDER BY subscription_id LIMIT $2;

-- sealed_secret_reseal
--   asked by SealedSecretStore.reseal (stores/webhooks/sealed-secret.store.ts)
--   $1 inputs.subscriptionId uuid[]
--   $2 inputs.oldSecret text[]
--   $3 inputs.secret text[]
--   $4 inputs.previousSecret text[]
--   enters webhook_subscriptions_pkey
PREPARE sealed_secret_reseal (uuid[], text[], text[], text[]) AS
UPDATE webhook_subscriptions s
SET secret_sealed = i.secret,
  previous_secret_sealed = i.previous_secret,
  previous_secret_until = CASE WHEN i.previous_secret IS NOT NULL THEN s.previous_secret_until END
FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[])
  WITH ORDINALITY AS i(subscription_id, old_secret, secret, previous_secret, ord)
WHERE s.subscription_id = i.subscription_id AND s.secret_sealed = i.old_secret
RETURNING s.subscription_id AS "subscriptionId";

-- server
--   asked by Database.server, Database.replicaServer (database.ts)
--   enters pg_database_datname_index
PREPARE server AS
SELECT current_setting('server_version') AS version,
  pg_stat_get_db_numbackends((SELECT oid FROM pg_database WHERE datname = current_database()
    LIMIT 1)) AS connections,
  current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
  - coalesce(current_setting('reserved_connections', true)::int, 0) AS most;

-- snapshot_append
--   asked by SnapshotWriteStore.append (stores/snapshots/snapshot-write.store.ts)
--   $1 inputs.tenantId text[]
--   $2 inputs.principalId text[]
--   $3 inputs.subjectType text[]
--   $4 inputs.subjectId text[]
--   $5 inputs.snapshotId uuid[]
--   $6 inputs.snapshotVersion integer[]
--   $7 inputs.updateId uuid[]
--   $8 inputs.evidencePolicy text[]
--   $9 inputs.hasMissing boolean[]
--   $10 inputs.hasCarried boolean[]
--   $11 names text[]
--   $12 displayNames text[]
--   $13 eventIds uuid[]
--   $14 appliedEventIds uuid[]
--   $15 identifiers.ord integer[]
--   $16 identifiers.scheme text[]
--   $17 identifiers.value text[]
--   $18 inputs.changedBy text[]
--   $19 inputs.origins bytea[]
--   $20 inputs.firstChangedBy text[]
--   $21 inputs.requestId text[]
--   $22 inputs.generatedAt text[]
--   $23 inputs.envelopeHash text[]
--   $24 inputs.prevHash text[]
--   $25 inputs.envelope text[]
--   $26 inputs.traceparent text[]
--   enters grants_live, grants_to_all_live, memberships_pkey, snapshots_snapshot_id_key, snapshots_version_key, subject_evidence_pkey, subject_identifiers_pkey, subjects_identity_key, subjects_pkey, tenants_pkey, updates_pkey, webhook_subscription_types_pkey
PREPARE snapshot_append (text[], text[], text[], text[], uuid[], integer[], uuid[], text[], boolean[], boolean[], text[], text[], uuid[], uuid[], integer[], text[], text[], text[], bytea[], text[], text[], text[], text[], text[], text[], text[]) AS
WITH
asked AS MATERIALIZED (
  SELECT i.*,
    (SELECT true FROM snapshots n WHERE n.snapshot_id = i.snapshot_id LIMIT 1) IS NOT NULL AS snapshot_id_taken,
    (SELECT m.status = 'active' AND CASE
      WHEN i.update_id IS NULL THEN m.api_functional_role IN ('tenant_editor', 'tenant_admin', 'tenant_owner')
      ELSE m.api_functional_role IN ('tenant_editor', 'tenant_admin', 'tenant_owner') END FROM memberships m
    WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id LIMIT 1) AS is_editor,
    (SELECT t.evidence_policy FROM tenants t WHERE t.tenant_id = i.tenant_id LIMIT 1) AS tenant_policy
  FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::uuid[], $6::int[], $7::uuid[], $8::text[], $9::boolean[], $10::boolean[])
    WITH ORDINALITY AS i(tenant_id, principal_id, subject_type, subject_id, snapshot_id, snapshot_version, update_id, evidence_policy, has_missing, has_carried, ord)
  ORDER BY i.subject_type, i.subject_id
),
admitted AS MATERIALIZED (
  SELECT i.*, s.subject_key, greatest(now(), h.created_at) AS created_at,
    (s.name, s.display_name) IS DISTINCT FROM (($11::text[])[i.ord], ($12::text[])[i.ord]) AS is_renamed
  FROM asked i
  CROSS JOIN LATERAL (
    SELECT s.subject_key, s.owner_tenant_id, s.name, s.display_name
    FROM subjects s
    WHERE s.subject_type = i.subject_type AND s.subject_id = i.subject_id LIMIT 1
  ) s
  CROSS JOIN LATERAL (
    SELECT n.snapshot_version, n.created_at FROM snapshots n WHERE n.subject_key = s.subject_key
    ORDER BY n.snapshot_version DESC LIMIT 1
  ) h
  WHERE is_editor AND NOT snapshot_id_taken AND tenant_policy = evidence_policy
    AND s.owner_tenant_id = i.tenant_id AND h.snapshot_version = i.snapshot_version - 1
),
applied AS (
  UPDATE updates u SET status = 'applied', applied_at = now(), applied_snapshot_id = a.snapshot_id
  FROM admitted a
  WHERE u.update_id = a.update_id AND (u.status = 'proposed') IS TRUE
  RETURNING u.update_id
),
ready AS MATERIALIZED (
  SELECT i.*, (SELECT ($13::uuid[])[i.ord] FROM webhook_subscription_types y WHERE y.tenant_id = i.tenant_id
      AND y.event_type = 'identity.snapshot.created' LIMIT 1) AS event_id, CASE WHEN i.update_id IS NOT NULL
    THEN (SELECT ($14::uuid[])[i.ord] FROM webhook_subscription_types y WHERE y.tenant_id = i.tenant_id
      AND y.event_type = 'update.applied' LIMIT 1) END AS applied_event_id FROM admitted i
  WHERE update_id IS NULL OR update_id = ANY (ARRAY(SELECT update_id FROM applied))
),
renamed AS (
  UPDATE subjects s SET name = ($11::text[])[i.ord], display_name = ($12::text[])[i.ord] FROM ready i
  WHERE i.is_renamed AND s.subject_key = i.subject_key
),
lost_identifier AS (
  DELETE FROM subject_identifiers d
  WHERE d.subject_key = ANY (ARRAY(SELECT subject_key FROM ready))
    AND (SELECT true FROM unnest($15::int[], $16::text[], $17::text[])
      AS t(ord, scheme, value)
    CROSS JOIN LATERAL (SELECT subject_key FROM ready WHERE ord = t.ord LIMIT 1) r
    WHERE r.subject_key = d.subject_key AND t.scheme = d.scheme LIMIT 1) IS NULL
),
new_provenance AS (
  INSERT INTO snapshot_provenance (subject_key, snapshot_version, changed_by, origins)
  SELECT i.subject_key, p.snapshot_version, p.changed_by, p.origins
  FROM ready i
  CROSS JOIN LATERAL (VALUES
      (i.snapshot_version, ($18::text[])[i.ord], ($19::bytea[])[i.ord]),
      (1, ($20::text[])[i.ord], NULL)
  ) AS p(snapshot_version, changed_by, origins)
  WHERE p.changed_by IS NOT NULL
  ON CONFLICT DO NOTHING
),
changed_evidence AS (
  INSERT INTO subject_evidence AS e (subject_key, owner_tenant_id, subject_type, subject_id, has_missing, has_carried)
  SELECT subject_key, tenant_id, subject_type, subject_id, has_missing, has_carried
  FROM ready
  WHERE has_missing OR has_carried
  ON CONFLICT (subject_key) DO UPDATE SET has_missing = EXCLUDED.has_missing, has_carried = EXCLUDED.has_carried
),
mended_evidence AS (
  DELETE FROM subject_evidence e
  WHERE e.subject_key = ANY (ARRAY(SELECT subject_key FROM ready WHERE NOT has_missing AND NOT has_carried))
),
new_identifier AS (
  INSERT INTO subject_identifiers (subject_key, scheme, value, owner_tenant_id, subject_type)
  SELECT r.subject_key, t.scheme, t.value, r.tenant_id, r.subject_type
  FROM unnest($15::int[], $16::text[], $17::text[])
    AS t(ord, scheme, value) CROSS JOIN LATERAL (SELECT * FROM ready WHERE ord = t.ord LIMIT 1) r
  ON CONFLICT (subject_key, scheme) DO UPDATE SET value = excluded.value
  WHERE subject_identifiers.value <> excluded.value
),
new_snapshot AS (
  INSERT INTO snapshots
    (subject_key, snapshot_version, snapshot_id, tenant_id, created_at, written_by, write_request_id, generated_at, envelope_hash,
      prev_hash, envelope)
  SELECT subject_key, snapshot_version, snapshot_id, tenant_id, created_at, principal_id, ($21::text[])[ord],
    ($22::text[])[ord],
    decode(($23::text[])[ord], 'hex'), decode(($24::text[])[ord], 'hex'),
    ($25::text[])[ord]
  FROM ready
),
new_event AS (
  INSERT INTO outbox_events (event_id, tenant_id, event_type, snapshot_id, request_id, traceparent)
  SELECT event_id, tenant_id, 'identity.snapshot.created', snapshot_id, ($21::text[])[ord],
    ($26::text[])[ord]
  FROM ready
  WHERE event_id IS NOT NULL
),
applied_event AS (
  INSERT INTO outbox_events (event_id, tenant_id, event_type, update_id, request_id, traceparent)
  SELECT applied_event_id, tenant_id, 'update.applied', update_id, ($21::text[])[ord],
    ($26::text[])[ord]
  FROM ready
  WHERE applied_event_id IS NOT NULL
)
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  f.head_version AS "headVersion", i.snapshot_id_taken AS "snapshotIdTaken", i.tenant_policy AS "evidencePolicy",
  (ARRAY(SELECT created_at FROM ready))[w.place] AS "createdAt",
  (ARRAY(SELECT event_id FROM ready))[w.place] AS "eventId", (ARRAY(SELECT applied_event_id
    FROM ready))[w.place] AS "appliedEventId"
FROM asked i
CROSS JOIN LATERAL (SELECT array_position(ARRAY(SELECT ord FROM ready), i.ord) AS place LIMIT 1) w
LEFT JOIN LATERAL (
  SELECT f.*, (SELECT n.snapshot_version FROM snapshots n
    WHERE n.subject_key = s.subject_key ORDER BY n.snapshot_version DESC LIMIT 1) AS head_version
  FROM (SELECT w.place IS NULL AS is_refused) r
  LEFT JOIN subjects s ON s.subject_type = i.subject_type AND s.subject_id = i.subject_id
  LEFT JOIN LATERAL (
    SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access,
      s.owner_tenant_id = i.tenant_id AS owns_subject, one.scopes || every.scopes AS grant_scopes,
      CASE WHEN one.scopes && '{}' THEN one.grant_id ELSE every.grant_id END AS grant_id
    FROM memberships m
    LEFT JOIN LATERAL (SELECT g.grant_id, g.scopes FROM grants g
      WHERE s.owner_tenant_id <> i.tenant_id
        AND (g.grantee_tenant_id, g.subject_key) BETWEEN (i.tenant_id, s.subject_key) AND (i.tenant_id, s.subject_key)
        AND g.revoked_at IS NULL AND (g.expires_at IS NULL OR g.expires_at > statement_timestamp())
      LIMIT 1) one ON true
    LEFT JOIN LATERAL (SELECT g.grant_id, g.scopes FROM grants g
      WHERE s.owner_tenant_id <> i.tenant_id
        AND (g.grantor_tenant_id || '/', g.grantee_tenant_id, coalesce(g.expires_at, 'infinity'))
        > (s.owner_tenant_id || '/', i.tenant_id, statement_timestamp())
        AND (g.grantor_tenant_id || '/', g.grantee_tenant_id) <= (s.owner_tenant_id || '/', i.tenant_id)
        AND g.revoked_at IS NULL AND (g.subject_key = 0) IS TRUE LIMIT 1) every ON true
    WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id
  ) f ON true
  WHERE r.is_refused LIMIT 1
) f ON true
ORDER BY i.ord;

-- snapshot_create
--   asked by SnapshotWriteStore.create (stores/snapshots/snapshot-write.store.ts)
--   $1 inputs.tenantId text[]
--   $2 inputs.principalId text[]
--   $3 inputs.subjectType text[]
--   $4 inputs.subjectId text[]
--   $5 inputs.snapshotId uuid[]
--   $6 inputs.snapshotVersion integer[]
--   $7 inputs.updateId uuid[]
--   $8 inputs.evidencePolicy text[]
--   $9 inputs.hasMissing boolean[]
--   $10 inputs.hasCarried boolean[]
--   $11 names text[]
--   $12 displayNames text[]
--   $13 eventIds uuid[]
--   $14 inputs.requestId text[]
--   $15 inputs.generatedAt text[]
--   $16 inputs.envelopeHash text[]
--   $17 inputs.prevHash text[]
--   $18 inputs.envelope text[]
--   $19 inputs.traceparent text[]
--   enters grants_live, grants_to_all_live, memberships_pkey, snapshots_snapshot_id_key, snapshots_version_key, subjects_identity_key, tenants_pkey, webhook_subscription_types_pkey
PREPARE snapshot_create (text[], text[], text[], text[], uuid[], integer[], uuid[], text[], boolean[], boolean[], text[], text[], uuid[], text[], text[], text[], text[], text[], text[]) AS
WITH
asked AS MATERIALIZED (
  SELECT i.*,
    (SELECT true FROM snapshots n WHERE n.snapshot_id = i.snapshot_id LIMIT 1) IS NOT NULL AS snapshot_id_taken,
    (SELECT m.status = 'active' AND m.api_functional_role IN ('tenant_editor', 'tenant_admin', 'tenant_owner')
    FROM memberships m
    WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id LIMIT 1) AS is_editor,
    (SELECT t.evidence_policy FROM tenants t WHERE t.tenant_id = i.tenant_id LIMIT 1) AS tenant_policy
  FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::uuid[], $6::int[], $7::uuid[], $8::text[], $9::boolean[], $10::boolean[])
    WITH ORDINALITY AS i(tenant_id, principal_id, subject_type, subject_id, snapshot_id, snapshot_version, update_id, evidence_policy, has_missing, has_carried, ord)
  ORDER BY i.subject_type, i.subject_id
),
new_subject AS (
  INSERT INTO subjects (subject_type, subject_id, owner_tenant_id, name, display_name)
  SELECT subject_type, subject_id, tenant_id, ($11::text[])[i.ord], ($12::text[])[i.ord] FROM asked i
  WHERE is_editor AND NOT snapshot_id_taken AND tenant_policy = evidence_policy
  ON CONFLICT ON CONSTRAINT subjects_identity_key DO NOTHING
  RETURNING subject_key, subject_type || '/' || subject_id AS identity
),
ready AS MATERIALIZED (
  SELECT i.*, (ARRAY(SELECT subject_key
      FROM new_subject))[s.place] AS subject_key, now() AS created_at, (SELECT ($13::uuid[])[i.ord]
    FROM webhook_subscription_types y WHERE y.tenant_id = i.tenant_id
      AND y.event_type = 'identity.snapshot.created' LIMIT 1) AS event_id
  FROM asked i
  CROSS JOIN LATERAL (SELECT array_position(ARRAY(SELECT identity
        FROM new_subject), subject_type || '/' || subject_id) AS place LIMIT 1) s
  WHERE s.place IS NOT NULL
),
new_snapshot AS (
  INSERT INTO snapshots
    (subject_key, snapshot_version, snapshot_id, tenant_id, created_at, written_by, write_request_id, generated_at, envelope_hash,
      prev_hash, envelope)
  SELECT subject_key, snapshot_version, snapshot_id, tenant_id, created_at, principal_id, ($14::text[])[ord],
    ($15::text[])[ord],
    decode(($16::text[])[ord], 'hex'), decode(($17::text[])[ord], 'hex'),
    ($18::text[])[ord]
  FROM ready
),
new_event AS (
  INSERT INTO outbox_events (event_id, tenant_id, event_type, snapshot_id, request_id, traceparent)
  SELECT event_id, tenant_id, 'identity.snapshot.created', snapshot_id, ($14::text[])[ord],
    ($19::text[])[ord]
  FROM ready
  WHERE event_id IS NOT NULL
)
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  f.head_version AS "headVersion", i.snapshot_id_taken AS "snapshotIdTaken", i.tenant_policy AS "evidencePolicy",
  (ARRAY(SELECT created_at FROM ready))[w.place] AS "createdAt",
  (ARRAY(SELECT event_id FROM ready))[w.place] AS "eventId", NULL::uuid AS "appliedEventId"
FROM asked i
CROSS JOIN LATERAL (SELECT array_position(ARRAY(SELECT ord FROM ready), i.ord) AS place LIMIT 1) w
LEFT JOIN LATERAL (
  SELECT f.*, (SELECT n.snapshot_version FROM snapshots n
    WHERE n.subject_key = s.subject_key ORDER BY n.snapshot_version DESC LIMIT 1) AS head_version
  FROM (SELECT w.place IS NULL AS is_refused) r
  LEFT JOIN subjects s ON s.subject_type = i.subject_type AND s.subject_id = i.subject_id
  LEFT JOIN LATERAL (
    SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access,
      s.owner_tenant_id = i.tenant_id AS owns_subject, one.scopes || every.scopes AS grant_scopes,
      CASE WHEN one.scopes && '{}' THEN one.grant_id ELSE every.grant_id END AS grant_id
    FROM memberships m
    LEFT JOIN LATERAL (SELECT g.grant_id, g.scopes FROM grants g
      WHERE s.owner_tenant_id <> i.tenant_id
        AND (g.grantee_tenant_id, g.subject_key) BETWEEN (i.tenant_id, s.subject_key) AND (i.tenant_id, s.subject_key)
        AND g.revoked_at IS NULL AND (g.expires_at IS NULL OR g.expires_at > statement_timestamp())
      LIMIT 1) one ON true
    LEFT JOIN LATERAL (SELECT g.grant_id, g.scopes FROM grants g
      WHERE s.owner_tenant_id <> i.tenant_id
        AND (g.grantor_tenant_id || '/', g.grantee_tenant_id, coalesce(g.expires_at, 'infinity'))
        > (s.owner_tenant_id || '/', i.tenant_id, statement_timestamp())
        AND (g.grantor_tenant_id || '/', g.grantee_tenant_id) <= (s.owner_tenant_id || '/', i.tenant_id)
        AND g.revoked_at IS NULL AND (g.subject_key = 0) IS TRUE LIMIT 1) every ON true
    WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id
  ) f ON true
  WHERE r.is_refused LIMIT 1
) f ON true
ORDER BY i.ord;

-- snapshot_create_found
--   asked by SnapshotWriteStore.create (stores/snapshots/snapshot-write.store.ts)
--   $1 inputs.tenantId text[]
--   $2 inputs.principalId text[]
--   $3 inputs.subjectType text[]
--   $4 inputs.subjectId text[]
--   $5 inputs.snapshotId uuid[]
--   $6 inputs.snapshotVersion integer[]
--   $7 inputs.updateId uuid[]
--   $8 inputs.evidencePolicy text[]
--   $9 inputs.hasMissing boolean[]
--   $10 inputs.hasCarried boolean[]
--   $11 names text[]
--   $12 displayNames text[]
--   $13 eventIds uuid[]
--   $14 identifiers.ord integer[]
--   $15 identifiers.scheme text[]
--   $16 identifiers.value text[]
--   $17 inputs.requestId text[]
--   $18 inputs.generatedAt text[]
--   $19 inputs.envelopeHash text[]
--   $20 inputs.prevHash text[]
--   $21 inputs.envelope text[]
--   $22 inputs.traceparent text[]
--   enters grants_live, grants_to_all_live, memberships_pkey, snapshots_snapshot_id_key, snapshots_version_key, subjects_identity_key, tenants_pkey, webhook_subscription_types_pkey
PREPARE snapshot_create_found (text[], text[], text[], text[], uuid[], integer[], uuid[], text[], boolean[], boolean[], text[], text[], uuid[], integer[], text[], text[], text[], text[], text[], text[], text[], text[]) AS
WITH
asked AS MATERIALIZED (
  SELECT i.*,
    (SELECT true FROM snapshots n WHERE n.snapshot_id = i.snapshot_id LIMIT 1) IS NOT NULL AS snapshot_id_taken,
    (SELECT m.status = 'active' AND m.api_functional_role IN ('tenant_editor', 'tenant_admin', 'tenant_owner')
    FROM memberships m
    WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id LIMIT 1) AS is_editor,
    (SELECT t.evidence_policy FROM tenants t WHERE t.tenant_id = i.tenant_id LIMIT 1) AS tenant_policy
  FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::uuid[], $6::int[], $7::uuid[], $8::text[], $9::boolean[], $10::boolean[])
    WITH ORDINALITY AS i(tenant_id, principal_id, subject_type, subject_id, snapshot_id, snapshot_version, update_id, evidence_policy, has_missing, has_carried, ord)
  ORDER BY i.subject_type, i.subject_id
),
new_subject AS (
  INSERT INTO subjects (subject_type, subject_id, owner_tenant_id, name, display_name)
  SELECT subject_type, subject_id, tenant_id, ($11::text[])[i.ord], ($12::text[])[i.ord] FROM asked i
  WHERE is_editor AND NOT snapshot_id_taken AND tenant_policy = evidence_policy
  ON CONFLICT ON CONSTRAINT subjects_identity_key DO NOTHING
  RETURNING subject_key, subject_type || '/' || subject_id AS identity
),
ready AS MATERIALIZED (
  SELECT i.*, (ARRAY(SELECT subject_key
      FROM new_subject))[s.place] AS subject_key, now() AS created_at, (SELECT ($13::uuid[])[i.ord]
    FROM webhook_subscription_types y WHERE y.tenant_id = i.tenant_id
      AND y.event_type = 'identity.snapshot.created' LIMIT 1) AS event_id
  FROM asked i
  CROSS JOIN LATERAL (SELECT array_position(ARRAY(SELECT identity
        FROM new_subject), subject_type || '/' || subject_id) AS place LIMIT 1) s
  WHERE s.place IS NOT NULL
),
new_evidence AS (
  INSERT INTO subject_evidence (subject_key, owner_tenant_id, subject_type, subject_id, has_missing, has_carried)
  SELECT subject_key, tenant_id, subject_type, subject_id, has_missing, has_carried
  FROM ready
  WHERE has_missing OR has_carried
),
new_identifier AS (
  INSERT INTO subject_identifiers (subject_key, scheme, value, owner_tenant_id, subject_type)
  SELECT r.subject_key, t.scheme, t.value, r.tenant_id, r.subject_type
  FROM unnest($14::int[], $15::text[], $16::text[])
    AS t(ord, scheme, value) CROSS JOIN LATERAL (SELECT * FROM ready WHERE ord = t.ord LIMIT 1) r
  ON CONFLICT (subject_key, scheme) DO UPDATE SET value = excluded.value
  WHERE subject_identifiers.value <> excluded.value
),
new_snapshot AS (
  INSERT INTO snapshots
    (subject_key, snapshot_version, snapshot_id, tenant_id, created_at, written_by, write_request_id, generated_at, envelope_hash,
      prev_hash, envelope)
  SELECT subject_key, snapshot_version, snapshot_id, tenant_id, created_at, principal_id, ($17::text[])[ord],
    ($18::text[])[ord],
    decode(($19::text[])[ord], 'hex'), decode(($20::text[])[ord], 'hex'),
    ($21::text[])[ord]
  FROM ready
),
new_event AS (
  INSERT INTO outbox_events (event_id, tenant_id, event_type, snapshot_id, request_id, traceparent)
  SELECT event_id, tenant_id, 'identity.snapshot.created', snapshot_id, ($17::text[])[ord],
    ($22::text[])[ord]
  FROM ready
  WHERE event_id IS NOT NULL
)
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  f.head_version AS "headVersion", i.snapshot_id_taken AS "snapshotIdTaken", i.tenant_policy AS "evidencePolicy",
  (ARRAY(SELECT created_at FROM ready))[w.place] AS "createdAt",
  (ARRAY(SELECT event_id FROM ready))[w.place] AS "eventId", NULL::uuid AS "appliedEventId"
FROM asked i
CROSS JOIN LATERAL (SELECT array_position(ARRAY(SELECT ord FROM ready), i.ord) AS place LIMIT 1) w
LEFT JOIN LATERAL (
  SELECT f.*, (SELECT n.snapshot_version FROM snapshots n
    WHERE n.subject_key = s.subject_key ORDER BY n.snapshot_version DESC LIMIT 1) AS head_version
  FROM (SELECT w.place IS NULL AS is_refused) r
  LEFT JOIN subjects s ON s.subject_type = i.subject_type AND s.subject_id = i.subject_id
  LEFT JOIN LATERAL (
    SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access,
      s.owner_tenant_id = i.tenant_id AS owns_subject, one.scopes || every.scopes AS grant_scopes,
      CASE WHEN one.scopes && '{}' THEN one.grant_id ELSE every.grant_id END AS grant_id
    FROM memberships m
    LEFT JOIN LATERAL (SELECT g.grant_id, g.scopes FROM grants g
      WHERE s.owner_tenant_id <> i.tenant_id
        AND (g.grantee_tenant_id, g.subject_key) BETWEEN (i.tenant_id, s.subject_key) AND (i.tenant_id, s.subject_key)
        AND g.revoked_at IS NULL AND (g.expires_at IS NULL OR g.expires_at > statement_timestamp())
      LIMIT 1) one ON true
    LEFT JOIN LATERAL (SELECT g.grant_id, g.scopes FROM grants g
      WHERE s.owner_tenant_id <> i.tenant_id
        AND (g.grantor_tenant_id || '/', g.grantee_tenant_id, coalesce(g.expires_at, 'infinity'))
        > (s.owner_tenant_id || '/', i.tenant_id, statement_timestamp())
        AND (g.grantor_tenant_id || '/', g.grantee_tenant_id) <= (s.owner_tenant_id || '/', i.tenant_id)
        AND g.revoked_at IS NULL AND (g.subject_key = 0) IS TRUE LIMIT 1) every ON true
    WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id
  ) f ON true
  WHERE r.is_refused LIMIT 1
) f ON true
ORDER BY i.ord;

-- snapshot_id_global
--   asked by SnapshotReadStore.read (stores/snapshots/snapshot-read.store.ts)
--   $1 maxBytes integer
--   $2 inputs.tenantId text[]
--   $3 inputs.principalId text[]
--   $4 inputs.withEnvelope boolean[]
--   $5 inputs.knownHash bytea[]
--   $6 inputs.snapshotId uuid[]
--   enters erasures_pkey, grants_live, grants_live_by_grantee, grants_to_all_live, memberships_by_principal, snapshots_snapshot_id_key, subjects_pkey
PREPARE snapshot_id_global (integer, text[], text[], boolean[], bytea[], uuid[]) AS
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  CASE WHEN f.owns_subject IS NOT TRUE THEN s.subject_key::float8 END AS "disclosure?.subjectKey",
  f.grantee_tenant_id AS "disclosure?.granteeTenantId", f.grant_id AS "disclosure?.grantId", found.snapshot_version AS version,
  n.snapshot_id AS "snapshot?.snapshotId",
  s.subject_type AS "snapshot?.subjectType",
  s.subject_id AS "snapshot?.subjectId",
  n.snapshot_version AS "snapshot?.snapshotVersion",
  n.generated_at AS "snapshot?.generatedAt",
  n.created_at AS "snapshot?.createdAt",
  encode(n.envelope_hash, 'hex') AS "snapshot?.envelopeHash",
  encode(n.prev_hash, 'hex') AS "snapshot?.prevHash",
  n.written_by AS "snapshot?.writtenBy",
  n.write_request_id AS "snapshot?.writeRequestId",
  CASE WHEN i.with_envelope AND NOT (i.with_envelope
    AND octet_length(n.envelope) > $1::int) IS TRUE THEN n.envelope END AS "snapshot?.envelope",
  CASE WHEN n.erasure_id IS NOT NULL THEN (SELECT er.public_id FROM erasures er
  WHERE er.erasure_id = n.erasure_id LIMIT 1) END AS "snapshot?.erasure?.erasureId",
  CASE WHEN n.erasure_id IS NOT NULL THEN (SELECT er.erased_at FROM erasures er
  WHERE er.erasure_id = n.erasure_id LIMIT 1) END AS "snapshot?.erasure?.erasedAt",
  (found.envelope_hash = i.known_hash AND found.erasure_id IS NULL) IS TRUE AS "isKnown", (i.with_envelope
    AND octet_length(n.envelope) > $1::int) IS TRUE AS "isTooLarge"
FROM unnest($2::text[], $3::text[], $4::boolean[], $5::bytea[], $6::uuid[])
  WITH ORDINALITY AS i(tenant_id, principal_id, with_envelope, known_hash, snapshot_id, ord)
LEFT JOIN snapshots found ON found.snapshot_id = i.snapshot_id
LEFT JOIN subjects s ON s.subject_key = found.subject_key
LEFT JOIN LATERAL (
  SELECT 'tenant_reader' AS role, 'active' AS member_status, true AS allow_counterparty_access, o.owns_subject,
    h.grant_scopes, h.grantee_tenant_id, h.grant_id
  FROM (SELECT (SELECT true FROM memberships m
      WHERE m.tenant_id = s.owner_tenant_id AND m.principal_id = i.principal_id
        AND m.status = 'active' LIMIT 1) AS owns_subject OFFSET 0) o
  CROSS JOIN LATERAL (
    WITH RECURSIVE met (tenant_id, allow_counterparty_access) AS (
      SELECT ''::text COLLATE "C", false WHERE o.owns_subject IS NULL
      UNION ALL
      SELECT m.tenant_id, m.allow_counterparty_access
      FROM met
      CROSS JOIN LATERAL (
        SELECT least(
            (SELECT g.grantee_tenant_id FROM grants g
            WHERE (g.subject_key, g.grantee_tenant_id) > (s.subject_key, met.tenant_id)
              AND g.subject_key <= s.subject_key AND g.subject_key > 0 AND g.revoked_at IS NULL
            ORDER BY g.subject_key, g.grantee_tenant_id LIMIT 1),
            (SELECT g.grantee_tenant_id FROM grants g
            WHERE (g.grantor_tenant_id || '/', g.grantee_tenant_id) > (s.owner_tenant_id || '/', met.tenant_id)
              AND g.grantor_tenant_id || '/' <= s.owner_tenant_id || '/' AND g.revoked_at IS NULL
              AND (g.subject_key = 0) IS TRUE
            ORDER BY g.grantor_tenant_id || '/', g.grantee_tenant_id LIMIT 1)) AS grantee_tenant_id
      ) g
      CROSS JOIN LATERAL (
        SELECT m.tenant_id, m.allow_counterparty_access FROM memberships m
        WHERE (m.principal_id, m.tenant_id) >= (i.principal_id, g.grantee_tenant_id)
          AND m.principal_id <= i.principal_id AND m.status = 'active'
        ORDER BY m.principal_id, m.tenant_id LIMIT 1
      ) m
    )
    SELECT array_agg(DISTINCT scope) AS grant_scopes,
      min(m.tenant_id) FILTER (WHERE scope IN ('read_snapshot_by_id')) AS grantee_tenant_id,
      (array_agg(g.grant_id
        ORDER BY m.tenant_id, g.is_to_all) FILTER (WHERE scope IN ('read_snapshot_by_id')))[1] AS grant_id
    FROM met m
    CROSS JOIN LATERAL (SELECT g.scopes, g.grant_id, false AS is_to_all FROM grants g
      WHERE (g.grantee_tenant_id, g.subject_key) BETWEEN (m.tenant_id, s.subject_key)
        AND (m.tenant_id, s.subject_key)
        AND g.revoked_at IS NULL AND (g.expires_at IS NULL OR g.expires_at > statement_timestamp())
      UNION ALL
      SELECT g.scopes, g.grant_id, true FROM grants g
      WHERE (g.grantor_tenant_id || '/', g.grantee_tenant_id, coalesce(g.expires_at, 'infinity'))
        > (s.owner_tenant_id || '/', m.tenant_id, statement_timestamp())
        AND (g.grantor_tenant_id || '/', g.grantee_tenant_id) <= (s.owner_tenant_id || '/', m.tenant_id)
        AND g.revoked_at IS NULL AND (g.subject_key = 0) IS TRUE OFFSET 0) g
    CROSS JOIN unnest(g.scopes) scope
    WHERE m.allow_counterparty_access
  ) h
) f ON true
LEFT JOIN LATERAL (SELECT s.subject_key
  WHERE f.role IN ('tenant_reader', 'tenant_proposer', 'tenant_editor', 'tenant_admin', 'tenant_owner')
    AND f.member_status = 'active'
    AND (f.owns_subject OR (f.allow_counterparty_access AND f.grant_scopes && ARRAY['read_snapshot_by_id']))
    OR i.principal_id = 'anyone') r ON true
LEFT JOIN LATERAL (SELECT found.* WHERE r.subject_key IS NOT NULL AND (found.envelope_hash = i.known_hash
      AND found.erasure_id IS NULL) IS NOT TRUE) n ON true
ORDER BY i.ord;

-- snapshot_id_tenant
--   asked by SnapshotReadStore.read (stores/snapshots/snapshot-read.store.ts)
--   $1 maxBytes integer
--   $2 inputs.tenantId text[]
--   $3 inputs.principalId text[]
--   $4 inputs.withEnvelope boolean[]
--   $5 inputs.knownHash bytea[]
--   $6 inputs.snapshotId uuid[]
--   enters erasures_pkey, grants_live, grants_to_all_live, memberships_pkey, snapshots_snapshot_id_key, subjects_pkey
PREPARE snapshot_id_tenant (integer, text[], text[], boolean[], bytea[], uuid[]) AS
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  CASE WHEN f.owns_subject IS NOT TRUE THEN s.subject_key::float8 END AS "disclosure?.subjectKey",
  i.tenant_id AS "disclosure?.granteeTenantId", f.grant_id AS "disclosure?.grantId", found.snapshot_version AS version,
  n.snapshot_id AS "snapshot?.snapshotId",
  s.subject_type AS "snapshot?.subjectType",
  s.subject_id AS "snapshot?.subjectId",
  n.snapshot_version AS "snapshot?.snapshotVersion",
  n.generated_at AS "snapshot?.generatedAt",
  n.created_at AS "snapshot?.createdAt",
  encode(n.envelope_hash, 'hex') AS "snapshot?.envelopeHash",
  encode(n.prev_hash, 'hex') AS "snapshot?.prevHash",
  n.written_by AS "snapshot?.writtenBy",
  n.write_request_id AS "snapshot?.writeRequestId",
  CASE WHEN i.with_envelope AND NOT (i.with_envelope
    AND octet_length(n.envelope) > $1::int) IS TRUE THEN n.envelope END AS "snapshot?.envelope",
  CASE WHEN n.erasure_id IS NOT NULL THEN (SELECT er.public_id FROM erasures er
  WHERE er.erasure_id = n.erasure_id LIMIT 1) END AS "snapshot?.erasure?.erasureId",
  CASE WHEN n.erasure_id IS NOT NULL THEN (SELECT er.erased_at FROM erasures er
  WHERE er.erasure_id = n.erasure_id LIMIT 1) END AS "snapshot?.erasure?.erasedAt",
  (found.envelope_hash = i.known_hash AND found.erasure_id IS NULL) IS TRUE AS "isKnown", (i.with_envelope
    AND octet_length(n.envelope) > $1::int) IS TRUE AS "isTooLarge"
FROM unnest($2::text[], $3::text[], $4::boolean[], $5::bytea[], $6::uuid[])
  WITH ORDINALITY AS i(tenant_id, principal_id, with_envelope, known_hash, snapshot_id, ord)
LEFT JOIN snapshots found ON found.snapshot_id = i.snapshot_id
LEFT JOIN subjects s ON s.subject_key = found.subject_key
LEFT JOIN LATERAL (
  SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access,
    s.owner_tenant_id = i.tenant_id AS owns_subject, one.scopes || every.scopes AS grant_scopes,
    CASE WHEN one.scopes && '{read_snapshot_by_id}' THEN one.grant_id ELSE every.grant_id END AS grant_id
  FROM memberships m
  LEFT JOIN LATERAL (SELECT g.grant_id, g.scopes FROM grants g
    WHERE s.owner_tenant_id <> i.tenant_id
      AND (g.grantee_tenant_id, g.subject_key) BETWEEN (i.tenant_id, s.subject_key) AND (i.tenant_id, s.subject_key)
      AND g.revoked_at IS NULL AND (g.expires_at IS NULL OR g.expires_at > statement_timestamp())
    LIMIT 1) one ON true
  LEFT JOIN LATERAL (SELECT g.grant_id, g.scopes FROM grants g
    WHERE s.owner_tenant_id <> i.tenant_id
      AND (g.grantor_tenant_id || '/', g.grantee_tenant_id, coalesce(g.expires_at, 'infinity'))
      > (s.owner_tenant_id || '/', i.tenant_id, statement_timestamp())
      AND (g.grantor_tenant_id || '/', g.grantee_tenant_id) <= (s.owner_tenant_id || '/', i.tenant_id)
      AND g.revoked_at IS NULL AND (g.subject_key = 0) IS TRUE LIMIT 1) every ON true
  WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id
) f ON true
LEFT JOIN LATERAL (SELECT s.subject_key
  WHERE f.role IN ('tenant_reader', 'tenant_proposer', 'tenant_editor', 'tenant_admin', 'tenant_owner')
    AND f.member_status = 'active'
    AND (f.owns_subject OR (f.allow_counterparty_access
        AND f.grant_scopes && ARRAY['read_snapshot_by_id']))) r ON true
LEFT JOIN LATERAL (SELECT found.* WHERE r.subject_key IS NOT NULL AND (found.envelope_hash = i.known_hash
      AND found.erasure_id IS NULL) IS NOT TRUE) n ON true
ORDER BY i.ord;

-- snapshot_latest_global
--   asked by SnapshotReadStore.read (stores/snapshots/snapshot-read.store.ts)
--   $1 maxBytes integer
--   $2 inputs.tenantId text[]
--   $3 inputs.principalId text[]
--   $4 inputs.withEnvelope boolean[]
--   $5 inputs.knownHash bytea[]
--   $6 inputs.subjectType text[]
--   $7 inputs.subjectId text[]
--   enters erasures_pkey, grants_live, grants_live_by_grantee, grants_to_all_live, memberships_by_principal, snapshots_version_key, subjects_identity_key
PREPARE snapshot_latest_global (integer, text[], text[], boolean[], bytea[], text[], text[]) AS
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  CASE WHEN f.owns_subject IS NOT TRUE THEN s.subject_key::float8 END AS "disclosure?.subjectKey",
  f.grantee_tenant_id AS "disclosure?.granteeTenantId", f.grant_id AS "disclosure?.grantId", found.snapshot_version AS version,
  n.snapshot_id AS "snapshot?.snapshotId",
  s.subject_type AS "snapshot?.subjectType",
  s.subject_id AS "snapshot?.subjectId",
  n.snapshot_version AS "snapshot?.snapshotVersion",
  n.generated_at AS "snapshot?.generatedAt",
  n.created_at AS "snapshot?.createdAt",
  encode(n.envelope_hash, 'hex') AS "snapshot?.envelopeHash",
  encode(n.prev_hash, 'hex') AS "snapshot?.prevHash",
  n.written_by AS "snapshot?.writtenBy",
  n.write_request_id AS "snapshot?.writeRequestId",
  CASE WHEN i.with_envelope AND NOT (i.with_envelope
    AND octet_length(n.envelope) > $1::int) IS TRUE THEN n.envelope END AS "snapshot?.envelope",
  CASE WHEN n.erasure_id IS NOT NULL THEN (SELECT er.public_id FROM erasures er
  WHERE er.erasure_id = n.erasure_id LIMIT 1) END AS "snapshot?.erasure?.erasureId",
  CASE WHEN n.erasure_id IS NOT NULL THEN (SELECT er.erased_at FROM erasures er
  WHERE er.erasure_id = n.erasure_id LIMIT 1) END AS "snapshot?.erasure?.erasedAt",
  (found.envelope_hash = i.known_hash AND found.erasure_id IS NULL) IS TRUE AS "isKnown", (i.with_envelope
    AND octet_length(n.envelope) > $1::int) IS TRUE AS "isTooLarge"
FROM unnest($2::text[], $3::text[], $4::boolean[], $5::bytea[], $6::text[], $7::text[])
  WITH ORDINALITY AS i(tenant_id, principal_id, with_envelope, known_hash, subject_type, subject_id, ord)
LEFT JOIN subjects s ON s.subject_type = i.subject_type AND s.subject_id = i.subject_id
LEFT JOIN LATERAL (
  SELECT 'tenant_reader' AS role, 'active' AS member_status, true AS allow_counterparty_access, o.owns_subject,
    h.grant_scopes, h.grantee_tenant_id, h.grant_id
  FROM (SELECT (SELECT true FROM memberships m
      WHERE m.tenant_id = s.owner_tenant_id AND m.principal_id = i.principal_id
        AND m.status = 'active' LIMIT 1) AS owns_subject OFFSET 0) o
  CROSS JOIN LATERAL (
    WITH RECURSIVE met (tenant_id, allow_counterparty_access) AS (
      SELECT ''::text COLLATE "C", false WHERE o.owns_subject IS NULL
      UNION ALL
      SELECT m.tenant_id, m.allow_counterparty_access
      FROM met
      CROSS JOIN LATERAL (
        SELECT least(
            (SELECT g.grantee_tenant_id FROM grants g
            WHERE (g.subject_key, g.grantee_tenant_id) > (s.subject_key, met.tenant_id)
              AND g.subject_key <= s.subject_key AND g.subject_key > 0 AND g.revoked_at IS NULL
            ORDER BY g.subject_key, g.grantee_tenant_id LIMIT 1),
            (SELECT g.grantee_tenant_id FROM grants g
            WHERE (g.grantor_tenant_id || '/', g.grantee_tenant_id) > (s.owner_tenant_id || '/', met.tenant_id)
              AND g.grantor_tenant_id || '/' <= s.owner_tenant_id || '/' AND g.revoked_at IS NULL
              AND (g.subject_key = 0) IS TRUE
            ORDER BY g.grantor_tenant_id || '/', g.grantee_tenant_id LIMIT 1)) AS grantee_tenant_id
      ) g
      CROSS JOIN LATERAL (
        SELECT m.tenant_id, m.allow_counterparty_access FROM memberships m
        WHERE (m.principal_id, m.tenant_id) >= (i.principal_id, g.grantee_tenant_id)
          AND m.principal_id <= i.principal_id AND m.status = 'active'
        ORDER BY m.principal_id, m.tenant_id LIMIT 1
      ) m
    )
    SELECT array_agg(DISTINCT scope) AS grant_scopes,
      min(m.tenant_id) FILTER (WHERE scope IN ('read_latest')) AS grantee_tenant_id,
      (array_agg(g.grant_id
        ORDER BY m.tenant_id, g.is_to_all) FILTER (WHERE scope IN ('read_latest')))[1] AS grant_id
    FROM met m
    CROSS JOIN LATERAL (SELECT g.scopes, g.grant_id, false AS is_to_all FROM grants g
      WHERE (g.grantee_tenant_id, g.subject_key) BETWEEN (m.tenant_id, s.subject_key)
        AND (m.tenant_id, s.subject_key)
        AND g.revoked_at IS NULL AND (g.expires_at IS NULL OR g.expires_at > statement_timestamp())
      UNION ALL
      SELECT g.scopes, g.grant_id, true FROM grants g
      WHERE (g.grantor_tenant_id || '/', g.grantee_tenant_id, coalesce(g.expires_at, 'infinity'))
        > (s.owner_tenant_id || '/', m.tenant_id, statement_timestamp())
        AND (g.grantor_tenant_id || '/', g.grantee_tenant_id) <= (s.owner_tenant_id || '/', m.tenant_id)
        AND g.revoked_at IS NULL AND (g.subject_key = 0) IS TRUE OFFSET 0) g
    CROSS JOIN unnest(g.scopes) scope
    WHERE m.allow_counterparty_access
  ) h
) f ON true
LEFT JOIN LATERAL (SELECT s.subject_key
  WHERE f.role IN ('tenant_reader', 'tenant_proposer', 'tenant_editor', 'tenant_admin', 'tenant_owner')
    AND f.member_status = 'active'
    AND (f.owns_subject OR (f.allow_counterparty_access AND f.grant_scopes && ARRAY['read_latest']))
    OR i.principal_id = 'anyone') r ON true
LEFT JOIN LATERAL (SELECT * FROM snapshots n WHERE n.subject_key = r.subject_key
  ORDER BY n.snapshot_version DESC LIMIT 1) found ON true
LEFT JOIN LATERAL (SELECT found.* WHERE r.subject_key IS NOT NULL AND (found.envelope_hash = i.known_hash
      AND found.erasure_id IS NULL) IS NOT TRUE) n ON true
ORDER BY i.ord;

-- snapshot_latest_tenant
--   asked by SnapshotReadStore.read (stores/snapshots/snapshot-read.store.ts)
--   $1 maxBytes integer
--   $2 inputs.tenantId text[]
--   $3 inputs.principalId text[]
--   $4 inputs.withEnvelope boolean[]
--   $5 inputs.knownHash bytea[]
--   $6 inputs.subjectType text[]
--   $7 inputs.subjectId text[]
--   enters erasures_pkey, grants_live, grants_to_all_live, memberships_pkey, snapshots_version_key, subjects_identity_key
PREPARE snapshot_latest_tenant (integer, text[], text[], boolean[], bytea[], text[], text[]) AS
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  CASE WHEN f.owns_subject IS NOT TRUE THEN s.subject_key::float8 END AS "disclosure?.subjectKey",
  i.tenant_id AS "disclosure?.granteeTenantId", f.grant_id AS "disclosure?.grantId", found.snapshot_version AS version,
  n.snapshot_id AS "snapshot?.snapshotId",
  s.subject_type AS "snapshot?.subjectType",
  s.subject_id AS "snapshot?.subjectId",
  n.snapshot_version AS "snapshot?.snapshotVersion",
  n.generated_at AS "snapshot?.generatedAt",
  n.created_at AS "snapshot?.createdAt",
  encode(n.envelope_hash, 'hex') AS "snapshot?.envelopeHash",
  encode(n.prev_hash, 'hex') AS "snapshot?.prevHash",
  n.written_by AS "snapshot?.writtenBy",
  n.write_request_id AS "snapshot?.writeRequestId",
  CASE WHEN i.with_envelope AND NOT (i.with_envelope
    AND octet_length(n.envelope) > $1::int) IS TRUE THEN n.envelope END AS "snapshot?.envelope",
  CASE WHEN n.erasure_id IS NOT NULL THEN (SELECT er.public_id FROM erasures er
  WHERE er.erasure_id = n.erasure_id LIMIT 1) END AS "snapshot?.erasure?.erasureId",
  CASE WHEN n.erasure_id IS NOT NULL THEN (SELECT er.erased_at FROM erasures er
  WHERE er.erasure_id = n.erasure_id LIMIT 1) END AS "snapshot?.erasure?.erasedAt",
  (found.envelope_hash = i.known_hash AND found.erasure_id IS NULL) IS TRUE AS "isKnown", (i.with_envelope
    AND octet_length(n.envelope) > $1::int) IS TRUE AS "isTooLarge"
FROM unnest($2::text[], $3::text[], $4::boolean[], $5::bytea[], $6::text[], $7::text[])
  WITH ORDINALITY AS i(tenant_id, principal_id, with_envelope, known_hash, subject_type, subject_id, ord)
LEFT JOIN subjects s ON s.subject_type = i.subject_type AND s.subject_id = i.subject_id
LEFT JOIN LATERAL (
  SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access,
    s.owner_tenant_id = i.tenant_id AS owns_subject, one.scopes || every.scopes AS grant_scopes,
    CASE WHEN one.scopes && '{read_latest}' THEN one.grant_id ELSE every.grant_id END AS grant_id
  FROM memberships m
  LEFT JOIN LATERAL (SELECT g.grant_id, g.scopes FROM grants g
    WHERE s.owner_tenant_id <> i.tenant_id
      AND (g.grantee_tenant_id, g.subject_key) BETWEEN (i.tenant_id, s.subject_key) AND (i.tenant_id, s.subject_key)
      AND g.revoked_at IS NULL AND (g.expires_at IS NULL OR g.expires_at > statement_timestamp())
    LIMIT 1) one ON true
  LEFT JOIN LATERAL (SELECT g.grant_id, g.scopes FROM grants g
    WHERE s.owner_tenant_id <> i.tenant_id
      AND (g.grantor_tenant_id || '/', g.grantee_tenant_id, coalesce(g.expires_at, 'infinity'))
      > (s.owner_tenant_id || '/', i.tenant_id, statement_timestamp())
      AND (g.grantor_tenant_id || '/', g.grantee_tenant_id) <= (s.owner_tenant_id || '/', i.tenant_id)
      AND g.revoked_at IS NULL AND (g.subject_key = 0) IS TRUE LIMIT 1) every ON true
  WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id
) f ON true
LEFT JOIN LATERAL (SELECT s.subject_key
  WHERE f.role IN ('tenant_reader', 'tenant_proposer', 'tenant_editor', 'tenant_admin', 'tenant_owner')
    AND f.member_status = 'active'
    AND (f.owns_subject OR (f.allow_counterparty_access AND f.grant_scopes && ARRAY['read_latest']))) r ON true
LEFT JOIN LATERAL (SELECT * FROM snapshots n WHERE n.subject_key = r.subject_key
  ORDER BY n.snapshot_version DESC LIMIT 1) found ON true
LEFT JOIN LATERAL (SELECT found.* WHERE r.subject_key IS NOT NULL AND (found.envelope_hash = i.known_hash
      AND found.erasure_id IS NULL) IS NOT TRUE) n ON true
ORDER BY i.ord;

-- snapshot_lineage_above
--   asked by SnapshotListStore.above (stores/snapshots/snapshot-list.store.ts)
--   $1 version bigint
--   $2 limit bigint
--   $3 subjectType text
--   $4 subjectId text
--   enters erasures_pkey, snapshots_version_key, subjects_identity_key
PREPARE snapshot_lineage_above (bigint, bigint, text, text) AS
SELECT n.snapshot_id AS "snapshotId",
  s.subject_type AS "subjectType",
  s.subject_id AS "subjectId",
  n.snapshot_version AS "snapshotVersion",
  n.generated_at AS "generatedAt",
  n.created_at AS "createdAt",
  encode(n.envelope_hash, 'hex') AS "envelopeHash",
  encode(n.prev_hash, 'hex') AS "prevHash",
  n.written_by AS "writtenBy",
  n.write_request_id AS "writeRequestId",
  n.envelope AS "envelope",
  CASE WHEN n.erasure_id IS NOT NULL THEN (SELECT er.public_id FROM erasures er
  WHERE er.erasure_id = n.erasure_id LIMIT 1) END AS "erasure?.erasureId",
  CASE WHEN n.erasure_id IS NOT NULL THEN (SELECT er.erased_at FROM erasures er
  WHERE er.erasure_id = n.erasure_id LIMIT 1) END AS "erasure?.erasedAt"
FROM subjects s
CROSS JOIN LATERAL (
  SELECT n.*, sum(coalesce(octet_length(n.envelope), 0)) OVER (ORDER BY n.snapshot_version ASC)
    - coalesce(octet_length(n.envelope), 0) AS bytes_before, count(*) OVER ()::int AS found
  FROM (SELECT n.* FROM snapshots n
    WHERE n.subject_key = s.subject_key AND n.snapshot_version > $1::bigint
    ORDER BY n.snapshot_version ASC LIMIT $2) n
) n
WHERE s.subject_type = $3 AND s.subject_id = $4 AND n.bytes_before < 2097152
ORDER BY n.snapshot_version;

-- snapshot_lineage_asc_global
--   asked by SnapshotListStore.read (stores/snapshots/snapshot-list.store.ts)
--   $1 withEnvelopes boolean
--   $2 tenantId text
--   $3 principalId text
--   $4 subjectType text
--   $5 subjectId text
--   $6 after bigint
--   $7 limit bigint
--   enters erasures_pkey, grants_live, grants_live_by_grantee, grants_to_all_live, memberships_by_principal, snapshots_version_key, subjects_identity_key
PREPARE snapshot_lineage_asc_global (boolean, text, text, text, text, bigint, bigint) AS
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  CASE WHEN f.owns_subject IS NOT TRUE THEN s.subject_key::float8 END AS "disclosure?.subjectKey",
  f.grantee_tenant_id AS "disclosure?.granteeTenantId", f.grant_id AS "disclosure?.grantId",
  n.snapshot_id AS "snapshot?.snapshotId",
  s.subject_type AS "snapshot?.subjectType",
  s.subject_id AS "snapshot?.subjectId",
  n.snapshot_version AS "snapshot?.snapshotVersion",
  n.generated_at AS "snapshot?.generatedAt",
  n.created_at AS "snapshot?.createdAt",
  encode(n.envelope_hash, 'hex') AS "snapshot?.envelopeHash",
  encode(n.prev_hash, 'hex') AS "snapshot?.prevHash",
  n.written_by AS "snapshot?.writtenBy",
  n.write_request_id AS "snapshot?.writeRequestId",
  CASE WHEN $1::boolean AND n.bytes_before < 2097152 THEN n.envelope END AS "snapshot?.envelope",
  CASE WHEN n.erasure_id IS NOT NULL THEN (SELECT er.public_id FROM erasures er
  WHERE er.erasure_id = n.erasure_id LIMIT 1) END AS "snapshot?.erasure?.erasureId",
  CASE WHEN n.erasure_id IS NOT NULL THEN (SELECT er.erased_at FROM erasures er
  WHERE er.erasure_id = n.erasure_id LIMIT 1) END AS "snapshot?.erasure?.erasedAt",
  head_version AS "headVersion", n.found
FROM (SELECT $2::text AS tenant_id, $3::text AS principal_id, $4::text AS subject_type, $5::text AS subject_id) i
LEFT JOIN subjects s ON s.subject_type = i.subject_type AND s.subject_id = i.subject_id
LEFT JOIN LATERAL (
  SELECT 'tenant_reader' AS role, 'active' AS member_status, true AS allow_counterparty_access, o.owns_subject,
    h.grant_scopes, h.grantee_tenant_id, h.grant_id
  FROM (SELECT (SELECT true FROM memberships m
      WHERE m.tenant_id = s.owner_tenant_id AND m.principal_id = i.principal_id
        AND m.status = 'active' LIMIT 1) AS owns_subject OFFSET 0) o
  CROSS JOIN LATERAL (
    WITH RECURSIVE met (tenant_id, allow_counterparty_access) AS (
      SELECT ''::text COLLATE "C", false WHERE o.owns_subject IS NULL
      UNION ALL
      SELECT m.tenant_id, m.allow_counterparty_access
      FROM met
      CROSS JOIN LATERAL (
        SELECT least(
            (SELECT g.grantee_tenant_id FROM grants g
            WHERE (g.subject_key, g.grantee_tenant_id) > (s.subject_key, met.tenant_id)
              AND g.subject_key <= s.subject_key AND g.subject_key > 0 AND g.revoked_at IS NULL
            ORDER BY g.subject_key, g.grantee_tenant_id LIMIT 1),
            (SELECT g.grantee_tenant_id FROM grants g
            WHERE (g.grantor_tenant_id || '/', g.grantee_tenant_id) > (s.owner_tenant_id || '/', met.tenant_id)
              AND g.grantor_tenant_id || '/' <= s.owner_tenant_id || '/' AND g.revoked_at IS NULL
              AND (g.subject_key = 0) IS TRUE
            ORDER BY g.grantor_tenant_id || '/', g.grantee_tenant_id LIMIT 1)) AS grantee_tenant_id
      ) g
      CROSS JOIN LATERAL (
        SELECT m.tenant_id, m.allow_counterparty_access FROM memberships m
        WHERE (m.principal_id, m.tenant_id) >= (i.principal_id, g.grantee_tenant_id)
          AND m.principal_id <= i.principal_id AND m.status = 'active'
        ORDER BY m.principal_id, m.tenant_id LIMIT 1
      ) m
    )
    SELECT array_agg(DISTINCT scope) AS grant_scopes,
      min(m.tenant_id) FILTER (WHERE scope IN ('read_lineage')) AS grantee_tenant_id,
      (array_agg(g.grant_id
        ORDER BY m.tenant_id, g.is_to_all) FILTER (WHERE scope IN ('read_lineage')))[1] AS grant_id
    FROM met m
    CROSS JOIN LATERAL (SELECT g.scopes, g.grant_id, false AS is_to_all FROM grants g
      WHERE (g.grantee_tenant_id, g.subject_key) BETWEEN (m.tenant_id, s.subject_key)
        AND (m.tenant_id, s.subject_key)
        AND g.revoked_at IS NULL AND (g.expires_at IS NULL OR g.expires_at > statement_timestamp())
      UNION ALL
      SELECT g.scopes, g.grant_id, true FROM grants g
      WHERE (g.grantor_tenant_id || '/', g.grantee_tenant_id, coalesce(g.expires_at, 'infinity'))
        > (s.owner_tenant_id || '/', m.tenant_id, statement_timestamp())
        AND (g.grantor_tenant_id || '/', g.grantee_tenant_id) <= (s.owner_tenant_id || '/', m.tenant_id)
        AND g.revoked_at IS NULL AND (g.subject_key = 0) IS TRUE OFFSET 0) g
    CROSS JOIN unnest(g.scopes) scope
    WHERE m.allow_counterparty_access
  ) h
) f ON true
LEFT JOIN LATERAL (SELECT s.subject_key
  WHERE f.role IN ('tenant_reader', 'tenant_proposer', 'tenant_editor', 'tenant_admin', 'tenant_owner')
    AND f.member_status = 'active'
    AND (f.owns_subject OR (f.allow_counterparty_access AND f.grant_scopes && ARRAY['read_lineage']))
    OR i.principal_id = 'anyone') r ON true
LEFT JOIN LATERAL (SELECT max(snapshot_version) AS head_version FROM snapshots
  WHERE subject_key = r.subject_key) h ON true
LEFT JOIN LATERAL (
  SELECT n.*, sum(coalesce(octet_length(n.envelope), 0)) OVER (ORDER BY n.snapshot_version ASC)
    - coalesce(octet_length(n.envelope), 0) AS bytes_before, count(*) OVER ()::int AS found
  FROM (SELECT n.* FROM snapshots n
    WHERE n.subject_key = r.subject_key AND n.snapshot_version > coalesce($6::bigint, 0)
    ORDER BY n.snapshot_version ASC LIMIT $7) n
) n
  ON NOT $1::boolean OR (n.bytes_before = 0 OR n.bytes_before + coalesce(octet_length(n.envelope), 0) <= 8388608)
ORDER BY n.snapshot_version asc;

-- snapshot_lineage_asc_tenant
--   asked by SnapshotListStore.read (stores/snapshots/snapshot-list.store.ts)
--   $1 withEnvelopes boolean
--   $2 tenantId text
--   $3 principalId text
--   $4 subjectType text
--   $5 subjectId text
--   $6 after bigint
--   $7 limit bigint
--   enters erasures_pkey, grants_live, grants_to_all_live, memberships_pkey, snapshots_version_key, subjects_identity_key
PREPARE snapshot_lineage_asc_tenant (boolean, text, text, text, text, bigint, bigint) AS
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  CASE WHEN f.owns_subject IS NOT TRUE THEN s.subject_key::float8 END AS "disclosure?.subjectKey",
  i.tenant_id AS "disclosure?.granteeTenantId", f.grant_id AS "disclosure?.grantId",
  n.snapshot_id AS "snapshot?.snapshotId",
  s.subject_type AS "snapshot?.subjectType",
  s.subject_id AS "snapshot?.subjectId",
  n.snapshot_version AS "snapshot?.snapshotVersion",
  n.generated_at AS "snapshot?.generatedAt",
  n.created_at AS "snapshot?.createdAt",
  encode(n.envelope_hash, 'hex') AS "snapshot?.envelopeHash",
  encode(n.prev_hash, 'hex') AS "snapshot?.prevHash",
  n.written_by AS "snapshot?.writtenBy",
  n.write_request_id AS "snapshot?.writeRequestId",
  CASE WHEN $1::boolean AND n.bytes_before < 2097152 THEN n.envelope END AS "snapshot?.envelope",
  CASE WHEN n.erasure_id IS NOT NULL THEN (SELECT er.public_id FROM erasures er
  WHERE er.erasure_id = n.erasure_id LIMIT 1) END AS "snapshot?.erasure?.erasureId",
  CASE WHEN n.erasure_id IS NOT NULL THEN (SELECT er.erased_at FROM erasures er
  WHERE er.erasure_id = n.erasure_id LIMIT 1) END AS "snapshot?.erasure?.erasedAt",
  head_version AS "headVersion", n.found
FROM (SELECT $2::text AS tenant_id, $3::text AS principal_id, $4::text AS subject_type, $5::text AS subject_id) i
LEFT JOIN subjects s ON s.subject_type = i.subject_type AND s.subject_id = i.subject_id
LEFT JOIN LATERAL (
  SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access,
    s.owner_tenant_id = i.tenant_id AS owns_subject, one.scopes || every.scopes AS grant_scopes,
    CASE WHEN one.scopes && '{read_lineage}' THEN one.grant_id ELSE every.grant_id END AS grant_id
  FROM memberships m
  LEFT JOIN LATERAL (SELECT g.grant_id, g.scopes FROM grants g
    WHERE s.owner_tenant_id <> i.tenant_id
      AND (g.grantee_tenant_id, g.subject_key) BETWEEN (i.tenant_id, s.subject_key) AND (i.tenant_id, s.subject_key)
      AND g.revoked_at IS NULL AND (g.expires_at IS NULL OR g.expires_at > statement_timestamp())
    LIMIT 1) one ON true
  LEFT JOIN LATERAL (SELECT g.grant_id, g.scopes FROM grants g
    WHERE s.owner_tenant_id <> i.tenant_id
      AND (g.grantor_tenant_id || '/', g.grantee_tenant_id, coalesce(g.expires_at, 'infinity'))
      > (s.owner_tenant_id || '/', i.tenant_id, statement_timestamp())
      AND (g.grantor_tenant_id || '/', g.grantee_tenant_id) <= (s.owner_tenant_id || '/', i.tenant_id)
      AND g.revoked_at IS NULL AND (g.subject_key = 0) IS TRUE LIMIT 1) every ON true
  WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id
) f ON true
LEFT JOIN LATERAL (SELECT s.subject_key
  WHERE f.role IN ('tenant_reader', 'tenant_proposer', 'tenant_editor', 'tenant_admin', 'tenant_owner')
    AND f.member_status = 'active'
    AND (f.owns_subject OR (f.allow_counterparty_access AND f.grant_scopes && ARRAY['read_lineage']))) r ON true
LEFT JOIN LATERAL (SELECT max(snapshot_version) AS head_version FROM snapshots
  WHERE subject_key = r.subject_key) h ON true
LEFT JOIN LATERAL (
  SELECT n.*, sum(coalesce(octet_length(n.envelope), 0)) OVER (ORDER BY n.snapshot_version ASC)
    - coalesce(octet_length(n.envelope), 0) AS bytes_before, count(*) OVER ()::int AS found
  FROM (SELECT n.* FROM snapshots n
    WHERE n.subject_key = r.subject_key AND n.snapshot_version > coalesce($6::bigint, 0)
    ORDER BY n.snapshot_version ASC LIMIT $7) n
) n
  ON NOT $1::boolean OR (n.bytes_before = 0 OR n.bytes_before + coalesce(octet_length(n.envelope), 0) <= 8388608)
ORDER BY n.snapshot_version asc;

-- snapshot_lineage_below
--   asked by SnapshotListStore.below (stores/snapshots/snapshot-list.store.ts)
--   $1 version bigint
--   $2 limit bigint
--   $3 subjectType text
--   $4 subjectId text
--   enters erasures_pkey, snapshots_version_key, subjects_identity_key
PREPARE snapshot_lineage_below (bigint, bigint, text, text) AS
SELECT n.snapshot_id AS "snapshotId",
  s.subject_type AS "subjectType",
  s.subject_id AS "subjectId",
  n.snapshot_version AS "snapshotVersion",
  n.generated_at AS "generatedAt",
  n.created_at AS "createdAt",
  encode(n.envelope_hash, 'hex') AS "envelopeHash",
  encode(n.prev_hash, 'hex') AS "prevHash",
  n.written_by AS "writtenBy",
  n.write_request_id AS "writeRequestId",
  n.envelope AS "envelope",
  CASE WHEN n.erasure_id IS NOT NULL THEN (SELECT er.public_id FROM erasures er
  WHERE er.erasure_id = n.erasure_id LIMIT 1) END AS "erasure?.erasureId",
  CASE WHEN n.erasure_id IS NOT NULL THEN (SELECT er.erased_at FROM erasures er
  WHERE er.erasure_id = n.erasure_id LIMIT 1) END AS "erasure?.erasedAt"
FROM subjects s
CROSS JOIN LATERAL (
  SELECT n.*, sum(coalesce(octet_length(n.envelope), 0)) OVER (ORDER BY n.snapshot_version DESC)
    - coalesce(octet_length(n.envelope), 0) AS bytes_before, count(*) OVER ()::int AS found
  FROM (SELECT n.* FROM snapshots n
    WHERE n.subject_key = s.subject_key AND n.snapshot_version < $1::bigint
    ORDER BY n.snapshot_version DESC LIMIT $2) n
) n
WHERE s.subject_type = $3 AND s.subject_id = $4 AND n.bytes_before < 2097152
ORDER BY n.snapshot_version DESC;

-- snapshot_lineage_copied_asc
--   asked by LineageCopy.read, LineageCopy.below (stores/snapshots/lineage-copy.ts)
--   $1 withEnvelopes boolean
--   $2 after bigint
--   $3 limit bigint
--   $4 subjectType text
--   $5 subjectId text
--   enters erasures_pkey, snapshots_version_key, subjects_identity_key
PREPARE snapshot_lineage_copied_asc (boolean, bigint, bigint, text, text) AS
SELECT n.snapshot_id AS "snapshot.snapshotId",
  s.subject_type AS "snapshot.subjectType",
  s.subject_id AS "snapshot.subjectId",
  n.snapshot_version AS "snapshot.snapshotVersion",
  n.generated_at AS "snapshot.generatedAt",
  n.created_at AS "snapshot.createdAt",
  encode(n.envelope_hash, 'hex') AS "snapshot.envelopeHash",
  encode(n.prev_hash, 'hex') AS "snapshot.prevHash",
  n.written_by AS "snapshot.writtenBy",
  n.write_request_id AS "snapshot.writeRequestId",
  CASE WHEN $1::boolean AND n.bytes_before < 2097152 THEN n.envelope END AS "snapshot.envelope",
  CASE WHEN n.erasure_id IS NOT NULL THEN (SELECT er.public_id FROM erasures er
  WHERE er.erasure_id = n.erasure_id LIMIT 1) END AS "snapshot.erasure?.erasureId",
  CASE WHEN n.erasure_id IS NOT NULL THEN (SELECT er.erased_at FROM erasures er
  WHERE er.erasure_id = n.erasure_id LIMIT 1) END AS "snapshot.erasure?.erasedAt",
  n.bytes_before < 2097152 AS fits, (n.bytes_before = 0 OR n.bytes_before + coalesce(octet_length(n.envelope), 0) <= 8388608) AS "fitsPage"
FROM subjects s
CROSS JOIN LATERAL (
  SELECT n.*, sum(coalesce(octet_length(n.envelope), 0)) OVER (ORDER BY n.snapshot_version ASC)
    - coalesce(octet_length(n.envelope), 0) AS bytes_before, count(*) OVER ()::int AS found
  FROM (SELECT n.* FROM snapshots n
    WHERE n.subject_key = s.subject_key AND n.snapshot_version > $2::bigint
    ORDER BY n.snapshot_version ASC LIMIT $3) n
) n
WHERE s.subject_type = $4 AND s.subject_id = $5
ORDER BY n.snapshot_version asc;

-- snapshot_lineage_copied_desc
--   asked by LineageCopy.read, LineageCopy.below (stores/snapshots/lineage-copy.ts)
--   $1 withEnvelopes boolean
--   $2 after bigint
--   $3 limit bigint
--   $4 subjectType text
--   $5 subjectId text
--   enters erasures_pkey, snapshots_version_key, subjects_identity_key
PREPARE snapshot_lineage_copied_desc (boolean, bigint, bigint, text, text) AS
SELECT n.snapshot_id AS "snapshot.snapshotId",
  s.subject_type AS "snapshot.subjectType",
  s.subject_id AS "snapshot.subjectId",
  n.snapshot_version AS "snapshot.snapshotVersion",
  n.generated_at AS "snapshot.generatedAt",
  n.created_at AS "snapshot.createdAt",
  encode(n.envelope_hash, 'hex') AS "snapshot.envelopeHash",
  encode(n.prev_hash, 'hex') AS "snapshot.prevHash",
  n.written_by AS "snapshot.writtenBy",
  n.write_request_id AS "snapshot.writeRequestId",
  CASE WHEN $1::boolean AND n.bytes_before < 2097152 THEN n.envelope END AS "snapshot.envelope",
  CASE WHEN n.erasure_id IS NOT NULL THEN (SELECT er.public_id FROM erasures er
  WHERE er.erasure_id = n.erasure_id LIMIT 1) END AS "snapshot.erasure?.erasureId",
  CASE WHEN n.erasure_id IS NOT NULL THEN (SELECT er.erased_at FROM erasures er
  WHERE er.erasure_id = n.erasure_id LIMIT 1) END AS "snapshot.erasure?.erasedAt",
  n.bytes_before < 2097152 AS fits, (n.bytes_before = 0 OR n.bytes_before + coalesce(octet_length(n.envelope), 0) <= 8388608) AS "fitsPage"
FROM subjects s
CROSS JOIN LATERAL (
  SELECT n.*, sum(coalesce(octet_length(n.envelope), 0)) OVER (ORDER BY n.snapshot_version DESC)
    - coalesce(octet_length(n.envelope), 0) AS bytes_before, count(*) OVER ()::int AS found
  FROM (SELECT n.* FROM snapshots n
    WHERE n.subject_key = s.subject_key AND n.snapshot_version < $2::bigint
    ORDER BY n.snapshot_version DESC LIMIT $3) n
) n
WHERE s.subject_type = $4 AND s.subject_id = $5
ORDER BY n.snapshot_version desc;

-- snapshot_lineage_desc_global
--   asked by SnapshotListStore.read (stores/snapshots/snapshot-list.store.ts)
--   $1 withEnvelopes boolean
--   $2 tenantId text
--   $3 principalId text
--   $4 subjectType text
--   $5 subjectId text
--   $6 after bigint
--   $7 limit bigint
--   enters erasures_pkey, grants_live, grants_live_by_grantee, grants_to_all_live, memberships_by_principal, snapshots_version_key, subjects_identity_key
PREPARE snapshot_lineage_desc_global (boolean, text, text, text, text, bigint, bigint) AS
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  CASE WHEN f.owns_subject IS NOT TRUE THEN s.subject_key::float8 END AS "disclosure?.subjectKey",
  f.grantee_tenant_id AS "disclosure?.granteeTenantId", f.grant_id AS "disclosure?.grantId",
  n.snapshot_id AS "snapshot?.snapshotId",
  s.subject_type AS "snapshot?.subjectType",
  s.subject_id AS "snapshot?.subjectId",
  n.snapshot_version AS "snapshot?.snapshotVersion",
  n.generated_at AS "snapshot?.generatedAt",
  n.created_at AS "snapshot?.createdAt",
  encode(n.envelope_hash, 'hex') AS "snapshot?.envelopeHash",
  encode(n.prev_hash, 'hex') AS "snapshot?.prevHash",
  n.written_by AS "snapshot?.writtenBy",
  n.write_request_id AS "snapshot?.writeRequestId",
  CASE WHEN $1::boolean AND n.bytes_before < 2097152 THEN n.envelope END AS "snapshot?.envelope",
  CASE WHEN n.erasure_id IS NOT NULL THEN (SELECT er.public_id FROM erasures er
  WHERE er.erasure_id = n.erasure_id LIMIT 1) END AS "snapshot?.erasure?.erasureId",
  CASE WHEN n.erasure_id IS NOT NULL THEN (SELECT er.erased_at FROM erasures er
  WHERE er.erasure_id = n.erasure_id LIMIT 1) END AS "snapshot?.erasure?.erasedAt",
  head_version AS "headVersion", n.found
FROM (SELECT $2::text AS tenant_id, $3::text AS principal_id, $4::text AS subject_type, $5::text AS subject_id) i
LEFT JOIN subjects s ON s.subject_type = i.subject_type AND s.subject_id = i.subject_id
LEFT JOIN LATERAL (
  SELECT 'tenant_reader' AS role, 'active' AS member_status, true AS allow_counterparty_access, o.owns_subject,
    h.grant_scopes, h.grantee_tenant_id, h.grant_id
  FROM (SELECT (SELECT true FROM memberships m
      WHERE m.tenant_id = s.owner_tenant_id AND m.principal_id = i.principal_id
        AND m.status = 'active' LIMIT 1) AS owns_subject OFFSET 0) o
  CROSS JOIN LATERAL (
    WITH RECURSIVE met (tenant_id, allow_counterparty_access) AS (
      SELECT ''::text COLLATE "C", false WHERE o.owns_subject IS NULL
      UNION ALL
      SELECT m.tenant_id, m.allow_counterparty_access
      FROM met
      CROSS JOIN LATERAL (
        SELECT least(
            (SELECT g.grantee_tenant_id FROM grants g
            WHERE (g.subject_key, g.grantee_tenant_id) > (s.subject_key, met.tenant_id)
              AND g.subject_key <= s.subject_key AND g.subject_key > 0 AND g.revoked_at IS NULL
            ORDER BY g.subject_key, g.grantee_tenant_id LIMIT 1),
            (SELECT g.grantee_tenant_id FROM grants g
            WHERE (g.grantor_tenant_id || '/', g.grantee_tenant_id) > (s.owner_tenant_id || '/', met.tenant_id)
              AND g.grantor_tenant_id || '/' <= s.owner_tenant_id || '/' AND g.revoked_at IS NULL
              AND (g.subject_key = 0) IS TRUE
            ORDER BY g.grantor_tenant_id || '/', g.grantee_tenant_id LIMIT 1)) AS grantee_tenant_id
      ) g
      CROSS JOIN LATERAL (
        SELECT m.tenant_id, m.allow_counterparty_access FROM memberships m
        WHERE (m.principal_id, m.tenant_id) >= (i.principal_id, g.grantee_tenant_id)
          AND m.principal_id <= i.principal_id AND m.status = 'active'
        ORDER BY m.principal_id, m.tenant_id LIMIT 1
      ) m
    )
    SELECT array_agg(DISTINCT scope) AS grant_scopes,
      min(m.tenant_id) FILTER (WHERE scope IN ('read_lineage')) AS grantee_tenant_id,
      (array_agg(g.grant_id
        ORDER BY m.tenant_id, g.is_to_all) FILTER (WHERE scope IN ('read_lineage')))[1] AS grant_id
    FROM met m
    CROSS JOIN LATERAL (SELECT g.scopes, g.grant_id, false AS is_to_all FROM grants g
      WHERE (g.grantee_tenant_id, g.subject_key) BETWEEN (m.tenant_id, s.subject_key)
        AND (m.tenant_id, s.subject_key)
        AND g.revoked_at IS NULL AND (g.expires_at IS NULL OR g.expires_at > statement_timestamp())
      UNION ALL
      SELECT g.scopes, g.grant_id, true FROM grants g
      WHERE (g.grantor_tenant_id || '/', g.grantee_tenant_id, coalesce(g.expires_at, 'infinity'))
        > (s.owner_tenant_id || '/', m.tenant_id, statement_timestamp())
        AND (g.grantor_tenant_id || '/', g.grantee_tenant_id) <= (s.owner_tenant_id || '/', m.tenant_id)
        AND g.revoked_at IS NULL AND (g.subject_key = 0) IS TRUE OFFSET 0) g
    CROSS JOIN unnest(g.scopes) scope
    WHERE m.allow_counterparty_access
  ) h
) f ON true
LEFT JOIN LATERAL (SELECT s.subject_key
  WHERE f.role IN ('tenant_reader', 'tenant_proposer', 'tenant_editor', 'tenant_admin', 'tenant_owner')
    AND f.member_status = 'active'
    AND (f.owns_subject OR (f.allow_counterparty_access AND f.grant_scopes && ARRAY['read_lineage']))
    OR i.principal_id = 'anyone') r ON true
LEFT JOIN LATERAL (SELECT max(snapshot_version) AS head_version FROM snapshots
  WHERE subject_key = r.subject_key) h ON true
LEFT JOIN LATERAL (
  SELECT n.*, sum(coalesce(octet_length(n.envelope), 0)) OVER (ORDER BY n.snapshot_version DESC)
    - coalesce(octet_length(n.envelope), 0) AS bytes_before, count(*) OVER ()::int AS found
  FROM (SELECT n.* FROM snapshots n
    WHERE n.subject_key = r.subject_key AND n.snapshot_version < coalesce($6::bigint, 2147483648)
    ORDER BY n.snapshot_version DESC LIMIT $7) n
) n
  ON NOT $1::boolean OR (n.bytes_before = 0 OR n.bytes_before + coalesce(octet_length(n.envelope), 0) <= 8388608)
ORDER BY n.snapshot_version desc;

-- snapshot_lineage_desc_tenant
--   asked by SnapshotListStore.read (stores/snapshots/snapshot-list.store.ts)
--   $1 withEnvelopes boolean
--   $2 tenantId text
--   $3 principalId text
--   $4 subjectType text
--   $5 subjectId text
--   $6 after bigint
--   $7 limit bigint
--   enters erasures_pkey, grants_live, grants_to_all_live, memberships_pkey, snapshots_version_key, subjects_identity_key
PREPARE snapshot_lineage_desc_tenant (boolean, text, text, text, text, bigint, bigint) AS
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  CASE WHEN f.owns_subject IS NOT TRUE THEN s.subject_key::float8 END AS "disclosure?.subjectKey",
  i.tenant_id AS "disclosure?.granteeTenantId", f.grant_id AS "disclosure?.grantId",
  n.snapshot_id AS "snapshot?.snapshotId",
  s.subject_type AS "snapshot?.subjectType",
  s.subject_id AS "snapshot?.subjectId",
  n.snapshot_version AS "snapshot?.snapshotVersion",
  n.generated_at AS "snapshot?.generatedAt",
  n.created_at AS "snapshot?.createdAt",
  encode(n.envelope_hash, 'hex') AS "snapshot?.envelopeHash",
  encode(n.prev_hash, 'hex') AS "snapshot?.prevHash",
  n.written_by AS "snapshot?.writtenBy",
  n.write_request_id AS "snapshot?.writeRequestId",
  CASE WHEN $1::boolean AND n.bytes_before < 2097152 THEN n.envelope END AS "snapshot?.envelope",
  CASE WHEN n.erasure_id IS NOT NULL THEN (SELECT er.public_id FROM erasures er
  WHERE er.erasure_id = n.erasure_id LIMIT 1) END AS "snapshot?.erasure?.erasureId",
  CASE WHEN n.erasure_id IS NOT NULL THEN (SELECT er.erased_at FROM erasures er
  WHERE er.erasure_id = n.erasure_id LIMIT 1) END AS "snapshot?.erasure?.erasedAt",
  head_version AS "headVersion", n.found
FROM (SELECT $2::text AS tenant_id, $3::text AS principal_id, $4::text AS subject_type, $5::text AS subject_id) i
LEFT JOIN subjects s ON s.subject_type = i.subject_type AND s.subject_id = i.subject_id
LEFT JOIN LATERAL (
  SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access,
    s.owner_tenant_id = i.tenant_id AS owns_subject, one.scopes || every.scopes AS grant_scopes,
    CASE WHEN one.scopes && '{read_lineage}' THEN one.grant_id ELSE every.grant_id END AS grant_id
  FROM memberships m
  LEFT JOIN LATERAL (SELECT g.grant_id, g.scopes FROM grants g
    WHERE s.owner_tenant_id <> i.tenant_id
      AND (g.grantee_tenant_id, g.subject_key) BETWEEN (i.tenant_id, s.subject_key) AND (i.tenant_id, s.subject_key)
      AND g.revoked_at IS NULL AND (g.expires_at IS NULL OR g.expires_at > statement_timestamp())
    LIMIT 1) one ON true
  LEFT JOIN LATERAL (SELECT g.grant_id, g.scopes FROM grants g
    WHERE s.owner_tenant_id <> i.tenant_id
      AND (g.grantor_tenant_id || '/', g.grantee_tenant_id, coalesce(g.expires_at, 'infinity'))
      > (s.owner_tenant_id || '/', i.tenant_id, statement_timestamp())
      AND (g.grantor_tenant_id || '/', g.grantee_tenant_id) <= (s.owner_tenant_id || '/', i.tenant_id)
      AND g.revoked_at IS NULL AND (g.subject_key = 0) IS TRUE LIMIT 1) every ON true
  WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id
) f ON true
LEFT JOIN LATERAL (SELECT s.subject_key
  WHERE f.role IN ('tenant_reader', 'tenant_proposer', 'tenant_editor', 'tenant_admin', 'tenant_owner')
    AND f.member_status = 'active'
    AND (f.owns_subject OR (f.allow_counterparty_access AND f.grant_scopes && ARRAY['read_lineage']))) r ON true
LEFT JOIN LATERAL (SELECT max(snapshot_version) AS head_version FROM snapshots
  WHERE subject_key = r.subject_key) h ON true
LEFT JOIN LATERAL (
  SELECT n.*, sum(coalesce(octet_length(n.envelope), 0)) OVER (ORDER BY n.snapshot_version DESC)
    - coalesce(octet_length(n.envelope), 0) AS bytes_before, count(*) OVER ()::int AS found
  FROM (SELECT n.* FROM snapshots n
    WHERE n.subject_key = r.subject_key AND n.snapshot_version < coalesce($6::bigint, 2147483648)
    ORDER BY n.snapshot_version DESC LIMIT $7) n
) n
  ON NOT $1::boolean OR (n.bytes_before = 0 OR n.bytes_before + coalesce(octet_length(n.envelope), 0) <= 8388608)
ORDER BY n.snapshot_version desc;

-- snapshot_lineage_known_below
--   asked by LineageCopy.below (stores/snapshots/lineage-copy.ts)
--   $1 subjectType text
--   $2 subjectId text
--   $3 upTo bigint
--   $4 limit bigint
--   enters erasures_by_subject, snapshots_version_key, subjects_identity_key
PREPARE snapshot_lineage_known_below (text, text, bigint, bigint) AS
SELECT n.snapshot_version AS "last?.version",
  encode(n.envelope_hash, 'hex') AS "last?.hash",
  e.erasures, e.erased
FROM (SELECT $1::text AS subject_type, $2::text AS subject_id) i
LEFT JOIN subjects s ON s.subject_type = i.subject_type AND s.subject_id = i.subject_id
LEFT JOIN LATERAL (SELECT n.snapshot_version, n.envelope_hash FROM snapshots n
  WHERE n.subject_key = s.subject_key AND n.snapshot_version <= $3::bigint
  ORDER BY n.snapshot_version DESC LIMIT 1) n ON true
LEFT JOIN LATERAL (
  SELECT count(DISTINCT e.erasure_id)::int AS erasures,
    coalesce(jsonb_agg(jsonb_build_array(v.version, e.public_id, e.erased_at))
      FILTER (WHERE e.status = 'erased' AND v.version <= n.snapshot_version
        AND v.version > n.snapshot_version - $4::bigint), '[]') AS erased
  FROM (SELECT * FROM erasures e WHERE e.subject_key = s.subject_key
    ORDER BY e.subject_key, (-e.erasure_id) LIMIT 51) e
  CROSS JOIN unnest(e.versions) AS v(version)
) e ON true;

-- snapshot_lineage_known_global
--   asked by LineageCopy.read (stores/snapshots/lineage-copy.ts)
--   $1 tenantId text
--   $2 principalId text
--   $3 subjectType text
--   $4 subjectId text
--   $5 upTo bigint
--   $6 limit bigint
--   enters erasures_by_subject, grants_live, grants_live_by_grantee, grants_to_all_live, memberships_by_principal, snapshots_version_key, subjects_identity_key
PREPARE snapshot_lineage_known_global (text, text, text, text, bigint, bigint) AS
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  CASE WHEN f.owns_subject IS NOT TRUE THEN s.subject_key::float8 END AS "disclosure?.subjectKey",
  f.grantee_tenant_id AS "disclosure?.granteeTenantId", f.grant_id AS "disclosure?.grantId",
  (SELECT n.snapshot_version FROM snapshots n
  WHERE n.subject_key = r.subject_key ORDER BY n.snapshot_version DESC LIMIT 1) AS "headVersion",
  n.snapshot_version AS "last?.version",
  encode(n.envelope_hash, 'hex') AS "last?.hash",
  e.erasures, e.erased
FROM (SELECT $1::text AS tenant_id, $2::text AS principal_id, $3::text AS subject_type, $4::text AS subject_id) i
LEFT JOIN subjects s ON s.subject_type = i.subject_type AND s.subject_id = i.subject_id
LEFT JOIN LATERAL (
  SELECT 'tenant_reader' AS role, 'active' AS member_status, true AS allow_counterparty_access, o.owns_subject,
    h.grant_scopes, h.grantee_tenant_id, h.grant_id
  FROM (SELECT (SELECT true FROM memberships m
      WHERE m.tenant_id = s.owner_tenant_id AND m.principal_id = i.principal_id
        AND m.status = 'active' LIMIT 1) AS owns_subject OFFSET 0) o
  CROSS JOIN LATERAL (
    WITH RECURSIVE met (tenant_id, allow_counterparty_access) AS (
      SELECT ''::text COLLATE "C", false WHERE o.owns_subject IS NULL
      UNION ALL
      SELECT m.tenant_id, m.allow_counterparty_access
      FROM met
      CROSS JOIN LATERAL (
        SELECT least(
            (SELECT g.grantee_tenant_id FROM grants g
            WHERE (g.subject_key, g.grantee_tenant_id) > (s.subject_key, met.tenant_id)
              AND g.subject_key <= s.subject_key AND g.subject_key > 0 AND g.revoked_at IS NULL
            ORDER BY g.subject_key, g.grantee_tenant_id LIMIT 1),
            (SELECT g.grantee_tenant_id FROM grants g
            WHERE (g.grantor_tenant_id || '/', g.grantee_tenant_id) > (s.owner_tenant_id || '/', met.tenant_id)
              AND g.grantor_tenant_id || '/' <= s.owner_tenant_id || '/' AND g.revoked_at IS NULL
              AND (g.subject_key = 0) IS TRUE
            ORDER BY g.grantor_tenant_id || '/', g.grantee_tenant_id LIMIT 1)) AS grantee_tenant_id
      ) g
      CROSS JOIN LATERAL (
        SELECT m.tenant_id, m.allow_counterparty_access FROM memberships m
        WHERE (m.principal_id, m.tenant_id) >= (i.principal_id, g.grantee_tenant_id)
          AND m.principal_id <= i.principal_id AND m.status = 'active'
        ORDER BY m.principal_id, m.tenant_id LIMIT 1
      ) m
    )
    SELECT array_agg(DISTINCT scope) AS grant_scopes,
      min(m.tenant_id) FILTER (WHERE scope IN ('read_lineage')) AS grantee_tenant_id,
      (array_agg(g.grant_id
        ORDER BY m.tenant_id, g.is_to_all) FILTER (WHERE scope IN ('read_lineage')))[1] AS grant_id
    FROM met m
    CROSS JOIN LATERAL (SELECT g.scopes, g.grant_id, false AS is_to_all FROM grants g
      WHERE (g.grantee_tenant_id, g.subject_key) BETWEEN (m.tenant_id, s.subject_key)
        AND (m.tenant_id, s.subject_key)
        AND g.revoked_at IS NULL AND (g.expires_at IS NULL OR g.expires_at > statement_timestamp())
      UNION ALL
      SELECT g.scopes, g.grant_id, true FROM grants g
      WHERE (g.grantor_tenant_id || '/', g.grantee_tenant_id, coalesce(g.expires_at, 'infinity'))
        > (s.owner_tenant_id || '/', m.tenant_id, statement_timestamp())
        AND (g.grantor_tenant_id || '/', g.grantee_tenant_id) <= (s.owner_tenant_id || '/', m.tenant_id)
        AND g.revoked_at IS NULL AND (g.subject_key = 0) IS TRUE OFFSET 0) g
    CROSS JOIN unnest(g.scopes) scope
    WHERE m.allow_counterparty_access
  ) h
) f ON true
LEFT JOIN LATERAL (SELECT s.subject_key
  WHERE f.role IN ('tenant_reader', 'tenant_proposer', 'tenant_editor', 'tenant_admin', 'tenant_owner')
    AND f.member_status = 'active'
    AND (f.owns_subject OR (f.allow_counterparty_access AND f.grant_scopes && ARRAY['read_lineage']))
    OR i.principal_id = 'anyone') r ON true
LEFT JOIN LATERAL (SELECT n.snapshot_version, n.envelope_hash FROM snapshots n
  WHERE n.subject_key = r.subject_key AND n.snapshot_version <= $5::bigint
  ORDER BY n.snapshot_version DESC LIMIT 1) n ON true
LEFT JOIN LATERAL (
  SELECT count(DISTINCT e.erasure_id)::int AS erasures,
    coalesce(jsonb_agg(jsonb_build_array(v.version, e.public_id, e.erased_at))
      FILTER (WHERE e.status = 'erased' AND v.version <= n.snapshot_version
        AND v.version > n.snapshot_version - $6::bigint), '[]') AS erased
  FROM (SELECT * FROM erasures e WHERE e.subject_key = r.subject_key
    ORDER BY e.subject_key, (-e.erasure_id) LIMIT 51) e
  CROSS JOIN unnest(e.versions) AS v(version)
) e ON true;

-- snapshot_lineage_known_tenant
--   asked by LineageCopy.read (stores/snapshots/lineage-copy.ts)
--   $1 tenantId text
--   $2 principalId text
--   $3 subjectType text
--   $4 subjectId text
--   $5 upTo bigint
--   $6 limit bigint
--   enters erasures_by_subject, grants_live, grants_to_all_live, memberships_pkey, snapshots_version_key, subjects_identity_key
PREPARE snapshot_lineage_known_tenant (text, text, text, text, bigint, bigint) AS
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  CASE WHEN f.owns_subject IS NOT TRUE THEN s.subject_key::float8 END AS "disclosure?.subjectKey",
  i.tenant_id AS "disclosure?.granteeTenantId", f.grant_id AS "disclosure?.grantId",
  (SELECT n.snapshot_version FROM snapshots n
  WHERE n.subject_key = r.subject_key ORDER BY n.snapshot_version DESC LIMIT 1) AS "headVersion",
  n.snapshot_version AS "last?.version",
  encode(n.envelope_hash, 'hex') AS "last?.hash",
  e.erasures, e.erased
FROM (SELECT $1::text AS tenant_id, $2::text AS principal_id, $3::text AS subject_type, $4::text AS subject_id) i
LEFT JOIN subjects s ON s.subject_type = i.subject_type AND s.subject_id = i.subject_id
LEFT JOIN LATERAL (
  SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access,
    s.owner_tenant_id = i.tenant_id AS owns_subject, one.scopes || every.scopes AS grant_scopes,
    CASE WHEN one.scopes && '{read_lineage}' THEN one.grant_id ELSE every.grant_id END AS grant_id
  FROM memberships m
  LEFT JOIN LATERAL (SELECT g.grant_id, g.scopes FROM grants g
    WHERE s.owner_tenant_id <> i.tenant_id
      AND (g.grantee_tenant_id, g.subject_key) BETWEEN (i.tenant_id, s.subject_key) AND (i.tenant_id, s.subject_key)
      AND g.revoked_at IS NULL AND (g.expires_at IS NULL OR g.expires_at > statement_timestamp())
    LIMIT 1) one ON true
  LEFT JOIN LATERAL (SELECT g.grant_id, g.scopes FROM grants g
    WHERE s.owner_tenant_id <> i.tenant_id
      AND (g.grantor_tenant_id || '/', g.grantee_tenant_id, coalesce(g.expires_at, 'infinity'))
      > (s.owner_tenant_id || '/', i.tenant_id, statement_timestamp())
      AND (g.grantor_tenant_id || '/', g.grantee_tenant_id) <= (s.owner_tenant_id || '/', i.tenant_id)
      AND g.revoked_at IS NULL AND (g.subject_key = 0) IS TRUE LIMIT 1) every ON true
  WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id
) f ON true
LEFT JOIN LATERAL (SELECT s.subject_key
  WHERE f.role IN ('tenant_reader', 'tenant_proposer', 'tenant_editor', 'tenant_admin', 'tenant_owner')
    AND f.member_status = 'active'
    AND (f.owns_subject OR (f.allow_counterparty_access AND f.grant_scopes && ARRAY['read_lineage']))) r ON true
LEFT JOIN LATERAL (SELECT n.snapshot_version, n.envelope_hash FROM snapshots n
  WHERE n.subject_key = r.subject_key AND n.snapshot_version <= $5::bigint
  ORDER BY n.snapshot_version DESC LIMIT 1) n ON true
LEFT JOIN LATERAL (
  SELECT count(DISTINCT e.erasure_id)::int AS erasures,
    coalesce(jsonb_agg(jsonb_build_array(v.version, e.public_id, e.erased_at))
      FILTER (WHERE e.status = 'erased' AND v.version <= n.snapshot_version
        AND v.version > n.snapshot_version - $6::bigint), '[]') AS erased
  FROM (SELECT * FROM erasures e WHERE e.subject_key = r.subject_key
    ORDER BY e.subject_key, (-e.erasure_id) LIMIT 51) e
  CROSS JOIN unnest(e.versions) AS v(version)
) e ON true;

-- snapshot_lineage_listed_global
--   asked by SnapshotListStore.listed (stores/snapshots/snapshot-list.store.ts)
--   $1 withEnvelopes boolean
--   $2 tenantId text
--   $3 principalId text
--   $4 subjectType text
--   $5 subjectId text
--   $6 versions integer[]
--   enters erasures_pkey, grants_live, grants_live_by_grantee, grants_to_all_live, memberships_by_principal, snapshots_version_key, subjects_identity_key
PREPARE snapshot_lineage_listed_global (boolean, text, text, text, text, integer[]) AS
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  CASE WHEN f.owns_subject IS NOT TRUE THEN s.subject_key::float8 END AS "disclosure?.subjectKey",
  f.grantee_tenant_id AS "disclosure?.granteeTenantId", f.grant_id AS "disclosure?.grantId",
  n.snapshot_id AS "snapshot?.snapshotId",
  s.subject_type AS "snapshot?.subjectType",
  s.subject_id AS "snapshot?.subjectId",
  n.snapshot_version AS "snapshot?.snapshotVersion",
  n.generated_at AS "snapshot?.generatedAt",
  n.created_at AS "snapshot?.createdAt",
  encode(n.envelope_hash, 'hex') AS "snapshot?.envelopeHash",
  encode(n.prev_hash, 'hex') AS "snapshot?.prevHash",
  n.written_by AS "snapshot?.writtenBy",
  n.write_request_id AS "snapshot?.writeRequestId",
  CASE WHEN $1::boolean AND n.bytes_before < 2097152 THEN n.envelope END AS "snapshot?.envelope",
  CASE WHEN n.erasure_id IS NOT NULL THEN (SELECT er.public_id FROM erasures er
  WHERE er.erasure_id = n.erasure_id LIMIT 1) END AS "snapshot?.erasure?.erasureId",
  CASE WHEN n.erasure_id IS NOT NULL THEN (SELECT er.erased_at FROM erasures er
  WHERE er.erasure_id = n.erasure_id LIMIT 1) END AS "snapshot?.erasure?.erasedAt",
  head_version AS "headVersion", n.found
FROM (SELECT $2::text AS tenant_id, $3::text AS principal_id, $4::text AS subject_type, $5::text AS subject_id) i
LEFT JOIN subjects s ON s.subject_type = i.subject_type AND s.subject_id = i.subject_id
LEFT JOIN LATERAL (
  SELECT 'tenant_reader' AS role, 'active' AS member_status, true AS allow_counterparty_access, o.owns_subject,
    h.grant_scopes, h.grantee_tenant_id, h.grant_id
  FROM (SELECT (SELECT true FROM memberships m
      WHERE m.tenant_id = s.owner_tenant_id AND m.principal_id = i.principal_id
        AND m.status = 'active' LIMIT 1) AS owns_subject OFFSET 0) o
  CROSS JOIN LATERAL (
    WITH RECURSIVE met (tenant_id, allow_counterparty_access) AS (
      SELECT ''::text COLLATE "C", false WHERE o.owns_subject IS NULL
      UNION ALL
      SELECT m.tenant_id, m.allow_counterparty_access
      FROM met
      CROSS JOIN LATERAL (
        SELECT least(
            (SELECT g.grantee_tenant_id FROM grants g
            WHERE (g.subject_key, g.grantee_tenant_id) > (s.subject_key, met.tenant_id)
              AND g.subject_key <= s.subject_key AND g.subject_key > 0 AND g.revoked_at IS NULL
            ORDER BY g.subject_key, g.grantee_tenant_id LIMIT 1),
            (SELECT g.grantee_tenant_id FROM grants g
            WHERE (g.grantor_tenant_id || '/', g.grantee_tenant_id) > (s.owner_tenant_id || '/', met.tenant_id)
              AND g.grantor_tenant_id || '/' <= s.owner_tenant_id || '/' AND g.revoked_at IS NULL
              AND (g.subject_key = 0) IS TRUE
            ORDER BY g.grantor_tenant_id || '/', g.grantee_tenant_id LIMIT 1)) AS grantee_tenant_id
      ) g
      CROSS JOIN LATERAL (
        SELECT m.tenant_id, m.allow_counterparty_access FROM memberships m
        WHERE (m.principal_id, m.tenant_id) >= (i.principal_id, g.grantee_tenant_id)
          AND m.principal_id <= i.principal_id AND m.status = 'active'
        ORDER BY m.principal_id, m.tenant_id LIMIT 1
      ) m
    )
    SELECT array_agg(DISTINCT scope) AS grant_scopes,
      min(m.tenant_id) FILTER (WHERE scope IN ('read_lineage')) AS grantee_tenant_id,
      (array_agg(g.grant_id
        ORDER BY m.tenant_id, g.is_to_all) FILTER (WHERE scope IN ('read_lineage')))[1] AS grant_id
    FROM met m
    CROSS JOIN LATERAL (SELECT g.scopes, g.grant_id, false AS is_to_all FROM grants g
      WHERE (g.grantee_tenant_id, g.subject_key) BETWEEN (m.tenant_id, s.subject_key)
        AND (m.tenant_id, s.subject_key)
        AND g.revoked_at IS NULL AND (g.expires_at IS NULL OR g.expires_at > statement_timestamp())
      UNION ALL
      SELECT g.scopes, g.grant_id, true FROM grants g
      WHERE (g.grantor_tenant_id || '/', g.grantee_tenant_id, coalesce(g.expires_at, 'infinity'))
        > (s.owner_tenant_id || '/', m.tenant_id, statement_timestamp())
        AND (g.grantor_tenant_id || '/', g.grantee_tenant_id) <= (s.owner_tenant_id || '/', m.tenant_id)
        AND g.revoked_at IS NULL AND (g.subject_key = 0) IS TRUE OFFSET 0) g
    CROSS JOIN unnest(g.scopes) scope
    WHERE m.allow_counterparty_access
  ) h
) f ON true
LEFT JOIN LATERAL (SELECT s.subject_key
  WHERE f.role IN ('tenant_reader', 'tenant_proposer', 'tenant_editor', 'tenant_admin', 'tenant_owner')
    AND f.member_status = 'active'
    AND (f.owns_subject OR (f.allow_counterparty_access AND f.grant_scopes && ARRAY['read_lineage']))
    OR i.principal_id = 'anyone') r ON true
LEFT JOIN LATERAL (SELECT max(snapshot_version) AS head_version FROM snapshots
  WHERE subject_key = r.subject_key) h ON true
LEFT JOIN LATERAL (
  SELECT n.*, v.place, sum(coalesce(octet_length(n.envelope), 0)) OVER (ORDER BY v.place)
    - coalesce(octet_length(n.envelope), 0) AS bytes_before,
    count(*) OVER ()::int AS found
  FROM unnest($6::int[]) WITH ORDINALITY AS v(version, place)
  CROSS JOIN LATERAL (SELECT * FROM snapshots n
    WHERE n.subject_key = r.subject_key AND n.snapshot_version = v.version LIMIT 1) n
) n ON NOT $1::boolean OR (n.bytes_before = 0 OR n.bytes_before + coalesce(octet_length(n.envelope), 0) <= 8388608)
ORDER BY n.place;

-- snapshot_lineage_listed_tenant
--   asked by SnapshotListStore.listed (stores/snapshots/snapshot-list.store.ts)
--   $1 withEnvelopes boolean
--   $2 tenantId text
--   $3 principalId text
--   $4 subjectType text
--   $5 subjectId text
--   $6 versions integer[]
--   enters erasures_pkey, grants_live, grants_to_all_live, memberships_pkey, snapshots_version_key, subjects_identity_key
PREPARE snapshot_lineage_listed_tenant (boolean, text, text, text, text, integer[]) AS
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  CASE WHEN f.owns_subject IS NOT TRUE THEN s.subject_key::float8 END AS "disclosure?.subjectKey",
  i.tenant_id AS "disclosure?.granteeTenantId", f.grant_id AS "disclosure?.grantId",
  n.snapshot_id AS "snapshot?.snapshotId",
  s.subject_type AS "snapshot?.subjectType",
  s.subject_id AS "snapshot?.subjectId",
  n.snapshot_version AS "snapshot?.snapshotVersion",
  n.generated_at AS "snapshot?.generatedAt",
  n.created_at AS "snapshot?.createdAt",
  encode(n.envelope_hash, 'hex') AS "snapshot?.envelopeHash",
  encode(n.prev_hash, 'hex') AS "snapshot?.prevHash",
  n.written_by AS "snapshot?.writtenBy",
  n.write_request_id AS "snapshot?.writeRequestId",
  CASE WHEN $1::boolean AND n.bytes_before < 2097152 THEN n.envelope END AS "snapshot?.envelope",
  CASE WHEN n.erasure_id IS NOT NULL THEN (SELECT er.public_id FROM erasures er
  WHERE er.erasure_id = n.erasure_id LIMIT 1) END AS "snapshot?.erasure?.erasureId",
  CASE WHEN n.erasure_id IS NOT NULL THEN (SELECT er.erased_at FROM erasures er
  WHERE er.erasure_id = n.erasure_id LIMIT 1) END AS "snapshot?.erasure?.erasedAt",
  head_version AS "headVersion", n.found
FROM (SELECT $2::text AS tenant_id, $3::text AS principal_id, $4::text AS subject_type, $5::text AS subject_id) i
LEFT JOIN subjects s ON s.subject_type = i.subject_type AND s.subject_id = i.subject_id
LEFT JOIN LATERAL (
  SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access,
    s.owner_tenant_id = i.tenant_id AS owns_subject, one.scopes || every.scopes AS grant_scopes,
    CASE WHEN one.scopes && '{read_lineage}' THEN one.grant_id ELSE every.grant_id END AS grant_id
  FROM memberships m
  LEFT JOIN LATERAL (SELECT g.grant_id, g.scopes FROM grants g
    WHERE s.owner_tenant_id <> i.tenant_id
      AND (g.grantee_tenant_id, g.subject_key) BETWEEN (i.tenant_id, s.subject_key) AND (i.tenant_id, s.subject_key)
      AND g.revoked_at IS NULL AND (g.expires_at IS NULL OR g.expires_at > statement_timestamp())
    LIMIT 1) one ON true
  LEFT JOIN LATERAL (SELECT g.grant_id, g.scopes FROM grants g
    WHERE s.owner_tenant_id <> i.tenant_id
      AND (g.grantor_tenant_id || '/', g.grantee_tenant_id, coalesce(g.expires_at, 'infinity'))
      > (s.owner_tenant_id || '/', i.tenant_id, statement_timestamp())
      AND (g.grantor_tenant_id || '/', g.grantee_tenant_id) <= (s.owner_tenant_id || '/', i.tenant_id)
      AND g.revoked_at IS NULL AND (g.subject_key = 0) IS TRUE LIMIT 1) every ON true
  WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id
) f ON true
LEFT JOIN LATERAL (SELECT s.subject_key
  WHERE f.role IN ('tenant_reader', 'tenant_proposer', 'tenant_editor', 'tenant_admin', 'tenant_owner')
    AND f.member_status = 'active'
    AND (f.owns_subject OR (f.allow_counterparty_access AND f.grant_scopes && ARRAY['read_lineage']))) r ON true
LEFT JOIN LATERAL (SELECT max(snapshot_version) AS head_version FROM snapshots
  WHERE subject_key = r.subject_key) h ON true
LEFT JOIN LATERAL (
  SELECT n.*, v.place, sum(coalesce(octet_length(n.envelope), 0)) OVER (ORDER BY v.place)
    - coalesce(octet_length(n.envelope), 0) AS bytes_before,
    count(*) OVER ()::int AS found
  FROM unnest($6::int[]) WITH ORDINALITY AS v(version, place)
  CROSS JOIN LATERAL (SELECT * FROM snapshots n
    WHERE n.subject_key = r.subject_key AND n.snapshot_version = v.version LIMIT 1) n
) n ON NOT $1::boolean OR (n.bytes_before = 0 OR n.bytes_before + coalesce(octet_length(n.envelope), 0) <= 8388608)
ORDER BY n.place;

-- snapshot_pair_ids_global
--   asked by SnapshotPairStore.byIds (stores/snapshots/snapshot-pair.store.ts)
--   $1 maxBytes integer
--   $2 inputs.tenantId text[]
--   $3 inputs.principalId text[]
--   $4 inputs.snapshotId uuid[]
--   enters erasures_pkey, grants_live, grants_live_by_grantee, grants_to_all_live, memberships_by_principal, snapshots_snapshot_id_key, subjects_pkey
PREPARE snapshot_pair_ids_global (integer, text[], text[], uuid[]) AS
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  CASE WHEN f.owns_subject IS NOT TRUE THEN s.subject_key::float8 END AS "disclosure?.subjectKey",
  f.grantee_tenant_id AS "disclosure?.granteeTenantId", f.grant_id AS "disclosure?.grantId",
  n.snapshot_id AS "snapshot?.snapshotId",
  s.subject_type AS "snapshot?.subjectType",
  s.subject_id AS "snapshot?.subjectId",
  n.snapshot_version AS "snapshot?.snapshotVersion",
  n.generated_at AS "snapshot?.generatedAt",
  n.created_at AS "snapshot?.createdAt",
  encode(n.envelope_hash, 'hex') AS "snapshot?.envelopeHash",
  encode(n.prev_hash, 'hex') AS "snapshot?.prevHash",
  n.written_by AS "snapshot?.writtenBy",
  n.write_request_id AS "snapshot?.writeRequestId",
  CASE WHEN octet_length(n.envelope) <= $1::int THEN n.envelope END AS "snapshot?.envelope",
  CASE WHEN n.erasure_id IS NOT NULL THEN (SELECT er.public_id FROM erasures er
  WHERE er.erasure_id = n.erasure_id LIMIT 1) END AS "snapshot?.erasure?.erasureId",
  CASE WHEN n.erasure_id IS NOT NULL THEN (SELECT er.erased_at FROM erasures er
  WHERE er.erasure_id = n.erasure_id LIMIT 1) END AS "snapshot?.erasure?.erasedAt",
  found.snapshot_id IS NOT NULL AS "isThere"
FROM unnest($2::text[], $3::text[], $4::uuid[])
  WITH ORDINALITY AS i(tenant_id, principal_id, snapshot_id, ord)
LEFT JOIN snapshots found ON found.snapshot_id = i.snapshot_id
LEFT JOIN subjects s ON s.subject_key = found.subject_key
LEFT JOIN LATERAL (
  SELECT 'tenant_reader' AS role, 'active' AS member_status, true AS allow_counterparty_access, o.owns_subject,
    h.grant_scopes, h.grantee_tenant_id, h.grant_id
  FROM (SELECT (SELECT true FROM memberships m
      WHERE m.tenant_id = s.owner_tenant_id AND m.principal_id = i.principal_id
        AND m.status = 'active' LIMIT 1) AS owns_subject OFFSET 0) o
  CROSS JOIN LATERAL (
    WITH RECURSIVE met (tenant_id, allow_counterparty_access) AS (
      SELECT ''::text COLLATE "C", false WHERE o.owns_subject IS NULL
      UNION ALL
      SELECT m.tenant_id, m.allow_counterparty_access
      FROM met
      CROSS JOIN LATERAL (
        SELECT least(
            (SELECT g.grantee_tenant_id FROM grants g
            WHERE (g.subject_key, g.grantee_tenant_id) > (s.subject_key, met.tenant_id)
              AND g.subject_key <= s.subject_key AND g.subject_key > 0 AND g.revoked_at IS NULL
            ORDER BY g.subject_key, g.grantee_tenant_id LIMIT 1),
            (SELECT g.grantee_tenant_id FROM grants g
            WHERE (g.grantor_tenant_id || '/', g.grantee_tenant_id) > (s.owner_tenant_id || '/', met.tenant_id)
              AND g.grantor_tenant_id || '/' <= s.owner_tenant_id || '/' AND g.revoked_at IS NULL
              AND (g.subject_key = 0) IS TRUE
            ORDER BY g.grantor_tenant_id || '/', g.grantee_tenant_id LIMIT 1)) AS grantee_tenant_id
      ) g
      CROSS JOIN LATERAL (
        SELECT m.tenant_id, m.allow_counterparty_access FROM memberships m
        WHERE (m.principal_id, m.tenant_id) >= (i.principal_id, g.grantee_tenant_id)
          AND m.principal_id <= i.principal_id AND m.status = 'active'
        ORDER BY m.principal_id, m.tenant_id LIMIT 1
      ) m
    )
    SELECT array_agg(DISTINCT scope) AS grant_scopes,
      min(m.tenant_id) FILTER (WHERE scope IN ('read_diff')) AS grantee_tenant_id,
      (array_agg(g.grant_id ORDER BY m.tenant_id, g.is_to_all) FILTER (WHERE scope IN ('read_diff')))[1] AS grant_id
    FROM met m
    CROSS JOIN LATERAL (SELECT g.scopes, g.grant_id, false AS is_to_all FROM grants g
      WHERE (g.grantee_tenant_id, g.subject_key) BETWEEN (m.tenant_id, s.subject_key)
        AND (m.tenant_id, s.subject_key)
        AND g.revoked_at IS NULL AND (g.expires_at IS NULL OR g.expires_at > statement_timestamp())
      UNION ALL
      SELECT g.scopes, g.grant_id, true FROM grants g
      WHERE (g.grantor_tenant_id || '/', g.grantee_tenant_id, coalesce(g.expires_at, 'infinity'))
        > (s.owner_tenant_id || '/', m.tenant_id, statement_timestamp())
        AND (g.grantor_tenant_id || '/', g.grantee_tenant_id) <= (s.owner_tenant_id || '/', m.tenant_id)
        AND g.revoked_at IS NULL AND (g.subject_key = 0) IS TRUE OFFSET 0) g
    CROSS JOIN unnest(g.scopes) scope
    WHERE m.allow_counterparty_access
  ) h
) f ON true
LEFT JOIN LATERAL (SELECT s.subject_key
  WHERE f.role IN ('tenant_reader', 'tenant_proposer', 'tenant_editor', 'tenant_admin', 'tenant_owner')
    AND f.member_status = 'active'
    AND (f.owns_subject OR (f.allow_counterparty_access AND f.grant_scopes && ARRAY['read_diff']))
    OR i.principal_id = 'anyone') r ON true
LEFT JOIN LATERAL (SELECT found.* WHERE r.subject_key IS NOT NULL) n ON true
ORDER BY i.ord;

-- snapshot_pair_ids_tenant
--   asked by SnapshotPairStore.byIds (stores/snapshots/snapshot-pair.store.ts)
--   $1 maxBytes integer
--   $2 inputs.tenantId text[]
--   $3 inputs.principalId text[]
--   $4 inputs.snapshotId uuid[]
--   enters erasures_pkey, grants_live, grants_to_all_live, memberships_pkey, snapshots_snapshot_id_key, subjects_pkey
PREPARE snapshot_pair_ids_tenant (integer, text[], text[], uuid[]) AS
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  CASE WHEN f.owns_subject IS NOT TRUE THEN s.subject_key::float8 END AS "disclosure?.subjectKey",
  i.tenant_id AS "disclosure?.granteeTenantId", f.grant_id AS "disclosure?.grantId",
  n.snapshot_id AS "snapshot?.snapshotId",
  s.subject_type AS "snapshot?.subjectType",
  s.subject_id AS "snapshot?.subjectId",
  n.snapshot_version AS "snapshot?.snapshotVersion",
  n.generated_at AS "snapshot?.generatedAt",
  n.created_at AS "snapshot?.createdAt",
  encode(n.envelope_hash, 'hex') AS "snapshot?.envelopeHash",
  encode(n.prev_hash, 'hex') AS "snapshot?.prevHash",
  n.written_by AS "snapshot?.writtenBy",
  n.write_request_id AS "snapshot?.writeRequestId",
  CASE WHEN octet_length(n.envelope) <= $1::int THEN n.envelope END AS "snapshot?.envelope",
  CASE WHEN n.erasure_id IS NOT NULL THEN (SELECT er.public_id FROM erasures er
  WHERE er.erasure_id = n.erasure_id LIMIT 1) END AS "snapshot?.erasure?.erasureId",
  CASE WHEN n.erasure_id IS NOT NULL THEN (SELECT er.erased_at FROM erasures er
  WHERE er.erasure_id = n.erasure_id LIMIT 1) END AS "snapshot?.erasure?.erasedAt",
  found.snapshot_id IS NOT NULL AS "isThere"
FROM unnest($2::text[], $3::text[], $4::uuid[])
  WITH ORDINALITY AS i(tenant_id, principal_id, snapshot_id, ord)
LEFT JOIN snapshots found ON found.snapshot_id = i.snapshot_id
LEFT JOIN subjects s ON s.subject_key = found.subject_key
LEFT JOIN LATERAL (
  SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access,
    s.owner_tenant_id = i.tenant_id AS owns_subject, one.scopes || every.scopes AS grant_scopes,
    CASE WHEN one.scopes && '{read_diff}' THEN one.grant_id ELSE every.grant_id END AS grant_id
  FROM memberships m
  LEFT JOIN LATERAL (SELECT g.grant_id, g.scopes FROM grants g
    WHERE s.owner_tenant_id <> i.tenant_id
      AND (g.grantee_tenant_id, g.subject_key) BETWEEN (i.tenant_id, s.subject_key) AND (i.tenant_id, s.subject_key)
      AND g.revoked_at IS NULL AND (g.expires_at IS NULL OR g.expires_at > statement_timestamp())
    LIMIT 1) one ON true
  LEFT JOIN LATERAL (SELECT g.grant_id, g.scopes FROM grants g
    WHERE s.owner_tenant_id <> i.tenant_id
      AND (g.grantor_tenant_id || '/', g.grantee_tenant_id, coalesce(g.expires_at, 'infinity'))
      > (s.owner_tenant_id || '/', i.tenant_id, statement_timestamp())
      AND (g.grantor_tenant_id || '/', g.grantee_tenant_id) <= (s.owner_tenant_id || '/', i.tenant_id)
      AND g.revoked_at IS NULL AND (g.subject_key = 0) IS TRUE LIMIT 1) every ON true
  WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id
) f ON true
LEFT JOIN LATERAL (SELECT s.subject_key
  WHERE f.role IN ('tenant_reader', 'tenant_proposer', 'tenant_editor', 'tenant_admin', 'tenant_owner')
    AND f.member_status = 'active'
    AND (f.owns_subject OR (f.allow_counterparty_access AND f.grant_scopes && ARRAY['read_diff']))) r ON true
LEFT JOIN LATERAL (SELECT found.* WHERE r.subject_key IS NOT NULL) n ON true
ORDER BY i.ord;

-- snapshot_pair_versions_global
--   asked by SnapshotPairStore.byVersions (stores/snapshots/snapshot-pair.store.ts)
--   $1 maxBytes integer
--   $2 inputs.tenantId text[]
--   $3 inputs.principalId text[]
--   $4 inputs.subjectType text[]
--   $5 inputs.subjectId text[]
--   $6 inputs.snapshotVersion integer[]
--   enters erasures_pkey, grants_live, grants_live_by_grantee, grants_to_all_live, memberships_by_principal, snapshots_version_key, subjects_identity_key
PREPARE snapshot_pair_versions_global (integer, text[], text[], text[], text[], integer[]) AS
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  CASE WHEN f.owns_subject IS NOT TRUE THEN s.subject_key::float8 END AS "disclosure?.subjectKey",
  f.grantee_tenant_id AS "disclosure?.granteeTenantId", f.grant_id AS "disclosure?.grantId",
  n.snapshot_id AS "snapshot?.snapshotId",
  s.subject_type AS "snapshot?.subjectType",
  s.subject_id AS "snapshot?.subjectId",
  n.snapshot_version AS "snapshot?.snapshotVersion",
  n.generated_at AS "snapshot?.generatedAt",
  n.created_at AS "snapshot?.createdAt",
  encode(n.envelope_hash, 'hex') AS "snapshot?.envelopeHash",
  encode(n.prev_hash, 'hex') AS "snapshot?.prevHash",
  n.written_by AS "snapshot?.writtenBy",
  n.write_request_id AS "snapshot?.writeRequestId",
  CASE WHEN octet_length(n.envelope) <= $1::int THEN n.envelope END AS "snapshot?.envelope",
  CASE WHEN n.erasure_id IS NOT NULL THEN (SELECT er.public_id FROM erasures er
  WHERE er.erasure_id = n.erasure_id LIMIT 1) END AS "snapshot?.erasure?.erasureId",
  CASE WHEN n.erasure_id IS NOT NULL THEN (SELECT er.erased_at FROM erasures er
  WHERE er.erasure_id = n.erasure_id LIMIT 1) END AS "snapshot?.erasure?.erasedAt",
  found.snapshot_id IS NOT NULL AS "isThere"
FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::int[])
  WITH ORDINALITY AS i(tenant_id, principal_id, subject_type, subject_id, snapshot_version, ord)
LEFT JOIN subjects s ON s.subject_type = i.subject_type AND s.subject_id = i.subject_id
LEFT JOIN LATERAL (
  SELECT 'tenant_reader' AS role, 'active' AS member_status, true AS allow_counterparty_access, o.owns_subject,
    h.grant_scopes, h.grantee_tenant_id, h.grant_id
  FROM (SELECT (SELECT true FROM memberships m
      WHERE m.tenant_id = s.owner_tenant_id AND m.principal_id = i.principal_id
        AND m.status = 'active' LIMIT 1) AS owns_subject OFFSET 0) o
  CROSS JOIN LATERAL (
    WITH RECURSIVE met (tenant_id, allow_counterparty_access) AS (
      SELECT ''::text COLLATE "C", false WHERE o.owns_subject IS NULL
      UNION ALL
      SELECT m.tenant_id, m.allow_counterparty_access
      FROM met
      CROSS JOIN LATERAL (
        SELECT least(
            (SELECT g.grantee_tenant_id FROM grants g
            WHERE (g.subject_key, g.grantee_tenant_id) > (s.subject_key, met.tenant_id)
              AND g.subject_key <= s.subject_key AND g.subject_key > 0 AND g.revoked_at IS NULL
            ORDER BY g.subject_key, g.grantee_tenant_id LIMIT 1),
            (SELECT g.grantee_tenant_id FROM grants g
            WHERE (g.grantor_tenant_id || '/', g.grantee_tenant_id) > (s.owner_tenant_id || '/', met.tenant_id)
              AND g.grantor_tenant_id || '/' <= s.owner_tenant_id || '/' AND g.revoked_at IS NULL
              AND (g.subject_key = 0) IS TRUE
            ORDER BY g.grantor_tenant_id || '/', g.grantee_tenant_id LIMIT 1)) AS grantee_tenant_id
      ) g
      CROSS JOIN LATERAL (
        SELECT m.tenant_id, m.allow_counterparty_access FROM memberships m
        WHERE (m.principal_id, m.tenant_id) >= (i.principal_id, g.grantee_tenant_id)
          AND m.principal_id <= i.principal_id AND m.status = 'active'
        ORDER BY m.principal_id, m.tenant_id LIMIT 1
      ) m
    )
    SELECT array_agg(DISTINCT scope) AS grant_scopes,
      min(m.tenant_id) FILTER (WHERE scope IN ('read_diff')) AS grantee_tenant_id,
      (array_agg(g.grant_id ORDER BY m.tenant_id, g.is_to_all) FILTER (WHERE scope IN ('read_diff')))[1] AS grant_id
    FROM met m
    CROSS JOIN LATERAL (SELECT g.scopes, g.grant_id, false AS is_to_all FROM grants g
      WHERE (g.grantee_tenant_id, g.subject_key) BETWEEN (m.tenant_id, s.subject_key)
        AND (m.tenant_id, s.subject_key)
        AND g.revoked_at IS NULL AND (g.expires_at IS NULL OR g.expires_at > statement_timestamp())
      UNION ALL
      SELECT g.scopes, g.grant_id, true FROM grants g
      WHERE (g.grantor_tenant_id || '/', g.grantee_tenant_id, coalesce(g.expires_at, 'infinity'))
        > (s.owner_tenant_id || '/', m.tenant_id, statement_timestamp())
        AND (g.grantor_tenant_id || '/', g.grantee_tenant_id) <= (s.owner_tenant_id || '/', m.tenant_id)
        AND g.revoked_at IS NULL AND (g.subject_key = 0) IS TRUE OFFSET 0) g
    CROSS JOIN unnest(g.scopes) scope
    WHERE m.allow_counterparty_access
  ) h
) f ON true
LEFT JOIN LATERAL (SELECT s.subject_key
  WHERE f.role IN ('tenant_reader', 'tenant_proposer', 'tenant_editor', 'tenant_admin', 'tenant_owner')
    AND f.member_status = 'active'
    AND (f.owns_subject OR (f.allow_counterparty_access AND f.grant_scopes && ARRAY['read_diff']))
    OR i.principal_id = 'anyone') r ON true
LEFT JOIN LATERAL (SELECT * FROM snapshots n
  WHERE n.subject_key = r.subject_key AND n.snapshot_version = i.snapshot_version LIMIT 1) found ON true
LEFT JOIN LATERAL (SELECT found.* WHERE r.subject_key IS NOT NULL) n ON true
ORDER BY i.ord;

-- snapshot_pair_versions_tenant
--   asked by SnapshotPairStore.byVersions (stores/snapshots/snapshot-pair.store.ts)
--   $1 maxBytes integer
--   $2 inputs.tenantId text[]
--   $3 inputs.principalId text[]
--   $4 inputs.subjectType text[]
--   $5 inputs.subjectId text[]
--   $6 inputs.snapshotVersion integer[]
--   enters erasures_pkey, grants_live, grants_to_all_live, memberships_pkey, snapshots_version_key, subjects_identity_key
PREPARE snapshot_pair_versions_tenant (integer, text[], text[], text[], text[], integer[]) AS
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  CASE WHEN f.owns_subject IS NOT TRUE THEN s.subject_key::float8 END AS "disclosure?.subjectKey",
  i.tenant_id AS "disclosure?.granteeTenantId", f.grant_id AS "disclosure?.grantId",
  n.snapshot_id AS "snapshot?.snapshotId",
  s.subject_type AS "snapshot?.subjectType",
  s.subject_id AS "snapshot?.subjectId",
  n.snapshot_version AS "snapshot?.snapshotVersion",
  n.generated_at AS "snapshot?.generatedAt",
  n.created_at AS "snapshot?.createdAt",
  encode(n.envelope_hash, 'hex') AS "snapshot?.envelopeHash",
  encode(n.prev_hash, 'hex') AS "snapshot?.prevHash",
  n.written_by AS "snapshot?.writtenBy",
  n.write_request_id AS "snapshot?.writeRequestId",
  CASE WHEN octet_length(n.envelope) <= $1::int THEN n.envelope END AS "snapshot?.envelope",
  CASE WHEN n.erasure_id IS NOT NULL THEN (SELECT er.public_id FROM erasures er
  WHERE er.erasure_id = n.erasure_id LIMIT 1) END AS "snapshot?.erasure?.erasureId",
  CASE WHEN n.erasure_id IS NOT NULL THEN (SELECT er.erased_at FROM erasures er
  WHERE er.erasure_id = n.erasure_id LIMIT 1) END AS "snapshot?.erasure?.erasedAt",
  found.snapshot_id IS NOT NULL AS "isThere"
FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::int[])
  WITH ORDINALITY AS i(tenant_id, principal_id, subject_type, subject_id, snapshot_version, ord)
LEFT JOIN subjects s ON s.subject_type = i.subject_type AND s.subject_id = i.subject_id
LEFT JOIN LATERAL (
  SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access,
    s.owner_tenant_id = i.tenant_id AS owns_subject, one.scopes || every.scopes AS grant_scopes,
    CASE WHEN one.scopes && '{read_diff}' THEN one.grant_id ELSE every.grant_id END AS grant_id
  FROM memberships m
  LEFT JOIN LATERAL (SELECT g.grant_id, g.scopes FROM grants g
    WHERE s.owner_tenant_id <> i.tenant_id
      AND (g.grantee_tenant_id, g.subject_key) BETWEEN (i.tenant_id, s.subject_key) AND (i.tenant_id, s.subject_key)
      AND g.revoked_at IS NULL AND (g.expires_at IS NULL OR g.expires_at > statement_timestamp())
    LIMIT 1) one ON true
  LEFT JOIN LATERAL (SELECT g.grant_id, g.scopes FROM grants g
    WHERE s.owner_tenant_id <> i.tenant_id
      AND (g.grantor_tenant_id || '/', g.grantee_tenant_id, coalesce(g.expires_at, 'infinity'))
      > (s.owner_tenant_id || '/', i.tenant_id, statement_timestamp())
      AND (g.grantor_tenant_id || '/', g.grantee_tenant_id) <= (s.owner_tenant_id || '/', i.tenant_id)
      AND g.revoked_at IS NULL AND (g.subject_key = 0) IS TRUE LIMIT 1) every ON true
  WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id
) f ON true
LEFT JOIN LATERAL (SELECT s.subject_key
  WHERE f.role IN ('tenant_reader', 'tenant_proposer', 'tenant_editor', 'tenant_admin', 'tenant_owner')
    AND f.member_status = 'active'
    AND (f.owns_subject OR (f.allow_counterparty_access AND f.grant_scopes && ARRAY['read_diff']))) r ON true
LEFT JOIN LATERAL (SELECT * FROM snapshots n
  WHERE n.subject_key = r.subject_key AND n.snapshot_version = i.snapshot_version LIMIT 1) found ON true
LEFT JOIN LATERAL (SELECT found.* WHERE r.subject_key IS NOT NULL) n ON true
ORDER BY i.ord;

-- snapshot_parent
--   asked by ProvenanceStore.parent (stores/provenance/provenance.store.ts)
--   $1 tenantId text
--   $2 principalId text
--   $3 subjectType text
--   $4 subjectId text
--   enters erasures_pkey, grants_live, grants_to_all_live, memberships_pkey, snapshot_provenance_pkey, snapshots_version_key, subjects_identity_key, tenants_pkey
PREPARE snapshot_parent (text, text, text, text) AS
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  n.snapshot_id AS "snapshot?.snapshotId",
  s.subject_type AS "snapshot?.subjectType",
  s.subject_id AS "snapshot?.subjectId",
  n.snapshot_version AS "snapshot?.snapshotVersion",
  n.generated_at AS "snapshot?.generatedAt",
  n.created_at AS "snapshot?.createdAt",
  encode(n.envelope_hash, 'hex') AS "snapshot?.envelopeHash",
  encode(n.prev_hash, 'hex') AS "snapshot?.prevHash",
  n.written_by AS "snapshot?.writtenBy",
  n.write_request_id AS "snapshot?.writeRequestId",
  n.envelope AS "snapshot?.envelope",
  CASE WHEN n.erasure_id IS NOT NULL THEN (SELECT er.public_id FROM erasures er
  WHERE er.erasure_id = n.erasure_id LIMIT 1) END AS "snapshot?.erasure?.erasureId",
  CASE WHEN n.erasure_id IS NOT NULL THEN (SELECT er.erased_at FROM erasures er
  WHERE er.erasure_id = n.erasure_id LIMIT 1) END AS "snapshot?.erasure?.erasedAt",
  (SELECT p.origins FROM snapshot_provenance p
  WHERE p.subject_key = n.subject_key AND p.snapshot_version = n.snapshot_version
  LIMIT 1) AS origins, coalesce(t.evidence_policy, 'open') AS "evidencePolicy"
FROM (SELECT $1::text AS tenant_id, $2::text AS principal_id, $3::text AS subject_type, $4::text AS subject_id) i
LEFT JOIN subjects s ON s.subject_type = i.subject_type AND s.subject_id = i.subject_id
LEFT JOIN LATERAL (
  SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access,
    s.owner_tenant_id = i.tenant_id AS owns_subject, one.scopes || every.scopes AS grant_scopes,
    CASE WHEN one.scopes && '{}' THEN one.grant_id ELSE every.grant_id END AS grant_id
  FROM memberships m
  LEFT JOIN LATERAL (SELECT g.grant_id, g.scopes FROM grants g
    WHERE s.owner_tenant_id <> i.tenant_id
      AND (g.grantee_tenant_id, g.subject_key) BETWEEN (i.tenant_id, s.subject_key) AND (i.tenant_id, s.subject_key)
      AND g.revoked_at IS NULL AND (g.expires_at IS NULL OR g.expires_at > statement_timestamp())
    LIMIT 1) one ON true
  LEFT JOIN LATERAL (SELECT g.grant_id, g.scopes FROM grants g
    WHERE s.owner_tenant_id <> i.tenant_id
      AND (g.grantor_tenant_id || '/', g.grantee_tenant_id, coalesce(g.expires_at, 'infinity'))
      > (s.owner_tenant_id || '/', i.tenant_id, statement_timestamp())
      AND (g.grantor_tenant_id || '/', g.grantee_tenant_id) <= (s.owner_tenant_id || '/', i.tenant_id)
      AND g.revoked_at IS NULL AND (g.subject_key = 0) IS TRUE LIMIT 1) every ON true
  WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id
) f ON true
LEFT JOIN tenants t ON t.tenant_id = i.tenant_id
LEFT JOIN LATERAL (SELECT * FROM snapshots n WHERE n.subject_key = s.subject_key AND f.owns_subject
  ORDER BY n.snapshot_version DESC LIMIT 1) n ON true;

-- snapshot_texts_copied
--   asked by CopiedTexts.complete (stores/snapshots/copied-texts.ts)
--   $1 ids uuid[]
--   enters snapshots_snapshot_id_key
PREPARE snapshot_texts_copied (uuid[]) AS
SELECT n.snapshot_id AS "snapshotId", encode(n.envelope_hash, 'hex') AS "envelopeHash", n.envelope
FROM unnest($1::uuid[]) AS i(id)
CROSS JOIN LATERAL (SELECT * FROM snapshots n WHERE n.snapshot_id = i.id LIMIT 1) n;

-- snapshot_version_global
--   asked by SnapshotReadStore.read (stores/snapshots/snapshot-read.store.ts)
--   $1 maxBytes integer
--   $2 inputs.tenantId text[]
--   $3 inputs.principalId text[]
--   $4 inputs.withEnvelope boolean[]
--   $5 inputs.knownHash bytea[]
--   $6 inputs.subjectType text[]
--   $7 inputs.subjectId text[]
--   $8 inputs.snapshotVersion integer[]
--   $9 inputs.asLatest boolean[]
--   enters erasures_pkey, grants_live, grants_live_by_grantee, grants_to_all_live, memberships_by_principal, snapshots_version_key, subjects_identity_key
PREPARE snapshot_version_global (integer, text[], text[], boolean[], bytea[], text[], text[], integer[], boolean[]) AS
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  CASE WHEN f.owns_subject IS NOT TRUE THEN s.subject_key::float8 END AS "disclosure?.subjectKey",
  f.grantee_tenant_id AS "disclosure?.granteeTenantId", f.grant_id AS "disclosure?.grantId", found.snapshot_version AS version,
  n.snapshot_id AS "snapshot?.snapshotId",
  s.subject_type AS "snapshot?.subjectType",
  s.subject_id AS "snapshot?.subjectId",
  n.snapshot_version AS "snapshot?.snapshotVersion",
  n.generated_at AS "snapshot?.generatedAt",
  n.created_at AS "snapshot?.createdAt",
  encode(n.envelope_hash, 'hex') AS "snapshot?.envelopeHash",
  encode(n.prev_hash, 'hex') AS "snapshot?.prevHash",
  n.written_by AS "snapshot?.writtenBy",
  n.write_request_id AS "snapshot?.writeRequestId",
  CASE WHEN i.with_envelope AND NOT (i.with_envelope
    AND octet_length(n.envelope) > $1::int) IS TRUE THEN n.envelope END AS "snapshot?.envelope",
  CASE WHEN n.erasure_id IS NOT NULL THEN (SELECT er.public_id FROM erasures er
  WHERE er.erasure_id = n.erasure_id LIMIT 1) END AS "snapshot?.erasure?.erasureId",
  CASE WHEN n.erasure_id IS NOT NULL THEN (SELECT er.erased_at FROM erasures er
  WHERE er.erasure_id = n.erasure_id LIMIT 1) END AS "snapshot?.erasure?.erasedAt",
  (found.envelope_hash = i.known_hash AND found.erasure_id IS NULL) IS TRUE AS "isKnown", (i.with_envelope
    AND octet_length(n.envelope) > $1::int) IS TRUE AS "isTooLarge"
FROM unnest($2::text[], $3::text[], $4::boolean[], $5::bytea[], $6::text[], $7::text[], $8::int[], $9::boolean[])
  WITH ORDINALITY AS i(tenant_id, principal_id, with_envelope, known_hash, subject_type, subject_id, snapshot_version, as_latest, ord)
LEFT JOIN subjects s ON s.subject_type = i.subject_type AND s.subject_id = i.subject_id
LEFT JOIN LATERAL (
  SELECT 'tenant_reader' AS role, 'active' AS member_status, true AS allow_counterparty_access, o.owns_subject,
    h.grant_scopes, h.grantee_tenant_id, h.grant_id
  FROM (SELECT (SELECT true FROM memberships m
      WHERE m.tenant_id = s.owner_tenant_id AND m.principal_id = i.principal_id
        AND m.status = 'active' LIMIT 1) AS owns_subject OFFSET 0) o
  CROSS JOIN LATERAL (
    WITH RECURSIVE met (tenant_id, allow_counterparty_access) AS (
      SELECT ''::text COLLATE "C", false WHERE o.owns_subject IS NULL
      UNION ALL
      SELECT m.tenant_id, m.allow_counterparty_access
      FROM met
      CROSS JOIN LATERAL (
        SELECT least(
            (SELECT g.grantee_tenant_id FROM grants g
            WHERE (g.subject_key, g.grantee_tenant_id) > (s.subject_key, met.tenant_id)
              AND g.subject_key <= s.subject_key AND g.subject_key > 0 AND g.revoked_at IS NULL
            ORDER BY g.subject_key, g.grantee_tenant_id LIMIT 1),
            (SELECT g.grantee_tenant_id FROM grants g
            WHERE (g.grantor_tenant_id || '/', g.grantee_tenant_id) > (s.owner_tenant_id || '/', met.tenant_id)
              AND g.grantor_tenant_id || '/' <= s.owner_tenant_id || '/' AND g.revoked_at IS NULL
              AND (g.subject_key = 0) IS TRUE
            ORDER BY g.grantor_tenant_id || '/', g.grantee_tenant_id LIMIT 1)) AS grantee_tenant_id
      ) g
      CROSS JOIN LATERAL (
        SELECT m.tenant_id, m.allow_counterparty_access FROM memberships m
        WHERE (m.principal_id, m.tenant_id) >= (i.principal_id, g.grantee_tenant_id)
          AND m.principal_id <= i.principal_id AND m.status = 'active'
        ORDER BY m.principal_id, m.tenant_id LIMIT 1
      ) m
    )
    SELECT array_agg(DISTINCT scope) AS grant_scopes,
      min(m.tenant_id) FILTER (WHERE scope IN ('read_snapshot_by_id', 'read_lineage')) AS grantee_tenant_id,
      (array_agg(g.grant_id
        ORDER BY m.tenant_id, g.is_to_all) FILTER (WHERE scope IN ('read_snapshot_by_id', 'read_lineage')))[1] AS grant_id
    FROM met m
    CROSS JOIN LATERAL (SELECT g.scopes, g.grant_id, false AS is_to_all FROM grants g
      WHERE (g.grantee_tenant_id, g.subject_key) BETWEEN (m.tenant_id, s.subject_key)
        AND (m.tenant_id, s.subject_key)
        AND g.revoked_at IS NULL AND (g.expires_at IS NULL OR g.expires_at > statement_timestamp())
      UNION ALL
      SELECT g.scopes, g.grant_id, true FROM grants g
      WHERE (g.grantor_tenant_id || '/', g.grantee_tenant_id, coalesce(g.expires_at, 'infinity'))
        > (s.owner_tenant_id || '/', m.tenant_id, statement_timestamp())
        AND (g.grantor_tenant_id || '/', g.grantee_tenant_id) <= (s.owner_tenant_id || '/', m.tenant_id)
        AND g.revoked_at IS NULL AND (g.subject_key = 0) IS TRUE OFFSET 0) g
    CROSS JOIN unnest(g.scopes) scope
    WHERE m.allow_counterparty_access
  ) h
) f ON true
LEFT JOIN LATERAL (SELECT s.subject_key
  WHERE f.role IN ('tenant_reader', 'tenant_proposer', 'tenant_editor', 'tenant_admin', 'tenant_owner')
    AND f.member_status = 'active'
    AND (f.owns_subject OR (f.allow_counterparty_access
        AND f.grant_scopes && ARRAY['read_snapshot_by_id', 'read_lineage']))
    OR i.as_latest
    AND f.role IN ('tenant_reader', 'tenant_proposer', 'tenant_editor', 'tenant_admin', 'tenant_owner')
    AND f.member_status = 'active'
    AND (f.owns_subject OR (f.allow_counterparty_access
        AND f.grant_scopes && ARRAY['read_latest', 'read_snapshot_by_id', 'read_lineage']))
    OR i.principal_id = 'anyone') r ON true
LEFT JOIN LATERAL (SELECT * FROM snapshots n
  WHERE n.subject_key = r.subject_key AND n.snapshot_version = i.snapshot_version LIMIT 1) found ON true
LEFT JOIN LATERAL (SELECT found.* WHERE r.subject_key IS NOT NULL AND (found.envelope_hash = i.known_hash
      AND found.erasure_id IS NULL) IS NOT TRUE) n ON true
ORDER BY i.ord;

-- snapshot_version_tenant
--   asked by SnapshotReadStore.read (stores/snapshots/snapshot-read.store.ts)
--   $1 maxBytes integer
--   $2 inputs.tenantId text[]
--   $3 inputs.principalId text[]
--   $4 inputs.withEnvelope boolean[]
--   $5 inputs.knownHash bytea[]
--   $6 inputs.subjectType text[]
--   $7 inputs.subjectId text[]
--   $8 inputs.snapshotVersion integer[]
--   $9 inputs.asLatest boolean[]
--   enters erasures_pkey, grants_live, grants_to_all_live, memberships_pkey, snapshots_version_key, subjects_identity_key
PREPARE snapshot_version_tenant (integer, text[], text[], boolean[], bytea[], text[], text[], integer[], boolean[]) AS
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  CASE WHEN f.owns_subject IS NOT TRUE THEN s.subject_key::float8 END AS "disclosure?.subjectKey",
  i.tenant_id AS "disclosure?.granteeTenantId", f.grant_id AS "disclosure?.grantId", found.snapshot_version AS version,
  n.snapshot_id AS "snapshot?.snapshotId",
  s.subject_type AS "snapshot?.subjectType",
  s.subject_id AS "snapshot?.subjectId",
  n.snapshot_version AS "snapshot?.snapshotVersion",
  n.generated_at AS "snapshot?.generatedAt",
  n.created_at AS "snapshot?.createdAt",
  encode(n.envelope_hash, 'hex') AS "snapshot?.envelopeHash",
  encode(n.prev_hash, 'hex') AS "snapshot?.prevHash",
  n.written_by AS "snapshot?.writtenBy",
  n.write_request_id AS "snapshot?.writeRequestId",
  CASE WHEN i.with_envelope AND NOT (i.with_envelope
    AND octet_length(n.envelope) > $1::int) IS TRUE THEN n.envelope END AS "snapshot?.envelope",
  CASE WHEN n.erasure_id IS NOT NULL THEN (SELECT er.public_id FROM erasures er
  WHERE er.erasure_id = n.erasure_id LIMIT 1) END AS "snapshot?.erasure?.erasureId",
  CASE WHEN n.erasure_id IS NOT NULL THEN (SELECT er.erased_at FROM erasures er
  WHERE er.erasure_id = n.erasure_id LIMIT 1) END AS "snapshot?.erasure?.erasedAt",
  (found.envelope_hash = i.known_hash AND found.erasure_id IS NULL) IS TRUE AS "isKnown", (i.with_envelope
    AND octet_length(n.envelope) > $1::int) IS TRUE AS "isTooLarge"
FROM unnest($2::text[], $3::text[], $4::boolean[], $5::bytea[], $6::text[], $7::text[], $8::int[], $9::boolean[])
  WITH ORDINALITY AS i(tenant_id, principal_id, with_envelope, known_hash, subject_type, subject_id, snapshot_version, as_latest, ord)
LEFT JOIN subjects s ON s.subject_type = i.subject_type AND s.subject_id = i.subject_id
LEFT JOIN LATERAL (
  SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access,
    s.owner_tenant_id = i.tenant_id AS owns_subject, one.scopes || every.scopes AS grant_scopes,
    CASE
    WHEN one.scopes && '{read_snapshot_by_id,read_lineage}' THEN one.grant_id ELSE every.grant_id END AS grant_id
  FROM memberships m
  LEFT JOIN LATERAL (SELECT g.grant_id, g.scopes FROM grants g
    WHERE s.owner_tenant_id <> i.tenant_id
      AND (g.grantee_tenant_id, g.subject_key) BETWEEN (i.tenant_id, s.subject_key) AND (i.tenant_id, s.subject_key)
      AND g.revoked_at IS NULL AND (g.expires_at IS NULL OR g.expires_at > statement_timestamp())
    LIMIT 1) one ON true
  LEFT JOIN LATERAL (SELECT g.grant_id, g.scopes FROM grants g
    WHERE s.owner_tenant_id <> i.tenant_id
      AND (g.grantor_tenant_id || '/', g.grantee_tenant_id, coalesce(g.expires_at, 'infinity'))
      > (s.owner_tenant_id || '/', i.tenant_id, statement_timestamp())
      AND (g.grantor_tenant_id || '/', g.grantee_tenant_id) <= (s.owner_tenant_id || '/', i.tenant_id)
      AND g.revoked_at IS NULL AND (g.subject_key = 0) IS TRUE LIMIT 1) every ON true
  WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id
) f ON true
LEFT JOIN LATERAL (SELECT s.subject_key
  WHERE f.role IN ('tenant_reader', 'tenant_proposer', 'tenant_editor', 'tenant_admin', 'tenant_owner')
    AND f.member_status = 'active'
    AND (f.owns_subject OR (f.allow_counterparty_access
        AND f.grant_scopes && ARRAY['read_snapshot_by_id', 'read_lineage']))
    OR i.as_latest
    AND f.role IN ('tenant_reader', 'tenant_proposer', 'tenant_editor', 'tenant_admin', 'tenant_owner')
    AND f.member_status = 'active'
    AND (f.owns_subject OR (f.allow_counterparty_access
        AND f.grant_scopes && ARRAY['read_latest', 'read_snapshot_by_id', 'read_lineage']))) r ON true
LEFT JOIN LATERAL (SELECT * FROM snapshots n
  WHERE n.subject_key = r.subject_key AND n.snapshot_version = i.snapshot_version LIMIT 1) found ON true
LEFT JOIN LATERAL (SELECT found.* WHERE r.subject_key IS NOT NULL AND (found.envelope_hash = i.known_hash
      AND found.erasure_id IS NULL) IS NOT TRUE) n ON true
ORDER BY i.ord;

-- subject_owner
--   asked by SubjectStore.owner (stores/snapshots/subject.store.ts)
--   $1 tenantId text
--   $2 principalId text
--   $3 subjectType text
--   $4 subjectId text
--   enters grants_live, grants_to_all_live, memberships_pkey, subjects_identity_key
PREPARE subject_owner (text, text, text, text) AS
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  s.subject_type AS "ownership?.subjectType", s.subject_id AS "ownership?.subjectId",
  s.owner_tenant_id AS "ownership?.ownerTenantId", s.created_at AS "ownership?.createdAt"
FROM (SELECT $1::text AS tenant_id, $2::text AS principal_id, $3::text AS subject_type, $4::text AS subject_id) i
LEFT JOIN subjects s ON s.subject_type = i.subject_type AND s.subject_id = i.subject_id
LEFT JOIN LATERAL (
  SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access,
    s.owner_tenant_id = i.tenant_id AS owns_subject, one.scopes || every.scopes AS grant_scopes,
    CASE WHEN one.scopes && '{}' THEN one.grant_id ELSE every.grant_id END AS grant_id
  FROM memberships m
  LEFT JOIN LATERAL (SELECT g.grant_id, g.scopes FROM grants g
    WHERE s.owner_tenant_id <> i.tenant_id
      AND (g.grantee_tenant_id, g.subject_key) BETWEEN (i.tenant_id, s.subject_key) AND (i.tenant_id, s.subject_key)
      AND g.revoked_at IS NULL AND (g.expires_at IS NULL OR g.expires_at > statement_timestamp())
    LIMIT 1) one ON true
  LEFT JOIN LATERAL (SELECT g.grant_id, g.scopes FROM grants g
    WHERE s.owner_tenant_id <> i.tenant_id
      AND (g.grantor_tenant_id || '/', g.grantee_tenant_id, coalesce(g.expires_at, 'infinity'))
      > (s.owner_tenant_id || '/', i.tenant_id, statement_timestamp())
      AND (g.grantor_tenant_id || '/', g.grantee_tenant_id) <= (s.owner_tenant_id || '/', i.tenant_id)
      AND g.revoked_at IS NULL AND (g.subject_key = 0) IS TRUE LIMIT 1) every ON true
  WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id
) f ON true;

-- subjects_accessible
--   asked by AccessibleSubjectStore.list (stores/grants/accessible-subject.store.ts)
--   $1 tenantId text
--   $2 principalId text
--   $3 afterGrantId uuid
--   $4 fromOwner text
--   $5 rows bigint
--   $6 afterType text
--   $7 afterId text
--   enters erasures_pkey, grants_live, grants_pkey, grants_to_all_accepted, grants_to_all_live, memberships_pkey, snapshots_version_key, subjects_by_owner, subjects_pkey
PREPARE subjects_accessible (text, text, uuid, text, bigint, text, text) AS
WITH RECURSIVE caller AS MATERIALIZED (
  SELECT i.*, f.*
  FROM (SELECT $1::text AS tenant_id, $2::text AS principal_id,
      greatest(named.subject_key - 1, (SELECT last.subject_key FROM grants last
        WHERE last.grant_id = $3::uuid AND last.grantee_tenant_id = $1), 0) AS after,
      coalesce(named.subject_key, 9223372036854775807) AS up_to,
      coalesce(named.owner_tenant_id, NULL::text) AS owner_tenant_id
    FROM (SELECT NULL::bigint AS subject_key, NULL::text AS owner_tenant_id) named) i
  LEFT JOIN LATERAL (
    SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access, m.tenancy_role,
      m.principal_type, NULL::boolean AS owns_subject, NULL::text[] AS grant_scopes
    FROM memberships m
    WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id LIMIT 1
  ) f ON true
), looked_at AS MATERIALIZED (
  SELECT g.*, (g.revoked_at IS NULL
      AND (g.expires_at IS NULL OR g.expires_at > statement_timestamp())) AS is_live, row_number() OVER (ORDER BY g.subject_key) AS place
  FROM caller c
  CROSS JOIN LATERAL (
    SELECT * FROM grants g
    WHERE (g.grantee_tenant_id, g.subject_key) > (c.tenant_id, c.after)
      AND (g.grantee_tenant_id, g.subject_key) <= (c.tenant_id, c.up_to)
      AND c.member_status = 'active' AND c.allow_counterparty_access AND $4::text IS NULL AND g.revoked_at IS NULL
    ORDER BY g.grantee_tenant_id, g.subject_key LIMIT 1000
  ) g
), ended AS MATERIALIZED (
  SELECT c.tenant_id, l.grant_id, l.subject_key FROM caller c CROSS JOIN looked_at l WHERE l.place = 1000
), live AS MATERIALIZED (
  SELECT grant_id, grantor_tenant_id, grantee_tenant_id, subject_key, scopes, expires_at, created_at, revoked_at,
    granted_by, purpose, accepted_at FROM looked_at g
  WHERE g.is_live AND (g.subject_key = (SELECT subject_key FROM ended)) IS NOT TRUE
  UNION ALL
  SELECT g.* FROM ended e
  CROSS JOIN LATERAL (SELECT grant_id, grantor_tenant_id, grantee_tenant_id, subject_key, scopes, expires_at, created_at, revoked_at,
      granted_by, purpose, accepted_at FROM grants g
    WHERE (g.grantee_tenant_id, g.subject_key) BETWEEN (e.tenant_id, e.subject_key)
      AND (e.tenant_id, e.subject_key)
      AND g.revoked_at IS NULL AND (g.expires_at IS NULL OR g.expires_at > statement_timestamp()) LIMIT 1) g
), single AS MATERIALIZED (
  SELECT one.*, ARRAY[one.grant_id::text] AS position FROM live one
  WHERE (SELECT true FROM grants g
    WHERE (g.grantor_tenant_id || '/', g.grantee_tenant_id, coalesce(g.expires_at, 'infinity'))
      > (one.grantor_tenant_id || '/', one.grantee_tenant_id, statement_timestamp())
      AND (g.grantor_tenant_id || '/', g.grantee_tenant_id) <= (one.grantor_tenant_id || '/', one.grantee_tenant_id)
      AND g.revoked_at IS NULL AND (g.subject_key = 0) IS TRUE AND g.accepted_at IS NOT NULL LIMIT 1) IS NULL
  ORDER BY one.subject_key LIMIT $5
), owners AS (
  SELECT (
    SELECT g.grantor_tenant_id FROM grants g
    WHERE (g.grantee_tenant_id, g.grantor_tenant_id) >= (c.tenant_id, coalesce($4::text, c.owner_tenant_id, ''))
      AND g.grantee_tenant_id <= c.tenant_id AND g.revoked_at IS NULL AND g.accepted_at IS NOT NULL
      AND +g.subject_key = 0
    ORDER BY g.grantee_tenant_id, g.grantor_tenant_id LIMIT 1) AS tenant_id, 1 AS place
  FROM caller c WHERE c.member_status = 'active' AND c.allow_counterparty_access AND NOT EXISTS (SELECT
    FROM ended)
  UNION ALL
  SELECT (
    SELECT g.grantor_tenant_id FROM grants g
    WHERE (g.grantee_tenant_id, g.grantor_tenant_id) > (c.tenant_id, o.tenant_id)
      AND g.grantee_tenant_id <= c.tenant_id AND g.revoked_at IS NULL AND g.accepted_at IS NOT NULL
      AND +g.subject_key = 0
    ORDER BY g.grantee_tenant_id, g.grantor_tenant_id LIMIT 1), o.place + 1
  FROM owners o CROSS JOIN caller c WHERE o.tenant_id IS NOT NULL AND c.owner_tenant_id IS NULL
    AND o.place <= 1000
), of_all AS MATERIALIZED (
  SELECT coalesce(one.grant_id, every.grant_id) AS grant_id, every.grantor_tenant_id, every.grantee_tenant_id,
    s.subject_key,
    CASE WHEN one.grant_id IS NULL THEN every.scopes
    ELSE ARRAY(SELECT DISTINCT unnest(one.scopes || every.scopes) ORDER BY 1) END AS scopes,
    CASE WHEN one.grant_id IS NULL THEN every.expires_at ELSE one.expires_at END AS expires_at,
    coalesce(one.created_at, every.created_at) AS created_at, NULL::timestamptz AS revoked_at,
    CASE WHEN one.grant_id IS NULL THEN every.granted_by ELSE one.granted_by END AS granted_by,
    CASE WHEN one.grant_id IS NULL THEN every.purpose ELSE one.purpose END AS purpose,
    CASE WHEN one.grant_id IS NULL THEN every.accepted_at ELSE one.accepted_at END AS accepted_at,
    ARRAY[o.tenant_id, s.subject_type, s.subject_id]::text[] AS position, s.subject_type, s.name
  FROM owners o
  CROSS JOIN caller c
  CROSS JOIN LATERAL (SELECT * FROM grants g
    WHERE (g.grantor_tenant_id || '/', g.grantee_tenant_id, coalesce(g.expires_at, 'infinity'))
      > (o.tenant_id || '/', c.tenant_id, statement_timestamp())
      AND (g.grantor_tenant_id || '/', g.grantee_tenant_id) <= (o.tenant_id || '/', c.tenant_id)
      AND g.revoked_at IS NULL AND (g.subject_key = 0) IS TRUE AND g.accepted_at IS NOT NULL LIMIT 1) every
  CROSS JOIN LATERAL (
    SELECT * FROM subjects s
    WHERE (s.owner_tenant_id, s.subject_type, s.subject_id)
      > (o.tenant_id, CASE o.tenant_id WHEN $4::text THEN $6::text ELSE '' END, CASE o.tenant_id
        WHEN $4::text THEN $7::text ELSE '' END)
      AND s.owner_tenant_id <= o.tenant_id
    ORDER BY s.owner_tenant_id, s.subject_type, s.subject_id LIMIT $5
  ) s
  LEFT JOIN LATERAL (SELECT * FROM grants g
    WHERE (g.grantee_tenant_id, g.subject_key) BETWEEN (c.tenant_id, s.subject_key)
      AND (c.tenant_id, s.subject_key)
      AND g.revoked_at IS NULL AND (g.expires_at IS NULL OR g.expires_at > statement_timestamp())
    LIMIT 1) one ON true
  WHERE o.place <= 1000 AND (c.owner_tenant_id IS NULL OR o.tenant_id = c.owner_tenant_id)
  LIMIT $5 - (SELECT count(*) FROM single)
), found AS MATERIALIZED (
  SELECT single.*, 1 AS part, row_number() OVER (ORDER BY subject_key) AS place FROM single
  UNION ALL
  SELECT grant_id, grantor_tenant_id, grantee_tenant_id, subject_key, scopes, expires_at, created_at, revoked_at,
    granted_by, purpose, accepted_at, position, 2, row_number() OVER (ORDER BY position) FROM of_all
)
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  g.grant_id AS "item?.grant.grantId",
  g.grantor_tenant_id AS "item?.grant.grantorTenantId",
  g.grantee_tenant_id AS "item?.grant.granteeTenantId",
  CASE WHEN g.subject_key = 0 THEN '*' ELSE s.subject_type END AS "item?.grant.subjectType",
  CASE WHEN g.subject_key = 0 THEN '*' ELSE s.subject_id END AS "item?.grant.subjectId",
  g.scopes AS "item?.grant.scopes",
  g.expires_at AS "item?.grant.expiresAt",
  g.created_at AS "item?.grant.createdAt",
  g.revoked_at AS "item?.grant.revokedAt",
  CASE WHEN g.revoked_at IS NOT NULL THEN 'revoked'
  WHEN g.expires_at <= statement_timestamp() THEN 'expired' ELSE 'active' END AS "item?.grant.status",
  g.granted_by AS "item?.grant.grantedBy",
  g.purpose AS "item?.grant.purpose",
  g.accepted_at AS "item?.grant.acceptedAt",
  s.subject_key::float8 AS "item?.subjectKey", NULL::text AS "item?.name",
  n.snapshot_id AS "item?.latest?.snapshotId",
  s.subject_type AS "item?.latest?.subjectType",
  s.subject_id AS "item?.latest?.subjectId",
  n.snapshot_version AS "item?.latest?.snapshotVersion",
  n.generated_at AS "item?.latest?.generatedAt",
  n.created_at AS "item?.latest?.createdAt",
  encode(n.envelope_hash, 'hex') AS "item?.latest?.envelopeHash",
  encode(n.prev_hash, 'hex') AS "item?.latest?.prevHash",
  n.written_by AS "item?.latest?.writtenBy",
  n.write_request_id AS "item?.latest?.writeRequestId",
  NULL::text AS "item?.latest?.envelope",
  CASE WHEN n.erasure_id IS NOT NULL THEN (SELECT er.public_id FROM erasures er
  WHERE er.erasure_id = n.erasure_id LIMIT 1) END AS "item?.latest?.erasure?.erasureId",
  CASE WHEN n.erasure_id IS NOT NULL THEN (SELECT er.erased_at FROM erasures er
  WHERE er.erasure_id = n.erasure_id LIMIT 1) END AS "item?.latest?.erasure?.erasedAt",
  g.position,
  CASE WHEN EXISTS (SELECT FROM ended) THEN (SELECT ARRAY[grant_id::text] FROM ended)
  WHEN (SELECT count(*) FROM found) < $5::int
  THEN (SELECT ARRAY[o.tenant_id, '', ''] FROM owners o WHERE o.place > 1000 AND o.tenant_id IS NOT NULL)
  END AS ended
FROM caller f
LEFT JOIN found g ON true
LEFT JOIN subjects s ON s.subject_key = g.subject_key
LEFT JOIN LATERAL (SELECT * FROM snapshots n WHERE n.subject_key = CASE
    WHEN g.scopes && '{read_latest}' THEN s.subject_key END
  ORDER BY n.snapshot_version DESC LIMIT 1) n ON true
ORDER BY g.part, g.place;

-- subjects_accessible_by_identifier
--   asked by AccessibleSubjectStore.list (stores/grants/accessible-subject.store.ts)
--   $1 tenantId text
--   $2 principalId text
--   $3 afterGrantId uuid
--   $4 fromOwner text
--   $5 scheme text
--   $6 value text
--   $7 rows bigint
--   $8 afterType text
--   $9 afterId text
--   enters erasures_pkey, grants_live, grants_pkey, grants_to_all_accepted, grants_to_all_live, memberships_pkey, snapshots_version_key, subject_identifiers_by_owner, subject_identifiers_pkey, subjects_identity_key, subjects_pkey
PREPARE subjects_accessible_by_identifier (text, text, uuid, text, text, text, bigint, text, text) AS
WITH RECURSIVE caller AS MATERIALIZED (
  SELECT i.*, f.*
  FROM (SELECT $1::text AS tenant_id, $2::text AS principal_id,
      greatest(named.subject_key - 1, (SELECT last.subject_key FROM grants last
        WHERE last.grant_id = $3::uuid AND last.grantee_tenant_id = $1), 0) AS after,
      coalesce(named.subject_key, 9223372036854775807) AS up_to,
      coalesce(named.owner_tenant_id, NULL::text) AS owner_tenant_id
    FROM (SELECT NULL::bigint AS subject_key, NULL::text AS owner_tenant_id) named) i
  LEFT JOIN LATERAL (
    SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access, m.tenancy_role,
      m.principal_type, NULL::boolean AS owns_subject, NULL::text[] AS grant_scopes
    FROM memberships m
    WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id LIMIT 1
  ) f ON true
), looked_at AS MATERIALIZED (
  SELECT g.*, (g.revoked_at IS NULL
      AND (g.expires_at IS NULL OR g.expires_at > statement_timestamp())) AS is_live, row_number() OVER (ORDER BY g.subject_key) AS place
  FROM caller c
  CROSS JOIN LATERAL (
    SELECT * FROM grants g
    WHERE (g.grantee_tenant_id, g.subject_key) > (c.tenant_id, c.after)
      AND (g.grantee_tenant_id, g.subject_key) <= (c.tenant_id, c.up_to)
      AND c.member_status = 'active' AND c.allow_counterparty_access AND $4::text IS NULL AND g.revoked_at IS NULL
    ORDER BY g.grantee_tenant_id, g.subject_key LIMIT 1000
  ) g
), ended AS MATERIALIZED (
  SELECT c.tenant_id, l.grant_id, l.subject_key FROM caller c CROSS JOIN looked_at l WHERE l.place = 1000
), live AS MATERIALIZED (
  SELECT grant_id, grantor_tenant_id, grantee_tenant_id, subject_key, scopes, expires_at, created_at, revoked_at,
    granted_by, purpose, accepted_at FROM looked_at g
  WHERE g.is_live AND (g.subject_key = (SELECT subject_key FROM ended)) IS NOT TRUE
  UNION ALL
  SELECT g.* FROM ended e
  CROSS JOIN LATERAL (SELECT grant_id, grantor_tenant_id, grantee_tenant_id, subject_key, scopes, expires_at, created_at, revoked_at,
      granted_by, purpose, accepted_at FROM grants g
    WHERE (g.grantee_tenant_id, g.subject_key) BETWEEN (e.tenant_id, e.subject_key)
      AND (e.tenant_id, e.subject_key)
      AND g.revoked_at IS NULL AND (g.expires_at IS NULL OR g.expires_at > statement_timestamp()) LIMIT 1) g
), single AS MATERIALIZED (
  SELECT one.*, ARRAY[one.grant_id::text] AS position FROM (
    SELECT l.grant_id, l.grantor_tenant_id, l.grantee_tenant_id, l.subject_key,
      CASE WHEN every.scopes IS NULL THEN l.scopes
      ELSE ARRAY(SELECT DISTINCT unnest(l.scopes || every.scopes) ORDER BY 1) END AS scopes,
      l.expires_at, l.created_at, l.revoked_at, l.granted_by, l.purpose, l.accepted_at
    FROM live l
    LEFT JOIN LATERAL (SELECT * FROM grants g
      WHERE (g.grantor_tenant_id || '/', g.grantee_tenant_id, coalesce(g.expires_at, 'infinity'))
        > (l.grantor_tenant_id || '/', l.grantee_tenant_id, statement_timestamp())
        AND (g.grantor_tenant_id || '/', g.grantee_tenant_id) <= (l.grantor_tenant_id || '/', l.grantee_tenant_id)
        AND g.revoked_at IS NULL AND (g.subject_key = 0) IS TRUE AND g.accepted_at IS NOT NULL LIMIT 1) every ON true
    WHERE l.scopes && '{read_latest}'
  ) one
  WHERE (SELECT true FROM grants g
    WHERE (g.grantor_tenant_id || '/', g.grantee_tenant_id, coalesce(g.expires_at, 'infinity'))
      > (one.grantor_tenant_id || '/', one.grantee_tenant_id, statement_timestamp())
      AND (g.grantor_tenant_id || '/', g.grantee_tenant_id) <= (one.grantor_tenant_id || '/', one.grantee_tenant_id)
      AND g.revoked_at IS NULL AND (g.subject_key = 0) IS TRUE AND g.accepted_at IS NOT NULL
      AND g.scopes && '{read_latest}' LIMIT 1) IS NULL
    AND (SELECT d.value FROM subject_identifiers d
    WHERE (d.subject_key, d.scheme) BETWEEN (one.subject_key, $5) AND (one.subject_key, $5) LIMIT 1) = $6
  ORDER BY one.subject_key LIMIT $7
), owners AS (
  SELECT (
    SELECT g.grantor_tenant_id FROM grants g
    WHERE (g.grantee_tenant_id, g.grantor_tenant_id) >= (c.tenant_id, coalesce($4::text, c.owner_tenant_id, ''))
      AND g.grantee_tenant_id <= c.tenant_id AND g.revoked_at IS NULL AND g.accepted_at IS NOT NULL
      AND +g.subject_key = 0
    ORDER BY g.grantee_tenant_id, g.grantor_tenant_id LIMIT 1) AS tenant_id, 1 AS place
  FROM caller c WHERE c.member_status = 'active' AND c.allow_counterparty_access AND NOT EXISTS (SELECT
    FROM ended)
  UNION ALL
  SELECT (
    SELECT g.grantor_tenant_id FROM grants g
    WHERE (g.grantee_tenant_id, g.grantor_tenant_id) > (c.tenant_id, o.tenant_id)
      AND g.grantee_tenant_id <= c.tenant_id AND g.revoked_at IS NULL AND g.accepted_at IS NOT NULL
      AND +g.subject_key = 0
    ORDER BY g.grantee_tenant_id, g.grantor_tenant_id LIMIT 1), o.place + 1
  FROM owners o CROSS JOIN caller c WHERE o.tenant_id IS NOT NULL AND c.owner_tenant_id IS NULL
    AND o.place <= 1000
), of_all AS MATERIALIZED (
  SELECT coalesce(one.grant_id, every.grant_id) AS grant_id, every.grantor_tenant_id, every.grantee_tenant_id,
    s.subject_key,
    CASE WHEN one.grant_id IS NULL THEN every.scopes
    ELSE ARRAY(SELECT DISTINCT unnest(one.scopes || every.scopes) ORDER BY 1) END AS scopes,
    CASE WHEN one.grant_id IS NULL THEN every.expires_at ELSE one.expires_at END AS expires_at,
    coalesce(one.created_at, every.created_at) AS created_at, NULL::timestamptz AS revoked_at,
    CASE WHEN one.grant_id IS NULL THEN every.granted_by ELSE one.granted_by END AS granted_by,
    CASE WHEN one.grant_id IS NULL THEN every.purpose ELSE one.purpose END AS purpose,
    CASE WHEN one.grant_id IS NULL THEN every.accepted_at ELSE one.accepted_at END AS accepted_at,
    ARRAY[o.tenant_id, s.subject_type, s.subject_id]::text[] AS position, s.subject_type, s.name
  FROM owners o
  CROSS JOIN caller c
  CROSS JOIN LATERAL (SELECT * FROM grants g
    WHERE (g.grantor_tenant_id || '/', g.grantee_tenant_id, coalesce(g.expires_at, 'infinity'))
      > (o.tenant_id || '/', c.tenant_id, statement_timestamp())
      AND (g.grantor_tenant_id || '/', g.grantee_tenant_id) <= (o.tenant_id || '/', c.tenant_id)
      AND g.revoked_at IS NULL AND (g.subject_key = 0) IS TRUE AND g.accepted_at IS NOT NULL
      AND g.scopes && '{read_latest}' LIMIT 1) every
  CROSS JOIN LATERAL (
    SELECT s.* FROM (
      SELECT * FROM subject_identifiers d
      WHERE (d.owner_tenant_id, d.scheme, d.value, d.subject_type, -d.subject_key)
        > (o.tenant_id, $5, $6, CASE o.tenant_id WHEN $4::text THEN $8::text ELSE '' END,
          coalesce(-(SELECT l.subject_key FROM subjects l
            WHERE l.subject_type = $8::text AND l.subject_id = $9::text LIMIT 1), -9223372036854775807))
        AND (d.owner_tenant_id, d.scheme, d.value) <= (o.tenant_id, $5, $6)
      ORDER BY d.owner_tenant_id, d.scheme, d.value, d.subject_type, -d.subject_key LIMIT $7
    ) d
    CROSS JOIN LATERAL (SELECT * FROM subjects s WHERE s.subject_key = d.subject_key LIMIT 1) s
  ) s
  LEFT JOIN LATERAL (SELECT * FROM grants g
    WHERE (g.grantee_tenant_id, g.subject_key) BETWEEN (c.tenant_id, s.subject_key)
      AND (c.tenant_id, s.subject_key)
      AND g.revoked_at IS NULL AND (g.expires_at IS NULL OR g.expires_at > statement_timestamp())
    LIMIT 1) one ON true
  WHERE o.place <= 1000 AND (c.owner_tenant_id IS NULL OR o.tenant_id = c.owner_tenant_id)
  LIMIT $7 - (SELECT count(*) FROM single)
), found AS MATERIALIZED (
  SELECT single.*, 1 AS part, row_number() OVER (ORDER BY subject_key) AS place FROM single
  UNION ALL
  SELECT grant_id, grantor_tenant_id, grantee_tenant_id, subject_key, scopes, expires_at, created_at, revoked_at,
    granted_by, purpose, accepted_at, position, 2, row_number() OVER (ORDER BY grantor_tenant_id, subject_type, -subject_key)
  FROM of_all
)
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  g.grant_id AS "item?.grant.grantId",
  g.grantor_tenant_id AS "item?.grant.grantorTenantId",
  g.grantee_tenant_id AS "item?.grant.granteeTenantId",
  CASE WHEN g.subject_key = 0 THEN '*' ELSE s.subject_type END AS "item?.grant.subjectType",
  CASE WHEN g.subject_key = 0 THEN '*' ELSE s.subject_id END AS "item?.grant.subjectId",
  g.scopes AS "item?.grant.scopes",
  g.expires_at AS "item?.grant.expiresAt",
  g.created_at AS "item?.grant.createdAt",
  g.revoked_at AS "item?.grant.revokedAt",
  CASE WHEN g.revoked_at IS NOT NULL THEN 'revoked'
  WHEN g.expires_at <= statement_timestamp() THEN 'expired' ELSE 'active' END AS "item?.grant.status",
  g.granted_by AS "item?.grant.grantedBy",
  g.purpose AS "item?.grant.purpose",
  g.accepted_at AS "item?.grant.acceptedAt",
  s.subject_key::float8 AS "item?.subjectKey", s.display_name AS "item?.name",
  n.snapshot_id AS "item?.latest?.snapshotId",
  s.subject_type AS "item?.latest?.subjectType",
  s.subject_id AS "item?.latest?.subjectId",
  n.snapshot_version AS "item?.latest?.snapshotVersion",
  n.generated_at AS "item?.latest?.generatedAt",
  n.created_at AS "item?.latest?.createdAt",
  encode(n.envelope_hash, 'hex') AS "item?.latest?.envelopeHash",
  encode(n.prev_hash, 'hex') AS "item?.latest?.prevHash",
  n.written_by AS "item?.latest?.writtenBy",
  n.write_request_id AS "item?.latest?.writeRequestId",
  NULL::text AS "item?.latest?.envelope",
  CASE WHEN n.erasure_id IS NOT NULL THEN (SELECT er.public_id FROM erasures er
  WHERE er.erasure_id = n.erasure_id LIMIT 1) END AS "item?.latest?.erasure?.erasureId",
  CASE WHEN n.erasure_id IS NOT NULL THEN (SELECT er.erased_at FROM erasures er
  WHERE er.erasure_id = n.erasure_id LIMIT 1) END AS "item?.latest?.erasure?.erasedAt",
  g.position,
  CASE WHEN EXISTS (SELECT FROM ended) THEN (SELECT ARRAY[grant_id::text] FROM ended)
  WHEN (SELECT count(*) FROM found) < $7::int
  THEN (SELECT ARRAY[o.tenant_id, '', ''] FROM owners o WHERE o.place > 1000 AND o.tenant_id IS NOT NULL)
  END AS ended
FROM caller f
LEFT JOIN found g ON true
LEFT JOIN subjects s ON s.subject_key = g.subject_key
LEFT JOIN LATERAL (SELECT * FROM snapshots n WHERE n.subject_key = CASE
    WHEN g.scopes && '{read_latest}' THEN s.subject_key END
  ORDER BY n.snapshot_version DESC LIMIT 1) n ON true
ORDER BY g.part, g.place;

-- subjects_accessible_by_name
--   asked by AccessibleSubjectStore.list (stores/grants/accessible-subject.store.ts)
--   $1 tenantId text
--   $2 principalId text
--   $3 afterGrantId uuid
--   $4 fromOwner text
--   $5 prefix text
--   $6 rows bigint
--   $7 afterType text
--   $8 afterName text
--   $9 afterId text
--   $10 upTo text
--   enters erasures_pkey, grants_live, grants_pkey, grants_to_all_accepted, grants_to_all_live, memberships_pkey, snapshots_version_key, subjects_by_name, subjects_identity_key, subjects_pkey
PREPARE subjects_accessible_by_name (text, text, uuid, text, text, bigint, text, text, text, text) AS
WITH RECURSIVE caller AS MATERIALIZED (
  SELECT i.*, f.*
  FROM (SELECT $1::text AS tenant_id, $2::text AS principal_id,
      greatest(named.subject_key - 1, (SELECT last.subject_key FROM grants last
        WHERE last.grant_id = $3::uuid AND last.grantee_tenant_id = $1), 0) AS after,
      coalesce(named.subject_key, 9223372036854775807) AS up_to,
      coalesce(named.owner_tenant_id, NULL::text) AS owner_tenant_id
    FROM (SELECT NULL::bigint AS subject_key, NULL::text AS owner_tenant_id) named) i
  LEFT JOIN LATERAL (
    SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access, m.tenancy_role,
      m.principal_type, NULL::boolean AS owns_subject, NULL::text[] AS grant_scopes
    FROM memberships m
    WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id LIMIT 1
  ) f ON true
), looked_at AS MATERIALIZED (
  SELECT g.*, (g.revoked_at IS NULL
      AND (g.expires_at IS NULL OR g.expires_at > statement_timestamp())) AS is_live, row_number() OVER (ORDER BY g.subject_key) AS place
  FROM caller c
  CROSS JOIN LATERAL (
    SELECT * FROM grants g
    WHERE (g.grantee_tenant_id, g.subject_key) > (c.tenant_id, c.after)
      AND (g.grantee_tenant_id, g.subject_key) <= (c.tenant_id, c.up_to)
      AND c.member_status = 'active' AND c.allow_counterparty_access AND $4::text IS NULL AND g.revoked_at IS NULL
    ORDER BY g.grantee_tenant_id, g.subject_key LIMIT 1000
  ) g
), ended AS MATERIALIZED (
  SELECT c.tenant_id, l.grant_id, l.subject_key FROM caller c CROSS JOIN looked_at l WHERE l.place = 1000
), live AS MATERIALIZED (
  SELECT grant_id, grantor_tenant_id, grantee_tenant_id, subject_key, scopes, expires_at, created_at, revoked_at,
    granted_by, purpose, accepted_at FROM looked_at g
  WHERE g.is_live AND (g.subject_key = (SELECT subject_key FROM ended)) IS NOT TRUE
  UNION ALL
  SELECT g.* FROM ended e
  CROSS JOIN LATERAL (SELECT grant_id, grantor_tenant_id, grantee_tenant_id, subject_key, scopes, expires_at, created_at, revoked_at,
      granted_by, purpose, accepted_at FROM grants g
    WHERE (g.grantee_tenant_id, g.subject_key) BETWEEN (e.tenant_id, e.subject_key)
      AND (e.tenant_id, e.subject_key)
      AND g.revoked_at IS NULL AND (g.expires_at IS NULL OR g.expires_at > statement_timestamp()) LIMIT 1) g
), single AS MATERIALIZED (
  SELECT one.*, ARRAY[one.grant_id::text] AS position FROM (
    SELECT l.grant_id, l.grantor_tenant_id, l.grantee_tenant_id, l.subject_key,
      CASE WHEN every.scopes IS NULL THEN l.scopes
      ELSE ARRAY(SELECT DISTINCT unnest(l.scopes || every.scopes) ORDER BY 1) END AS scopes,
      l.expires_at, l.created_at, l.revoked_at, l.granted_by, l.purpose, l.accepted_at
    FROM live l
    LEFT JOIN LATERAL (SELECT * FROM grants g
      WHERE (g.grantor_tenant_id || '/', g.grantee_tenant_id, coalesce(g.expires_at, 'infinity'))
        > (l.grantor_tenant_id || '/', l.grantee_tenant_id, statement_timestamp())
        AND (g.grantor_tenant_id || '/', g.grantee_tenant_id) <= (l.grantor_tenant_id || '/', l.grantee_tenant_id)
        AND g.revoked_at IS NULL AND (g.subject_key = 0) IS TRUE AND g.accepted_at IS NOT NULL LIMIT 1) every ON true
    WHERE l.scopes && '{read_latest}'
  ) one
  WHERE (SELECT true FROM grants g
    WHERE (g.grantor_tenant_id || '/', g.grantee_tenant_id, coalesce(g.expires_at, 'infinity'))
      > (one.grantor_tenant_id || '/', one.grantee_tenant_id, statement_timestamp())
      AND (g.grantor_tenant_id || '/', g.grantee_tenant_id) <= (one.grantor_tenant_id || '/', one.grantee_tenant_id)
      AND g.revoked_at IS NULL AND (g.subject_key = 0) IS TRUE AND g.accepted_at IS NOT NULL
      AND g.scopes && '{read_latest}' LIMIT 1) IS NULL
    AND (SELECT starts_with(s.name, $5) FROM subjects s WHERE s.subject_key = one.subject_key LIMIT 1)
  ORDER BY one.subject_key LIMIT $6
), owners AS (
  SELECT (
    SELECT g.grantor_tenant_id FROM grants g
    WHERE (g.grantee_tenant_id, g.grantor_tenant_id) >= (c.tenant_id, coalesce($4::text, c.owner_tenant_id, ''))
      AND g.grantee_tenant_id <= c.tenant_id AND g.revoked_at IS NULL AND g.accepted_at IS NOT NULL
      AND +g.subject_key = 0
    ORDER BY g.grantee_tenant_id, g.grantor_tenant_id LIMIT 1) AS tenant_id, 1 AS place
  FROM caller c WHERE c.member_status = 'active' AND c.allow_counterparty_access AND NOT EXISTS (SELECT
    FROM ended)
  UNION ALL
  SELECT (
    SELECT g.grantor_tenant_id FROM grants g
    WHERE (g.grantee_tenant_id, g.grantor_tenant_id) > (c.tenant_id, o.tenant_id)
      AND g.grantee_tenant_id <= c.tenant_id AND g.revoked_at IS NULL AND g.accepted_at IS NOT NULL
      AND +g.subject_key = 0
    ORDER BY g.grantee_tenant_id, g.grantor_tenant_id LIMIT 1), o.place + 1
  FROM owners o CROSS JOIN caller c WHERE o.tenant_id IS NOT NULL AND c.owner_tenant_id IS NULL
    AND o.place <= 1000
), of_all AS MATERIALIZED (
  SELECT coalesce(one.grant_id, every.grant_id) AS grant_id, every.grantor_tenant_id, every.grantee_tenant_id,
    s.subject_key,
    CASE WHEN one.grant_id IS NULL THEN every.scopes
    ELSE ARRAY(SELECT DISTINCT unnest(one.scopes || every.scopes) ORDER BY 1) END AS scopes,
    CASE WHEN one.grant_id IS NULL THEN every.expires_at ELSE one.expires_at END AS expires_at,
    coalesce(one.created_at, every.created_at) AS created_at, NULL::timestamptz AS revoked_at,
    CASE WHEN one.grant_id IS NULL THEN every.granted_by ELSE one.granted_by END AS granted_by,
    CASE WHEN one.grant_id IS NULL THEN every.purpose ELSE one.purpose END AS purpose,
    CASE WHEN one.grant_id IS NULL THEN every.accepted_at ELSE one.accepted_at END AS accepted_at,
    ARRAY[o.tenant_id, s.subject_type, s.subject_id, s.name]::text[] AS position, s.subject_type, s.name
  FROM owners o
  CROSS JOIN caller c
  CROSS JOIN LATERAL (SELECT * FROM grants g
    WHERE (g.grantor_tenant_id || '/', g.grantee_tenant_id, coalesce(g.expires_at, 'infinity'))
      > (o.tenant_id || '/', c.tenant_id, statement_timestamp())
      AND (g.grantor_tenant_id || '/', g.grantee_tenant_id) <= (o.tenant_id || '/', c.tenant_id)
      AND g.revoked_at IS NULL AND (g.subject_key = 0) IS TRUE AND g.accepted_at IS NOT NULL
      AND g.scopes && '{read_latest}' LIMIT 1) every
  CROSS JOIN LATERAL (
    SELECT s.* FROM unnest('{entity,individual,organization}'::text[]) AS range(subject_type)
    CROSS JOIN LATERAL (
      SELECT * FROM subjects s
      WHERE (s.owner_tenant_id || '/', s.subject_type, s.name, s.subject_key)
        > (o.tenant_id || '/', range.subject_type,
          CASE WHEN o.tenant_id = $4::text AND range.subject_type = $7::text
          THEN $8::text ELSE $5::text END COLLATE "C",
          CASE WHEN o.tenant_id = $4::text AND range.subject_type = $7::text
          THEN (SELECT l.subject_key FROM subjects l
          WHERE l.subject_type = $7::text AND l.subject_id = $9::text LIMIT 1) ELSE 0 END)
        AND (s.owner_tenant_id || '/', s.subject_type, s.name) <= (o.tenant_id || '/', range.subject_type, $10::text)
        AND s.name IS NOT NULL
      ORDER BY s.owner_tenant_id || '/', s.subject_type, s.name, s.subject_key LIMIT $6
    ) s
    WHERE range.subject_type >= CASE o.tenant_id WHEN $4::text THEN $7::text ELSE '' END
    ORDER BY s.subject_type, s.name, s.subject_key LIMIT $6
  ) s
  LEFT JOIN LATERAL (SELECT * FROM grants g
    WHERE (g.grantee_tenant_id, g.subject_key) BETWEEN (c.tenant_id, s.subject_key)
      AND (c.tenant_id, s.subject_key)
      AND g.revoked_at IS NULL AND (g.expires_at IS NULL OR g.expires_at > statement_timestamp())
    LIMIT 1) one ON true
  WHERE o.place <= 1000 AND (c.owner_tenant_id IS NULL OR o.tenant_id = c.owner_tenant_id)
  LIMIT $6 - (SELECT count(*) FROM single)
), found AS MATERIALIZED (
  SELECT single.*, 1 AS part, row_number() OVER (ORDER BY subject_key) AS place FROM single
  UNION ALL
  SELECT grant_id, grantor_tenant_id, grantee_tenant_id, subject_key, scopes, expires_at, created_at, revoked_at,
    granted_by, purpose, accepted_at, position, 2, row_number() OVER (ORDER BY grantor_tenant_id, subject_type, name, subject_key)
  FROM of_all
)
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  g.grant_id AS "item?.grant.grantId",
  g.grantor_tenant_id AS "item?.grant.grantorTenantId",
  g.grantee_tenant_id AS "item?.grant.granteeTenantId",
  CASE WHEN g.subject_key = 0 THEN '*' ELSE s.subject_type END AS "item?.grant.subjectType",
  CASE WHEN g.subject_key = 0 THEN '*' ELSE s.subject_id END AS "item?.grant.subjectId",
  g.scopes AS "item?.grant.scopes",
  g.expires_at AS "item?.grant.expiresAt",
  g.created_at AS "item?.grant.createdAt",
  g.revoked_at AS "item?.grant.revokedAt",
  CASE WHEN g.revoked_at IS NOT NULL THEN 'revoked'
  WHEN g.expires_at <= statement_timestamp() THEN 'expired' ELSE 'active' END AS "item?.grant.status",
  g.granted_by AS "item?.grant.grantedBy",
  g.purpose AS "item?.grant.purpose",
  g.accepted_at AS "item?.grant.acceptedAt",
  s.subject_key::float8 AS "item?.subjectKey", s.display_name AS "item?.name",
  n.snapshot_id AS "item?.latest?.snapshotId",
  s.subject_type AS "item?.latest?.subjectType",
  s.subject_id AS "item?.latest?.subjectId",
  n.snapshot_version AS "item?.latest?.snapshotVersion",
  n.generated_at AS "item?.latest?.generatedAt",
  n.created_at AS "item?.latest?.createdAt",
  encode(n.envelope_hash, 'hex') AS "item?.latest?.envelopeHash",
  encode(n.prev_hash, 'hex') AS "item?.latest?.prevHash",
  n.written_by AS "item?.latest?.writtenBy",
  n.write_request_id AS "item?.latest?.writeRequestId",
  NULL::text AS "item?.latest?.envelope",
  CASE WHEN n.erasure_id IS NOT NULL THEN (SELECT er.public_id FROM erasures er
  WHERE er.erasure_id = n.erasure_id LIMIT 1) END AS "item?.latest?.erasure?.erasureId",
  CASE WHEN n.erasure_id IS NOT NULL THEN (SELECT er.erased_at FROM erasures er
  WHERE er.erasure_id = n.erasure_id LIMIT 1) END AS "item?.latest?.erasure?.erasedAt",
  g.position,
  CASE WHEN EXISTS (SELECT FROM ended) THEN (SELECT ARRAY[grant_id::text] FROM ended)
  WHEN (SELECT count(*) FROM found) < $6::int
  THEN (SELECT ARRAY[o.tenant_id, '', ''] FROM owners o WHERE o.place > 1000 AND o.tenant_id IS NOT NULL)
  END AS ended
FROM caller f
LEFT JOIN found g ON true
LEFT JOIN subjects s ON s.subject_key = g.subject_key
LEFT JOIN LATERAL (SELECT * FROM snapshots n WHERE n.subject_key = CASE
    WHEN g.scopes && '{read_latest}' THEN s.subject_key END
  ORDER BY n.snapshot_version DESC LIMIT 1) n ON true
ORDER BY g.part, g.place;

-- subjects_accessible_filtered
--   asked by AccessibleSubjectStore.list (stores/grants/accessible-subject.store.ts)
--   $1 tenantId text
--   $2 principalId text
--   $3 afterGrantId uuid
--   $4 grantorTenantId text
--   $5 subjectId text
--   $6 subjectType text
--   $7 fromOwner text
--   $8 types text[]
--   $9 prefix text
--   $10 rows bigint
--   $11 afterType text
--   $12 afterId text
--   enters erasures_pkey, grants_live, grants_pkey, grants_to_all_accepted, grants_to_all_live, memberships_pkey, snapshots_version_key, subjects_by_owner, subjects_identity_key, subjects_pkey
PREPARE subjects_accessible_filtered (text, text, uuid, text, text, text, text, text[], text, bigint, text, text) AS
WITH RECURSIVE caller AS MATERIALIZED (
  SELECT i.*, f.*
  FROM (SELECT $1::text AS tenant_id, $2::text AS principal_id,
      greatest(named.subject_key - 1, (SELECT last.subject_key FROM grants last
        WHERE last.grant_id = $3::uuid AND last.grantee_tenant_id = $1), 0) AS after,
      coalesce(named.subject_key, 9223372036854775807) AS up_to,
      coalesce(named.owner_tenant_id, $4::text) AS owner_tenant_id
    FROM (SELECT CASE WHEN $5::text IS NOT NULL THEN coalesce(s.subject_key, 0) END AS subject_key,
        CASE WHEN $5::text IS NOT NULL THEN coalesce(s.owner_tenant_id, '') END AS owner_tenant_id
      FROM (SELECT true) one
      LEFT JOIN subjects s ON s.subject_type = $6::text AND s.subject_id = $5::text) named) i
  LEFT JOIN LATERAL (
    SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access, m.tenancy_role,
      m.principal_type, NULL::boolean AS owns_subject, NULL::text[] AS grant_scopes
    FROM memberships m
    WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id LIMIT 1
  ) f ON true
), looked_at AS MATERIALIZED (
  SELECT g.*, (g.revoked_at IS NULL
      AND (g.expires_at IS NULL OR g.expires_at > statement_timestamp())) AS is_live, row_number() OVER (ORDER BY g.subject_key) AS place
  FROM caller c
  CROSS JOIN LATERAL (
    SELECT * FROM grants g
    WHERE (g.grantee_tenant_id, g.subject_key) > (c.tenant_id, c.after)
      AND (g.grantee_tenant_id, g.subject_key) <= (c.tenant_id, c.up_to)
      AND c.member_status = 'active' AND c.allow_counterparty_access AND $7::text IS NULL AND g.revoked_at IS NULL
    ORDER BY g.grantee_tenant_id, g.subject_key LIMIT 1000
  ) g
), ended AS MATERIALIZED (
  SELECT c.tenant_id, l.grant_id, l.subject_key FROM caller c CROSS JOIN looked_at l WHERE l.place = 1000
), live AS MATERIALIZED (
  SELECT grant_id, grantor_tenant_id, grantee_tenant_id, subject_key, scopes, expires_at, created_at, revoked_at,
    granted_by, purpose, accepted_at FROM looked_at g
  WHERE g.is_live AND (g.subject_key = (SELECT subject_key FROM ended)) IS NOT TRUE
  UNION ALL
  SELECT g.* FROM ended e
  CROSS JOIN LATERAL (SELECT grant_id, grantor_tenant_id, grantee_tenant_id, subject_key, scopes, expires_at, created_at, revoked_at,
      granted_by, purpose, accepted_at FROM grants g
    WHERE (g.grantee_tenant_id, g.subject_key) BETWEEN (e.tenant_id, e.subject_key)
      AND (e.tenant_id, e.subject_key)
      AND g.revoked_at IS NULL AND (g.expires_at IS NULL OR g.expires_at > statement_timestamp()) LIMIT 1) g
), single AS MATERIALIZED (
  SELECT one.*, ARRAY[one.grant_id::text] AS position FROM live one
  WHERE (SELECT true FROM grants g
    WHERE (g.grantor_tenant_id || '/', g.grantee_tenant_id, coalesce(g.expires_at, 'infinity'))
      > (one.grantor_tenant_id || '/', one.grantee_tenant_id, statement_timestamp())
      AND (g.grantor_tenant_id || '/', g.grantee_tenant_id) <= (one.grantor_tenant_id || '/', one.grantee_tenant_id)
      AND g.revoked_at IS NULL AND (g.subject_key = 0) IS TRUE AND g.accepted_at IS NOT NULL LIMIT 1) IS NULL
    AND ($4::text IS NULL OR one.grantor_tenant_id = $4::text)
    AND (SELECT s.subject_type = ANY ($8::text[]) AND starts_with(s.subject_id, $9::text)
    FROM subjects s WHERE s.subject_key = one.subject_key LIMIT 1)
  ORDER BY one.subject_key LIMIT $10
), owners AS (
  SELECT (
    SELECT g.grantor_tenant_id FROM grants g
    WHERE (g.grantee_tenant_id, g.grantor_tenant_id) >= (c.tenant_id, coalesce($7::text, c.owner_tenant_id, ''))
      AND g.grantee_tenant_id <= c.tenant_id AND g.revoked_at IS NULL AND g.accepted_at IS NOT NULL
      AND +g.subject_key = 0
    ORDER BY g.grantee_tenant_id, g.grantor_tenant_id LIMIT 1) AS tenant_id, 1 AS place
  FROM caller c WHERE c.member_status = 'active' AND c.allow_counterparty_access AND NOT EXISTS (SELECT
    FROM ended)
  UNION ALL
  SELECT (
    SELECT g.grantor_tenant_id FROM grants g
    WHERE (g.grantee_tenant_id, g.grantor_tenant_id) > (c.tenant_id, o.tenant_id)
      AND g.grantee_tenant_id <= c.tenant_id AND g.revoked_at IS NULL AND g.accepted_at IS NOT NULL
      AND +g.subject_key = 0
    ORDER BY g.grantee_tenant_id, g.grantor_tenant_id LIMIT 1), o.place + 1
  FROM owners o CROSS JOIN caller c WHERE o.tenant_id IS NOT NULL AND c.owner_tenant_id IS NULL
    AND o.place <= 1000
), of_all AS MATERIALIZED (
  SELECT coalesce(one.grant_id, every.grant_id) AS grant_id, every.grantor_tenant_id, every.grantee_tenant_id,
    s.subject_key,
    CASE WHEN one.grant_id IS NULL THEN every.scopes
    ELSE ARRAY(SELECT DISTINCT unnest(one.scopes || every.scopes) ORDER BY 1) END AS scopes,
    CASE WHEN one.grant_id IS NULL THEN every.expires_at ELSE one.expires_at END AS expires_at,
    coalesce(one.created_at, every.created_at) AS created_at, NULL::timestamptz AS revoked_at,
    CASE WHEN one.grant_id IS NULL THEN every.granted_by ELSE one.granted_by END AS granted_by,
    CASE WHEN one.grant_id IS NULL THEN every.purpose ELSE one.purpose END AS purpose,
    CASE WHEN one.grant_id IS NULL THEN every.accepted_at ELSE one.accepted_at END AS accepted_at,
    ARRAY[o.tenant_id, s.subject_type, s.subject_id]::text[] AS position, s.subject_type, s.name
  FROM owners o
  CROSS JOIN caller c
  CROSS JOIN LATERAL (SELECT * FROM grants g
    WHERE (g.grantor_tenant_id || '/', g.grantee_tenant_id, coalesce(g.expires_at, 'infinity'))
      > (o.tenant_id || '/', c.tenant_id, statement_timestamp())
      AND (g.grantor_tenant_id || '/', g.grantee_tenant_id) <= (o.tenant_id || '/', c.tenant_id)
      AND g.revoked_at IS NULL AND (g.subject_key = 0) IS TRUE AND g.accepted_at IS NOT NULL LIMIT 1) every
  CROSS JOIN LATERAL (
    SELECT s.* FROM unnest($8::text[]) AS range(subject_type)
    CROSS JOIN LATERAL (
      SELECT * FROM subjects s
      WHERE (s.owner_tenant_id, s.subject_type, s.subject_id)
        >= (o.tenant_id, range.subject_type, greatest($9::text COLLATE "C", CASE o.tenant_id
            WHEN $7::text THEN CASE range.subject_type WHEN $11::text THEN $12::text ELSE '' END ELSE '' END COLLATE "C"))
        AND (s.owner_tenant_id, s.subject_type) <= (o.tenant_id, range.subject_type)
        AND s.subject_id <> CASE o.tenant_id WHEN $7::text THEN CASE range.subject_type
        WHEN $11::text THEN $12::text ELSE '' END ELSE '' END
      ORDER BY s.owner_tenant_id, s.subject_type, s.subject_id LIMIT $10
    ) s
    WHERE range.subject_type >= CASE o.tenant_id WHEN $7::text THEN $11::text ELSE '' END
      AND starts_with(s.subject_id, $9::text)
      AND ($5::text IS NULL OR s.subject_id = $5::text)
      AND ($4::text IS NULL OR s.owner_tenant_id = $4::text)
    ORDER BY s.subject_type, s.subject_id LIMIT $10
  ) s
  LEFT JOIN LATERAL (SELECT * FROM grants g
    WHERE (g.grantee_tenant_id, g.subject_key) BETWEEN (c.tenant_id, s.subject_key)
      AND (c.tenant_id, s.subject_key)
      AND g.revoked_at IS NULL AND (g.expires_at IS NULL OR g.expires_at > statement_timestamp())
    LIMIT 1) one ON true
  WHERE o.place <= 1000 AND (c.owner_tenant_id IS NULL OR o.tenant_id = c.owner_tenant_id)
  LIMIT $10 - (SELECT count(*) FROM single)
), found AS MATERIALIZED (
  SELECT single.*, 1 AS part, row_number() OVER (ORDER BY subject_key) AS place FROM single
  UNION ALL
  SELECT grant_id, grantor_tenant_id, grantee_tenant_id, subject_key, scopes, expires_at, created_at, revoked_at,
    granted_by, purpose, accepted_at, position, 2, row_number() OVER (ORDER BY position) FROM of_all
)
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  g.grant_id AS "item?.grant.grantId",
  g.grantor_tenant_id AS "item?.grant.grantorTenantId",
  g.grantee_tenant_id AS "item?.grant.granteeTenantId",
  CASE WHEN g.subject_key = 0 THEN '*' ELSE s.subject_type END AS "item?.grant.subjectType",
  CASE WHEN g.subject_key = 0 THEN '*' ELSE s.subject_id END AS "item?.grant.subjectId",
  g.scopes AS "item?.grant.scopes",
  g.expires_at AS "item?.grant.expiresAt",
  g.created_at AS "item?.grant.createdAt",
  g.revoked_at AS "item?.grant.revokedAt",
  CASE WHEN g.revoked_at IS NOT NULL THEN 'revoked'
  WHEN g.expires_at <= statement_timestamp() THEN 'expired' ELSE 'active' END AS "item?.grant.status",
  g.granted_by AS "item?.grant.grantedBy",
  g.purpose AS "item?.grant.purpose",
  g.accepted_at AS "item?.grant.acceptedAt",
  s.subject_key::float8 AS "item?.subjectKey", NULL::text AS "item?.name",
  n.snapshot_id AS "item?.latest?.snapshotId",
  s.subject_type AS "item?.latest?.subjectType",
  s.subject_id AS "item?.latest?.subjectId",
  n.snapshot_version AS "item?.latest?.snapshotVersion",
  n.generated_at AS "item?.latest?.generatedAt",
  n.created_at AS "item?.latest?.createdAt",
  encode(n.envelope_hash, 'hex') AS "item?.latest?.envelopeHash",
  encode(n.prev_hash, 'hex') AS "item?.latest?.prevHash",
  n.written_by AS "item?.latest?.writtenBy",
  n.write_request_id AS "item?.latest?.writeRequestId",
  NULL::text AS "item?.latest?.envelope",
  CASE WHEN n.erasure_id IS NOT NULL THEN (SELECT er.public_id FROM erasures er
  WHERE er.erasure_id = n.erasure_id LIMIT 1) END AS "item?.latest?.erasure?.erasureId",
  CASE WHEN n.erasure_id IS NOT NULL THEN (SELECT er.erased_at FROM erasures er
  WHERE er.erasure_id = n.erasure_id LIMIT 1) END AS "item?.latest?.erasure?.erasedAt",
  g.position,
  CASE WHEN EXISTS (SELECT FROM ended) THEN (SELECT ARRAY[grant_id::text] FROM ended)
  WHEN (SELECT count(*) FROM found) < $10::int
  THEN (SELECT ARRAY[o.tenant_id, '', ''] FROM owners o WHERE o.place > 1000 AND o.tenant_id IS NOT NULL)
  END AS ended
FROM caller f
LEFT JOIN found g ON true
LEFT JOIN subjects s ON s.subject_key = g.subject_key
LEFT JOIN LATERAL (SELECT * FROM snapshots n WHERE n.subject_key = CASE
    WHEN g.scopes && '{read_latest}' THEN s.subject_key END
  ORDER BY n.snapshot_version DESC LIMIT 1) n ON true
ORDER BY g.part, g.place;

-- subjects_by_identifier
--   asked by SubjectStore.owned (stores/snapshots/subject.store.ts)
--   $1 tenantId text
--   $2 principalId text
--   $3 afterType text
--   $4 afterId text
--   $5 types text[]
--   $6 scheme text
--   $7 value text
--   $8 rows bigint
--   enters erasures_pkey, memberships_pkey, snapshots_version_key, subject_identifiers_by_owner, subjects_identity_key, subjects_pkey
PREPARE subjects_by_identifier (text, text, text, text, text[], text, text, bigint) AS
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  s.subject_type AS "item?.subjectType", s.subject_id AS "item?.subjectId",
  s.display_name AS "item?.name", s.created_at AS "item?.createdAt",
  n.snapshot_id AS "item?.latest.snapshotId",
  s.subject_type AS "item?.latest.subjectType",
  s.subject_id AS "item?.latest.subjectId",
  n.snapshot_version AS "item?.latest.snapshotVersion",
  n.generated_at AS "item?.latest.generatedAt",
  n.created_at AS "item?.latest.createdAt",
  encode(n.envelope_hash, 'hex') AS "item?.latest.envelopeHash",
  encode(n.prev_hash, 'hex') AS "item?.latest.prevHash",
  n.written_by AS "item?.latest.writtenBy",
  n.write_request_id AS "item?.latest.writeRequestId",
  NULL::text AS "item?.latest.envelope",
  CASE WHEN n.erasure_id IS NOT NULL THEN (SELECT er.public_id FROM erasures er
  WHERE er.erasure_id = n.erasure_id LIMIT 1) END AS "item?.latest.erasure?.erasureId",
  CASE WHEN n.erasure_id IS NOT NULL THEN (SELECT er.erased_at FROM erasures er
  WHERE er.erasure_id = n.erasure_id LIMIT 1) END AS "item?.latest.erasure?.erasedAt",
  ARRAY[s.subject_type, s.subject_id] AS position
FROM (SELECT $1::text AS tenant_id, $2::text AS principal_id) i
LEFT JOIN LATERAL (
  SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access, m.tenancy_role,
    m.principal_type, NULL::boolean AS owns_subject, NULL::text[] AS grant_scopes
  FROM memberships m
  WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id LIMIT 1
) f ON true
LEFT JOIN LATERAL (SELECT s.subject_key FROM subjects s
  WHERE s.subject_type = $3 AND s.subject_id = $4 LIMIT 1) last ON true
LEFT JOIN LATERAL (
  SELECT d.subject_type, d.subject_key
  FROM unnest($5::text[]) AS range(subject_type)
  CROSS JOIN LATERAL (
    SELECT * FROM subject_identifiers d
    WHERE (d.owner_tenant_id, d.scheme, d.value, d.subject_type, -d.subject_key)
      > (i.tenant_id, $6, $7, range.subject_type,
        CASE range.subject_type WHEN $3 THEN -last.subject_key ELSE -9223372036854775807 END)
      AND (d.owner_tenant_id, d.scheme, d.value, d.subject_type) <= (i.tenant_id, $6, $7, range.subject_type)
      AND f.member_status = 'active'
    ORDER BY d.owner_tenant_id, d.scheme, d.value, d.subject_type, -d.subject_key LIMIT $8
  ) d
  ORDER BY d.subject_type, -d.subject_key LIMIT $8
) d ON true
LEFT JOIN LATERAL (SELECT * FROM subjects s WHERE s.subject_key = d.subject_key LIMIT 1) s ON true
LEFT JOIN LATERAL (SELECT * FROM snapshots n WHERE n.subject_key = s.subject_key
  ORDER BY n.snapshot_version DESC LIMIT 1) n ON true
ORDER BY d.subject_type, -d.subject_key;

-- subjects_by_name
--   asked by SubjectStore.owned (stores/snapshots/subject.store.ts)
--   $1 tenantId text
--   $2 principalId text
--   $3 afterType text
--   $4 afterId text
--   $5 types text[]
--   $6 afterName text
--   $7 prefix text
--   $8 rows bigint
--   enters erasures_pkey, memberships_pkey, snapshots_version_key, subjects_by_name, subjects_identity_key
PREPARE subjects_by_name (text, text, text, text, text[], text, text, bigint) AS
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  s.subject_type AS "item?.subjectType", s.subject_id AS "item?.subjectId",
  s.display_name AS "item?.name", s.created_at AS "item?.createdAt",
  n.snapshot_id AS "item?.latest.snapshotId",
  s.subject_type AS "item?.latest.subjectType",
  s.subject_id AS "item?.latest.subjectId",
  n.snapshot_version AS "item?.latest.snapshotVersion",
  n.generated_at AS "item?.latest.generatedAt",
  n.created_at AS "item?.latest.createdAt",
  encode(n.envelope_hash, 'hex') AS "item?.latest.envelopeHash",
  encode(n.prev_hash, 'hex') AS "item?.latest.prevHash",
  n.written_by AS "item?.latest.writtenBy",
  n.write_request_id AS "item?.latest.writeRequestId",
  NULL::text AS "item?.latest.envelope",
  CASE WHEN n.erasure_id IS NOT NULL THEN (SELECT er.public_id FROM erasures er
  WHERE er.erasure_id = n.erasure_id LIMIT 1) END AS "item?.latest.erasure?.erasureId",
  CASE WHEN n.erasure_id IS NOT NULL THEN (SELECT er.erased_at FROM erasures er
  WHERE er.erasure_id = n.erasure_id LIMIT 1) END AS "item?.latest.erasure?.erasedAt",
  ARRAY[s.subject_type, s.subject_id, s.name] AS position
FROM (SELECT $1::text AS tenant_id, $2::text AS principal_id) i
LEFT JOIN LATERAL (
  SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access, m.tenancy_role,
    m.principal_type, NULL::boolean AS owns_subject, NULL::text[] AS grant_scopes
  FROM memberships m
  WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id LIMIT 1
) f ON true
LEFT JOIN LATERAL (SELECT s.subject_key FROM subjects s
  WHERE s.subject_type = $3 AND s.subject_id = $4 LIMIT 1) last ON true
LEFT JOIN LATERAL (
  SELECT s.*
  FROM unnest($5::text[]) AS range(subject_type)
  CROSS JOIN LATERAL (
    SELECT * FROM subjects s
    WHERE (s.owner_tenant_id || '/', s.subject_type, s.name, s.subject_key)
      > (i.tenant_id || '/', range.subject_type,
        CASE range.subject_type WHEN $3 THEN $6 ELSE $7 END COLLATE "C",
        CASE range.subject_type WHEN $3 THEN last.subject_key ELSE 0 END)
      AND (s.owner_tenant_id || '/', s.subject_type) <= (i.tenant_id || '/', range.subject_type)
      AND s.name IS NOT NULL AND f.member_status = 'active'
    ORDER BY s.owner_tenant_id || '/', s.subject_type, s.name, s.subject_key LIMIT $8
  ) s
  WHERE starts_with(s.name, $7)
  ORDER BY s.subject_type, s.name, s.subject_key LIMIT $8
) s ON true
LEFT JOIN LATERAL (SELECT * FROM snapshots n WHERE n.subject_key = s.subject_key
  ORDER BY n.snapshot_version DESC LIMIT 1) n ON true
ORDER BY s.subject_type, s.name, s.subject_key;

-- subjects_evidence_carried
--   asked by SubjectStore.owned (stores/snapshots/subject.store.ts)
--   $1 tenantId text
--   $2 principalId text
--   $3 types text[]
--   $4 after text[]
--   $5 prefix text
--   $6 rows bigint
--   enters erasures_pkey, memberships_pkey, snapshots_version_key, subject_evidence_carried, subjects_pkey
PREPARE subjects_evidence_carried (text, text, text[], text[], text, bigint) AS
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  s.subject_type AS "item?.subjectType", s.subject_id AS "item?.subjectId",
  (SELECT o.display_name FROM subjects o WHERE o.subject_key = s.subject_key
  LIMIT 1) AS "item?.name", (SELECT o.created_at FROM subjects o WHERE o.subject_key = s.subject_key
  LIMIT 1) AS "item?.createdAt",
  n.snapshot_id AS "item?.latest.snapshotId",
  s.subject_type AS "item?.latest.subjectType",
  s.subject_id AS "item?.latest.subjectId",
  n.snapshot_version AS "item?.latest.snapshotVersion",
  n.generated_at AS "item?.latest.generatedAt",
  n.created_at AS "item?.latest.createdAt",
  encode(n.envelope_hash, 'hex') AS "item?.latest.envelopeHash",
  encode(n.prev_hash, 'hex') AS "item?.latest.prevHash",
  n.written_by AS "item?.latest.writtenBy",
  n.write_request_id AS "item?.latest.writeRequestId",
  NULL::text AS "item?.latest.envelope",
  CASE WHEN n.erasure_id IS NOT NULL THEN (SELECT er.public_id FROM erasures er
  WHERE er.erasure_id = n.erasure_id LIMIT 1) END AS "item?.latest.erasure?.erasureId",
  CASE WHEN n.erasure_id IS NOT NULL THEN (SELECT er.erased_at FROM erasures er
  WHERE er.erasure_id = n.erasure_id LIMIT 1) END AS "item?.latest.erasure?.erasedAt",
  ARRAY[s.subject_type, s.subject_id] AS position
FROM (SELECT $1::text AS tenant_id, $2::text AS principal_id) i
LEFT JOIN LATERAL (
  SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access, m.tenancy_role,
    m.principal_type, NULL::boolean AS owns_subject, NULL::text[] AS grant_scopes
  FROM memberships m
  WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id LIMIT 1
) f ON true
LEFT JOIN LATERAL (
  SELECT s.*
  FROM unnest($3::text[], $4::text[]) AS range(subject_type, after)
  CROSS JOIN LATERAL (
    SELECT * FROM subject_evidence s
    WHERE (s.owner_tenant_id, s.subject_type, s.subject_id) >=
      (i.tenant_id, range.subject_type, greatest(range.after COLLATE "C", $5))
      AND (s.owner_tenant_id, s.subject_type) <= (i.tenant_id, range.subject_type)
      AND s.subject_id <> range.after AND f.member_status = 'active' AND s.has_carried
    ORDER BY s.owner_tenant_id, s.subject_type, s.subject_id LIMIT $6
  ) s
  WHERE starts_with(s.subject_id, $5)
  ORDER BY s.subject_type, s.subject_id LIMIT $6
) s ON true
LEFT JOIN LATERAL (SELECT * FROM snapshots n WHERE n.subject_key = s.subject_key
  ORDER BY n.snapshot_version DESC LIMIT 1) n ON true
ORDER BY s.subject_type, s.subject_id;

-- subjects_evidence_missing
--   asked by SubjectStore.owned (stores/snapshots/subject.store.ts)
--   $1 tenantId text
--   $2 principalId text
--   $3 types text[]
--   $4 after text[]
--   $5 prefix text
--   $6 rows bigint
--   enters erasures_pkey, memberships_pkey, snapshots_version_key, subject_evidence_missing, subjects_pkey
PREPARE subjects_evidence_missing (text, text, text[], text[], text, bigint) AS
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  s.subject_type AS "item?.subjectType", s.subject_id AS "item?.subjectId",
  (SELECT o.display_name FROM subjects o WHERE o.subject_key = s.subject_key
  LIMIT 1) AS "item?.name", (SELECT o.created_at FROM subjects o WHERE o.subject_key = s.subject_key
  LIMIT 1) AS "item?.createdAt",
  n.snapshot_id AS "item?.latest.snapshotId",
  s.subject_type AS "item?.latest.subjectType",
  s.subject_id AS "item?.latest.subjectId",
  n.snapshot_version AS "item?.latest.snapshotVersion",
  n.generated_at AS "item?.latest.generatedAt",
  n.created_at AS "item?.latest.createdAt",
  encode(n.envelope_hash, 'hex') AS "item?.latest.envelopeHash",
  encode(n.prev_hash, 'hex') AS "item?.latest.prevHash",
  n.written_by AS "item?.latest.writtenBy",
  n.write_request_id AS "item?.latest.writeRequestId",
  NULL::text AS "item?.latest.envelope",
  CASE WHEN n.erasure_id IS NOT NULL THEN (SELECT er.public_id FROM erasures er
  WHERE er.erasure_id = n.erasure_id LIMIT 1) END AS "item?.latest.erasure?.erasureId",
  CASE WHEN n.erasure_id IS NOT NULL THEN (SELECT er.erased_at FROM erasures er
  WHERE er.erasure_id = n.erasure_id LIMIT 1) END AS "item?.latest.erasure?.erasedAt",
  ARRAY[s.subject_type, s.subject_id] AS position
FROM (SELECT $1::text AS tenant_id, $2::text AS principal_id) i
LEFT JOIN LATERAL (
  SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access, m.tenancy_role,
    m.principal_type, NULL::boolean AS owns_subject, NULL::text[] AS grant_scopes
  FROM memberships m
  WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id LIMIT 1
) f ON true
LEFT JOIN LATERAL (
  SELECT s.*
  FROM unnest($3::text[], $4::text[]) AS range(subject_type, after)
  CROSS JOIN LATERAL (
    SELECT * FROM subject_evidence s
    WHERE (s.owner_tenant_id, s.subject_type, s.subject_id) >=
      (i.tenant_id, range.subject_type, greatest(range.after COLLATE "C", $5))
      AND (s.owner_tenant_id, s.subject_type) <= (i.tenant_id, range.subject_type)
      AND s.subject_id <> range.after AND f.member_status = 'active' AND s.has_missing
    ORDER BY s.owner_tenant_id, s.subject_type, s.subject_id LIMIT $6
  ) s
  WHERE starts_with(s.subject_id, $5)
  ORDER BY s.subject_type, s.subject_id LIMIT $6
) s ON true
LEFT JOIN LATERAL (SELECT * FROM snapshots n WHERE n.subject_key = s.subject_key
  ORDER BY n.snapshot_version DESC LIMIT 1) n ON true
ORDER BY s.subject_type, s.subject_id;

-- subjects_owned
--   asked by SubjectStore.owned (stores/snapshots/subject.store.ts)
--   $1 tenantId text
--   $2 principalId text
--   $3 types text[]
--   $4 after text[]
--   $5 prefix text
--   $6 rows bigint
--   enters erasures_pkey, memberships_pkey, snapshots_version_key, subjects_by_owner
PREPARE subjects_owned (text, text, text[], text[], text, bigint) AS
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  s.subject_type AS "item?.subjectType", s.subject_id AS "item?.subjectId",
  s.display_name AS "item?.name", s.created_at AS "item?.createdAt",
  n.snapshot_id AS "item?.latest.snapshotId",
  s.subject_type AS "item?.latest.subjectType",
  s.subject_id AS "item?.latest.subjectId",
  n.snapshot_version AS "item?.latest.snapshotVersion",
  n.generated_at AS "item?.latest.generatedAt",
  n.created_at AS "item?.latest.createdAt",
  encode(n.envelope_hash, 'hex') AS "item?.latest.envelopeHash",
  encode(n.prev_hash, 'hex') AS "item?.latest.prevHash",
  n.written_by AS "item?.latest.writtenBy",
  n.write_request_id AS "item?.latest.writeRequestId",
  NULL::text AS "item?.latest.envelope",
  CASE WHEN n.erasure_id IS NOT NULL THEN (SELECT er.public_id FROM erasures er
  WHERE er.erasure_id = n.erasure_id LIMIT 1) END AS "item?.latest.erasure?.erasureId",
  CASE WHEN n.erasure_id IS NOT NULL THEN (SELECT er.erased_at FROM erasures er
  WHERE er.erasure_id = n.erasure_id LIMIT 1) END AS "item?.latest.erasure?.erasedAt",
  ARRAY[s.subject_type, s.subject_id] AS position
FROM (SELECT $1::text AS tenant_id, $2::text AS principal_id) i
LEFT JOIN LATERAL (
  SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access, m.tenancy_role,
    m.principal_type, NULL::boolean AS owns_subject, NULL::text[] AS grant_scopes
  FROM memberships m
  WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id LIMIT 1
) f ON true
LEFT JOIN LATERAL (
  SELECT s.*
  FROM unnest($3::text[], $4::text[]) AS range(subject_type, after)
  CROSS JOIN LATERAL (
    SELECT * FROM subjects s
    WHERE (s.owner_tenant_id, s.subject_type, s.subject_id) >=
      (i.tenant_id, range.subject_type, greatest(range.after COLLATE "C", $5))
      AND (s.owner_tenant_id, s.subject_type) <= (i.tenant_id, range.subject_type)
      AND s.subject_id <> range.after AND f.member_status = 'active'
    ORDER BY s.owner_tenant_id, s.subject_type, s.subject_id LIMIT $6
  ) s
  WHERE starts_with(s.subject_id, $5)
  ORDER BY s.subject_type, s.subject_id LIMIT $6
) s ON true
LEFT JOIN LATERAL (SELECT * FROM snapshots n WHERE n.subject_key = s.subject_key
  ORDER BY n.snapshot_version DESC LIMIT 1) n ON true
ORDER BY s.subject_type, s.subject_id;

-- tenant_block
--   asked by TenancyStore.block (stores/tenancy/tenancy.store.ts)
--   $1 principalId text
--   $2 tenantId text
--   enters no index
PREPARE tenant_block (text, text) AS
INSERT INTO tenant_blocks (principal_id, tenant_id) VALUES ($1, $2) ON CONFLICT DO NOTHING;

-- tenant_block_find
--   asked by TenancyStore.changeMembership, TenancyStore.block (stores/tenancy/tenancy.store.ts)
--   $1 targetId text
--   $2 tenantId text
--   enters tenant_blocks_pkey
PREPARE tenant_block_find (text, text) AS
SELECT FROM tenant_blocks b WHERE b.principal_id = $1 AND b.tenant_id = $2;

-- tenant_blocks_of_principal
--   asked by TenancyStore.blocks (stores/tenancy/tenancy.store.ts)
--   $1 principalId text
--   $2 after text
--   $3 rows bigint
--   enters tenant_blocks_pkey
PREPARE tenant_blocks_of_principal (text, text, bigint) AS
SELECT b.tenant_id AS "tenantId", b.blocked_at AS "blockedAt" FROM tenant_blocks b
WHERE b.principal_id = $1 AND b.tenant_id > $2 ORDER BY b.tenant_id LIMIT $3;

-- tenant_change
--   asked by TenancyStore.change (stores/tenancy/tenancy.store.ts)
--   $1 tenantId text
--   $2 principalId text
--   $3 requestId text
--   $4 name text
--   $5 changesSlug boolean
--   $6 slug text
--   $7 chainEnforced boolean
--   $8 evidencePolicy text
--   $9 erasureConfirmation text
--   $10 grantConfirmation text
--   $11 demanded text[]
--   $12 byHuman boolean
--   $13 owners text[]
--   $14 admins text[]
--   $15 lifted text[]
--   enters memberships_pkey, tenants_pkey
PREPARE tenant_change (text, text, text, text, boolean, text, boolean, text, text, text, text[], boolean, text[], text[], text[]) AS
WITH facts AS MATERIALIZED (SELECT i.tenant_id, f.*
  FROM (SELECT $1::text AS tenant_id, $2::text AS principal_id) i
  LEFT JOIN LATERAL (
    SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access, m.tenancy_role,
      m.principal_type, NULL::boolean AS owns_subject, NULL::text[] AS grant_scopes
    FROM memberships m
    WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id LIMIT 1
  ) f ON true CROSS JOIN (SELECT set_config('iss.acting_principal', $2::text, true) AS principal_id,
      set_config('iss.acting_request', $3::text, true) AS request_id) acting),
changed AS (
  UPDATE tenants t
  SET name = coalesce($4, t.name), slug = CASE WHEN $5::boolean THEN $6 ELSE t.slug END,
    chain_enforced = coalesce($7, t.chain_enforced),
    evidence_policy = coalesce($8, t.evidence_policy),
    erasure_confirmation = coalesce($9, t.erasure_confirmation),
    grant_confirmation = coalesce($10, t.grant_confirmation),
    pending_changes = t.pending_changes - $11::text[]
  FROM facts f
  WHERE t.tenant_id = f.tenant_id AND f.member_status = 'active'
    AND (NOT $12::boolean OR f.principal_type = 'human')
    AND (f.role = ANY ($13::text[])
      OR f.role = ANY ($14::text[])
      AND NOT EXISTS (SELECT FROM unnest($15::text[]) AS l(setting)
      WHERE coalesce(t.pending_changes -> l.setting ->> 'requested_by', $2) = $2))
  RETURNING t.*
)
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  t.tenant_id AS "tenant?.tenantId",
  t.name AS "tenant?.name",
  t.slug AS "tenant?.slug",
  t.chain_enforced AS "tenant?.chainEnforced",
  t.evidence_policy AS "tenant?.evidencePolicy",
  setting_in_effect(t.erasure_confirmation, t.pending_changes -> 'erasure_confirmation') AS "tenant?.erasureConfirmation",
  setting_in_effect(t.grant_confirmation, t.pending_changes -> 'grant_confirmation') AS "tenant?.grantConfirmation",
  (SELECT coalesce(jsonb_agg(jsonb_build_object('setting', p.key, 'requestedBy', p.value -> 'requested_by',
          'requestedAt', p.value -> 'requested_at', 'effectiveAt', p.value -> 'effective_at') ORDER BY p.key), '[]')
  FROM jsonb_each(t.pending_changes) p
  WHERE setting_in_effect('required', p.value) = 'required') AS "tenant?.pendingChanges",
  t.created_at AS "tenant?.createdAt"
FROM facts f LEFT JOIN changed t ON true;

-- tenant_create
--   asked by TenancyStore.create (stores/tenancy/tenancy.store.ts)
--   $1 principalId text
--   $2 tenants_per_principal integer
--   $3 tenantId text
--   $4 name text
--   $5 slug text
--   $6 chainEnforced boolean
--   $7 evidencePolicy text
--   $8 tenancyRole text
--   $9 role text
--   $10 principalType text
--   $11 allowCounterpartyAccess boolean
--   $12 status text
--   enters limit_overrides_pkey, tenants_by_founder
PREPARE tenant_create (text, integer, text, text, text, boolean, text, text, text, text, boolean, text) AS
WITH cap AS MATERIALIZED (SELECT coalesce((SELECT l.value FROM limit_overrides l
      WHERE l.scope = 'principal' AND l.scope_id = $1 AND l.limit_name = 'tenants_per_principal'
      LIMIT 1), $2::int) AS value),
made AS (
  INSERT INTO tenants (tenant_id, name, slug, chain_enforced, evidence_policy, founded_by)
  SELECT $3::text, $4::text, $5::text, $6::boolean, $7::text, $1::text
  FROM cap
  WHERE (SELECT count(*)::int FROM (SELECT FROM tenants f WHERE f.founded_by = $1
      LIMIT cap.value) counted) < cap.value
  RETURNING *
), founder AS (
  INSERT INTO memberships (tenant_id, principal_id, tenancy_role, api_functional_role, principal_type,
      allow_counterparty_access, status)
  SELECT t.tenant_id, $1, $8, $9, $10, $11::boolean, $12
  FROM made t
)
SELECT t.tenant_id AS "tenant?.tenantId",
  t.name AS "tenant?.name",
  t.slug AS "tenant?.slug",
  t.chain_enforced AS "tenant?.chainEnforced",
  t.evidence_policy AS "tenant?.evidencePolicy",
  setting_in_effect(t.erasure_confirmation, t.pending_changes -> 'erasure_confirmation') AS "tenant?.erasureConfirmation",
  setting_in_effect(t.grant_confirmation, t.pending_changes -> 'grant_confirmation') AS "tenant?.grantConfirmation",
  (SELECT coalesce(jsonb_agg(jsonb_build_object('setting', p.key, 'requestedBy', p.value -> 'requested_by',
          'requestedAt', p.value -> 'requested_at', 'effectiveAt', p.value -> 'effective_at') ORDER BY p.key), '[]')
  FROM jsonb_each(t.pending_changes) p
  WHERE setting_in_effect('required', p.value) = 'required') AS "tenant?.pendingChanges",
  t.created_at AS "tenant?.createdAt", cap.value AS cap
FROM cap LEFT JOIN made t ON true;

-- tenant_find
--   asked by TenancyStore.find (stores/tenancy/tenancy.store.ts)
--   $1 tenantId text
--   $2 principalId text
--   enters memberships_pkey, tenants_pkey
PREPARE tenant_find (text, text) AS
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  f.role AS "found?.role", f.tenancy_role AS "found?.tenancyRole",
  t.tenant_id AS "found?.tenant.tenantId",
  t.name AS "found?.tenant.name",
  t.slug AS "found?.tenant.slug",
  t.chain_enforced AS "found?.tenant.chainEnforced",
  t.evidence_policy AS "found?.tenant.evidencePolicy",
  setting_in_effect(t.erasure_confirmation, t.pending_changes -> 'erasure_confirmation') AS "found?.tenant.erasureConfirmation",
  setting_in_effect(t.grant_confirmation, t.pending_changes -> 'grant_confirmation') AS "found?.tenant.grantConfirmation",
  (SELECT coalesce(jsonb_agg(jsonb_build_object('setting', p.key, 'requestedBy', p.value -> 'requested_by',
          'requestedAt', p.value -> 'requested_at', 'effectiveAt', p.value -> 'effective_at') ORDER BY p.key), '[]')
  FROM jsonb_each(t.pending_changes) p
  WHERE setting_in_effect('required', p.value) = 'required') AS "found?.tenant.pendingChanges",
  t.created_at AS "found?.tenant.createdAt"
FROM (SELECT $1::text AS tenant_id, $2::text AS principal_id) i
LEFT JOIN LATERAL (
  SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access, m.tenancy_role,
    m.principal_type, NULL::boolean AS owns_subject, NULL::text[] AS grant_scopes
  FROM memberships m
  WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id LIMIT 1
) f ON true LEFT JOIN tenants t ON t.tenant_id = i.tenant_id;

-- tenant_founder
--   asked by TenancyStore.founder (stores/tenancy/tenancy.store.ts)
--   $1 tenantId text
--   enters tenants_pkey
PREPARE tenant_founder (text) AS
SELECT coalesce((SELECT t.founded_by FROM tenants t WHERE t.tenant_id = $1::text
    LIMIT 1), $1::text) AS "founderId";

-- tenant_lock_founder
--   asked by TenancyStore.create (stores/tenancy/tenancy.store.ts)
--   $1 principalId text
--   $2 requestId text
--   enters no index
PREPARE tenant_lock_founder (text, text) AS
SELECT pg_advisory_xact_lock(hashtextextended('founder/' || acting.principal_id, 0))
FROM (SELECT set_config('iss.acting_principal', $1::text, true) AS principal_id,
    set_config('iss.acting_request', $2::text, true) AS request_id) acting;

-- tenant_unblock
--   asked by TenancyStore.unblock (stores/tenancy/tenancy.store.ts)
--   $1 principalId text
--   $2 tenantId text
--   enters tenant_blocks_pkey
PREPARE tenant_unblock (text, text) AS
DELETE FROM tenant_blocks b WHERE b.principal_id = $1 AND b.tenant_id = $2;

-- tenants_of_principal
--   asked by TenancyStore.ofPrincipal (stores/tenancy/tenancy.store.ts)
--   $1 principalId text
--   $2 after text
--   $3 rows bigint
--   enters memberships_by_principal, tenants_pkey
PREPARE tenants_of_principal (text, text, bigint) AS
SELECT t.tenant_id AS "tenant.tenantId",
  t.name AS "tenant.name",
  t.slug AS "tenant.slug",
  t.chain_enforced AS "tenant.chainEnforced",
  t.evidence_policy AS "tenant.evidencePolicy",
  setting_in_effect(t.erasure_confirmation, t.pending_changes -> 'erasure_confirmation') AS "tenant.erasureConfirmation",
  setting_in_effect(t.grant_confirmation, t.pending_changes -> 'grant_confirmation') AS "tenant.grantConfirmation",
  (SELECT coalesce(jsonb_agg(jsonb_build_object('setting', p.key, 'requestedBy', p.value -> 'requested_by',
          'requestedAt', p.value -> 'requested_at', 'effectiveAt', p.value -> 'effective_at') ORDER BY p.key), '[]')
  FROM jsonb_each(t.pending_changes) p
  WHERE setting_in_effect('required', p.value) = 'required') AS "tenant.pendingChanges",
  t.created_at AS "tenant.createdAt",
  m.api_functional_role AS role, m.tenancy_role AS "tenancyRole"
FROM memberships m JOIN tenants t ON t.tenant_id = m.tenant_id
WHERE m.principal_id = $1 AND m.status = 'active' AND m.tenant_id > $2
ORDER BY m.tenant_id LIMIT $3;

-- transfer_offer_end
--   asked by TransferOfferStore.end (stores/tenancy/transfer-offer.store.ts)
--   $1 status text
--   $2 offerId uuid
--   enters transfer_offers_pkey
PREPARE transfer_offer_end (text, uuid) AS
UPDATE transfer_offers o SET status = $1, resolved_at = statement_timestamp()
WHERE o.offer_id = $2 AND (o.status = 'pending') IS TRUE
RETURNING o.offer_id AS "offerId",
  o.tenant_id AS "tenantId",
  o.from_principal_id AS "fromPrincipalId",
  o.to_principal_id AS "toPrincipalId",
  o.message AS "message",
  CASE WHEN o.status = 'pending'
  AND o.expires_at <= statement_timestamp() THEN 'expired' ELSE o.status END AS "status",
  o.created_at AS "createdAt",
  o.expires_at AS "expiresAt",
  CASE WHEN o.status = 'pending'
  AND o.expires_at <= statement_timestamp() THEN o.expires_at ELSE o.resolved_at END AS "resolvedAt";

-- transfer_offer_expire
--   asked by TransferOfferStore.create (stores/tenancy/transfer-offer.store.ts)
--   $1 tenantId text
--   enters transfer_offers_pending_key
PREPARE transfer_offer_expire (text) AS
UPDATE transfer_offers o SET status = 'expired', resolved_at = o.expires_at
WHERE o.tenant_id = $1 AND o.status = 'pending' AND o.expires_at <= statement_timestamp();

-- transfer_offer_find
--   asked by TransferOfferStore.find, TransferOfferStore.end (stores/tenancy/transfer-offer.store.ts)
--   $1 tenantId text
--   $2 principalId text
--   $3 offerId uuid
--   enters memberships_pkey, transfer_offers_pkey
PREPARE transfer_offer_find (text, text, uuid) AS
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  o.offer_id AS "offer?.offerId",
  o.tenant_id AS "offer?.tenantId",
  o.from_principal_id AS "offer?.fromPrincipalId",
  o.to_principal_id AS "offer?.toPrincipalId",
  o.message AS "offer?.message",
  CASE WHEN o.status = 'pending'
  AND o.expires_at <= statement_timestamp() THEN 'expired' ELSE o.status END AS "offer?.status",
  o.created_at AS "offer?.createdAt",
  o.expires_at AS "offer?.expiresAt",
  CASE WHEN o.status = 'pending'
  AND o.expires_at <= statement_timestamp() THEN o.expires_at ELSE o.resolved_at END AS "offer?.resolvedAt"
FROM (SELECT $1::text AS tenant_id, $2::text AS principal_id, $3::uuid AS offer_id) i
LEFT JOIN LATERAL (
  SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access, m.tenancy_role,
    m.principal_type, NULL::boolean AS owns_subject, NULL::text[] AS grant_scopes
  FROM memberships m
  WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id LIMIT 1
) f ON true
LEFT JOIN LATERAL (SELECT * FROM transfer_offers o WHERE o.offer_id = i.offer_id LIMIT 1) o
  ON o.tenant_id = i.tenant_id;

-- transfer_offer_handed_over_by
--   asked by TransferOfferStore.end (stores/tenancy/transfer-offer.store.ts)
--   $1 principalId text
--   enters no index
PREPARE transfer_offer_handed_over_by (text) AS
SELECT set_config('iss.owner_from', $1, true);

-- transfer_offer_insert
--   asked by TransferOfferStore.create (stores/tenancy/transfer-offer.store.ts)
--   $1 offerId uuid
--   $2 tenantId text
--   $3 fromPrincipalId text
--   $4 toPrincipalId text
--   $5 message text
--   $6 expiresAt timestamp with time zone
--   enters no index
PREPARE transfer_offer_insert (uuid, text, text, text, text, timestamp with time zone) AS
INSERT INTO transfer_offers AS o (offer_id, tenant_id, from_principal_id, to_principal_id, message, expires_at, created_at)
VALUES ($1, $2, $3, $4, $5, $6, statement_timestamp())
RETURNING o.offer_id AS "offerId",
  o.tenant_id AS "tenantId",
  o.from_principal_id AS "fromPrincipalId",
  o.to_principal_id AS "toPrincipalId",
  o.message AS "message",
  CASE WHEN o.status = 'pending'
  AND o.expires_at <= statement_timestamp() THEN 'expired' ELSE o.status END AS "status",
  o.created_at AS "createdAt",
  o.expires_at AS "expiresAt",
  CASE WHEN o.status = 'pending'
  AND o.expires_at <= statement_timestamp() THEN o.expires_at ELSE o.resolved_at END AS "resolvedAt";

-- transfer_offers_of_tenant
--   asked by TransferOfferStore.list (stores/tenancy/transfer-offer.store.ts)
--   $1 tenantId text
--   $2 principalId text
--   $3 admins text[]
--   $4 beforeTime timestamp with time zone
--   $5 beforeId uuid
--   $6 rows bigint
--   enters memberships_pkey, transfer_offers_by_recipient, transfer_offers_by_tenant
PREPARE transfer_offers_of_tenant (text, text, text[], timestamp with time zone, uuid, bigint) AS
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  o.offer_id AS "item?.offerId",
  o.tenant_id AS "item?.tenantId",
  o.from_principal_id AS "item?.fromPrincipalId",
  o.to_principal_id AS "item?.toPrincipalId",
  o.message AS "item?.message",
  CASE WHEN o.status = 'pending'
  AND o.expires_at <= statement_timestamp() THEN 'expired' ELSE o.status END AS "item?.status",
  o.created_at AS "item?.createdAt",
  o.expires_at AS "item?.expiresAt",
  CASE WHEN o.status = 'pending'
  AND o.expires_at <= statement_timestamp() THEN o.expires_at ELSE o.resolved_at END AS "item?.resolvedAt",
  ARRAY[o.created_at::text, o.offer_id::text] AS position, o.found,
  coalesce((SELECT true FROM transfer_offers mine
    WHERE mine.tenant_id = i.tenant_id AND mine.to_principal_id = i.principal_id LIMIT 1), false) AS "isOffered"
FROM (SELECT $1::text AS tenant_id, $2::text AS principal_id) i
LEFT JOIN LATERAL (
  SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access, m.tenancy_role,
    m.principal_type, NULL::boolean AS owns_subject, NULL::text[] AS grant_scopes
  FROM memberships m
  WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id LIMIT 1
) f ON true
CROSS JOIN LATERAL (SELECT (f.member_status = 'active'
      AND f.role = ANY ($3::text[])) IS TRUE AS is_admin OFFSET 0) a
LEFT JOIN LATERAL (
  SELECT * FROM (
    SELECT o.*, sum(octet_length(to_json(o)::text)) OVER (ORDER BY o.created_at DESC, o.offer_id DESC) AS bytes, row_number() OVER (ORDER BY o.created_at DESC, o.offer_id DESC) AS place,
      count(*) OVER ()::int AS found
    FROM (SELECT * FROM (SELECT * FROM transfer_offers o
        WHERE a.is_admin AND o.tenant_id = i.tenant_id AND (o.created_at, o.offer_id) < ($4::timestamptz, $5::uuid)
        ORDER BY o.created_at DESC, o.offer_id DESC LIMIT $6) o
      UNION ALL
      SELECT * FROM (SELECT * FROM transfer_offers o
        WHERE NOT a.is_admin AND o.tenant_id = i.tenant_id AND o.to_principal_id = i.principal_id
          AND (o.created_at, o.offer_id) < ($4::timestamptz, $5::uuid)
        ORDER BY o.created_at DESC, o.offer_id DESC LIMIT $6) o) o
  ) o WHERE o.bytes <= 8388608 OR o.place = 1
) o ON true
ORDER BY o.created_at DESC, o.offer_id DESC;

-- update_by_request
--   asked by UpdateStore.propose, UpdateStore.byRequestId (stores/updates/update.store.ts)
--   $1 tenantId text
--   $2 requestId text
--   enters subjects_pkey, updates_request_key
PREPARE update_by_request (text, text) AS
SELECT u.update_id AS "updateId",
  u.tenant_id AS "tenantId",
  s.subject_type AS "subjectType",
  s.subject_id AS "subjectId",
  u.base_snapshot_id AS "baseSnapshotId",
  u.base_snapshot_version AS "baseSnapshotVersion",
  u.patch_ops AS "patchOps",
  u.status AS "status",
  u.request_id AS "requestId",
  u.initiated_by AS "initiatedBy",
  u.proposed_by AS "proposedBy",
  u.created_at AS "createdAt",
  u.applied_at AS "appliedAt",
  u.applied_snapshot_id AS "appliedSnapshotId",
  u.withdrawn_at AS "withdrawnAt"
FROM updates u JOIN subjects s ON s.subject_key = u.subject_key
WHERE u.tenant_id = $1 AND u.request_id = $2;

-- update_find
--   asked by UpdateStore.find (stores/updates/update.store.ts)
--   $1 updateId uuid
--   $2 tenantId text
--   $3 principalId text
--   $4 subjectType text
--   $5 subjectId text
--   enters grants_live, grants_to_all_live, memberships_pkey, subjects_identity_key, subjects_pkey, updates_pkey
PREPARE update_find (uuid, text, text, text, text) AS
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  u.update_id AS "update?.updateId",
  u.tenant_id AS "update?.tenantId",
  s.subject_type AS "update?.subjectType",
  s.subject_id AS "update?.subjectId",
  u.base_snapshot_id AS "update?.baseSnapshotId",
  u.base_snapshot_version AS "update?.baseSnapshotVersion",
  u.patch_ops AS "update?.patchOps",
  u.status AS "update?.status",
  u.request_id AS "update?.requestId",
  u.initiated_by AS "update?.initiatedBy",
  u.proposed_by AS "update?.proposedBy",
  u.created_at AS "update?.createdAt",
  u.applied_at AS "update?.appliedAt",
  u.applied_snapshot_id AS "update?.appliedSnapshotId",
  u.withdrawn_at AS "update?.withdrawnAt"
FROM (SELECT $1::uuid AS update_id, $2::text AS tenant_id, $3::text AS principal_id, $4::text AS subject_type, $5::text AS subject_id) i
LEFT JOIN subjects p ON p.subject_type = i.subject_type AND p.subject_id = i.subject_id
LEFT JOIN LATERAL (SELECT * FROM updates u WHERE u.update_id = i.update_id LIMIT 1) found
  ON found.tenant_id = i.tenant_id AND (i.subject_type IS NULL OR found.subject_key = p.subject_key)
LEFT JOIN subjects s ON s.subject_key = coalesce(p.subject_key, found.subject_key)
LEFT JOIN LATERAL (
  SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access,
    s.owner_tenant_id = i.tenant_id AS owns_subject, one.scopes || every.scopes AS grant_scopes,
    CASE WHEN one.scopes && '{}' THEN one.grant_id ELSE every.grant_id END AS grant_id
  FROM memberships m
  LEFT JOIN LATERAL (SELECT g.grant_id, g.scopes FROM grants g
    WHERE s.owner_tenant_id <> i.tenant_id
      AND (g.grantee_tenant_id, g.subject_key) BETWEEN (i.tenant_id, s.subject_key) AND (i.tenant_id, s.subject_key)
      AND g.revoked_at IS NULL AND (g.expires_at IS NULL OR g.expires_at > statement_timestamp())
    LIMIT 1) one ON true
  LEFT JOIN LATERAL (SELECT g.grant_id, g.scopes FROM grants g
    WHERE s.owner_tenant_id <> i.tenant_id
      AND (g.grantor_tenant_id || '/', g.grantee_tenant_id, coalesce(g.expires_at, 'infinity'))
      > (s.owner_tenant_id || '/', i.tenant_id, statement_timestamp())
      AND (g.grantor_tenant_id || '/', g.grantee_tenant_id) <= (s.owner_tenant_id || '/', i.tenant_id)
      AND g.revoked_at IS NULL AND (g.subject_key = 0) IS TRUE LIMIT 1) every ON true
  WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id
) f ON true
LEFT JOIN LATERAL (SELECT found.* WHERE f.owns_subject AND f.member_status = 'active') u ON true;

-- update_for_apply
--   asked by UpdateStore.forApply (stores/updates/update.store.ts)
--   $1 maxBytes integer
--   $2 inputs.updateId uuid[]
--   $3 inputs.tenantId text[]
--   $4 inputs.principalId text[]
--   $5 inputs.subjectType text[]
--   $6 inputs.subjectId text[]
--   enters erasures_pkey, grants_live, grants_to_all_live, memberships_pkey, snapshot_provenance_pkey, snapshots_version_key, subjects_identity_key, subjects_pkey, tenants_pkey, updates_pkey
PREPARE update_for_apply (integer, uuid[], text[], text[], text[], text[]) AS
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  u.update_id AS "update?.updateId",
  u.tenant_id AS "update?.tenantId",
  s.subject_type AS "update?.subjectType",
  s.subject_id AS "update?.subjectId",
  u.base_snapshot_id AS "update?.baseSnapshotId",
  u.base_snapshot_version AS "update?.baseSnapshotVersion",
  CASE
  WHEN NOT (octet_length(u.patch_ops) + octet_length(n.envelope) > $1::int) IS TRUE THEN u.patch_ops END AS "update?.patchOps",
  u.status AS "update?.status",
  u.request_id AS "update?.requestId",
  u.initiated_by AS "update?.initiatedBy",
  u.proposed_by AS "update?.proposedBy",
  u.created_at AS "update?.createdAt",
  u.applied_at AS "update?.appliedAt",
  u.applied_snapshot_id AS "update?.appliedSnapshotId",
  u.withdrawn_at AS "update?.withdrawnAt",
  (SELECT n.snapshot_version FROM snapshots n
  WHERE n.subject_key = s.subject_key ORDER BY n.snapshot_version DESC LIMIT 1) AS "headVersion",
  t.chain_enforced IS TRUE AS "chainEnforced", coalesce(t.evidence_policy, 'open') AS "evidencePolicy",
  (octet_length(u.patch_ops) + octet_length(n.envelope) > $1::int) IS TRUE AS "isTooLarge",
  n.snapshot_id AS "base?.snapshotId",
  s.subject_type AS "base?.subjectType",
  s.subject_id AS "base?.subjectId",
  n.snapshot_version AS "base?.snapshotVersion",
  n.generated_at AS "base?.generatedAt",
  n.created_at AS "base?.createdAt",
  encode(n.envelope_hash, 'hex') AS "base?.envelopeHash",
  encode(n.prev_hash, 'hex') AS "base?.prevHash",
  n.written_by AS "base?.writtenBy",
  n.write_request_id AS "base?.writeRequestId",
  CASE
  WHEN NOT (octet_length(u.patch_ops) + octet_length(n.envelope) > $1::int) IS TRUE THEN n.envelope END AS "base?.envelope",
  CASE WHEN n.erasure_id IS NOT NULL THEN (SELECT er.public_id FROM erasures er
  WHERE er.erasure_id = n.erasure_id LIMIT 1) END AS "base?.erasure?.erasureId",
  CASE WHEN n.erasure_id IS NOT NULL THEN (SELECT er.erased_at FROM erasures er
  WHERE er.erasure_id = n.erasure_id LIMIT 1) END AS "base?.erasure?.erasedAt",
  (SELECT p.origins FROM snapshot_provenance p
  WHERE p.subject_key = n.subject_key AND p.snapshot_version = n.snapshot_version LIMIT 1) AS "base?.origins"
FROM unnest($2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[])
  WITH ORDINALITY AS i(update_id, tenant_id, principal_id, subject_type, subject_id, ord)
LEFT JOIN subjects p ON p.subject_type = i.subject_type AND p.subject_id = i.subject_id
LEFT JOIN LATERAL (SELECT * FROM updates u WHERE u.update_id = i.update_id LIMIT 1) found
  ON found.tenant_id = i.tenant_id AND (i.subject_type IS NULL OR found.subject_key = p.subject_key)
LEFT JOIN subjects s ON s.subject_key = coalesce(p.subject_key, found.subject_key)
LEFT JOIN LATERAL (
  SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access,
    s.owner_tenant_id = i.tenant_id AS owns_subject, one.scopes || every.scopes AS grant_scopes,
    CASE WHEN one.scopes && '{}' THEN one.grant_id ELSE every.grant_id END AS grant_id
  FROM memberships m
  LEFT JOIN LATERAL (SELECT g.grant_id, g.scopes FROM grants g
    WHERE s.owner_tenant_id <> i.tenant_id
      AND (g.grantee_tenant_id, g.subject_key) BETWEEN (i.tenant_id, s.subject_key) AND (i.tenant_id, s.subject_key)
      AND g.revoked_at IS NULL AND (g.expires_at IS NULL OR g.expires_at > statement_timestamp())
    LIMIT 1) one ON true
  LEFT JOIN LATERAL (SELECT g.grant_id, g.scopes FROM grants g
    WHERE s.owner_tenant_id <> i.tenant_id
      AND (g.grantor_tenant_id || '/', g.grantee_tenant_id, coalesce(g.expires_at, 'infinity'))
      > (s.owner_tenant_id || '/', i.tenant_id, statement_timestamp())
      AND (g.grantor_tenant_id || '/', g.grantee_tenant_id) <= (s.owner_tenant_id || '/', i.tenant_id)
      AND g.revoked_at IS NULL AND (g.subject_key = 0) IS TRUE LIMIT 1) every ON true
  WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id
) f ON true
LEFT JOIN LATERAL (SELECT found.* WHERE f.owns_subject AND f.member_status = 'active') u ON true
LEFT JOIN LATERAL (SELECT * FROM snapshots n
  WHERE n.subject_key = u.subject_key AND n.snapshot_version = u.base_snapshot_version LIMIT 1) n ON true
LEFT JOIN tenants t ON t.tenant_id = i.tenant_id
ORDER BY i.ord;

-- update_propose
--   asked by UpdateStore.propose (stores/updates/update.store.ts)
--   $1 countedCaps integer[]
--   $2 pending_updates_per_subject integer
--   $3 pending_updates_per_tenant integer
--   $4 inputs.updateId uuid[]
--   $5 inputs.tenantId text[]
--   $6 inputs.principalId text[]
--   $7 inputs.subjectType text[]
--   $8 inputs.subjectId text[]
--   $9 inputs.baseSnapshotVersion integer[]
--   $10 inputs.requestId text[]
--   $11 inputs.evidencePolicy text[]
--   $12 inputs.baseSnapshotId uuid[]
--   $13 inputs.patchOps text[]
--   $14 inputs.initiatedBy text[]
--   $15 aheadOfSubject integer[]
--   $16 aheadOfTenant integer[]
--   $17 eventIds uuid[]
--   $18 traces.requestId text[]
--   $19 traces.traceparent text[]
--   enters grants_live, grants_to_all_live, limit_overrides_pkey, memberships_pkey, snapshots_version_key, subjects_identity_key, tenants_pkey, updates_by_subject, updates_by_tenant, webhook_subscription_types_pkey
PREPARE update_propose (integer[], integer, integer, uuid[], text[], text[], text[], text[], integer[], text[], text[], uuid[], text[], text[], integer[], integer[], uuid[], text[], text[]) AS
WITH facts AS MATERIALIZED (
  SELECT f.*,
    (SELECT count(*)::int FROM (SELECT FROM updates u
      WHERE (u.subject_key, u.status) BETWEEN (f.subject_key, 'proposed') AND (f.subject_key, 'proposed')
      LIMIT f.subject_cap) counted) AS pending_of_subject,
    CASE WHEN f.tenant_cap IS DISTINCT FROM ($1::int[])[f.ord] THEN (SELECT count(*)::int FROM (SELECT
      FROM updates u WHERE (u.tenant_id, u.status) BETWEEN (f.tenant_id, 'proposed') AND (f.tenant_id, 'proposed')
      LIMIT f.tenant_cap) counted) END AS pending_of_tenant
  FROM (
    SELECT i.*, f.*, s.subject_key, (SELECT n.snapshot_version FROM snapshots n
      WHERE n.subject_key = s.subject_key ORDER BY n.snapshot_version DESC LIMIT 1) AS head_version,
      coalesce((SELECT l.value FROM limit_overrides l
        WHERE l.scope = 'tenant' AND l.scope_id = i.tenant_id AND l.limit_name = 'pending_updates_per_subject'
        LIMIT 1), $2::int) AS subject_cap,
      coalesce((SELECT l.value FROM limit_overrides l
        WHERE l.scope = 'tenant' AND l.scope_id = i.tenant_id AND l.limit_name = 'pending_updates_per_tenant'
        LIMIT 1), $3::int) AS tenant_cap,
      (SELECT t.evidence_policy FROM tenants t WHERE t.tenant_id = i.tenant_id LIMIT 1) AS tenant_policy
    FROM unnest($4::uuid[], $5::text[], $6::text[], $7::text[], $8::text[], $9::int[], $10::text[], $11::text[])
      WITH ORDINALITY AS i(update_id, tenant_id, principal_id, subject_type, subject_id, base_snapshot_version, request_id, evidence_policy, ord)
    LEFT JOIN subjects s ON s.subject_type = i.subject_type AND s.subject_id = i.subject_id
    LEFT JOIN LATERAL (
      SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access,
        s.owner_tenant_id = i.tenant_id AS owns_subject, one.scopes || every.scopes AS grant_scopes,
        CASE WHEN one.scopes && '{}' THEN one.grant_id ELSE every.grant_id END AS grant_id
      FROM memberships m
      LEFT JOIN LATERAL (SELECT g.grant_id, g.scopes FROM grants g
        WHERE s.owner_tenant_id <> i.tenant_id
          AND (g.grantee_tenant_id, g.subject_key) BETWEEN (i.tenant_id, s.subject_key) AND (i.tenant_id, s.subject_key)
          AND g.revoked_at IS NULL AND (g.expires_at IS NULL OR g.expires_at > statement_timestamp())
        LIMIT 1) one ON true
      LEFT JOIN LATERAL (SELECT g.grant_id, g.scopes FROM grants g
        WHERE s.owner_tenant_id <> i.tenant_id
          AND (g.grantor_tenant_id || '/', g.grantee_tenant_id, coalesce(g.expires_at, 'infinity'))
          > (s.owner_tenant_id || '/', i.tenant_id, statement_timestamp())
          AND (g.grantor_tenant_id || '/', g.grantee_tenant_id) <= (s.owner_tenant_id || '/', i.tenant_id)
          AND g.revoked_at IS NULL AND (g.subject_key = 0) IS TRUE LIMIT 1) every ON true
      WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id
    ) f ON true
    ORDER BY i.tenant_id, i.request_id
    OFFSET 0
  ) f
),
inserted AS (
  INSERT INTO updates (update_id, tenant_id, subject_key, base_snapshot_id, base_snapshot_version, patch_ops,
      request_id, initiated_by, proposed_by)
  SELECT update_id, tenant_id, subject_key, ($12::uuid[])[ord], base_snapshot_version,
    ($13::text[])[ord], request_id, ($14::text[])[ord], principal_id
  FROM facts f
  WHERE member_status = 'active'
    AND role IN ('tenant_proposer', 'tenant_editor', 'tenant_admin', 'tenant_owner') AND owns_subject
    AND head_version = base_snapshot_version AND tenant_policy = evidence_policy
    AND (f.pending_of_subject + ($15::int[])[f.ord] >= f.subject_cap) IS NOT TRUE
    AND (f.pending_of_tenant + ($16::int[])[f.ord] >= f.tenant_cap) IS NOT TRUE
  ON CONFLICT (tenant_id, request_id) WHERE request_id IS NOT NULL DO NOTHING
  RETURNING update_id
),
announced AS MATERIALIZED (
  SELECT i.update_id, i.tenant_id, i.ord, (SELECT ($17::uuid[])[i.ord] FROM webhook_subscription_types y
    WHERE y.tenant_id = i.tenant_id AND y.event_type = 'update.proposed' LIMIT 1) AS event_id
  FROM facts i WHERE i.update_id = ANY (ARRAY(SELECT update_id FROM inserted))
),
new_event AS (
  INSERT INTO outbox_events (event_id, tenant_id, event_type, update_id, request_id, traceparent)
  SELECT event_id, tenant_id, 'update.proposed', update_id, ($18::text[])[ord],
    ($19::text[])[ord]
  FROM announced WHERE event_id IS NOT NULL
)
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  f.head_version AS "headVersion", f.tenant_policy AS "evidencePolicy",
  (ARRAY(SELECT event_id FROM announced))[array_position(ARRAY(SELECT update_id
    FROM announced), f.update_id)] AS "eventId",
  CASE WHEN f.update_id = ANY (ARRAY(SELECT update_id FROM inserted)) THEN now() END AS "createdAt",
  f.tenant_cap AS "tenantCap", f.pending_of_tenant AS "pendingOfTenant",
  CASE WHEN f.pending_of_subject + ($15::int[])[f.ord] >= f.subject_cap THEN 'pending_updates_per_subject'
  WHEN f.pending_of_tenant + ($16::int[])[f.ord] >= f.tenant_cap THEN 'pending_updates_per_tenant' END AS "reached?.name",
  CASE
  WHEN f.pending_of_subject + ($15::int[])[f.ord] >= f.subject_cap THEN f.subject_cap ELSE f.tenant_cap END AS "reached?.value"
FROM facts f
ORDER BY f.ord;

-- update_withdraw
--   asked by UpdateStore.withdraw (stores/updates/update.store.ts)
--   $1 updateId uuid
--   $2 tenantId text
--   $3 principalId text
--   $4 subjectType text
--   $5 subjectId text
--   $6 editors text[]
--   $7 proposers text[]
--   $8 eventId uuid
--   $9 trace text
--   $10 traceparent text
--   enters grants_live, grants_to_all_live, memberships_pkey, subjects_identity_key, subjects_pkey, updates_pkey, webhook_subscription_types_pkey
PREPARE update_withdraw (uuid, text, text, text, text, text[], text[], uuid, text, text) AS
WITH found AS MATERIALIZED (
  SELECT f.*, u.*, s.subject_type, s.subject_id, i.principal_id
  FROM (SELECT $1::uuid AS update_id, $2::text AS tenant_id, $3::text AS principal_id, $4::text AS subject_type, $5::text AS subject_id) i
  LEFT JOIN subjects p ON p.subject_type = i.subject_type AND p.subject_id = i.subject_id
  LEFT JOIN LATERAL (SELECT * FROM updates u WHERE u.update_id = i.update_id LIMIT 1) found
    ON found.tenant_id = i.tenant_id AND (i.subject_type IS NULL OR found.subject_key = p.subject_key)
  LEFT JOIN subjects s ON s.subject_key = coalesce(p.subject_key, found.subject_key)
  LEFT JOIN LATERAL (
    SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access,
      s.owner_tenant_id = i.tenant_id AS owns_subject, one.scopes || every.scopes AS grant_scopes,
      CASE WHEN one.scopes && '{}' THEN one.grant_id ELSE every.grant_id END AS grant_id
    FROM memberships m
    LEFT JOIN LATERAL (SELECT g.grant_id, g.scopes FROM grants g
      WHERE s.owner_tenant_id <> i.tenant_id
        AND (g.grantee_tenant_id, g.subject_key) BETWEEN (i.tenant_id, s.subject_key) AND (i.tenant_id, s.subject_key)
        AND g.revoked_at IS NULL AND (g.expires_at IS NULL OR g.expires_at > statement_timestamp())
      LIMIT 1) one ON true
    LEFT JOIN LATERAL (SELECT g.grant_id, g.scopes FROM grants g
      WHERE s.owner_tenant_id <> i.tenant_id
        AND (g.grantor_tenant_id || '/', g.grantee_tenant_id, coalesce(g.expires_at, 'infinity'))
        > (s.owner_tenant_id || '/', i.tenant_id, statement_timestamp())
        AND (g.grantor_tenant_id || '/', g.grantee_tenant_id) <= (s.owner_tenant_id || '/', i.tenant_id)
        AND g.revoked_at IS NULL AND (g.subject_key = 0) IS TRUE LIMIT 1) every ON true
    WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id
  ) f ON true
  LEFT JOIN LATERAL (SELECT found.* WHERE f.owns_subject AND f.member_status = 'active') u ON true
),
withdrawn AS (
  UPDATE updates u SET status = 'withdrawn', withdrawn_at = now()
  FROM found f
  WHERE u.update_id = f.update_id AND (u.status = 'proposed') IS TRUE AND f.member_status = 'active'
    AND f.owns_subject
    AND (f.role = ANY ($6::text[]) OR (f.role = ANY ($7::text[]) AND f.proposed_by = f.principal_id))
  RETURNING u.update_id, u.tenant_id, u.withdrawn_at
),
announced AS (
  INSERT INTO outbox_events (event_id, tenant_id, event_type, update_id, request_id, traceparent)
  SELECT $8::uuid, w.tenant_id, 'update.withdrawn', w.update_id, $9::text, $10::text
  FROM withdrawn w
  WHERE (SELECT true FROM webhook_subscription_types y WHERE y.tenant_id = w.tenant_id
      AND y.event_type = 'update.withdrawn' LIMIT 1)
  RETURNING event_id
)
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  f.update_id AS "update?.updateId",
  f.tenant_id AS "update?.tenantId",
  f.subject_type AS "update?.subjectType",
  f.subject_id AS "update?.subjectId",
  f.base_snapshot_id AS "update?.baseSnapshotId",
  f.base_snapshot_version AS "update?.baseSnapshotVersion",
  f.patch_ops AS "update?.patchOps",
  f.status AS "update?.status",
  f.request_id AS "update?.requestId",
  f.initiated_by AS "update?.initiatedBy",
  f.proposed_by AS "update?.proposedBy",
  f.created_at AS "update?.createdAt",
  f.applied_at AS "update?.appliedAt",
  f.applied_snapshot_id AS "update?.appliedSnapshotId",
  f.withdrawn_at AS "update?.withdrawnAt", w.withdrawn_at AS "withdrawnNowAt",
  (SELECT event_id FROM announced) AS "eventId"
FROM found f LEFT JOIN withdrawn w ON true;

-- updates_of_subject
--   asked by UpdateStore.list (stores/updates/update.store.ts)
--   $1 tenantId text
--   $2 principalId text
--   $3 subjectType text
--   $4 subjectId text
--   $5 statuses text[]
--   $6 beforeTime timestamp with time zone
--   $7 beforeId uuid
--   $8 rows bigint
--   enters grants_live, grants_to_all_live, memberships_pkey, subjects_identity_key, updates_by_subject
PREPARE updates_of_subject (text, text, text, text, text[], timestamp with time zone, uuid, bigint) AS
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  u.update_id AS "item?.updateId",
  u.tenant_id AS "item?.tenantId",
  s.subject_type AS "item?.subjectType",
  s.subject_id AS "item?.subjectId",
  u.base_snapshot_id AS "item?.baseSnapshotId",
  u.base_snapshot_version AS "item?.baseSnapshotVersion",
  u.patch_ops AS "item?.patchOps",
  u.status AS "item?.status",
  u.request_id AS "item?.requestId",
  u.initiated_by AS "item?.initiatedBy",
  u.proposed_by AS "item?.proposedBy",
  u.created_at AS "item?.createdAt",
  u.applied_at AS "item?.appliedAt",
  u.applied_snapshot_id AS "item?.appliedSnapshotId",
  u.withdrawn_at AS "item?.withdrawnAt",
  s.display_name AS "item?.name",
  ARRAY[u.created_at::text, u.update_id::text] AS position, u.found
FROM (SELECT $1::text AS tenant_id, $2::text AS principal_id, $3::text AS subject_type, $4::text AS subject_id) i
LEFT JOIN subjects s ON s.subject_type = i.subject_type AND s.subject_id = i.subject_id
LEFT JOIN LATERAL (
  SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access,
    s.owner_tenant_id = i.tenant_id AS owns_subject, one.scopes || every.scopes AS grant_scopes,
    CASE WHEN one.scopes && '{}' THEN one.grant_id ELSE every.grant_id END AS grant_id
  FROM memberships m
  LEFT JOIN LATERAL (SELECT g.grant_id, g.scopes FROM grants g
    WHERE s.owner_tenant_id <> i.tenant_id
      AND (g.grantee_tenant_id, g.subject_key) BETWEEN (i.tenant_id, s.subject_key) AND (i.tenant_id, s.subject_key)
      AND g.revoked_at IS NULL AND (g.expires_at IS NULL OR g.expires_at > statement_timestamp())
    LIMIT 1) one ON true
  LEFT JOIN LATERAL (SELECT g.grant_id, g.scopes FROM grants g
    WHERE s.owner_tenant_id <> i.tenant_id
      AND (g.grantor_tenant_id || '/', g.grantee_tenant_id, coalesce(g.expires_at, 'infinity'))
      > (s.owner_tenant_id || '/', i.tenant_id, statement_timestamp())
      AND (g.grantor_tenant_id || '/', g.grantee_tenant_id) <= (s.owner_tenant_id || '/', i.tenant_id)
      AND g.revoked_at IS NULL AND (g.subject_key = 0) IS TRUE LIMIT 1) every ON true
  WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id
) f ON true
LEFT JOIN LATERAL (
  SELECT * FROM (
    SELECT u.*, sum((octet_length(u.patch_ops) + octet_length(to_json(concat(u.request_id, u.initiated_by, u.proposed_by))::text))) OVER (ORDER BY u.created_at DESC, u.update_id DESC) AS bytes, row_number() OVER (ORDER BY u.created_at DESC, u.update_id DESC) AS place,
      count(*) OVER ()::int AS found
    FROM (SELECT u.*
      FROM unnest($5::text[]) state
      CROSS JOIN LATERAL (SELECT * FROM updates u WHERE u.subject_key = s.subject_key AND f.owns_subject
          AND u.status = state AND (u.created_at, u.update_id) < ($6::timestamptz, $7::uuid)
        ORDER BY u.created_at DESC, u.update_id DESC LIMIT $8) u
      ORDER BY u.created_at DESC, u.update_id DESC LIMIT $8) u
  ) u WHERE u.bytes <= 8388608 OR u.place = 1
) u ON true
ORDER BY u.created_at DESC, u.update_id DESC;

-- updates_of_tenant
--   asked by UpdateStore.list (stores/updates/update.store.ts)
--   $1 tenantId text
--   $2 principalId text
--   $3 statuses text[]
--   $4 beforeTime timestamp with time zone
--   $5 beforeId uuid
--   $6 rows bigint
--   enters memberships_pkey, subjects_pkey, updates_by_tenant
PREPARE updates_of_tenant (text, text, text[], timestamp with time zone, uuid, bigint) AS
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  u.update_id AS "item?.updateId",
  u.tenant_id AS "item?.tenantId",
  s.subject_type AS "item?.subjectType",
  s.subject_id AS "item?.subjectId",
  u.base_snapshot_id AS "item?.baseSnapshotId",
  u.base_snapshot_version AS "item?.baseSnapshotVersion",
  u.patch_ops AS "item?.patchOps",
  u.status AS "item?.status",
  u.request_id AS "item?.requestId",
  u.initiated_by AS "item?.initiatedBy",
  u.proposed_by AS "item?.proposedBy",
  u.created_at AS "item?.createdAt",
  u.applied_at AS "item?.appliedAt",
  u.applied_snapshot_id AS "item?.appliedSnapshotId",
  u.withdrawn_at AS "item?.withdrawnAt",
  s.display_name AS "item?.name",
  ARRAY[u.created_at::text, u.update_id::text] AS position, u.found
FROM (SELECT $1::text AS tenant_id, $2::text AS principal_id) i
LEFT JOIN LATERAL (
  SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access, m.tenancy_role,
    m.principal_type, NULL::boolean AS owns_subject, NULL::text[] AS grant_scopes
  FROM memberships m
  WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id LIMIT 1
) f ON true
LEFT JOIN LATERAL (
  SELECT * FROM (
    SELECT u.*, sum((octet_length(u.patch_ops) + octet_length(to_json(concat(u.request_id, u.initiated_by, u.proposed_by))::text))) OVER (ORDER BY u.created_at DESC, u.update_id DESC) AS bytes, row_number() OVER (ORDER BY u.created_at DESC, u.update_id DESC) AS place,
      count(*) OVER ()::int AS found
    FROM (SELECT u.*
      FROM unnest($3::text[]) state
      CROSS JOIN LATERAL (SELECT * FROM updates u WHERE u.tenant_id = i.tenant_id AND f.member_status = 'active'
          AND u.status = state AND (u.created_at, u.update_id) < ($4::timestamptz, $5::uuid)
        ORDER BY u.created_at DESC, u.update_id DESC LIMIT $6) u
      ORDER BY u.created_at DESC, u.update_id DESC LIMIT $6) u
  ) u WHERE u.bytes <= 8388608 OR u.place = 1
) u ON true
LEFT JOIN subjects s ON s.subject_key = u.subject_key
ORDER BY u.created_at DESC, u.update_id DESC;

-- usage_by_day
--   asked by TenancyStore.usage (stores/tenancy/tenancy.store.ts)
--   $1 tenantId text
--   $2 principalId text
--   $3 from timestamp with time zone
--   $4 to timestamp with time zone
--   $5 readers text[]
--   enters memberships_pkey, snapshots_by_tenant
PREPARE usage_by_day (text, text, timestamp with time zone, timestamp with time zone, text[]) AS
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  u.date AS "day?.date", u.snapshot_writes AS "day?.snapshotWrites"
FROM (SELECT $1::text AS tenant_id, $2::text AS principal_id, $3::timestamptz AS first,
    $4::timestamptz + interval '1 millisecond' AS ending) i
LEFT JOIN LATERAL (
  SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access, m.tenancy_role,
    m.principal_type, NULL::boolean AS owns_subject, NULL::text[] AS grant_scopes
  FROM memberships m
  WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id LIMIT 1
) f ON true
LEFT JOIN LATERAL (
  SELECT to_char(d.day, 'YYYY-MM-DD') AS date, w.snapshot_writes
  FROM generate_series(date_trunc('day', i.first AT TIME ZONE 'UTC'), $4::timestamptz AT TIME ZONE 'UTC', '1 day') d(day)
  CROSS JOIN LATERAL (
    SELECT count(*)::int AS snapshot_writes FROM snapshots s
    WHERE s.tenant_id = i.tenant_id
      AND s.created_at >= greatest(i.first, d.day AT TIME ZONE 'UTC')
      AND s.created_at < least(i.ending, (d.day + interval '1 day') AT TIME ZONE 'UTC')
  ) w
  WHERE f.member_status = 'active' AND f.role = ANY ($5::text[])
) u ON true
ORDER BY u.date;

-- version_as_of_effective_global
--   asked by VersionTimeStore.versionAsOf (stores/snapshots/version-time.store.ts)
--   $1 tenantId text
--   $2 principalId text
--   $3 subjectType text
--   $4 subjectId text
--   $5 asOf bigint
--   enters grants_live, grants_live_by_grantee, grants_to_all_live, memberships_by_principal, snapshots_by_effective_time, snapshots_version_key, subjects_identity_key
PREPARE version_as_of_effective_global (text, text, text, text, bigint) AS
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  CASE WHEN f.owns_subject IS NOT TRUE THEN s.subject_key::float8 END AS "disclosure?.subjectKey",
  f.grantee_tenant_id AS "disclosure?.granteeTenantId", f.grant_id AS "disclosure?.grantId",
  h.version AS "headVersion", nullif(v.passed, 0) AS "version", first.at AS "firstAt"
FROM (SELECT $1::text AS tenant_id, $2::text AS principal_id, $3::text AS subject_type, $4::text AS subject_id, $5::bigint AS as_of) i
LEFT JOIN subjects s ON s.subject_type = i.subject_type AND s.subject_id = i.subject_id
LEFT JOIN LATERAL (
  SELECT 'tenant_reader' AS role, 'active' AS member_status, true AS allow_counterparty_access, o.owns_subject,
    h.grant_scopes, h.grantee_tenant_id, h.grant_id
  FROM (SELECT (SELECT true FROM memberships m
      WHERE m.tenant_id = s.owner_tenant_id AND m.principal_id = i.principal_id
        AND m.status = 'active' LIMIT 1) AS owns_subject OFFSET 0) o
  CROSS JOIN LATERAL (
    WITH RECURSIVE met (tenant_id, allow_counterparty_access) AS (
      SELECT ''::text COLLATE "C", false WHERE o.owns_subject IS NULL
      UNION ALL
      SELECT m.tenant_id, m.allow_counterparty_access
      FROM met
      CROSS JOIN LATERAL (
        SELECT least(
            (SELECT g.grantee_tenant_id FROM grants g
            WHERE (g.subject_key, g.grantee_tenant_id) > (s.subject_key, met.tenant_id)
              AND g.subject_key <= s.subject_key AND g.subject_key > 0 AND g.revoked_at IS NULL
            ORDER BY g.subject_key, g.grantee_tenant_id LIMIT 1),
            (SELECT g.grantee_tenant_id FROM grants g
            WHERE (g.grantor_tenant_id || '/', g.grantee_tenant_id) > (s.owner_tenant_id || '/', met.tenant_id)
              AND g.grantor_tenant_id || '/' <= s.owner_tenant_id || '/' AND g.revoked_at IS NULL
              AND (g.subject_key = 0) IS TRUE
            ORDER BY g.grantor_tenant_id || '/', g.grantee_tenant_id LIMIT 1)) AS grantee_tenant_id
      ) g
      CROSS JOIN LATERAL (
        SELECT m.tenant_id, m.allow_counterparty_access FROM memberships m
        WHERE (m.principal_id, m.tenant_id) >= (i.principal_id, g.grantee_tenant_id)
          AND m.principal_id <= i.principal_id AND m.status = 'active'
        ORDER BY m.principal_id, m.tenant_id LIMIT 1
      ) m
    )
    SELECT array_agg(DISTINCT scope) AS grant_scopes,
      min(m.tenant_id) FILTER (WHERE scope IN ('read_latest', 'read_snapshot_by_id', 'read_lineage')) AS grantee_tenant_id,
      (array_agg(g.grant_id
        ORDER BY m.tenant_id, g.is_to_all) FILTER (WHERE scope IN ('read_latest', 'read_snapshot_by_id', 'read_lineage')))[1] AS grant_id
    FROM met m
    CROSS JOIN LATERAL (SELECT g.scopes, g.grant_id, false AS is_to_all FROM grants g
      WHERE (g.grantee_tenant_id, g.subject_key) BETWEEN (m.tenant_id, s.subject_key)
        AND (m.tenant_id, s.subject_key)
        AND g.revoked_at IS NULL AND (g.expires_at IS NULL OR g.expires_at > statement_timestamp())
      UNION ALL
      SELECT g.scopes, g.grant_id, true FROM grants g
      WHERE (g.grantor_tenant_id || '/', g.grantee_tenant_id, coalesce(g.expires_at, 'infinity'))
        > (s.owner_tenant_id || '/', m.tenant_id, statement_timestamp())
        AND (g.grantor_tenant_id || '/', g.grantee_tenant_id) <= (s.owner_tenant_id || '/', m.tenant_id)
        AND g.revoked_at IS NULL AND (g.subject_key = 0) IS TRUE OFFSET 0) g
    CROSS JOIN unnest(g.scopes) scope
    WHERE m.allow_counterparty_access
  ) h
) f ON true
LEFT JOIN LATERAL (SELECT s.subject_key
  WHERE f.role IN ('tenant_reader', 'tenant_proposer', 'tenant_editor', 'tenant_admin', 'tenant_owner')
    AND f.member_status = 'active'
    AND (f.owns_subject OR (f.allow_counterparty_access
        AND f.grant_scopes && ARRAY['read_latest', 'read_lineage', 'read_snapshot_by_id', 'read_diff']))
    OR i.principal_id = 'anyone') r ON true
LEFT JOIN LATERAL (SELECT n.snapshot_version AS version FROM snapshots n WHERE n.subject_key = r.subject_key
  ORDER BY n.snapshot_version DESC LIMIT 1) h ON true
LEFT JOIN LATERAL (
  SELECT n.snapshot_version AS passed
  FROM ((SELECT n.snapshot_version, effective_time(n.generated_at) AS at FROM snapshots n
      WHERE (n.subject_key, effective_time(n.generated_at)) < (r.subject_key, ('epoch'::timestamptz + (i.as_of + 1) * interval '1 millisecond'))
        AND n.subject_key >= r.subject_key AND n.snapshot_version > 1
      ORDER BY n.subject_key DESC, effective_time(n.generated_at) DESC, n.snapshot_version DESC LIMIT 1)
    UNION ALL
      (SELECT n.snapshot_version, effective_time(n.generated_at) FROM snapshots n
      WHERE n.subject_key = r.subject_key AND n.snapshot_version = 1
        AND effective_time(n.generated_at) < ('epoch'::timestamptz + (i.as_of + 1) * interval '1 millisecond')
      LIMIT 1)) n
  ORDER BY n.at DESC, n.snapshot_version DESC LIMIT 1
) v ON true
LEFT JOIN LATERAL (
  SELECT min(n.at) AS at
  FROM ((SELECT effective_time(n.generated_at) AS at FROM snapshots n
      WHERE (n.subject_key, effective_time(n.generated_at)) > (r.subject_key, '-infinity')
        AND n.subject_key <= r.subject_key AND n.snapshot_version > 1
      ORDER BY n.subject_key, effective_time(n.generated_at), n.snapshot_version LIMIT 1)
    UNION ALL
      (SELECT effective_time(n.generated_at) FROM snapshots n WHERE n.subject_key = r.subject_key
        AND n.snapshot_version = 1 LIMIT 1)) n
  WHERE v.passed IS NULL
) first ON true;

-- version_as_of_effective_tenant
--   asked by VersionTimeStore.versionAsOf (stores/snapshots/version-time.store.ts)
--   $1 tenantId text
--   $2 principalId text
--   $3 subjectType text
--   $4 subjectId text
--   $5 asOf bigint
--   enters grants_live, grants_to_all_live, memberships_pkey, snapshots_by_effective_time, snapshots_version_key, subjects_identity_key
PREPARE version_as_of_effective_tenant (text, text, text, text, bigint) AS
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  CASE WHEN f.owns_subject IS NOT TRUE THEN s.subject_key::float8 END AS "disclosure?.subjectKey",
  i.tenant_id AS "disclosure?.granteeTenantId", f.grant_id AS "disclosure?.grantId",
  h.version AS "headVersion", nullif(v.passed, 0) AS "version", first.at AS "firstAt"
FROM (SELECT $1::text AS tenant_id, $2::text AS principal_id, $3::text AS subject_type, $4::text AS subject_id, $5::bigint AS as_of) i
LEFT JOIN subjects s ON s.subject_type = i.subject_type AND s.subject_id = i.subject_id
LEFT JOIN LATERAL (
  SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access,
    s.owner_tenant_id = i.tenant_id AS owns_subject, one.scopes || every.scopes AS grant_scopes,
    CASE
    WHEN one.scopes && '{read_latest,read_snapshot_by_id,read_lineage}' THEN one.grant_id ELSE every.grant_id END AS grant_id
  FROM memberships m
  LEFT JOIN LATERAL (SELECT g.grant_id, g.scopes FROM grants g
    WHERE s.owner_tenant_id <> i.tenant_id
      AND (g.grantee_tenant_id, g.subject_key) BETWEEN (i.tenant_id, s.subject_key) AND (i.tenant_id, s.subject_key)
      AND g.revoked_at IS NULL AND (g.expires_at IS NULL OR g.expires_at > statement_timestamp())
    LIMIT 1) one ON true
  LEFT JOIN LATERAL (SELECT g.grant_id, g.scopes FROM grants g
    WHERE s.owner_tenant_id <> i.tenant_id
      AND (g.grantor_tenant_id || '/', g.grantee_tenant_id, coalesce(g.expires_at, 'infinity'))
      > (s.owner_tenant_id || '/', i.tenant_id, statement_timestamp())
      AND (g.grantor_tenant_id || '/', g.grantee_tenant_id) <= (s.owner_tenant_id || '/', i.tenant_id)
      AND g.revoked_at IS NULL AND (g.subject_key = 0) IS TRUE LIMIT 1) every ON true
  WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id
) f ON true
LEFT JOIN LATERAL (SELECT s.subject_key
  WHERE f.role IN ('tenant_reader', 'tenant_proposer', 'tenant_editor', 'tenant_admin', 'tenant_owner')
    AND f.member_status = 'active'
    AND (f.owns_subject OR (f.allow_counterparty_access
        AND f.grant_scopes && ARRAY['read_latest', 'read_lineage', 'read_snapshot_by_id', 'read_diff']))) r ON true
LEFT JOIN LATERAL (SELECT n.snapshot_version AS version FROM snapshots n WHERE n.subject_key = r.subject_key
  ORDER BY n.snapshot_version DESC LIMIT 1) h ON true
LEFT JOIN LATERAL (
  SELECT n.snapshot_version AS passed
  FROM ((SELECT n.snapshot_version, effective_time(n.generated_at) AS at FROM snapshots n
      WHERE (n.subject_key, effective_time(n.generated_at)) < (r.subject_key, ('epoch'::timestamptz + (i.as_of + 1) * interval '1 millisecond'))
        AND n.subject_key >= r.subject_key AND n.snapshot_version > 1
      ORDER BY n.subject_key DESC, effective_time(n.generated_at) DESC, n.snapshot_version DESC LIMIT 1)
    UNION ALL
      (SELECT n.snapshot_version, effective_time(n.generated_at) FROM snapshots n
      WHERE n.subject_key = r.subject_key AND n.snapshot_version = 1
        AND effective_time(n.generated_at) < ('epoch'::timestamptz + (i.as_of + 1) * interval '1 millisecond')
      LIMIT 1)) n
  ORDER BY n.at DESC, n.snapshot_version DESC LIMIT 1
) v ON true
LEFT JOIN LATERAL (
  SELECT min(n.at) AS at
  FROM ((SELECT effective_time(n.generated_at) AS at FROM snapshots n
      WHERE (n.subject_key, effective_time(n.generated_at)) > (r.subject_key, '-infinity')
        AND n.subject_key <= r.subject_key AND n.snapshot_version > 1
      ORDER BY n.subject_key, effective_time(n.generated_at), n.snapshot_version LIMIT 1)
    UNION ALL
      (SELECT effective_time(n.generated_at) FROM snapshots n WHERE n.subject_key = r.subject_key
        AND n.snapshot_version = 1 LIMIT 1)) n
  WHERE v.passed IS NULL
) first ON true;

-- version_as_of_recorded_global
--   asked by VersionTimeStore.versionAsOf (stores/snapshots/version-time.store.ts)
--   $1 tenantId text
--   $2 principalId text
--   $3 subjectType text
--   $4 subjectId text
--   $5 asOf bigint
--   enters grants_live, grants_live_by_grantee, grants_to_all_live, memberships_by_principal, snapshots_version_key, subjects_identity_key
PREPARE version_as_of_recorded_global (text, text, text, text, bigint) AS
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  CASE WHEN f.owns_subject IS NOT TRUE THEN s.subject_key::float8 END AS "disclosure?.subjectKey",
  f.grantee_tenant_id AS "disclosure?.granteeTenantId", f.grant_id AS "disclosure?.grantId",
  h.version AS "headVersion", nullif(v.passed, 0) AS "version", first.at AS "firstAt"
FROM (SELECT $1::text AS tenant_id, $2::text AS principal_id, $3::text AS subject_type, $4::text AS subject_id, $5::bigint AS as_of) i
LEFT JOIN subjects s ON s.subject_type = i.subject_type AND s.subject_id = i.subject_id
LEFT JOIN LATERAL (
  SELECT 'tenant_reader' AS role, 'active' AS member_status, true AS allow_counterparty_access, o.owns_subject,
    h.grant_scopes, h.grantee_tenant_id, h.grant_id
  FROM (SELECT (SELECT true FROM memberships m
      WHERE m.tenant_id = s.owner_tenant_id AND m.principal_id = i.principal_id
        AND m.status = 'active' LIMIT 1) AS owns_subject OFFSET 0) o
  CROSS JOIN LATERAL (
    WITH RECURSIVE met (tenant_id, allow_counterparty_access) AS (
      SELECT ''::text COLLATE "C", false WHERE o.owns_subject IS NULL
      UNION ALL
      SELECT m.tenant_id, m.allow_counterparty_access
      FROM met
      CROSS JOIN LATERAL (
        SELECT least(
            (SELECT g.grantee_tenant_id FROM grants g
            WHERE (g.subject_key, g.grantee_tenant_id) > (s.subject_key, met.tenant_id)
              AND g.subject_key <= s.subject_key AND g.subject_key > 0 AND g.revoked_at IS NULL
            ORDER BY g.subject_key, g.grantee_tenant_id LIMIT 1),
            (SELECT g.grantee_tenant_id FROM grants g
            WHERE (g.grantor_tenant_id || '/', g.grantee_tenant_id) > (s.owner_tenant_id || '/', met.tenant_id)
              AND g.grantor_tenant_id || '/' <= s.owner_tenant_id || '/' AND g.revoked_at IS NULL
              AND (g.subject_key = 0) IS TRUE
            ORDER BY g.grantor_tenant_id || '/', g.grantee_tenant_id LIMIT 1)) AS grantee_tenant_id
      ) g
      CROSS JOIN LATERAL (
        SELECT m.tenant_id, m.allow_counterparty_access FROM memberships m
        WHERE (m.principal_id, m.tenant_id) >= (i.principal_id, g.grantee_tenant_id)
          AND m.principal_id <= i.principal_id AND m.status = 'active'
        ORDER BY m.principal_id, m.tenant_id LIMIT 1
      ) m
    )
    SELECT array_agg(DISTINCT scope) AS grant_scopes,
      min(m.tenant_id) FILTER (WHERE scope IN ('read_latest', 'read_snapshot_by_id', 'read_lineage')) AS grantee_tenant_id,
      (array_agg(g.grant_id
        ORDER BY m.tenant_id, g.is_to_all) FILTER (WHERE scope IN ('read_latest', 'read_snapshot_by_id', 'read_lineage')))[1] AS grant_id
    FROM met m
    CROSS JOIN LATERAL (SELECT g.scopes, g.grant_id, false AS is_to_all FROM grants g
      WHERE (g.grantee_tenant_id, g.subject_key) BETWEEN (m.tenant_id, s.subject_key)
        AND (m.tenant_id, s.subject_key)
        AND g.revoked_at IS NULL AND (g.expires_at IS NULL OR g.expires_at > statement_timestamp())
      UNION ALL
      SELECT g.scopes, g.grant_id, true FROM grants g
      WHERE (g.grantor_tenant_id || '/', g.grantee_tenant_id, coalesce(g.expires_at, 'infinity'))
        > (s.owner_tenant_id || '/', m.tenant_id, statement_timestamp())
        AND (g.grantor_tenant_id || '/', g.grantee_tenant_id) <= (s.owner_tenant_id || '/', m.tenant_id)
        AND g.revoked_at IS NULL AND (g.subject_key = 0) IS TRUE OFFSET 0) g
    CROSS JOIN unnest(g.scopes) scope
    WHERE m.allow_counterparty_access
  ) h
) f ON true
LEFT JOIN LATERAL (SELECT s.subject_key
  WHERE f.role IN ('tenant_reader', 'tenant_proposer', 'tenant_editor', 'tenant_admin', 'tenant_owner')
    AND f.member_status = 'active'
    AND (f.owns_subject OR (f.allow_counterparty_access
        AND f.grant_scopes && ARRAY['read_latest', 'read_lineage', 'read_snapshot_by_id', 'read_diff']))
    OR i.principal_id = 'anyone') r ON true
LEFT JOIN LATERAL (SELECT n.snapshot_version AS version FROM snapshots n WHERE n.subject_key = r.subject_key
  ORDER BY n.snapshot_version DESC LIMIT 1) h ON true
LEFT JOIN LATERAL (
  WITH RECURSIVE search (low, high) AS (
    SELECT 0::bigint, h.version::bigint + 1
    UNION ALL
    SELECT CASE
      WHEN n.created_at < ('epoch'::timestamptz + (i.as_of + 1) * interval '1 millisecond') THEN b.middle ELSE b.low END,
      CASE
      WHEN n.created_at < ('epoch'::timestamptz + (i.as_of + 1) * interval '1 millisecond') THEN b.high ELSE b.middle END
    FROM (SELECT low, high, low + (high - low) / 2 AS middle FROM search WHERE high - low > 1) b
    CROSS JOIN LATERAL (SELECT n.created_at FROM snapshots n
      WHERE n.subject_key = r.subject_key AND n.snapshot_version = b.middle LIMIT 1) n
  )
  SELECT low::int AS passed FROM search WHERE high - low = 1
) v ON true
LEFT JOIN LATERAL (SELECT n.created_at AS at FROM snapshots n WHERE n.subject_key = r.subject_key
    AND n.snapshot_version = 1 AND v.passed = 0 LIMIT 1) first ON true;

-- version_as_of_recorded_tenant
--   asked by VersionTimeStore.versionAsOf (stores/snapshots/version-time.store.ts)
--   $1 tenantId text
--   $2 principalId text
--   $3 subjectType text
--   $4 subjectId text
--   $5 asOf bigint
--   enters grants_live, grants_to_all_live, memberships_pkey, snapshots_version_key, subjects_identity_key
PREPARE version_as_of_recorded_tenant (text, text, text, text, bigint) AS
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  CASE WHEN f.owns_subject IS NOT TRUE THEN s.subject_key::float8 END AS "disclosure?.subjectKey",
  i.tenant_id AS "disclosure?.granteeTenantId", f.grant_id AS "disclosure?.grantId",
  h.version AS "headVersion", nullif(v.passed, 0) AS "version", first.at AS "firstAt"
FROM (SELECT $1::text AS tenant_id, $2::text AS principal_id, $3::text AS subject_type, $4::text AS subject_id, $5::bigint AS as_of) i
LEFT JOIN subjects s ON s.subject_type = i.subject_type AND s.subject_id = i.subject_id
LEFT JOIN LATERAL (
  SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access,
    s.owner_tenant_id = i.tenant_id AS owns_subject, one.scopes || every.scopes AS grant_scopes,
    CASE
    WHEN one.scopes && '{read_latest,read_snapshot_by_id,read_lineage}' THEN one.grant_id ELSE every.grant_id END AS grant_id
  FROM memberships m
  LEFT JOIN LATERAL (SELECT g.grant_id, g.scopes FROM grants g
    WHERE s.owner_tenant_id <> i.tenant_id
      AND (g.grantee_tenant_id, g.subject_key) BETWEEN (i.tenant_id, s.subject_key) AND (i.tenant_id, s.subject_key)
      AND g.revoked_at IS NULL AND (g.expires_at IS NULL OR g.expires_at > statement_timestamp())
    LIMIT 1) one ON true
  LEFT JOIN LATERAL (SELECT g.grant_id, g.scopes FROM grants g
    WHERE s.owner_tenant_id <> i.tenant_id
      AND (g.grantor_tenant_id || '/', g.grantee_tenant_id, coalesce(g.expires_at, 'infinity'))
      > (s.owner_tenant_id || '/', i.tenant_id, statement_timestamp())
      AND (g.grantor_tenant_id || '/', g.grantee_tenant_id) <= (s.owner_tenant_id || '/', i.tenant_id)
      AND g.revoked_at IS NULL AND (g.subject_key = 0) IS TRUE LIMIT 1) every ON true
  WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id
) f ON true
LEFT JOIN LATERAL (SELECT s.subject_key
  WHERE f.role IN ('tenant_reader', 'tenant_proposer', 'tenant_editor', 'tenant_admin', 'tenant_owner')
    AND f.member_status = 'active'
    AND (f.owns_subject OR (f.allow_counterparty_access
        AND f.grant_scopes && ARRAY['read_latest', 'read_lineage', 'read_snapshot_by_id', 'read_diff']))) r ON true
LEFT JOIN LATERAL (SELECT n.snapshot_version AS version FROM snapshots n WHERE n.subject_key = r.subject_key
  ORDER BY n.snapshot_version DESC LIMIT 1) h ON true
LEFT JOIN LATERAL (
  WITH RECURSIVE search (low, high) AS (
    SELECT 0::bigint, h.version::bigint + 1
    UNION ALL
    SELECT CASE
      WHEN n.created_at < ('epoch'::timestamptz + (i.as_of + 1) * interval '1 millisecond') THEN b.middle ELSE b.low END,
      CASE
      WHEN n.created_at < ('epoch'::timestamptz + (i.as_of + 1) * interval '1 millisecond') THEN b.high ELSE b.middle END
    FROM (SELECT low, high, low + (high - low) / 2 AS middle FROM search WHERE high - low > 1) b
    CROSS JOIN LATERAL (SELECT n.created_at FROM snapshots n
      WHERE n.subject_key = r.subject_key AND n.snapshot_version = b.middle LIMIT 1) n
  )
  SELECT low::int AS passed FROM search WHERE high - low = 1
) v ON true
LEFT JOIN LATERAL (SELECT n.created_at AS at FROM snapshots n WHERE n.subject_key = r.subject_key
    AND n.snapshot_version = 1 AND v.passed = 0 LIMIT 1) first ON true;

-- versions_effective_within_asc_global
--   asked by VersionTimeStore.within (stores/snapshots/version-time.store.ts)
--   $1 tenantId text
--   $2 principalId text
--   $3 subjectType text
--   $4 subjectId text
--   $5 after integer
--   $6 from bigint
--   $7 ending bigint
--   $8 limit bigint
--   enters grants_live, grants_live_by_grantee, grants_to_all_live, memberships_by_principal, snapshots_by_effective_time, snapshots_version_key, subjects_identity_key
PREPARE versions_effective_within_asc_global (text, text, text, text, integer, bigint, bigint, bigint) AS
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  h.version AS "headVersion", v.snapshot_version AS "version"
FROM (SELECT $1::text AS tenant_id, $2::text AS principal_id, $3::text AS subject_type, $4::text AS subject_id) i
LEFT JOIN subjects s ON s.subject_type = i.subject_type AND s.subject_id = i.subject_id
LEFT JOIN LATERAL (
  SELECT 'tenant_reader' AS role, 'active' AS member_status, true AS allow_counterparty_access, o.owns_subject,
    h.grant_scopes, h.grantee_tenant_id, h.grant_id
  FROM (SELECT (SELECT true FROM memberships m
      WHERE m.tenant_id = s.owner_tenant_id AND m.principal_id = i.principal_id
        AND m.status = 'active' LIMIT 1) AS owns_subject OFFSET 0) o
  CROSS JOIN LATERAL (
    WITH RECURSIVE met (tenant_id, allow_counterparty_access) AS (
      SELECT ''::text COLLATE "C", false WHERE o.owns_subject IS NULL
      UNION ALL
      SELECT m.tenant_id, m.allow_counterparty_access
      FROM met
      CROSS JOIN LATERAL (
        SELECT least(
            (SELECT g.grantee_tenant_id FROM grants g
            WHERE (g.subject_key, g.grantee_tenant_id) > (s.subject_key, met.tenant_id)
              AND g.subject_key <= s.subject_key AND g.subject_key > 0 AND g.revoked_at IS NULL
            ORDER BY g.subject_key, g.grantee_tenant_id LIMIT 1),
            (SELECT g.grantee_tenant_id FROM grants g
            WHERE (g.grantor_tenant_id || '/', g.grantee_tenant_id) > (s.owner_tenant_id || '/', met.tenant_id)
              AND g.grantor_tenant_id || '/' <= s.owner_tenant_id || '/' AND g.revoked_at IS NULL
              AND (g.subject_key = 0) IS TRUE
            ORDER BY g.grantor_tenant_id || '/', g.grantee_tenant_id LIMIT 1)) AS grantee_tenant_id
      ) g
      CROSS JOIN LATERAL (
        SELECT m.tenant_id, m.allow_counterparty_access FROM memberships m
        WHERE (m.principal_id, m.tenant_id) >= (i.principal_id, g.grantee_tenant_id)
          AND m.principal_id <= i.principal_id AND m.status = 'active'
        ORDER BY m.principal_id, m.tenant_id LIMIT 1
      ) m
    )
    SELECT array_agg(DISTINCT scope) AS grant_scopes,
      min(m.tenant_id) FILTER (WHERE scope IN ('read_lineage')) AS grantee_tenant_id,
      (array_agg(g.grant_id
        ORDER BY m.tenant_id, g.is_to_all) FILTER (WHERE scope IN ('read_lineage')))[1] AS grant_id
    FROM met m
    CROSS JOIN LATERAL (SELECT g.scopes, g.grant_id, false AS is_to_all FROM grants g
      WHERE (g.grantee_tenant_id, g.subject_key) BETWEEN (m.tenant_id, s.subject_key)
        AND (m.tenant_id, s.subject_key)
        AND g.revoked_at IS NULL AND (g.expires_at IS NULL OR g.expires_at > statement_timestamp())
      UNION ALL
      SELECT g.scopes, g.grant_id, true FROM grants g
      WHERE (g.grantor_tenant_id || '/', g.grantee_tenant_id, coalesce(g.expires_at, 'infinity'))
        > (s.owner_tenant_id || '/', m.tenant_id, statement_timestamp())
        AND (g.grantor_tenant_id || '/', g.grantee_tenant_id) <= (s.owner_tenant_id || '/', m.tenant_id)
        AND g.revoked_at IS NULL AND (g.subject_key = 0) IS TRUE OFFSET 0) g
    CROSS JOIN unnest(g.scopes) scope
    WHERE m.allow_counterparty_access
  ) h
) f ON true
LEFT JOIN LATERAL (SELECT s.subject_key
  WHERE f.role IN ('tenant_reader', 'tenant_proposer', 'tenant_editor', 'tenant_admin', 'tenant_owner')
    AND f.member_status = 'active'
    AND (f.owns_subject OR (f.allow_counterparty_access AND f.grant_scopes && ARRAY['read_lineage']))
    OR i.principal_id = 'anyone') r ON true
LEFT JOIN LATERAL (SELECT n.snapshot_version AS version FROM snapshots n WHERE n.subject_key = r.subject_key
  ORDER BY n.snapshot_version DESC LIMIT 1) h ON true
LEFT JOIN LATERAL (SELECT effective_time(n.generated_at) AS at FROM snapshots n
  WHERE n.subject_key = r.subject_key AND n.snapshot_version = $5::int LIMIT 1) last ON true
LEFT JOIN LATERAL (
  SELECT n.snapshot_version, n.at
  FROM ((SELECT n.snapshot_version, effective_time(n.generated_at) AS at FROM snapshots n
      WHERE (n.subject_key, effective_time(n.generated_at), n.snapshot_version) > (r.subject_key, coalesce(last.at, coalesce(('epoch'::timestamptz + $6::bigint * interval '1 millisecond'), '-infinity')), coalesce($5::int, 0))
        AND (n.subject_key, effective_time(n.generated_at)) >= (r.subject_key, coalesce(('epoch'::timestamptz + $6::bigint * interval '1 millisecond'), '-infinity'))
        AND (n.subject_key, effective_time(n.generated_at)) < (r.subject_key, coalesce(('epoch'::timestamptz + $7::bigint * interval '1 millisecond'), 'infinity'))
        AND n.snapshot_version > 1
      ORDER BY n.subject_key ASC, effective_time(n.generated_at) ASC, n.snapshot_version ASC LIMIT $8)
    UNION ALL
      (SELECT n.snapshot_version, effective_time(n.generated_at) FROM snapshots n
      WHERE n.subject_key = r.subject_key AND n.snapshot_version = 1
        AND effective_time(n.generated_at) >= coalesce(('epoch'::timestamptz + $6::bigint * interval '1 millisecond'), '-infinity')
        AND effective_time(n.generated_at) < coalesce(('epoch'::timestamptz + $7::bigint * interval '1 millisecond'), 'infinity')
        AND (effective_time(n.generated_at), n.snapshot_version) > (coalesce(last.at, coalesce(('epoch'::timestamptz + $6::bigint * interval '1 millisecond'), '-infinity')), coalesce($5::int, 0))
      LIMIT 1)) n
  ORDER BY n.at ASC, n.snapshot_version ASC LIMIT $8
) v ON true
ORDER BY v.at ASC, v.snapshot_version ASC;

-- versions_effective_within_asc_tenant
--   asked by VersionTimeStore.within (stores/snapshots/version-time.store.ts)
--   $1 tenantId text
--   $2 principalId text
--   $3 subjectType text
--   $4 subjectId text
--   $5 after integer
--   $6 from bigint
--   $7 ending bigint
--   $8 limit bigint
--   enters grants_live, grants_to_all_live, memberships_pkey, snapshots_by_effective_time, snapshots_version_key, subjects_identity_key
PREPARE versions_effective_within_asc_tenant (text, text, text, text, integer, bigint, bigint, bigint) AS
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  h.version AS "headVersion", v.snapshot_version AS "version"
FROM (SELECT $1::text AS tenant_id, $2::text AS principal_id, $3::text AS subject_type, $4::text AS subject_id) i
LEFT JOIN subjects s ON s.subject_type = i.subject_type AND s.subject_id = i.subject_id
LEFT JOIN LATERAL (
  SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access,
    s.owner_tenant_id = i.tenant_id AS owns_subject, one.scopes || every.scopes AS grant_scopes,
    CASE WHEN one.scopes && '{read_lineage}' THEN one.grant_id ELSE every.grant_id END AS grant_id
  FROM memberships m
  LEFT JOIN LATERAL (SELECT g.grant_id, g.scopes FROM grants g
    WHERE s.owner_tenant_id <> i.tenant_id
      AND (g.grantee_tenant_id, g.subject_key) BETWEEN (i.tenant_id, s.subject_key) AND (i.tenant_id, s.subject_key)
      AND g.revoked_at IS NULL AND (g.expires_at IS NULL OR g.expires_at > statement_timestamp())
    LIMIT 1) one ON true
  LEFT JOIN LATERAL (SELECT g.grant_id, g.scopes FROM grants g
    WHERE s.owner_tenant_id <> i.tenant_id
      AND (g.grantor_tenant_id || '/', g.grantee_tenant_id, coalesce(g.expires_at, 'infinity'))
      > (s.owner_tenant_id || '/', i.tenant_id, statement_timestamp())
      AND (g.grantor_tenant_id || '/', g.grantee_tenant_id) <= (s.owner_tenant_id || '/', i.tenant_id)
      AND g.revoked_at IS NULL AND (g.subject_key = 0) IS TRUE LIMIT 1) every ON true
  WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id
) f ON true
LEFT JOIN LATERAL (SELECT s.subject_key
  WHERE f.role IN ('tenant_reader', 'tenant_proposer', 'tenant_editor', 'tenant_admin', 'tenant_owner')
    AND f.member_status = 'active'
    AND (f.owns_subject OR (f.allow_counterparty_access AND f.grant_scopes && ARRAY['read_lineage']))) r ON true
LEFT JOIN LATERAL (SELECT n.snapshot_version AS version FROM snapshots n WHERE n.subject_key = r.subject_key
  ORDER BY n.snapshot_version DESC LIMIT 1) h ON true
LEFT JOIN LATERAL (SELECT effective_time(n.generated_at) AS at FROM snapshots n
  WHERE n.subject_key = r.subject_key AND n.snapshot_version = $5::int LIMIT 1) last ON true
LEFT JOIN LATERAL (
  SELECT n.snapshot_version, n.at
  FROM ((SELECT n.snapshot_version, effective_time(n.generated_at) AS at FROM snapshots n
      WHERE (n.subject_key, effective_time(n.generated_at), n.snapshot_version) > (r.subject_key, coalesce(last.at, coalesce(('epoch'::timestamptz + $6::bigint * interval '1 millisecond'), '-infinity')), coalesce($5::int, 0))
        AND (n.subject_key, effective_time(n.generated_at)) >= (r.subject_key, coalesce(('epoch'::timestamptz + $6::bigint * interval '1 millisecond'), '-infinity'))
        AND (n.subject_key, effective_time(n.generated_at)) < (r.subject_key, coalesce(('epoch'::timestamptz + $7::bigint * interval '1 millisecond'), 'infinity'))
        AND n.snapshot_version > 1
      ORDER BY n.subject_key ASC, effective_time(n.generated_at) ASC, n.snapshot_version ASC LIMIT $8)
    UNION ALL
      (SELECT n.snapshot_version, effective_time(n.generated_at) FROM snapshots n
      WHERE n.subject_key = r.subject_key AND n.snapshot_version = 1
        AND effective_time(n.generated_at) >= coalesce(('epoch'::timestamptz + $6::bigint * interval '1 millisecond'), '-infinity')
        AND effective_time(n.generated_at) < coalesce(('epoch'::timestamptz + $7::bigint * interval '1 millisecond'), 'infinity')
        AND (effective_time(n.generated_at), n.snapshot_version) > (coalesce(last.at, coalesce(('epoch'::timestamptz + $6::bigint * interval '1 millisecond'), '-infinity')), coalesce($5::int, 0))
      LIMIT 1)) n
  ORDER BY n.at ASC, n.snapshot_version ASC LIMIT $8
) v ON true
ORDER BY v.at ASC, v.snapshot_version ASC;

-- versions_effective_within_desc_global
--   asked by VersionTimeStore.within (stores/snapshots/version-time.store.ts)
--   $1 tenantId text
--   $2 principalId text
--   $3 subjectType text
--   $4 subjectId text
--   $5 after integer
--   $6 ending bigint
--   $7 from bigint
--   $8 limit bigint
--   enters grants_live, grants_live_by_grantee, grants_to_all_live, memberships_by_principal, snapshots_by_effective_time, snapshots_version_key, subjects_identity_key
PREPARE versions_effective_within_desc_global (text, text, text, text, integer, bigint, bigint, bigint) AS
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  h.version AS "headVersion", v.snapshot_version AS "version"
FROM (SELECT $1::text AS tenant_id, $2::text AS principal_id, $3::text AS subject_type, $4::text AS subject_id) i
LEFT JOIN subjects s ON s.subject_type = i.subject_type AND s.subject_id = i.subject_id
LEFT JOIN LATERAL (
  SELECT 'tenant_reader' AS role, 'active' AS member_status, true AS allow_counterparty_access, o.owns_subject,
    h.grant_scopes, h.grantee_tenant_id, h.grant_id
  FROM (SELECT (SELECT true FROM memberships m
      WHERE m.tenant_id = s.owner_tenant_id AND m.principal_id = i.principal_id
        AND m.status = 'active' LIMIT 1) AS owns_subject OFFSET 0) o
  CROSS JOIN LATERAL (
    WITH RECURSIVE met (tenant_id, allow_counterparty_access) AS (
      SELECT ''::text COLLATE "C", false WHERE o.owns_subject IS NULL
      UNION ALL
      SELECT m.tenant_id, m.allow_counterparty_access
      FROM met
      CROSS JOIN LATERAL (
        SELECT least(
            (SELECT g.grantee_tenant_id FROM grants g
            WHERE (g.subject_key, g.grantee_tenant_id) > (s.subject_key, met.tenant_id)
              AND g.subject_key <= s.subject_key AND g.subject_key > 0 AND g.revoked_at IS NULL
            ORDER BY g.subject_key, g.grantee_tenant_id LIMIT 1),
            (SELECT g.grantee_tenant_id FROM grants g
            WHERE (g.grantor_tenant_id || '/', g.grantee_tenant_id) > (s.owner_tenant_id || '/', met.tenant_id)
              AND g.grantor_tenant_id || '/' <= s.owner_tenant_id || '/' AND g.revoked_at IS NULL
              AND (g.subject_key = 0) IS TRUE
            ORDER BY g.grantor_tenant_id || '/', g.grantee_tenant_id LIMIT 1)) AS grantee_tenant_id
      ) g
      CROSS JOIN LATERAL (
        SELECT m.tenant_id, m.allow_counterparty_access FROM memberships m
        WHERE (m.principal_id, m.tenant_id) >= (i.principal_id, g.grantee_tenant_id)
          AND m.principal_id <= i.principal_id AND m.status = 'active'
        ORDER BY m.principal_id, m.tenant_id LIMIT 1
      ) m
    )
    SELECT array_agg(DISTINCT scope) AS grant_scopes,
      min(m.tenant_id) FILTER (WHERE scope IN ('read_lineage')) AS grantee_tenant_id,
      (array_agg(g.grant_id
        ORDER BY m.tenant_id, g.is_to_all) FILTER (WHERE scope IN ('read_lineage')))[1] AS grant_id
    FROM met m
    CROSS JOIN LATERAL (SELECT g.scopes, g.grant_id, false AS is_to_all FROM grants g
      WHERE (g.grantee_tenant_id, g.subject_key) BETWEEN (m.tenant_id, s.subject_key)
        AND (m.tenant_id, s.subject_key)
        AND g.revoked_at IS NULL AND (g.expires_at IS NULL OR g.expires_at > statement_timestamp())
      UNION ALL
      SELECT g.scopes, g.grant_id, true FROM grants g
      WHERE (g.grantor_tenant_id || '/', g.grantee_tenant_id, coalesce(g.expires_at, 'infinity'))
        > (s.owner_tenant_id || '/', m.tenant_id, statement_timestamp())
        AND (g.grantor_tenant_id || '/', g.grantee_tenant_id) <= (s.owner_tenant_id || '/', m.tenant_id)
        AND g.revoked_at IS NULL AND (g.subject_key = 0) IS TRUE OFFSET 0) g
    CROSS JOIN unnest(g.scopes) scope
    WHERE m.allow_counterparty_access
  ) h
) f ON true
LEFT JOIN LATERAL (SELECT s.subject_key
  WHERE f.role IN ('tenant_reader', 'tenant_proposer', 'tenant_editor', 'tenant_admin', 'tenant_owner')
    AND f.member_status = 'active'
    AND (f.owns_subject OR (f.allow_counterparty_access AND f.grant_scopes && ARRAY['read_lineage']))
    OR i.principal_id = 'anyone') r ON true
LEFT JOIN LATERAL (SELECT n.snapshot_version AS version FROM snapshots n WHERE n.subject_key = r.subject_key
  ORDER BY n.snapshot_version DESC LIMIT 1) h ON true
LEFT JOIN LATERAL (SELECT effective_time(n.generated_at) AS at FROM snapshots n
  WHERE n.subject_key = r.subject_key AND n.snapshot_version = $5::int LIMIT 1) last ON true
LEFT JOIN LATERAL (
  SELECT n.snapshot_version, n.at
  FROM ((SELECT n.snapshot_version, effective_time(n.generated_at) AS at FROM snapshots n
      WHERE (n.subject_key, effective_time(n.generated_at), n.snapshot_version) < (r.subject_key, coalesce(last.at, coalesce(('epoch'::timestamptz + $6::bigint * interval '1 millisecond'), 'infinity')), coalesce($5::int, 0))
        AND (n.subject_key, effective_time(n.generated_at)) >= (r.subject_key, coalesce(('epoch'::timestamptz + $7::bigint * interval '1 millisecond'), '-infinity'))
        AND (n.subject_key, effective_time(n.generated_at)) < (r.subject_key, coalesce(('epoch'::timestamptz + $6::bigint * interval '1 millisecond'), 'infinity'))
        AND n.snapshot_version > 1
      ORDER BY n.subject_key DESC, effective_time(n.generated_at) DESC, n.snapshot_version DESC LIMIT $8)
    UNION ALL
      (SELECT n.snapshot_version, effective_time(n.generated_at) FROM snapshots n
      WHERE n.subject_key = r.subject_key AND n.snapshot_version = 1
        AND effective_time(n.generated_at) >= coalesce(('epoch'::timestamptz + $7::bigint * interval '1 millisecond'), '-infinity')
        AND effective_time(n.generated_at) < coalesce(('epoch'::timestamptz + $6::bigint * interval '1 millisecond'), 'infinity')
        AND (effective_time(n.generated_at), n.snapshot_version) < (coalesce(last.at, coalesce(('epoch'::timestamptz + $6::bigint * interval '1 millisecond'), 'infinity')), coalesce($5::int, 0))
      LIMIT 1)) n
  ORDER BY n.at DESC, n.snapshot_version DESC LIMIT $8
) v ON true
ORDER BY v.at DESC, v.snapshot_version DESC;

-- versions_effective_within_desc_tenant
--   asked by VersionTimeStore.within (stores/snapshots/version-time.store.ts)
--   $1 tenantId text
--   $2 principalId text
--   $3 subjectType text
--   $4 subjectId text
--   $5 after integer
--   $6 ending bigint
--   $7 from bigint
--   $8 limit bigint
--   enters grants_live, grants_to_all_live, memberships_pkey, snapshots_by_effective_time, snapshots_version_key, subjects_identity_key
PREPARE versions_effective_within_desc_tenant (text, text, text, text, integer, bigint, bigint, bigint) AS
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  h.version AS "headVersion", v.snapshot_version AS "version"
FROM (SELECT $1::text AS tenant_id, $2::text AS principal_id, $3::text AS subject_type, $4::text AS subject_id) i
LEFT JOIN subjects s ON s.subject_type = i.subject_type AND s.subject_id = i.subject_id
LEFT JOIN LATERAL (
  SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access,
    s.owner_tenant_id = i.tenant_id AS owns_subject, one.scopes || every.scopes AS grant_scopes,
    CASE WHEN one.scopes && '{read_lineage}' THEN one.grant_id ELSE every.grant_id END AS grant_id
  FROM memberships m
  LEFT JOIN LATERAL (SELECT g.grant_id, g.scopes FROM grants g
    WHERE s.owner_tenant_id <> i.tenant_id
      AND (g.grantee_tenant_id, g.subject_key) BETWEEN (i.tenant_id, s.subject_key) AND (i.tenant_id, s.subject_key)
      AND g.revoked_at IS NULL AND (g.expires_at IS NULL OR g.expires_at > statement_timestamp())
    LIMIT 1) one ON true
  LEFT JOIN LATERAL (SELECT g.grant_id, g.scopes FROM grants g
    WHERE s.owner_tenant_id <> i.tenant_id
      AND (g.grantor_tenant_id || '/', g.grantee_tenant_id, coalesce(g.expires_at, 'infinity'))
      > (s.owner_tenant_id || '/', i.tenant_id, statement_timestamp())
      AND (g.grantor_tenant_id || '/', g.grantee_tenant_id) <= (s.owner_tenant_id || '/', i.tenant_id)
      AND g.revoked_at IS NULL AND (g.subject_key = 0) IS TRUE LIMIT 1) every ON true
  WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id
) f ON true
LEFT JOIN LATERAL (SELECT s.subject_key
  WHERE f.role IN ('tenant_reader', 'tenant_proposer', 'tenant_editor', 'tenant_admin', 'tenant_owner')
    AND f.member_status = 'active'
    AND (f.owns_subject OR (f.allow_counterparty_access AND f.grant_scopes && ARRAY['read_lineage']))) r ON true
LEFT JOIN LATERAL (SELECT n.snapshot_version AS version FROM snapshots n WHERE n.subject_key = r.subject_key
  ORDER BY n.snapshot_version DESC LIMIT 1) h ON true
LEFT JOIN LATERAL (SELECT effective_time(n.generated_at) AS at FROM snapshots n
  WHERE n.subject_key = r.subject_key AND n.snapshot_version = $5::int LIMIT 1) last ON true
LEFT JOIN LATERAL (
  SELECT n.snapshot_version, n.at
  FROM ((SELECT n.snapshot_version, effective_time(n.generated_at) AS at FROM snapshots n
      WHERE (n.subject_key, effective_time(n.generated_at), n.snapshot_version) < (r.subject_key, coalesce(last.at, coalesce(('epoch'::timestamptz + $6::bigint * interval '1 millisecond'), 'infinity')), coalesce($5::int, 0))
        AND (n.subject_key, effective_time(n.generated_at)) >= (r.subject_key, coalesce(('epoch'::timestamptz + $7::bigint * interval '1 millisecond'), '-infinity'))
        AND (n.subject_key, effective_time(n.generated_at)) < (r.subject_key, coalesce(('epoch'::timestamptz + $6::bigint * interval '1 millisecond'), 'infinity'))
        AND n.snapshot_version > 1
      ORDER BY n.subject_key DESC, effective_time(n.generated_at) DESC, n.snapshot_version DESC LIMIT $8)
    UNION ALL
      (SELECT n.snapshot_version, effective_time(n.generated_at) FROM snapshots n
      WHERE n.subject_key = r.subject_key AND n.snapshot_version = 1
        AND effective_time(n.generated_at) >= coalesce(('epoch'::timestamptz + $7::bigint * interval '1 millisecond'), '-infinity')
        AND effective_time(n.generated_at) < coalesce(('epoch'::timestamptz + $6::bigint * interval '1 millisecond'), 'infinity')
        AND (effective_time(n.generated_at), n.snapshot_version) < (coalesce(last.at, coalesce(('epoch'::timestamptz + $6::bigint * interval '1 millisecond'), 'infinity')), coalesce($5::int, 0))
      LIMIT 1)) n
  ORDER BY n.at DESC, n.snapshot_version DESC LIMIT $8
) v ON true
ORDER BY v.at DESC, v.snapshot_version DESC;

-- versions_recorded_within_global
--   asked by VersionTimeStore.within (stores/snapshots/version-time.store.ts)
--   $1 tenantId text
--   $2 principalId text
--   $3 subjectType text
--   $4 subjectId text
--   $5 from bigint
--   $6 ending bigint
--   enters grants_live, grants_live_by_grantee, grants_to_all_live, memberships_by_principal, snapshots_version_key, subjects_identity_key
PREPARE versions_recorded_within_global (text, text, text, text, bigint, bigint) AS
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  h.version AS "headVersion", b.passed AS "before", v.passed AS "passed"
FROM (SELECT $1::text AS tenant_id, $2::text AS principal_id, $3::text AS subject_type, $4::text AS subject_id) i
LEFT JOIN subjects s ON s.subject_type = i.subject_type AND s.subject_id = i.subject_id
LEFT JOIN LATERAL (
  SELECT 'tenant_reader' AS role, 'active' AS member_status, true AS allow_counterparty_access, o.owns_subject,
    h.grant_scopes, h.grantee_tenant_id, h.grant_id
  FROM (SELECT (SELECT true FROM memberships m
      WHERE m.tenant_id = s.owner_tenant_id AND m.principal_id = i.principal_id
        AND m.status = 'active' LIMIT 1) AS owns_subject OFFSET 0) o
  CROSS JOIN LATERAL (
    WITH RECURSIVE met (tenant_id, allow_counterparty_access) AS (
      SELECT ''::text COLLATE "C", false WHERE o.owns_subject IS NULL
      UNION ALL
      SELECT m.tenant_id, m.allow_counterparty_access
      FROM met
      CROSS JOIN LATERAL (
        SELECT least(
            (SELECT g.grantee_tenant_id FROM grants g
            WHERE (g.subject_key, g.grantee_tenant_id) > (s.subject_key, met.tenant_id)
              AND g.subject_key <= s.subject_key AND g.subject_key > 0 AND g.revoked_at IS NULL
            ORDER BY g.subject_key, g.grantee_tenant_id LIMIT 1),
            (SELECT g.grantee_tenant_id FROM grants g
            WHERE (g.grantor_tenant_id || '/', g.grantee_tenant_id) > (s.owner_tenant_id || '/', met.tenant_id)
              AND g.grantor_tenant_id || '/' <= s.owner_tenant_id || '/' AND g.revoked_at IS NULL
              AND (g.subject_key = 0) IS TRUE
            ORDER BY g.grantor_tenant_id || '/', g.grantee_tenant_id LIMIT 1)) AS grantee_tenant_id
      ) g
      CROSS JOIN LATERAL (
        SELECT m.tenant_id, m.allow_counterparty_access FROM memberships m
        WHERE (m.principal_id, m.tenant_id) >= (i.principal_id, g.grantee_tenant_id)
          AND m.principal_id <= i.principal_id AND m.status = 'active'
        ORDER BY m.principal_id, m.tenant_id LIMIT 1
      ) m
    )
    SELECT array_agg(DISTINCT scope) AS grant_scopes,
      min(m.tenant_id) FILTER (WHERE scope IN ('read_lineage')) AS grantee_tenant_id,
      (array_agg(g.grant_id
        ORDER BY m.tenant_id, g.is_to_all) FILTER (WHERE scope IN ('read_lineage')))[1] AS grant_id
    FROM met m
    CROSS JOIN LATERAL (SELECT g.scopes, g.grant_id, false AS is_to_all FROM grants g
      WHERE (g.grantee_tenant_id, g.subject_key) BETWEEN (m.tenant_id, s.subject_key)
        AND (m.tenant_id, s.subject_key)
        AND g.revoked_at IS NULL AND (g.expires_at IS NULL OR g.expires_at > statement_timestamp())
      UNION ALL
      SELECT g.scopes, g.grant_id, true FROM grants g
      WHERE (g.grantor_tenant_id || '/', g.grantee_tenant_id, coalesce(g.expires_at, 'infinity'))
        > (s.owner_tenant_id || '/', m.tenant_id, statement_timestamp())
        AND (g.grantor_tenant_id || '/', g.grantee_tenant_id) <= (s.owner_tenant_id || '/', m.tenant_id)
        AND g.revoked_at IS NULL AND (g.subject_key = 0) IS TRUE OFFSET 0) g
    CROSS JOIN unnest(g.scopes) scope
    WHERE m.allow_counterparty_access
  ) h
) f ON true
LEFT JOIN LATERAL (SELECT s.subject_key
  WHERE f.role IN ('tenant_reader', 'tenant_proposer', 'tenant_editor', 'tenant_admin', 'tenant_owner')
    AND f.member_status = 'active'
    AND (f.owns_subject OR (f.allow_counterparty_access AND f.grant_scopes && ARRAY['read_lineage']))
    OR i.principal_id = 'anyone') r ON true
LEFT JOIN LATERAL (SELECT n.snapshot_version AS version FROM snapshots n WHERE n.subject_key = r.subject_key
  ORDER BY n.snapshot_version DESC LIMIT 1) h ON true
LEFT JOIN LATERAL (
  WITH RECURSIVE search (low, high) AS (
    SELECT 0::bigint, h.version::bigint + 1
    UNION ALL
    SELECT CASE
      WHEN n.created_at < coalesce(('epoch'::timestamptz + $5::bigint * interval '1 millisecond'), '-infinity') THEN b.middle ELSE b.low END,
      CASE
      WHEN n.created_at < coalesce(('epoch'::timestamptz + $5::bigint * interval '1 millisecond'), '-infinity') THEN b.high ELSE b.middle END
    FROM (SELECT low, high, low + (high - low) / 2 AS middle FROM search WHERE high - low > 1) b
    CROSS JOIN LATERAL (SELECT n.created_at FROM snapshots n
      WHERE n.subject_key = r.subject_key AND n.snapshot_version = b.middle LIMIT 1) n
  )
  SELECT low::int AS passed FROM search WHERE high - low = 1
) b ON true
LEFT JOIN LATERAL (
  WITH RECURSIVE search (low, high) AS (
    SELECT 0::bigint, h.version::bigint + 1
    UNION ALL
    SELECT CASE
      WHEN n.created_at < coalesce(('epoch'::timestamptz + $6::bigint * interval '1 millisecond'), 'infinity') THEN b.middle ELSE b.low END,
      CASE
      WHEN n.created_at < coalesce(('epoch'::timestamptz + $6::bigint * interval '1 millisecond'), 'infinity') THEN b.high ELSE b.middle END
    FROM (SELECT low, high, low + (high - low) / 2 AS middle FROM search WHERE high - low > 1) b
    CROSS JOIN LATERAL (SELECT n.created_at FROM snapshots n
      WHERE n.subject_key = r.subject_key AND n.snapshot_version = b.middle LIMIT 1) n
  )
  SELECT low::int AS passed FROM search WHERE high - low = 1
) v ON true;

-- versions_recorded_within_tenant
--   asked by VersionTimeStore.within (stores/snapshots/version-time.store.ts)
--   $1 tenantId text
--   $2 principalId text
--   $3 subjectType text
--   $4 subjectId text
--   $5 from bigint
--   $6 ending bigint
--   enters grants_live, grants_to_all_live, memberships_pkey, snapshots_version_key, subjects_identity_key
PREPARE versions_recorded_within_tenant (text, text, text, text, bigint, bigint) AS
SELECT f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  h.version AS "headVersion", b.passed AS "before", v.passed AS "passed"
FROM (SELECT $1::text AS tenant_id, $2::text AS principal_id, $3::text AS subject_type, $4::text AS subject_id) i
LEFT JOIN subjects s ON s.subject_type = i.subject_type AND s.subject_id = i.subject_id
LEFT JOIN LATERAL (
  SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access,
    s.owner_tenant_id = i.tenant_id AS owns_subject, one.scopes || every.scopes AS grant_scopes,
    CASE WHEN one.scopes && '{read_lineage}' THEN one.grant_id ELSE every.grant_id END AS grant_id
  FROM memberships m
  LEFT JOIN LATERAL (SELECT g.grant_id, g.scopes FROM grants g
    WHERE s.owner_tenant_id <> i.tenant_id
      AND (g.grantee_tenant_id, g.subject_key) BETWEEN (i.tenant_id, s.subject_key) AND (i.tenant_id, s.subject_key)
      AND g.revoked_at IS NULL AND (g.expires_at IS NULL OR g.expires_at > statement_timestamp())
    LIMIT 1) one ON true
  LEFT JOIN LATERAL (SELECT g.grant_id, g.scopes FROM grants g
    WHERE s.owner_tenant_id <> i.tenant_id
      AND (g.grantor_tenant_id || '/', g.grantee_tenant_id, coalesce(g.expires_at, 'infinity'))
      > (s.owner_tenant_id || '/', i.tenant_id, statement_timestamp())
      AND (g.grantor_tenant_id || '/', g.grantee_tenant_id) <= (s.owner_tenant_id || '/', i.tenant_id)
      AND g.revoked_at IS NULL AND (g.subject_key = 0) IS TRUE LIMIT 1) every ON true
  WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id
) f ON true
LEFT JOIN LATERAL (SELECT s.subject_key
  WHERE f.role IN ('tenant_reader', 'tenant_proposer', 'tenant_editor', 'tenant_admin', 'tenant_owner')
    AND f.member_status = 'active'
    AND (f.owns_subject OR (f.allow_counterparty_access AND f.grant_scopes && ARRAY['read_lineage']))) r ON true
LEFT JOIN LATERAL (SELECT n.snapshot_version AS version FROM snapshots n WHERE n.subject_key = r.subject_key
  ORDER BY n.snapshot_version DESC LIMIT 1) h ON true
LEFT JOIN LATERAL (
  WITH RECURSIVE search (low, high) AS (
    SELECT 0::bigint, h.version::bigint + 1
    UNION ALL
    SELECT CASE
      WHEN n.created_at < coalesce(('epoch'::timestamptz + $5::bigint * interval '1 millisecond'), '-infinity') THEN b.middle ELSE b.low END,
      CASE
      WHEN n.created_at < coalesce(('epoch'::timestamptz + $5::bigint * interval '1 millisecond'), '-infinity') THEN b.high ELSE b.middle END
    FROM (SELECT low, high, low + (high - low) / 2 AS middle FROM search WHERE high - low > 1) b
    CROSS JOIN LATERAL (SELECT n.created_at FROM snapshots n
      WHERE n.subject_key = r.subject_key AND n.snapshot_version = b.middle LIMIT 1) n
  )
  SELECT low::int AS passed FROM search WHERE high - low = 1
) b ON true
LEFT JOIN LATERAL (
  WITH RECURSIVE search (low, high) AS (
    SELECT 0::bigint, h.version::bigint + 1
    UNION ALL
    SELECT CASE
      WHEN n.created_at < coalesce(('epoch'::timestamptz + $6::bigint * interval '1 millisecond'), 'infinity') THEN b.middle ELSE b.low END,
      CASE
      WHEN n.created_at < coalesce(('epoch'::timestamptz + $6::bigint * interval '1 millisecond'), 'infinity') THEN b.high ELSE b.middle END
    FROM (SELECT low, high, low + (high - low) / 2 AS middle FROM search WHERE high - low > 1) b
    CROSS JOIN LATERAL (SELECT n.created_at FROM snapshots n
      WHERE n.subject_key = r.subject_key AND n.snapshot_version = b.middle LIMIT 1) n
  )
  SELECT low::int AS passed FROM search WHERE high - low = 1
) v ON true;

-- webhook_subscription_change
--   asked by WebhookSubscriptionStore.update (stores/webhooks/webhook-subscription.store.ts)
--   $1 targetUrl text
--   $2 eventTypes text[]
--   $3 status text
--   $4 principalId text
--   $5 requestId text
--   $6 subscriptionId uuid
--   enters webhook_subscriptions_pkey
PREPARE webhook_subscription_change (text, text[], text, text, text, uuid) AS
UPDATE webhook_subscriptions s
SET target_url = coalesce($1::text, s.target_url),
  event_types = coalesce($2, s.event_types),
  status = coalesce($3::text, s.status),
  disabled_at = CASE $3::text WHEN 'active' THEN NULL WHEN 'disabled' THEN coalesce(s.disabled_at, now())
  ELSE s.disabled_at END,
  disabled_reason = CASE $3::text WHEN 'active' THEN NULL
  WHEN 'disabled' THEN coalesce(s.disabled_reason, 'requested')
  ELSE s.disabled_reason END,
  failing_since = CASE $3::text WHEN 'active' THEN NULL ELSE s.failing_since END
FROM (SELECT set_config('iss.acting_principal', $4::text, true) AS principal_id,
    set_config('iss.acting_request', $5::text, true) AS request_id) acting
WHERE s.subscription_id = $6 AND (s.deleted_at IS NULL) IS TRUE
RETURNING s.subscription_id AS "subscriptionId",
  s.tenant_id AS "tenantId",
  s.target_url AS "targetUrl",
  s.event_types AS "eventTypes",
  s.status AS "status",
  s.disabled_reason AS "disabledReason",
  s.disabled_at AS "disabledAt",
  s.secret_last_rotated_at AS "secretLastRotatedAt",
  s.created_at AS "createdAt";

-- webhook_subscription_create
--   asked by WebhookSubscriptionStore.create (stores/webhooks/webhook-subscription.store.ts)
--   $1 tenantId text
--   $2 subscriptions_per_tenant integer
--   $3 subscriptionId uuid
--   $4 targetUrl text
--   $5 eventTypes text[]
--   $6 secretSealed text
--   $7 secretFingerprint text
--   enters limit_overrides_pkey, webhook_subscriptions_by_tenant
PREPARE webhook_subscription_create (text, integer, uuid, text, text[], text, text) AS
WITH cap AS MATERIALIZED (SELECT coalesce((SELECT l.value FROM limit_overrides l
      WHERE l.scope = 'tenant' AND l.scope_id = $1 AND l.limit_name = 'subscriptions_per_tenant'
      LIMIT 1), $2::int) AS value),
made AS (
  INSERT INTO webhook_subscriptions
    (subscription_id, tenant_id, target_url, event_types, secret_sealed, secret_fingerprint)
  SELECT $3::uuid, $1::text, $4::text, $5::text[], $6::text,
    $7::text
  FROM cap
  WHERE (SELECT count(*)::int FROM (SELECT FROM webhook_subscriptions w WHERE w.tenant_id = $1
        AND w.deleted_at IS NULL LIMIT cap.value) counted) < cap.value
  RETURNING *
)
SELECT s.subscription_id AS "subscription?.subscriptionId",
  s.tenant_id AS "subscription?.tenantId",
  s.target_url AS "subscription?.targetUrl",
  s.event_types AS "subscription?.eventTypes",
  s.status AS "subscription?.status",
  s.disabled_reason AS "subscription?.disabledReason",
  s.disabled_at AS "subscription?.disabledAt",
  s.secret_last_rotated_at AS "subscription?.secretLastRotatedAt",
  s.created_at AS "subscription?.createdAt", cap.value AS cap
FROM cap LEFT JOIN made s ON true;

-- webhook_subscription_delete
--   asked by WebhookSubscriptionStore.delete (stores/webhooks/webhook-subscription.store.ts)
--   $1 principalId text
--   $2 requestId text
--   $3 subscriptionId uuid
--   enters webhook_subscriptions_pkey
PREPARE webhook_subscription_delete (text, text, uuid) AS
UPDATE webhook_subscriptions s SET deleted_at = now()
FROM (SELECT set_config('iss.acting_principal', $1::text, true) AS principal_id,
    set_config('iss.acting_request', $2::text, true) AS request_id) acting WHERE s.subscription_id = $3
  AND (s.deleted_at IS NULL) IS TRUE
RETURNING s.subscription_id AS "subscriptionId";

-- webhook_subscription_find
--   asked by WebhookSubscriptionStore.find (stores/webhooks/webhook-subscription.store.ts)
--   $1 subscriptionId uuid
--   enters webhook_subscriptions_pkey
PREPARE webhook_subscription_find (uuid) AS
SELECT s.subscription_id AS "subscriptionId",
  s.tenant_id AS "tenantId",
  s.target_url AS "targetUrl",
  s.event_types AS "eventTypes",
  s.status AS "status",
  s.disabled_reason AS "disabledReason",
  s.disabled_at AS "disabledAt",
  s.secret_last_rotated_at AS "secretLastRotatedAt",
  s.created_at AS "createdAt" FROM webhook_subscriptions s WHERE s.subscription_id = $1
  AND (s.deleted_at IS NULL) IS TRUE;

-- webhook_subscription_rotate
--   asked by WebhookSubscriptionStore.rotate (stores/webhooks/webhook-subscription.store.ts)
--   $1 secretSealed text
--   $2 secretFingerprint text
--   $3 graceSeconds double precision
--   $4 principalId text
--   $5 requestId text
--   $6 subscriptionId uuid
--   enters webhook_subscriptions_pkey
PREPARE webhook_subscription_rotate (text, text, double precision, text, text, uuid) AS
UPDATE webhook_subscriptions s
SET secret_sealed = $1, secret_fingerprint = $2, secret_last_rotated_at = now(),
  previous_secret_sealed = CASE WHEN $3::float8 > 0 THEN s.secret_sealed END,
  previous_secret_until = CASE WHEN $3 > 0 THEN now() + make_interval(secs => $3) END
FROM (SELECT set_config('iss.acting_principal', $4::text, true) AS principal_id,
    set_config('iss.acting_request', $5::text, true) AS request_id) acting
WHERE s.subscription_id = $6 AND (s.deleted_at IS NULL) IS TRUE
RETURNING s.subscription_id AS "subscriptionId",
  s.tenant_id AS "tenantId",
  s.target_url AS "targetUrl",
  s.event_types AS "eventTypes",
  s.status AS "status",
  s.disabled_reason AS "disabledReason",
  s.disabled_at AS "disabledAt",
  s.secret_last_rotated_at AS "secretLastRotatedAt",
  s.created_at AS "createdAt";

-- webhook_subscriptions_of_tenant
--   asked by WebhookSubscriptionStore.page (stores/webhooks/webhook-subscription.store.ts)
--   $1 tenantId text
--   $2 last uuid
--   $3 rows bigint
--   enters webhook_subscriptions_by_tenant, webhook_subscriptions_pkey
PREPARE webhook_subscriptions_of_tenant (text, uuid, bigint) AS
SELECT s.subscription_id AS "subscriptionId",
  s.tenant_id AS "tenantId",
  s.target_url AS "targetUrl",
  s.event_types AS "eventTypes",
  s.status AS "status",
  s.disabled_reason AS "disabledReason",
  s.disabled_at AS "disabledAt",
  s.secret_last_rotated_at AS "secretLastRotatedAt",
  s.created_at AS "createdAt"
FROM webhook_subscriptions s
WHERE s.tenant_id = $1 AND s.deleted_at IS NULL
  AND (s.created_at, s.subscription_id) >
  (CASE WHEN $2::uuid IS NULL THEN '-infinity'
    ELSE (SELECT a.created_at FROM webhook_subscriptions a WHERE a.subscription_id = $2) END,
    coalesce($2, '00000000-0000-0000-0000-000000000000'))
ORDER BY s.created_at, s.subscription_id LIMIT $3;

-- write_ahead_position
--   asked by openDatabase (database.ts)
--   enters no index
PREPARE write_ahead_position AS
SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 AS position;
