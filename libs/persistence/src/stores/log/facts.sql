-- The facts that entries of the log name. Row `k` has the keys of an entry, or of a fact that waits for its entry.

-- fragment: view_of_keys
-- Joins the view `vw` of a version if entry `k` names it.
LEFT JOIN LATERAL (SELECT * FROM snapshot_views vw
                      WHERE (k.names_view OR k.entry_type = 14) AND vw.subject_key = k.subject_key AND vw.snapshot_version = k.snapshot_version
                        AND vw.view_hash IS NOT NULL LIMIT 1) vw ON true

-- fragment: fact_of_keys
-- Joins the fact that the keys of entry `k` name; all other rows are null. For a grant, `first` has the values before its first
-- change.
  LEFT JOIN LATERAL (SELECT * FROM snapshots n
                      WHERE n.subject_key = k.subject_key AND n.snapshot_version = k.snapshot_version LIMIT 1) n ON true
  LEFT JOIN LATERAL (SELECT * FROM grant_changes h WHERE h.grant_change_id = k.grant_change_id LIMIT 1) h ON true
  LEFT JOIN LATERAL (SELECT * FROM grants g WHERE g.grant_id = coalesce(k.grant_id, h.grant_id) LIMIT 1) g ON true
  LEFT JOIN LATERAL (SELECT h.*, true AS is_changed FROM grant_changes h
                      WHERE h.grant_id = g.grant_id ORDER BY (-h.grant_change_id) DESC LIMIT 1) first ON true
  LEFT JOIN LATERAL (SELECT * FROM owner_changes c WHERE c.owner_change_id = k.owner_change_id LIMIT 1) c ON true
  LEFT JOIN LATERAL (SELECT * FROM erasures er WHERE er.erasure_id = k.erasure_id LIMIT 1) er ON true
  @view_of_keys
  LEFT JOIN LATERAL (SELECT * FROM subjects s
                      WHERE s.subject_key = coalesce(n.subject_key, g.subject_key, er.subject_key) LIMIT 1) s ON true

-- fragment: fact_at
-- The time at which the fact of `fact_of_keys` was committed.
coalesce(CASE k.entry_type WHEN 14 THEN vw.committed_at ELSE n.created_at END, c.changed_at, h.changed_at, er.erased_at,
                                     CASE k.entry_type WHEN 3 THEN g.revoked_at ELSE g.created_at END)

