-- fragment: whole_grant
-- The columns that `grant_columns` needs.
grant_id, grantor_tenant_id, grantee_tenant_id, subject_key, scopes, paths, starts_at, expires_at, created_at, revoked_at,
         granted_by, purpose, accepted_at

-- fragment: gives_latest(g)
@g.scopes && ARRAY[@scopes(readLatest)]

-- fragment: both_paths(one, other)
-- What two grants show of the latest version; null if one of them shows everything. If neither gives it, their paths.
CASE WHEN (@gives_latest(@one)) > (@gives_latest(@other)) THEN @one.paths
              WHEN (@gives_latest(@one)) < (@gives_latest(@other)) THEN @other.paths
              WHEN @one.paths IS NOT NULL AND @other.paths IS NOT NULL THEN @one.paths || @other.paths END

-- fragment: may_use_grants
-- True if the caller may use grants at all.
c.member_status = 'active' AND c.allow_counterparty_access

-- fragment: owner_from(comparison, from)
-- Selects the first owner, from `from` on, whose grant on all subjects `c` accepted. The grant need not be live.
    SELECT g.grantor_tenant_id FROM grants g
     WHERE (g.grantee_tenant_id, g.grantor_tenant_id) @comparison (c.tenant_id, @from)
       AND g.grantee_tenant_id <= c.tenant_id AND @to_all_accepted
     ORDER BY g.grantee_tenant_id, g.grantor_tenant_id LIMIT 1

