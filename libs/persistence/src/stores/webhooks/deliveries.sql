-- fragment: target_of(subscription)
-- Joins the target of a subscription: `target_url` of `s`.
CROSS JOIN LATERAL (SELECT s.target_url FROM webhook_subscriptions s
                          WHERE s.subscription_id = @subscription LIMIT 1) s

-- fragment: may_know
-- True if the tenant of delivery `d` may know of the event now. For an event about another tenant's subject, it needs a current
-- right. This is checked for each attempt, whenever the event was created.
CASE WHEN d.event_type IN ('shared.snapshot.created', 'evidence.revoked') THEN (
       SELECT true FROM outbox_events o
        CROSS JOIN LATERAL (SELECT n.subject_key FROM snapshots n WHERE n.snapshot_id = o.snapshot_id LIMIT 1) n
        CROSS JOIN LATERAL (SELECT s.subject_key, s.owner_tenant_id FROM subjects s
                             WHERE s.subject_key = n.subject_key LIMIT 1) s
        WHERE o.event_id = d.event_id
          AND (s.owner_tenant_id = d.tenant_id OR (@scopes_followed_by(d.tenant_id)) && ARRAY[@scopes(followShared)]) LIMIT 1) IS TRUE
       ELSE true END

-- fragment: is_sent
s.status = 'active' AND s.deleted_at IS NULL AND due.may_know

-- statement: delivery_claim
-- Claims attempts. If the subscription is inactive or the tenant may not know of the event, the delivery becomes `skipped` here,
-- at the last moment. The rows are found by their key first and checked afterwards, because with a condition on the status the
-- planner could scan the index of all due deliveries.
WITH asked AS MATERIALIZED (
     SELECT delivery_id, event_id, tenant_id, event_type, status, next_at, lease_until FROM deliveries
      WHERE delivery_id = ANY (:deliveryIds::uuid[])
        FOR UPDATE SKIP LOCKED
   ), due AS MATERIALIZED (
     SELECT delivery_id, @may_know AS may_know FROM asked d
      WHERE status = 'pending' AND next_at <= now() AND (lease_until IS NULL OR lease_until <= now())
   ), claimed AS (
     UPDATE deliveries d
        SET status = CASE WHEN @is_sent THEN 'pending' ELSE 'skipped' END,
            skipped_reason = CASE WHEN s.status <> 'active' OR s.deleted_at IS NOT NULL THEN 'subscription_inactive'
                                  WHEN NOT due.may_know THEN 'no_grant' END,
            attempt = d.attempt + CASE WHEN @is_sent THEN 1 ELSE 0 END,
            lease_until = CASE WHEN @is_sent THEN now() + :leaseMs * interval '1 millisecond' END,
            finished_at = CASE WHEN @is_sent THEN NULL ELSE now() END
       FROM due, webhook_subscriptions s
      WHERE d.delivery_id = due.delivery_id AND s.subscription_id = d.subscription_id
     RETURNING d.delivery_id, d.subscription_id, d.tenant_id, d.event_id, d.event_type, d.status, d.attempt,
               d.attempt - d.retries_from AS scheduled_attempt, s.target_url, s.secret_sealed,
               CASE WHEN s.previous_secret_until > now() THEN s.previous_secret_sealed END AS previous_secret_sealed
   )
   SELECT c.delivery_id AS "deliveryId", c.subscription_id AS "subscriptionId", c.tenant_id AS "tenantId",
          c.event_id AS "eventId", c.event_type AS "eventType", o.request_id AS "requestId", o.traceparent, o.body,
          c.attempt, c.scheduled_attempt AS "scheduledAttempt", c.target_url AS "targetUrl",
          c.secret_sealed AS "secretSealed", c.previous_secret_sealed AS "previousSecretSealed"
     FROM claimed c JOIN outbox_events o ON o.event_id = c.event_id
    WHERE c.status = 'pending'

