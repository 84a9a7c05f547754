-- fragment: log
-- The subscription `s`, deleted or not, and the caller's membership of its tenant, as `f`.
(SELECT :subscriptionId::uuid AS subscription_id, :principalId::text AS principal_id) i
  LEFT JOIN webhook_subscriptions s ON s.subscription_id = i.subscription_id
  @member_access(s.tenant_id)

-- fragment: access_columns
@facts,
  s.tenant_id AS "subscription?.tenantId", s.target_url AS "subscription?.targetUrl",
       @founder_of(s.tenant_id) AS "subscription?.founderId",
       s.status AS "subscription?.status", s.deleted_at IS NOT NULL AS "subscription?.isDeleted"

-- fragment: delivery_columns(group, attempts)
-- The columns of the delivery `d` with its attempts.
d.delivery_id AS "@group.deliveryId",
  d.event_id AS "@group.eventId",
  d.event_type AS "@group.eventType",
  d.subscription_id AS "@group.subscriptionId",
  d.status AS "@group.status",
  d.attempt AS "@group.attemptCount",
  CASE WHEN d.status = 'pending' THEN d.next_at END AS "@group.nextAttemptAt",
  d.created_at AS "@group.createdAt",
  d.finished_at AS "@group.finishedAt",
  d.request_id AS "@group.requestId",
  d.traceparent AS "@group.traceparent",
  d.skipped_reason AS "@group.skippedReason",
  @attempts AS "@group.attempts"

-- fragment: attempts
-- Joins the last attempts of the delivery `d` as `t`. Redeliveries can add any number of attempts.
  LEFT JOIN LATERAL (
    SELECT json_agg(json_build_object('attempt', a.attempt, 'startedAt', a.started_at, 'latencyMs', a.latency_ms,
                                      'statusCode', a.status_code, 'errorPhase', a.error_phase, 'error', a.error)
                    ORDER BY a.attempt) AS attempts
      FROM (SELECT * FROM delivery_attempts a WHERE a.delivery_id = d.delivery_id
             ORDER BY a.attempt DESC LIMIT 50) a
  ) t ON true

-- statement: delivery_log_access
SELECT @access_columns
  FROM @log


-- fragment: looked_at(subscription_id)
-- Selects the deliveries of a page for the subscription given as SQL. The bounds are always present, so that a scan starts at
-- them.
         d.subscription_id = @subscription_id
     AND d.created_at >= coalesce(:from::timestamptz, '-infinity')
     AND d.created_at < coalesce(:to::timestamptz + interval '1 millisecond', 'infinity')
     AND (d.created_at, d.delivery_id) < (:beforeTime::timestamptz, :beforeId::uuid)
   @newest_order(d, delivery_id)

-- statement: delivery_log_page
SELECT @access_columns,
  @delivery_columns(item?, d.attempts),
  @newest_position(d, delivery_id), d.found,
       CASE WHEN f.member_status = 'active' AND count(*) OVER () < :rows
            THEN (SELECT ARRAY[d.created_at::text, d.delivery_id::text] FROM deliveries d
                   WHERE @looked_at(:subscriptionId) OFFSET 9999 LIMIT 1)
       END AS "lookedTo"
     FROM @log
     LEFT JOIN LATERAL @fitting(d, {SELECT d.*, o.request_id, o.traceparent, t.attempts
         FROM (SELECT * FROM (
                      SELECT * FROM deliveries d
                       WHERE f.member_status = 'active' AND @looked_at(s.subscription_id) LIMIT 10000) d
                WHERE (:status::text IS NULL OR d.status = :status)
                  AND (:eventType::text IS NULL OR d.event_type = :eventType)
                @newest_order(d, delivery_id) LIMIT :rows) d
         JOIN outbox_events o ON o.event_id = d.event_id @attempts}, @row_bytes(d), @newest_order(d, delivery_id)) d ON true
    @newest_order(d, delivery_id)

