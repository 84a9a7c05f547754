-- fragment: accepted
-- Accepts grant `g`. A worker then fills the feed of its grantee.
accepted_at = statement_timestamp(), is_feed_due = g.subject_key = 0

-- fragment: grant_status(g)
-- Returns the current status of the grant `g`.
CASE WHEN @g.revoked_at IS NOT NULL THEN 'revoked'
       WHEN @g.expires_at <= statement_timestamp() THEN 'expired'
       WHEN @g.starts_at > statement_timestamp() THEN 'scheduled' ELSE 'active' END

-- fragment: grant_columns(group, g, s)
-- The columns of the grant `g` of subject `s`: a `GrantRecord`.
@g.grant_id AS "@group.grantId",
  @g.grantor_tenant_id AS "@group.grantorTenantId",
  @g.grantee_tenant_id AS "@group.granteeTenantId",
  @granted_type(@g, @s) AS "@group.subjectType",
  @granted_id(@g, @s) AS "@group.subjectId",
  @g.scopes AS "@group.scopes",
  @g.paths AS "@group.paths",
  @g.starts_at AS "@group.startsAt",
  @g.expires_at AS "@group.expiresAt",
  @g.created_at AS "@group.createdAt",
  @g.revoked_at AS "@group.revokedAt",
  @grant_status(@g) AS "@group.status",
  @g.granted_by AS "@group.grantedBy",
  @g.purpose AS "@group.purpose",
  @g.accepted_at AS "@group.acceptedAt"

-- fragment: listed_grant
-- The same for a list of the tenant `i.tenant_id`: a `ListedGrant`. A grant on all subjects has no name.
@grant_columns(item?, g, s),
  CASE WHEN g.subject_key <> 0 AND s.owner_tenant_id = i.tenant_id THEN s.display_name END AS "item?.name"

-- fragment: lock_of(tenant_id, subject_type, subject_id)
-- Returns the key of the lock for the grants on a subject, or for those on all subjects of a tenant.
hashtextextended('grants/' || @subject_type || '/'
      || CASE @subject_type WHEN '*' THEN @tenant_id ELSE @subject_id END, 0)

-- statement: grant_lock_subjects
-- Serializes the creation of grants on one subject. A unique index cannot express "not ended", which depends on the clock, and each
-- grant must be counted before the next one. Several locks are acquired in one order.
SELECT pg_advisory_xact_lock(lock)
  FROM (SELECT DISTINCT @lock_of(:tenantId::text, i.subject_type, i.subject_id) AS lock
          FROM unnest(:inputs.subjectType::text[], :inputs.subjectId::text[])
    WITH ORDINALITY AS i(subject_type, subject_id, ord) ORDER BY lock) locks CROSS JOIN @acting

-- fragment: is_to_all
i.subject_type = '*'

