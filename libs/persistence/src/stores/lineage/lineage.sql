-- fragment: fits
-- True if the envelope is read. Those of one statement have at most 2 MiB (`ENVELOPE_BYTES`).
n.bytes_before < 2097152

-- fragment: fits_page
-- True if the snapshot belongs to a page with envelopes, which has at most 8 MiB (`PAGE_BYTES`).
(n.bytes_before = 0 OR n.bytes_before + coalesce(@text_bytes, 0) <= 8388608)

-- fragment: range(compare, direction, after, subject_key)
-- Selects `limit` snapshots of a subject in order, each with the total size of the envelopes before it. It does not read the
-- texts.
LATERAL (
  SELECT n.*, sum(coalesce(@text_bytes, 0)) OVER (ORDER BY n.snapshot_version @direction)
              - coalesce(@text_bytes, 0) AS bytes_before, count(*) OVER ()::int AS found
    FROM (SELECT n.* FROM snapshots n
           WHERE n.subject_key = @subject_key AND n.snapshot_version @compare @after
           ORDER BY n.snapshot_version @direction LIMIT :limit) n
) n

-- fragment: envelope
CASE WHEN :withEnvelopes::boolean AND @fits THEN @stored_text END

-- fragment: lineage(grantee, reader, snapshots, order)
SELECT @facts,
  @disclosed(@grantee),
  @snapshot_columns(snapshot?, @envelope),
  head_version AS "headVersion", n.found
  FROM (SELECT :tenantId::text AS tenant_id, :principalId::text AS principal_id, :subjectType::text AS subject_type,
               :subjectId::text AS subject_id) i
  @named_subject
  @reader
  LEFT JOIN LATERAL (SELECT max(snapshot_version) AS head_version FROM snapshots
                      WHERE subject_key = r.subject_key) h ON true
  LEFT JOIN @snapshots
    ON NOT :withEnvelopes::boolean OR @fits_page
 ORDER BY @order

-- fragment: snapshot_lineage_asc(grantee, reader)
@lineage(@grantee, @reader, @range(>, ASC, {coalesce(:after::bigint, 0)}, r.subject_key), n.snapshot_version asc)

-- statement: snapshot_lineage_asc_tenant
@snapshot_lineage_asc(i.tenant_id, {@tenant_read(readLineage)})

-- statement: snapshot_lineage_asc_global
@snapshot_lineage_asc(f.grantee_tenant_id, {@global_read(readLineage)})

-- fragment: snapshot_lineage_desc(grantee, reader)
@lineage(@grantee, @reader, @range(<, DESC, {coalesce(:after::bigint, 2147483648)}, r.subject_key), n.snapshot_version desc)

-- statement: snapshot_lineage_desc_tenant
@snapshot_lineage_desc(i.tenant_id, {@tenant_read(readLineage)})

-- statement: snapshot_lineage_desc_global
@snapshot_lineage_desc(f.grantee_tenant_id, {@global_read(readLineage)})

-- fragment: snapshot_lineage_listed(grantee, reader)
@lineage(@grantee, @reader, {LATERAL (
    SELECT n.*, v.place, sum(coalesce(@text_bytes, 0)) OVER (ORDER BY v.place)
           - coalesce(@text_bytes, 0) AS bytes_before,
           count(*) OVER ()::int AS found
      FROM unnest(:versions::int[]) WITH ORDINALITY AS v(version, place)
     CROSS JOIN LATERAL (SELECT * FROM snapshots n
                          WHERE n.subject_key = r.subject_key AND n.snapshot_version = v.version LIMIT 1) n
  ) n}, n.place)

-- statement: snapshot_lineage_listed_tenant
@snapshot_lineage_listed(i.tenant_id, {@tenant_read(readLineage)})

-- statement: snapshot_lineage_listed_global
@snapshot_lineage_listed(f.grantee_tenant_id, {@global_read(readLineage)})

-- statement: snapshot_lineage_below
SELECT @snapshot_columns(, {@stored_text})
  FROM subjects s
  CROSS JOIN @range(<, DESC, :version::bigint, s.subject_key)
 WHERE s.subject_type = :subjectType AND s.subject_id = :subjectId AND @fits
 ORDER BY n.snapshot_version DESC

-- statement: snapshot_lineage_above
SELECT @snapshot_columns(, {@stored_text})
  FROM subjects s
  CROSS JOIN @range(>, ASC, :version::bigint, s.subject_key)
 WHERE s.subject_type = :subjectType AND s.subject_id = :subjectId AND @fits
 ORDER BY n.snapshot_version

-- fragment: known
n.snapshot_version AS "last?.version",
  encode(n.envelope_hash, 'hex') AS "last?.hash",
  e.erasures, e.erased

-- fragment: known_of(subject_key)
-- It reads at most `maxErasures` erasures, and one more to see that there are more.
LEFT JOIN LATERAL (SELECT n.snapshot_version, n.envelope_hash FROM snapshots n
                      WHERE n.subject_key = @subject_key AND n.snapshot_version <= :upTo::bigint
                      ORDER BY n.snapshot_version DESC LIMIT 1) n ON true
  LEFT JOIN LATERAL (
    SELECT count(DISTINCT e.erasure_id)::int AS erasures,
           coalesce(jsonb_agg(jsonb_build_array(v.version, e.public_id, e.erased_at))
                      FILTER (WHERE e.status = 'erased' AND v.version <= n.snapshot_version
                                AND v.version > n.snapshot_version - :limit::bigint), '[]') AS erased
      FROM (SELECT * FROM erasures e WHERE e.subject_key = @subject_key
             ORDER BY e.subject_key, (-e.erasure_id) LIMIT :maxErasures::int + 1) e
     CROSS JOIN unnest(e.versions) AS v(version)
  ) e ON true

-- fragment: snapshot_lineage_known(grantee, reader)
SELECT @facts,
  @disclosed(@grantee),
  @head_version(r.subject_key) AS "headVersion",
  @known
  FROM (SELECT :tenantId::text AS tenant_id, :principalId::text AS principal_id, :subjectType::text AS subject_type,
               :subjectId::text AS subject_id) i
  @named_subject
  @reader
  @known_of(r.subject_key)

-- statement: snapshot_lineage_known_tenant
@snapshot_lineage_known(i.tenant_id, {@tenant_read(readLineage)})

-- statement: snapshot_lineage_known_global
@snapshot_lineage_known(f.grantee_tenant_id, {@global_read(readLineage)})

-- statement: snapshot_lineage_known_below
SELECT @known
  FROM (SELECT :subjectType::text AS subject_type, :subjectId::text AS subject_id) i
  @named_subject
  @known_of(s.subject_key)

-- fragment: copied(range, order)
SELECT @snapshot_columns(snapshot, @envelope),
  @fits AS fits, @fits_page AS "fitsPage"
  FROM subjects s
  CROSS JOIN @range
 WHERE s.subject_type = :subjectType AND s.subject_id = :subjectId
 ORDER BY n.snapshot_version @order

-- statement: snapshot_lineage_copied_asc
@copied(@range(>, ASC, :after::bigint, s.subject_key), asc)

-- statement: snapshot_lineage_copied_desc
@copied(@range(<, DESC, :after::bigint, s.subject_key), desc)