-- fragment: erased_versions
-- Selects the versions that entry `k` of erasure `er` names, in the order of their places; null if the entry names none.
CASE WHEN k.names_versions THEN (
    SELECT json_agg(json_build_object(
             'snapshotId', gone.snapshot_id, 'snapshotVersion', gone.snapshot_version,
             'envelopeHash', encode(gone.envelope_hash, 'hex'), 'prevHash', encode(gone.prev_hash, 'hex'),
             'createdAt', to_char(date_trunc('milliseconds', gone.created_at) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
           ORDER BY v.place)
      FROM unnest(er.logged_versions) WITH ORDINALITY AS v(version, place)
     CROSS JOIN LATERAL (SELECT * FROM snapshots gone
                          WHERE gone.subject_key = er.subject_key AND gone.snapshot_version = v.version LIMIT 1) gone) END



-- fragment: type_name(number, type)
CASE k.entry_type WHEN @number THEN '@type' END

-- fragment: snapshot_fact
-- The snapshot `n` of subject `s` as the member `snapshot` of a `FactRow`.
CASE WHEN n.snapshot_id IS NOT NULL THEN @type_name(1, snapshot.created) END AS "snapshot?.type",
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
  CASE WHEN k.names_view THEN encode(vw.view_hash, 'hex') END AS "snapshot?.viewHash"

-- fragment: fact_columns(erased_versions)
-- The fact of `fact_of_keys` as a `FactRow`.
@snapshot_fact,
  CASE WHEN g.grant_id IS NOT NULL THEN @type_name(2, grant.created) END AS "grant?.type",
  g.grantor_tenant_id AS "grant?.tenantId",
  g.grant_id AS "grant?.grantId",
  g.grantee_tenant_id AS "grant?.granteeTenantId",
  @granted_type(g, s) AS "grant?.subjectType",
  @granted_id(g, s) AS "grant?.subjectId",
  coalesce(first.from_scopes, g.scopes) AS "grant?.scopes",
  CASE WHEN first.is_changed THEN first.from_paths ELSE g.paths END AS "grant?.paths",
  CASE WHEN first.is_changed THEN first.from_starts_at ELSE g.starts_at END AS "grant?.startsAt",
  CASE WHEN first.is_changed THEN first.from_expires_at ELSE g.expires_at END AS "grant?.expiresAt",
  k.names_paths IS TRUE AS "grant?.namesPaths",
  g.created_at AS "grant?.createdAt",
  CASE WHEN g.revoked_at IS NOT NULL THEN @type_name(3, grant.revoked) END AS "revocation?.type",
  g.grantor_tenant_id AS "revocation?.tenantId",
  g.grant_id AS "revocation?.grantId",
  g.revoked_at AS "revocation?.revokedAt",
  CASE WHEN h.grant_id IS NOT NULL THEN @type_name(5, grant.changed) END AS "grantChange?.type",
  h.grantor_tenant_id AS "grantChange?.tenantId",
  h.grant_id AS "grantChange?.grantId",
  h.scopes AS "grantChange?.scopes",
  h.paths AS "grantChange?.paths",
  h.starts_at AS "grantChange?.startsAt",
  h.expires_at AS "grantChange?.expiresAt",
  k.names_paths IS TRUE AS "grantChange?.namesPaths",
  h.changed_at AS "grantChange?.changedAt",
  CASE WHEN c.owner_change_id IS NOT NULL THEN @type_name(4, tenant.owner_changed) END AS "ownerChange?.type",
  c.tenant_id AS "ownerChange?.tenantId",
  c.principal_id AS "ownerChange?.principalId",
  c.from_principal_id AS "ownerChange?.fromPrincipalId",
  c.changed_at AS "ownerChange?.changedAt",
  CASE WHEN er.erased_at IS NOT NULL THEN @type_name(6, subject.erased) END AS "erasure?.type",
  er.tenant_id AS "erasure?.tenantId",
  s.subject_type AS "erasure?.subjectType",
  s.subject_id AS "erasure?.subjectId",
  er.erased_indexes::float8[] AS "erasure?.erasedIndexes",
  er.erased_at AS "erasure?.erasedAt",
  @erased_versions AS "erasure?.erasedVersions"

-- fragment: fact_of_entry
-- Everything that the text of an entry has.
@fact_columns(@erased_versions)

-- fragment: fact
-- The same without the versions of an erasure.
@fact_columns(NULL::json)

-- fragment: view_fact
-- The view `vw` of a version that has an entry of its own, as the member `view` of a `ViewRow`.
CASE WHEN vw.view_hash IS NOT NULL THEN @type_name(14, view.committed) END AS "view?.type",
  n.tenant_id AS "view?.tenantId",
  s.subject_type AS "view?.subjectType",
  s.subject_id AS "view?.subjectId",
  n.snapshot_id AS "view?.snapshotId",
  n.snapshot_version AS "view?.snapshotVersion",
  encode(vw.view_hash, 'hex') AS "view?.viewHash",
  vw.committed_at AS "view?.committedAt"

-- fragment: own_fact_of_keys
-- Joins the fact about the log itself that row `k` names: the restart `r`, or the announcement `a` of a key.
  LEFT JOIN LATERAL (SELECT * FROM log_restarts r WHERE r.restart_id = k.restart_id LIMIT 1) r ON true
  LEFT JOIN LATERAL (SELECT * FROM log_key_announcements a WHERE a.announcement_id = k.announcement_id LIMIT 1) a ON true

-- fragment: own_fact_at
-- The time at which the fact of `own_fact_of_keys` was committed.
coalesce(r.restarted_at, a.announced_at)

-- fragment: own_fact
-- The fact of `own_fact_of_keys` as an `OwnFactRow`.
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

-- fragment: record_time(time)
-- A time as the API formats it.
to_char(date_trunc('milliseconds', @time) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')

-- fragment: audit_record_json
-- The members of audit record `a` that never change. The purpose of a grant may be erased.
json_build_object('auditId', a.audit_id, 'at', @record_time(a.at), 'action', a.action, 'principalId', a.principal_id,
                  'requestId', a.request_id, 'target', a.target, 'details', a.details - 'purpose')

-- fragment: disclosure_json(paths)
-- The members of disclosure `d` of subject `ds`.
json_build_object('subjectType', ds.subject_type, 'subjectId', ds.subject_id, 'disclosedOn', to_char(d.disclosed_on, 'YYYY-MM-DD'),
                  'firstAt', @record_time(d.first_at), 'granteeTenantId', d.grantee_tenant_id, 'grantId', d.grant_id,
                  'principalId', d.principal_id, 'via', d.via, 'fromVersion', d.from_version, 'toVersion', d.to_version,
                  'requestId', d.request_id, 'paths', @paths)

-- fragment: records_of_keys
-- Joins the batch of records `b` that row `k` names.
  LEFT JOIN LATERAL (SELECT * FROM record_batches b WHERE b.batch_id = k.record_batch_id LIMIT 1) b ON true

-- fragment: records
-- The batch of `records_of_keys` as a `RecordsRow`.
CASE b.entry_type WHEN 11 THEN 'audit.recorded' END AS "auditRecords?.type",
  b.tenant_id AS "auditRecords?.tenantId",
  CASE b.entry_type WHEN 11 THEN (
    SELECT coalesce(json_agg(@audit_record_json ORDER BY r.place), '[]')
      FROM unnest(b.record_ids) WITH ORDINALITY AS r(id, place)
     CROSS JOIN LATERAL (SELECT * FROM audit_records a WHERE (a.tenant_id || '#') = (b.tenant_id || '#') AND a.audit_id = r.id LIMIT 1) a)
  END AS "auditRecords?.records",
  CASE b.entry_type WHEN 12 THEN 'disclosures.recorded' END AS "disclosures?.type",
  b.tenant_id AS "disclosures?.tenantId",
  CASE b.entry_type WHEN 12 THEN (
    SELECT coalesce(json_agg(@disclosure_json(CASE WHEN k.names_paths THEN d.paths END) ORDER BY r.place), '[]')
      FROM unnest(b.record_ids) WITH ORDINALITY AS r(id, place)
     CROSS JOIN LATERAL (SELECT * FROM disclosures d WHERE d.disclosure_id = r.id LIMIT 1) d
     CROSS JOIN LATERAL (SELECT * FROM subjects ds WHERE ds.subject_key = d.subject_key LIMIT 1) ds)
  END AS "disclosures?.records"
