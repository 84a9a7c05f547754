-- Rights of callers. `i` is the input row with `principal_id` (and `tenant_id`), `s` the subject, `g` a grant. Each join of facts
-- is named `f` (docs/sql.md).

-- fragment: facts
-- The member `facts` of a row from `f`: an `AccessFacts`.
f.role AS "facts.membership?.role",
  f.member_status AS "facts.membership?.status",
  f.allow_counterparty_access AS "facts.membership?.allowCounterpartyAccess",
  f.owns_subject IS TRUE AS "facts.ownsSubject",
  f.grant_scopes AS "facts.grantScopes",
  f.grant_paths AS "facts.grantPaths"

-- fragment: acting
-- A `FROM` item of one row. It sets the acting principal for the rest of the transaction. Triggers write it into the audit trail
-- with each change (`migrations/24-audit-trail.sql`).
(SELECT set_config('iss.acting_principal', :principalId::text, true) AS principal_id,
          set_config('iss.acting_request', :requestId::text, true) AS request_id) acting

-- fragment: standing_grant
-- True if grant `g` is neither revoked nor expired at the moment of the read. It may not have started.
g.revoked_at IS NULL AND (g.expires_at IS NULL OR g.expires_at > statement_timestamp())

-- fragment: started
-- True if grant `g` has started. Grants that have not are few: they count against the caps of live grants.
(g.starts_at IS NULL OR g.starts_at <= statement_timestamp())

-- fragment: live_grant
-- True if grant `g` gives rights at the moment of the read.
@standing_grant AND @started

-- fragment: standing_grant_on(grantee, subject_key)
-- `g` is a standing grant to this tenant on this subject. It compares rows, so that only the index of live grants can answer. The
-- index by subject would also read the grants of all other readers.
(g.grantee_tenant_id, g.subject_key) BETWEEN (@grantee, @subject_key) AND (@grantee, @subject_key)
             AND @standing_grant

-- fragment: live_grant_on(grantee, subject_key)
@standing_grant_on(@grantee, @subject_key) AND @started

-- Conditions for grants `g` on all subjects of their grantor. Each has the exact wording of one index, so that only this index
-- can answer. The grantor of a live grant is found by an expression, because other indexes begin with the column.

-- fragment: to_all_live
-- By grantor, grantee and expiry.
g.revoked_at IS NULL AND (g.subject_key = 0) IS TRUE

-- fragment: to_all_by_end
-- By grantor and expiry.
g.revoked_at IS NULL AND abs(g.subject_key) = 0

-- fragment: to_all_accepted
-- By grantee and grantor: grants that the grantee accepted, explicitly or by use.
g.revoked_at IS NULL AND g.accepted_at IS NOT NULL AND +g.subject_key = 0

-- fragment: to_all_made
-- By grantor, newest first, including ended grants.
(g.subject_key <> 0) IS FALSE

-- fragment: to_all_changed
-- For changes of such grants: by grantor, newest first.
(g.subject_key = 0) IS TRUE

-- fragment: standing_grant_to_all(grantor, grantee)
-- `g` is a standing grant of that grantor to this grantee on all of the grantor's subjects. It includes the expiry, so that expired
-- grants are not read.
(g.grantor_tenant_id || '/', g.grantee_tenant_id, coalesce(g.expires_at, 'infinity'))
                   > (@grantor || '/', @grantee, statement_timestamp())
             AND (g.grantor_tenant_id || '/', g.grantee_tenant_id) <= (@grantor || '/', @grantee)
             AND @to_all_live

-- fragment: live_grant_to_all(grantor, grantee)
@standing_grant_to_all(@grantor, @grantee) AND @started

-- fragment: accepted_grant_to_all(grantor, grantee)
-- The same for grants that the grantee accepted. Lists and feeds of a tenant use it, because anybody may grant a tenant all of
-- their subjects.
@live_grant_to_all(@grantor, @grantee) AND g.accepted_at IS NOT NULL

-- fragment: scopes_held_by(grantee)
-- The scopes of the tenant's live grants on subject `s`, of both kinds; null if there is none.
(SELECT g.scopes FROM grants g
           WHERE @live_grant_on(@grantee, s.subject_key) LIMIT 1)
         || (SELECT g.scopes FROM grants g
           WHERE @live_grant_to_all(s.owner_tenant_id, @grantee) LIMIT 1)

