-- fragment: founder_of(tenant)
-- The founder of the tenant, or the tenant's id if unknown. The two never collide, because a principal's id contains a colon.
coalesce((SELECT t.founded_by FROM tenants t WHERE t.tenant_id = @tenant LIMIT 1), @tenant)

-- fragment: in_effect(setting)
setting_in_effect(t.@setting, t.pending_changes -> '@setting')

-- fragment: pending_changes(condition)
-- The pending changes `p` of the tenant `t` for which this is true.
(SELECT coalesce(jsonb_agg(jsonb_build_object('setting', p.key, 'requestedBy', p.value -> 'requested_by',
      'requestedAt', p.value -> 'requested_at', 'effectiveAt', p.value -> 'effective_at') ORDER BY p.key), '[]')
     FROM jsonb_each(t.pending_changes) p WHERE @condition)

-- fragment: tenant_columns(group)
-- The columns of the tenant `t`.
t.tenant_id AS "@group.tenantId",
  t.name AS "@group.name",
  t.slug AS "@group.slug",
  t.chain_enforced AS "@group.chainEnforced",
  t.evidence_policy AS "@group.evidencePolicy",
  @in_effect(erasure_confirmation) AS "@group.erasureConfirmation",
  @in_effect(grant_confirmation) AS "@group.grantConfirmation",
  @pending_changes(setting_in_effect('required', p.value) = 'required') AS "@group.pendingChanges",
  t.created_at AS "@group.createdAt"

-- fragment: caller
(SELECT :tenantId::text AS tenant_id, :principalId::text AS principal_id) i @member_access(i.tenant_id)

-- statement: tenant_lock_founder
-- Serializes the creation of tenants by one principal, so that each is counted before the next one.
SELECT pg_advisory_xact_lock(hashtextextended('founder/' || acting.principal_id, 0)) FROM @acting

-- statement: tenant_create
WITH cap AS MATERIALIZED (SELECT @cap_of(principal, tenants_per_principal, :principalId) AS value),
made AS (
  INSERT INTO tenants (tenant_id, name, slug, chain_enforced, evidence_policy, founded_by)
  SELECT :tenantId::text, :name::text, :slug::text, :chainEnforced::boolean, :evidencePolicy::text, :principalId::text
    FROM cap
   WHERE @count_up_to(cap.value, FROM tenants f WHERE f.founded_by = :principalId) < cap.value
  RETURNING *
), founder AS (
  INSERT INTO memberships (tenant_id, principal_id, tenancy_role, api_functional_role, principal_type,
                           allow_counterparty_access, status)
  SELECT t.tenant_id, :principalId, :tenancyRole, :role, :principalType, :allowCounterpartyAccess::boolean, :status
    FROM made t
)
SELECT @tenant_columns(tenant?), cap.value AS cap
  FROM cap LEFT JOIN made t ON true

-- statement: tenant_founder
SELECT @founder_of(:tenantId::text) AS "founderId"

-- statement: member_facts
SELECT @facts FROM @caller

-- statement: tenants_of_principal
SELECT @tenant_columns(tenant),
  m.api_functional_role AS role, m.tenancy_role AS "tenancyRole"
  FROM memberships m JOIN tenants t ON t.tenant_id = m.tenant_id
 WHERE m.principal_id = :principalId AND m.status = 'active' AND m.tenant_id > :after
 ORDER BY m.tenant_id LIMIT :rows

-- statement: invitations_of_principal
SELECT t.tenant_id AS "tenantId", t.name AS "tenantName", m.api_functional_role AS role, m.tenancy_role AS "tenancyRole",
  m.invited_by AS "invitedBy", m.invited_at AS "invitedAt"
  FROM memberships m JOIN tenants t ON t.tenant_id = m.tenant_id
 WHERE m.principal_id = :principalId AND m.status = 'pending' AND m.tenant_id > :after
 ORDER BY m.tenant_id LIMIT :rows

-- statement: tenant_blocks_of_principal
SELECT b.tenant_id AS "tenantId", b.blocked_at AS "blockedAt" FROM tenant_blocks b
 WHERE b.principal_id = :principalId AND b.tenant_id > :after ORDER BY b.tenant_id LIMIT :rows

-- statement: tenant_block_find
SELECT FROM tenant_blocks b WHERE b.principal_id = :targetId AND b.tenant_id = :tenantId

-- statement: tenant_block
INSERT INTO tenant_blocks (principal_id, tenant_id) VALUES (:principalId, :tenantId) ON CONFLICT DO NOTHING

-- statement: tenant_unblock
DELETE FROM tenant_blocks b WHERE b.principal_id = :principalId AND b.tenant_id = :tenantId

-- statement: tenant_find
SELECT @facts,
  f.role AS "found?.role", f.tenancy_role AS "found?.tenancyRole",
  @tenant_columns(found?.tenant)
  FROM @caller LEFT JOIN tenants t ON t.tenant_id = i.tenant_id

