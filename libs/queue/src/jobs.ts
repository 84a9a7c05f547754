/** The names of the queues. A name contains no `:`, which BullMQ reserves. */
export const QUEUES = { fanout: 'webhook-fanout', delivery: 'webhook-delivery' } as const;
export type QueueName = keyof typeof QUEUES;

/** A delivery with the data that determines its turn before it is read from PostgreSQL. */
export interface DeliveryRef {
  deliveryId: string;
  subscriptionId: string;
  tenantId: string;
  /** The tenant's founder: all tenants of one founder share a turn. */
  founderId: string;
  /** Host and port of the target. The rest of a URL may contain secrets. */
  targetHost: string;
}

/**
 * The payload of a job: ids, never a body or a secret, so that a leaked or lost queue does no harm. PostgreSQL has the
 * pending work, and a job is only a reason to look now.
 */
export interface Jobs {
  fanout: { eventIds: string[] };
  delivery: { deliveries: DeliveryRef[] };
}

/** Ids per job. A job costs the same with one id or a hundred. */
export const MAX_IDS_PER_JOB = 100;

/** Splits `items` into runs of at most `size`, in order. */
export function inRuns<T>(items: readonly T[], size: number): T[][] {
  const runs: T[][] = [];
  for (let start = 0; start < items.length; start += size) runs.push(items.slice(start, start + size));
  return runs;
}
