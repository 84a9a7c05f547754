import type { PagePosition } from '../../sql/page';

/** A delivery that waits for its next attempt, with the ids that decide its turn. */
export interface PendingDelivery {
  deliveryId: string;
  subscriptionId: string;
  tenantId: string;
  /** The principal that founded the tenant, or the tenant's id if unknown. All tenants of a founder share one turn. */
  founderId: string;
  /** Host and port of the target, as in its URL. */
  targetHost: string;
}

/** A due delivery without a worker. */
export interface OverdueDelivery extends PendingDelivery {
  /** The milliseconds for which it has been due. */
  dueForMs: number;
}

/** The start and limits of a search for forgotten work. */
export interface Look {
  /** Selects work that has been due for longer than this. */
  overdueMs: number;
  /** The number of rows to examine after the position, in the order of time. */
  rows: number;
  /** The maximum number of these to return. Founders take turns. */
  limit: number;
  after: PagePosition | null;
}

/**
 * Returns SQL for the founder of the tenant given as SQL, or for the tenant's id if unknown. The two never collide, because a
 * principal's id contains a colon.
 */
export const founderOf = (tenantId: string): string =>
  `coalesce((SELECT t.founded_by FROM tenants t WHERE t.tenant_id = ${tenantId} LIMIT 1), ${tenantId})`;

/** Joins the target of the subscription given as SQL: `target_url` of `s`. */
export const targetOf = (subscriptionId: string): string => `
     CROSS JOIN LATERAL (SELECT s.target_url FROM webhook_subscriptions s
                          WHERE s.subscription_id = ${subscriptionId} LIMIT 1) s`;

/** Returns host and port of a target. A target that is no URL counts as a host. */
export function hostOf(targetUrl: string): string {
  return URL.parse(targetUrl)?.host ?? targetUrl;
}
