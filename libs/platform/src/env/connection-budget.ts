/** The properties of a deployment that determine its number of PostgreSQL connections. */
export interface Deployment {
  gateways: number;
  workers: number;
  /** `DATABASE_POOL_SIZE` of each process. */
  poolSize: number;
  /** The number of hosts in `DATABASE_URL`. With several, one more connection finds the one that accepts writes. */
  hosts: number;
  isQueueOnPostgres: boolean;
}

/** BullMQ's connections to PostgreSQL per process. */
const OF_QUEUE = { gateway: 4, worker: 8 } as const;
/** For `db:migrate` (3), `iss audit` (1), and an operator's own sessions. */
export const SPARE_CONNECTIONS = 10;

/**
 * Returns the maximum number of connections: twice the total, because old and new processes overlap during a rollout,
 * plus the spare ones (docs/operations/high-availability.md).
 */
export function connectionsOf({ gateways, workers, poolSize, hosts, isQueueOnPostgres }: Deployment): number {
  const ofEach = Math.max(2, poolSize) + (hosts > 1 ? 1 : 0);
  const gateway = ofEach + (isQueueOnPostgres ? OF_QUEUE.gateway : 0);
  const worker = ofEach + (isQueueOnPostgres ? OF_QUEUE.worker : 0);
  return 2 * (gateways * gateway + workers * worker) + SPARE_CONNECTIONS;
}