-- statement: delivery_record
-- Records attempts, and updates deliveries and subscriptions. A subscription's row is written only if it changes (first failure,
-- first success after a failure, disabled), so that deliveries do not queue for its lock. A failure in the phase `proxy` did not
-- reach the receiver, and does not count as its failure. A 410 counts only for the target that the subscription has now.
WITH settled AS (
     UPDATE deliveries d
        SET status = i.status,
            lease_until = NULL,
            next_at = CASE i.status WHEN 'pending' THEN now() + i.retry_in_ms * interval '1 millisecond' ELSE d.next_at END,
            finished_at = CASE i.status WHEN 'pending' THEN NULL ELSE now() END
       FROM unnest(:inputs.deliveryId::uuid[], :inputs.attempt::int[], :inputs.startedAt::text[],
                :inputs.latencyMs::int[], :inputs.statusCode::int[], :inputs.errorPhase::text[],
                :inputs.error::text[], :inputs.status::text[], :inputs.retryInMs::int[], :inputs.targetUrl::text[])
    WITH ORDINALITY AS i(delivery_id, attempt, started_at, latency_ms, status_code, error_phase, error, status, retry_in_ms, target_url, ord)
      WHERE d.delivery_id = i.delivery_id AND (d.attempt = i.attempt AND d.lease_until IS NOT NULL) IS TRUE
     RETURNING d.subscription_id, d.delivery_id, i.attempt, i.started_at, i.latency_ms, i.status_code, i.error_phase,
               i.error, i.status, i.target_url
   ), logged AS (
     INSERT INTO delivery_attempts (delivery_id, attempt, started_at, latency_ms, status_code, error_phase, error)
     SELECT delivery_id, attempt, started_at::timestamptz, latency_ms, status_code, error_phase, error FROM settled
   ), outcome AS (
     SELECT subscription_id, bool_or(status = 'succeeded' OR (error_phase = 'proxy') IS TRUE) AS excused,
            coalesce(array_agg(target_url) FILTER (WHERE status_code = 410), '{}') AS gone
       FROM settled GROUP BY subscription_id
   ), changing AS MATERIALIZED (
     SELECT s.subscription_id, o.excused,
            CASE WHEN s.target_url = ANY (o.gone) THEN 'gone'
                 WHEN NOT o.excused AND s.failing_since < now() - :disableAfterMs * interval '1 millisecond' THEN 'failing'
            END AS disabled_reason
       FROM outcome o JOIN webhook_subscriptions s ON s.subscription_id = o.subscription_id
      WHERE s.status = 'active'
        AND (s.target_url = ANY (o.gone) OR CASE WHEN o.excused THEN s.failing_since IS NOT NULL
                            ELSE s.failing_since IS NULL OR s.failing_since < now() - :disableAfterMs * interval '1 millisecond' END)
      ORDER BY s.subscription_id
        FOR NO KEY UPDATE OF s
   ), changed AS (
     UPDATE webhook_subscriptions s
        SET failing_since = CASE WHEN c.excused OR c.disabled_reason IS NOT NULL THEN NULL
                                 ELSE coalesce(s.failing_since, now()) END,
            status = CASE WHEN c.disabled_reason IS NULL THEN s.status ELSE 'disabled' END,
            disabled_reason = coalesce(c.disabled_reason, s.disabled_reason),
            disabled_at = CASE WHEN c.disabled_reason IS NULL THEN s.disabled_at ELSE now() END
       FROM changing c
      WHERE s.subscription_id = c.subscription_id
   )
   SELECT settled.delivery_id AS "deliveryId", changing.disabled_reason AS "disabledReason"
     FROM settled LEFT JOIN changing ON changing.subscription_id = settled.subscription_id

