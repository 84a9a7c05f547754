-- fragment: origins
@origins_of(n.subject_key, n.snapshot_version) AS origins

-- fragment: version
@snapshot_columns(snapshot?, @text_if_small),
  @origins,
  ARRAY(SELECT 'att_' || u.attestation_id FROM attestation_uses u
         CROSS JOIN LATERAL (SELECT a.status FROM attestations a WHERE a.attestation_id = u.attestation_id LIMIT 1) a
         WHERE u.subject_key = r.subject_key AND a.status = 'revoked' ORDER BY u.attestation_id) AS revoked,
  (SELECT er.erasure_id::text FROM erasures er WHERE er.subject_key = r.subject_key AND (er.status = 'erased') IS TRUE
    ORDER BY (-er.erasure_id) LIMIT 1) AS "lastErasure"

-- fragment: provenance_latest(grantee, reader)
SELECT @facts,
  @disclosed(@grantee),
  @version
  FROM (SELECT :tenantId::text AS tenant_id, :principalId::text AS principal_id, :subjectType::text AS subject_type,
               :subjectId::text AS subject_id) i
  @named_subject
  @reader
  @latest_snapshot(r.subject_key, n)

-- statement: provenance_latest_tenant
@provenance_latest(i.tenant_id, @tenant_read(readLineage))

-- statement: provenance_latest_global
@provenance_latest(f.grantee_tenant_id, @global_read(readLineage))

-- fragment: provenance_version(grantee, reader)
SELECT @facts,
  @disclosed(@grantee),
  @version
  FROM (SELECT :tenantId::text AS tenant_id, :principalId::text AS principal_id, :subjectType::text AS subject_type,
               :subjectId::text AS subject_id, :version::int AS version) i
  @named_subject
  @reader
  @snapshot_of_version(r.subject_key, i.version, n)

-- statement: provenance_version_tenant
@provenance_version(i.tenant_id, @tenant_read(readLineage))

-- statement: provenance_version_global
@provenance_version(f.grantee_tenant_id, @global_read(readLineage))

-- statement: snapshot_parent
SELECT @facts,
  @snapshot_columns(snapshot?, n.envelope),
  @origins, coalesce(t.evidence_policy, 'open') AS "evidencePolicy"
  FROM (SELECT :tenantId::text AS tenant_id, :principalId::text AS principal_id, :subjectType::text AS subject_type,
               :subjectId::text AS subject_id) i
  @named_subject
  @tenant_access('{}')
  LEFT JOIN tenants t ON t.tenant_id = i.tenant_id
  LEFT JOIN LATERAL (SELECT * FROM snapshots n WHERE n.subject_key = s.subject_key AND f.owns_subject
                      ORDER BY n.snapshot_version DESC LIMIT 1) n ON true

-- statement: provenance_versions
SELECT n.snapshot_version AS "snapshotVersion", n.created_at AS "createdAt", n.generated_at AS "generatedAt",
       p.changed_by AS "changedBy", n.written_by AS "writtenBy", n.write_request_id AS "writeRequestId"
  FROM subjects s
 CROSS JOIN unnest(:versions::int[]) v
 CROSS JOIN LATERAL (SELECT * FROM snapshots n
                      WHERE n.subject_key = s.subject_key AND n.snapshot_version = v LIMIT 1) n
  LEFT JOIN LATERAL (SELECT p.changed_by FROM snapshot_provenance p
                      WHERE p.subject_key = s.subject_key AND p.snapshot_version = v LIMIT 1) p ON true
 WHERE s.subject_type = :subjectType AND s.subject_id = :subjectId

-- statement: provenance_nearest
SELECT p.snapshot_version AS "snapshotVersion", p.origins
  FROM subjects s
 CROSS JOIN LATERAL (SELECT * FROM snapshot_provenance p
                      WHERE p.subject_key = s.subject_key AND p.snapshot_version <= :version::int
                      ORDER BY p.snapshot_version DESC LIMIT 1) p
 WHERE s.subject_type = :subjectType AND s.subject_id = :subjectId

