-- fragment: membership_columns(group)
-- The columns of the membership `m`.
m.principal_id AS "@group.principalId",
  m.tenant_id AS "@group.tenantId",
  m.tenancy_role AS "@group.tenancyRole",
  m.api_functional_role AS "@group.role",
  m.principal_type AS "@group.principalType",
  m.allow_counterparty_access AS "@group.allowCounterpartyAccess",
  m.status AS "@group.status",
  m.created_at AS "@group.createdAt"

-- statement: membership_find
SELECT @membership_columns()
  FROM memberships m WHERE m.tenant_id = :tenantId AND m.principal_id = :principalId

-- statement: membership_other_owner
-- By tenant first, because with a condition on the status the planner would scan the index of all active members.
WITH others AS MATERIALIZED (
  SELECT m.principal_id, m.api_functional_role, m.status FROM memberships m
   WHERE m.tenant_id = :tenantId AND m.principal_id <> :principalId
)
SELECT principal_id AS "principalId" FROM others
 WHERE api_functional_role = 'tenant_owner' AND status = 'active' LIMIT 1

-- statement: membership_put
-- Stores a member. A principal that is already active or invited needs no further place. The tenant is locked, so no
-- other member takes a
-- place meanwhile.
WITH cap AS MATERIALIZED (SELECT @cap_of(tenant, members_per_tenant, :tenantId) AS value),
put AS (
  INSERT INTO memberships AS m (tenant_id, principal_id, tenancy_role, api_functional_role, principal_type,
                                allow_counterparty_access, status, invited_by, invited_at)
  SELECT :tenantId::text, :principalId::text, :tenancyRole::text, :role::text, :principalType::text,
         :allowCounterpartyAccess::boolean, :status::text, CASE :status WHEN 'pending' THEN :actingId::text END,
         CASE :status WHEN 'pending' THEN statement_timestamp() END
    FROM cap
   WHERE CASE WHEN :status::text <> 'removed'
                   AND coalesce((SELECT held.status FROM memberships held
                                  WHERE held.tenant_id = :tenantId AND held.principal_id = :principalId LIMIT 1), 'removed') = 'removed'
              THEN @count_up_to(cap.value, FROM memberships c WHERE c.tenant_id = :tenantId AND c.status <> 'removed') < cap.value
              ELSE true END
  ON CONFLICT (tenant_id, principal_id) DO UPDATE
     SET tenancy_role = excluded.tenancy_role, api_functional_role = excluded.api_functional_role,
         principal_type = excluded.principal_type, allow_counterparty_access = excluded.allow_counterparty_access,
         status = excluded.status,
         invited_by = CASE WHEN m.status = 'removed' THEN excluded.invited_by ELSE m.invited_by END,
         invited_at = CASE WHEN m.status = 'removed' THEN excluded.invited_at ELSE m.invited_at END
  RETURNING *
)
SELECT @membership_columns(member?), cap.value AS cap
  FROM cap LEFT JOIN put m ON true

-- statement: claimed_type_put
INSERT INTO claimed_types (principal_id, claimed_type) VALUES (:principalId, :claimedType)
  ON CONFLICT (principal_id) DO UPDATE SET claimed_type = excluded.claimed_type, seen_at = excluded.seen_at

-- statement: claimed_type_change
UPDATE claimed_types SET claimed_type = :claimedType, seen_at = now() WHERE principal_id = :principalId

-- statement: claimed_type_find
SELECT c.claimed_type AS "claimedType" FROM claimed_types c WHERE c.principal_id = :principalId

-- fragment: is_overdue
o.status = 'pending' AND o.expires_at <= statement_timestamp()

-- fragment: offer_columns(group)
-- The columns of the offer `o`.
o.offer_id AS "@group.offerId",
  o.tenant_id AS "@group.tenantId",
  o.from_principal_id AS "@group.fromPrincipalId",
  o.to_principal_id AS "@group.toPrincipalId",
  o.message AS "@group.message",
  CASE WHEN @is_overdue THEN 'expired' ELSE o.status END AS "@group.status",
  o.created_at AS "@group.createdAt",
  o.expires_at AS "@group.expiresAt",
  CASE WHEN @is_overdue THEN o.expires_at ELSE o.resolved_at END AS "@group.resolvedAt"

-- statement: transfer_offer_expire
UPDATE transfer_offers o SET status = 'expired', resolved_at = o.expires_at
  WHERE o.tenant_id = :tenantId AND @is_overdue

-- statement: transfer_offer_insert
INSERT INTO transfer_offers AS o (offer_id, tenant_id, from_principal_id, to_principal_id, message, expires_at, created_at)
  VALUES (:offerId, :tenantId, :fromPrincipalId, :toPrincipalId, :message, :expiresAt, statement_timestamp())
  RETURNING @offer_columns()

-- statement: transfer_offer_find
SELECT @facts,
  @offer_columns(offer?)
  FROM (SELECT :tenantId::text AS tenant_id, :principalId::text AS principal_id, :offerId::uuid AS offer_id) i
  @member_access(i.tenant_id)
  LEFT JOIN LATERAL (SELECT * FROM transfer_offers o WHERE o.offer_id = i.offer_id LIMIT 1) o
    ON o.tenant_id = i.tenant_id

-- statement: transfer_offer_end
UPDATE transfer_offers o SET status = :status, resolved_at = statement_timestamp()
  WHERE o.offer_id = :offerId AND (o.status = 'pending') IS TRUE
  RETURNING @offer_columns()

-- statement: transfer_offer_handed_over_by
-- Records the next owner of this transaction as the successor of this principal, so that there is one change and not two.
SELECT set_config('iss.owner_from', :principalId, true)


-- statement: transfer_offers_of_tenant
-- Each kind of caller uses its own index, so a caller that sees few offers does not scan all.
SELECT @facts,
  @offer_columns(item?),
  @newest_position(o, offer_id), o.found,
       coalesce((SELECT true FROM transfer_offers mine
                  WHERE mine.tenant_id = i.tenant_id AND mine.to_principal_id = i.principal_id LIMIT 1), false) AS "isOffered"
  FROM (SELECT :tenantId::text AS tenant_id, :principalId::text AS principal_id) i
  @member_access(i.tenant_id)
  CROSS JOIN LATERAL (SELECT (f.member_status = 'active' AND f.role IN (@roles(readTransferOffers))) IS TRUE AS is_admin OFFSET 0) a
  LEFT JOIN LATERAL @fitting(o, SELECT * FROM (SELECT * FROM transfer_offers o
                    WHERE a.is_admin AND o.tenant_id = i.tenant_id AND @newest_next(o, offer_id)) o
      UNION ALL
     SELECT * FROM (SELECT * FROM transfer_offers o
                     WHERE NOT a.is_admin AND o.tenant_id = i.tenant_id AND o.to_principal_id = i.principal_id
                       AND @newest_next(o, offer_id)) o, @row_bytes(o), @newest_order(o, offer_id)) o ON true
 @newest_order(o, offer_id)
