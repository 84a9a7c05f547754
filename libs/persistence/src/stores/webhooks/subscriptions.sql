-- fragment: subscription_columns(group)
-- The columns of the subscription `s`.
s.subscription_id AS "@group.subscriptionId",
  s.tenant_id AS "@group.tenantId",
  s.target_url AS "@group.targetUrl",
  s.event_types AS "@group.eventTypes",
  s.paths AS "@group.paths",
  s.status AS "@group.status",
  s.disabled_reason AS "@group.disabledReason",
  s.disabled_at AS "@group.disabledAt",
  s.secret_last_rotated_at AS "@group.secretLastRotatedAt",
  s.created_at AS "@group.createdAt"


-- fragment: by_id
s.subscription_id = :subscriptionId AND (s.deleted_at IS NULL) IS TRUE

-- statement: webhook_subscription_create
WITH cap AS MATERIALIZED (SELECT @cap_of(tenant, subscriptions_per_tenant, :tenantId) AS value),
made AS (
  INSERT INTO webhook_subscriptions
         (subscription_id, tenant_id, target_url, event_types, paths, secret_sealed, secret_fingerprint)
  SELECT :subscriptionId::uuid, :tenantId::text, :targetUrl::text, :eventTypes::text[], :paths::text[], :secretSealed::text,
         :secretFingerprint::text
    FROM cap
   WHERE @count_up_to(cap.value, FROM webhook_subscriptions w WHERE w.tenant_id = :tenantId AND w.deleted_at IS NULL) < cap.value
  RETURNING *
)
SELECT @subscription_columns(subscription?), cap.value AS cap
  FROM cap LEFT JOIN made s ON true

-- statement: webhook_subscription_find
SELECT @subscription_columns() FROM webhook_subscriptions s WHERE @by_id

-- statement: webhook_subscriptions_of_tenant
-- The row of a deleted subscription stays, so a page can continue after it.
SELECT @subscription_columns(item), s.found
  FROM @fitting(s, {SELECT * FROM webhook_subscriptions s
 WHERE s.tenant_id = :tenantId AND s.deleted_at IS NULL
   AND (s.created_at, s.subscription_id) >
       (CASE WHEN :last::uuid IS NULL THEN '-infinity'
             ELSE (SELECT a.created_at FROM webhook_subscriptions a WHERE a.subscription_id = :last) END,
        coalesce(:last, '00000000-0000-0000-0000-000000000000'))
 ORDER BY s.created_at, s.subscription_id LIMIT :rows}, @row_bytes(s), {ORDER BY s.created_at, s.subscription_id}) s
 ORDER BY s.created_at, s.subscription_id

-- statement: webhook_subscription_change
-- Reason and time are set once: disabling a disabled subscription does not change them.
UPDATE webhook_subscriptions s
   SET target_url = coalesce(:targetUrl::text, s.target_url),
       event_types = coalesce(:eventTypes, s.event_types),
       paths = CASE WHEN :changesPaths::boolean THEN :paths::text[] ELSE s.paths END,
       status = coalesce(:status::text, s.status),
       disabled_at = CASE :status::text WHEN 'active' THEN NULL WHEN 'disabled' THEN coalesce(s.disabled_at, now())
                             ELSE s.disabled_at END,
       disabled_reason = CASE :status::text WHEN 'active' THEN NULL WHEN 'disabled' THEN coalesce(s.disabled_reason, 'requested')
                                 ELSE s.disabled_reason END,
       failing_since = CASE :status::text WHEN 'active' THEN NULL ELSE s.failing_since END
  FROM @acting
 WHERE @by_id
RETURNING @subscription_columns()

-- statement: webhook_subscription_rotate
UPDATE webhook_subscriptions s
   SET secret_sealed = :secretSealed, secret_fingerprint = :secretFingerprint, secret_last_rotated_at = now(),
       previous_secret_sealed = CASE WHEN :graceSeconds::float8 > 0 THEN s.secret_sealed END,
       previous_secret_until = CASE WHEN :graceSeconds > 0 THEN now() + make_interval(secs => :graceSeconds) END
  FROM @acting
 WHERE @by_id
RETURNING @subscription_columns()

-- statement: webhook_subscription_delete
UPDATE webhook_subscriptions s SET deleted_at = now() FROM @acting WHERE @by_id
  RETURNING s.subscription_id AS "subscriptionId"

-- statement: sealed_secret_page
SELECT subscription_id AS id, secret_sealed AS secret,
          CASE WHEN previous_secret_until > now() THEN previous_secret_sealed END AS "previousSecret",
          previous_secret_sealed IS NOT NULL AND coalesce(previous_secret_until <= now(), true) AS "hasExpiredSecret"
     FROM webhook_subscriptions
    WHERE subscription_id > coalesce(:afterId::uuid, '00000000-0000-0000-0000-000000000000')
    ORDER BY subscription_id LIMIT :limit

-- statement: sealed_secret_reseal
UPDATE webhook_subscriptions s
      SET secret_sealed = i.secret,
          previous_secret_sealed = i.previous_secret,
          previous_secret_until = CASE WHEN i.previous_secret IS NOT NULL THEN s.previous_secret_until END
     FROM unnest(:inputs.id::uuid[], :inputs.oldSecret::text[], :inputs.secret::text[],
                :inputs.previousSecret::text[])
    WITH ORDINALITY AS i(subscription_id, old_secret, secret, previous_secret, ord)
    WHERE s.subscription_id = i.subscription_id AND s.secret_sealed = i.old_secret
   RETURNING s.subscription_id AS id
