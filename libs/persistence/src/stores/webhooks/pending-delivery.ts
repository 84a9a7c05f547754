import type { PagePosition } from '../../sql/page';
import { fragmentText } from '../../sql/sql-files';

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
export interface SearchBounds {
  /** Selects work that has been due for longer than this. */
  overdueMs: number;
  /** The number of rows to examine after the position, in the order of time. */
  rows: number;
  /** The maximum number of these to return. Founders take turns. */
  limit: number;
  after: PagePosition | null;
}

// Fragments, for statements in TypeScript.
export const founderOf = (tenantId: string): string => fragmentText('founder_of', tenantId);

export const targetOf = (subscriptionId: string): string => fragmentText('target_of', subscriptionId);

/** Returns host and port of a target. A target that is no URL counts as a host. */
export function hostOf(targetUrl: string): string {
  return URL.parse(targetUrl)?.host ?? targetUrl;
}
