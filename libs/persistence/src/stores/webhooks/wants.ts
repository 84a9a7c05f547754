import type { EventType } from '@iss/domain';

/**
 * One live subscription of the tenant to the type of event, or none: both are given as SQL. Goes behind FROM, in a
 * subquery: its limit finds one row by index, where EXISTS would be turned into a join over all tenants.
 */
export const wants = (tenantId: string, eventType: string): string =>
  `webhook_subscription_types y WHERE y.tenant_id = ${tenantId} AND y.event_type = ${eventType} LIMIT 1`;

/** The event id in this array of parameters for the input row `i`; null when the tenant has no subscription to the type. */
export const eventIdIfWanted = (eventIds: string, tenantId: string, eventType: EventType): string =>
  `(SELECT (:${eventIds}::uuid[])[i.ord] FROM ${wants(tenantId, `'${eventType}'`)})`;