-- statement: grant_create
-- Creates grants. Each pair of subject and grantee must appear once in the inputs.
WITH facts AS MATERIALIZED (
  SELECT i.*, f.*, CASE WHEN @is_to_all THEN 0 ELSE s.subject_key END AS subject_key,
         (SELECT true FROM tenants t WHERE t.tenant_id = i.grantee_tenant_id LIMIT 1) AS grantee_exists,
         CASE WHEN @is_to_all
              THEN (SELECT true FROM grants g WHERE @standing_grant_to_all(i.tenant_id, i.grantee_tenant_id) LIMIT 1)
              ELSE (SELECT true FROM grants g WHERE @standing_grant_on(i.grantee_tenant_id, s.subject_key) LIMIT 1)
              END AS is_granted,
         CASE WHEN @is_to_all THEN @cap_of(tenant, live_grants_per_tenant_to_all, i.tenant_id)
              ELSE @cap_of(tenant, live_grants_per_subject, i.tenant_id) END AS cap
    FROM (SELECT :tenantId::text AS tenant_id, :principalId::text AS principal_id, i.* FROM unnest(:inputs.grantId::uuid[], :inputs.granteeTenantId::text[], :inputs.subjectType::text[],
                :inputs.subjectId::text[], :inputs.scopes::text[], :inputs.paths::text[], :inputs.startsAt::text[],
                :inputs.expiresAt::text[], :inputs.purpose::text[])
    WITH ORDINALITY AS i(grant_id, grantee_tenant_id, subject_type, subject_id, scopes, paths, starts_at, expires_at, purpose, ord)) i
    @named_subject
    @owner_access((@is_to_all OR s.owner_tenant_id = i.tenant_id))
), sound AS MATERIALIZED (
  SELECT f.*, row_number() OVER (PARTITION BY f.subject_key ORDER BY f.ord) AS place FROM facts f
   WHERE f.member_status = 'active' AND f.role IN (@roles(manageGrants)) AND f.owns_subject AND f.grantee_exists
     AND f.is_granted IS NULL
), counted AS MATERIALIZED (
  SELECT k.subject_key,
         CASE WHEN k.subject_key = 0 THEN @count_up_to(k.cap, {FROM grants g
           WHERE (g.grantor_tenant_id, coalesce(g.expires_at, 'infinity')) > (k.tenant_id, statement_timestamp())
             AND g.grantor_tenant_id <= k.tenant_id AND @to_all_by_end
           ORDER BY g.grantor_tenant_id, coalesce(g.expires_at, 'infinity')}) ELSE @count_up_to(k.cap, {FROM grants g
           WHERE (g.subject_key, coalesce(g.expires_at, 'infinity')) > (k.subject_key, statement_timestamp())
             AND g.subject_key <= k.subject_key AND g.revoked_at IS NULL
           ORDER BY g.subject_key, coalesce(g.expires_at, 'infinity')}) END AS live
    FROM (SELECT DISTINCT subject_key, tenant_id, cap FROM sound) k
), judged AS MATERIALIZED (
  SELECT f.*, v.*,
         CASE WHEN f.subject_key = 0
              THEN grant_needs_confirmation(f.grant_id, f.tenant_id, f.grantee_tenant_id, v.wanted, v.until, v.wanted_paths, v.since)
              ELSE false END AS is_pending
    FROM sound f
   CROSS JOIN LATERAL (SELECT string_to_array(f.scopes, ',') AS wanted, f.expires_at::timestamptz AS until,
                              (SELECT array_agg(p.path) FROM json_array_elements_text(f.paths::json) p(path)) AS wanted_paths, f.starts_at::timestamptz AS since) v
   CROSS JOIN counted c
   WHERE c.subject_key = f.subject_key AND c.live + f.place <= f.cap
), made AS (
  INSERT INTO grants (grant_id, grantor_tenant_id, grantee_tenant_id, subject_key, scopes, paths, starts_at, expires_at, granted_by, purpose)
  SELECT grant_id, tenant_id, grantee_tenant_id, subject_key, wanted, wanted_paths, since, until,
         coalesce((SELECT p.requested_by FROM pending_grants p WHERE p.grant_id = f.grant_id LIMIT 1), principal_id), purpose
    FROM judged f WHERE NOT is_pending
   ORDER BY f.ord
  RETURNING *
), pending AS (
  INSERT INTO pending_grants (grant_id, grantor_tenant_id, grantee_tenant_id, scopes, paths, starts_at, expires_at, purpose, requested_by)
  SELECT grant_id, tenant_id, grantee_tenant_id, wanted, wanted_paths, since, until, purpose, principal_id
    FROM judged f WHERE is_pending
   ORDER BY f.ord
  RETURNING *
)
SELECT @facts,
  f.grantee_exists IS TRUE AS "granteeExists", f.is_granted IS TRUE AS "isGranted", f.cap,
  @grant_columns(grant?, g, f),
  @pending_grant_columns(pending?)
  FROM facts f
  LEFT JOIN made g ON g.grant_id = f.grant_id
  LEFT JOIN pending p ON p.grant_id = f.grant_id
 ORDER BY f.ord

-- fragment: own_grant
-- Joins the tenant's grant with this id as `g`, and the caller's access facts.
(SELECT :tenantId::text AS tenant_id, :principalId::text AS principal_id, :grantId::uuid AS grant_id) i
    LEFT JOIN LATERAL (SELECT * FROM grants g WHERE g.grant_id = i.grant_id LIMIT 1) g
      ON g.grantor_tenant_id = i.tenant_id
    LEFT JOIN subjects s ON s.subject_key = g.subject_key
    @owner_access(g.grant_id IS NOT NULL)

