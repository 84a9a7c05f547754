-- fragment: audit_record(group)
-- The columns of the audit record `a`.
a.audit_id::float8 AS "@group.auditId",
  a.at AS "@group.at",
  a.action AS "@group.action",
  a.principal_id AS "@group.principalId",
  a.request_id AS "@group.requestId",
  a.target AS "@group.target",
  a.details AS "@group.details"


-- fragment: is_subject
a.target ->> 'subject_type' = i.subject_type AND a.target ->> 'subject_id' = i.subject_id

-- fragment: audit(scope)
-- The changes of a scope in a tenant. An expression on the tenant keeps other lists off the indexes of ids and of subjects.
SELECT @facts,
  @audit_record(item?),
  @records_position(a, at, audit_id, @in_scope(@scope)), a.found
  FROM (SELECT :tenantId::text AS tenant_id, :principalId::text AS principal_id, :subjectType::text AS subject_type,
               :subjectId::text AS subject_id, :action::text AS action, :byPrincipalId::text AS by_principal_id,
               :targetId::text AS target_id) i
  @member_access(i.tenant_id)
  LEFT JOIN LATERAL @fitting(a, SELECT * FROM @audit_page(@scope) a, @row_bytes(a), {@records_order(a, at, audit_id)}) a ON true
 @records_order(a, at, audit_id)

-- fragment: in_scope(scope)
@examined(audit_records, a, at, audit_id, bigint, {a.tenant_id @scope AND f.member_status = 'active'})

-- fragment: audit_page(scope)
@records_page(a, at, audit_id, @in_scope(@scope), {
  (i.action IS NULL OR a.action = i.action) AND (i.by_principal_id IS NULL OR a.principal_id = i.by_principal_id)
       AND (i.subject_type IS NULL OR @is_subject)})

-- statement: audit_of_tenant
@audit(= i.tenant_id)

-- statement: audit_of_target
@audit(|| '/' = i.tenant_id || '/' AND audit_target_id(a.target) = i.target_id)

-- statement: audit_of_subject
@audit(|| '/' = i.tenant_id || '/' AND @is_subject)

-- statement: disclosure_record
-- Stores disclosures, and accepts a grant on all subjects on its first use. Rows are in the order of their keys, so that two
-- statements with the same rows cannot deadlock.
WITH used AS MATERIALIZED (
  SELECT g.grant_id
    FROM (SELECT DISTINCT u.grant_id FROM unnest(:inputs.grantId::uuid[]) AS u(grant_id) ORDER BY u.grant_id) u
   CROSS JOIN LATERAL (SELECT g.grant_id FROM grants g
                        WHERE g.grant_id = u.grant_id AND (g.accepted_at IS NULL AND g.subject_key = 0) IS TRUE
                        LIMIT 1 FOR NO KEY UPDATE) g
), accepted AS (
  UPDATE grants g SET @accepted FROM used u WHERE g.grant_id = u.grant_id AND (g.accepted_at IS NULL) IS TRUE
)
INSERT INTO disclosures (subject_key, disclosed_on, grantee_tenant_id, grant_id, principal_id, via, from_version, to_version, request_id, paths)
SELECT i.subject_key, i.disclosed_on::date, i.grantee_tenant_id, i.grant_id, i.principal_id, i.via, i.from_version, i.to_version,
       i.request_id, (SELECT array_agg(p.path) FROM json_array_elements_text(i.paths::json) p(path))
  FROM unnest(:inputs.subjectKey::bigint[], :inputs.disclosedOn::text[], :inputs.granteeTenantId::text[],
                :inputs.grantId::uuid[], :inputs.principalId::text[], :inputs.via::text[],
                :inputs.fromVersion::int[], :inputs.toVersion::int[], :inputs.requestId::text[], :inputs.paths::text[])
    WITH ORDINALITY AS i(subject_key, disclosed_on, grantee_tenant_id, grant_id, principal_id, via, from_version, to_version, request_id, paths, ord)
 ORDER BY i.disclosed_on, i.subject_key, i.grantee_tenant_id COLLATE "C", i.principal_id COLLATE "C", i.via COLLATE "C",
       i.from_version, i.to_version, i.paths COLLATE "C"
    ON CONFLICT DO NOTHING