-- fragment: accessible(subject, grantor, live, also_of_one, also_of_grant, subjects, order, further, shown)
-- Lists accessible subjects in two parts.
--
-- The first part has the subjects of grants on one subject, unless the owner granted all of its subjects. It is ordered by
-- subject key, as is the index of live grants. Subject keys are numbered across all tenants, so a position names a grant instead:
-- the last one shown, or the last one examined (`ended`). A subject may have further grants after that one, expired ones and the
-- live one, so its live grant is searched separately.
--
-- The second part has all subjects of each owner that granted them all, in the order of owners. `owners` skips any number of
-- expired grants. Each lateral search follows the order of the rows before it, so LIMIT ends all of them.
--
-- One page examines at most 1,000 grants and as many owners. Others may give a tenant any number of grants that have since expired.
--
-- The parts in which the lists differ:
-- - `subject`: one row with `subject_key` and `owner_tenant_id`, for a list of one subject; `grantor`: for a list of one grantor
-- - `live`: the grants `one` on one subject each; `also_of_one`: a further condition on such a grant
-- - `also_of_grant`: a further condition on a grant `g` on all subjects
-- - `subjects`: the next subjects `s` of owner `o`; `order`: the columns that order them
-- - `further`: what a position has after the type and id of `s`; `shown`: the name of `s` in the list
WITH RECURSIVE caller AS MATERIALIZED (
  SELECT i.*, f.*
    FROM (SELECT :tenantId::text AS tenant_id, :principalId::text AS principal_id,
                 greatest(named.subject_key - 1, (SELECT last.subject_key FROM grants last
                            WHERE last.grant_id = :afterGrantId::uuid AND last.grantee_tenant_id = :tenantId), 0) AS after,
                 coalesce(named.subject_key, 9223372036854775807) AS up_to,
                 coalesce(named.owner_tenant_id, @grantor) AS owner_tenant_id
            FROM @subject named) i
    @member_access(i.tenant_id)
), looked_at AS MATERIALIZED (
  SELECT g.*, (@live_grant) AS is_live, row_number() OVER (ORDER BY g.subject_key) AS place
    FROM caller c
   CROSS JOIN LATERAL (
     SELECT * FROM grants g
      WHERE (g.grantee_tenant_id, g.subject_key) > (c.tenant_id, c.after)
        AND (g.grantee_tenant_id, g.subject_key) <= (c.tenant_id, c.up_to)
        AND @may_use_grants AND :fromOwner::text IS NULL AND g.revoked_at IS NULL
      ORDER BY g.grantee_tenant_id, g.subject_key LIMIT 1000
   ) g
), ended AS MATERIALIZED (
  SELECT c.tenant_id, l.grant_id, l.subject_key FROM caller c CROSS JOIN looked_at l WHERE l.place = 1000
), live AS MATERIALIZED (
  SELECT @whole_grant FROM looked_at g
   WHERE g.is_live AND (g.subject_key = (SELECT subject_key FROM ended)) IS NOT TRUE
   UNION ALL
  SELECT g.* FROM ended e
   CROSS JOIN LATERAL (SELECT @whole_grant FROM grants g
                        WHERE @live_grant_on(e.tenant_id, e.subject_key) LIMIT 1) g
), single AS MATERIALIZED (
  SELECT one.*, ARRAY[one.grant_id::text] AS position FROM @live one
   WHERE (SELECT true FROM grants g
           WHERE @accepted_grant_to_all(one.grantor_tenant_id, one.grantee_tenant_id) @also_of_grant LIMIT 1) IS NULL @also_of_one
   ORDER BY one.subject_key LIMIT :rows
), owners AS (
  SELECT (@owner_from(>=, coalesce(:fromOwner::text, c.owner_tenant_id, ''))) AS tenant_id, 1 AS place
    FROM caller c WHERE @may_use_grants AND NOT EXISTS (SELECT FROM ended)
   UNION ALL
  SELECT (@owner_from(>, o.tenant_id)), o.place + 1
    FROM owners o CROSS JOIN caller c WHERE o.tenant_id IS NOT NULL AND c.owner_tenant_id IS NULL AND o.place <= 1000
), of_all AS MATERIALIZED (
  SELECT coalesce(one.grant_id, every.grant_id) AS grant_id, every.grantor_tenant_id, every.grantee_tenant_id,
         s.subject_key,
         CASE WHEN one.grant_id IS NULL THEN every.scopes
              ELSE ARRAY(SELECT DISTINCT unnest(one.scopes || every.scopes) ORDER BY 1) END AS scopes,
         CASE WHEN one.grant_id IS NULL THEN every.paths ELSE @both_paths(one, every) END AS paths,
         CASE WHEN one.grant_id IS NULL THEN every.starts_at ELSE one.starts_at END AS starts_at,
         CASE WHEN one.grant_id IS NULL THEN every.expires_at ELSE one.expires_at END AS expires_at,
         coalesce(one.created_at, every.created_at) AS created_at, NULL::timestamptz AS revoked_at,
         CASE WHEN one.grant_id IS NULL THEN every.granted_by ELSE one.granted_by END AS granted_by,
         CASE WHEN one.grant_id IS NULL THEN every.purpose ELSE one.purpose END AS purpose,
         CASE WHEN one.grant_id IS NULL THEN every.accepted_at ELSE one.accepted_at END AS accepted_at,
         ARRAY[o.tenant_id, s.subject_type, s.subject_id @further]::text[] AS position, s.subject_type, s.name
    FROM owners o
   CROSS JOIN caller c
   CROSS JOIN LATERAL (SELECT * FROM grants g WHERE @accepted_grant_to_all(o.tenant_id, c.tenant_id) @also_of_grant LIMIT 1) every
   CROSS JOIN LATERAL (@subjects) s
    LEFT JOIN LATERAL (SELECT * FROM grants g WHERE @live_grant_on(c.tenant_id, s.subject_key) LIMIT 1) one ON true
   WHERE o.place <= 1000 AND (c.owner_tenant_id IS NULL OR o.tenant_id = c.owner_tenant_id)
   LIMIT :rows - (SELECT count(*) FROM single)
), found AS MATERIALIZED (
  SELECT single.*, 1 AS part, row_number() OVER (ORDER BY subject_key) AS place FROM single
   UNION ALL
  SELECT @whole_grant, position, 2, row_number() OVER (ORDER BY @order) FROM of_all
)
SELECT @facts,
  @grant_columns(item?.grant, g, s),
  s.subject_key::float8 AS "item?.subjectKey", @shown AS "item?.name",
  @snapshot_columns(item?.latest?, NULL::text),
  g.position,
       CASE WHEN EXISTS (SELECT FROM ended) THEN (SELECT ARRAY[grant_id::text] FROM ended)
            WHEN (SELECT count(*) FROM found) < :rows::int
            THEN (SELECT ARRAY[o.tenant_id, '', ''] FROM owners o WHERE o.place > 1000 AND o.tenant_id IS NOT NULL)
            END AS ended
  FROM caller f
  LEFT JOIN found g ON true
  LEFT JOIN subjects s ON s.subject_key = g.subject_key
  @latest_snapshot(CASE WHEN g.scopes && ARRAY[@scopes(readLatest)] THEN s.subject_key END, n)
 ORDER BY g.part, g.place

