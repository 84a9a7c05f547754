-- fragment: snapshot_columns(group, envelope)
-- The columns of the snapshot `n` of subject `s`, with this envelope: a `SnapshotRow`. It looks up the erasure of erased snapshots
-- only.
n.snapshot_id AS "@group.snapshotId",
  s.subject_type AS "@group.subjectType",
  s.subject_id AS "@group.subjectId",
  n.snapshot_version AS "@group.snapshotVersion",
  n.generated_at AS "@group.generatedAt",
  n.change_kind AS "@group.changeKind",
  n.created_at AS "@group.createdAt",
  encode(n.envelope_hash, 'hex') AS "@group.envelopeHash",
  encode(n.prev_hash, 'hex') AS "@group.prevHash",
  n.written_by AS "@group.writtenBy",
  n.write_request_id AS "@group.writeRequestId",
  @envelope AS "@group.envelope",
  @of_erasure(public_id) AS "@group.erasure?.erasureId",
  @of_erasure(erased_at) AS "@group.erasure?.erasedAt"

-- fragment: of_erasure(column)
CASE WHEN n.erasure_id IS NOT NULL THEN (SELECT er.@column FROM erasures er WHERE er.erasure_id = n.erasure_id LIMIT 1) END

-- fragment: stored_text
-- The text of the snapshot `n`, or the place of an archived text, which `StoredTexts` reads. The latest version is never archived.
coalesce(n.envelope, @archived_place)

-- fragment: archived_place
-- The place of the archived text of the snapshot `n`, with the secret that opens it. Without a pack or a secret, it is damaged.
CASE WHEN n.pack_id IS NOT NULL THEN coalesce(
    (SELECT '@' || p.object_id || ' ' || n.pack_offset || ' ' || n.pack_length || ' ' || encode(v.view_secret, 'hex')
       FROM (SELECT * FROM archive_packs p WHERE p.pack_id = n.pack_id LIMIT 1) p
      CROSS JOIN LATERAL (SELECT v.view_secret FROM snapshot_views v
                           WHERE v.subject_key = n.subject_key AND v.snapshot_version = n.snapshot_version LIMIT 1) v), '@ damaged') END

-- fragment: text_bytes
-- The size of the text of the snapshot `n`. PostgreSQL knows the length of a text without reading it.
coalesce(octet_length(n.envelope), n.text_bytes)

-- fragment: text_if_small
-- The text of snapshot `n` if it has at most `maxBytes` bytes.
CASE WHEN @text_bytes <= :maxBytes::int THEN @stored_text END

-- statement: snapshot_texts_copied
SELECT n.snapshot_id AS "snapshotId", encode(n.envelope_hash, 'hex') AS "envelopeHash", @stored_text AS envelope
  FROM unnest(:ids::uuid[]) AS i(id)
 CROSS JOIN LATERAL (SELECT * FROM snapshots n WHERE n.snapshot_id = i.id LIMIT 1) n

-- fragment: is_known
-- An erased snapshot is never known, because even a caller with its hash must not use the content again.
(found.envelope_hash = i.known_hash AND found.erasure_id IS NULL)

-- fragment: is_too_large
-- PostgreSQL knows the length of a text without reading it. An archived text is not read here.
(i.with_envelope AND octet_length(n.envelope) > :maxBytes::int) IS TRUE

-- fragment: snapshot_read(grantee, reader, to_subject, to_snapshot, text)
-- Reads single snapshots. `to_subject` has the inputs `i` and joins `s`. After the right `r`, `to_snapshot` joins the snapshot
-- `found`. A `text` with more bytes than `maxBytes` is omitted.
SELECT @facts,
  @disclosed(@grantee), found.snapshot_version AS version,
  @snapshot_columns(snapshot?, CASE WHEN i.with_envelope AND NOT @is_too_large THEN @text END),
       @is_known IS TRUE AS "isKnown", @is_too_large AS "isTooLarge"
  FROM @to_subject
  @reader
  @to_snapshot
  LEFT JOIN LATERAL (SELECT found.* WHERE r.subject_key IS NOT NULL AND @is_known IS NOT TRUE) n ON true
 ORDER BY i.ord

-- fragment: snapshot_latest(grantee, reader)
@snapshot_read(@grantee, @reader, {unnest(:inputs.tenantId::text[], :inputs.principalId::text[], :inputs.withEnvelope::boolean[],
                :inputs.knownHash::bytea[], :inputs.subjectType::text[], :inputs.subjectId::text[])
    WITH ORDINALITY AS i(tenant_id, principal_id, with_envelope, known_hash, subject_type, subject_id, ord)
  @named_subject}, @latest_snapshot(r.subject_key, found), n.envelope)

-- statement: snapshot_latest_tenant
@snapshot_latest(i.tenant_id, {@tenant_read(readLatest)})

-- statement: snapshot_latest_global
@snapshot_latest(f.grantee_tenant_id, {@global_read(readLatest)})

