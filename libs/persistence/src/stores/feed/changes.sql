-- fragment: epoch
-- Changes when a place may no longer mean the same entry: the log was restarted, or the server or the table was replaced and may
-- have an older state.
concat_ws(' ', l.began_at, l.tableoid, pg_postmaster_start_time())

-- statement: change_places
-- Finds the places that may concern the tenant, in the order of the log, from the caller's place on. All rows are the tenant's
-- own, so other tenants can neither slow a page down nor make it incomplete. The lists of owned entries follow one another, so no
-- more of them are unnested than examined. Rights are checked when an entry is shown, regardless of these rows.
WITH caller AS MATERIALIZED (
  SELECT i.tenant_id, f.*, l.size, l.granted_size, @epoch AS epoch,
         f.member_status = 'active' AND f.role IN (@roles(readChanges)) AS may_read
    FROM (SELECT :tenantId::text AS tenant_id, :principalId::text AS principal_id) i
   CROSS JOIN log_feed l
    @member_access(i.tenant_id)
   WHERE l.is_one
), own AS MATERIALIZED (
  SELECT e.log_index
    FROM caller f
   CROSS JOIN LATERAL (
     SELECT e.log_index
       FROM (SELECT t.last_index, t.log_indexes FROM tenant_feed t
              WHERE (t.tenant_id, t.last_index) > (f.tenant_id, :after::bigint) AND t.tenant_id <= f.tenant_id AND f.may_read
              ORDER BY t.tenant_id, t.last_index LIMIT :lookedAt) t
      CROSS JOIN LATERAL unnest(t.log_indexes) AS e(log_index)
      WHERE e.log_index > :after::bigint AND e.log_index < f.size
      ORDER BY t.last_index, e.log_index LIMIT :lookedAt
   ) e
), shared AS MATERIALIZED (
  SELECT t.log_index
    FROM caller f
   CROSS JOIN LATERAL (
     SELECT t.log_index FROM shared_feed t
      WHERE (t.tenant_id, t.log_index) > (f.tenant_id, :after::bigint)
        AND (t.tenant_id, t.log_index) < (f.tenant_id, f.size)
        AND f.may_read AND f.allow_counterparty_access
      ORDER BY t.tenant_id, t.log_index LIMIT :lookedAt
   ) t
)
SELECT @facts,
  f.epoch,
  (SELECT array_agg(l.log_index ORDER BY l.log_index)::float8[]
     FROM (SELECT log_index
             FROM (SELECT * FROM own UNION SELECT * FROM shared) u
            ORDER BY log_index LIMIT :lookedAt) l) AS places,
  CASE WHEN f.may_read AND f.allow_counterparty_access THEN
    CASE WHEN f.granted_size < f.size THEN 0
         ELSE (SELECT g.next_index::float8 FROM granted_feeds g
                WHERE (g.grantee_tenant_id, g.next_index) >= (f.tenant_id, 0) AND g.grantee_tenant_id <= f.tenant_id
                  AND g.turn IS NOT NULL
                ORDER BY g.grantee_tenant_id, g.next_index LIMIT 1) END
  END AS "copiedTo"
  FROM caller f

-- statement: changes
-- Reads the entries at these places, unless the log was restarted since.
SELECT k.log_index::float8 AS "logIndex",
  @fact,
  @granted_type(g, s) AS "subject?.subjectType",
  @granted_id(g, s) AS "subject?.subjectId",
  s.subject_key::float8 AS "subjectKey",
  g.grantee_tenant_id AS "granteeTenantId"
  FROM unnest(:indexes::bigint[]) i(log_index)
 CROSS JOIN LATERAL (SELECT * FROM log_entries k WHERE k.log_index = i.log_index LIMIT 1) k
  @fact_of_keys
 WHERE (SELECT @epoch FROM log_feed l WHERE l.is_one) = :epoch

-- statement: changes_followed
-- Returns for each of these subjects of other tenants whether the tenant may follow it now, and the paths of its grants.
SELECT coalesce(one.gives OR every.gives, false) AS "mayFollow",
       @paths_in_use AS paths
  FROM (SELECT :tenantId::text AS tenant_id) i
 CROSS JOIN (SELECT i.subject_key, i.owner_tenant_id, i.ord FROM unnest(:inputs.subjectKey::bigint[], :inputs.ownerTenantId::text[])
    WITH ORDINALITY AS i(subject_key, owner_tenant_id, ord)) s
@grants_of(@live_grant_on(i.tenant_id, s.subject_key), @accepted_grant_to_all(s.owner_tenant_id, i.tenant_id), ARRAY[@scopes(followShared)])
 ORDER BY s.ord

-- statement: changes_of_versions
-- Returns why and where these versions differ from the previous ones.
SELECT n.change_kind AS "changeKind", @changed_paths_of(n.subject_key, n.snapshot_version) AS "changedPaths"
  FROM unnest(:inputs.subjectKey::bigint[], :inputs.snapshotVersion::int[])
    WITH ORDINALITY AS i(subject_key, snapshot_version, ord)
  @snapshot_of_version(i.subject_key, i.snapshot_version, n)
 ORDER BY i.ord

-- statement: feed_news
-- Returns for each tenant whether it has an entry after its place.
SELECT coalesce((SELECT true FROM tenant_feed t
                  WHERE (t.tenant_id, t.last_index) > (i.tenant_id, i.after) AND t.tenant_id <= i.tenant_id
                  ORDER BY t.tenant_id, t.last_index LIMIT 1),
                (SELECT true FROM shared_feed t
                  WHERE (t.tenant_id, t.log_index) > (i.tenant_id, i.after) AND t.tenant_id <= i.tenant_id
                  ORDER BY t.tenant_id, t.log_index LIMIT 1), false) AS "isNew"
  FROM unnest(:inputs.tenantId::text[], :inputs.after::bigint[])
    WITH ORDINALITY AS i(tenant_id, after, ord)
 ORDER BY i.ord

-- statement: feed_size
SELECT size::float8 AS size FROM log_feed WHERE is_one

-- statement: feed_size_before
SELECT coalesce((SELECT c.size FROM log_checkpoints c
                  WHERE c.signed_at <= :moment::timestamptz AND (c.marked_at IS NULL) IS TRUE
                  ORDER BY c.signed_at DESC LIMIT 1), 0)::float8 AS size

-- statement: feed_lag
-- Returns the age of the first log entry that is not in the feeds.
SELECT coalesce(extract(epoch FROM clock_timestamp() - @fact_at) * 1000, 0)::float8 AS "ageMs"
  FROM (SELECT size FROM log_feed WHERE is_one) feed
  LEFT JOIN LATERAL (SELECT * FROM log_entries k WHERE k.log_index = feed.size LIMIT 1) k ON true
  @fact_of_keys