-- fragment: after_write
-- Joins the written grant as `w`, and the grant of `f` as it is after the statement as `g`.
LEFT JOIN written w ON true
  LEFT JOIN LATERAL ((SELECT * FROM grants g WHERE g.grant_id = f.grant_id AND w.grant_id IS NULL LIMIT 1)
                     UNION ALL SELECT w.* WHERE w.grant_id IS NOT NULL) g ON true

-- statement: grant_revoke
-- Revokes a grant. The row lock lets one of many concurrent calls revoke it, and the others then see that it has ended.
-- IS TRUE keeps the search off the index of all live grants. The time is read after the lock is acquired, so it is later than
-- that of a change it waited for.
WITH found AS MATERIALIZED (
  SELECT f.*, g.grant_id, s.subject_type, s.subject_id
    FROM @own_grant
   CROSS JOIN @acting
),
written AS (
  UPDATE grants g SET revoked_at = clock_timestamp()
   WHERE g.grant_id = (SELECT grant_id FROM found
                        WHERE member_status = 'active' AND role IN (@roles(manageGrants)) AND owns_subject)
     AND (@standing_grant) IS TRUE
  RETURNING g.*
)
SELECT @facts,
  @grant_columns(grant?, g, f), w.grant_id IS NOT NULL AS "isRevoked"
  FROM found f @after_write


-- statement: grant_lock_own
-- Serializes changes of a grant with one another, and with the creation of grants on its subject, which depends on the grant's
-- expiry.
SELECT pg_advisory_xact_lock(@lock_of(g.grantor_tenant_id, @granted_type(g, s), @granted_id(g, s)))
  FROM (SELECT * FROM grants g WHERE g.grant_id = :grantId::uuid LIMIT 1) g
  LEFT JOIN subjects s ON s.subject_key = g.subject_key
 CROSS JOIN @acting
 WHERE g.grantor_tenant_id = :tenantId

-- fragment: received_grant
-- Joins the grant with this id that the tenant received as `g`, and the caller's access facts.
(SELECT :tenantId::text AS tenant_id, :principalId::text AS principal_id, :grantId::uuid AS grant_id) i
    LEFT JOIN LATERAL (SELECT * FROM grants g WHERE g.grant_id = i.grant_id LIMIT 1) g
      ON g.grantee_tenant_id = i.tenant_id
    LEFT JOIN subjects s ON s.subject_key = g.subject_key
    @member_access(i.tenant_id)

-- statement: grant_accept
WITH found AS MATERIALIZED (
  SELECT f.*, g.grant_id, s.subject_type, s.subject_id
    FROM @received_grant
   CROSS JOIN @acting
), written AS (
  UPDATE grants g SET @accepted
   WHERE g.grant_id = (SELECT grant_id FROM found WHERE member_status = 'active' AND role IN (@roles(acceptGrants)))
     AND (@live_grant AND g.accepted_at IS NULL) IS TRUE
  RETURNING g.*
)
SELECT @facts,
  @grant_columns(grant?, g, f)
  FROM found f @after_write