-- statement: delivery_overdue
-- Selects overdue deliveries. The position is always present, so that a generic plan starts its scan there. Founders take turns,
-- and so do the subscriptions of one founder, so that many deliveries of one do not hide the others.
WITH looked AS MATERIALIZED (
     SELECT delivery_id, subscription_id, tenant_id, next_at, @founder_of(due.tenant_id) AS founder_id,
            row_number() OVER (PARTITION BY subscription_id ORDER BY next_at, delivery_id) AS place
       FROM (SELECT * FROM deliveries
              WHERE status = 'pending' AND next_at < now() - :overdueMs * interval '1 millisecond'
                AND next_at >= coalesce(:nextAt::timestamptz, '-infinity')
                AND (next_at, delivery_id)
                    > (coalesce(:nextAt::timestamptz, '-infinity'),
                       coalesce(:deliveryId::uuid, '00000000-0000-0000-0000-000000000000'))
                AND (lease_until IS NULL OR lease_until <= now())
              ORDER BY next_at, delivery_id LIMIT :rows::int) due
   ), given AS MATERIALIZED (
     SELECT * FROM looked d
      ORDER BY row_number() OVER (PARTITION BY d.founder_id ORDER BY d.place, d.next_at, d.delivery_id), d.next_at,
               d.delivery_id
      LIMIT :limit::int
   )
   SELECT d.delivery_id AS "item.deliveryId", d.subscription_id AS "item.subscriptionId", d.tenant_id AS "item.tenantId",
          d.founder_id AS "item.founderId",
          (extract(epoch FROM clock_timestamp() - d.next_at) * 1000)::float8 AS "item.dueForMs", s.target_url AS "targetUrl", (SELECT count(*) FROM looked)::int AS looked,
          (SELECT ARRAY[next_at::text, delivery_id::text] FROM looked ORDER BY looked.next_at DESC, looked.delivery_id DESC LIMIT 1)
            AS position
     FROM given d @target_of(d.subscription_id)

-- statement: retention_delete_deliveries
-- Deletes deliveries with their attempts. A delivery that was concurrently made due again is checked again under its lock, and
-- stays.
WITH deleted AS (
     DELETE FROM deliveries WHERE delivery_id = ANY (ARRAY(
       SELECT delivery_id FROM deliveries WHERE finished_at < now() - :days * interval '1 day'
        ORDER BY finished_at LIMIT :limit FOR UPDATE SKIP LOCKED))
     RETURNING 1
   )
   SELECT count(*)::int AS deleted FROM deleted

-- statement: retention_delete_events
-- The position is always present, so that a generic plan starts its scan there.
WITH old AS MATERIALIZED (
     SELECT event_id, fanned_out_at FROM outbox_events
      WHERE fanned_out_at < now() - :days * interval '1 day'
        AND fanned_out_at >= coalesce(:fannedOutAt::timestamptz, '-infinity')
        AND (fanned_out_at, event_id)
            > (coalesce(:fannedOutAt::timestamptz, '-infinity'), coalesce(:eventId::uuid, '00000000-0000-0000-0000-000000000000'))
      ORDER BY fanned_out_at, event_id LIMIT :limit FOR UPDATE SKIP LOCKED
   ), deleted AS (
     DELETE FROM outbox_events WHERE event_id = ANY (ARRAY(
       SELECT event_id FROM old
        WHERE (SELECT true FROM deliveries d WHERE d.event_id = old.event_id LIMIT 1) IS NULL))
     RETURNING event_id
   )
   SELECT ARRAY[old.fanned_out_at::text, old.event_id::text] AS position, deleted.event_id IS NOT NULL AS "isDeleted"
     FROM old LEFT JOIN deleted ON deleted.event_id = old.event_id
    ORDER BY old.fanned_out_at, old.event_id

-- statement: retention_delete_rate_windows
-- Deletes old rate-limit windows. The longest window is a day, and the margin covers clock differences and running statements.
WITH deleted AS (
     DELETE FROM rate_limits WHERE principal_id = ANY (ARRAY(
       SELECT principal_id FROM rate_limits WHERE window_start < now() - interval '1 day 10 minutes'
        ORDER BY window_start LIMIT :limit FOR UPDATE SKIP LOCKED))
     RETURNING 1
   )
   SELECT count(*)::int AS deleted FROM deleted
