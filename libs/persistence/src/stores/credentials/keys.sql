-- fragment: issuing_key_columns(group)
-- The columns of the issuing key `k`.
k.kid AS "@group.kid",
  k.tenant_id AS "@group.tenantId",
  k.issuer AS "@group.issuer",
  k.public_key AS "@group.publicKey",
  k.created_by AS "@group.createdBy",
  k.created_at AS "@group.createdAt",
  k.replaced_at AS "@group.replacedAt",
  k.retired_at AS "@group.retiredAt"

-- fragment: is_needed
-- True if verifiers need the issuing key `k`: it signs, or a credential or a cached status list that it signed is still valid.
k.retired_at IS NULL
   AND (k.replaced_at IS NULL OR k.replaced_at > statement_timestamp() - interval '1 day'
        OR (SELECT true FROM credentials c
             WHERE (c.kid, c.expires_at) > (k.kid, statement_timestamp()) AND c.kid <= k.kid LIMIT 1))

-- statement: issuing_key_replace
-- Makes the tenant's key sign no more, and destroys its private part.
UPDATE issuing_keys k SET sealed = NULL, replaced_at = statement_timestamp()
 WHERE k.tenant_id = :tenantId::text AND k.replaced_at IS NULL RETURNING k.kid

-- statement: issuing_key_create
WITH cap AS MATERIALIZED (SELECT @cap_of(tenant, issuing_keys_per_tenant, :tenantId) AS value),
made AS (
  INSERT INTO issuing_keys (kid, tenant_id, issuer, public_key, sealed, created_by)
  SELECT :kid::text, :tenantId::text, :issuer::text, :publicKey::text, :sealed::text, :principalId::text
    FROM cap
   WHERE :isForced::boolean OR @count_up_to(cap.value, {FROM issuing_keys k
           WHERE (k.tenant_id, k.created_at, k.kid) > (:tenantId, '-infinity', '') AND k.tenant_id <= :tenantId AND k.kid <> '' AND @is_needed}) < cap.value
  RETURNING *
)
SELECT @issuing_key_columns(key?), cap.value AS cap
  FROM cap LEFT JOIN made k ON true

-- statement: issuing_key_retire
UPDATE issuing_keys k SET retired_at = statement_timestamp()
 WHERE k.kid = :kid::text AND k.retired_at IS NULL

-- statement: issuing_key_find
SELECT @facts,
  @issuing_key_columns(key?)
  FROM @member
  LEFT JOIN LATERAL (SELECT * FROM issuing_keys k WHERE k.kid = :kid::text LIMIT 1) k
    ON k.tenant_id = i.tenant_id AND f.member_status = 'active'

-- statement: issuing_keys_of_tenant
SELECT @facts,
  @issuing_key_columns(item?),
  ARRAY[k.created_at::text, k.kid] AS position
  FROM @member
  LEFT JOIN LATERAL (SELECT * FROM issuing_keys k
                      WHERE (k.tenant_id, k.created_at, k.kid) < (i.tenant_id, :beforeTime::timestamptz, :beforeId::text)
                        AND k.tenant_id >= i.tenant_id AND k.kid <> '' AND f.member_status = 'active'
                      ORDER BY k.tenant_id DESC, k.created_at DESC, k.kid DESC LIMIT :rows) k ON true
 ORDER BY k.created_at DESC, k.kid DESC

-- statement: issuing_keys_needed
-- The keys that verify what the tenant issued, newest first.
SELECT @issuing_key_columns(key)
  FROM issuing_keys k
 WHERE (k.tenant_id, k.created_at, k.kid) > (:tenantId::text, '-infinity', '') AND k.tenant_id <= :tenantId AND k.kid <> '' AND @is_needed
 ORDER BY k.tenant_id DESC, k.created_at DESC, k.kid DESC

-- statement: sealed_issuing_key_page
SELECT k.kid AS id, k.sealed AS secret, NULL AS "previousSecret", false AS "hasExpiredSecret"
  FROM issuing_keys k
 WHERE k.kid > coalesce(:afterId::text, '') AND k.sealed IS NOT NULL
 ORDER BY k.kid LIMIT :limit

-- statement: sealed_issuing_key_reseal
UPDATE issuing_keys k SET sealed = (:inputs.secret::text[])[array_position(:inputs.id::text[], k.kid)]
 WHERE k.kid = ANY (:inputs.id) AND k.sealed = (:inputs.oldSecret::text[])[array_position(:inputs.id, k.kid)]
RETURNING k.kid AS id
