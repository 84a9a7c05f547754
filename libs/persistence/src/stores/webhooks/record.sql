-- fragment: wants(tenant, event_type)
-- The rest of a subquery after FROM: one live subscription of the tenant to the type of event. The limit finds one row by index,
-- whereas EXISTS would become a join over all tenants.
webhook_subscription_types y WHERE y.tenant_id = @tenant AND y.event_type = @event_type LIMIT 1

-- fragment: event_id_if_wanted(event_ids, event_type)
-- The event id of the input row `i` from this parameter; null if the tenant has no subscription to the type.
(SELECT (:@event_ids::uuid[])[i.ord] FROM @wants(i.tenant_id, '@event_type'))

-- fragment: wanted_at(tenant, event_type, at)
-- True if the tenant had a live subscription to the type of event at that time, else null.
(SELECT true FROM webhook_subscription_types y
     WHERE y.tenant_id = @tenant AND y.event_type = @event_type AND y.created_at <= @at LIMIT 1)

-- fragment: record_in(event_type, about, rows, event_id, traces)
-- The part of a writing statement that records a fact about each of the rows with an event id. The worker reads the row that `about`
-- names and builds the body. The parameters `traces` have the request of each row, by its `ord`.
INSERT INTO outbox_events (event_id, tenant_id, event_type, @about, request_id, traceparent)
  SELECT @event_id, tenant_id, '@event_type', @about, (:@traces.requestId::text[])[ord], (:@traces.traceparent::text[])[ord]
    FROM @rows WHERE @event_id IS NOT NULL

-- statement: outbox_record
INSERT INTO outbox_events (event_id, tenant_id, event_type, body, snapshot_id, created_at, request_id, traceparent)
SELECT i.event_id, i.tenant_id, i.type, i.body, i.snapshot_id, i.at::timestamptz, i.request_id, i.traceparent
  FROM unnest(:inputs.eventId::uuid[], :inputs.tenantId::text[], :inputs.type::text[], :inputs.body::text[],
              :inputs.snapshotId::uuid[], :inputs.at::text[], :inputs.requestId::text[], :inputs.traceparent::text[])
    WITH ORDINALITY AS i(event_id, tenant_id, type, body, snapshot_id, at, request_id, traceparent, ord)
 WHERE @wanted_at(i.tenant_id, i.type, i.at::timestamptz)
 ORDER BY i.ord
RETURNING event_id AS "eventId"
