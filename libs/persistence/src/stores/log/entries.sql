-- fragment: place
-- Selects the place of the entry `k`, or null.
k.log_index::float8 AS "entry?.logIndex", k.salt AS "entry?.salt"

-- fragment: entry
@place,
  @fact_of_entry

-- fragment: of_snapshot(grantee, reader)
-- Reads the entry of a snapshot, and the entry of its view if the former does not name it. If the caller already knows their salts,
-- it returns no content, because a salt identifies one entry.
SELECT @facts,
  @disclosed(@grantee), found.snapshot_version AS version, known.is_known AS "isKnown",
  (own.view_hash IS NOT NULL AND own.salt IS NULL) IS TRUE AS "isViewWaiting",
  @of_erasure(public_id) AS "erasure?.erasureId",
  @of_erasure(erased_at) AS "erasure?.erasedAt",
  @place,
  @snapshot_fact,
  CASE WHEN known.is_known THEN NULL ELSE own.log_index::float8 END AS "view?.logIndex",
  own.salt AS "view?.salt",
  encode(own.view_hash, 'hex') AS "view?.viewHash",
  own.committed_at AS "view?.committedAt"
  FROM unnest(:inputs.tenantId::text[], :inputs.principalId::text[], :inputs.snapshotId::uuid[],
                :inputs.knownSalt::bytea[])
    WITH ORDINALITY AS i(tenant_id, principal_id, snapshot_id, known_salt, ord)
  LEFT JOIN snapshots found ON found.snapshot_id = i.snapshot_id
  LEFT JOIN subjects s ON s.subject_key = found.subject_key
  @reader
  LEFT JOIN LATERAL (SELECT * FROM log_entries e
                      WHERE e.subject_key = r.subject_key AND e.snapshot_version = found.snapshot_version
                        AND e.entry_type = 1 LIMIT 1) placed ON true
  LEFT JOIN LATERAL (SELECT v.view_hash, v.committed_at, e.log_index, e.salt
                       FROM (SELECT * FROM snapshot_views v
                              WHERE placed.names_view IS NOT TRUE AND v.subject_key = placed.subject_key
                                AND v.snapshot_version = placed.snapshot_version AND v.view_hash IS NOT NULL LIMIT 1) v
                       LEFT JOIN LATERAL (SELECT * FROM log_entries e
                                           WHERE e.subject_key = v.subject_key AND e.snapshot_version = v.snapshot_version
                                             AND e.entry_type = 14 LIMIT 1) e ON true) own ON true
 CROSS JOIN LATERAL (SELECT (placed.salt || coalesce(own.salt, '') = i.known_salt) IS TRUE AS is_known) known
  LEFT JOIN LATERAL (SELECT placed.* WHERE NOT known.is_known) k ON true
  LEFT JOIN LATERAL (SELECT found.* WHERE r.subject_key IS NOT NULL AND NOT known.is_known) n ON true
  @view_of_keys
 ORDER BY i.ord



-- statement: log_entry_of_snapshot_tenant
@of_snapshot(i.tenant_id, @tenant_read(readById))

-- statement: log_entry_of_snapshot_global
@of_snapshot(f.grantee_tenant_id, @global_read(readById))

-- statement: log_entries_of_versions
-- Reads the entries of these versions of a subject. The caller must have checked the right.
SELECT @entry
  FROM (SELECT subject_key FROM subjects WHERE subject_type = :subjectType AND subject_id = :subjectId) found
 CROSS JOIN LATERAL (SELECT * FROM log_entries e
                      WHERE e.subject_key = found.subject_key AND e.snapshot_version BETWEEN :from::int AND :to::int
                        AND e.entry_type = 1 ORDER BY e.snapshot_version) k
  @fact_of_keys
 ORDER BY k.snapshot_version

-- statement: log_entries_of_views
-- Reads the entries of the views of these versions. Most versions name their view in their own entry.
SELECT k.log_index::float8 AS "logIndex", k.salt,
  @view_fact
  FROM (SELECT subject_key FROM subjects WHERE subject_type = :subjectType AND subject_id = :subjectId) found
 CROSS JOIN LATERAL (SELECT * FROM log_entries e
                      WHERE e.subject_key = found.subject_key AND e.snapshot_version BETWEEN :from::int AND :to::int
                        AND e.entry_type = 14 ORDER BY e.snapshot_version) k
  @fact_of_keys
 ORDER BY k.snapshot_version