-- fragment: scopes_followed_by(grantee)
-- The same without grants on all subjects that the tenant has not accepted; for events and feeds.
(SELECT g.scopes FROM grants g
           WHERE @live_grant_on(@grantee, s.subject_key) LIMIT 1)
         || (SELECT g.scopes FROM grants g
           WHERE @accepted_grant_to_all(s.owner_tenant_id, @grantee) LIMIT 1)

-- fragment: granted_type(g, s)
-- The type of the granted subject: `*` for all subjects, else that of subject `s`.
CASE WHEN @g.subject_key = 0 THEN '*' ELSE @s.subject_type END

-- fragment: granted_id(g, s)
CASE WHEN @g.subject_key = 0 THEN '*' ELSE @s.subject_id END

-- fragment: disclosed(grantee)
-- The member `disclosure` of a row: a `SubjectDisclosure`, or null for the owner.
CASE WHEN f.owns_subject IS NOT TRUE THEN s.subject_key::float8 END AS "disclosure?.subjectKey",
  @grantee AS "disclosure?.granteeTenantId", f.grant_id AS "disclosure?.grantId",
  f.grant_paths AS "disclosure?.paths"

-- fragment: without_grants(tenant, owns_subject)
LEFT JOIN LATERAL (
  SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access, m.tenancy_role,
         m.principal_type, @owns_subject AS owns_subject, NULL::text[] AS grant_scopes, NULL::text[] AS grant_paths
    FROM memberships m
   WHERE m.tenant_id = @tenant AND m.principal_id = i.principal_id LIMIT 1
) f ON true

-- fragment: member_access(tenant)
-- Joins facts about the principal in this tenant, without a subject.
@without_grants(@tenant, NULL::boolean)

-- fragment: owner_access(owns_subject)
-- Joins the same for `i.tenant_id` if only an owner may act. `owns_subject` is true for an owner.
@without_grants(i.tenant_id, @owns_subject)

-- fragment: grant_of(alias, is_grant, wanted)
-- Joins the grant of another tenant. `gives` is true if it has one of the wanted scopes, and `gives_all` if it also has no paths.
    LEFT JOIN LATERAL (SELECT g.grant_id, g.scopes, g.paths, g.scopes && @wanted AS gives,
                              g.scopes && @wanted AND g.paths IS NULL AS gives_all FROM grants g
                        WHERE s.owner_tenant_id <> i.tenant_id AND @is_grant LIMIT 1) @alias ON true

-- fragment: grants_of(one, every, wanted)
-- Joins the grant on subject `s` as `one`, and the grant on all subjects of its owner as `every`.
@grant_of(one, @one, @wanted)
@grant_of(every, @every, @wanted)

-- fragment: grant_in_use
-- The grant by which a version is read: one without paths, if there is one.
CASE WHEN one.gives AND (one.gives_all OR every.gives_all IS NOT TRUE) THEN one.grant_id
              WHEN every.gives THEN every.grant_id END

-- fragment: paths_in_use
-- The paths of both grants, as far as they give a wanted scope; null if one of them has none, and empty if neither gives it.
CASE WHEN (one.gives_all OR every.gives_all) IS NOT TRUE
              THEN '{}'::text[] || CASE WHEN one.gives THEN one.paths END || CASE WHEN every.gives THEN every.paths END END

-- fragment: tenant_access(wanted)
-- Joins facts about the principal that acts for `i.tenant_id` on subject `s`. `f.grant_id` is the grant that gives one of the
-- wanted scopes. `wanted` is '{}' for statements that disclose nothing of the subject.
LEFT JOIN LATERAL (
  SELECT m.api_functional_role AS role, m.status AS member_status, m.allow_counterparty_access,
         s.owner_tenant_id = i.tenant_id AS owns_subject, one.scopes || every.scopes AS grant_scopes,
         @paths_in_use AS grant_paths,
         @grant_in_use AS grant_id
    FROM memberships m
@grants_of(@live_grant_on(i.tenant_id, s.subject_key), @live_grant_to_all(s.owner_tenant_id, i.tenant_id), @wanted)
   WHERE m.tenant_id = i.tenant_id AND m.principal_id = i.principal_id
) f ON true