-- fragment: disclosure_columns(group)
-- The columns of the disclosure `d` of subject `s`.
to_char(d.disclosed_on, 'YYYY-MM-DD') AS "@group.disclosedOn",
  s.subject_type AS "@group.subjectType",
  s.subject_id AS "@group.subjectId",
  d.from_version AS "@group.fromVersion",
  d.to_version AS "@group.toVersion",
  d.grantee_tenant_id AS "@group.granteeTenantId",
  d.grant_id AS "@group.grantId",
  (SELECT g.purpose FROM grants g WHERE g.grant_id = d.grant_id LIMIT 1) AS "@group.purpose",
  d.principal_id AS "@group.principalId",
  d.via AS "@group.via",
  d.paths AS "@group.paths",
  d.first_at AS "@group.firstAt",
  d.request_id AS "@group.requestId"


-- fragment: fitting_disclosures(page)
@fitting(d, SELECT * FROM @page d, @row_bytes(d), {@records_order(d, first_at, disclosure_id)})

-- fragment: wanted
(i.to_principal_id IS NULL OR d.principal_id = i.to_principal_id) AND (i.via IS NULL OR d.via = i.via)

-- fragment: of_subject
@examined(disclosures, d, first_at, disclosure_id, bigint, d.subject_key = s.subject_key AND f.owns_subject)

-- statement: disclosures_of_subject
SELECT @facts,
  @disclosure_columns(item?),
  @records_position(d, first_at, disclosure_id, @of_subject), d.found
  FROM (SELECT :tenantId::text AS tenant_id, :principalId::text AS principal_id, :subjectType::text AS subject_type,
               :subjectId::text AS subject_id, :toPrincipalId::text AS to_principal_id, :via::text AS via,
               :granteeTenantId::text AS grantee_tenant_id) i
  @named_subject
  @tenant_access('{}')
  LEFT JOIN LATERAL @fitting_disclosures({@records_page(d, first_at, disclosure_id, @of_subject, {@wanted AND (i.grantee_tenant_id IS NULL OR d.grantee_tenant_id = i.grantee_tenant_id)})}) d ON true
 @records_order(d, first_at, disclosure_id)

-- fragment: to_tenant(position, page)
SELECT @facts,
  @disclosure_columns(item?),
  @position, d.found
  FROM (SELECT :tenantId::text AS tenant_id, :principalId::text AS principal_id, :subjectType::text AS subject_type,
               :subjectId::text AS subject_id, :toPrincipalId::text AS to_principal_id, :via::text AS via) i
  @member_access(i.tenant_id)
  @named_key
  LEFT JOIN LATERAL @fitting_disclosures(@page) d ON true
  LEFT JOIN subjects s ON s.subject_key = d.subject_key
 @records_order(d, first_at, disclosure_id)

-- fragment: all_to_tenant
@examined(disclosures, d, first_at, disclosure_id, bigint, d.grantee_tenant_id = i.tenant_id AND f.member_status = 'active')

-- statement: disclosures_to_tenant
@to_tenant({@records_position(d, first_at, disclosure_id, @all_to_tenant)},
           {@records_page(d, first_at, disclosure_id, @all_to_tenant, @wanted)})

-- fragment: filtered(key, value)
-- Lists by principal or by subject read the tenant's own rows only, so the number of other rows cannot be inferred from a page.
@to_tenant({@records_position(d, first_at, disclosure_id, @to_tenant_by(@key, @value))},
           {@records_page_by_two(d, first_at, disclosure_id, @to_tenant_by(@key, @value), @wanted, d.grantee_tenant_id || '/', @key)})

-- fragment: to_tenant_by(key, value)
@examined_by(disclosures, d, first_at, disclosure_id, bigint, {d.grantee_tenant_id || '/', @key}, {i.tenant_id || '/', @value},
             f.member_status = 'active', {d.grantee_tenant_id || '/' DESC, @key DESC})

-- statement: disclosures_to_principal
@filtered(d.principal_id, i.to_principal_id)

-- statement: disclosures_to_tenant_of
@filtered(d.subject_key, k.subject_key)