-- fragment: of_grant(is_so, entry_of)
-- Reads the entry of a fact about a grant. Grantor and grantee may see it. `is_so` is true if the fact exists.
SELECT @facts,
  granted.grant_id IS NOT NULL AS exists, @is_so AS "isSo",
  @entry
  FROM (SELECT :tenantId::text AS tenant_id, :principalId::text AS principal_id, :grantId::uuid AS grant_id) i
  @member_access(i.tenant_id)
  LEFT JOIN LATERAL (SELECT * FROM grants WHERE grant_id = i.grant_id LIMIT 1) granted
    ON i.tenant_id IN (granted.grantor_tenant_id, granted.grantee_tenant_id)
  LEFT JOIN LATERAL (@entry_of) k ON true
  @fact_of_keys

-- fragment: entry_of_grant(number)
SELECT * FROM log_entries e
                      WHERE e.grant_id = granted.grant_id AND e.entry_type = @number LIMIT 1

-- statement: log_entry_of_grant_created
@of_grant(true, @entry_of_grant(2))

-- statement: log_entry_of_grant_changed
@of_grant((SELECT true FROM grant_changes h WHERE h.grant_id = granted.grant_id LIMIT 1) IS TRUE, {
  SELECT e.* FROM (SELECT h.grant_change_id FROM grant_changes h WHERE h.grant_id = granted.grant_id
                             ORDER BY (-h.grant_change_id) LIMIT 1) h
                      CROSS JOIN LATERAL (SELECT * FROM log_entries e
                                           WHERE e.grant_change_id = h.grant_change_id LIMIT 1) e})

-- statement: log_entry_of_grant_revoked
@of_grant(granted.revoked_at IS NOT NULL, @entry_of_grant(3))

-- statement: log_entry_of_owner_change
-- Reads the entry of an owner change of the caller's tenant, by its place.
SELECT @facts,
  @entry
  FROM (SELECT :tenantId::text AS tenant_id, :principalId::text AS principal_id) i
  @member_access(i.tenant_id)
  LEFT JOIN LATERAL (SELECT e.* FROM log_entries e
                      CROSS JOIN LATERAL (SELECT tenant_id FROM owner_changes own
                                           WHERE own.owner_change_id = e.owner_change_id LIMIT 1) own
                      WHERE e.log_index = :logIndex::bigint AND own.tenant_id = i.tenant_id LIMIT 1) k ON true
  @fact_of_keys

-- statement: log_entry_of_erasure
-- Reads the entry of an executed erasure. The caller must have checked the right to see an erased version.
SELECT @entry
  FROM (SELECT erasure_id FROM erasures WHERE public_id = :erasureId::uuid) found
  LEFT JOIN LATERAL (SELECT * FROM log_entries e WHERE e.erasure_id = found.erasure_id LIMIT 1) k ON true
  @fact_of_keys

-- statement: log_entry_of_records
-- Reads the entry at a place if it has records of the tenant. The caller must have checked the right to see them.
SELECT @place,
  @records
  FROM (SELECT * FROM log_entries WHERE log_index = :logIndex::bigint) k
  @records_of_keys
 WHERE b.tenant_id = :tenantId

-- statement: log_entry_of_newest_erasure
-- Reads the entry of the newest erasure. A subject has one pending erasure at a time, so the last requested one is the last
-- executed one.
SELECT found.erasure_id IS NOT NULL AS "isErased",
  @entry
  FROM (SELECT (SELECT er.erasure_id FROM erasures er
                 WHERE er.subject_key = s.subject_key AND (er.status = 'erased') IS TRUE
                 ORDER BY (-er.erasure_id) LIMIT 1) AS erasure_id
          FROM subjects s WHERE s.subject_type = :subjectType AND s.subject_id = :subjectId) found
  LEFT JOIN LATERAL (SELECT * FROM log_entries e WHERE e.erasure_id = found.erasure_id LIMIT 1) k ON true
  @fact_of_keys

-- fragment: index_of(number)
-- Selects the place of the log entry for a fact of grant `g`.
(SELECT e.log_index::float8 FROM log_entries e
     WHERE e.grant_id = g.grant_id AND e.entry_type = @number LIMIT 1)

-- fragment: index_of_change(change)
(SELECT e.log_index::float8 FROM log_entries e WHERE e.grant_change_id = @change.grant_change_id LIMIT 1)

-- fragment: made(whose)
(
      SELECT g.grant_id, 0::bigint AS grant_change_id, g.created_at, g.paths FROM grants g
       WHERE @whose AND f.owns_subject AND (g.created_at, g.grant_id) < (:beforeTime::timestamptz, :beforeId::uuid)
       ORDER BY g.created_at DESC, g.grant_id DESC LIMIT :rows)

