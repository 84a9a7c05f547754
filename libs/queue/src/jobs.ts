/** The queues. A name holds no `:`, which BullMQ keeps for itself. */
export const QUEUES = { fanout: 'webhook-fanout', delivery: 'webhook-delivery' } as const;
export type QueueName = keyof typeof QUEUES;

/** One delivery row: enough to say whose turn it is before PostgreSQL is asked for the rest. */
export interface DeliveryRef {
  deliveryId: string;
  subscriptionId: string;
  tenantId: string;
  /** Who founded the tenant: its tenants share one turn. */
  founderId: string;
  /** Host and port that it goes to; the rest of a URL may hold secrets. */
  targetHost: string;
}

/**
 * What a job carries: ids, never a body or a secret, so that a leaked or lost queue costs nothing. PostgreSQL knows what
 * is to be done; a job only says that it is worth looking now.
 */
export interface Jobs {
  fanout: { eventIds: string[] };
  delivery: { deliveries: DeliveryRef[] };
}

/** Ids in one job. A job costs the same whether it carries one or a hundred. */
export const MAX_IDS_PER_JOB = 100;

/** `items` in runs of at most `size`, in order. */
export function inRuns<T>(items: readonly T[], size: number): T[][] {
  const runs: T[][] = [];
  for (let start = 0; start < items.length; start += size) runs.push(items.slice(start, start + size));
  return runs;
}