-- fragment: latest_read_by
-- Joins, as `v`, the accepted live grant by which the member `f` of `i.tenant_id` may read the latest version of subject `s`, and
-- its paths. Null for the owner.
  LEFT JOIN LATERAL (
    SELECT @grant_in_use AS grant_id,
           @paths_in_use AS paths
      FROM (SELECT f.allow_counterparty_access AS may_use) m
@grants_of(@live_grant_on(i.tenant_id, s.subject_key), @accepted_grant_to_all(s.owner_tenant_id, i.tenant_id), ARRAY[@scopes(readLatest)])
     WHERE m.may_use
  ) v ON true

-- fragment: is_of_owner
-- True if `i.principal_id` is an active member of the owner of subject `s`, else null.
(SELECT true FROM memberships m
           WHERE m.tenant_id = s.owner_tenant_id AND m.principal_id = i.principal_id
             AND m.status = 'active' LIMIT 1)

-- fragment: any_tenant_access(wanted)
-- Joins facts about `i.principal_id` in any of its tenants with a right on subject `s`, as `f`. They are the membership of the
-- owner, or the scopes of all live grants to tenants in which the caller's counterparty flag is on.
--
-- The caller may have many tenants, and the subject many grants. Neither is under the caller's control, because anybody may add
-- the caller to a tenant. So `met` walks both lists in one order, and each step skips rows that the other list lacks. It takes
-- the first grantee after the last tenant, then the first of the caller's tenants from there on. The number of steps is limited
-- by the shorter list, and is zero for a member of the owner.
-- `f.grant_id` is the grant by which the caller reads, and `f.grantee_tenant_id` its tenant: the first grant with one of the wanted
-- scopes, preferably without paths.
LEFT JOIN LATERAL (
  SELECT 'tenant_reader' AS role, 'active' AS member_status, true AS allow_counterparty_access, o.owns_subject,
         h.grant_scopes, h.grant_paths, h.grantee_tenant_id, h.grant_id
    FROM (SELECT @is_of_owner AS owns_subject OFFSET 0) o
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
                 AND g.grantor_tenant_id || '/' <= s.owner_tenant_id || '/' AND @to_all_live
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
             CASE WHEN bool_or(g.paths IS NULL) FILTER (WHERE scope = ANY (@wanted)) IS NOT TRUE
                  THEN coalesce(array_agg(DISTINCT path) FILTER (WHERE scope = ANY (@wanted)), '{}') END AS grant_paths,
             (array_agg(m.tenant_id ORDER BY g.paths IS NOT NULL, m.tenant_id, g.is_to_all) FILTER (WHERE scope = ANY (@wanted)))[1] AS grantee_tenant_id,
             (array_agg(g.grant_id ORDER BY g.paths IS NOT NULL, m.tenant_id, g.is_to_all) FILTER (WHERE scope = ANY (@wanted)))[1] AS grant_id
        FROM met m
       CROSS JOIN LATERAL (SELECT g.scopes, g.paths, g.grant_id, false AS is_to_all FROM grants g
                            WHERE @live_grant_on(m.tenant_id, s.subject_key)
                            UNION ALL
                           SELECT g.scopes, g.paths, g.grant_id, true FROM grants g
                            WHERE @live_grant_to_all(s.owner_tenant_id, m.tenant_id) OFFSET 0) g
       CROSS JOIN unnest(g.scopes) scope
        LEFT JOIN LATERAL unnest(g.paths) path ON true
       WHERE m.allow_counterparty_access
    ) h
) f ON true

-- fragment: may_read_by(roles, scopes)
f.role IN (@roles) AND f.member_status = 'active'
                     AND (f.owns_subject OR (f.allow_counterparty_access AND f.grant_scopes && ARRAY[@scopes]))

-- fragment: may_read(rule)
-- A condition, equivalent to `decideAccess`: the facts `f` let the principal read subject `s`.
@may_read_by({@roles(@rule)}, {@scopes(@rule)})

-- fragment: tenant_reader(wanted, may_read)
-- Joins the facts about a reader for a tenant, and `r.subject_key`: the subject's key if it may read, else null. A statement
-- joins the versions by that key, so it reads none of them without the right.
@tenant_access(@wanted)
  LEFT JOIN LATERAL (SELECT s.subject_key
                      WHERE @may_read) r ON true