-- fragment: no_subject
(SELECT NULL::bigint AS subject_key, NULL::text AS owner_tenant_id)

-- fragment: at_place(here, elsewhere)
-- `here` if owner `o` is the one at which the page starts.
CASE o.tenant_id WHEN :fromOwner::text THEN @here ELSE @elsewhere END

-- fragment: after_key
-- The key of the subject `afterType`, `afterId`.
(SELECT l.subject_key FROM subjects l
                   WHERE l.subject_type = :afterType::text AND l.subject_id = :afterId::text LIMIT 1)

-- statement: subjects_accessible
@accessible(@no_subject, NULL::text, live, , , {
     SELECT * FROM subjects s
      WHERE (s.owner_tenant_id, s.subject_type, s.subject_id)
            > (o.tenant_id, @at_place(:afterType::text, ''), @at_place(:afterId::text, ''))
        AND s.owner_tenant_id <= o.tenant_id
      ORDER BY s.owner_tenant_id, s.subject_type, s.subject_id LIMIT :rows
   }, position, , NULL::text)

-- fragment: after_id
@at_place(CASE range.subject_type WHEN :afterType::text THEN :afterId::text ELSE '' END, '')

-- statement: subjects_accessible_filtered
-- The same for subjects of some types, for ids with a prefix, for one grantor, or for one subject. An unknown subject gets the
-- key 0, which no grant on one subject has, and an owner id that no tenant has.
@accessible({
  (SELECT CASE WHEN :subjectId::text IS NOT NULL THEN coalesce(s.subject_key, 0) END AS subject_key,
                         CASE WHEN :subjectId::text IS NOT NULL THEN coalesce(s.owner_tenant_id, '') END AS owner_tenant_id
                    FROM (SELECT true) one
                    LEFT JOIN subjects s ON s.subject_type = :subjectType::text AND s.subject_id = :subjectId::text)
}, :grantorTenantId::text, live, {
     AND (:grantorTenantId::text IS NULL OR one.grantor_tenant_id = :grantorTenantId::text)
     AND (SELECT s.subject_type = ANY (:types::text[]) AND starts_with(s.subject_id, :prefix::text)
            FROM subjects s WHERE s.subject_key = one.subject_key LIMIT 1)
}, , {
     SELECT s.* FROM unnest(:types::text[]) AS range(subject_type)
      CROSS JOIN LATERAL (
        SELECT * FROM subjects s
         WHERE (s.owner_tenant_id, s.subject_type, s.subject_id)
               >= (o.tenant_id, range.subject_type, greatest(:prefix::text COLLATE "C", @after_id COLLATE "C"))
           AND (s.owner_tenant_id, s.subject_type) <= (o.tenant_id, range.subject_type)
           AND s.subject_id <> @after_id
         ORDER BY s.owner_tenant_id, s.subject_type, s.subject_id LIMIT :rows
      ) s
      WHERE range.subject_type >= @at_place(:afterType::text, '') AND starts_with(s.subject_id, :prefix::text)
        AND (:subjectId::text IS NULL OR s.subject_id = :subjectId::text)
        AND (:grantorTenantId::text IS NULL OR s.owner_tenant_id = :grantorTenantId::text)
      ORDER BY s.subject_type, s.subject_id LIMIT :rows
   }, position, , NULL::text)

-- fragment: searched(is_found, also_of_grant, subjects, order, further)
-- A search by content, which must reveal nothing that the caller may not read. Only grants with `read_latest` lead to a subject, if
-- they show the name or identifier; the scopes of its other grants are added. The search starts from the grants, so neither the
-- answer nor the page boundary nor the response time depends on other subjects. `is_found` is a condition on a grant `one`, and
-- `also_of_grant` on a grant `g` on all subjects.
@accessible(@no_subject, NULL::text, {
  (
    SELECT l.grant_id, l.grantor_tenant_id, l.grantee_tenant_id, l.subject_key,
           CASE WHEN every.scopes IS NULL THEN l.scopes
                ELSE ARRAY(SELECT DISTINCT unnest(l.scopes || every.scopes) ORDER BY 1) END AS scopes,
           CASE WHEN every.scopes IS NULL THEN l.paths ELSE @both_paths(l, every) END AS paths,
           l.starts_at, l.expires_at, l.created_at, l.revoked_at, l.granted_by, l.purpose, l.accepted_at
      FROM live l
      LEFT JOIN LATERAL (SELECT * FROM grants g
                          WHERE @accepted_grant_to_all(l.grantor_tenant_id, l.grantee_tenant_id) LIMIT 1) every ON true
     WHERE l.scopes && ARRAY[@scopes(readLatest)]
  )
}, {
     AND @is_found}, {AND g.scopes && ARRAY[@scopes(readLatest)] @also_of_grant}, @subjects, @order, @further, s.display_name)

