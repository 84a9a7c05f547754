-- fragment: owned(table, name, created_at, condition)
-- A page of subjects `s`, by type and id. Each type is a separate range of the index. Rows of a range that do not match
-- the prefix are removed after its limit, so no upper bound is needed, and only the page's rows are read. It compares rows, so
-- that no plan scans the subjects of all tenants.
SELECT @facts,
  s.subject_type AS "item?.subjectType", s.subject_id AS "item?.subjectId",
       @name AS "item?.name", @created_at AS "item?.createdAt",
  @snapshot_columns(item?.latest, NULL::text),
       ARRAY[s.subject_type, s.subject_id] AS position
  FROM (SELECT :tenantId::text AS tenant_id, :principalId::text AS principal_id) i
  @member_access(i.tenant_id)
  LEFT JOIN LATERAL (
    SELECT s.*
      FROM unnest(:types::text[], :after::text[]) AS range(subject_type, after)
     CROSS JOIN LATERAL (
       SELECT * FROM @table s
        WHERE (s.owner_tenant_id, s.subject_type, s.subject_id) >=
                (i.tenant_id, range.subject_type, greatest(range.after COLLATE "C", :prefix))
          AND (s.owner_tenant_id, s.subject_type) <= (i.tenant_id, range.subject_type)
          AND s.subject_id <> range.after AND f.member_status = 'active' @condition
        ORDER BY s.owner_tenant_id, s.subject_type, s.subject_id LIMIT :rows
     ) s
     WHERE starts_with(s.subject_id, :prefix)
     ORDER BY s.subject_type, s.subject_id LIMIT :rows
  ) s ON true
  @latest_snapshot(s.subject_key, n)
 ORDER BY s.subject_type, s.subject_id


-- fragment: of_subject(column)
(SELECT o.@column FROM subjects o WHERE o.subject_key = s.subject_key LIMIT 1)

-- statement: subjects_owned
@owned(subjects, s.display_name, s.created_at, )

-- statement: subjects_evidence_missing
-- The same list for subjects with evidence to mend. Only these have a row in the table.
@owned(subject_evidence, @of_subject(display_name), @of_subject(created_at), AND s.has_missing)

-- statement: subjects_evidence_carried
@owned(subject_evidence, @of_subject(display_name), @of_subject(created_at), AND s.has_carried)

-- fragment: found
-- Selects a found subject `s` with its newest snapshot `n`.
@facts,
  s.subject_type AS "item?.subjectType", s.subject_id AS "item?.subjectId",
       s.display_name AS "item?.name", s.created_at AS "item?.createdAt",
  @snapshot_columns(item?.latest, NULL::text)

-- fragment: last
-- Joins the subject `last` after which a page starts.
LEFT JOIN LATERAL (SELECT s.subject_key FROM subjects s
                      WHERE s.subject_type = :afterType AND s.subject_id = :afterId LIMIT 1) last ON true

-- fragment: first_scheme(also)
-- The first of the schemes under which a subject has the value. With a filter, no plan searches the value alone. `also` is a
-- further condition on the identifier `e`.
(SELECT min(e.scheme) FILTER (WHERE e.value = d.value @also) FROM subject_identifiers e
                         WHERE e.subject_key = d.subject_key)

-- fragment: by_identifier(columns, values, condition)
-- Lists by type, then newest first.
SELECT @found,
       ARRAY[s.subject_type, s.subject_id] AS position
  FROM (SELECT :tenantId::text AS tenant_id, :principalId::text AS principal_id) i
  @member_access(i.tenant_id)
  @last
  LEFT JOIN LATERAL (
    SELECT d.subject_type, d.subject_key
      FROM unnest(:types::text[]) AS range(subject_type)
     CROSS JOIN LATERAL (
       SELECT * FROM subject_identifiers d
        WHERE (@columns, d.subject_type, -d.subject_key)
                > (@values, range.subject_type,
                   CASE range.subject_type WHEN :afterType THEN -last.subject_key ELSE -9223372036854775807 END)
          AND (@columns, d.subject_type) <= (@values, range.subject_type)
          AND f.member_status = 'active' @condition
        ORDER BY @columns, d.subject_type, -d.subject_key LIMIT :rows
     ) d
     ORDER BY d.subject_type, -d.subject_key LIMIT :rows
  ) d ON true
  LEFT JOIN LATERAL (SELECT * FROM subjects s WHERE s.subject_key = d.subject_key LIMIT 1) s ON true
  @latest_snapshot(s.subject_key, n)
 ORDER BY d.subject_type, -d.subject_key

-- statement: subjects_by_identifier
@by_identifier({d.owner_tenant_id, d.scheme, d.value}, {i.tenant_id, :scheme, :value}, )

-- statement: subjects_by_bare_identifier
-- Finds the value under any scheme. A subject that has it under several is listed once.
@by_identifier({d.owner_tenant_id || '/', d.value}, {i.tenant_id || '/', :value}, AND d.scheme = @first_scheme())

-- statement: subjects_by_name
-- Lists by type and name. As in `owned`, rows that do not match the prefix are removed after the limit. The expression on
-- the owner matches no other index.
SELECT @found,
       ARRAY[s.subject_type, s.subject_id, s.name] AS position
  FROM (SELECT :tenantId::text AS tenant_id, :principalId::text AS principal_id) i
  @member_access(i.tenant_id)
  @last
  LEFT JOIN LATERAL (
    SELECT s.*
      FROM unnest(:types::text[]) AS range(subject_type)
     CROSS JOIN LATERAL (
       SELECT * FROM subjects s
        WHERE (s.owner_tenant_id || '/', s.subject_type, s.name, s.subject_key)
                > (i.tenant_id || '/', range.subject_type,
                   CASE range.subject_type WHEN :afterType THEN :afterName ELSE :prefix END COLLATE "C",
                   CASE range.subject_type WHEN :afterType THEN last.subject_key ELSE 0 END)
          AND (s.owner_tenant_id || '/', s.subject_type) <= (i.tenant_id || '/', range.subject_type)
          AND s.name IS NOT NULL AND f.member_status = 'active'
        ORDER BY s.owner_tenant_id || '/', s.subject_type, s.name, s.subject_key LIMIT :rows
     ) s
     WHERE starts_with(s.name, :prefix)
     ORDER BY s.subject_type, s.name, s.subject_key LIMIT :rows
  ) s ON true
  @latest_snapshot(s.subject_key, n)
 ORDER BY s.subject_type, s.name, s.subject_key

-- statement: subject_owner
SELECT @facts,
  s.subject_type AS "ownership?.subjectType", s.subject_id AS "ownership?.subjectId",
       s.owner_tenant_id AS "ownership?.ownerTenantId", s.created_at AS "ownership?.createdAt"
  FROM (SELECT :tenantId::text AS tenant_id, :principalId::text AS principal_id, :subjectType::text AS subject_type,
               :subjectId::text AS subject_id) i
  @named_subject
  @tenant_access('{}')