-- statement: delivery_log_find
SELECT @access_columns,
  @delivery_columns(delivery?, t.attempts),
  d.body AS "delivery?.body"
     FROM @log
     LEFT JOIN LATERAL (
       SELECT d.*, o.request_id, o.traceparent, o.body
         FROM (SELECT * FROM deliveries d WHERE d.delivery_id = :deliveryId LIMIT 1) d
         JOIN outbox_events o ON o.event_id = d.event_id
        WHERE d.subscription_id = s.subscription_id
     ) d ON true @attempts

-- fragment: begin_again
-- Restarts a finished delivery: due now, with consecutive attempt numbers, and with the retry schedule from its start.
status = 'pending', next_at = now(), lease_until = NULL, finished_at = NULL, skipped_reason = NULL, retries_from = d.attempt

-- fragment: is_active
-- True if the subscription gets deliveries. It is found by its key and checked afterwards, so that the index of live ones is not
-- used.
(SELECT CASE WHEN s.deleted_at IS NULL THEN s.status END FROM webhook_subscriptions s
              WHERE s.subscription_id = :subscriptionId) = 'active'

-- statement: delivery_redeliver
UPDATE deliveries d SET @begin_again
    WHERE d.delivery_id = :deliveryId AND (d.subscription_id = :subscriptionId) IS TRUE AND d.status <> 'pending'
      AND @is_active
   RETURNING d.delivery_id AS "deliveryId"

-- statement: delivery_replay
-- Restarts deliveries of a period. Rows are locked in one order, so the second of two concurrent replays sees the result of the
-- first.
WITH looked AS MATERIALIZED (
     SELECT (SELECT d.created_at FROM deliveries d
              WHERE d.subscription_id = :subscriptionId AND d.created_at >= :from::timestamptz
                AND d.created_at < coalesce(:to::timestamptz + interval '1 millisecond', 'infinity')
              ORDER BY d.created_at, d.delivery_id OFFSET :look::int LIMIT 1) AS until
   ), found AS MATERIALIZED (
     SELECT d.delivery_id, d.created_at FROM deliveries d
      WHERE d.subscription_id = :subscriptionId AND d.status = ANY (:statuses::text[])
        AND d.created_at >= :from::timestamptz
        AND d.created_at < coalesce((SELECT until FROM looked), :to::timestamptz + interval '1 millisecond', 'infinity')
        AND @is_active
      ORDER BY d.created_at, d.delivery_id LIMIT :limit::int + 1
        FOR UPDATE
   ), taken AS MATERIALIZED (
     SELECT delivery_id FROM found ORDER BY created_at, delivery_id LIMIT :limit::int
   ), replayed AS (
     UPDATE deliveries d SET @begin_again FROM taken WHERE d.delivery_id = taken.delivery_id RETURNING d.delivery_id
   )
   SELECT coalesce((SELECT array_agg(delivery_id) FROM replayed), '{}') AS "deliveryIds",
          date_trunc('milliseconds', coalesce((SELECT max(created_at) FROM found HAVING count(*) > :limit::int),
                                              (SELECT until FROM looked))) AS "nextFrom"

-- statement: delivery_test
-- Stores a test event. It is marked as fanned out, so it reaches only this subscription.
WITH target AS MATERIALIZED (
     SELECT subscription_id, tenant_id FROM webhook_subscriptions
      WHERE subscription_id = :subscriptionId AND @is_active
   ), event AS (
     INSERT INTO outbox_events (event_id, tenant_id, event_type, body, request_id, traceparent, fanned_out_at)
     SELECT :eventId::uuid, tenant_id, :eventType::text, :body::text, :requestId::text, :traceparent::text, now()
       FROM target
   )
   INSERT INTO deliveries (delivery_id, event_id, subscription_id, tenant_id, event_type, status)
   SELECT :deliveryId::uuid, :eventId::uuid, subscription_id, tenant_id, :eventType::text, 'pending' FROM target
   RETURNING delivery_id AS "deliveryId"