-- fragment: is_shown(path, subject_key)
-- True if the grants that give the caller the latest version of a subject of owner `o` show this place in it.
(paths_cover(every.paths, @path)
              OR (SELECT true FROM grants g
                   WHERE @live_grant_on(c.tenant_id, @subject_key) AND @gives_latest(g) AND paths_cover(g.paths, @path) LIMIT 1))

-- fragment: searched_by_identifier(is_found, columns, values, condition)
@searched(@is_found, , {
     SELECT s.* FROM (
       SELECT * FROM subject_identifiers d
        WHERE (@columns, d.subject_type, -d.subject_key)
                > (@values, @at_place(:afterType::text, ''),
                   coalesce(-@after_key, -9223372036854775807))
          AND (@columns) <= (@values) @condition AND @is_shown(d.path, d.subject_key)
        ORDER BY @columns, d.subject_type, -d.subject_key LIMIT :rows
     ) d
     CROSS JOIN LATERAL (SELECT * FROM subjects s WHERE s.subject_key = d.subject_key LIMIT 1) s
   }, {grantor_tenant_id, subject_type, -subject_key}, )

-- statement: subjects_accessible_by_identifier
@searched_by_identifier({
  (SELECT d.value = :value AND paths_cover(one.paths, d.path) FROM subject_identifiers d
           WHERE (d.subject_key, d.scheme) BETWEEN (one.subject_key, :scheme) AND (one.subject_key, :scheme) LIMIT 1)
}, {d.owner_tenant_id, d.scheme, d.value}, {o.tenant_id, :scheme, :value}, )

-- statement: subjects_accessible_by_bare_identifier
-- Finds the value under any scheme.
@searched_by_identifier({
  (SELECT bool_or(d.value = :value AND paths_cover(one.paths, d.path)) FROM subject_identifiers d WHERE d.subject_key = one.subject_key)
}, {d.owner_tenant_id || '/', d.value}, {o.tenant_id || '/', :value}, {AND d.scheme = @first_scheme({AND @is_shown(e.path, e.subject_key)})})

-- statement: subjects_accessible_by_name
-- Searches the names from `prefix` to `upTo`. An owner with no such name costs at most one row per type, and one whose grant shows
-- no names costs nothing.
@searched({
  (SELECT starts_with(s.name, :prefix) AND paths_cover(one.paths, s.name_path) FROM subjects s WHERE s.subject_key = one.subject_key LIMIT 1)
}, {AND (paths_cover(g.paths, '/attributes/legal/legal_name') OR paths_cover(g.paths, '/attributes/biographic/name/formatted_name'))}, {
     SELECT s.* FROM unnest('{entity,individual,organization}'::text[]) AS range(subject_type)
      CROSS JOIN LATERAL (
        SELECT * FROM subjects s
         WHERE (s.owner_tenant_id || '/', s.subject_type, s.name, s.subject_key)
                 > (o.tenant_id || '/', range.subject_type,
                    CASE WHEN o.tenant_id = :fromOwner::text AND range.subject_type = :afterType::text
                         THEN :afterName::text ELSE :prefix::text END COLLATE "C",
                    CASE WHEN o.tenant_id = :fromOwner::text AND range.subject_type = :afterType::text
                         THEN @after_key ELSE 0 END)
           AND (s.owner_tenant_id || '/', s.subject_type, s.name) <= (o.tenant_id || '/', range.subject_type, :upTo::text)
           AND s.name IS NOT NULL AND @is_shown(s.name_path, s.subject_key)
         ORDER BY s.owner_tenant_id || '/', s.subject_type, s.name, s.subject_key LIMIT :rows
      ) s
      WHERE range.subject_type >= @at_place(:afterType::text, '')
      ORDER BY s.subject_type, s.name, s.subject_key LIMIT :rows
   }, {grantor_tenant_id, subject_type, name, subject_key}, {, s.name})
