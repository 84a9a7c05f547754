import type { PagePosition } from '../../sql/page';

/** A delivery that waits for its next attempt, and whose turn it takes. */
export interface PendingDelivery {
  deliveryId: string;
  subscriptionId: string;
  tenantId: string;
  /** The principal that founded the tenant, or the tenant itself where none is known: its tenants share one turn. */
  founderId: string;
  /** Host and port that it goes to, as a URL has them. */
  targetHost: string;
}

/** A delivery that nobody took up although it was due. */
export interface OverdueDelivery extends PendingDelivery {
  /** For how many milliseconds it has been due. */
  dueForMs: number;
}

/** Where to look for work that was left behind, and how much of it to give. */
export interface Look {
  /** It was due so long ago. */
  overdueMs: number;
  /** Rows that are looked at, from the position on: the next ones in the order of time. */
  rows: number;
  /** Of these so many are given, founder by founder in turns. */
  limit: number;
  after: PagePosition | null;
}

/**
 * Who founded the tenant that is given as SQL, or the tenant where nobody is known to. The two are never the same: a
 * principal's id has a colon.
 */
export const founderOf = (tenantId: string): string =>
  `coalesce((SELECT t.founded_by FROM tenants t WHERE t.tenant_id = ${tenantId} LIMIT 1), ${tenantId})`;

/** Where the subscription that is given as SQL sends: `target_url` of `s`. */
export const targetOf = (subscriptionId: string): string => `
     CROSS JOIN LATERAL (SELECT s.target_url FROM webhook_subscriptions s
                          WHERE s.subscription_id = ${subscriptionId} LIMIT 1) s`;

/** Host and port of a target; what is no URL is a host of its own. */
export function hostOf(targetUrl: string): string {
  return URL.parse(targetUrl)?.host ?? targetUrl;
}
