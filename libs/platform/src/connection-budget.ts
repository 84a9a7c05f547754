/** What a deployment asks of a PostgreSQL server. */
export interface Deployment {
  gateways: number;
  workers: number;
  /** `DATABASE_POOL_SIZE` of each. */
  poolSize: number;
  /** Of `DATABASE_URL`: one more connection looks which of several takes writes. */
  hosts: number;
  isQueueOnPostgres: boolean;
}

/** BullMQ's on PostgreSQL, of one process. */
const OF_QUEUE = { gateway: 4, worker: 8 } as const;
/** For `db:migrate` (3), `iss audit` (1), and whoever looks why something is slow. */
export const SPARE_CONNECTIONS = 10;

/** How many connections it has at most: all of it twice while it rolls, and some to spare (docs/operations/high-availability.md). */
export function connectionsOf({ gateways, workers, poolSize, hosts, isQueueOnPostgres }: Deployment): number {
  const ofEach = Math.max(2, poolSize) + (hosts > 1 ? 1 : 0);
  const gateway = ofEach + (isQueueOnPostgres ? OF_QUEUE.gateway : 0);
  const worker = ofEach + (isQueueOnPostgres ? OF_QUEUE.worker : 0);
  return 2 * (gateways * gateway + workers * worker) + SPARE_CONNECTIONS;
}