-- statement: grant_change
-- Changes a grant, and stores the change with the previous values. If nothing differs, it writes nothing.
WITH found AS MATERIALIZED (
  SELECT f.*, g.*, s.subject_type, s.subject_id, i.principal_id,
         CASE WHEN :changesScopes::boolean THEN :scopes::text[] ELSE g.scopes END AS new_scopes,
         CASE WHEN :changesPaths::boolean THEN (SELECT array_agg(p.path) FROM json_array_elements_text(:paths::json) p(path)) ELSE g.paths END AS new_paths,
         CASE WHEN :changesStart::boolean THEN :startsAt::timestamptz ELSE g.starts_at END AS new_starts_at,
         CASE WHEN :changesExpiry::boolean THEN :expiresAt::timestamptz ELSE g.expires_at END AS new_expires_at,
         CASE WHEN :changesPurpose::boolean THEN :purpose::text ELSE g.purpose END AS new_purpose
    FROM @own_grant
), judged AS MATERIALIZED (
  SELECT f.*, (f.new_scopes @> f.scopes AND f.new_scopes <@ f.scopes) IS FALSE
              OR (f.new_paths, f.new_starts_at, f.new_expires_at) IS DISTINCT FROM (f.paths, f.starts_at, f.expires_at) AS is_recorded,
         f.new_purpose IS DISTINCT FROM f.purpose AS is_renamed,
         f.new_starts_at >= f.new_expires_at AS is_reversed,
         CASE WHEN f.subject_key = 0 AND NOT is_grant_narrowed(f.scopes, f.new_scopes, f.expires_at, f.new_expires_at,
                                                               f.paths, f.new_paths, f.starts_at, f.new_starts_at)
              THEN grant_needs_confirmation(f.grant_id, f.grantor_tenant_id, f.grantee_tenant_id, f.new_scopes, f.new_expires_at,
                                            f.new_paths, f.new_starts_at)
              ELSE false END AS is_held_back
    FROM found f
), written AS (
  UPDATE grants g
     SET scopes = j.new_scopes, paths = j.new_paths, starts_at = j.new_starts_at, expires_at = j.new_expires_at, purpose = j.new_purpose
    FROM judged j
   WHERE g.grant_id = j.grant_id AND j.member_status = 'active' AND j.role IN (@roles(manageGrants)) AND j.owns_subject
     AND (j.is_recorded OR j.is_renamed) AND NOT j.is_held_back AND j.is_reversed IS NOT TRUE AND (@standing_grant) IS TRUE
  RETURNING g.*
), recorded AS (
  INSERT INTO grant_changes (grant_id, grantor_tenant_id, subject_key, scopes, paths, starts_at, expires_at,
                             from_scopes, from_paths, from_starts_at, from_expires_at, changed_by, changed_at, reason)
  SELECT grant_id, grantor_tenant_id, subject_key, new_scopes, new_paths, new_starts_at, new_expires_at,
         scopes, paths, starts_at, expires_at, principal_id, statement_timestamp(), :reason::text
    FROM judged WHERE is_recorded AND EXISTS (SELECT FROM written)
)
SELECT @facts,
  @grant_columns(grant?, g, f), (f.is_recorded OR f.is_renamed) IS TRUE AS "isDifferent",
  f.is_held_back AS "needsConfirmation",
  f.is_reversed IS TRUE AS "isReversed",
  w.grant_id IS NOT NULL AS "isChanged"
  FROM judged f @after_write


-- fragment: grant_list(position, page)
-- A list of grants for members of the tenant.
SELECT @facts,
  @listed_grant,
  @position
  FROM (SELECT :tenantId::text AS tenant_id, :principalId::text AS principal_id, :subjectType::text AS subject_type,
               :subjectId::text AS subject_id, :status::text AS status, :granteeTenantId::text AS grantee_tenant_id,
               :grantorTenantId::text AS grantor_tenant_id) i
  @member_access(i.tenant_id)
  @named_key
  LEFT JOIN LATERAL @page g ON true
  LEFT JOIN subjects s ON s.subject_key = g.subject_key
 @records_order(g, created_at, grant_id)

-- fragment: wanted
(i.status IS NULL OR @grant_status(g) = i.status)
       AND (i.grantee_tenant_id IS NULL OR g.grantee_tenant_id = i.grantee_tenant_id)
       AND (i.grantor_tenant_id IS NULL OR g.grantor_tenant_id = i.grantor_tenant_id)
       AND (i.subject_type IS NULL OR g.subject_key = k.subject_key)

-- fragment: listed(scope)
-- The grants of a scope.
@grant_list({@records_position(g, created_at, grant_id, @in_scope(@scope))},
            {@records_page(g, created_at, grant_id, @in_scope(@scope), @wanted)})

-- fragment: in_scope(scope)
@examined(grants, g, created_at, grant_id, uuid, {@scope AND f.member_status = 'active'})

-- fragment: listed_pair(value, and)
-- The grants of a pair of tenants. The pair is an expression, so that no search for live grants uses its index.
@grant_list({@records_position(g, created_at, grant_id, @of_pair(@value, @and))},
            {@records_page_by_one(g, created_at, grant_id, @of_pair(@value, @and), @wanted, g.grantor_tenant_id || '>' || g.grantee_tenant_id)})

-- fragment: of_pair(value, and)
@examined_by(grants, g, created_at, grant_id, uuid, g.grantor_tenant_id || '>' || g.grantee_tenant_id, @value,
             {@and AND f.member_status = 'active'}, g.grantor_tenant_id || '>' || g.grantee_tenant_id DESC)

