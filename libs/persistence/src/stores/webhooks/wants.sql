-- fragment: wants(tenant, event_type)
-- The rest of a subquery after FROM: one live subscription of the tenant to the type of event. The limit finds one row by index,
-- whereas EXISTS would become a join over all tenants.
webhook_subscription_types y WHERE y.tenant_id = @tenant AND y.event_type = @event_type LIMIT 1

-- fragment: event_id_if_wanted(event_ids, event_type)
-- The event id of the input row `i` from this parameter; null if the tenant has no subscription to the type.
(SELECT (:@event_ids::uuid[])[i.ord] FROM @wants(i.tenant_id, '@event_type'))