-- statement: fill_provenance_next
-- Selects the next versions in the order of their chains. Erased ones count as filled, and those that need an archived text.
SELECT n.subject_key AS "subjectKey", n.snapshot_version AS "snapshotVersion",
       (SELECT true FROM snapshots l WHERE l.subject_key = n.subject_key
           AND l.snapshot_version = n.snapshot_version + 1 LIMIT 1) IS NULL AS "isLatest",
       (SELECT true FROM snapshot_provenance p WHERE p.subject_key = n.subject_key
           AND p.snapshot_version = n.snapshot_version LIMIT 1) IS NOT NULL OR n.erasure_id IS NOT NULL OR n.pack_id IS NOT NULL
       OR (SELECT b.pack_id FROM snapshots b WHERE b.subject_key = n.subject_key
            AND b.snapshot_version = n.snapshot_version - 1 LIMIT 1) IS NOT NULL AS "isFilled"
  FROM snapshots n
 WHERE (n.subject_key, n.snapshot_version) > (:afterKey::bigint, :afterVersion::integer) AND n.subject_key <= :lastKey::bigint
 ORDER BY n.subject_key, n.snapshot_version LIMIT :rows

-- statement: fill_provenance_last
-- Selects the last subject: the bound of the loop, because writes of an earlier release could otherwise prolong it for ever. All
-- other writes bring their own provenance.
SELECT coalesce((SELECT n.subject_key FROM snapshots n WHERE n.subject_key > 0
                  ORDER BY n.subject_key DESC, n.snapshot_version DESC LIMIT 1), 0) AS "lastKey"

-- statement: fill_provenance_texts
-- No row: the text was erased or archived since the version was found.
SELECT n.snapshot_id AS "own.snapshotId", n.envelope AS "own.envelope", encode(n.envelope_hash, 'hex') AS "own.envelopeHash",
       CASE WHEN b.envelope IS NOT NULL THEN b.snapshot_id END AS "base?.snapshotId", b.envelope AS "base?.envelope",
       encode(b.envelope_hash, 'hex') AS "base?.envelopeHash",
       CASE WHEN b.subject_key IS NOT NULL THEN coalesce(b.envelope, '{}') END AS "baseEnvelope", p.origins AS "baseOrigins"
  FROM (SELECT :subjectKey::bigint AS subject_key, :snapshotVersion::integer AS snapshot_version) i
 CROSS JOIN LATERAL (SELECT * FROM snapshots n
                      WHERE n.subject_key = i.subject_key AND n.snapshot_version = i.snapshot_version AND n.envelope IS NOT NULL LIMIT 1) n
  LEFT JOIN LATERAL (SELECT * FROM snapshots b
                      WHERE b.subject_key = i.subject_key AND b.snapshot_version = i.snapshot_version - 1 LIMIT 1) b ON true
  LEFT JOIN LATERAL (SELECT * FROM snapshot_provenance p
                      WHERE p.subject_key = i.subject_key AND p.snapshot_version = i.snapshot_version - 1 LIMIT 1) p ON true

-- statement: fill_provenance_version
-- Stores nothing of a text that was erased since it was read.
INSERT INTO snapshot_provenance (subject_key, snapshot_version, changed_by, origins, changed_paths)
SELECT :subjectKey::bigint, :snapshotVersion::integer, :changedBy::text, :origins::bytea,
       CASE WHEN is_erased_by_now(:subjectKey, :snapshotVersion - 1) IS NOT TRUE THEN :changedPaths::text::json END
 WHERE NOT is_erased_by_now(:subjectKey, :snapshotVersion)
ON CONFLICT DO NOTHING
RETURNING snapshot_version AS "snapshotVersion"

-- statement: fill_provenance_flags
-- Flags the subject if this is still its latest version. A later version has set its own flags.
INSERT INTO subject_evidence (subject_key, owner_tenant_id, subject_type, subject_id, has_missing, has_carried)
SELECT s.subject_key, s.owner_tenant_id, s.subject_type, s.subject_id, :hasMissing::boolean, :hasCarried::boolean
  FROM subjects s
 WHERE s.subject_key = :subjectKey::bigint
   AND (SELECT true FROM snapshots l WHERE l.subject_key = s.subject_key
           AND l.snapshot_version = :snapshotVersion::integer + 1 LIMIT 1) IS NULL
ON CONFLICT DO NOTHING
RETURNING subject_key AS "subjectKey"

-- statement: fill_provenance_place
SELECT subject_key AS "subjectKey", snapshot_version AS "snapshotVersion" FROM provenance_backfill WHERE is_one

-- statement: fill_provenance_move
UPDATE provenance_backfill SET subject_key = :subjectKey::bigint, snapshot_version = :snapshotVersion::integer
 WHERE is_one RETURNING subject_key AS "subjectKey"

-- statement: fill_provenance_end
DELETE FROM provenance_backfill WHERE is_one