-- fragment: listed_subject(key, value, and)
-- The grants of a tenant on one subject.
@grant_list({@records_position(g, created_at, grant_id, @on_subject(@key, @value, @and))},
            {@records_page_by_two(g, created_at, grant_id, @on_subject(@key, @value, @and), @wanted, @key, g.subject_key)})

-- fragment: on_subject(key, value, and)
@examined_by(grants, g, created_at, grant_id, uuid, {@key, g.subject_key}, {@value, k.subject_key},
             {@and AND f.member_status = 'active'}, {@key DESC, g.subject_key DESC})

-- fragment: is_received
-- IS TRUE after it selects the index of the direction, and IS NOT FALSE the index of the scope.
(g.subject_key <> 0 OR g.accepted_at IS NOT NULL)

-- fragment: is_offered
(g.subject_key = 0 AND g.accepted_at IS NULL)

-- statement: grants_issued
@listed(g.grantor_tenant_id = i.tenant_id)

-- statement: grants_issued_to
@listed_pair(i.tenant_id || '>' || i.grantee_tenant_id, true)

-- statement: grants_issued_on
@listed_subject(g.grantor_tenant_id || '>', i.tenant_id || '>', true)

-- statement: grants_received
@listed(g.grantee_tenant_id || '/' = i.tenant_id || '/' AND @is_received IS TRUE)

-- statement: grants_received_from
@listed_pair(i.grantor_tenant_id || '>' || i.tenant_id, @is_received IS NOT FALSE)

-- statement: grants_received_on
@listed_subject('>' || g.grantee_tenant_id, '>' || i.tenant_id, @is_received IS NOT FALSE)

-- statement: grants_offered
@listed(g.grantee_tenant_id || '/' = i.tenant_id || '/' AND @is_offered IS TRUE)

-- statement: grants_offered_from
@listed_pair(i.grantor_tenant_id || '>' || i.tenant_id, @is_offered IS NOT FALSE)

-- statement: grants_offered_on
@listed_subject('>' || g.grantee_tenant_id, '>' || i.tenant_id, @is_offered IS NOT FALSE)

-- statement: grant_find
SELECT @facts,
  @grant_columns(grant?, g, s)
  FROM (SELECT :tenantId::text AS tenant_id, :principalId::text AS principal_id, :grantId::uuid AS grant_id) i
  @member_access(i.tenant_id)
  LEFT JOIN LATERAL (SELECT * FROM grants g WHERE g.grant_id = i.grant_id LIMIT 1) g
    ON f.member_status = 'active' AND i.tenant_id IN (g.grantor_tenant_id, g.grantee_tenant_id)
  LEFT JOIN subjects s ON s.subject_key = g.subject_key


-- statement: grants_of_subject
SELECT @facts,
  @listed_grant,
  @newest_position(g, grant_id), g.found
  FROM (SELECT :tenantId::text AS tenant_id, :principalId::text AS principal_id, :subjectType::text AS subject_type,
               :subjectId::text AS subject_id) i
  @named_subject
  @tenant_access('{}')
  LEFT JOIN LATERAL @fitting(g, {
    SELECT * FROM (
      (SELECT * FROM grants g WHERE g.subject_key = s.subject_key AND f.owns_subject AND @newest_next(g, grant_id))
       UNION ALL
      (SELECT * FROM grants g WHERE g.grantor_tenant_id = s.owner_tenant_id AND @to_all_made AND f.owns_subject AND @newest_next(g, grant_id))
    ) g @newest_order(g, grant_id) LIMIT :rows
  }, @row_bytes(g), {@newest_order(g, grant_id)}) g ON true
 @newest_order(g, grant_id)

-- fragment: grant_of_fact
-- The data of grant `g` with subject `s` in its facts.
g.grant_id AS "granted?.grantId",
  g.grantor_tenant_id AS "granted?.ownerTenantId",
  g.grantee_tenant_id AS "granted?.granteeTenantId",
  @granted_type(g, s) AS "granted?.subjectType",
  @granted_id(g, s) AS "granted?.subjectId",
  g.scopes AS "granted?.scopes",
  g.paths AS "granted?.paths",
  g.starts_at AS "granted?.startsAt",
  g.expires_at AS "granted?.expiresAt"