-- statement: tenant_change
WITH facts AS MATERIALIZED (SELECT i.tenant_id, f.* FROM @caller CROSS JOIN @acting),
changed AS (
  UPDATE tenants t
     SET name = coalesce(:name, t.name), slug = CASE WHEN :changesSlug::boolean THEN :slug ELSE t.slug END,
         chain_enforced = coalesce(:chainEnforced, t.chain_enforced),
         evidence_policy = coalesce(:evidencePolicy, t.evidence_policy),
         erasure_confirmation = coalesce(:erasureConfirmation, t.erasure_confirmation),
         grant_confirmation = coalesce(:grantConfirmation, t.grant_confirmation),
         pending_changes = t.pending_changes - :demanded::text[]
    FROM facts f
   WHERE t.tenant_id = f.tenant_id AND f.member_status = 'active'
     AND (NOT :byHuman::boolean OR f.principal_type = 'human') AND NOT :byMachine::boolean
     AND (f.role IN (@roles(liftConfirmation))
          OR f.role IN (@roles(changeTenant))
             AND NOT EXISTS (SELECT FROM unnest(:lifted::text[]) AS l(setting)
                              WHERE coalesce(t.pending_changes -> l.setting ->> 'requested_by', :principalId) = :principalId))
  RETURNING t.*
)
SELECT @facts, statement_timestamp() AS at,
  @pending_changes({(p.value ->> 'requested_at')::timestamptz = date_trunc('milliseconds', statement_timestamp())}) AS requested,
  @tenant_columns(tenant?)
  FROM facts f LEFT JOIN changed t ON true

-- statement: members_of_tenant
SELECT @facts,
  @membership_columns(item?),
  ARRAY[m.principal_id] AS position
  FROM @caller
  LEFT JOIN LATERAL (
    SELECT * FROM memberships m
     WHERE m.tenant_id = i.tenant_id AND m.principal_id > :after AND f.member_status = 'active'
       AND (:status::text IS NULL OR m.status = :status)
     ORDER BY m.principal_id LIMIT :rows
  ) m ON true
 ORDER BY m.principal_id

-- statement: membership_cancel_offers
-- Cancels offers that lost their basis: the maker may no longer hand the tenant over, or the recipient was removed. The offer of
-- a first owner ends when the tenant has an owner.
UPDATE transfer_offers o SET status = 'cancelled', resolved_at = statement_timestamp()
  WHERE o.tenant_id = :tenantId AND o.status = 'pending'
    AND (o.expires_at IS NULL OR o.expires_at > statement_timestamp())
    AND ((o.from_principal_id = :principalId AND NOT :mayHandOver::boolean)
         OR (o.to_principal_id = :principalId AND :isRemoved::boolean)
         OR :isFirstOwner::boolean)

-- statement: usage_by_day
-- Bounds are in milliseconds and inclusive, as JavaScript's clock gives them.
SELECT @facts,
  u.date AS "day?.date", u.snapshot_writes AS "day?.snapshotWrites"
  FROM (SELECT :tenantId::text AS tenant_id, :principalId::text AS principal_id, :from::timestamptz AS first,
               :to::timestamptz + interval '1 millisecond' AS ending) i @member_access(i.tenant_id)
  LEFT JOIN LATERAL (
    SELECT to_char(d.day, 'YYYY-MM-DD') AS date, w.snapshot_writes
      FROM generate_series(date_trunc('day', i.first AT TIME ZONE 'UTC'), :to::timestamptz AT TIME ZONE 'UTC', '1 day') d(day)
     CROSS JOIN LATERAL (
       SELECT count(*)::int AS snapshot_writes FROM snapshots s
        WHERE s.tenant_id = i.tenant_id
          AND s.created_at >= greatest(i.first, d.day AT TIME ZONE 'UTC')
          AND s.created_at < least(i.ending, (d.day + interval '1 day') AT TIME ZONE 'UTC')
     ) w
     WHERE f.member_status = 'active' AND f.role IN (@roles(readUsage))
  ) u ON true
 ORDER BY u.date

-- fragment: tenant_to_lock
FROM tenants t CROSS JOIN @acting WHERE t.tenant_id = :tenantId FOR NO KEY UPDATE OF t

-- statement: lock_tenant
SELECT @tenant_to_lock

-- statement: legacy_tenant_ensure
WITH made AS (
  INSERT INTO tenants (tenant_id, name) VALUES (:tenantId, 'Legacy entity states') ON CONFLICT DO NOTHING
)
INSERT INTO memberships (tenant_id, principal_id, tenancy_role, api_functional_role, principal_type)
SELECT :tenantId, member.*
  FROM (VALUES (:writerId, 'member', 'tenant_editor', 'service_account'),
               (:ownerId, 'account_admin', 'tenant_owner', 'human')) member (principal_id)
 WHERE member.principal_id IS NOT NULL
 ORDER BY member.principal_id
    ON CONFLICT DO NOTHING