-- fragment: snapshot_version(grantee, reader)
@snapshot_read(@grantee, @reader, {unnest(:inputs.tenantId::text[], :inputs.principalId::text[], :inputs.withEnvelope::boolean[],
                :inputs.knownHash::bytea[], :inputs.subjectType::text[], :inputs.subjectId::text[],
                :inputs.snapshotVersion::int[], :inputs.asLatest::boolean[])
    WITH ORDINALITY AS i(tenant_id, principal_id, with_envelope, known_hash, subject_type, subject_id, snapshot_version, as_latest, ord)
  @named_subject}, @snapshot_of_version(r.subject_key, i.snapshot_version, found), {@stored_text})

-- fragment: may_read_version
-- A version that was the latest one at some moment may be read by another right.
@may_read(readVersion)
                         OR i.as_latest AND @may_read(readLatestAsOf)

-- statement: snapshot_version_tenant
@snapshot_version(i.tenant_id, {@tenant_reader(ARRAY[@scopes(readVersion)], @may_read_version)})

-- statement: snapshot_version_global
@snapshot_version(f.grantee_tenant_id, {@global_reader(ARRAY[@scopes(readVersion)], @may_read_version)})

-- fragment: snapshot_id(grantee, reader)
@snapshot_read(@grantee, @reader, {unnest(:inputs.tenantId::text[], :inputs.principalId::text[], :inputs.withEnvelope::boolean[],
                :inputs.knownHash::bytea[], :inputs.snapshotId::uuid[])
    WITH ORDINALITY AS i(tenant_id, principal_id, with_envelope, known_hash, snapshot_id, ord)
  LEFT JOIN snapshots found ON found.snapshot_id = i.snapshot_id
  LEFT JOIN subjects s ON s.subject_key = found.subject_key}, , {@stored_text})

-- statement: snapshot_id_tenant
@snapshot_id(i.tenant_id, {@tenant_read(readById)})

-- statement: snapshot_id_global
@snapshot_id(f.grantee_tenant_id, {@global_read(readById)})

-- fragment: snapshot_pair(grantee, reader, to_subject, to_snapshot)
-- Reads the snapshots of two inputs.
SELECT @facts,
  @disclosed(@grantee),
  @snapshot_columns(snapshot?, @text_if_small),
  found.snapshot_id IS NOT NULL AS "isThere"
  FROM @to_subject
  @reader
  @to_snapshot
  @readable
 ORDER BY i.ord

-- fragment: snapshot_pair_versions(grantee, reader)
@snapshot_pair(@grantee, @reader, {unnest(:inputs.tenantId::text[], :inputs.principalId::text[], :inputs.subjectType::text[], :inputs.subjectId::text[],
                :inputs.snapshotVersion::int[])
    WITH ORDINALITY AS i(tenant_id, principal_id, subject_type, subject_id, snapshot_version, ord)
  @named_subject}, @snapshot_of_version(r.subject_key, i.snapshot_version, found))

-- statement: snapshot_pair_versions_tenant
@snapshot_pair_versions(i.tenant_id, {@tenant_read(readDiff)})

-- statement: snapshot_pair_versions_global
@snapshot_pair_versions(f.grantee_tenant_id, {@global_read(readDiff)})

-- fragment: snapshot_pair_ids(grantee, reader)
@snapshot_pair(@grantee, @reader, {unnest(:inputs.tenantId::text[], :inputs.principalId::text[], :inputs.snapshotId::uuid[])
    WITH ORDINALITY AS i(tenant_id, principal_id, snapshot_id, ord)
  LEFT JOIN snapshots found ON found.snapshot_id = i.snapshot_id
  LEFT JOIN subjects s ON s.subject_key = found.subject_key}, )

-- statement: snapshot_pair_ids_tenant
@snapshot_pair_ids(i.tenant_id, {@tenant_read(readDiff)})

-- statement: snapshot_pair_ids_global
@snapshot_pair_ids(f.grantee_tenant_id, {@global_read(readDiff)})

-- statement: fill_hashes_next
SELECT subject_key AS "subjectKey", snapshot_version AS "snapshotVersion", snapshot_id AS "snapshotId",
       CASE WHEN envelope_hash IS NULL THEN envelope END AS envelope
  FROM snapshots
 WHERE (envelope_hash IS NULL OR (prev_hash IS NULL AND snapshot_version > 1))
   AND (subject_key, snapshot_version) > (:afterKey::bigint, :afterVersion::integer)
 ORDER BY subject_key, snapshot_version LIMIT :rows

-- statement: fill_hashes_of_envelopes
UPDATE snapshots SET envelope_hash = sha256(convert_to(envelope, 'UTF8'))
 WHERE snapshot_id = ANY (:snapshotIds::uuid[]) AND (envelope_hash IS NULL) IS TRUE
RETURNING snapshot_id AS "snapshotId"

-- fragment: parent_hash
(SELECT parent.envelope_hash FROM snapshots parent
      WHERE parent.subject_key = child.subject_key AND parent.snapshot_version = child.snapshot_version - 1 LIMIT 1)

-- statement: fill_hashes_of_parents
UPDATE snapshots child SET prev_hash = @parent_hash
 WHERE child.snapshot_id = ANY (:snapshotIds::uuid[]) AND (child.prev_hash IS NULL) IS TRUE
   AND @parent_hash IS NOT NULL
RETURNING child.snapshot_id AS "snapshotId"