-- fragment: changed(whose)
(
      SELECT g.grant_id, g.grant_change_id, g.changed_at, g.paths FROM grant_changes g
       WHERE @whose AND f.owns_subject AND (g.changed_at, g.grant_id) < (:beforeTime::timestamptz, :beforeId::uuid)
       ORDER BY g.changed_at DESC, g.grant_id DESC LIMIT :rows)

-- statement: access_history
-- Lists the periods of grants `g` by their start `b`, newest first: the creation or a change; `next` is the following change. Each
-- search reads one page, and the newest rows of all are the result. A period begins with `since` if that is later. If it was over
-- before, it is empty.
SELECT @facts,
  g.grant_id AS "item?.grantId",
  g.grantee_tenant_id AS "item?.granteeTenantId",
  @granted_type(g, s) AS "item?.subjectType",
  @granted_id(g, s) AS "item?.subjectId",
  coalesce(next.from_scopes, g.scopes) AS "item?.scopes",
  CASE WHEN next.grant_change_id IS NULL THEN g.paths ELSE next.from_paths END AS "item?.paths",
  least(greatest(b.created_at, since.starts_at), coalesce(next.changed_at, least(g.revoked_at, g.expires_at))) AS "item?.from",
  coalesce(next.changed_at, least(g.revoked_at, g.expires_at)) AS "item?.until",
  CASE WHEN next.grant_change_id IS NOT NULL THEN 'replaced' WHEN g.revoked_at IS NOT NULL THEN 'revoked'
       WHEN g.expires_at <= statement_timestamp() THEN 'expired' END AS "item?.endedBy",
  CASE WHEN b.grant_change_id = 0 THEN @index_of(2) ELSE @index_of_change(b) END AS "item?.grantedIndex",
  CASE WHEN next.grant_change_id IS NOT NULL THEN @index_of_change(next) ELSE @index_of(3) END AS "item?.endedIndex",
  @newest_position(b, grant_id), b.found
  FROM (SELECT :tenantId::text AS tenant_id, :principalId::text AS principal_id, :subjectType::text AS subject_type,
               :subjectId::text AS subject_id) i
  @named_subject
  @tenant_access('{}')
  LEFT JOIN LATERAL @fitting(b, {
    SELECT * FROM (@made(g.subject_key = s.subject_key) UNION ALL @changed(g.subject_key = s.subject_key)
      UNION ALL @made(g.grantor_tenant_id = s.owner_tenant_id AND @to_all_made)
      UNION ALL @changed(g.grantor_tenant_id = s.owner_tenant_id AND @to_all_changed)) b
    @newest_order(b, grant_id) LIMIT :rows
  }, {(1024 + coalesce(octet_length(to_json(b.paths)::text), 0))}, {@newest_order(b, grant_id)}) b ON true
  LEFT JOIN LATERAL (SELECT * FROM grants g WHERE g.grant_id = b.grant_id LIMIT 1) g ON true
  LEFT JOIN LATERAL (SELECT * FROM grant_changes h
                      WHERE h.grant_id = b.grant_id AND (-h.grant_change_id) < -b.grant_change_id
                      ORDER BY (-h.grant_change_id) DESC LIMIT 1) next ON true
  LEFT JOIN LATERAL (SELECT CASE WHEN next.grant_change_id IS NULL THEN g.starts_at ELSE next.from_starts_at END AS starts_at) since ON true
 @newest_order(b, grant_id)

-- statement: owner_history
SELECT @facts,
  c.changed_at AS "item?.changedAt",
  c.principal_id AS "item?.principalId",
  c.from_principal_id AS "item?.fromPrincipalId",
  (SELECT e.log_index::float8 FROM log_entries e WHERE e.owner_change_id = c.owner_change_id LIMIT 1) AS "item?.logIndex",
  ARRAY[c.owner_change_id::text] AS position
  FROM (SELECT :tenantId::text AS tenant_id, :principalId::text AS principal_id) i
  @member_access(i.tenant_id)
  LEFT JOIN LATERAL (SELECT * FROM owner_changes c
                      WHERE c.tenant_id = i.tenant_id AND f.member_status = 'active'
                        AND (-c.owner_change_id) > -(:before::bigint)
                      ORDER BY (-c.owner_change_id) LIMIT :rows) c ON true
 ORDER BY (-c.owner_change_id)
