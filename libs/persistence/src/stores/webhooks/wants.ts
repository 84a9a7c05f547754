import type { EventType } from '@iss/domain';

/**
 * Returns the rest of a subquery after FROM: one live subscription of the tenant to the type of event. Both parameters are SQL.
 * The limit finds one row by index, whereas EXISTS would become a join over all tenants.
 */
export const wants = (tenantId: string, eventType: string): string =>
  `webhook_subscription_types y WHERE y.tenant_id = ${tenantId} AND y.event_type = ${eventType} LIMIT 1`;

/** Returns SQL for the event id of the input row `i` from this parameter; null if the tenant has no subscription to the type. */
export const eventIdIfWanted = (eventIds: string, tenantId: string, eventType: EventType): string =>
  `(SELECT (:${eventIds}::uuid[])[i.ord] FROM ${wants(tenantId, `'${eventType}'`)})`;