-- fragment: reached(moment, column, until, also)
-- Claims the next grants whose start or expiry must be announced; each is claimed once. `column` stores the announced moment, so a
-- grant that gets another one is announced again. `also` are further changes.
WITH due AS MATERIALIZED (
  SELECT g.grant_id FROM grants g
   WHERE g.revoked_at IS NULL AND g.@column IS DISTINCT FROM g.@moment AND g.@moment <= @until
   ORDER BY g.@moment LIMIT :limit
     FOR NO KEY UPDATE SKIP LOCKED
), g AS (
  UPDATE grants g SET @column = g.@moment @also FROM due WHERE g.grant_id = due.grant_id RETURNING g.*
)
SELECT @grant_of_fact, statement_timestamp() AS now
  FROM g
  LEFT JOIN LATERAL (SELECT * FROM subjects s WHERE s.subject_key = g.subject_key LIMIT 1) s ON true



-- statement: grants_started
-- A worker then adds the versions of before the start to the feed of the grantee.
@reached(starts_at, started_told_for, statement_timestamp(), {, is_feed_due = g.subject_key <> 0 OR g.accepted_at IS NOT NULL})

-- statement: grants_expiring
@reached(expires_at, expiring_told_for, statement_timestamp() + interval '7 days', )

-- statement: grants_expired
@reached(expires_at, expired_told_for, statement_timestamp(), )

-- fragment: pending_grant_columns(group)
-- The columns of the pending grant `p`.
p.grant_id AS "@group.grantId",
  p.grantor_tenant_id AS "@group.grantorTenantId",
  p.grantee_tenant_id AS "@group.granteeTenantId",
  p.scopes AS "@group.scopes",
  p.paths AS "@group.paths",
  p.starts_at AS "@group.startsAt",
  p.expires_at AS "@group.expiresAt",
  p.purpose AS "@group.purpose",
  CASE WHEN p.confirmed_at IS NOT NULL THEN 'confirmed' WHEN p.cancelled_at IS NOT NULL THEN 'cancelled'
       WHEN least(p.confirm_by, p.expires_at) <= statement_timestamp() THEN 'expired' ELSE 'pending' END AS "@group.status",
  p.requested_by AS "@group.requestedBy",
  p.created_at AS "@group.createdAt",
  p.confirm_by AS "@group.confirmBy",
  p.confirmed_by AS "@group.confirmedBy",
  p.confirmed_at AS "@group.confirmedAt",
  p.cancelled_by AS "@group.cancelledBy",
  p.cancelled_at AS "@group.cancelledAt"

-- statement: pending_grant_find
SELECT @facts, f.principal_type AS "principalType",
  @pending_grant_columns(pending?)
  FROM (SELECT :tenantId::text AS tenant_id, :principalId::text AS principal_id, :grantId::uuid AS grant_id) i
  @member_access(i.tenant_id)
  LEFT JOIN LATERAL (SELECT * FROM pending_grants p WHERE p.grant_id = i.grant_id LIMIT 1) p
    ON p.grantor_tenant_id = i.tenant_id

-- statement: pending_grant_confirm
UPDATE pending_grants p SET confirmed_by = :principalId, confirmed_at = statement_timestamp()
  WHERE p.grant_id = :grantId::uuid

-- statement: pending_grant_cancel
UPDATE pending_grants p SET cancelled_by = :principalId, cancelled_at = statement_timestamp()
  WHERE p.grant_id = :grantId::uuid
  RETURNING @pending_grant_columns()


-- statement: pending_grants_of_tenant
SELECT @facts,
  @pending_grant_columns(item?),
  @newest_position(p, grant_id), p.found
  FROM (SELECT :tenantId::text AS tenant_id, :principalId::text AS principal_id) i
  @member_access(i.tenant_id)
  LEFT JOIN LATERAL @fitting(p, {SELECT * FROM pending_grants p
                      WHERE p.grantor_tenant_id = i.tenant_id AND f.member_status = 'active' AND @newest_next(p, grant_id)},
                      @row_bytes(p), {@newest_order(p, grant_id)}) p ON true
 @newest_order(p, grant_id)