-- fragment: global_reader(wanted, may_read)
-- The same for a reader in any of its tenants, and for the principal of public reads.
@any_tenant_access(@wanted)
  LEFT JOIN LATERAL (SELECT s.subject_key
                      WHERE @may_read
                         OR i.principal_id = 'anyone') r ON true

-- fragment: tenant_read(rule)
@tenant_reader(ARRAY[@scopes(@rule)], @may_read(@rule))

-- fragment: global_read(rule)
@global_reader(ARRAY[@scopes(@rule)], @may_read(@rule))

-- fragment: readable
-- Joins the snapshot `found` as `n` if `r` allows the read.
LEFT JOIN LATERAL (SELECT found.* WHERE r.subject_key IS NOT NULL) n ON true

-- fragment: party_access(counterparty)
-- Joins facts about `i.principal_id` on subject `s` as `f`, if no tenant acts. The principal must be an active member of the
-- owner, or of `counterparty` while that tenant has a live grant.
LEFT JOIN LATERAL (
  SELECT 'tenant_reader' AS role, 'active' AS member_status, false AS allow_counterparty_access,
         @is_of_owner AS owns_subject,
         (SELECT @scopes_held_by(m.tenant_id)
            FROM memberships m
           WHERE m.tenant_id = @counterparty AND m.principal_id = i.principal_id AND m.status = 'active'
           LIMIT 1) AS grant_scopes, '{}'::text[] AS grant_paths
) f ON true

-- fragment: named_subject
-- Joins the subject that `i` names as `s`; its columns are null if there is none.
LEFT JOIN subjects s ON s.subject_type = i.subject_type AND s.subject_id = i.subject_id

-- fragment: named_key
-- Joins the key of the subject that `i` names as `k`: 0 for all subjects, null if there is none.
LEFT JOIN LATERAL (SELECT CASE i.subject_type WHEN '*' THEN 0 ELSE s.subject_key END AS subject_key
                       FROM (SELECT true) one @named_subject) k ON true

-- fragment: latest_snapshot(subject_key, alias)
-- Joins the newest snapshot of the subject with this key. A null key matches none.
  LEFT JOIN LATERAL (SELECT * FROM snapshots n WHERE n.subject_key = @subject_key
                      ORDER BY n.snapshot_version DESC LIMIT 1) @alias ON true

-- fragment: snapshot_of_version(subject_key, version, alias)
-- Joins one version of the subject with this key.
  LEFT JOIN LATERAL (SELECT * FROM snapshots n
                      WHERE n.subject_key = @subject_key AND n.snapshot_version = @version LIMIT 1) @alias ON true

-- fragment: head_version(subject_key)
-- Returns the newest version number of the subject with this key; null if it has none.
(SELECT n.snapshot_version FROM snapshots n
  WHERE n.subject_key = @subject_key ORDER BY n.snapshot_version DESC LIMIT 1)

-- fragment: versions_before(subject_key, count, moment, alias)
-- Joins the number of the subject's `count` versions that were stored before a moment, as `passed`; null if there is no subject.
-- It uses binary search, because versions have no gaps and their times never decrease.
  LEFT JOIN LATERAL (
    WITH RECURSIVE search (low, high) AS (
      SELECT 0::bigint, @count::bigint + 1
       UNION ALL
      SELECT CASE WHEN n.created_at < @moment THEN b.middle ELSE b.low END,
             CASE WHEN n.created_at < @moment THEN b.high ELSE b.middle END
        FROM (SELECT low, high, low + (high - low) / 2 AS middle FROM search WHERE high - low > 1) b
       CROSS JOIN LATERAL (SELECT n.created_at FROM snapshots n
                            WHERE n.subject_key = @subject_key AND n.snapshot_version = b.middle LIMIT 1) n
    )
    SELECT low::int AS passed FROM search WHERE high - low = 1
  ) @alias ON true

-- fragment: changed_paths_of(subject_key, version)
-- Returns the changed paths of a version as `shownChanges` takes them; null for a first version, and if they are unknown.
(SELECT p.changed_paths FROM snapshot_provenance p
  WHERE p.subject_key = @subject_key AND p.snapshot_version = @version LIMIT 1)

-- fragment: origins_of(subject_key, version)
-- Returns the origins of a version's leaves; null for a first version, and if they are unknown.
(SELECT p.origins FROM snapshot_provenance p
  WHERE p.subject_key = @subject_key AND p.snapshot_version = @version LIMIT 1)

