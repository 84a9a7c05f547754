/**
 * One live subscription of the tenant to the type of event, or none: both are given as SQL. Goes behind FROM, in a
 * subquery: its limit finds one row by index, where EXISTS would be turned into a join over all tenants.
 */
export const wants = (tenantId: string, eventType: string): string =>
  `webhook_subscription_types y WHERE y.tenant_id = ${tenantId} AND y.event_type = ${eventType} LIMIT 1`;
